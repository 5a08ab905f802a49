//! Statuses that Contour writes, as values.
//!
//! What must not be here: when a status is written.

use crate::text::{Node, Object, Str, Value};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// Statuses by kind, namespace and name.
#[derive(Clone, Debug, Default)]
pub struct Statuses {
    by_object: BTreeMap<(Str, Str, Str), Node>,
}

impl Statuses {
    /// Writes a status, in place of what stood there.
    pub fn set(&mut self, kind: &str, namespace: &str, name: &str, status: Node) {
        self.by_object.insert((Str::new(kind), Str::new(namespace), Str::new(name)), status);
    }

    /// All of them: `[{kind, namespace, name, status}]`, those without a namespace without that field.
    pub fn document(self) -> Node {
        let items = self.by_object.into_iter().map(|((kind, namespace, name), status)| {
            let mut fields: Vec<(&str, Node)> = alloc::vec![("kind", text(&kind)), ("name", text(&name))];
            if !namespace.is_empty() {
                fields.push(("namespace", text(&namespace)));
            }
            fields.push(("status", status));
            object(fields)
        });
        Node::synthesised(Value::Array(items.collect()))
    }
}

/// A condition; `None` for the generation where it is not observed.
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

/// What the API server refused: `[{kind, namespace, name, errors}]`.
pub fn admission(refused: &[super::cluster::Refused<'_>]) -> Node {
    let items = refused.iter().map(|refused| {
        let key = &refused.object.key;
        let errors = refused.errors.iter().map(|error: &String| text(error)).collect();
        let namespace = key.namespace.as_deref().unwrap_or_default();
        object(alloc::vec![("errors", list(errors)), ("kind", text(&key.kind)), ("name", text(&key.name)), ("namespace", text(namespace))])
    });
    list(items.collect())
}
