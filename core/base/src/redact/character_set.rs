//! Records which characters a text contains, so that most texts need no further search.

/// The characters of a text.
pub(super) struct CharacterSet {
    /// ASCII characters as bits.
    ascii: [u64; 2],
    /// Whether the text contains other characters.
    others: bool,
}

impl CharacterSet {
    /// Records the characters of a text.
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

    /// Whether the text contains an ASCII character.
    pub(super) fn has(&self, byte: u8) -> bool {
        self.ascii.get(usize::from(byte >> 6)).is_some_and(|bits| bits & (1 << (byte & 63)) != 0)
    }

    /// Whether the text may contain whitespace: it contains ASCII whitespace or a non-ASCII character.
    pub(super) fn may_have_blank(&self) -> bool {
        self.others || b" \t\n\x0b\x0c\r".iter().any(|byte| self.has(*byte))
    }

    /// Whether the text may contain a part: it contains all its characters.
    pub(super) fn may_have(&self, part: &[u8]) -> bool {
        part.iter().all(|byte| self.has(*byte))
    }

    /// Like [`Self::may_have`], ignoring case. The part must be in lower case.
    pub(super) fn may_have_small(&self, part: &[u8]) -> bool {
        part.iter().all(|byte| self.has(*byte) || self.has(byte.to_ascii_uppercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::CharacterSet;

    #[test]
    fn missing_characters_exclude_parts() {
        let seen = CharacterSet::of("Basic Zm9v\u{e9}");
        assert!(seen.may_have(b"Zm9v") && seen.may_have(b"v9mZ"));
        assert!(!seen.may_have(b"basic") && seen.may_have_small(b"basic"));
        assert!(seen.may_have_blank() && seen.has(b' ') && !seen.has(b'\n'));
        assert!(CharacterSet::of("a\u{3000}b").may_have_blank() && !CharacterSet::of("a\u{3000}b").has(b' '));
        assert!(!CharacterSet::of("").may_have_blank() && CharacterSet::of("").may_have(b""));
    }
}
