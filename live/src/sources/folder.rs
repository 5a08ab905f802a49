//! Files and folders, as they change.
//!
//! What tells of changes (notify) is only asked *that* something changed: then the folder is read again, files whose size and time are the same
//! left out. So an editor that writes a new file and renames it, a ConfigMap that is mounted as a link which is exchanged, and events that come
//! doubled, late or not at all give the same end: what is there. Now and then it is read again unasked, as some file systems tell nothing.
//!
//! What must not be here: what is in the files, and which of them are read (`files`).

use super::{Outlet, Source};
use crate::Failure;
use crate::event::SourceState;
use crate::files::{self, Excludes};
use chancery_core::compilation::Dialect;
use chancery_core::compile::is_claimed;
use chancery_core::dialect;
use notify::{RecursiveMode, Watcher};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc;

/// How often it is read again although nothing told of a change.
const UNASKED: Duration = Duration::from_secs(5);
/// The largest file that is read.
const LARGEST: u64 = 256 << 20;
/// A file that was written less than this before it was read may be written once more within the same tick of its clock.
const TICK: Duration = Duration::from_millis(50);

/// A file, or a folder with all below it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    reading: Reading,
}

/// What of a folder is read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// What is left out.
    pub excludes: Excludes,
    /// The dialect that a person chose, if one did.
    pub asked: Option<&'static Dialect>,
}

/// What tells whether a file is the one that was read.
type Stamp = (u64, Option<SystemTime>, u64);

impl Folder {
    /// This file or folder. It need not be there yet.
    #[must_use]
    pub fn new(path: PathBuf, reading: Reading) -> Self {
        Self { path, reading }
    }
}

impl Source for Folder {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn run(self: Box<Self>, outlet: Outlet) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>> {
        Box::pin(async move {
            let (told, mut changes) = mpsc::channel::<()>(1);
            let mut reader = Reader {
                root: self.path,
                reading: self.reading,
                outlet,
                stamps: BTreeMap::new(),
                watched: BTreeMap::new(),
                watcher: None,
                is_writing: false,
            };
            let tell = move |event: notify::Result<notify::Event>| {
                // Reading tells of accesses. One note that something changed is enough: the channel holds one.
                if !event.is_ok_and(|event| event.kind.is_access()) {
                    let _ = told.try_send(());
                }
            };
            match notify::recommended_watcher(tell) {
                Ok(watcher) => reader.watcher = Some(watcher),
                Err(error) => {
                    tracing::warn!(every_s = UNASKED.as_secs(), "the system does not report changes of files, so they are looked for: {error}")
                }
            }
            loop {
                let done = tokio::task::spawn_blocking(move || {
                    reader.read();
                    reader
                });
                reader = done.await.map_err(|error| format!("reading the folder failed: {error}"))?;
                tokio::select! {
                    told = changes.recv() => if told.is_none() { tokio::time::sleep(UNASKED).await },
                    () = tokio::time::sleep(if reader.is_writing { TICK } else { UNASKED }) => {}
                }
            }
        })
    }
}

struct Reader {
    root: PathBuf,
    reading: Reading,
    outlet: Outlet,
    /// What was read, by name.
    stamps: BTreeMap<String, Stamp>,
    /// Which folders are watched, each with what tells it from another at the same path.
    watched: BTreeMap<PathBuf, u64>,
    watcher: Option<notify::RecommendedWatcher>,
    /// Whether a file was just emptied, as by a program that is about to write it.
    is_writing: bool,
}

impl Reader {
    /// Reads what changed. What cannot be read stays as it was reported last.
    fn read(&mut self) {
        // A folder is watched before it is listed for good, so that what comes meanwhile is seen.
        let mut found = WalkResult::list(&self.root, &self.reading.excludes);
        while self.watch_all(&found.folders) {
            found = WalkResult::list(&self.root, &self.reading.excludes);
        }
        self.watched.retain(|path, _| found.folders.contains(path));
        let name = self.outlet.name.clone();
        if let Some(why) = found.lost {
            let state = if self.root.exists() { SourceState::Error } else { SourceState::Missing };
            self.outlet.state(&name, state, Some(why));
            // An empty folder is an answer too; one that is not there yet is waited for, others are not.
            if self.stamps.is_empty() {
                self.outlet.synced();
            }
            return;
        }
        self.is_writing = false;
        let mut trouble = None;
        let mut names = BTreeSet::new();
        for path in found.files {
            let name = path.display().to_string();
            names.insert(name.clone());
            if let Err(error) = self.file(&path, &name) {
                // It may have gone since the folder was listed: then it is not listed next time.
                trouble = Some(format!("cannot read {name}: {error}"));
            }
        }
        let gone: Vec<String> = self.stamps.keys().filter(|name| !names.contains(*name)).cloned().collect();
        for name in gone {
            self.stamps.remove(&name);
            self.outlet.remove(&name);
        }
        self.outlet.synced();
        let state = if trouble.is_some() { SourceState::Error } else { SourceState::Synced };
        self.outlet.state(&name, state, trouble);
    }

