//! Converts byte offsets to lines and columns and back. The index stores only where lines start, not the text.

use alloc::vec::Vec;

use super::TextRange;

/// A position in a text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Position {
    /// The line, starting at 0.
    pub line: u32,
    /// The column in UTF-8 bytes, starting at 0.
    pub column: u32,
    /// The column in characters, starting at 0.
    pub column_chars: u32,
    /// The column in UTF-16 units, starting at 0, as editors count.
    pub column_utf16: u32,
}

/// The number of bytes between two positions with precomputed counts.
const STEP: usize = 4096;

/// The start of each line of a text. Lines end at `\n`, `\r\n` or a lone `\r`.
///
/// The cost of a position does not depend on the line's length: a text of one line may have thousands of findings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
    len: u32,
    /// The counts before each [`STEP`] bytes. Empty if the text is ASCII.
    counts: Vec<Counts>,
}

/// Numbers of characters and UTF-16 units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counts {
    chars: u32,
    utf16: u32,
}

impl Counts {
    /// Adds the counts of UTF-8 bytes; a character counts at its first byte.
    fn and(self, bytes: &[u8]) -> Self {
        let chars = bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u32;
        let pairs = bytes.iter().filter(|byte| **byte >= 0xF0).count() as u32;
        Self { chars: self.chars + chars, utf16: self.utf16 + chars + pairs }
    }
}

impl LineIndex {
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
        let counts = match bytes.is_ascii() {
            true => Vec::new(),
            false => core::iter::once(Counts::default())
                .chain(bytes.chunks_exact(STEP).scan(Counts::default(), |before, chunk| {
                    *before = before.and(chunk);
                    Some(*before)
                }))
                .collect(),
        };
        Self { starts, len: bytes.len() as u32, counts }
    }

    /// The number of lines; a final line break is followed by an empty line.
    pub fn line_count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The position of `offset`, moved into the text and to the start of its character.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let offset = text.floor_char_boundary(offset.min(self.len) as usize) as u32;
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let start = self.starts[line];
        let (from, to) = (self.before(text, start), self.before(text, offset));
        Position { line: line as u32, column: offset - start, column_chars: to.chars - from.chars, column_utf16: to.utf16 - from.utf16 }
    }

    /// The counts before an offset.
    fn before(&self, text: &str, offset: u32) -> Counts {
        let step = offset as usize / STEP;
        match self.counts.get(step) {
            Some(counts) => counts.and(text.as_bytes().get(step * STEP..offset as usize).unwrap_or_default()),
            None => Counts { chars: offset, utf16: offset },
        }
    }

    /// The offset of a line and a column in UTF-8 bytes; columns past the end mean the end of the line.
    pub fn offset(&self, text: &str, line: u32, column_utf8: u32) -> Option<u32> {
        let range = self.content_range(text, line)?;
        let offset = range.start.saturating_add(column_utf8).min(range.end);
        Some(text.floor_char_boundary(offset as usize) as u32)
    }

    /// The offset of a line and a column in UTF-16 units; columns past the end mean the end of the line.
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

    /// The range of a line with its line break.
    pub fn line_range(&self, line: u32) -> Option<TextRange> {
        let start = *self.starts.get(line as usize)?;
        let end = self.starts.get(line as usize + 1).copied().unwrap_or(self.len);
        Some(TextRange { start, end })
    }

    /// The range of a line without its line break.
    fn content_range(&self, text: &str, line: u32) -> Option<TextRange> {
        let range = self.line_range(line)?;
        let content = range.slice(text).trim_end_matches(['\n', '\r']);
        Some(TextRange { start: range.start, end: range.start + content.len() as u32 })
    }
}
