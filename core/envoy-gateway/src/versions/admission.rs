//! What the CRDs of an older version accept, refuse and drop.
//!
//! Does not check the rules that both versions have; see `cluster`.

use super::Version;
use crate::kinds::Kind;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::diagnostic::{Part, codes};
use chancery_kubernetes::report::Report;
use chancery_text::{Node, Object, Value, write_json_scalar};

/// Fields that version 1.9 added, by kind. A path without its first step is the end of a path, in any kind.
const ADDED: &[(&str, &str)] = &[
    ("", ".healthCheck.active.healthCheckLog"),
    ("", ".healthCheck.active.http.requestBody"),
    ("", ".loadBalancer.backendUtilization.outOfBand"),
    ("Backend", "spec.tls.autoSNIFromEndpointHostname"),
    ("BackendTrafficPolicy", "spec.rateLimit.global.rules.limit.fromMetadata"),
    ("BackendTrafficPolicy", "spec.rateLimit.local.rules.limit.fromMetadata"),
    ("BackendTrafficPolicy", "spec.responseOverride.match.responseHeaders"),
    ("BackendTrafficPolicy", "spec.telemetry.tracing.clientSamplingFraction"),
    ("BackendTrafficPolicy", "spec.telemetry.tracing.overallSamplingFraction"),
    ("ClientTrafficPolicy", "spec.clientIPDetection.directSourceIP"),
    ("ClientTrafficPolicy", "spec.clientIPDetection.xForwardedFor.disableXForwardedForAppend"),
    ("ClientTrafficPolicy", "spec.headers.host"),
    ("ClientTrafficPolicy", "spec.timeout.http.requestHeadersReceivedTimeout"),
    ("ClientTrafficPolicy", "spec.timeout.tcp.connectionInspectionTimeout"),
    ("ClientTrafficPolicy", "spec.timeout.tcp.tlsHandshakeTimeout"),
    ("ClientTrafficPolicy", "spec.tls.clientValidation.allowExpiredCertificate"),
    ("EnvoyExtensionPolicy", "spec.extProc.shadowMode"),
    ("EnvoyExtensionPolicy", "spec.extProc.statusOnError"),
    ("EnvoyExtensionPolicy", "spec.lua.filterContext"),
    ("EnvoyExtensionPolicy", "spec.mergeType"),
    ("EnvoyProxy", "spec.mergeBackends"),
    ("EnvoyProxy", "spec.shutdown.healthCheckFailureDelay"),
    ("EnvoyProxy", "spec.telemetry.healthCheckLog"),
    ("EnvoyProxy", "spec.telemetry.tracing.clientSamplingFraction"),
    ("EnvoyProxy", "spec.telemetry.tracing.overallSamplingFraction"),
    ("HTTPRouteFilter", "spec.urlRewrite.hostname.pathRegex"),
    ("SecurityPolicy", "spec.authorization.rules.cel"),
    ("SecurityPolicy", "spec.authorization.rules.operation.path"),
    ("SecurityPolicy", "spec.csrf"),
    ("SecurityPolicy", "spec.jwt.failOpen"),
    ("SecurityPolicy", "spec.jwt.providers.remoteJWKS.failedRefetchDuration"),
];

