//! Clusters of sidecars, ingress and API gateways; and what those of all kinds share.
//!
//! What must not be here: clusters of gateways in front of many services (`gateways`).

use super::config::{HealthCheck, ProxyConfig, UpstreamConfig};
use super::proto::{ads, any, duration, empty, endpoint, list, message, millis, one};
use super::{Context, Failure, Outcome, escape, expose, jwt, tls};
use crate::dialect::consul::chain::{Chain, Node, NodeKind, Resolver, Target};
use crate::dialect::consul::entry::Kind;
use crate::dialect::consul::go;
use crate::dialect::consul::instance::Instance;
use crate::dialect::consul::names::{self, DEFAULT, PEER_TRUST_DOMAIN, TRUST_DOMAIN, UpstreamId};
use crate::dialect::consul::proxycfg::{ConnectProxy, Health, Watch};
use crate::dialect::consul::validate::is_http;
use crate::ir::Tree;
use crate::text::Str;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The cluster that takes what a transparent proxy does not know.
pub(super) const ORIGINAL: &str = "original-destination";

/// The cluster of a peer's service.
pub(super) fn peer_cluster(id: &UpstreamId) -> String {
    format!("{}.{DEFAULT}.{}.external.{PEER_TRUST_DOMAIN}", id.name, id.peer)
}

/// The name of a target's cluster.
pub(super) fn cluster_name(chain: &Chain, target: &Target, for_mesh_gateway: bool) -> String {
    let name = if target.peer.is_empty() { target.name.to_string() } else { peer_cluster(&UpstreamId::of_target(target)) };
    let name = if chain.hash.is_empty() { name } else { format!("{}~{name}", chain.hash) };
    if for_mesh_gateway { format!("exported~{name}") } else { name }
}

/// The clusters of a resolver, each with its target: one, or those of the failover.
pub(super) fn targets<'a>(chain: &'a Chain, resolver: &Resolver, for_mesh_gateway: bool) -> Vec<(String, &'a Target)> {
    let Some(first) = chain.targets.get(&resolver.target) else { return Vec::new() };
    let base = cluster_name(chain, first, for_mesh_gateway);
    if resolver.failover.is_empty() || for_mesh_gateway {
        return Vec::from([(base, first)]);
    }
    let rest = resolver.failover.iter().filter_map(|id| chain.targets.get(id));
    let all = [first].into_iter().chain(rest).enumerate();
    all.map(|(at, target)| (format!("failover-target~{at}~{base}"), target)).collect()
}

/// Instances that are reached by a host's name, from elsewhere.
pub(super) fn by_name(instances: &[Arc<Instance>]) -> Vec<Arc<Instance>> {
    instances.iter().filter(|instance| go::ip(&instance.best_address(true).0).is_none()).cloned().collect()
}

/// The cluster of an address outside.
pub(super) fn destination_name(cx: &Context<'_>, service: &str, address: &str) -> String {
    let address = address.replace([':', '.'], "-");
    let name = names::service_sni(&format!("{address}.{service}"), "", &cx.instance.node.datacenter, TRUST_DOMAIN);
    format!("destination.{name}")
}

/// What makes instances that fail rest for a while.
pub(super) fn outliers(health: Option<&HealthCheck>, over: Option<&HealthCheck>, zero: bool) -> Tree {
    let mut out = empty();
    for check in [health, over].into_iter().flatten() {
        let at = check.origin;
        let mut set = |name: &str, value: Tree| {
            if !value.is_null() {
                out.set(name, value.or_from(at));
            }
        };
        set("interval", check.interval.filter(|nanos| *nanos != 0).map(duration).into());
        set("consecutive_5xx", Some(check.failures).filter(|count| *count != 0).into());
        set("enforcing_consecutive_5xx", check.enforcing.filter(|percent| *percent != 0 || zero).into());
        set("max_ejection_percent", check.ejection.into());
        set("base_ejection_time", check.base_time.map(duration).into());
    }
    out
}

