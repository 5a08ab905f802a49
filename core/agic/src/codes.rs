//! The codes of findings that only this dialect has. Their pages are in `pages/`; the first `yaml` block of each is run as a test, and must produce
//! its code.

chancery_base::codes! {
    CONTROLLER_CRASHES = "controller-crashes", Error, "AGIC crashes on the input, or on the gateway's document";
    CONTROLLER_NOT_STARTED = "controller-not-started", Error, "AGIC does not start with these variables";
    UNREADABLE_GATEWAY = "unreadable-gateway", Error, "the gateway's current document is not that of an Application Gateway";
    OTHER_GATEWAY = "other-gateway", Warning, "the controller's variables name no gateway, or another than the document";
    AZURE_REFUSES = "azure-refuses", Error, "Azure answers with an error";
    GATEWAY_NOT_RUNNING = "gateway-not-running", Warning, "the gateway is not running, so it is not changed";
    MISSING_GATEWAY_ADDRESS = "missing-gateway-address", Error, "the gateway has no address of the kind that an Ingress asks for";
    MISSING_GATEWAY_PART = "missing-gateway-part", Error, "an annotation names a part that the gateway does not have";
    REDIRECT_WITHOUT_TLS = "redirect-without-tls", Error, "a redirect to TLS without TLS";
    INVALID_PATH_MAP = "invalid-path-map", Error, "a path of a path map has no target, or two";
    BACKEND_WITHOUT_SERVICE = "backend-without-service", Error, "a backend's Service does not exist";
    UNCLEAR_BACKEND_PORT = "unclear-backend-port", Error, "a backend's port is not a port of the Service, or its pods have several";
    BACKEND_WITHOUT_ENDPOINTS = "backend-without-endpoints", Warning, "a backend's Service has no Endpoints";
    PORT_OUTSIDE_OF_ENDPOINTS = "port-outside-of-endpoints", Warning, "no endpoint has the port of a backend";
    UNUSABLE_TLS_SECRET = "unusable-tls-secret", Error, "the gateway cannot use the Secret as a certificate";
    ANNOTATION_VALUE = "annotation-value", Warning, "an annotation's value has the wrong form, and is ignored";
    AZURE_REJECTS_VALUE = "azure-rejects-value", Warning, "a value that AGIC passes on and Azure does not accept";
    TLS_WITHOUT_SECRET = "tls-without-secret", Warning, "an item of `tls` names no Secret, and is skipped";
    UNUSED_TLS_HOST = "unused-tls-host", Warning, "a host of `tls` is not the host of any rule";
    LISTENER_OVERWRITTEN = "listener-overwritten", Warning, "HTTP and HTTPS of one rule are at one port, and only HTTP is left";
    CONTESTED_LISTENER = "contested-listener", Warning, "two Ingresses want different settings of one listener";
    TOO_MANY_HOSTS = "too-many-hosts", Warning, "a rule has more than five hosts; only the first five are used";
    CONTESTED_PROBE = "contested-probe", Warning, "two paths want different probes of the same name";
    WIDE_PREFIX = "wide-prefix", Notice, "a prefix matches more than Kubernetes says";
    EXACT_ROOT = "exact-root", Warning, "an exact `/` matches every path";
    PATH_TAKEN = "path-taken", Warning, "duplicate path for one host; the first one is used";
    UNREACHABLE_PATH = "unreachable-path", Warning, "an earlier path takes all requests of a later one";
    DEFAULT_TAKEN = "default-taken", Warning, "two paths match everything of one host; the last one is used";
    PRIORITY_TAKEN = "priority-taken", Error, "two rules have the same priority, which Azure rejects";
    PARTIAL_PRIORITIES = "partial-priorities", Warning, "some Ingresses have a priority and others do not";
    UNKNOWN_INGRESS_CLASS = "unknown-ingress-class", Warning, "an Ingress names a class that does not exist";
    CLASS_TWICE = "class-twice", Warning, "the annotation and the field name different classes";
    MISSING_REWRITE = "missing-rewrite", Error, "an Ingress names a rewrite set that does not exist, which Azure rejects";
    REWRITE_TWICE = "rewrite-twice", Warning, "both rewrite annotations are set, so neither is used";
    DELETED_HEADER_SET = "deleted-header-set", Warning, "a header is both deleted and set";
    ODD_TARGET_PATH = "odd-target-path", Warning, "a path of a prohibited target does not end with `/*`";
    SHARED_WITHOUT_TARGETS = "shared-without-targets", Warning, "a gateway is shared, but nothing of it is prohibited";
    TARGETS_NOT_READ = "targets-not-read", Warning, "prohibited targets are not read, as the gateway is not shared";
    RULE_WITHOUT_PATHS = "rule-without-paths", Warning, "a rule without `http` is skipped";
    PROBE_LIMITED = "probe-limited", Notice, "a pod's probe asks for more failures than the gateway can count";
}

#[cfg(test)]
mod tests;
