//! Follows one kind in one place. Does not choose kinds and places; see `access` and `permissions`.
//!
//! kube's watcher lists, watches, and lists again if the server has forgotten the last version (410). An error changes
//! the state of the kind and removes nothing. After the next list, objects that are missing from it are removed. The
//! follower skips an event that comes twice, or after a later event of its object.

use super::access::Place;
use super::reason::unreachable;
use crate::event::SourceState;
use crate::sources::Outlet;
use crate::sources::stream::{name_of, text_of};
use futures_util::StreamExt;
use kube::api::{Api, DynamicObject, ListParams, TypeMeta};
use kube::runtime::utils::{Backoff, ResetTimerBackoff};
use kube::runtime::watcher::{self, Event, ExponentialBackoff};
use kube::runtime::{WatchStreamExt, watcher as watch};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Returns the pauses before a watch is retried. Short pauses notice a recovered server soon; random pauses spread the
/// requests.
fn pauses() -> impl Backoff {
    let pauses = backon::ExponentialBuilder::default().with_min_delay(Duration::from_millis(500)).with_max_delay(Duration::from_secs(5));
    ResetTimerBackoff::new(ExponentialBackoff::from(pauses.with_jitter().without_max_times()), Duration::from_secs(60))
}

/// How long a watch must not fail before the kind is tried. It is longer than the longest pause, so a watch that still fails
/// begins it again.
const QUIET: Duration = Duration::from_secs(7);
/// How long the trial may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of deleted objects whose versions are remembered.
const MOST_GONE: usize = 10_000;

/// The newest version of each object since the last list, including deleted objects. Versions of an object only
/// increase.
#[derive(Debug, Default)]
pub struct Versions {
    known: HashMap<String, u64>,
    gone: VecDeque<String>,
}

impl Versions {
    /// Whether an event of an object is newer than earlier events. Versions that are not numbers cannot be compared, and
    /// are treated as news.
    fn is_news(&mut self, name: &str, version: Option<&str>) -> bool {
        let Some(version) = version.and_then(|version| version.parse::<u64>().ok()) else { return true };
        match self.known.get_mut(name) {
            Some(known) if *known >= version => false,
            Some(known) => {
                *known = version;
                true
            }
            None => {
                self.known.insert(name.to_owned(), version);
                true
            }
        }
    }

