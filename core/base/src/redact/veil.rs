//! What of a text must not leave, document by document.
//!
//! A document is judged when somebody asks for text of it (`cover`).
//!
//! What must not be here: what is hidden in a document, and what takes its place.

use super::cover::{Beside, Covered, cover};
use super::embedded::EMBEDDED;
use super::hidden::Hidden;
use super::lines;
use super::message::without_hidden;
use super::stand_in::replace;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::{Chunk, TextRange, split};
use once_cell::race::OnceBox;

/// What of a text must not leave.
pub struct Veil {
    documents: Vec<Part>,
}

/// A document.
struct Part {
    range: TextRange,
    covered: OnceBox<Covered>,
    /// Whether it may be a Secret, whatever stands beside it.
    alone: OnceBox<bool>,
}

/// At most this many documents without a kind count as the rest of one Secret.
const MOST_CUT_OFF: usize = 8;

/// What a message quotes is looked for in at most this many bytes before and behind the place that it is about.
const MOST_BESIDE: u32 = 1 << 15;

impl Veil {
    /// Of a text. It is looked into only where it is asked for.
    pub fn new(text: &str) -> Self {
        let part = |chunk: Chunk| Part { range: chunk.range, covered: OnceBox::new(), alone: OnceBox::new() };
        Self { documents: split(text).into_iter().map(part).collect() }
    }

    fn covered(&self, text: &str, at: usize) -> Option<&Covered> {
        let Part { range, covered, .. } = self.documents.get(at)?;
        Some(covered.get_or_init(|| {
            let before = self.follows_secret(text, at);
            let next = self.covered_alone(text, at + 1).unwrap_or_default();
            Box::new(cover(range.slice(text), range.start, Beside { before, next }, EMBEDDED))
        }))
    }

    /// Whether the document before may be a Secret, or what a stray `---` cut off of one.
    fn follows_secret(&self, text: &str, at: usize) -> bool {
        for before in (0..at).rev().take(MOST_CUT_OFF) {
            let Some(part) = self.documents.get(before) else { break };
            if self.covered_alone(text, before) == Some(true) {
                return true;
            }
            if lines::says_kind(part.range.slice(text)) {
                break;
            }
        }
        false
    }

    /// Whether a document may be a Secret, whatever stands beside it.
    fn covered_alone(&self, text: &str, at: usize) -> Option<bool> {
        let Part { range, alone, .. } = self.documents.get(at)?;
        let (text, known) = (range.slice(text), alone);
        Some(*known.get_or_init(|| Box::new(cover(text, 0, Beside::default(), 0).is_secret)))
    }

    /// What is hidden in a range, in order.
    fn within<'v>(&'v self, text: &'v str, range: TextRange) -> impl Iterator<Item = &'v Hidden> {
        let from = self.documents.partition_point(|part| part.range.end <= range.start);
        let documents = self.documents.iter().enumerate().skip(from).take_while(move |(_, part)| part.range.start < range.end);
        let of_document = move |covered: &'v Covered| {
            let from = covered.hidden.partition_point(|hidden| hidden.range.end <= range.start);
            covered.hidden.iter().skip(from).take_while(move |hidden| hidden.range.start < range.end)
        };
        documents.filter_map(|(at, _)| self.covered(text, at)).flat_map(of_document)
    }

    /// Whether anything is hidden in a range.
    pub fn hides(&self, text: &str, range: TextRange) -> bool {
        self.within(text, range).next().is_some()
    }

    /// A part of the text with as many stars as there are hidden bytes.
    pub fn masked(&self, text: &str, range: TextRange) -> String {
        let mut bytes = Vec::from(range.slice(text).as_bytes());
        for hidden in self.within(text, range) {
            let (start, end) = (hidden.range.start.max(range.start) - range.start, hidden.range.end.min(range.end) - range.start);
            let hidden = bytes.get_mut(start as usize..end as usize).into_iter().flatten();
            hidden.filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = b'*');
        }
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// A message about a place of the text, without what it quotes that is hidden beside it.
    pub fn said(&self, text: &str, place: TextRange, message: &str) -> String {
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

    /// The whole text with stand-ins: no place moves, and what is wrong with it stays wrong.
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
