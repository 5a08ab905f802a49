//! Ranges of UTF-8 bytes in a text.
//!
//! What must not be here: lines and columns (see `line_index`), and which text is meant: the holder of a range knows.

/// A range of UTF-8 byte offsets; `end` is exclusive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct TextRange {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl TextRange {
    /// The range from `start` to `end`; an `end` before `start` gives the empty range at `start`.
    pub const fn new(start: u32, end: u32) -> Self {
        let end = if end < start { start } else { end };
        Self { start, end }
    }

    /// The empty range at `offset`.
    pub const fn empty(offset: u32) -> Self {
        Self { start: offset, end: offset }
    }

    /// How many bytes it holds.
    pub const fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether it holds no byte.
    pub const fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether the byte at `offset` lies in it. An empty range holds the offset at which it stands.
    pub const fn contains(self, offset: u32) -> bool {
        self.start <= offset && (offset < self.end || (self.is_empty() && offset == self.start))
    }

    /// Whether `other` lies wholly inside.
    pub const fn covers(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The smallest range that holds both.
    pub fn join(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The same range in a text that this one's text begins `by` bytes into.
    pub const fn shifted(self, by: u32) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }

    /// The part of `text` that it names, or nothing where it does not fit the text.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}
