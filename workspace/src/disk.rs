//! The files that this program can read: those of the machine, or in a browser those that the editor handed over.
//!
//! Does not choose files; see `files`.

#[cfg(target_family = "wasm")]
pub use browser::{change, is_file, read, size, walk};
#[cfg(not(target_family = "wasm"))]
pub use machine::{is_file, read, size};

use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// Reads a file of text.
///
/// # Errors
///
/// There is no such file, it cannot be read, or it is not UTF-8.
pub fn read_to_string(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

#[cfg(not(target_family = "wasm"))]
mod machine {
    use std::path::Path;

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// There is no such file, or it cannot be read.
    pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    /// The size of a file in bytes; 0 if there is none.
    #[must_use]
    pub fn size(path: &Path) -> u64 {
        std::fs::metadata(path).map_or(0, |about| about.len())
    }

    /// Whether there is such a file.
    #[must_use]
    pub fn is_file(path: &Path) -> bool {
        path.is_file()
    }
}

#[cfg(target_family = "wasm")]
mod browser {
    use crate::files::{Excludes, Found};
    use crate::memory::MemoryFiles;
    use std::path::Path;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// There is one disk, and one memory in its place.
    static FILES: Mutex<MemoryFiles> = Mutex::new(MemoryFiles::new());

    fn files() -> MutexGuard<'static, MemoryFiles> {
        FILES.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds, replaces or removes a file.
    pub fn change(path: &Path, content: Option<Vec<u8>>) {
        files().change(path, content);
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// There is no such file.
    pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
        files().read(path).map(<[u8]>::to_vec).ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    /// The size of a file in bytes; 0 if there is none.
    #[must_use]
    pub fn size(path: &Path) -> u64 {
        files().read(path).map_or(0, |content| content.len() as u64)
    }

    /// Whether there is such a file.
    #[must_use]
    pub fn is_file(path: &Path) -> bool {
        files().read(path).is_some()
    }

    /// Finds the files below a folder that may hold resources.
    ///
    /// # Errors
    ///
    /// A pattern of `excludes` cannot be read.
    pub fn walk(root: &Path, excludes: &Excludes) -> Result<Found, String> {
        files().walk(root, excludes)
    }
}
