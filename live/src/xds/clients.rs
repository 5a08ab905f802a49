//! Keeps who is connected, and what each Envoy accepted and rejected.
//!
//! An Envoy is a node id. It may have several streams, one for each type.

use super::blame::{Blamed, blame};
use super::message::Verdict;
use super::snapshot::{Resources, Snapshot};
use crate::event::{EnvoyState, Event, Events};
use crate::lock;
use crate::log_limit::LogLimit;
use crate::worker::metrics::Histogram;
use chancery_core::backend::envoy::v3::Fingerprint;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The most characters of an Envoy's message that are kept.
const LONGEST_MESSAGE: usize = 4096;
/// The most resources that one rejection names.
const MOST_BLAMED: usize = 16;

/// Rejections that come within this time are reported together.
const TOGETHER: Duration = Duration::from_millis(100);

/// The node that an Envoy describes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Node {
    /// `node.id`
    pub id: String,
    /// `node.cluster`
    pub cluster: String,
    /// The name and version of its program.
    pub agent: String,
}

/// Whether an Envoy has the last version of a type that it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SyncState {
    /// It accepted the last version.
    Synced,
    /// It has not answered yet.
    Stale,
    /// It rejected the last version, and keeps the one before.
    Rejected,
    /// It was sent nothing: it did not ask for the type.
    #[default]
    NotSent,
}

/// The state of one type at an Envoy.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Acceptance {
    /// Whether it has the last version.
    pub state: SyncState,
    /// Seconds since this state began.
    pub age_s: u64,
    /// The last version that was sent.
    pub sent: String,
    /// The last version that it accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
    /// The last rejection, until it accepts a version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<Rejection>,
    /// Names of resources that are not sent. Only [`connected`](crate::connected::connected) sets it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    /// Names of resources whose newest version an Envoy rejected, so that all keep the last accepted one. Only
    /// [`connected`](crate::connected::connected) sets it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
    #[serde(skip)]
    since: Option<Instant>,
    /// The change that was measured last.
    #[serde(skip)]
    measured: Option<Instant>,
}

impl Acceptance {
    fn set_state(&mut self, state: SyncState) {
        self.state = state;
        self.since = Some(Instant::now());
    }
}

/// A rejection by an Envoy.
#[derive(Clone, Debug, Serialize)]
pub struct Rejection {
    /// The version.
    pub version: String,
    /// Envoy's message.
    pub message: String,
    /// The resources that it blames, with the places that caused it.
    pub resources: Vec<Blamed>,
}

/// An Envoy.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Client {
    /// The node that it describes.
    #[serde(flatten)]
    pub node: Node,
    /// Its gateway, if it has one.
    pub gateway: Option<String>,
    /// The number of its open streams.
    pub streams: usize,
    /// By the URL of the type.
    pub types: BTreeMap<String, Acceptance>,
    #[serde(skip)]
    connected_at: Option<Instant>,
}

impl Client {
    /// Whether it rejects what it was sent last, of any type.
    #[must_use]
    pub fn rejects(&self) -> bool {
        self.types.values().any(|of| of.rejected.is_some())
    }
}

/// Counts what Envoys answer. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct AnswerCounts(Arc<Mutex<Counts>>);

#[derive(Clone, Debug, Default)]
struct Counts {
    rejections: BTreeMap<String, u64>,
    undecodable: u64,
    propagation: Histogram,
}

impl AnswerCounts {
    /// Counts a message that could not be decoded.
    pub fn undecodable(&self) {
        lock(&self.0).undecodable += 1;
    }

    /// Returns the rejections by type, the undecodable messages, and the time from changes to the Envoys that accepted them.
    #[must_use]
    pub fn all(&self) -> (BTreeMap<String, u64>, u64, Histogram) {
        let counts = lock(&self.0).clone();
        (counts.rejections, counts.undecodable, counts.propagation)
    }
}

/// A resource that Envoys reject now.
#[derive(Clone, Debug)]
pub struct RejectedNow {
    /// The type and name of the resource, and the message of Envoy.
    pub resource_and_message: String,
    /// The resource with its places.
    pub blamed: Blamed,
    /// The node ids of the Envoys; at least one.
    pub envoys: Vec<String>,
    /// Whether the Envoys have an earlier version now, or are gone.
    pub is_past: bool,
}

