//! Texts in the values of a document: whether a value holds one, and what is hidden in it.
//!
//! What must not be here: what is hidden of the document around them (`cover`).

use super::cover::{Beside, cover};
use super::lines;
use super::value::{decode, has_packed, is_credential, is_packed};
use super::words::says_sensitive;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::{Limits, TextRange, parse, split};

/// How deep texts in texts are looked into.
pub(super) const EMBEDDED: u32 = 2;

/// Shorter texts hold no other text.
const SHORTEST_EMBEDDED: usize = 20;

/// Shorter texts give no word a value.
const SHORTEST_LINE: usize = 8;

/// Whether a value is a text in base64 that gives a value to a word which names a credential.
pub(super) fn packs_credentials(value: &str) -> bool {
    let text = is_packed(value).then(|| decode(value).and_then(|bytes| String::from_utf8(bytes).ok())).flatten();
    text.is_some_and(|text| says_sensitive(&text) && !lines::given(&text).is_empty())
}

/// What is hidden in a key of several words, which may be a line that lost its colon or its end.
pub(super) fn hidden_in_key(key: &str) -> Vec<TextRange> {
    if !key.contains([' ', '"', '{']) || !says_sensitive(key) && !has_packed(key) {
        return Vec::new();
    }
    lines::hidden(key, false).into_iter().map(|hidden| hidden.range).collect()
}

/// Whether the value of something may be a text of its own, or a line that gives a value to a word.
pub(super) fn may_hold_text(value: &str) -> bool {
    (value.contains([':', '=', '<', ' ']) || value.contains(lines::SLIPS) || value.contains("--") || value.starts_with('-'))
        && value.len() >= SHORTEST_LINE
        && says_sensitive(value)
        || holds_text(value)
}

/// Whether the value of something may be a text of its own.
pub(super) fn holds_text(value: &str) -> bool {
    value.len() >= SHORTEST_EMBEDDED && value.contains(':') && (value.contains(['\n', '{']) || value.trim_start().starts_with('['))
}

/// What is hidden in such a text, or in one that may be some lines of a broken text.
pub(super) fn hidden_within(content: &str, broken: bool) -> Vec<TextRange> {
    let mut hidden = embedded(content, EMBEDDED);
    if broken && hidden.is_empty() {
        hidden.extend(lines::hidden(content, false).into_iter().map(|hidden| hidden.range));
    }
    hidden
}

/// What is hidden in a text that is the value of something. Objects are looked into; of any other text its lines tell.
pub(super) fn embedded(content: &str, depth: u32) -> Vec<TextRange> {
    let mut hidden = Vec::new();
    let Some(depth) = depth.checked_sub(1) else { return hidden };
    let mut after_secret = false;
    for chunk in split(content) {
        let text = chunk.range.slice(content);
        // What a slip cut off of a Secret says nothing of itself.
        if after_secret && !lines::says_kind(text) {
            hidden.extend(lines::hidden(text, true).into_iter().map(|hidden| hidden.range.shifted(chunk.range.start)));
            continue;
        }
        let document = parse(text, &Limits::default());
        let may_be_secret = lines::is_secret(text) || lines::packs_secret(text);
        after_secret = may_be_secret;
        // What can be read of a broken text may be in other places than was meant.
        if may_be_secret && (document.root.is_none() || !document.problems.is_empty()) {
            hidden.extend(lines::hidden(text, true).into_iter().map(|hidden| hidden.range.shifted(chunk.range.start)));
        }
        if document.root.is_none() && may_be_secret {
            continue;
        }
        if document.root.as_ref().is_some_and(|root| root.as_object().is_some()) || may_be_secret {
            hidden.extend(cover(text, chunk.range.start, Beside::default(), depth).hidden.into_iter().map(|hidden| hidden.range));
        } else {
            hidden.extend(lines::given(text).into_iter().map(|range| range.shifted(chunk.range.start)));
        }
    }
    hidden
}

/// Whether a text holds no credential but in these parts of it, which are in order.
pub(super) fn is_all_within(text: &str, parts: &[TextRange]) -> bool {
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
    for part in parts {
        rest.push_str(text.get(at..part.start as usize).unwrap_or_default());
        // What is around it belongs together no longer.
        rest.push('\n');
        at = at.max(part.end as usize);
    }
    rest.push_str(text.get(at..).unwrap_or_default());
    !parts.is_empty() && !is_credential(&rest) && !packs_credentials(&rest)
}
