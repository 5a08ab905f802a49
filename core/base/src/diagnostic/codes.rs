//! Registers the codes of findings. Each code has a page in `pages/NAME.md` next to this file. A test runs the page's first `yaml` block, which
//! must produce the code.

use super::Code;

/// Defines codes; their pages are in `pages/` next to the file that calls this macro.
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
    SYNTAX = "syntax", Error, "the text is not YAML or JSON";
    BROKEN_SEPARATOR = "broken-separator", Warning, "a line looks like a document separator but is not one";
    SUSPICIOUS_TEXT = "suspicious-text", Warning, "Kubernetes reads this text differently from how it looks";
    TEMPLATE = "template", Error, "the input contains a template that was not rendered";
    DUPLICATE_KEY = "duplicate-key", Warning, "the same key twice in one object; the last one counts";
    BAD_ANCHOR = "bad-anchor", Error, "an alias without an anchor, or a merge key without an object";
    ALIAS_BOMB = "alias-bomb", Error, "aliases expand to too many values";
    TOO_LARGE = "too-large", Error, "a document is larger or nested deeper than the limit";
    NOT_JSON = "not-json", Error, "a key or value cannot be written in JSON";
    INCOMPLETE_OBJECT = "incomplete-object", Error, "an object has no apiVersion, kind or name";
    NAME_NOT_A_STRING = "name-not-a-string", Error, "YAML reads a name as a number or a boolean";
    INVALID_SERVICE = "invalid-service", Error, "Kubernetes does not accept the Service";
    INVALID_INGRESS = "invalid-ingress", Error, "Kubernetes does not accept the Ingress";
    INVALID_SECRET = "invalid-secret", Error, "Kubernetes does not accept the Secret";
    OVERWRITTEN = "overwritten", Warning, "duplicate object: a later document overwrites an earlier one";
    UNKNOWN_KIND = "unknown-kind", Notice, "the controller does not read this kind";
    EDGE_STACK_KIND = "edge-stack-kind", Warning, "only the Edge Stack reads this kind";
    EDGE_STACK_FIELD = "edge-stack-field", Warning, "only the Edge Stack acts on this field";
    DUPLICATE_RESOURCE = "duplicate-resource", Error, "two resources of one kind have the same name and namespace";
    OTHER_AMBASSADOR_ID = "other-ambassador-id", Notice, "the resource is meant for another instance of the controller";
    NOT_WATCHED = "not-watched", Notice, "the controller does not watch this object";
    CLASS_NOT_OURS = "class-not-ours", Notice, "the Ingress belongs to another controller";
    ANNOTATION_LOST = "annotation-lost", Error, "one broken document makes the controller drop a whole annotation";
    ANNOTATION_NOT_READ = "annotation-not-read", Warning, "the controller does not read configuration in annotations of this kind";
    UNSUPPORTED_IN_ANNOTATION = "unsupported-in-annotation", Error, "the controller does not read this kind in annotations";
    UNREFERENCED_SECRET = "unreferenced-secret", Notice, "no resource in use refers to the Secret";
    UNUSABLE_SECRET = "unusable-secret", Warning, "the controller can use nothing in the Secret";
    BAD_PEM = "bad-pem", Warning, "a certificate or key is not valid PEM";
    ASSUMED_SECRET = "assumed-secret", Notice, "a missing Secret is assumed to exist";
    ASSUMED_OBJECT = "assumed-object", Notice, "a missing object is assumed to exist";
    BAD_DURATION = "bad-duration", Error, "a timeout of a Knative Ingress is not a duration";
    UNKNOWN_FIELD = "unknown-field", Warning, "a field that the kind does not have";
    WRONG_TYPE = "wrong-type", Error, "a value of the wrong type";
    MISSING_FIELD = "missing-field", Error, "a required field is missing";
    INVALID_VALUE = "invalid-value", Error, "a value that is not allowed";
    UNKNOWN_VALUE = "unknown-value", Warning, "a value that the controller does not know, so that it does something else";
    NULL_DROPPED = "null-dropped", Notice, "a field has no value and is dropped";
    UNSUPPORTED_VERSION = "unsupported-version", Error, "this API version does not exist";
    DEPRECATED_VERSION = "deprecated-version", Notice, "an old API version";
    INVALID_NAME = "invalid-name", Error, "a name that Kubernetes does not allow";
    INVALID_LABEL = "invalid-label", Error, "a label or annotation that Kubernetes does not allow";
    MISSING_HOSTNAME = "missing-hostname", Warning, "no Host can match this Mapping by hostname";
    UNSUPPORTED_FEATURE = "unsupported-feature", Error, "this version of the controller does not support the feature";
    UNSUPPORTED_PROTOCOL_VERSION = "unsupported-protocol-version", Error, "a service uses a protocol version that Envoy no longer supports";
    DEPRECATED_FIELD = "deprecated-field", Warning, "a field that another field has replaced";
    FIELD_WITHOUT_EFFECT = "field-without-effect", Warning, "a field that has no effect here";
    MUTUALLY_EXCLUSIVE = "mutually-exclusive", Error, "two fields that cannot be set together";
    ONLY_ONE_ALLOWED = "only-one-allowed", Error, "a kind of which only one may exist";
    REFUSED_BY_ENVOY = "refused-by-envoy", Error, "the controller sends a value that Envoy rejects";
    WRONG_MODULE_VALUE = "wrong-module-value", Error, "the Module has a value that the controller cannot use";
    MALFORMED_SERVICE = "malformed-service", Error, "a service is not written as [scheme://]host[:port]";
    IGNORED_PORT = "ignored-port", Notice, "a port that the resolver ignores";
    UNKNOWN_RESOLVER = "unknown-resolver", Error, "the resolver does not exist";
    NO_ENDPOINTS = "no-endpoints", Warning, "a cluster in use has no endpoints";
    PORT_WITHOUT_ENDPOINTS = "port-without-endpoints", Error, "the Service has no endpoints for the port";
    INVALID_REGEX = "invalid-regex", Error, "Envoy cannot compile the regular expression";
    INVALID_RETRY_POLICY = "invalid-retry-policy", Error, "the controller rejects the retry policy";
    INVALID_LOAD_BALANCER = "invalid-load-balancer", Error, "the load balancing settings do not fit together";
    INVALID_CIRCUIT_BREAKERS = "invalid-circuit-breakers", Error, "the circuit breakers cannot be used as written";
    INVALID_HEALTH_CHECK = "invalid-health-check", Error, "a health check that cannot be used";
    INVALID_WEIGHT = "invalid-weight", Error, "weights that do not add up";
    INVALID_LABEL_GROUP = "invalid-label-group", Error, "a rate limit label that cannot be used";
    HEADER_WITHOUT_VALUE = "header-without-value", Error, "a header that is added without a value";
    HOST_NEVER_MATCHES = "host-never-matches", Error, "an exact host that contains a star and so matches no request";
    CORS_ORIGINS_TEXT = "cors-origins-text", Error, "CORS origins written as one text";
    GROUP_MISMATCH = "group-mismatch", Error, "Mappings that match the same requests have different settings";
    GROUP_CONFLICT = "group-conflict", Error, "Mappings that match the same requests cannot be combined";
    SHARED_FIELD = "shared-field", Notice, "a field of one Mapping counts for requests of others too";
    DUPLICATE_MEMBER = "duplicate-member", Warning, "a Mapping is dropped because the controller mistakes it for another";
    INVALID_TLS_CONTEXT = "invalid-tls-context", Error, "TLS settings that cannot be used";
    UNKNOWN_TLS_CONTEXT = "unknown-tls-context", Error, "the TLS context does not exist or cannot be used";
    TLS_OVER_HTTP = "tls-over-http", Error, "a TLS context on a service with the scheme http";
    CONFLICTING_REDIRECT_PORT = "conflicting-redirect-port", Error, "two TLS contexts redirect cleartext requests from different ports";
    SECRET_NOT_FOUND = "secret-not-found", Error, "the Secret does not exist or lacks a required key";
    SECRET_MISMATCH = "secret-mismatch", Error, "a Host and its TLSContext name different Secrets";
    HOSTS_MISMATCH = "hosts-mismatch", Error, "a Host is not in the hosts of its TLSContext";
    NO_HOSTS = "no-hosts", Error, "there is no usable Host";
    INVALID_LISTENER = "invalid-listener", Error, "a Listener that cannot be used";
    DUPLICATE_LISTENER = "duplicate-listener", Error, "two Listeners on one port";
    LISTENER_WITHOUT_HOSTS = "listener-without-hosts", Error, "a Listener that no Host or TCPMapping uses";
    CHAIN_CONFLICT = "chain-conflict", Error, "two resources claim the same connections";
    UNRESOLVED_HOST = "unresolved-host", Notice, "the controller looks up this host name only when it starts";
    INVALID_CONFIGURATION = "invalid-configuration", Error, "the controller does not start with this configuration";
    CONFIGURATION_NOT_FOUND = "configuration-not-found", Error, "the controller's configuration does not exist";
    EXTENSION_SERVICE_NOT_FOUND = "extension-service-not-found", Error, "the ExtensionService does not exist";
    AUTH_CONFLICT = "auth-conflict", Error, "several AuthServices have different settings";
    ORPHANED_PROXY = "orphaned-proxy", Error, "no root HTTPProxy includes this HTTPProxy";
    DUPLICATE_HOST = "duplicate-host", Error, "several HTTPProxies have the same host";
    UNRESOLVED_SERVICE = "unresolved-service", Error, "the Service does not exist or does not have the port";
    INCLUDE_CYCLE = "include-cycle", Error, "HTTPProxies include each other";
    INVALID_INCLUDE = "invalid-include", Error, "an include names an HTTPProxy that cannot be included";
    DELEGATION_NOT_PERMITTED = "delegation-not-permitted", Error, "no TLSCertificateDelegation permits the use of the Secret";
    INVALID_TLS = "invalid-tls", Error, "TLS settings that cannot be used";
    INVALID_JWT = "invalid-jwt", Error, "the JWT settings cannot be used";
    INVALID_AUTHORIZATION = "invalid-authorization", Error, "the authorization settings cannot be used";
    INVALID_ROUTE = "invalid-route", Error, "Contour rejects the route";
    INVALID_BACKEND = "invalid-backend", Error, "Contour rejects the settings of a service";
    INVALID_VIRTUAL_HOST = "invalid-virtual-host", Error, "Contour rejects the virtual host";
    INVALID_GATEWAY = "invalid-gateway", Error, "a Gateway or one of its listeners cannot be used as written";
    UNATTACHED_ROUTE = "unattached-route", Error, "no listener accepts the route";
    ROUTE_CONFLICT = "route-conflict", Error, "two routes match the same requests";
    HOST_CLAIMED_TWICE = "host-claimed-twice", Warning, "two controllers serve the same host";
    PORT_CLAIMED_TWICE = "port-claimed-twice", Notice, "the Envoys of two controllers listen on the same port";
    REFERENCE_NOT_PERMITTED = "reference-not-permitted", Error, "no ReferenceGrant permits the reference to another namespace";
    UNREACHABLE_ROUTE = "unreachable-route", Warning, "no request reaches the route";
    OVERLAPPING_REGEXES = "overlapping-regexes", Notice, "two regular expressions match the same path, and only the order decides";
    REGEX_TOO_LARGE = "regex-too-large", Error, "the program of a regular expression is larger than Envoy's limit";
    PORT_CONFLICT = "port-conflict", Error, "two listeners use the same port";
    NO_LISTENER = "no-listener", Notice, "Envoy opens no port for requests";
    UNSERVED = "unserved", Warning, "no request gets to the resource, or to a part of it";
    ASSUMED_DIALECT = "assumed-dialect", Notice, "the input does not say which controller it is for";
    NO_EFFECT = "no-effect", Warning, "the resource has no effect";
    SHADOWED_HOST = "shadowed-host", Warning, "another Host has the same hostname";
    DANGLING_REFERENCE = "dangling-reference", Warning, "a reference to a resource that is not in the input";
    NO_SUCH_PORT = "no-such-port", Warning, "the Service does not have the port";
    WRONG_KIND_REFERENCE = "wrong-kind-reference", Warning, "a reference to an object of another kind";
    COLLAPSED_CLUSTERS = "collapsed-clusters", Warning, "two services share one Envoy cluster because their names collide";
    NAME_TOO_LONG = "name-too-long", Warning, "a host name longer than DNS allows";
    PROTECTED_HEADER = "protected-header", Error, "a header that Envoy does not let anybody change";
    IMPOSSIBLE_HEADER = "impossible-header", Warning, "not a valid header name, so no request has it";
    IMPOSSIBLE_PATH = "impossible-path", Warning, "a path that no request can have";
    IMPOSSIBLE_HOST = "impossible-host", Warning, "a host that no request can have";
    IMPOSSIBLE_METHOD = "impossible-method", Warning, "a method that no request can have";
    IMPOSSIBLE_PARAMETER = "impossible-parameter", Warning, "a value that no query parameter can have";
    IMPOSSIBLE_ORIGIN = "impossible-origin", Warning, "an origin that no browser sends";
    CONTRADICTORY_CONDITIONS = "contradictory-conditions", Warning, "conditions of a route that no request meets together";
    LITERAL_PATTERN = "literal-pattern", Warning, "a pattern that is matched literally";
    UNKNOWN_REWRITE_GROUP = "unknown-rewrite-group", Warning, "a rewrite by a regular expression names a group that the expression does not have";
    REWRITE_SLASHES = "rewrite-slashes", Notice, "a rewrite that joins two path segments or doubles a slash";
    TIMEOUT_CONFLICT = "timeout-conflict", Warning, "timeouts that contradict each other";
    RETRIES_WITHOUT_BUDGET = "retries-without-budget", Notice, "retries limited by Envoy's default budget only";
    ADMIN_EXPOSED = "admin-exposed", Warning, "Envoy's admin interface can be reached from outside";
    UNVERIFIED_UPSTREAM = "unverified-upstream", Notice, "TLS to an upstream whose certificate is not verified";
    UNPROTECTED_CLEARTEXT = "unprotected-cleartext", Warning, "what TLS requests are asked for is not asked of requests in cleartext";
    MISSING_REDIRECT = "missing-redirect", Notice, "a host is served over TLS and also in cleartext";
    MISSING_CERTIFICATE = "missing-certificate", Warning, "a listener for TLS that has no certificate, and so serves cleartext";
    UNSERVED_HOST = "unserved-host", Warning, "a host that wants TLS where nothing serves TLS";
    UNSERVED_REDIRECT = "unserved-redirect", Warning, "a redirect to https:// where nothing serves TLS";
    REDIRECT_LOOP = "redirect-loop", Warning, "requests over TLS are redirected to themselves";
    OLD_TLS = "old-tls", Notice, "a TLS version that is no longer secure";
    TLS_VERSIONS_CROSSED = "tls-versions-crossed", Warning, "the lowest TLS version is above the highest";
    OPEN_CORS = "open-cors", Warning, "credentials are allowed for every origin";
    UNREADABLE_CERTIFICATE = "unreadable-certificate", Error, "a certificate that is not valid X.509";
    CERTIFICATE_EXPIRED = "certificate-expired", Warning, "a certificate that has expired";
    CERTIFICATE_NOT_YET_VALID = "certificate-not-yet-valid", Warning, "a certificate that is not valid yet";
    CERTIFICATE_EXPIRES_SOON = "certificate-expires-soon", Notice, "a certificate that expires within two weeks";
    CERTIFICATE_HOST_MISMATCH = "certificate-host-mismatch", Warning, "the certificate does not cover the host";
    CERTIFICATE_KEY_MISMATCH = "certificate-key-mismatch", Error, "the certificate and the key do not belong together";
    WEAK_CERTIFICATE_KEY = "weak-certificate-key", Error, "the certificate's key is too short";
    REMOVED_VERSION = "removed-version", Warning, "an API version that current clusters no longer serve";
    UNKNOWN_ANNOTATION = "unknown-annotation", Warning, "an annotation with the controller's prefix that the controller does not read";
    FOREIGN_ANNOTATION = "foreign-annotation", Notice, "an annotation that only another controller reads";
    PLACEHOLDER = "placeholder", Warning, "a placeholder that was not replaced";
    UNUSED_SUPPRESSION = "unused-suppression", Warning, "a suppression that matches no finding";
    SUPPRESSION_WITHOUT_REASON = "suppression-without-reason", Warning, "a suppression that gives no reason";
}

pub fn find(name: &str) -> Option<&'static Code> {
    ALL.iter().copied().find(|code| code.name == name)
}
