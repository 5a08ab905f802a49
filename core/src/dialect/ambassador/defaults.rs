//! Defaults of Emissary that people ask about, and what it means that nothing was made of something.
//!
//! What must not be here: what becomes of them.

/// Defaults that people ask about, by the end of the pointer (Envoy's and the IR's names) and the value.
pub const DEFAULTS: &[(&str, &str, &str)] = &[
    ("route/timeout", "\"3s\"", "Emissary gives a service 3000 ms to answer when nobody sets `timeout_ms`"),
    ("forward/timeout", "\"3s\"", "Emissary gives a service 3000 ms to answer when nobody sets `timeout_ms`"),
    ("/connect_timeout", "\"3s\"", "Emissary waits 3000 ms for a connection when nobody sets `connect_timeout_ms`"),
    ("route/prefix_rewrite", "\"/\"", "Emissary rewrites the matched prefix to `/` when nobody sets `rewrite`"),
    ("forward/path_rewrite", "{\"prefix\":\"/\"}", "Emissary rewrites the matched prefix to `/` when nobody sets `rewrite`"),
    ("match/case_sensitive", "true", "Emissary matches paths with their case when nobody sets `case_sensitive`"),
    ("/lb_policy", "\"ROUND_ROBIN\"", "Emissary takes endpoints in turn when nobody sets `load_balancer`"),
    ("/lb_policy", "\"round_robin\"", "Emissary takes endpoints in turn when nobody sets `load_balancer`"),
    ("/dns_lookup_family", "\"V4_ONLY\"", "Emissary asks DNS for IPv4 when nobody sets `enable_ipv6`"),
    ("/dns_family", "\"v4_only\"", "Emissary asks DNS for IPv4 when nobody sets `enable_ipv6`"),
    ("/use_remote_address", "true", "Emissary takes the connection's address for the client's when nobody sets `use_remote_address`"),
    ("/normalize_path", "true", "Emissary always resolves dot segments before it routes"),
    ("/server_name", "\"envoy\"", "Emissary says `server: envoy` when nobody sets `server_name`"),
    ("address/socket_address/address", "\"0.0.0.0\"", "Emissary listens on all addresses when AMBASSADOR_ENVOY_BIND_ADDRESS is not set"),
];

/// Why nothing was made of an object that is in order and that nothing refers to.
pub fn why_idle(kind: &str) -> &'static str {
    match kind {
        "Mapping" => "no Host takes it, so no listener serves it",
        "TCPMapping" => "no listener serves it",
        "Host" => "no Listener takes it, or no Mapping belongs to it",
        "Module" => "none of its settings shows in the output",
        "AuthService" | "RateLimitService" | "TracingService" => "only one of its kind counts, and nothing was made of this one",
        "Listener" => "it has nothing to serve",
        "Ingress" => "nothing was made of it",
        _ => "nothing in use refers to it",
    }
}
