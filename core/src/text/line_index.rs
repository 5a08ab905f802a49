//! From byte offsets to lines and columns and back, for people and editors.
//!
//! What must not be here: any text. The index keeps only where lines begin, so that it is small and its owner decides where texts live.

use alloc::vec::Vec;

use super::TextRange;

/// A place in a text as people and editors count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Position {
    /// The line, the first being 0.
    pub line: u32,
    /// The column in UTF-8 bytes, the first being 0.
    pub column: u32,
    /// The column in UTF-16 units, the first being 0, as editors count.
    pub column_utf16: u32,
}

/// Where each line of a text begins. Lines end at `\n`, `\r\n` or a lone `\r`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
    len: u32,
}

impl LineIndex {
    /// Indexes `text`.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = Vec::with_capacity(bytes.len() / 32 + 1);
        starts.push(0);
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
                continue;
            }
            starts.push(at as u32 + 1);
        }
        Self { starts, len: bytes.len() as u32 }
    }

    /// How many lines the text has; a text that ends with a line break has an empty last line.
    pub fn line_count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The position of `offset`, which is brought inside the text and to the start of its character first.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let offset = text.floor_char_boundary(offset.min(self.len) as usize) as u32;
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let start = self.starts[line];
        let before = text.get(start as usize..offset as usize).unwrap_or("");
        let column_utf16 = if before.is_ascii() { before.len() } else { before.chars().map(char::len_utf16).sum() };
        Position { line: line as u32, column: offset - start, column_utf16: column_utf16 as u32 }
    }

    /// The offset of a line and a column in UTF-8 bytes; a column past the line's end means its end.
    pub fn offset(&self, text: &str, line: u32, column_utf8: u32) -> Option<u32> {
        let range = self.content_range(text, line)?;
        let offset = range.start.saturating_add(column_utf8).min(range.end);
        Some(text.floor_char_boundary(offset as usize) as u32)
    }

    /// The offset of a line and a column in UTF-16 units; a column past the line's end means its end.
    pub fn offset_utf16(&self, text: &str, line: u32, column_utf16: u32) -> Option<u32> {
        let range = self.content_range(text, line)?;
        let mut left = column_utf16 as usize;
        let mut offset = range.start as usize;
        for c in range.slice(text).chars() {
            if left < c.len_utf16() {
                break;
            }
            left -= c.len_utf16();
            offset += c.len_utf8();
        }
        Some(offset as u32)
    }

    /// The range of a line, its line break included.
    pub fn line_range(&self, line: u32) -> Option<TextRange> {
        let start = *self.starts.get(line as usize)?;
        let end = self.starts.get(line as usize + 1).copied().unwrap_or(self.len);
        Some(TextRange { start, end })
    }

    /// The range of a line, its line break left out.
    fn content_range(&self, text: &str, line: u32) -> Option<TextRange> {
        let range = self.line_range(line)?;
        let content = range.slice(text).trim_end_matches(['\n', '\r']);
        Some(TextRange { start: range.start, end: range.start + content.len() as u32 })
    }
}
