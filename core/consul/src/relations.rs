//! The references between documents, for graphs and ledgers: proxies to upstreams, services to their settings, chains to targets.

use super::entry::{Entry, Kind};
use super::instance::Instance;
use super::proxycfg::Mailbox;
use super::registration::is_gateway;
use super::state::State;
use super::validate::is_set;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Absent, Relation};
use chancery_base::ir::Tree;
use chancery_base::resource::{ObjectId, Objects, Origin};
use chancery_text::Str;

/// Returns all references; `mailboxes` is the data of each proxy, with its registration.
pub(super) fn relations<'a>(state: &State, mailboxes: impl Iterator<Item = (ObjectId, &'a Mailbox)>, objects: &Objects) -> Vec<Relation> {
    let services = state.registrations();
    let mut all = References { state, objects, services, out: Vec::new() };
    state.instances.iter().for_each(|instance| all.instance(instance));
    state.entries.values().for_each(|entry| all.entry(entry));
    for (proxy, mail) in mailboxes {
        mail.registrations().into_iter().for_each(|instance| all.add(proxy, None, "instance", instance));
    }
    all.out
}

struct References<'a> {
    state: &'a State,
    objects: &'a Objects,
    /// The registration of each service or its proxy.
    services: BTreeMap<Str, ObjectId>,
    out: Vec<Relation>,
}

