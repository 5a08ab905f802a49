//! What a proxy may want to know, and the replies to it.

use crate::chain::{Chain, Request, Target};
use crate::entry::{Entry, Kind};
use crate::instance::Instance;
use crate::names::UpstreamId;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

/// Something that a proxy wants to know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Watch {
    /// A config entry.
    Entry(Kind, Str),
    /// All config entries of a kind.
    Entries(Kind),
    /// Who may call a service.
    Intentions(Str),
    /// The peers to which a service is exported; all peers that have exports, if it is none in particular.
    ExportedTo(Option<Str>),
    /// The discovery chain of an upstream.
    Chain(UpstreamId, Request),
    /// Instances of a service.
    Health(Health),
    /// The mesh gateways of a datacenter.
    MeshGateways(Str),
    /// What a prepared query finds.
    Query(Str),
    /// The services that a service may call.
    IntentionUpstreams(Str),
    /// The destinations outside that a service may call.
    IntentionDestinations(Str),
    /// The services of peers.
    PeeredUpstreams,
    /// The terminating gateways of a service.
    GatewaysOf(Str),
    /// The services behind a gateway, wildcards resolved.
    GatewayServices(Kind, Str),
    /// The services of the datacenter, or of a peer.
    Services(Str),
    /// The datacenters.
    Datacenters,
    /// The services that are exported, and to whom.
    Exports,
    /// The checks of a service that ask by HTTP or gRPC.
    Probes(Str),
    /// What central configuration says of a service: its settings, and its extensions.
    Config(Str),
    /// The certificate of a service, or of mesh gateways.
    Leaf(Str),
    /// The certificates of the authority.
    Roots,
}

/// Which instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Health {
    /// The service.
    pub service: Str,
    /// The datacenter.
    pub datacenter: Str,
    /// The peer; empty for this cluster.
    pub peer: Str,
    /// An expression that chooses some.
    pub filter: Str,
    /// Those that take part in the mesh, or that are in front of it.
    pub connect: bool,
}

/// The answer to a watch.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A config entry, if there is one.
    Entry(Option<Arc<Entry>>),
    /// Config entries.
    Entries(Vec<Arc<Entry>>),
    /// A chain; none where it cannot be made.
    Chain(Option<Arc<Chain>>),
    /// There is no path to the datacenter: nothing is known of it.
    NoDatacenter,
    /// Instances.
    Instances(Vec<Arc<Instance>>),
    /// Names.
    Names(BTreeSet<Str>),
    /// Upstreams.
    Upstreams(BTreeSet<UpstreamId>),
    /// Names by names.
    Exports(BTreeMap<Str, BTreeSet<Str>>),
    /// Values.
    Trees(Vec<Tree>),
    /// A certificate: one that is given, or the name of one that is issued when the proxy runs.
    Certificate {
        /// It is given.
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

    /// The instances of a service of a peer.
    pub fn of_peer(id: &UpstreamId, datacenter: &Str) -> Self {
        Self { service: id.name.clone(), datacenter: datacenter.clone(), peer: id.peer.clone(), filter: Str::default(), connect: true }
    }
}

/// The instances of the service that a chain is for.
pub(crate) fn own_health(chain: &Chain) -> Health {
    Health { service: chain.service.clone(), datacenter: chain.datacenter.clone(), connect: true, ..Health::default() }
}
