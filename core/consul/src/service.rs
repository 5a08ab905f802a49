//! Merges config entries into a proxy's registration: the registration wins, then the service's defaults, then those of all proxies.

use super::entry::{Entries, Kind};
use super::instance::Instance;
use super::lenient::Reader;
use super::schema::{registration, write};
use super::validate::{change_case, is_set};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use chancery_base::ir::{Fields, Plain, Tree};
use chancery_text::Str;

/// An upstream of a service: its peer and its name.
type Upstream = (Str, Str);

/// The central configuration of a service.
#[derive(Default)]
struct Central {
    config: Tree,
    mode: Tree,
    listener_port: Tree,
    dialed_directly: Tree,
    permissive: Tree,
    mesh_gateway: Tree,
    expose: Tree,
    access_logs: Tree,
    extensions: Vec<Tree>,
    upstreams: BTreeMap<Upstream, Tree>,
}

/// Adds missing values, for maps in each of their keys; an empty value is treated as missing.
fn merge(into: &mut Tree, from: &Tree) {
    if let (Plain::Object(fields), Plain::Object(more)) = (&mut into.value, &from.value) {
        for (key, value) in &more.0 {
            match fields.0.iter_mut().find(|(name, _)| name == key) {
                Some((_, slot)) => merge(slot, value),
                None if value.is_null() => {}
                None => fields.0.push((key.clone(), value.clone())),
            }
        }
    } else if !is_set(into) && !from.is_null() {
        *into = from.clone();
    }
}

/// An empty object.
fn empty() -> Tree {
    Tree { value: Plain::Object(Fields::default()), origin: None }
}

fn or(first: &Tree, second: &Tree) -> Tree {
    if is_set(first) { first.clone() } else { second.clone() }
}

fn entry<'a>(entries: &'a Entries, kind: Kind, name: &str) -> &'a Tree {
    const NOTHING: &Tree = &Tree::NULL;
    entries.get(&(kind, Str::new(name))).map_or(NOTHING, |entry| &entry.tree)
}

/// Returns an instance merged with config entries.
pub(crate) fn merged(instance: &Instance, entries: &Entries) -> Instance {
    let central = central(instance, entries);
    let mut proxy = if instance.proxy.is_null() { empty() } else { instance.proxy.clone() };
    for (field, more) in [("Config", &central.config), ("Expose", &central.expose), ("AccessLogs", &central.access_logs)] {
        let mut value = proxy.take(field).unwrap_or_default();
        merge(&mut value, more);
        proxy.set(field, value);
    }
    proxy.take("EnvoyExtensions");
    if !central.extensions.is_empty() {
        let bare = central.extensions.iter().map(|extension| {
            let fields = ["Name", "Required", "Arguments"].map(|field| (field, extension.get(field).clone()));
            Tree::object(fields).or_from(extension.origin)
        });
        proxy.set("EnvoyExtensions", bare.collect::<Vec<_>>().into());
    }
    if !is_set(proxy.at(&["MeshGateway", "Mode"])) && is_set(&central.mesh_gateway) {
        proxy.set("MeshGateway", Tree::object([("Mode", central.mesh_gateway.clone())]));
    }
    if !is_set(proxy.get("Mode")) {
        proxy.set("Mode", central.mode.clone());
    }
    let transparent = proxy.get("TransparentProxy");
    let transparent = Tree::object([
        ("OutboundListenerPort", or(transparent.get("OutboundListenerPort"), &central.listener_port)),
        ("DialedDirectly", or(transparent.get("DialedDirectly"), &central.dialed_directly)),
    ]);
    proxy.set("TransparentProxy", transparent);
    proxy.set("MutualTLSMode", central.permissive.clone());
    upstreams(&mut proxy, &central.upstreams);
    let mut tree = instance.tree.clone();
    tree.set("Proxy", proxy.clone());
    Instance { proxy, tree, ..instance.clone() }
}

fn upstreams(proxy: &mut Tree, central: &BTreeMap<Upstream, Tree>) {
    let mut local = BTreeSet::new();
    for upstream in proxy.get_mut("Upstreams").into_iter().flat_map(Tree::items_mut) {
        if upstream.get("DestinationType").is("prepared_query") {
            continue;
        }
        let peer = upstream.get("DestinationPeer").str();
        let id = (peer.clone(), upstream.get("DestinationName").str());
        local.insert(id.clone());
        let Some(config) = central.get(&id) else { continue };
        if !is_set(upstream.at(&["MeshGateway", "Mode"])) {
            let mode = mesh_gateway_of(config);
            if is_set(&mode) {
                upstream.set("MeshGateway", Tree::object([("Mode", mode)]));
            }
        }
        let mut own = upstream.take("Config").unwrap_or_default();
        let protocol = own.find("protocol").cloned();
        merge(&mut own, config);
        if !peer.is_empty() {
            own.take("protocol");
            own.set("protocol", protocol.into());
        }
        own.take("mesh_gateway");
        upstream.set("Config", own);
    }
    if !proxy.get("Mode").is("transparent") {
        return;
    }
    let mut all: Vec<Tree> = proxy.get("Upstreams").items().to_vec();
    for ((peer, name), config) in central.iter().filter(|(id, _)| !local.contains(id)) {
        let mode = mesh_gateway_of(config);
        all.push(Tree::object([
            ("DestinationName", Tree::from(name)),
            ("DestinationPeer", if peer.is_empty() { Tree::NULL } else { peer.into() }),
            ("Config", config.clone()),
            ("MeshGateway", if is_set(&mode) { Tree::object([("Mode", mode)]) } else { Tree::NULL }),
            ("CentrallyConfigured", true.into()),
        ]));
    }
    if !all.is_empty() {
        proxy.set("Upstreams", all.into());
    }
}

