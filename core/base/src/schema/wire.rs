//! Simulates a Go program that decodes an object into its structs and encodes it as JSON, as Emissary's entrypoint does with every object before
//! its Python part sees it.
//!
//! Fields get the struct's order, maps the order of their keys. Empty values are omitted if the struct has `omitempty`. Whole numbers and durations
//! are written in Go's form. A value that does not fit the schema is copied unchanged.

use super::{Check, Format, Members, Others, Schema, Shape, Wire, duration, fits};
use alloc::vec::Vec;
use chancery_text::{Entry, Node, NodeId, Object, Str, Value};

/// The object after the round trip. Nodes keep their numbers.
pub fn round_trip(node: &Node, schema: &Schema) -> Node {
    write(node, schema, None).unwrap_or_else(|| node.clone())
}

/// The object after the round trip if it has no unknown field, null, missing default or violation. Handles the common case in one walk.
pub fn round_trip_if_valid(node: &Node, schema: &'static Schema, check: Check<'_>) -> Option<Node> {
    write(node, schema, Some(check))
}

/// `None` only if `strict` finds a violation.
fn write(node: &Node, schema: &Schema, strict: Option<Check<'_>>) -> Option<Node> {
    let value = match (&node.value, &schema.shape) {
        (Value::Object(object), Shape::Object(members)) => Value::Object(write_object(object, members, strict)?),
        (Value::Array(items), Shape::Array { items: schema, min, max, .. }) => {
            if strict.is_some() && !has_size(items.len(), *min, *max) {
                return None;
            }
            let mut written = Vec::with_capacity(items.len());
            for item in items {
                written.push(write(item, schema, strict)?);
            }
            Value::Array(written)
        }
        (_, Shape::OneOf(choices) | Shape::AnyOf(choices)) => {
            return match choices.iter().find(|choice| fits(node, choice)) {
                Some(choice) => write(node, choice, strict),
                None if strict.is_some() => None,
                None => Some(untyped(node)),
            };
        }
        (_, Shape::Any) => return Some(untyped(node)),
        (value, shape) => {
            if strict.is_some_and(|check| !check.accepts_scalar(node, schema)) {
                return None;
            }
            match (value, shape) {
                (Value::Float(_), Shape::Integer(_)) => node.as_i64().map_or_else(|| value.clone(), Value::Int),
                (Value::String(text), Shape::String(strings)) if strings.format == Format::GoDuration => {
                    duration::parse(text).map_or_else(|| value.clone(), |span| Value::String(duration::format(span).into()))
                }
                _ => value.clone(),
            }
        }
    };
    Some(Node { id: node.id, value })
}

fn has_size(size: usize, min: u32, max: u32) -> bool {
    (min as usize..=max as usize).contains(&size)
}

fn write_object(object: &Object, members: &Members, strict: Option<Check<'_>>) -> Option<Object> {
    // Maps the index of a field to its entry. A schema has at most 128 fields.
    let mut slots = [0_u32; 128];
    let mut present = 0_u128;
    let mut others: Vec<&Entry> = Vec::new();
    for (at, entry) in object.iter().enumerate() {
        match members.position(&entry.key) {
            Some(field) => {
                slots[field] = at as u32;
                present |= 1 << field;
            }
            None => match members.others {
                Others::Prune if strict.is_some() => return None,
                Others::Prune => {}
                Others::Keep | Others::Values(_) => others.push(entry),
            },
        }
    }
    if strict.is_some() {
        let missing = (members.required | members.defaults) & !present;
        if missing != 0 || !has_size(object.len(), members.min, members.max) {
            return None;
        }
    }
    let mut written = Object::new();
    for (at, field) in members.fields_of(present | members.always) {
        let entry = if present & (1 << at) != 0 { object.entries().get(slots[at] as usize) } else { None };
        let value = match entry {
            Some(entry) => write(&entry.value, &field.schema, strict)?,
            None => zero(&field.schema),
        };
        let kept = match field.wire {
            Wire::Always => true,
            Wire::Kept => !value.is_null(),
            Wire::Dropped => !is_empty(&value.value),
        };
        if kept {
            written.insert(Str::new_static(field.name), value);
        }
    }
    if !others.is_sorted_by(|a, b| a.key <= b.key) {
        others.sort_by(|a, b| a.key.cmp(&b.key));
    }
    for entry in others {
        let value = match members.others {
            Others::Values(schema) => write(&entry.value, schema, strict)?,
            _ => untyped(&entry.value),
        };
        written.insert(entry.key.clone(), value);
    }
    written.shrink_to_fit();
    Some(written)
}

/// A value without a struct: keys are sorted, and integral numbers become whole numbers.
fn untyped(node: &Node) -> Node {
    let value = match &node.value {
        Value::Object(object) => {
            let mut entries: Vec<&Entry> = object.iter().collect();
            entries.sort_by(|a, b| a.key.cmp(&b.key));
            Value::Object(entries.into_iter().map(|entry| (entry.key.clone(), untyped(&entry.value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(untyped).collect()),
        Value::Float(_) => node.as_i64().map_or_else(|| node.value.clone(), Value::Int),
        _ => node.value.clone(),
    };
    Node { id: node.id, value }
}

/// Whether Go's `omitempty` omits the value.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(value) => *value == 0,
        Value::Float(value) => *value == 0.0,
        Value::String(value) => value.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
    }
}

/// The value that a struct writes for an absent field.
fn zero(schema: &Schema) -> Node {
    let value = match &schema.shape {
        Shape::Boolean | Shape::True => Value::Bool(false),
        Shape::Integer(_) | Shape::Number(_) => Value::Int(0),
        Shape::String(_) => Value::String(Str::new_static("")),
        Shape::Object(members) if !members.fields.is_empty() => Value::Object(write_object(&Object::new(), members, None).unwrap_or_default()),
        _ => Value::Null,
    };
    Node { id: NodeId::NONE, value }
}
