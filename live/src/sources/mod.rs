//! Defines a source of inputs, and the outlet that it writes into. Does not interpret inputs; the core does.
//!
//! | module | what it holds |
//! |---|---|
//! | [`folder`] | files and folders, with their changes |
//! | [`stream`] | watch events on standard input, as `kubectl get -w --output-watch-events -o json` writes them |
//! | [`kube`] | an API server |
//! | [`consul`] | a Consul agent |
//! | [`recording`] | records the changes of sources for `chancery watch --record` |
//! | [`replay`] | replays a recording |
//!
//! A source puts inputs into the [`Intake`](crate::worker::intake::Intake), reports when it has given everything that it
//! holds, and reports its state. If a source is lost, its inputs stay: only inputs that it knows to be deleted are
//! removed.

pub mod consul;
pub mod folder;
pub mod kube;
pub mod recording;
pub mod replay;
pub mod stream;

use crate::Failure;
use crate::event::{Event, Events, SourceState};
use crate::lock;
use crate::worker::intake::{Intake, Unreadable};
use crate::xds::token::{Authorize, Tokens};
use recording::Recorder;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub trait Source: Send {
    /// Returns the name in messages and states.
    fn name(&self) -> String;
    /// Puts all inputs that the source holds, and then every change. A source with an end, such as a recording, returns
    /// there; its inputs stay.
    ///
    /// # Errors
    ///
    /// The source can never be read. A failure that may pass is reported as a state.
    fn run(self: Box<Self>, outlet: Outlet) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>;
    /// Returns what knows the permissions of its proxies' tokens, if anything does.
    fn authorize(&self) -> Option<Arc<dyn Authorize>> {
        None
    }
}

/// Returns everything that knows the permissions of these sources' tokens.
pub(crate) fn tokens(sources: &[Box<dyn Source>]) -> Tokens {
    sources.iter().filter_map(|source| source.authorize()).collect()
}

/// The state of a source, or of a kind of resources in it.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The source.
    pub source: String,
    /// The kind, or the source's name.
    pub kind: String,
    pub state: SourceState,
    /// Details.
    pub detail: Option<String>,
    /// Seconds since it is in this state.
    pub age_s: u64,
    #[serde(skip)]
    since: Option<Instant>,
}

/// The states of all sources. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct States {
    all: Arc<Mutex<BTreeMap<(String, String), Status>>>,
    /// The ids of clusters, by source: each is that of a namespace.
    clusters: Arc<Mutex<BTreeMap<String, String>>>,
}

impl States {
    /// Returns all states, by source and kind.
    #[must_use]
    pub fn all(&self) -> Vec<Status> {
        let aged = |status: &Status| Status { age_s: status.since.map(|since| since.elapsed().as_secs()).unwrap_or_default(), ..status.clone() };
        lock(&self.all).values().map(aged).collect()
    }

    /// Returns the id of the cluster of a source.
    #[must_use]
    pub fn cluster(&self, source: &str) -> Option<String> {
        lock(&self.clusters).get(source).cloned()
    }

    /// Sets the id of the cluster of a source.
    pub fn set_cluster(&self, source: &str, id: String) {
        lock(&self.clusters).insert(source.to_owned(), id);
    }

    /// Sets a state. A change is an event.
    pub fn note(&self, events: &Events, source: &str, kind: &str, state: SourceState, detail: Option<String>) {
        if let Some(before) = self.set(source, kind, state, detail.as_deref()) {
            log_state(events, source, kind, before, state, detail.as_deref());
            events.publish(Event::Source { kind: kind.to_owned(), state, detail, source: source.to_owned() });
        }
    }

    /// Sets a state without an event: another event sums it up.
    pub fn note_silently(&self, source: &str, kind: &str, state: SourceState, detail: Option<String>) {
        self.set(source, kind, state, detail.as_deref());
    }

    /// Sets a state. Returns the state before, if it changed.
    fn set(&self, source: &str, kind: &str, state: SourceState, detail: Option<&str>) -> Option<Option<SourceState>> {
        let mut all = lock(&self.all);
        let key = (source.to_owned(), kind.to_owned());
        if all.get(&key).is_some_and(|known| known.state == state && known.detail.as_deref() == detail) {
            return None;
        }
        let (source, kind) = key.clone();
        let status = Status { source, kind, state, detail: detail.map(str::to_owned), age_s: 0, since: Some(Instant::now()) };
        Some(all.insert(key, status).map(|before| before.state))
    }
}

/// Logs trouble with a source, and its end. A missing kind in a cluster is normal: its CRD is not installed.
fn log_state(events: &Events, source: &str, kind: &str, before: Option<SourceState>, state: SourceState, detail: Option<&str>) {
    let is_trouble = |state: SourceState| match state {
        SourceState::Error => true,
        SourceState::Missing | SourceState::Empty => source == kind,
        SourceState::Forbidden | SourceState::Synced => false,
    };
    let name = if source == kind { source.to_owned() } else { format!("{source}: {kind}") };
    if is_trouble(state) {
        tracing::error!("{name}: {}", events.scrubbed(detail.unwrap_or(state.name())));
    } else if before.is_some_and(is_trouble) {
        tracing::info!("{name}: {}", state.name());
    }
}

/// The outlet of a source.
#[derive(Clone, Debug)]
pub struct Outlet {
    /// The number of the source.
    pub number: usize,
    pub name: String,
    /// Receives inputs.
    pub intake: Intake,
    /// Receives events.
    pub events: Events,
    /// Receives states.
    pub states: States,
    /// Records all changes, if set.
    pub recorder: Option<Recorder>,
}

impl Outlet {
    /// Sets the text of an input.
    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        if let Some(recorder) = &self.recorder {
            recorder.put(self.number, name, &bytes, false);
        }
        self.intake.put(self.number, name, bytes);
    }

    /// Sets the text of an input that an API server has admitted.
    pub fn put_stored(&self, name: &str, bytes: Vec<u8>) {
        if let Some(recorder) = &self.recorder {
            recorder.put(self.number, name, &bytes, true);
        }
        self.intake.put_stored(self.number, name, bytes);
    }

    /// Notes that a file cannot be read now. Its input stays.
    pub fn set_unreadable(&self, file: Unreadable) {
        self.intake.set_unreadable(self.number, file);
    }

    /// Removes an input.
    pub fn remove(&self, name: &str) {
        if let Some(recorder) = &self.recorder {
            recorder.remove(self.number, name);
        }
        self.intake.remove(self.number, name);
    }

    /// Removes the inputs whose names begin with `prefix`, except the names in `keep`.
    pub fn retain(&self, prefix: &str, keep: &BTreeSet<String>) {
        let gone = self.intake.names(self.number).into_iter().filter(|name| name.starts_with(prefix) && !keep.contains(name));
        gone.for_each(|name| self.remove(&name));
    }

    /// Notes that the source has given everything that it holds.
    pub fn synced(&self) {
        if let Some(recorder) = &self.recorder {
            recorder.synced(self.number);
        }
        self.intake.synced(self.number);
    }

    /// Sets the state of the source, or of a kind of resources in it.
    pub fn state(&self, kind: &str, state: SourceState, detail: Option<String>) {
        self.states.note(&self.events, &self.name, kind, state, detail);
    }
}
