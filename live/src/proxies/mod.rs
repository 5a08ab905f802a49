//! Assigns each Envoy the snapshot of its gateway.
//!
//! A [`ConfigSource`] registers a proxy: because an Envoy of its name is connected, or because a [`file`] names it. The
//! controllers of [`delivery`] find its gateway, and choose the proxy that tries a change first; this module carries
//! that out. All proxies of a gateway share one snapshot. Each subscriber sees the latest snapshot and never a queue, so
//! a slow subscriber does not delay others. Does not make or send snapshots; see `worker` and `xds`.

pub mod file;

use crate::controllers::delivery::{self, DeliveryState, GATEWAYS, PROXY, REGISTERED, Registration, SERVED};
use crate::event::{Event, Events};
use crate::lock;
use crate::rollout::{self, Rollout};
use crate::runtime::{Action, Change, Manager, Object};
use crate::xds::clients::Node;
use crate::xds::snapshot::Snapshot;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::watch;

/// The snapshot that a node is assigned.
#[derive(Clone, Debug, Default)]
pub enum Assigned {
    /// The first build is not done.
    #[default]
    Early,
    /// The node has this snapshot.
    Snapshot(Arc<Snapshot>),
    /// The node belongs to this gateway, which this replica has not built: another replica serves it, or the build follows.
    Unbuilt(Arc<str>),
    /// The node belongs to no gateway.
    Unknown,
}

impl Assigned {
    /// Returns the snapshot, if there is one.
    #[must_use]
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        match self {
            Assigned::Snapshot(snapshot) => Some(snapshot),
            Assigned::Early | Assigned::Unbuilt(_) | Assigned::Unknown => None,
        }
    }

    /// Returns the gateway of the node, if it has one.
    #[must_use]
    pub fn gateway(&self) -> Option<&Arc<str>> {
        match self {
            Assigned::Snapshot(snapshot) => Some(&snapshot.gateway),
            Assigned::Unbuilt(gateway) => Some(gateway),
            Assigned::Early | Assigned::Unknown => None,
        }
    }
}

/// The snapshots of this replica's gateways; `None` before the first build.
pub type Snapshots = Option<Arc<Gateways>>;

/// The gateways that this replica serves, and the names of all others.
#[derive(Clone, Debug, Default)]
pub struct Gateways {
    served: BTreeMap<Arc<str>, Rollout>,
    /// Gateways that other replicas serve.
    elsewhere: Arc<BTreeSet<Arc<str>>>,
}

impl Gateways {
    /// Returns the names of all gateways, whichever replica serves them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.served.keys().chain(self.elsewhere.iter()).map(|name| &**name)
    }
}

impl std::ops::Deref for Gateways {
    type Target = BTreeMap<Arc<str>, Rollout>;

    fn deref(&self) -> &Self::Target {
        &self.served
    }
}

/// The gateway of each proxy, if it has one.
type Assignments = BTreeMap<Arc<str>, Option<Arc<str>>>;

/// Manages proxies. Clones share one state.
#[derive(Clone)]
pub struct Proxies {
    latest: watch::Sender<Snapshots>,
    /// The controllers that find each proxy's gateway and each gateway's snapshot.
    manager: Arc<Mutex<Manager>>,
    wanted: DeliveryState,
    /// The gateway of each proxy, if it has one.
    assigned: Arc<Mutex<Assignments>>,
    /// The connected nodes, each with its number of streams.
    joined: Arc<Mutex<BTreeMap<String, (Node, usize)>>>,
    streams: Arc<AtomicU64>,
    events: Events,
}

impl std::fmt::Debug for Proxies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxies").field("latest", &self.latest).field("assigned", &self.assigned).finish_non_exhaustive()
    }
}

impl Default for Proxies {
    fn default() -> Self {
        Self::new(true, Events::default())
    }
}

/// A source of proxies: it registers proxies, registers them again after a change, and deregisters them.
#[derive(Clone, Debug)]
pub struct ConfigSource {
    proxies: Proxies,
    /// Its number. The lowest source that names a proxy's gateway wins.
    number: usize,
}

