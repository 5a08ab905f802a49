// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{
    ADD_ITEM_2, BACKOFF, CERTIFICATE_REFS_ITEM, FINGERPRINTS_ITEM, HTTP2, MAX_VERSION, TARGET_REFS_ITEM, TARGET_SELECTORS_ITEM, TCP_KEEPALIVE,
    TRUSTED_CIDRS_ITEM, TYPE_13, VALUE_3, VALUE_4,
};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, EMPTY_OBJECT, INTEGER, Literal, STRING, Schema, array, field, one_of, rule};

pub const NAME_3: Schema = STRING.like("^[A-Za-z0-9-]+$").at_least(1).at_most(255);
pub const CUSTOM_HEADER: Schema = object![field("failClosed", BOOLEAN, ""), field("name", NAME_3, "").required(),];
pub const X_FORWARDED_FOR: Schema = object![
    field("disableXForwardedForAppend", BOOLEAN, ""),
    field("numTrustedHops", INTEGER.int32(), ""),
    field("trustedCIDRs", array(&TRUSTED_CIDRS_ITEM).at_least(1), ""),
]
.rules(&[rule(
    "(has(self.numTrustedHops) && !has(self.trustedCIDRs)) || (!has(self.numTrustedHops) && has(self.trustedCIDRs))",
    "only one of numTrustedHops or trustedCIDRs must be set",
)]);
pub const CLIENT_IPDETECTION: Schema =
    object![field("customHeader", CUSTOM_HEADER, ""), field("directSourceIP", EMPTY_OBJECT, ""), field("xForwardedFor", X_FORWARDED_FOR, ""),].rules(
        &[rule(
            "[has(self.xForwardedFor), has(self.customHeader), has(self.directSourceIP)].filter(x, x).size() == 1",
            "exactly one of xForwardedFor, customHeader, or directSourceIP must be set",
        )],
    );
