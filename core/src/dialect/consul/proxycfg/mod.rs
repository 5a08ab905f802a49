//! What a proxy knows: a state machine for each kind of proxy.
//!
//! A machine says what it wants to know ([`Watch`]es); what it is told ([`Reply`]s) may make it want to know more, or less. There is no
//! waiting: whoever runs it asks a source until nothing new is wanted. What must not be here: Envoy's words.

mod api_gateway;
mod bound;
mod connect_proxy;
mod ingress;
mod mesh;
mod source;
mod terminating;
mod watched;

pub use api_gateway::{ApiGateway, Ready};
pub(crate) use api_gateway::{reference, services_of};
pub(crate) use bound::{bind, hosts};
pub use connect_proxy::ConnectProxy;
pub use ingress::{Ingress, Listener, ListenerKey};
pub use mesh::{Exported, MeshGateway};
pub use source::Source;
pub use terminating::TerminatingGateway;

use super::chain::{Chain, Request, Target};
use super::entry::{Entry, Kind};
use super::instance::Instance;
use super::names::UpstreamId;
use crate::ir::Tree;
use crate::text::Str;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Something that a proxy wants to know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
}

/// Which instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
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

/// What a proxy is told.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A config entry, if there is one.
    Entry(Option<Arc<Entry>>),
    /// Config entries.
    Entries(Vec<Arc<Entry>>),
    /// A chain; none where it cannot be made.
    Chain(Option<Box<Chain>>),
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
}

/// What a proxy has been told.
#[derive(Clone, Debug, Default)]
pub struct Mailbox {
    replies: BTreeMap<Watch, Reply>,
    /// The watch whose reply made another one wanted.
    because: BTreeMap<Watch, Watch>,
}

/// What all machines are: they say what they want to know, by what they know.
pub trait Machine {
    /// What is wanted.
    fn wanted(&self, mail: &Mailbox) -> BTreeSet<Watch>;
}

impl Mailbox {
    /// Takes an event in, and gives back what is wanted now and not known.
    pub fn deliver(&mut self, machine: &dyn Machine, watch: Watch, reply: Reply) -> BTreeSet<Watch> {
        self.replies.insert(watch, reply);
        let wanted = machine.wanted(self);
        self.replies.retain(|watch, _| wanted.contains(watch));
        wanted.into_iter().filter(|watch| !self.replies.contains_key(watch)).collect()
    }

    /// Runs a machine until it wants to know nothing more.
    pub(crate) fn settle(machine: &dyn Machine, source: &Source<'_>) -> Self {
        let mut mail = Self::default();
        let mut open = machine.wanted(&mail);
        while let Some(watch) = open.pop_first() {
            let reply = source.answer(&watch);
            let before = core::mem::take(&mut open);
            open = mail.deliver(machine, watch.clone(), reply);
            let new = open.iter().filter(|other| !before.contains(other));
            mail.because.extend(new.map(|other| (other.clone(), watch.clone())));
        }
        mail
    }

    /// Whether something has been told.
    pub fn knows(&self, watch: &Watch) -> bool {
        self.replies.contains_key(watch)
    }

    /// Instances.
    pub fn instances(&self, watch: &Watch) -> &[Arc<Instance>] {
        if let Some(Reply::Instances(instances)) = self.replies.get(watch) { instances } else { &[] }
    }

    /// Whether anything is known of the datacenter of a target.
    pub fn reaches(&self, target: &Target, datacenter: &Str) -> bool {
        !matches!(self.replies.get(&Watch::Health(Health::of(target, datacenter))), Some(Reply::NoDatacenter))
    }

    /// The instances of a target.
    pub fn of_target(&self, target: &Target, datacenter: &Str) -> &[Arc<Instance>] {
        self.instances(&Watch::Health(Health::of(target, datacenter)))
    }

    /// The fields of an entry, or nothing.
    pub fn entry(&self, kind: Kind, name: &Str) -> &Tree {
        const NOTHING: &Tree = &Tree::NULL;
        match self.replies.get(&Watch::Entry(kind, name.clone())) {
            Some(Reply::Entry(Some(entry))) => &entry.tree,
            _ => NOTHING,
        }
    }

    /// An entry, whole.
    pub fn whole_entry(&self, kind: Kind, name: &Str) -> Option<&Arc<Entry>> {
        if let Some(Reply::Entry(entry)) = self.replies.get(&Watch::Entry(kind, name.clone())) { entry.as_ref() } else { None }
    }

