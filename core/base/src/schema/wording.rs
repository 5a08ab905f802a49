//! Phrases violations: our messages for users, and `kube-openapi`'s messages for comparison. Does not detect violations; see `check`.

use super::quote::go_quoted;
use super::shape::{Format, Strings};
use super::{Check, Fault, Field, Path, Schema, Shape, Violation};
use crate::diagnostic::Part;
use crate::re2::engine::Finder;
use crate::resource::nearest;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use chancery_text::{Node, Object, Value, to_json};

/// Whether a value has the schema's type, ignoring its other limits.
pub fn fits(node: &Node, schema: &Schema) -> bool {
    match (&schema.shape, &node.value) {
        (Shape::Any, _)
        | (Shape::Boolean | Shape::True, Value::Bool(_))
        | (Shape::Number(_), Value::Int(_) | Value::Float(_))
        | (Shape::String(_) | Shape::IntOrString(_), Value::String(_))
        | (Shape::Array { .. }, Value::Array(_))
        | (Shape::Object(_), Value::Object(_)) => true,
        (Shape::Integer(_) | Shape::IntOrString(_), Value::Int(_) | Value::Float(_)) => node.as_i64().is_some(),
        (Shape::OneOf(choices) | Shape::AnyOf(choices), _) => choices.iter().any(|choice| fits(node, choice)),
        (_, Value::Null) => schema.nullable,
        _ => false,
    }
}

/// The expected value as a noun: "a whole number".
fn wanted(schema: &Schema) -> String {
    match &schema.shape {
        Shape::Any => "anything".into(),
        Shape::Boolean => "`true` or `false`".into(),
        Shape::True => "`true`".into(),
        Shape::Integer(_) => "a whole number".into(),
        Shape::Number(_) => "a number".into(),
        Shape::String(_) => "a string".into(),
        Shape::IntOrString(_) => "a whole number or a string".into(),
        Shape::Array { items, .. } => match items.shape {
            Shape::String(_) => "a list of strings".into(),
            Shape::Object(_) => "a list of objects".into(),
            _ => "a list".into(),
        },
        Shape::Object(_) => "an object".into(),
        Shape::OneOf(choices) | Shape::AnyOf(choices) => {
            let choices: Vec<String> = choices.iter().map(wanted).collect();
            choices.join(" or ")
        }
    }
}

/// The found value as a noun: "the string \"soon\"".
fn found(node: &Node) -> String {
    match &node.value {
        Value::Null => "nothing".into(),
        Value::Bool(value) => format!("the boolean `{value}`"),
        Value::Int(value) => format!("the number {value}"),
        Value::Float(value) => format!("the number {value}"),
        Value::String(value) => format!("the string {}", go_quoted(&shortened(value))),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.into(),
    }
}

/// A scalar as written, for lists of values.
fn scalar(node: &Node) -> String {
    match &node.value {
        Value::String(value) => format!("`{}`", shortened(value)),
        Value::Int(value) => format!("{value}"),
        Value::Float(value) => format!("{value}"),
        _ => found(node),
    }
}

pub(super) fn wrong_type(node: &Node, schema: &Schema, path: &Path<'_>) -> String {
    format!("`{path}` must be {}, not {}", wanted(schema), found(node))
}

/// Advice for a value of the wrong type.
pub(super) fn type_help(node: &Node, schema: &Schema) -> Option<String> {
    let help = match (&schema.shape, &node.value) {
        (Shape::Array { .. }, Value::String(_)) => "write it as a list, even if it has only one item",
        (Shape::String(_), Value::Bool(_)) => "put it in quotes: YAML reads y, n, yes, no, on, off, true and false as booleans",
        (Shape::String(strings), Value::Int(_) | Value::Float(_)) if !takes(strings, &scalar(node)) => {
            match takes(strings, &format!("{}s", scalar(node))) {
                true => "write it with its unit, such as `30s`",
                false => return None,
            }
        }
        (Shape::String(_), Value::Int(_) | Value::Float(_)) => "put it in quotes to make it a string",
        (Shape::Integer(_) | Shape::Boolean | Shape::Number(_), Value::String(text)) if type_replacement(node, schema).is_some() => {
            let _ = text;
            "take away the quotes"
        }
        (Shape::Integer(_), Value::Float(_)) => "only whole numbers are taken",
        (Shape::Object(_), Value::Array(_)) => "take away the dash: it makes a list",
        _ => return None,
    };
    Some(help.into())
}

/// Whether a string has the required form.
fn takes(strings: &Strings, text: &str) -> bool {
    let has_unit = || text.ends_with('s');
    (strings.format != Format::GoDuration || has_unit())
        && strings.pattern.is_none_or(|pattern| Finder::new(pattern).is_ok_and(|finder| finder.is_match(text)))
}

