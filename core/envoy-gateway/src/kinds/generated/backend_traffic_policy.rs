// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{
    ADD_2, ALLOW_HEADERS_ITEM, BACKOFF, BODY, CIRCUIT_BREAKER, COMPRESSION_ITEM, CONNECTION, CUSTOM_TAGS_ENTRY, DNS, FRACTION, HEALTH_CHECK, HTTP2,
    LOAD_BALANCER, METHOD, NAME, PATH_5, PROXY_PROTOCOL, RETRY_2, SPAN_NAME, STATUS_CODES_ITEM_2, TARGET_REFS_ITEM, TARGET_SELECTORS_ITEM,
    TCP_KEEPALIVE, TIMEOUT_2, TYPE_2, VALUE_3, VALUE_4,
};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, INTEGER, Literal, NUMBER, STRING, Schema, array, field, int_of, map, one_of, rule};

pub const STATUS_CODES_ITEM: Schema = one_of(&[
    "Ok",
    "Cancelled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
]);
pub const GRPC_2: Schema = object![field("statusCodes", array(&STATUS_CODES_ITEM), ""),];
pub const HTTP_2: Schema = object![field("statusCodes", array(&STATUS_CODES_ITEM_2), ""),];
pub const SUCCESS_CRITERIA: Schema = object![field("grpc", GRPC_2, ""), field("http", HTTP_2, ""),];
pub const ADMISSION_CONTROL: Schema = object![
    field("maxRejectionPercent", INTEGER.int32().between(0, 100), ""),
    field("minRequestRate", INTEGER.int32().starting_at(0), ""),
    field("minSuccessRate", INTEGER.int32().between(1, 100), ""),
    field("rejectionAggression", INTEGER.int32().starting_at(1), ""),
    field("samplingWindow", BACKOFF, ""),
    field("successCriteria", SUCCESS_CRITERIA, ""),
]
.rules(&[
    rule("!has(self.minSuccessRate) || (self.minSuccessRate >= 1 && self.minSuccessRate <= 100)", "minSuccessRate must be between 1 and 100"),
    rule(
        "!has(self.maxRejectionPercent) || (self.maxRejectionPercent >= 0 && self.maxRejectionPercent <= 100)",
        "maxRejectionPercent must be between 0 and 100",
    ),
    rule("!has(self.samplingWindow) || duration(self.samplingWindow) >= duration('1s')", "samplingWindow must be at least 1s"),
]);
pub const LIMIT: Schema = object![field("unit", one_of(&["Second", "Minute", "Hour"]), "").required(), field("value", VALUE_3, "").required(),];
pub const REQUEST: Schema = object![field("limit", LIMIT, "").required(),];
pub const RESPONSE_TRAILERS: Schema = object![field("prefix", STRING.like(r"^[^\r\n\x00]*$"), ""),];
pub const RESPONSE: Schema = object![field("limit", LIMIT, "").required(), field("responseTrailers", RESPONSE_TRAILERS, ""),];
pub const BANDWIDTH_LIMIT: Schema = object![field("request", REQUEST, ""), field("response", RESPONSE, ""),]
    .rules(&[rule("has(self.request) || has(self.response)", "at least one of request or response must be specified")]);
pub const ABORT: Schema = object![
    field("grpcStatus", INTEGER.int32().between(0, 16), ""),
    field("httpStatus", INTEGER.int32().between(200, 600), ""),
    field("percentage", NUMBER.default(Literal::Int(100)), ""),
]
.rules(&[
    rule("!(has(self.httpStatus) && has(self.grpcStatus))", "httpStatus and grpcStatus cannot be simultaneously defined."),
    rule("has(self.httpStatus) || has(self.grpcStatus)", "httpStatus and grpcStatus are set at least one."),
]);
pub const DELAY: Schema = object![field("fixedDelay", BACKOFF, "").required(), field("percentage", NUMBER.default(Literal::Int(100)), ""),];
pub const FAULT_INJECTION: Schema = object![field("abort", ABORT, ""), field("delay", DELAY, ""),]
    .rules(&[rule("has(self.delay) || has(self.abort)", "Delay and abort faults are set at least one.")]);
pub const CONNECT: Schema = object![field("terminate", BOOLEAN, ""),];
pub const HTTP_UPGRADE_ITEM: Schema = object![field("connect", CONNECT, ""), field("type", STRING, "").required(),]
    .rules(&[rule("!has(self.connect) || self.type == 'CONNECT'", "The connect configuration is only allowed when the type is CONNECT.")]);