/// A rejection that counts now.
#[derive(Clone, Debug)]
struct Standing {
    /// The node id of the Envoy.
    envoy: String,
    /// The type of the resource, without its package.
    kind: String,
    /// `rejects`, or `rejected` if the Envoy has an earlier version now or is gone.
    verb: &'static str,
    rejection: Rejection,
}

/// Rejected versions of resources, by gateway, the URL of the type and the name.
type HeldVersions = BTreeMap<(Arc<str>, Arc<str>, Arc<str>), (Fingerprint, Standing)>;

/// What Envoys reject now, by the name of the input that made it. Each sentence names the Envoy, the resource and the message.
pub type Rejected = Arc<BTreeMap<String, String>>;

/// The resources that an Envoy accepted last, by gateway and the URL of the type.
type AcceptedResources = BTreeMap<(Arc<str>, Arc<str>), Arc<Resources>>;

/// The connected Envoys. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Clients {
    clients: Arc<Mutex<BTreeMap<String, Client>>>,
    /// The resources of a gateway that an Envoy accepted last, by gateway and type.
    accepted: Arc<Mutex<AcceptedResources>>,
    /// Rejected versions that are the newest of their gateway.
    held: Arc<Mutex<HeldVersions>>,
    /// The newest snapshot of each gateway, as it was built.
    newest: Arc<Mutex<BTreeMap<Arc<str>, Arc<Snapshot>>>>,
    /// Counts the changes of rejections.
    rejections: watch::Sender<u64>,
    /// What was counted since the start.
    pub counts: AnswerCounts,
    log_limit: Arc<LogLimit>,
    events: Events,
}

impl Clients {
    #[must_use]
    pub fn new(events: Events) -> Self {
        Self { events, ..Self::default() }
    }

    /// Returns the rejections that count now: those of connected Envoys, then rejected versions that are still the newest.
    fn standing(&self) -> Vec<Standing> {
        let mut out: Vec<Standing> = Vec::new();
        for client in lock(&self.clients).values() {
            let rejected = client.types.iter().filter_map(|(kind, of)| Some((kind, of.rejected.clone()?)));
            let standing =
                |(kind, rejection): (&String, Rejection)| Standing { envoy: client.node.id.clone(), kind: short(kind), verb: "rejects", rejection };
            out.extend(rejected.map(standing));
        }
        let is_known = |of: &Standing| {
            let resources = |of: &Standing| of.rejection.resources.iter().map(|of| of.resource.clone()).collect::<Vec<_>>();
            out.iter().any(|known| known.kind == of.kind && resources(of).iter().all(|name| resources(known).contains(name)))
        };
        let held: Vec<Standing> = lock(&self.held).values().map(|(_, of)| of.clone()).filter(|of| !is_known(of)).collect();
        out.extend(held);
        out
    }

    /// Returns the resources of a gateway whose newest version was rejected, by the URL of the type.
    #[must_use]
    pub fn rejected_names(&self, gateway: &str) -> BTreeMap<Arc<str>, Vec<Arc<str>>> {
        let mut out: BTreeMap<Arc<str>, Vec<Arc<str>>> = BTreeMap::new();
        for (_, url, name) in lock(&self.held).keys().filter(|(of, ..)| **of == *gateway) {
            out.entry(url.clone()).or_default().push(name.clone());
        }
        out
    }

    /// Notes the newest snapshots, and forgets rejected versions that they replace.
    pub fn set_newest(&self, newest: &BTreeMap<Arc<str>, Arc<Snapshot>>) {
        lock(&self.newest).clone_from(newest);
        let before = lock(&self.held).len();
        lock(&self.held).retain(|(gateway, url, name), (version, _)| {
            newest.get(gateway).and_then(|snapshot| snapshot.get(url)).and_then(|all| all.version(name)) == Some(*version)
        });
        if lock(&self.held).len() != before {
            self.rejections_changed();
        }
    }

