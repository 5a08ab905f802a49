//! Reads the parts of DER certificates and keys that the checks need: names, validity, and the key. Does not verify signatures.
//!
//! Source of behaviour: Go's `crypto/x509`, as Contour uses it; RFC 5280, RFC 5915, RFC 8017 and RFC 5958. The crate `x509-cert` would add 40 KB to
//! the compressed page.

use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::time;

/// The known parts of a certificate.
#[derive(Debug)]
pub struct Certificate {
    /// Whether its subject has a common name.
    pub has_common_name: bool,
    /// Whether it has DNS names or IP addresses.
    pub has_alternative_names: bool,
    pub common_name: Option<String>,
    /// The DNS names among its alternative names.
    pub dns_names: Vec<String>,
    /// The start of its validity: seconds since 1970.
    pub not_before: Option<i64>,
    /// The end of its validity: seconds since 1970.
    pub not_after: Option<i64>,
    pub key: Option<PublicKey>,
}

/// A public key, as far as it can be compared.
#[derive(Debug, PartialEq, Eq)]
pub enum PublicKey {
    Rsa {
        /// Without leading zeros.
        modulus: Vec<u8>,
        /// Without leading zeros.
        exponent: Vec<u8>,
    },
    /// A point on an elliptic or Edwards curve. `None` if it would have to be computed from the private key.
    Point(Option<Vec<u8>>),
}

impl PublicKey {
    /// Whether they certainly belong to different key pairs.
    #[must_use]
    pub fn differs(&self, other: &PublicKey) -> bool {
        match (self, other) {
            (PublicKey::Point(None), PublicKey::Point(_)) | (PublicKey::Point(_), PublicKey::Point(None)) => false,
            (one, other) => one != other,
        }
    }

    /// Bits of an RSA modulus.
    #[must_use]
    pub fn rsa_bits(&self) -> Option<usize> {
        match self {
            PublicKey::Rsa { modulus, .. } => Some(modulus.len() * 8 - modulus.first().map_or(0, |first| first.leading_zeros() as usize)),
            PublicKey::Point(_) => None,
        }
    }
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OBJECT_ID: u8 = 0x06;
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const ELLIPTIC_CURVE: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
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
    expect(&mut outer, BIT_STRING)?;
    if signed.first() == Some(&0xa0) {
        next(&mut signed)?;
    }
    expect(&mut signed, INTEGER)?;
    expect(&mut signed, SEQUENCE)?;
    expect(&mut signed, SEQUENCE)?;
    let mut validity = expect(&mut signed, SEQUENCE)?;
    let mut subject = expect(&mut signed, SEQUENCE)?;
    let key = expect(&mut signed, SEQUENCE)?;
    let mut certificate = Certificate {
        has_common_name: false,
        has_alternative_names: false,
        common_name: None,
        dns_names: Vec::new(),
        not_before: next(&mut validity).and_then(point_in_time),
        not_after: next(&mut validity).and_then(point_in_time),
        key: public_key(key),
    };
    while let Some((_, mut set)) = next(&mut subject) {
        while let Some(mut pair) = expect(&mut set, SEQUENCE) {
            let is_name = expect(&mut pair, OBJECT_ID) == Some(COMMON_NAME);
            let name = next(&mut pair).map(|(_, value)| value.trim_ascii()).filter(|name| is_name && !name.is_empty());
            if let Some(name) = name {
                certificate.has_common_name = true;
                certificate.common_name = core::str::from_utf8(name).ok().map(String::from);
            }
        }
    }
    while let Some((tag, mut extensions)) = next(&mut signed) {
        if tag != 0xa3 {
            continue;
        }
        let mut list = expect(&mut extensions, SEQUENCE)?;
        while let Some(mut extension) = expect(&mut list, SEQUENCE) {
            if expect(&mut extension, OBJECT_ID) != Some(ALTERNATIVE_NAMES) {
                continue;
            }
            if extension.first() == Some(&0x01) {
                next(&mut extension)?;
            }
            let mut value = expect(&mut extension, OCTET_STRING)?;
            let mut names = expect(&mut value, SEQUENCE)?;
            while let Some((tag, name)) = next(&mut names) {
                certificate.has_alternative_names |= matches!(tag, 0x82 | 0x87);
                if tag == 0x82 {
                    certificate.dns_names.push(String::from_utf8_lossy(name).into_owned());
                }
            }
        }
    }
    Some(certificate)
}

