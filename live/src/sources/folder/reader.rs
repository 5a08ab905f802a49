//! Reads a folder once, and keeps what accidents would take away.
//!
//! | accident | effect |
//! |---|---|
//! | a file is broken, unreadable, or was just emptied | its last good text is used, from the state folder after a restart |
//! | the folder is missing, or cannot be listed | everything that was read stays |
//! | the folder holds no resources any more | everything that was read stays, for a grace period |
//! | the folder comes back file by file | the others stay until no more come |
//! | a file has just lost lines | it is read again, as its program may still be writing |
//! | the folder never held resources | the source is not synced, so nothing is built |
//!
//! A file that is removed, or holds other resources, takes effect soon. Does not list folders; see `walk`.

use super::last_good::LastGood;
use super::walk::WalkResult;
use super::{EmptyFolder, INTERVAL, Outlet, Reading};
use crate::event::SourceState;
use crate::worker::intake::Unreadable;
use chancery_core::compile::is_claimed;
use chancery_core::dialect;
use chancery_core::read::unreadable_line;
use chancery_core::resource::Input;
use chancery_workspace::files;
use k8s_openapi::jiff::Timestamp;
use notify::{RecursiveMode, Watcher};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The largest file that is read.
const LARGEST: u64 = 256 << 20;
/// The most files that the state of a folder names as unreadable.
const MOST_NAMED: usize = 3;
/// A file that was written less than this before it was read may be written once more within the same tick of its clock.
pub(super) const TICK: Duration = Duration::from_millis(50);
/// How long a file that became empty is treated as broken. Some editors empty a file before they write it.
pub(super) const EMPTIED: Duration = Duration::from_secs(3);
/// How long files must be gone until their inputs are removed. A program that empties a folder deletes its files one by one.
pub(super) const SETTLE: Duration = Duration::from_millis(500);
/// How long files of an emptied or missing folder must be gone after the last one came back. A program that fills a folder writes its files one by one.
pub(super) const REFILL: Duration = Duration::from_secs(2);

/// Why a file cannot be read, and its content, if it is text.
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

/// Size, time, inode and mode: they differ if the file was written again.
type Stamp = (u64, Option<SystemTime>, u64, u32);

pub(super) struct Reader {
    root: PathBuf,
    reading: Reading,
    outlet: Outlet,
    last_good: Option<LastGood>,
    /// The files that were read, by name.
    stamps: BTreeMap<String, Stamp>,
    /// When the text of each input was read.
    read_at: BTreeMap<String, Timestamp>,
    /// Messages about files that cannot be read as a whole.
    unreadable: BTreeMap<String, String>,
    /// When each file was first seen empty.
    emptied: BTreeMap<String, Instant>,
    /// When each file was first seen with fewer lines, just after it was written.
    unfinished: BTreeMap<String, Instant>,
    /// Inputs that the folder no longer holds, and that are still served.
    leaving: BTreeSet<String>,
    /// When `leaving` last grew.
    left_at: Option<Instant>,
    /// Contents that this look found for the first time. A renamed file has one of them.
    new_texts: Vec<Arc<str>>,
    /// Whether the folder was empty or missing, and not all of its files are back.
    is_refilling: bool,
    /// Since when the folder holds no resources.
    empty_since: Option<(Instant, Timestamp)>,
    /// Paths that were logged as skipped.
    passed_over: BTreeSet<PathBuf>,
    /// Folders that are watched, each with its inode.
    watched: BTreeMap<PathBuf, u64>,
    watcher: Option<notify::RecommendedWatcher>,
    next_look: Duration,
    has_listed: bool,
    has_synced: bool,
}

impl Reader {
    pub fn new(root: PathBuf, reading: Reading, outlet: Outlet, last_good: Option<LastGood>) -> Self {
        Self {
            root,
            reading,
            outlet,
            last_good,
            stamps: BTreeMap::new(),
            read_at: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            emptied: BTreeMap::new(),
            unfinished: BTreeMap::new(),
            leaving: BTreeSet::new(),
            left_at: None,
            new_texts: Vec::new(),
            is_refilling: false,
            empty_since: None,
            passed_over: BTreeSet::new(),
            watched: BTreeMap::new(),
            watcher: None,
            next_look: INTERVAL,
            has_listed: false,
            has_synced: false,
        }
    }

    pub fn set_watcher(&mut self, watcher: notify::RecommendedWatcher) {
        self.watcher = Some(watcher);
    }