    /// Returns what Envoys reject now.
    #[must_use]
    pub fn rejected(&self) -> Rejected {
        let mut now: BTreeMap<String, String> = BTreeMap::new();
        for Standing { envoy, verb, rejection, .. } in self.standing() {
            for Blamed { resource, places, .. } in &rejection.resources {
                for place in places {
                    let sentence = || format!("the Envoy {envoy} {verb} {resource}: {}", self.events.scrubbed(&rejection.message));
                    now.entry(place.file.clone()).or_insert_with(sentence);
                }
            }
        }
        Arc::new(now)
    }

    /// Sends what Envoys reject, now and after each change. A thousand rejections at once are sent once.
    pub async fn watch_rejections(&self, out: watch::Sender<Rejected>) {
        let mut changes = self.rejections.subscribe();
        loop {
            let now = self.rejected();
            out.send_if_modified(|known| (*known != now).then(|| *known = now).is_some());
            if changes.changed().await.is_err() {
                return;
            }
            tokio::time::sleep(TOGETHER).await;
        }
    }

    /// Describes at most so many rejections that Envoys have not revoked.
    #[must_use]
    pub fn rejections(&self, most: usize) -> Vec<String> {
        let sentence = |of: Standing| format!("the Envoy {} {} {} {}", of.envoy, of.verb, of.kind, describe(&of.rejection));
        self.standing().into_iter().map(sentence).take(most).collect()
    }

    /// Returns what Envoys reject now. Envoys that reject the same resource for the same reason share one entry.
    #[must_use]
    pub fn rejected_now(&self) -> Vec<RejectedNow> {
        let mut found: BTreeMap<String, RejectedNow> = BTreeMap::new();
        for Standing { envoy, kind, verb, rejection } in self.standing() {
            let message = self.events.scrubbed(&rejection.message);
            for blamed in rejection.resources {
                let resource_and_message = format!("{kind} {}: {message}", blamed.resource);
                let new =
                    || RejectedNow { resource_and_message: resource_and_message.clone(), blamed, envoys: Vec::new(), is_past: verb == "rejected" };
                found.entry(resource_and_message.clone()).or_insert_with(new).envoys.push(envoy.clone());
            }
        }
        found.into_values().collect()
    }

    /// Wakes the tasks that wait for changes of rejections.
    fn rejections_changed(&self) {
        self.rejections.send_modify(|count| *count += 1);
    }

    /// Where events go.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Returns all connected Envoys.
    #[must_use]
    pub fn all(&self) -> Vec<Client> {
        let mut all: Vec<Client> = lock(&self.clients).values().cloned().collect();
        for of in all.iter_mut().flat_map(|client| client.types.values_mut()) {
            of.age_s = of.since.map(|since| since.elapsed().as_secs()).unwrap_or_default();
        }
        all
    }

    /// Notes an open stream, until the returned value is dropped.
    #[must_use]
    pub fn open(&self, node: &Node, gateway: Option<&str>) -> Connected {
        let is_first = {
            let mut clients = lock(&self.clients);
            let client = clients.entry(node.id.clone()).or_default();
            client.node = node.clone();
            client.gateway = gateway.map(str::to_owned);
            client.streams += 1;
            client.connected_at.get_or_insert_with(Instant::now);
            client.streams == 1
        };
        if is_first {
            self.events.publish(Event::Envoy { id: node.id.clone(), state: EnvoyState::Connected, gateway: gateway.map(str::to_owned) });
        }
        Connected { clients: self.clone(), id: node.id.clone() }
    }

    /// Notes the version that an Envoy was sent.
    pub fn sent(&self, id: &str, type_url: &str, version: &str) {
        if let Some(client) = lock(&self.clients).get_mut(id) {
            let acceptance = client.types.entry(type_url.to_owned()).or_default();
            version.clone_into(&mut acceptance.sent);
            if acceptance.state != SyncState::Rejected {
                acceptance.set_state(SyncState::Stale);
            }
        }
    }

    /// Notes the gateway of an Envoy.
    pub fn moved(&self, id: &str, gateway: Option<&str>) {
        if let Some(client) = lock(&self.clients).get_mut(id) {
            client.gateway = gateway.map(str::to_owned);
        }
    }

