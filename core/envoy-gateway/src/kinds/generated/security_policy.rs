// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{
    BACKEND_REF, BACKEND_REFS_ITEM_4, BACKEND_SETTINGS, BACKOFF, CERTIFICATE_REFS_ITEM, FRACTION, GROUP, KIND, METHOD, PARAMETERS_REF_2, PATH_5,
    STATUS_ON_ERROR, TARGET_REFS_ITEM, TARGET_SELECTORS_ITEM, TRUSTED_CIDRS_ITEM, TYPE_13, TYPE_15,
};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, INTEGER, Literal, STRING, Schema, array, field, one_of, rule};

pub const COOKIES_ITEM: Schema = STRING.at_least(1);
pub const EXTRACT_FROM_ITEM_2: Schema = object![
    field("cookies", array(&COOKIES_ITEM).at_least(1), ""),
    field("headers", array(&COOKIES_ITEM).at_least(1), ""),
    field("params", array(&COOKIES_ITEM).at_least(1), ""),
]
.rules(&[rule(
    "(has(self.headers) ? 1 : 0) + (has(self.params) ? 1 : 0) + (has(self.cookies) ? 1 : 0) == 1",
    "exactly one of headers, params, or cookies must be specified",
)]);
pub const API_KEY_AUTH: Schema = object![
    field("credentialRefs", array(&CERTIFICATE_REFS_ITEM), "").required(),
    field("extractFrom", array(&EXTRACT_FROM_ITEM_2).at_least(1), "").required(),
    field("forwardClientIDHeader", STRING, ""),
    field("sanitize", BOOLEAN, ""),
];
pub const OPERATION: Schema = object![field("methods", array(&METHOD).at_least(1).at_most(16), ""), field("path", PATH_5, ""),]
    .rules(&[rule("has(self.methods) || has(self.path)", "at least one of methods or path must be specified")]);
pub const ANONYMOUS: Schema = object![
    field("isAnonymous", BOOLEAN, ""),
    field("isHosting", BOOLEAN, ""),
    field("isProxy", BOOLEAN, ""),
    field("isTor", BOOLEAN, ""),
    field("isVPN", BOOLEAN, ""),
]
.rules(&[rule(
    "has(self.isAnonymous) || has(self.isVPN) || has(self.isHosting) || has(self.isTor) || has(self.isProxy)",
    "at least one of isAnonymous, isVPN, isHosting, isTor, or isProxy must be specified",
)]);
pub const COUNTRY: Schema = STRING.like("^[A-Za-z]{2}$").at_least(2).at_most(2);
pub const REGION: Schema = STRING.like("^[A-Za-z0-9-]+$").at_least(1).at_most(16);
pub const CLIENT_IPGEO_LOCATIONS_ITEM: Schema = object![
    field("anonymous", ANONYMOUS, ""),
    field("asn", INTEGER.int32().starting_at(1), ""),
    field("city", STRING.at_least(1).at_most(128), ""),
    field("country", COUNTRY, ""),
    field("isp", STRING.at_least(1).at_most(256), ""),
    field("region", REGION, ""),
]
.rules(&[rule(
    "has(self.country) || has(self.region) || has(self.city) || has(self.asn) || has(self.isp) || has(self.anonymous)",
    "at least one of country, region, city, asn, isp, or anonymous must be specified",
)]);
pub const CLIENT_IPGEO_LOCATIONS: Schema = array(&CLIENT_IPGEO_LOCATIONS_ITEM).at_least(1);
pub const HEADERS_ITEM_4: Schema =
    object![field("name", STRING.at_least(1).at_most(256), "").required(), field("values", array(&STRING).at_least(1).at_most(256), "").required(),];
pub const HEADERS_4: Schema = array(&HEADERS_ITEM_4).at_least(1).at_most(256);
pub const VALUE_TYPE: Schema = one_of(&["String", "StringArray"]).default(Literal::Str("String"));
pub const CLAIMS_ITEM: Schema = object![
    field("name", STRING.at_least(1).at_most(253), "").required(),
    field("valueType", VALUE_TYPE, ""),
    field("values", array(&STRING).at_least(1).at_most(128), "").required(),
];
pub const CLAIMS: Schema = array(&CLAIMS_ITEM).at_least(1).at_most(16);
pub const SCOPES_ITEM: Schema = STRING.at_least(1).at_most(253);
pub const SCOPES: Schema = array(&SCOPES_ITEM).at_least(1).at_most(16);
pub const JWT: Schema =
    object![field("claims", CLAIMS, ""), field("provider", STRING.at_least(1).at_most(253), "").required(), field("scopes", SCOPES, ""),]
        .rules(&[rule("(has(self.claims) || has(self.scopes))", "at least one of claims or scopes must be specified")]);
