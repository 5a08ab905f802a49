//! How texts and headers are matched, and which headers are added and removed.
//!
//! What must not be here: what a match leads to.

use super::HeaderName;
use crate::resource::Sourced;
use alloc::vec::Vec;
use chancery_text::Str;

/// An RE2 regular expression.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Regex {
    /// The expression.
    pub regex: Str,
    /// Largest program, where the controller sends one.
    pub max_program_size: Option<Sourced<u32>>,
    /// Whether the controller sends `google_re2` at all (only where spelled so).
    pub engine: bool,
}

/// How a text is matched.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum StringMatch {
    /// Is.
    Exact(Str),
    /// Starts with.
    Prefix(Str),
    /// Ends with.
    Suffix(Str),
    /// Contains.
    Contains(Str),
    /// Matches as a whole.
    Regex(Regex),
    /// Is there, whatever it is.
    Present,
}

/// One header matcher.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct HeaderMatch {
    /// Header name.
    pub name: HeaderName,
    /// Its value.
    pub value: StringMatch,
    /// Matches if the value does not.
    pub invert: bool,
    /// ASCII case does not count.
    pub ignore_case: bool,
    /// An absent header is an empty one.
    pub missing_as_empty: bool,
}

/// Headers added and removed.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct HeaderMutations {
    /// In order.
    pub add: Vec<Sourced<HeaderToAdd>>,
    /// Names.
    pub remove: Vec<Sourced<HeaderName>>,
}

/// A header that is added.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct HeaderToAdd {
    /// Name.
    pub name: HeaderName,
    /// Value, with Envoy's `%COMMANDS%`.
    pub value: Str,
    /// What happens if it is there already.
    pub action: AppendAction,
}

/// What happens to a header that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum AppendAction {
    /// Both are kept; Envoy's default, said explicitly where spelled with `append`.
    Append,
    /// The new one replaces it.
    Overwrite,
    /// As `Append`, without any field.
    Unsaid,
}
