//! Computes the replies to watches from the catalogs of this cluster and of its peers, and records the topics of each reply.

use super::topic::{Reads, Topic};
use super::watch::{Health, Reply, Watch};
use crate::chain::{self, Chain, Lookups, NodeKind, Request, Set};
use crate::entry::Kind;
use crate::instance::{Instance, PeerMeta};
use crate::intention::{self, Intention};
use crate::names::{self, PEER_TRUST_DOMAIN, UpstreamId};
use crate::state::State;
use crate::validate::is_http;
use crate::{bexpr, registration, service};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

/// The name of this cluster at its peers.
const HOME: &str = "home";

/// The catalogs of this cluster and of its peers.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// This cluster.
    pub home: &'a State,
    /// Peers, by the names that this cluster uses.
    pub peers: &'a BTreeMap<Str, State>,
    /// Whether everything is denied without an intention.
    pub default_deny: bool,
}

impl Source<'_> {
    /// Computes the reply to a watch.
    pub fn answer(&self, watch: &Watch, reads: &Reads) -> Reply {
        let home = self.home;
        match watch {
            Watch::Entry(kind, name) => {
                reads.entry(*kind, name);
                Reply::Entry(home.entries.get(&(*kind, name.clone())).cloned())
            }
            Watch::Entries(kind) => {
                reads.note(Topic::Entries(*kind));
                Reply::Entries(home.of_kind(*kind).cloned().collect())
            }
            Watch::Intentions(service) => {
                [service.as_str(), "*"].into_iter().for_each(|name| reads.entry(Kind::ServiceIntentions, name));
                Reply::Trees(intention::of(home, service).into_iter().map(Intention::into_tree).collect())
            }
            Watch::ExportedTo(service) => Reply::Names(self.exported_to(service.as_ref(), reads)),
            Watch::Chain(_, request) => Reply::Chain(self.chain(home, request, reads).map(Arc::new)),
            Watch::Health(health) => self.instances(health, reads),
            Watch::MeshGateways(datacenter) => Reply::Instances(of_kind(home, "mesh-gateway", datacenter, reads)),
            Watch::Query(_) => Reply::Instances(Vec::new()),
            Watch::IntentionUpstreams(service) => Reply::Names(self.allowed(service, self.services_with_addresses(), false, reads)),
            Watch::IntentionDestinations(service) => {
                let entries = home.of_kind(Kind::ServiceDefaults).filter(|entry| entry.tree.find("Destination").is_some());
                Reply::Names(self.allowed(service, entries.map(|entry| entry.name.clone()).collect(), true, reads))
            }
            Watch::PeeredUpstreams => {
                let all = self.peers.keys().flat_map(|peer| {
                    let of_peer = move |name| UpstreamId { name, peer: peer.clone(), ..UpstreamId::default() };
                    self.imported(peer).into_iter().map(of_peer)
                });
                Reply::Upstreams(all.collect())
            }
            Watch::GatewaysOf(service) => Reply::Instances(self.terminating(service, reads)),
            Watch::GatewayServices(Kind::TerminatingGateway, gateway) => Reply::Trees(self.linked(gateway, reads)),
            Watch::GatewayServices(_, gateway) => Reply::Trees(self.behind_ingress(gateway, reads)),
            Watch::Services(peer) if peer.is_empty() => {
                reads.note(Topic::Catalog);
                let names = home.here().map(|instance| instance.service.clone());
                Reply::Names(names.chain([Str::new_static(registration::SERVERS)]).collect())
            }
            Watch::Services(peer) => Reply::Names(self.imported(peer)),
            Watch::Datacenters => Reply::Names(self.datacenters(reads)),
            Watch::Exports => Reply::Exports(self.exports(reads)),
            Watch::Probes(id) => {
                reads.note(Topic::Local(id.clone()));
                let found = home.instances.local(&home.datacenter, id);
                Reply::Trees(found.map(|instance| instance.probes.clone()).unwrap_or_default())
            }
            Watch::Leaf(service) => self.certificate(Str::from(format!("leaf:{service}")), reads),
            Watch::Roots => self.certificate(Str::new_static("roots"), reads),
            Watch::Config(name) => {
                reads.entry(Kind::ProxyDefaults, "global");
                reads.entry(Kind::ServiceDefaults, name);
                Reply::Trees(Vec::from([service::proxy_config(&home.entries, name), service::extensions(&home.entries, name)]))
            }
        }
    }

    fn chain(&self, state: &State, request: &Request, reads: &Reads) -> Option<Chain> {
        let lookups = Lookups::default();
        let chain = chain::compile(&Set::noting(&state.entries, &lookups), request).ok();
        reads.lookups(lookups);
        reads.note(Topic::VirtualIp(request.service.clone()));
        let mut chain = chain?;
        chain.virtual_ip = state.virtual_ips.get(&request.service).cloned();
        Some(chain)
    }

    fn datacenters(&self, reads: &Reads) -> BTreeSet<Str> {
        reads.note(Topic::Catalog);
        let all = self.home.instances.iter().map(|instance| instance.node.datacenter.clone());
        all.chain([self.home.datacenter.clone()]).collect()
    }

    fn certificate(&self, name: Str, reads: &Reads) -> Reply {
        let given = self.home.certificates.contains_key(&name);
        reads.note(Topic::Certificate(name));
        Reply::Certificate { given }
    }

    /// The exports to known peers.
    fn exports(&self, reads: &Reads) -> BTreeMap<Str, BTreeSet<Str>> {
        self.exports_of_home(reads)
            .into_iter()
            .filter_map(|(service, mut peers)| {
                peers.retain(|peer| self.peers.contains_key(peer));
                (!peers.is_empty()).then_some((service, peers))
            })
            .collect()
    }

    fn exports_of_home(&self, reads: &Reads) -> BTreeMap<Str, BTreeSet<Str>> {
        reads.entry(Kind::ExportedServices, "default");
        let exported = self.home.tree(Kind::ExportedServices, "default").get("Services").items();
        if exported.iter().any(|service| service.get("Name").is("*")) {
            reads.note(Topic::Catalog);
            [Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver].into_iter().for_each(|kind| reads.note(Topic::Entries(kind)));
        }
        self.home.exports()
    }

    /// Instances; a datacenter without a path to it is unknown.
    fn instances(&self, health: &Health, reads: &Reads) -> Reply {
        if health.peer.is_empty() && !self.knows(&health.datacenter) {
            reads.note(Topic::Catalog);
            return Reply::NoDatacenter;
        }
        if health.peer.is_empty() && health.datacenter != self.home.datacenter && !health.datacenter.is_empty() {
            // Its last instance may disappear.
            reads.note(Topic::Catalog);
        }
        Reply::Instances(self.health(health, reads))
    }

    fn knows(&self, datacenter: &Str) -> bool {
        let home = self.home;
        datacenter.is_empty() || *datacenter == home.datacenter || home.instances.knows(datacenter)
    }

    fn exported_to(&self, service: Option<&Str>, reads: &Reads) -> BTreeSet<Str> {
        let Some(service) = service else { return self.peers.keys().cloned().collect() };
        let home = self.home;
        let mut found = BTreeSet::new();
        for (name, peers) in self.exports_of_home(reads) {
            let request = Request { service: name.clone(), datacenter: home.datacenter.clone(), ..Request::default() };
            let leads_there =
                || self.chain(home, &request, reads).is_some_and(|chain| chain.targets.values().any(|target| target.service == *service));
            if name == *service || leads_there() {
                found.extend(peers.into_iter().filter(|peer| self.peers.contains_key(peer)));
            }
        }
        found
    }

    fn health(&self, health: &Health, reads: &Reads) -> Vec<Arc<Instance>> {
        if !health.peer.is_empty() {
            return self.of_peer(&health.service, &health.peer);
        }
        reads.note(Topic::Instances(health.service.clone()));
        let instances = &self.home.instances;
        let is_there = |instance: &&Arc<Instance>| instance.node.datacenter == health.datacenter;
        let mut found: Vec<Arc<Instance>> = if health.connect {
            instances.in_mesh_for(&health.service).filter(is_there).cloned().collect()
        } else {
            instances.of_service(&health.service).filter(is_there).cloned().collect()
        };
        if health.connect && health.datacenter == self.home.datacenter {
            found.extend(self.terminating(&health.service, reads));
        }
        if !health.filter.is_empty()
            && let Ok(filter) = bexpr::Expression::parse(&health.filter)
        {
            found.retain(|instance| filter.chooses(instance));
        }
        // Without documents of servers, the agent itself is a server.
        let is_server = health.service == registration::SERVERS && !health.connect && health.datacenter == self.home.datacenter;
        if is_server && found.is_empty() && self.home.agent.is_none() {
            found.push(Arc::new(registration::server(&self.home.datacenter)));
        }
        sort(&mut found);
        found
    }

    /// The terminating gateways of a service.
    fn terminating(&self, service: &Str, reads: &Reads) -> Vec<Arc<Instance>> {
        let home = self.home;
        let gateways = of_kind(home, "terminating-gateway", &home.datacenter, reads).into_iter();
        gateways.filter(|instance| self.behind(&instance.service, reads).contains(service)).collect()
    }

    /// The services behind a terminating gateway.
    fn behind(&self, gateway: &Str, reads: &Reads) -> BTreeSet<Str> {
        reads.entry(Kind::TerminatingGateway, gateway);
        let services = self.home.tree(Kind::TerminatingGateway, gateway).get("Services").items();
        if services.iter().any(|service| service.get("Name").is("*")) {
            [Topic::Catalog, Topic::Entries(Kind::ServiceDefaults)].into_iter().for_each(|topic| reads.note(topic));
        }
        self.home.behind(gateway)
    }

    fn linked(&self, gateway: &Str, reads: &Reads) -> Vec<Tree> {
        let home = self.home;
        reads.note(Topic::Entries(Kind::TerminatingGateway));
        let services = home.tree(Kind::TerminatingGateway, gateway).get("Services").items();
        let linked = self.behind(gateway, reads).into_iter().filter_map(|name| {
            reads.note(Topic::Instances(name.clone()));
            reads.entry(Kind::ServiceDefaults, &name);
            let exact = || services.iter().find(|service| service.get("Name").text() == name);
            let wildcard = || services.iter().find(|service| service.get("Name").is("*"));
            let by_wildcard = home.wildcards.contains(&(gateway.clone(), name.clone()));
            let mut link = if by_wildcard { wildcard().or_else(exact) } else { exact().or_else(wildcard) }?.clone();
            let origin = link.get("Name").origin;
            link.set("Name", Tree::from(&name).or_from(origin));
            link.set("Destination", home.is_outside(&name).into());
            Some(link)
        });
        linked.collect()
    }

    fn behind_ingress(&self, gateway: &Str, reads: &Reads) -> Vec<Tree> {
        let home = self.home;
        reads.entry(Kind::IngressGateway, gateway);
        let mut found = Vec::new();
        for listener in home.tree(Kind::IngressGateway, gateway).get("Listeners").items() {
            let services = listener.get("Services").items();
            let mut names: BTreeMap<Str, &Tree> = services.iter().map(|service| (service.get("Name").str(), service)).collect();
            if let Some(wildcard) = names.remove("*") {
                for name in self.in_mesh(reads) {
                    let request = Request { service: name.clone(), datacenter: home.datacenter.clone(), ..Request::default() };
                    let fits = self.chain(home, &request, reads).is_some_and(|chain| listener.get("Protocol").is(&chain.protocol));
                    if fits {
                        names.entry(name).or_insert(wildcard);
                    }
                }
            }
            for (name, service) in names {
                let mut service = service.clone();
                let origin = service.get("Name").origin;
                service.set("Name", Tree::from(&name).or_from(origin));
                service.set("Port", listener.get("Port").clone());
                service.set("Protocol", listener.get("Protocol").clone());
                found.push(service);
            }
        }
        found
    }

    /// The services that have instances in the mesh.
    fn in_mesh(&self, reads: &Reads) -> BTreeSet<Str> {
        let home = self.home;
        reads.note(Topic::Catalog);
        let sidecars = home.here().filter(|instance| instance.kind == "connect-proxy" || instance.native).map(|instance| instance.destination());
        let gateways = of_kind(home, "terminating-gateway", &home.datacenter, reads);
        let outside: BTreeSet<Str> = gateways.iter().flat_map(|instance| self.behind(&instance.service, reads)).collect();
        sidecars.chain(outside).collect()
    }

    /// Typical services, and all services with a virtual IP.
    fn services_with_addresses(&self) -> BTreeSet<Str> {
        let typical = self.home.here().filter(|instance| instance.kind.is_empty()).map(|instance| instance.service.clone());
        typical.chain(self.home.virtual_ips.keys().cloned()).collect()
    }

    /// Returns the services among `services` that a service may call, inside or outside of the mesh.
    fn allowed(&self, service: &Str, services: BTreeSet<Str>, outside: bool, reads: &Reads) -> BTreeSet<Str> {
        let topics = [Topic::Catalog, Topic::Entries(Kind::ServiceIntentions), Topic::Entries(Kind::ServiceDefaults)];
        topics.into_iter().for_each(|topic| reads.note(topic));
        let may = |name: &Str| name != service && *name != "consul" && intention::may_call(self.home, service, name, outside, !self.default_deny);
        services.into_iter().filter(|name| may(name)).collect()
    }

    /// The services that a peer exports to this cluster.
    fn imported(&self, peer: &Str) -> BTreeSet<Str> {
        let Some(state) = self.peers.get(peer) else { return BTreeSet::new() };
        let exports = state.exports().into_iter().filter(|(_, peers)| peers.contains(HOME));
        exports.map(|(service, _)| service).collect()
    }

    /// The instances of an imported service: the mesh gateways of its peer.
    fn of_peer(&self, service: &Str, peer: &Str) -> Vec<Arc<Instance>> {
        let Some(state) = self.peers.get(peer).filter(|_| self.imported(peer).contains(service)) else { return Vec::new() };
        let request = Request { service: service.clone(), datacenter: state.datacenter.clone(), ..Request::default() };
        // A peer's catalog does not change.
        let unread = Reads::default();
        let Some(chain) = self.chain(state, &request, &unread) else { return Vec::new() };
        if !state.instances.in_mesh_for(service).any(|instance| instance.node.datacenter == state.datacenter) {
            return Vec::new();
        }
        let meta = PeerMeta {
            sni: Vec::from([Str::from(names::peered_sni(service, HOME, PEER_TRUST_DOMAIN))]),
            spiffe: identities(&chain, service, &state.datacenter),
            protocol: chain.protocol.clone(),
        };
        let gateways = of_kind(state, "mesh-gateway", &state.datacenter, &unread).into_iter().map(|gateway| {
            let mut instance = (*gateway).clone();
            instance.node.peer = peer.clone();
            instance.kind = Str::new_static("connect-proxy");
            instance.peer = Some(meta.clone());
            instance.proxy = Tree::object([("DestinationServiceName", Tree::from(service))]);
            Arc::new(instance)
        });
        gateways.collect()
    }
}

