//! What the API server asks of an object's `metadata`, whatever its kind.
//!
//! What must not be here: `spec`; the naming rules themselves (`schema::names`).

use super::report::Report;
use crate::schema::{go_quoted, names};
use crate::text::{Node, NodeId, Object, Value};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The reference's texts for what is wrong with `metadata`.
#[derive(Default)]
pub(crate) struct Faults {
    /// It cannot be decoded; nothing else is looked at.
    pub decoding: Option<String>,
    /// Names and labels that do not have the form.
    pub validation: Vec<String>,
}

/// Checks `metadata`.
pub(crate) fn check(root: &Node, metadata: Option<&Node>, report: &mut Report<'_>) -> Faults {
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
    // What does not decode is refused before anything else is looked at.
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
                if field == "labels" {
                    parts.labels = Some(map);
                }
            }
            ("labels" | "annotations", _) => {
                errors.push(undecodable(&entry.value, &format!("metadata.{field}"), field, "map[string]string", report));
            }
            ("generateName", _) => parts.is_generated = true,
            _ => {}
        }
    }
    // The server says only the first.
    faults.decoding = errors.into_iter().next();
    if faults.decoding.is_none() {
        values(metadata.id, &parts, report, &mut faults.validation);
    }
    faults
}

/// The parts of `metadata` that are looked at.
#[derive(Default)]
struct Parts<'a> {
    name: Option<(&'a Node, &'a str)>,
    namespace: Option<(&'a Node, &'a str)>,
    labels: Option<&'a Object>,
    is_generated: bool,
}

fn values(metadata: NodeId, parts: &Parts<'_>, report: &mut Report<'_>, errors: &mut Vec<String>) {
    match parts.name {
        Some((node, name)) if !name.is_empty() => {
            if !is_plain(name, true) {
                broken(node, "metadata.name", name, names::subdomain(name), "name", report, errors);
            }
        }
        _ if parts.is_generated => {}
        _ => errors.push(report.missing_name(metadata)),
    }
    if let Some((node, namespace)) = parts.namespace
        && !namespace.is_empty()
        && !is_plain(namespace, false)
    {
        broken(node, "metadata.namespace", namespace, names::label(namespace), "namespace", report, errors);
    }
    let Some(labels) = parts.labels else { return };
    for entry in labels {
        if !is_plain(&entry.key, true) {
            let faults = names::qualified_name(&entry.key);
            report.label(&entry.value, true, &entry.key, &faults);
            errors.extend(faults.iter().map(|fault| format!("metadata.labels: Invalid value: {}: {fault}", go_quoted(&entry.key))));
        }
        let value = entry.value.as_str().unwrap_or_default();
        if !value.is_empty() && !is_plain(value, true) {
            let faults = names::label_value(value);
            report.label(&entry.value, false, value, &faults);
            errors.extend(faults.iter().map(|fault| format!("metadata.labels: Invalid value: {}: {fault}", go_quoted(value))));
        }
    }
}

/// The common case, at once: short, lower case, digits and single separators inside.
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

fn broken(node: &Node, path: &str, name: &str, faults: Vec<String>, what: &str, report: &mut Report<'_>, errors: &mut Vec<String>) {
    if faults.is_empty() {
        return;
    }
    report.name(node, what, name);
    errors.extend(faults.iter().map(|fault| format!("{path}: Invalid value: {}: {fault}", go_quoted(name))));
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
