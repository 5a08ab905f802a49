//! Instances of services as the catalog holds them.
//!
//! What must not be here: who asks for them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::ir::{Fields, Plain, Tree};
use chancery_base::resource::{ObjectId, Origin, Sourced};
use chancery_text::Str;

/// The address under which the catalog tells a virtual IP.
pub(crate) const VIRTUAL: &str = "consul-virtual";

/// A machine, or what counts as one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: Str,
    /// Its address.
    pub address: Str,
    /// Its datacenter.
    pub datacenter: Str,
    /// Other addresses, by what they are for.
    pub tagged: BTreeMap<Str, Str>,
    /// Metadata.
    pub meta: Tree,
    /// The peer from which it is imported; empty for those of this cluster.
    pub peer: Str,
}

/// An address with a port.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Address {
    /// The address.
    pub address: Str,
    /// The port.
    pub port: i64,
}

/// What the catalog of a peer says of an imported service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerMeta {
    /// Server names, the first of which is used.
    pub sni: Vec<Str>,
    /// Identities of which its certificate has one.
    pub spiffe: Vec<Str>,
    /// Its protocol.
    pub protocol: Str,
}

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// Well.
    Passing,
    /// So so.
    Warning,
    /// Badly.
    Critical,
}

/// A check of a node or of an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Its id.
    pub id: Str,
    /// Its name.
    pub name: Str,
    /// How it went.
    pub status: Sourced<Health>,
    /// The instance; empty for the node.
    pub service: Str,
}

/// An instance of a service on a node.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Where it runs.
    pub node: Node,
    /// Empty for a service, else what kind of proxy it is.
    pub kind: Str,
    /// Unique on its node.
    pub id: Str,
    /// The service.
    pub service: Str,
    /// Its address; empty: that of the node.
    pub address: Str,
    /// Its port.
    pub port: i64,
    /// Other addresses, by what they are for.
    pub tagged: BTreeMap<Str, Address>,
    /// How many others count as much, when it passes and when it warns.
    pub weights: Option<(i64, i64)>,
    /// It speaks mutual TLS itself.
    pub native: bool,
    /// Settings of a proxy.
    pub proxy: Tree,
    /// Of an imported service.
    pub peer: Option<PeerMeta>,
    /// All fields, as they were registered.
    pub tree: Tree,
    /// The checks of the node and its own.
    pub checks: Vec<Check>,
    /// The definitions of its checks that ask it by HTTP or gRPC.
    pub probes: Vec<Tree>,
    /// It was registered with the agent, and not only in the catalog.
    pub local: bool,
    /// What registered it.
    pub object: Option<ObjectId>,
}

impl Instance {
    /// The service that it stands for: its own, or the one behind the proxy.
    pub fn destination(&self) -> Str {
        if self.kind == "connect-proxy" { self.proxy.get("DestinationServiceName").str() } else { self.service.clone() }
    }

    /// Whether it takes part in the mesh as an instance of this service.
    pub fn in_mesh_for(&self, service: &str) -> bool {
        (self.kind == "connect-proxy" && self.proxy.get("DestinationServiceName").is(service)) || (self.native && self.service == service)
    }

    /// Where it is reached, from elsewhere (`wan`) or from its own datacenter.
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

    /// Where address and port of [`Self::best_address`] are written; where they are not, what registered it.
    pub fn origins_of_address(&self, wan: bool) -> (Option<Origin>, Option<Origin>) {
        let tagged = self.tagged.get("wan").filter(|_| wan);
        let wan = self.tree.at(&["TaggedAddresses", "wan"]);
        let address = if tagged.is_some() { wan.get("Address") } else { self.tree.get("Address") };
        let port = if tagged.is_some_and(|tagged| tagged.port != 0) { wan.get("Port") } else { self.tree.get("Port") };
        (address.origin.or(self.tree.origin), port.origin.or(self.tree.origin))
    }

    /// Whether requests should go to it, and how many for each of another's; both with what decides that, where something does.
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

    /// Tells an address of it.
    pub(crate) fn tag(&mut self, name: &str, ip: &Str, port: i64) {
        self.tagged.insert(Str::new(name), Address { address: ip.clone(), port });
        let address = Tree::object([("Address", Tree::from(ip)), ("Port", Tree::from(port))]);
        match self.tree.get_mut("TaggedAddresses") {
            Some(map) => map.set(name, address),
            None => {
                let map = Plain::Object(Fields(Vec::from([(Str::new(name), address)])));
                self.tree.set("TaggedAddresses", Tree { value: map, origin: None });
            }
        }
    }
}
