//! The data of a mesh gateway.

use super::mailbox::{Machine, Mailbox};
use super::terminating::by_name;
use super::watch::{Health, Watch};
use super::watch_set::WatchSet;
use crate::chain::{Chain, Request};
use crate::entry::Kind;
use crate::instance::Instance;
use crate::names::UpstreamId;
use crate::registration;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

#[derive(Clone, Debug)]
pub struct MeshGateway {
    pub datacenter: Str,
    /// Whether servers of other datacenters are reached through it.
    pub federates: bool,
}

/// A service that peers may use.
pub struct Exported<'a> {
    /// The service.
    pub service: Str,
    /// The peers.
    pub peers: BTreeSet<Str>,
    /// Where its requests go.
    pub chain: &'a Chain,
}

impl MeshGateway {
    pub(super) fn of(instance: &Instance) -> Self {
        let meta = instance.tree.at(&["Meta", "consul-wan-federation"]);
        Self { datacenter: instance.node.datacenter.clone(), federates: meta.is("1") }
    }

    fn health(&self, service: &Str, peer: &Str) -> Watch {
        let (service, datacenter, peer) = (service.clone(), self.datacenter.clone(), peer.clone());
        Watch::Health(Health { service, datacenter, peer, connect: true, ..Health::default() })
    }

    /// The services of the datacenter that have instances in the mesh.
    pub fn groups<'a>(&self, mail: &'a Mailbox) -> BTreeMap<Str, &'a [Arc<Instance>]> {
        let services = mail.names(&Watch::Services(Str::default())).into_iter();
        let groups = services.map(|service| {
            let instances = mail.instances(&self.health(&service, &Str::default()));
            (service, instances)
        });
        groups.filter(|(_, instances)| !instances.is_empty()).collect()
    }

    /// The imported services, each with whether its gateways are reached by host name.
    pub fn imported(&self, mail: &Mailbox) -> Vec<(Vec<Arc<Instance>>, bool)> {
        let peers = mail.names(&Watch::ExportedTo(None)).into_iter();
        let groups = peers.flat_map(|peer| {
            let services = mail.names(&Watch::Services(peer.clone())).into_iter();
            services.map(move |service| (service, peer.clone()))
        });
        let groups = groups.map(|(service, peer)| mail.instances(&self.health(&service, &peer)).to_vec());
        let groups = groups.filter(|instances| !instances.is_empty()).map(|instances| {
            let named = by_name(&instances, "");
            if named.is_empty() { (instances, false) } else { (named, true) }
        });
        groups.collect()
    }

    /// Other datacenters, with their gateways.
    pub fn remote<'a>(&self, mail: &'a Mailbox) -> BTreeMap<Str, &'a [Arc<Instance>]> {
        let others = mail.names(&Watch::Datacenters).into_iter().filter(|name| *name != self.datacenter);
        let gateways = others.map(|name| {
            let instances = mail.instances(&Watch::MeshGateways(name.clone()));
            (name, instances)
        });
        gateways.filter(|(_, instances)| !instances.is_empty()).collect()
    }

    /// The gateways in its own datacenter.
    pub fn own<'a>(&self, mail: &'a Mailbox) -> &'a [Arc<Instance>] {
        mail.instances(&Watch::MeshGateways(self.datacenter.clone()))
    }

    /// The servers of the datacenter, if it forwards to them.
    pub fn servers<'a>(&self, mail: &'a Mailbox) -> &'a [Arc<Instance>] {
        mail.instances(&self.of_servers())
    }

    fn of_servers(&self) -> Watch {
        let service = Str::new_static(registration::SERVERS);
        Watch::Health(Health { service, datacenter: self.datacenter.clone(), ..Health::default() })
    }

    /// The existing services that peers may use.
    pub fn exported<'a>(&self, mail: &'a Mailbox) -> Vec<Exported<'a>> {
        let groups = self.groups(mail);
        let all = mail.exports().into_iter().filter(|(service, _)| groups.contains_key(service));
        let all = all.filter_map(|(service, peers)| {
            let chain = mail.chain(&UpstreamId::service(&service))?;
            Some(Exported { service, peers, chain })
        });
        all.collect()
    }

    /// The resolver of a service.
    pub fn resolver<'a>(&self, mail: &'a Mailbox, service: &str) -> &'a Tree {
        const NOTHING: &Tree = &Tree::NULL;
        let found = mail.entries(Kind::ServiceResolver).iter().find(|entry| entry.name == *service);
        found.map_or(NOTHING, |entry| &entry.tree)
    }
}

impl Machine for MeshGateway {
    fn watch_set(&self, mail: &Mailbox) -> WatchSet {
        let (services, peers) = (Watch::Services(Str::default()), Watch::ExportedTo(None));
        let mut watch_set = WatchSet::initial([
            Watch::Entry(Kind::Mesh, Str::new_static("mesh")),
            Watch::Entries(Kind::ServiceResolver),
            services.clone(),
            peers.clone(),
            Watch::Datacenters,
            Watch::Exports,
        ]);
        for service in mail.names(&services) {
            watch_set.chained(&services, self.health(&service, &Str::default()));
        }
        for peer in mail.names(&peers) {
            let of_peer = Watch::Services(peer.clone());
            for service in mail.names(&of_peer) {
                watch_set.chained(&of_peer, self.health(&service, &peer));
            }
            watch_set.chained(&peers, of_peer);
        }
        let mesh = Str::new_static("mesh");
        if self.federates {
            watch_set.first(self.of_servers());
        } else if mail.entry(Kind::Mesh, &mesh).at(&["Peering", "PeerThroughMeshGateways"]).bool() {
            watch_set.chained(&Watch::Entry(Kind::Mesh, mesh), self.of_servers());
        }
        let own = self.federates.then(|| self.datacenter.clone());
        for name in mail.names(&Watch::Datacenters).into_iter().filter(|name| *name != self.datacenter).chain(own) {
            watch_set.chained(&Watch::Datacenters, Watch::MeshGateways(name));
        }
        for service in mail.exports().into_keys() {
            let request = Request { service: service.clone(), datacenter: self.datacenter.clone(), ..Request::default() };
            watch_set.chained(&Watch::Exports, Watch::Chain(UpstreamId::service(&service), request));
            // It terminates TLS for services that peers call by HTTP.
            watch_set.chained(&Watch::Exports, Watch::Leaf(Str::new_static("gateway-mesh")));
            watch_set.chained(&Watch::Exports, Watch::Roots);
        }
        watch_set
    }
}