/// Limits of connections and requests.
fn breakers(limits: Option<&[Tree; 3]>) -> Tree {
    let Some([connections, pending, requests]) = limits else { return empty() };
    let threshold = message! {
        "max_connections": connections.clone(),
        "max_pending_requests": pending.clone(),
        "max_requests": requests.clone(),
    };
    message! { "thresholds": one(threshold) }
}

/// Requests by HTTP/2.
pub(super) fn http2() -> Tree {
    let config = message! { "explicit_http_config": message! { "http2_protocol_options": empty() } };
    let name = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    Tree::object([(name, any(name, config))])
}

pub(super) fn is_http2(protocol: &str) -> bool {
    matches!(protocol, "http2" | "grpc")
}

/// Spreads requests as a resolver says.
pub(super) fn balance(cluster: &mut Tree, balancer: Option<&Tree>) -> Result<(), Failure> {
    let Some(balancer) = balancer else { return Ok(()) };
    let policy = balancer.get("Policy");
    let (name, config, value) = match policy.text() {
        "" => return Ok(()),
        "least_request" => {
            let choice = balancer.find("LeastRequestConfig").map(|config| message! { "choice_count": config.get("ChoiceCount").int() });
            ("LEAST_REQUEST", "least_request_lb_config", choice)
        }
        // The default is not written.
        "round_robin" => return Ok(()),
        "random" => ("RANDOM", "", None),
        "ring_hash" => {
            let sizes = balancer.find("RingHashConfig").map(|config| {
                message! {
                    "minimum_ring_size": config.get("MinimumRingSize").int(),
                    "maximum_ring_size": config.get("MaximumRingSize").int(),
                }
            });
            ("RING_HASH", "ring_hash_lb_config", sizes)
        }
        "maglev" => ("MAGLEV", "", None),
        other => return Err(Failure::new(format!("unsupported load balancer policy {}", go::quote(other)), policy.origin)),
    };
    cluster.set("lb_policy", Tree::from(name).or_from(policy.origin));
    if let Some(value) = value {
        cluster.set(config, value.or_from(balancer.origin));
    }
    Ok(())
}

/// What makes a cluster get its endpoints from the stream.
pub(super) fn by_stream(cluster: &mut Tree) {
    cluster.set("type", "EDS".into());
    cluster.set("eds_cluster_config", message! { "eds_config": ads() });
}

/// What makes a cluster look its only endpoint up by name.
pub(super) fn by_dns(cluster: &mut Tree, instances: &[Arc<Instance>], strict: bool, wan: bool, only_passing: bool) {
    cluster.set("dns_refresh_rate", "10s".into());
    cluster.set("dns_lookup_family", "V4_ONLY".into());
    cluster.set("type", if strict { "STRICT_DNS" } else { "LOGICAL_DNS" }.into());
    let healthy = instances.iter().find(|instance| instance.health_and_weight(only_passing).0);
    let Some(chosen) = healthy.or(instances.last()) else { return };
    let endpoint = super::endpoints::weighed(chosen, wan, only_passing, None);
    let locality = message! { "lb_endpoints": one(endpoint) };
    let name = cluster.get("name").clone();
    cluster.set("load_assignment", message! { "cluster_name": name, "endpoints": one(locality) });
}

/// Never sends to all when most are ill.
fn no_panic() -> Tree {
    message! { "healthy_panic_threshold": empty() }
}

/// The cluster of the service itself, or of one of its paths.
pub(super) fn local(cx: &Context<'_>, name: &str, protocol: &str, port: &Tree) -> Outcome1 {
    let (proxy, config) = (&cx.instance.proxy, ProxyConfig::of(cx.instance.proxy.get("Config")));
    if !config.local_cluster.text().is_empty() {
        return escape::message(&config.local_cluster, "envoy.config.cluster.v3.Cluster");
    }
    let socket = super::proto::copied(proxy.get("LocalServiceSocketPath"));
    let host = proxy.get("LocalServiceAddress");
    let host = if host.text().is_empty() { Tree::from("127.0.0.1") } else { host.clone() };
    let endpoint = if socket.is_null() {
        endpoint(host, port.clone())
    } else {
        message! { "endpoint": message! { "address": message! { "pipe": message! { "path": socket } } } }
    };
    let locality = message! { "lb_endpoints": one(endpoint) };
    let mut cluster = message! {
        "name": name,
        "connect_timeout": millis(config.connect_timeout),
        "type": "STATIC",
        "load_assignment": message! { "cluster_name": name, "endpoints": one(locality) },
    };
    if is_http2(if protocol.is_empty() { &config.protocol } else { protocol }) {
        cluster.set("typed_extension_protocol_options", http2());
    }
    if config.max_connections > 0 {
        let threshold = message! { "max_connections": config.max_connections };
        cluster.set("circuit_breakers", message! { "thresholds": one(threshold) });
    }
    Ok(cluster.or_from(cx.instance.tree.origin))
}

