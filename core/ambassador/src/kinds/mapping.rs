//! Mapping: routes requests to a service.
//!
//! Emissary `pkg/api/getambassador.io/{v2,v3alpha1}/crd_mapping.go`, `v2/handwritten.conversion.go`.

use super::common::{
    ADDED_HEADER, AMBASSADOR_ID, AMBASSADOR_ID_V2, BOOL_OR_STRING, CIRCUIT_BREAKERS, ERROR_RESPONSE_OVERRIDES, STRING_OR_STRINGS,
    V2_EXPLICIT_TLS_FIELD, convert_ids, convert_presence, convert_tls, made, object_node, rename, string_node, string_to_list,
};
use alloc::vec::Vec;
use chancery_base::object;
use chancery_base::schema::{
    ANY, BOOLEAN, Field, GO_DURATION, INTEGER, OPEN_OBJECT, STRING, STRING_MAP, STRINGS, Schema, array, either, field, int_of, map, one_of,
};
use chancery_text::{Entry, Node, NodeId, Object, Str, Value};

const PREFIX: Field = field("prefix", STRING, "The start of the paths that it takes").required().dropped();
const PREFIX_REGEX: Field = field("prefix_regex", BOOLEAN, "Whether `prefix` is a regular expression for the whole path");
const PREFIX_EXACT: Field = field("prefix_exact", BOOLEAN, "Whether `prefix` is the whole path");
const SERVICE: Field =
    field("service", STRING, "Where requests go: `[scheme://]name[.namespace][:port]`; `https://` speaks TLS").required().dropped();
const ADD_LINKERD_HEADERS: Field = field("add_linkerd_headers", BOOLEAN, "Whether to add `l5d-dst-override`, which Linkerd routes by");
const AUTO_HOST_REWRITE: Field =
    field("auto_host_rewrite", BOOLEAN, "Whether the service gets its own DNS name as `Host` instead of the one asked for");
const CASE_SENSITIVE: Field = field("case_sensitive", BOOLEAN, "Whether upper and lower case differ in `prefix`; `true` unless set");
const DNS_TYPE: Field =
    field("dns_type", STRING, "How the service's name is resolved: `strict_dns` uses all addresses, `logical_dns` one at a time").dropped();
const DOCS: Field = field("docs", DOCS_INFO, "Where the service's OpenAPI document is, for the developer portal");
const ENABLE_IPV4: Field = field("enable_ipv4", BOOLEAN, "Whether to look up IPv4 addresses of the service");
const ENABLE_IPV6: Field = field("enable_ipv6", BOOLEAN, "Whether to look up IPv6 addresses of the service");
const CIRCUIT: Field = field("circuit_breakers", CIRCUIT_BREAKERS, "Limits on connections, requests and retries to the service").dropped();
const KEEPALIVE: Field = field("keepalive", KEEP_ALIVE, "TCP keep-alive for connections to the service");
const RETRY: Field = field("retry_policy", RETRY_POLICY, "Which failed requests are tried again");
const RESPECT_DNS_TTL: Field = field("respect_dns_ttl", BOOLEAN, "Whether the name is resolved again when its DNS answer expires");
const GRPC: Field = field("grpc", BOOLEAN, "Whether the service speaks HTTP/2, as gRPC needs it");
const HOST_REDIRECT: Field = field("host_redirect", BOOLEAN, "Whether to redirect clients to the host in `service` instead of forwarding");
const HOST_REWRITE: Field = field("host_rewrite", STRING, "The `Host` that the service gets").dropped();
const METHOD: Field = field("method", STRING, "The HTTP method that it takes").dropped();
const METHOD_REGEX: Field = field("method_regex", BOOLEAN, "Whether `method` is a regular expression");
const OUTLIER: Field = field("outlier_detection", STRING, "Not used any more").dropped();
const PATH_REDIRECT: Field = field("path_redirect", STRING, "With `host_redirect`: the path of the redirect").dropped();
const PREFIX_REDIRECT: Field = field("prefix_redirect", STRING, "With `host_redirect`: what replaces the prefix in the redirect").dropped();
const REGEX_REDIRECT: Field = field("regex_redirect", REGEX_MAP, "With `host_redirect`: a replacement by regular expression");
const REDIRECT_CODE: Field = field("redirect_response_code", int_of(&[301, 302, 303, 307, 308]), "The status of the redirect; 301 unless set");
const PRIORITY: Field = field("priority", STRING, "Envoy's priority of its requests: `default` or `high`").dropped();
const PRECEDENCE: Field = field("precedence", INTEGER, "Mappings with a higher one are tried first, whatever their prefixes");
const CLUSTER_TAG: Field = field("cluster_tag", STRING, "Put into the cluster's name, to keep clusters of one service apart").dropped();
const REMOVE_REQUEST: &str = "Headers that the service does not get";
const REMOVE_RESPONSE: &str = "Headers that the client does not get";
const RESOLVER: Field = field("resolver", STRING, "The resolver that finds the service's addresses").dropped();
const REWRITE: Field = field("rewrite", STRING, "What replaces the prefix towards the service; `/` unless set, `\"\"` changes nothing");
const REGEX_REWRITE: Field = field("regex_rewrite", REGEX_MAP, "A replacement in the path by regular expression, instead of `rewrite`");
const SHADOW: Field = field("shadow", BOOLEAN, "Whether the service only gets copies of requests, its answers being thrown away");
const CONNECT_TIMEOUT: Field = field("connect_timeout_ms", INTEGER, "How long connecting may take, in milliseconds; 3000 unless set");
const CLUSTER_IDLE: Field = field("cluster_idle_timeout_ms", INTEGER, "How long a connection to the service may be idle, in milliseconds");
const CLUSTER_LIFETIME: Field =
    field("cluster_max_connection_lifetime_ms", INTEGER, "How long a connection to the service may last, in milliseconds");
