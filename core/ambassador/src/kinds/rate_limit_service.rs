//! RateLimitService: the external rate limit service.
//!
//! Emissary `pkg/api/getambassador.io/{v2,v3alpha1}/crd_ratelimitservice.go`.

use super::common::{AMBASSADOR_ID, AMBASSADOR_ID_V2, BOOL_OR_STRING, V2_EXPLICIT_TLS_FIELD, convert_ids, convert_tls, rename};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, Field, INTEGER, STRING, Schema, field, one_of};
use chancery_text::Object;

const SERVICE: Field = field("service", STRING, "The service: `[scheme://]name[.namespace][:port]`").required().dropped();
const TIMEOUT: Field = field("timeout_ms", INTEGER, "How long its answer may take, in milliseconds; 20 unless set");
const DOMAIN: Field = field("domain", STRING, "The domain of the labels [default: ambassador]").dropped();
const PROTOCOL_VERSION: Field = field("protocol_version", one_of(&["v2", "v3"]), "The version of Envoy's protocol: only `v3` works").dropped();
const FAILURE_MODE: Field = field("failure_mode_deny", BOOLEAN, "Whether requests are refused if the service fails").dropped();
const STATS_NAME: &str = "What its cluster is called in statistics";
const GRPC: Schema =
    object![field("use_resource_exhausted_code", BOOLEAN, "Whether gRPC clients get RESOURCE_EXHAUSTED instead of UNAVAILABLE").dropped()];
const GRPC_DOC: &str = "What gRPC clients are answered";

/// `spec` in v3alpha1.
pub(super) static V3ALPHA1: Schema = object![
    AMBASSADOR_ID,
    SERVICE,
    TIMEOUT,
    DOMAIN,
    field("tls", STRING, "The TLSContext for TLS to it").dropped(),
    PROTOCOL_VERSION,
    field("stats_name", STRING, STATS_NAME).dropped(),
    FAILURE_MODE,
    field("grpc", GRPC, GRPC_DOC),
    V2_EXPLICIT_TLS_FIELD,
];

/// `spec` in v1 and v2.
pub(super) static V2: Schema = object![
    AMBASSADOR_ID_V2,
    SERVICE,
    TIMEOUT,
    DOMAIN,
    field("tls", BOOL_OR_STRING.unserved(), "Whether TLS is used, or the TLSContext for it"),
    PROTOCOL_VERSION,
    field("v3StatsName", STRING, STATS_NAME).dropped(),
    FAILURE_MODE,
    field("v3GRPC", GRPC, GRPC_DOC),
];

/// v2 -> v3alpha1.
pub(super) fn convert(spec: &mut Object) {
    convert_ids(spec, "ambassador_id");
    rename(spec, "v3StatsName", "stats_name");
    rename(spec, "v3GRPC", "grpc");
    convert_tls(spec, "service", true);
}
