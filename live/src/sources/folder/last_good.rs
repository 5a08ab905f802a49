//! Keeps the last good content of each file in a state folder, so that a restart with a broken file loses nothing.
//!
//! Contents are stored under their SHA-256 hash; an index maps the files of one source to hashes. Only the owner of the
//! process can read the folder, because contents may hold key material. Does not judge contents; see `reader`.

use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const INDEX: &str = "index.json";
/// The format of the index.
const VERSION: u32 = 1;
/// The longest index that is read.
const LONGEST_INDEX: u64 = 64 << 20;

/// The last good contents of one source.
#[derive(Debug)]
pub(super) struct LastGood {
    folder: PathBuf,
    index: Index,
    is_changed: bool,
    /// Whether a failure to write was logged.
    is_failure_logged: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Index {
    version: u32,
    /// The path of the source, as a hint in the folder.
    source: String,
    files: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    sha256: String,
    read_at: String,
}

impl LastGood {
    /// Opens the contents of the source at `root`. A missing or unreadable index is treated as empty.
    pub fn open(state: &Path, root: &Path) -> Self {
        let source = std::path::absolute(root).unwrap_or_else(|_| root.to_owned()).components().collect::<PathBuf>().display().to_string();
        let folder = state.join("files").join(&hash(source.as_bytes())[..32]);
        let read = || {
            let path = folder.join(INDEX);
            let is_short = fs::metadata(&path).is_ok_and(|about| about.len() <= LONGEST_INDEX);
            let index: Index = serde_json::from_slice(&fs::read(&path).ok().filter(|_| is_short)?).ok()?;
            (index.version == VERSION && index.source == source).then_some(index)
        };
        let index = read().unwrap_or(Index { version: VERSION, source, files: BTreeMap::new() });
        Self { folder, index, is_changed: false, is_failure_logged: false }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.index.files.keys().map(String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.index.files.contains_key(name)
    }

    /// Returns the last good text of a file, and when it was read.
    pub fn get(&self, name: &str) -> Option<(Vec<u8>, Timestamp)> {
        let entry = self.index.files.get(name)?;
        let is_hash = entry.sha256.len() == 64 && entry.sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bytes = fs::read(self.folder.join(&entry.sha256)).ok().filter(|_| is_hash)?;
        (hash(&bytes) == entry.sha256).then(|| Some((bytes, entry.read_at.parse().ok()?)))?
    }

    pub fn keep(&mut self, name: &str, bytes: &[u8], read_at: Timestamp) {
        let sha256 = hash(bytes);
        if self.index.files.get(name).is_some_and(|known| known.sha256 == sha256) {
            return;
        }
        if let Err(error) = self.write(&sha256, bytes) {
            return self.log_failure(&error);
        }
        self.index.files.insert(name.to_owned(), Entry { sha256, read_at: read_at.to_string() });
        self.is_changed = true;
    }

    /// Forgets the files that `holds` returns false for.
    pub fn retain(&mut self, holds: impl Fn(&str) -> bool) {
        let before = self.index.files.len();
        self.index.files.retain(|name, _| holds(name));
        self.is_changed |= self.index.files.len() != before;
    }

    /// Writes the index, and deletes contents that no file has any more.
    pub fn save(&mut self) {
        if !std::mem::take(&mut self.is_changed) {
            return;
        }
        let text = serde_json::to_vec_pretty(&self.index).unwrap_or_default();
        if let Err(error) = self.write(INDEX, &text) {
            return self.log_failure(&error);
        }
        let used: BTreeSet<&str> = self.index.files.values().map(|entry| entry.sha256.as_str()).collect();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_str().is_none_or(|name| name != INDEX && !used.contains(name)) {
                // An unused content only takes space.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Writes a file as a whole, or not at all.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.folder.join(name);
        if name != INDEX && fs::metadata(&path).is_ok_and(|about| about.len() == bytes.len() as u64) {
            return Ok(());
        }
        create_private_folder(&self.folder)?;
        let draft = self.folder.join(format!("{name}.new"));
        let mut file = private().create(true).truncate(true).write(true).open(&draft)?;
        file.write_all(bytes)?;
        fs::rename(&draft, &path)
    }

    fn log_failure(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.is_failure_logged, true) {
            let folder = self.folder.display();
            tracing::warn!("cannot keep the last good files in {folder}: {error}; a restart with a broken file loses its resources");
        }
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(unix)]
fn private() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(not(unix))]
fn private() -> fs::OpenOptions {
    fs::OpenOptions::new()
}

fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_survive_restart_unless_unused() {
        let state = tempfile::tempdir().expect("a folder");
        let root = Path::new("/gateway");
        let mut kept = LastGood::open(state.path(), root);
        kept.keep("a.yaml", b"one", Timestamp::UNIX_EPOCH);
        kept.keep("b.yaml", b"one", Timestamp::UNIX_EPOCH);
        kept.save();
        let mut again = LastGood::open(state.path(), root);
        assert_eq!(again.get("a.yaml"), Some((b"one".to_vec(), Timestamp::UNIX_EPOCH)));
        assert_eq!(LastGood::open(state.path(), Path::new("/other")).names().count(), 0, "another source has other files");
        again.keep("a.yaml", b"two", Timestamp::UNIX_EPOCH);
        again.retain(|name| name == "a.yaml");
        again.save();
        let files = fs::read_dir(&again.folder).expect("a folder").count();
        assert_eq!((files, again.get("b.yaml")), (2, None), "the index and one text");
        fs::write(again.folder.join(hash(b"two")), "another").expect("a file");
        assert_eq!(again.get("a.yaml"), None, "a text that was changed is not served");
    }

    #[cfg(unix)]
    #[test]
    fn only_owner_reads_contents() {
        use std::os::unix::fs::PermissionsExt;
        let state = tempfile::tempdir().expect("a folder");
        let mut kept = LastGood::open(state.path(), Path::new("/gateway"));
        kept.keep("a.yaml", b"one", Timestamp::UNIX_EPOCH);
        kept.save();
        let mode = |path: &Path| fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
        assert_eq!((mode(&kept.folder), mode(&kept.folder.join(INDEX)), mode(&kept.folder.join(hash(b"one")))), (0o700, 0o600, 0o600));
    }
}
