//! Reads a gateway as the Azure CLI prints it: the content of ARM's `properties` is next to the name.

use chancery_text::{Node, Str, Value};

/// Fields outside `properties`.
const OUTSIDE: &[&str] = &["id", "name", "type", "location", "tags", "etag", "zones", "identity"];
/// The field that the Azure CLI adds next to every id.
const ADDED: &str = "resourceGroup";

/// Whether a gateway has this form.
pub(super) fn is_flattened(gateway: &Node) -> bool {
    gateway.get("properties").is_none() && gateway.get("frontendIPConfigurations").is_some()
}

/// Restores the ARM form.
pub(super) fn restored(gateway: &Node) -> Node {
    with_properties(gateway)
}

/// Moves a part's fields into `properties`. The reader bounds the depth of documents.
fn with_properties(part: &Node) -> Node {
    let Some(fields) = part.as_object() else { return part.clone() };
    let fields = fields.iter().filter(|entry| entry.key != ADDED).map(|entry| (entry.key.clone(), inner(&entry.value)));
    let (mut outside, properties): (alloc::vec::Vec<_>, alloc::vec::Vec<_>) = fields.partition(|(name, _)| OUTSIDE.contains(&name.as_str()));
    if !properties.is_empty() {
        outside.push((Str::new_static("properties"), Node::synthesised(Value::Object(properties.into_iter().collect()))));
    }
    Node::synthesised(Value::Object(outside.into_iter().collect()))
}

/// The content of a part: nested parts have a name and an id, everything else is a value.
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
