//! Files and folders, as they change.
//!
//! What tells of changes (notify) is only asked *that* something changed: then the folder is read again, files whose size and time are the same
//! left out. So an editor that writes a new file and renames it, a ConfigMap that is mounted as a link which is exchanged, and events that come
//! doubled, late or not at all give the same end: what is there. Now and then it is read again unasked, as some file systems tell nothing.
//!
//! An edit that Kubernetes would not even store changes nothing: what a file said stays while it cannot be read, as a file that is broken for a moment is
//! no wish to have its resources deleted. A file that is removed, or says something else, is taken at its word.
//!
//! What must not be here: what is in the files, and which of them are read (`files`).

use super::{Outlet, Source};
use crate::Failure;
use crate::event::SourceState;
use crate::files::{self, Excludes};
use crate::worker::intake::Unreadable;
use chancery_core::compilation::Dialect;
use chancery_core::compile::is_claimed;
use chancery_core::dialect;
use chancery_core::read::unreadable_line;
use chancery_core::resource::Input;
use k8s_openapi::jiff::Timestamp;
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
/// The most files that the state of a folder names as unreadable.
const MOST_NAMED: usize = 3;
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
    /// A broken text is passed on as it is, for an editor to show; otherwise the last readable version stays.
    pub with_broken: bool,
}

/// Why a file cannot be read, and what is in it, where that is text.
struct Broken {
    why: String,
    bytes: Option<Vec<u8>>,
}

impl From<std::io::Error> for Broken {
    fn from(error: std::io::Error) -> Self {
        Self::without_text(error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase())
    }
}

impl Broken {
    fn without_text(why: impl Into<String>) -> Self {
        Self { why: why.into(), bytes: None }
    }
}

