//! The catalog and the config entries after all documents of an input are applied. Does not apply documents; see `apply`.

use super::agent::Agent;
use super::catalog::Instances;
use super::entry::{Entries, Entry, Kind};
use super::instance::Instance;
use super::registration;
use super::validate::is_set;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Findings;
use chancery_base::ir::Tree;
use chancery_base::resource::ObjectId;
use chancery_text::Str;
use hashbrown::HashMap;

/// The datacenter of proxies.
pub(crate) const DATACENTER: &str = "dc1";

/// The config entries that lead to a service, by its name, to find the entries that a change affects.
#[derive(Clone, Debug, Default)]
pub(super) struct Leading(HashMap<Str, BTreeSet<(Kind, Str)>>);

impl Leading {
    /// Adds an entry, and removes the one that it replaces.
    pub(super) fn replace(&mut self, before: Option<&Entry>, entry: &Entry) {
        for (target, of) in before.into_iter().flat_map(|before| before.related_services().into_iter().map(move |target| (target, before))) {
            if let Some(all) = self.0.get_mut(&target) {
                all.remove(&(of.kind, of.name.clone()));
            }
        }
        for target in entry.related_services() {
            self.0.entry(target).or_default().insert((entry.kind, entry.name.clone()));
        }
    }

    /// The entries that lead to a service.
    pub(super) fn to(&self, service: &str) -> impl Iterator<Item = &(Kind, Str)> {
        self.0.get(service).into_iter().flatten()
    }
}

/// The state of a cluster.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The agent, if an input describes it.
    pub agent: Option<Agent>,
    /// The agent's datacenter.
    pub datacenter: Str,
    pub entries: Entries,
    /// The entries that lead to each service.
    pub(super) leading: Leading,
    /// The instances of all services, in order.
    pub instances: Instances,
    /// Terminating gateways with a wildcard, and the services that were registered after them: the wildcard applies to those.
    pub wildcards: BTreeSet<(Str, Str)>,
    /// The documents with certificates, by the names in references.
    pub certificates: BTreeMap<Str, ObjectId>,
    pub virtual_ips: BTreeMap<Str, Str>,
    /// The findings of documents.
    pub diagnostics: Findings,
}

impl State {
    /// The object that registers each service: an instance of it, else a proxy for it.
    pub(crate) fn registrations(&self) -> BTreeMap<Str, ObjectId> {
        let mut services: BTreeMap<Str, ObjectId> = BTreeMap::new();
        let typical = self.instances.iter().filter(|instance| instance.kind.is_empty());
        let proxies = self.instances.iter().filter(|instance| !instance.kind.is_empty());
        for instance in typical.chain(proxies) {
            if let Some(object) = instance.object {
                services.entry(instance.destination()).or_insert(object);
            }
        }
        services
    }

    /// The services behind a terminating gateway, with resolved wildcards.
    pub(crate) fn behind(&self, gateway: &Str) -> BTreeSet<Str> {
        let Some(entry) = self.entries.get(&(Kind::TerminatingGateway, gateway.clone())) else { return BTreeSet::new() };
        let mut found = BTreeSet::new();
        for service in entry.tree.get("Services").items() {
            let name = service.get("Name").str();
            if name == "*" {
                let typical = self.here().filter(|instance| instance.kind.is_empty() && instance.service != "consul");
                found.extend(typical.map(|instance| instance.service.clone()));
                let destinations = self.entries.values().filter(|entry| entry.tree.find("Destination").is_some());
                found.extend(destinations.map(|entry| entry.name.clone()));
            } else {
                found.insert(name);
            }
        }
        found
    }

    /// Whether a service has no instances but addresses outside of the mesh.
    pub(crate) fn is_outside(&self, service: &Str) -> bool {
        let has_instances = self.instances.of_service(service).any(|instance| instance.node.datacenter == self.datacenter);
        !has_instances && self.tree(Kind::ServiceDefaults, service).find("Destination").is_some()
    }

    /// The instances of the agent's datacenter.
    pub(crate) fn here(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.instances.iter().filter(|instance| instance.node.datacenter == self.datacenter)
    }

    /// The proxies that are served here: those of the agent, or, with a live agent, all of its datacenter.
    pub(crate) fn served(&self) -> Vec<(Str, Arc<Instance>)> {
        let is_proxy = |instance: &&Arc<Instance>| instance.kind == "connect-proxy" || registration::is_gateway(&instance.kind);
        let is_served = |instance: &&Arc<Instance>| instance.local || (self.agent.is_some() && instance.node.peer.is_empty());
        let mut all: Vec<Arc<Instance>> = self.here().filter(is_proxy).filter(is_served).cloned().collect();
        // Ids are unique only per node: those of the agent's own node come first.
        all.sort_by_key(|instance| core::cmp::Reverse(instance.local));
        let mut taken: BTreeSet<Str> = BTreeSet::new();
        let id = |instance: &Instance| {
            if taken.insert(instance.id.clone()) { instance.id.clone() } else { alloc::format!("{}/{}", instance.node.name, instance.id).into() }
        };
        let ids: Vec<Str> = all.iter().map(|instance| &**instance).map(id).collect();
        ids.into_iter().zip(all).collect()
    }

