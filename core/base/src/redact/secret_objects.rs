//! Removes secrets from an object's tree. Does not handle text and its positions; see `cover`.

use super::context::{Context, Fields, is_credential_field, is_name_of_next};
use super::cover::embedded;
use super::embedded::{EMBEDDED, hidden_in_key, holds_text, is_all_within, may_hold_text, packs_credentials};
use super::message::REDACTED;
use super::opaque::is_opaque;
use super::placement::{Placement, may_be_secret, stray_sections};
use super::value::{is_credential, misplaced_keys, symmetric_keys};
use super::words::{bare_key, is_plain_key, is_sensitive_flag, is_usual, names_location, split_key};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use chancery_text::{Node, NodeId, Object, Str, Value};

/// The secrets that were removed from a tree.
#[derive(Clone, Default)]
pub struct TakenSecrets {
    /// Whether the object itself may be a Secret.
    pub is_secret: bool,
    /// The values of its `data` and `stringData`, by node.
    pub secrets: Vec<(NodeId, Str)>,
    /// Credentials that stay in the tree because the gateway needs them. No output may contain them.
    pub credentials: Vec<Str>,
}

pub fn may_hold_secret(root: &Node) -> bool {
    root.as_object().is_some_and(|object| may_be_secret(object, Placement::Whole))
}

/// The credentials in a file that is not a Kubernetes object. They stay in the tree.
pub fn credentials_of(root: &mut Node) -> Vec<Str> {
    let mut kept = TakenSecrets::default();
    look_into(root, &mut kept, Context::default());
    kept.credentials
}

/// Removes the content of Secrets from an object's tree, at any depth. The shape remains: keys, numbers of values, and types. `known` says that the
/// object may be a Secret for other reasons.
pub fn take_secrets(root: &mut Node, known: bool) -> TakenSecrets {
    let mut kept = TakenSecrets { is_secret: known || may_hold_secret(root), ..TakenSecrets::default() };
    if kept.is_secret {
        take_out(root, &mut kept.secrets);
    } else {
        look_into(root, &mut kept, Context::default());
        take_out_stray(root, &mut kept.credentials);
    }
    kept
}

/// Removes a Secret's sections that a typing error put into a gateway's object.
fn take_out_stray(root: &mut Node, credentials: &mut Vec<Str>) {
    let stray: BTreeSet<NodeId> = stray_sections(root).map(|section| section.id).collect();
    let Value::Object(object) = &mut root.value else { return };
    for (_, section) in object.iter_mut().filter(|(_, value)| stray.contains(&value.id)) {
        all_texts_of(section, credentials);
        erase(section);
    }
}

/// All strings below a node, except those that name a credential's location.
fn all_texts_of(node: &Node, found: &mut Vec<Str>) {
    match &node.value {
        Value::String(text) if !names_location(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| all_texts_of(item, found)),
        Value::Object(object) => object.iter().for_each(|entry| all_texts_of(&entry.value, found)),
        _ => {}
    }
}

/// Like [`take_secrets`], for an object that is known not to be a Secret for other reasons than its `kind`.
pub fn take_secrets_within(root: &mut Node) -> TakenSecrets {
    let mut kept = TakenSecrets::default();
    look_into(root, &mut kept, Context::default());
    kept
}

/// The fields of `metadata` that stay: the API server checks them.
const METADATA: &[&str] = &[
    "generateName",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "finalizers",
    "ownerReferences",
    "selfLink",
    "managedFields",
];

/// Annotations that tell a controller how to read the object. They stay unless they contain an embedded text.
const ANNOTATIONS: &[&str] = &["projectcontour.io/", "getambassador.io/", "contour.heptio.com/", "kubernetes.io/ingress"];

fn take_out(root: &mut Node, secrets: &mut Vec<(NodeId, Str)>) {
    let Value::Object(object) = &mut root.value else { return erase(root) };
    only_plain_keys(object);
    for (key, node) in object.iter_mut() {
        match (key.as_str(), &mut node.value) {
            ("kind" | "apiVersion" | "type", Value::String(_)) | ("immutable", Value::Bool(_)) => {}
            ("metadata", Value::Object(metadata)) => take_out_of_metadata(metadata),
            ("data" | "stringData", Value::Object(data)) => {
                only_plain_keys(data);
                for (_, node) in data.iter_mut() {
                    match &mut node.value {
                        Value::String(value) => secrets.push((node.id, core::mem::replace(value, Str::new_static(REDACTED)))),
                        _ => erase(node),
                    }
                }
            }
            _ => erase(node),
        }
    }
}

fn take_out_of_metadata(metadata: &mut Object) {
    for (key, node) in metadata.iter_mut() {
        match (key.as_str(), &mut node.value) {
            ("annotations", Value::Object(annotations)) => {
                let stays =
                    |key: &str, value: &Node| ANNOTATIONS.iter().any(|known| key.starts_with(known)) && !value.as_str().is_some_and(holds_text);
                annotations.iter_mut().filter(|(key, value)| !stays(key, value)).for_each(|(_, value)| erase(value));
            }
            ("name" | "namespace", Value::String(name)) if !is_name(name) => erase(node),
            ("name" | "namespace", Value::String(_)) => {}
            (key, _) if METADATA.contains(&key) => only_names(node),
            _ => erase(node),
        }
    }
}

