//! Where inputs come from.
//!
//! | module | what it holds |
//! |---|---|
//! | [`folder`] | files and folders, as they change |
//! | [`stream`] | watch events on standard input, as `kubectl get -w --output-watch-events -o json` writes them |
//! | [`kube`] | an API server |
//! | [`consul`] | a Consul agent |
//! | [`recording`] | what sources told, as `chancery watch --record` writes it |
//! | [`replay`] | a recording, played again |
//!
//! A source puts texts into the [`Intake`](crate::worker::intake::Intake), says when it has told all that it holds, and tells how it is. What
//! it has told stays when it is lost: only what it knows to be gone is taken away. Not here: what texts mean.

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

/// A source.
pub trait Source: Send {
    /// What it is called, for people.
    fn name(&self) -> String;
    /// Tells all that it holds, and then what changes, for as long as it is there. A source that has an end, as a recording has, returns
    /// there; what it told stays.
    ///
    /// # Errors
    ///
    /// It can never be read, whatever happens; what may mend itself is reported as a state.
    fn run(self: Box<Self>, outlet: Outlet) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>;
    /// Who knows what the tokens of its proxies may do, if somebody does.
    fn authorize(&self) -> Option<Arc<dyn Authorize>> {
        None
    }
}

/// All that know what the tokens of these sources' proxies may do.
pub(crate) fn tokens(sources: &[Box<dyn Source>]) -> Tokens {
    sources.iter().filter_map(|source| source.authorize()).collect()
}

/// How a source, or a kind of resources in it, is.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The source.
    pub source: String,
    /// The kind, or the source's name.
    pub kind: String,
    /// How it is.
    pub state: SourceState,
    /// More of it.
    pub detail: Option<String>,
    /// Since when, in seconds.
    pub age_s: u64,
    #[serde(skip)]
    since: Option<Instant>,
}

/// How all sources are. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct States {
    all: Arc<Mutex<BTreeMap<(String, String), Status>>>,
    /// The ids of the namespaces by which clusters are known, by source.
    clusters: Arc<Mutex<BTreeMap<String, String>>>,
}

impl States {
    /// All of them, by source and kind.
    #[must_use]
    pub fn all(&self) -> Vec<Status> {
        let aged = |status: &Status| Status { age_s: status.since.map(|since| since.elapsed().as_secs()).unwrap_or_default(), ..status.clone() };
        lock(&self.all).values().map(aged).collect()
    }

    /// The id by which the cluster of a source is known.
    #[must_use]
    pub fn cluster(&self, source: &str) -> Option<String> {
        lock(&self.clusters).get(source).cloned()
    }

    /// Notes the id by which the cluster of a source is known.
    pub fn set_cluster(&self, source: &str, id: String) {
        lock(&self.clusters).insert(source.to_owned(), id);
    }

    /// Notes a state, and tells it where it is another.
    pub fn note(&self, events: &Events, source: &str, kind: &str, state: SourceState, detail: Option<String>) {
        if let Some(before) = self.set(source, kind, state, detail.as_deref()) {
            log_state(events, source, kind, before, state, detail.as_deref());
            events.tell(Event::Source { kind: kind.to_owned(), state, detail, source: source.to_owned() });
        }
    }

    /// Notes a state without an event: another event sums it up.
    pub fn note_silently(&self, source: &str, kind: &str, state: SourceState, detail: Option<String>) {
        self.set(source, kind, state, detail.as_deref());
    }

    /// Notes a state. Returns the state before, if it changed.
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

/// What a source tells goes here.
#[derive(Clone, Debug)]
pub struct Outlet {
    /// The number of the source.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Where inputs go.
    pub intake: Intake,
    /// Where events go.
    pub events: Events,
    /// How sources are.
    pub states: States,
    /// Where all is written down, if it is.
    pub recorder: Option<Recorder>,
}

impl Outlet {
    /// An input has this text now.
    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        if let Some(recorder) = &self.recorder {
            recorder.put(self.number, name, &bytes, false);
        }
        self.intake.put(self.number, name, bytes);
    }

    /// An input has this text now, as an API server gives it: what it holds has been admitted there.
    pub fn put_stored(&self, name: &str, bytes: Vec<u8>) {
        if let Some(recorder) = &self.recorder {
            recorder.put(self.number, name, &bytes, true);
        }
        self.intake.put_stored(self.number, name, bytes);
    }

    /// Reports that a file cannot be read now. Its last readable version stays in use.
    pub fn set_unreadable(&self, file: Unreadable) {
        self.intake.set_unreadable(self.number, file);
    }

    /// An input is gone.
    pub fn remove(&self, name: &str) {
        if let Some(recorder) = &self.recorder {
            recorder.remove(self.number, name);
        }
        self.intake.remove(self.number, name);
    }

    /// Only these of the inputs whose name begins with `prefix` are still there.
    pub fn retain(&self, prefix: &str, keep: &BTreeSet<String>) {
        let gone = self.intake.names(self.number).into_iter().filter(|name| name.starts_with(prefix) && !keep.contains(name));
        gone.for_each(|name| self.remove(&name));
    }

    /// All that the source holds has been told.
    pub fn synced(&self) {
        if let Some(recorder) = &self.recorder {
            recorder.synced(self.number);
        }
        self.intake.synced(self.number);
    }

    /// How the source is, or a kind of resources in it.
    pub fn state(&self, kind: &str, state: SourceState, detail: Option<String>) {
        self.states.note(&self.events, &self.name, kind, state, detail);
    }
}
