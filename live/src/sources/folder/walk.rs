//! Lists the files and folders below a path. Does not read files; see `reader`.

use chancery_workspace::files::{self, Excludes};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The paths below a root that are read, and the skipped paths.
#[derive(Default)]
pub(super) struct WalkResult {
    pub files: BTreeSet<PathBuf>,
    pub folders: BTreeSet<PathBuf>,
    /// Skipped paths, each with the reason.
    pub passed_over: Vec<(PathBuf, String)>,
    /// Why the path, or a folder below it, could not be listed.
    pub lost: Option<String>,
}

impl WalkResult {
    pub fn list(root: &Path, excludes: &Excludes) -> Self {
        let about = match std::fs::metadata(root) {
            Ok(about) => about,
            Err(error) => {
                let folders = root.parent().filter(|parent| parent.is_dir()).map(Path::to_owned).into_iter().collect();
                let why = error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase();
                return Self { folders, lost: Some(why), ..Self::default() };
            }
        };
        if !about.is_dir() {
            let parent = root.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
            return Self { files: BTreeSet::from([root.to_owned()]), folders: parent.map(Path::to_owned).into_iter().collect(), ..Self::default() };
        }
        match files::walk(root, excludes) {
            Ok(found) => {
                // A dangling link with the name of a configuration file is a file that cannot be read. A folder that cannot be read may hold any file.
                let (links, others): (Vec<_>, Vec<_>) = found.dangling.into_iter().partition(|path| files::is_read(path));
                let others = others.into_iter().map(|path| (path, files::LEADS_NOWHERE.to_owned()));
                let lost = found.problems.first().map(|(path, why)| format!("cannot read {}: {why}", path.display()));
                let files = found.files.into_iter().chain(links).collect();
                Self { files, folders: found.folders.into_iter().collect(), passed_over: found.passed_over.into_iter().chain(others).collect(), lost }
            }
            Err(why) => Self { lost: Some(why), ..Self::default() },
        }
    }
}
