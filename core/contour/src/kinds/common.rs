//! Defines the schemas that several of Contour's kinds share: durations, load balancing, validation of services, rate limits, authorization.
//!
//! Contour `apis/projectcontour/v1/{httpproxy,helpers}.go`; limits, patterns, defaults and rules as in `examples/contour/01-crds.yaml`.

use chancery_base::object;
use chancery_base::schema::{BOOLEAN, INTEGER, Literal, Rule, STRING, STRING_MAP, STRINGS, Schema, array, field, like, one_of, rule};

/// A duration, or `infinity`.
pub(super) const TIMEOUT: Schema =
    like(r"^(((\d*(\.\d*)?h)|(\d*(\.\d*)?m)|(\d*(\.\d*)?s)|(\d*(\.\d*)?ms)|(\d*(\.\d*)?us)|(\d*(\.\d*)?µs)|(\d*(\.\d*)?ns))+|infinity|infinite)$");
/// A span of time.
pub(super) const SPAN: Schema =
    like(r"^(((\d*(\.\d*)?h)|(\d*(\.\d*)?m)|(\d*(\.\d*)?s)|(\d*(\.\d*)?ms)|(\d*(\.\d*)?us)|(\d*(\.\d*)?µs)|(\d*(\.\d*)?ns))+)$");
/// A string with something in it.
pub(super) const TEXT: Schema = STRING.at_least(1);
/// A whole number of 32 bits.
pub(super) const INT32: Schema = INTEGER.int32();

/// `context` and `disabled` of an authorization.
pub(super) const AUTH_POLICY: Schema = object![
    field("context", STRING_MAP, "Names and values that the authorization server gets along with each request"),
    field("disabled", BOOLEAN, "Whether requests pass without being asked about"),
];

/// The authorization server of a virtual host or of all.
pub(super) const AUTHORIZATION: Schema = object![
    field("authPolicy", AUTH_POLICY, "The default for routes that do not set it"),
    field(
        "extensionRef",
        object![
            field("apiVersion", TEXT, "The version of the ExtensionService; `projectcontour.io/v1alpha1` unless set"),
            field("name", TEXT, "The name of the ExtensionService"),
            field("namespace", TEXT, "Its namespace; that of this object unless set"),
        ],
        "The ExtensionService that decides"
    ),
    field("failOpen", BOOLEAN, "Whether requests pass if the server fails"),
    field("httpSettings", AUTH_HTTP, "Settings of an HTTP server"),
    field("responseTimeout", TIMEOUT, "How long to wait for its answer"),
    field("serviceType", one_of(&["http", "grpc"]).default(Literal::Str("grpc")), "What the server speaks"),
    field(
        "withRequestBody",
        object![
            field("allowPartialMessage", BOOLEAN, "Whether a body that is too long is cut instead of refused"),
            field("maxRequestBytes", INT32.at_least(1).default(Literal::Int(1024)), "The longest body that is sent along, in bytes"),
            field("packAsBytes", BOOLEAN, "Whether the body is sent as bytes rather than as UTF-8"),
        ],
        "Sends the request's body along"
    ),
]
.rules(&[rule("!has(self.httpSettings) || self.serviceType == 'http'", "httpSettings can only be set when serviceType is 'http'")]);

const AUTH_HTTP: Schema = object![
    field("allowedAuthorizationHeaders", array(&ALLOWED_HEADER), "Which of the request's headers the authorization server gets"),
    field("allowedUpstreamHeaders", array(&ALLOWED_HEADER), "Which headers of its response are forwarded to the service"),
    field("pathPrefix", STRING, "What is put in front of the path of the request to the authorization server"),
];
const ALLOWED_HEADER: Schema = object![
    field("contains", STRING, "Headers whose name has this in it"),
    field("exact", STRING, "The header of this name"),
    field("ignoreCase", BOOLEAN, "Whether case does not matter"),
    field("prefix", STRING, "Headers whose name begins so"),
    field("suffix", STRING, "Headers whose name ends so"),
]
.rules(&[rule(
    "(has(self.exact) ? 1 : 0) + (has(self.prefix) ? 1 : 0) + (has(self.suffix) ? 1 : 0) + (has(self.contains) ? 1 : 0) == 1",
    "only one of prefix, suffix, exact, and contains should be set in the allowedHeader",
)]);

