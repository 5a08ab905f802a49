//! Finds the hidden ranges of a text, document by document. Examines a document on first use; see `cover`.

use super::cover::{Covered, NeighbourSecrets, cover};
use super::embedded::EMBEDDED;
use super::lines;
use super::message::without_hidden;
use super::placement::Placement;
use super::stand_in::{Hidden, replace};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::{Chunk, TextRange, split};
use once_cell::race::OnceBox;

/// The hidden ranges of a text.
pub struct RedactionMap {
    documents: Vec<Part>,
}

struct Part {
    range: TextRange,
    covered: OnceBox<Covered>,
    /// Whether the document may be a Secret, ignoring its neighbours.
    alone: OnceBox<bool>,
}

/// At most this many documents without a kind are treated as the rest of one Secret.
const MOST_CUT_OFF: usize = 8;

/// Quoted text is searched within this many bytes before and after the message's place.
const MOST_BESIDE: u32 = 1 << 15;

impl RedactionMap {
    /// Creates the map of a text. It is computed on demand.
    pub fn new(text: &str) -> Self {
        let part = |chunk: Chunk| Part { range: chunk.range, covered: OnceBox::new(), alone: OnceBox::new() };
        Self { documents: split(text).into_iter().map(part).collect() }
    }

    fn covered(&self, text: &str, at: usize) -> Option<&Covered> {
        let Part { range, covered, .. } = self.documents.get(at)?;
        Some(covered.get_or_init(|| {
            let before = self.follows_secret(text, at);
            let next = self.covered_alone(text, at + 1).unwrap_or_default();
            Box::new(cover(range.slice(text), range.start, NeighbourSecrets { before, next }, Placement::Whole, EMBEDDED))
        }))
    }

    /// Whether the previous document may be a Secret, or the rest of one after a stray `---`.
    fn follows_secret(&self, text: &str, at: usize) -> bool {
        for before in (0..at).rev().take(MOST_CUT_OFF) {
            let Some(part) = self.documents.get(before) else { break };
            if self.covered_alone(text, before) == Some(true) {
                return true;
            }
            if lines::declares_kind(part.range.slice(text)) {
                break;
            }
        }
        false
    }

    /// Whether a document may be a Secret, ignoring its neighbours.
    fn covered_alone(&self, text: &str, at: usize) -> Option<bool> {
        let Part { range, alone, .. } = self.documents.get(at)?;
        let (text, known) = (range.slice(text), alone);
        Some(*known.get_or_init(|| Box::new(cover(text, 0, NeighbourSecrets::default(), Placement::Whole, 0).is_secret)))
    }

    /// The hidden ranges within a range, in order.
    fn within<'v>(&'v self, text: &'v str, range: TextRange) -> impl Iterator<Item = &'v Hidden> {
        let from = self.documents.partition_point(|part| part.range.end <= range.start);
        let documents = self.documents.iter().enumerate().skip(from).take_while(move |(_, part)| part.range.start < range.end);
        let of_document = move |covered: &'v Covered| {
            let from = covered.hidden.partition_point(|hidden| hidden.range.end <= range.start);
            covered.hidden.iter().skip(from).take_while(move |hidden| hidden.range.start < range.end)
        };
        documents.filter_map(|(at, _)| self.covered(text, at)).flat_map(of_document)
    }

    /// Whether a range contains hidden text.
    pub fn hides(&self, text: &str, range: TextRange) -> bool {
        self.within(text, range).next().is_some()
    }

    /// A part of the text with one star per hidden byte.
    pub fn masked(&self, text: &str, range: TextRange) -> String {
        let mut bytes = Vec::from(range.slice(text).as_bytes());
        for hidden in self.within(text, range) {
            let (start, end) = (hidden.range.start.max(range.start) - range.start, hidden.range.end.min(range.end) - range.start);
            let hidden = bytes.get_mut(start as usize..end as usize).into_iter().flatten();
            hidden.filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = b'*');
        }
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// Removes quoted hidden text from a message about a place.
    pub fn redact_message(&self, text: &str, place: TextRange, message: &str) -> String {
        let at = self.documents.partition_point(|part| part.range.end < place.start);
        let Some(part) = self.documents.get(at) else { return message.into() };
        let start = text.floor_char_boundary(place.start.saturating_sub(MOST_BESIDE) as usize) as u32;
        let end = text.ceil_char_boundary((place.end.saturating_add(MOST_BESIDE) as usize).min(text.len())) as u32;
        let beside = TextRange::new(start.max(part.range.start), end.min(part.range.end));
        if !message.contains(['`', '"']) || !self.hides(text, beside) {
            return message.into();
        }
        let value = self.hides(text, place).then(|| place.slice(text));
        without_hidden(message, beside.slice(text), &self.masked(text, beside), value)
    }

    /// The whole text with stand-ins: positions and problems stay the same.
    pub fn with_stand_ins(&self, text: &str) -> String {
        let mut bytes = Vec::from(text.as_bytes());
        for hidden in self.within(text, TextRange::new(0, text.len() as u32)) {
            if let Some(place) = bytes.get_mut(hidden.range.start as usize..hidden.range.end as usize) {
                replace(place, &hidden.form);
            }
        }
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// Redacts messages about a text: quoted text is removed if only hidden text contains it.
pub struct Quotes<'t> {
    text: &'t str,
    /// The visible text; `None` if everything is visible.
    shown: OnceBox<Option<String>>,
}

impl<'t> Quotes<'t> {
    /// Creates a redactor for messages about this text. The text is examined on the first quotation.
    pub fn new(text: &'t str) -> Self {
        Self { text, shown: OnceBox::new() }
    }

    /// Redacts a message.
    pub fn redact_quoted(&self, message: &str) -> String {
        if !message.contains(['`', '"']) {
            return message.into();
        }
        let whole = TextRange::new(0, self.text.len() as u32);
        let shown = self.shown.get_or_init(|| {
            let redaction_map = RedactionMap::new(self.text);
            Box::new(redaction_map.hides(self.text, whole).then(|| redaction_map.masked(self.text, whole)))
        });
        let Some(shown) = shown else { return message.into() };
        without_hidden(message, self.text, shown, None)
    }
}
