//! The registry of codes. Each has a page in `core/src/diagnostic/pages/NAME.md`, whose first `yaml` block is run as a
//! test and must produce the code.

use super::Code;

/// Defines codes; the pages stand in `pages/` beside the file that does so.
macro_rules! codes {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, $severity:ident, $summary:literal;)*) => {
        $($(#[$doc])* #[doc = concat!("`", $name, "`: ", $summary, ".")] pub static $constant: $crate::diagnostic::Code = $crate::diagnostic::Code {
            name: $name,
            severity: $crate::diagnostic::Severity::$severity,
            summary: $summary,
            page: include_str!(concat!("pages/", $name, ".md")),
        };)*

        /// All codes, in the order in which they are documented.
        pub static ALL: &[&$crate::diagnostic::Code] = &[$(&$constant),*];
    };
}

pub(crate) use codes;

codes! {
    SYNTAX = "syntax", Error, "the text is not YAML or JSON";
    BROKEN_SEPARATOR = "broken-separator", Warning, "a line looks like a separator of documents, but is none";
    SUSPICIOUS_TEXT = "suspicious-text", Warning, "text that Kubernetes reads otherwise than it looks";
    TEMPLATE = "template", Error, "a template was not rendered";
    DUPLICATE_KEY = "duplicate-key", Warning, "a key stands twice in one object; the last one counts";
    BAD_ANCHOR = "bad-anchor", Error, "an alias or merge key leads nowhere";
    ALIAS_BOMB = "alias-bomb", Error, "aliases stand for too much";
    TOO_LARGE = "too-large", Error, "a document is larger or deeper than what is read";
    NOT_JSON = "not-json", Error, "a key or value has no form in JSON";
    INCOMPLETE_OBJECT = "incomplete-object", Error, "an object does not say what it is";
    NAME_NOT_A_STRING = "name-not-a-string", Error, "YAML reads a name as a number or a boolean";
    INVALID_SERVICE = "invalid-service", Error, "Kubernetes does not accept the Service";
    INVALID_INGRESS = "invalid-ingress", Error, "Kubernetes does not accept the Ingress";
    INVALID_SECRET = "invalid-secret", Error, "Kubernetes does not accept the Secret";
    OVERWRITTEN = "overwritten", Warning, "a later document of the same name overwrites an earlier one";
    UNKNOWN_KIND = "unknown-kind", Notice, "the controller does not read this kind";
    EDGE_STACK_KIND = "edge-stack-kind", Warning, "only the Edge Stack reads this kind";
    EDGE_STACK_FIELD = "edge-stack-field", Warning, "only the Edge Stack acts on this field";
    DUPLICATE_RESOURCE = "duplicate-resource", Error, "two resources of one kind have the same name and namespace";
    OTHER_AMBASSADOR_ID = "other-ambassador-id", Notice, "the resource is for another instance of the controller";
    NOT_WATCHED = "not-watched", Notice, "the controller does not look there";
    CLASS_NOT_OURS = "class-not-ours", Notice, "the Ingress belongs to another class";
    ANNOTATION_LOST = "annotation-lost", Error, "one broken document loses a whole annotation";
    ANNOTATION_NOT_READ = "annotation-not-read", Warning, "configuration in the annotation of a kind where nobody reads it";
    UNSUPPORTED_IN_ANNOTATION = "unsupported-in-annotation", Error, "a kind in an annotation that nobody reads";
    UNREFERENCED_SECRET = "unreferenced-secret", Notice, "nothing in use refers to the Secret";
    UNUSABLE_SECRET = "unusable-secret", Warning, "the Secret has nothing that the controller would use";
    BAD_PEM = "bad-pem", Warning, "a certificate or key is not PEM";
    ASSUMED_SECRET = "assumed-secret", Notice, "a Secret that is not in the input is taken to exist";
    BAD_DURATION = "bad-duration", Error, "a timeout of a Knative Ingress cannot be read";
    UNKNOWN_FIELD = "unknown-field", Warning, "a field that the kind does not have";
    WRONG_TYPE = "wrong-type", Error, "a value of the wrong type";
    MISSING_FIELD = "missing-field", Error, "a field that must be there is not";
    INVALID_VALUE = "invalid-value", Error, "a value that is not allowed";
    NULL_DROPPED = "null-dropped", Notice, "a field without a value";
    UNSUPPORTED_VERSION = "unsupported-version", Error, "an API version that does not exist";
    DEPRECATED_VERSION = "deprecated-version", Notice, "an old API version";
    INVALID_NAME = "invalid-name", Error, "a name that Kubernetes does not allow";
    INVALID_LABEL = "invalid-label", Error, "a label or annotation that Kubernetes does not allow";
    MISSING_HOSTNAME = "missing-hostname", Warning, "a Mapping that no Host finds by its hostname";
    UNSUPPORTED_FEATURE = "unsupported-feature", Error, "this version of the controller does not do that";
    UNSUPPORTED_PROTOCOL_VERSION = "unsupported-protocol-version", Error, "a service speaks a protocol that Envoy no longer does";
    DEPRECATED_FIELD = "deprecated-field", Warning, "a field that has been replaced";
    FIELD_WITHOUT_EFFECT = "field-without-effect", Warning, "a field that changes nothing here";
    MUTUALLY_EXCLUSIVE = "mutually-exclusive", Error, "two fields that exclude each other";
    ONLY_ONE_ALLOWED = "only-one-allowed", Error, "a kind of which only one may exist";
    REFUSED_BY_ENVOY = "refused-by-envoy", Error, "a value that the controller passes on and Envoy refuses";
    WRONG_MODULE_VALUE = "wrong-module-value", Error, "a value in the Module that cannot be used";
    MALFORMED_SERVICE = "malformed-service", Error, "a service is not a host with an optional scheme and port";
    IGNORED_PORT = "ignored-port", Notice, "a port that the resolver ignores";
    UNKNOWN_RESOLVER = "unknown-resolver", Error, "a resolver that does not exist";
    PORT_WITHOUT_ENDPOINTS = "port-without-endpoints", Error, "a Service has no endpoints for the port";
    INVALID_REGEX = "invalid-regex", Error, "a regular expression that Envoy refuses";
    INVALID_RETRY_POLICY = "invalid-retry-policy", Error, "a retry policy that the controller refuses";
    INVALID_LOAD_BALANCER = "invalid-load-balancer", Error, "load balancing settings that do not fit together";
    INVALID_CIRCUIT_BREAKERS = "invalid-circuit-breakers", Error, "circuit breakers that cannot be used as they are";
    INVALID_HEALTH_CHECK = "invalid-health-check", Error, "a health check that cannot be used";
    INVALID_WEIGHT = "invalid-weight", Error, "weights that do not add up";
    INVALID_LABEL_GROUP = "invalid-label-group", Error, "a rate limit label that cannot be used";
    HEADER_WITHOUT_VALUE = "header-without-value", Error, "a header that is added without a value";
    HOST_NEVER_MATCHES = "host-never-matches", Error, "an exact host with a star in it";
    CORS_ORIGINS_TEXT = "cors-origins-text", Error, "CORS origins written as one text";
    GROUP_MISMATCH = "group-mismatch", Error, "Mappings for the same requests disagree";
    GROUP_CONFLICT = "group-conflict", Error, "Mappings for the same requests cannot stand together";
    DUPLICATE_MEMBER = "duplicate-member", Warning, "a Mapping is dropped because its name is taken for another's";
    INVALID_TLS_CONTEXT = "invalid-tls-context", Error, "TLS settings that cannot be used";
    UNKNOWN_TLS_CONTEXT = "unknown-tls-context", Error, "a TLS context that does not exist or cannot be used";
    TLS_OVER_HTTP = "tls-over-http", Error, "a TLS context for a service that says http";
    CONFLICTING_REDIRECT_PORT = "conflicting-redirect-port", Error, "two TLS contexts redirect cleartext from different ports";
    SECRET_NOT_FOUND = "secret-not-found", Error, "a Secret that does not exist or lacks what is needed";
    SECRET_MISMATCH = "secret-mismatch", Error, "a Host and its TLSContext name different Secrets";
    HOSTS_MISMATCH = "hosts-mismatch", Error, "a Host is not among the hosts of its TLSContext";
    NO_HOSTS = "no-hosts", Error, "there is no Host";
    INVALID_LISTENER = "invalid-listener", Error, "a Listener that cannot be used";
    DUPLICATE_LISTENER = "duplicate-listener", Error, "two Listeners on one port";
    LISTENER_WITHOUT_HOSTS = "listener-without-hosts", Error, "a Listener that serves nothing";
    CHAIN_CONFLICT = "chain-conflict", Error, "two resources claim the same connections";
    UNRESOLVED_HOST = "unresolved-host", Notice, "a host name that is asked of DNS only when the controller starts";
    INVALID_CONFIGURATION = "invalid-configuration", Error, "the controller does not start with its own configuration";
    CONFIGURATION_NOT_FOUND = "configuration-not-found", Error, "the controller's own configuration does not exist";
    EXTENSION_SERVICE_NOT_FOUND = "extension-service-not-found", Error, "an ExtensionService that does not exist";
    AUTH_CONFLICT = "auth-conflict", Error, "several AuthServices disagree";
    ORPHANED_PROXY = "orphaned-proxy", Error, "an HTTPProxy that no root includes";
    DUPLICATE_HOST = "duplicate-host", Error, "two HTTPProxies have the same host";
    UNRESOLVED_SERVICE = "unresolved-service", Error, "a service that is not there, or has no such port";
    INCLUDE_CYCLE = "include-cycle", Error, "HTTPProxies include each other";
    INVALID_INCLUDE = "invalid-include", Error, "an include that leads nowhere";
    DELEGATION_NOT_PERMITTED = "delegation-not-permitted", Error, "a Secret of another namespace without permission";
    INVALID_TLS = "invalid-tls", Error, "TLS settings that cannot be used";
    INVALID_JWT = "invalid-jwt", Error, "settings of tokens that cannot be used";
    INVALID_AUTHORIZATION = "invalid-authorization", Error, "authorization that cannot be used";
    INVALID_ROUTE = "invalid-route", Error, "a route that Contour does not take";
    INVALID_BACKEND = "invalid-backend", Error, "a service's settings that Contour does not take";
    INVALID_VIRTUAL_HOST = "invalid-virtual-host", Error, "a host that Contour does not take";
    INVALID_GATEWAY = "invalid-gateway", Error, "a Gateway, or a listener of it, that cannot be as it is written";
    UNATTACHED_ROUTE = "unattached-route", Error, "a route that no listener takes";
    ROUTE_CONFLICT = "route-conflict", Error, "two routes take the same requests";
    HOST_CLAIMED_TWICE = "host-claimed-twice", Warning, "two controllers serve the same host";
    PORT_CLAIMED_TWICE = "port-claimed-twice", Notice, "the Envoys of two controllers listen at the same port";
    REFERENCE_NOT_PERMITTED = "reference-not-permitted", Error, "a reference to another namespace that no ReferenceGrant allows";
    UNREACHABLE_ROUTE = "unreachable-route", Warning, "routes that no request reaches";
    OVERLAPPING_REGEXES = "overlapping-regexes", Notice, "two expressions match the same path, and the order decides";
    REGEX_TOO_LARGE = "regex-too-large", Error, "an expression whose program is larger than Envoy allows";
    PORT_CONFLICT = "port-conflict", Error, "two things listen on one port";
    NO_LISTENER = "no-listener", Notice, "there is no Listener, so that Envoy listens to nobody";
    UNSERVED = "unserved", Warning, "a resource that no Host or Listener takes";
    ASSUMED_DIALECT = "assumed-dialect", Notice, "an input that does not say which controller it is for";
    NO_EFFECT = "no-effect", Warning, "a resource of which the controller makes nothing";
    SHADOWED_HOST = "shadowed-host", Warning, "a Host whose hostname another Host has";
    DANGLING_REFERENCE = "dangling-reference", Warning, "a reference to what is not in the input";
    NO_SUCH_PORT = "no-such-port", Warning, "a port that the Service does not have";
    WRONG_KIND_REFERENCE = "wrong-kind-reference", Warning, "a reference to an object of another kind";
    COLLAPSED_CLUSTERS = "collapsed-clusters", Warning, "two services whose clusters have one name";
    NAME_TOO_LONG = "name-too-long", Warning, "a host name that DNS cannot hold";
    PROTECTED_HEADER = "protected-header", Error, "a header that Envoy lets nobody change";
    IMPOSSIBLE_HEADER = "impossible-header", Warning, "a name that no header can have";
    IMPOSSIBLE_PATH = "impossible-path", Warning, "a path that no request has";
    IMPOSSIBLE_HOST = "impossible-host", Warning, "a host that no request has";
    IMPOSSIBLE_METHOD = "impossible-method", Warning, "a method that no request has";
    LITERAL_PATTERN = "literal-pattern", Warning, "a star or a name in braces that stands for itself";
    REWRITE_SLASHES = "rewrite-slashes", Notice, "a rewrite that joins two segments or doubles a slash";
    TIMEOUT_CONFLICT = "timeout-conflict", Warning, "timeouts that contradict one another";
    RETRIES_WITHOUT_BUDGET = "retries-without-budget", Notice, "retries under Envoy's built-in limit";
    ADMIN_EXPOSED = "admin-exposed", Warning, "a way to Envoy's admin interface";
    UNVERIFIED_UPSTREAM = "unverified-upstream", Notice, "TLS to an upstream whose certificate nobody checks";
    MISSING_REDIRECT = "missing-redirect", Notice, "a host that is served over TLS, and in cleartext as well";
    OLD_TLS = "old-tls", Notice, "a version of TLS that is no longer safe";
    TLS_VERSIONS_CROSSED = "tls-versions-crossed", Warning, "a lowest version of TLS above the highest";
    OPEN_CORS = "open-cors", Warning, "credentials for any origin";
    UNREADABLE_CERTIFICATE = "unreadable-certificate", Error, "a certificate that is no X.509";
    CERTIFICATE_EXPIRED = "certificate-expired", Warning, "a certificate that has expired";
    CERTIFICATE_NOT_YET_VALID = "certificate-not-yet-valid", Warning, "a certificate that is not valid yet";
    CERTIFICATE_EXPIRES_SOON = "certificate-expires-soon", Notice, "a certificate that expires within two weeks";
    CERTIFICATE_HOST_MISMATCH = "certificate-host-mismatch", Warning, "a certificate that does not cover the host";
    CERTIFICATE_KEY_MISMATCH = "certificate-key-mismatch", Error, "a certificate and a key that do not belong together";
    WEAK_CERTIFICATE_KEY = "weak-certificate-key", Error, "a certificate with a key that is too short";
    REMOVED_VERSION = "removed-version", Warning, "an API version that clusters no longer have";
    UNKNOWN_ANNOTATION = "unknown-annotation", Warning, "an annotation that looks like the controller's, and that it does not read";
    FOREIGN_ANNOTATION = "foreign-annotation", Notice, "an annotation that another controller reads";
    STAND_IN = "stand-in", Notice, "a placeholder that nobody replaced";
    UNUSED_SUPPRESSION = "unused-suppression", Warning, "a finding is to be ignored that is not there";
    SUPPRESSION_WITHOUT_REASON = "suppression-without-reason", Warning, "a finding is ignored, and nobody says why";
}

/// The code of this name.
pub fn find(name: &str) -> Option<&'static Code> {
    ALL.iter().copied().find(|code| code.name == name)
}
