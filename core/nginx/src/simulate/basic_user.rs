//! Reads the user name of basic authentication. Does not check passwords; see `password`.

use alloc::string::{String, ToString};
use chancery_text::base64;

/// Returns the user of an `Authorization` header.
pub fn user(header: &str) -> String {
    let packed = header.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic")).map(|(_, packed)| packed.trim());
    let bytes = packed.and_then(base64::decode).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.split_once(':').map(|(user, _)| user.to_string()).unwrap_or_default()
}
