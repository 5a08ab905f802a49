//! Writing a file back.
//!
//! A file is replaced as a whole or not at all, and only if it is still what the person began with. What must not be here: which files may be
//! written.

use std::io::{self, Write};
use std::path::Path;

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The file has the new text.
    Done,
    /// The file is not what the person began with, and was left alone.
    Conflict,
}

/// Writes a text where `was` stands now. Links are followed, permissions stay.
///
/// # Errors
///
/// In one sentence: the file cannot be read or written.
pub fn write_back(path: &Path, was: &str, text: &str) -> Result<Written, String> {
    let cannot = |what: &str, error: io::Error| format!("cannot {what} {}: {error}", path.display());
    let path = path.canonicalize().map_err(|error| cannot("find", error))?;
    let now = std::fs::read(&path).map_err(|error| cannot("read", error))?;
    if now != was.as_bytes() {
        return Ok(Written::Conflict);
    }
    let permissions = std::fs::metadata(&path).map_err(|error| cannot("read", error))?.permissions();
    let folder = path.parent().ok_or_else(|| format!("{} lies in no folder", path.display()))?;
    let mut beside = tempfile::NamedTempFile::new_in(folder).map_err(|error| cannot("write beside", error))?;
    let put = |file: &mut std::fs::File| {
        file.write_all(text.as_bytes())?;
        file.set_permissions(permissions)?;
        file.sync_all()
    };
    put(beside.as_file_mut()).map_err(|error| cannot("write", error))?;
    // Somebody else may have written meanwhile; what is left of that moment is as short as it can be.
    if std::fs::read(&path).map_err(|error| cannot("read", error))? != was.as_bytes() {
        return Ok(Written::Conflict);
    }
    beside.persist(&path).map_err(|error| cannot("write", error.error))?;
    Ok(Written::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_only_while_it_is_what_the_person_began_with() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.yaml");
        std::fs::write(&path, "kind: A # why\n").expect("a file");
        assert_eq!(write_back(&path, "kind: A # why\n", "kind: B # why\n"), Ok(Written::Done));
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "kind: B # why\n");
        assert_eq!(write_back(&path, "kind: A # why\n", "kind: C\n"), Ok(Written::Conflict), "somebody else wrote");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "kind: B # why\n", "it is left alone");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left beside it");
        std::fs::remove_file(&path).expect("a file");
        assert!(write_back(&path, "kind: B # why\n", "").is_err_and(|why| why.contains("a.yaml")));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
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
