//! A crash of the controller: it relies on a field that is missing. Here the rest of the answer is still computed, and the missing field is
//! reported.

use alloc::format;
use alloc::string::String;
use chancery_base::resource::Origin;

/// Go's message for a nil pointer.
pub const WORDS: &str = "runtime error: invalid memory address or nil pointer dereference";

/// A crash of the controller.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerCrash {
    /// The missing field, as a sentence.
    pub why: String,
    /// Where it should be.
    pub at: Option<Origin>,
}

impl ControllerCrash {
    pub fn of(why: impl Into<String>, at: impl Into<Option<Origin>>) -> Self {
        Self { why: why.into(), at: at.into() }
    }

    /// The gateway's document lacks a list.
    pub fn without_list(field: &'static str) -> Self {
        Self::of(format!("the gateway's ARM document has no `properties.{field}`, which Azure always sends"), None)
    }

    /// A part of the gateway lacks a field.
    pub fn without_field(part: &str, field: &str, at: Option<Origin>) -> Self {
        Self::of(format!("`{part}` of the gateway's ARM document has no `{field}`"), at)
    }
}
