//! LogService: a gRPC receiver of access logs.
//!
//! Emissary `pkg/api/getambassador.io/{v2,v3alpha1}/crd_logservice.go`.

use super::common::{AMBASSADOR_ID, AMBASSADOR_ID_V2, convert_ids, rename};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, Field, INTEGER, STRING, Schema, array, field, one_of};
use chancery_text::Object;

const SERVICE: Field = field("service", STRING, "The service: `name[.namespace][:port]`").dropped();
const DRIVER: Field = field("driver", one_of(&["tcp", "http"]), "Whether it logs connections or requests").dropped();
const DRIVER_CONFIG: Field = field(
    "driver_config",
    object![field("additional_log_headers", array(&LOG_HEADER), "Further logged headers").dropped()],
    "Settings of the driver",
);
const LOG_HEADER: Schema = object![
    field("header_name", STRING, "The header").dropped(),
    field("during_request", BOOLEAN, "Whether it is logged of the request; `true` unless set"),
    field("during_response", BOOLEAN, "Whether it is logged of the answer; `true` unless set"),
    field("during_trailer", BOOLEAN, "Whether it is logged of the trailers; `true` unless set"),
];
const FLUSH_TIME: Field = field("flush_interval_time", INTEGER, "How long entries are collected, in seconds; 1 unless set");
const FLUSH_SIZE: Field = field("flush_interval_byte_size", INTEGER, "How many bytes are collected; 16384 unless set");
const GRPC: Field = field("grpc", BOOLEAN, "Whether the service speaks HTTP/2, as gRPC needs it");
const VERSION: Schema = one_of(&["v2", "v3"]);
const VERSION_DOC: &str = "The version of Envoy's protocol: only `v3` works";
const STATS_NAME: &str = "What its cluster is called in statistics";

/// `spec` in v3alpha1.
pub(super) static V3ALPHA1: Schema = object![
    AMBASSADOR_ID,
    SERVICE,
    field("protocol_version", VERSION, VERSION_DOC).dropped(),
    DRIVER,
    DRIVER_CONFIG,
    FLUSH_TIME,
    FLUSH_SIZE,
    GRPC,
    field("stats_name", STRING, STATS_NAME).dropped(),
];

/// `spec` in v1 and v2.
pub(super) static V2: Schema = object![
    AMBASSADOR_ID_V2,
    SERVICE,
    field("v3ProtocolVersion", VERSION, VERSION_DOC).dropped(),
    DRIVER,
    DRIVER_CONFIG,
    FLUSH_TIME,
    FLUSH_SIZE,
    GRPC,
    field("v3StatsName", STRING, STATS_NAME).dropped(),
];

/// v2 -> v3alpha1.
pub(super) fn convert(spec: &mut Object) {
    convert_ids(spec, "ambassador_id");
    rename(spec, "v3ProtocolVersion", "protocol_version");
    rename(spec, "v3StatsName", "stats_name");
}
