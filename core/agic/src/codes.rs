//! Registers the codes that only AGIC has. A test runs the first `yaml` block of each page in `pages/`, which must produce the code.

chancery_base::codes! {
    CONTROLLER_CRASHES = "controller-crashes", Error, "AGIC crashes on the input, or on the gateway's document";
    CONTROLLER_NOT_STARTED = "controller-not-started", Error, "AGIC does not start with these variables";
    UNREADABLE_GATEWAY = "unreadable-gateway", Error, "The gateway's current document is not the document of an Application Gateway";
    OTHER_GATEWAY = "other-gateway", Warning, "The controller's variables name no gateway, or another gateway than the document";
    AZURE_REFUSES = "azure-refuses", Error, "Azure answers with an error";
    GATEWAY_NOT_RUNNING = "gateway-not-running", Warning, "The gateway is not running, so AGIC does not change it";
    MISSING_GATEWAY_ADDRESS = "missing-gateway-address", Error, "The gateway has no address of the kind that an Ingress requires";
    MISSING_GATEWAY_PART = "missing-gateway-part", Error, "An annotation names a part that the gateway does not have";
    REDIRECT_WITHOUT_TLS = "redirect-without-tls", Error, "An Ingress redirects to TLS and has no certificate";
    INVALID_PATH_MAP = "invalid-path-map", Error, "A path of a path map has no target, or two";
    BACKEND_WITHOUT_SERVICE = "backend-without-service", Error, "A backend's Service does not exist";
    UNCLEAR_BACKEND_PORT = "unclear-backend-port", Error, "A backend's port is not a port of the Service, or its pods have several";
    BACKEND_WITHOUT_ENDPOINTS = "backend-without-endpoints", Warning, "A backend's Service has no Endpoints";
    PORT_OUTSIDE_OF_ENDPOINTS = "port-outside-of-endpoints", Warning, "No endpoint has the port of a backend";
    UNUSABLE_TLS_SECRET = "unusable-tls-secret", Error, "The gateway cannot use the Secret as a certificate";
    ANNOTATION_VALUE = "annotation-value", Warning, "An annotation's value has the wrong form, and AGIC ignores it";
    AZURE_REJECTS_VALUE = "azure-rejects-value", Warning, "AGIC passes on a value that Azure does not accept";
    TLS_WITHOUT_SECRET = "tls-without-secret", Warning, "An item of `tls` names no Secret, and AGIC skips it";
    UNUSED_TLS_HOST = "unused-tls-host", Warning, "A host of `tls` is not the host of any rule";
    HTTP_NOT_SERVED = "http-not-served", Notice, "A host has a certificate, and no listener answers HTTP";
    PROBE_OVER_TLS = "probe-over-tls", Warning, "The probe uses HTTPS, and the backend gets HTTP at the same port";
    LISTENER_OVERWRITTEN = "listener-overwritten", Warning, "HTTP and HTTPS of one rule use one port, and only HTTP remains";
    CONTESTED_LISTENER = "contested-listener", Warning, "Two Ingresses require different settings of one listener";
    TOO_MANY_HOSTS = "too-many-hosts", Warning, "A rule has more than five hosts, and AGIC uses only the first five";
    CONTESTED_PROBE = "contested-probe", Warning, "Two paths require different probes of the same name";
    WIDE_PREFIX = "wide-prefix", Notice, "A prefix matches more than Kubernetes specifies";
    PATH_WITHOUT_STAR = "path-without-star", Notice, "A path without a star matches only itself";
    EXACT_ROOT = "exact-root", Warning, "An exact `/` matches every path";
    WILDCARD_HOST_FIRST = "wildcard-host-first", Warning, "A wildcard host of another listener is matched before the host";
    PROHIBITED_PATH_LOST = "prohibited-path-lost", Warning, "AGIC removes a path rule that a prohibited target names";
    PROHIBITED_PATH = "prohibited-path", Notice, "A prohibited target covers a path, so AGIC leaves the path out";
    PATH_TAKEN = "path-taken", Warning, "A host has the same path twice, and AGIC uses the first one";
    UNREACHABLE_PATH = "unreachable-path", Warning, "An earlier path matches all requests of a later one";
    DEFAULT_TAKEN = "default-taken", Warning, "Two paths match everything of one host, and AGIC uses the last one";
    PRIORITY_TAKEN = "priority-taken", Error, "Two rules have the same priority, so Azure refuses the gateway";
    PARTIAL_PRIORITIES = "partial-priorities", Warning, "Some Ingresses have a priority and others do not";
    UNKNOWN_INGRESS_CLASS = "unknown-ingress-class", Warning, "An Ingress names a class that does not exist";
    CLASS_TWICE = "class-twice", Warning, "The annotation and the field name different classes";
    MISSING_REWRITE = "missing-rewrite", Error, "An Ingress names a rewrite set that does not exist, so Azure refuses the gateway";
    REWRITE_TWICE = "rewrite-twice", Warning, "Both rewrite annotations are set, so AGIC uses neither";
    DELETED_HEADER_SET = "deleted-header-set", Warning, "A header is both deleted and set";
    ODD_TARGET_PATH = "odd-target-path", Warning, "A path of a prohibited target does not end with `/*`";
    SHARED_WITHOUT_TARGETS = "shared-without-targets", Warning, "A gateway is shared, but no target prohibits any part";
    TARGETS_NOT_READ = "targets-not-read", Warning, "AGIC does not read prohibited targets, because the gateway is not shared";
    RULE_WITHOUT_PATHS = "rule-without-paths", Warning, "A rule without `http` is skipped";
    PROBE_LIMITED = "probe-limited", Notice, "A pod's probe allows more failures than the gateway can count";
}

#[cfg(test)]
mod tests;