const TIMEOUT: Field = field("timeout_ms", INTEGER, "How long a whole request may take, in milliseconds; 0 for no limit [default: 3000]");
const IDLE_TIMEOUT: Field = field("idle_timeout_ms", INTEGER, "How long a request may be idle, in milliseconds; 300000 unless set");
const USE_WEBSOCKET: Field = field("use_websocket", BOOLEAN, "Older form of `allow_upgrade: [websocket]`");
const ALLOW_UPGRADE: Field = field("allow_upgrade", STRINGS, "Protocols that a request may upgrade to, e.g. `websocket`").dropped();
const WEIGHT: Field = field("weight", INTEGER, "The share of requests in percent, among Mappings that match the same");
const BYPASS_AUTH: Field = field("bypass_auth", BOOLEAN, "Whether its requests are not shown to the AuthService");
const AUTH_CONTEXT: Field = field("auth_context_extensions", STRING_MAP, "Values that the AuthService gets with its requests").dropped();
const BYPASS_ERRORS: Field = field("bypass_error_response_overrides", BOOLEAN, "Whether the Module's error responses do not apply to it");
const ERRORS: Field =
    field("error_response_overrides", ERROR_RESPONSE_OVERRIDES, "Own bodies for errors; not supported any more since Emissary 4").dropped();
const MODULES: Field = field("modules", array(&OPEN_OBJECT), "Not used any more").dropped();
const HOST: &str = "The host that it takes";
const HOST_REGEX: Field = field("host_regex", BOOLEAN, "Whether `host` is a regular expression");
const REGEX_HEADERS: Field = field("regex_headers", STRING_MAP, "Headers that must match these regular expressions").dropped();
const ENVOY_OVERRIDE: Field = field("envoy_override", OPEN_OBJECT, "Not used any more");
const LOAD_BALANCER: Field = field("load_balancer", BALANCER, "How requests are spread over the service's endpoints");
const REGEX_QUERY: Field = field("regex_query_parameters", STRING_MAP, "Query parameters that must match these regular expressions").dropped();

const REGEX_MAP: Schema = object![
    field("pattern", STRING, "A regular expression (RE2) for the path").dropped(),
    field("substitution", STRING, "What replaces it; `\\1` is its first group").dropped(),
];

const DOCS_INFO: Schema = object![
    field("path", STRING, "The document's path on the service").dropped(),
    field("url", STRING, "The document's whole URL").dropped(),
    field("ignored", BOOLEAN, "Whether the developer portal leaves the service out"),
    field("display_name", STRING, "What the service is called in the portal").dropped(),
    field("timeout_ms", INTEGER, "How long fetching the document may take, in milliseconds"),
];

const KEEP_ALIVE: Schema = object![
    field("probes", INTEGER, "Unanswered probes after which a connection is dead"),
    field("idle_time", INTEGER, "Seconds of silence before the first probe"),
    field("interval", INTEGER, "Seconds between probes"),
];

