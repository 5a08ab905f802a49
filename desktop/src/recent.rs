//! What was opened before: paths, in a file of this user's.
//!
//! What must not be here: what is in them.

use std::path::{Path, PathBuf};

/// The most that are kept.
const MOST: usize = 10;

/// Paths that were opened before, the last one first.
#[derive(Clone, Debug)]
pub struct Recent {
    file: Option<PathBuf>,
}

impl Recent {
    /// Kept in this file, or not at all.
    #[must_use]
    pub fn new(file: Option<PathBuf>) -> Self {
        Self { file }
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        let text = self.file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        let all: Vec<String> = serde_json::from_str(&text).unwrap_or_default();
        all.into_iter().take(MOST).collect()
    }

    /// One was opened. Where there is no room to keep that, it is not kept.
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
    fn the_last_one_comes_first_and_once() {
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
        assert!(recent.all().is_empty(), "what cannot be read is nothing");
    }
}
