// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use chancery_base::object;
use chancery_base::schema::{
    ANY, BASE64, BOOLEAN, EMPTY_OBJECT, INTEGER, Literal, STRING, Schema, array, field, int_of, map, one_of, quantity, rule,
};

pub const GROUP: Schema = STRING.like(r"^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$").at_most(253);
pub const KIND: Schema = STRING.like("^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$").at_least(1).at_most(63);
pub const NAMESPACE: Schema = STRING.like("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$").at_least(1).at_most(63);
pub const PARAMETERS_REF: Schema = object![
    field("group", GROUP, "").required(),
    field("kind", KIND, "").required(),
    field("name", STRING.at_least(1).at_most(253), "").required(),
    field("namespace", NAMESPACE, ""),
];
pub const MATCH_EXPRESSIONS_ITEM: Schema =
    object![field("key", STRING, "").required(), field("operator", STRING, "").required(), field("values", array(&STRING), ""),];
pub const SELECTOR: Schema = object![field("matchExpressions", array(&MATCH_EXPRESSIONS_ITEM), ""), field("matchLabels", map(&STRING), ""),];
pub const ANNOTATIONS_ENTRY: Schema = STRING.at_least(0).at_most(4096);
pub const PARAMETERS_REF_2: Schema =
    object![field("group", GROUP, "").required(), field("kind", KIND, "").required(), field("name", STRING.at_least(1).at_most(253), "").required(),];
