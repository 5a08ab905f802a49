//! Builds statuses as controllers write them: conditions, and values without text.

use alloc::vec::Vec;
use chancery_text::{Node, Object, Str, Value};

/// The fields of a new condition.
pub fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Vec<(&'static str, Node)> {
    alloc::vec![
        ("message", text(message)),
        ("observedGeneration", number(1)),
        ("reason", text(reason)),
        ("status", text(status)),
        ("type", text(kind)),
    ]
}

pub fn text(value: &str) -> Node {
    Node::synthesised(Value::String(Str::new(value)))
}

pub fn number(value: i64) -> Node {
    Node::synthesised(Value::Int(value))
}

pub fn list(items: Vec<Node>) -> Node {
    Node::synthesised(Value::Array(items))
}

pub fn object(fields: Vec<(&str, Node)>) -> Node {
    let object: Object = fields.into_iter().collect();
    Node::synthesised(Value::Object(object))
}
