//! Defines ranges of UTF-8 bytes in a text. Does not know lines and columns; see `line_index`. The owner of a range knows its text.

/// A range of UTF-8 byte offsets; `end` is exclusive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct TextRange {
    pub start: u32,
    pub end: u32,
}

impl TextRange {
    /// The range from `start` to `end`; empty at `start` if `end` is smaller.
    pub const fn new(start: u32, end: u32) -> Self {
        let end = if end < start { start } else { end };
        Self { start, end }
    }

    pub const fn empty(offset: u32) -> Self {
        Self { start: offset, end: offset }
    }

    /// The number of bytes.
    pub const fn len(self) -> u32 {
        self.end - self.start
    }

    pub const fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether it contains the byte at `offset`. An empty range contains its own offset.
    pub const fn contains(self, offset: u32) -> bool {
        self.start <= offset && (offset < self.end || (self.is_empty() && offset == self.start))
    }

    /// Whether it contains `other` completely.
    pub const fn covers(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The smallest range that contains both.
    pub fn join(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The range moved forward by `by` bytes.
    pub const fn shifted(self, by: u32) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }

    /// The part of `text` in this range; empty if it does not fit the text.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}
