//! Continues where the full parser is stricter than Kubernetes' parser: it inserts spaces that change no value, reads the patched text, and
//! translates the ranges back. Does not patch text that Kubernetes refuses too.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use granit_parser::{ErrorKind, ScanError};

use super::{
    Document,
    build::Builder,
    place,
    quote::{closing_quote, in_flow, opening_quote},
};

/// Spaces that make a text readable.
pub(super) enum Patch {
    /// Adds this many spaces at the start of each of these lines.
    Indent(Vec<u32>, u32),
    /// Replaces each of these tabs by a space.
    Tabs(Vec<u32>),
    /// Inserts one space here.
    Separate(u32),
}

/// The maximum number of patches per document.
pub(super) const MAX_PATCHES: u32 = 16;

/// The maximum number of spaces that one patch inserts.
const MAX_SPACES: u64 = 16 << 20;

/// A patched text with the origins of its parts.
pub(super) struct Patched {
    pub(super) text: String,
    /// The insertions of each patch, in order.
    layers: Vec<Vec<Insertion>>,
}

/// Inserted spaces.
struct Insertion {
    /// The position in the text with all insertions of the same patch.
    at: u32,
    count: u32,
    /// The number of spaces that the same patch inserted before.
    before: u32,
}

impl Patched {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_string(), layers: Vec::new() }
    }

    pub(super) fn apply(&mut self, patch: &Patch) {
        match patch {
            Patch::Indent(lines, count) => self.insert(lines, *count),
            Patch::Separate(at) => self.insert(&[*at], 1),
            Patch::Tabs(tabs) => tabs.iter().for_each(|tab| self.text.replace_range(*tab as usize..*tab as usize + 1, " ")),
        }
    }

    fn insert(&mut self, places: &[u32], count: u32) {
        let mut text = String::with_capacity(self.text.len() + places.len() * count as usize);
        let mut layer = Vec::with_capacity(places.len());
        let mut from = 0;
        for (number, place) in places.iter().enumerate() {
            text.push_str(&self.text[from..*place as usize]);
            layer.push(Insertion { at: text.len() as u32, count, before: number as u32 * count });
            text.extend(core::iter::repeat_n(' ', count as usize));
            from = *place as usize;
        }
        text.push_str(&self.text[from..]);
        self.text = text;
        self.layers.push(layer);
    }

    /// Converts the document's ranges to the original text.
    pub(super) fn translate(&self, mut document: Document) -> Document {
        let original = |offset: u32| {
            self.layers.iter().rev().fold(offset, |offset, layer| {
                let after = layer.partition_point(|insertion| insertion.at < offset);
                let Some(last) = after.checked_sub(1).map(|at| &layer[at]) else { return offset };
                offset - last.before - last.count.min(offset - last.at)
            })
        };
        document.map_ranges(|range| {
            range.start = original(range.start);
            range.end = original(range.end).max(range.start);
        });
        document
    }
}

/// The patch that would let the parser continue, if any.
pub(super) fn patch(text: &str, error: &ScanError, offset: u32, builder: &Builder<'_>) -> Option<Patch> {
    match error.kind() {
        ErrorKind::InvalidQuotedScalarIndent => {
            let quote = opening_quote(text, offset, builder)?;
            let end = closing_quote(text, quote)?;
            let lines = memchr::memchr_iter(b'\n', &text.as_bytes()[quote as usize..end as usize]).map(|at| quote + at as u32 + 1);
            let column = quote - place::line_start(text, quote);
            // A marker ends the document at any indentation.
            let lines: Vec<u32> = lines.filter(|line| text.as_bytes().get(*line as usize) != Some(&b'\n')).collect();
            let marker = |line: &u32| ["---", "..."].iter().any(|marker| text[*line as usize..].starts_with(marker));
            let affordable = lines.len() as u64 * u64::from(column) <= MAX_SPACES;
            (!lines.is_empty() && affordable && !lines.iter().any(marker)).then_some(Patch::Indent(lines, column.max(1)))
        }
        ErrorKind::CommentNotSeparated if text.as_bytes().get(offset as usize) == Some(&b'#') => Some(Patch::Separate(offset)),
        ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation | ErrorKind::TabInIndentation if in_flow(text, builder) => {
            let mut tabs = Vec::new();
            let mut at = place::line_start(text, offset);
            for line in text[at as usize..].split_inclusive('\n') {
                let indentation = &line.as_bytes()[..line.len() - line.trim_start_matches([' ', '\t']).len()];
                let found = tabs.len();
                tabs.extend(memchr::memchr_iter(b'\t', indentation).map(|tab| at + tab as u32));
                if tabs.len() == found {
                    break;
                }
                at += line.len() as u32;
            }
            (!tabs.is_empty()).then_some(Patch::Tabs(tabs))
        }
        _ => None,
    }
}
