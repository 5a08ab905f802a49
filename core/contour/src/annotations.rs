//! Lists the annotations that Contour reads, by kind.
//!
//! Source of behaviour: Contour `internal/annotation/annotations.go`.

use chancery_base::compilation::KnownAnnotations;

const INGRESS: KnownAnnotations = KnownAnnotations {
    docs: &[],
    prefixes: &["projectcontour.io/", "ingress.kubernetes.io/"],
    names: &[
        "ingress.kubernetes.io/force-ssl-redirect",
        "projectcontour.io/ingress.class",
        "projectcontour.io/num-retries",
        "projectcontour.io/per-try-timeout",
        "projectcontour.io/request-timeout",
        "projectcontour.io/response-timeout",
        "projectcontour.io/retry-on",
        super::relations::CERTIFICATE_NAMESPACE,
        "projectcontour.io/tls-maximum-protocol-version",
        "projectcontour.io/tls-minimum-protocol-version",
        "projectcontour.io/websocket-routes",
    ],
};

const SERVICE: KnownAnnotations = KnownAnnotations {
    docs: &[],
    prefixes: &["projectcontour.io/"],
    names: &[
        "projectcontour.io/max-connections",
        "projectcontour.io/max-pending-requests",
        "projectcontour.io/max-requests",
        "projectcontour.io/max-retries",
        "projectcontour.io/per-host-max-connections",
        "projectcontour.io/upstream-protocol.h2",
        "projectcontour.io/upstream-protocol.h2c",
        "projectcontour.io/upstream-protocol.tls",
    ],
};

const PROXY: KnownAnnotations = KnownAnnotations { prefixes: &["projectcontour.io/"], names: &["projectcontour.io/ingress.class"], docs: &[] };

/// The annotations of each kind that has any.
pub const ALL: &[(&str, KnownAnnotations)] = &[("Ingress", INGRESS), ("Service", SERVICE), ("HTTPProxy", PROXY)];
