//! Expected JSON: whether something fits it, what differs, how it looks, and how it is brought up to date.
//!
//! Expected is a part: an object fits if it has the expected members, a list if it has as many items and each fits. `{}` and `[]` are empty
//! ones. `"<absent>"` stands for a member that must not be there.

use serde_json::{Map, Value};

/// Stands for what must not be there.
pub const ABSENT: &str = "<absent>";

/// What differs, if anything does: where, what was expected, what is there.
pub fn difference(got: Option<&Value>, expected: &Value, at: &str) -> Option<String> {
    match (got, expected) {
        (None, Value::String(text)) if text == ABSENT => None,
        (None, _) => Some(format!("{at}: nothing is there, expected {}", pretty(expected, 0))),
        (Some(Value::Object(got)), Value::Object(members)) if !members.is_empty() => {
            members.iter().find_map(|(key, expected)| difference(got.get(key), expected, &format!("{at}/{key}")))
        }
        (Some(Value::Array(got)), Value::Array(items)) if got.len() == items.len() => {
            got.iter().zip(items).enumerate().find_map(|(index, (got, expected))| difference(Some(got), expected, &format!("{at}/{index}")))
        }
        (Some(got), expected) if got == expected => None,
        (Some(got), expected) => Some(format!("{at}: expected {}, got {}", pretty(expected, 0), pretty(got, 0))),
    }
}

/// What is there, in the shape of what was expected: the same members, other values. `"?"` takes everything.
pub fn project(got: Option<&Value>, expected: &Value) -> Value {
    match (got, expected) {
        (None, _) => Value::String(ABSENT.into()),
        (Some(Value::Object(got)), Value::Object(members)) if !members.is_empty() => {
            let project = |(key, expected): (&String, &Value)| (key.clone(), project(got.get(key), expected));
            Value::Object(members.iter().map(project).collect::<Map<_, _>>())
        }
        (Some(Value::Array(got)), Value::Array(items)) if !items.is_empty() => {
            let shape = |index: usize| items.get(index).or(items.last());
            Value::Array(got.iter().enumerate().filter_map(|(index, got)| Some(project(Some(got), shape(index)?))).collect())
        }
        (Some(got), _) => got.clone(),
    }
}

/// JSON as a person would write it: on one line where it fits.
pub fn pretty(value: &Value, indent: usize) -> String {
    const WIDTH: usize = 110;
    let flat = flat(value);
    if flat.chars().count() + indent <= WIDTH {
        return flat;
    }
    let (inner, end) = (" ".repeat(indent + 2), " ".repeat(indent));
    match value {
        Value::Object(members) if !members.is_empty() => {
            let members = members.iter().map(|(key, value)| format!("{inner}{}: {}", Value::String(key.clone()), pretty(value, indent + 2)));
            format!("{{\n{}\n{end}}}", members.collect::<Vec<_>>().join(",\n"))
        }
        Value::Array(items) if !items.is_empty() => {
            let items = items.iter().map(|item| format!("{inner}{}", pretty(item, indent + 2)));
            format!("[\n{}\n{end}]", items.collect::<Vec<_>>().join(",\n"))
        }
        _ => flat,
    }
}

fn flat(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(key, value)| format!("{}: {}", Value::String(key.clone()), flat(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(flat).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
