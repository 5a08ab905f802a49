//! Whether Envoy can use a set of keys that a SecurityPolicy contains. Envoy needs one key that it can read; else it rejects the listener.

use alloc::string::String;
use chancery_text::{Limits, Node, parse};

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
        Some((kind, fields)) => alloc::format!("no key can be read: a key of type {kind} needs {}", chancery_text::series(fields)),
        None => String::from("no key has a type that Envoy knows: RSA, EC, OKP or oct"),
    })
}

fn is_readable(key: &Node) -> bool {
    let kind = key.get("kty").and_then(Node::as_str).unwrap_or_default();
    let has = |field: &&str| key.get(field).and_then(Node::as_str).is_some_and(|text| !text.is_empty());
    NEEDED.iter().any(|(known, fields)| *known == kind && fields.iter().all(has))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_with_readable_key_is_accepted() {
        assert_eq!(rejection(r#"{"keys": [{"kty": "RSA"}, {"kty": "RSA", "n": "abc", "e": "AQAB"}]}"#), None);
        assert_eq!(rejection(r#"{"keys": [{"kty": "EC", "crv": "P-256", "x": "a", "y": "b"}]}"#), None);
    }

    #[test]
    fn set_without_readable_key_is_rejected() {
        let why = |text: &str| rejection(text).unwrap_or_default();
        assert_eq!(why(r#"{"keys": [{"kty": "RSA", "n": "abc"}]}"#), "no key can be read: a key of type RSA needs n and e");
        assert_eq!(why(r#"{"keys": []}"#), "no key has a type that Envoy knows: RSA, EC, OKP or oct");
        assert_eq!(why("{}"), "it has no list `keys`");
        assert_eq!(why("-----BEGIN PUBLIC KEY-----"), "it is not a JSON object");
    }
}
