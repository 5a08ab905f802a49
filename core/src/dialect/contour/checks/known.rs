//! Values that Contour does not know: it takes its default instead, with a line in its log at most.
//!
//! Source of behaviour: Contour `internal/dag/policy.go`, `internal/annotation/annotations.go`. What must not be here: values that are refused.

use crate::compilation::SideRef;
use crate::diagnostic::{Diagnostic, Known, Values};
use crate::dialect::contour::processor::policy;
use crate::dialect::kubernetes::known::{Field, unknown_values};
use alloc::vec::Vec;

const STRATEGY: Known = Known {
    values: Values::Words(&["RoundRobin", "WeightedLeastRequest", "Random", "Cookie", "RequestHash"]),
    otherwise: "takes endpoints in turn, as with `RoundRobin`",
};

const VERSIONS: Values = Values::Words(&["1.2", "1.3"]);
const OLDEST: Known = Known { values: VERSIONS, otherwise: "takes 1.2 for the oldest version" };
const NEWEST: Known = Known { values: VERSIONS, otherwise: "takes 1.3 for the newest version" };

const SWITCH: Values = Values::Words(&["true", "false"]);
const REDIRECTS: Known = Known { values: SWITCH, otherwise: "does not redirect to HTTPS" };
const ALLOWS: Known = Known { values: SWITCH, otherwise: "serves the Ingress over HTTP too" };

const RETRIES: Known = Known { values: Values::Form(|text| text.parse::<i32>().is_ok(), "a whole number"), otherwise: "takes 1" };
const LIMIT: Known =
    Known { values: Values::Form(|text| text.parse::<u32>().is_ok(), "a whole number, 0 or more"), otherwise: "sets no limit of its own" };

const DURATION: Values = Values::Form(|text| policy::timeout(text).is_ok(), "a duration such as `30s`, or `infinity`");
const TIMEOUT: Known = Known { values: DURATION, otherwise: "takes Envoy's own timeout, 15 seconds" };
const EACH_TRY: Known = Known { values: DURATION, otherwise: "sets no timeout for each try" };

const FIELDS: &[Field] = &[
    ("HTTPProxy", &["spec", "routes", "*", "loadBalancerPolicy", "strategy"], STRATEGY),
    ("HTTPProxy", &["spec", "tcpproxy", "loadBalancerPolicy", "strategy"], STRATEGY),
    ("ExtensionService", &["spec", "loadBalancerPolicy", "strategy"], STRATEGY),
    ("HTTPProxy", &["spec", "virtualhost", "tls", "minimumProtocolVersion"], OLDEST),
    ("HTTPProxy", &["spec", "virtualhost", "tls", "maximumProtocolVersion"], NEWEST),
    ("Ingress", &["metadata", "annotations", "projectcontour.io/tls-minimum-protocol-version"], OLDEST),
    ("Ingress", &["metadata", "annotations", "projectcontour.io/tls-maximum-protocol-version"], NEWEST),
    ("Ingress", &["metadata", "annotations", "ingress.kubernetes.io/force-ssl-redirect"], REDIRECTS),
    ("Ingress", &["metadata", "annotations", "kubernetes.io/ingress.allow-http"], ALLOWS),
    ("Ingress", &["metadata", "annotations", "projectcontour.io/num-retries"], RETRIES),
    ("Ingress", &["metadata", "annotations", "projectcontour.io/per-try-timeout"], EACH_TRY),
    ("Ingress", &["metadata", "annotations", "projectcontour.io/response-timeout"], TIMEOUT),
    ("Ingress", &["metadata", "annotations", "projectcontour.io/request-timeout"], TIMEOUT),
    ("Service", &["metadata", "annotations", "projectcontour.io/max-connections"], LIMIT),
    ("Service", &["metadata", "annotations", "projectcontour.io/max-pending-requests"], LIMIT),
    ("Service", &["metadata", "annotations", "projectcontour.io/max-requests"], LIMIT),
    ("Service", &["metadata", "annotations", "projectcontour.io/max-retries"], LIMIT),
    ("Service", &["metadata", "annotations", "projectcontour.io/per-host-max-connections"], LIMIT),
];

/// What Contour does not know.
pub fn values(side: SideRef<'_>) -> Vec<Diagnostic> {
    unknown_values(side, FIELDS)
}
