//! What sources told, written down one change a line, and played again.
//!
//! Whole texts are written, in the order and with the times in which they came: playing gives the same builds, and at its end the same answer.
//! Key material is replaced by stand-ins before it is written. What must not be here: sources that are real.

use super::{Outlet, Source};
use crate::event::SourceState;
use crate::{Failure, lock};
use chancery_core::compilation::Options;
use chancery_core::compile::compile;
use chancery_core::dialect;
use chancery_core::explain::Snapshot;
use chancery_core::resource::Inputs;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The version of the format.
const VERSION: u32 = 1;
/// The longest line that is read.
const LONGEST: u64 = 256 << 20;

/// One line. The first says which format it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    ChanceryRecording(u32),
    Put { source: usize, name: String, text: String, at_ms: u64 },
    Remove { source: usize, name: String, at_ms: u64 },
    Synced { source: usize, at_ms: u64 },
}

impl Line {
    fn at(&self) -> u64 {
        match self {
            Line::ChanceryRecording(_) => 0,
            Line::Put { at_ms, .. } | Line::Remove { at_ms, .. } | Line::Synced { at_ms, .. } => *at_ms,
        }
    }
}

/// Writes changes down. Clones write into the same file.
#[derive(Clone, Debug)]
pub struct Recorder {
    shared: Arc<Mutex<Option<File>>>,
    begin: Instant,
}

impl Recorder {
    /// Into this file, which only its owner may read.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn new(path: &std::path::Path) -> Result<Self, Failure> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| format!("cannot write the recording {}: {error}", path.display()))?;
        let out = Self { shared: Arc::new(Mutex::new(Some(file))), begin: Instant::now() };
        out.write(&Line::ChanceryRecording(VERSION));
        Ok(out)
    }

    fn now(&self) -> u64 {
        self.begin.elapsed().as_millis() as u64
    }

    fn write(&self, line: &Line) {
        let mut shared = lock(&self.shared);
        let Some(file) = shared.as_mut() else { return };
        let text = serde_json::to_string(line).map(|text| text + "\n").unwrap_or_default();
        if let Err(error) = file.write_all(text.as_bytes()) {
            eprintln!("the recording ends here: {error}");
            *shared = None;
        }
    }

    /// An input has this text now.
    pub fn put(&self, source: usize, name: &str, bytes: &[u8]) {
        let text = without_keys(name, &String::from_utf8_lossy(bytes));
        self.write(&Line::Put { source, name: name.into(), text, at_ms: self.now() });
    }

    /// An input is gone.
    pub fn remove(&self, source: usize, name: &str) {
        self.write(&Line::Remove { source, name: name.into(), at_ms: self.now() });
    }

    /// A source has told all.
    pub fn synced(&self, source: usize) {
        self.write(&Line::Synced { source, at_ms: self.now() });
    }
}

/// A text with stand-ins where key material was.
fn without_keys(name: &str, text: &str) -> String {
    if !text.contains("Secret") {
        return text.into();
    }
    let options = Options::default();
    let compilation = compile(&Inputs::one(name, text), &options, dialect::ALL);
    let snapshot = Snapshot::new(&compilation, &options, &[], false);
    snapshot.inputs().inputs.first().map(|input| input.text.to_string()).unwrap_or_default()
}

/// A recording that is played.
#[derive(Debug)]
pub struct Replay {
    path: PathBuf,
    /// How many times faster than it was; 0 for without waiting.
    speed: f64,
}

impl Replay {
    /// This file.
    #[must_use]
    pub fn new(path: PathBuf, speed: f64) -> Self {
        Self { path, speed }
    }
}

impl Source for Replay {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn run(self: Box<Self>, outlet: Outlet) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>> {
        Box::pin(async move {
            let played = tokio::task::spawn_blocking(move || self.play(&outlet)).await;
            played.map_err(|error| format!("playing the recording failed: {error}"))?
        })
    }
}

impl Replay {
    fn play(&self, outlet: &Outlet) -> Result<(), Failure> {
        let shown = self.path.display();
        let file = File::open(&self.path).map_err(|error| format!("cannot read the recording {shown}: {error}"))?;
        let mut reader = BufReader::new(file);
        let begin = Instant::now();
        let mut number = 0u64;
        let mut text = Vec::new();
        loop {
            text.clear();
            number += 1;
            let read = std::io::Read::take(&mut reader, LONGEST).read_until(b'\n', &mut text);
            if read.map_err(|error| format!("cannot read the recording {shown}: {error}"))? == 0 {
                break;
            }
            let line: Line = serde_json::from_slice(&text).map_err(|error| match number {
                1 => format!("{shown} is no recording of `chancery watch --record`"),
                _ => format!("line {number} of the recording {shown} is not whole: {error}"),
            })?;
            if self.speed > 0.0 {
                let due = Duration::from_secs_f64((line.at() as f64 / 1000.0 / self.speed).min(1e6));
                std::thread::sleep(due.saturating_sub(begin.elapsed()));
            }
            match line {
                Line::ChanceryRecording(version) if version > VERSION => {
                    return Err(format!("{shown} is of version {version} of the format; this one reads up to {VERSION}").into());
                }
                Line::ChanceryRecording(_) => {}
                // Inputs of several sources are told apart by their names, which hold their paths and kinds.
                Line::Put { name, text, .. } => outlet.put(&name, text.into_bytes()),
                Line::Remove { name, .. } => outlet.remove(&name),
                Line::Synced { .. } => outlet.synced(),
            }
        }
        outlet.synced();
        outlet.state(&outlet.name, SourceState::Synced, Some("played to its end".into()));
        Ok(())
    }
}
