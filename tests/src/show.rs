//! Compares JSON with expected JSON: whether it matches, how it differs, how to print it, and how to update the expectation.
//!
//! Expected JSON is a part: an object matches if it has the expected members, a list if it has as many items and each matches. `{}` and `[]`
//! only match empty ones. `"<absent>"` means that the member must be missing.

use serde_json::{Map, Value};

/// Marks a member that must be missing.
pub const ABSENT: &str = "<absent>";

/// Returns the first difference, if any: the place, the expected value and the actual value.
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

/// Returns the actual value in the shape of the expected one: the same members with current values. `"?"` matches everything.
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

/// Formats JSON for readers: on one line if it fits.
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