type Outcome1 = Result<Tree, Failure>;

pub(super) fn connect_proxy(cx: &Context<'_>, proxy: &ConnectProxy) -> Outcome {
    let port = cx.instance.proxy.get("LocalServicePort");
    let mut out = Vec::from([local(cx, "local_app", "", port)?]);
    if proxy.transparent {
        super::transparent::clusters(cx, proxy, &mut out);
    }
    for (id, chain) in cx.mail.chains().filter(|(id, _)| !proxy.skips(cx.mail, id)) {
        out.extend(of_chain(cx, proxy.upstream(id), chain, false)?);
    }
    for id in proxy.peered(cx.mail) {
        if !proxy.skips(cx.mail, &id) {
            out.push(of_peer(cx, &id, proxy.upstream(&id))?);
        }
    }
    for provider in cx.mail.entries(Kind::JwtProvider) {
        out.extend(jwt::cluster(&provider.tree));
    }
    for (id, upstream) in proxy.upstreams.iter().filter(|(id, _)| id.query) {
        out.push(of_query(cx, id, upstream)?);
    }
    for path in expose::paths(cx, proxy) {
        if path.local_port.int() != port.int() {
            out.push(local(cx, &expose::cluster(&path), &path.protocol, &path.local_port)?);
        }
    }
    Ok(out)
}

fn of_query(cx: &Context<'_>, id: &UpstreamId, upstream: &Tree) -> Outcome1 {
    let local = &cx.instance.node.datacenter;
    let sni = names::query_sni(&id.name, if id.datacenter.is_empty() { local } else { &id.datacenter }, TRUST_DOMAIN);
    let config = UpstreamConfig::of(upstream.get("Config")).unwrap_or_default();
    let mut cluster = if config.cluster.text().is_empty() {
        let timeout = if config.connect_timeout == 0 { 5000 } else { config.connect_timeout };
        let mut cluster = message! {
            "name": sni.as_str(),
            "connect_timeout": millis(timeout),
            "circuit_breakers": breakers(config.limits.as_ref()),
            "outlier_detection": outliers(config.health.as_ref(), None, true),
        };
        by_stream(&mut cluster);
        if is_http2(&config.protocol) {
            cluster.set("typed_extension_protocol_options", http2());
        }
        cluster
    } else {
        escape::message(&config.cluster, "envoy.config.cluster.v3.Cluster")?
    };
    cluster.set("transport_socket", tls::upstream(cx, "", &[], sni));
    Ok(cluster.or_from(upstream.origin))
}

/// The configuration of an upstream of a peer.
pub(super) fn peer_config(cx: &Context<'_>, id: &UpstreamId, upstream: Option<&Tree>) -> UpstreamConfig {
    let mut config = upstream.and_then(|upstream| UpstreamConfig::of(upstream.get("Config")).ok()).unwrap_or_default();
    let instances = cx.mail.instances(&Watch::Health(Health::of_peer(id, &cx.instance.node.datacenter)));
    let protocol = instances.first().and_then(|instance| instance.peer.as_ref()).map(|meta| meta.protocol.clone());
    config.protocol = protocol.filter(|protocol| !protocol.is_empty()).unwrap_or(Str::new_static("tcp"));
    if config.connect_timeout == 0 {
        config.connect_timeout = 5000;
    }
    if config.mesh_gateway.is_empty() {
        config.mesh_gateway = upstream.map(|upstream| upstream.at(&["MeshGateway", "Mode"]).str()).unwrap_or_default();
    }
    config
}