/// `headers` of conditions and of rate limits.
pub(super) const HEADER_CONDITION: Schema = object![
    field("contains", STRING, "The value has this in it"),
    field("exact", STRING, "The value is this"),
    field("ignoreCase", BOOLEAN, "Whether case does not matter"),
    field("name", TEXT, "The header").required(),
    field("notcontains", STRING, "The value does not have this in it"),
    field("notexact", STRING, "The value is not this"),
    field("notpresent", BOOLEAN, "The header is not there"),
    field("present", BOOLEAN, "The header is there"),
    field("regex", STRING, "The value matches this RE2 expression"),
    field("treatMissingAsEmpty", BOOLEAN, "Whether a missing header is treated as empty"),
];

/// `loadBalancerPolicy`.
pub(super) const LOAD_BALANCER: Schema = object![
    field("requestHashPolicies", array(&HASH), "What is hashed of requests, for the strategy `RequestHash`"),
    field("strategy", STRING, "`RoundRobin`, `WeightedLeastRequest`, `Random`, `Cookie` or `RequestHash`; `RoundRobin` unless set"),
];
const HASH: Schema = object![
    field("hashSourceIP", BOOLEAN, "By the client's address"),
    field("headerHashOptions", object![field("headerName", TEXT, "The header").required()], "By a header"),
    field("queryParameterHashOptions", object![field("parameterName", TEXT, "The query parameter").required()], "By a query parameter"),
    field("terminal", BOOLEAN, "Whether later policies are skipped if this one yields a value"),
];

/// `timeoutPolicy`.
pub(super) const TIMEOUTS: Schema = object![
    field("idle", TIMEOUT, "How long a request and its response may be idle"),
    field("idleConnection", TIMEOUT, "How long a connection to a service stays open without requests"),
    field("response", TIMEOUT, "How long the whole answer may take"),
];

/// `validation` of a service's certificate.
pub(super) const UPSTREAM_VALIDATION: Schema = object![
    field("caSecret", TEXT.at_most(317), "The Secret with the CA, `name` or `namespace/name`").required(),
    field("subjectName", TEXT.at_most(250), "A name that the certificate must have").required(),
    field("subjectNames", STRINGS.sized(1, 8), "Names; the certificate must have one of them. The first is `subjectName`"),
]
.rules(SUBJECT_NAMES);
const SUBJECT_NAMES: &[Rule] =
    &[rule("has(self.subjectNames) ? self.subjectNames[0] == self.subjectName : true", "subjectNames[0] must equal subjectName if set")];

/// `global` of a rate limit.
pub(super) const GLOBAL_RATE_LIMIT: Schema = object![
    field("descriptors", array(&DESCRIPTOR).at_least(1), "Descriptors sent to the rate limit service about a request; each is limited separately"),
    field("disabled", BOOLEAN, "Whether the virtual host's or the default policy does not hold here"),
];
const DESCRIPTOR: Schema = object![field("entries", array(&ENTRY).at_least(1), "Pairs of keys and values").required()];
const ENTRY: Schema = object![
    field("genericKey", GENERIC_KEY, "A pair that is always the same"),
    field("remoteAddress", object![], "The client's address, under the key `remote_address`"),
    field(
        "requestHeader",
        object![
            field("descriptorKey", TEXT, "The key").required(),
            field("headerName", TEXT, "The header whose value is the value; without it the whole descriptor is left out").required(),
        ],
        "The value of a header"
    ),
    field("requestHeaderValueMatch", HEADER_VALUE_MATCH, "A pair that is there if headers match"),
];
const GENERIC_KEY: Schema = object![field("key", STRING, "The key; `generic_key` unless set"), field("value", TEXT, "The value").required()];
const HEADER_VALUE_MATCH: Schema = object![
    field("expectMatch", BOOLEAN.default(Literal::Bool(true)), "Whether the headers must match, or must not"),
    field("headers", array(&HEADER_CONDITION).at_least(1), "The headers"),
    field("value", TEXT, "The value, under the key `header_match`").required(),
];
