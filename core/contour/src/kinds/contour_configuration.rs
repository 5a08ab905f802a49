//! ContourConfiguration: how Contour itself works.
//!
//! Contour `apis/projectcontour/v1alpha1/contourconfig.go`; limits, patterns, defaults and rules as in `examples/contour/01-crds.yaml`.

use super::common::{AUTHORIZATION, GLOBAL_RATE_LIMIT, INT32, TEXT};
use super::extension_service::CIRCUIT_BREAKERS;
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, Field, INTEGER, STRING, STRING_MAP, STRINGS, Schema, array, field, one_of};

/// `spec` in v1alpha1.
pub(super) const SPEC: Schema = object![
    field("debug", object![ADDRESS_OR_NOTHING, PORT], "Where Contour answers questions about itself"),
    field("enableExternalNameService", BOOLEAN, "Whether Services of type ExternalName are taken"),
    field("envoy", ENVOY, "How Envoy is set up"),
    field("featureFlags", STRINGS, "Features that are switched on or off"),
    field("gateway", object![field("gatewayRef", NAMESPACED_NAME, "The Gateway").required()], "The Gateway that Contour serves"),
    field("globalExtAuth", AUTHORIZATION, "The authorization server of all virtual hosts"),
    field("health", HEALTH, "The health endpoint of Contour"),
    field("httpproxy", HTTP_PROXY, "Settings of all HTTPProxies"),
    field(
        "ingress",
        object![field("classNames", STRINGS, "The Ingress classes that Contour reads"), field("statusAddress", STRING, "The address in statuses"),],
        "Settings of all Ingresses"
    ),
    field("metrics", METRICS, "Where Contour tells numbers about itself"),
    field(
        "policy",
        object![
            field("applyToIngress", BOOLEAN, "Whether it applies to Ingresses too"),
            field("requestHeaders", HEADERS, "Changes of the headers of all requests"),
            field("responseHeaders", HEADERS, "Changes of the headers of all answers"),
        ],
        "The default for HTTPProxies that do not set it"
    ),
    field("rateLimitService", RATE_LIMITS, "The rate limit service"),
    field("tracing", TRACING, "Where traces of requests go"),
    field("xdsServer", XDS_SERVER, "Where Envoy gets its configuration"),
];

const ADDRESS: Field = field("address", TEXT, "The address");
const ADDRESS_OR_NOTHING: Field = field("address", STRING, "The address");
const PORT: Field = field("port", INTEGER, "The port");
const NAMESPACED_NAME: Schema = object![field("name", STRING, "Its name").required(), field("namespace", STRING, "Its namespace").required()];
const HEALTH: Schema = object![ADDRESS, PORT];
const METRICS: Schema = object![
    field("address", TEXT.at_most(253), "The address"),
    PORT,
    field("tls", object![CA_FILE, CERT_FILE, KEY_FILE], "The files for TLS; without it, plain HTTP"),
];
const CA_FILE: Field = field("caFile", STRING, "The file with the CA");
const CERT_FILE: Field = field("certFile", STRING, "The file with the certificate");
const KEY_FILE: Field = field("keyFile", STRING, "The file with its key");

const ENVOY: Schema = object![
    field("clientCertificate", NAMESPACED_NAME, "The Secret with the certificate that Envoy shows to services"),
    field("cluster", CLUSTER, "How services are reached"),
    field("defaultHTTPVersions", STRINGS, "What is offered to clients: `HTTP/1.1` and `HTTP/2`; both unless set"),
    field("health", HEALTH, "The health endpoint of Envoy"),
    field("http", LISTENER_ADDRESS, "Where HTTP comes in"),
    field("https", LISTENER_ADDRESS, "Where HTTPS comes in"),
    field("listener", LISTENER, "How connections are taken"),
    field("logging", LOGGING, "What is logged of requests"),
    field("metrics", METRICS, "Where Envoy tells numbers about itself"),
    field(
        "network",
        object![
            field("adminPort", INTEGER, "The port of Envoy's administration"),
            field("numTrustedHops", INT32, "How many proxies before Envoy are trusted with the client's address"),
            field("stripTrailingHostDot", BOOLEAN, "Whether a dot at the end of the host is taken away"),
        ],
        "The network around Envoy"
    ),
    field("omEnforcedHealth", HEALTH, "The health endpoint of Envoy that fails under overload"),
    field("runtimeSettings", STRING_MAP, "Settings of Envoy's runtime"),
    field("service", NAMESPACED_NAME, "The Service of Envoy, whose address appears in statuses"),
    field("timeouts", TIMEOUTS, "How long things may take"),
];
const LISTENER_ADDRESS: Schema = object![field("accessLog", STRING, "The file for its log of requests"), ADDRESS, PORT];

const BUFFER_LIMIT: Field =
    field("per-connection-buffer-limit-bytes", INT32.at_least(1), "How much may wait in a connection's buffers, in bytes; Envoy's default is 1 MiB");
const MAX_REQUESTS: Field = field("maxRequestsPerConnection", INT32.at_least(1), "After how many requests a connection is closed; never unless set");
const MAX_VERSION: Field = field("maximumProtocolVersion", STRING, "The newest TLS version: `1.2` or `1.3`");
const MIN_VERSION: Field = field("minimumProtocolVersion", STRING, "The oldest TLS version: `1.2` or `1.3`");
const CIPHERS: Field = field("cipherSuites", STRINGS, "Cipher suites for TLS up to 1.2");
const CURVES: Field = field("ecdhCurves", STRINGS, "Curves for the key exchange");

