//! The listener for all outgoing traffic of a service, and its clusters.

use crate::chain::Chain;
use crate::entry::Kind;
use crate::go;
use crate::instance::{Instance, VIRTUAL};
use crate::names::{self, DEFAULT, TRUST_DOMAIN, UpstreamId};
use crate::proxycfg::{ConnectProxy, Health, Watch, own_health};
use crate::validate::is_http;
use crate::xds::context::Context;
use crate::xds::parts::cluster::by_stream;
use crate::xds::parts::filters::{self, Http};
use crate::xds::parts::listener::listener as at;
use crate::xds::parts::name::destination_name;
use crate::xds::parts::proto::{duration, empty, list, message, one};
use crate::xds::parts::tls;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// The cluster for traffic to unknown destinations.
const ORIGINAL: &str = "original-destination";

/// Kernel rules redirect outgoing traffic to this port.
const PORT: i64 = 15001;
const TIMEOUT: i64 = 5_000_000_000;

/// A chain for these addresses.
fn for_addresses(addresses: &BTreeSet<Str>, mut filters: Tree) -> Option<Tree> {
    let ranges: Vec<Tree> = addresses
        .iter()
        .filter_map(|address| {
            let bits = if go::ip(address)? == 4 { 32_i64 } else { 128 };
            Some(message! { "address_prefix": address, "prefix_len": bits })
        })
        .collect();
    if ranges.is_empty() {
        return None;
    }
    filters.set("filter_chain_match", message! { "prefix_ranges": list(ranges) });
    Some(filters)
}

/// The virtual addresses of instances.
fn virtual_addresses(instances: &[Arc<Instance>], service: &str) -> BTreeSet<Str> {
    let mut found = BTreeSet::new();
    let of_service = format!("{VIRTUAL}:{service}");
    for instance in instances {
        let names: &[&str] = if instance.kind == "terminating-gateway" { &[&of_service] } else { &[VIRTUAL, "virtual"] };
        let addresses = names.iter().filter_map(|name| instance.tagged.get(*name));
        found.extend(addresses.map(|address| address.address.clone()).filter(|address| !address.is_empty()));
    }
    found
}

/// The chain of an unlisted upstream.
pub(crate) fn of_chain(cx: &Context<'_>, chain: &Chain, filters: Tree) -> Option<Tree> {
    let mut addresses = virtual_addresses(cx.mail.instances(&Watch::Health(own_health(chain))), &chain.service);
    addresses.extend(chain.virtual_ip.clone());
    for_addresses(&addresses, filters)
}

/// The chain of a peer's service.
pub(crate) fn of_peer(cx: &Context<'_>, id: &UpstreamId, filters: Tree) -> Option<Tree> {
    let instances = cx.mail.instances(&Watch::Health(Health::of_peer(id, &cx.instance.node.datacenter)));
    for_addresses(&virtual_addresses(instances, &id.name), filters)
}

/// Instances that are dialled by their own addresses, by target.
fn passthrough(cx: &Context<'_>, proxy: &ConnectProxy) -> BTreeMap<UpstreamId, (BTreeSet<Str>, Sourced<i64>)> {
    let local = &cx.instance.node.datacenter;
    let mut found: BTreeMap<UpstreamId, (BTreeSet<Str>, Sourced<i64>)> = BTreeMap::new();
    for (_, chain) in cx.mail.chains().filter(|(id, _)| proxy.is_implicit(cx.mail, id)) {
        let own = own_health(chain);
        let mut targets = Vec::new();
        for target in chain.targets.values().filter(|target| target.peer.is_empty()) {
            let instances = cx.mail.of_target(target, local);
            targets.push((target.upstream(), instances, target.dialed_directly, target.connect_timeout));
        }
        if !chain.targets.contains_key(&chain.id()) {
            let id = UpstreamId { datacenter: chain.datacenter.clone(), ..UpstreamId::service(&chain.service) };
            targets.push((id, cx.mail.instances(&Watch::Health(own)), false, TIMEOUT.into()));
        }
        for (target, instances, directly, timeout) in targets {
            let dialled = instances.iter().filter(|instance| directly || instance.proxy.at(&["TransparentProxy", "DialedDirectly"]).bool());
            let addresses = dialled.map(|instance| instance.best_address(instance.node.datacenter != *local).0);
            let addresses: BTreeSet<Str> = addresses.collect();
            if !addresses.is_empty() {
                let timeout = if *timeout > 0 { timeout } else { TIMEOUT.into() };
                found.entry(target).or_insert((BTreeSet::new(), timeout)).0.extend(addresses);
            }
        }
    }
    found
}

