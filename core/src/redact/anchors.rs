//! Anchors and aliases of YAML, by the text.
//!
//! What must not be here: what is hidden where they are.

use super::value::is_packed;
use crate::text::TextRange;

/// Whether a value looks as those of Secrets do and has an anchor of which no alias is in the text: a Secret may have had the alias.
pub fn holds_lost_anchor(text: &str, place: TextRange, value: &str) -> bool {
    if !is_packed(value) {
        return false;
    }
    let before = text.get(..place.start as usize).unwrap_or_default().trim_end();
    let name = before.rsplit(|c: char| c.is_whitespace() || matches!(c, '{' | '[' | ',')).next().and_then(|word| word.strip_prefix('&'));
    name.is_some_and(|name| !name.is_empty() && !has_alias(text, name))
}

/// Whether a text has an alias of this name. One in a comment is none: the value that it stood for may still be a Secret's.
pub(super) fn has_alias(text: &str, name: &str) -> bool {
    places(text, '*', name).any(|at| {
        let line = text[..at].rsplit('\n').next().unwrap_or_default();
        !line.match_indices('#').any(|(at, _)| line[..at].chars().next_back().is_none_or(char::is_whitespace))
    })
}

/// Whether a text has an anchor of this name, also in a comment.
pub(super) fn has_anchor(text: &str, name: &str) -> bool {
    places(text, '&', name).next().is_some()
}

/// Where names of anchors or aliases begin, behind their mark.
fn places<'a>(text: &'a str, mark: char, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let ends = |at: usize| text[at..].chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, ',' | ']' | '}'));
    let found = text.match_indices(name).filter(move |(at, _)| text[..*at].ends_with(mark) && ends(at + name.len()));
    found.map(|(at, _)| at).filter(|_| !name.is_empty())
}
