//! Registers the codes that only ingress-nginx has. A test runs the first `yaml` block of each page in `pages/`, which must produce the code.

chancery_base::codes! {
    RISKY_ANNOTATION = "risky-annotation", Error, "The controller drops the Ingress, because an annotation is too risky for its settings";
    ANNOTATION_DROPS_INGRESS = "annotation-drops-ingress", Error, "The controller drops the Ingress, because the value of an annotation has the wrong form";
    INGRESS_DROPPED = "ingress-dropped", Error, "The controller drops the Ingress, because it has a forbidden string or a forbidden default backend";
    ANNOTATION_DENIES_PATHS = "annotation-denies-paths", Error, "Every path of the Ingress answers 503, because an annotation cannot be used";
    SERVICE_CERTIFICATE_REJECTED = "service-certificate-rejected", Warning, "Every request gets 502, because nginx verifies the service's certificate for the name `upstream_balancer`";
    CLIENT_CERTIFICATES_DENY_HOST = "client-certificates-deny-host", Error, "The whole host answers 403, because the CA of client certificates cannot be used";
    ANNOTATION_IGNORED = "annotation-ignored", Warning, "The value of an annotation has the wrong form, and its default applies";
    ANNOTATION_WITHOUT_EFFECT = "annotation-without-effect", Warning, "Annotations that belong together have no effect, because the value of one cannot be used";
    REGEX_SPREADS = "regex-spreads", Warning, "`use-regex` or `rewrite-target` turns all paths of the host into case-insensitive prefix expressions";
    NGINX_REFUSES = "nginx-refuses", Error, "nginx refuses the whole configuration, and the previous one stays";
    HOST_PATH_TAKEN = "host-path-taken", Warning, "An older Ingress has the host and path, and this one is ignored";
    FIRST_INGRESS_DECIDES = "first-ingress-decides", Warning, "Another Ingress has already set a property of the host";
    ROOT_OF_FIRST_INGRESS = "root-of-first-ingress", Notice, "`app-root` or a redirect applies to `/` of the whole host";
    REDIRECT_BEFORE_TLS = "redirect-before-tls", Notice, "A redirect applies before the redirect to https";
    DEFAULT_CERTIFICATE = "default-certificate", Warning, "The host shows the default certificate, and http is redirected to it";
    ERROR_PAGE_STATUS = "error-page-status", Warning, "Error responses become 404, because no error backend answers them";
    CORS_ANY_ORIGIN = "cors-any-origin", Warning, "CORS lets every origin send credentials";
    CANARY_ALONE = "canary-alone", Error, "A canary has no main Ingress";
    SECOND_CANARY = "second-canary", Error, "A canary gets no requests, because another canary comes first";
    SERVICE_IS_CANARY = "service-is-canary", Error, "A path is ignored, because an older canary names the same Service";
    CANARY_SPREADS = "canary-spreads", Warning, "A canary gets requests of other hosts or paths of the same Service";
    CANARY_NOT_ENABLED = "canary-not-enabled", Warning, "Annotations of a canary have no effect without `canary: \"true\"`";
    MISSING_SERVICE = "missing-service", Error, "A path's Service does not exist, and the path answers 503";
    MISSING_SERVICE_PORT = "missing-service-port", Error, "A path's Service does not have the port, and the path answers 503";
    SERVICE_WITHOUT_ENDPOINTS = "service-without-endpoints", Warning, "A path's Service has no ready endpoint, and the path answers 503";
    BACKEND_IS_NO_SERVICE = "backend-is-no-service", Warning, "A backend is not a Service, and its path is ignored";
    PASSTHROUGH_WITHOUT_ROOT = "passthrough-without-root", Error, "TLS connections of a host are closed, because passthrough needs the path `/`";
    UNKNOWN_CONFIG_KEY = "unknown-config-key", Warning, "The controller does not know a key of its ConfigMap";
    CONFIG_VALUE_IGNORED = "config-value-ignored", Warning, "A value of the controller's ConfigMap has the wrong form, and its default applies";
    UNKNOWN_CONTROLLER_FLAG = "unknown-controller-flag", Warning, "The controller does not have a flag, or not with this value";
    WEBHOOK_REFUSES = "webhook-refuses", Notice, "The admission webhook would refuse the Ingress";
}

#[cfg(test)]
mod tests;
