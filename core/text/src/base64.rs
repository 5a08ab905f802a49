//! Decodes and encodes standard base64 like Go and YAML: padding is required, line breaks are skipped, and trailing bits are ignored.

use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

const LENIENT: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Decodes a string; `None` if it is not base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.contains(['\r', '\n']) {
        return LENIENT.decode(text).ok();
    }
    let digits: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    LENIENT.decode(digits).ok()
}

pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use alloc::vec::Vec;

    #[test]
    fn padding_is_required_line_breaks_are_skipped() {
        assert_eq!(decode("aGVsbG8="), Some(b"hello".to_vec()));
        assert_eq!(decode("aGVs\r\nbG8=\n"), Some(b"hello".to_vec()));
        assert_eq!(decode(""), Some(Vec::new()));
        for text in ["aGVsbG8", "aGVsbG8==", "aGVs bG8=", "a", "=", "aGVsbG8=a"] {
            assert_eq!(decode(text), None, "{text}");
        }
        assert_eq!(encode(b"hello"), "aGVsbG8=");
    }

    #[test]
    fn trailing_bits_are_ignored() {
        assert_eq!(decode("aGVsbG9="), Some(b"hello".to_vec()));
    }
}
