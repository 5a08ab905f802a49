//! What a field is for, found by its path.
//!
//! What must not be here: rendering; the caller makes a hover card, a table or a page of it.

use super::{Field, Others, Schema, Shape};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A kind in one version: what a dialect tells of it for completion and documentation.
#[derive(Clone, Debug)]
pub struct KnownKind {
    /// Its name, as `kind` has it.
    pub name: &'static str,
    /// Group and version, as `apiVersion` has them.
    pub api_version: String,
    /// One line for people.
    pub doc: &'static str,
    /// What its `spec` may hold.
    pub spec: &'static Schema,
}

/// A kind as lists of kinds show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedKind {
    /// Its name.
    pub name: &'static str,
    /// Its API group; empty for Kubernetes' own first one.
    pub group: &'static str,
    /// Its plural, where the dialect's tables have it.
    pub plural: Option<&'static str>,
    /// Its versions without the group, the oldest first.
    pub versions: Vec<&'static str>,
    /// Where the configuration keeps its objects, for dialects with such a configuration.
    pub config_key: Option<&'static str>,
    /// Whether it is a kind of the dialect itself.
    pub own: bool,
    /// One line for people.
    pub doc: &'static str,
}

/// The field at a path of keys below `schema`; list indexes are left out (`circuit_breakers`, `priority`). `None` where the
/// path leads to no named field.
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

/// The values that a schema allows, where it allows only some: the names of an enum, the bounds of a number.
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
