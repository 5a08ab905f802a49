//! Checks proxies and their upstreams: those without a target, colliding ports, and ineffective settings.

use super::{Mesh, is_critical, is_transparent};
use crate::entry::Kind;
use crate::instance::Instance;
use crate::validate::is_set;
use crate::{bootstrap, codes};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use chancery_base::diagnostic::{Code, codes as base_codes};
use chancery_base::ir::Tree;
use chancery_base::resource::ObjectId;
use chancery_text::Str;

pub(super) fn check(mesh: &mut Mesh<'_>) {
    for proxy in mesh.proxies() {
        behind(mesh, proxy);
        for upstream in proxy.proxy.get("Upstreams").items() {
            if !upstream.get("DestinationType").is("prepared_query") {
                self::upstream(mesh, proxy, upstream);
            }
        }
    }
    settings_of_callers(mesh);
    bootstraps(mesh);
    ports(mesh);
    ports_out_of_range(mesh);
    entries(mesh);
    for (service, instances) in mesh.typical() {
        if let [first, ..] = &instances[..]
            && instances.iter().all(|instance| is_critical(instance))
            && !mesh.state.leads_elsewhere(service)
        {
            let message = format!("all instances of `{service}` are critical: requests are answered with an error");
            mesh.report(&codes::SERVICE_DOWN, message, first.tree.get("Service"), first.object);
        }
    }
}

/// Settings of upstreams that no proxy reads: each proxy reads the service-defaults of its service.
fn settings_of_callers(mesh: &mut Mesh<'_>) {
    for entry in mesh.entries(Kind::ServiceDefaults) {
        let settings = entry.tree.get("UpstreamConfig");
        let mut proxies = mesh.proxies().filter(|proxy| proxy.destination() == entry.name).peekable();
        let reads = |proxy: &Instance| is_set(proxy.proxy.get("Upstreams")) || is_transparent(mesh, proxy);
        if settings.origin.is_none() || proxies.peek().is_none() || proxies.any(|proxy| reads(proxy)) {
            continue;
        }
        let calls = |proxy: &Instance| proxy.proxy.get("Upstreams").items().iter().any(|upstream| upstream.get("DestinationName").is(&entry.name));
        let caller = mesh.proxies().find(|proxy| calls(proxy)).map(|proxy| proxy.destination());
        let message =
            format!("`{}` has no upstreams, so nothing reads this: the proxy of a caller reads the service-defaults of the caller", entry.name);
        let help = match caller {
            Some(caller) => format!("write it in the service-defaults of `{caller}`, which calls `{}`", entry.name),
            None => format!("write it in the service-defaults of the services that call `{}`", entry.name),
        };
        mesh.report_with(&base_codes::FIELD_WITHOUT_EFFECT, message, settings, Some(entry.object), Some(help));
    }
}

/// Consul stores opaque settings. The command that starts an Envoy reads them, and exits with an error.
fn bootstraps(mesh: &mut Mesh<'_>) {
    let mut reported = BTreeSet::new();
    for (id, proxy) in &mesh.stages.proxies {
        for (key, value, why) in bootstrap::refused(proxy.service.at(&["Proxy", "Config"])) {
            // Many proxies may inherit it from their defaults.
            if value.origin.is_none_or(|origin| reported.insert(origin)) {
                let message = format!("`consul connect envoy` refuses `{key}`, and the Envoy of {id} does not start: {why}");
                let object = value.origin.map(|origin| origin.object()).or(proxy.object);
                mesh.report_with(&codes::BOOTSTRAP_REFUSED, message, value, object, None);
            }
        }
    }
}

/// Consul accepts any number as a port. Envoy's own rules find those of proxies; this check finds those of services without a proxy.
fn ports_out_of_range(mesh: &mut Mesh<'_>) {
    for instance in &mesh.state.instances {
        let own = (instance.tree.get("Port"), String::new());
        // Generated ones equal the instance's own.
        let tagged = instance.tree.get("TaggedAddresses").fields().iter().filter(|(_, address)| address.origin.is_some());
        let tagged = tagged.map(|(name, address)| (address.get("Port"), format!(" at its address `{name}`")));
        let all = Some(own).filter(|_| instance.kind.is_empty()).into_iter().chain(tagged);
        for (port, place) in all.filter(|(port, _)| !(0..=65_535).contains(&port.int())) {
            let message = format!("the service `{}` is registered with the port {}{place}, which does not exist", instance.service, port.int());
            let help = "write a port from 1 to 65535, or 0 for none".to_string();
            mesh.report_with(&codes::PORT_OUT_OF_RANGE, message, port, instance.object, Some(help));
        }
    }
}

fn behind(mesh: &mut Mesh<'_>, proxy: &Instance) {
    let named = proxy.proxy.get("DestinationServiceName");
    let name = named.str();
    if !mesh.state.instances.of_service(&name).any(|of| of.kind.is_empty() && of.node.datacenter == mesh.state.datacenter) {
        let message = format!("the proxy `{}` is the proxy of `{name}`, which is not registered", proxy.id);
        let help = mesh.intended_service(&name);
        mesh.report_with(&codes::SIDECAR_WITHOUT_SERVICE, message, named, proxy.object, help);
    }
    to_socket(mesh, proxy, &name);
}

