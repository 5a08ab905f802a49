//! Explains defaults of Envoy Gateway that surprise people.

use chancery_base::compilation::{KnownDefault, OrderRule};
use chancery_base::resource::Objects;
use chancery_text::Node;

/// Defaults that users ask about, by the end of the pointer and the value.
pub(crate) const DEFAULTS: &[KnownDefault] = &[
    KnownDefault {
        pointer: "/connect_timeout",
        value: "\"10s\"",
        doc: "Envoy Gateway waits 10 s for a connection if `timeout.tcp.connectTimeout` of a BackendTrafficPolicy is not set",
    },
    KnownDefault {
        pointer: "/per_connection_buffer_limit_bytes",
        value: "32768",
        doc: "Envoy Gateway buffers 32 KiB of a connection if `bufferLimit` is not set",
    },
    KnownDefault {
        pointer: "/max_connections_to_accept_per_socket_event",
        value: "1",
        doc: "a worker accepts one connection at a time if `maxAcceptPerSocketEvent` of a ClientTrafficPolicy is not set",
    },
    KnownDefault {
        pointer: "/use_remote_address",
        value: "true",
        doc: "the connection's address is the client's, and `X-Forwarded-For` is not trusted, unless `clientIPDetection` is set",
    },
    KnownDefault {
        pointer: "/initial_stream_window_size",
        value: "65536",
        doc: "a stream of HTTP/2 gets a window of 64 KiB if `http2.initialStreamWindowSize` is not set",
    },
    KnownDefault {
        pointer: "/initial_connection_window_size",
        value: "1048576",
        doc: "a connection of HTTP/2 gets a window of 1 MiB if `http2.initialConnectionWindowSize` is not set",
    },
    KnownDefault {
        pointer: "/max_concurrent_streams",
        value: "100",
        doc: "a connection of HTTP/2 has at most 100 streams if `http2.maxConcurrentStreams` is not set",
    },
    KnownDefault {
        pointer: "/max_retries",
        value: "1024",
        doc: "a backend gets at most 1024 retries at a time if `circuitBreaker.maxParallelRetries` is not set",
    },
    KnownDefault {
        pointer: "/headers_with_underscores_action",
        value: "\"REJECT_REQUEST\"",
        doc: "requests with `_` in the name of a header are rejected if `headers.withUnderscoresAction` is not set",
    },
    KnownDefault {
        pointer: "/path_with_escaped_slashes_action",
        value: "\"UNESCAPE_AND_REDIRECT\"",
        doc: "a path with `%2F` is redirected to the path with `/` if `path.escapedSlashesAction` is not set",
    },
    KnownDefault { pointer: "/merge_slashes", value: "true", doc: "adjacent slashes are merged if `path.disableMergeSlashes` is not set" },
    KnownDefault { pointer: "/normalize_path", value: "true", doc: "Envoy Gateway always resolves dot segments before it routes" },
    KnownDefault { pointer: "/num_retries", value: "2", doc: "with `retry`, a request is tried again twice if `numRetries` is not set" },
];

/// The order of routes (Envoy Gateway `internal/gatewayapi/sort.go`).
const ROUTE_ORDER: &[OrderRule] = &[
    OrderRule::PathKind,
    OrderRule::LongerPath,
    OrderRule::MoreHeaders,
    OrderRule::MoreExactHeaders,
    OrderRule::MoreCookies,
    OrderRule::MoreExactCookies,
    OrderRule::MoreQueryParameters,
    OrderRule::MoreExactQueryParameters,
    OrderRule::Age,
    OrderRule::Name,
    OrderRule::Place,
];

/// The rules that order routes; none if an EnvoyProxy lets some listeners keep the order of the input.
pub(crate) fn route_order(objects: &Objects) -> &'static [OrderRule] {
    let keeps = |root: &Node| root.at(&["spec", "preserveRouteOrder"]).and_then(Node::as_bool) == Some(true);
    let is_kept = objects.iter().any(|object| object.key.kind == "EnvoyProxy" && keeps(&object.root));
    if is_kept { &[] } else { ROUTE_ORDER }
}
