//! A long text in pieces, most of them shared. A rope never interprets a piece.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::{fmt, mem, slice};

/// A text made of pieces. Pieces that occur at many places, or in many versions of the text, are not copied.
#[derive(Clone, Default)]
pub struct Rope {
    /// Everything that was pushed as text, concatenated.
    glue: String,
    chunks: Vec<Chunk>,
    len: usize,
}

#[derive(Clone)]
enum Chunk {
    /// The next part of `glue`, up to this length.
    Glue {
        length: usize,
    },
    Shared(Arc<str>),
    Rope(Arc<Rope>),
}

impl Rope {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub fn push_str(&mut self, text: &str) {
        self.append(|glue| glue.push_str(text));
    }

    /// Appends the text that `write` appends to the string; `write` must not remove existing text.
    pub fn append(&mut self, write: impl FnOnce(&mut String)) {
        let before = self.glue.len();
        write(&mut self.glue);
        self.glue_changed(before);
    }

    /// Appends a shared piece.
    pub fn push_shared(&mut self, text: Arc<str>) {
        if text.is_empty() {
            return;
        }
        self.len += text.len();
        self.chunks.push(Chunk::Shared(text));
    }

    /// Appends a shared rope.
    pub fn push_rope(&mut self, rope: Arc<Rope>) {
        self.len += rope.len();
        self.chunks.push(Chunk::Rope(rope));
    }

    fn glue_changed(&mut self, before: usize) {
        let now = self.glue.len();
        if now == before {
            return;
        }
        self.len += now - before;
        match self.chunks.last_mut() {
            Some(Chunk::Glue { length }) => *length += now - before,
            _ => self.chunks.push(Chunk::Glue { length: now - before }),
        }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The non-empty pieces in order.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        Pieces { here: Level::of(self), outer: Vec::new() }
    }

    /// The whole text in one string.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::with_capacity(self.len);
        self.pieces().for_each(|piece| out.push_str(piece));
        out
    }
}

/// The remaining pieces of a rope and of the enclosing ropes.
struct Pieces<'a> {
    here: Level<'a>,
    outer: Vec<Level<'a>>,
}

/// The remaining chunks of one rope.
struct Level<'a> {
    glue: &'a str,
    chunks: slice::Iter<'a, Chunk>,
}

impl<'a> Level<'a> {
    fn of(rope: &'a Rope) -> Self {
        Self { glue: &rope.glue, chunks: rope.chunks.iter() }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            match self.here.chunks.next() {
                None => self.here = self.outer.pop()?,
                Some(Chunk::Glue { length }) => {
                    let (piece, rest) = self.here.glue.split_at_checked(*length)?;
                    self.here.glue = rest;
                    return Some(piece);
                }
                Some(Chunk::Shared(text)) => return Some(text),
                Some(Chunk::Rope(rope)) => self.outer.push(mem::replace(&mut self.here, Level::of(rope))),
            }
        }
    }
}

impl fmt::Display for Rope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().try_for_each(|piece| f.write_str(piece))
    }
}

impl fmt::Debug for Rope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rope({} bytes in {} pieces)", self.len, self.chunks.len())
    }
}

/// Ropes are equal if their whole text is equal, however it is cut.
impl PartialEq for Rope {
    fn eq(&self, other: &Self) -> bool {
        if self.len != other.len {
            return false;
        }
        let (mut left, mut right) = (self.pieces(), other.pieces());
        let (mut a, mut b): (&[u8], &[u8]) = (&[], &[]);
        loop {
            if a.is_empty() {
                a = left.next().unwrap_or_default().as_bytes();
            }
            if b.is_empty() {
                b = right.next().unwrap_or_default().as_bytes();
            }
            let common = a.len().min(b.len());
            if common == 0 {
                return a.len() == b.len();
            }
            let ((now, later), (now_b, later_b)) = (a.split_at(common), b.split_at(common));
            if now != now_b {
                return false;
            }
            (a, b) = (later, later_b);
        }
    }
}

impl Eq for Rope {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_their_order() {
        let shared: Arc<str> = "shared".into();
        let mut rope = Rope::new();
        rope.push_str("a");
        rope.push_str("b");
        rope.push_shared(shared.clone());
        rope.push_str("");
        rope.push_shared(shared.clone());
        rope.append(|glue| glue.push('c'));
        assert_eq!(rope.pieces().collect::<Vec<_>>(), ["ab", "shared", "shared", "c"]);
        assert_eq!(rope.text(), "absharedsharedc");
        assert_eq!(rope.len(), rope.text().len());

        let mut other = Rope::new();
        other.push_str("abshareds");
        other.push_str("haredc");
        assert_eq!(rope, other);
        let mut outer = Rope::new();
        outer.push_str("<");
        outer.push_rope(Arc::new(other.clone()));
        outer.push_str(">");
        outer.push_rope(Arc::new(Rope::new()));
        assert_eq!(outer.text(), "<absharedsharedc>");
        assert_eq!(outer.len(), outer.text().len());
        other.push_str("d");
        assert_ne!(rope, other);
        assert_eq!(Rope::new(), Rope::new());
    }
}
