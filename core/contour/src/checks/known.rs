//! Finds values that Contour does not know: it uses its default, at most with a log line.
//!
//! Source of behaviour: Contour `internal/dag/policy.go`, `internal/annotation/annotations.go`.

use crate::processor::policy;
use crate::processor::service::{PROTOCOLS, known_protocol};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::diagnostic::{Diagnostic, Known, Place, Values, codes};
use chancery_base::resource::Object;
use chancery_kubernetes::known::{Field, is_read, unknown_values};
use chancery_kubernetes::service;

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
const LIMIT: Known = Known { values: Values::Form(|text| text.parse::<u32>().is_ok(), "a whole number, 0 or more"), otherwise: "sets no limit" };

const DURATION: Values = Values::Form(|text| policy::timeout(text).is_ok(), "a duration such as `30s`, or `infinity`");
const TIMEOUT: Known = Known { values: DURATION, otherwise: "takes Envoy's own timeout, 15 seconds" };
const EACH_TRY: Known = Known { values: DURATION, otherwise: "sets no timeout for each try" };

const RETRY_ON: Known = Known {
    values: Values::Several(&[
        "5xx",
        "gateway-error",
        "reset",
        "reset-before-request",
        "connect-failure",
        "envoy-ratelimited",
        "retriable-4xx",
        "refused-stream",
        "retriable-status-codes",
        "retriable-headers",
        "http3-post-connect-failure",
        "cancelled",
        "deadline-exceeded",
        "internal",
        "resource-exhausted",
        "unavailable",
    ]),
    otherwise: "hands it to Envoy, which ignores what it does not know",
};

/// Protocols of ports that are Kubernetes' own, or nearly: others are for other programs.
const SPOKEN: Known = Known {
    values: Values::Form(
        |text| known_protocol(text).is_some() || !(text.starts_with("kubernetes.io/") || ["h2c", "ws", "wss"].contains(&text)),
        "`kubernetes.io/h2c`, `kubernetes.io/ws`, `https` or `http`",
    ),
    otherwise: "takes the port for plain HTTP",
};

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
    ("Ingress", &["metadata", "annotations", "projectcontour.io/retry-on"], RETRY_ON),
    ("Ingress", &["metadata", "annotations", "projectcontour.io/per-try-timeout"], EACH_TRY),
    ("Ingress", &["metadata", "annotations", "projectcontour.io/response-timeout"], TIMEOUT),
    ("Ingress", &["metadata", "annotations", "projectcontour.io/request-timeout"], TIMEOUT),
    ("Service", &["spec", "ports", "*", "appProtocol"], SPOKEN),
    ("Service", &["metadata", "annotations", "projectcontour.io/max-connections"], LIMIT),
    ("Service", &["metadata", "annotations", "projectcontour.io/max-pending-requests"], LIMIT),
    ("Service", &["metadata", "annotations", "projectcontour.io/max-requests"], LIMIT),
    ("Service", &["metadata", "annotations", "projectcontour.io/max-retries"], LIMIT),
    ("Service", &["metadata", "annotations", "projectcontour.io/per-host-max-connections"], LIMIT),
];

/// Finds values that Contour does not know.
pub fn values(side: SideRef<'_>) -> Vec<Diagnostic> {
    let mut found = unknown_values(side, FIELDS);
    found.extend(side.objects().iter().filter(|object| *object.key.kind == *"Service" && is_read(side, object)).flat_map(ports));
    found
}

/// Ports that annotations of a Service name, and that it does not have.
fn ports(service: &Object) -> Vec<Diagnostic> {
    let annotations = PROTOCOLS.iter().filter_map(|(_, annotation)| service.root.at(&["metadata", "annotations", annotation]));
    let mut annotations = annotations.peekable();
    if annotations.peek().is_none() {
        return Vec::new();
    }
    let has = service::ports(&service.root);
    let is_one = |word: &str| has.iter().any(|port| port.name.as_deref() == Some(word) || word.parse() == Ok(port.port));
    let mut found = Vec::new();
    for node in annotations {
        for word in node.as_str().unwrap_or_default().split(',').map(str::trim).filter(|word| !word.is_empty() && !is_one(word)) {
            let message = format!("the Service has no port `{word}`, so the annotation does nothing for it");
            let finding = Diagnostic::new(&codes::UNKNOWN_VALUE, message, Place::value(service.id, node.id)).about(service.key.clone());
            found.push(finding.help("name its ports by their names or numbers, not by `targetPort`"));
        }
    }
    found
}
