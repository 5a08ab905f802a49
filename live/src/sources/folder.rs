//! Files and folders, as they change.
//!
//! What tells of changes (notify) is only asked *that* something changed: then the folder is read again, files whose size and time are the same
//! left out. So an editor that writes a new file and renames it, a ConfigMap that is mounted as a link which is exchanged, and events that come
//! doubled, late or not at all give the same end: what is there. Now and then it is read again unasked, as some file systems tell nothing.
//!
//! What must not be here: what is in the files.

use super::{Outlet, Source};
use crate::Failure;
use crate::event::SourceState;
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
}

/// What tells whether a file is the one that was read.
type Stamp = (u64, Option<SystemTime>, u64);

impl Folder {
    /// This file or folder. It need not be there yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }
}

impl Source for Folder {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn run(self: Box<Self>, outlet: Outlet) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>> {
        Box::pin(async move {
            let (told, mut changes) = mpsc::channel::<()>(1);
            let mut reader = Reader { root: self.path, outlet, stamps: BTreeMap::new(), watched: BTreeMap::new(), watcher: None };
            let tell = move |event: notify::Result<notify::Event>| {
                // Reading tells of accesses. One note that something changed is enough: the channel holds one.
                if !event.is_ok_and(|event| event.kind.is_access()) {
                    let _ = told.try_send(());
                }
            };
            match notify::recommended_watcher(tell) {
                Ok(watcher) => reader.watcher = Some(watcher),
                Err(error) => eprintln!("changes of files are seen every {} s only: {error}", UNASKED.as_secs()),
            }
            loop {
                let done = tokio::task::spawn_blocking(move || {
                    reader.read();
                    reader
                });
                reader = done.await.map_err(|error| format!("reading the folder failed: {error}"))?;
                tokio::select! {
                    told = changes.recv() => if told.is_none() { tokio::time::sleep(UNASKED).await },
                    () = tokio::time::sleep(UNASKED) => {}
                }
            }
        })
    }
}

struct Reader {
    root: PathBuf,
    outlet: Outlet,
    /// What was read, by name.
    stamps: BTreeMap<String, Stamp>,
    /// Which folders are watched, each with what tells it from another at the same path.
    watched: BTreeMap<PathBuf, u64>,
    watcher: Option<notify::RecommendedWatcher>,
}

impl Reader {
    /// Reads what changed. What cannot be read is left as it was told last.
    fn read(&mut self) {
        let mut found = WalkResult::default();
        // Folders are watched before they are read, so that what comes meanwhile is seen.
        found.walk(&self.root, true, &mut |folder| Self::watch(&mut self.watcher, &mut self.watched, folder));
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

    fn watch(watcher: &mut Option<notify::RecommendedWatcher>, watched: &mut BTreeMap<PathBuf, u64>, folder: &Path) {
        let (Some(watcher), Ok(about)) = (watcher, std::fs::metadata(folder)) else { return };
        let which = inode(&about);
        match watched.get(folder) {
            Some(known) if *known == which => return,
            // Another folder is there now: the watch of the one before, if it is still there, tells nothing of it.
            Some(_) => _ = watcher.unwatch(folder),
            None => {}
        }
        // One that cannot be watched, as there are too many, is read again unasked.
        if watcher.watch(folder, RecursiveMode::NonRecursive).is_ok() {
            watched.insert(folder.to_owned(), which);
        }
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
        self.outlet.put(name, std::fs::read(path)?);
        // What is read while it is written is read again; equal text wakes nobody.
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

/// What a walk finds.
#[derive(Default)]
struct WalkResult {
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
    /// Folders that were walked, by their real paths: links may lead in circles.
    seen: BTreeSet<PathBuf>,
    /// Why it could not be read.
    lost: Option<String>,
}

impl WalkResult {
    fn walk(&mut self, path: &Path, is_root: bool, enter: &mut dyn FnMut(&Path)) {
        let about = match std::fs::metadata(path) {
            Ok(about) => about,
            Err(error) if is_root => {
                if let Some(parent) = path.parent().filter(|parent| parent.is_dir()) {
                    enter(parent);
                    self.folders.insert(parent.to_owned());
                }
                self.lost = Some(error.to_string());
                return;
            }
            // A link that leads nowhere.
            Err(_) => return,
        };
        if !about.is_dir() {
            if is_root && let Some(parent) = path.parent() {
                let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
                enter(parent);
                self.folders.insert(parent.to_owned());
            }
            if is_root || is_read(path) {
                self.files.insert(path.to_owned());
            }
            return;
        }
        if let Ok(real) = path.canonicalize()
            && !self.seen.insert(real)
        {
            return;
        }
        enter(path);
        self.folders.insert(path.to_owned());
        let entries = match std::fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => {
                self.lost = Some(format!("cannot read the folder {}: {error}", path.display()));
                return;
            }
        };
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if !is_hidden {
                self.walk(&path, false, enter);
            }
        }
    }
}

/// Whether a folder's file is read.
fn is_read(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests;
