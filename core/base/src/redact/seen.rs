//! Which characters a text has: most texts lack those of what is looked for, and are looked at no further.
//!
//! What must not be here: what is looked for.

/// The characters of a text.
pub(super) struct Seen {
    /// Those of ASCII, as bits.
    ascii: [u64; 2],
    /// There are others.
    others: bool,
}

impl Seen {
    /// The characters of this text.
    pub(super) fn of(text: &str) -> Self {
        let mut seen = Self { ascii: [0; 2], others: false };
        for byte in text.bytes() {
            match seen.ascii.get_mut(usize::from(byte >> 6)) {
                Some(bits) => *bits |= 1 << (byte & 63),
                None => seen.others = true,
            }
        }
        seen
    }

    /// Whether a character of ASCII is there.
    pub(super) fn has(&self, byte: u8) -> bool {
        self.ascii.get(usize::from(byte >> 6)).is_some_and(|bits| bits & (1 << (byte & 63)) != 0)
    }

    /// Whether there may be a blank: one of ASCII is there, or a character that is none of ASCII.
    pub(super) fn may_have_blank(&self) -> bool {
        self.others || b" \t\n\x0b\x0c\r".iter().any(|byte| self.has(*byte))
    }

    /// Whether a part may be there: all its characters are.
    pub(super) fn may_have(&self, part: &[u8]) -> bool {
        part.iter().all(|byte| self.has(*byte))
    }

    /// The same where case does not count. The part is in small letters.
    pub(super) fn may_have_small(&self, part: &[u8]) -> bool {
        part.iter().all(|byte| self.has(*byte) || self.has(byte.to_ascii_uppercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::Seen;

    #[test]
    fn a_part_is_looked_for_only_where_all_its_characters_are() {
        let seen = Seen::of("Basic Zm9v\u{e9}");
        assert!(seen.may_have(b"Zm9v") && seen.may_have(b"v9mZ"));
        assert!(!seen.may_have(b"basic") && seen.may_have_small(b"basic"));
        assert!(seen.may_have_blank() && seen.has(b' ') && !seen.has(b'\n'));
        assert!(Seen::of("a\u{3000}b").may_have_blank() && !Seen::of("a\u{3000}b").has(b' '));
        assert!(!Seen::of("").may_have_blank() && Seen::of("").may_have(b""));
    }
}
