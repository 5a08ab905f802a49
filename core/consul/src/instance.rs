//! Instances of services in the catalog.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::ir::{Fields, Plain, Tree};
use chancery_base::resource::{ObjectId, Origin, Sourced};
use chancery_text::Str;

/// The key of a virtual IP in the catalog.
pub(crate) const VIRTUAL: &str = "consul-virtual";

/// A machine, or a registered node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    pub name: Str,
    pub address: Str,
    pub datacenter: Str,
    /// Other addresses, by purpose.
    pub tagged: BTreeMap<Str, Str>,
    pub meta: Tree,
    /// The peer that it is imported from; empty for this cluster.
    pub peer: Str,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Address {
    pub address: Str,
    pub port: i64,
}

/// A peer's data of an imported service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerMeta {
    /// Server names; the first is used.
    pub sni: Vec<Str>,
    /// Identities; its certificate has one of them.
    pub spiffe: Vec<Str>,
    pub protocol: Str,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    Passing,
    Warning,
    Critical,
}

/// A check of a node or of an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    pub id: Str,
    pub name: Str,
    pub status: Sourced<Health>,
    /// The instance; empty for the node.
    pub service: Str,
}

/// An instance of a service on a node.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    pub node: Node,
    /// The kind of proxy; empty for a service.
    pub kind: Str,
    /// Unique on its node.
    pub id: Str,
    pub service: Str,
    /// Its address; empty for the node's.
    pub address: Str,
    pub port: i64,
    /// Other addresses, by purpose.
    pub tagged: BTreeMap<Str, Address>,
    /// Its load balancing weights when it passes and when it warns.
    pub weights: Option<(i64, i64)>,
    /// Whether it uses mutual TLS itself.
    pub native: bool,
    /// Settings of a proxy.
    pub proxy: Tree,
    /// Set for an imported service.
    pub peer: Option<PeerMeta>,
    /// All registered fields.
    pub tree: Tree,
    /// The checks of the node and its own.
    pub checks: Vec<Check>,
    /// Its check definitions that use HTTP or gRPC.
    pub probes: Vec<Tree>,
    /// Whether it was registered with the agent, not only in the catalog.
    pub local: bool,
    /// The object that registered it.
    pub object: Option<ObjectId>,
}

impl Instance {
    /// The service that it represents: its own, or that of its proxy.
    pub fn destination(&self) -> Str {
        if self.kind == "connect-proxy" { self.proxy.get("DestinationServiceName").str() } else { self.service.clone() }
    }

    /// Whether it represents this service in the mesh.
    pub fn in_mesh_for(&self, service: &str) -> bool {
        (self.kind == "connect-proxy" && self.proxy.get("DestinationServiceName").is(service)) || (self.native && self.service == service)
    }

    /// Its address, from elsewhere (`wan`) or from its own datacenter.
    pub fn best_address(&self, wan: bool) -> (Str, i64) {
        let (mut address, mut port) = (self.address.clone(), self.port);
        if wan && let Some(tagged) = self.tagged.get("wan") {
            address = tagged.address.clone();
            if tagged.port != 0 {
                port = tagged.port;
            }
        }
        if address.is_empty() {
            let elsewhere = if wan { self.node.tagged.get("wan") } else { None };
            address = elsewhere.unwrap_or(&self.node.address).clone();
        }
        (address, port)
    }

    /// The origins of [`Self::best_address`]; by default the registration.
    pub fn origins_of_address(&self, wan: bool) -> (Option<Origin>, Option<Origin>) {
        let tagged = self.tagged.get("wan").filter(|_| wan);
        let wan = self.tree.at(&["TaggedAddresses", "wan"]);
        let address = if tagged.is_some() { wan.get("Address") } else { self.tree.get("Address") };
        let port = if tagged.is_some_and(|tagged| tagged.port != 0) { wan.get("Port") } else { self.tree.get("Port") };
        (address.origin.or(self.tree.origin), port.origin.or(self.tree.origin))
    }

    /// Whether it receives requests, and its weight; both with their origin.
    pub fn health_and_weight(&self, only_passing: Sourced<bool>) -> (Sourced<bool>, Sourced<i64>) {
        let critical = self.checks.iter().find(|check| *check.status == Health::Critical).map(|check| check.status.origin);
        let warning = self.checks.iter().find(|check| *check.status == Health::Warning).map(|check| check.status.origin);
        let unhealthy = critical.or(warning.filter(|_| *only_passing).map(|_| only_passing.origin));
        let healthy = Sourced::new(unhealthy.is_none(), unhealthy.flatten());
        let weight = self.weights.map_or(1, |(passing, ill)| if warning.is_some() { ill } else { passing });
        let origin = self.tree.at(&["Weights", if warning.is_some() { "Warning" } else { "Passing" }]).origin;
        let healthy = if weight < 1 { Sourced::new(false, healthy.origin.or(origin)) } else { healthy };
        (healthy, Sourced::new(weight.clamp(1, 128), origin))
    }

    /// Adds a tagged address.
    pub(crate) fn tag(&mut self, name: &str, ip: &Str, port: i64) {
        self.tagged.insert(Str::new(name), Address { address: ip.clone(), port });
        let address = Tree::object([("Address", Tree::from(ip)), ("Port", Tree::from(port))]);
        match self.tree.get_mut("TaggedAddresses") {
            Some(map) => map.set(name, address),
            None => {
                let map = Plain::Object(Fields(Vec::from([(Str::new(name), address)]).into()));
                self.tree.set("TaggedAddresses", Tree { value: map, origin: None });
            }
        }
    }
}