/// When a value is refused.
enum Test {
    Is(&'static str),
    IsZero,
    Lacks(&'static str),
    HasMoreThan(usize),
    Text(fn(&str) -> bool),
}

/// A value that version 1.9 accepts and version 1.8 refuses.
struct Refusal {
    kind: &'static str,
    path: &'static str,
    test: Test,
    /// The end of the API server's message.
    error: &'static str,
}

impl Refusal {
    const fn new(kind: &'static str, path: &'static str, test: Test, error: &'static str) -> Self {
        Self { kind, path, test, error }
    }

    /// The field that is at fault below the value, with a dot; empty for the value itself.
    fn field(&self) -> String {
        if let Test::Lacks(name) = self.test { format!(".{name}") } else { String::new() }
    }

    fn refuses(&self, value: &Node) -> bool {
        match (&self.test, &value.value) {
            (Test::Is(text), Value::String(own)) => own == text,
            (Test::IsZero, _) => value.as_i64() == Some(0),
            (Test::Lacks(name), Value::Object(fields)) => !fields.contains_key(name),
            (Test::HasMoreThan(most), Value::Array(items)) => items.len() > *most,
            (Test::HasMoreThan(most), Value::Object(fields)) => fields.len() > *most,
            (Test::Text(is_wrong), Value::String(own)) => is_wrong(own),
            _ => false,
        }
    }
}

const UNITS: &str = "supported values: \"Second\", \"Minute\", \"Hour\", \"Day\", \"Month\", \"Year\"";
const TARGETS: &str = "this policy can only have a targetRef.kind of Gateway/HTTPRoute/GRPCRoute/TCPRoute/UDPRoute/TLSRoute";
const SECURED: &str = "this policy can only have a targetRef.kind of Gateway/HTTPRoute/GRPCRoute/TCPRoute";
const GATEWAYS: &str = "this policy can only have a targetRef.kind of Gateway";
const TOO_MANY: &str = "the list is too long";
const POSITIVE: &str = "should be greater than or equal to 1";
const REQUIRED: &str = "Required value";
const NO_PATTERN: &str = "should match the pattern of version 1.8";

const REFUSALS: &[Refusal] = &[
    Refusal::new("BackendTrafficPolicy", "spec.targetRef.kind", Test::Is("ListenerSet"), TARGETS),
    Refusal::new("BackendTrafficPolicy", "spec.targetRefs.kind", Test::Is("ListenerSet"), TARGETS),
    Refusal::new("EnvoyExtensionPolicy", "spec.targetRef.kind", Test::Is("ListenerSet"), TARGETS),
    Refusal::new("EnvoyExtensionPolicy", "spec.targetRefs.kind", Test::Is("ListenerSet"), TARGETS),
    Refusal::new("SecurityPolicy", "spec.targetRef.kind", Test::Is("ListenerSet"), SECURED),
    Refusal::new("SecurityPolicy", "spec.targetRefs.kind", Test::Is("ListenerSet"), SECURED),
    Refusal::new("ClientTrafficPolicy", "spec.targetRef.kind", Test::Is("ListenerSet"), GATEWAYS),
    Refusal::new("ClientTrafficPolicy", "spec.targetRefs.kind", Test::Is("ListenerSet"), GATEWAYS),
    Refusal::new("BackendTrafficPolicy", "spec.rateLimit.global.rules.limit.unit", Test::Is("Week"), UNITS),
    Refusal::new("BackendTrafficPolicy", "spec.rateLimit.local.rules.limit.unit", Test::Is("Week"), UNITS),
    Refusal::new("BackendTrafficPolicy", "spec.rateLimit.global.rules.limit.requests", Test::IsZero, POSITIVE),
    Refusal::new("BackendTrafficPolicy", "spec.rateLimit.global.rules.clientSelectors.headers", Test::HasMoreThan(64), TOO_MANY),
    Refusal::new("BackendTrafficPolicy", "spec.rateLimit.local.rules.clientSelectors.headers", Test::HasMoreThan(64), TOO_MANY),
    Refusal::new("BackendTrafficPolicy", "spec.responseOverride.match", Test::Lacks("statusCodes"), REQUIRED),
    Refusal::new("SecurityPolicy", "spec.authorization.rules", Test::Lacks("principal"), REQUIRED),
    Refusal::new("SecurityPolicy", "spec.authorization.rules.operation", Test::Lacks("methods"), REQUIRED),
    Refusal::new("SecurityPolicy", "spec.cors.allowOrigins", Test::Text(has_other_scheme), NO_PATTERN),
    Refusal::new("SecurityPolicy", "spec.oidc.cookieDomain", Test::Text(has_short_label), NO_PATTERN),
    Refusal::new("Backend", "spec.endpoints.fqdn.hostname", Test::Text(ends_with_dot), NO_PATTERN),
    Refusal::new("HTTPRouteFilter", "spec.urlRewrite.hostname.type", Test::Is("PathRegex"), "supported values: \"Header\", \"Backend\""),
    Refusal::new("Gateway", "spec.infrastructure.annotations", Test::HasMoreThan(8), TOO_MANY),
    Refusal::new("Gateway", "spec.tls.frontend.default.validation.caCertificateRefs", Test::HasMoreThan(8), TOO_MANY),
    Refusal::new("Gateway", "spec.tls.frontend.perPort.tls.validation.caCertificateRefs", Test::HasMoreThan(8), TOO_MANY),
    Refusal::new("TLSRoute", "spec.hostnames", Test::HasMoreThan(16), TOO_MANY),
];

fn has_other_scheme(origin: &str) -> bool {
    origin != "*" && !origin.starts_with("http://") && !origin.starts_with("https://")
}

fn has_short_label(domain: &str) -> bool {
    domain.split('.').skip(1).any(|label| label.len() == 1)
}

fn ends_with_dot(name: &str) -> bool {
    name.ends_with('.')
}

/// What an older version's API server says of an object.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The object as the newest version's rules must see it, if it differs.
    pub(crate) root: Option<Node>,
    /// Why the object is refused.
    pub(crate) errors: Vec<String>,
    /// Paths of fields that are dropped.
    pub(crate) unknown: Vec<String>,
}

/// Applies the differences of an older version to an object, and reports them. `api_version` is the object's own.
pub(crate) fn admit(version: Version, kind: Kind, api_version: &str, root: &Node, report: &mut Report<'_>) -> Outcome {
    if !version.is_1_8() {
        return Outcome::default();
    }
    let mut outcome = Outcome::default();
    if matches!(kind, Kind::TcpRoute | Kind::UdpRoute) && api_version.ends_with("/v1") {
        let message = format!("Gateway API 1.5.1, which Envoy Gateway 1.8 uses, has no {} in {api_version}", kind.name());
        let at = root.get("apiVersion").map_or(root.id, |at| at.id);
        let finding = report.finding(&codes::INVALID_VALUE, message, at, Part::Value);
        report.sink.report(finding.help("write gateway.networking.k8s.io/v1alpha2, which both versions accept"));
        outcome.errors.push(format!("no matches for kind \"{}\" in version \"{api_version}\"", kind.name()));
        return outcome;
    }
    let mut walk = Walk { kind: kind.name(), report, outcome: &mut outcome };
    let changed = walk.node(root, &mut String::new(), &mut String::new());
    let root = changed.unwrap_or_else(|| root.clone());
    outcome.root = Some(without_new_limits(kind, root));
    outcome
}

struct Walk<'w, 'r> {
    kind: &'static str,
    report: &'w mut Report<'r>,
    outcome: &'w mut Outcome,
}

impl Walk<'_, '_> {
    fn is_added(&self, keys: &str) -> bool {
        ADDED.iter().any(|(kind, path)| if kind.is_empty() { keys.ends_with(path) } else { *kind == self.kind && keys == *path })
    }

