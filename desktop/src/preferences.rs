//! The user's preferences, in a file. Does not store recent paths; see `recent`.

use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// Whether the system shows a notification for new errors in followed inputs.
    pub notify: bool,
}

impl Preferences {
    /// Reads the preferences. Returns the defaults if the file cannot be read.
    #[must_use]
    pub fn read(file: &Path) -> Self {
        std::fs::read_to_string(file).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Writes the preferences.
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
    fn preferences_default_to_no_notifications() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("new/preferences.json");
        assert!(!Preferences::read(&file).notify);
        Preferences { notify: true }.write(&file).expect("it is written");
        assert!(Preferences::read(&file).notify);
        std::fs::write(&file, "{").expect("a file");
        assert_eq!(Preferences::read(&file), Preferences::default());
    }
}
