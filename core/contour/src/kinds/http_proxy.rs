//! HTTPProxy: a virtual host, its routes, and the HTTPProxies that it includes.
//!
//! Contour `apis/projectcontour/v1/httpproxy.go`; limits, patterns, defaults and rules as in `examples/contour/01-crds.yaml`.

use super::common::{
    AUTH_POLICY, AUTHORIZATION, GLOBAL_RATE_LIMIT, HEADER_CONDITION, INT32, LOAD_BALANCER, SPAN, TEXT, TIMEOUT, TIMEOUTS, UPSTREAM_VALIDATION,
};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, Field, INTEGER, Literal, STRING, STRINGS, Schema, array, field, int_of, like, one_of, rule};

/// `spec` in v1.
pub(super) const SPEC: Schema = object![
    field("includes", array(&INCLUDE), "HTTPProxies whose routes belong to this one too"),
    field("ingressClassName", STRING, "The class of the controller, if several controllers run"),
    field("routes", array(&ROUTE), "What happens to requests"),
    field("tcpproxy", TCP_PROXY, "The target of connections, instead of routes for requests"),
    field("virtualhost", VIRTUAL_HOST, "The host of this HTTPProxy; without it, others must include it"),
];

const INCLUDE: Schema = object![
    field("conditions", array(&CONDITION), "Which requests it gets"),
    field("name", TEXT, "The HTTPProxy").required(),
    field("namespace", STRING, "Its namespace; that of this one unless set"),
];

const CONDITION: Schema = object![
    field("exact", STRING, "The path is this"),
    field("header", HEADER_CONDITION, "A condition on a header"),
    field("prefix", STRING, "The path begins so"),
    field("queryParameter", QUERY_CONDITION, "A condition on a query parameter"),
    field("regex", STRING, "The path matches this RE2 expression"),
];
const QUERY_CONDITION: Schema = object![
    field("contains", STRING, "The value has this in it"),
    field("exact", STRING, "The value is this"),
    field("ignoreCase", BOOLEAN, "Whether case does not matter"),
    field("name", STRING, "The query parameter").required(),
    field("prefix", STRING, "The value begins so"),
    field("present", BOOLEAN, "The query parameter is there"),
    field("regex", STRING, "The value matches this RE2 expression"),
    field("suffix", STRING, "The value ends so"),
];

const ROUTE: Schema = object![
    field("authPolicy", AUTH_POLICY, "What is different for authorization here"),
    field("conditions", array(&CONDITION), "Which requests it takes; all must hold. All requests if there are none"),
    field("cookieRewritePolicies", COOKIE_REWRITES, "Changes of the cookies that answers set"),
    field("directResponsePolicy", DIRECT_RESPONSE, "An answer by the proxy itself"),
    field("enableWebsockets", BOOLEAN, "Whether connections may become websockets"),
    field("healthCheckPolicy", HEALTH_CHECK, "How the proxy detects working endpoints"),
    field("internalRedirectPolicy", INTERNAL_REDIRECT, "Redirects by the service that the proxy follows itself"),
    field("ipAllowPolicy", IP_FILTERS, "The only addresses that may come"),
    field("ipDenyPolicy", IP_FILTERS, "Addresses that may not come"),
    field("jwtVerificationPolicy", JWT_VERIFICATION, "What is different for tokens here"),
    field("loadBalancerPolicy", LOAD_BALANCER, "How requests are spread over endpoints"),
    field("pathRewritePolicy", PATH_REWRITE, "Changes of the path on the way to the service"),
    field("permitInsecure", BOOLEAN, "Whether requests without TLS are served too, instead of redirected to HTTPS"),
    field("rateLimitPolicy", RATE_LIMIT, "How many requests may come"),
    field("requestHeadersPolicy", HEADERS, "Changes of the request's headers"),
    field("requestRedirectPolicy", REQUEST_REDIRECT, "A redirect instead of a service"),
    field("responseHeadersPolicy", HEADERS, "Changes of the answer's headers"),
    field("retryPolicy", RETRIES, "When a request is tried again"),
    field("services", array(&SERVICE), "Where requests go, by weight"),
    field("timeoutPolicy", TIMEOUTS, "How long requests may take"),
];