pub const PRINCIPAL: Schema = object![
    field("clientCIDRs", array(&TRUSTED_CIDRS_ITEM).at_least(1), ""),
    field("clientIPGeoLocations", CLIENT_IPGEO_LOCATIONS, ""),
    field("headers", HEADERS_4, ""),
    field("jwt", JWT, ""),
]
.rules(&[rule(
    "(has(self.clientCIDRs) || has(self.jwt) || has(self.headers) || has(self.clientIPGeoLocations))",
    "at least one of clientCIDRs, jwt, headers, or clientIPGeoLocations must be specified",
)]);
pub const RULES_ITEM_5: Schema = object![
    field("action", one_of(&["Allow", "Deny"]), "").required(),
    field("cel", STRING.at_least(1).at_most(4096), ""),
    field("name", STRING.at_least(1).at_most(253), ""),
    field("operation", OPERATION, ""),
    field("principal", PRINCIPAL, ""),
]
.rules(&[rule("has(self.principal) || has(self.cel)", "at least one of principal or cel must be specified")]);
pub const AUTHORIZATION: Schema = object![field("defaultAction", one_of(&["Allow", "Deny"]), ""), field("rules", array(&RULES_ITEM_5), ""),];
pub const BASIC_AUTH: Schema = object![field("forwardUsernameHeader", STRING, ""), field("users", CERTIFICATE_REFS_ITEM, "").required(),];
pub const ALLOW_ORIGINS_ITEM_2: Schema =
    STRING.like(r"^(\*|[A-Za-z][A-Za-z0-9+.-]*:\/\/(\*|(\*\.)?(([\w-]+\.?)+)?[\w-]+)(:\d{1,5})?)$").at_least(1).at_most(253);
