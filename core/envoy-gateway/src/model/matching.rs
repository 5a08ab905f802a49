//! Holds comparisons of strings and of ranges of addresses.

use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// How a text is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StringMatchKind {
    #[default]
    Exact,
    Prefix,
    Suffix,
    Regex,
    /// Each value counts by itself (rate limits).
    Distinct,
}

/// A comparison of a header, query parameter, cookie, path or other text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StringMatch {
    /// The header, parameter or cookie; empty for a path and for other texts.
    pub(crate) name: Sourced<Str>,
    pub(crate) kind: StringMatchKind,
    pub(crate) value: Sourced<Str>,
    pub(crate) invert: Sourced<bool>,
}

/// A range of addresses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CidrMatch {
    /// As it is written.
    pub(crate) cidr: Tree,
    pub(crate) length: i64,
    pub(crate) is_ipv6: bool,
    pub(crate) distinct: bool,
    pub(crate) invert: Sourced<bool>,
}
