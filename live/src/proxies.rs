//! Which Envoy gets which gateway's snapshot.
//!
//! A proxy is registered while an Envoy is connected, or because a file names it; all that ask for the same share one snapshot. Each
//! subscriber sees the latest snapshot and never a queue of them, so that a slow one does not delay others. Not here: how a snapshot is made, the
//! protocol by which it is sent, and who tries a change first.

use crate::event::{Event, Events};
use crate::lock;
use crate::rollout::{Change, Rollout};
use crate::xds::clients::Node;
use crate::xds::snapshot::Snapshot;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::watch;

/// What a node is given.
#[derive(Clone, Debug, Default)]
pub enum Assigned {
    /// Nothing is known yet: the first build is still to come.
    #[default]
    Early,
    /// This.
    Snapshot(Arc<Snapshot>),
    /// No gateway is its.
    Unknown,
}

impl Assigned {
    /// The snapshot, if there is one.
    #[must_use]
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        match self {
            Assigned::Snapshot(snapshot) => Some(snapshot),
            Assigned::Early | Assigned::Unknown => None,
        }
    }
}

/// All gateways' snapshots; `None` before the first build.
pub type Snapshots = Option<Arc<BTreeMap<Arc<str>, Rollout>>>;

/// The manager of proxies. Clones are the same.
#[derive(Clone, Debug)]
pub struct Proxies {
    latest: watch::Sender<Snapshots>,
    /// Gateways of nodes that a file or a test names, before the rules below.
    fixed: Arc<Mutex<BTreeMap<String, Arc<str>>>>,
    /// Who is connected, each with its number of streams.
    joined: Arc<Mutex<BTreeMap<String, (Node, usize)>>>,
    streams: Arc<AtomicU64>,
    /// A change goes to one Envoy first.
    canary: bool,
    events: Events,
}

impl Default for Proxies {
    fn default() -> Self {
        Self::new(true, Events::default())
    }
}

impl Proxies {
    /// Without gateways yet. With `canary`, a change goes to one Envoy of a gateway first.
    #[must_use]
    pub fn new(canary: bool, events: Events) -> Self {
        Self { latest: watch::channel(None).0, fixed: Arc::default(), joined: Arc::default(), streams: Arc::default(), canary, events }
    }

    /// Gives these snapshots to whom they belong; gateways that are not among them are gone.
    pub fn publish(&self, snapshots: BTreeMap<Arc<str>, Arc<Snapshot>>) {
        let names: BTreeSet<Arc<str>> = snapshots.keys().cloned().collect();
        self.take(snapshots, |name| names.contains(name));
    }

    /// Sets one gateway's snapshot and leaves the others.
    pub fn publish_one(&self, snapshot: Snapshot) {
        let snapshot = Arc::new(snapshot);
        self.take(BTreeMap::from([(snapshot.gateway.clone(), snapshot)]), |_| true);
    }

    fn take(&self, snapshots: BTreeMap<Arc<str>, Arc<Snapshot>>, keep: impl Fn(&Arc<str>) -> bool) {
        self.latest.send_modify(|latest| {
            let mut all = latest.as_deref().cloned().unwrap_or_default();
            all.retain(|name, _| keep(name));
            // Whose each node is may follow from how many gateways there are.
            let fresh: Vec<&Arc<str>> = snapshots.keys().filter(|name| !all.contains_key(*name)).collect();
            let new: Vec<(Arc<str>, Rollout)> =
                fresh.into_iter().filter_map(|name| Some((name.clone(), Rollout::new(snapshots.get(name)?.clone())))).collect();
            all.extend(new);
            let owners: BTreeMap<String, Arc<str>> = self.owners(&all);
            for (name, snapshot) in snapshots {
                let of = |(node, owner): (&String, &Arc<str>)| (self.canary && *owner == name).then(|| node.clone());
                let nodes: BTreeSet<String> = owners.iter().filter_map(of).collect();
                if let Some(rollout) = all.get_mut(&name) {
                    rollout.offer(snapshot, &nodes, Instant::now());
                }
            }
            *latest = Some(Arc::new(all));
        });
    }

    /// The gateway of each node that is connected.
    fn owners(&self, all: &BTreeMap<Arc<str>, Rollout>) -> BTreeMap<String, Arc<str>> {
        let joined = lock(&self.joined).clone();
        joined.values().filter_map(|(node, _)| Some((node.id.clone(), self.gateway_of(node, all)?.clone()))).collect()
    }

    /// Says that a node belongs to a gateway, whatever its own names say.
    pub fn register(&self, node_id: &str, gateway: &str) {
        lock(&self.fixed).insert(node_id.to_owned(), Arc::from(gateway));
    }

    /// Takes that back.
    pub fn deregister(&self, node_id: &str) {
        lock(&self.fixed).remove(node_id);
    }