pub const MERGE_TYPE: Schema = STRING.rules(&[rule("self != 'Replace'", "Replace is not a valid MergeType for BackendTrafficPolicySpec")]);
pub const TYPE_11: Schema = one_of(&["Exact", "RegularExpression", "Distinct"]).default(Literal::Str("Exact"));
pub const HEADERS_ITEM_3: Schema = object![
    field("invert", BOOLEAN.default(Literal::Bool(false)), ""),
    field("name", STRING.at_least(1).at_most(256), "").required(),
    field("type", TYPE_11, ""),
    field("value", STRING.at_most(1024), ""),
];
pub const METHODS_ITEM: Schema = object![field("invert", BOOLEAN.default(Literal::Bool(false)), ""), field("value", METHOD, "").required(),];
pub const TYPE_12: Schema = one_of(&["Exact", "Distinct"]).default(Literal::Str("Exact"));
pub const SOURCE_CIDR: Schema = object![
    field("invert", BOOLEAN.default(Literal::Bool(false)), ""),
    field("type", TYPE_12, ""),
    field("value", STRING.at_least(1).at_most(256), "").required(),
];
pub const CLIENT_SELECTORS_ITEM: Schema = object![
    field("headers", array(&HEADERS_ITEM_3).at_most(128), ""),
    field("methods", array(&METHODS_ITEM), ""),
    field("path", PATH_5, ""),
    field("queryParams", array(&HEADERS_ITEM_3).at_most(16), ""),
    field("sourceCIDR", SOURCE_CIDR, ""),
]
.rules(&[rule(
    "has(self.headers) || has(self.methods) || has(self.path) || has(self.sourceCIDR) || has(self.queryParams)",
    "at least one of headers, methods, path, sourceCIDR or queryParams must be specified",
)]);
pub const CLIENT_SELECTORS: Schema = array(&CLIENT_SELECTORS_ITEM).at_most(8);
pub const METADATA: Schema = object![field("key", STRING, "").required(), field("namespace", STRING, "").required(),];
pub const REQUEST_2: Schema =
    object![field("from", one_of(&["Number", "Metadata"]), "").required(), field("metadata", METADATA, ""), field("number", INTEGER, ""),]
        .rules(&[rule("!(has(self.number) && has(self.metadata))", "only one of number or metadata can be specified")]);
pub const COST: Schema = object![field("request", REQUEST_2, ""), field("response", REQUEST_2, ""),];
pub const FROM_METADATA: Schema = object![field("key", STRING.at_least(1), "").required(), field("namespace", STRING.at_least(1), "").required(),];
pub const UNIT: Schema = one_of(&["Second", "Minute", "Hour", "Day", "Week", "Month", "Year"]);
pub const LIMIT_2: Schema = object![
    field("fromMetadata", FROM_METADATA, ""),
    field("requests", INTEGER.between(0, 4294967295), "").required(),
    field("unit", UNIT, "").required(),
];
pub const RULES_ITEM_4: Schema = object![
    field("clientSelectors", CLIENT_SELECTORS, ""),
    field("cost", COST, ""),
    field("limit", LIMIT_2, "").required(),
    field("shadowMode", BOOLEAN, ""),
    field("shared", BOOLEAN, ""),
    field("xRateLimitHeaders", one_of(&["Off", "DraftVersion03"]), ""),
];
pub const GLOBAL: Schema = object![field("rules", array(&RULES_ITEM_4).at_most(256), "").required(),];
pub const RULES_5: Schema = array(&RULES_ITEM_4).at_most(16).rules(&[
    rule("self.all(r, !has(r.cost) || !has(r.cost.response))", "response cost is not supported for Local Rate Limits"),
    rule("self.all(r, !has(r.limit.fromMetadata))", "limit fromMetadata is not supported for Local Rate Limits"),
]);
pub const LOCAL: Schema = object![field("rules", RULES_5, ""),];
pub const RATE_LIMIT: Schema = object![field("global", GLOBAL, ""), field("local", LOCAL, ""), field("type", one_of(&["Global", "Local"]), ""),];
pub const REQUEST_BUFFER: Schema = object![field("limit", VALUE_3, ""),];
pub const RESPONSE_HEADERS_ITEM: Schema = object![field("name", ALLOW_HEADERS_ITEM, "").required(), field("value", VALUE_4, "").required(),];
pub const RESPONSE_HEADERS: Schema = array(&RESPONSE_HEADERS_ITEM).at_least(1).at_most(16);
pub const RANGE: Schema = object![field("end", INTEGER, "").required(), field("start", INTEGER, "").required(),]
    .rules(&[rule("self.end > self.start", "end must be greater than start")]);