/// What tells whether a file is the one that was read.
type Stamp = (u64, Option<SystemTime>, u64, u32);

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
                read_at: BTreeMap::new(),
                unreadable: BTreeMap::new(),
                passed_over: BTreeSet::new(),
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
    /// When each input was read.
    read_at: BTreeMap<String, Timestamp>,
    /// What is said of files that cannot be read.
    unreadable: BTreeMap<String, String>,
    /// What was logged as passed over.
    passed_over: BTreeSet<PathBuf>,
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
        for (path, why) in found.passed_over {
            if self.passed_over.insert(path.clone()) {
                tracing::warn!("{} is passed over: {why}", path.display());
            }
        }
        let mut names = BTreeSet::new();
        for path in found.files {
            let name = path.display().to_string();
            names.insert(name.clone());
            match self.file(&path, &name) {
                Ok(()) => {}
                Err(broken) if self.is_there(&path) => self.lose(&name, broken),
                // It has gone since the folder was listed: then it is not listed next time.
                Err(_) => {}
            }
        }
        self.stamps.retain(|name, _| names.contains(name));
        let known = self.read_at.keys().chain(self.unreadable.keys());
        let gone: BTreeSet<String> = known.filter(|name| !names.contains(*name)).cloned().collect();
        for name in gone {
            self.remove(&name);
        }
        self.outlet.synced();
        let mut detail: Vec<&str> = self.unreadable.values().take(MOST_NAMED).map(String::as_str).collect();
        let more = self.unreadable.len().checked_sub(MOST_NAMED + 1).map(|more| format!("and {} more", more + 1));
        detail.extend(more.as_deref());
        let state = if detail.is_empty() { SourceState::Synced } else { SourceState::Error };
        self.outlet.state(&name, state, (!detail.is_empty()).then(|| detail.join("; ")));
    }

    fn is_there(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    fn put(&mut self, name: &str, bytes: Vec<u8>) {
        self.unreadable.remove(name);
        self.read_at.insert(name.to_owned(), Timestamp::now());
        self.outlet.put(name, bytes);
    }

    fn remove(&mut self, name: &str) {
        // What is passed over was never handed on.
        if self.unreadable.remove(name).is_some() | self.read_at.remove(name).is_some() {
            self.outlet.remove(name);
        }
    }

    /// Reports that a file cannot be read now. Its last readable version stays in use.
    fn lose(&mut self, name: &str, broken: Broken) {
        let used = match self.read_at.get(name) {
            Some(at) => format!("its last readable version, read at {}, is used", at.strftime("%Y-%m-%d %H:%M UTC")),
            None => "nothing of it is used".into(),
        };
        let message = format!("{name} cannot be read: {}; {used}", broken.why);
        self.unreadable.insert(name.to_owned(), message.clone());
        self.outlet.set_unreadable(Unreadable { name: name.to_owned(), message, bytes: broken.bytes.map(Into::into) });
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

    fn file(&mut self, path: &Path, name: &str) -> Result<(), Broken> {
        // What fails is tried again.
        let known = self.stamps.remove(name);
        if files::is_dangling(path) {
            return Err(Broken::without_text(files::LEADS_NOWHERE));
        }
        let about = std::fs::metadata(path)?;
        if !about.is_file() {
            return Err(Broken::without_text("it is no regular file"));
        }
        if about.len() > LARGEST {
            return Err(Broken::without_text(format!("it is larger than {} MiB", LARGEST >> 20)));
        }
        let (modified, stamp) = (about.modified().ok(), stamp_of(&about));
        let is_settled = modified.is_none_or(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > TICK));
        if known == Some(stamp) {
            self.stamps.insert(name.to_owned(), stamp);
            return Ok(());
        }
        // A program that writes in place empties the file first. What was there stays until the new text, or for a moment.
        let before = known.filter(|(length, ..)| *length > 0);
        let is_new = modified.is_some_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age <= TICK));
        if let Some(before) = before.filter(|_| about.len() == 0 && is_new) {
            self.stamps.insert(name.to_owned(), before);
            self.is_writing = true;
            return Ok(());
        }
        let bytes = std::fs::read(path)?;
        // It may have been emptied after it was looked at, and before it was read.
        if let Some(known) = known.filter(|_| std::fs::metadata(path).is_ok_and(|about| stamp_of(&about) != stamp)) {
            self.stamps.insert(name.to_owned(), known);
            self.is_writing = true;
            return Ok(());
        }
        // What is read while it is written is read again; equal text starts no build.
        self.stamps.insert(name.to_owned(), if is_settled { stamp } else { (stamp.0, None, 0, 0) });
        if !self.reading.with_broken
            && let Some(why) = self.why_broken(path, name, &bytes)
        {
            let is_text = !bytes.contains(&0);
            return Err(Broken { why, bytes: is_text.then_some(bytes) });
        }
        if self.is_read(path, &String::from_utf8_lossy(&bytes)) {
            self.put(name, bytes);
        } else {
            self.remove(name);
        }
        Ok(())
    }

    /// Whether a file with this text is read: one that was not named only if it holds resources of a controller.
    fn is_read(&self, path: &Path, text: &str) -> bool {
        *path == *self.root || is_claimed(text, self.reading.asked, dialect::ALL)
    }

    /// Why these bytes are not taken. A text that is broken in part is, where nothing that could be read is lost by it.
    fn why_broken(&self, path: &Path, name: &str, bytes: &[u8]) -> Option<String> {
        let known = self.outlet.intake.text(self.outlet.number, name);
        if let Some(text) = Input::text_of_utf16(bytes) {
            let is_meant = known.is_some() || self.is_read(path, &text);
            return is_meant.then(|| "its text is in UTF-16, and must be in UTF-8".into());
        }
        if bytes.contains(&0) {
            return Some("it is no text".into());
        }
        let known = known?;
        let why = match std::str::from_utf8(bytes) {
            Ok(text) => format!("its document is broken at line {}", unreadable_line(text, &known)?),
            Err(_) => "its text is not in UTF-8".into(),
        };
        unreadable_line(&known, "").is_none().then_some(why)
    }
}

fn stamp_of(about: &std::fs::Metadata) -> Stamp {
    (about.len(), about.modified().ok(), inode(about), mode(about))
}

#[cfg(unix)]
fn inode(about: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

/// Who may read it.
#[cfg(unix)]
fn mode(about: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(about)
}

#[cfg(not(unix))]
fn mode(_: &std::fs::Metadata) -> u32 {
    0
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
    /// What is passed over, and why.
    passed_over: Vec<(PathBuf, String)>,
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
            return Self { files: BTreeSet::from([root.to_owned()]), folders: parent.map(Path::to_owned).into_iter().collect(), ..Self::default() };
        }
        match files::walk(root, excludes) {
            Ok(found) => {
                // A link that leads nowhere is a file that cannot be read, if it is called like one. A folder that cannot be read may hold anything.
                let (links, others): (Vec<_>, Vec<_>) = found.dangling.into_iter().partition(|path| files::is_read(path));
                let others = others.into_iter().map(|path| (path, files::LEADS_NOWHERE.to_owned()));
                let lost = found.problems.first().map(|(path, why)| format!("cannot read {}: {why}", path.display()));
                let files = found.files.into_iter().chain(links).collect();
                Self { files, folders: found.folders.into_iter().collect(), passed_over: found.passed_over.into_iter().chain(others).collect(), lost }
            }
            Err(failure) => Self { lost: Some(failure.0), ..Self::default() },
        }
    }
}

#[cfg(test)]
mod tests;
