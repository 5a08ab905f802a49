//! Reports outdated or foreign content: removed API versions, annotations of other controllers, unreplaced placeholders, and typographic quotes.
//!
//! The dialects report deprecated fields and versions of the kinds they own.

use super::whole::Whole;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::{Claim, Dialect};
use chancery_base::diagnostic::{Diagnostic, Place, Severity, codes};
use chancery_base::resource::{Object, REDACTED, installs};
use chancery_text::{Node, Value, quoted};

/// Removed versions: `apiVersion`, kind (empty: any), the replacement, and the version that removed it.
const GONE: &[(&str, &str, &str, &str)] = &[
    ("extensions/v1beta1", "Ingress", "networking.k8s.io/v1", "Kubernetes 1.22"),
    ("networking.k8s.io/v1beta1", "Ingress", "networking.k8s.io/v1", "Kubernetes 1.22"),
    ("networking.k8s.io/v1beta1", "IngressClass", "networking.k8s.io/v1", "Kubernetes 1.22"),
    ("discovery.k8s.io/v1beta1", "EndpointSlice", "discovery.k8s.io/v1", "Kubernetes 1.25"),
    ("extensions/v1beta1", "Deployment", "apps/v1", "Kubernetes 1.16"),
    ("apps/v1beta1", "", "apps/v1", "Kubernetes 1.16"),
    ("apps/v1beta2", "", "apps/v1", "Kubernetes 1.16"),
    ("rbac.authorization.k8s.io/v1beta1", "", "rbac.authorization.k8s.io/v1", "Kubernetes 1.22"),
    ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "apiextensions.k8s.io/v1", "Kubernetes 1.22"),
    ("policy/v1beta1", "PodDisruptionBudget", "policy/v1", "Kubernetes 1.25"),
    ("autoscaling/v2beta2", "HorizontalPodAutoscaler", "autoscaling/v2", "Kubernetes 1.26"),
    ("contour.heptio.com/v1beta1", "IngressRoute", "HTTPProxy in projectcontour.io/v1", "Contour 1.6"),
    ("contour.heptio.com/v1beta1", "TLSCertificateDelegation", "projectcontour.io/v1", "Contour 1.6"),
    ("gateway.networking.k8s.io/v1alpha2", "GatewayClass", "gateway.networking.k8s.io/v1", "Gateway API 1.0"),
    ("gateway.networking.k8s.io/v1alpha2", "Gateway", "gateway.networking.k8s.io/v1", "Gateway API 1.0"),
    ("gateway.networking.k8s.io/v1alpha2", "HTTPRoute", "gateway.networking.k8s.io/v1", "Gateway API 1.0"),
];

/// Prefixes of controllers' annotations.
const CONTROLLERS: &[(&str, &str)] = &[
    ("nginx.ingress.kubernetes.io/", "ingress-nginx"),
    ("nginx.org/", "NGINX's own controller"),
    ("traefik.ingress.kubernetes.io/", "Traefik"),
    ("haproxy.org/", "HAProxy's controller"),
    ("haproxy-ingress.github.io/", "HAProxy Ingress"),
    ("alb.ingress.kubernetes.io/", "AWS's load balancer controller"),
    ("appgw.ingress.kubernetes.io/", "Azure's Application Gateway controller"),
    ("konghq.com/", "Kong"),
];

/// Placeholder words that request a replacement, in any case.
const PLACEHOLDERS: &[&str] = &["CHANGEME", "CHANGE_ME", "CHANGE-ME", "REPLACEME", "REPLACE_ME", "REPLACE-ME"];

/// Note words, only in capital letters: in lower case they are names.
const NOTES: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), "TBD"];

/// Fields for human-readable text, in which angle brackets are markup.
const PROSE_FIELDS: &[&str] = &["body", "text_format", "inlineString"];

