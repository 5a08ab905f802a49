//! Creates stand-ins for hidden text in shared text, so that all other results stay the same.
//!
//! A stand-in has the length of the original, so positions stay, and its form, so findings stay: base64 stays base64, PEM stays PEM, JSON stays
//! JSON. Certificates and revocation lists are public and stay.

use super::value::{decode, encode, is_public};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::{Str, TextRange};

/// A hidden range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hidden {
    pub(super) range: TextRange,
    pub(super) form: Form,
}

/// The form of a hidden range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A scalar with a base64 value.
    Base64(Str),
    /// A scalar with this value.
    Text(Str),
    /// A scalar with an unknown value.
    Leaf,
    /// A part of a scalar, possibly with escapes.
    Inside,
    /// Anything else: a comment, an unparsable line.
    Loose,
}

/// Replaces a range by a stand-in.
pub(super) fn replace(place: &mut [u8], form: &Form) {
    // The delimiters of an HCL heredoc stay.
    if place.starts_with(b"<<")
        && let (Some(first), Some(last)) = (place.iter().position(|byte| *byte == b'\n'), place.iter().rposition(|byte| *byte == b'\n'))
        && let Some(body) = place.get_mut(first + 1..last + 1)
        && !body.is_empty()
    {
        return replace(body, form);
    }
    // A comment may follow the `|` of a block scalar.
    if let Some(b'|' | b'>') = place.first()
        && let Some(note) = place.iter().position(|byte| matches!(byte, b'#' | b'\n')).filter(|at| place[*at] == b'#')
    {
        let end = place.iter().position(|byte| *byte == b'\n').unwrap_or(place.len());
        blank_loose(&mut place[note..end]);
    }
    let (value, other) = match form {
        Form::Leaf => return blank_scalar(place),
        Form::Inside => return blank_inside(place),
        Form::Loose => return blank_loose(place),
        Form::Text(value) => (value, String::from_utf8(masked(value.as_bytes())).ok()),
        Form::Base64(value) => match decode(value) {
            Some(bytes) => (value, Some(encode(&masked(&bytes)))),
            None => return not_base64(place),
        },
    };
    match other.and_then(|other| written(place, value, &other)) {
        Some(other) => place.copy_from_slice(&other),
        None => blank_scalar(place),
    }
}

/// Removes quotations, which may contain input, from a panic message.
pub fn blank_panic(sentence: &str) -> String {
    let end = sentence.find(['`', '"', '\'', '\n']).unwrap_or(sentence.len());
    String::from(sentence.get(..end).unwrap_or_default().trim_end_matches([' ', ':', ',']))
}

fn cross(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = b'x');
}

/// Text that is not base64 must stay invalid base64.
fn not_base64(place: &mut [u8]) {
    blank_scalar(place);
    if let Some(last) = place.iter_mut().rfind(|byte| **byte == b'x') {
        *last = b'_';
    }
}

/// A scalar stays a scalar of its type.
fn blank_scalar(place: &mut [u8]) {
    let is_number = place.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'_'));
    match place.first() {
        Some(b'"') if place.len() > 1 => {
            let last = place.len() - 1;
            let inner = &mut place[1..last];
            // Before a line break, a backslash joins lines.
            let joins: Vec<usize> = (1..inner.len()).filter(|at| inner[*at] == b'\n' && inner[at - 1] == b'\\').collect();
            cross(inner);
            joins.into_iter().for_each(|at| inner[at - 1] = b'\\');
        }
        Some(b'\'') if place.len() > 1 => {
            let last = place.len() - 1;
            cross(&mut place[1..last]);
        }
        Some(b'|' | b'>') => {
            let body = place.iter().position(|byte| *byte == b'\n').unwrap_or(place.len());
            let (head, body) = place.split_at_mut(body);
            blank_loose(head);
            cross(body);
        }
        _ if is_number => place.iter_mut().filter(|byte| byte.is_ascii_digit()).for_each(|byte| *byte = b'1'),
        _ if matches!(&*place, b"true" | b"false" | b"null" | b"~" | b"yes" | b"no" | b"on" | b"off") => {}
        _ => cross(place),
    }
}

/// A part of a scalar: escapes and string delimiters stay. A numeric escape becomes another character.
fn blank_inside(place: &mut [u8]) {
    let mut at = 0;
    while let Some(byte) = place.get(at).copied() {
        let digits = match place.get(at + 1) {
            _ if byte != b'\\' => 0,
            Some(b'x') => 2,
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => 0,
        };
        let number = place.get_mut(at + 2..at + 2 + digits).filter(|number| digits > 0 && number.iter().all(u8::is_ascii_hexdigit));
        at += match number {
            Some(number) => {
                // The letter that replaces everything.
                number.iter_mut().rev().zip(b"87".iter().chain(core::iter::repeat(&b'0'))).for_each(|(digit, new)| *digit = *new);
                2 + digits
            }
            None if byte == b'\\' => 2,
            None => {
                if !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'') {
                    place[at] = b'x';
                }
                1
            }
        };
    }
}