impl References<'_> {
    fn add(&mut self, from: ObjectId, at: Option<Origin>, relation: &'static str, to: ObjectId) {
        let Some(object) = self.objects.get(to).filter(|_| from != to) else { return };
        let to = object.key.clone();
        let written = to.name.clone();
        self.out.push(Relation { from, at, relation, to, written, anywhere: false, optional: false, absent: Absent::Nothing });
    }

    /// Adds a reference to an entry, if it exists.
    fn entry_of(&mut self, from: ObjectId, at: Option<Origin>, relation: &'static str, kind: Kind, name: &str) {
        if let Some(to) = self.state.entries.get(&(kind, Str::new(name))).map(|entry| entry.object) {
            self.add(from, at, relation, to);
        }
    }

    /// Adds a reference to a service. Missing services are reported by checks.
    fn service_of(&mut self, from: ObjectId, named: &Tree, relation: &'static str) {
        let name = named.str();
        if name.is_empty() || name == "*" {
            return;
        }
        match self.services.get(&name).copied() {
            Some(to) => self.add(from, named.origin, relation, to),
            None => {
                let to = super::documents::key("service", &name);
                let absent = Absent::Assumed("not registered in the input");
                self.out.push(Relation { from, at: named.origin, relation, to, written: name, anywhere: true, optional: false, absent });
            }
        }
    }

    /// Adds references to a service, and to the entries that route its requests.
    fn reach(&mut self, from: ObjectId, named: &Tree, relation: &'static str) {
        let name = named.str();
        // A service that only redirects to others need not be registered.
        let leads = [Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver];
        let leads = leads.into_iter().any(|kind| self.state.entries.contains_key(&(kind, name.clone())));
        if self.services.contains_key(&name) || !leads {
            self.service_of(from, named, relation);
        }
        for (kind, relation) in [
            (Kind::ServiceRouter, "router"),
            (Kind::ServiceSplitter, "splitter"),
            (Kind::ServiceResolver, "resolver"),
            (Kind::ServiceDefaults, "defaults"),
        ] {
            self.entry_of(from, named.origin, relation, kind, &name);
        }
    }

    fn instance(&mut self, instance: &Instance) {
        let Some(from) = instance.object else { return };
        let name = instance.destination();
        self.entry_of(from, None, "defaults", Kind::ServiceDefaults, &name);
        if instance.kind == "connect-proxy" || is_gateway(&instance.kind) {
            self.entry_of(from, None, "defaults", Kind::ProxyDefaults, "global");
            self.entry_of(from, None, "mesh", Kind::Mesh, "mesh");
            self.entry_of(from, None, "exports", Kind::ExportedServices, "default");
        }
        if instance.kind == "connect-proxy" {
            for service in [name.as_str(), "*"] {
                self.entry_of(from, None, "intentions", Kind::ServiceIntentions, service);
            }
            let named = instance.proxy.get("DestinationServiceName").origin;
            let is_behind = |other: &&Arc<Instance>| other.kind.is_empty() && other.node.name == instance.node.name;
            let behind: Vec<ObjectId> = self.state.instances.of_service(&name).filter(is_behind).filter_map(|other| other.object).collect();
            behind.into_iter().for_each(|service| self.add(from, named, "proxy", service));
        }
        for kind in [Kind::IngressGateway, Kind::TerminatingGateway, Kind::ApiGateway] {
            if instance.kind == kind.name() {
                self.entry_of(from, None, "gateway", kind, &instance.service);
            }
        }
        for upstream in instance.proxy.get("Upstreams").items().iter().filter(|upstream| !is_set(upstream.get("DestinationPeer"))) {
            self.reach(from, upstream.get("DestinationName"), "upstream");
        }
    }

    fn entry(&mut self, entry: &Entry) {
        let (from, tree) = (entry.object, &entry.tree);
        for target in entry.targets().into_iter().filter(|target| !is_set(target.get("Peer"))) {
            self.reach(from, target.get("Service"), "target");
        }
        // If a router or splitter leads to its own service, the next deciding entry follows.
        let is_own = |target: &&Tree| !is_set(target.get("Service")) || target.get("Service").is(&entry.name);
        match entry.kind {
            Kind::ServiceRouter => {
                self.entry_of(from, None, "splitter", Kind::ServiceSplitter, &entry.name);
                self.entry_of(from, None, "resolver", Kind::ServiceResolver, &entry.name);
            }
            Kind::ServiceSplitter => {
                if let Some(own) = tree.get("Splits").items().iter().find(is_own) {
                    self.entry_of(from, own.origin, "resolver", Kind::ServiceResolver, &entry.name);
                }
            }
            Kind::ServiceIntentions => {
                for source in tree.get("Sources").items().iter().filter(|source| !is_set(source.get("Peer"))) {
                    self.service_of(from, source.get("Name"), "source");
                }
                self.providers(from, tree);
            }
            Kind::IngressGateway => {
                let listeners = tree.get("Listeners").items();
                listeners.iter().flat_map(|listener| listener.get("Services").items()).for_each(|service| {
                    self.reach(from, service.get("Name"), "service");
                });
            }
            Kind::TerminatingGateway => {
                for service in tree.get("Services").items() {
                    self.service_of(from, service.get("Name"), "service");
                    self.entry_of(from, service.get("Name").origin, "intentions", Kind::ServiceIntentions, service.get("Name").text());
                }
            }
            Kind::ExportedServices => {
                tree.get("Services").items().iter().for_each(|service| self.service_of(from, service.get("Name"), "export"));
            }
            Kind::ApiGateway => {
                let listeners = tree.get("Listeners").items().iter();
                for certificate in listeners.flat_map(|listener| listener.at(&["TLS", "Certificates"]).items()) {
                    self.entry_of(from, certificate.get("Name").origin, "certificate", Kind::InlineCertificate, certificate.get("Name").text());
                }
            }
            Kind::HttpRoute | Kind::TcpRoute => self.route(from, tree),
            _ => {}
        }
    }

    /// Adds references of an API gateway's route: to its services, and from each gateway that accepts it.
    fn route(&mut self, from: ObjectId, tree: &Tree) {
        let rules = tree.get("Rules").items().iter().flat_map(|rule| rule.get("Services").items());
        rules.chain(tree.get("Services").items()).for_each(|service| self.reach(from, service.get("Name"), "service"));
        for parent in tree.get("Parents").items() {
            let key = (Kind::ApiGateway, parent.get("Name").str());
            if let Some(gateway) = self.state.entries.get(&key).map(|gateway| gateway.object) {
                self.add(gateway, None, "route", from);
            }
        }
    }

    /// The JWT providers that a tree names.
    fn providers(&mut self, from: ObjectId, tree: &Tree) {
        for provider in tree.get("Providers").items() {
            self.entry_of(from, provider.get("Name").origin, "provider", Kind::JwtProvider, provider.get("Name").text());
        }
        tree.fields().iter().for_each(|(_, value)| self.providers(from, value));
        tree.items().iter().for_each(|value| self.providers(from, value));
    }
}
