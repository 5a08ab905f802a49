//! The discovery chain: where requests to a service go, after routers, splitters, resolvers, redirects and failover.
//!
//! It is a separate stage: compiled from config entries alone, for each proxy's view of a service. Does not emit Envoy's resources; see `xds`.

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

/// A proxy's view of a service.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    pub service: Str,
    /// The default datacenter.
    pub datacenter: Str,
    /// The proxy's mesh gateway mode.
    pub mesh_gateway: Str,
    /// The proxy's protocol.
    pub protocol: Str,
    /// The proxy's connect timeout, in nanoseconds; 0 for none.
    pub connect_timeout: i64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    pub service: Str,
    /// The default datacenter.
    pub datacenter: Str,
    /// Eight digits of the proxy's overrides; empty without overrides.
    pub hash: String,
    /// Whether nothing is configured except the protocol.
    pub default: bool,
    pub protocol: Str,
    /// Metadata of the service-defaults.
    pub meta: Tree,
    /// Envoy extensions, global ones first.
    pub extensions: Vec<Tree>,
    /// The key of the first node.
    pub start: String,
    /// Its nodes by their keys.
    pub nodes: BTreeMap<String, Node>,
    /// Its targets by their ids.
    pub targets: BTreeMap<String, Target>,
    pub virtual_ip: Option<Str>,
}

impl Chain {
    /// The id of the service's own target.
    pub fn id(&self) -> String {
        target_id("", &self.service, &Tenancy::default(), &self.datacenter, "")
    }

    /// The first node.
    pub fn first(&self) -> Option<&Node> {
        self.nodes.get(&self.start)
    }

    /// The target of a chain that consists of a resolver.
    pub fn only_target(&self) -> Option<&Target> {
        match &self.first()?.kind {
            NodeKind::Resolver(resolver) => self.targets.get(&resolver.target),
            NodeKind::Router(_) | NodeKind::Splitter(_) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub name: String,
    pub kind: NodeKind,
    /// How requests are distributed over instances.
    pub load_balancer: Option<Tree>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// Routes by properties of requests.
    Router(Vec<Route>),
    /// Divides requests by weight.
    Splitter(Vec<Split>),
    /// Finds instances.
    Resolver(Resolver),
}

impl Node {
    pub fn key(&self) -> String {
        let kind = match self.kind {
            NodeKind::Router(_) => "router",
            NodeKind::Splitter(_) => "splitter",
            NodeKind::Resolver(_) => "resolver",
        };
        format!("{kind}:{}", self.name)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// As in the entry.
    pub definition: Tree,
    /// The key of the next node.
    pub next: String,
}

/// A share of a splitter.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// As in the entry, merged with the enclosing shares.
    pub definition: Tree,
    /// In percent.
    pub weight: f64,
    /// The key of the next node.
    pub next: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolver {
    /// Whether nothing is configured.
    pub default: bool,
    /// In nanoseconds.
    pub connect_timeout: Sourced<i64>,
    /// In nanoseconds; 0 for none.
    pub request_timeout: Sourced<i64>,
    pub target: String,
    /// The failover targets; empty without failover.
    pub failover: Vec<String>,
}

/// The instances of a service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    pub id: String,
    pub service: Str,
    /// The subset; empty for all instances.
    pub subset: Str,
    /// The namespace and the partition in a route, which only have a meaning in Enterprise.
    pub within: Tenancy,
    /// The datacenter; empty for a peer's.
    pub datacenter: Str,
    /// The peer; empty for this cluster.
    pub peer: Str,
    /// Whether its traffic uses mesh gateways: empty, `none`, `local` or `remote`.
    pub mesh_gateway: Str,
    /// The expression that selects instances.
    pub filter: Str,
    /// Whether only instances are used whose checks all pass.
    pub only_passing: Sourced<bool>,
    /// The resolver's definition of the subset.
    pub definition: Tree,
    /// Whether instances are dialled by their own addresses.
    pub dialed_directly: bool,
    /// In nanoseconds.
    pub connect_timeout: Sourced<i64>,
    /// Whether it is outside of the mesh, with a given server name.
    pub external: bool,
    /// Its server name.
    pub sni: Str,
    /// The name of its cluster.
    pub name: Str,
}

impl Target {
    /// The target as an upstream.
    pub fn upstream(&self) -> UpstreamId {
        UpstreamId { query: false, name: self.service.clone(), datacenter: self.datacenter.clone(), peer: self.peer.clone() }
    }

    /// This cluster's server name for it.
    pub(crate) fn server_name(&self, trust_domain: &str) -> String {
        let Self { service, subset, datacenter, .. } = self;
        let Tenancy { namespace, partition } = &self.within;
        let subset = if subset.is_empty() { String::new() } else { format!("{subset}.") };
        if partition == DEFAULT {
            return format!("{subset}{service}.{namespace}.{datacenter}.internal.{trust_domain}");
        }
        format!("{subset}{service}.{namespace}.{partition}.{datacenter}.internal-v1.{trust_domain}")
    }

    /// The identity of its service; namespaces have no separate identities.
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
pub struct Tenancy {
    pub namespace: Str,
    pub partition: Str,
}

impl Default for Tenancy {
    fn default() -> Self {
        Self { namespace: Str::new_static(DEFAULT), partition: Str::new_static(DEFAULT) }
    }
}

pub(crate) fn target_id(subset: &str, service: &str, within: &Tenancy, datacenter: &str, peer: &str) -> String {
    let Tenancy { namespace, partition } = within;
    match (peer.is_empty(), subset.is_empty()) {
        (false, _) => format!("{service}.{namespace}.{partition}.external.{peer}"),
        (true, true) => format!("{service}.{namespace}.{partition}.{datacenter}"),
        (true, false) => format!("{subset}.{service}.{namespace}.{partition}.{datacenter}"),
    }
}