pub const GROUP_2: Schema = STRING
    .like(r"^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    .at_most(253)
    .default(Literal::Str("gateway.networking.k8s.io"));
pub const KINDS_ITEM: Schema = object![field("group", GROUP_2, ""), field("kind", KIND, "").required(),];
pub const FROM_2: Schema = one_of(&["All", "Selector", "Same"]).default(Literal::Str("Same"));
pub const NAMESPACES_2: Schema =
    object![field("from", FROM_2, ""), field("selector", SELECTOR, ""),].default(Literal::Object(&[("from", Literal::Str("Same"))]));
pub const ALLOWED_ROUTES: Schema = object![field("kinds", array(&KINDS_ITEM).at_most(8), ""), field("namespaces", NAMESPACES_2, ""),]
    .default(Literal::Object(&[("namespaces", Literal::Object(&[("from", Literal::Str("Same"))]))]));
pub const HOSTNAME: Schema = STRING.like(r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$").at_least(1).at_most(253);
pub const NAME: Schema = STRING.like(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$").at_least(1).at_most(253);
pub const PROTOCOL: Schema = STRING
    .like(r"^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9]+$")
    .at_least(1)
    .at_most(255);
pub const GROUP_3: Schema =
    STRING.like(r"^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$").at_most(253).default(Literal::Str(""));
pub const KIND_2: Schema = STRING.like("^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$").at_least(1).at_most(63).default(Literal::Str("Secret"));
pub const CERTIFICATE_REFS_ITEM: Schema = object![
    field("group", GROUP_3, ""),
    field("kind", KIND_2, ""),
    field("name", STRING.at_least(1).at_most(253), "").required(),
    field("namespace", NAMESPACE, ""),
];
pub const CERTIFICATE_REFS: Schema = array(&CERTIFICATE_REFS_ITEM).at_most(64);
pub const MODE: Schema = one_of(&["Terminate", "Passthrough"]).default(Literal::Str("Terminate"));
pub const TLS: Schema =
    object![field("certificateRefs", CERTIFICATE_REFS, ""), field("mode", MODE, ""), field("options", map(&ANNOTATIONS_ENTRY).at_most(16), ""),]
        .rules(&[rule(
            "self.mode == 'Terminate' ? size(self.certificateRefs) > 0 || size(self.options) > 0 : true",
            "certificateRefs or options must be specified when mode is Terminate",
        )]);
pub const LISTENERS_ITEM: Schema = object![
    field("allowedRoutes", ALLOWED_ROUTES, ""),
    field("hostname", HOSTNAME, ""),
    field("name", NAME, "").required(),
    field("port", INTEGER.int32().between(1, 65535), "").required(),
    field("protocol", PROTOCOL, "").required(),
    field("tls", TLS, ""),
];
pub const KIND_3: Schema = STRING.like("^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$").at_least(1).at_most(63).default(Literal::Str("Gateway"));
pub const PARENT_REFS_ITEM: Schema = object![
    field("group", GROUP_2, ""),
    field("kind", KIND_3, ""),
    field("name", STRING.at_least(1).at_most(253), "").required(),
    field("namespace", NAMESPACE, ""),
    field("port", INTEGER.int32().between(1, 65535), ""),
    field("sectionName", NAME, ""),
];
pub const PARENT_REFS: Schema = array(&PARENT_REFS_ITEM).at_most(32).rules(&[
    rule("self.all(p1, self.all(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && (((!has(p1.__namespace__) || p1.__namespace__ == '') && (!has(p2.__namespace__) || p2.__namespace__ == '')) || (has(p1.__namespace__) && has(p2.__namespace__) && p1.__namespace__ == p2.__namespace__)) ? ((!has(p1.sectionName) || p1.sectionName == '') == (!has(p2.sectionName) || p2.sectionName == '') && (!has(p1.port) || p1.port == 0) == (!has(p2.port) || p2.port == 0)): true))", "sectionName or port must be specified when parentRefs includes 2 or more references to the same parent"),
    rule("self.all(p1, self.exists_one(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && (((!has(p1.__namespace__) || p1.__namespace__ == '') && (!has(p2.__namespace__) || p2.__namespace__ == '')) || (has(p1.__namespace__) && has(p2.__namespace__) && p1.__namespace__ == p2.__namespace__ )) && (((!has(p1.sectionName) || p1.sectionName == '') && (!has(p2.sectionName) || p2.sectionName == '')) || ( has(p1.sectionName) && has(p2.sectionName) && p1.sectionName == p2.sectionName)) && (((!has(p1.port) || p1.port == 0) && (!has(p2.port) || p2.port == 0)) || (has(p1.port) && has(p2.port) && p1.port == p2.port))))", "sectionName or port must be unique when parentRefs includes 2 or more references to the same parent"),
]);
pub const ALLOW_HEADERS_ITEM: Schema = STRING.like(r"^[A-Za-z0-9!#$%&'*+\-.^_\x60|~]+$").at_least(1).at_most(256);
pub const KIND_4: Schema = STRING.like("^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$").at_least(1).at_most(63).default(Literal::Str("Service"));
pub const BACKEND_REF: Schema = object![
    field("group", GROUP_3, ""),
    field("kind", KIND_4, ""),
    field("name", STRING.at_least(1).at_most(253), "").required(),
    field("namespace", NAMESPACE, ""),
    field("port", INTEGER.int32().between(1, 65535), ""),
]
.rules(&[rule("(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true", "Must have port for Service reference")]);
pub const VALUE: Schema = STRING.like(r"^[!-~]+([\t ]?[!-~]+)*$").at_least(1).at_most(4096);
pub const ADD_ITEM: Schema = object![field("name", ALLOW_HEADERS_ITEM, "").required(), field("value", VALUE, "").required(),];
pub const ADD: Schema = array(&ADD_ITEM).at_most(16).keyed_by(&["name"]);
pub const REQUEST_HEADER_MODIFIER: Schema =
    object![field("add", ADD, ""), field("remove", array(&STRING).at_most(16).distinct(), ""), field("set", ADD, ""),];
pub const DENOMINATOR: Schema = INTEGER.int32().starting_at(1).default(Literal::Int(100));
pub const FRACTION: Schema = object![field("denominator", DENOMINATOR, ""), field("numerator", INTEGER.int32().starting_at(0), "").required(),]
    .rules(&[rule("self.numerator <= self.denominator", "numerator must be less than or equal to denominator")]);
pub const REQUEST_MIRROR: Schema =
    object![field("backendRef", BACKEND_REF, "").required(), field("fraction", FRACTION, ""), field("percent", INTEGER.int32().between(0, 100), ""),]
        .rules(&[rule("!(has(self.percent) && has(self.fraction))", "Only one of percent or fraction may be specified in HTTPRequestMirrorFilter")]);
pub const TYPE_2: Schema = one_of(&["ReplaceFullPath", "ReplacePrefixMatch"]);
pub const WEIGHT: Schema = INTEGER.int32().between(0, 1000000).default(Literal::Int(1));
pub const TYPE_4: Schema = one_of(&["Exact", "RegularExpression"]).default(Literal::Str("Exact"));
pub const METHOD: Schema = one_of(&["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]);
pub const TYPE_5: Schema = one_of(&["Exact", "PathPrefix", "RegularExpression"]).default(Literal::Str("PathPrefix"));
pub const VALUE_2: Schema = STRING.at_most(1024).default(Literal::Str("/"));
pub const BACKOFF: Schema = STRING.like("^([0-9]{1,5}(h|m|s|ms)){1,4}$");
pub const LIFETIME_TYPE: Schema = one_of(&["Permanent", "Session"]).default(Literal::Str("Session"));
pub const COOKIE_CONFIG: Schema = object![field("lifetimeType", LIFETIME_TYPE, ""),];
pub const TYPE_6: Schema = one_of(&["Cookie", "Header"]).default(Literal::Str("Cookie"));
pub const SESSION_PERSISTENCE: Schema = object![
    field("absoluteTimeout", BACKOFF, ""),
    field("cookieConfig", COOKIE_CONFIG, ""),
    field("sessionName", STRING.at_most(128), ""),
    field("type", TYPE_6, ""),
].rules(&[
    rule("!has(self.cookieConfig) || !has(self.cookieConfig.lifetimeType) || self.cookieConfig.lifetimeType != 'Permanent' || has(self.absoluteTimeout)", "AbsoluteTimeout must be specified when cookie lifetimeType is Permanent"),
    rule("!has(self.cookieConfig) || self.type == 'Cookie'", "cookieConfig can only be set with type Cookie"),
]);
pub const BACKEND_REFS_ITEM_3: Schema = object![
    field("group", GROUP_3, ""),
    field("kind", KIND_4, ""),
    field("name", STRING.at_least(1).at_most(253), "").required(),
    field("namespace", NAMESPACE, ""),
    field("port", INTEGER.int32().between(1, 65535), ""),
    field("weight", WEIGHT, ""),
]
.rules(&[rule("(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true", "Must have port for Service reference")]);
pub const BACKEND_REFS: Schema = array(&BACKEND_REFS_ITEM_3).at_least(1).at_most(16);
pub const RULES_ITEM_3: Schema = object![field("backendRefs", BACKEND_REFS, "").required(), field("name", NAME, ""),];
pub const RULES_3: Schema = array(&RULES_ITEM_3).at_least(1).at_most(16).rules(&[rule(
    "self.all(l1, !has(l1.name) || self.exists_one(l2, has(l2.name) && l1.name == l2.name))",
    "Rule name must be unique within the route",
)]);
pub const RULES_4: Schema = array(&RULES_ITEM_3).at_least(1).at_most(1);
pub const SPEC_TCPROUTE: Schema =
    object![field("parentRefs", PARENT_REFS, ""), field("rules", RULES_3, "").required(), field("useDefaultGateways", one_of(&["All", "None"]), ""),];
pub const SPEC_TCPROUTE_2: Schema =
    object![field("parentRefs", PARENT_REFS, ""), field("rules", RULES_4, "").required(), field("useDefaultGateways", one_of(&["All", "None"]), ""),];
pub const TARGET_REFS_ITEM: Schema = object![
    field("group", GROUP, "").required(),
    field("kind", KIND, "").required(),
    field("name", STRING.at_least(1).at_most(253), "").required(),
    field("sectionName", NAME, ""),
];
pub const WELL_KNOWN_CACERTIFICATES: Schema = STRING
    .like(r"^(System|([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]))$")
    .at_least(1)
    .at_most(253);
pub const FINGERPRINTS_ITEM: Schema = one_of(&["JA3", "JA4"]);
pub const MAX_VERSION: Schema = one_of(&["Auto", "1.0", "1.1", "1.2", "1.3"]);
pub const STATUS_CODES_ITEM_2: Schema = INTEGER.between(100, 599);
pub const VALUE_3: Schema = quantity("^[1-9]+[0-9]*([EPTGMK]i|[EPTGMk])?$");
pub const MAX_CONNECTIONS: Schema = INTEGER.between(0, 4294967295).default(Literal::Int(1024));
pub const PER_ENDPOINT: Schema = object![field("maxConnections", MAX_CONNECTIONS, ""),];
pub const RETRY_BUDGET: Schema = object![field("minRetryConcurrency", INTEGER.int32(), ""), field("percent", FRACTION, "").required(),];
pub const CIRCUIT_BREAKER: Schema = object![
    field("maxConnections", MAX_CONNECTIONS, ""),
    field("maxParallelRequests", MAX_CONNECTIONS, ""),
    field("maxParallelRetries", MAX_CONNECTIONS, ""),
    field("maxPendingRequests", MAX_CONNECTIONS, ""),
    field("maxRequestsPerConnection", INTEGER.between(0, 4294967295), ""),
    field("perEndpoint", PER_ENDPOINT, ""),
    field("retryBudget", RETRY_BUDGET, ""),
];
pub const COMPRESSION_ITEM: Schema = object![
    field("brotli", EMPTY_OBJECT, ""),
    field("gzip", EMPTY_OBJECT, ""),
    field("minContentLength", VALUE_3, ""),
    field("type", one_of(&["Gzip", "Brotli", "Zstd"]), "").required(),
    field("zstd", EMPTY_OBJECT, ""),
];
pub const PRECONNECT: Schema =
    object![field("perEndpointPercent", INTEGER.int32().between(100, 300), ""), field("predictivePercent", INTEGER.int32().starting_at(100), ""),];
pub const CONNECTION: Schema =
    object![field("bufferLimit", VALUE_3, ""), field("preconnect", PRECONNECT, ""), field("socketBufferLimit", VALUE_3, ""),];
pub const LOOKUP_FAMILY: Schema = one_of(&["IPv4", "IPv6", "IPv4Preferred", "IPv6Preferred", "IPv4AndIPv6"]);
pub const DNS: Schema = object![field("dnsRefreshRate", BACKOFF, ""), field("lookupFamily", LOOKUP_FAMILY, ""), field("respectDnsTtl", BOOLEAN, ""),];
pub const GRPC_3: Schema = object![field("service", STRING, ""),];
pub const MATCHES_ITEM_3: Schema = one_of(&["Failure", "FailureSeriesStart", "Success", "HealthyTransition"]);
pub const MATCHES_2: Schema = array(&MATCHES_ITEM_3).at_most(4).distinct().rules(&[rule(
    "self.exists(e, e == 'Failure' || e == 'FailureSeriesStart') == self.exists(e, e == 'Success' || e == 'HealthyTransition')",
    "a failure type and a success type must both be specified together",
)]);
pub const FILE: Schema = object![field("path", STRING.at_least(1), "").required(),];
pub const SINKS_ITEM: Schema = object![field("file", FILE, ""), field("type", one_of(&["File"]), "").required(),]
    .rules(&[rule("self.type == 'File' ? has(self.file) : !has(self.file)", "If ProxyHealthCheckLogSink type is File, file field needs to be set.")]);
pub const HEALTH_CHECK_LOG: Schema = object![field("matches", MATCHES_2, ""), field("sinks", array(&SINKS_ITEM).at_most(1), ""),];
pub const HEALTHY_THRESHOLD: Schema = INTEGER.int32().starting_at(1).default(Literal::Int(1));
pub const EXPECTED_RESPONSE: Schema =
    object![field("binary", BASE64, ""), field("text", STRING, ""), field("type", one_of(&["Text", "Binary"]), "").required(),].rules(&[
        rule("self.type == 'Text' ? has(self.text) : !has(self.text)", "If payload type is Text, text field needs to be set."),
        rule("self.type == 'Binary' ? has(self.binary) : !has(self.binary)", "If payload type is Binary, binary field needs to be set."),
    ]);
pub const HTTP_3: Schema = object![
    field("expectedResponse", EXPECTED_RESPONSE, ""),
    field("expectedStatuses", array(&STATUS_CODES_ITEM_2), ""),
    field("hostname", NAME, ""),
    field("method", STRING.at_most(16), ""),
    field("path", STRING.at_least(1).at_most(1024), "").required(),
    field("requestBody", EXPECTED_RESPONSE, ""),
    field("retriableStatuses", array(&STATUS_CODES_ITEM_2), ""),
]
.rules(&[rule(
    "!has(self.requestBody) || (has(self.method) && self.method.upperAscii() in ['POST','PUT'])",
    "The requestBody field can only be set when method is POST or PUT.",
)]);
pub const INTERVAL: Schema = STRING.like("^([0-9]{1,5}(h|m|s|ms)){1,4}$").default(Literal::Str("3s"));
pub const OVERRIDES: Schema = object![field("port", INTEGER.int32().between(1, 65535), ""),];
pub const TCP: Schema = object![field("receive", EXPECTED_RESPONSE, ""), field("send", EXPECTED_RESPONSE, ""),];
pub const TIMEOUT: Schema = STRING.like("^([0-9]{1,5}(h|m|s|ms)){1,4}$").default(Literal::Str("1s"));
pub const UNHEALTHY_THRESHOLD: Schema = INTEGER.int32().starting_at(1).default(Literal::Int(3));
pub const ACTIVE: Schema = object![
    field("grpc", GRPC_3, ""),
    field("healthCheckLog", HEALTH_CHECK_LOG, ""),
    field("healthyThreshold", HEALTHY_THRESHOLD, ""),
    field("http", HTTP_3, ""),
    field("initialJitter", BACKOFF, ""),
    field("interval", INTERVAL, ""),
    field("overrides", OVERRIDES, ""),
    field("tcp", TCP, ""),
    field("timeout", TIMEOUT, ""),
    field("type", one_of(&["HTTP", "TCP", "GRPC"]), "").required(),
    field("unhealthyThreshold", UNHEALTHY_THRESHOLD, ""),
]
.rules(&[
    rule("self.type == 'HTTP' ? has(self.http) : !has(self.http)", "If Health Checker type is HTTP, http field needs to be set."),
    rule("self.type == 'TCP' ? has(self.tcp) : !has(self.tcp)", "If Health Checker type is TCP, tcp field needs to be set."),
    rule("has(self.grpc) ? self.type == 'GRPC' : true", "The grpc field can only be set if the Health Checker type is GRPC."),
]);
pub const BASE_EJECTION_TIME: Schema = STRING.like("^([0-9]{1,5}(h|m|s|ms)){1,4}$").default(Literal::Str("30s"));
pub const CONSECUTIVE5_XX_ERRORS: Schema = INTEGER.int32().default(Literal::Int(5));
pub const MAX_EJECTION_PERCENT: Schema = INTEGER.int32().between(0, 100).default(Literal::Int(10));
pub const PASSIVE: Schema = object![
    field("alwaysEjectOneEndpoint", BOOLEAN.default(Literal::Bool(false)), ""),
    field("baseEjectionTime", BASE_EJECTION_TIME, ""),
    field("consecutive5XxErrors", CONSECUTIVE5_XX_ERRORS, ""),
    field("consecutiveGatewayErrors", INTEGER.int32(), ""),
    field("consecutiveLocalOriginFailures", CONSECUTIVE5_XX_ERRORS, ""),
    field("failurePercentageThreshold", INTEGER.int32().between(0, 100), ""),
    field("interval", INTERVAL, ""),
    field("maxEjectionPercent", MAX_EJECTION_PERCENT, ""),
    field("splitExternalLocalOriginErrors", BOOLEAN.default(Literal::Bool(false)), ""),
];
pub const HEALTH_CHECK: Schema =
    object![field("active", ACTIVE, ""), field("panicThreshold", INTEGER.int32().between(0, 100), ""), field("passive", PASSIVE, ""),];
pub const CONNECTION_KEEPALIVE: Schema = object![
    field("idleInterval", BACKOFF, ""),
    field("interval", BACKOFF, ""),
    field("intervalJitter", INTEGER.int32().between(0, 100), ""),
    field("timeout", BACKOFF, ""),
]
.rules(&[rule(
    "!has(self.timeout) || !has(self.interval) || duration(self.timeout) < duration(self.interval)",
    "timeout must be less than interval",
)]);
pub const HTTP2: Schema = object![
    field("connectionKeepalive", CONNECTION_KEEPALIVE, ""),
    field("initialConnectionWindowSize", VALUE_3, ""),
    field("initialStreamWindowSize", VALUE_3, ""),
    field("maxConcurrentStreams", INTEGER.int32().between(1, 2147483647), ""),
    field("onInvalidMessage", STRING, ""),
];
pub const AUTHORITY: Schema = STRING.like(r"^[^\x00\n\r]*$").at_least(1).at_most(259);
pub const REPORTING_PERIOD: Schema =
    STRING.like("^([0-9]{1,5}(h|m|s|ms)){1,4}$").rules(&[rule("duration(self) > duration('0s')", "reportingPeriod must be greater than 0")]);
pub const OUT_OF_BAND: Schema =
    object![field("authority", AUTHORITY, ""), field("port", INTEGER.int32().between(1, 65535), ""), field("reportingPeriod", REPORTING_PERIOD, ""),];
pub const BACKEND_UTILIZATION: Schema = object![
    field("blackoutPeriod", BACKOFF, ""),
    field("errorUtilizationPenaltyPercent", INTEGER.int32().starting_at(0), ""),
    field("keepResponseHeaders", BOOLEAN.default(Literal::Bool(false)), ""),
    field("metricNamesForComputingUtilization", array(&STRING), ""),
    field("outOfBand", OUT_OF_BAND, ""),
    field("weightExpirationPeriod", BACKOFF, ""),
    field("weightUpdatePeriod", BACKOFF, ""),
];
pub const COOKIE: Schema = object![field("attributes", map(&STRING), ""), field("name", STRING, "").required(), field("ttl", BACKOFF, ""),];
pub const HEADER: Schema = object![field("name", STRING, "").required(),];
pub const TABLE_SIZE: Schema = INTEGER.between(2, 5000011).default(Literal::Int(65537));
pub const TYPE_9: Schema = one_of(&["SourceIP", "Header", "Headers", "Cookie", "QueryParams"]);
pub const CONSISTENT_HASH: Schema = object![
    field("cookie", COOKIE, ""),
    field("header", HEADER, ""),
    field("headers", array(&HEADER), ""),
    field("queryParams", array(&HEADER), ""),
    field("tableSize", TABLE_SIZE, ""),
    field("type", TYPE_9, "").required(),
]
.rules(&[
    rule("self.type == 'Header' ? has(self.header) : !has(self.header)", "If consistent hash type is header, the header field must be set."),
    rule("self.type == 'Headers' ? has(self.headers) : !has(self.headers)", "If consistent hash type is headers, the headers field must be set."),
    rule("self.type == 'Cookie' ? has(self.cookie) : !has(self.cookie)", "If consistent hash type is cookie, the cookie field must be set."),
    rule(
        "self.type == 'QueryParams' ? has(self.queryParams) : !has(self.queryParams)",
        "If consistent hash type is queryParams, the queryParams field must be set.",
    ),
]);
pub const NAME_2: Schema = STRING.like("^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$").at_least(1).at_most(253);
pub const DYNAMIC_MODULE: Schema =
    object![field("config", ANY, ""), field("lbPolicyName", STRING.at_least(1).at_most(253), "").required(), field("name", NAME_2, "").required(),];
pub const EXTRACT_FROM_ITEM: Schema = object![field("header", STRING, ""),];
pub const EXTRACT_FROM: Schema = array(&EXTRACT_FROM_ITEM).at_least(1).at_most(10);
pub const ENDPOINT_OVERRIDE: Schema = object![field("extractFrom", EXTRACT_FROM, "").required(),];
pub const SLOW_START: Schema = object![field("window", BACKOFF, "").required(),];
pub const TYPE_10: Schema = one_of(&["ConsistentHash", "LeastRequest", "Random", "RoundRobin", "BackendUtilization", "DynamicModule"]);
pub const FORCE: Schema = object![field("minEndpointsInZoneThreshold", INTEGER.int32(), ""),];
pub const PREFER_LOCAL: Schema =
    object![field("force", FORCE, ""), field("minEndpointsThreshold", INTEGER, ""), field("percentageEnabled", INTEGER.int32().between(0, 100), ""),];
pub const WEIGHTED_ZONES_ITEM: Schema = object![field("weight", INTEGER.int32(), "").required(), field("zone", STRING, "").required(),];
pub const WEIGHTED_ZONES: Schema = array(&WEIGHTED_ZONES_ITEM).keyed_by(&["zone"]);
pub const ZONE_AWARE: Schema = object![field("preferLocal", PREFER_LOCAL, ""), field("weightedZones", WEIGHTED_ZONES, ""),];
pub const LOAD_BALANCER: Schema = object![
    field("backendUtilization", BACKEND_UTILIZATION, ""),
    field("consistentHash", CONSISTENT_HASH, ""),
    field("dynamicModule", DYNAMIC_MODULE, ""),
    field("endpointOverride", ENDPOINT_OVERRIDE, ""),
    field("slowStart", SLOW_START, ""),
    field("type", TYPE_10, "").required(),
    field("zoneAware", ZONE_AWARE, ""),
].rules(&[
    rule("self.type == 'ConsistentHash' ? has(self.consistentHash) : !has(self.consistentHash)", "If LoadBalancer type is consistentHash, consistentHash field needs to be set."),
    rule("self.type == 'BackendUtilization' ? has(self.backendUtilization) : !has(self.backendUtilization)", "If LoadBalancer type is BackendUtilization, backendUtilization field needs to be set."),
    rule("self.type == 'DynamicModule' ? has(self.dynamicModule) : !has(self.dynamicModule)", "If LoadBalancer type is DynamicModule, dynamicModule field needs to be set."),
    rule("self.type in ['Random', 'ConsistentHash', 'DynamicModule'] ? !has(self.slowStart) : true", "Currently SlowStart is only supported for RoundRobin, LeastRequest, and BackendUtilization load balancers."),
    rule("self.type == 'ConsistentHash' && has(self.zoneAware) ? !has(self.zoneAware.preferLocal) : true", "PreferLocal zone-aware routing is not supported for ConsistentHash load balancers. Use weightedZones instead."),
    rule("self.type == 'BackendUtilization' && has(self.zoneAware) ? !has(self.zoneAware.preferLocal) : true", "PreferLocal zone-aware routing is not currently supported for BackendUtilization load balancers. Only WeightedZones can be used with BackendUtilization."),
    rule("self.type == 'DynamicModule' ? !has(self.zoneAware) : true", "ZoneAware routing is not supported for DynamicModule load balancers."),
    rule("has(self.zoneAware) ? !(has(self.zoneAware.preferLocal) && has(self.zoneAware.weightedZones)) : true", "ZoneAware PreferLocal and WeightedZones cannot be specified together."),
    rule("self.type == 'DynamicModule' ? !has(self.endpointOverride) : true", "EndpointOverride is not supported for DynamicModule load balancers."),
]);
pub const PROXY_PROTOCOL: Schema = object![field("version", one_of(&["V1", "V2"]), "").required(),];
pub const PATH_5: Schema =
    object![field("invert", BOOLEAN.default(Literal::Bool(false)), ""), field("type", TYPE_5, ""), field("value", VALUE_2, "").required(),];
pub const TYPE_13: Schema = one_of(&["Exact", "Prefix", "Suffix", "RegularExpression"]).default(Literal::Str("Exact"));
pub const VALUE_4: Schema = object![field("type", TYPE_13, ""), field("value", STRING.at_least(1).at_most(1024), "").required(),];
pub const TYPE_15: Schema = one_of(&["Inline", "ValueRef"]).default(Literal::Str("Inline"));
pub const BODY: Schema =
    object![field("inline", STRING, ""), field("type", TYPE_15, "").required(), field("valueRef", PARAMETERS_REF_2, ""),].rules(&[
        rule("(!has(self.type) || self.type == 'Inline')? has(self.inline) : true", "inline must be set for type Inline"),
        rule("(has(self.type) && self.type == 'ValueRef')? has(self.valueRef) : true", "valueRef must be set for type ValueRef"),
        rule("has(self.valueRef) ? self.valueRef.kind == 'ConfigMap' : true", "only ConfigMap is supported for ValueRef"),
    ]);
pub const ADD_ITEM_2: Schema =
    object![field("name", ALLOW_HEADERS_ITEM, "").required(), field("value", STRING.at_least(1).at_most(4096), "").required(),];
pub const ADD_2: Schema = array(&ADD_ITEM_2).at_most(16).keyed_by(&["name"]);
pub const NUM_RETRIES: Schema = INTEGER.int32().starting_at(0).default(Literal::Int(2));
pub const BACK_OFF: Schema = object![field("baseInterval", BACKOFF, ""), field("maxInterval", BACKOFF, ""),];
pub const PER_RETRY: Schema = object![field("backOff", BACK_OFF, ""), field("timeout", BACKOFF, ""),];
pub const TRIGGERS_ITEM: Schema = one_of(&[
    "5xx",
    "gateway-error",
    "reset",
    "reset-before-request",
    "connect-failure",
    "retriable-4xx",
    "refused-stream",
    "retriable-status-codes",
    "cancelled",
    "deadline-exceeded",
    "internal",
    "resource-exhausted",
    "unavailable",
]);
pub const RETRY_ON: Schema = object![field("httpStatusCodes", array(&STATUS_CODES_ITEM_2), ""), field("triggers", array(&TRIGGERS_ITEM), ""),];
pub const RETRY_2: Schema = object![
    field("numAttemptsPerPriority", INTEGER.int32(), ""),
    field("numRetries", NUM_RETRIES, ""),
    field("perRetry", PER_RETRY, ""),
    field("retryOn", RETRY_ON, ""),
];
pub const FROM_4: Schema = one_of(&["Same", "All", "Selector"]).default(Literal::Str("Same"));
pub const NAMESPACES_3: Schema = object![field("from", FROM_4, "").required(), field("selector", SELECTOR, ""),]
    .rules(&[rule("self.from != 'Selector' || has(self.selector)", "selector must be specified when from is Selector")]);
pub const TARGET_SELECTORS_ITEM: Schema = object![
    field("group", GROUP_2, ""),
    field("kind", KIND, "").required(),
    field("matchExpressions", array(&MATCH_EXPRESSIONS_ITEM), ""),
    field("matchLabels", map(&STRING), ""),
    field("namespaces", NAMESPACES_3, ""),
]
.rules(&[rule("has(self.group) ? self.group == 'gateway.networking.k8s.io' : true", "group must be gateway.networking.k8s.io")]);
pub const TCP_KEEPALIVE: Schema = object![field("idleTime", BACKOFF, ""), field("interval", BACKOFF, ""), field("probes", INTEGER.int32(), ""),];
pub const ENVIRONMENT: Schema = object![field("defaultValue", STRING, ""), field("name", STRING, "").required(),];
pub const LITERAL: Schema = object![field("value", STRING, "").required(),];
pub const TYPE_16: Schema = one_of(&["Literal", "Environment", "RequestHeader"]).default(Literal::Str("Literal"));
pub const CUSTOM_TAGS_ENTRY: Schema = object![
    field("environment", ENVIRONMENT, ""),
    field("literal", LITERAL, ""),
    field("requestHeader", ENVIRONMENT, ""),
    field("type", TYPE_16, "").required(),
];
pub const SPAN_NAME: Schema = object![field("client", STRING, "").required(), field("server", STRING, "").required(),];
pub const HTTP_4: Schema = object![
    field("connectionIdleTimeout", BACKOFF, ""),
    field("maxConnectionDuration", BACKOFF, ""),
    field("maxStreamDuration", BACKOFF, ""),
    field("requestTimeout", BACKOFF, ""),
    field("streamIdleTimeout", BACKOFF, ""),
];
pub const TCP_2: Schema = object![field("connectTimeout", BACKOFF, ""),];
pub const TIMEOUT_2: Schema = object![field("http", HTTP_4, ""), field("tcp", TCP_2, ""),];
pub const TRUSTED_CIDRS_ITEM: Schema = STRING.like(r"((25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\/([0-9]+))|((([0-9a-fA-F]{1,4}:){7,7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|([0-9a-fA-F]{1,4}:){1,4}(:[0-9a-fA-F]{1,4}){1,3}|([0-9a-fA-F]{1,4}:){1,3}(:[0-9a-fA-F]{1,4}){1,4}|([0-9a-fA-F]{1,4}:){1,2}(:[0-9a-fA-F]{1,4}){1,5}|[0-9a-fA-F]{1,4}:((:[0-9a-fA-F]{1,4}){1,6})|:((:[0-9a-fA-F]{1,4}){1,7}|:)|fe80:(:[0-9a-fA-F]{0,4}){0,4}%[0-9a-zA-Z]{1,}|::(ffff(:0{1,4}){0,1}:){0,1}((25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])\.){3,3}(25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])|([0-9a-fA-F]{1,4}:){1,4}:((25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])\.){3,3}(25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9]))\/([0-9]+))");
pub const BACKEND_REFS_ITEM_4: Schema = object![
    field("fallback", BOOLEAN, ""),
    field("group", GROUP_3, ""),
    field("kind", KIND_4, ""),
    field("name", STRING.at_least(1).at_most(253), "").required(),
    field("namespace", NAMESPACE, ""),
    field("port", INTEGER.int32().between(1, 65535), ""),
    field("weight", WEIGHT, ""),
]
.rules(&[rule("(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true", "Must have port for Service reference")]);
pub const BACKEND_SETTINGS: Schema = object![
    field("circuitBreaker", CIRCUIT_BREAKER, ""),
    field("connection", CONNECTION, ""),
    field("dns", DNS, ""),
    field("healthCheck", HEALTH_CHECK, ""),
    field("http2", HTTP2, ""),
    field("loadBalancer", LOAD_BALANCER, ""),
    field("proxyProtocol", PROXY_PROTOCOL, ""),
    field("retry", RETRY_2, ""),
    field("tcpKeepalive", TCP_KEEPALIVE, ""),
    field("timeout", TIMEOUT_2, ""),
].rules(&[
    rule("!((has(self.connection) && has(self.connection.preconnect) && has(self.connection.preconnect.predictivePercent)) && !(has(self.loadBalancer) && has(self.loadBalancer.type) && self.loadBalancer.type in ['Random', 'RoundRobin']))", "predictivePercent in preconnect policy only works with RoundRobin or Random load balancers"),
]);
pub const STATUS_ON_ERROR: Schema = int_of(&[
    400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 424, 426, 428, 429, 431, 500, 501, 502,
    503, 504, 505, 506, 507, 508, 510, 511,
])
.int32();
pub const OP: Schema = one_of(&["add", "remove", "replace", "move", "copy", "test"]);
pub const OPERATION_2: Schema = object![
    field("from", STRING, ""),
    field("jsonPath", STRING, ""),
    field("op", OP, "").required(),
    field("path", STRING, ""),
    field("value", ANY, ""),
];
