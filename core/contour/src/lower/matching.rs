//! Lowers matches of strings and expressions.

use crate::model::MatchType;
use chancery_base::ir::StringMatch;
use chancery_text::Str;

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

pub(super) fn regex(regex: Str) -> chancery_base::ir::Regex {
    chancery_base::ir::Regex { regex, max_program_size: None, engine: false }
}