/// Proxies that a file names.
const FILE: usize = 0;
/// Proxies of connected Envoys.
const CONNECTED: usize = 1;

impl ConfigSource {
    /// Registers a proxy, or changes its registration.
    pub fn register(&self, node: &str, registration: Registration) {
        self.proxies.wanted.register(self.number, node, registration);
        self.proxies.reconcile([node]);
    }

    /// Deregisters a proxy. Another source may still register it.
    pub fn deregister(&self, node: &str) {
        self.proxies.wanted.deregister(self.number, node);
        self.proxies.reconcile([node]);
    }

    /// Sets all proxies of the source.
    pub fn replace(&self, all: &BTreeMap<String, Registration>) {
        let known = self.proxies.wanted.of_source(self.number);
        for (node, registration) in all.iter().filter(|(node, registration)| known.get(*node) != Some(registration)) {
            self.register(node, registration.clone());
        }
        known.keys().filter(|node| !all.contains_key(*node)).for_each(|node| self.deregister(node));
    }
}

impl ConfigSource {
    /// Wakes all streams, because their permissions may have changed.
    pub fn wake(&self) {
        self.proxies.latest.send_modify(|_| ());
    }
}

/// The actions of controllers, which wake streams once together.
#[derive(Default)]
struct Batch {
    /// Gateways with the node that tries a change; `None` for a removed gateway.
    snapshots: BTreeMap<Arc<str>, Option<Option<String>>>,
    /// Whether a proxy with a stream has another gateway.
    moved: bool,
}

impl Proxies {
    /// Creates a manager without gateways. With `canary`, one Envoy per gateway receives each change first.
    ///
    /// # Panics
    ///
    /// Never: the controllers are constant, and a test covers them.
    #[must_use]
    pub fn new(canary: bool, events: Events) -> Self {
        let wanted = DeliveryState::default();
        let manager = Manager::new(delivery::controllers(&wanted, canary)).unwrap_or_default();
        let (manager, latest) = (Arc::new(Mutex::new(manager)), watch::channel(None).0);
        Self { latest, manager, wanted, assigned: Arc::default(), joined: Arc::default(), streams: Arc::default(), events }
    }

    /// Returns the source of proxies that a file names.
    #[must_use]
    pub fn of_file(&self) -> ConfigSource {
        ConfigSource { proxies: self.clone(), number: FILE }
    }

    /// Returns the source of connected Envoys.
    fn of_streams(&self) -> ConfigSource {
        ConfigSource { proxies: self.clone(), number: CONNECTED }
    }

    /// Publishes these snapshots. All other gateways are removed.
    pub fn publish(&self, snapshots: BTreeMap<Arc<str>, Arc<Snapshot>>) {
        self.publish_share(snapshots, BTreeSet::new());
    }

    /// Publishes the snapshots of this replica's gateways, and the names of the gateways that other replicas serve.
    pub fn publish_share(&self, snapshots: BTreeMap<Arc<str>, Arc<Snapshot>>, elsewhere: BTreeSet<Arc<str>>) {
        let is_changed = self.wanted.set_elsewhere(&elsewhere);
        self.serve(snapshots, true, is_changed.then_some(elsewhere));
    }

    /// Publishes the snapshot of one gateway. The others stay.
    pub fn publish_one(&self, snapshot: Snapshot) {
        let snapshot = Arc::new(snapshot);
        self.serve(BTreeMap::from([(snapshot.gateway.clone(), snapshot)]), false, None);
    }

