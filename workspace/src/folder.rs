//! Reads the files of a folder that a dialect reads. Does not choose files; see `files`.

use crate::files::{self, Excludes};
use crate::{disk, reason};
use chancery_core::compilation::Dialect;
use chancery_core::compile::is_claimed;
use chancery_core::dialect;
use chancery_core::explain::Snapshot;
use chancery_core::resource::Input;
use std::path::{Path, PathBuf};

/// What a file of a folder contains.
#[derive(Clone, Debug)]
pub enum FolderFile {
    /// Resources that a dialect reads, with the places that are not UTF-8.
    Resources(Input, Vec<(u32, usize)>),
    /// Something that no dialect reads. Holds the input's name.
    Other(String),
    /// Resources in UTF-16, which is not read.
    Utf16,
}

/// Returns what a file found in a folder contains.
#[must_use]
pub fn classify(name: String, bytes: Vec<u8>, asked: Option<&'static Dialect>) -> (FolderFile, usize) {
    if Input::text_of_utf16(&bytes).is_some_and(|text| is_claimed(&text, asked, dialect::ALL)) {
        return (FolderFile::Utf16, 0);
    }
    let (input, not_utf8) = Input::from_bytes(name, bytes);
    let len = input.text.len();
    if Snapshot::is_one(&input.text) || !is_claimed(&input.text, asked, dialect::ALL) {
        return (FolderFile::Other(input.name.to_string()), len);
    }
    (FolderFile::Resources(input, not_utf8), len)
}

/// The files of a folder.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Files that a dialect reads, each with its path, sorted by path.
    pub files: Vec<(PathBuf, Input)>,
    /// Files that no dialect reads.
    pub others: Vec<PathBuf>,
    /// Folders of Helm charts, whose files are not read.
    pub charts: Vec<PathBuf>,
    /// Paths that cannot be read, with the reason.
    pub problems: Vec<(PathBuf, String)>,
}

impl Contents {
    /// Reads a folder. Leaves out files that make the input larger than `max` bytes, and files that `may_read` refuses. `name` returns a path's
    /// name in outputs.
    ///
    /// # Errors
    ///
    /// A pattern of `excludes` cannot be read.
    pub fn read(
        folder: &Path,
        excludes: &Excludes,
        asked: Option<&'static Dialect>,
        max: u64,
        name: &dyn Fn(&Path) -> String,
        may_read: &dyn Fn(&Path) -> bool,
    ) -> Result<Self, String> {
        let found = files::walk(folder, excludes)?;
        let mut out = Self { charts: found.charts, problems: found.problems, ..Self::default() };
        let mut left = max;
        for path in found.files.into_iter().filter(|path| may_read(path)) {
            let len = disk::size(&path);
            if len > left {
                out.problems.push((path, "all files together are too large".into()));
                continue;
            }
            match disk::read(&path) {
                Ok(bytes) => match classify(name(&path), bytes, asked) {
                    (FolderFile::Resources(input, _), _) => {
                        left = left.saturating_sub(len);
                        out.files.push((path, input));
                    }
                    (FolderFile::Other(_), _) => out.others.push(path),
                    (FolderFile::Utf16, _) => out.problems.push((path, "its text is in UTF-16, and must be in UTF-8".into())),
                },
                Err(error) => out.problems.push((path, reason(&error))),
            }
        }
        Ok(out)
    }
}