/// The text that the user certainly meant.
pub(super) fn type_replacement(node: &Node, schema: &Schema) -> Option<String> {
    match (&schema.shape, &node.value) {
        (Shape::Array { items, .. }, Value::String(text)) if matches!(items.shape, Shape::String(_)) && !text.contains('\n') => {
            let parts: Vec<String> = text.split(',').map(|part| go_quoted(part.trim())).collect();
            Some(format!("[{}]", parts.join(", ")))
        }
        (Shape::String(strings), Value::Int(value)) => takes(strings, &value.to_string()).then(|| format!("\"{value}\"")),
        (Shape::Integer(_), Value::String(text)) => text.parse::<i64>().ok().map(|value| value.to_string()),
        (Shape::Boolean, Value::String(text)) => matches!(text.as_str(), "true" | "false").then(|| text.to_string()),
        _ => None,
    }
}

pub(super) fn missing_help(object: &Object, field: &Field) -> String {
    let near = nearest(field.name, object.iter().map(|entry| entry.key.as_str()));
    match near {
        Some(near) if near != field.name => format!("was `{near}` meant to be `{}`?", field.name),
        _ if field.doc.is_empty() => format!("add `{}`", field.name),
        _ => format!("`{}`: {}", field.name, field.doc),
    }
}

/// The only value that contains the text, as `PathPrefix` contains `Prefix`.
fn only_longer(text: &str, among: &[&'static str]) -> Option<&'static str> {
    const SHORTEST: usize = 3;
    let text = text.to_ascii_lowercase();
    let mut longer = among.iter().filter(|value| text.len() >= SHORTEST && value.to_ascii_lowercase().contains(&text));
    longer.next().filter(|_| longer.next().is_none()).copied()
}

/// The API server's form of a message.
pub(super) enum Frame<'a> {
    /// `Invalid value: VALUE: SENTENCE`, with the value itself.
    Value,
    /// The same with another, already formatted value.
    Other(String),
    /// The same for an error without a path: the API server reports the whole of several schemas so.
    Unnamed,
    /// `Required value`.
    Required,
    /// `Unsupported value: VALUE: supported values: ...`
    Among(&'a [String]),
    /// `Too long: may not be more than 8 bytes`.
    TooLong(u32),
    /// `Too many: 9: must have at most 8 items`.
    TooMany(usize, u32),
}

impl Check<'_> {
    /// The reference's message: the sentence itself, or the API server's form of it.
    pub(super) fn reference(self, node: &Node, path: &Path<'_>, frame: Frame<'_>, sentence: String) -> String {
        if !self.framed {
            return sentence;
        }
        match frame {
            Frame::Value => format!("{path}: Invalid value: {}: {sentence}", go_value(node)),
            Frame::Other(value) => format!("{path}: Invalid value: {value}: {sentence}"),
            Frame::Unnamed => format!("<nil>: Invalid value: \"\": {sentence}"),
            Frame::Required => format!("{path}: Required value"),
            Frame::Among(among) => {
                let among: Vec<String> = among.iter().map(|value| go_quoted(value)).collect();
                format!("{path}: Unsupported value: {}: supported values: {}", go_value(node), among.join(", "))
            }
            Frame::TooLong(limit) => format!("{path}: Too long: may not be more than {limit} {}", if limit == 1 { "byte" } else { "bytes" }),
            Frame::TooMany(size, limit) => {
                format!("{path}: Too many: {size}: must have at most {limit} {}", if limit == 1 { "item" } else { "items" })
            }
        }
    }

    pub(super) fn not_among(self, node: &Node, among: &'static [&'static str], path: &Path<'_>) -> Violation {
        let allowed: Vec<String> = among.iter().map(|value| String::from(*value)).collect();
        let sentence = format!("{path} in body should be one of [{}]", among.join(" "));
        let reference = self.reference(node, path, Frame::Among(&allowed), sentence);
        let allowed: Vec<String> = among.iter().filter(|value| !value.is_empty()).map(|value| format!("`{value}`")).collect();
        let message = format!("`{path}` must be {}, not {}", or_list(&allowed), scalar(node));
        let near = node.as_str().and_then(|text| nearest(text, among.iter().copied().filter(|value| !value.is_empty())));
        let longer = node.as_str().and_then(|text| only_longer(text, among));
        Violation {
            help: near.or(longer).map(|near| format!("did you mean `{near}`?")),
            // In a list, an omitted value may have been meant.
            replacement: near.filter(|_| !node.as_str().is_some_and(|text| text.contains(','))).map(Into::into),
            blocking: true,
            ..violation(node, path, Fault::NotAllowed, message, reference)
        }
    }

    pub(super) fn number_not_among(self, node: &Node, among: &'static [i64], path: &Path<'_>) -> Violation {
        let among: Vec<String> = among.iter().map(i64::to_string).collect();
        let sentence = format!("{path} in body should be one of [{}]", among.join(" "));
        let reference = self.reference(node, path, Frame::Among(&among), sentence);
        let message = format!("`{path}` must be {}, not {}", or_list(&among), scalar(node));
        Violation { blocking: true, ..violation(node, path, Fault::NotAllowed, message, reference) }
    }

    pub(super) fn not_true(self, node: &Node, path: &Path<'_>) -> Violation {
        let sentence = format!("{path} in body should be one of [true]");
        let reference = self.reference(node, path, Frame::Among(&["true".into()]), sentence);
        let help = Some("leave it out instead".into());
        Violation { blocking: true, help, ..violation(node, path, Fault::NotAllowed, format!("`{path}` can only be `true`"), reference) }
    }

    pub(super) fn malformed(self, node: &Node, pattern: &str, path: &Path<'_>) -> Violation {
        let reference = self.reference(node, path, Frame::Value, format!("{path} in body should match '{pattern}'"));
        violation(node, path, Fault::Malformed, format!("`{path}` must match `{pattern}`, and {} does not", scalar(node)), reference)
    }

    pub(super) fn beyond(self, node: &Node, limit: i64, word: &str, ours: &str, path: &Path<'_>) -> Violation {
        let sentence = format!("{path} in body should be {word} than or equal to {limit}");
        let reference = self.reference(node, path, Frame::Value, sentence);
        violation(node, path, Fault::OutOfRange, format!("`{path}` must be {ours} {limit}, not {}", scalar(node)), reference)
    }

    pub(super) fn beyond_int32(self, node: &Node, path: &Path<'_>) -> Violation {
        let sentence = format!("Checked value must be of type integer with format int32 in {path}");
        let reference = self.reference(node, path, Frame::Value, sentence);
        let message = format!("`{path}` must fit in 32 bits, and {} does not", scalar(node));
        violation(node, path, Fault::OutOfRange, message, reference)
    }

    /// `of` is the reference's noun: "items", "properties" or "chars".
    pub(super) fn wrong_size(self, node: &Node, size: usize, limit: u32, too_few: bool, of: &str, path: &Path<'_>) -> Violation {
        let bound = if too_few { "at least" } else { "at most" };
        let sentence = match of {
            "chars" => format!("{path} in body should be {bound} {limit} chars long"),
            _ => format!("{path} in body should have {bound} {limit} {of}"),
        };
        let frame = match (too_few, of) {
            (true, "chars") => Frame::Value,
            (true, _) => Frame::Other(size.to_string()),
            (false, "chars") => Frame::TooLong(limit),
            (false, _) => Frame::TooMany(size, limit),
        };
        let reference = self.reference(node, path, frame, sentence);
        let noun = match (of, limit) {
            ("chars", 1) => "character",
            ("chars", _) => "characters",
            ("properties", 1) => "field",
            ("properties", _) => "fields",
            (_, 1) => "item",
            _ => "items",
        };
        let message = format!("`{path}` must have {bound} {limit} {noun}, and has {size}");
        Violation { blocking: !too_few, ..violation(node, path, Fault::OutOfRange, message, reference) }
    }

    pub(super) fn not_base64(self, node: &Node, path: &Path<'_>) -> Violation {
        let sentence = format!("{path} in body must be of type byte: {}", go_value(node));
        let reference = self.reference(node, path, Frame::Value, sentence);
        let message = format!("`{path}` must be base64, and {} is not", scalar(node));
        Violation { blocking: true, ..violation(node, path, Fault::Malformed, message, reference) }
    }

    pub(super) fn bad_duration(self, node: &Node, sentence: String, path: &Path<'_>) -> Violation {
        let reference = self.reference(node, path, Frame::Value, sentence);
        Violation {
            help: Some("write a number and a unit, e.g. `500ms`, `5s`, `1m30s`".into()),
            later: true,
            ..violation(node, path, Fault::Malformed, format!("`{path}` must be a span of time, but {} is not", scalar(node)), reference)
        }
    }
}

pub(super) fn violation(node: &Node, path: &Path<'_>, fault: Fault, message: String, reference: String) -> Violation {
    Violation {
        node: node.id,
        part: Part::Value,
        path: path.to_string(),
        fault,
        message,
        help: None,
        replacement: None,
        reference: vec![reference],
        later: false,
        blocking: false,
    }
}

/// A value as Go's API errors show it.
pub(super) fn go_value(node: &Node) -> String {
    match &node.value {
        Value::String(text) => go_quoted(text),
        _ => to_json(node, false),
    }
}

fn or_list(values: &[String]) -> String {
    match values {
        [] => "empty".into(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} or {last}", all.join(", ")),
    }
}
