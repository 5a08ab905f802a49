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
    name.is_some_and(|name| !name.is_empty() && !has_marked(text, '*', name))
}

/// Whether a text has an anchor or an alias of this name, by its mark.
pub(super) fn has_marked(text: &str, mark: char, name: &str) -> bool {
    let ends = |at: usize| text[at..].chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, ',' | ']' | '}'));
    !name.is_empty() && text.match_indices(name).any(|(at, _)| text[..at].ends_with(mark) && ends(at + name.len()))
}