/// Ports that a sidecar does not use because it forwards requests to a Unix socket.
fn to_socket(mesh: &mut Mesh<'_>, proxy: &Instance, service: &str) {
    let socket = proxy.proxy.get("LocalServiceSocketPath");
    if !is_set(socket) {
        return;
    }
    let own = ["LocalServicePort", "LocalServiceAddress"].map(|field| proxy.proxy.get(field));
    for node in own.into_iter().filter(|node| is_set(node) && node.origin.is_some()) {
        let message = format!("`{}` has no effect: the proxy `{}` forwards requests to the socket `{}`", node.text(), proxy.id, socket.text());
        mesh.report(&base_codes::FIELD_WITHOUT_EFFECT, message, node, proxy.object);
    }
    // The port of a service is the port of a sidecar's requests by default.
    let mut beside = mesh.state.instances.of_service(service).filter(|of| of.object == proxy.object && of.object.is_some());
    let parent = beside.find(|of| of.kind.is_empty());
    if let Some(port) = parent.map(|parent| parent.tree.get("Port")).filter(|port| is_set(port)) {
        let message = format!("the sidecar does not use port {}: it forwards requests to the socket `{}`", port.int(), socket.text());
        mesh.report(&base_codes::INERT_FIELD, message, port, proxy.object);
    }
}

fn upstream(mesh: &mut Mesh<'_>, proxy: &Instance, upstream: &Tree) {
    let (named, datacenter, peer) = (upstream.get("DestinationName"), upstream.get("Datacenter"), upstream.get("DestinationPeer"));
    let name = named.str();
    if is_set(peer) {
        return self::peer(mesh, peer, proxy.object);
    }
    let elsewhere = is_set(datacenter) && !datacenter.is(&mesh.state.datacenter);
    if elsewhere && !mesh.state.instances.knows(datacenter.text()) {
        let message = format!("nothing is registered in the datacenter `{}`", datacenter.text());
        let help = "register what it has as a catalog registration with `Datacenter`".to_string();
        mesh.report_with(&codes::UNKNOWN_DATACENTER, message, datacenter, proxy.object, Some(help));
    } else if if elsewhere { !mesh.has_instances(&name, &datacenter.str()) } else { !mesh.is_served(&name) } {
        let refused = mesh.refused(&[Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver], &name);
        match refused {
            Some((why, place)) => {
                let message = format!("the upstream `{name}` leads nowhere: {why}, and no instance of `{name}` is registered");
                let help = Some("see the finding about that entry".into());
                mesh.report_with(&codes::UNKNOWN_UPSTREAM, message, named, proxy.object, help);
                mesh.relate(place, "this entry was refused");
            }
            None => {
                let message = format!("the upstream `{name}` has no instances and no router, splitter or resolver");
                let help = mesh.intended_service(&name);
                mesh.report_with(&codes::UNKNOWN_UPSTREAM, message, named, proxy.object, help);
            }
        }
    }
    if elsewhere {
        gateway(mesh, proxy, upstream);
    }
    let config = upstream.get("Config");
    let protocol = config.get("protocol");
    if is_set(protocol) && !elsewhere && mesh.names.contains(&name) && !protocol.is(&mesh.state.protocol(&name)) {
        let message = format!("the upstream speaks {}, and `{name}` speaks {}", protocol.text(), mesh.state.protocol(&name));
        mesh.report(&codes::PROTOCOL_DIFFERS, message, protocol, proxy.object);
    }
    let has_chain = mesh.state.has_chain(&name) || mesh.state.entries.contains_key(&(Kind::ServiceResolver, name.clone()));
    for hatch in ["envoy_cluster_json", "envoy_listener_json"].map(|key| config.get(key)) {
        if is_set(hatch) && has_chain {
            let message = format!("`{name}` has a discovery chain, so Consul ignores the Envoy JSON of its upstream");
            mesh.report(&codes::ESCAPE_HATCH_WITHOUT_EFFECT, message, hatch, proxy.object);
        }
    }
}

fn peer(mesh: &mut Mesh<'_>, peer: &Tree, object: Option<ObjectId>) {
    if !mesh.stages.options.peers.contains_key(peer.text()) {
        let message = format!("what the peer `{}` exports is not known, as its documents are not given", peer.text());
        let help = format!("give them with `--peer {}=FILE`", peer.text());
        mesh.report_with(&codes::PEER_NOT_GIVEN, message, peer, object, Some(help));
    }
}

