//! Writes a tree as YAML or JSON.
//!
//! The YAML reads back to the same value here, in Go's yaml and in YAML 1.2 readers: strings that any of them could misread are quoted. Does not
//! keep comments and layout; edit the source for that.

use alloc::string::String;
use core::fmt::Write;

use super::{Node, Object, Value, scalar};

/// Writes YAML in block style with two spaces per level.
pub fn to_yaml(node: &Node) -> String {
    let mut out = String::new();
    match &node.value {
        Value::Object(object) if !object.is_empty() => write_object(&mut out, object, 0, true),
        Value::Array(items) if !items.is_empty() => write_array(&mut out, items, 0, true),
        // A single string that looks like HCL would be read as HCL.
        Value::String(text) if super::hcl::is_hcl(text) => write_quoted(&mut out, text),
        value => {
            write_inline(&mut out, value, 0);
            out.push('\n');
        }
    }
    out
}

/// Writes JSON on one line, or `pretty` with two spaces per level. Numbers that JSON does not support become `null`.
pub fn to_json(node: &Node, pretty: bool) -> String {
    let mut out = String::new();
    write_json(&mut out, node, pretty.then_some(0));
    out
}

/// Writes JSON for a text that is indented by `indent` spaces; on one line if `None`.
pub fn to_json_within(node: &Node, indent: Option<usize>) -> String {
    let mut out = String::new();
    write_json(&mut out, node, indent);
    out
}

/// Writes the lines of an object. If `begun`, the first line continues the current one.
fn write_object(out: &mut String, object: &Object, indent: usize, begun: bool) {
    for (at, entry) in object.iter().enumerate() {
        if at > 0 || !begun {
            spaces(out, indent);
        }
        write_key(out, &entry.key);
        out.push(':');
        match &entry.value.value {
            Value::Object(object) if !object.is_empty() => {
                out.push('\n');
                write_object(out, object, indent + 2, false);
            }
            // Lists have their key's indentation, as kubectl writes them.
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                write_array(out, items, indent, false);
            }
            value => {
                out.push(' ');
                write_inline(out, value, indent);
                out.push('\n');
            }
        }
    }
}

fn write_array(out: &mut String, items: &[Node], indent: usize, begun: bool) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 || !begun {
            spaces(out, indent);
        }
        out.push_str("- ");
        match &item.value {
            Value::Object(object) if !object.is_empty() => write_object(out, object, indent + 2, true),
            Value::Array(items) if !items.is_empty() => write_array(out, items, indent + 2, true),
            value => {
                write_inline(out, value, indent);
                out.push('\n');
            }
        }
    }
}

/// Writes a scalar or an empty collection without a line break. Block scalars are indented below `indent`.
fn write_inline(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(_) => out.push_str("{}"),
        Value::Array(_) => out.push_str("[]"),
        Value::String(text) if fits_block(text) => write_block(out, text, indent + 2),
        Value::String(text) if is_plain(text) => out.push_str(text),
        Value::String(text) => write_quoted(out, text),
        Value::Float(number) if !number.is_finite() => {
            out.push_str(if number.is_nan() {
                ".nan"
            } else if *number > 0.0 {
                ".inf"
            } else {
                "-.inf"
            });
        }
        value => write_json_scalar(out, value),
    }
}

fn write_key(out: &mut String, key: &str) {
    // A document that starts with a key like `a="` would be read as HCL.
    if is_plain(key) && key != "<<" && key.len() <= 128 && !super::hcl::is_hcl(key) {
        out.push_str(key);
    } else {
        write_quoted(out, key);
    }
}

fn spaces(out: &mut String, count: usize) {
    out.extend(core::iter::repeat_n(' ', count));
}

/// Whether no reader requires quotes around the string.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
    if !(first.is_ascii_alphanumeric() || matches!(first, b'/' | b'_' | b'.' | b'$' | b'(' | b'+' | b'-' | b'^' | b';' | b'\\')) {
        return false;
    }
    if matches!(first, b'-' | b'+') && !bytes.get(1).is_some_and(u8::is_ascii_alphabetic) {
        return false;
    }
    if matches!(last, b' ' | b':') || bytes.iter().any(|b| !matches!(b, b' '..=b'~')) || text.contains(": ") || text.contains(" #") {
        return false;
    }
    scalar::is_string(text) && !looks_numeric(bytes) && !matches!(first, b'.' if bytes.starts_with(b"...") )
}

