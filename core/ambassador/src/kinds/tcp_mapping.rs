//! TCPMapping: routes TCP connections to a service.
//!
//! Emissary `pkg/api/getambassador.io/{v2,v3alpha1}/crd_tcpmapping.go`.

use super::common::{AMBASSADOR_ID, AMBASSADOR_ID_V2, BOOL_OR_STRING, CIRCUIT_BREAKERS, V2_EXPLICIT_TLS_FIELD, convert_ids, convert_tls, rename};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, Field, INTEGER, STRING, Schema, field};
use chancery_text::Object;

const PORT: Field = field("port", INTEGER, "The port that it listens on").required().dropped();
const HOST: Field = field("host", STRING, "The host that TLS clients ask for (SNI); without it, all of the port's").dropped();
const ADDRESS: Field = field("address", STRING, "The address that it listens on; all of them unless set").dropped();
const SERVICE: Field = field("service", STRING, "Where connections go: `[scheme://]name[.namespace][:port]`").required().dropped();
const ENABLE_IPV4: Field = field("enable_ipv4", BOOLEAN, "Whether to look up IPv4 addresses of the service");
const ENABLE_IPV6: Field = field("enable_ipv6", BOOLEAN, "Whether to look up IPv6 addresses of the service");
const CIRCUIT: Field = field("circuit_breakers", CIRCUIT_BREAKERS, "Limits on connections to the service").dropped();
const IDLE_TIMEOUT: Field =
    field("idle_timeout_ms", STRING, "How long a connection may be idle, in milliseconds; a string, unlike a Mapping's").dropped();
const RESOLVER: Field = field("resolver", STRING, "The resolver that finds the service's addresses").dropped();
const WEIGHT: Field = field("weight", INTEGER, "The share of connections in percent, among TCPMappings that match the same");
const CLUSTER_TAG: Field = field("cluster_tag", STRING, "Put into the cluster's name, to keep clusters of one service apart").dropped();
const STATS_NAME: &str = "What the cluster is called in statistics";

/// `spec` in v3alpha1.
pub(super) static V3ALPHA1: Schema = object![
    AMBASSADOR_ID,
    PORT,
    HOST,
    ADDRESS,
    SERVICE,
    ENABLE_IPV4,
    ENABLE_IPV6,
    CIRCUIT,
    IDLE_TIMEOUT,
    RESOLVER,
    field("tls", STRING, "The TLSContext for TLS to the service").dropped(),
    WEIGHT,
    CLUSTER_TAG,
    field("stats_name", STRING, STATS_NAME).dropped(),
    V2_EXPLICIT_TLS_FIELD,
];

/// `spec` in v1 and v2.
pub(super) static V2: Schema = object![
    AMBASSADOR_ID_V2,
    PORT,
    HOST,
    ADDRESS,
    SERVICE,
    ENABLE_IPV4,
    ENABLE_IPV6,
    CIRCUIT,
    IDLE_TIMEOUT,
    RESOLVER,
    field("tls", BOOL_OR_STRING.unserved(), "Whether TLS is used to the service, or the TLSContext for it"),
    WEIGHT,
    CLUSTER_TAG,
    field("v3StatsName", STRING, STATS_NAME).dropped(),
];

/// v2 -> v3alpha1. The scheme is not recorded: in v2 a TCPMapping's service had none.
pub(super) fn convert(spec: &mut Object) {
    convert_ids(spec, "ambassador_id");
    rename(spec, "v3StatsName", "stats_name");
    convert_tls(spec, "service", false);
}