pub const CONNECTION_LIMIT: Schema = object![
    field("closeDelay", BACKOFF, ""),
    field("maxConnectionDuration", BACKOFF, ""),
    field("maxRequestsPerConnection", INTEGER.int32(), ""),
    field("maxStreamDuration", BACKOFF, ""),
    field("value", INTEGER.starting_at(1), ""),
]
.rules(&[rule("!has(self.closeDelay) || has(self.value)", "closeDelay can only be configured when value is set")]);
pub const MAX_ACCEPT_PER_SOCKET_EVENT: Schema = INTEGER.int32().default(Literal::Int(1));
pub const CONNECTION_2: Schema = object![
    field("bufferLimit", VALUE_3, ""),
    field("connectionLimit", CONNECTION_LIMIT, ""),
    field("maxAcceptPerSocketEvent", MAX_ACCEPT_PER_SOCKET_EVENT, ""),
    field("socketBufferLimit", VALUE_3, ""),
];
pub const GRPC_4: Schema = object![field("enableWeb", BOOLEAN, ""),];
pub const ADD_3: Schema = array(&ADD_ITEM_2).at_least(1).at_most(64).keyed_by(&["name"]);
pub const REMOVE: Schema = array(&STRING).at_least(1).at_most(64).distinct();
pub const EARLY_REQUEST_HEADERS: Schema = object![
    field("add", ADD_3, ""),
    field("addIfAbsent", ADD_3, ""),
    field("remove", REMOVE, ""),
    field("removeOnMatch", array(&VALUE_4).at_least(1).at_most(64), ""),
    field("set", ADD_3, ""),
];
pub const HOST: Schema = object![field("stripTrailingHostDot", BOOLEAN, ""),];
pub const REQUEST_ID: Schema = one_of(&["PreserveOrGenerate", "Preserve", "Generate", "Disable"]);
pub const WITH_UNDERSCORES_ACTION: Schema = one_of(&["Allow", "RejectRequest", "DropHeader"]);
pub const CERT_DETAILS_TO_ADD_ITEM: Schema = one_of(&["Subject", "Cert", "Chain", "DNS", "URI"]);
pub const CERT_DETAILS_TO_ADD: Schema = array(&CERT_DETAILS_TO_ADD_ITEM).at_most(5);
pub const MODE_3: Schema = one_of(&["Sanitize", "ForwardOnly", "AppendForward", "SanitizeSet", "AlwaysForwardOnly"]);
pub const X_FORWARDED_CLIENT_CERT: Schema = object![field("certDetailsToAdd", CERT_DETAILS_TO_ADD, ""), field("mode", MODE_3, ""),].rules(&[rule(
    "(has(self.certDetailsToAdd) && self.certDetailsToAdd.size() > 0) ? (self.mode == 'AppendForward' || self.mode == 'SanitizeSet') : true",
    "certDetailsToAdd can only be set when mode is AppendForward or SanitizeSet",
)]);
pub const HEADERS_3: Schema = object![
    field("disableRateLimitHeaders", BOOLEAN, ""),
    field("earlyRequestHeaders", EARLY_REQUEST_HEADERS, ""),
    field("enableEnvoyHeaders", BOOLEAN, ""),
    field("host", HOST, ""),
    field("lateResponseHeaders", EARLY_REQUEST_HEADERS, ""),
    field("maxRequestHeaderLimit", VALUE_3, ""),
    field("preserveXRequestID", BOOLEAN, ""),
    field("requestID", REQUEST_ID, ""),
    field("withUnderscoresAction", WITH_UNDERSCORES_ACTION, ""),
    field("xForwardedClientCert", X_FORWARDED_CLIENT_CERT, ""),
]
.rules(&[rule("!(has(self.preserveXRequestID) && has(self.requestID))", "preserveXRequestID and requestID cannot both be set.")]);
pub const HEALTH_CHECK_2: Schema = object![field("path", STRING.at_least(1).at_most(1024), "").required(),];
pub const HTTP10: Schema = object![field("useDefaultHost", BOOLEAN, ""),];
pub const HTTP1: Schema = object![
    field("disableSafeMaxConnectionDuration", BOOLEAN, ""),
    field("enableTrailers", BOOLEAN, ""),
    field("http10", HTTP10, ""),
    field("ignoredUpgradeTypes", array(&VALUE_4), ""),
    field("preserveHeaderCase", BOOLEAN, ""),
];
pub const ESCAPED_SLASHES_ACTION: Schema = one_of(&["KeepUnchanged", "RejectRequest", "UnescapeAndForward", "UnescapeAndRedirect"]);
pub const PATH_7: Schema = object![field("disableMergeSlashes", BOOLEAN, ""), field("escapedSlashesAction", ESCAPED_SLASHES_ACTION, ""),];
pub const PROXY_PROTOCOL_2: Schema = object![field("optional", BOOLEAN, ""),].at_least(0);
pub const HTTP_5: Schema = object![
    field("idleTimeout", BACKOFF, ""),
    field("requestHeadersReceivedTimeout", BACKOFF, ""),
    field("requestReceivedTimeout", BACKOFF, ""),
    field("streamIdleTimeout", BACKOFF, ""),
];
pub const TCP_3: Schema =
    object![field("connectionInspectionTimeout", BACKOFF, ""), field("idleTimeout", BACKOFF, ""), field("tlsHandshakeTimeout", BACKOFF, ""),];
pub const TIMEOUT_3: Schema = object![field("http", HTTP_5, ""), field("tcp", TCP_3, ""),];
pub const CA_CERTIFICATE_REFS_2: Schema = array(&CERTIFICATE_REFS_ITEM).at_most(8);
pub const REFS: Schema = array(&CERTIFICATE_REFS_ITEM).at_least(1).at_most(8);
pub const CRL: Schema = object![field("onlyVerifyLeafCertificate", BOOLEAN, ""), field("refs", REFS, "").required(),];
pub const MODE_4: Schema = one_of(&["Request", "RequireAny", "VerifyIfGiven", "RequireAndVerify"]);
pub const OTHER_NAMES_ITEM: Schema =
    object![field("oid", STRING, "").required(), field("type", TYPE_13, ""), field("value", STRING.at_least(1).at_most(1024), "").required(),];