    /// When the folder must be read again, even without a notification.
    pub fn next_look(&self) -> Duration {
        self.next_look
    }

    fn look_after(&mut self, rest: Duration) {
        self.next_look = self.next_look.min(rest.max(Duration::from_millis(1)));
    }

    /// Reads the files that changed.
    pub fn read(&mut self) {
        self.next_look = INTERVAL;
        self.new_texts.clear();
        // New folders are watched before the final listing, so that no change is missed.
        let mut found = WalkResult::list(&self.root, &self.reading.excludes);
        while self.watch_all(&found.folders) {
            found = WalkResult::list(&self.root, &self.reading.excludes);
        }
        self.watched.retain(|path, _| found.folders.contains(path));
        if let Some(why) = found.lost {
            return self.report_lost(&why);
        }
        for (path, why) in found.passed_over {
            if is_there(&path) && self.passed_over.insert(path.clone()) {
                tracing::warn!("{} is skipped: {why}", path.display());
            }
        }
        let mut names = BTreeSet::new();
        for path in &found.files {
            let name = path.display().to_string();
            names.insert(name.clone());
            match self.file(path, &name) {
                Ok(()) => {}
                Err(broken) if is_there(path) => self.set_unreadable(&name, broken),
                // It was deleted after the folder was listed. The next listing does not have it.
                Err(_) => {}
            }
        }
        self.stamps.retain(|name, _| names.contains(name));
        self.emptied.retain(|name, _| names.contains(name));
        self.unfinished.retain(|name, _| names.contains(name));
        if !std::mem::replace(&mut self.has_listed, true) && self.read_at.is_empty() && self.is_emptiness_an_accident() {
            self.restore_all();
        }
        let known = self.read_at.keys().chain(self.unreadable.keys());
        let gone: BTreeSet<String> = known.filter(|name| !names.contains(*name)).cloned().collect();
        gone.iter().for_each(|name| self.leave(name));
        self.report(found.files.len());
    }

    /// Removes inputs that left, and reports how the source is.
    fn report(&mut self, files: usize) {
        let kept = self.remove_left(files);
        let why_empty = || match files {
            0 => "it has no YAML, JSON or HCL files",
            1 => "its only file contains no resources",
            _ => "none of its files contains resources",
        };
        let is_empty = self.read_at.is_empty() && self.is_emptiness_an_accident();
        if is_empty && !self.has_synced {
            let unreadable = self.unreadable_summary();
            let state = if unreadable.is_some() { SourceState::Error } else { SourceState::Empty };
            let detail = unreadable.unwrap_or_else(|| why_empty().to_owned());
            return self.set_state(state, Some(format!("{detail}; nothing is served until it contains resources")));
        }
        self.set_synced();
        // The build has begun, so writing does not delay it.
        self.save();
        let detail: Vec<String> = kept.into_iter().chain(self.unreadable_summary()).collect();
        match detail.is_empty() {
            false => self.set_state(SourceState::Error, Some(detail.join("; "))),
            true if is_empty => self.set_state(SourceState::Empty, Some(format!("{}; nothing of it is served", why_empty()))),
            true => self.set_state(SourceState::Synced, None),
        }
    }

    fn unreadable_summary(&self) -> Option<String> {
        let mut all: Vec<&str> = self.unreadable.values().take(MOST_NAMED).map(String::as_str).collect();
        let more = self.unreadable.len().checked_sub(MOST_NAMED + 1).map(|more| format!("and {} more", more + 1));
        all.extend(more.as_deref());
        (!all.is_empty()).then(|| all.join("; "))
    }

    fn is_emptiness_an_accident(&self) -> bool {
        self.reading.empty != EmptyFolder::Intended
    }

    /// Reports that the folder is missing or cannot be listed. Its last content stays.
    fn report_lost(&mut self, why: &str) {
        if self.read_at.is_empty() {
            self.restore_all();
        }
        let state = if self.root.exists() { SourceState::Error } else { SourceState::Missing };
        let Some(last) = self.read_at.values().max().copied() else {
            return self.set_state(state, Some(format!("{why}; nothing is served until it can be read")));
        };
        self.is_refilling = true;
        self.set_synced();
        self.set_state(state, Some(format!("{why}; its content of {} is served", shown(last))));
    }

