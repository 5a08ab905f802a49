//! Checks Envoy's own field rules (`validate.rules` in its protos) and rules of Envoy's code. Returns all violations, not only the first.
//!
//! Contains the types of rules, the walk and the messages. Does not contain the tables of rules, which the codegen writes.

mod check;
mod code;
mod header;

use alloc::string::String;
use core::fmt;

pub use check::validate;

/// One rule for a value. A field has a list of them.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// The message must be set.
    Required,
    /// The message's fields are not checked.
    Skip,
    /// An empty string or zero is valid, whatever the other rules are.
    IgnoreEmpty,
    /// At least this many characters.
    MinChars(u64),
    /// At most this many characters.
    MaxChars(u64),
    /// At least this many bytes.
    MinBytes(u64),
    /// At most this many bytes.
    MaxBytes(u64),
    /// Starts with this string.
    Prefix(&'static str),
    /// Ends with this string.
    Suffix(&'static str),
    /// Matches a regular expression as a whole.
    Pattern(&'static Pattern),
    /// Is one of these.
    In(&'static [&'static str]),
    /// Is a header's name; if not strict, anything without line breaks.
    HeaderName {
        /// Whether only token characters are allowed.
        strict: bool,
    },
    /// Is a header's value; if not strict, anything without line breaks.
    HeaderValue {
        /// Whether control characters are invalid.
        strict: bool,
    },
    /// Is this boolean.
    Bool(bool),
    /// Greater than the bound.
    Gt(Bound),
    /// The bound or greater.
    Gte(Bound),
    /// Less than the bound.
    Lt(Bound),
    /// The bound or less.
    Lte(Bound),
    /// Is a value of the enum.
    DefinedOnly,
    /// Is not one of these values of the enum.
    NotIn(&'static [i32]),
    /// At least this many items or entries.
    MinItems(u64),
    /// At most this many items.
    MaxItems(u64),
    /// No item twice.
    Unique,
    /// Each item, or each entry's value, follows these rules.
    Each(&'static [Rule]),
    /// Each entry's key follows these rules.
    Keys(&'static [Rule]),
}

impl Rule {
    /// Its name, as in `validate.rules`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Skip => "skip",
            Self::IgnoreEmpty => "ignore_empty",
            Self::MinChars(_) => "min_len",
            Self::MaxChars(_) => "max_len",
            Self::MinBytes(_) => "min_bytes",
            Self::MaxBytes(_) => "max_bytes",
            Self::Prefix(_) => "prefix",
            Self::Suffix(_) => "suffix",
            Self::Pattern(_) => "pattern",
            Self::In(_) => "in",
            Self::HeaderName { .. } | Self::HeaderValue { .. } => "well_known_regex",
            Self::Bool(_) => "const",
            Self::Gt(_) => "gt",
            Self::Gte(_) => "gte",
            Self::Lt(_) => "lt",
            Self::Lte(_) => "lte",
            Self::DefinedOnly => "defined_only",
            Self::NotIn(_) => "not_in",
            Self::MinItems(_) => "min_items",
            Self::MaxItems(_) => "max_items",
            Self::Unique => "unique",
            Self::Each(_) => "items",
            Self::Keys(_) => "keys",
        }
    }
}

/// The bound of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// A whole number.
    Int(i128),
    /// A number.
    Float(f64),
    /// A duration in nanoseconds.
    Duration(i128),
}

/// A regular expression, as the table of its automaton. State 0 is the failure state, state 1 the first state.
#[derive(Debug)]
pub struct Pattern {
    /// The expression.
    pub text: &'static str,
    pub(crate) classes: &'static [u8; 256],
    pub(crate) width: usize,
    pub(crate) table: &'static [u8],
    pub(crate) accepts: &'static [bool],
}

impl Pattern {
    /// Whether the whole text matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let mut state = 1;
        for byte in text.bytes() {
            let at = state * self.width + usize::from(self.classes[usize::from(byte)]);
            state = self.table.get(at).copied().map_or(0, usize::from);
        }
        self.accepts.get(state).copied().unwrap_or(false)
    }
}

/// A rule that a value breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// A JSON pointer of proto field names.
    pub pointer: String,
    /// The full name of the message that has the field.
    pub message_type: &'static str,
    /// The field, or the oneof.
    pub field: &'static str,
    /// The rule's name, or `code` for a rule that is not in a proto.
    pub rule: &'static str,
    /// The requirement: `must be at least 1 character long`.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.message)
    }
}
