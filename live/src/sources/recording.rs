//! Records the changes of sources, one change per line. Does not replay them; see [`super::replay`].
//!
//! A line holds the whole text of an input. Lines are in the order of changes and have times. Stand-ins replace secrets
//! before a text is written.

use crate::{Failure, lock};
use chancery_core::explain::with_stand_ins;
use chancery_core::resource::Inputs;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// One line. The first line names the format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Line {
    ChanceryRecording(u32),
    Put {
        source: usize,
        name: String,
        text: String,
        at_ms: u64,
        /// Whether an API server gave the text.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stored: bool,
    },
    Remove {
        source: usize,
        name: String,
        at_ms: u64,
    },
    Synced {
        source: usize,
        at_ms: u64,
    },
}

impl Line {
    /// Returns its time, in milliseconds since the recording began.
    pub(super) fn at(&self) -> u64 {
        match self {
            Line::ChanceryRecording(_) => 0,
            Line::Put { at_ms, .. } | Line::Remove { at_ms, .. } | Line::Synced { at_ms, .. } => *at_ms,
        }
    }
}

/// Writes changes into a file. Clones write into the same file.
#[derive(Clone, Debug)]
pub struct Recorder {
    shared: Arc<Mutex<Option<File>>>,
    begin: Instant,
}

impl Recorder {
    /// Creates the file. Only its owner may read it.
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
            tracing::error!("the recording ends here: {error}");
            *shared = None;
        }
    }

    /// Records a new text of an input. `stored` means that an API server gave the text.
    pub fn put(&self, source: usize, name: &str, bytes: &[u8], stored: bool) {
        let text = without_secrets(name, &String::from_utf8_lossy(bytes));
        self.write(&Line::Put { source, name: name.into(), text, at_ms: self.now(), stored });
    }

    /// Records that an input was removed.
    pub fn remove(&self, source: usize, name: &str) {
        self.write(&Line::Remove { source, name: name.into(), at_ms: self.now() });
    }

    /// Records that a source has given everything that it holds.
    pub fn synced(&self, source: usize) {
        self.write(&Line::Synced { source, at_ms: self.now() });
    }
}

/// Returns a text in which stand-ins replace possible secrets.
fn without_secrets(name: &str, text: &str) -> String {
    let inputs = with_stand_ins(&Inputs::one(name, text));
    inputs.inputs.first().map(|input| input.text.to_string()).unwrap_or_default()
}