fn destinations<'a>(cx: &'a Context<'_>, proxy: &ConnectProxy) -> Vec<(Str, &'a Tree)> {
    let names = cx.mail.names(&Watch::IntentionDestinations(proxy.destination.clone())).into_iter();
    names.map(|name| (name.clone(), cx.mail.entry(Kind::ServiceDefaults, &name))).collect()
}

/// The name of the routes to HTTP destinations.
fn shared_name(cx: &Context<'_>, port: &Tree) -> String {
    destination_name(cx, "~http", &port.int().to_string())
}

fn chain_of(cx: &Context<'_>, cluster: String, name: String, by_name: Option<(String, Str)>, tracing: &Tree) -> Tree {
    let (route_name, protocol) = by_name.clone().unwrap_or_default();
    let opts = Http {
        cluster,
        protocol,
        filter_name: name,
        route_name,
        stat_prefix: "upstream.",
        tracing: tracing.clone(),
        by_name: by_name.is_some(),
        ..Http::default()
    };
    message! { "filters": one(filters::of(cx, &opts)) }
}

/// The listener, with the chains of upstreams.
pub(crate) fn listener(cx: &Context<'_>, proxy: &ConnectProxy, mut chains: Vec<Tree>, tracing: &Tree) -> Option<Tree> {
    let settings = cx.instance.proxy.at(&["TransparentProxy", "OutboundListenerPort"]);
    let port = if settings.int() == 0 { Tree::from(PORT) } else { settings.clone() };
    let mut listener = at(cx, "outbound_listener", "127.0.0.1", &port, "OUTBOUND");
    let mut inspectors = Vec::from([filters::inspector("original_dst")]);
    let (mut tls_seen, mut http_seen) = (false, BTreeSet::new());
    for (name, defaults) in destinations(cx, proxy) {
        let destination = defaults.get("Destination");
        let port = destination.get("Port");
        let protocol = defaults.get("Protocol").str();
        if is_http(&protocol) {
            if http_seen.insert(port.int()) {
                let name = shared_name(cx, port);
                let mut chain = chain_of(cx, String::new(), name.clone(), Some((name, protocol)), tracing);
                chain.set("filter_chain_match", message! { "destination_port": port.clone() });
                chains.push(chain);
            }
            continue;
        }
        for address in destination.get("Addresses").items() {
            let cluster = destination_name(cx, &name, address.text());
            let mut chain = chain_of(cx, cluster.clone(), cluster, None, tracing);
            let matches = match go::ip(address.text()) {
                Some(family) => {
                    let bits = if family == 4 { 32_i64 } else { 128 };
                    let range = message! { "address_prefix": address.clone(), "prefix_len": bits };
                    message! { "prefix_ranges": one(range), "destination_port": port.clone() }
                }
                None => {
                    tls_seen = true;
                    message! { "server_names": one(address.clone()), "destination_port": port.clone() }
                }
            };
            chain.set("filter_chain_match", matches);
            chains.push(chain);
        }
    }
    for (id, (addresses, _)) in passthrough(cx, proxy) {
        let local = &cx.instance.node.datacenter;
        let cluster = format!("passthrough~{}", names::service_sni(&id.name, "", local, TRUST_DOMAIN));
        let name = format!("{}.{DEFAULT}.{DEFAULT}.{local}", id.name);
        chains.extend(for_addresses(&addresses, chain_of(cx, cluster, name, None, &Tree::NULL)));
    }
    chains.sort_by_key(order);
    if tls_seen {
        inspectors.push(filters::inspector("tls_inspector"));
    }
    if !http_seen.is_empty() {
        inspectors.push(filters::inspector("http_inspector"));
    }
    listener.set("listener_filters", list(inspectors));
    let empty = chains.is_empty();
    listener.set("filter_chains", list(chains));
    let only_mesh = cx.mesh().at(&["TransparentProxy", "MeshDestinationsOnly"]).bool();
    if !only_mesh {
        let rest = chain_of(cx, ORIGINAL.into(), ORIGINAL.into(), None, &Tree::NULL);
        listener.set("default_filter_chain", rest);
    }
    (!empty || !only_mesh).then(|| listener.or_from(cx.instance.proxy.get("Mode").origin))
}

