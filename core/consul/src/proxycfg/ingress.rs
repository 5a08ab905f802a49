//! The data of an ingress gateway.

use super::mailbox::{Machine, Mailbox, for_chains};
use super::watch::Watch;
use super::watch_set::WatchSet;
use crate::chain::Request;
use crate::entry::Kind;
use crate::instance::Instance;
use crate::names::UpstreamId;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

#[derive(Clone, Debug)]
pub struct Ingress {
    /// Its service, which is the name of its entry.
    pub service: Str,
    pub datacenter: Str,
}

/// The identity of a listener.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListenerKey {
    pub protocol: Str,
    pub port: i64,
}

impl ListenerKey {
    /// The name of its routes.
    pub fn route_name(&self) -> String {
        alloc::format!("{}", self.port)
    }
}

/// A listener with its services.
#[derive(Clone, Debug)]
pub struct Listener {
    pub key: ListenerKey,
    /// As in the entry.
    pub tree: Tree,
    /// The services, each with its part of the entry.
    pub services: Vec<(UpstreamId, Tree)>,
}

impl Ingress {
    pub(super) fn of(instance: &Instance) -> Self {
        Self { service: instance.service.clone(), datacenter: instance.node.datacenter.clone() }
    }

    /// The listeners that have services, with resolved wildcards.
    pub fn listeners(&self, mail: &Mailbox) -> Vec<Listener> {
        let linked = mail.trees(&Watch::GatewayServices(Kind::IngressGateway, self.service.clone()));
        let listeners = mail.entry(Kind::IngressGateway, &self.service).get("Listeners").items().iter().map(|tree| {
            let key = ListenerKey { protocol: tree.get("Protocol").str(), port: tree.get("Port").int() };
            let of_it = linked.iter().filter(|service| service.get("Port").int() == key.port);
            let services = of_it.map(|service| (UpstreamId::service(&service.get("Name").str()), service.clone()));
            Listener { services: services.collect(), key, tree: tree.clone() }
        });
        listeners.filter(|listener| !listener.services.is_empty()).collect()
    }
}

impl Machine for Ingress {
    fn watch_set(&self, mail: &Mailbox) -> WatchSet {
        let services = Watch::GatewayServices(Kind::IngressGateway, self.service.clone());
        let mut watch_set = WatchSet::initial([
            Watch::Entry(Kind::Mesh, Str::new_static("mesh")),
            Watch::Entry(Kind::IngressGateway, self.service.clone()),
            services.clone(),
            Watch::Leaf(self.service.clone()),
            Watch::Roots,
        ]);
        for service in mail.trees(&services) {
            let id = UpstreamId::service(&service.get("Name").str());
            let request = Request { service: id.name.clone(), datacenter: self.datacenter.clone(), ..Request::default() };
            watch_set.chained(&services, Watch::Chain(id, request));
        }
        for_chains(mail, &self.datacenter, false, &mut watch_set);
        watch_set
    }
}
