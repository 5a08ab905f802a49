//! References by field: one object naming another.
//!
//! What must not be here: which fields refer, which each dialect knows.

use crate::resource::{ObjectId, Origin, ResourceKey};
use chancery_text::Str;

/// One field of one object naming another object.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// The object that refers.
    pub from: ObjectId,
    /// Its field.
    pub at: Option<Origin>,
    /// What for: `service`, `secret`...
    pub relation: &'static str,
    /// What is meant.
    pub to: ResourceKey,
    /// The text of the field.
    pub written: Str,
    /// An object of that name counts whatever its namespace.
    pub anywhere: bool,
    /// What refers does the same without the object.
    pub optional: bool,
    /// What it means that the object is not in the input.
    pub absent: Absent,
}

/// What it means that an object is not in the input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Absent {
    /// Something is missing.
    Hole,
    /// Nothing is wrong: it is taken to be elsewhere; how that is said.
    Assumed(&'static str),
    /// The field names no object then.
    Nothing,
}
