//! Checks an object's `metadata` like the API server, whatever its kind: name, namespace, labels and annotations. For the naming rules see
//! `schema::names`.
//!
//! Source of behaviour: `k8s.io/apimachinery/pkg/util/validation` and `pkg/api/validation/objectmeta.go`.

use super::report::Report;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Findings, Reported};
use chancery_base::resource;
use chancery_base::schema::{go_quoted, names};
use chancery_text::{Node, NodeId, Object, Value};

/// The required form of a kind's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// Labels joined by dots: most kinds.
    Subdomain,
    /// One label that begins with a letter: Services.
    Label1035,
    /// One label: Namespaces.
    Label1123,
    /// Any path segment: RBAC kinds.
    PathSegment,
}

impl NameRule {
    pub fn of(group: &str, kind: &str) -> Self {
        match (group, kind) {
            ("", "Service") => NameRule::Label1035,
            ("", "Namespace") => NameRule::Label1123,
            ("rbac.authorization.k8s.io", _) => NameRule::PathSegment,
            _ => NameRule::Subdomain,
        }
    }

    /// The reference's messages about a name.
    fn faults(self, name: &str) -> Vec<String> {
        match self {
            NameRule::Subdomain => names::subdomain(name),
            NameRule::Label1123 => names::label(name),
            NameRule::Label1035 => names::label_1035(name),
            NameRule::PathSegment => names::path_segment(name),
        }
    }

    fn words(self) -> &'static str {
        match self {
            NameRule::Subdomain => "lower case letters, digits, and `-` and `.` inside",
            NameRule::Label1123 => "lower case letters, digits, and `-` inside; at most 63 characters",
            NameRule::Label1035 => "lower case letters, digits, and `-` inside, with a letter first; at most 63 characters",
            NameRule::PathSegment => "anything but `/` and `%`",
        }
    }
}

/// Checks an object's `metadata` like the API server. Stored objects have already been checked.
pub fn accepts(object: &resource::Object, sink: &mut Findings) -> Result<(), Reported> {
    if object.stored {
        return Ok(());
    }
    let before = sink.len();
    let mut report = Report::new(&object.key.kind, object, sink);
    check(&object.root, object.root.get("metadata"), &mut report);
    sink.since(before)
}

/// The reference's messages about `metadata`.
#[derive(Default)]
pub struct Faults {
    /// The decoding error; nothing else is checked then.
    pub decoding: Option<String>,
    /// Invalid names and labels.
    pub validation: Vec<String>,
}

/// Checks the `metadata` of `root`.
pub fn check(root: &Node, metadata: Option<&Node>, report: &mut Report<'_>) -> Faults {
    let mut faults = Faults::default();
    let Some(metadata) = metadata.filter(|node| !node.is_null()) else {
        faults.validation.push(report.missing_name(root.id));
        return faults;
    };
    let mut errors = Vec::new();
    let Value::Object(fields) = &metadata.value else {
        faults.decoding = Some(undecodable(metadata, "metadata", "metadata", "v1.ObjectMeta", report));
        return faults;
    };
    let mut parts = Parts::default();
    // The API server refuses undecodable fields before any other check.
    for entry in fields {
        let field = entry.key.as_str();
        match (field, &entry.value.value) {
            ("name" | "namespace" | "labels" | "annotations", Value::Null) => {}
            ("name" | "namespace", Value::String(text)) => {
                let part = if field == "name" { &mut parts.name } else { &mut parts.namespace };
                *part = Some((&entry.value, text));
            }
            ("name" | "namespace", _) => {
                errors.push(undecodable(&entry.value, &format!("metadata.{field}"), field, "string", report));
            }
            ("labels" | "annotations", Value::Object(map)) => {
                for entry in map {
                    if !matches!(entry.value.value, Value::String(_) | Value::Null) {
                        errors.push(undecodable(&entry.value, &format!("metadata.{field}.{}", entry.key), field, "string", report));
                    }
                }
                *(if field == "labels" { &mut parts.labels } else { &mut parts.annotations }) = Some(map);
            }
            ("labels" | "annotations", _) => {
                errors.push(undecodable(&entry.value, &format!("metadata.{field}"), field, "map[string]string", report));
            }
            ("generateName", _) => parts.is_generated = true,
            _ => {}
        }
    }
    // The API server reports only the first.
    faults.decoding = errors.into_iter().next();
    if faults.decoding.is_none() {
        let rule = NameRule::of(&report.object.key.group, &report.object.key.kind);
        values(metadata.id, &parts, rule, report, &mut faults.validation);
    }
    faults
}

