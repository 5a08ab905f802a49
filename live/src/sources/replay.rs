//! Replays a recording: the same builds follow, and the same final answer. See [`super::recording`] for the format.

use super::recording::{Line, VERSION};
use super::{Outlet, Source};
use crate::Failure;
use crate::event::SourceState;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::pin::Pin;
use std::time::{Duration, Instant};

/// The longest line that is read, in bytes.
const LONGEST: u64 = 256 << 20;

/// A recording that is replayed.
#[derive(Debug)]
pub struct Replay {
    path: PathBuf,
    /// The speed-up. 0 means without pauses.
    speed: f64,
}

impl Replay {
    /// Replays this file.
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
                // Inputs of several sources differ by their names, which contain their paths and kinds.
                Line::Put { name, text, stored: true, .. } => outlet.put_stored(&name, text.into_bytes()),
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
