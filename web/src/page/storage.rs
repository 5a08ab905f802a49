//! What the browser keeps: the work as it stands, sessions before it, and how the page is set. What may be secret is not in it: the worker has
//! put stand-ins in its place.
//!
//! What must not be here: anything that leaves the browser.

use chancery_web::protocol::{SavedRequest, Work};
use gloo_storage::{LocalStorage, Storage as _};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Sessions that are kept.
const MOST: usize = 12;

/// Work larger than this is not kept: browsers give a page a few megabytes.
const MOST_BYTES: usize = 2_000_000;

/// Work as it stood.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// When it was last changed, in milliseconds since 1970.
    pub when: f64,
    /// The files, and how to compile them.
    #[serde(flatten)]
    pub work: Work,
    /// Requests that were kept.
    #[serde(default)]
    pub requests: Vec<SavedRequest>,
}

/// How the page is set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// `light` or `dark`, if the person chose one.
    pub theme: Option<String>,
    /// The width of the editor, in per cent.
    pub split: f64,
    /// The view that was shown last, by its word in addresses.
    #[serde(default)]
    pub view: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { theme: None, split: 42.0, view: None }
    }
}

impl Session {
    /// Work as it stands now.
    pub fn now(work: Work, requests: Vec<SavedRequest>) -> Self {
        Self { when: js_sys::Date::now(), work, requests }
    }

    fn bytes(&self) -> usize {
        self.work.files.iter().map(|file| file.text.len()).sum()
    }

    /// What to call it.
    pub fn title(&self) -> String {
        let names: Vec<&str> = self.work.files.iter().map(|file| file.name.as_str()).collect();
        names.join(", ")
    }

    /// How much there is.
    pub fn told(&self) -> String {
        let lines: usize = self.work.files.iter().map(|file| file.text.lines().count()).sum();
        let resources: usize = self.work.files.iter().map(|file| file.text.lines().filter(|line| line.starts_with("kind:")).count()).sum();
        format!("{resources} resources, {lines} lines")
    }
}

fn get<T: DeserializeOwned>(key: &str) -> Option<T> {
    LocalStorage::get(key).ok()
}

fn set<T: Serialize>(key: &str, value: &T) {
    // Where there is no room, nothing is kept.
    let _ = LocalStorage::set(key, value);
}

/// The settings.
pub fn settings() -> Settings {
    get("chancery.settings").unwrap_or_default()
}

/// Keeps the settings.
pub fn keep_settings(settings: &Settings) {
    set("chancery.settings", settings);
}

/// The work as it stood when the page was left.
pub fn work() -> Option<Session> {
    get("chancery.work")
}

/// Keeps the work.
pub fn keep_work(session: &Session) {
    if session.bytes() <= MOST_BYTES {
        set("chancery.work", session);
    }
}

/// The state that was pinned, to compare with.
pub fn pinned() -> Option<Work> {
    get("chancery.pinned")
}

/// Keeps it, unless it is so large that the work itself might find no room.
pub fn keep_pinned(work: &Work) {
    if work.files.iter().map(|file| file.text.len()).sum::<usize>() <= MOST_BYTES / 2 {
        set("chancery.pinned", work);
    } else {
        // An older one would be taken for this one after a reload.
        LocalStorage::delete("chancery.pinned");
    }
}

/// Sessions before, the last one first.
pub fn sessions() -> Vec<Session> {
    get("chancery.sessions").unwrap_or_default()
}

/// Puts work aside.
pub fn put_aside(session: Session) {
    let size = session.bytes();
    if size == 0 || size > MOST_BYTES / 4 {
        return;
    }
    let mut all = sessions();
    all.retain(|known| known.work.files != session.work.files);
    all.insert(0, session);
    all.truncate(MOST);
    set("chancery.sessions", &all);
}