pub const TYPE_14: Schema = one_of(&["Value", "Range"]).default(Literal::Str("Value"));
pub const STATUS_CODES_ITEM_3: Schema = object![field("range", RANGE, ""), field("type", TYPE_14, "").required(), field("value", INTEGER, ""),]
    .rules(&[
        rule("(!has(self.type) || self.type == 'Value')? has(self.value) : true", "value must be set for type Value"),
        rule("(has(self.type) && self.type == 'Range')? has(self.range) : true", "range must be set for type Range"),
    ]);
pub const STATUS_CODES: Schema = array(&STATUS_CODES_ITEM_3).at_least(1).at_most(50);
pub const MATCH: Schema = object![field("responseHeaders", RESPONSE_HEADERS, ""), field("statusCodes", STATUS_CODES, ""),]
    .rules(&[rule("has(self.statusCodes) || has(self.responseHeaders)", "at least one of statusCodes or responseHeaders must be specified")]);
pub const PATH_6: Schema = object![
    field("replaceFullPath", STRING.at_most(1024), ""),
    field("replacePrefixMatch", STRING.at_most(1024), ""),
    field("type", TYPE_2, "").required(),
]
.rules(&[
    rule("self.type == 'ReplaceFullPath'", "only ReplaceFullPath is supported for path.type"),
    rule(
        "self.type == 'ReplaceFullPath' ? has(self.replaceFullPath) : true",
        "replaceFullPath must be specified when type is set to 'ReplaceFullPath'",
    ),
    rule("has(self.replaceFullPath) ? self.type == 'ReplaceFullPath' : true", "type must be 'ReplaceFullPath' when replaceFullPath is set"),
    rule(
        "self.type == 'ReplacePrefixMatch' ? has(self.replacePrefixMatch) : true",
        "replacePrefixMatch must be specified when type is set to 'ReplacePrefixMatch'",
    ),
    rule(
        "has(self.replacePrefixMatch) ? self.type == 'ReplacePrefixMatch' : true",
        "type must be 'ReplacePrefixMatch' when replacePrefixMatch is set",
    ),
]);
pub const STATUS_CODE_2: Schema = int_of(&[301, 302]).default(Literal::Int(302));
pub const REDIRECT: Schema = object![
    field("hostname", NAME, ""),
    field("path", PATH_6, ""),
    field("port", INTEGER.int32(), ""),
    field("scheme", one_of(&["http", "https"]), ""),
    field("statusCode", STATUS_CODE_2, ""),
];
pub const HEADER_2: Schema = object![field("add", ADD_2, ""), field("remove", array(&STRING).at_most(16).distinct(), ""), field("set", ADD_2, ""),]
    .rules(&[rule("!has(self.remove) || size(self.remove) == 0", "Remove is not supported for header in CustomResponse")]);
pub const RESPONSE_2: Schema =
    object![field("body", BODY, ""), field("contentType", STRING, ""), field("header", HEADER_2, ""), field("statusCode", INTEGER, ""),];
