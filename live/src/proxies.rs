//! Which Envoy gets which gateway's snapshot.
//!
//! A proxy is registered while an Envoy is connected, or because a file names it; all that ask for the same share one snapshot. Each
//! subscriber sees the latest snapshot and never a queue of them, so that a slow one holds up nobody. Not here: how a snapshot is made, and the
//! protocol by which it is sent.

use crate::lock;
use crate::xds::clients::Node;
use crate::xds::snapshot::Snapshot;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
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
pub type Snapshots = Option<Arc<BTreeMap<Arc<str>, Arc<Snapshot>>>>;

/// The manager of proxies.
#[derive(Clone, Debug)]
pub struct Proxies {
    latest: watch::Sender<Snapshots>,
    /// Gateways of nodes that a file or a test names, before the rules below.
    fixed: Arc<Mutex<BTreeMap<String, Arc<str>>>>,
}

impl Default for Proxies {
    fn default() -> Self {
        Self { latest: watch::channel(None).0, fixed: Arc::default() }
    }
}

impl Proxies {
    /// Gives these snapshots to whom they belong.
    pub fn publish(&self, snapshots: BTreeMap<Arc<str>, Arc<Snapshot>>) {
        self.latest.send_replace(Some(Arc::new(snapshots)));
    }

    /// Sets one gateway's snapshot and leaves the others.
    pub fn publish_one(&self, snapshot: Snapshot) {
        self.latest.send_modify(|latest| {
            let mut all = latest.as_deref().cloned().unwrap_or_default();
            all.insert(snapshot.gateway.clone(), Arc::new(snapshot));
            *latest = Some(Arc::new(all));
        });
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

    /// What a node is given of these. A gateway that it was registered for comes first; where there is one gateway only, every node gets it;
    /// else its id is the gateway's, or else its cluster.
    #[must_use]
    pub fn assign(&self, node: &Node, snapshots: &Snapshots) -> Assigned {
        let Some(all) = snapshots else { return Assigned::Early };
        let registered = lock(&self.fixed).get(&node.id).cloned();
        let found = match (registered, all.len()) {
            (Some(gateway), _) => all.get(&gateway),
            (None, 1) => all.values().next(),
            (None, _) => all.get(node.id.as_str()).or_else(|| all.get(node.cluster.as_str())),
        };
        found.map_or(Assigned::Unknown, |snapshot| Assigned::Snapshot(snapshot.clone()))
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
