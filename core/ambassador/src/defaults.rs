//! Explains Emissary's defaults, and why an object has no effect.

use alloc::format;
use alloc::string::ToString as _;
use chancery_base::compilation::{KnownDefault, OrderRule, PrecedenceChange};
use chancery_base::resource::Object;
use chancery_text::Node;

/// Defaults that users ask about, by the end of the pointer (Envoy's and the IR's names) and the value.
pub const DEFAULTS: &[KnownDefault] = &[
    KnownDefault { pointer: "route/timeout", value: "\"3s\"", doc: "Emissary gives a service 3000 ms to answer if `timeout_ms` is not set" },
    KnownDefault { pointer: "forward/timeout", value: "\"3s\"", doc: "Emissary gives a service 3000 ms to answer if `timeout_ms` is not set" },
    KnownDefault { pointer: "/connect_timeout", value: "\"3s\"", doc: "Emissary waits 3000 ms for a connection if `connect_timeout_ms` is not set" },
    KnownDefault { pointer: "route/prefix_rewrite", value: "\"/\"", doc: "Emissary rewrites the matched prefix to `/` if `rewrite` is not set" },
    KnownDefault {
        pointer: "forward/path_rewrite",
        value: "{\"prefix\":\"/\"}",
        doc: "Emissary rewrites the matched prefix to `/` if `rewrite` is not set",
    },
    KnownDefault { pointer: "match/case_sensitive", value: "true", doc: "Emissary matches paths with their case if `case_sensitive` is not set" },
    KnownDefault { pointer: "/lb_policy", value: "\"ROUND_ROBIN\"", doc: "without `load_balancer`, Emissary uses endpoints in turn" },
    KnownDefault { pointer: "/lb_policy", value: "\"round_robin\"", doc: "without `load_balancer`, Emissary uses endpoints in turn" },
    KnownDefault { pointer: "/dns_lookup_family", value: "\"V4_ONLY\"", doc: "Emissary asks DNS for IPv4 if `enable_ipv6` is not set" },
    KnownDefault { pointer: "/dns_family", value: "\"v4_only\"", doc: "Emissary asks DNS for IPv4 if `enable_ipv6` is not set" },
    KnownDefault {
        pointer: "/use_remote_address",
        value: "true",
        doc: "without `use_remote_address`, Emissary treats the connection's address as the client's",
    },
    KnownDefault { pointer: "/normalize_path", value: "true", doc: "Emissary always resolves dot segments before it routes" },
    KnownDefault { pointer: "/server_name", value: "\"envoy\"", doc: "Emissary says `server: envoy` if `server_name` is not set" },
    KnownDefault {
        pointer: "address/socket_address/address",
        value: "\"0.0.0.0\"",
        doc: "Emissary listens on all addresses when AMBASSADOR_ENVOY_BIND_ADDRESS is not set",
    },
];

/// The order of routes, as far as a route of Envoy shows it. Emissary compares the lengths of all conditions on headers and on query parameters
/// (Emissary `python/ambassador/ir/irhttpmapping.py`).
pub const ROUTE_ORDER: &[OrderRule] = &[OrderRule::LargerField("precedence"), OrderRule::LongerPath, OrderRule::Headers];

/// Why a valid, unreferenced object of this kind has no effect.
pub fn why_idle(kind: &str) -> &'static str {
    match kind {
        "Mapping" => "no Host matches it, so no listener serves it",
        "TCPMapping" => "no listener serves it",
        "Host" => "no Listener matches it, or no Mapping belongs to it",
        "Module" => "its settings change nothing in Envoy",
        "AuthService" | "RateLimitService" | "TracingService" => "Emissary uses only one of its kind; it ignored this one",
        "Listener" => "it has nothing to serve",
        "Ingress" => "it generates nothing",
        _ => "nothing in use refers to it",
    }
}

/// The `precedence` that would put a Mapping before another.
pub fn precedence_change(one: &Object, other: &Object) -> Option<PrecedenceChange> {
    if *one.key.kind != *"Mapping" || *other.key.kind != *"Mapping" {
        return None;
    }
    let precedence = |of: &Object| of.root.at(&["spec", "precedence"]).and_then(Node::as_i64).unwrap_or_default();
    let (own, others) = (precedence(one), precedence(other));
    let why = match others > own {
        true => format!("`precedence: {others}` puts {} first, whatever the prefixes are.", other.key.name),
        false => "Routes of the same precedence are tried by longer prefixes and more conditions first.".into(),
    };
    Some(PrecedenceChange { why, field: "precedence", value: others.checked_add(1)?.to_string() })
}

/// The kind that must select an object of this kind, so that requests reach it.
pub fn taken_by(kind: &str) -> Option<&'static str> {
    match kind {
        "Mapping" => Some("Host"),
        "Host" | "TCPMapping" => Some("Listener"),
        _ => None,
    }
}
