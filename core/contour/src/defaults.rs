//! Explains Contour's defaults, and why an object has no effect.

use chancery_base::compilation::{KnownDefault, OrderRule};

/// Defaults that users ask about, by the end of the pointer (Envoy's and the IR's names) and the value.
pub const DEFAULTS: &[KnownDefault] = &[
    KnownDefault { pointer: "/connect_timeout", value: "\"2s\"", doc: "Contour waits 2 s for a connection if `connectTimeout` is not set" },
    KnownDefault { pointer: "/lb_policy", value: "\"ROUND_ROBIN\"", doc: "without a strategy, Contour uses endpoints in turn" },
    KnownDefault { pointer: "/lb_policy", value: "\"round_robin\"", doc: "without a strategy, Contour uses endpoints in turn" },
    KnownDefault { pointer: "/merge_slashes", value: "true", doc: "without `disableMergeSlashes`, Contour merges adjacent slashes" },
    KnownDefault {
        pointer: "/use_remote_address",
        value: "true",
        doc: "Contour always takes the connection's address for the client's, minus trusted hops",
    },
    KnownDefault { pointer: "/normalize_path", value: "true", doc: "Contour always resolves dot segments before it routes" },
    KnownDefault { pointer: "address/socket_address/address", value: "\"0.0.0.0\"", doc: "Contour listens on all addresses if none is set" },
];

/// The order of routes, as far as a route of Envoy shows it (Contour `internal/sorter/sorter.go`).
pub const ROUTE_ORDER: &[OrderRule] =
    &[OrderRule::PathKind, OrderRule::LongerPath, OrderRule::Method, OrderRule::MoreOtherHeaders, OrderRule::MoreQueryParameters];

/// Why a valid, unreferenced object of this kind has no effect.
pub fn why_idle(kind: &str) -> &'static str {
    match kind {
        "HTTPProxy" | "Ingress" | "HTTPRoute" | "GRPCRoute" | "TLSRoute" | "TCPRoute" => "it generates nothing",
        "ContourConfiguration" => "no flag of Contour names it, or its settings change nothing in Envoy",
        "ContourDeployment" => "only the Gateway provisioner reads it",
        "Gateway" => "no valid route is attached to it, so Envoy opens no port for it",
        "Namespace" => "no selector asks for its labels",
        "TLSCertificateDelegation" => "nothing in use needs it",
        _ => "nothing in use refers to it",
    }
}