    /// Serves snapshots. `elsewhere` has the gateways of other replicas if they changed.
    fn serve(&self, snapshots: BTreeMap<Arc<str>, Arc<Snapshot>>, whole: bool, elsewhere: Option<BTreeSet<Arc<str>>>) {
        let mut manager = lock(&self.manager);
        let (changed, mut others) = self.wanted.serve(snapshots, whole);
        if let Some(elsewhere) = &elsewhere {
            others = true;
            // A name must not be missing until the end of this function: names decide which gateways a certificate gives access to.
            self.latest.send_if_modified(|latest| {
                let all = latest.as_mut().map(Arc::make_mut);
                all.into_iter().for_each(|all| Arc::make_mut(&mut all.elsewhere).extend(elsewhere.iter().cloned()));
                false
            });
        }
        for gateway in changed {
            manager.event(Change::Custom(SERVED, Object::new(delivery::snapshot(&gateway), serde_json::Value::Null)));
        }
        if others {
            manager.event(Change::Custom(GATEWAYS, Object::default()));
        }
        self.carry_out(&mut manager);
        // Even without gateways, the first build is done now.
        self.latest.send_if_modified(|latest| {
            let is_first = latest.is_none();
            let all = latest.get_or_insert_default();
            let Some(elsewhere) = elsewhere else { return is_first };
            Arc::make_mut(all).elsewhere = Arc::new(elsewhere);
            true
        });
    }

    /// Reconciles proxies whose registration changed.
    fn reconcile<'n>(&self, nodes: impl IntoIterator<Item = &'n str>) {
        let mut manager = lock(&self.manager);
        for node in nodes {
            manager.event(Change::Custom(REGISTERED, Object::new(delivery::proxy(node), serde_json::Value::Null)));
        }
        self.carry_out(&mut manager);
    }

    /// Carries out the controllers' actions until there are none left.
    fn carry_out(&self, manager: &mut Manager) {
        let mut batch = Batch::default();
        while let Some(planned) = manager.plan(Instant::now()) {
            for action in planned.outcome.iter().flatten() {
                self.note(action, &mut batch);
                match action {
                    Action::Apply(object) => manager.event(Change::Put(object.clone())),
                    Action::Delete(id) => manager.event(Change::Gone(id.clone())),
                    Action::Status(..) | Action::Finalizers(..) | Action::Write(..) => {}
                }
            }
            manager.carried_out(&planned, Ok(()), Instant::now());
        }
        self.hand_out(batch);
    }

    fn note(&self, action: &Action, batch: &mut Batch) {
        match action {
            Action::Apply(object) if *object.id.kind == *PROXY => {
                let gateway = delivery::gateway(object);
                let before = lock(&self.assigned).insert(object.id.name.clone(), gateway.clone());
                batch.moved |= before.is_some_and(|before| before != gateway);
            }
            Action::Delete(id) if *id.kind == *PROXY => _ = lock(&self.assigned).remove(&id.name),
            Action::Apply(object) => _ = batch.snapshots.insert(object.id.name.clone(), Some(delivery::tries(object).map(str::to_owned))),
            Action::Delete(id) => _ = batch.snapshots.insert(id.name.clone(), None),
            Action::Status(..) | Action::Finalizers(..) | Action::Write(..) => {}
        }
    }

    fn hand_out(&self, batch: Batch) {
        let now = Instant::now();
        self.latest.send_if_modified(|latest| {
            let mut modified = batch.moved;
            if batch.snapshots.is_empty() {
                return modified;
            }
            let all = &mut Arc::make_mut(latest.get_or_insert_default()).served;
            for (gateway, wanted) in &batch.snapshots {
                let snapshot = self.wanted.snapshot(gateway);
                modified |= match (wanted, snapshot, all.get_mut(gateway)) {
                    (Some(tries), Some(snapshot), Some(rollout)) => rollout.offer(snapshot, tries.as_deref(), now),
                    (Some(_), Some(snapshot), None) => all.insert(gateway.clone(), Rollout::new(snapshot)).is_none(),
                    _ => all.remove(gateway).is_some(),
                };
            }
            modified
        });
    }

    /// Returns the latest snapshots, now and after each change.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<Snapshots> {
        self.latest.subscribe()
    }

    /// Returns the assignment of a node with a stream or a registration.
    #[must_use]
    pub fn assign(&self, node: &Node, snapshots: &Snapshots) -> Assigned {
        let Some(all) = snapshots else { return Assigned::Early };
        let gateway = lock(&self.assigned).get(&*node.id).cloned().flatten();
        let Some(gateway) = gateway else { return Assigned::Unknown };
        all.get(&gateway).map_or(Assigned::Unbuilt(gateway), |rollout| Assigned::Snapshot(rollout.of(&node.id).clone()))
    }

    /// Notes an open stream of a node, until the returned value is dropped.
    #[must_use]
    pub fn join(&self, node: &Node) -> Joined {
        let is_first = {
            let mut joined = lock(&self.joined);
            let (_, streams) = joined.entry(node.id.clone()).or_insert_with(|| (node.clone(), 0));
            *streams += 1;
            *streams == 1
        };
        if is_first {
            self.of_streams().register(&node.id, Registration { cluster: node.cluster.clone(), gateway: None, connected: true });
        }
        Joined { proxies: self.clone(), node: node.id.clone(), stream: self.streams.fetch_add(1, Ordering::Relaxed) }
    }

    fn change(&self, gateway: &str, change: impl FnOnce(&mut Rollout) -> rollout::Change) {
        let mut became = rollout::Change::None;
        let mut version = String::new();
        self.latest.send_if_modified(|latest| {
            let Some(all) = latest.as_mut() else { return false };
            let Some(mut rollout) = all.get(gateway).cloned() else { return false };
            became = change(&mut rollout);
            version = rollout.newest().version();
            Arc::make_mut(all).served.insert(Arc::from(gateway), rollout);
            became == rollout::Change::Released
        });
        if became == rollout::Change::Held {
            self.events.publish(Event::Held { gateway: gateway.to_owned(), version });
        }
    }
}