    /// Notes a deleted object. Its version is remembered for a while, because an earlier event may arrive late.
    fn deleted(&mut self, name: String) {
        self.gone.push_back(name);
        if self.gone.len() > MOST_GONE
            && let Some(oldest) = self.gone.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// Forgets all versions before a new list.
    fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Follows a kind in a place.
pub struct Follower {
    /// The name in events.
    pub kind: String,
    /// The type fields of its objects, which lists of Kubernetes' own kinds omit.
    pub types: TypeMeta,
    pub place: Place,
    /// Receives the changes.
    pub outlet: Outlet,
    /// Receives the kind and the place once the first list is complete.
    pub listed: Option<mpsc::UnboundedSender<(String, Place)>>,
    /// The settings of the watch.
    pub config: watcher::Config,
    /// The newest version of each object.
    pub versions: Versions,
}

impl Follower {
    /// Follows as long as the process runs.
    pub async fn run(mut self, api: Api<DynamicObject>) {
        let events = watch(api.clone(), self.config.clone()).backoff(pauses());
        futures_util::pin_mut!(events);
        let mut seen: BTreeSet<String> = BTreeSet::new();
        // When the watch last failed. A watch that succeeds again says nothing until an object changes.
        let mut failed: Option<Instant> = None;
        // A kind whose objects were never listed is not synced, even if the API server can be read again.
        let mut was_listed = false;
        loop {
            let event = match failed {
                None => events.next().await,
                Some(at) => tokio::select! {
                    event = events.next() => event,
                    () = tokio::time::sleep_until((at + QUIET).into()) => {
                        let is_readable = self.is_readable(&api).await;
                        if is_readable && was_listed {
                            self.healthy();
                        }
                        failed = (!is_readable).then(Instant::now);
                        continue;
                    }
                },
            };
            let Some(event) = event else { return };
            if event.is_ok() {
                failed = None;
            }
            match event {
                Ok(Event::Init) => {
                    seen.clear();
                    self.versions.forget();
                }
                Ok(Event::InitApply(object)) => {
                    if let Some(name) = self.put(object) {
                        seen.insert(name);
                    }
                }
                Ok(Event::InitDone) => {
                    self.outlet.retain(&self.prefix(), &std::mem::take(&mut seen));
                    was_listed = true;
                    self.healthy();
                    if let Some(listed) = self.listed.take() {
                        // The receiver may be gone when the process ends.
                        let _ = listed.send((self.kind.clone(), self.place.clone()));
                    }
                }
                Ok(Event::Apply(object)) => {
                    self.put(object);
                    self.healthy();
                }
                Ok(Event::Delete(object)) => {
                    let version = object.metadata.resource_version.clone();
                    if let Ok(value) = serde_json::to_value(self.typed(object)) {
                        let name = name_of(&value);
                        if self.versions.is_news(&name, version.as_deref()) {
                            self.outlet.remove(&name);
                            self.versions.deleted(name);
                        }
                    }
                    self.healthy();
                }
                Err(error) => {
                    if self.trouble(&error) == Some(SourceState::Error) {
                        failed = Some(Instant::now());
                    }
                }
            }
        }
    }

    /// Whether the API server answers a request for this kind.
    async fn is_readable(&self, api: &Api<DynamicObject>) -> bool {
        let one = ListParams::default().limit(1);
        tokio::time::timeout(PATIENCE, api.list_metadata(&one)).await.is_ok_and(|listed| listed.is_ok())
    }

    fn typed(&self, mut object: DynamicObject) -> DynamicObject {
        if object.types.as_ref().is_none_or(|types| types.kind.is_empty()) {
            object.types = Some(self.types.clone());
        }
        object
    }

    fn put(&mut self, object: DynamicObject) -> Option<String> {
        let version = object.metadata.resource_version.clone();
        let value = serde_json::to_value(self.typed(object)).ok()?;
        let name = name_of(&value);
        if !self.versions.is_news(&name, version.as_deref()) {
            return Some(name);
        }
        self.outlet.put_stored(&name, text_of(value));
        Some(name)
    }

    /// Returns the beginning of the names of its objects.
    fn prefix(&self) -> String {
        match &self.place {
            Place::All => format!("{}/", self.kind),
            Place::In(namespace) => format!("{}/{namespace}/", self.kind),
        }
    }

    fn shown(&self) -> String {
        match &self.place {
            Place::All => self.kind.clone(),
            Place::In(namespace) => format!("{} in {namespace}", self.kind),
        }
    }

    fn healthy(&self) {
        self.outlet.state(&self.shown(), SourceState::Synced, None);
    }

    /// Reports a failure. Returns the state of the kind, if it is one.
    fn trouble(&self, error: &watcher::Error) -> Option<SourceState> {
        let (code, why) = match error {
            // The watcher lists again at once, so this is not a failure.
            watcher::Error::WatchError(status) if status.code == 410 => return None,
            watcher::Error::WatchError(status) => (status.code, status.message.clone()),
            watcher::Error::InitialListFailed(error) | watcher::Error::WatchStartFailed(error) | watcher::Error::WatchFailed(error) => {
                (if let kube::Error::Api(status) = error { status.code } else { 0 }, unreachable(error))
            }
            watcher::Error::NoResourceVersion => (0, "the API server gives objects of this kind no resourceVersion".into()),
        };
        let state = match code {
            403 => SourceState::Forbidden,
            404 => SourceState::Missing,
            _ => SourceState::Error,
        };
        self.outlet.state(&self.shown(), state, Some(format!("{why}; the last read state is used")));
        Some(state)
    }
}
