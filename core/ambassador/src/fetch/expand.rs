//! Expands environment variables: `$NAME` and `${NAME}` are replaced everywhere, also in keys; undefined variables stay.
//!
//! Source of behaviour: Emissary `fetch/fetcher.py` (`os.path.expandvars` over the whole snapshot).

use super::super::Options;
use crate::config::Labels;
use alloc::string::String;
use alloc::sync::Arc;
use chancery_text::{Node, Str, Value};

/// The expanded string; `None` if nothing changes.
pub(super) fn expand(text: &str, options: &Options) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    let mut changed = false;
    while let Some(at) = memchr::memchr(b'$', rest.as_bytes()) {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        out.push_str(before);
        let (name, length) = variable(after);
        match options.value(name).filter(|_| length > 0) {
            Some(value) => {
                out.push_str(value);
                changed = true;
            }
            None => out.push_str(&rest[at..at + 1 + length]),
        }
        rest = &after[length..];
    }
    out.push_str(rest);
    changed.then_some(out)
}

/// The variable that a text after `$` begins with, and how long it is written.
fn variable(text: &str) -> (&str, usize) {
    if let Some(inner) = text.strip_prefix('{') {
        return inner.find('}').map_or(("", 0), |end| (&inner[..end], end + 2));
    }
    let end = text.bytes().position(|b| !b.is_ascii_alphanumeric() && b != b'_').unwrap_or(text.len());
    (&text[..end], end)
}

impl Options {
    fn value(&self, name: &str) -> Option<&str> {
        match name {
            "AMBASSADOR_ID" => Some(&self.ambassador_id),
            "AMBASSADOR_NAMESPACE" => Some(&self.ambassador_namespace),
            _ => self.env.get(name).map(Str::as_str),
        }
    }
}

pub(super) fn expand_text(text: &Str, options: &Options) -> Str {
    expand(text, options).map_or_else(|| text.clone(), Str::from)
}

/// The expanded labels; shared if nothing changes.
pub(super) fn expand_labels(labels: &Arc<Labels>, options: &Options) -> Arc<Labels> {
    if !labels.iter().any(|(name, value)| name.contains('$') || value.contains('$')) {
        return labels.clone();
    }
    Arc::new(labels.iter().map(|(name, value)| (expand_text(name, options), expand_text(value, options))).collect())
}

/// The expanded tree; shared if nothing changes.
pub(super) fn expand_tree(node: &Arc<Node>, options: &Options) -> Arc<Node> {
    if mentions_variable(node) { Arc::new(expand_node(node, options)) } else { node.clone() }
}

fn mentions_variable(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => text.contains('$'),
        Value::Array(items) => items.iter().any(mentions_variable),
        Value::Object(object) => object.iter().any(|entry| entry.key.contains('$') || mentions_variable(&entry.value)),
        _ => false,
    }
}

fn expand_node(node: &Node, options: &Options) -> Node {
    let value = match &node.value {
        Value::String(text) => Value::String(expand_text(text, options)),
        Value::Array(items) => Value::Array(items.iter().map(|item| expand_node(item, options)).collect()),
        Value::Object(object) => {
            let entries = object.iter().map(|entry| (expand_text(&entry.key, options), expand_node(&entry.value, options)));
            Value::Object(entries.collect())
        }
        other => other.clone(),
    };
    Node { id: node.id, value }
}
