//! The browser's storage: the current work, earlier sessions and settings. Stores no secrets: the worker replaced them.

use chancery_web::protocol::{SavedRequest, Work};
use gloo_storage::{LocalStorage, Storage as _};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The largest number of stored sessions.
const MOST: usize = 12;

/// Larger work is not stored: browsers allow a few megabytes per page.
const MOST_BYTES: usize = 2_000_000;

/// Stored work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The time of the last change, in milliseconds since 1970.
    pub when: f64,
    #[serde(flatten)]
    pub work: Work,
    #[serde(default)]
    pub requests: Vec<SavedRequest>,
}

/// The page's settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// `light` or `dark`, if the user chose one.
    pub theme: Option<String>,
    /// The width of the editor, in percent.
    pub split: f64,
    /// The last view, by its name in addresses.
    #[serde(default)]
    pub view: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { theme: None, split: 42.0, view: None }
    }
}

impl Session {
    pub fn now(work: Work, requests: Vec<SavedRequest>) -> Self {
        Self { when: js_sys::Date::now(), work, requests }
    }

    fn bytes(&self) -> usize {
        self.work.files.iter().map(|file| file.text.len()).sum()
    }

    /// A title for the list of sessions.
    pub fn title(&self) -> String {
        let names: Vec<&str> = self.work.files.iter().map(|file| file.name.as_str()).collect();
        names.join(", ")
    }

    /// A summary of the size.
    pub fn summary(&self) -> String {
        let lines: usize = self.work.files.iter().map(|file| file.text.lines().count()).sum();
        let resources: usize = self.work.files.iter().map(|file| file.text.lines().filter(|line| line.starts_with("kind:")).count()).sum();
        format!("{resources} resources, {lines} lines")
    }
}

fn get<T: DeserializeOwned>(key: &str) -> Option<T> {
    LocalStorage::get(key).ok()
}

fn set<T: Serialize>(key: &str, value: &T) {
    // If the storage is full, nothing is stored.
    let _ = LocalStorage::set(key, value);
}

pub fn settings() -> Settings {
    get("chancery.settings").unwrap_or_default()
}

pub fn keep_settings(settings: &Settings) {
    set("chancery.settings", settings);
}

/// The work at the end of the last visit.
pub fn work() -> Option<Session> {
    get("chancery.work")
}

pub fn keep_work(session: &Session) {
    if session.bytes() <= MOST_BYTES {
        set("chancery.work", session);
    }
}

/// The pinned state.
pub fn pinned() -> Option<Work> {
    get("chancery.pinned")
}

/// Stores the pinned state, unless it could use up the space for the work.
pub fn keep_pinned(work: &Work) {
    if work.files.iter().map(|file| file.text.len()).sum::<usize>() <= MOST_BYTES / 2 {
        set("chancery.pinned", work);
    } else {
        // After a reload, an older state would be mistaken for this state.
        LocalStorage::delete("chancery.pinned");
    }
}

/// Earlier sessions, latest first.
pub fn sessions() -> Vec<Session> {
    get("chancery.sessions").unwrap_or_default()
}

/// Adds work to the earlier sessions.
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
