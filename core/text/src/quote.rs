//! Finds opening and closing quotes, and whether a position is within brackets.

use super::build::Builder;

/// The quote that opens the text in which the parser stopped.
pub(super) fn opening_quote(text: &str, offset: u32, builder: &Builder<'_>) -> Option<u32> {
    let mut at = builder.last_end().min(offset);
    loop {
        let rest = &text[at as usize..];
        let found = rest.find(['"', '\'', '#', '\n'])?;
        let comment = rest.as_bytes()[found] == b'#' && (found == 0 || rest[..found].ends_with([' ', '\t']));
        match rest.as_bytes()[found] {
            b'"' | b'\'' => return Some(at + found as u32),
            b'#' if comment => at += (found + rest[found..].find('\n')?) as u32,
            _ => at += found as u32 + 1,
        }
    }
}

/// The position of the closing quote.
pub(super) fn closing_quote(text: &str, open: u32) -> Option<u32> {
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

pub(super) fn in_flow(text: &str, builder: &Builder<'_>) -> bool {
    builder.open().next_back().is_some_and(|(start, _)| matches!(text.as_bytes().get(start as usize), Some(b'[' | b'{')))
}
