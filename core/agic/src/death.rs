//! Where the controller dies: it takes for granted that something is there, and it is not. Here the rest of the answer stands, and it is
//! said what is missing.
//!
//! What must not be here: when it does so.

use alloc::format;
use alloc::string::String;
use chancery_base::resource::Origin;

/// What Go says of a value that is not there.
pub const WORDS: &str = "runtime error: invalid memory address or nil pointer dereference";

/// The controller dies.
#[derive(Clone, Debug, PartialEq)]
pub struct Died {
    /// What is missing, as a sentence for people.
    pub why: String,
    /// Where it should be.
    pub at: Option<Origin>,
}

impl Died {
    /// Something is missing.
    pub fn of(why: impl Into<String>, at: impl Into<Option<Origin>>) -> Self {
        Self { why: why.into(), at: at.into() }
    }

    /// The gateway's document has no such list.
    pub fn without_list(field: &'static str) -> Self {
        Self::of(format!("the gateway's ARM document has no `properties.{field}`, which Azure always sends"), None)
    }

    /// A part of the gateway lacks a field.
    pub fn without_field(part: &str, field: &str, at: Option<Origin>) -> Self {
        Self::of(format!("`{part}` of the gateway's ARM document has no `{field}`"), at)
    }
}
