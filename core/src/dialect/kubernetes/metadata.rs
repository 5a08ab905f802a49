//! Names, labels and annotations, as the API server checks them on every object.
//!
//! Source of behaviour: `k8s.io/apimachinery/pkg/util/validation` and `pkg/api/validation/objectmeta.go`.

use super::refused;
use crate::diagnostic::{Diagnostic, codes};
use crate::resource::Object;
use crate::schema::names;
use crate::text::{Node, Value};
use alloc::format;
use alloc::vec::Vec;

/// Which form a kind's names must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// Labels joined by dots: most kinds.
    Subdomain,
    /// One label that begins with a letter: Services.
    Label1035,
    /// One label: Namespaces.
    Label1123,
    /// Anything that can stand in a path: RBAC's kinds.
    PathSegment,
}

impl NameRule {
    /// The rule for a kind.
    pub fn of(group: &str, kind: &str) -> Self {
        match (group, kind) {
            ("", "Service") => NameRule::Label1035,
            ("", "Namespace") => NameRule::Label1123,
            ("rbac.authorization.k8s.io", _) => NameRule::PathSegment,
            _ => NameRule::Subdomain,
        }
    }

    /// Whether a name has the form.
    pub fn accepts(self, name: &str) -> bool {
        match self {
            NameRule::Subdomain => names::subdomain(name).is_empty(),
            NameRule::Label1123 => names::label(name).is_empty(),
            NameRule::Label1035 => names::label_1035(name).is_empty(),
            NameRule::PathSegment => name != "." && name != ".." && !name.contains(['/', '%']),
        }
    }

    fn words(self) -> &'static str {
        match self {
            NameRule::Subdomain => "lower-case letters, digits, `-` and `.`, with a letter or digit at both ends, and at most 253 of them",
            NameRule::Label1123 => "lower-case letters, digits and `-`, with a letter or digit at both ends, and at most 63 of them",
            NameRule::Label1035 => "lower-case letters, digits and `-`, with a letter first, a letter or digit last, and at most 63 of them",
            NameRule::PathSegment => "no `/` and no `%`",
        }
    }
}

/// Checks an object's name, namespace, labels and annotations. Whether the API server takes it.
pub fn check(object: &Object, sink: &mut Vec<Diagnostic>) -> bool {
    let before = sink.len();
    let Some(metadata) = object.root.get("metadata") else { return true };
    let rule = NameRule::of(&object.key.group, &object.key.kind);
    let mut name = |field: &str, rule: NameRule, value: &str| {
        if !rule.accepts(value) {
            let node = metadata.get(field).unwrap_or(metadata).id;
            let message = format!("`{value}` cannot be the {field} of a {}", object.key.kind);
            let help = format!("Kubernetes takes {}", rule.words());
            sink.push(refused(&codes::INVALID_NAME, object, node, message).help(help));
        }
    };
    name("name", rule, &object.key.name);
    if let Some(namespace) = &object.key.namespace {
        name("namespace", NameRule::Label1123, namespace);
    }
    for entry in metadata.get("labels").and_then(Node::as_object).into_iter().flatten() {
        label(object, &entry.key, &entry.value, "label", true, sink);
    }
    for entry in metadata.get("annotations").and_then(Node::as_object).into_iter().flatten() {
        label(object, &entry.key, &entry.value, "annotation", false, sink);
    }
    sink.len() == before
}

/// Checks one label, annotation or item of a selector.
pub(super) fn label(object: &Object, key: &str, value: &Node, what: &str, restricted: bool, sink: &mut Vec<Diagnostic>) {
    let lower;
    let key_as_checked = if restricted {
        key
    } else {
        lower = key.to_ascii_lowercase();
        &lower
    };
    if !names::qualified_name(key_as_checked).is_empty() {
        let message = format!("`{key}` cannot be the name of a {what}").replace("a annotation", "an annotation");
        sink.push(refused(&codes::INVALID_LABEL, object, value.id, message));
    }
    match &value.value {
        Value::String(text) if restricted && !names::label_value(text).is_empty() => {
            let message = format!("`{text}` cannot be the value of the {what} `{key}`");
            let help = "Kubernetes takes at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends";
            sink.push(refused(&codes::INVALID_LABEL, object, value.id, message).help(help));
        }
        Value::String(_) | Value::Null => {}
        other => {
            let kind = other.kind_name();
            let message = format!("the {what} `{key}` must be a string, but this is a YAML {kind}");
            let mut finding = refused(&codes::INVALID_LABEL, object, value.id, message);
            if let Value::Bool(_) | Value::Int(_) | Value::Float(_) = other {
                finding = finding.help("put the value in quotes");
            }
            sink.push(finding);
        }
    }
}
