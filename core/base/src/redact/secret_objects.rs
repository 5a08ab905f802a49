//! Removes secrets from an object's tree. Does not handle text and its positions; see `cover`.

use super::cover::hidden_within;
use super::embedded::{hidden_in_key, holds_text, is_all_within, may_hold_text, packs_credentials};
use super::message::REDACTED;
use super::placement::{Placement, may_be_secret, placement_of_items, stray_sections};
use super::value::{is_credential, is_packed, misplaced_keys, symmetric_keys};
use super::words::{
    bare_key, begins_rules, holds_access, holds_tokens, is_cookie, is_cookie_header, is_field_of_header, is_line_of_header, is_match_of_header,
    is_matcher, is_name_of_header, is_odd_field_of_header, is_plain_key, is_qualifier, is_sensitive_flag, is_sensitive_header, is_sensitive_key,
    is_sensitive_query, is_usual, is_value_of_header, may_be_token, mentions_secrets, names_client, names_cookies, names_headers, names_location,
    names_sensitive_header, sets_headers, split_key,
};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use chancery_text::{Entry, Node, NodeId, Object, Str, Value};

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
    look_into(root, &mut kept, Where::default());
    kept.credentials
}

/// Removes the content of Secrets from an object's tree, at any depth. The shape remains: keys, numbers of values, and types. `known` says that the
/// object may be a Secret for other reasons, `broken` that its text could not be read completely.
pub fn take_secrets(root: &mut Node, known: bool, broken: bool) -> TakenSecrets {
    let mut kept = TakenSecrets { is_secret: known || may_hold_secret(root), ..TakenSecrets::default() };
    if kept.is_secret {
        take_out(root, &mut kept.secrets);
    } else {
        look_into(root, &mut kept, Where { broken, ..Where::default() });
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
pub fn take_secrets_within(root: &mut Node, broken: bool) -> TakenSecrets {
    let mut kept = TakenSecrets::default();
    look_into(root, &mut kept, Where { broken, ..Where::default() });
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

/// The context of a node.
#[derive(Clone, Copy, Default, PartialEq)]
struct Where {
    /// The text could not be read completely: a value may contain lines that were meant elsewhere.
    broken: bool,
    /// Below a key for headers: keys are header names.
    in_headers: bool,
    /// Below a key for headers, or one key deeper.
    near_headers: bool,
    /// These headers are sent.
    sets_headers: bool,
    /// In a list below a key for headers: each item is a header.
    is_header: bool,
    /// Below a key for tokens: each value is a token.
    in_tokens: bool,
    /// At any depth below a key that names a credential: a field named `value` is a credential.
    in_sensitive: bool,
    /// Below the match of a header's value.
    in_match: bool,
    /// Below a key for tokens and policies.
    in_access: bool,
    /// Below the first of two words that name a credential; `key` is the second.
    in_qualifier: bool,
    /// Below a key for the names of cookies.
    names_cookies: bool,
}

impl Where {
    /// The context below a key. A typing error may have put a credential's value there.
    fn below(self, key: &str, slipped: bool, by_key: bool) -> Self {
        let in_headers = names_headers(key);
        Self {
            broken: self.broken,
            in_headers,
            near_headers: in_headers || self.in_headers,
            sets_headers: in_headers && sets_headers(key) || self.in_headers && self.sets_headers,
            is_header: false,
            in_tokens: slipped || holds_tokens(key),
            in_sensitive: by_key || self.in_sensitive,
            in_match: by_key && is_matcher(key) || self.in_match,
            in_access: holds_access(key),
            in_qualifier: is_qualifier(key),
            names_cookies: names_cookies(key),
        }
    }
}

/// Handles an object that is not a Secret: removes nested Secrets and collects credentials.
fn look_into(node: &mut Node, kept: &mut TakenSecrets, at: Where) {
    match &mut node.value {
        Value::String(value) if is_credential(value) || packs_credentials(value) => {
            let within = if holds_text(value) { hidden_within(value, at.broken) } else { Vec::new() };
            if is_all_within(value, &within) {
                let parts = within.iter().map(|range| range.slice(value).trim_matches(['"', '\'']));
                kept.credentials.extend(parts.map(Str::new));
            } else {
                kept.credentials.extend(symmetric_keys(value).into_iter().map(Str::from));
                kept.credentials.push(value.clone());
            }
        }
        Value::String(value) => {
            kept.credentials.extend(behind_lost_anchor(value).filter(|_| at.broken).map(Str::new));
            kept.credentials.extend(hidden_in_text(value, at.broken));
        }
        Value::Array(items) => {
            let values = items.windows(2).filter(|pair| last_text(&pair[0]).is_some_and(is_sensitive_flag)).filter_map(|pair| first_text(&pair[1]));
            kept.credentials.extend(values.filter(|value| !names_location(value)).map(Str::new));
            // A header name and its value as list items without keys.
            let is_header = |node: &Node| node.as_str().is_some_and(is_sensitive_header);
            let beside = items.windows(2).filter(|pair| at.is_header && is_header(&pair[0])).filter_map(|pair| pair[1].as_str());
            kept.credentials.extend(beside.filter(|value| !names_location(value)).map(Str::new));
            let within = Where { in_headers: false, near_headers: false, is_header: at.near_headers, ..at };
            let placement = placement_of_items(items);
            for item in items {
                let is_secret = |object: &Object| !object.contains_key("kind") && may_be_secret(object, placement);
                match placement == Placement::Whole && item.as_object().is_some_and(is_secret) {
                    true => take_out_all(item, kept),
                    false => look_into(item, kept, within),
                }
            }
        }
        Value::Object(object) if may_be_secret(object, Placement::Part) => {
            take_out_all(node, kept);
        }
        Value::Object(object) => {
            let names = |entry: &Entry| {
                let is_session = || at.sets_headers && is_name_of_header(&entry.key) && entry.value.as_str().is_some_and(is_cookie_header);
                names_sensitive_header(&entry.key, entry.value.as_str()) || at.is_header && (is_odd_field_of_header(&entry.key) || is_session())
            };
            let of_header = object.iter().any(names);
            let of_pair = object.contains_key("password");
            // A typing error may have separated a name from its value: the next key is the value.
            let mut follows_name = false;
            // The same if the name has an empty string.
            let mut follows_empty = false;
            let mut alone_before: Option<Str> = None;
            let of_client = object.iter().any(|entry| names_client(&entry.key));
            // The context does not make a usual key sensitive.
            let is_plain = at == Where::default() && !of_header && !of_client && !of_pair;
            for (key, value) in object.iter_mut() {
                if is_plain && is_usual(key) {
                    look_into(value, kept, at);
                    continue;
                }
                kept.credentials.extend(behind_lost_anchor(key).filter(|_| at.broken).map(Str::new));
                // If a typing error removed a header's name, its value is the key.
                let is_alone = matches!(value.value, Value::Null);
                let is_empty = value.as_str() == Some("");
                // A value in doubled quotation marks, `""VALUE""` in HCL.
                let is_between_quotes = is_empty && follows_empty && (!is_plain_key(key) || is_mixed(key));
                let is_line = at.near_headers && is_line_of_header(key);
                let is_value = is_alone && (at.broken && at.in_headers || of_header && !is_field_of_header(key) || is_line || follows_name)
                    || is_alone && at.in_tokens && !is_field_of_header(key)
                    || is_between_quotes;
                let ends_with_flag = || value.as_array().and_then(|items| last_text(items.last()?)).is_some_and(is_sensitive_flag);
                follows_name = is_alone && is_sensitive_key(bare_key(key)) || ends_with_flag();
                follows_empty = is_empty && is_sensitive_key(bare_key(key));
                // A comma may have split the name itself.
                let is_rest = alone_before.take().is_some_and(|before| at.near_headers && is_sensitive_header(&format!("{before}{key}")));
                alone_before = is_alone.then(|| Str::new(key));
                if is_value || is_credential(key) {
                    kept.credentials.push(Str::new(key));
                }
                // A key of several words may be a line without its colon.
                let in_key = hidden_in_key(key);
                kept.credentials.extend(in_key.iter().map(|range| Str::new(range.slice(key))));
                let (name, rest) = split_key(key);
                let by_key = !in_key.is_empty()
                    || is_sensitive_key(key) && !at.names_cookies && !first_key(value).is_some_and(|first| begins_rules(key, first))
                    || rest.is_some() && is_sensitive_key(name)
                    || key == "secret" && value.as_object().is_some()
                    || name == "key" && at.in_qualifier
                    || at.in_tokens
                    || at.in_access && value.as_str().is_some_and(may_be_token)
                    || is_line
                    || is_rest
                    || (at.in_headers || at.near_headers && at.sets_headers) && is_sensitive_header(name)
                    || at.near_headers && at.sets_headers && credential_of(value).is_some_and(|value| is_cookie(name, &value))
                    || of_client && name == "secret"
                    || (of_header || at.in_sensitive) && is_value_of_header(bare_key(name))
                    || of_header && (at.near_headers || at.is_header) && is_match_of_header(bare_key(name))
                    || of_header && is_matcher(name)
                    || at.in_match && is_match_of_header(bare_key(name))
                    || of_pair && name == "data"
                    || value.as_str().is_some_and(|value| is_sensitive_query(name, value));
                let misplaced = value.as_str().map(|value| misplaced_keys(bare_key(name), value)).unwrap_or_default();
                kept.credentials.extend(misplaced.into_iter().map(Str::from).filter(|value| !names_location(value)));
                if by_key && let Value::Array(items) = &value.value {
                    texts_of(items, &mut kept.credentials);
                }
                // Without a space after the colon, the value is part of the key.
                let below = value.as_object().into_iter().flatten().filter(|_| by_key).filter_map(|entry| value_in_key(&entry.key));
                let beside = rest.filter(|rest| by_key && !names_location(rest) || is_credential(rest));
                kept.credentials.extend(below.chain(beside).map(Str::new));
                match by_key.then(|| credential_of(value)).flatten() {
                    Some(credential) => kept.credentials.push(credential),
                    None => {
                        // A typing error in the key may have turned the value into an object.
                        let slipped = by_key && (key.ends_with(['"', '\'']) || at.in_headers && is_sensitive_header(name));
                        look_into(value, kept, at.below(key, slipped, by_key));
                    }
                }
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

/// The text after an anchor that a typing error joined to a value: a Secret may have an alias for it.
fn behind_lost_anchor(text: &str) -> Option<&str> {
    let (_, behind) = text.split_once('&')?;
    let (name, value) = behind.split_once(' ')?;
    (is_name(name) && !name.is_empty()).then_some(value)
}

/// Whether a word without digits looks like base64: a third of its letters are capitals. CamelCase names have fewer.
fn is_mixed(word: &str) -> bool {
    let large = word.bytes().filter(u8::is_ascii_uppercase).count();
    word.len() >= 16 && large * 3 >= word.len() && large < word.len() && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The value that a typing error joined to a key below a sensitive key.
fn value_in_key(key: &str) -> Option<&str> {
    if is_packed(key) { Some(key) } else { split_key(key).1 }
}

/// The first key of an object.
fn first_key(node: &Node) -> Option<&str> {
    node.as_object()?.iter().next().map(|entry| &*entry.key)
}

/// The last string of a command's part, even if a typing error made it an object.
fn last_text(node: &Node) -> Option<&str> {
    node.as_str().or_else(|| node.as_object()?.iter().last()?.value.as_str())
}

/// The first string of a command's part, even if a typing error made it a key.
fn first_text(node: &Node) -> Option<&str> {
    node.as_str().or_else(|| node.as_object()?.iter().next().map(|entry| &*entry.key))
}

/// The strings of nested lists below a sensitive key.
fn texts_of(items: &[Node], found: &mut Vec<Str>) {
    for item in items {
        match &item.value {
            Value::String(text) if !names_location(text) => found.push(text.clone()),
            Value::Array(items) => texts_of(items, found),
            _ => {}
        }
    }
}

/// The hidden parts of a string in a tree, as in annotations and ConfigMaps.
fn hidden_in_text(text: &str, broken: bool) -> Vec<Str> {
    if !broken && !may_hold_text(text) || !mentions_secrets(text) {
        return Vec::new();
    }
    hidden_within(text, broken).into_iter().map(|range| Str::new(range.slice(text))).collect()
}

/// The string under a sensitive key, or under its `value`.
fn credential_of(node: &Node) -> Option<Str> {
    let is_value = |key: &str| matches!(bare_key(key), "value" | "inline_string" | "inline_bytes");
    let inner = || node.as_object()?.iter().find(|entry| is_value(&entry.key))?.value.as_str();
    let text = node.as_str().or_else(inner)?;
    (!names_location(text)).then(|| text.into())
}
