//! Converts between the client's positions and byte offsets, and applies edits. Does not know files; see `documents`.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent};
use std::sync::Arc;

/// The unit of columns, as agreed with the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 units, the protocol's default.
    #[default]
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

impl Encoding {
    /// The encoding's name in the protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
            Encoding::Utf32 => "utf-32",
        }
    }

    /// Chooses the cheapest encoding that the client offers.
    #[must_use]
    pub fn choose(offered: &[String]) -> Self {
        let is_offered = |encoding: &Encoding| offered.iter().any(|name| name == encoding.name());
        [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32].into_iter().find(is_offered).unwrap_or_default()
    }

    fn len(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }
}

/// Where the lines of a text begin. A line ends with `\n`, `\r\n` or `\r`.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    /// Finds the lines of a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let is_end = |at: usize| bytes[at] == b'\n' || bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
        let ends = (0..bytes.len()).filter(|at| is_end(*at));
        Self { starts: std::iter::once(0).chain(ends.map(|at| at as u32 + 1)).collect() }
    }

    /// The byte range of a line, from 0, without its end.
    #[must_use]
    pub fn line(&self, text: &str, line: u32) -> Option<std::ops::Range<usize>> {
        let start = *self.starts.get(line as usize)? as usize;
        let end = self.starts.get(line as usize + 1).map_or(text.len(), |next| *next as usize);
        let written = text.get(start..end)?.trim_end_matches(['\n', '\r']);
        Some(start..start + written.len())
    }

    /// The offset of a position. A column after the end of its line is the end of the line; a line after the end of the text is the end of the text.
    #[must_use]
    pub fn offset(&self, text: &str, at: Position, encoding: Encoding) -> usize {
        let Some(range) = self.line(text, at.line) else { return text.len() };
        let line = &text[range.clone()];
        if encoding == Encoding::Utf8 {
            let mut column = (at.character as usize).min(line.len());
            while !line.is_char_boundary(column) {
                column -= 1;
            }
            return range.start + column;
        }
        let mut left = at.character as usize;
        for (offset, c) in line.char_indices() {
            let len = encoding.len(c);
            // A position within a pair of surrogates is before the character.
            if left < len {
                return range.start + offset;
            }
            left -= len;
        }
        range.end
    }

    /// The position of an offset.
    #[must_use]
    pub fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start as usize <= offset).saturating_sub(1);
        let start = self.starts.get(line).map_or(0, |start| *start as usize);
        let before = text.get(start..offset).unwrap_or_default();
        let character = match encoding {
            Encoding::Utf8 => before.len(),
            _ => before.chars().map(|c| encoding.len(c)).sum(),
        };
        Position { line: line as u32, character: character as u32 }
    }

    /// The range of two offsets.
    #[must_use]
    pub fn range(&self, text: &str, range: std::ops::Range<usize>, encoding: Encoding) -> Range {
        Range { start: self.position(text, range.start, encoding), end: self.position(text, range.end, encoding) }
    }
}

/// Applies the client's changes in order. A change without a range replaces the whole text.
#[must_use]
pub fn apply(text: &str, changes: Vec<TextDocumentContentChangeEvent>, encoding: Encoding) -> Arc<str> {
    let mut text = text.to_string();
    for change in changes {
        match change.range {
            None => text = change.text,
            Some(range) => {
                let lines = Lines::new(&text);
                let start = lines.offset(&text, range.start, encoding);
                let end = lines.offset(&text, range.end, encoding).max(start);
                text.replace_range(start..end, &change.text);
            }
        }
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a: 1\r\nb: \"\u{1f600}x\"\rc: \u{e9}\n";

    #[test]
    fn positions_of_every_encoding_return_to_their_offset() {
        let lines = Lines::new(TEXT);
        assert_eq!(lines.starts.len(), 4);
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            for (offset, c) in TEXT.char_indices().filter(|(_, c)| !matches!(c, '\n' | '\r')) {
                let at = lines.position(TEXT, offset, encoding);
                assert_eq!(lines.offset(TEXT, at, encoding), offset, "{c:?} in {encoding:?}");
            }
        }
        let x = TEXT.find('x').expect("an x");
        let columns = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32].map(|encoding| lines.position(TEXT, x, encoding).character);
        assert_eq!(columns, [8, 6, 5]);
    }

    #[test]
    fn offset_of_invalid_position_is_nearest_place() {
        let lines = Lines::new(TEXT);
        let at = |line, character, encoding| lines.offset(TEXT, Position { line, character }, encoding);
        assert_eq!(at(0, 99, Encoding::Utf16), 4);
        assert_eq!(at(99, 0, Encoding::Utf16), TEXT.len());
        // Within the emoji.
        assert_eq!(at(1, 5, Encoding::Utf16), TEXT.find('\u{1f600}').expect("an emoji"));
        assert_eq!(at(1, 6, Encoding::Utf8), TEXT.find('\u{1f600}').expect("an emoji"));
    }
}
