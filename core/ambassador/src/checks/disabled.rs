//! Lists the fields that have no effect until a finding is fixed. Does not create findings.

use super::field;
use alloc::vec::Vec;
use chancery_base::compilation::Problem;
use chancery_base::diagnostic::{Code, codes};
use chancery_base::resource::Object;
use chancery_text::{Node, NodeId};

/// Findings that explain why no request reaches a Mapping.
const WITHOUT_ROUTE: [&Code; 5] =
    [&codes::MISSING_HOSTNAME, &codes::UNSERVED, &codes::INVALID_REGEX, &codes::UNKNOWN_TLS_CONTEXT, &codes::MALFORMED_SERVICE];

/// Fields that decide whether a Mapping has a route, or that shape its cluster, which Envoy gets without a route too.
const WITHOUT_REQUESTS: [&str; 21] = [
    "ambassador_id",
    "circuit_breakers",
    "cluster_idle_timeout_ms",
    "cluster_max_connection_lifetime_ms",
    "cluster_tag",
    "connect_timeout_ms",
    "dns_type",
    "docs",
    "enable_ipv4",
    "enable_ipv6",
    "grpc",
    "health_checks",
    "hostname",
    "keepalive",
    "load_balancer",
    "resolver",
    "respect_dns_ttl",
    "service",
    "shadow",
    "stats_name",
    "tls",
];

/// The fields of an object that have no effect until a finding about it is fixed.
pub fn disabled_fields(of: &Problem<'_>) -> Vec<NodeId> {
    let Problem { finding, object, served } = *of;
    match &*object.key.kind {
        "Mapping" | "TCPMapping" if WITHOUT_ROUTE.contains(&finding.code) && !served.contains(&object.id) => fields_of_route(object),
        // Emissary refuses all requests instead of asking the service.
        "AuthService" if *finding.code == codes::UNSUPPORTED_PROTOCOL_VERSION => fields_except(object, &["protocol_version"]),
        // Emissary drops the whole context if one of its Secrets is missing.
        "Host" if *finding.code == codes::SECRET_NOT_FOUND && served.contains(&object.id) => {
            field(object, "tls").map(|tls| object.leaves(tls.id)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The fields that only describe a route or its requests.
fn fields_of_route(object: &Object) -> Vec<NodeId> {
    let has = |name: &str| field(object, name).is_some_and(|node| !node.is_null());
    // The cluster's name contains the rewritten host if the service has TLS.
    let has_tls = has("tls") || field(object, "service").and_then(Node::as_str).is_some_and(|service| service.contains("://"));
    let mut decisive = Vec::from(WITHOUT_REQUESTS);
    if has_tls {
        decisive.push("host_rewrite");
    }
    // A Host selects a Mapping by `hostname`, but not by `host`.
    if has("hostname") {
        decisive.extend(["host", "host_regex"]);
    }
    fields_except(object, &decisive)
}

/// The scalars of the object's `spec` outside of some fields.
fn fields_except(object: &Object, others: &[&str]) -> Vec<NodeId> {
    let spec = object.root.get("spec").and_then(Node::as_object).into_iter().flatten();
    let fields = spec.filter(|entry| !others.contains(&&*entry.key) && !entry.value.is_null());
    let is_scalar = |node: &Node| node.as_object().is_none() && node.as_array().is_none();
    fields.flat_map(|entry| if is_scalar(&entry.value) { Vec::from([entry.value.id]) } else { object.leaves(entry.value.id) }).collect()
}
