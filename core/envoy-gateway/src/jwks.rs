//! Whether Envoy can use a set of keys that a SecurityPolicy contains. Envoy needs one key that it can read; else it rejects the listener.

use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use chancery_text::{Limits, Node, parse};
use core::ops::RangeInclusive;

/// The fields without which a key of a type cannot be read.
const NEEDED: [(&str, &[&str]); 4] = [("RSA", &["n", "e"]), ("EC", &["x", "y"]), ("OKP", &["x"]), ("oct", &["k"])];

/// Returns why Envoy rejects a set of keys, if it does.
pub(crate) fn rejection(text: &str) -> Option<String> {
    let root = parse(text, &Limits::default()).root.filter(|_| text.trim_start().starts_with('{'));
    let Some(root) = root else { return Some(String::from("it is not a JSON object")) };
    let Some(keys) = root.get("keys").and_then(Node::as_array) else { return Some(String::from("it has no list `keys`")) };
    if keys.iter().any(is_readable) {
        return None;
    }
    let known = keys.iter().find_map(|key| NEEDED.iter().find(|(kind, _)| key.get("kty").and_then(Node::as_str) == Some(kind)));
    Some(match known {
        Some(("RSA", _)) => String::from("no key can be read: a key of type RSA needs n, an odd number of 512 to 16384 bits, and e, in base64url"),
        Some((kind, fields)) => alloc::format!("no key can be read: a key of type {kind} needs {} in base64url", chancery_text::series(fields)),
        None => String::from("no key has a type that Envoy knows: RSA, EC, OKP or oct"),
    })
}

fn is_readable(key: &Node) -> bool {
    let kind = key.get("kty").and_then(Node::as_str).unwrap_or_default();
    let number = |field: &str| key.get(field).and_then(Node::as_str).and_then(decoded);
    match kind {
        "RSA" => number("n").is_some_and(|n| is_modulus(&n)) && number("e").is_some_and(|e| is_exponent(&e)),
        _ => NEEDED.iter().any(|(known, fields)| *known == kind && fields.iter().all(|field| number(field).is_some())),
    }
}

/// Base64url with or without padding. More than Envoy is accepted: a key is called unreadable only if it is.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent).with_decode_allow_trailing_bits(true),
);

/// The bytes of base64url; `None` if there are none.
fn decoded(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text).ok().filter(|bytes| !bytes.is_empty())
}

/// Whether a number without leading zeros has so many bits, and is odd.
fn is_odd_of(bytes: &[u8], bits: RangeInclusive<usize>) -> bool {
    let significant = bytes.iter().position(|byte| *byte != 0).and_then(|first| bytes.get(first..)).unwrap_or_default();
    let count = significant.first().map_or(0, |first| significant.len() * 8 - first.leading_zeros() as usize);
    bits.contains(&count) && significant.last().is_some_and(|last| last % 2 == 1)
}

/// Whether BoringSSL, which Envoy uses, accepts a modulus. Tried with Envoy 1.40.
fn is_modulus(bytes: &[u8]) -> bool {
    is_odd_of(bytes, 512..=16_384)
}

/// Whether BoringSSL accepts an exponent: odd and larger than 1. Tried with Envoy 1.40.
fn is_exponent(bytes: &[u8]) -> bool {
    is_odd_of(bytes, 2..=33)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key with a modulus of so many bytes.
    fn rsa(bytes: usize, last: u8, exponent: &str) -> String {
        let mut modulus = alloc::vec![255; bytes];
        *modulus.last_mut().expect("a byte") = last;
        alloc::format!(r#"{{"keys": [{{"kty": "RSA"}}, {{"kty": "RSA", "n": "{}", "e": "{exponent}"}}]}}"#, BASE64.encode(modulus))
    }

    #[test]
    fn set_with_readable_key_is_accepted() {
        assert_eq!(rejection(&rsa(256, 255, "AQAB")), None);
        assert_eq!(rejection(&rsa(64, 255, "Aw")), None);
        assert_eq!(rejection(r#"{"keys": [{"kty": "EC", "crv": "P-256", "x": "ab", "y": "bc"}]}"#), None);
    }

    #[test]
    fn keys_that_envoy_cannot_read_are_rejected() {
        let others = [(63, 255, "AQAB"), (256, 254, "AQAB"), (2049, 255, "AQAB"), (256, 255, "AQ"), (256, 255, "AQAC"), (256, 255, "AQAAAAAB")];
        for (bytes, last, exponent) in others {
            assert!(rejection(&rsa(bytes, last, exponent)).is_some(), "{bytes} {last} {exponent}");
        }
        assert!(rejection(r#"{"keys": [{"kty": "oct", "k": "a b"}]}"#).is_some());
    }

    #[test]
    fn set_without_readable_key_is_rejected() {
        let why = |text: &str| rejection(text).unwrap_or_default();
        assert_eq!(
            why(r#"{"keys": [{"kty": "RSA", "n": "abc"}]}"#),
            "no key can be read: a key of type RSA needs n, an odd number of 512 to 16384 bits, and e, in base64url"
        );
        assert_eq!(why(r#"{"keys": []}"#), "no key has a type that Envoy knows: RSA, EC, OKP or oct");
        assert_eq!(why("{}"), "it has no list `keys`");
        assert_eq!(why("-----BEGIN PUBLIC KEY-----"), "it is not a JSON object");
    }
}
