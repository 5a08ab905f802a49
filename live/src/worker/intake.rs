//! Holds the inputs of all sources, and decides whether there is a reason to build.
//!
//! Sources change inputs one by one. Equal text starts no build, and neither does content that nothing referred to in the last build. The intake
//! holds inputs instead of a queue of changes, so its size does not grow with their number. The first build waits until every source has given
//! everything that it holds.

use super::metrics::{Metrics, NoBuildReason};
use crate::lock;
use chancery_core::resource::{Input, Inputs};
use chancery_core::text::Str;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most names of edited inputs that an event has.
const MOST_EDITED: usize = 100;

/// The number of an input's source, and its name there. Inputs are read in this order.
pub type Key = (usize, String);

/// All inputs at one time.
#[derive(Clone, Debug, Default)]
pub struct Drained {
    /// In the order of sources and names.
    pub inputs: Inputs,
    /// The places of each input that were not UTF-8.
    pub not_utf8: Vec<Vec<(u32, usize)>>,
    /// Files that cannot be read now, by name.
    pub unreadable: Vec<Unreadable>,
    /// The inputs of sources that drafts replace.
    pub beneath: Vec<Input>,
    /// Options that sources set, by name.
    pub options: BTreeMap<&'static str, Str>,
    /// The number of changes since the build before.
    pub changes: u64,
    /// Names of the edited inputs, at most [`MOST_EDITED`].
    pub edited: Vec<String>,
    /// When the first of these changes came.
    pub since: Option<Instant>,
}

/// A file that cannot be read now. If there is an input of its name, it keeps its last readable text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The name of its input.
    pub name: String,
    /// Says why, and what is used instead.
    pub message: String,
    /// Its content now, if that is text.
    pub bytes: Option<Arc<[u8]>>,
}

#[derive(Debug, Default)]
struct State {
    inputs: BTreeMap<Key, (Input, Vec<(u32, usize)>)>,
    unreadable: BTreeMap<Key, Unreadable>,
    /// Names of the inputs of API servers.
    stored: Arc<BTreeSet<Str>>,
    /// Sources that have not given everything yet.
    waiting: BTreeSet<usize>,
    source_names: Vec<String>,
    /// Names of the inputs that nothing referred to in the last build.
    idle: BTreeSet<String>,
    /// The user's drafts, by the name of the input that they replace.
    drafts: BTreeMap<String, Input>,
    /// Options that sources set, by name.
    options: BTreeMap<&'static str, Str>,
    changes: u64,
    /// Names of the inputs that were edited since the build before.
    edited: BTreeSet<String>,
    since: Option<Instant>,
    dirty: bool,
    /// Whether endpoints changed: they do not wait.
    urgent: bool,
    closed: bool,
}

/// Where sources put inputs. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Intake {
    shared: Arc<(Mutex<State>, Condvar)>,
    metrics: Metrics,
}

