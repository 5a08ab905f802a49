//! AuthService: the external authorization service.
//!
//! Emissary `pkg/api/getambassador.io/{v2,v3alpha1}/crd_authservice.go`.

use super::common::{AMBASSADOR_ID, AMBASSADOR_ID_V2, BOOL_OR_STRING, CIRCUIT_BREAKERS, V2_EXPLICIT_TLS_FIELD, convert_ids, convert_tls, rename};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, Field, INTEGER, STRING, STRING_MAP, STRINGS, Schema, field, one_of};
use chancery_text::Object;

const AUTH_SERVICE: Field = field("auth_service", STRING, "The service: `[scheme://]name[.namespace][:port]`").required().dropped();
const PATH_PREFIX: Field = field("path_prefix", STRING, "Prefix of the path of HTTP checks").dropped();
const PROTO: Field = field("proto", one_of(&["http", "grpc"]), "Protocol of the checks [default: http]").dropped();
const TIMEOUT: Field = field("timeout_ms", INTEGER, "How long its answer may take, in milliseconds; 5000 unless set");
const REQUEST_HEADERS: Field = field("allowed_request_headers", STRINGS, "Headers of the request that it sees").dropped();
const AUTHORIZATION_HEADERS: Field = field("allowed_authorization_headers", STRINGS, "Headers of its answer that the request gets").dropped();
const ADD_AUTH_HEADERS: Field = field("add_auth_headers", STRING_MAP, "Further headers sent to it").dropped();
const ALLOW_BODY: Field = field("allow_request_body", BOOLEAN, "Older form of `include_body`");
const LINKERD: Field = field("add_linkerd_headers", BOOLEAN, "Whether to add `l5d-dst-override`, which Linkerd routes by");
const FAILURE_MODE: Field = field("failure_mode_allow", BOOLEAN, "Whether requests pass if the service fails");
const INCLUDE_BODY: Field = field(
    "include_body",
    object![
        field("max_bytes", INTEGER, "The most bytes of the body that it gets").required().dropped(),
        field("allow_partial", BOOLEAN, "Whether a longer body is cut off, or the request refused").required().dropped(),
    ],
    "How much of a request's body it sees",
);
const STATUS_ON_ERROR: Field =
    field("status_on_error", object![field("code", INTEGER, "The status").dropped()], "The answer if the service fails [default: 403]");
const PROTOCOL_VERSION: Field =
    field("protocol_version", one_of(&["v2", "v3"]), "The version of Envoy's protocol for `grpc`: only `v3` works").dropped();
const STATS_NAME: &str = "What its cluster is called in statistics";
const CIRCUIT: &str = "Limits on connections and requests to it";

/// `spec` in v3alpha1.
pub(super) static V3ALPHA1: Schema = object![
    AMBASSADOR_ID,
    AUTH_SERVICE,
    PATH_PREFIX,
    field("tls", STRING, "The TLSContext for TLS to it").dropped(),
    PROTO,
    TIMEOUT,
    REQUEST_HEADERS,
    AUTHORIZATION_HEADERS,
    ADD_AUTH_HEADERS,
    ALLOW_BODY,
    LINKERD,
    FAILURE_MODE,
    INCLUDE_BODY,
    STATUS_ON_ERROR,
    PROTOCOL_VERSION,
    field("stats_name", STRING, STATS_NAME).dropped(),
    field("circuit_breakers", CIRCUIT_BREAKERS, CIRCUIT).dropped(),
    V2_EXPLICIT_TLS_FIELD,
];

/// `spec` in v1 and v2.
pub(super) static V2: Schema = object![
    AMBASSADOR_ID_V2,
    AUTH_SERVICE,
    PATH_PREFIX,
    field("tls", BOOL_OR_STRING.unserved(), "Whether TLS is used, or the TLSContext for it"),
    PROTO,
    TIMEOUT,
    REQUEST_HEADERS,
    AUTHORIZATION_HEADERS,
    ADD_AUTH_HEADERS,
    ALLOW_BODY,
    LINKERD,
    FAILURE_MODE,
    INCLUDE_BODY,
    STATUS_ON_ERROR,
    PROTOCOL_VERSION,
    field("v3StatsName", STRING, STATS_NAME).dropped(),
    field("v3CircuitBreakers", CIRCUIT_BREAKERS, CIRCUIT).dropped(),
];

/// v2 -> v3alpha1.
pub(super) fn convert(spec: &mut Object) {
    convert_ids(spec, "ambassador_id");
    rename(spec, "v3StatsName", "stats_name");
    rename(spec, "v3CircuitBreakers", "circuit_breakers");
    convert_tls(spec, "auth_service", true);
}
