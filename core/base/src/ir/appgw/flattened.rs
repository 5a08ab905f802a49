//! A gateway as the Azure CLI prints it: what ARM has under `properties` stands beside the name there.
//!
//! What must not be here: what the fields mean.

use chancery_text::{Node, Str, Value};

/// Fields that do not stand under `properties`.
const OUTSIDE: &[&str] = &["id", "name", "type", "location", "tags", "etag", "zones", "identity"];
/// The field that the Azure CLI adds wherever there is an id.
const ADDED: &str = "resourceGroup";

/// Whether a gateway is written like that.
pub(super) fn is_flattened(gateway: &Node) -> bool {
    gateway.get("properties").is_none() && gateway.get("frontendIPConfigurations").is_some()
}

/// The gateway as ARM has it.
pub(super) fn restored(gateway: &Node) -> Node {
    with_properties(gateway)
}

/// A resource or part with its properties in their place. Documents are as deep as the reader lets them be.
fn with_properties(part: &Node) -> Node {
    let Some(fields) = part.as_object() else { return part.clone() };
    let fields = fields.iter().filter(|entry| entry.key != ADDED).map(|entry| (entry.key.clone(), inner(&entry.value)));
    let (mut outside, properties): (alloc::vec::Vec<_>, alloc::vec::Vec<_>) = fields.partition(|(name, _)| OUTSIDE.contains(&name.as_str()));
    if !properties.is_empty() {
        outside.push((Str::new_static("properties"), Node::synthesised(Value::Object(properties.into_iter().collect()))));
    }
    Node::synthesised(Value::Object(outside.into_iter().collect()))
}

/// What is in a part: further parts have a name and an id, all else is a value.
fn inner(value: &Node) -> Node {
    match &value.value {
        Value::Array(items) => Node::synthesised(Value::Array(items.iter().map(inner).collect())),
        Value::Object(_) if value.get("name").is_some() && value.get("id").is_some() => with_properties(value),
        Value::Object(fields) => {
            let fields = fields.iter().filter(|entry| entry.key != ADDED).map(|entry| (entry.key.clone(), inner(&entry.value)));
            Node::synthesised(Value::Object(fields.collect()))
        }
        _ => value.clone(),
    }
}
