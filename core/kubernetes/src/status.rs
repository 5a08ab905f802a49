//! Statuses as controllers write them: conditions, and values that no text was written for.
//!
//! What must not be here: what a controller finds.

use alloc::vec::Vec;
use chancery_text::{Node, Object, Str, Value};

/// The fields of a condition of an object that was just made.
pub fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Vec<(&'static str, Node)> {
    alloc::vec![
        ("message", text(message)),
        ("observedGeneration", number(1)),
        ("reason", text(reason)),
        ("status", text(status)),
        ("type", text(kind)),
    ]
}

/// A string.
pub fn text(value: &str) -> Node {
    Node::synthesised(Value::String(Str::new(value)))
}

/// A number.
pub fn number(value: i64) -> Node {
    Node::synthesised(Value::Int(value))
}

/// A list.
pub fn list(items: Vec<Node>) -> Node {
    Node::synthesised(Value::Array(items))
}

/// An object.
pub fn object(fields: Vec<(&str, Node)>) -> Node {
    let object: Object = fields.into_iter().collect();
    Node::synthesised(Value::Object(object))
}
