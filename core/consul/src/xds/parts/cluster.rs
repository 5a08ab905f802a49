//! Shared parts of all clusters, and the clusters of a discovery chain.

use super::config::{HealthCheck, UpstreamConfig};
use super::name::{cluster_name, targets};
use super::proto::{ads, any, duration, empty, extension, list, message, millis, non_zero, one};
use super::{endpoint, escape, tls};
use crate::chain::{Chain, Node, NodeKind, Resolver, Target};
use crate::go;
use crate::instance::Instance;
use crate::names::TRUST_DOMAIN;
use crate::validate::is_http;
use crate::xds::context::{Context, Failure, Outcome};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// Outlier detection.
pub(crate) fn outliers(health: Option<&HealthCheck>, over: Option<&HealthCheck>, zero: bool) -> Tree {
    let mut out = empty();
    for check in [health, over].into_iter().flatten() {
        let at = check.origin;
        let mut set = |name: &str, value: Tree| {
            if !value.is_null() {
                out.set(name, value.or_from(at));
            }
        };
        set("interval", check.interval.filter(|nanos| **nanos != 0).map(duration).into());
        set("consecutive_5xx", non_zero(check.failures));
        set("enforcing_consecutive_5xx", check.enforcing.filter(|percent| **percent != 0 || zero).into());
        set("max_ejection_percent", check.ejection.into());
        set("base_ejection_time", check.base_time.map(duration).into());
    }
    out
}

/// Limits of connections and requests.
pub(crate) fn breakers(limits: Option<&[Option<Sourced<i64>>; 3]>) -> Tree {
    let Some(limits) = limits else { return empty() };
    let [connections, pending, requests] = limits.map(|limit| Tree::from(limit.map(|limit| limit.map(go::cut))));
    let threshold = message! {
        "max_connections": connections,
        "max_pending_requests": pending,
        "max_requests": requests,
    };
    message! { "thresholds": one(threshold) }
}

/// HTTP/2 options.
pub(crate) fn http2() -> Tree {
    let config = message! { "explicit_http_config": message! { "http2_protocol_options": empty() } };
    let name = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    Tree::object([(name, any(name, config))])
}

pub(crate) fn is_http2(protocol: &str) -> bool {
    matches!(protocol, "http2" | "grpc")
}

/// Sets the load balancing of a resolver.
pub(crate) fn balance(cluster: &mut Tree, balancer: Option<&Tree>) -> Result<(), Failure> {
    let Some(balancer) = balancer else { return Ok(()) };
    let policy = balancer.get("Policy");
    let (name, config, value) = match policy.text() {
        "" => return Ok(()),
        "least_request" => {
            let choice = balancer.find("LeastRequestConfig").map(|config| message! { "choice_count": config.get("ChoiceCount").number() });
            ("LEAST_REQUEST", "least_request_lb_config", choice)
        }
        // The default is not written.
        "round_robin" => return Ok(()),
        "random" => ("RANDOM", "", None),
        "ring_hash" => {
            let sizes = balancer.find("RingHashConfig").map(|config| {
                message! {
                    "minimum_ring_size": config.get("MinimumRingSize").number(),
                    "maximum_ring_size": config.get("MaximumRingSize").number(),
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

/// Makes a cluster get its endpoints from the stream.
pub(crate) fn by_stream(cluster: &mut Tree) {
    cluster.set("type", "EDS".into());
    cluster.set("eds_cluster_config", message! { "eds_config": ads() });
}

/// Makes a cluster resolve its only endpoint by DNS.
pub(crate) fn by_dns(cluster: &mut Tree, instances: &[Arc<Instance>], strict: bool, wan: bool, only_passing: Sourced<bool>) {
    cluster.set("dns_refresh_rate", "10s".into());
    cluster.set("dns_lookup_family", "V4_ONLY".into());
    cluster.set("type", if strict { "STRICT_DNS" } else { "LOGICAL_DNS" }.into());
    let healthy = instances.iter().find(|instance| *instance.health_and_weight(only_passing).0);
    let Some(chosen) = healthy.or(instances.last()) else { return };
    let endpoint = endpoint::weighed(chosen, wan, only_passing, None);
    let locality = message! { "lb_endpoints": one(endpoint) };
    let name = cluster.get("name").clone();
    cluster.set("load_assignment", message! { "cluster_name": name, "endpoints": one(locality) });
}

/// Disables the panic mode, which sends requests to unhealthy endpoints.
pub(crate) fn no_panic() -> Tree {
    message! { "healthy_panic_threshold": empty() }
}

/// The server name of an imported service, and its identities.
pub(crate) fn peer_names(instances: &[Arc<Instance>]) -> (Str, Vec<String>) {
    let meta = instances.first().and_then(|instance| instance.peer.clone()).unwrap_or_default();
    (meta.sni.first().cloned().unwrap_or_default(), meta.spiffe.iter().map(Str::to_string).collect())
}

/// The clusters of a chain.
pub(crate) fn of_chain(cx: &Context<'_>, upstream: Option<&Tree>, chain: &Chain, for_mesh_gateway: bool) -> Outcome {
    const NOTHING: &Tree = &Tree::NULL;
    let given = upstream.map_or(NOTHING, |upstream| upstream.get("Config"));
    let config = UpstreamConfig::of(given);
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
    let wanted = config.connect_timeout;
    let is_wanted = *wanted > 0 && wanted.saturating_mul(1_000_000) == *resolver.connect_timeout;
    let timeout = if is_wanted { millis(wanted) } else { duration(resolver.connect_timeout) };
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
            "cluster_type": extension("envoy.clusters.aggregate", kind, message! { "clusters": list(all) }),
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
        let name = target.identity(TRUST_DOMAIN);
        return tls::upstream(cx, "", &[name], &target.sni);
    }
    let instances = cx.mail.of_target(target, &cx.instance.node.datacenter);
    if instances.is_empty() {
        return Tree::NULL;
    }
    let (sni, names) = peer_names(instances);
    tls::upstream(cx, &target.peer, &names, sni)
}