impl Intake {
    /// Creates an intake for this many sources, which are not synced yet.
    #[must_use]
    pub fn new(sources: usize, metrics: Metrics) -> Self {
        let state = State { waiting: (0..sources).collect(), dirty: sources == 0, ..State::default() };
        Self { shared: Arc::new((Mutex::new(state), Condvar::new())), metrics }
    }

    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        lock(&self.shared.0)
    }

    /// Notes that an input or the options changed.
    fn changed(&self, mut state: std::sync::MutexGuard<'_, State>, name: Option<&str>) {
        state.changes += 1;
        if let Some(name) = name.filter(|_| state.edited.len() < MOST_EDITED) {
            state.edited.insert(name.to_owned());
        }
        state.since.get_or_insert_with(Instant::now);
        state.dirty = true;
        drop(state);
        self.shared.1.notify_all();
    }

    /// Sets the text of an input that an API server has admitted.
    pub fn put_stored(&self, source: usize, name: &str, bytes: Vec<u8>) {
        let mut state = self.state();
        if !state.stored.contains(name) {
            Arc::make_mut(&mut state.stored).insert(name.into());
        }
        drop(state);
        self.put(source, name, bytes);
    }

    /// Sets the text of an input.
    pub fn put(&self, source: usize, name: &str, bytes: Vec<u8>) {
        self.metrics.received();
        let (input, not_utf8) = Input::from_bytes(name, bytes);
        let key = (source, name.to_owned());
        let mut state = self.state();
        let was_readable = state.unreadable.remove(&key).is_none();
        if state.inputs.get(&key).is_some_and(|(known, _)| known.text == input.text) {
            return if was_readable { self.metrics.dropped(NoBuildReason::Unchanged) } else { self.changed(state, Some(name)) };
        }
        let known = state.inputs.insert(key, (input.clone(), not_utf8));
        if state.idle.contains(name) && known.is_some_and(|(known, _)| is_selected_alike(&known, &input)) {
            // The text is used as soon as something refers to it.
            return self.metrics.dropped(NoBuildReason::Unreferenced);
        }
        state.urgent |= is_endpoints(name);
        self.changed(state, Some(name));
    }

    /// Removes an input.
    pub fn remove(&self, source: usize, name: &str) {
        self.metrics.received();
        let key = (source, name.to_owned());
        let mut state = self.state();
        let was_readable = state.unreadable.remove(&key).is_none();
        if state.inputs.remove(&key).is_none() && was_readable {
            return self.metrics.dropped(NoBuildReason::Unchanged);
        }
        if state.stored.contains(name) {
            Arc::make_mut(&mut state.stored).remove(name);
        }
        self.changed(state, Some(name));
    }

    /// Notes that a file cannot be read now. Its input stays until it is put or removed.
    pub fn set_unreadable(&self, source: usize, file: Unreadable) {
        self.metrics.received();
        let mut state = self.state();
        let key = (source, file.name.clone());
        if state.unreadable.get(&key) == Some(&file) {
            return self.metrics.dropped(NoBuildReason::Unchanged);
        }
        let name = file.name.clone();
        state.unreadable.insert(key, file);
        self.changed(state, Some(&name));
    }

    /// Returns the text of an input, unless parts of it were not UTF-8.
    #[must_use]
    pub fn text(&self, source: usize, name: &str) -> Option<Arc<str>> {
        let state = self.state();
        state.inputs.get(&(source, name.to_owned())).filter(|(_, not_utf8)| not_utf8.is_empty()).map(|(input, _)| input.text.clone())
    }

    /// Replaces the text of an input by a draft, until `None`. A draft of a missing input has no effect.
    pub fn draft(&self, name: &str, text: Option<&str>) {
        let mut state = self.state();
        let same = match (text, state.drafts.get(name)) {
            (Some(text), Some(known)) => *known.text == *text,
            (None, None) => true,
            _ => false,
        };
        if same {
            return;
        }
        match text {
            Some(text) => drop(state.drafts.insert(name.to_owned(), Input { name: name.into(), text: text.into() })),
            None => drop(state.drafts.remove(name)),
        }
        self.changed(state, Some(name));
    }

    /// Sets options for all later builds, and removes options with the value `None`. All change at once.
    pub fn set_options(&self, options: impl IntoIterator<Item = (&'static str, Option<String>)>) {
        let mut state = self.state();
        let before = state.options.clone();
        for (name, value) in options {
            match value {
                Some(value) => state.options.insert(name, value.into()),
                None => state.options.remove(name),
            };
        }
        if state.options != before {
            self.changed(state, None);
        }
    }

    /// Removes the inputs of a source whose names begin with `prefix`, except the names in `keep`.
    pub fn retain(&self, source: usize, prefix: &str, keep: &BTreeSet<String>) {
        let gone: Vec<String> = self.names(source).into_iter().filter(|name| name.starts_with(prefix) && !keep.contains(name)).collect();
        gone.iter().for_each(|name| self.remove(source, name));
    }

    /// Returns the names of a source's inputs.
    #[must_use]
    pub fn names(&self, source: usize) -> Vec<String> {
        self.state().inputs.range((source, String::new())..(source + 1, String::new())).map(|((_, name), _)| name.clone()).collect()
    }

    /// Returns all inputs by name, whatever their source.
    #[cfg(test)]
    pub(crate) fn texts(&self) -> BTreeMap<String, String> {
        self.state().inputs.iter().map(|((_, name), (input, _))| (name.clone(), input.text.to_string())).collect()
    }

    /// Returns the files that cannot be read now.
    #[cfg(test)]
    pub(crate) fn unreadable(&self) -> Vec<Unreadable> {
        self.state().unreadable.values().cloned().collect()
    }

    /// Notes that a source has given everything that it holds.
    pub fn synced(&self, source: usize) {
        let mut state = self.state();
        if state.waiting.remove(&source) && state.waiting.is_empty() {
            state.dirty = true;
            drop(state);
            self.shared.1.notify_all();
        }
    }

    /// Names the sources, in the order of their numbers.
    pub fn set_source_names(&self, names: Vec<String>) {
        self.state().source_names = names;
    }

    /// Returns the names of the sources that have not been read yet.
    #[must_use]
    pub fn unsynced_sources(&self) -> Vec<String> {
        let state = self.state();
        state.waiting.iter().map(|number| state.source_names.get(*number).cloned().unwrap_or_else(|| format!("source {number}"))).collect()
    }

    /// Whether every source has given everything that it holds.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.state().waiting.is_empty()
    }

    /// Whether there is something left to build.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        let state = self.state();
        state.waiting.is_empty() && state.dirty
    }

    /// Requests a build without a change of inputs, without waiting for the spacing.
    pub fn rebuild(&self) {
        let mut state = self.state();
        state.dirty = true;
        state.urgent = true;
        drop(state);
        self.shared.1.notify_all();
    }

    /// Sets the inputs that nothing referred to in the last build.
    pub fn set_idle(&self, idle: BTreeSet<String>) {
        self.state().idle = idle;
    }

    /// Ends the worker.
    pub fn close(&self) {
        self.state().closed = true;
        self.shared.1.notify_all();
    }

    /// Waits for a reason to build, for at most this long. Returns false if the intake is closed.
    #[must_use]
    pub fn wait(&self, most: Option<Duration>) -> bool {
        let until = most.map(|most| Instant::now() + most);
        let mut state = self.state();
        while !(state.closed || state.dirty && state.waiting.is_empty()) {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return true;
            }
            let left = left.unwrap_or(Duration::from_secs(3600));
            state = self.shared.1.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        !state.closed
    }

    /// Sleeps, unless endpoints change. Returns false if the intake is closed.
    #[must_use]
    pub fn sleep(&self, rest: Duration) -> bool {
        let until = Instant::now() + rest;
        let mut state = self.state();
        while !state.closed {
            if state.urgent {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            state = self.shared.1.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    /// Returns all inputs, if there is a reason to build.
    #[must_use]
    pub fn drain(&self) -> Option<Drained> {
        let mut state = self.state();
        if !state.dirty {
            return None;
        }
        state.dirty = false;
        state.urgent = false;
        let changes = std::mem::take(&mut state.changes);
        let edited = std::mem::take(&mut state.edited).into_iter().collect();
        let since = state.since.take();
        let tried = |name: &str| state.drafts.get(name);
        let beneath = state.inputs.iter().filter(|((_, name), _)| tried(name).is_some()).map(|(_, (input, _))| input.clone()).collect();
        let inputs = state.inputs.iter().map(|((_, name), (input, _))| tried(name).unwrap_or(input).clone()).collect();
        let not_utf8 = state.inputs.iter().map(|((_, name), (_, wrong))| tried(name).map_or_else(|| wrong.clone(), |_| Vec::new())).collect();
        let mut stored = state.stored.clone();
        // An API server has not admitted a draft.
        for name in state.drafts.keys().filter(|name| state.stored.contains(name.as_str())) {
            Arc::make_mut(&mut stored).remove(name.as_str());
        }
        let inputs = Inputs { inputs, stored };
        let unreadable = state.unreadable.values().cloned().collect();
        Some(Drained { inputs, not_utf8, unreadable, beneath, options: state.options.clone(), changes, edited, since })
    }
}

/// Kinds whose objects only matter if others refer to them, as sources of clusters name them.
const REFERRED: [&str; 4] = ["Secret/", "EndpointSlice.discovery.k8s.io/", "Endpoints/", "Pod/"];

/// Whether an input holds an object that only matters if others refer to it.
#[must_use]
pub fn is_referred(name: &str) -> bool {
    REFERRED.iter().any(|kind| name.starts_with(kind))
}

fn is_endpoints(name: &str) -> bool {
    is_referred(name) && !name.starts_with("Secret/") && !name.starts_with("Pod/")
}

/// Whether two versions of an object have the same labels.
fn is_selected_alike(before: &Input, after: &Input) -> bool {
    let labels = |input: &Input| {
        let value: serde_json::Value = serde_json::from_str(&input.text).ok()?;
        Some(value["metadata"]["labels"].clone())
    };
    labels(before).is_some_and(|known| labels(after) == Some(known))
}