/// Removes strings that cannot be names, such as a value that a typing error put there.
fn only_names(node: &mut Node) {
    match &mut node.value {
        Value::String(value) if !is_name(value) => *value = Str::new_static(REDACTED),
        Value::Array(items) => items.iter_mut().for_each(only_names),
        Value::Object(object) => {
            if object.iter().any(|entry| !is_name(&entry.key)) {
                let entries = core::mem::take(object).into_iter();
                *object = entries.map(|entry| (if is_name(&entry.key) { entry.key } else { Str::new_static(REDACTED) }, entry.value)).collect();
            }
            object.iter_mut().for_each(|(_, value)| only_names(value));
        }
        _ => {}
    }
}

/// Whether a string can be a name, or a placeholder such as `<name>`.
pub fn is_name(text: &str) -> bool {
    text.len() <= 253 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':' | b'/' | b'<' | b'>'))
}

/// Replaces keys that are not plain keys.
fn only_plain_keys(object: &mut Object) {
    if object.iter().all(|entry| is_plain_key(&entry.key)) {
        return;
    }
    let entries = core::mem::take(object).into_iter();
    *object = entries.map(|entry| (if is_plain_key(&entry.key) { entry.key } else { Str::new_static(REDACTED) }, entry.value)).collect();
}

/// Empties a node and keeps its shape.
fn erase(node: &mut Node) {
    match &mut node.value {
        Value::Null => {}
        Value::Bool(value) => *value = false,
        Value::Int(value) => *value = 0,
        Value::Float(value) => *value = 0.5,
        Value::String(value) => *value = Str::new_static(REDACTED),
        Value::Array(items) => items.iter_mut().for_each(erase),
        Value::Object(object) => {
            only_plain_keys(object);
            object.iter_mut().for_each(|(_, value)| erase(value));
        }
    }
}

/// Handles an object that is not a Secret: removes nested Secrets and collects credentials.
fn look_into(node: &mut Node, kept: &mut TakenSecrets, at: Context) {
    match &mut node.value {
        Value::String(value) if at.is_value && !names_location(value) => kept.credentials.push(value.clone()),
        Value::String(value) if is_credential(value) || packs_credentials(value) => {
            let within = if holds_text(value) { embedded(value, EMBEDDED) } else { Vec::new() };
            if is_all_within(value, &within) {
                let parts = within.iter().map(|range| range.slice(value).trim_matches(['"', '\'']));
                kept.credentials.extend(parts.map(Str::new));
            } else {
                kept.credentials.extend(symmetric_keys(value).into_iter().map(Str::from));
                kept.credentials.push(value.clone());
            }
        }
        Value::String(value) if may_hold_text(value) => {
            kept.credentials.extend(embedded(value, EMBEDDED).into_iter().map(|range| Str::new(range.slice(value))));
        }
        Value::Array(items) => {
            let is_value = |before: &Node, value: &str| match before.as_str().filter(|name| !name.is_empty()) {
                Some(name) => is_name_of_next(at, name),
                // A typing error may have turned it into something else.
                None => is_opaque(value),
            };
            let values = items.windows(2).filter_map(|pair| pair[1].as_str().filter(|value| is_value(&pair[0], value) && !names_location(value)));
            kept.credentials.extend(values.map(Str::new));
            items.iter_mut().for_each(|item| look_into(item, kept, at.in_list()));
        }
        Value::Object(object) if may_be_secret(object, Placement::Part) => take_out_all(node, kept),
        Value::Object(object) => {
            let mut fields = Fields::default();
            object.iter().for_each(|entry| fields.add(at, &entry.key, entry.value.as_str()));
            // The context does not make a usual key sensitive.
            let is_plain = at == Context::default() && fields == Fields::default();
            for (key, value) in object.iter_mut() {
                if is_plain && is_usual(key) {
                    look_into(value, kept, at);
                    continue;
                }
                // If a typing error removed a name, its value is the key.
                let is_alone = value.is_null() || value.as_str().is_some_and(|value| value.is_empty() || is_sensitive_flag(value));
                if is_credential(key) || is_alone && is_opaque(key) {
                    kept.credentials.push(Str::new(key));
                }
                // A key of several words may be a line without its colon.
                let in_key = hidden_in_key(key);
                kept.credentials.extend(in_key.iter().map(|range| Str::new(range.slice(key))));
                let by_key = !in_key.is_empty() || is_credential_field(at, fields, key, value.as_str());
                let (name, rest) = split_key(key);
                let misplaced = value.as_str().map(|value| misplaced_keys(bare_key(name), value)).unwrap_or_default();
                kept.credentials.extend(misplaced.into_iter().map(Str::from).filter(|value| !names_location(value)));
                // Without a space after the colon, the value is part of the key.
                kept.credentials.extend(rest.filter(|rest| by_key && !names_location(rest) || is_credential(rest)).map(Str::new));
                look_into(value, kept, at.below(key, by_key));
            }
        }
        _ => {}
    }
}

/// Removes the content of a nested Secret. An anchor may have copied its values elsewhere.
fn take_out_all(node: &mut Node, kept: &mut TakenSecrets) {
    let mut secrets = Vec::new();
    take_out(node, &mut secrets);
    kept.credentials.extend(secrets.into_iter().map(|(_, value)| value).filter(|value| !names_location(value)));
}