/// Unreadable text stays unreadable: punctuation that YAML and HCL know stays.
fn blank_loose(place: &mut [u8]) {
    const PUNCTUATION: &[u8] = b"-:{}[],\"'|>&*!?#%@`\\=<";
    place.iter_mut().filter(|byte| !byte.is_ascii_whitespace() && !PUNCTUATION.contains(byte)).for_each(|byte| *byte = b'x');
}

/// Writes another value into a scalar: each non-space character replaces one of the old ones.
fn written(place: &[u8], value: &str, other: &str) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = place.into();
    let mut left = value.bytes().zip(other.bytes()).filter(|(old, _)| !old.is_ascii_whitespace());
    let in_block = matches!(place.first(), Some(b'|' | b'>'));
    let start = if in_block { place.iter().position(|byte| *byte == b'\n')? } else { 0 };
    let in_double = place.first() == Some(&b'"');
    let mut at = start;
    while let Some(byte) = out.get(at).copied() {
        let quote = !in_block && matches!(byte, b'"' | b'\'') && (at == 0 || at + 1 == out.len());
        if byte.is_ascii_whitespace() || quote {
            at += 1;
        } else if in_double && byte == b'\\' {
            match *out.get(at + 1)? {
                b'n' | b't' | b'r' | b' ' | b'\n' => {}
                // The escaped character is literal.
                b'"' | b'\\' | b'/' => {
                    left.next()?;
                }
                _ => return None,
            }
            at += 2;
        } else {
            let (old, new) = left.next()?;
            // The position differs from the value: an unknown notation.
            if old != byte || !new.is_ascii() || (old != new && !new.is_ascii_alphanumeric() && !matches!(new, b'+' | b'/' | b'=')) {
                return None;
            }
            *out.get_mut(at)? = new;
            at += 1;
        }
    }
    left.next().is_none().then_some(out)
}

/// A value of the same length and form without its content.
fn masked(value: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = value.into();
    let Ok(text) = core::str::from_utf8(value) else {
        out.fill(0);
        return out;
    };
    if text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        blank_json(&mut out);
        return out;
    }
    let blocks = blocks(text);
    if blocks.is_empty() {
        out.iter_mut().filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = b'x');
        return out;
    }
    // Text around the blocks is irrelevant.
    let mut at = 0;
    for block in blocks {
        blank_beside(&mut out[at..block.start]);
        let body = block.body.0..block.body.1;
        if !is_public(block.kind) || !is_der(&text[body.clone()]) {
            blank_body(&mut out[body]);
        }
        at = block.end;
    }
    blank_beside(&mut out[at..]);
    out
}

/// A PEM block: its range, including the lines of dashes, and its content.
struct Block<'a> {
    start: usize,
    end: usize,
    body: (usize, usize),
    kind: &'a str,
}

/// The complete PEM blocks of a text.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find("-----BEGIN ")) {
        let start = at + found;
        match block(text, start) {
            Some(block) => {
                at = block.end;
                blocks.push(block);
            }
            None => at = start + 1,
        }
    }
    blocks
}

/// The PEM block that starts here.
fn block(text: &str, start: usize) -> Option<Block<'_>> {
    let is_kind = |kind: &str| kind.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    let (kind, _) = text.get(start + 11..)?.split_once("-----").filter(|(kind, _)| is_kind(kind))?;
    let from = start + 11 + kind.len() + 5;
    let to = from + text.get(from..)?.find("-----END ")?;
    let (last, _) = text.get(to + 9..)?.split_once("-----").filter(|(last, _)| is_kind(last))?;
    Some(Block { start, end: to + 9 + last.len() + 5, body: (from, to), kind })
}

/// Whether a block contains exactly one DER value, like a certificate: any block may call itself public.
fn is_der(body: &str) -> bool {
    let packed: String = body.chars().filter(|c| !c.is_whitespace()).collect();
    let Some(der) = decode(&packed) else { return false };
    let (header, length) = match der.get(1) {
        Some(long @ 0x81..=0x84) => {
            let count = usize::from(long & 0x7f);
            (2 + count, der.get(2..2 + count).map(|bytes| bytes.iter().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte))))
        }
        Some(short) => (2, Some(usize::from(*short))),
        None => return false,
    };
    der.first() == Some(&0x30) && length.is_some_and(|length| header + length == der.len())
}