/// An open stream of a node.
#[derive(Debug)]
pub struct Joined {
    proxies: Proxies,
    node: String,
    stream: u64,
}

impl Joined {
    /// Notes that the stream has accepted everything that it requests from a snapshot.
    pub fn settled(&self, snapshot: &Arc<Snapshot>) {
        let tries = |rollout: &Rollout| rollout.deadline(&self.node).is_some();
        if !self.proxies.latest.borrow().as_ref().and_then(|all| all.get(&snapshot.gateway)).is_some_and(tries) {
            // No trial waits for this node.
            return;
        }
        let streams = lock(&self.proxies.joined).get(&self.node).map_or(1, |(_, streams)| *streams);
        self.proxies.change(&snapshot.gateway, |rollout| rollout.settled(&self.node, self.stream, snapshot, streams));
    }

    /// Notes that the node rejects resources of a snapshot.
    pub fn rejected(&self, snapshot: &Arc<Snapshot>, type_url: &Arc<str>, names: &[Arc<str>]) {
        self.proxies.change(&snapshot.gateway, |rollout| rollout.rejected(&self.node, snapshot, type_url, names));
    }

    /// Returns until when the node must answer, if it tries a change.
    #[must_use]
    pub fn deadline(&self, snapshots: &Snapshots, gateway: &str) -> Option<Instant> {
        snapshots.as_ref()?.get(gateway)?.deadline(&self.node)
    }

