//! Defines references from a field of one object to another object. Each dialect lists its fields.

use crate::resource::{ObjectId, Origin, ResourceKey};
use chancery_text::Str;

/// One reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// The referring object.
    pub from: ObjectId,
    /// The referring field.
    pub at: Option<Origin>,
    /// The purpose: `service`, `secret`...
    pub relation: &'static str,
    /// The referenced object.
    pub to: ResourceKey,
    /// The text of the field.
    pub written: Str,
    /// An object of that name in any namespace satisfies the reference.
    pub anywhere: bool,
    /// The referring object works the same without the referenced one.
    pub optional: bool,
    /// What it means if the input lacks the object.
    pub absent: Absent,
}

/// What it means if the input lacks an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Absent {
    /// The object is missing.
    Hole,
    /// Nothing is wrong: the object is assumed to be elsewhere. Holds the explanation.
    Assumed(&'static str),
    /// The field names no object then.
    Nothing,
}
