//! The discovery chain: where the requests to a service go, after routers, splitters, resolvers, redirects and failover.
//!
//! It is a stage of its own: made from config entries alone, for each way in which a proxy looks at a service. What must not be here: what
//! Envoy makes of it.

mod answer;
mod compile;
mod hash;
mod set;

#[cfg(test)]
mod tests;

pub(crate) use answer::answer;
pub use compile::compile;
pub use set::{Lookups, Set};

use super::names::{DEFAULT, UpstreamId, spiffe_service};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// How a proxy looks at a service.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    /// The service.
    pub service: Str,
    /// The datacenter that counts where none is said.
    pub datacenter: Str,
    /// The mesh gateway mode that the proxy wants.
    pub mesh_gateway: Str,
    /// The protocol that the proxy wants.
    pub protocol: Str,
    /// The connect timeout that the proxy wants, in nanoseconds; 0 for none.
    pub connect_timeout: i64,
}

/// A discovery chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// The service that it is for.
    pub service: Str,
    /// The datacenter that counts where none is said.
    pub datacenter: Str,
    /// Eight digits of what the proxy has overridden; empty where it is nothing.
    pub hash: String,
    /// Nothing is configured but the protocol.
    pub default: bool,
    /// The protocol.
    pub protocol: Str,
    /// Metadata of the service's defaults.
    pub meta: Tree,
    /// Envoy extensions, global ones first.
    pub extensions: Vec<Tree>,
    /// Where it begins.
    pub start: String,
    /// Its nodes by their keys.
    pub nodes: BTreeMap<String, Node>,
    /// Its targets by their ids.
    pub targets: BTreeMap<String, Target>,
    /// The virtual IP of the service, if it has one.
    pub virtual_ip: Option<Str>,
}

impl Chain {
    /// The id of the target that the service itself is.
    pub fn id(&self) -> String {
        target_id("", &self.service, &Within::default(), &self.datacenter, "")
    }

    /// Where it begins.
    pub fn first(&self) -> Option<&Node> {
        self.nodes.get(&self.start)
    }

    /// The target of a chain that only resolves.
    pub fn only_target(&self) -> Option<&Target> {
        match &self.first()?.kind {
            NodeKind::Resolver(resolver) => self.targets.get(&resolver.target),
            NodeKind::Router(_) | NodeKind::Splitter(_) => None,
        }
    }
}

/// A node of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What it does.
    pub kind: NodeKind,
    /// How requests are spread over instances.
    pub load_balancer: Option<Tree>,
}

/// What a node does.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// Routes by what requests ask for.
    Router(Vec<Route>),
    /// Gives each its share.
    Splitter(Vec<Split>),
    /// Finds instances.
    Resolver(Resolver),
}

impl Node {
    /// The key of a node.
    pub fn key(&self) -> String {
        let kind = match self.kind {
            NodeKind::Router(_) => "router",
            NodeKind::Splitter(_) => "splitter",
            NodeKind::Resolver(_) => "resolver",
        };
        format!("{kind}:{}", self.name)
    }
}

/// A route of a router.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// As the entry has it.
    pub definition: Tree,
    /// The node where it goes.
    pub next: String,
}

/// A share of a splitter.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// As the entry has it, joined with what it is nested in.
    pub definition: Tree,
    /// Per cent.
    pub weight: f64,
    /// The node where it goes.
    pub next: String,
}

/// Where instances are found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolver {
    /// Nothing is configured.
    pub default: bool,
    /// In nanoseconds.
    pub connect_timeout: Sourced<i64>,
    /// In nanoseconds; 0 for none.
    pub request_timeout: Sourced<i64>,
    /// The target.
    pub target: String,
    /// The targets that are used when it fails; none where there is no failover.
    pub failover: Vec<String>,
}

/// Instances of a service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// Its id.
    pub id: String,
    /// The service.
    pub service: Str,
    /// The subset; empty for all.
    pub subset: Str,
    /// The namespace and the partition that a route says: names without a meaning outside of Enterprise.
    pub within: Within,
    /// The datacenter; empty for a peer's.
    pub datacenter: Str,
    /// The peer; empty for this cluster.
    pub peer: Str,
    /// Whether its traffic goes through mesh gateways: empty, `none`, `local` or `remote`.
    pub mesh_gateway: Str,
    /// The expression that chooses instances.
    pub filter: Str,
    /// Only instances whose checks all pass.
    pub only_passing: Sourced<bool>,
    /// What the resolver has of the subset.
    pub definition: Tree,
    /// Instances are dialled by their own addresses.
    pub dialed_directly: bool,
    /// In nanoseconds.
    pub connect_timeout: Sourced<i64>,
    /// It is outside of the mesh: its server name is given.
    pub external: bool,
    /// Its server name.
    pub sni: Str,
    /// The name of its cluster.
    pub name: Str,
}

impl Target {
    /// The upstream that this target is.
    pub fn upstream(&self) -> UpstreamId {
        UpstreamId { query: false, name: self.service.clone(), datacenter: self.datacenter.clone(), peer: self.peer.clone() }
    }

    /// The server name by which this cluster reaches it.
    pub(crate) fn server_name(&self, trust_domain: &str) -> String {
        let Self { service, subset, datacenter, .. } = self;
        let Within { namespace, partition } = &self.within;
        let subset = if subset.is_empty() { String::new() } else { format!("{subset}.") };
        if partition == DEFAULT {
            return format!("{subset}{service}.{namespace}.{datacenter}.internal.{trust_domain}");
        }
        format!("{subset}{service}.{namespace}.{partition}.{datacenter}.internal-v1.{trust_domain}")
    }

    /// The identity of its service: namespaces have no identities of their own.
    pub(crate) fn identity(&self, trust_domain: &str) -> String {
        let identity = spiffe_service(&self.service, &self.datacenter, trust_domain);
        match &*self.within.partition {
            DEFAULT => identity,
            partition => identity.replacen("/ns/", &format!("/ap/{partition}/ns/"), 1),
        }
    }
}

/// A namespace and a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Within {
    /// The namespace.
    pub namespace: Str,
    /// The partition.
    pub partition: Str,
}

impl Default for Within {
    fn default() -> Self {
        Self { namespace: Str::new_static(DEFAULT), partition: Str::new_static(DEFAULT) }
    }
}

/// The id of a target.
pub(crate) fn target_id(subset: &str, service: &str, within: &Within, datacenter: &str, peer: &str) -> String {
    let Within { namespace, partition } = within;
    match (peer.is_empty(), subset.is_empty()) {
        (false, _) => format!("{service}.{namespace}.{partition}.external.{peer}"),
        (true, true) => format!("{service}.{namespace}.{partition}.{datacenter}"),
        (true, false) => format!("{subset}.{service}.{namespace}.{partition}.{datacenter}"),
    }
}