    /// Ends the trial, if its time is over.
    pub fn give_up(&self, gateway: &str) {
        self.proxies.change(gateway, |rollout| rollout.give_up(&self.node, Instant::now()));
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let is_gone = {
            let mut joined = lock(&self.proxies.joined);
            match joined.get_mut(&self.node) {
                Some((_, streams)) if *streams > 1 => {
                    *streams -= 1;
                    false
                }
                _ => joined.remove(&self.node).is_some(),
            }
        };
        if is_gone {
            self.proxies.of_streams().deregister(&self.node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str, cluster: &str) -> Node {
        Node { id: id.into(), cluster: cluster.into(), agent: String::new() }
    }

    fn of(proxies: &Proxies, node: &Node) -> Option<String> {
        let latest = proxies.subscribe().borrow().clone();
        let _joined = proxies.join(node);
        proxies.assign(node, &latest).snapshot().map(|snapshot| snapshot.gateway.to_string())
    }

    #[test]
    fn nodes_get_their_gateway() {
        let proxies = Proxies::default();
        assert_eq!(of(&proxies, &node("a", "b")), None);
        proxies.publish_one(Snapshot::new("ambassador"));
        assert_eq!(of(&proxies, &node("any", "any")).as_deref(), Some("ambassador"), "one gateway is everyone's");
        proxies.publish_one(Snapshot::new("contour"));
        assert_eq!(of(&proxies, &node("contour", "ambassador")).as_deref(), Some("contour"), "the id comes first");
        assert_eq!(of(&proxies, &node("x", "ambassador")).as_deref(), Some("ambassador"), "then the cluster");
        assert_eq!(of(&proxies, &node("x", "y")), None);
        let registered = |gateway: &str| Registration { gateway: Some(gateway.into()), ..Registration::default() };
        proxies.of_file().register("x", registered("contour"));
        assert_eq!(of(&proxies, &node("x", "ambassador")).as_deref(), Some("contour"));
        proxies.of_file().deregister("x");
        assert_eq!(of(&proxies, &node("x", "y")), None);
        proxies.of_file().register("x", registered("nowhere"));
        assert_eq!(of(&proxies, &node("x", "ambassador")), None, "a gateway that is named and is not there is no other one");
    }

    #[test]
    fn gateways_of_other_replicas_are_known() {
        let proxies = Proxies::default();
        let elsewhere = |names: &[&str]| names.iter().map(|name| Arc::from(*name)).collect::<BTreeSet<Arc<str>>>();
        let snapshot = |name: &str| BTreeMap::from([(Arc::from(name), Arc::new(Snapshot::new(name)))]);
        let assigned = |id: &str| {
            let (latest, node) = (proxies.subscribe().borrow().clone(), node(id, "c"));
            let _joined = proxies.join(&node);
            proxies.assign(&node, &latest)
        };
        proxies.publish_share(snapshot("one"), elsewhere(&["two"]));
        assert!(matches!(assigned("one"), Assigned::Snapshot(of) if &*of.gateway == "one"));
        assert!(matches!(assigned("two"), Assigned::Unbuilt(of) if &*of == "two"));
        assert!(matches!(assigned("x"), Assigned::Unknown), "there are two gateways, so none is everyone's");
        let names: Vec<String> = proxies.subscribe().borrow().iter().flat_map(|all| all.names()).map(str::to_owned).collect();
        assert_eq!(names, ["one", "two"]);
        proxies.publish_share(BTreeMap::new(), elsewhere(&["one", "two"]));
        assert!(matches!(assigned("one"), Assigned::Unbuilt(of) if &*of == "one"), "it moved to another replica");
        proxies.publish_share(BTreeMap::new(), elsewhere(&["two"]));
        assert!(matches!(assigned("any"), Assigned::Unbuilt(of) if &*of == "two"), "one gateway is everyone's, wherever it is served");
    }

    #[test]
    fn connected_envoy_moves_with_registration() {
        let proxies = Proxies::default();
        proxies.publish_one(Snapshot::new("one"));
        proxies.publish_one(Snapshot::new("two"));
        let node = node("x", "one");
        let _joined = proxies.join(&node);
        let mut latest = proxies.subscribe();
        let gateway = |latest: &mut watch::Receiver<Snapshots>| {
            let now = latest.borrow_and_update().clone();
            proxies.assign(&node, &now).snapshot().map(|snapshot| snapshot.gateway.to_string())
        };
        assert_eq!(gateway(&mut latest).as_deref(), Some("one"));
        let named = Registration { gateway: Some("two".into()), ..Registration::default() };
        proxies.of_file().replace(&BTreeMap::from([("x".to_owned(), named.clone())]));
        assert!(latest.has_changed().expect("it is there"), "its stream is woken");
        assert_eq!(gateway(&mut latest).as_deref(), Some("two"));
        proxies.of_file().replace(&BTreeMap::from([("x".to_owned(), named)]));
        assert!(!latest.has_changed().expect("it is there"), "an unchanged file wakes no task");
        proxies.of_file().replace(&BTreeMap::new());
        assert_eq!(gateway(&mut latest).as_deref(), Some("one"));
    }
}