    /// The entries of a kind, by name.
    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.range((kind, Str::default())..).take_while(move |((of, _), _)| *of == kind).map(|(_, entry)| entry)
    }

    /// The fields of an entry, or null.
    pub(crate) fn tree(&self, kind: Kind, name: &str) -> &Tree {
        const NOTHING: &Tree = &Tree::NULL;
        self.entries.get(&(kind, Str::new(name))).map_or(NOTHING, |entry| &entry.tree)
    }

    /// Whether a chain routes requests for a service to others.
    pub(crate) fn has_chain(&self, service: &Str) -> bool {
        let has = |kind| self.entries.contains_key(&(kind, service.clone()));
        has(Kind::ServiceRouter) || has(Kind::ServiceSplitter) || self.leads_elsewhere(service)
    }

    /// Whether a resolver routes requests to others, directly or by failover.
    pub(crate) fn leads_elsewhere(&self, service: &Str) -> bool {
        let resolver = self.tree(Kind::ServiceResolver, service);
        is_set(resolver.get("Redirect")) || is_set(resolver.get("Failover"))
    }

    pub(crate) fn protocol(&self, service: &str) -> Str {
        let own = self.tree(Kind::ServiceDefaults, service).get("Protocol");
        let all = self.tree(Kind::ProxyDefaults, "global").at(&["Config", "protocol"]);
        let found = if is_set(own) { own } else { all };
        if is_set(found) { found.str() } else { Str::new_static("tcp") }
    }

    /// The services of discovery entries, and registered typical services.
    fn known_services(&self) -> BTreeSet<Str> {
        let kinds = [Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver];
        let configured = self.entries.values().filter(|entry| kinds.contains(&entry.kind)).map(|entry| entry.name.clone());
        let typical = self.here().filter(|instance| instance.kind.is_empty() && instance.service != "consul");
        let sidecars = self.here().filter(|instance| instance.kind == "connect-proxy").map(|instance| instance.destination());
        configured.chain(typical.map(|instance| instance.service.clone())).chain(sidecars).collect()
    }

    /// The services that an entry exports to any peer.
    pub(crate) fn exported_by(&self, tree: &Tree) -> BTreeSet<Str> {
        self.exported_to_if(tree, |_| true).into_keys().collect()
    }

    /// The exported services, each with its peers.
    fn exported_to_if(&self, tree: &Tree, peer: impl Fn(&str) -> bool) -> BTreeMap<Str, BTreeSet<Str>> {
        let mut exported: BTreeMap<Str, BTreeSet<Str>> = BTreeMap::new();
        for service in tree.get("Services").items() {
            let consumers = service.get("Consumers").items().iter().map(|consumer| consumer.get("Peer")).filter(|to| is_set(to) && peer(to.text()));
            let peers: BTreeSet<Str> = consumers.map(Tree::str).collect();
            if peers.is_empty() {
                continue;
            }
            let name = service.get("Name").str();
            let names = if name == "*" { self.known_services() } else { BTreeSet::from([name]) };
            for name in names.into_iter().filter(|name| name != "consul") {
                exported.entry(name).or_default().extend(peers.iter().cloned());
            }
        }
        exported
    }

    /// The exported services, each with its peers.
    pub(crate) fn exports(&self) -> BTreeMap<Str, BTreeSet<Str>> {
        self.exported_to_if(self.tree(Kind::ExportedServices, "default"), |_| true)
    }

    /// Whether a service is exported to any peer.
    pub(crate) fn is_exported(&self, service: &str) -> bool {
        let kinds = [Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver];
        let is_here = |instance: &&Arc<Instance>| instance.node.datacenter == self.datacenter;
        let is_known = || {
            kinds.into_iter().any(|kind| self.entries.contains_key(&(kind, Str::new(service))))
                || self.instances.of_service(service).filter(is_here).any(|instance| instance.kind.is_empty())
                || self.instances.in_mesh_for(service).filter(is_here).any(|instance| instance.kind == "connect-proxy")
        };
        let has_peer = |exported: &&Tree| exported.get("Consumers").items().iter().any(|consumer| is_set(consumer.get("Peer")));
        let all = self.tree(Kind::ExportedServices, "default").get("Services").items().iter().filter(has_peer);
        let mut names = all.map(|exported| exported.get("Name").text());
        service != "consul" && names.any(|name| name == service || (name == "*" && is_known()))
    }

    /// The config entries in the form of the API's list.
    pub(crate) fn answer(&self) -> Tree {
        let mut all: Vec<&Arc<Entry>> = self.entries.values().collect();
        all.sort_by(|a, b| (a.kind.name(), &a.name).cmp(&(b.kind.name(), &b.name)));
        Tree::from(all.into_iter().map(|entry| entry.answer()).collect::<Vec<_>>())
    }
}