const CLUSTER: Schema = object![
    field("circuitBreakers", CIRCUIT_BREAKERS, "The default limits for concurrent requests to a service"),
    field("dnsLookupFamily", STRING, "Which addresses of names are used: `auto`, `v4`, `v6` or `all`"),
    MAX_REQUESTS,
    BUFFER_LIMIT,
    field("upstreamTLS", object![CIPHERS, CURVES, MAX_VERSION, MIN_VERSION], "TLS settings towards services"),
];

const LISTENER: Schema = object![
    field(
        "compression",
        object![field("algorithm", one_of(&["gzip", "brotli", "zstd", "disabled"]), "How; `gzip` unless set")],
        "How answers are compressed"
    ),
    field("connectionBalancer", STRING, "`exact` spreads connections evenly over Envoy's threads"),
    field("disableAllowChunkedLength", BOOLEAN, "Whether requests with both a length and chunks are refused"),
    field("disableMergeSlashes", BOOLEAN, "Whether `//` in paths stays unchanged"),
    field("httpMaxConcurrentStreams", INT32.at_least(1), "The most requests at once in an HTTP/2 connection"),
    field("maxConnectionsPerListener", INT32.at_least(1), "The most connections to a listener"),
    field("maxConnectionsToAcceptPerSocketEvent", INT32.at_least(1), "The most connections that are taken at once"),
    MAX_REQUESTS,
    field("maxRequestsPerIOCycle", INT32.at_least(1), "The most requests of a connection that are worked on at once"),
    BUFFER_LIMIT,
    field("serverHeaderTransformation", STRING, "How the `server` header is treated: `overwrite`, `append_if_absent` or `pass_through`"),
    field(
        "socketOptions",
        object![
            field("tos", INT32.between(0, 255), "The type of service of IPv4 packets"),
            field("trafficClass", INT32.between(0, 255), "The traffic class of IPv6 packets"),
        ],
        "How packets are marked"
    ),
    field(
        "tls",
        object![
            CIPHERS,
            CURVES,
            field(
                "fingerprint",
                object![field("ja3", BOOLEAN, "Whether JA3 fingerprints are made"), field("ja4", BOOLEAN, "Whether JA4 fingerprints are made"),],
                "Fingerprints of clients' TLS"
            ),
            MAX_VERSION,
            MIN_VERSION,
        ],
        "TLS settings towards clients"
    ),
    field("useProxyProtocol", BOOLEAN, "Whether clients come with the PROXY protocol"),
];

const LOGGING: Schema = object![
    field("accessLogFormat", STRING, "`envoy` for text, `json` for JSON"),
    field("accessLogFormatString", STRING, "The line, for `envoy`"),
    field("accessLogJSONFields", STRINGS, "The fields, for `json`"),
    field("accessLogLevel", STRING, "Which requests are logged: `info`, `error`, `critical` or `disabled`"),
];

const TIMEOUTS: Schema = object![
    field("connectTimeout", STRING, "How long connecting to a service may take"),
    field("connectionIdleTimeout", STRING, "How long a client's connection stays open without requests"),
    field("connectionShutdownGracePeriod", STRING, "How long a client may stay connected after a drain notice"),
    field("delayedCloseTimeout", STRING, "How long Envoy waits for the client to close a connection"),
    field("maxConnectionDuration", STRING, "How long a client's connection may last"),
    field("requestTimeout", STRING, "How long a client may take to send a request"),
    field("streamIdleTimeout", STRING, "How long a request may be idle"),
];

const HTTP_PROXY: Schema = object![
    field("disablePermitInsecure", BOOLEAN, "Whether `permitInsecure` of routes has no effect"),
    field("fallbackCertificate", NAMESPACED_NAME, "The Secret with the certificate for clients that name no host"),
    field("rootNamespaces", STRINGS, "The only namespaces in which HTTPProxies may have a virtual host"),
];

const HEADERS: Schema = object![field("remove", STRINGS, "Headers that go"), field("set", STRING_MAP, "Headers that get a value, by name")];

const EXTENSION: Field = field("extensionService", NAMESPACED_NAME, "The ExtensionService").required();
const RATE_LIMITS: Schema = object![
    field("defaultGlobalRateLimitPolicy", GLOBAL_RATE_LIMIT, "The default for HTTPProxies that do not set it"),
    field("domain", STRING, "The domain in its configuration"),
    field("enableResourceExhaustedCode", BOOLEAN, "Whether gRPC clients get RESOURCE_EXHAUSTED instead of UNAVAILABLE"),
    field("enableXRateLimitHeaders", BOOLEAN, "Whether answers carry `X-RateLimit` headers"),
    EXTENSION,
    field("failOpen", BOOLEAN, "Whether requests pass if the service fails"),
];

const TRACING: Schema = object![
    field("clientSampling", STRING, "The percentage of requests that are traced at the client's request"),
    field("customTags", array(&TAG), "Tags of each trace"),
    EXTENSION,
    field("includePodDetail", BOOLEAN, "Whether traces name Envoy's pod and namespace"),
    field("maxPathTagLength", INT32, "How much of the path is kept; 256 characters unless set"),
    field("overallSampling", STRING, "The largest percentage of traced requests"),
    field("randomSampling", STRING, "The percentage of other requests that are traced"),
    field("serviceName", STRING, "The name of the service in traces"),
];
const TAG: Schema = object![
    field("literal", STRING, "Its value"),
    field("requestHeaderName", STRING, "The header that its value comes from"),
    field("tagName", STRING, "Its name").required(),
];

const XDS_SERVER: Schema = object![
    ADDRESS,
    PORT,
    field("tls", object![CA_FILE, CERT_FILE, field("insecure", BOOLEAN, "Whether it is served without TLS"), KEY_FILE], "The files for TLS"),
];