    /// Removes the inputs that left the folder. If nothing would be left, they stay for the grace period; returns the message about that.
    fn remove_left(&mut self, files: usize) -> Option<String> {
        let is_emptied = !self.read_at.is_empty() && self.read_at.keys().all(|name| self.leaving.contains(name));
        if let (EmptyFolder::Accident(grace), true) = (self.reading.empty, is_emptied) {
            let (since, at) = *self.empty_since.get_or_insert_with(|| (Instant::now(), Timestamp::now()));
            let rest = grace.saturating_sub(since.elapsed());
            if !rest.is_zero() {
                self.look_after(rest);
                let until = k8s_openapi::jiff::SignedDuration::try_from(grace).ok().and_then(|grace| at.checked_add(grace).ok());
                let until = until.map(|until| format!(" until {}", shown(until))).unwrap_or_default();
                let what = if files == 0 { "it has no files any more" } else { "its files hold no resources any more" };
                return Some(format!("{what}; its last content is served{until}"));
            }
        }
        if self.empty_since.take().is_some() && !is_emptied {
            // The first files are back. The others may follow.
            self.is_refilling = true;
            self.left_at = Some(Instant::now());
        }
        self.is_refilling &= !is_emptied && !self.leaving.is_empty();
        let settle = if self.is_refilling { REFILL } else { SETTLE };
        let age = self.left_at.map_or(settle, |at| at.elapsed());
        let removed = if age >= settle { std::mem::take(&mut self.leaving) } else { self.take_renamed() };
        removed.iter().for_each(|name| self.remove(name));
        if !self.leaving.is_empty() {
            self.look_after(settle.saturating_sub(age));
        }
        None
    }

    /// Takes the files out of `leaving` whose text this look found under a new name. If both stayed, each object would exist twice.
    fn take_renamed(&mut self) -> BTreeSet<String> {
        if self.new_texts.is_empty() {
            return BTreeSet::new();
        }
        let (outlet, new_texts) = (&self.outlet, &self.new_texts);
        let is_renamed = |name: &String| outlet.intake.text(outlet.number, name).is_some_and(|text| new_texts.contains(&text));
        let (renamed, left) = std::mem::take(&mut self.leaving).into_iter().partition(is_renamed);
        self.leaving = left;
        renamed
    }

    fn set_synced(&mut self) {
        self.has_synced = true;
        self.outlet.synced();
    }

    fn set_state(&self, state: SourceState, detail: Option<String>) {
        self.outlet.state(&self.outlet.name, state, detail);
    }

    fn put(&mut self, name: &str, bytes: Vec<u8>, is_good: bool) {
        self.unreadable.remove(name);
        self.stay(name);
        let now = Timestamp::now();
        let is_new = self.read_at.insert(name.to_owned(), now).is_none();
        if let Some(last_good) = self.last_good.as_mut().filter(|_| is_good) {
            last_good.keep(&relative(&self.root, name), &bytes, now);
        }
        self.outlet.put(name, bytes);
        if is_new {
            self.new_texts.extend(self.outlet.intake.text(self.outlet.number, name));
        }
    }

    /// Notes that the folder holds a file.
    fn stay(&mut self, name: &str) {
        if self.leaving.remove(name) && self.is_refilling {
            self.left_at = Some(Instant::now());
        }
    }

    fn leave(&mut self, name: &str) {
        if self.leaving.insert(name.to_owned()) {
            self.left_at = Some(Instant::now());
        }
    }

    fn remove(&mut self, name: &str) {
        // A skipped file was never an input.
        if self.unreadable.remove(name).is_some() | self.read_at.remove(name).is_some() {
            self.outlet.remove(name);
        }
    }

    /// Writes down the last good texts. A file that is broken keeps its text from before.
    fn save(&mut self) {
        let Some(last_good) = &mut self.last_good else { return };
        let (root, read_at) = (&self.root, &self.read_at);
        let names: BTreeSet<String> = read_at.keys().map(|name| relative(root, name)).collect();
        last_good.retain(|name| names.contains(name));
        last_good.save();
    }

    /// Uses the last good text of a file that was not read since the start. Returns whether there is one.
    fn restore(&mut self, name: &str) -> bool {
        let Some((bytes, at)) = self.last_good.as_ref().and_then(|last_good| last_good.get(&relative(&self.root, name))) else { return false };
        self.read_at.insert(name.to_owned(), at);
        self.outlet.put(name, bytes);
        true
    }

