//! What values are matched against: texts and expressions.
//!
//! What must not be here: who matches.

use crate::dialect::contour::model::MatchType;
use crate::ir::StringMatch;
use crate::text::Str;

pub(super) fn string_match(kind: MatchType, text: &Str) -> StringMatch {
    match kind {
        MatchType::Contains => StringMatch::Contains(text.clone()),
        MatchType::Exact => StringMatch::Exact(text.clone()),
        MatchType::Prefix => StringMatch::Prefix(text.clone()),
        MatchType::Present => StringMatch::Present,
        MatchType::Regex => StringMatch::Regex(regex(text.clone())),
        MatchType::Suffix => StringMatch::Suffix(text.clone()),
    }
}

pub(super) fn regex(regex: Str) -> crate::ir::Regex {
    crate::ir::Regex { regex, max_program_size: None, engine: false }
}
