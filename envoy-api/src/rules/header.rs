//! Checks the characters of a header.

/// Whether a string is a valid header name. A pseudo-header starts with a colon.
pub fn is_name(text: &str, strict: bool) -> bool {
    if !strict {
        return without_breaks(text);
    }
    let token = text.strip_prefix(':').unwrap_or(text);
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+,-.^_|~`".contains(&b);
    !token.is_empty() && token.bytes().all(fits)
}

/// Whether a string is a valid header value.
pub fn is_value(text: &str, strict: bool) -> bool {
    if !strict {
        return without_breaks(text);
    }
    text.bytes().all(|b| b == b'\t' || (b >= 0x20 && b != 0x7f))
}

fn without_breaks(text: &str) -> bool {
    !text.bytes().any(|b| matches!(b, 0 | b'\n' | b'\r'))
}