pub const RESPONSE_OVERRIDE_ITEM: Schema = object![
    field("match", MATCH, "").required(),
    field("redirect", REDIRECT, ""),
    field("response", RESPONSE_2, ""),
    field("source", one_of(&["All", "Local", "Backend"]), ""),
]
.rules(&[rule(
    "(has(self.response) && !has(self.redirect)) || (!has(self.response) && has(self.redirect))",
    "exactly one of response or redirect must be specified",
)]);
pub const METRICS: Schema = object![field("routeStatName", STRING, ""),];
pub const TRACING: Schema = object![
    field("clientSamplingFraction", FRACTION, ""),
    field("customTags", map(&CUSTOM_TAGS_ENTRY), ""),
    field("overallSamplingFraction", FRACTION, ""),
    field("samplingFraction", FRACTION, ""),
    field("spanName", SPAN_NAME, ""),
    field("tags", map(&STRING), ""),
];
pub const TELEMETRY: Schema = object![field("metrics", METRICS, ""), field("tracing", TRACING, ""),];
pub const SPEC_BACKEND_TRAFFIC_POLICY: Schema = object![
    field("admissionControl", ADMISSION_CONTROL, ""),
    field("bandwidthLimit", BANDWIDTH_LIMIT, ""),
    field("circuitBreaker", CIRCUIT_BREAKER, ""),
    field("compression", array(&COMPRESSION_ITEM), ""),
    field("compressor", array(&COMPRESSION_ITEM), ""),
    field("connection", CONNECTION, ""),
    field("dns", DNS, ""),
    field("faultInjection", FAULT_INJECTION, ""),
    field("healthCheck", HEALTH_CHECK, ""),
    field("http2", HTTP2, ""),
    field("httpUpgrade", array(&HTTP_UPGRADE_ITEM), ""),
    field("loadBalancer", LOAD_BALANCER, ""),
    field("mergeType", MERGE_TYPE, ""),
    field("proxyProtocol", PROXY_PROTOCOL, ""),
    field("rateLimit", RATE_LIMIT, ""),
    field("requestBuffer", REQUEST_BUFFER, ""),
    field("responseOverride", array(&RESPONSE_OVERRIDE_ITEM), ""),
    field("retry", RETRY_2, ""),
    field("routingType", STRING, ""),
    field("targetRef", TARGET_REFS_ITEM, ""),
    field("targetRefs", array(&TARGET_REFS_ITEM), ""),
    field("targetSelectors", array(&TARGET_SELECTORS_ITEM), ""),
    field("tcpKeepalive", TCP_KEEPALIVE, ""),
    field("telemetry", TELEMETRY, ""),
    field("timeout", TIMEOUT_2, ""),
    field("useClientProtocol", BOOLEAN, ""),
].rules(&[
    rule("(has(self.targetRef) && !has(self.targetRefs)) || (!has(self.targetRef) && has(self.targetRefs)) || (has(self.targetSelectors) && self.targetSelectors.size() > 0)", "either targetRef or targetRefs must be used"),
    rule("has(self.targetRef) ? self.targetRef.group == 'gateway.networking.k8s.io' : true", "this policy can only have a targetRef.group of gateway.networking.k8s.io"),
    rule("has(self.targetRef) ? self.targetRef.kind in ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute'] : true", "this policy can only have a targetRef.kind of Gateway/ListenerSet/HTTPRoute/GRPCRoute/TCPRoute/UDPRoute/TLSRoute"),
    rule("has(self.targetRefs) ? self.targetRefs.all(ref, ref.group == 'gateway.networking.k8s.io') : true", "this policy can only have a targetRefs[*].group of gateway.networking.k8s.io"),
    rule("has(self.targetRefs) ? self.targetRefs.all(ref, ref.kind in ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute']) : true", "this policy can only have a targetRefs[*].kind of Gateway/ListenerSet/HTTPRoute/GRPCRoute/TCPRoute/UDPRoute/TLSRoute"),
    rule("!has(self.mergeType) || ((!has(self.targetRef) || self.targetRef.kind in ['HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute']) && (!has(self.targetRefs) || self.targetRefs.all(ref, ref.kind in ['HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute'])) && (!has(self.targetSelectors) || self.targetSelectors.all(sel, sel.kind in ['HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute'])))", "mergeType can only be used with xRoute targets"),
    rule("!has(self.compression) || !has(self.compressor)", "either compression or compressor can be set, not both"),
    rule("!has(self.requestBuffer) || !has(self.httpUpgrade) || self.httpUpgrade.size() == 0", "requestBuffer cannot be used together with httpUpgrade"),
    rule("!has(self.admissionControl) || ((!has(self.targetRef) || self.targetRef.kind in ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute']) && (!has(self.targetRefs) || self.targetRefs.all(ref, ref.kind in ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute'])) && (!has(self.targetSelectors) || self.targetSelectors.all(sel, sel.kind in ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute'])))", "admissionControl can only be used with HTTPRoute, GRPCRoute, Gateway, or ListenerSet targets"),
    rule("!((has(self.connection) && has(self.connection.preconnect) && has(self.connection.preconnect.predictivePercent)) && !(has(self.loadBalancer) && has(self.loadBalancer.type) && self.loadBalancer.type in ['Random', 'RoundRobin']))", "predictivePercent in preconnect policy only works with RoundRobin or Random load balancers"),
]);
