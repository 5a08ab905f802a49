//! Turns fields of objects into values with origins. Does not judge them.

use chancery_base::ir::{Fields, Plain, Tree};
use chancery_base::resource::Sourced;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::{Str, Value};

/// Returns the value at a place with its origins; `Tree::NULL` if nothing is written there.
pub(crate) fn tree(at: Cursor<'_>) -> Tree {
    let Some(node) = at.node() else { return Tree::NULL };
    let value = match &node.value {
        Value::Null => Plain::Null,
        Value::Bool(value) => Plain::Bool(*value),
        Value::Int(value) => Plain::Int(*value),
        Value::Float(value) => Plain::Float(*value),
        Value::String(text) => Plain::String(text.clone()),
        Value::Array(_) => Plain::List(at.items().map(tree).collect()),
        Value::Object(_) => Plain::Object(Fields(at.entries().map(|(key, value)| (key.clone(), tree(value))).collect())),
    };
    Tree { value, origin: Some(at.origin()) }
}

/// Returns the string at a place, even an empty one, with its origin.
pub(crate) fn text(at: Cursor<'_>) -> Sourced<Str> {
    Sourced::new(Str::new(at.str()), at.origin())
}

/// Returns the string of a value with its origin.
pub(crate) fn text_of(tree: &Tree) -> Sourced<Str> {
    Sourced::new(tree.str(), tree.origin)
}