const COOKIE_REWRITES: Schema = array(&COOKIE_REWRITE);
const COOKIE_REWRITE: Schema = object![
    field("domainRewrite", object![field("value", HOSTNAME.sized(1, 4096), "The domain").required()], "Sets the cookie's domain"),
    field("name", STRING.like(COOKIE_NAME).sized(1, 4096), "The cookie").required(),
    field("pathRewrite", object![field("value", STRING.like(COOKIE_PATH).sized(1, 4096), "The path").required()], "Sets the cookie's path"),
    field("sameSite", one_of(&["Strict", "Lax", "None"]), "Sets the cookie's `SameSite`"),
    field("secure", BOOLEAN, "Sets or takes away the cookie's `Secure`"),
];
const COOKIE_NAME: &str = r#"^[^()<>@,;:\\"\/[\]?={} \t\x7f\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f]+$"#;
const COOKIE_PATH: &str =
    r"^[^;\x7f\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f]+$";
const HOSTNAME: Schema = like(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$");

const DIRECT_RESPONSE: Schema =
    object![field("body", STRING, "The body of the response"), field("statusCode", INTEGER.between(200, 599), "Its status").required(),];

const HEALTH_CHECK: Schema = object![
    field("expectedStatuses", array(&STATUS_RANGE), "The statuses of an endpoint that works; 200 unless set"),
    field("healthyThresholdCount", INTEGER.at_least(0), "The number of good answers until the service is healthy"),
    field("host", STRING, "The host of the requests; `contour-envoy-healthcheck` unless set"),
    field("intervalSeconds", INTEGER, "Seconds between requests"),
    field("path", STRING, "Their path").required(),
    field("timeoutSeconds", INTEGER, "Seconds to wait for an answer"),
    field("unhealthyThresholdCount", INTEGER.at_least(0), "The number of bad answers until the service is unhealthy"),
];
const STATUS_RANGE: Schema = object![
    field("end", INTEGER.between(101, 600), "One more than the last").required(),
    field("start", INTEGER.between(100, 599), "The first").required(),
];

const INTERNAL_REDIRECT: Schema = object![
    field(
        "allowCrossSchemeRedirect",
        one_of(&["Always", "Never", "SafeOnly"]).default(Literal::Str("Never")),
        "Whether it may lead from HTTP to HTTPS or back"
    ),
    field("denyRepeatedRouteRedirect", BOOLEAN, "Whether it may not lead to a route that was there before"),
    field("maxInternalRedirects", INT32, "The most redirects in a row"),
    field("redirectResponseCodes", array(&REDIRECT_CODE), "The statuses that are followed; 302 unless set"),
];
const REDIRECT_CODE: Schema = int_of(&[301, 302, 303, 307, 308]).int32();

const IP_FILTERS: Schema = array(&IP_FILTER);
const IP_FILTER: Schema = object![
    field("cidr", STRING, "The addresses, `10.0.0.0/8`; one alone without a mask").required(),
    field("source", one_of(&["Peer", "Remote"]), "The address of the connection, or of the client behind trusted proxies").required(),
];

const JWT_VERIFICATION: Schema = object![
    field("disabled", BOOLEAN, "Whether no token is required"),
    field("require", STRING, "The provider of the required token [default: the host's default provider]"),
];

const PATH_REWRITE: Schema = object![field("replacePrefix", array(&REPLACE_PREFIX), "What the prefix becomes")];
const REPLACE_PREFIX: Schema =
    object![field("prefix", TEXT, "The prefix that it is for; every one unless set"), field("replacement", TEXT, "What replaces it").required(),];

const RATE_LIMIT: Schema = object![
    field("global", GLOBAL_RATE_LIMIT, "Counted by the rate limit service"),
    field("local", LOCAL_RATE_LIMIT, "Counted by each proxy for itself"),
];
const LOCAL_RATE_LIMIT: Schema = object![
    field("burst", INT32, "How many more may come at once"),
    field("requests", INT32.at_least(1), "How many requests").required(),
    field("responseHeadersToAdd", array(&HEADER_VALUE), "Headers of the answer to requests over the limit"),
    field("responseStatusCode", INT32.between(400, 599), "Its status; 429 unless set"),
    field("unit", one_of(&["second", "minute", "hour"]), "In which time").required(),
];

const HEADERS: Schema = object![
    field("remove", STRINGS, "Headers that go"),
    field("set", array(&HEADER_VALUE), "Headers that get a value, whether they are there or not"),
];
const HEADER_VALUE: Schema = object![
    field("name", TEXT, "The header").required(),
    field("value", TEXT, "Its value; may use Envoy's `%...%` variables and Contour's own").required(),
];

const REQUEST_REDIRECT: Schema = object![
    field("hostname", HOSTNAME.sized(1, 253), "The host it leads to; the same unless set"),
    field("path", STRING.like(r"^\/.*$"), "The path it leads to"),
    field("port", INT32.between(1, 65535), "The port it leads to"),
    field("prefix", STRING.like(r"^\/.*$"), "What the matched prefix of the path becomes"),
    field("scheme", one_of(&["http", "https"]), "The scheme it leads to; the same unless set"),
    field("statusCode", REDIRECT_CODE.default(Literal::Int(302)), "Its status"),
];

const RETRIES: Schema = object![
    field("count", INTEGER.starting_at(-1).default(Literal::Int(1)), "How often; `-1` for never, 0 means once"),
    field("perTryTimeout", TIMEOUT, "How long each try may take"),
    field("retriableStatusCodes", array(&INT32), "The statuses for `retriable-status-codes`"),
    field("retryOn", array(&RETRY_ON), "On what; `5xx` unless set"),
];
const RETRY_ON: Schema = one_of(&[
    "5xx",
    "gateway-error",
    "reset",
    "reset-before-request",
    "connect-failure",
    "envoy-ratelimited",
    "retriable-4xx",
    "refused-stream",
    "retriable-status-codes",
    "retriable-headers",
    "http3-post-connect-failure",
    "cancelled",
    "deadline-exceeded",
    "internal",
    "resource-exhausted",
    "unavailable",
]);

const SERVICE: Schema = object![
    field("cookieRewritePolicies", COOKIE_REWRITES, "Changes of the cookies that its answers set"),
    field("healthPort", INTEGER.between(1, 65535), "The port of health checks; `port` unless set"),
    field("mirror", BOOLEAN, "Whether it only gets copies, and its answers are dropped"),
    field("name", STRING, "The Service").required(),
    field("port", INTEGER.between(1, 65536), "Its port").required(),
    field("protocol", one_of(&["h2", "h2c", "tls"]), "What it speaks; HTTP/1.1 without TLS unless set"),
    field("requestHeadersPolicy", HEADERS, "Changes of the headers of requests to it"),
    field("responseHeadersPolicy", HEADERS, "Changes of the headers of its answers"),
    field("slowStartPolicy", SLOW_START, "New endpoints get their share little by little"),
    field("validation", UPSTREAM_VALIDATION, "How its certificate is checked"),
    field("weight", INTEGER.at_least(0), "Its share, compared with the others; for a mirror, percent"),
];
const SLOW_START: Schema = object![
    field(
        "aggression",
        STRING.like("^([0-9]+([.][0-9]+)?|[.][0-9]+)$").default(Literal::Str("1.0")),
        "How fast it grows: 1.0 evenly, more for faster at first"
    ),
    field("minWeightPercent", INT32.between(0, 100).default(Literal::Int(10)), "The share in percent that it begins with"),
    field("window", SPAN, "How long it takes").required(),
];

const TCP_PROXY: Schema = object![
    field("healthCheckPolicy", TCP_HEALTH_CHECK, "How the proxy detects working endpoints"),
    field("include", TCP_INCLUDE, "The HTTPProxy whose `tcpproxy` is used instead"),
    field("includes", TCP_INCLUDE, "Older form of `include`"),
    field("loadBalancerPolicy", LOAD_BALANCER, "How connections are spread over endpoints"),
    field("services", array(&SERVICE), "Where connections go, by weight"),
];
const TCP_HEALTH_CHECK: Schema = object![
    field("healthyThresholdCount", INT32, "The number of connections until the service is healthy"),
    field("intervalSeconds", INTEGER, "Seconds between connections"),
    field("timeoutSeconds", INTEGER, "Seconds to wait for one"),
    field("unhealthyThresholdCount", INT32, "The number of failures until the service is unhealthy"),
];
const TCP_INCLUDE: Schema =
    object![field("name", STRING, "The HTTPProxy").required(), field("namespace", STRING, "Its namespace; that of this one unless set"),];

const VIRTUAL_HOST: Schema = object![
    field("authorization", AUTHORIZATION, "The service that authorizes requests"),
    field("corsPolicy", CORS, "What pages of other origins may do"),
    FQDN,
    field("ipAllowPolicy", IP_FILTERS, "The only addresses that may come, where a route does not say"),
    field("ipDenyPolicy", IP_FILTERS, "Addresses that may not come, where a route does not say"),
    field("jwtProviders", array(&JWT_PROVIDER), "Who issues tokens, and how they are checked"),
    field("rateLimitPolicy", RATE_LIMIT, "How many requests may come to all routes together"),
    field("tls", TLS, "The certificate, and how TLS is spoken; without it, HTTP only"),
];
const FQDN: Field = field(
    "fqdn",
    STRING.like(r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$").at_least(1),
    "The host, `www.example.com` or `*.example.com`",
)
.required();

const CORS: Schema = object![
    field("allowCredentials", BOOLEAN, "Whether cookies and other credentials are sent"),
    field("allowHeaders", array(&TOKEN).at_least(1), "Headers that they may send"),
    field("allowMethods", array(&TOKEN).at_least(1), "Methods that they may use").required(),
    field("allowOrigin", STRINGS.at_least(1), "Origins: `*`, one, or an RE2 expression for several").required(),
    field("allowPrivateNetwork", BOOLEAN, "Whether pages of public networks may reach this private one"),
    field("exposeHeaders", array(&TOKEN).at_least(1), "Headers of answers that they may read"),
    field("maxAge", MAX_AGE, "How long browsers may remember this; 0 for not at all"),
];
const TOKEN: Schema = like("^[a-zA-Z0-9!#$%&'*+.^_`|~-]+$");
const MAX_AGE: Schema =
    like(r"^(((\d*(\.\d*)?h)|(\d*(\.\d*)?m)|(\d*(\.\d*)?s)|(\d*(\.\d*)?ms)|(\d*(\.\d*)?us)|(\d*(\.\d*)?µs)|(\d*(\.\d*)?ns))+|0)$");

const JWT_PROVIDER: Schema = object![
    field("audiences", STRINGS, "Audiences; a token must have one of them"),
    field("default", BOOLEAN, "Whether all routes require it by default"),
    field("forwardJWT", BOOLEAN, "Whether the service gets the token too"),
    field("issuer", STRING, "The issuer that a token must name"),
    field(
        "localJWKS",
        object![
            field("key", TEXT, "The key of the Secret").required(),
            field("secretName", TEXT, "The Secret, `name` or `namespace/name`").required(),
        ],
        "Its keys, from a Secret"
    ),
    field("name", TEXT, "Its name here").required(),
    field("remoteJWKS", REMOTE_JWKS, "Its keys, from a URL"),
]
.rules(&[rule(
    "(has(self.remoteJWKS) && !has(self.localJWKS)) || (!has(self.remoteJWKS) && has(self.localJWKS))",
    "exactly one of remoteJWKS or localJWKS must be set",
)]);
const REMOTE_JWKS: Schema = object![
    field("cacheDuration", SPAN, "How long they are remembered"),
    field("dnsLookupFamily", one_of(&["auto", "v4", "v6"]), "Which addresses of the server are used"),
    field("timeout", SPAN, "How long to wait for them"),
    field("uri", TEXT, "The URL").required(),
    field("validation", UPSTREAM_VALIDATION, "How the server's certificate is checked"),
];

const TLS: Schema = object![
    field("clientValidation", CLIENT_VALIDATION, "How clients' certificates are checked"),
    field("enableFallbackCertificate", BOOLEAN, "Whether clients that name no host get the fallback certificate"),
    field("maximumProtocolVersion", STRING, "The newest TLS version: `1.2` or `1.3`"),
    field("minimumProtocolVersion", STRING, "The oldest TLS version: `1.2` or `1.3`"),
    field("passthrough", BOOLEAN, "Whether TLS passes through unchanged to the service of `tcpproxy`"),
    field("secretName", STRING, "The Secret with the certificate and its key, `name` or `namespace/name`"),
];
const CLIENT_VALIDATION: Schema = object![
    field("caSecret", TEXT, "The Secret with the CA, under `ca.crt`"),
    field("crlOnlyVerifyLeafCert", BOOLEAN, "Whether only the client's own certificate is checked against the list"),
    field("crlSecret", TEXT, "The Secret with the list of revoked certificates, under `crl.pem`"),
    field(
        "forwardClientCertificate",
        object![
            field("cert", BOOLEAN, "The certificate"),
            field("chain", BOOLEAN, "The whole chain"),
            field("dns", BOOLEAN, "Its DNS names"),
            field("subject", BOOLEAN, "Its subject"),
            field("uri", BOOLEAN, "Its URIs"),
        ],
        "What services learn of the certificate, in `x-forwarded-client-cert`"
    ),
    field("optionalClientCertificate", BOOLEAN, "Whether clients may come without one"),
    field("skipClientCertValidation", BOOLEAN, "Whether any certificate will do"),
];
