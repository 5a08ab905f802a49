//! The data of a sidecar.

use super::mailbox::{Machine, Mailbox, for_chains};
use super::watch::{Health, Watch};
use super::watch_set::WatchSet;
use crate::chain::{Request, Target};
use crate::entry::Kind;
use crate::instance::Instance;
use crate::lenient::Reader;
use crate::names::{self, UpstreamId};
use crate::validate::is_set;
use alloc::collections::{BTreeMap, BTreeSet};
use chancery_base::ir::Tree;
use chancery_text::Str;

#[derive(Clone, Debug)]
pub struct ConnectProxy {
    /// The service that it represents.
    pub destination: Str,
    /// The id of its instance.
    pub destination_id: Str,
    pub datacenter: Str,
    /// Whether it intercepts all outgoing traffic.
    pub transparent: bool,
    /// The configuration of upstreams, including `*`.
    pub upstreams: BTreeMap<UpstreamId, Tree>,
    /// The mesh gateway mode of all upstreams.
    pub mesh_gateway: Str,
}

/// The id of an upstream that a registration lists.
pub(crate) fn id_of(upstream: &Tree) -> UpstreamId {
    UpstreamId {
        query: upstream.get("DestinationType").is("prepared_query"),
        name: upstream.get("DestinationName").str(),
        datacenter: upstream.get("Datacenter").str(),
        peer: upstream.get("DestinationPeer").str(),
    }
}

/// Whether an upstream has its own listener.
pub(crate) fn is_bound(upstream: &Tree) -> bool {
    upstream.get("LocalBindPort").int() != 0 || is_set(upstream.get("LocalBindSocketPath"))
}

impl ConnectProxy {
    pub(super) fn of(instance: &Instance) -> Self {
        let proxy = &instance.proxy;
        let upstreams = proxy.get("Upstreams").items().iter().map(|upstream| (id_of(upstream), upstream.clone()));
        let mut upstreams: BTreeMap<UpstreamId, Tree> = upstreams.collect();
        if let Some(upstream) = collector(instance) {
            upstreams.insert(id_of(&upstream), upstream);
        }
        Self {
            destination: proxy.get("DestinationServiceName").str(),
            destination_id: proxy.get("DestinationServiceID").str(),
            datacenter: instance.node.datacenter.clone(),
            transparent: proxy.get("Mode").is("transparent"),
            upstreams,
            mesh_gateway: proxy.at(&["MeshGateway", "Mode"]).str(),
        }
    }

    /// The configuration of an upstream, or of all.
    pub fn upstream(&self, id: &UpstreamId) -> Option<&Tree> {
        self.upstreams.get(id).or_else(|| self.upstreams.get(&UpstreamId::wildcard()))
    }

    /// Whether it is an unlisted upstream.
    pub fn is_implicit(&self, mail: &Mailbox, id: &UpstreamId) -> bool {
        self.transparent
            && (mail.upstreams(&Watch::PeeredUpstreams).contains(id)
                || (*id == UpstreamId::service(&id.name) && mail.names(&Watch::IntentionUpstreams(self.destination.clone())).contains(&id.name)))
    }

    /// Whether an upstream is left out because it is not listed.
    pub fn skips(&self, mail: &Mailbox, id: &UpstreamId) -> bool {
        !self.upstream(id).is_some_and(is_bound) && !self.is_implicit(mail, id)
    }

    /// The proxy's view of an upstream.
    fn request(&self, id: &UpstreamId, upstream: Option<&Tree>) -> Request {
        const NOTHING: &Tree = &Tree::NULL;
        let config = upstream.map_or(NOTHING, |upstream| upstream.get("Config"));
        if upstream.is_some_and(|upstream| upstream.get("Collector").bool()) {
            return Request { service: id.name.clone(), datacenter: self.datacenter.clone(), ..Request::default() };
        }
        let mesh_gateway = upstream.map_or_else(|| self.mesh_gateway.clone(), |upstream| upstream.at(&["MeshGateway", "Mode"]).str());
        // Invalid values are treated as unset.
        let mut config = Reader::of(config);
        Request {
            service: id.name.clone(),
            datacenter: if id.datacenter.is_empty() { self.datacenter.clone() } else { id.datacenter.clone() },
            mesh_gateway,
            protocol: config.text("protocol", ""),
            connect_timeout: config.int("connect_timeout_ms", "").value.saturating_mul(1_000_000),
        }
    }

