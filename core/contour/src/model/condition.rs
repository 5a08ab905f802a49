//! Models the match conditions of routes. Does not order routes; see `lower::order`.

use alloc::vec::Vec;
use chancery_base::resource::{Also, Sourced};
use chancery_text::Str;

/// The path that a route matches. `Ord` is not Envoy's order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathCondition {
    /// Starts with.
    Prefix(Str),
    /// Starts with, at the end of a segment.
    Segment(Str),
    /// Is.
    Exact(Str),
    /// Matches; as the user wrote it.
    Regex(Str),
}

impl PathCondition {
    /// The path, prefix or expression.
    pub fn text(&self) -> &Str {
        match self {
            PathCondition::Prefix(text) | PathCondition::Segment(text) | PathCondition::Exact(text) | PathCondition::Regex(text) => text,
        }
    }

    /// Whether it is a prefix of either kind.
    pub fn is_prefix(&self) -> bool {
        matches!(self, PathCondition::Prefix(_) | PathCondition::Segment(_))
    }
}

/// How a text is matched, in the order of the names that Contour sorts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchType {
    Contains,
    /// Is.
    Exact,
    /// Starts with.
    Prefix,
    /// Is there.
    Present,
    /// Matches as a whole.
    Regex,
    /// Ends with.
    Suffix,
}

impl MatchType {
    /// Contour's word.
    pub fn name(self) -> &'static str {
        match self {
            MatchType::Contains => "contains",
            MatchType::Exact => "exact",
            MatchType::Prefix => "prefix",
            MatchType::Present => "present",
            MatchType::Regex => "regex",
            MatchType::Suffix => "suffix",
        }
    }
}

/// A condition on a header.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeaderCondition {
    /// Name as written.
    pub name: Str,
    /// The compared value.
    pub value: Str,
    /// How.
    pub match_type: MatchType,
    /// Negates the condition.
    pub invert: bool,
    /// Ignores ASCII case.
    pub ignore_case: bool,
    /// Treats an absent header as empty.
    pub missing_as_empty: bool,
    /// Where it is written.
    pub origin: Sourced<()>,
}

/// A condition on a query parameter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueryCondition {
    pub name: Str,
    /// The compared value.
    pub value: Str,
    /// How.
    pub match_type: MatchType,
    /// Ignores ASCII case.
    pub ignore_case: bool,
    /// Where it is written.
    pub origin: Sourced<()>,
}

/// Which requests a route matches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conditions {
    /// By path.
    pub path: Sourced<PathCondition>,
    /// Further origins of the path.
    pub path_also: Also,
    /// By headers.
    pub headers: Vec<HeaderCondition>,
    /// By query parameters.
    pub queries: Vec<QueryCondition>,
}