    /// Returns the node without fields that are dropped; `None` if nothing is. `keys` is its path without indexes.
    fn node(&mut self, node: &Node, keys: &mut String, shown: &mut String) -> Option<Node> {
        let kind = self.kind;
        for refusal in REFUSALS.iter().filter(|refusal| refusal.kind == kind && refusal.path == keys.as_str()) {
            // A list is looked at as a whole and by its items.
            if refusal.refuses(node) {
                self.refuse(refusal, node, shown);
            }
        }
        let (own_keys, own_shown) = (keys.len(), shown.len());
        match &node.value {
            Value::Object(fields) => {
                let mut kept = Vec::new();
                let mut is_changed = false;
                for entry in fields.iter() {
                    for path in [&mut *keys, &mut *shown] {
                        if !path.is_empty() {
                            path.push('.');
                        }
                        path.push_str(&entry.key);
                    }
                    if self.is_added(keys) {
                        self.drop(&entry.value, shown);
                        is_changed = true;
                    } else {
                        let changed = self.node(&entry.value, keys, shown);
                        is_changed |= changed.is_some();
                        kept.push((entry.key.clone(), changed.unwrap_or_else(|| entry.value.clone())));
                    }
                    keys.truncate(own_keys);
                    shown.truncate(own_shown);
                }
                let fields: Object = kept.into_iter().collect();
                is_changed.then_some(Node { id: node.id, value: Value::Object(fields) })
            }
            Value::Array(items) => {
                let mut is_changed = false;
                let mut kept = Vec::with_capacity(items.len());
                for (at, item) in items.iter().enumerate() {
                    shown.push_str(&format!("[{at}]"));
                    let changed = self.node(item, keys, shown);
                    is_changed |= changed.is_some();
                    kept.push(changed.unwrap_or_else(|| item.clone()));
                    shown.truncate(own_shown);
                }
                is_changed.then_some(Node { id: node.id, value: Value::Array(kept) })
            }
            _ => None,
        }
    }

