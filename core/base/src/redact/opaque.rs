//! Words that may be credentials by their look alone: letters and digits in one piece, as nobody writes them for others to read.
//!
//! They are withheld where a text is broken, or has a sign of a slip, and says something of credentials: a slip may have put a value where no rule
//! looks for one.
//!
//! What must not be here: texts that can be read in full; there hosts, hashes and names look alike.

use super::value::is_packed;
use super::words::says_sensitive;
use alloc::vec::Vec;
use chancery_text::{Document, NodeId, ProblemKind, Str, TextRange};

/// Shorter words may be versions, durations and names of things.
const SHORTEST: usize = 12;

/// At most this many words of a document are looked for in what is made of it.
const MOST_WORDS: usize = 256;

/// Whether a text is broken in a way that may have moved a value, or has a sign of that, and says something of credentials.
pub(super) fn may_be_credentials(document: &Document, text: &str, has_credentials: bool) -> bool {
    use ProblemKind as P;
    let moves = |kind: P| !matches!(kind, P::NoBreakSpace | P::DuplicateKey | P::MergeReplaces | P::NotJson);
    let is_broken = document.problems.iter().any(|problem| moves(problem.kind));
    // Nearly all texts that can be read say nothing of credentials, and need not be looked at.
    (has_credentials || says_sensitive(text)) && (is_broken || has_sign_of_slip(document, text))
}

/// Whether a text that can be read shows a slip of the keyboard. People put these in quotes: a key that contains punctuation or a blank, and a value
/// that ends with a closing bracket but has no opening one. No field of an object begins with a dot: that is the end of a longer key.
fn has_sign_of_slip(document: &Document, text: &str) -> bool {
    let spans = &document.spans;
    let plain = |range: TextRange| Some(range.slice(text)).filter(|written| !written.is_empty() && !written.starts_with(['"', '\'']));
    (0..spans.len() as u32).filter_map(|id| spans.get(NodeId(id))).any(|span| {
        let odd_key = plain(span.key).is_some_and(|key| key.contains([':', '"', '\'', '{', '}', '[', ']', ' ', '`', '|', '!', '&']));
        let is_open = |value: &str| value.starts_with(['{', '[', '|', '>', '&', '!', '<']);
        let closes = |value: &str, open: char, close: char| value.ends_with(close) && value.matches(open).count() < value.matches(close).count();
        let is_end_of_key = span.parent == NodeId(0) && plain(span.key).is_some_and(|key| key.starts_with('.'));
        odd_key || is_end_of_key || plain(span.value).is_some_and(|value| !is_open(value) && (closes(value, '{', '}') || closes(value, '[', ']')))
    })
}

/// Such words of a broken document, for what is made of it.
pub fn opaque_words(document: &Document, text: &str, has_credentials: bool) -> Vec<Str> {
    if !may_be_credentials(document, text, has_credentials) {
        return Vec::new();
    }
    words(text).take(MOST_WORDS).map(|range| Str::new(range.slice(text))).collect()
}

/// The places of such words.
pub(super) fn words(text: &str) -> impl Iterator<Item = TextRange> {
    runs(text, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '/' | '=')).flat_map(move |run| {
        let whole = run.slice(text);
        let all = is_packed(whole).then_some(run);
        let parts = all.is_none().then(|| runs(whole, |c| c.is_ascii_alphanumeric() || c == '_').map(move |part| part.shifted(run.start)));
        all.into_iter().chain(parts.into_iter().flatten().filter(move |part| is_opaque(part.slice(text))))
    })
}

/// The longest pieces of a text that have only such characters.
fn runs(text: &str, is_of_run: fn(char) -> bool) -> impl Iterator<Item = TextRange> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let start = at + text.get(at..)?.find(is_of_run)?;
        at = text[start..].find(|c| !is_of_run(c)).map_or(text.len(), |length| start + length);
        Some(TextRange::new(start as u32, at as u32))
    })
}

fn is_opaque(word: &str) -> bool {
    let has = |is: fn(&u8) -> bool| word.bytes().any(|byte| is(&byte));
    word.len() >= SHORTEST && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_letters_and_digits_are_opaque_and_what_people_write_is_not() {
        let text = "a: *hunter2hunter2\", service: quote-v2.shop.svc:8080 # getambassador.io/v3alpha1 TEVBS3lvdXJrZXk=, /api/v1/checkout";
        let found: Vec<&str> = words(text).map(|range| range.slice(text)).collect();
        assert_eq!(found, ["hunter2hunter2", "TEVBS3lvdXJrZXk="]);
    }
}