    /// Entries.
    pub fn entries(&self, kind: Kind) -> &[Arc<Entry>] {
        if let Some(Reply::Entries(entries)) = self.replies.get(&Watch::Entries(kind)) { entries } else { &[] }
    }

    /// The chains that have been told, by upstream.
    pub fn chains(&self) -> impl Iterator<Item = (&UpstreamId, &Chain)> {
        self.replies.iter().filter_map(|(watch, reply)| match (watch, reply) {
            (Watch::Chain(id, _), Reply::Chain(Some(chain))) => Some((id, &**chain)),
            _ => None,
        })
    }

    /// The chain of an upstream.
    pub fn chain(&self, id: &UpstreamId) -> Option<&Chain> {
        self.chains().find(|(other, _)| *other == id).map(|(_, chain)| chain)
    }

    /// Names.
    pub fn names(&self, watch: &Watch) -> BTreeSet<Str> {
        if let Some(Reply::Names(names)) = self.replies.get(watch) { names.clone() } else { BTreeSet::new() }
    }

    /// Upstreams.
    pub fn upstreams(&self, watch: &Watch) -> BTreeSet<UpstreamId> {
        if let Some(Reply::Upstreams(upstreams)) = self.replies.get(watch) { upstreams.clone() } else { BTreeSet::new() }
    }

    /// What is exported, and to whom.
    pub fn exports(&self) -> BTreeMap<Str, BTreeSet<Str>> {
        if let Some(Reply::Exports(exports)) = self.replies.get(&Watch::Exports) { exports.clone() } else { BTreeMap::new() }
    }

    /// Values.
    pub fn trees(&self, watch: &Watch) -> &[Tree] {
        if let Some(Reply::Trees(trees)) = self.replies.get(watch) { trees } else { &[] }
    }
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

/// What is wanted for the chains that are known: instances of targets, and mesh gateways in front of them.
fn for_chains(mail: &Mailbox, datacenter: &Str, transparent: bool, wanted: &mut BTreeSet<Watch>) {
    for (_, chain) in mail.chains() {
        for target in chain.targets.values() {
            wanted.insert(Watch::Health(Health::of(target, datacenter)));
            let gateways = match target.mesh_gateway.as_str() {
                "remote" => &target.datacenter,
                "local" => datacenter,
                _ => continue,
            };
            if target.datacenter != *datacenter && (!gateways.is_empty()) {
                wanted.insert(Watch::MeshGateways(gateways.clone()));
            }
        }
        if transparent && !chain.targets.contains_key(&chain.id()) {
            wanted.insert(Watch::Health(own_health(chain)));
        }
    }
}

/// The instances of the service that a chain is for.
pub(crate) fn own_health(chain: &Chain) -> Health {
    Health { service: chain.service.clone(), datacenter: chain.datacenter.clone(), connect: true, ..Health::default() }
}

/// A proxy and what it knows, by its kind.
#[derive(Clone, Debug)]
pub enum Proxy {
    /// A sidecar.
    Connect(ConnectProxy),
    /// An ingress gateway.
    Ingress(Ingress),
    /// A terminating gateway.
    Terminating(TerminatingGateway),
    /// A mesh gateway.
    Mesh(MeshGateway),
    /// An API gateway.
    Api(ApiGateway),
}

impl Proxy {
    /// The machine for an instance.
    pub(crate) fn of(instance: &Instance) -> Option<Self> {
        Some(match instance.kind.as_str() {
            "connect-proxy" => Self::Connect(ConnectProxy::of(instance)),
            "ingress-gateway" => Self::Ingress(Ingress::of(instance)),
            "terminating-gateway" => Self::Terminating(TerminatingGateway::of(instance)),
            "mesh-gateway" => Self::Mesh(MeshGateway::of(instance)),
            "api-gateway" => Self::Api(ApiGateway::of(instance)),
            _ => return None,
        })
    }

    /// As any machine.
    pub(crate) fn machine(&self) -> &dyn Machine {
        match self {
            Self::Connect(machine) => machine,
            Self::Ingress(machine) => machine,
            Self::Terminating(machine) => machine,
            Self::Mesh(machine) => machine,
            Self::Api(machine) => machine,
        }
    }
}