pub const SUBJECT_ALT_NAMES_2: Schema = object![
    field("dnsNames", array(&VALUE_4), ""),
    field("emailAddresses", array(&VALUE_4), ""),
    field("ipAddresses", array(&VALUE_4), ""),
    field("otherNames", array(&OTHER_NAMES_ITEM), ""),
    field("uris", array(&VALUE_4), ""),
];
pub const CLIENT_VALIDATION: Schema = object![
    field("allowExpiredCertificate", BOOLEAN, ""),
    field("caCertificateRefs", CA_CERTIFICATE_REFS_2, ""),
    field("certificateHashes", array(&STRING), ""),
    field("crl", CRL, ""),
    field("mode", MODE_4, ""),
    field("optional", BOOLEAN, ""),
    field("spkiHashes", array(&STRING), ""),
    field("subjectAltNames", SUBJECT_ALT_NAMES_2, ""),
]
.rules(&[rule(
    "!has(self.allowExpiredCertificate) || !self.allowExpiredCertificate || !has(self.mode) || self.mode in ['VerifyIfGiven', 'RequireAndVerify']",
    "allowExpiredCertificate can only be set when mode is VerifyIfGiven or RequireAndVerify",
)]);
pub const RESUMPTION: Schema = object![field("stateful", EMPTY_OBJECT, ""), field("stateless", EMPTY_OBJECT, ""),];
pub const SESSION: Schema = object![field("resumption", RESUMPTION, ""),];
pub const TLS_4: Schema = object![
    field("alpnProtocols", array(&STRING), ""),
    field("ciphers", array(&STRING), ""),
    field("clientValidation", CLIENT_VALIDATION, ""),
    field("ecdhCurves", array(&STRING), ""),
    field("fingerprints", array(&FINGERPRINTS_ITEM), ""),
    field("maxVersion", MAX_VERSION, ""),
    field("minVersion", MAX_VERSION, ""),
    field("session", SESSION, ""),
    field("signatureAlgorithms", array(&STRING), ""),
].rules(&[
    rule("has(self.minVersion) && self.minVersion == '1.3' ? !has(self.ciphers) : true", "setting ciphers has no effect if the minimum possible TLS version is 1.3"),
    rule(r#"has(self.minVersion) && has(self.maxVersion) ? {"Auto":0,"1.0":1,"1.1":2,"1.2":3,"1.3":4}[self.minVersion] <= {"1.0":1,"1.1":2,"1.2":3,"1.3":4,"Auto":5}[self.maxVersion] : !has(self.minVersion) && has(self.maxVersion) ? 3 <= {"1.0":1,"1.1":2,"1.2":3,"1.3":4,"Auto":5}[self.maxVersion] : true"#, "minVersion must be smaller or equal to maxVersion"),
]);
pub const SPEC_CLIENT_TRAFFIC_POLICY: Schema = object![
    field("clientIPDetection", CLIENT_IPDETECTION, ""),
    field("connection", CONNECTION_2, ""),
    field("enableProxyProtocol", BOOLEAN, ""),
    field("grpc", GRPC_4, ""),
    field("headers", HEADERS_3, ""),
    field("healthCheck", HEALTH_CHECK_2, ""),
    field("http1", HTTP1, ""),
    field("http2", HTTP2, ""),
    field("http3", EMPTY_OBJECT, ""),
    field("path", PATH_7, ""),
    field("proxyProtocol", PROXY_PROTOCOL_2, ""),
    field("scheme", one_of(&["Preserve", "MatchBackend"]), ""),
    field("targetRef", TARGET_REFS_ITEM, ""),
    field("targetRefs", array(&TARGET_REFS_ITEM), ""),
    field("targetSelectors", array(&TARGET_SELECTORS_ITEM), ""),
    field("tcpKeepalive", TCP_KEEPALIVE, ""),
    field("timeout", TIMEOUT_3, ""),
    field("tls", TLS_4, ""),
].rules(&[
    rule("(has(self.targetRef) && !has(self.targetRefs)) || (!has(self.targetRef) && has(self.targetRefs)) || (has(self.targetSelectors) && self.targetSelectors.size() > 0)", "either targetRef or targetRefs must be used"),
    rule("has(self.targetRef) ? self.targetRef.group == 'gateway.networking.k8s.io' : true", "this policy can only have a targetRef.group of gateway.networking.k8s.io"),
    rule("has(self.targetRef) ? self.targetRef.kind in ['Gateway', 'ListenerSet'] : true", "this policy can only have a targetRef.kind of Gateway or ListenerSet"),
    rule("has(self.targetRefs) ? self.targetRefs.all(ref, ref.group == 'gateway.networking.k8s.io') : true", "this policy can only have a targetRefs[*].group of gateway.networking.k8s.io"),
    rule("has(self.targetRefs) ? self.targetRefs.all(ref, ref.kind in ['Gateway', 'ListenerSet']) : true", "this policy can only have a targetRefs[*].kind of Gateway or ListenerSet"),
]);
