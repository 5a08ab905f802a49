//! Checks the API server's rules beyond types and limits: unique list items and a schema's rules.
//!
//! Source of behaviour: `k8s.io/apiextensions-apiserver/pkg/apiserver/schema/{listtype,cel}/validation.go`. Does not evaluate rules; see `cel`.

use super::quote::go_quoted;
use super::wording::{Frame, go_value, violation};
use super::{Check, Fault, Members, Once, Others, Path, Schema, Shape, Violation};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::{Node, Object, Value, to_json};

/// Visits the values below a node with their schemas, limited to the fields whose bit `asks` sets. Paths of map entries and fields differ.
fn below<'n>(node: &'n Node, schema: &Schema, asks: fn(&Members) -> u128, path: &Path<'_>, visit: &mut dyn FnMut(&'n Node, &Schema, &Path<'_>)) {
    match (&node.value, &schema.shape) {
        (Value::Object(object), Shape::Object(members)) => {
            for (_, field) in members.fields_of(asks(members)) {
                if let Some(value) = object.get(field.name).filter(|value| !value.is_null()) {
                    visit(value, &field.schema, &path.key(field.name));
                }
            }
            if let Others::Values(values) = members.others {
                for entry in object.iter().filter(|entry| !entry.value.is_null() && members.position(&entry.key).is_none()) {
                    visit(&entry.value, values, &path.entry(&entry.key));
                }
            }
        }
        (Value::Array(items), Shape::Array { items: schema, .. }) => {
            for (at, item) in items.iter().enumerate() {
                visit(item, schema, &path.index(at));
            }
        }
        _ => {}
    }
}

/// Finds repeated items in lists whose items must be unique.
pub(super) fn repeated(node: &Node, schema: &Schema, path: &Path<'_>, out: &mut Vec<Violation>) {
    if !schema.within.once {
        return;
    }
    if let (Value::Array(items), Shape::Array { once, .. }) = (&node.value, &schema.shape)
        && *once != Once::Free
        && items.len() > 1
    {
        items_repeated(items, *once, path, out);
    }
    below(node, schema, |members| members.once, path, &mut |node, schema, path| repeated(node, schema, path, out));
}

fn items_repeated(items: &[Node], once: Once, path: &Path<'_>, out: &mut Vec<Violation>) {
    let (mut seen, mut reported) = (BTreeSet::new(), BTreeSet::new());
    for (at, item) in items.iter().enumerate() {
        let (key, what) = match once {
            Once::Free => return,
            Once::Items => (go_value(item), "it".into()),
            Once::Keys(keys) => (keys_of(item, keys), format!("its `{}`", keys.join("` and `"))),
        };
        // Only the second occurrence is reported.
        if seen.insert(key.clone()) || !reported.insert(key.clone()) {
            continue;
        }
        let path = path.index(at);
        let node = match once {
            Once::Keys([one]) => item.get(one).unwrap_or(item),
            _ => item,
        };
        let message = format!("`{path}` is there twice: {what} is in the list before");
        let reference = format!("{path}: Duplicate value: {key}");
        out.push(violation(node, &path, Fault::Repeated, message, reference));
    }
}

/// The key fields of an item as JSON.
fn keys_of(item: &Node, keys: &[&str]) -> String {
    let present = keys.iter().filter_map(|key| Some((*key, item.get(key)?.clone())));
    to_json(&Node::synthesised(Value::Object(present.collect::<Object>())), false)
}

/// Finds violated rules.
pub(super) fn broken(check: Check<'_>, node: &Node, schema: &Schema, path: &Path<'_>, out: &mut Vec<Violation>) {
    if !schema.within.rules {
        return;
    }
    for rule in schema.rules {
        let reference = match check.memo.is_true(rule.expression, node) {
            None | Some(Ok(true)) => continue,
            Some(Ok(false)) => match &node.value {
                Value::Object(_) | Value::Array(_) => format!("{path}: Invalid value: {}", rule.message),
                _ => check.reference(node, path, Frame::Value, rule.message.into()),
            },
            Some(Err(why)) => {
                let sentence = match &*why {
                    "no such overload" => {
                        format!("'{why}': call arguments did not match a supported operator, function or macro signature for rule: {}", rule.message)
                    }
                    _ => format!("{why} evaluating rule: {}", rule.message),
                };
                check.reference(node, path, Frame::Other(go_quoted(schema.type_name())), sentence)
            }
        };
        out.push(violation(node, path, Fault::Broken, format!("`{path}`: {}", rule.message), reference));
    }
    below(node, schema, |members| members.rules, path, &mut |node, schema, path| broken(check, node, schema, path, out));
}
