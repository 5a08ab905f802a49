//! Writes files back. Replaces a file completely or not at all, and only if it still contains the text that the user started with. Does not decide
//! which files may be written; see `window_session`.

use std::io::{self, Write};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    Done,
    /// The file contains another text and was not changed.
    Conflict,
}

/// Replaces the text `was` of a file by `text`. Follows symbolic links and keeps permissions.
///
/// # Errors
///
/// The file cannot be read or written; the error is a sentence.
pub fn write_back(path: &Path, was: &str, text: &str) -> Result<Written, String> {
    let cannot = |what: &str, error: io::Error| format!("cannot {what} {}: {error}", path.display());
    let path = path.canonicalize().map_err(|error| cannot("find", error))?;
    let now = std::fs::read(&path).map_err(|error| cannot("read", error))?;
    if now != was.as_bytes() {
        return Ok(Written::Conflict);
    }
    let permissions = std::fs::metadata(&path).map_err(|error| cannot("read", error))?.permissions();
    let folder = path.parent().ok_or_else(|| format!("{} is not in a folder", path.display()))?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(|error| cannot("write next to", error))?;
    let put = |file: &mut std::fs::File| {
        file.write_all(text.as_bytes())?;
        file.set_permissions(permissions)?;
        file.sync_all()
    };
    put(temporary.as_file_mut()).map_err(|error| cannot("write", error))?;
    // Another program may write between this check and the replacement. Keep that time short.
    if std::fs::read(&path).map_err(|error| cannot("read", error))? != was.as_bytes() {
        return Ok(Written::Conflict);
    }
    temporary.persist(&path).map_err(|error| cannot("write", error.error))?;
    Ok(Written::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_back_detects_conflicts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.yaml");
        std::fs::write(&path, "kind: A # why\n").expect("a file");
        assert_eq!(write_back(&path, "kind: A # why\n", "kind: B # why\n"), Ok(Written::Done));
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "kind: B # why\n");
        assert_eq!(write_back(&path, "kind: A # why\n", "kind: C\n"), Ok(Written::Conflict), "another program wrote");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "kind: B # why\n", "the file is unchanged");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "no temporary file is left");
        std::fs::remove_file(&path).expect("a file");
        assert!(write_back(&path, "kind: B # why\n", "").is_err_and(|why| why.contains("a.yaml")));
    }

    #[cfg(unix)]
    #[test]
    fn write_back_keeps_symlink_and_mode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("real.yaml"), folder.path().join("link.yaml"));
        std::fs::write(&path, "one").expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("a file");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        assert_eq!(write_back(&link, "one", "two"), Ok(Written::Done));
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "two");
        assert_eq!(std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o640);
    }
}
