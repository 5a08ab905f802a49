//! Registers the codes that several dialects share. Each has a page in `pages/NAME.md`; a test runs the page's first `yaml` block, which must
//! produce the code. Does not contain codes of a single dialect; see `codes.rs` of its crate.

use super::Code;

/// Defines codes. Their pages are in the folder `pages` next to the calling file.
#[macro_export]
macro_rules! codes {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, $severity:ident, $summary:literal;)*) => {
        $($(#[$doc])* #[doc = concat!("`", $name, "`: ", $summary, ".")] pub static $constant: $crate::diagnostic::Code = $crate::diagnostic::Code {
            name: $name,
            severity: $crate::diagnostic::Severity::$severity,
            summary: $summary,
            page: include_str!(concat!("pages/", $name, ".md")),
        };)*

        /// All codes, in the order of the documentation.
        pub static ALL: &[&$crate::diagnostic::Code] = &[$(&$constant),*];
    };
}

codes! {
    SYNTAX = "syntax", Error, "The document is not YAML or JSON";
    BROKEN_SEPARATOR = "broken-separator", Warning, "A line looks like a document separator but is not one";
    SUSPICIOUS_TEXT = "suspicious-text", Warning, "Kubernetes reads the text differently from how it looks";
    TEMPLATE = "template", Error, "The input contains a template that was not rendered";
    DUPLICATE_KEY = "duplicate-key", Warning, "An object contains the same key twice; the last one applies";
    BAD_ANCHOR = "bad-anchor", Error, "An alias has no anchor, or a merge key has no object";
    ALIAS_BOMB = "alias-bomb", Error, "Aliases expand to too many values";
    TOO_LARGE = "too-large", Error, "A document is larger or nested deeper than the limit";
    NOT_JSON = "not-json", Error, "A key or value cannot be written in JSON";
    INCOMPLETE_OBJECT = "incomplete-object", Error, "An object has no apiVersion, kind or name";
    NAME_NOT_A_STRING = "name-not-a-string", Error, "YAML reads a name as a number or a boolean";
    INVALID_SERVICE = "invalid-service", Error, "The API server refuses the Service";
    INVALID_INGRESS = "invalid-ingress", Error, "The API server refuses the Ingress";
    INVALID_SECRET = "invalid-secret", Error, "The API server refuses the Secret";
    OVERWRITTEN = "overwritten", Warning, "A later document overwrites an earlier one with the same name";
    UNSUPPORTED_INPUT = "unsupported-input", Error, "The input belongs to a program that Chancery does not read";
    UNKNOWN_KIND = "unknown-kind", Notice, "The controller does not read this kind";
    EDGE_STACK_KIND = "edge-stack-kind", Warning, "Only the Edge Stack reads this kind";
    EDGE_STACK_FIELD = "edge-stack-field", Warning, "Only the Edge Stack uses this field";
    DUPLICATE_RESOURCE = "duplicate-resource", Error, "Two resources of one kind have the same name and namespace";
    OTHER_AMBASSADOR_ID = "other-ambassador-id", Notice, "The resource is for another instance of the controller";
    NOT_WATCHED = "not-watched", Notice, "The controller does not watch this object";
    CLASS_NOT_OURS = "class-not-ours", Notice, "The Ingress belongs to another controller";
    ANNOTATION_LOST = "annotation-lost", Error, "One broken document makes the controller drop a whole annotation";
    ANNOTATION_NOT_READ = "annotation-not-read", Warning, "The controller does not read configuration in annotations of this kind";
    UNSUPPORTED_IN_ANNOTATION = "unsupported-in-annotation", Error, "The controller does not read this kind in annotations";
    UNREFERENCED_SECRET = "unreferenced-secret", Notice, "No resource in use refers to the Secret";
    UNUSABLE_SECRET = "unusable-secret", Warning, "The Secret contains nothing that the controller can use";
    BAD_PEM = "bad-pem", Warning, "A certificate or key is not valid PEM";
    ASSUMED_SECRET = "assumed-secret", Notice, "A missing Secret is assumed to exist";
    ASSUMED_OBJECT = "assumed-object", Notice, "A missing object is assumed to exist";
    BAD_DURATION = "bad-duration", Error, "A timeout of a Knative Ingress is not a duration";
    UNKNOWN_FIELD = "unknown-field", Warning, "The object has a field that its kind does not have";
    WRONG_TYPE = "wrong-type", Error, "A field has a value of the wrong type";
    MISSING_FIELD = "missing-field", Error, "A required field is missing";
    INVALID_VALUE = "invalid-value", Error, "A field has a value that is not allowed";
    UNKNOWN_VALUE = "unknown-value", Warning, "The controller does not know a value and treats it as absent";
    NULL_DROPPED = "null-dropped", Notice, "A field has no value and is dropped";
    UNSUPPORTED_VERSION = "unsupported-version", Error, "The API version does not exist";
    DEPRECATED_VERSION = "deprecated-version", Notice, "The object uses an old API version";
    INVALID_NAME = "invalid-name", Error, "Kubernetes does not allow the name";
    INVALID_LABEL = "invalid-label", Error, "Kubernetes does not allow a label or annotation";
    MISSING_HOSTNAME = "missing-hostname", Warning, "No Host can match this Mapping by hostname";
    UNSUPPORTED_FEATURE = "unsupported-feature", Error, "This version of the controller does not support the feature";
    UNSUPPORTED_PROTOCOL_VERSION = "unsupported-protocol-version", Error, "A service uses a protocol version that Envoy no longer supports";
    DEPRECATED_FIELD = "deprecated-field", Warning, "Another field has replaced this field";
    FIELD_WITHOUT_EFFECT = "field-without-effect", Warning, "A field has no effect here";
    INERT_FIELD = "inert-field", Notice, "A field never changes what the gateway does";
    MUTUALLY_EXCLUSIVE = "mutually-exclusive", Error, "Two fields cannot be set together";
    ONLY_ONE_ALLOWED = "only-one-allowed", Error, "Only one resource of this kind may exist";
    REFUSED_BY_ENVOY = "refused-by-envoy", Error, "The controller sends a value that Envoy rejects";
    WRONG_MODULE_VALUE = "wrong-module-value", Error, "The Module has a value that the controller cannot use";
    MALFORMED_SERVICE = "malformed-service", Error, "A service does not have the form [scheme://]host[:port]";
    IGNORED_PORT = "ignored-port", Notice, "The resolver ignores the port";
    UNKNOWN_RESOLVER = "unknown-resolver", Error, "The resolver does not exist";
    NO_ENDPOINTS = "no-endpoints", Warning, "A cluster in use has no endpoints";
    PORT_WITHOUT_ENDPOINTS = "port-without-endpoints", Error, "The Service has no endpoints for the port";
    INVALID_REGEX = "invalid-regex", Error, "Envoy cannot compile the regular expression";
    INVALID_RETRY_POLICY = "invalid-retry-policy", Error, "The controller refuses the retry policy";
    INVALID_LOAD_BALANCER = "invalid-load-balancer", Error, "The load balancing settings contradict each other";
    INVALID_CIRCUIT_BREAKERS = "invalid-circuit-breakers", Error, "The circuit breakers cannot be used as written";
    INVALID_HEALTH_CHECK = "invalid-health-check", Error, "A health check cannot be used";
    INVALID_WEIGHT = "invalid-weight", Error, "The weights do not add up to 100";
    INVALID_LABEL_GROUP = "invalid-label-group", Error, "A rate limit label cannot be used";
    HEADER_WITHOUT_VALUE = "header-without-value", Error, "A header is added without a value";
    HOST_NEVER_MATCHES = "host-never-matches", Error, "An exact host contains a star, so it matches no request";
    CORS_ORIGINS_TEXT = "cors-origins-text", Error, "The CORS origins are one string instead of a list";
    GROUP_MISMATCH = "group-mismatch", Error, "Mappings that match the same requests have different settings";
    GROUP_CONFLICT = "group-conflict", Error, "Mappings that match the same requests cannot be combined";
    SHARED_FIELD = "shared-field", Notice, "A field of one Mapping also applies to requests of other Mappings";
    DUPLICATE_MEMBER = "duplicate-member", Warning, "A Mapping is dropped because the controller mistakes it for another";
    INVALID_TLS_CONTEXT = "invalid-tls-context", Error, "The TLS settings of a context cannot be used";
    UNKNOWN_TLS_CONTEXT = "unknown-tls-context", Error, "The TLS context does not exist or cannot be used";
    TLS_OVER_HTTP = "tls-over-http", Error, "A service with the scheme http has a TLS context";
    CONFLICTING_REDIRECT_PORT = "conflicting-redirect-port", Error, "Two TLS contexts redirect cleartext requests from different ports";
    SECRET_NOT_FOUND = "secret-not-found", Error, "The Secret does not exist or lacks a required key";
    NAME_OF_OTHER_NAMESPACE = "name-of-other-namespace", Warning, "A name resolves to an object of another namespace instead of the one nearby";
    SECRET_MISMATCH = "secret-mismatch", Error, "A Host and its TLSContext name different Secrets";
    HOSTS_MISMATCH = "hosts-mismatch", Error, "A Host is not in the hosts of its TLSContext";
    NO_HOSTS = "no-hosts", Error, "The configuration has no usable Host";
    INVALID_LISTENER = "invalid-listener", Error, "The Listener cannot be used";
    DUPLICATE_LISTENER = "duplicate-listener", Error, "Two Listeners use the same port";
    LISTENER_WITHOUT_HOSTS = "listener-without-hosts", Error, "No Host or TCPMapping uses the Listener";
    CHAIN_CONFLICT = "chain-conflict", Error, "Two resources claim the same connections";
    UNRESOLVED_HOST = "unresolved-host", Notice, "The controller resolves this host name only at its start";
    INVALID_CONFIGURATION = "invalid-configuration", Error, "The controller does not start with this configuration";
    CONFIGURATION_NOT_FOUND = "configuration-not-found", Error, "The controller's configuration does not exist";
    EXTENSION_SERVICE_NOT_FOUND = "extension-service-not-found", Error, "The ExtensionService does not exist";
    AUTH_CONFLICT = "auth-conflict", Error, "Several AuthServices have different settings";
    ORPHANED_PROXY = "orphaned-proxy", Error, "No root HTTPProxy includes this HTTPProxy";
    DUPLICATE_HOST = "duplicate-host", Error, "Several HTTPProxies have the same host";
    UNRESOLVED_SERVICE = "unresolved-service", Error, "The Service does not exist or does not have the port";
    INCLUDE_CYCLE = "include-cycle", Error, "HTTPProxies include each other";
    INVALID_INCLUDE = "invalid-include", Error, "An include names an HTTPProxy that cannot be included";
    DELEGATION_NOT_PERMITTED = "delegation-not-permitted", Error, "No TLSCertificateDelegation permits the use of the Secret";
    INVALID_TLS = "invalid-tls", Error, "The TLS settings cannot be used";
    INVALID_JWT = "invalid-jwt", Error, "The JWT settings cannot be used";
    INVALID_AUTHORIZATION = "invalid-authorization", Error, "The authorization settings cannot be used";
    INVALID_ROUTE = "invalid-route", Error, "Contour refuses the route";
    INVALID_BACKEND = "invalid-backend", Error, "Contour refuses the settings of a service";
    INVALID_VIRTUAL_HOST = "invalid-virtual-host", Error, "Contour refuses the virtual host";
    INVALID_GATEWAY = "invalid-gateway", Error, "A Gateway or one of its listeners cannot be used as written";
    UNATTACHED_ROUTE = "unattached-route", Error, "No listener accepts the route";
    ROUTE_CONFLICT = "route-conflict", Error, "Two routes match the same requests";
    HOST_CLAIMED_TWICE = "host-claimed-twice", Warning, "Two controllers serve the same host";
    PORT_CLAIMED_TWICE = "port-claimed-twice", Notice, "The Envoys of two controllers listen on the same port";
    REFERENCE_NOT_PERMITTED = "reference-not-permitted", Error, "No ReferenceGrant permits the reference to another namespace";
    RANDOM_WINNER = "random-winner", Warning, "The controller chooses between two objects at random";
    UNREACHABLE_ROUTE = "unreachable-route", Warning, "No request reaches the route";
    OVERLAPPING_REGEXES = "overlapping-regexes", Notice, "Two regular expressions match the same path, and only their order decides";
    REGEX_TOO_LARGE = "regex-too-large", Error, "The program of a regular expression exceeds Envoy's limit";
    PORT_CONFLICT = "port-conflict", Error, "Two listeners use the same port";
    NO_LISTENER = "no-listener", Notice, "Envoy opens no port for requests";
    UNSERVED = "unserved", Warning, "No request reaches the resource or a part of it";
    ASSUMED_DIALECT = "assumed-dialect", Notice, "The input does not name its controller";
    NO_EFFECT = "no-effect", Warning, "The resource has no effect";
    SHADOWED_HOST = "shadowed-host", Warning, "Another Host has the same hostname";
    DANGLING_REFERENCE = "dangling-reference", Warning, "A field refers to a resource that is not in the input";
    NO_SUCH_PORT = "no-such-port", Warning, "The Service does not have the port";
    WRONG_KIND_REFERENCE = "wrong-kind-reference", Warning, "A field refers to an object of another kind";
    COLLAPSED_CLUSTERS = "collapsed-clusters", Warning, "Two services share one Envoy cluster because their names collide";
    NAME_TOO_LONG = "name-too-long", Warning, "A host name is longer than DNS allows";
    PROTECTED_HEADER = "protected-header", Error, "Envoy does not allow changes of this header";
    IMPOSSIBLE_HEADER = "impossible-header", Warning, "A header name is invalid, so no request has it";
    IMPOSSIBLE_PATH = "impossible-path", Warning, "No request can have this path";
    IMPOSSIBLE_HOST = "impossible-host", Warning, "No request can have this host";
    IMPOSSIBLE_METHOD = "impossible-method", Warning, "No request can have this method";
    IMPOSSIBLE_PARAMETER = "impossible-parameter", Warning, "No query parameter can have this value";
    IMPOSSIBLE_ORIGIN = "impossible-origin", Warning, "No browser sends this origin";
    CONTRADICTORY_CONDITIONS = "contradictory-conditions", Warning, "No request meets all conditions of the route";
    LITERAL_PATTERN = "literal-pattern", Warning, "A pattern is matched literally";
    STAR_REPEATS_SLASH = "star-repeats-slash", Warning, "A path ends with a star that repeats the slash before it";
    HEADER_AFTER_AUTHORIZATION = "header-after-authorization", Warning, "The authorization service does not receive a header that a route adds";
    UNREACHABLE_PREFLIGHT = "unreachable-preflight", Warning, "A CORS preflight request cannot reach the route that has the CORS policy";
    UNKNOWN_REWRITE_GROUP = "unknown-rewrite-group", Warning, "A rewrite names a group that its regular expression does not have";
    REWRITE_SLASHES = "rewrite-slashes", Notice, "A rewrite joins two path segments or doubles a slash";
    WHOLE_PATH_REPLACED = "whole-path-replaced", Notice, "The upstream gets one path for all paths that a regular expression matches";
    QUERY_IN_REWRITE = "query-in-rewrite", Warning, "A path rewrite contains a query";
    REPEATED_PREFIX = "repeated-prefix", Warning, "A route repeats the prefix that its include adds";
    TIMEOUT_CONFLICT = "timeout-conflict", Warning, "Two timeouts contradict each other";
    THRESHOLD_BYPASSED = "threshold-bypassed", Notice, "One response of a health check makes an endpoint unhealthy despite the threshold";
    WEIGHTS_IGNORE_HEALTH = "weights-ignore-health", Notice, "A health check does not change the shares of a weighted route";
    RETRIES_WITHOUT_BUDGET = "retries-without-budget", Notice, "Only Envoy's default budget limits the retries";
    ADMIN_EXPOSED = "admin-exposed", Warning, "Envoy's admin interface can be reached from outside";
    CLEARTEXT_TO_TLS_PORT = "cleartext-to-tls-port", Warning, "Envoy sends cleartext to port 443 of a service";
    UNKNOWN_CLUSTER = "unknown-cluster", Warning, "A route or listener refers to a cluster that does not exist";
    UNVERIFIED_UPSTREAM = "unverified-upstream", Notice, "Envoy does not verify the certificate of an upstream";
    UNPROTECTED_CLEARTEXT = "unprotected-cleartext", Warning, "Cleartext requests bypass the authorization of TLS requests";
    MISSING_REDIRECT = "missing-redirect", Notice, "A host is served over TLS and also in cleartext";
    MISSING_CERTIFICATE = "missing-certificate", Warning, "A TLS listener has no certificate and serves cleartext";
    UNSERVED_HOST = "unserved-host", Warning, "A host requires TLS, and no listener serves it over TLS";
    UNSERVED_REDIRECT = "unserved-redirect", Warning, "A redirect leads to https://, and no listener serves TLS";
    REDIRECT_LOOP = "redirect-loop", Warning, "Requests over TLS are redirected to themselves";
    OLD_TLS = "old-tls", Notice, "An allowed TLS version is no longer secure";
    TLS_VERSIONS_CROSSED = "tls-versions-crossed", Warning, "The lowest TLS version is above the highest";
    OPEN_CORS = "open-cors", Warning, "Credentials are allowed for every origin";
    UNREADABLE_CERTIFICATE = "unreadable-certificate", Error, "A certificate is not valid X.509";
    CERTIFICATE_EXPIRED = "certificate-expired", Warning, "A certificate has expired";
    CERTIFICATE_NOT_YET_VALID = "certificate-not-yet-valid", Warning, "A certificate is not valid yet";
    CERTIFICATE_EXPIRES_SOON = "certificate-expires-soon", Notice, "A certificate expires within two weeks";
    CERTIFICATE_HOST_MISMATCH = "certificate-host-mismatch", Warning, "The certificate does not cover the host";
    CERTIFICATE_KEY_MISMATCH = "certificate-key-mismatch", Error, "The certificate and the key do not belong together";
    WEAK_CERTIFICATE_KEY = "weak-certificate-key", Error, "The certificate's key is too short";
    REMOVED_VERSION = "removed-version", Warning, "Current clusters no longer serve this API version";
    UNKNOWN_ANNOTATION = "unknown-annotation", Warning, "The controller does not read an annotation with its prefix";
    FOREIGN_ANNOTATION = "foreign-annotation", Notice, "Only another controller reads this annotation";
    PLACEHOLDER = "placeholder", Warning, "A value is a placeholder that was not replaced";
    UNUSED_SUPPRESSION = "unused-suppression", Warning, "A suppression matches no finding";
    SUPPRESSION_WITHOUT_REASON = "suppression-without-reason", Warning, "A suppression gives no reason";
}

/// Returns the code with this name.
pub fn find(name: &str) -> Option<&'static Code> {
    ALL.iter().copied().find(|code| code.name == name)
}