const RETRY_POLICY: Schema = object![
    field(
        "retry_on",
        one_of(&["5xx", "gateway-error", "connect-failure", "retriable-4xx", "refused-stream", "retriable-status-codes"]),
        "Which failures are tried again"
    )
    .dropped(),
    field("num_retries", INTEGER, "How often; 1 unless set"),
    field("per_try_timeout", STRING, "How long one try may take, e.g. `2s`").dropped(),
];

const BALANCER: Schema = object![
    field("policy", one_of(&["round_robin", "ring_hash", "maglev", "least_request"]), "How an endpoint is chosen").required().dropped(),
    field("cookie", BALANCER_COOKIE, "Hash by a cookie, so that a client keeps its endpoint"),
    field("header", STRING, "Hash by a header").dropped(),
    field("source_ip", BOOLEAN, "Hash by the client's address"),
];

const BALANCER_COOKIE: Schema = object![
    field("name", STRING, "The cookie's name").required().dropped(),
    field("path", STRING, "The cookie's path, when it is set for a client").dropped(),
    field("ttl", STRING, "How long it lasts, when it is set for a client, e.g. `600s`").dropped(),
];

const CORS: Schema = object![
    field("origins", STRINGS, "Origins that may ask; `*` is all").dropped(),
    field("methods", STRINGS, "Methods that they may use").dropped(),
    field("headers", STRINGS, "Headers that they may send").dropped(),
    field("credentials", BOOLEAN, "Whether they may send cookies"),
    field("exposed_headers", STRINGS, "Headers of the answer that scripts may read").dropped(),
    field("max_age", STRING, "How long browsers may remember the answer, in seconds").dropped(),
    field("v2CommaSeparatedOrigins", BOOLEAN, "Whether the origins were one string in v2, kept by conversions").dropped(),
];

const CORS_V2: Schema = object![
    field("origins", either(&[STRING, array(&ANY)]).unserved(), "Origins that may ask: a list, or one string with commas"),
    field("methods", STRING_OR_STRINGS.unserved(), "Methods that they may use").dropped(),
    field("headers", STRING_OR_STRINGS.unserved(), "Headers that they may send").dropped(),
    field("credentials", BOOLEAN, "Whether they may send cookies"),
    field("exposed_headers", STRING_OR_STRINGS.unserved(), "Headers of the answer that scripts may read").dropped(),
    field("max_age", STRING, "How long browsers may remember the answer, in seconds").dropped(),
];

/// `health_checks`.
const HEALTH_CHECKS: Schema = array(&HEALTH_CHECK).at_least(1);
const HEALTH_CHECK: Schema = object![
    field("timeout", GO_DURATION, "How long an answer may take, e.g. `3s`"),
    field("interval", GO_DURATION, "How long between checks, e.g. `5s`"),
    field("unhealthy_threshold", INTEGER, "Failures after which an endpoint gets no more requests"),
    field("healthy_threshold", INTEGER, "Successes after which it gets requests again"),
    field("health_check", HEALTH_CHECK_LOCATION, "The kind of check: `http` or `grpc`").required().always(),
];
const HEALTH_CHECK_LOCATION: Schema =
    object![field("http", HTTP_HEALTH_CHECK, "An HTTP request"), field("grpc", GRPC_HEALTH_CHECK, "A call of gRPC's health service"),]
        .at_least(1)
        .at_most(1);
const HTTP_HEALTH_CHECK: Schema = object![
    field("path", STRING, "The path of the check").required().dropped(),
    field("hostname", STRING, "The `Host` that it sends").dropped(),
    field("add_request_headers", map(&ADDED_HEADER), "Headers that it sends").dropped(),
    field("remove_request_headers", STRINGS, "Headers that it does not send").dropped(),
    field("expected_statuses", array(&STATUS_RANGE), "Statuses that are healthy; 200 unless set").dropped(),
];
const STATUS_RANGE: Schema = object![
    field("min", INTEGER.between(100, 599), "The first status").required().dropped(),
    field("max", INTEGER.between(100, 599), "The last status").required().dropped(),
];
const GRPC_HEALTH_CHECK: Schema = object![
    field("upstream_name", STRING, "The checked gRPC service").required().dropped(),
    field("authority", STRING, "The `:authority` that it sends").dropped(),
];

