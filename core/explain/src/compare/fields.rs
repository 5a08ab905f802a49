//! Finds fields that differ between two trees, and converts messages to trees. Does not choose the messages.

use super::order::common_ends;
use crate::OriginView;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::config::tree_of;
use chancery_envoy_api::any::AnyMessage;
use chancery_envoy_api::json;
use chancery_text::{Node, Value, to_json};

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FieldChange {
    /// Its path, as `route.timeout` or `spec.headers[0]`.
    pub path: String,
    /// Its value on the first side as JSON; `None` if it is not set there.
    pub before: Option<String>,
    /// Its value on the second side as JSON.
    pub after: Option<String>,
    /// Its origin on the first side.
    pub before_from: Option<OriginView>,
    /// Its origin on the second side.
    pub after_from: Option<OriginView>,
}

/// Longer values are cut.
const LONGEST: usize = 160;

/// A field that differs, with the nodes of both sides.
pub(in crate::compare) struct FoundDifference<'a> {
    pub path: String,
    /// JSON pointer from the root.
    pub pointer: String,
    pub before: Option<&'a Node>,
    pub after: Option<&'a Node>,
}

impl FoundDifference<'_> {
    pub fn change(&self) -> FieldChange {
        let (before, after) = (self.before.map(shown), self.after.map(shown));
        FieldChange { path: self.path.clone(), before, after, before_from: None, after_from: None }
    }
}

/// Fields of messages to leave out: the full name of the message, and the name of the field.
pub(super) type OmittedFields = &'static [(&'static str, &'static str)];

/// Converts a message to a tree in which sensitive values are hidden.
pub(super) fn tree(message: &dyn AnyMessage, without: OmittedFields) -> Node {
    tree_of(message, &json::Style::COMPACT.redact().without(without))
}

/// Shows a value in short form.
pub(super) fn shown(node: &Node) -> String {
    let text = to_json(node, false);
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}\u{2026}", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// Returns the differing fields, in the order of the first tree, then of the second. Readers limit the depth of trees.
pub(in crate::compare) fn differences<'a>(before: &'a Node, after: &'a Node) -> Vec<FoundDifference<'a>> {
    let mut found = Vec::new();
    walk(String::new(), String::new(), Some(before), Some(after), &mut found);
    found
}

fn walk<'a>(path: String, pointer: String, before: Option<&'a Node>, after: Option<&'a Node>, found: &mut Vec<FoundDifference<'a>>) {
    if before == after {
        return;
    }
    match (before.map(|node| &node.value), after.map(|node| &node.value)) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let names = a.iter().map(|entry| &entry.key).chain(b.iter().map(|entry| &entry.key).filter(|key| !a.contains_key(key)));
            for name in names {
                let inner = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
                let step = name.replace('~', "~0").replace('/', "~1");
                walk(inner, format!("{pointer}/{step}"), a.get(name), b.get(name), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            let (head, tail) = common_ends(a, b, Node::eq);
            let (a_end, b_end) = (a.len() - tail, b.len() - tail);
            // The elements between equal ends are compared by position.
            for at in head..a_end.max(b_end) {
                let (left, right) = (a.get(at).filter(|_| at < a_end), b.get(at).filter(|_| at < b_end));
                walk(format!("{path}[{at}]"), format!("{pointer}/{at}"), left, right, found);
            }
        }
        _ => found.push(FoundDifference { path, pointer, before, after }),
    }
}