/// The identities that an imported service may have.
fn identities(chain: &Chain, service: &Str, datacenter: &Str) -> Vec<Str> {
    let mut failover = BTreeSet::new();
    for node in chain.nodes.values() {
        if let NodeKind::Resolver(resolver) = &node.kind {
            failover.extend(resolver.failover.iter());
        }
    }
    let spiffe = |service: &str| Str::from(names::spiffe_service(service, datacenter, PEER_TRUST_DOMAIN));
    let mut found = Vec::from([spiffe(service)]);
    if is_http(&chain.protocol) {
        found.push(Str::from(names::spiffe_gateway(datacenter, PEER_TRUST_DOMAIN)));
    } else {
        let targets = chain.targets.values().filter(|target| !failover.contains(&target.id));
        for target in targets.filter(|target| target.service != *service) {
            found.push(spiffe(&target.service));
        }
        found.push(Str::from(names::spiffe_gateway(datacenter, PEER_TRUST_DOMAIN)));
    }
    found
}

/// The instances of a kind in a datacenter.
fn of_kind(state: &State, kind: &str, datacenter: &str, reads: &Reads) -> Vec<Arc<Instance>> {
    reads.note(Topic::OfKind(Str::new(kind)));
    let found = state.instances.of_kind(kind).filter(|instance| instance.node.datacenter == datacenter);
    let mut found: Vec<Arc<Instance>> = found.cloned().collect();
    sort(&mut found);
    found
}

/// By node and id.
fn sort(instances: &mut [Arc<Instance>]) {
    instances.sort_by(|a, b| (&a.node.name, &a.id).cmp(&(&b.node.name, &b.id)));
}
