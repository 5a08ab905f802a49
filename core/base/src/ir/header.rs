//! Defines matches of strings and headers, and changes of headers.

use super::HeaderName;
use crate::resource::Sourced;
use alloc::vec::Vec;
use chancery_text::Str;

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Regex {
    pub regex: Str,
    /// The maximum program size, if the controller sends one.
    pub max_program_size: Option<Sourced<u32>>,
    /// Whether the controller sends `google_re2` (only with that spelling).
    pub engine: bool,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum StringMatch {
    /// Equals.
    Exact(Str),
    /// Starts with.
    Prefix(Str),
    /// Ends with.
    Suffix(Str),
    Contains(Str),
    /// Matches the whole string.
    Regex(Regex),
    /// Is present, with any value.
    Present,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct HeaderMatch {
    pub name: HeaderName,
    pub value: StringMatch,
    /// Matches if the value does not.
    pub invert: bool,
    /// Ignores ASCII case.
    pub ignore_case: bool,
    /// Treats an absent header as empty.
    pub missing_as_empty: bool,
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct HeaderMutations {
    /// In order.
    pub add: Vec<Sourced<HeaderToAdd>>,
    pub remove: Vec<Sourced<HeaderName>>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct HeaderToAdd {
    pub name: HeaderName,
    /// The value, with Envoy's `%COMMANDS%`.
    pub value: Str,
    /// What happens if the header exists already.
    pub action: AppendAction,
}

/// What happens if a header exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum AppendAction {
    /// Keeps both; Envoy's default, written explicitly in the spelling with `append`.
    Append,
    /// Replaces the existing value.
    Overwrite,
    /// Like `Append`, without any field.
    Unsaid,
}
