//! Finds a field's description by its path. Does not render it.

use super::{Field, Others, Schema, Shape};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A kind in one version, for completion and documentation.
#[derive(Clone, Debug)]
pub struct KnownKind {
    /// The value of `kind`.
    pub name: &'static str,
    /// The value of `apiVersion`.
    pub api_version: String,
    /// One-line description.
    pub doc: &'static str,
    pub spec: &'static Schema,
}

/// A kind for lists of kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedKind {
    pub name: &'static str,
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The plural, if the dialect's tables contain it.
    pub plural: Option<&'static str>,
    /// Versions without the group, the oldest first.
    pub versions: Vec<&'static str>,
    /// Where the dialect's configuration stores objects of this kind.
    pub config_key: Option<&'static str>,
    /// Whether the kind belongs to the dialect itself.
    pub own: bool,
    /// One-line description.
    pub doc: &'static str,
}

/// The field at a path of keys below `schema`, without list indexes (`circuit_breakers`, `priority`). `None` if the path leads to no named field.
pub fn describe(schema: &'static Schema, path: &[&str]) -> Option<&'static Field> {
    let (key, below) = path.split_first()?;
    match &schema.shape {
        Shape::Array { items, .. } => describe(items, path),
        Shape::Object(members) => match members.position(key) {
            Some(at) if below.is_empty() => Some(&members.fields[at]),
            Some(at) => describe(&members.fields[at].schema, below),
            None => match members.others {
                Others::Values(values) => describe(values, below),
                _ => None,
            },
        },
        Shape::OneOf(choices) | Shape::AnyOf(choices) => choices.iter().find_map(|choice| describe(choice, path)),
        _ => None,
    }
}

/// The allowed values, if the schema restricts them: the names of an enum, the bounds of a number.
pub fn allowed_values(schema: &Schema) -> Vec<String> {
    match &schema.shape {
        Shape::Boolean => ["true", "false"].map(String::from).into(),
        Shape::True => ["true"].map(String::from).into(),
        Shape::String(strings) => strings.among.iter().map(ToString::to_string).collect(),
        Shape::Integer(numbers) | Shape::Number(numbers) if !numbers.among.is_empty() => numbers.among.iter().map(i64::to_string).collect(),
        Shape::Integer(numbers) | Shape::Number(numbers) => match (numbers.min, numbers.max) {
            (Some(min), Some(max)) => [format!("{min} to {max}")].into(),
            (Some(min), None) => [format!("{min} or more")].into(),
            (None, Some(max)) => [format!("{max} or less")].into(),
            (None, None) => Vec::new(),
        },
        Shape::Array { items, .. } => allowed_values(items),
        Shape::OneOf(choices) | Shape::AnyOf(choices) => choices.iter().flat_map(allowed_values).collect(),
        _ => Vec::new(),
    }
}

impl Schema {
    /// The field at a path of keys; see [`describe`].
    pub fn describe(&'static self, path: &[&str]) -> Option<&'static Field> {
        describe(self, path)
    }
}