/// Parses `UTCTime` or `GeneralizedTime` with seconds in UTC, as certificates require.
fn point_in_time((tag, text): (u8, &[u8])) -> Option<i64> {
    let text = core::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest) = match tag {
        0x17 => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: i64 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        0x18 => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    if rest.len() != 10 {
        return None;
    }
    let number = |at: usize| -> Option<i64> { rest.get(at..at + 2)?.parse().ok() };
    time::from_civil(year, number(0)?, number(2)?, time::of_day(number(4)?, number(6)?, number(8)?)?)
}

/// The content of a `SubjectPublicKeyInfo`.
fn public_key(mut content: &[u8]) -> Option<PublicKey> {
    let mut algorithm = expect(&mut content, SEQUENCE)?;
    let algorithm = expect(&mut algorithm, OBJECT_ID)?;
    let mut bits = expect(&mut content, BIT_STRING)?.strip_prefix(&[0])?;
    match algorithm {
        RSA => {
            let mut pair = expect(&mut bits, SEQUENCE)?;
            rsa(&mut pair)
        }
        ELLIPTIC_CURVE | ED25519 => Some(PublicKey::Point(Some(bits.into()))),
        _ => None,
    }
}

fn rsa(rest: &mut &[u8]) -> Option<PublicKey> {
    let number = |rest: &mut &[u8]| -> Option<Vec<u8>> {
        let bytes = expect(rest, INTEGER)?;
        Some(bytes.iter().copied().skip_while(|byte| *byte == 0).collect())
    };
    Some(PublicKey::Rsa { modulus: number(rest)?, exponent: number(rest)? })
}

/// The public half of a private key in PKCS #8, PKCS #1 or SEC 1, if the key contains it.
#[must_use]
pub fn public_half(bytes: &[u8]) -> Option<PublicKey> {
    let mut rest = bytes;
    let mut key = expect(&mut rest, SEQUENCE)?;
    expect(&mut key, INTEGER)?;
    match *key.first()? {
        INTEGER => rsa(&mut key),
        OCTET_STRING => {
            next(&mut key)?;
            Some(PublicKey::Point(written_point(&mut key)))
        }
        SEQUENCE => {
            let mut algorithm = expect(&mut key, SEQUENCE)?;
            let algorithm = expect(&mut algorithm, OBJECT_ID)?;
            let mut inner = expect(&mut key, OCTET_STRING)?;
            match algorithm {
                RSA => {
                    let mut numbers = expect(&mut inner, SEQUENCE)?;
                    expect(&mut numbers, INTEGER)?;
                    rsa(&mut numbers)
                }
                ELLIPTIC_CURVE => {
                    let mut numbers = expect(&mut inner, SEQUENCE)?;
                    expect(&mut numbers, INTEGER)?;
                    expect(&mut numbers, OCTET_STRING)?;
                    Some(PublicKey::Point(written_point(&mut numbers)))
                }
                ED25519 => Some(PublicKey::Point(None)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The public key that may follow a private one on an elliptic curve.
fn written_point(rest: &mut &[u8]) -> Option<Vec<u8>> {
    while let Some((tag, mut content)) = next(rest) {
        if tag == 0xa1 {
            return Some(expect(&mut content, BIT_STRING)?.strip_prefix(&[0])?.into());
        }
    }
    None
}

/// The content of the next element if it has this tag.
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
