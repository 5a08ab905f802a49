//! PEM and the little of DER that it takes to know whether something is a certificate, and whether it names anybody.
//!
//! Source of behaviour: Go's `encoding/pem` and `crypto/x509`, as Contour uses them. What must not be here: signatures and validity.

use super::secret;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// One block of PEM.
pub struct Block {
    /// What it says it is: `CERTIFICATE`.
    pub kind: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// The next block, and the text after it; nothing where no more begins, an error where one begins and does not go on.
pub fn next_pem(rest: &mut &[u8]) -> Result<Option<Block>, String> {
    let text = *rest;
    let Some(start) = find(text, b"-----BEGIN") else { return Ok(None) };
    let after = text.get(start + 10..).unwrap_or_default();
    let Some(dashes) = find(after, b"-----") else { return Ok(None) };
    if after.get(..dashes).is_some_and(|title| title.contains(&b'\n')) {
        return Ok(None);
    }
    let failed = || "failed to parse PEM block".to_string();
    let kind = String::from_utf8_lossy(after.get(..dashes).unwrap_or_default()).trim().to_string();
    let body = after.get(dashes + 5..).unwrap_or_default();
    let end = find(body, b"-----END ").ok_or_else(failed)?;
    let tail = body.get(end + 9..).unwrap_or_default();
    let closing = find(tail, b"-----").ok_or_else(failed)?;
    if tail.get(..closing) != Some(kind.as_bytes()) {
        return Err(failed());
    }
    let inner = String::from_utf8_lossy(body.get(..end).unwrap_or_default());
    let base64: String = inner.lines().filter(|line| !line.contains(':')).flat_map(|line| line.trim().chars()).collect();
    let bytes = secret::decode(&base64).ok_or_else(failed)?;
    *rest = tail.get(closing + 5..).unwrap_or_default();
    Ok(Some(Block { kind, bytes }))
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}

/// What is known of a certificate.
pub struct Certificate {
    /// Its subject has a common name.
    pub has_common_name: bool,
    /// It has DNS names or IP addresses.
    pub has_alternative_names: bool,
}

const SEQUENCE: u8 = 0x30;
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

/// Whether the bytes are one DER sequence and nothing else.
pub fn is_sequence(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    next(&mut rest).is_some_and(|(tag, _)| tag == SEQUENCE) && rest.is_empty()
}

/// Reads a certificate.
pub fn certificate(bytes: &[u8]) -> Option<Certificate> {
    let mut rest = bytes;
    let mut outer = expect(&mut rest, SEQUENCE)?;
    if !rest.is_empty() {
        return None;
    }
    let mut signed = expect(&mut outer, SEQUENCE)?;
    expect(&mut outer, SEQUENCE)?;
    expect(&mut outer, 0x03)?;
    if signed.first() == Some(&0xa0) {
        next(&mut signed)?;
    }
    expect(&mut signed, 0x02)?;
    expect(&mut signed, SEQUENCE)?;
    expect(&mut signed, SEQUENCE)?;
    expect(&mut signed, SEQUENCE)?;
    let mut subject = expect(&mut signed, SEQUENCE)?;
    expect(&mut signed, SEQUENCE)?;
    let mut certificate = Certificate { has_common_name: false, has_alternative_names: false };
    while let Some((_, mut set)) = next(&mut subject) {
        while let Some(mut pair) = expect(&mut set, SEQUENCE) {
            let is_name = expect(&mut pair, 0x06) == Some(COMMON_NAME);
            let named = next(&mut pair).is_some_and(|(_, value)| !value.trim_ascii().is_empty());
            certificate.has_common_name |= is_name && named;
        }
    }
    while let Some((tag, mut extensions)) = next(&mut signed) {
        if tag != 0xa3 {
            continue;
        }
        let mut list = expect(&mut extensions, SEQUENCE)?;
        while let Some(mut extension) = expect(&mut list, SEQUENCE) {
            if expect(&mut extension, 0x06) != Some(ALTERNATIVE_NAMES) {
                continue;
            }
            if extension.first() == Some(&0x01) {
                next(&mut extension)?;
            }
            let mut value = expect(&mut extension, 0x04)?;
            let mut names = expect(&mut value, SEQUENCE)?;
            while let Some((tag, _)) = next(&mut names) {
                certificate.has_alternative_names |= matches!(tag, 0x82 | 0x87);
            }
        }
    }
    Some(certificate)
}

/// The content of the next element, if it has this tag.
fn expect<'b>(rest: &mut &'b [u8], tag: u8) -> Option<&'b [u8]> {
    if rest.first() != Some(&tag) {
        return None;
    }
    next(rest).map(|(_, content)| content)
}

/// The next element: tag and content.
fn next<'b>(rest: &mut &'b [u8]) -> Option<(u8, &'b [u8])> {
    let [tag, length, tail @ ..] = *rest else { return None };
    let (length, tail) = match *length {
        short @ 0..=0x7f => (usize::from(short), tail),
        long @ 0x81..=0x84 => {
            let (bytes, tail) = tail.split_at_checked(usize::from(long & 0x7f))?;
            (bytes.iter().fold(0, |length, byte| (length << 8) | usize::from(*byte)), tail)
        }
        _ => return None,
    };
    let (content, tail) = tail.split_at_checked(length)?;
    *rest = tail;
    Some((*tag, content))
}