/// Parts of example host names and paths, in any case.
const EXAMPLE_NAMES: &[&str] = &[
    "yourdomain",
    "your-domain",
    "your_domain",
    "yourcompany",
    "your-company",
    "yourhost",
    "your-host",
    "your-hostname",
    "your-service",
    "your-namespace",
    "your-app",
    "mydomain",
    "my-domain",
];

/// Objects are searched to this depth for placeholders.
const DEEPEST: usize = 32;

pub(super) fn check(whole: &mut Whole<'_>) {
    for object in whole.side.objects().iter().filter(|object| !object.broken) {
        gone(whole, object);
        if *object.key.kind == *"Ingress" {
            foreign(whole, object);
        }
        // A chart interprets its own values.
        if installs(&object.key) {
            continue;
        }
        // A Consul definition has neither a version nor a `spec`: the whole object is its specification.
        if let Some(spec) = object.root.get("spec").or_else(|| object.api_version.is_empty().then_some(&object.root)) {
            placeholders(whole, object, spec);
        }
    }
}

fn gone(whole: &mut Whole<'_>, object: &Object) {
    let (version, kind) = (&*object.api_version, &*object.key.kind);
    let Some((_, _, instead, since)) = GONE.iter().find(|(gone, of, ..)| *gone == version && (of.is_empty() || *of == kind)) else { return };
    let Some(node) = object.root.get("apiVersion") else { return };
    if whole.wrong.contains(&object.id) {
        return;
    }
    let message = format!("{kind} in {version} was removed in {since}");
    let finding = Diagnostic::new(&codes::REMOVED_VERSION, message, Place::value(object.id, node.id)).about(object.key.clone());
    whole.report(finding.help(format!("use {instead}")));
}

fn foreign(whole: &mut Whole<'_>, object: &Object) {
    let annotations = object.root.at(&["metadata", "annotations"]).and_then(Node::as_object);
    let is_first = whole.side.compilation.sides().next().is_some_and(|first| core::ptr::eq(first.side, whole.side.side));
    for entry in annotations.into_iter().flatten() {
        let Some((_, whose)) = CONTROLLERS.iter().find(|(prefix, _)| entry.key.starts_with(prefix)) else { continue };
        // An annotation that another dialect reads is valid, and one that no dialect reads is reported once.
        let mut sides = whole.side.compilation.sides();
        if sides.any(|side| is_own(side.dialect(), &entry.key)) || !is_first {
            continue;
        }
        let message = format!("{} does not read `{}`: it is an annotation of {whose}", whole.side.dialect().controller, entry.key);
        let place = Place::key(object.id, entry.value.id);
        whole.report(Diagnostic::new(&codes::FOREIGN_ANNOTATION, message, place).about(object.key.clone()));
    }
}

/// Whether a dialect claims an annotation.
fn is_own(dialect: &Dialect, key: &str) -> bool {
    dialect.claims.iter().any(|claim| matches!(claim, Claim::Annotation(prefix) | Claim::SharedAnnotation(prefix) if key.starts_with(prefix)))
}

/// A place in an object, as far as it decides whether Kubernetes replaces `$(VARIABLE)`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Object,
    Containers,
    Container,
    Variables,
    Variable,
    /// The command or the arguments of a container, or the value of one of its variables.
    Expanded,
}

impl Inside {
    fn field(self, key: &str) -> Self {
        match (self, key) {
            (Self::Object, "containers" | "initContainers" | "ephemeralContainers") => Self::Containers,
            (Self::Container, "command" | "args") | (Self::Variable, "value") => Self::Expanded,
            (Self::Container, "env") => Self::Variables,
            _ => Self::Object,
        }
    }

    fn item(self) -> Self {
        match self {
            Self::Containers => Self::Container,
            Self::Variables => Self::Variable,
            Self::Expanded => Self::Expanded,
            _ => Self::Object,
        }
    }
}

