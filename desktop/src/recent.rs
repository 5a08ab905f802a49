//! The recently opened paths, in a file of the user.

use std::path::{Path, PathBuf};

/// The largest number of stored paths.
const MOST: usize = 10;

/// The recently opened paths, latest first.
#[derive(Clone, Debug)]
pub struct Recent {
    file: Option<PathBuf>,
}

impl Recent {
    /// Stores the paths in this file, or nowhere.
    #[must_use]
    pub fn new(file: Option<PathBuf>) -> Self {
        Self { file }
    }

    #[must_use]
    pub fn all(&self) -> Vec<String> {
        let text = self.file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        let all: Vec<String> = serde_json::from_str(&text).unwrap_or_default();
        all.into_iter().take(MOST).collect()
    }

    /// Adds a path. If the file cannot be written, the path is not stored.
    pub fn opened(&self, path: &Path) {
        let Some(file) = &self.file else { return };
        let name = path.display().to_string();
        let mut all = self.all();
        all.retain(|known| *known != name);
        all.insert(0, name);
        all.truncate(MOST);
        if let (Some(folder), Ok(text)) = (file.parent(), serde_json::to_string(&all)) {
            let _ = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(file, text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opened_moves_path_to_front() {
        let folder = tempfile::tempdir().expect("a folder");
        let recent = Recent::new(Some(folder.path().join("new/recent.json")));
        assert!(recent.all().is_empty());
        for at in 0..12 {
            recent.opened(Path::new(&format!("/{at}")));
        }
        recent.opened(Path::new("/5"));
        assert_eq!(recent.all()[..2], ["/5", "/11"]);
        assert_eq!(recent.all().len(), MOST);
        std::fs::write(folder.path().join("new/recent.json"), "not JSON").expect("a file");
        assert!(recent.all().is_empty(), "an invalid file counts as empty");
    }
}