const LABELS: Schema = map(&LABEL_GROUPS);
const LABEL_GROUPS: Schema = array(&LABEL_GROUP);
const LABEL_GROUP: Schema = map(&LABEL_SPECIFIERS).at_least(1).at_most(1);
const LABEL_SPECIFIERS: Schema = array(&LABEL_SPECIFIER);
const LABEL_SPECIFIER: Schema = object![
    field("source_cluster", object![field("key", one_of(&["source_cluster"]), "Always `source_cluster`").required().always()], "Envoy's own cluster"),
    field(
        "destination_cluster",
        object![field("key", one_of(&["destination_cluster"]), "Always `destination_cluster`").required().always()],
        "The cluster that the request goes to"
    ),
    field(
        "request_headers",
        object![
            field("key", STRING, "The name that the rate-limit service sees").required().always(),
            field("header_name", STRING, "The header").required().always(),
            field("omit_if_not_present", BOOLEAN, "Whether a request without the header still gets its other labels"),
        ],
        "The value of a header"
    ),
    field(
        "remote_address",
        object![field("key", one_of(&["remote_address"]), "Always `remote_address`").required().always()],
        "The client's address"
    ),
    field(
        "generic_key",
        object![
            field("key", STRING, "The name that the rate-limit service sees; `generic_key` unless set").dropped(),
            field("value", STRING, "A fixed value").required().always(),
            field("v2Shorthand", BOOLEAN, "Whether it was a plain word in v2, kept by conversions").dropped(),
        ],
        "A fixed value"
    ),
]
.at_least(1)
.at_most(1);

const LABELS_V2: Schema = map(&LABEL_GROUPS_V2);
const LABEL_GROUPS_V2: Schema = array(&LABEL_GROUP_V2);
const LABEL_GROUP_V2: Schema = map(&LABEL_SPECIFIERS_V2).at_least(1).at_most(1);
const LABEL_SPECIFIERS_V2: Schema = array(&LABEL_SPECIFIER_V2).unserved();
const LABEL_SPECIFIER_V2: Schema = either(&[STRING, OPEN_OBJECT]).unserved();

const ADDED_HEADERS_V2: Schema = map(&ADDED_HEADER_V2);
const ADDED_HEADER_V2: Schema = either(&[STRING, OPEN_OBJECT]).unserved();
const PRESENCE_V2: Schema = map(&PRESENCE_VALUE_V2);
const PRESENCE_VALUE_V2: Schema = BOOL_OR_STRING.unserved();

/// `spec` in v3alpha1.
pub(super) static V3ALPHA1: Schema = object![
    AMBASSADOR_ID,
    PREFIX,
    PREFIX_REGEX,
    PREFIX_EXACT,
    SERVICE,
    field("add_request_headers", map(&ADDED_HEADER), "Headers that the service gets"),
    field("add_response_headers", map(&ADDED_HEADER), "Headers that the client gets"),
    ADD_LINKERD_HEADERS,
    AUTO_HOST_REWRITE,
    CASE_SENSITIVE,
    DNS_TYPE,
    DOCS,
    ENABLE_IPV4,
    ENABLE_IPV6,
    CIRCUIT,
    KEEPALIVE,
    field("cors", CORS, "Which other origins browsers may ask from"),
    RETRY,
    RESPECT_DNS_TTL,
    GRPC,
    HOST_REDIRECT,
    HOST_REWRITE,
    METHOD,
    METHOD_REGEX,
    OUTLIER,
    PATH_REDIRECT,
    PREFIX_REDIRECT,
    REGEX_REDIRECT,
    REDIRECT_CODE,
    PRIORITY,
    PRECEDENCE,
    CLUSTER_TAG,
    field("remove_request_headers", STRINGS, REMOVE_REQUEST),
    field("remove_response_headers", STRINGS, REMOVE_RESPONSE),
    RESOLVER,
    REWRITE,
    REGEX_REWRITE,
    SHADOW,
    CONNECT_TIMEOUT,
    CLUSTER_IDLE,
    CLUSTER_LIFETIME,
    TIMEOUT,
    IDLE_TIMEOUT,
    field("tls", STRING, "The TLSContext for TLS to the service").dropped(),
    field("health_checks", HEALTH_CHECKS, "How Envoy detects working endpoints").dropped(),
    USE_WEBSOCKET,
    ALLOW_UPGRADE,
    WEIGHT,
    BYPASS_AUTH,
    AUTH_CONTEXT,
    BYPASS_ERRORS,
    ERRORS,
    MODULES,
    field("host", STRING, "Older form of `hostname`: exact, or a regular expression with `host_regex`").dropped(),
    HOST_REGEX,
    field("hostname", STRING, "The host that it matches; `*` at either end matches anything").dropped(),
    field("headers", STRING_MAP, "Headers that must have these values").dropped(),
    REGEX_HEADERS,
    field("labels", LABELS, "Descriptors sent to the rate limit service about its requests, by domain").dropped(),
    ENVOY_OVERRIDE,
    LOAD_BALANCER,
    field("query_parameters", STRING_MAP, "Query parameters that must have these values").dropped(),
    REGEX_QUERY,
    field("stats_name", STRING, "What the cluster is called in statistics").dropped(),
    V2_EXPLICIT_TLS_FIELD,
    field("v2BoolHeaders", STRINGS, "Headers that were `true` in v2, kept by conversions").dropped(),
    field("v2BoolQueryParameters", STRINGS, "Query parameters that were `true` in v2, kept by conversions").dropped(),
];