/// The checked parts of `metadata`.
#[derive(Default)]
struct Parts<'a> {
    name: Option<(&'a Node, &'a str)>,
    namespace: Option<(&'a Node, &'a str)>,
    labels: Option<&'a Object>,
    annotations: Option<&'a Object>,
    is_generated: bool,
}

fn values(metadata: NodeId, parts: &Parts<'_>, rule: NameRule, report: &mut Report<'_>, errors: &mut Vec<String>) {
    match parts.name {
        Some((node, name)) if !name.is_empty() => named(node, "name", name, rule, report, errors),
        _ if parts.is_generated => {}
        _ => errors.push(report.missing_name(metadata)),
    }
    if let Some((node, namespace)) = parts.namespace.filter(|(_, namespace)| !namespace.is_empty()) {
        named(node, "namespace", namespace, NameRule::Label1123, report, errors);
    }
    for entry in parts.labels.into_iter().flatten() {
        let faults = label(&entry.key, &entry.value, report);
        errors.extend(faults.into_iter().map(|(text, fault)| format!("metadata.labels: Invalid value: {}: {fault}", go_quoted(text))));
    }
    for entry in parts.annotations.into_iter().flatten().filter(|entry| !is_plain(&entry.key, true)) {
        // Annotation keys may have upper-case letters, label keys may not.
        let faults = names::qualified_name(&entry.key.to_ascii_lowercase());
        report.label(&entry.value, "key", "an annotation", &entry.key, &faults);
        errors.extend(faults.iter().map(|fault| format!("metadata.annotations: Invalid value: {}: {fault}", go_quoted(&entry.key))));
    }
}

/// The errors of a label, or of an item of a label selector: the string, and the reference's messages.
pub(super) fn label<'t>(key: &'t str, value: &'t Node, report: &mut Report<'_>) -> Vec<(&'t str, String)> {
    let mut found = Vec::new();
    if !is_plain(key, true) {
        let faults = names::qualified_name(key);
        report.label(value, "key", "a label", key, &faults);
        found.extend(faults.into_iter().map(|fault| (key, fault)));
    }
    let text = value.as_str().unwrap_or_default();
    if !text.is_empty() && !is_plain(text, true) {
        let faults = names::label_value(text);
        report.label(value, "value", "a label", text, &faults);
        found.extend(faults.into_iter().map(|fault| (text, fault)));
    }
    found
}

fn named(node: &Node, what: &str, name: &str, rule: NameRule, report: &mut Report<'_>, errors: &mut Vec<String>) {
    if is_plain(name, rule == NameRule::Subdomain) && rule != NameRule::Label1035 {
        return;
    }
    let faults = rule.faults(name);
    if !faults.is_empty() {
        report.name(node, what, name, rule.words());
        errors.extend(faults.iter().map(|fault| format!("metadata.{what}: Invalid value: {}: {fault}", go_quoted(name))));
    }
}

/// The common case: short, lower case, digits, and single inner separators.
fn is_plain(name: &str, dots: bool) -> bool {
    let bytes = name.as_bytes();
    let edge = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut last_is_dot = true;
    for byte in bytes {
        match byte {
            b'.' if !dots || last_is_dot => return false,
            b'.' => last_is_dot = true,
            b'-' if last_is_dot => return false,
            byte if *byte == b'-' || edge(*byte) => last_is_dot = false,
            _ => return false,
        }
    }
    bytes.len() <= 63 && bytes.last().is_some_and(|byte| edge(*byte)) && !name.contains("-.")
}

fn undecodable(node: &Node, path: &str, field: &str, wanted: &str, report: &mut Report<'_>) -> String {
    report.not_a_string(node, path, wanted);
    let found = match node.value {
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        _ => node.kind_name(),
    };
    let field = if field == "metadata" { "metadata".into() } else { format!("ObjectMeta.{field}") };
    format!("json: cannot unmarshal {found} into Go struct field {field} of type {wanted}")
}