/// The mode of mesh gateways in an upstream's configuration, in any spelling.
fn mesh_gateway_of(config: &Tree) -> Tree {
    let gateway = config.get("mesh_gateway");
    or(gateway.get("Mode"), gateway.get("mode"))
}

/// The central configuration of a service's proxies, with the names of opaque configuration.
pub(crate) fn proxy_config(entries: &Entries, service: &str) -> Tree {
    let (global, defaults) = (entry(entries, Kind::ProxyDefaults, "global"), entry(entries, Kind::ServiceDefaults, service));
    let mut config = global.get("Config").clone();
    for (field, name) in [
        ("Protocol", "protocol"),
        ("BalanceInboundConnections", "balance_inbound_connections"),
        ("MaxInboundConnections", "max_inbound_connections"),
        ("LocalConnectTimeoutMs", "local_connect_timeout_ms"),
        ("LocalRequestTimeoutMs", "local_request_timeout_ms"),
    ] {
        let value = defaults.get(field);
        if is_set(value) && !matches!(value.value, Plain::Int(..=0)) {
            config.set(name, value.clone());
        }
    }
    config
}

/// The Envoy extensions of a service, global ones first.
pub(crate) fn extensions(entries: &Entries, service: &str) -> Tree {
    let all = [entry(entries, Kind::ProxyDefaults, "global"), entry(entries, Kind::ServiceDefaults, service)];
    all.into_iter().flat_map(|entry| entry.get("EnvoyExtensions").items()).cloned().collect::<Vec<Tree>>().into()
}

fn central(instance: &Instance, entries: &Entries) -> Central {
    let (global, service) = (entry(entries, Kind::ProxyDefaults, "global"), instance.destination());
    let defaults = entry(entries, Kind::ServiceDefaults, &service);
    let pick = |path: &[&str]| or(defaults.at(path), global.at(path));
    let mut expose = global.get("Expose").clone();
    for field in ["Checks", "Paths"] {
        if is_set(defaults.at(&["Expose", field])) {
            expose.set(field, defaults.at(&["Expose", field]).clone());
        }
    }
    let extensions = [global, defaults].into_iter().flat_map(|of| of.get("EnvoyExtensions").items()).cloned();
    let mut central = Central {
        config: proxy_config(entries, &service),
        mode: pick(&["Mode"]),
        listener_port: pick(&["TransparentProxy", "OutboundListenerPort"]),
        dialed_directly: pick(&["TransparentProxy", "DialedDirectly"]),
        permissive: pick(&["MutualTLSMode"]),
        mesh_gateway: pick(&["MeshGateway", "Mode"]),
        expose,
        access_logs: global.get("AccessLogs").clone(),
        extensions: extensions.collect(),
        upstreams: BTreeMap::new(),
    };
    central.upstreams = central_upstreams(instance, entries, &central);
    central
}

