//! Standard base64 as Go and YAML read it: with padding, line breaks skipped, and bits that are left over ignored.
//!
//! What must not be here: what is packed in it.

use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

const LENIENT: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// The bytes that a text packs; `None` where it is not base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.contains(['\r', '\n']) {
        return LENIENT.decode(text).ok();
    }
    let digits: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    LENIENT.decode(digits).ok()
}

/// Bytes as text.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use alloc::vec::Vec;

    #[test]
    fn padding_is_required_and_line_breaks_are_not_read() {
        assert_eq!(decode("aGVsbG8="), Some(b"hello".to_vec()));
        assert_eq!(decode("aGVs\r\nbG8=\n"), Some(b"hello".to_vec()));
        assert_eq!(decode(""), Some(Vec::new()));
        for text in ["aGVsbG8", "aGVsbG8==", "aGVs bG8=", "a", "=", "aGVsbG8=a"] {
            assert_eq!(decode(text), None, "{text}");
        }
        assert_eq!(encode(b"hello"), "aGVsbG8=");
    }

    #[test]
    fn bits_that_are_left_over_count_for_nothing() {
        assert_eq!(decode("aGVsbG9="), Some(b"hello".to_vec()));
    }
}
