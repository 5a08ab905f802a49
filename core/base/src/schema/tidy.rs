//! Preprocesses an object like the API server: drops unknown fields, drops nulls that the schema does not allow, sets defaults. Does not validate.
//! A tree that needs no change is not copied.

use super::{Literal, Members, Others, Path, Schema, Shape, fits};
use alloc::vec::Vec;
use chancery_text::{Entry, Node, NodeId, Object, Str, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tidy {
    /// Whether unknown fields are removed.
    pub unknown: bool,
    /// Whether nulls are removed that the schema does not allow.
    pub nulls: bool,
    /// Whether defaults are set.
    pub defaults: bool,
}

/// A removal.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// A field that the schema does not know.
    Unknown(&'a Entry, &'static Members),
    Null(&'a Entry, &'static Schema),
}

/// Applies the rules; `None` if nothing changes. Reports each removal with its path.
pub fn tidy(node: &Node, schema: &'static Schema, rules: Tidy, path: &Path<'_>, report: &mut dyn FnMut(&Path<'_>, Change<'_>)) -> Option<Node> {
    match (&node.value, &schema.shape) {
        (Value::Object(object), Shape::Object(members)) => {
            let object = tidy_object(object, members, rules, path, report)?;
            Some(Node { id: node.id, value: Value::Object(object) })
        }
        (Value::Array(items), Shape::Array { items: schema, .. }) => {
            let mut changed: Option<Vec<Node>> = None;
            for (at, item) in items.iter().enumerate() {
                let rules = if schema.unserved { Tidy { nulls: false, ..rules } } else { rules };
                if let Some(item) = tidy(item, schema, rules, &path.index(at), report) {
                    changed.get_or_insert_with(|| items.clone())[at] = item;
                }
            }
            changed.map(|items| Node { id: node.id, value: Value::Array(items) })
        }
        (_, Shape::OneOf(choices) | Shape::AnyOf(choices)) => {
            let choice = choices.iter().find(|choice| fits(node, choice))?;
            tidy(node, choice, rules, path, report)
        }
        _ => None,
    }
}

fn tidy_object(
    object: &Object,
    members: &'static Members,
    rules: Tidy,
    path: &Path<'_>,
    report: &mut dyn FnMut(&Path<'_>, Change<'_>),
) -> Option<Object> {
    // The new values of changed entries; `None` removes the entry.
    let mut edits: Vec<(usize, Option<Node>)> = Vec::new();
    let mut present = 0_u128;
    for (at, entry) in object.iter().enumerate() {
        let (schema, bit) = match members.position(&entry.key) {
            Some(field) => (&members.fields[field].schema, 1 << field),
            None => match members.others {
                Others::Values(values) => (values, 0),
                Others::Prune if rules.unknown => {
                    report(path, Change::Unknown(entry, members));
                    edits.push((at, None));
                    continue;
                }
                Others::Prune | Others::Keep => continue,
            },
        };
        let rules = if schema.unserved { Tidy { nulls: false, ..rules } } else { rules };
        let is_null = entry.value.is_null() && !schema.nullable && !matches!(schema.shape, Shape::Any);
        if is_null && rules.nulls {
            report(path, Change::Null(entry, schema));
            edits.push((at, None));
            continue;
        }
        present |= bit;
        if let Some(value) = tidy(&entry.value, schema, rules, &path.key(&entry.key), report) {
            edits.push((at, Some(value)));
        }
    }
    let absent = if rules.defaults { members.defaults & !present } else { 0 };
    if edits.is_empty() && absent == 0 {
        return None;
    }
    let gone = edits.iter().filter(|(_, value)| value.is_none()).count();
    let mut tidied = Object::with_capacity(object.len() - gone + absent.count_ones() as usize);
    let mut edits = edits.into_iter().peekable();
    for (at, entry) in object.iter().enumerate() {
        match edits.next_if(|(edited, _)| *edited == at) {
            None => {
                tidied.insert(entry.key.clone(), entry.value.clone());
            }
            Some((_, Some(value))) => {
                tidied.insert(entry.key.clone(), value);
            }
            Some((_, None)) => {}
        }
    }
    for (_, field) in members.fields_of(absent) {
        let Some(value) = field.schema.default else { continue };
        let value = literal(value);
        // A default is completed like any other value.
        let completed = tidy(&value, &field.schema, rules, path, &mut |_, _| ());
        tidied.insert(Str::new_static(field.name), completed.unwrap_or(value));
    }
    Some(tidied)
}

fn literal(value: Literal) -> Node {
    let value = match value {
        Literal::Bool(value) => Value::Bool(value),
        Literal::Int(value) => Value::Int(value),
        Literal::Str(value) => Value::String(Str::new_static(value)),
        Literal::List(items) => Value::Array(items.iter().map(|item| literal(*item)).collect()),
        Literal::Object(entries) => Value::Object(entries.iter().map(|(name, value)| (Str::new_static(name), literal(*value))).collect()),
    };
    Node { id: NodeId::NONE, value }
}

/// Removes fields that the schema does not know; `None` if there are none.
pub fn prune(node: &Node, schema: &'static Schema, path: &Path<'_>, report: &mut dyn FnMut(&Path<'_>, Change<'_>)) -> Option<Node> {
    tidy(node, schema, Tidy { unknown: true, nulls: false, defaults: false }, path, report)
}

/// Removes nulls that the schema does not allow; `None` if there are none.
pub fn drop_nulls(node: &Node, schema: &'static Schema, path: &Path<'_>, report: &mut dyn FnMut(&Path<'_>, Change<'_>)) -> Option<Node> {
    tidy(node, schema, Tidy { unknown: false, nulls: true, defaults: false }, path, report)
}

/// Sets defaults; `None` if none is missing.
pub fn default(node: &Node, schema: &'static Schema) -> Option<Node> {
    tidy(node, schema, Tidy { unknown: false, nulls: false, defaults: true }, &Path::root(""), &mut |_, _| ())
}
