//! The codes of findings that only this dialect has. Pages stand in `pages/`; the first `yaml` block of each is run, and must produce its code.

chancery_base::codes! {
    RISKY_ANNOTATION = "risky-annotation", Error, "the controller drops the Ingress, since an annotation is too risky for its settings";
    ANNOTATION_DROPS_INGRESS = "annotation-drops-ingress", Error, "the controller drops the Ingress, since the value of an annotation has the wrong form";
    INGRESS_DROPPED = "ingress-dropped", Error, "the controller drops the Ingress, since it has a forbidden text or a forbidden default backend";
    ANNOTATION_DENIES_PATHS = "annotation-denies-paths", Error, "every path of the Ingress answers 503, since an annotation cannot be used";
    CLIENT_CERTIFICATES_DENY_HOST = "client-certificates-deny-host", Error, "the whole host answers 403, since the CA of client certificates cannot be used";
    ANNOTATION_IGNORED = "annotation-ignored", Warning, "the value of an annotation has the wrong form, and its default applies";
    ANNOTATION_WITHOUT_EFFECT = "annotation-without-effect", Warning, "annotations contradict each other, and none of them applies";
    REGEX_SPREADS = "regex-spreads", Warning, "`use-regex` or `rewrite-target` turns all paths of the host into expressions that ignore case and match beginnings";
    NGINX_REFUSES = "nginx-refuses", Error, "nginx refuses the whole configuration, and the previous one stays";
    HOST_PATH_TAKEN = "host-path-taken", Warning, "an older Ingress has the host and path, and this one is ignored";
    FIRST_INGRESS_DECIDES = "first-ingress-decides", Warning, "another Ingress has set a property of the host already";
    ROOT_OF_FIRST_INGRESS = "root-of-first-ingress", Notice, "`app-root` or a redirect applies to `/` of the whole host";
    REDIRECT_BEFORE_TLS = "redirect-before-tls", Notice, "a redirect applies before the redirect to https";
    DEFAULT_CERTIFICATE = "default-certificate", Warning, "the host shows the default certificate, and http is redirected to it";
    ERROR_PAGE_STATUS = "error-page-status", Warning, "error responses become 404, since no error backend answers them";
    CORS_ANY_ORIGIN = "cors-any-origin", Warning, "CORS lets every origin send credentials";
    CANARY_ALONE = "canary-alone", Error, "a canary has no Ingress that it belongs to";
    SECOND_CANARY = "second-canary", Error, "a canary is never asked, since another canary comes first";
    CANARY_SPREADS = "canary-spreads", Warning, "a canary takes requests of other hosts or paths of the same Service";
    CANARY_NOT_ENABLED = "canary-not-enabled", Warning, "annotations of a canary have no effect without `canary: \"true\"`";
    MISSING_SERVICE = "missing-service", Error, "a path's Service does not exist, and it answers 503";
    MISSING_SERVICE_PORT = "missing-service-port", Error, "a path's Service does not have the port, and it answers 503";
    SERVICE_WITHOUT_ENDPOINTS = "service-without-endpoints", Warning, "no endpoint of a path's Service is ready, and it answers 503";
    BACKEND_IS_NO_SERVICE = "backend-is-no-service", Warning, "a backend is not a Service, and its path is ignored";
    UNKNOWN_CONFIG_KEY = "unknown-config-key", Warning, "the controller does not know a key of its ConfigMap";
    CONFIG_VALUE_IGNORED = "config-value-ignored", Warning, "a value of the controller's ConfigMap has the wrong form, and its default applies";
    UNKNOWN_CONTROLLER_FLAG = "unknown-controller-flag", Warning, "the controller does not have a flag, or not with this value";
    WEBHOOK_REFUSES = "webhook-refuses", Notice, "the admission webhook would refuse the Ingress";
}

#[cfg(test)]
mod tests;
