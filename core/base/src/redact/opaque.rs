//! Finds words that may be credentials by form alone: letters and digits in one piece, as users do not write them for readers.
//!
//! They are hidden if a text is broken or shows a typing error, and mentions credentials: the error may have moved a value to a place that no rule
//! covers.

use super::value::is_packed;
use super::words::{mentions_secrets, names_headers};
use alloc::vec::Vec;
use chancery_text::{Document, NodeId, ProblemKind, Str, TextRange};

/// Shorter words may be versions, durations and names.
const SHORTEST: usize = 12;

/// The maximum number of words per document that are searched in outputs.
const MOST_WORDS: usize = 256;

/// Whether a text mentions credentials and is broken, or shows an error, in a way that may have moved a value.
pub(super) fn may_be_credentials(document: &Document, text: &str, has_credentials: bool) -> bool {
    use ProblemKind as P;
    let moves = |kind: P| !matches!(kind, P::NoBreakSpace | P::DuplicateKey | P::MergeReplaces | P::NotJson);
    let is_broken = document.problems.iter().any(|problem| moves(problem.kind));
    // Nearly all readable texts mention no credentials and are skipped.
    let mentions = has_credentials || mentions_secrets(text) || is_broken && names_headers(text);
    mentions && (is_broken || has_sign_of_slip(document, text))
}

/// Whether readable text shows a typing error: a key with punctuation or a space, or a value with a closing bracket but no opening one. Users quote
/// such strings.
fn has_sign_of_slip(document: &Document, text: &str) -> bool {
    let spans = &document.spans;
    let plain = |range: TextRange| Some(range.slice(text)).filter(|written| !written.is_empty() && !written.starts_with(['"', '\'']));
    (0..spans.len() as u32).filter_map(|id| spans.get(NodeId(id))).any(|span| {
        let odd_key = plain(span.key).is_some_and(|key| key.contains([':', '"', '\'', '{', '}', '[', ']', ' ', '`', '|', '!', '&']));
        let is_open = |value: &str| value.starts_with(['{', '[', '|', '>', '&', '!', '<']);
        let closes = |value: &str, open: char, close: char| value.ends_with(close) && value.matches(open).count() < value.matches(close).count();
        odd_key || plain(span.value).is_some_and(|value| !is_open(value) && (closes(value, '{', '}') || closes(value, '[', ']')))
    })
}

/// The opaque words of a broken document, for redacting outputs.
pub fn opaque_words(document: &Document, text: &str, has_credentials: bool) -> Vec<Str> {
    if !may_be_credentials(document, text, has_credentials) {
        return Vec::new();
    }
    words(text).take(MOST_WORDS).map(|range| Str::new(range.slice(text))).collect()
}

/// The ranges of opaque words.
pub(super) fn words(text: &str) -> impl Iterator<Item = TextRange> {
    runs(text, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '/' | '=')).flat_map(move |run| {
        let whole = run.slice(text);
        let all = is_packed(whole).then_some(run);
        let parts = all.is_none().then(|| runs(whole, |c| c.is_ascii_alphanumeric() || c == '_').map(move |part| part.shifted(run.start)));
        all.into_iter().chain(parts.into_iter().flatten().filter(move |part| is_opaque_word(part.slice(text))))
    })
}

/// The longest runs of characters that satisfy `is_of_run`.
fn runs(text: &str, is_of_run: fn(char) -> bool) -> impl Iterator<Item = TextRange> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let start = at + text.get(at..)?.find(is_of_run)?;
        at = text[start..].find(|c| !is_of_run(c)).map_or(text.len(), |length| start + length);
        Some(TextRange::new(start as u32, at as u32))
    })
}

/// Whether a text contains an opaque word. A typing error may have moved a value to a name.
pub fn is_opaque(text: &str) -> bool {
    words(text).next().is_some()
}

/// Whether a word has letters and digits, or is base64 without digits: a third of its letters are capitals. CamelCase names have fewer.
fn is_opaque_word(word: &str) -> bool {
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    let (large, digits) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_digit));
    let is_mixed = word.len() >= 16 && large * 3 >= word.len() && large < word.len() && !word.contains('_');
    word.len() >= SHORTEST && digits > 0 && count(u8::is_ascii_alphabetic) > 0 || is_mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_letters_and_digits_are_opaque() {
        let text = "a: *hunter2hunter2\", service: quote-v2.shop.svc:8080 # getambassador.io/v3alpha1 TEVBS3lvdXJrZXk=, /api/v1/checkout";
        let found: Vec<&str> = words(text).map(|range| range.slice(text)).collect();
        assert_eq!(found, ["hunter2hunter2", "TEVBS3lvdXJrZXk="]);
    }
}
