//! Decides which values of a document may contain an embedded text. Does not find the hidden ranges of such a text; see `cover`.

use super::value::{decode, has_packed, is_credential, is_packed};
use super::words::mentions_secrets;
use super::{lines, opaque};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::TextRange;

/// The maximum depth of embedded texts.
pub(super) const EMBEDDED: u32 = 2;

/// Shorter strings contain no embedded text.
const SHORTEST_EMBEDDED: usize = 20;

/// Shorter strings assign no value to a word.
const SHORTEST_LINE: usize = 8;

/// Whether a value is base64 of a text that assigns a value to a credential name.
pub(super) fn packs_credentials(value: &str) -> bool {
    let text = is_packed(value).then(|| decode(value).and_then(|bytes| String::from_utf8(bytes).ok())).flatten();
    text.is_some_and(|text| mentions_secrets(&text) && !lines::given(&text).is_empty())
}

/// The hidden ranges in a key of several words, which may be a line without its colon or line break.
pub(super) fn hidden_in_key(key: &str) -> Vec<TextRange> {
    if !key.contains([' ', '"', '{']) || !mentions_secrets(key) && !has_packed(key) {
        return Vec::new();
    }
    lines::given(key).into_iter().chain(opaque::words(key)).collect()
}

/// Whether a value may contain an embedded text, or a line that assigns a value to a word.
pub(super) fn may_hold_text(value: &str) -> bool {
    value.len() >= SHORTEST_LINE && value.contains([':', '=', '<', ' ']) && mentions_secrets(value) || holds_text(value)
}

/// Whether a value may contain an embedded text.
pub(super) fn holds_text(value: &str) -> bool {
    value.len() >= SHORTEST_EMBEDDED && value.contains(':') && (value.contains(['\n', '{']) || value.trim_start().starts_with('['))
}

/// Whether a text contains no credential outside these sorted ranges.
pub(super) fn is_all_within(text: &str, parts: &[TextRange]) -> bool {
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
    for part in parts {
        rest.push_str(text.get(at..part.start as usize).unwrap_or_default());
        // The text around the range no longer belongs together.
        rest.push('\n');
        at = at.max(part.end as usize);
    }
    rest.push_str(text.get(at..).unwrap_or_default());
    !parts.is_empty() && !is_credential(&rest) && !packs_credentials(&rest)
}
