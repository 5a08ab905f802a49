//! What a person chose for the window, in a file of this user's.
//!
//! What must not be here: what was opened before; that is `recent`.

use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// What a person chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// Whether the system shows a notification when a followed input gets new errors.
    pub notify: bool,
}

impl Preferences {
    /// Those in this file; the defaults where there is none that can be read.
    #[must_use]
    pub fn read(file: &Path) -> Self {
        std::fs::read_to_string(file).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Writes them.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(self, file: &Path) -> io::Result<()> {
        file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(file, serde_json::to_string(&self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_are_off_until_somebody_turns_them_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("new/preferences.json");
        assert!(!Preferences::read(&file).notify);
        Preferences { notify: true }.write(&file).expect("it is written");
        assert!(Preferences::read(&file).notify);
        std::fs::write(&file, "{").expect("a file");
        assert_eq!(Preferences::read(&file), Preferences::default());
    }
}