/// `spec` in v1 and v2.
pub(super) static V2: Schema = object![
    AMBASSADOR_ID_V2,
    PREFIX,
    PREFIX_REGEX,
    PREFIX_EXACT,
    SERVICE,
    field("add_request_headers", ADDED_HEADERS_V2, "Headers that the service gets"),
    field("add_response_headers", ADDED_HEADERS_V2, "Headers that the client gets"),
    ADD_LINKERD_HEADERS,
    AUTO_HOST_REWRITE,
    CASE_SENSITIVE,
    DOCS,
    DNS_TYPE,
    ENABLE_IPV4,
    ENABLE_IPV6,
    CIRCUIT,
    KEEPALIVE,
    field("cors", CORS_V2, "Which other origins browsers may ask from"),
    RETRY,
    RESPECT_DNS_TTL,
    GRPC,
    HOST_REDIRECT,
    HOST_REWRITE,
    METHOD,
    METHOD_REGEX,
    OUTLIER,
    PATH_REDIRECT,
    PREFIX_REDIRECT,
    REGEX_REDIRECT,
    REDIRECT_CODE,
    PRIORITY,
    PRECEDENCE,
    CLUSTER_TAG,
    field("remove_request_headers", STRING_OR_STRINGS.unserved(), REMOVE_REQUEST),
    field("remove_response_headers", STRING_OR_STRINGS.unserved(), REMOVE_RESPONSE),
    RESOLVER,
    REWRITE,
    REGEX_REWRITE,
    SHADOW,
    CONNECT_TIMEOUT,
    CLUSTER_IDLE,
    CLUSTER_LIFETIME,
    TIMEOUT,
    IDLE_TIMEOUT,
    field("tls", BOOL_OR_STRING.unserved(), "Whether TLS is used to the service, or the TLSContext for it"),
    field("v3health_checks", HEALTH_CHECKS, "How Envoy detects working endpoints").dropped(),
    USE_WEBSOCKET,
    ALLOW_UPGRADE,
    WEIGHT,
    BYPASS_AUTH,
    AUTH_CONTEXT,
    BYPASS_ERRORS,
    ERRORS,
    MODULES,
    field("host", STRING, HOST).dropped(),
    HOST_REGEX,
    field("headers", PRESENCE_V2, "Headers that must have these values; `true` for any value").dropped(),
    REGEX_HEADERS,
    field("labels", LABELS_V2, "Descriptors sent to the rate limit service about its requests, by domain").dropped(),
    ENVOY_OVERRIDE,
    LOAD_BALANCER,
    field("query_parameters", PRESENCE_V2, "Query parameters that must have these values; `true` for any value").dropped(),
    REGEX_QUERY,
    field("v3StatsName", STRING, "What the cluster is called in statistics").dropped(),
];

/// v2 -> v3alpha1.
pub(super) fn convert(spec: &mut Object) {
    convert_ids(spec, "ambassador_id");
    string_to_list(spec, "remove_request_headers");
    string_to_list(spec, "remove_response_headers");
    rename(spec, "v3health_checks", "health_checks");
    rename(spec, "v3StatsName", "stats_name");
    convert_added_headers(spec, "add_request_headers");
    convert_added_headers(spec, "add_response_headers");
    if let Some(Node { value: Value::Object(cors), .. }) = spec.get_mut("cors") {
        convert_cors(cors);
    }
    convert_presence(spec, "headers", "regex_headers", "v2BoolHeaders");
    convert_presence(spec, "query_parameters", "regex_query_parameters", "v2BoolQueryParameters");
    if let Some(labels) = spec.get_mut("labels") {
        convert_labels(labels);
    }
    convert_tls(spec, "service", true);
    convert_host(spec);
}