/// The content of a PEM block: the DER frame stays, its content becomes zeros.
fn blank_body(body: &mut [u8]) {
    let text: String = body.iter().filter(|byte| !byte.is_ascii_whitespace()).map(|byte| char::from(*byte)).collect();
    let Some(mut der) = decode(&text) else {
        // Headers, or not base64: letters are replaced, the form stays.
        return body.iter_mut().filter(|byte| byte.is_ascii_alphanumeric()).for_each(|byte| *byte = b'A');
    };
    let header = match der.get(1) {
        Some(long @ 0x81..=0x84) => 2 + usize::from(long & 0x7f),
        _ => 2,
    };
    der.iter_mut().skip(header).for_each(|byte| *byte = 0);
    let other = encode(&der);
    for (byte, other) in body.iter_mut().filter(|byte| !byte.is_ascii_whitespace()).zip(other.bytes()) {
        *byte = other;
    }
}

/// Replaces letters and digits outside PEM blocks.
fn blank_beside(place: &mut [u8]) {
    place.iter_mut().filter(|byte| byte.is_ascii_alphanumeric()).for_each(|byte| *byte = b'x');
}

/// Replaces JSON string values and numbers. Member names stay, such as `keys`.
fn blank_json(out: &mut [u8]) {
    let mut at = 0;
    while at < out.len() {
        if out[at] == b'"' {
            let end = string_end(out, at);
            let is_name = out[end.min(out.len())..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
            if !is_name {
                blank_string(&mut out[at + 1..end.saturating_sub(1).max(at + 1)]);
            }
            at = end;
        } else {
            if matches!(out[at], b'1'..=b'9') {
                out[at] = b'1';
            }
            at += 1;
        }
    }
}

fn blank_string(text: &mut [u8]) {
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'\\' {
            at += if text.get(at + 1) == Some(&b'u') { 6 } else { 2 };
        } else {
            text[at] = b'x';
            at += 1;
        }
    }
}

/// The end of the string that starts here.
fn string_end(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &str) -> String {
        String::from_utf8(masked(value.as_bytes())).expect("text")
    }

    #[test]
    fn keys_are_replaced_certificates_stay() {
        let key = "-----BEGIN PRIVATE KEY-----\nMAgCAQECAQICAQM=\n-----END PRIVATE KEY-----\n";
        assert_eq!(of(key), "-----BEGIN PRIVATE KEY-----\nMAgAAAAAAAAAAAA=\n-----END PRIVATE KEY-----\n");
        let certificate = "-----BEGIN CERTIFICATE-----\nMAYCAQECAQI=\n-----END CERTIFICATE-----\n";
        assert_eq!(of(certificate), certificate);
        let both = [certificate, "a note: hunter2\n", key].concat();
        assert_eq!(of(&both), [certificate, "x xxxx: xxxxxxx\n", &of(key)].concat());
    }

    #[test]
    fn stand_ins_keep_length_and_json_form() {
        assert_eq!(of("hunter2\n"), "xxxxxxx\n");
        assert_eq!(of(r#"{"keys": [{"k": "s\"3cret", "n": 7091}]}"#), r#"{"keys": [{"k": "x\"xxxxx", "n": 1011}]}"#);
        assert_eq!(masked(&[0xff, 0xfe]), [0, 0]);
    }

    #[test]
    fn escapes_stay_escapes() {
        let inside = |text: &str| {
            let mut bytes = Vec::from(text.as_bytes());
            blank_inside(&mut bytes);
            String::from_utf8(bytes).expect("text")
        };
        assert_eq!(inside(r#"a\x41\u0041\n\"b"#), r#"x\x78\u0078\n\"x"#);
        assert_eq!(inside(r"\xq1\u12\"), r"\xxx\uxx\");
    }

    #[test]
    fn values_are_replaced_as_they_are_written() {
        let new = |place: &str, value: &str, other: &str| written(place.as_bytes(), value, other).and_then(|out| String::from_utf8(out).ok());
        assert_eq!(new("YWI=", "YWI=", "eHg=").as_deref(), Some("eHg="));
        assert_eq!(new("'YWI='", "YWI=", "eHg=").as_deref(), Some("'eHg='"));
        assert_eq!(new("\"ab\\n c\"", "ab\n c", "xx\n x").as_deref(), Some("\"xx\\n x\""));
        assert_eq!(new("|-2\n  ab\n  c", "ab\nc", "xx\nx").as_deref(), Some("|-2\n  xx\n  x"));
        assert_eq!(new("\"\\u0061\"", "a", "x"), None, "unknown notation is not partly replaced");
        assert_eq!(new("ab", "abc", "xxx"), None);
    }
}