/// Whether some reader could see a number, a time or a date: sexagesimals, `1_000`, `0o17`, `2001-01-01`, `1e3`.
fn looks_numeric(bytes: &[u8]) -> bool {
    let start = usize::from(matches!(bytes[0], b'+' | b'-' | b'.'));
    bytes.get(start).is_some_and(u8::is_ascii_digit)
        && bytes.iter().all(|b| {
            b.is_ascii_hexdigit() || matches!(b, b'+' | b'-' | b'.' | b'_' | b':' | b'x' | b'X' | b'o' | b'O' | b't' | b'T' | b'z' | b'Z' | b' ')
        })
}

/// Whether the string is readable as a literal block scalar and reads back unchanged.
fn fits_block(text: &str) -> bool {
    let Some(body) = text.strip_suffix('\n').or_else(|| text.contains('\n').then_some(text)) else { return false };
    if body.is_empty() || body.starts_with([' ', '\n', '\t']) || body.ends_with('\n') {
        return false;
    }
    let printable = |c: char| matches!(c, '\n' | ' '..='~' | '\u{a1}'..='\u{1fff}' | '\u{2030}'..='\u{d7ff}' | '\u{10000}'..='\u{1ffff}');
    body.chars().all(|c| printable(c) && !turns(c)) && body.split('\n').all(|line| !line.ends_with(' '))
}

fn write_block(out: &mut String, text: &str, indent: usize) {
    out.push_str(if text.ends_with('\n') { "|" } else { "|-" });
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            spaces(out, indent);
            out.push_str(line);
        }
    }
}

/// Quotes a string as JSON, which is also YAML.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_quoted(&mut out, text);
    out
}

/// Writes a JSON string, which is also YAML.
pub fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\') {
        out.push_str(text);
        out.push('"');
        return;
    }
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c if turns(c) => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Whether a character changes the writing direction, so that a line would be misread.
fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Writes a scalar as JSON.
pub fn write_json_scalar(out: &mut String, value: &Value) {
    match value {
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) => {
            let _ = write!(out, "{value}");
        }
        Value::Float(value) if value.is_finite() => write_float(out, *value),
        Value::String(text) => write_quoted(out, text),
        _ => out.push_str("null"),
    }
}

/// Writes the shortest float that reads back to the same value and never as an integer.
fn write_float(out: &mut String, value: f64) {
    let size = if value < 0.0 { -value } else { value };
    let start = out.len();
    if size != 0.0 && !(1e-5..1e16).contains(&size) {
        let _ = write!(out, "{value:e}");
        // Some YAML 1.1 readers require a point and a sign.
        let exponent = out[start..].find('e').map_or(out.len(), |at| start + at);
        if !out[start..exponent].contains('.') {
            out.insert_str(exponent, ".0");
        }
        if let Some(at) = out[start..].find('e').filter(|at| !out[start + at + 1..].starts_with('-')) {
            out.insert(start + at + 1, '+');
        }
        return;
    }
    let _ = write!(out, "{value}");
    if !out[start..].contains('.') {
        out.push_str(".0");
    }
}

fn write_json(out: &mut String, node: &Node, indent: Option<usize>) {
    let inner = indent.map(|indent| indent + 2);
    let line = |out: &mut String, indent: Option<usize>| {
        if let Some(indent) = indent {
            out.push('\n');
            spaces(out, indent);
        }
    };
    match &node.value {
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                line(out, inner);
                write_json(out, item, inner);
            }
            line(out, indent);
            out.push(']');
        }
        Value::Object(object) if !object.is_empty() => {
            out.push('{');
            for (at, entry) in object.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                line(out, inner);
                write_quoted(out, &entry.key);
                out.push_str(if indent.is_some() { ": " } else { ":" });
                write_json(out, &entry.value, inner);
            }
            line(out, indent);
            out.push('}');
        }
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
        value => write_json_scalar(out, value),
    }
}