    /// The latest snapshots, now and from now on.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<Snapshots> {
        self.latest.subscribe()
    }

    /// The gateway of a node. One that it was registered for comes first; where there is one gateway only, it is every node's; else the node's
    /// id is the gateway's, or else its cluster.
    fn gateway_of<'a>(&self, node: &Node, all: &'a BTreeMap<Arc<str>, Rollout>) -> Option<&'a Arc<str>> {
        let registered = lock(&self.fixed).get(&node.id).cloned();
        let name = |name: &str| all.get_key_value(name).map(|(name, _)| name);
        match (registered, all.len()) {
            (Some(gateway), _) => name(&gateway),
            (None, 1) => all.keys().next(),
            (None, _) => name(&node.id).or_else(|| name(&node.cluster)),
        }
    }

    /// What a node is given of these.
    #[must_use]
    pub fn assign(&self, node: &Node, snapshots: &Snapshots) -> Assigned {
        let Some(all) = snapshots else { return Assigned::Early };
        let rollout = self.gateway_of(node, all).and_then(|gateway| all.get(gateway));
        rollout.map_or(Assigned::Unknown, |rollout| Assigned::Snapshot(rollout.of(&node.id).clone()))
    }

    /// A stream of a node is open, until what is returned is dropped.
    #[must_use]
    pub fn join(&self, node: &Node) -> Joined {
        let mut joined = lock(&self.joined);
        joined.entry(node.id.clone()).or_insert_with(|| (node.clone(), 0)).1 += 1;
        Joined { proxies: self.clone(), node: node.id.clone(), stream: self.streams.fetch_add(1, Ordering::Relaxed) }
    }

    fn change(&self, gateway: &str, change: impl FnOnce(&mut Rollout) -> Change) {
        let mut became = Change::None;
        let mut version = String::new();
        self.latest.send_if_modified(|latest| {
            let Some(all) = latest.as_mut() else { return false };
            let Some(mut rollout) = all.get(gateway).cloned() else { return false };
            became = change(&mut rollout);
            version = rollout.newest().version();
            Arc::make_mut(all).insert(Arc::from(gateway), rollout);
            became == Change::Released
        });
        if became == Change::Held {
            self.events.tell(Event::Held { gateway: gateway.to_owned(), version });
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
    /// It has all that it asks for of a snapshot.
    pub fn settled(&self, snapshot: &Arc<Snapshot>) {
        let streams = lock(&self.proxies.joined).get(&self.node).map_or(1, |(_, streams)| *streams);
        self.proxies.change(&snapshot.gateway, |rollout| rollout.settled(&self.node, self.stream, snapshot, streams));
    }

    /// It rejects a part of a snapshot.
    pub fn rejected(&self, snapshot: &Arc<Snapshot>) {
        self.proxies.change(&snapshot.gateway, |rollout| rollout.rejected(&self.node, snapshot));
    }

    /// Until when it may take to try what it was given, where it is the one that tries.
    #[must_use]
    pub fn deadline(&self, snapshots: &Snapshots, gateway: &str) -> Option<Instant> {
        snapshots.as_ref()?.get(gateway)?.deadline(&self.node)
    }

    /// Its time may be over.
    pub fn give_up(&self, gateway: &str) {
        self.proxies.change(gateway, |rollout| rollout.give_up(&self.node, Instant::now(), false));
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
            let gateways: Vec<Arc<str>> = self.proxies.latest.borrow().iter().flat_map(|all| all.keys().cloned()).collect();
            for gateway in gateways {
                self.proxies.change(&gateway, |rollout| rollout.give_up(&self.node, Instant::now(), true));
            }
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
        proxies.assign(node, &latest).snapshot().map(|snapshot| snapshot.gateway.to_string())
    }

    #[test]
    fn nodes_find_their_gateway() {
        let proxies = Proxies::default();
        assert_eq!(of(&proxies, &node("a", "b")), None);
        proxies.publish_one(Snapshot::new("ambassador"));
        assert_eq!(of(&proxies, &node("any", "any")).as_deref(), Some("ambassador"), "one gateway is everybody's");
        proxies.publish_one(Snapshot::new("contour"));
        assert_eq!(of(&proxies, &node("contour", "ambassador")).as_deref(), Some("contour"), "the id comes first");
        assert_eq!(of(&proxies, &node("x", "ambassador")).as_deref(), Some("ambassador"), "then the cluster");
        assert_eq!(of(&proxies, &node("x", "y")), None);
        proxies.register("x", "contour");
        assert_eq!(of(&proxies, &node("x", "ambassador")).as_deref(), Some("contour"));
        proxies.deregister("x");
        assert_eq!(of(&proxies, &node("x", "y")), None);
    }
}
