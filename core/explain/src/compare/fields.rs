//! Finds fields that differ between two trees, and converts messages to trees. Does not choose the messages.

use super::order::common_ends;
use super::phrases::phrase;
use crate::OriginView;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::config::tree_of;
use chancery_envoy_api::any::AnyMessage;
use chancery_envoy_api::json;
use chancery_text::{Node, Value, to_json};
use core::fmt::Display;

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FieldChange {
    /// Its path, as `route.timeout`, `spec.headers[0]`, or `http_filters[envoy.filters.http.router]` in a list whose elements have names.
    pub path: String,
    /// Its value on the first side as JSON, or in words for a common part of Envoy's configuration; `None` if it is not set there.
    pub before: Option<String>,
    /// Its value on the second side, like `before`.
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
    /// Its JSON pointer from the root of each side.
    pub pointers: [String; 2],
    pub before: Option<&'a Node>,
    pub after: Option<&'a Node>,
}

impl FoundDifference<'_> {
    pub fn change(&self) -> FieldChange {
        let (before, after) = (self.before.map(shown), self.after.map(shown));
        FieldChange { path: self.path.clone(), before, after, before_from: None, after_from: None }
    }

    /// Shows the values of a field of Envoy's configuration: in words if they differ in words, or else as JSON.
    pub fn described(&self) -> [Option<String>; 2] {
        let sides = [self.before, self.after];
        let words = sides.map(|side| side.map(|node| phrase(&self.path, node)));
        if words[0] != words[1] && words.iter().all(|words| words.as_ref().is_none_or(Option::is_some)) {
            return words.map(Option::flatten);
        }
        sides.map(|side| side.map(shown))
    }

    /// The same as a change.
    pub fn described_change(&self) -> FieldChange {
        let [before, after] = self.described();
        FieldChange { before, after, ..self.change() }
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
    walk(Place::default(), Some(before), Some(after), &mut found);
    found
}

/// The place of two nodes that are compared.
#[derive(Clone, Default)]
struct Place {
    path: String,
    pointers: [String; 2],
}

impl Place {
    fn member(&self, name: &str) -> Self {
        let path = if self.path.is_empty() { name.to_string() } else { format!("{}.{name}", self.path) };
        let step = name.replace('~', "~0").replace('/', "~1");
        Self { path, pointers: self.pointers.each_ref().map(|pointer| format!("{pointer}/{step}")) }
    }

    /// The place of an element that is called `name`, at an index on each side.
    fn element(&self, name: &dyn Display, indices: [usize; 2]) -> Self {
        let [before, after] = &self.pointers;
        Self { path: format!("{}[{name}]", self.path), pointers: [format!("{before}/{}", indices[0]), format!("{after}/{}", indices[1])] }
    }
}

fn walk<'a>(place: Place, before: Option<&'a Node>, after: Option<&'a Node>, found: &mut Vec<FoundDifference<'a>>) {
    if before == after {
        return;
    }
    match (before.map(|node| &node.value), after.map(|node| &node.value)) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let names = a.iter().map(|entry| &entry.key).chain(b.iter().map(|entry| &entry.key).filter(|key| !a.contains_key(key)));
            for name in names {
                walk(place.member(name), a.get(name), b.get(name), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => match by_name(a, b) {
            Some(pairs) => {
                for (name, [left, right]) in pairs {
                    let inner = place.element(&name, [left.or(right).unwrap_or_default(), right.or(left).unwrap_or_default()]);
                    walk(inner, left.and_then(|at| a.get(at)), right.and_then(|at| b.get(at)), found);
                }
            }
            None => {
                let (head, tail) = common_ends(a, b, Node::eq);
                let (a_end, b_end) = (a.len() - tail, b.len() - tail);
                // The elements between equal ends are compared by position.
                for at in head..a_end.max(b_end) {
                    let (left, right) = (a.get(at).filter(|_| at < a_end), b.get(at).filter(|_| at < b_end));
                    walk(place.element(&at, [at; 2]), left, right, found);
                }
            }
        },
        _ => found.push(FoundDifference { path: place.path, pointers: place.pointers, before, after }),
    }
}

/// The name of an element, and its index on each side.
type NamedPair<'a> = (&'a str, [Option<usize>; 2]);

/// Pairs the elements of two lists by their names; `None` if an element has no name, two share a name, or common elements changed their order.
fn by_name<'a>(before: &'a [Node], after: &'a [Node]) -> Option<Vec<NamedPair<'a>>> {
    let names = |all: &'a [Node]| {
        let named: Option<Vec<&str>> = all.iter().map(|node| node.get("name")?.as_str()).collect();
        let indices: BTreeMap<&str, usize> = named.iter().flatten().enumerate().map(|(at, name)| (*name, at)).collect();
        named.filter(|named| named.len() == indices.len()).map(|named| (named, indices))
    };
    let ((old, _), (new, indices)) = (names(before)?, names(after)?);
    let mut pairs: Vec<NamedPair<'_>> = old.iter().enumerate().map(|(at, name)| (*name, [Some(at), indices.get(name).copied()])).collect();
    if !pairs.iter().filter_map(|(_, [_, right])| *right).is_sorted() {
        return None;
    }
    let known: BTreeSet<&str> = old.into_iter().collect();
    pairs.extend(new.into_iter().enumerate().filter(|(_, name)| !known.contains(name)).map(|(at, name)| (name, [None, Some(at)])));
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chancery_text::Limits;

    fn paths(before: &str, after: &str) -> Vec<(String, [String; 2])> {
        let [before, after] = [before, after].map(|text| chancery_text::parse(text, &Limits::default()).root.expect("a tree"));
        differences(&before, &after).into_iter().map(|found| (found.path, found.pointers)).collect()
    }

    #[test]
    fn elements_are_paired_by_name() {
        let found = paths("{f: [{name: a, v: 1}, {name: c, v: 1}]}", "{f: [{name: b}, {name: c, v: 2}]}");
        let pointers = |a: &str, b: &str| [a.to_string(), b.to_string()];
        let want = [
            ("f[a]".to_string(), pointers("/f/0", "/f/0")),
            ("f[c].v".to_string(), pointers("/f/1/v", "/f/1/v")),
            ("f[b]".to_string(), pointers("/f/0", "/f/0")),
        ];
        assert_eq!(found, want);
        let moved = paths("[{name: a, v: 1}, {name: b}]", "[{name: x}, {name: a, v: 2}, {name: b}]");
        assert_eq!(moved[0], ("[a].v".to_string(), pointers("/0/v", "/1/v")));
    }

    #[test]
    fn changed_order_of_names_is_difference() {
        assert_eq!(paths("[{name: a}, {name: b}]", "[{name: b}, {name: a}]").len(), 2);
        assert_eq!(paths("[{name: a}, {name: a, v: 1}]", "[{name: a}, {name: a}]")[0].0, "[1].v");
    }
}