/// Whether the gateway for traffic to another datacenter exists.
fn gateway(mesh: &mut Mesh<'_>, proxy: &Instance, upstream: &Tree) {
    let service = mesh.state.tree(Kind::ServiceDefaults, &proxy.destination());
    let levels = [upstream, &proxy.proxy, service, mesh.state.tree(Kind::ProxyDefaults, "global")];
    let Some(mode) = levels.into_iter().map(|level| level.at(&["MeshGateway", "Mode"])).find(|mode| is_set(mode)) else { return };
    let datacenter = match mode.text() {
        "local" => mesh.state.datacenter.clone(),
        "remote" => upstream.get("Datacenter").str(),
        _ => return,
    };
    let is_there = |instance: &&alloc::sync::Arc<Instance>| instance.kind == "mesh-gateway" && instance.node.datacenter == datacenter;
    if !mesh.state.instances.iter().any(|instance| is_there(&instance)) {
        let message = format!("traffic goes through a mesh gateway of {datacenter}, and none is registered there");
        mesh.report(&codes::MESH_GATEWAY_MISSING, message, mode, proxy.object);
    }
}

/// A listener on a port of a node.
struct Listening<'a> {
    what: String,
    at: &'a Tree,
    object: Option<ObjectId>,
}

/// Addresses that mean all addresses of a node.
const EVERYWHERE: [&str; 3] = ["", "0.0.0.0", "::"];

/// Checks ports of services, of upstreams and of exposed paths, on the agent's node.
fn ports(mesh: &mut Mesh<'_>) {
    // A service with an address that is not the node's runs on another machine, or in another network namespace.
    let mut all: BTreeMap<(Str, i64), BTreeMap<Str, Listening<'_>>> = BTreeMap::new();
    let state = mesh.state;
    let mut add = |mesh: &mut Mesh<'_>, machine: &Str, host: Str, port: i64, new: Listening<'_>| {
        if port == 0 {
            return;
        }
        let hosts = all.entry((machine.clone(), port)).or_default();
        let known = if EVERYWHERE.contains(&&*host) {
            hosts.values().next()
        } else {
            EVERYWHERE
                .iter()
                .copied()
                .chain([&*host])
                .filter_map(|host| hosts.get_key_value(host))
                .min_by_key(|(host, _)| *host)
                .map(|(_, known)| known)
        };
        match known {
            Some(known) => {
                let message = format!("{} and {} have the same port {port}: Envoy cannot open the second listener", known.what, new.what);
                mesh.report(&codes::LOCAL_PORT_COLLISION, message, new.at, new.object);
            }
            None => {
                hosts.insert(host, Listening { what: new.what, at: &Tree::NULL, object: new.object });
            }
        }
    };
    for instance in state.here().filter(|instance| instance.local) {
        let object = instance.object;
        let host = if instance.address.is_empty() { instance.node.address.clone() } else { instance.address.clone() };
        let is_local = |host: &str| EVERYWHERE.contains(&host) || host.starts_with("127.") || host == "::1";
        let machine = if is_local(&host) { instance.node.address.clone() } else { host.clone() };
        add(mesh, &machine, host, instance.port, Listening { what: format!("`{}`", instance.id), at: instance.tree.get("Port"), object });
        for upstream in instance.proxy.get("Upstreams").items() {
            let port = upstream.get("LocalBindPort");
            let host = if is_set(upstream.get("LocalBindAddress")) { upstream.get("LocalBindAddress").str() } else { Str::new_static("127.0.0.1") };
            let what = format!("the upstream `{}` of `{}`", upstream.get("DestinationName").text(), instance.id);
            add(mesh, &machine, host, port.int(), Listening { what, at: port, object });
        }
        for path in instance.proxy.at(&["Expose", "Paths"]).items() {
            let port = path.get("ListenerPort");
            let what = format!("the exposed path `{}` of `{}`", path.get("Path").text(), instance.id);
            add(mesh, &machine, Str::new_static("0.0.0.0"), port.int(), Listening { what, at: port, object });
        }
    }
}

/// Checks the proxy settings in service-defaults and proxy-defaults.
fn entries(mesh: &mut Mesh<'_>) {
    for kind in [Kind::ServiceDefaults, Kind::ProxyDefaults] {
        for entry in mesh.entries(kind) {
            let mode = entry.tree.get("MutualTLSMode");
            if mode.is("permissive") {
                let message = "clients may connect without TLS, and intentions do not apply to them";
                mesh.report(&codes::PERMISSIVE_TLS, message, mode, Some(entry.object));
            }
            for of in entry.tree.at(&["UpstreamConfig", "Overrides"]).items() {
                override_of(mesh, of, entry.object);
            }
        }
    }
    for entry in mesh.entries(Kind::ServiceResolver) {
        let failover = entry.tree.get("Failover").fields().iter().flat_map(|(_, of)| of.get("Targets").items());
        for target in failover.chain([entry.tree.get("Redirect")]).filter(|target| is_set(target.get("Peer"))) {
            peer(mesh, target.get("Peer"), Some(entry.object));
        }
    }
}

fn override_of(mesh: &mut Mesh<'_>, of: &Tree, object: ObjectId) {
    const CODE: &Code = &codes::OVERRIDE_WITHOUT_SERVICE;
    let name = of.get("Name").str();
    if !is_set(of.get("Peer")) && name != "*" && !mesh.is_served(&name) {
        let message = format!("settings for the upstream `{name}` have no effect: it has no instances");
        let help = mesh.intended_service(&name);
        mesh.report_with(CODE, message, of.get("Name"), Some(object), help);
    }
}