    /// Watches folders that are not watched yet; whether there was one.
    fn watch_all(&mut self, folders: &BTreeSet<PathBuf>) -> bool {
        // All of them, not only up to the first.
        folders.iter().filter(|folder| self.watch(folder)).count() > 0
    }

    fn watch(&mut self, folder: &Path) -> bool {
        let (Some(watcher), Ok(about)) = (&mut self.watcher, std::fs::metadata(folder)) else { return false };
        let which = inode(&about);
        match self.watched.get(folder) {
            Some(known) if *known == which => return false,
            // Another folder is there now: the watch of the one before, if it is still there, tells nothing of it.
            Some(_) => _ = watcher.unwatch(folder),
            None => {}
        }
        // One that cannot be watched, as there are too many, is read again unasked.
        let is_watched = watcher.watch(folder, RecursiveMode::NonRecursive).is_ok();
        if is_watched {
            self.watched.insert(folder.to_owned(), which);
        }
        is_watched
    }

    fn file(&mut self, path: &Path, name: &str) -> std::io::Result<()> {
        let about = std::fs::metadata(path)?;
        if about.len() > LARGEST {
            return Err(std::io::Error::other(format!("it is larger than {} MiB", LARGEST >> 20)));
        }
        let modified = about.modified().ok();
        let stamp = (about.len(), modified, inode(&about));
        let is_settled = modified.is_none_or(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > TICK));
        if self.stamps.get(name) == Some(&stamp) {
            return Ok(());
        }
        // A program that writes in place empties the file first. What was there stays until the new text, or for a moment.
        let was_full = self.stamps.get(name).is_some_and(|(length, ..)| *length > 0);
        let is_new = modified.is_some_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age <= TICK));
        if about.len() == 0 && was_full && is_new {
            self.is_writing = true;
            return Ok(());
        }
        let bytes = std::fs::read(path)?;
        // A file that was not named is read only if it holds resources of a controller.
        if *path == *self.root || is_claimed(&String::from_utf8_lossy(&bytes), self.reading.asked, dialect::ALL) {
            self.outlet.put(name, bytes);
        } else if self.stamps.contains_key(name) {
            self.outlet.remove(name);
        }
        // What is read while it is written is read again; equal text starts no build.
        self.stamps.insert(name.to_owned(), if is_settled { stamp } else { (stamp.0, None, 0) });
        Ok(())
    }
}

#[cfg(unix)]
fn inode(about: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> u64 {
    0
}

/// What is there to read.
#[derive(Default)]
struct WalkResult {
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
    /// Why it could not be read.
    lost: Option<String>,
}

impl WalkResult {
    /// Lists what is there now.
    fn list(root: &Path, excludes: &Excludes) -> Self {
        let about = match std::fs::metadata(root) {
            Ok(about) => about,
            Err(error) => {
                let folders = root.parent().filter(|parent| parent.is_dir()).map(Path::to_owned).into_iter().collect();
                return Self { folders, lost: Some(error.to_string()), ..Self::default() };
            }
        };
        if !about.is_dir() {
            let parent = root.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
            return Self { files: BTreeSet::from([root.to_owned()]), folders: parent.map(Path::to_owned).into_iter().collect(), lost: None };
        }
        match files::walk(root, excludes) {
            Ok(found) => {
                // A link that leads nowhere loses nothing; a folder that cannot be read may.
                let lost = found.problems.iter().find(|(path, _)| !path.is_symlink());
                let lost = lost.map(|(path, why)| format!("cannot read {}: {why}", path.display()));
                Self { files: found.files.into_iter().collect(), folders: found.folders.into_iter().collect(), lost }
            }
            Err(failure) => Self { lost: Some(failure.0), ..Self::default() },
        }
    }
}

#[cfg(test)]
mod tests;
