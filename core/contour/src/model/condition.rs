//! Which requests a route takes.
//!
//! What must not be here: the order in which Envoy tries routes.

use alloc::vec::Vec;
use chancery_base::resource::{Also, Sourced};
use chancery_text::Str;

/// Which path a route takes. The order is that of `Ord`, not Envoy's.
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
    /// Contains.
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
    /// What is compared.
    pub value: Str,
    /// How.
    pub match_type: MatchType,
    /// It must not be so.
    pub invert: bool,
    /// ASCII case does not count.
    pub ignore_case: bool,
    /// An absent header is an empty one.
    pub missing_as_empty: bool,
    /// Where it is written.
    pub origin: Sourced<()>,
}

/// A condition on a query parameter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueryCondition {
    /// Name.
    pub name: Str,
    /// What is compared.
    pub value: Str,
    /// How.
    pub match_type: MatchType,
    /// ASCII case does not count.
    pub ignore_case: bool,
    /// Where it is written.
    pub origin: Sourced<()>,
}

/// Which requests a route takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conditions {
    /// By path.
    pub path: Sourced<PathCondition>,
    /// What else the path was joined from.
    pub path_also: Also,
    /// By headers.
    pub headers: Vec<HeaderCondition>,
    /// By query parameters.
    pub queries: Vec<QueryCondition>,
}