    fn restore_all(&mut self) {
        let names: Vec<String> = self.last_good.iter().flat_map(LastGood::names).map(|name| absolute(&self.root, name)).collect();
        names.iter().for_each(|name| _ = self.restore(name));
    }

    /// Reports that a file cannot be read now. Its last good text is used.
    fn set_unreadable(&mut self, name: &str, broken: Broken) {
        if !self.read_at.contains_key(name) {
            self.restore(name);
        }
        self.stay(name);
        let used = match self.read_at.get(name) {
            Some(at) => format!("its last readable version, read at {}, is used", shown(*at)),
            None => "nothing of it is used".into(),
        };
        let message = format!("{name} cannot be read: {}; {used}", broken.why);
        self.unreadable.insert(name.to_owned(), message.clone());
        self.outlet.set_unreadable(Unreadable { name: name.to_owned(), message, bytes: broken.bytes.map(Into::into) });
    }

    /// Watches folders that are not watched yet. Returns whether there was one.
    fn watch_all(&mut self, folders: &BTreeSet<PathBuf>) -> bool {
        // `any` would stop at the first.
        folders.iter().filter(|folder| self.watch(folder)).count() > 0
    }

    fn watch(&mut self, folder: &Path) -> bool {
        let (Some(watcher), Ok(about)) = (&mut self.watcher, std::fs::metadata(folder)) else { return false };
        let which = inode(&about);
        match self.watched.get(folder) {
            Some(known) if *known == which => return false,
            // The path is another folder now. The watch of the old folder sends nothing about it.
            Some(_) => _ = watcher.unwatch(folder),
            None => {}
        }
        // If the system allows no more watches, the folder is read at intervals.
        let is_watched = watcher.watch(folder, RecursiveMode::NonRecursive).is_ok();
        if is_watched {
            self.watched.insert(folder.to_owned(), which);
        }
        is_watched
    }

    /// Whether a file that is empty now had content.
    fn had_content(&self, name: &str) -> bool {
        let text = self.outlet.intake.text(self.outlet.number, name);
        let is_stored = || self.last_good.as_ref().is_some_and(|last_good| last_good.has(&relative(&self.root, name)));
        text.map_or_else(is_stored, |text| !text.is_empty())
    }