/// The configuration of each upstream, and of `*`.
fn central_upstreams(instance: &Instance, entries: &Entries, central: &Central) -> BTreeMap<Upstream, Tree> {
    let own = instance.proxy.get("Upstreams").items().iter().filter(|upstream| !upstream.get("DestinationType").is("prepared_query"));
    let mut seen: BTreeSet<Upstream> = own.map(|upstream| (upstream.get("DestinationPeer").str(), upstream.get("DestinationName").str())).collect();
    let transparent = instance.proxy.get("Mode").is("transparent") || central.mode.is("transparent");
    if seen.is_empty() && !transparent {
        return BTreeMap::new();
    }
    let global = entry(entries, Kind::ProxyDefaults, "global");
    let defaults = entry(entries, Kind::ServiceDefaults, &instance.destination()).get("UpstreamConfig");
    let mode = |mode: &Tree| Tree::object([("Mode", mode.clone())]);
    let own_mode = instance.proxy.at(&["MeshGateway", "Mode"]);
    let mut wildcard = empty();
    wildcard.set("mesh_gateway", global.at(&["Config", "mesh_gateway"]).clone());
    for gateway in [global.at(&["MeshGateway", "Mode"]), &central.mesh_gateway] {
        if is_set(gateway) {
            wildcard.set("mesh_gateway", mode(gateway));
        }
    }
    let mut for_all = defaults.find("Defaults").cloned();
    if let Some(for_all) = &mut for_all {
        if !is_set(for_all.at(&["MeshGateway", "Mode"])) && is_set(&central.mesh_gateway) {
            for_all.set("MeshGateway", mode(&central.mesh_gateway));
        }
        apply(for_all, &mut wildcard);
    }
    if is_set(own_mode) {
        wildcard.set("mesh_gateway", mode(own_mode));
    }
    let mut protocol = Reader::of(global.get("Config")).tree("protocol", "");
    change_case(Some(&mut protocol), str::to_lowercase);
    let mut overrides = BTreeMap::new();
    for each in defaults.get("Overrides").items() {
        let id = (each.get("Peer").str(), each.get("Name").str());
        seen.insert(id.clone());
        overrides.insert(id, each);
    }
    let mut found = BTreeMap::new();
    if !wildcard.fields().is_empty() {
        found.insert((Str::default(), Str::new_static("*")), wildcard.clone());
    }
    for id in seen {
        let mut config = empty();
        config.set("protocol", Tree::NULL);
        if !protocol.text().is_empty() {
            config.set("protocol", protocol.clone());
        }
        for (name, value) in wildcard.fields() {
            config.set(name, value.clone());
        }
        let protocol = entry(entries, Kind::ServiceDefaults, &id.1).get("Protocol");
        if is_set(protocol) {
            config.set("protocol", protocol.clone());
        }
        if is_set(&central.mesh_gateway) {
            config.set("mesh_gateway", mode(&central.mesh_gateway));
        }
        if let Some(for_all) = &for_all {
            apply(for_all, &mut config);
        }
        if is_set(own_mode) {
            config.set("mesh_gateway", mode(own_mode));
        }
        if let Some(each) = overrides.get(&id) {
            apply(each, &mut config);
        }
        if !config.fields().is_empty() {
            found.insert(id, config);
        }
    }
    found
}

/// Sets an upstream's configuration, with the names of opaque configuration.
fn apply(config: &Tree, into: &mut Tree) {
    for (field, name) in [
        ("EnvoyListenerJSON", "envoy_listener_json"),
        ("EnvoyClusterJSON", "envoy_cluster_json"),
        ("Protocol", "protocol"),
        ("ConnectTimeoutMs", "connect_timeout_ms"),
        ("BalanceOutboundConnections", "balance_outbound_connections"),
    ] {
        if is_set(config.get(field)) {
            into.set(name, config.get(field).clone());
        }
    }
    if is_set(config.at(&["MeshGateway", "Mode"])) {
        into.set("mesh_gateway", config.get("MeshGateway").clone());
    }
    let limits = ["MaxConnections", "MaxPendingRequests", "MaxConcurrentRequests"];
    let health = ["Interval", "MaxFailures", "EnforcingConsecutive5xx", "MaxEjectionPercent", "BaseEjectionTime"];
    for (field, name, fields, zeros) in [("Limits", "limits", &limits[..], 0), ("PassiveHealthCheck", "passive_health_check", &health[..], 2)] {
        let Some(given) = config.find(field) else { continue };
        // Absent values are null, or 0 if they cannot be null.
        let value = |(at, name): (usize, &&'static str)| {
            let value = given.get(name).clone();
            (Str::new_static(name), if value.is_null() && at < zeros { Tree::from(0_i64) } else { value })
        };
        let all = fields.iter().enumerate().map(value).collect();
        into.set(name, Tree { value: Plain::Object(Fields(all)), origin: given.origin });
    }
}

/// An instance in the form of the agent's answer.
pub(crate) fn answer(instance: &Instance) -> Tree {
    let mut tree = instance.tree.clone();
    if let Some(proxy) = tree.get_mut("Proxy") {
        let all = proxy.take("Upstreams").unwrap_or_default();
        let own: Vec<Tree> = all.items().iter().filter(|upstream| !upstream.get("CentrallyConfigured").bool()).cloned().collect();
        if !own.is_empty() {
            proxy.set("Upstreams", own.into());
        }
        if !["OutboundListenerPort", "DialedDirectly"].iter().any(|field| is_set(proxy.at(&["TransparentProxy", field]))) {
            proxy.take("TransparentProxy");
        }
        if !proxy.get("AccessLogs").fields().iter().any(|(_, value)| is_set(value)) {
            proxy.take("AccessLogs");
        }
    }
    let weights = instance.weights.unwrap_or((1, 1));
    tree.set("Weights", Tree::object([("Passing", Tree::from(weights.0)), ("Warning", Tree::from(weights.1))]));
    if !is_set(tree.get("Tags")) {
        tree.set("Tags", Tree { value: Plain::List(Default::default()), origin: None });
    }
    write(&tree, &registration::SERVICE)
}