    /// The upstreams of peers: listed, allowed, or the targets of chains.
    pub fn peered(&self, mail: &Mailbox) -> BTreeSet<UpstreamId> {
        let listed = self.upstreams.iter().filter(|(id, upstream)| !id.peer.is_empty() && is_bound(upstream)).map(|(id, _)| id.clone());
        let targets = mail.chains().flat_map(|(_, chain)| chain.targets.values()).filter(|target| !target.peer.is_empty());
        let targets = targets.map(Target::upstream);
        let all = listed.chain(targets).chain(mail.upstreams(&Watch::PeeredUpstreams));
        all.filter(|id| !mail.instances(&Watch::Health(Health::of_peer(id, &self.datacenter))).is_empty()).collect()
    }
}

/// The upstream to a telemetry collector, by a socket in a folder.
fn collector(instance: &Instance) -> Option<Tree> {
    let folder = instance.proxy.at(&["Config", "envoy_telemetry_collector_bind_socket_dir"]).clone();
    if !is_set(&folder) {
        return None;
    }
    let path = names::collector_socket(folder.text(), &instance.id);
    Some(Tree::object([
        ("DestinationName", Tree::from("consul-telemetry-collector")),
        // Its chain is requested without a proxy's view.
        ("Collector", true.into()),
        ("LocalBindSocketPath", Tree::from(path).or_from(folder.origin)),
        ("Config", Tree::object([("protocol", Tree::from("grpc"))])),
    ]))
}

impl Machine for ConnectProxy {
    fn watch_set(&self, mail: &Mailbox) -> WatchSet {
        let own = self.destination.clone();
        let mut watch_set = WatchSet::initial([
            Watch::Intentions(own.clone()),
            Watch::Entries(Kind::JwtProvider),
            Watch::Entry(Kind::Mesh, Str::new_static("mesh")),
            Watch::ExportedTo(Some(own.clone())),
            Watch::Probes(self.destination_id.clone()),
            Watch::Leaf(own.clone()),
            Watch::Roots,
        ]);
        let listed = self.upstreams.iter().filter(|(id, upstream)| id.name != "*" && !upstream.get("CentrallyConfigured").bool());
        // A listed upstream has one chain, even if intentions name it too.
        let mut asked = BTreeSet::new();
        for (id, upstream) in listed {
            if id.query {
                watch_set.first(Watch::Query(id.name.clone()));
            } else if !id.peer.is_empty() {
                watch_set.first(Watch::Health(Health::of_peer(id, &self.datacenter)));
                watch_set.first(Watch::MeshGateways(self.datacenter.clone()));
            } else {
                watch_set.first(Watch::Chain(id.clone(), self.request(id, Some(upstream))));
                asked.insert(id);
            }
        }
        if self.transparent {
            let services = Watch::IntentionUpstreams(own.clone());
            let destinations = Watch::IntentionDestinations(own);
            for id in mail.names(&services).iter().map(UpstreamId::service).filter(|id| !asked.contains(id)) {
                let request = self.request(&id, self.upstream(&id));
                watch_set.chained(&services, Watch::Chain(id, request));
            }
            for name in mail.names(&destinations) {
                watch_set.chained(&destinations, Watch::Entry(Kind::ServiceDefaults, name.clone()));
                watch_set.chained(&destinations, Watch::GatewaysOf(name));
            }
            for id in mail.upstreams(&Watch::PeeredUpstreams) {
                watch_set.chained(&Watch::PeeredUpstreams, Watch::Health(Health::of_peer(&id, &self.datacenter)));
                watch_set.chained(&Watch::PeeredUpstreams, Watch::MeshGateways(self.datacenter.clone()));
            }
            [services, destinations, Watch::PeeredUpstreams].into_iter().for_each(|watch| watch_set.first(watch));
        }
        let local = |target: &Target| !target.peer.is_empty() && target.mesh_gateway == "local";
        for (chain, _) in mail.chain_watches().filter(|(_, chain)| chain.targets.values().any(local)) {
            watch_set.chained(chain, Watch::MeshGateways(self.datacenter.clone()));
        }
        for_chains(mail, &self.datacenter, self.transparent, &mut watch_set);
        watch_set
    }
}
