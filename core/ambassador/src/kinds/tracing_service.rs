//! TracingService: the receiver of request traces.
//!
//! Emissary `pkg/api/getambassador.io/{v2,v3alpha1}/crd_tracingservice.go`.

use super::common::{AMBASSADOR_ID, AMBASSADOR_ID_V2, convert_ids, made, object_node, rename, string_node};
use alloc::vec::Vec;
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, Field, INTEGER, STRING, STRINGS, Schema, array, field, one_of};
use chancery_text::{Node, Object, Value};

const DRIVER: Field =
    field("driver", one_of(&["lightstep", "zipkin", "datadog", "opentelemetry"]), "The tracing system; `lightstep` does not work any more")
        .required()
        .dropped();
const SERVICE: Field = field("service", STRING, "The collector: `name[.namespace][:port]`").required().dropped();
const SAMPLING: Field = field(
    "sampling",
    object![
        field("client", INTEGER, "Percent of the requests that ask for it; 100 unless set"),
        field("random", INTEGER, "Percent of all requests; 100 unless set"),
        field("overall", INTEGER, "Percent that is kept after that; 100 unless set"),
    ],
    "How many requests are traced",
);
const TAG_HEADERS: Field = field("tag_headers", STRINGS, "Older form of `custom_tags`: headers that become tags").dropped();
const ACCESS_TOKEN_FILE: Field = field("access_token_file", STRING, "For Lightstep: the file with its token").dropped();
const COLLECTOR_CLUSTER: Field = field("collector_cluster", STRING, "For Zipkin: the cluster that collects").dropped();
const COLLECTOR_ENDPOINT: Field = field("collector_endpoint", STRING, "For Zipkin: the path that collects; `/api/v2/spans` unless set").dropped();
const COLLECTOR_VERSION: Field =
    field("collector_endpoint_version", one_of(&["HTTP_JSON_V1", "HTTP_JSON", "HTTP_PROTO"]), "For Zipkin: the format").dropped();
const COLLECTOR_HOSTNAME: Field = field("collector_hostname", STRING, "For Zipkin: the `Host` that it gets").dropped();
const PROPAGATION: Schema = array(&PROPAGATION_MODE);
const PROPAGATION_MODE: Schema = one_of(&["ENVOY", "LIGHTSTEP", "B3", "TRACE_CONTEXT"]);
const PROPAGATION_DOC: &str = "For Lightstep: the format of trace headers";
const TRACE_ID: Field = field("trace_id_128bit", BOOLEAN, "For Zipkin: whether trace ids have 128 bits; `true` unless set");
const SHARED_SPAN: Field = field("shared_span_context", BOOLEAN, "For Zipkin: whether client and server share a span; `true` unless set");
const SERVICE_NAME: Field = field("service_name", STRING, "For Datadog and OpenTelemetry: what the gateway is called in traces").dropped();
const CONFIG_DOC: &str = "Settings of the driver";
const STATS_NAME: &str = "What its cluster is called in statistics";
const CUSTOM_TAGS_DOC: &str = "Tags that every trace gets";

const CONFIG: Schema = object![
    ACCESS_TOKEN_FILE,
    COLLECTOR_CLUSTER,
    COLLECTOR_ENDPOINT,
    COLLECTOR_VERSION,
    COLLECTOR_HOSTNAME,
    field("propagation_modes", PROPAGATION, PROPAGATION_DOC).dropped(),
    TRACE_ID,
    SHARED_SPAN,
    SERVICE_NAME,
];
const CONFIG_V2: Schema = object![
    ACCESS_TOKEN_FILE,
    COLLECTOR_CLUSTER,
    COLLECTOR_ENDPOINT,
    COLLECTOR_VERSION,
    COLLECTOR_HOSTNAME,
    TRACE_ID,
    SHARED_SPAN,
    SERVICE_NAME,
    field("v3PropagationModes", PROPAGATION, PROPAGATION_DOC).dropped(),
];
const CUSTOM_TAG: Schema = object![
    field("tag", STRING, "The tag's name").required().always(),
    field("literal", object![field("value", STRING, "The value").required().always()], "A fixed value"),
    field(
        "environment",
        object![field("name", STRING, "The variable").required().always(), field("default_value", STRING, "The value if the variable is not set"),],
        "The value of an environment variable of Envoy"
    ),
    field(
        "request_header",
        object![field("name", STRING, "The header").required().always(), field("default_value", STRING, "The value if the header is missing"),],
        "The value of a header"
    ),
];

/// `spec` in v3alpha1.
pub(super) static V3ALPHA1: Schema = object![
    AMBASSADOR_ID,
    DRIVER,
    SERVICE,
    SAMPLING,
    TAG_HEADERS,
    field("custom_tags", array(&CUSTOM_TAG), CUSTOM_TAGS_DOC).dropped(),
    field("config", CONFIG, CONFIG_DOC),
    field("stats_name", STRING, STATS_NAME).dropped(),
];

/// `spec` in v1 and v2.
pub(super) static V2: Schema = object![
    AMBASSADOR_ID_V2,
    DRIVER,
    SERVICE,
    SAMPLING,
    TAG_HEADERS,
    field("config", CONFIG_V2, CONFIG_DOC),
    field("v3StatsName", STRING, STATS_NAME).dropped(),
    field("v3CustomTags", array(&CUSTOM_TAG), CUSTOM_TAGS_DOC).dropped(),
];

/// v2 -> v3alpha1. Headers that become tags are custom tags now, unless there are custom tags already.
pub(super) fn convert(spec: &mut Object) {
    convert_ids(spec, "ambassador_id");
    rename(spec, "v3StatsName", "stats_name");
    rename(spec, "v3CustomTags", "custom_tags");
    if let Some(Node { value: Value::Object(config), .. }) = spec.get_mut("config") {
        rename(config, "v3PropagationModes", "propagation_modes");
    }
    if let Some(Node { id, value: Value::Array(headers) }) = spec.remove("tag_headers")
        && !spec.contains_key("custom_tags")
    {
        let tags: Vec<Node> = headers.iter().map(tag_of_header).collect();
        spec.insert("custom_tags", made(id, Value::Array(tags)));
    }
}

fn tag_of_header(header: &Node) -> Node {
    let name = || string_node(header.id, header.as_str().unwrap_or_default());
    object_node(header.id, [("tag", name()), ("request_header", object_node(header.id, [("name", name())]))])
}