    fn drop(&mut self, value: &Node, path: &str) {
        let message = format!("Envoy Gateway 1.8 has no `{path}`, which version 1.9 added; it is dropped");
        let finding = self.report.finding(&codes::UNKNOWN_FIELD, message, value.id, Part::Key);
        self.report.sink.report(finding);
        self.outcome.unknown.push(path.to_string());
    }

    fn refuse(&mut self, refusal: &Refusal, value: &Node, path: &str) {
        let (field, error) = (refusal.field(), refusal.error);
        let what = match &value.value {
            Value::Object(_) | Value::Array(_) => format!("`{path}{field}`: {error}"),
            _ => format!("{} in `{path}`: {error}", scalar(value)),
        };
        let message = format!("Envoy Gateway 1.8 refuses this {}, which version 1.9 accepts: {what}", self.kind);
        let finding = self.report.finding(&codes::INVALID_VALUE, message, value.id, Part::Value);
        self.report.sink.report(finding);
        let value = if field.is_empty() { format!("Invalid value: {}: ", scalar(value)) } else { String::new() };
        self.outcome.errors.push(format!("{path}{field}: {value}{error}"));
    }
}

fn scalar(value: &Node) -> String {
    let mut out = String::new();
    match &value.value {
        Value::Object(_) => out.push_str("\"object\""),
        Value::Array(_) => out.push_str("\"array\""),
        Value::String(text) => out.push_str(&format!("\"{text}\"")),
        other => write_json_scalar(&mut out, other),
    }
    out
}

/// Leaves out what only the newest version refuses, and what version 1.8 accepts without any effect: an empty `clientIPDetection`, and the
/// `mergeType` of a policy for a Gateway.
fn without_new_limits(kind: Kind, mut root: Node) -> Node {
    let Value::Object(fields) = &mut root.value else { return root };
    let Some(Node { value: Value::Object(spec), .. }) = fields.get_mut("spec") else { return root };
    match kind {
        Kind::ClientTrafficPolicy if spec.get("clientIPDetection").and_then(Node::as_object).is_some_and(Object::is_empty) => {
            spec.remove("clientIPDetection");
        }
        Kind::BackendTrafficPolicy | Kind::SecurityPolicy => {
            let is_wide = |target: &Node| target.get("kind").and_then(Node::as_str) == Some("Gateway");
            let list = |name: &str| spec.get(name).and_then(Node::as_array).cloned().unwrap_or_default();
            let targets: Vec<Node> = spec.get("targetRef").cloned().into_iter().chain(list("targetRefs")).chain(list("targetSelectors")).collect();
            if !targets.is_empty() && targets.iter().all(is_wide) {
                spec.remove("mergeType");
            }
        }
        _ => {}
    }
    root
}