    /// Notes that an Envoy accepted or rejected a response.
    pub fn answered(&self, id: &str, verdict: &Verdict, snapshot: &Snapshot) {
        let (r#type, gateway, version) = (verdict.type_url.to_string(), snapshot.gateway.to_string(), verdict.version.clone());
        let key = (snapshot.gateway.clone(), verdict.type_url.clone());
        let Some(message) = &verdict.rejected else {
            if let Some(resources) = snapshot.get(&verdict.type_url) {
                lock(&self.accepted).insert(key, resources.clone());
            }
            let mut was_rejected = false;
            if let Some(client) = lock(&self.clients).get_mut(id) {
                let connected_at = client.connected_at;
                let acceptance = client.types.entry(r#type.clone()).or_default();
                acceptance.accepted = Some(version.clone());
                if acceptance.sent == version {
                    acceptance.set_state(SyncState::Synced);
                }
                // A change from before the Envoy connected did not wait for it.
                let changed = snapshot.changed_at.filter(|at| connected_at.is_some_and(|since| *at > since) && acceptance.measured != Some(*at));
                if let Some(at) = changed {
                    acceptance.measured = Some(at);
                    lock(&self.counts.0).propagation.observe(at.elapsed());
                }
                was_rejected = acceptance.rejected.take().is_some();
            }
            // An Envoy that was sent everything has accepted a version that was rejected before.
            let is_accepted = |url: &Arc<str>, name: &str, version: Fingerprint| {
                !was_rejected && *url == verdict.type_url && snapshot.get(url).and_then(|all| all.version(name)) == Some(version)
            };
            lock(&self.held).retain(|(of, url, name), (version, _)| *of != snapshot.gateway || !is_accepted(url, name, *version));
            if was_rejected {
                self.rejections_changed();
            }
            let after_ms = verdict.after.as_millis() as u64;
            return self.events.publish(Event::Accepted { id: id.into(), r#type, version, after_ms, gateway });
        };
        let message: String = message.trim().chars().take(LONGEST_MESSAGE).collect();
        let accepted = lock(&self.accepted).get(&key).cloned();
        let resources = blame(verdict, &message, snapshot, accepted.as_deref(), MOST_BLAMED);
        if let Some(client) = lock(&self.clients).get_mut(id) {
            let rejected = Rejection { version: version.clone(), message: message.clone(), resources: resources.clone() };
            let acceptance = client.types.entry(r#type.clone()).or_default();
            acceptance.rejected = Some(rejected);
            acceptance.set_state(SyncState::Rejected);
        }
        for blamed in &resources {
            let version = |of: &Snapshot| of.get(&verdict.type_url).and_then(|all| all.version(&blamed.resource));
            // Finding the places takes time: a newer build may have replaced the version meanwhile.
            let is_newest = |of: Fingerprint| lock(&self.newest).get(&snapshot.gateway).is_none_or(|newest| version(newest) == Some(of));
            if let Some(version) = version(snapshot).filter(|version| is_newest(*version)) {
                let rejection = Rejection { version: version.to_string(), message: message.clone(), resources: vec![blamed.clone()] };
                let standing = Standing { envoy: id.to_owned(), kind: short(&verdict.type_url), verb: "rejected", rejection };
                let key = (snapshot.gateway.clone(), verdict.type_url.clone(), Arc::from(blamed.resource.as_str()));
                lock(&self.held).insert(key, (version, standing));
            }
        }
        *lock(&self.counts.0).rejections.entry(r#type.clone()).or_default() += 1;
        self.log_rejection(id, &r#type, &Rejection { version: version.clone(), message: message.clone(), resources: resources.clone() });
        self.rejections_changed();
        for Blamed { resource, basis, places } in resources {
            let (r#type, message, gateway, version) = (r#type.clone(), message.clone(), gateway.clone(), version.clone());
            self.events.publish(Event::Rejected { id: id.into(), r#type, resource, message, basis, places, gateway, version });
        }
    }

    /// Logs a rejection. A thousand Envoys that reject the same change are not a thousand lines.
    fn log_rejection(&self, id: &str, type_url: &str, rejection: &Rejection) {
        if let Some(suppressed) = self.log_limit.allow() {
            let kind = type_url.rsplit('.').next().unwrap_or(type_url);
            let message = self.events.scrubbed(&describe(rejection));
            tracing::error!(node = id, version = %rejection.version, suppressed, "Envoy rejects {kind} {message}");
        }
    }

    fn close(&self, id: &str) {
        let mut clients = lock(&self.clients);
        let Some(client) = clients.get_mut(id) else { return };
        client.streams = client.streams.saturating_sub(1);
        if client.streams > 0 {
            return;
        }
        let gateway = client.gateway.clone();
        let rejected = client.rejects();
        clients.remove(id);
        let is_last = gateway.as_ref().is_some_and(|gateway| clients.values().all(|client| client.gateway.as_ref() != Some(gateway)));
        drop(clients);
        if is_last {
            // No Envoy of the gateway is left whose rejection could be compared.
            lock(&self.accepted).retain(|(of, _), _| Some(&**of) != gateway.as_deref());
        }
        if rejected {
            self.rejections_changed();
        }
        self.events.publish(Event::Envoy { id: id.into(), state: EnvoyState::Gone, gateway });
    }
}

/// The last word of a type's URL.
fn short(type_url: &str) -> String {
    type_url.rsplit('.').next().unwrap_or(type_url).to_owned()
}

/// Describes a rejection in one line: the resource, the message, and the place that caused it.
fn describe(rejection: &Rejection) -> String {
    let blamed = rejection.resources.first();
    let name = blamed.map(|of| of.resource.as_str()).filter(|name| !name.is_empty()).map(|name| format!("{name}: ")).unwrap_or_default();
    let place = blamed.and_then(|of| of.places.first());
    let field = |field: &str| if field.is_empty() { String::new() } else { format!(" {field}") };
    let basis = blamed.map(|of| of.basis.reason()).unwrap_or_default();
    let place = place.map(|place| format!(" ({}:{}{}, {basis})", place.file, place.line, field(&place.field))).unwrap_or_default();
    format!("{name}{}{place}", rejection.message.lines().next().unwrap_or_default())
}

/// An open stream of an Envoy.
#[derive(Debug)]
pub struct Connected {
    clients: Clients,
    id: String,
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.clients.close(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Place;
    use crate::xds::snapshot::Blame;

    struct OneInput;

    impl Blame for OneInput {
        fn places(&self, _: &str, name: &str, _: Option<&str>) -> Vec<Place> {
            vec![Place { file: format!("Mapping.getambassador.io/default/{name}"), line: 1, column: 1, object: String::new(), field: String::new() }]
        }
    }

    #[tokio::test]
    async fn rejections_by_input_end_with_acceptance_or_disconnect() {
        let clients = Clients::default();
        let inputs = || clients.rejected().keys().cloned().collect::<Vec<_>>();
        let (out, mut rejections) = watch::channel(Rejected::default());
        let telling = clients.clone();
        tokio::spawn(async move { telling.watch_rejections(out).await });
        let mut snapshot = Snapshot::new("g");
        snapshot.blame = Some(Arc::new(OneInput));
        let verdict = |rejected: Option<&str>| Verdict {
            type_url: "t".into(),
            version: "1".into(),
            names: vec!["a".into(), "b".into()],
            after: Duration::ZERO,
            rejected: rejected.map(str::to_owned),
        };
        let node = |id: &str| Node { id: id.into(), ..Node::default() };
        let (one, other) = (clients.open(&node("one"), Some("g")), clients.open(&node("other"), Some("g")));
        clients.answered("one", &verdict(Some("a: bad")), &snapshot);
        assert_eq!(inputs(), ["Mapping.getambassador.io/default/a"]);
        assert_eq!(clients.rejected().values().next().map(String::as_str), Some("the Envoy one rejects a: a: bad"));
        assert!(rejections.wait_for(|rejections| rejections.len() == 1).await.is_ok());
        clients.answered("other", &verdict(Some("b: bad")), &snapshot);
        assert_eq!(inputs().len(), 2);
        clients.answered("one", &verdict(None), &snapshot);
        assert_eq!(inputs(), ["Mapping.getambassador.io/default/b"], "what is accepted is rejected no longer");
        drop(other);
        assert!(inputs().is_empty(), "an Envoy that is gone rejects nothing");
        assert!(rejections.wait_for(|rejections| rejections.is_empty()).await.is_ok());
        drop(one);
    }
}