pub const CORS_2: Schema = object![
    field("allowCredentials", BOOLEAN, ""),
    field("allowHeaders", array(&STRING), ""),
    field("allowMethods", array(&STRING), ""),
    field("allowOrigins", array(&ALLOW_ORIGINS_ITEM_2), ""),
    field("exposeHeaders", array(&STRING), ""),
    field("maxAge", BACKOFF, ""),
];
pub const ADDITIONAL_ORIGINS: Schema = array(&ALLOW_ORIGINS_ITEM_2).at_most(16);
pub const CSRF: Schema = object![field("additionalOrigins", ADDITIONAL_ORIGINS, ""), field("shadowFraction", FRACTION, ""),];
pub const BODY_TO_EXT_AUTH: Schema = object![field("maxRequestBytes", INTEGER.int32().starting_at(1), "").required(),];
pub const TYPE_17: Schema = one_of(&["Value", "ValueRef"]).default(Literal::Str("Value"));
pub const VALUE_REF: Schema = object![
    field("group", GROUP, "").required(),
    field("key", STRING, "").required(),
    field("kind", KIND, "").required(),
    field("name", STRING.at_least(1).at_most(253), "").required(),
]
.rules(&[rule(
    "self.kind in ['ConfigMap', 'Secret'] && self.group in ['', 'v1']",
    "Only a reference to an object of kind ConfigMap or Secret belonging to default v1 API group is supported.",
)]);
pub const CONTEXT_EXTENSIONS_ITEM: Schema = object![
    field("name", STRING, "").required(),
    field("type", TYPE_17, "").required(),
    field("value", STRING, ""),
    field("valueRef", VALUE_REF, ""),
]
.rules(&[rule(
    "(self.type == 'Value' && has(self.value) && !has(self.valueRef)) || (self.type == 'ValueRef' && !has(self.value) && has(self.valueRef))",
    "Exactly one of value or valueRef must be set with correct type.",
)]);
pub const CONTEXT_EXTENSIONS: Schema = array(&CONTEXT_EXTENSIONS_ITEM).keyed_by(&["name"]);
pub const GRPC_5: Schema = object![
    field("backendRef", BACKEND_REF, ""),
    field("backendRefs", array(&BACKEND_REFS_ITEM_4).at_most(16), ""),
    field("backendSettings", BACKEND_SETTINGS, ""),
].rules(&[
    rule("has(self.backendRef) || self.backendRefs.size() > 0", "backendRef or backendRefs needs to be set"),
    rule("has(self.backendRefs) ? self.backendRefs.all(f, f.kind == 'Service' || f.kind == 'ServiceImport' || f.kind == 'Backend') : true", "BackendRefs only supports Service, ServiceImport, and Backend kind."),
    rule(r#"has(self.backendRefs) ? (self.backendRefs.all(f, f.group == "" || f.group == 'multicluster.x-k8s.io' || f.group == 'gateway.envoyproxy.io')) : true"#, "BackendRefs only supports Core, multicluster.x-k8s.io, and gateway.envoyproxy.io groups."),
]);
pub const HTTP_6: Schema = object![
    field("backendRef", BACKEND_REF, ""),
    field("backendRefs", array(&BACKEND_REFS_ITEM_4).at_most(16), ""),
    field("backendSettings", BACKEND_SETTINGS, ""),
    field("headersToBackend", array(&STRING), ""),
    field("path", STRING, ""),
    field("pathOverride", STRING, ""),
].rules(&[
    rule("has(self.backendRef) || self.backendRefs.size() > 0", "backendRef or backendRefs needs to be set"),
    rule("has(self.backendRefs) ? self.backendRefs.all(f, f.kind == 'Service' || f.kind == 'ServiceImport' || f.kind == 'Backend') : true", "BackendRefs only supports Service, ServiceImport, and Backend kind."),
    rule(r#"has(self.backendRefs) ? (self.backendRefs.all(f, f.group == "" || f.group == 'multicluster.x-k8s.io' || f.group == 'gateway.envoyproxy.io')) : true"#, "BackendRefs only supports Core, multicluster.x-k8s.io, and gateway.envoyproxy.io groups."),
    rule("!(has(self.path) && has(self.pathOverride))", "only one of path or pathOverride can be specified"),
]);
pub const EXT_AUTH: Schema = object![
    field("bodyToExtAuth", BODY_TO_EXT_AUTH, ""),
    field("contextExtensions", CONTEXT_EXTENSIONS, ""),
    field("failOpen", BOOLEAN.default(Literal::Bool(false)), ""),
    field("grpc", GRPC_5, ""),
    field("headersToExtAuth", array(&STRING), ""),
    field("http", HTTP_6, ""),
    field("includeRouteMetadata", BOOLEAN, ""),
    field("recomputeRoute", BOOLEAN, ""),
    field("statusOnError", STATUS_ON_ERROR, ""),
    field("timeout", BACKOFF, ""),
]
.rules(&[
    rule("(has(self.grpc) || has(self.http))", "one of grpc or http must be specified"),
    rule("(has(self.grpc) && !has(self.http)) || (!has(self.grpc) && has(self.http))", "only one of grpc or http can be specified"),
]);
pub const CLAIM_TO_HEADERS_ITEM: Schema = object![field("claim", STRING, "").required(), field("header", STRING, "").required(),];
pub const HEADERS_ITEM_5: Schema = object![field("name", STRING, "").required(), field("valuePrefix", STRING, ""),];
pub const EXTRACT_FROM_2: Schema =
    object![field("cookies", array(&STRING), ""), field("headers", array(&HEADERS_ITEM_5), ""), field("params", array(&STRING), ""),];
pub const LOCAL_JWKS: Schema = object![field("inline", STRING, ""), field("type", TYPE_15, "").required(), field("valueRef", PARAMETERS_REF_2, ""),]
    .rules(&[rule(
        "(self.type == 'Inline' && has(self.inline) && !has(self.valueRef)) || (self.type == 'ValueRef' && !has(self.inline) && has(self.valueRef))",
        "Exactly one of inline or valueRef must be set with correct type.",
    )]);
pub const CACHE_DURATION: Schema = STRING.like("^([0-9]{1,5}(h|m|s|ms)){1,4}$").default(Literal::Str("300s"));
pub const REMOTE_JWKS: Schema = object![
    field("backendRef", BACKEND_REF, ""),
    field("backendRefs", array(&BACKEND_REFS_ITEM_4).at_most(16), ""),
    field("backendSettings", BACKEND_SETTINGS, ""),
    field("cacheDuration", CACHE_DURATION, ""),
    field("failedRefetchDuration", BACKOFF, ""),
    field("uri", STRING.at_least(1).at_most(253), "").required(),
].rules(&[
    rule("!has(self.backendRef)", "BackendRefs must be used, backendRef is not supported."),
    rule("has(self.backendSettings)? (has(self.backendSettings.retry)?(has(self.backendSettings.retry.perRetry)? !has(self.backendSettings.retry.perRetry.timeout):true):true):true", "Retry timeout is not supported."),
    rule("has(self.backendSettings)? (has(self.backendSettings.retry)?(has(self.backendSettings.retry.retryOn)? !has(self.backendSettings.retry.retryOn.httpStatusCodes):true):true):true", "HTTPStatusCodes is not supported."),
]);
pub const PROVIDERS_ITEM: Schema = object![
    field("audiences", array(&STRING).at_most(8), ""),
    field("claimToHeaders", array(&CLAIM_TO_HEADERS_ITEM), ""),
    field("extractFrom", EXTRACT_FROM_2, ""),
    field("issuer", STRING.at_most(253), ""),
    field("localJWKS", LOCAL_JWKS, ""),
    field("name", STRING.at_least(1).at_most(253), "").required(),
    field("recomputeRoute", BOOLEAN, ""),
    field("remoteJWKS", REMOTE_JWKS, ""),
]
.rules(&[
    rule(
        "(has(self.recomputeRoute) && self.recomputeRoute) ? size(self.claimToHeaders) > 0 : true",
        "claimToHeaders must be specified if recomputeRoute is enabled.",
    ),
    rule("has(self.remoteJWKS) || has(self.localJWKS)", "either remoteJWKS or localJWKS must be specified."),
    rule("!(has(self.remoteJWKS) && has(self.localJWKS))", "remoteJWKS and localJWKS cannot both be specified."),
]);
pub const PROVIDERS: Schema = array(&PROVIDERS_ITEM).at_least(1).at_most(16);
pub const JWT_2: Schema = object![field("failOpen", BOOLEAN, ""), field("optional", BOOLEAN, ""), field("providers", PROVIDERS, "").required(),]
    .rules(&[rule(
        "!(has(self.optional) && has(self.failOpen))",
        "optional and failOpen cannot both be set; failOpen already tolerates a missing JWT",
    )]);
pub const MERGE_TYPE_2: Schema = STRING.rules(&[rule("self != 'Replace'", "Replace is not a valid MergeType for SecurityPolicy")]);
pub const COOKIE_CONFIG_2: Schema = object![field("sameSite", one_of(&["Lax", "Strict", "None"]), ""),];
pub const COOKIE_DOMAIN: Schema = STRING.like(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$");
pub const COOKIE_NAMES: Schema = object![field("accessToken", STRING, ""), field("idToken", STRING, ""),];
pub const HEADERS_ITEM_6: Schema = object![
    field("name", STRING.at_least(1), "").required(),
    field("type", TYPE_13, ""),
    field("value", STRING.at_least(1).at_most(1024), "").required(),
];
pub const HEADERS_5: Schema = array(&HEADERS_ITEM_6).at_least(1).at_most(16);
pub const DENY_REDIRECT: Schema = object![field("headers", HEADERS_5, "").required(),];
pub const HEADER_3: Schema = STRING
    .like(r"^[A-Za-z0-9!#$%&'*+\-.^_\x60|~]+$")
    .at_least(1)
    .at_most(256)
    .rules(&[rule("self.lowerAscii() != 'host'", "header cannot be the Host header")]);
pub const FORWARD_IDTOKEN: Schema = object![field("header", HEADER_3, "").required(),];
pub const PROVIDER: Schema = object![
    field("authorizationEndpoint", STRING, ""),
    field("backendRef", BACKEND_REF, ""),
    field("backendRefs", array(&BACKEND_REFS_ITEM_4).at_most(16), ""),
    field("backendSettings", BACKEND_SETTINGS, ""),
    field("endSessionEndpoint", STRING, ""),
    field("issuer", STRING.at_least(1), "").required(),
    field("tokenEndpoint", STRING, ""),
].rules(&[
    rule("!has(self.backendRef)", "BackendRefs must be used, backendRef is not supported."),
    rule("has(self.backendSettings)? (has(self.backendSettings.retry)?(has(self.backendSettings.retry.perRetry)? !has(self.backendSettings.retry.perRetry.timeout):true):true):true", "Retry timeout is not supported."),
    rule("has(self.backendSettings)? (has(self.backendSettings.retry)?(has(self.backendSettings.retry.retryOn)? !has(self.backendSettings.retry.retryOn.httpStatusCodes):true):true):true", "HTTPStatusCodes is not supported."),
]);
pub const OIDC: Schema = object![
    field("clientID", STRING.at_least(1), ""),
    field("clientIDRef", CERTIFICATE_REFS_ITEM, ""),
    field("clientSecret", CERTIFICATE_REFS_ITEM, "").required(),
    field("cookieConfig", COOKIE_CONFIG_2, ""),
    field("cookieDomain", COOKIE_DOMAIN, ""),
    field("cookieNames", COOKIE_NAMES, ""),
    field("csrfTokenTTL", BACKOFF, ""),
    field("defaultRefreshTokenTTL", BACKOFF, ""),
    field("defaultTokenTTL", BACKOFF, ""),
    field("denyRedirect", DENY_REDIRECT, ""),
    field("disableTokenEncryption", BOOLEAN, ""),
    field("forwardAccessToken", BOOLEAN, ""),
    field("forwardIDToken", FORWARD_IDTOKEN, ""),
    field("logoutPath", STRING, ""),
    field("passThroughAuthHeader", BOOLEAN, ""),
    field("provider", PROVIDER, "").required(),
    field("redirectURL", STRING, ""),
    field("refreshToken", BOOLEAN.default(Literal::Bool(true)), ""),
    field("resources", array(&STRING), ""),
    field("scopes", array(&STRING), ""),
].rules(&[
    rule("(has(self.clientID) && !has(self.clientIDRef)) || (!has(self.clientID) && has(self.clientIDRef))", "only one of clientID or clientIDRef must be set"),
    rule("!(has(self.forwardAccessToken) && self.forwardAccessToken && has(self.forwardIDToken) && self.forwardIDToken.header.lowerAscii() == 'authorization')", "forwardAccessToken cannot be true when forwardIDToken.header is Authorization"),
]);
pub const SPEC_SECURITY_POLICY: Schema = object![
    field("apiKeyAuth", API_KEY_AUTH, ""),
    field("authorization", AUTHORIZATION, ""),
    field("basicAuth", BASIC_AUTH, ""),
    field("cors", CORS_2, ""),
    field("csrf", CSRF, ""),
    field("extAuth", EXT_AUTH, ""),
    field("jwt", JWT_2, ""),
    field("mergeType", MERGE_TYPE_2, ""),
    field("oidc", OIDC, ""),
    field("targetRef", TARGET_REFS_ITEM, ""),
    field("targetRefs", array(&TARGET_REFS_ITEM), ""),
    field("targetSelectors", array(&TARGET_SELECTORS_ITEM), ""),
].rules(&[
    rule("(has(self.targetRef) && !has(self.targetRefs)) || (!has(self.targetRef) && has(self.targetRefs)) || (has(self.targetSelectors) && self.targetSelectors.size() > 0)", "either targetRef or targetRefs must be used"),
    rule("has(self.targetRef) ? self.targetRef.group == 'gateway.networking.k8s.io' : true", "this policy can only have a targetRef.group of gateway.networking.k8s.io"),
    rule("has(self.targetRef) ? self.targetRef.kind in ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'TCPRoute'] : true", "this policy can only have a targetRef.kind of Gateway/ListenerSet/HTTPRoute/GRPCRoute/TCPRoute"),
    rule("has(self.targetRefs) ? self.targetRefs.all(ref, ref.group == 'gateway.networking.k8s.io') : true", "this policy can only have a targetRefs[*].group of gateway.networking.k8s.io"),
    rule("has(self.targetRefs) ? self.targetRefs.all(ref, ref.kind in ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'TCPRoute']) : true", "this policy can only have a targetRefs[*].kind of Gateway/ListenerSet/HTTPRoute/GRPCRoute/TCPRoute"),
    rule("!has(self.mergeType) || ((!has(self.targetRef) || self.targetRef.kind in ['HTTPRoute', 'GRPCRoute', 'TCPRoute']) && (!has(self.targetRefs) || self.targetRefs.all(ref, ref.kind in ['HTTPRoute', 'GRPCRoute', 'TCPRoute'])) && (!has(self.targetSelectors) || self.targetSelectors.all(sel, sel.kind in ['HTTPRoute', 'GRPCRoute', 'TCPRoute'])))", "mergeType can only be used with xRoute targets"),
    rule("(has(self.authorization) && has(self.authorization.rules) && self.authorization.rules.exists(r, has(r.principal) ? has(r.principal.jwt) : false)) ? has(self.jwt) : true", "if authorization.rules.principal.jwt is used, jwt must be defined"),
]);