/// `host` becomes `hostname`, unless it is a regular expression; nothing becomes `*`.
fn convert_host(spec: &mut Object) {
    if spec.get("host_regex").and_then(Node::as_bool) == Some(true) {
        return;
    }
    let hostname = match spec.remove("host") {
        Some(host) => match host.as_str() {
            Some("") => string_node(host.id, "*"),
            // The form of a v3alpha1 Mapping without hostname after a round trip through v2.
            Some("_skip_mapping_with_empty_host_") => string_node(host.id, ""),
            _ => host,
        },
        None => string_node(NodeId::NONE, "*"),
    };
    spec.insert("hostname", hostname);
}

fn convert_added_headers(spec: &mut Object, key: &str) {
    let Some(Node { value: Value::Object(headers), .. }) = spec.get_mut(key) else { return };
    for (_, header) in headers.iter_mut() {
        let id = header.id;
        let (value, written) = match &header.value {
            Value::String(text) => (Some(string_node(id, text.clone())), "string"),
            Value::Null => (None, "null"),
            _ => continue,
        };
        let value = value.map(|value| ("value", value));
        let entries = value.into_iter().chain([("v2Representation", string_node(id, written))]);
        *header = made(id, Value::Object(entries.map(|(key, node)| (Str::new_static(key), node)).collect()));
    }
}

fn convert_cors(cors: &mut Object) {
    for key in ["methods", "headers", "exposed_headers"] {
        string_to_list(cors, key);
    }
    if let Some(origins) = cors.get_mut("origins")
        && let Value::String(text) = &origins.value
    {
        let id = origins.id;
        let list: Vec<Node> = text.split(',').map(|origin| string_node(id, origin)).collect();
        origins.value = Value::Array(list);
        cors.insert("v2CommaSeparatedOrigins", made(id, Value::Bool(true)));
    }
}

fn convert_labels(labels: &mut Node) {
    let Value::Object(domains) = &mut labels.value else { return };
    for (_, groups) in domains.iter_mut() {
        let Value::Array(groups) = &mut groups.value else { continue };
        for group in groups {
            let Value::Object(group) = &mut group.value else { continue };
            for (_, specifiers) in group.iter_mut() {
                let Value::Array(specifiers) = &mut specifiers.value else { continue };
                for specifier in specifiers {
                    *specifier = convert_label(specifier);
                }
            }
        }
    }
}

/// One label of v2: a word, `generic_key: word`, or a header under its own key.
fn convert_label(label: &Node) -> Node {
    let id = label.id;
    let of = |kind: &'static str, entries: Object| object_node(id, [(kind, made(id, Value::Object(entries)))]);
    let keyed = |word: &'static str| of(word, [("key", string_node(id, word))].into_iter().collect());
    match &label.value {
        Value::String(word) => match word.as_str() {
            "source_cluster" => keyed("source_cluster"),
            "destination_cluster" => keyed("destination_cluster"),
            "remote_address" => keyed("remote_address"),
            _ => generic_word(id, word.clone()),
        },
        Value::Null => generic_word(id, Str::new_static("")),
        Value::Object(object) => {
            let is_header = |entry: &Entry| match entry.value.value {
                Value::Object(_) => {
                    let part = |key: &str| entry.value.get(key).filter(|node| !node.is_null());
                    let is_string = part("header").is_none_or(|node| node.as_str().is_some());
                    is_string && part("omit_if_not_present").is_none_or(|node| node.as_bool().is_some())
                }
                Value::Null => entry.key != "generic_key",
                _ => false,
            };
            match object.entries() {
                // Everything that looks like a map of headers is one; Go keeps the last of several.
                entries if entries.iter().all(is_header) => {
                    let Some(entry) = entries.last() else { return object_node(id, []) };
                    let header = entry.value.get("header").cloned().unwrap_or_else(|| string_node(entry.value.id, ""));
                    let mut written: Object =
                        [("key", string_node(entry.value.id, entry.key.clone())), ("header_name", header)].into_iter().collect();
                    if let Some(omit) = entry.value.get("omit_if_not_present").filter(|node| !node.is_null()) {
                        written.insert("omit_if_not_present", omit.clone());
                    }
                    of("request_headers", written)
                }
                _ => {
                    let value = object.get("generic_key").filter(|node| !node.is_null()).cloned().unwrap_or_else(|| string_node(id, ""));
                    of("generic_key", [("value", value)].into_iter().collect())
                }
            }
        }
        _ => label.clone(),
    }
}

fn generic_word(id: NodeId, word: Str) -> Node {
    let entries = [("value", string_node(id, word)), ("v2Shorthand", made(id, Value::Bool(true)))];
    object_node(id, [("generic_key", object_node(id, entries))])
}