/// The sort key of chains.
fn order(chain: &Tree) -> String {
    let matches = chain.get("filter_chain_match");
    let port = matches.get("destination_port");
    let port = if port.is_null() { String::from("<nil>") } else { format!("value:{}", port.int()) };
    let range = matches.get("prefix_ranges").items().first();
    let range = range.map(|range| format!("{}/value:{}:{port}", range.get("address_prefix").text(), range.get("prefix_len").int()));
    let server = matches.get("server_names").items().first().map(|name| format!("{}:{port}", name.text()));
    format!("{}{}", range.unwrap_or_default(), server.unwrap_or(port))
}

/// The clusters of outgoing traffic that is not for an upstream.
pub(crate) fn clusters(cx: &Context<'_>, proxy: &ConnectProxy, out: &mut Vec<Tree>) {
    let local = &cx.instance.node.datacenter;
    let mode = cx.instance.proxy.get("Mode").origin;
    let through = |name: &str, timeout: Sourced<i64>, socket: Tree| {
        message! {
            "name": name,
            "type": "ORIGINAL_DST",
            "lb_policy": "CLUSTER_PROVIDED",
            "connect_timeout": duration(timeout),
            "transport_socket": socket,
        }
        .or_from(mode)
    };
    if !cx.mesh().at(&["TransparentProxy", "MeshDestinationsOnly"]).bool() {
        out.push(through(ORIGINAL, TIMEOUT.into(), Tree::NULL));
    }
    for (id, (_, timeout)) in passthrough(cx, proxy) {
        let sni = names::service_sni(&id.name, "", local, TRUST_DOMAIN);
        let socket = tls::upstream(cx, "", &[names::spiffe_service(&id.name, local, TRUST_DOMAIN)], sni.as_str());
        out.push(through(&format!("passthrough~{sni}"), timeout, socket));
    }
    for (name, defaults) in destinations(cx, proxy) {
        for address in defaults.at(&["Destination", "Addresses"]).items() {
            let cluster_name = destination_name(cx, &name, address.text());
            let identity = names::spiffe_service(&name, local, TRUST_DOMAIN);
            let mut cluster = message! {
                "name": cluster_name.as_str(),
                "alt_stat_name": cluster_name.as_str(),
                "connect_timeout": duration(TIMEOUT),
                "common_lb_config": message! { "healthy_panic_threshold": empty() },
                "outlier_detection": empty(),
                "transport_socket": tls::upstream(cx, "", &[identity], cluster_name.as_str()),
            };
            by_stream(&mut cluster);
            out.push(cluster.or_from(address.origin));
        }
    }
}

/// The routes to HTTP destinations, one table for each port.
pub(crate) fn routes(cx: &Context<'_>, proxy: &ConnectProxy) -> Vec<Tree> {
    let mut tables: BTreeMap<String, Vec<Tree>> = BTreeMap::new();
    for (name, defaults) in destinations(cx, proxy) {
        if !is_http(defaults.get("Protocol").text()) {
            continue;
        }
        let destination = defaults.get("Destination");
        for address in destination.get("Addresses").items() {
            let cluster = destination_name(cx, &name, address.text());
            let route = message! { "match": message! { "prefix": "/" }, "route": message! { "cluster": cluster.as_str() } };
            let host = message! { "name": cluster, "domains": one(address.clone()), "routes": one(route) };
            tables.entry(shared_name(cx, destination.get("Port"))).or_default().push(host.or_from(address.origin));
        }
    }
    let tables = tables.into_iter().map(|(name, mut hosts)| {
        hosts.sort_by(|a, b| b.get("name").text().cmp(a.get("name").text()));
        message! { "name": name, "virtual_hosts": list(hosts), "validate_clusters": true }
    });
    tables.collect()
}