fn of_peer(cx: &Context<'_>, id: &UpstreamId, upstream: Option<&Tree>) -> Outcome1 {
    let config = peer_config(cx, id, upstream);
    let instances = cx.mail.instances(&Watch::Health(Health::of_peer(id, &cx.instance.node.datacenter)));
    let mut cluster = if config.cluster.text().is_empty() {
        let mut outliers = outliers(config.health.as_ref(), None, true);
        outliers.set("max_ejection_percent", Tree::from(100_i64));
        let mut cluster = message! {
            "name": peer_cluster(id),
            "connect_timeout": millis(config.connect_timeout),
            "common_lb_config": no_panic(),
            "circuit_breakers": breakers(config.limits.as_ref()),
            "outlier_detection": outliers,
        };
        if is_http2(&config.protocol) {
            cluster.set("typed_extension_protocol_options", http2());
        }
        let named = by_name(instances);
        if named.is_empty() || config.mesh_gateway == "local" {
            by_stream(&mut cluster);
        } else {
            by_dns(&mut cluster, &named, false, true, false);
        }
        cluster
    } else {
        escape::message(&config.cluster, "envoy.config.cluster.v3.Cluster")?
    };
    let (sni, names) = peer_names(instances);
    cluster.set("transport_socket", tls::upstream(cx, &id.peer, &names, sni));
    Ok(cluster.or_from(upstream.and_then(|upstream| upstream.origin)))
}

/// The server name of an imported service, and who it may be.
fn peer_names(instances: &[Arc<Instance>]) -> (Str, Vec<String>) {
    let meta = instances.first().and_then(|instance| instance.peer.clone()).unwrap_or_default();
    (meta.sni.first().cloned().unwrap_or_default(), meta.spiffe.iter().map(Str::to_string).collect())
}

/// The clusters of a chain.
pub(super) fn of_chain(cx: &Context<'_>, upstream: Option<&Tree>, chain: &Chain, for_mesh_gateway: bool) -> Outcome {
    const NOTHING: &Tree = &Tree::NULL;
    let given = upstream.map_or(NOTHING, |upstream| upstream.get("Config"));
    let config = UpstreamConfig::of(given).unwrap_or_default();
    let mut out = Vec::new();
    for node in chain.nodes.values() {
        let NodeKind::Resolver(resolver) = &node.kind else { continue };
        if for_mesh_gateway {
            let here = chain.targets.get(&resolver.target).is_some_and(|target| target.datacenter == cx.instance.node.datacenter);
            if !here {
                continue;
            }
        }
        of_node(cx, chain, node, resolver, &config, for_mesh_gateway, &mut out)?;
    }
    let origin = upstream.and_then(|upstream| upstream.origin);
    if !config.cluster.text().is_empty() && chain.default && !for_mesh_gateway {
        let mut own = escape::message(&config.cluster, "envoy.config.cluster.v3.Cluster")?;
        let [made] = &out[..] else { return Err(Failure::new("cannot inject escape hatch cluster when discovery chain had no nodes", given.origin)) };
        own.take("transport_socket");
        own.set("transport_socket", made.get("transport_socket").clone());
        out = Vec::from([own]);
    }
    Ok(out.into_iter().map(|cluster| cluster.or_from(origin)).collect())
}