    fn file(&mut self, path: &Path, name: &str) -> Result<(), Broken> {
        // A file that cannot be read is tried again.
        let known = self.stamps.remove(name);
        if files::is_dangling(path) {
            return Err(Broken::without_text(files::LEADS_NOWHERE));
        }
        let about = std::fs::metadata(path)?;
        if !about.is_file() {
            return Err(Broken::without_text(files::NOT_REGULAR));
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
        if about.len() == 0 && self.had_content(name) {
            let age = self.emptied.entry(name.to_owned()).or_insert_with(Instant::now).elapsed();
            if let (true, Some(known)) = (age < TICK, known) {
                self.stamps.insert(name.to_owned(), known);
                self.look_after(TICK);
                return Ok(());
            }
            if age < EMPTIED {
                self.look_after(EMPTIED - age);
                return Err(Broken::without_text("it was emptied"));
            }
        } else {
            self.emptied.remove(name);
        }
        let bytes = std::fs::read(path)?;
        // Another program may have emptied it between the check and the read.
        if let Some(known) = known.filter(|_| std::fs::metadata(path).is_ok_and(|about| stamp_of(&about) != stamp)) {
            self.stamps.insert(name.to_owned(), known);
            self.look_after(TICK);
            return Ok(());
        }
        if !is_settled && self.is_unfinished(name, &bytes) {
            if let Some(known) = known {
                self.stamps.insert(name.to_owned(), known);
            }
            self.stay(name);
            self.look_after(TICK);
            return Ok(());
        }
        self.unfinished.remove(name);
        // A file that may still be written is read again. Equal text starts no build.
        self.stamps.insert(name.to_owned(), if is_settled { stamp } else { (stamp.0, None, 0, 0) });
        self.use_text(path, name, bytes)
    }

    /// Whether the text that a file has just got may be the beginning of a longer one: a program may write a file in parts.
    fn is_unfinished(&mut self, name: &str, bytes: &[u8]) -> bool {
        let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
        let known = self.outlet.intake.text(self.outlet.number, name);
        if known.is_none_or(|known| lines(bytes) >= lines(known.as_bytes())) {
            return false;
        }
        // A file that is written all the time is read anyway.
        self.unfinished.entry(name.to_owned()).or_insert_with(Instant::now).elapsed() < EMPTIED
    }

    /// Makes a text an input, if it is good enough.
    fn use_text(&mut self, path: &Path, name: &str, bytes: Vec<u8>) -> Result<(), Broken> {
        let text = String::from_utf8_lossy(&bytes);
        let is_input = self.is_claimed(path, &text) && !(self.is_emptiness_an_accident() && is_blank(&text));
        if self.reading.with_broken {
            self.put_or_leave(name, bytes, is_input, false);
            return Ok(());
        }
        let known = self.known_text(name);
        if let Some(why) = self.why_broken(path, known.as_deref(), &bytes) {
            let is_text = !bytes.contains(&0);
            return Err(Broken { why, bytes: is_text.then_some(bytes) });
        }
        let broken_at = if known.is_none() || self.last_good.is_some() { unreadable_line(&text, "") } else { None };
        let is_good = broken_at.is_none() && std::str::from_utf8(&bytes).is_ok();
        match broken_at.filter(|_| known.is_none()) {
            // A file of another program may have another encoding.
            Some(line) if !is_input && is_yaml_or_json(path) && std::str::from_utf8(&bytes).is_ok() => {
                return Err(Broken { why: broken_document(line), bytes: Some(bytes) });
            }
            Some(line) if is_input => {
                self.put(name, bytes, false);
                let message = format!("{name} is broken at line {line} and no earlier version is known; only its readable part is used");
                self.unreadable.insert(name.to_owned(), message);
            }
            _ => self.put_or_leave(name, bytes, is_input, is_good),
        }
        Ok(())
    }

    fn put_or_leave(&mut self, name: &str, bytes: Vec<u8>, is_input: bool, is_good: bool) {
        if is_input {
            self.put(name, bytes, is_good);
        } else if self.read_at.contains_key(name) {
            self.leave(name);
        } else {
            self.remove(name);
        }
    }

    /// Whether a file is read: one that the user did not name must hold resources of a controller.
    fn is_claimed(&self, path: &Path, text: &str) -> bool {
        *path == *self.root || is_claimed(text, self.reading.asked, dialect::ALL)
    }

    /// The text that is used of a file, or was used before the start.
    fn known_text(&self, name: &str) -> Option<String> {
        if let Some(text) = self.outlet.intake.text(self.outlet.number, name) {
            return Some(text.to_string());
        }
        let (bytes, _) = self.last_good.as_ref().filter(|_| !self.read_at.contains_key(name))?.get(&relative(&self.root, name))?;
        String::from_utf8(bytes).ok()
    }

    /// Why a text is not used instead of the known one. A text that is partly broken is used if it loses nothing that could be read.
    fn why_broken(&self, path: &Path, known: Option<&str>, bytes: &[u8]) -> Option<String> {
        if let Some(text) = Input::text_of_utf16(bytes) {
            let is_input = known.is_some() || self.is_claimed(path, &text);
            return is_input.then(|| "its text is in UTF-16, and must be in UTF-8".into());
        }
        if bytes.contains(&0) {
            return Some("it is not text".into());
        }
        let known = known?;
        let why = match std::str::from_utf8(bytes) {
            Ok(text) => broken_document(unreadable_line(text, known)?),
            Err(_) => "its text is not in UTF-8".into(),
        };
        unreadable_line(known, "").is_none().then_some(why)
    }
}

fn broken_document(line: u32) -> String {
    format!("its document is broken at line {line}")
}

fn shown(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn is_yaml_or_json(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Whether a text holds only comments and separators.
fn is_blank(text: &str) -> bool {
    text.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#') || line == "---" || line == "...")
}

/// The name of an input without the path of its source: state is found from any current folder.
fn relative(root: &Path, name: &str) -> String {
    Path::new(name).strip_prefix(root).map_or_else(|_| name.to_owned(), |below| below.display().to_string())
}

/// The name of an input, from its path below the source.
fn absolute(root: &Path, below: &str) -> String {
    if below.is_empty() { root.display().to_string() } else { root.join(below).display().to_string() }
}

fn stamp_of(about: &std::fs::Metadata) -> Stamp {
    (about.len(), about.modified().ok(), inode(about), mode(about))
}

#[cfg(unix)]
fn inode(about: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

/// The mode decides who may read the file.
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
