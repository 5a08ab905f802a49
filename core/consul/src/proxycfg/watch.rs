//! The watches of proxies, and the replies to them.

use crate::chain::{Chain, Request, Target};
use crate::entry::{Entry, Kind};
use crate::instance::Instance;
use crate::names::UpstreamId;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

/// A piece of data that a proxy watches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Watch {
    Entry(Kind, Str),
    /// All config entries of a kind.
    Entries(Kind),
    /// The intentions for a service.
    Intentions(Str),
    /// The peers that a service is exported to; with `None`, all peers that have exports.
    ExportedTo(Option<Str>),
    /// The discovery chain of an upstream.
    Chain(UpstreamId, Request),
    /// Instances of a service.
    Health(Health),
    /// The mesh gateways of a datacenter.
    MeshGateways(Str),
    /// The result of a prepared query.
    Query(Str),
    /// The services that a service may call.
    IntentionUpstreams(Str),
    /// The destinations outside that a service may call.
    IntentionDestinations(Str),
    /// The services of peers.
    PeeredUpstreams,
    /// The terminating gateways of a service.
    GatewaysOf(Str),
    /// The services behind a gateway, with resolved wildcards.
    GatewayServices(Kind, Str),
    /// The services of the datacenter, or of a peer.
    Services(Str),
    Datacenters,
    /// The exported services, each with its peers.
    Exports,
    /// The checks of a service that use HTTP or gRPC.
    Probes(Str),
    /// The central configuration of a service: its settings and extensions.
    Config(Str),
    /// The certificate of a service, or of mesh gateways.
    Leaf(Str),
    /// The CA certificates.
    Roots,
}

/// Selects instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Health {
    pub service: Str,
    pub datacenter: Str,
    /// The peer; empty for this cluster.
    pub peer: Str,
    /// An expression that selects instances.
    pub filter: Str,
    /// Whether only instances in the mesh, or gateways in front of them, are selected.
    pub connect: bool,
}

/// The reply to a watch.
#[derive(Clone, Debug)]
pub enum Reply {
    Entry(Option<Arc<Entry>>),
    Entries(Vec<Arc<Entry>>),
    /// A chain; `None` if it cannot be compiled.
    Chain(Option<Arc<Chain>>),
    /// There is no path to the datacenter, so its instances are unknown.
    NoDatacenter,
    Instances(Vec<Arc<Instance>>),
    Names(BTreeSet<Str>),
    Upstreams(BTreeSet<UpstreamId>),
    /// Names by name.
    Exports(BTreeMap<Str, BTreeSet<Str>>),
    Trees(Vec<Tree>),
    /// A certificate: given, or only the name of one that is issued at runtime.
    Certificate {
        /// Whether it is given.
        given: bool,
    },
}

impl Health {
    /// The instances of a target.
    pub fn of(target: &Target, datacenter: &Str) -> Self {
        Self {
            service: target.service.clone(),
            datacenter: if target.datacenter.is_empty() { datacenter.clone() } else { target.datacenter.clone() },
            peer: target.peer.clone(),
            filter: target.filter.clone(),
            connect: true,
        }
    }

    /// The instances of a peer's service.
    pub fn of_peer(id: &UpstreamId, datacenter: &Str) -> Self {
        Self { service: id.name.clone(), datacenter: datacenter.clone(), peer: id.peer.clone(), filter: Str::default(), connect: true }
    }
}

/// The instances of the service that a chain is for.
pub(crate) fn own_health(chain: &Chain) -> Health {
    Health { service: chain.service.clone(), datacenter: chain.datacenter.clone(), connect: true, ..Health::default() }
}