fn of_node(
    cx: &Context<'_>,
    chain: &Chain,
    node: &Node,
    resolver: &Resolver,
    config: &UpstreamConfig,
    for_mesh_gateway: bool,
    out: &mut Vec<Tree>,
) -> Result<(), Failure> {
    let timeout = duration(resolver.connect_timeout).or_from(resolver.origin);
    let protocol = if config.protocol.is_empty() { &chain.protocol } else { &config.protocol };
    let groups = targets(chain, resolver, for_mesh_gateway);
    if !resolver.failover.is_empty()
        && !for_mesh_gateway
        && let Some(first) = chain.targets.get(&resolver.target)
    {
        let name = cluster_name(chain, first, false);
        let all = groups.iter().map(|(name, _)| Tree::from(name.as_str())).collect();
        let kind = "envoy.extensions.clusters.aggregate.v3.ClusterConfig";
        out.push(message! {
            "name": name.as_str(),
            "alt_stat_name": name.as_str(),
            "connect_timeout": timeout.clone(),
            "lb_policy": "CLUSTER_PROVIDED",
            "cluster_type": super::proto::extension("envoy.clusters.aggregate", kind, message! { "clusters": list(all) }),
        });
    }
    for (name, target) in groups {
        let mut cluster = message! {
            "name": name.as_str(),
            "alt_stat_name": name.as_str(),
            "connect_timeout": timeout.clone(),
            "common_lb_config": no_panic(),
            "circuit_breakers": breakers(config.limits.as_ref()),
            "outlier_detection": outliers(config.health.as_ref(), None, true),
        };
        by_stream(&mut cluster);
        balance(&mut cluster, node.load_balancer.as_ref())?;
        if is_http2(protocol) {
            cluster.set("typed_extension_protocol_options", http2());
        }
        if !for_mesh_gateway || is_http(protocol) {
            cluster.set("transport_socket", to_target(cx, target));
        }
        out.push(cluster);
    }
    Ok(())
}

fn to_target(cx: &Context<'_>, target: &Target) -> Tree {
    if target.peer.is_empty() {
        let name = names::spiffe_service(&target.service, &target.datacenter, TRUST_DOMAIN);
        return tls::upstream(cx, "", &[name], &target.sni);
    }
    let instances = cx.mail.of_target(target, &cx.instance.node.datacenter);
    if instances.is_empty() {
        return Tree::NULL;
    }
    let (sni, names) = peer_names(instances);
    tls::upstream(cx, &target.peer, &names, sni)
}

/// The clusters of an ingress gateway's services.
pub(super) fn ingress(cx: &Context<'_>, gateway: &crate::dialect::consul::proxycfg::Ingress) -> Outcome {
    let defaults = cx.mail.entry(Kind::IngressGateway, &gateway.service).get("Defaults");
    let mut out = Vec::new();
    let mut seen: Vec<UpstreamId> = Vec::new();
    for listener in gateway.listeners(cx.mail) {
        for (id, service) in &listener.services {
            if seen.contains(id) {
                continue;
            }
            seen.push(id.clone());
            let Some(chain) = cx.chain(id) else { continue };
            let upstream = super::ingress::upstream(id, &listener);
            for mut cluster in of_chain(cx, Some(&upstream), chain, false)? {
                limit(&mut cluster, defaults, service)?;
                out.push(cluster.or_from(service.origin));
            }
        }
    }
    Ok(out)
}

/// What an ingress gateway's entry says of all services, and of this one.
fn limit(cluster: &mut Tree, defaults: &Tree, service: &Tree) -> Result<(), Failure> {
    let mut threshold = empty();
    let fields = [("MaxConnections", "max_connections"), ("MaxPendingRequests", "max_pending_requests"), ("MaxConcurrentRequests", "max_requests")];
    for (field, name) in fields {
        for of in [defaults, service].into_iter().map(|of| of.get(field)).filter(|value| value.int() > 0) {
            threshold.set(name, of.clone());
        }
    }
    let has_breakers = cluster.find("circuit_breakers").is_some();
    if !threshold.fields().is_empty() && has_breakers {
        cluster.set("circuit_breakers", message! { "thresholds": one(threshold) });
    }
    let read = |of: &Tree| HealthCheck::of(of.get("PassiveHealthCheck")).map_err(|why| Failure::new(why, of.origin));
    let mut found = outliers(read(defaults)?.as_ref(), read(service)?.as_ref(), false);
    let before = cluster.at(&["outlier_detection", "max_ejection_percent"]);
    if !before.is_null() {
        found.set("max_ejection_percent", before.clone());
    }
    cluster.set("outlier_detection", found);
    Ok(())
}
