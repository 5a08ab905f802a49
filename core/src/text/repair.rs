//! Reads on where the full parser is stricter than the one that Kubernetes uses: the text is patched with spaces that change no value,
//! read again, and the places are translated back.
//!
//! What must not be here: patches for text that Kubernetes refuses as well.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use granit_parser::{ErrorKind, ScanError};

use super::{Document, build::Builder, complain};

/// Spaces that make a text readable.
pub(super) enum Patch {
    /// So many more at the beginning of each of these lines.
    Indent(Vec<u32>, u32),
    /// One in the place of each of these tabs.
    Tabs(Vec<u32>),
    /// One more here.
    Separate(u32),
}

/// How often one document is patched.
pub(super) const MAX_PATCHES: u32 = 16;

/// A patched text, which knows where its parts come from.
pub(super) struct Patched {
    pub(super) text: String,
    /// Where spaces were put in, in offsets of the patched text: offset and count, in order.
    inserted: Vec<(u32, u32)>,
}

impl Patched {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_string(), inserted: Vec::new() }
    }

    pub(super) fn apply(&mut self, patch: &Patch) {
        match patch {
            Patch::Indent(lines, count) => lines.iter().rev().for_each(|line| self.insert(*line, *count)),
            Patch::Separate(at) => self.insert(*at, 1),
            Patch::Tabs(tabs) => tabs.iter().for_each(|tab| self.text.replace_range(*tab as usize..*tab as usize + 1, " ")),
        }
    }

    fn insert(&mut self, at: u32, count: u32) {
        self.text.insert_str(at as usize, &" ".repeat(count as usize));
        let place = self.inserted.partition_point(|(known, _)| *known < at);
        for (known, _) in &mut self.inserted[place..] {
            *known += count;
        }
        self.inserted.insert(place, (at, count));
    }

    /// The document with its ranges in the text as it was.
    pub(super) fn translate(&self, mut document: Document) -> Document {
        let original = |offset: u32| {
            let before = self.inserted.iter().take_while(|(at, _)| *at < offset);
            offset - before.map(|(at, count)| (*count).min(offset - at)).sum::<u32>()
        };
        document.map_ranges(|range| {
            range.start = original(range.start);
            range.end = original(range.end).max(range.start);
        });
        document
    }
}

/// What would make the parser read on, if anything would.
pub(super) fn patch(text: &str, error: &ScanError, offset: u32, builder: &Builder<'_>) -> Option<Patch> {
    match error.kind() {
        ErrorKind::InvalidQuotedScalarIndent => {
            let quote = complain::opening_quote(text, offset, builder)?;
            let end = closing_quote(text, quote)?;
            let lines = memchr::memchr_iter(b'\n', &text.as_bytes()[quote as usize..end as usize]).map(|at| quote + at as u32 + 1);
            let column = quote - complain::line_start(text, quote);
            // A marker ends the document wherever it stands.
            let lines: Vec<u32> = lines.filter(|line| text.as_bytes().get(*line as usize) != Some(&b'\n')).collect();
            let marker = |line: &u32| ["---", "..."].iter().any(|marker| text[*line as usize..].starts_with(marker));
            (!lines.is_empty() && !lines.iter().any(marker)).then_some(Patch::Indent(lines, column.max(1)))
        }
        ErrorKind::CommentNotSeparated if text.as_bytes().get(offset as usize) == Some(&b'#') => Some(Patch::Separate(offset)),
        ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation | ErrorKind::TabInIndentation
            if complain::in_flow(text, builder) =>
        {
            let mut tabs = Vec::new();
            let mut at = complain::line_start(text, offset);
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

fn closing_quote(text: &str, open: u32) -> Option<u32> {
    let bytes = text.as_bytes();
    let quote = *bytes.get(open as usize)?;
    let mut at = open as usize + 1;
    loop {
        at += memchr::memchr2(quote, b'\\', bytes.get(at..)?)?;
        match (bytes[at], quote) {
            (b'\\', b'"') => at += 2,
            (b'\\', _) => at += 1,
            (_, b'\'') if bytes.get(at + 1) == Some(&b'\'') => at += 2,
            _ => return Some(at as u32),
        }
    }
}