fn placeholders(whole: &mut Whole<'_>, object: &Object, root: &Node) {
    let mut nodes = Vec::from([(root, 0, Inside::Object)]);
    while let Some((node, depth, inside)) = nodes.pop() {
        match &node.value {
            Value::Object(object) if depth < DEEPEST => {
                let fields = object.iter().filter(|entry| !PROSE_FIELDS.contains(&&*entry.key));
                nodes.extend(fields.map(|entry| (&entry.value, depth + 1, inside.field(&entry.key))));
            }
            Value::Array(items) if depth < DEEPEST => nodes.extend(items.iter().map(|item| (item, depth + 1, inside.item()))),
            Value::String(text) if **text != *REDACTED => {
                let place = Place::value(object.id, node.id);
                if let Some(inner) = in_curly_quotes(text) {
                    let message = format!("`{text}` is read with its quotes: only \" and ' quote a text");
                    let finding = Diagnostic::new(&codes::SUSPICIOUS_TEXT, message, place.clone()).about(object.key.clone());
                    whole.report(finding.fix("write ordinary quotes", place, quoted(inner)));
                } else if let Some(severity) = placeholder(text, inside) {
                    let message = "this looks like a placeholder that was not replaced";
                    let mut finding = Diagnostic::new(&codes::PLACEHOLDER, message, place).about(object.key.clone());
                    finding.severity = severity;
                    whole.report(finding);
                }
            }
            _ => {}
        }
    }
}

/// Returns the severity if a text is a placeholder. A program may replace its own variables later, so these are less severe.
fn placeholder(text: &str, inside: Inside) -> Option<Severity> {
    // Multi-line text and sentences are documentation or programs.
    if text.contains('\n') {
        return None;
    }
    let is_template = text.split_once("{{").is_some_and(|(_, rest)| rest.contains("}}"));
    let is_left = inside != Inside::Expanded && names_variable(text, "$(", ')');
    if is_template || names_variable(text, "${", '}') || is_left || begins_with_variable(text) {
        return Some(Severity::Notice);
    }
    let is_value = !text.contains(' ');
    let has_mark = is_value && text.split(['.', '/', ':', '@', ',']).any(is_placeholder_word);
    (is_bracketed(text) || has_mark || text.starts_with("YOUR_") || text.starts_with("YOUR-")).then_some(Severity::Warning)
}

/// Whether a text contains a variable of a shell or a similar program.
fn names_variable(text: &str, open: &str, close: char) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ':'));
    text.split(open).skip(1).any(|rest| rest.split_once(close).is_some_and(|(name, _)| is_name(name)))
}

/// Whether a text begins with a usual shell variable. Elsewhere in a text, `$` may be a part of an expression.
fn begins_with_variable(text: &str) -> bool {
    let name = text.strip_prefix('$').unwrap_or_default();
    let name = &name[..name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len())];
    name.len() > 1 && name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.contains(|c: char| c.is_ascii_lowercase())
}

/// Returns the text inside typographic quotes if they enclose the whole text. Sentences may contain them.
fn in_curly_quotes(text: &str) -> Option<&str> {
    const QUOTES: [char; 5] = ['\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}'];
    let inner = text.strip_prefix(QUOTES)?.strip_suffix(QUOTES)?;
    (!inner.contains(QUOTES) && !inner.contains('\n')).then_some(inner)
}

/// Whether a text is words in angle brackets.
fn is_bracketed(text: &str) -> bool {
    let inner = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    inner.is_some_and(|inner| !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ')))
}

/// Whether a part of a name is a word that asks for a replacement.
fn is_placeholder_word(word: &str) -> bool {
    let is_one_of = |all: &[&str]| all.iter().any(|known| word.eq_ignore_ascii_case(known));
    let is_filled = word.len() > 2 && word.bytes().all(|byte| matches!(byte, b'x' | b'X'));
    is_one_of(EXAMPLE_NAMES) || is_one_of(PLACEHOLDERS) || NOTES.contains(&word) || is_filled || is_bracketed(word)
}
