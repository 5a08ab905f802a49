//! Recognizes misspelled words, and words that name secrets. Does not know their position in a text.

use super::character_set::CharacterSet;
use alloc::string::String;

/// Whether two words differ in one place, by at most this many letters on either side.
pub(super) fn is_near(word: &str, other: &str, most: usize) -> bool {
    let (a, b) = (word.as_bytes(), other.as_bytes());
    let same = |(a, b): &(&u8, &u8)| a.eq_ignore_ascii_case(b);
    let longest = a.len().max(b.len());
    if a.len().abs_diff(b.len()) > most {
        return false;
    }
    let before = a.iter().zip(b).take_while(same).count();
    let behind = a.iter().rev().zip(b.iter().rev()).take_while(same).count();
    before + behind + most >= longest
}

/// Whether a kind is `Secret`, a derived kind, or a misspelling.
pub(super) fn is_secret_kind(kind: &str) -> bool {
    has_word(kind, b"secret") || is_near(kind.trim(), "Secret", 1)
}

macro_rules! usual {
    ($($key:literal)*) => {
        /// Whether a key is common in objects. No common key resembles a section's key, is sensitive, or concerns headers, tokens or clients.
        pub(super) fn is_usual(key: &str) -> bool {
            matches!(key, $($key)|*)
        }

        #[cfg(test)]
        const USUAL: &[&str] = &[$($key),*];
    };
}

usual! {
    "apiVersion" "kind" "metadata" "spec" "status" "name" "namespace" "labels" "annotations" "host" "hostname" "http" "path" "paths"
    "pathType" "prefix" "rewrite" "method" "rules" "routes" "conditions" "includes" "service" "services" "backend" "port" "ports" "number"
    "weight" "protocol" "subsets" "addresses" "addressType" "endpoints" "ip" "timeout_ms" "kubernetes.io/service-name"
}

/// Whether a key is a Secret's section or a misspelling of one.
pub(super) fn is_section(key: &str) -> bool {
    !is_usual(key) && (is_near(key, "data", 1) || is_near(key, "binaryData", 2)) || is_text_section(key)
}

/// Whether a key is a section that only Secrets have, or a misspelling.
pub(super) fn is_text_section(key: &str) -> bool {
    !is_usual(key) && (is_near(key, "stringData", 3) || is_near(key, "encryptedData", 2))
}

/// Shorter cookie values are flags.
const SHORTEST_SESSION: usize = 6;

/// Suffixes of keys whose values are credentials, in lower case without `-`, `_` and `.`.
const SENSITIVE: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "accesstoken",
    "authtoken",
    "bearertoken",
    "refreshtoken",
    "apitoken",
    "idtoken",
    "servicetoken",
    "clientsecret",
    "sharedsecret",
    "hmacsecret",
    "cookiesecret",
    "sessionsecret",
    "webhooksecret",
    "proxyauthorization",
    "dockerconfigjson",
    "dockercfg",
    "credential",
    "credentials",
    "presharedkey",
    "subscriptionkey",
    "functionskey",
    "accountkey",
    "hmackey",
    "sshkey",
    "gossipkey",
    "ticketkey",
    "dbpass",
    "keydata",
    "secretkeybase",
    "pgpass",
    "requirepass",
];

/// Keys whose values are credentials only if the whole key matches.
const SENSITIVE_WHOLE: &[&str] =
    &["token", "pwd", "authorization", "xauth", "bearer", "tlskey", "keypem", "idrsa", "userkey", "encrypt", "creds", "psk", "pass", "otp"];

/// Parts of the names of headers that carry credentials.
const HEADERS: &[&str] =
    &["authorization", "token", "secret", "password", "passwd", "apikey", "credential", "signature", "subscriptionkey", "functionskey"];

/// Longer keys are cut: only their end matters.
const LONGEST: usize = 32;

/// A key without word separators.
fn squeezed(key: &str) -> String {
    let start = key.floor_char_boundary(key.len().saturating_sub(LONGEST));
    let kept = key.get(start..).unwrap_or_default().bytes().filter(u8::is_ascii_alphanumeric);
    kept.map(|byte| char::from(byte.to_ascii_lowercase())).collect()
}

/// Whether a key names a credential.
pub(super) fn is_sensitive_key(key: &str) -> bool {
    // A typing error may have appended something.
    let key = key.trim_end_matches(|c: char| !c.is_alphanumeric());
    let (before, last) = key.rsplit_once(|c: char| !c.is_alphanumeric()).unwrap_or(("", key));
    if !before.is_empty() && ["token", "pwd", "pass"].iter().any(|word| last.eq_ignore_ascii_case(word))
        || [".key", "_AUTH"].iter().any(|word| key.ends_with(word))
    {
        return true;
    }
    let key = squeezed(key);
    SENSITIVE_WHOLE.contains(&key.as_str()) || key.len() > 7 && is_near(&key, "privatekey", 2) || SENSITIVE.iter().any(|word| key.ends_with(word))
}

/// Whether a value names a credential instead of being one: a variable such as `SHOP_API_KEY`, or a Secret's key such as `tls.key`.
fn names_credential(value: &str) -> bool {
    let name = value.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let is_word = !name.is_empty() && name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    let is_variable = || name.contains('_') && !name.bytes().any(|byte| byte.is_ascii_lowercase()) && is_sensitive_key(name);
    let is_key = || {
        let squeezed = squeezed(name);
        SENSITIVE_WHOLE.contains(&squeezed.as_str()) || SENSITIVE.contains(&squeezed.as_str())
    };
    is_word && (is_variable() || is_key())
}

/// Whether a field names a Secret, so that its neighbours may name the Secret's keys.
pub(super) fn refers_to_secret(key: &str) -> bool {
    matches!(key, "secretName" | "existingSecret" | "secretRef" | "secretKeyRef" | "remoteRef" | "remoteKey" | "secretStoreRef")
}

/// Whether a field beside a Secret's name only gives a name: of the Secret, or of one of its keys.
pub(super) fn is_part_of_reference(key: &str) -> bool {
    matches!(key, "name" | "namespace" | "kind" | "property" | "key" | "userKey" | "secretKey") || refers_to_secret(key) || key.ends_with("SecretKey")
}

/// Whether everything below a key refers to a secret store: External Secrets Operator reads the values from there.
pub fn refers_to_store(key: &str) -> bool {
    matches!(key, "remoteRef" | "dataFrom" | "secretStoreRef" | "secretStoreRefs")
}

/// Whether a key is the first of two words that name a credential, as in `private key` and `tls: {key: ...}`.
pub(super) fn is_qualifier(key: &str) -> bool {
    ["private", "api", "access", "secret", "signing", "encryption", "pass", "tls", "ssl"].iter().any(|word| key.eq_ignore_ascii_case(word))
}

/// Whether all values below a key are credentials, as in Consul's `acl { tokens { ... } }`.
pub(super) fn holds_tokens(key: &str) -> bool {
    bare_key(key).eq_ignore_ascii_case("tokens")
}

/// Whether the values below a key are Consul's access settings: tokens, policies and durations.
pub(super) fn holds_access(key: &str) -> bool {
    bare_key(key).eq_ignore_ascii_case("acl")
}

/// Whether such a value may be a token: neither a policy nor a duration.
pub(super) fn may_be_token(value: &str) -> bool {
    let is_policy = value.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let is_duration = value.len() < 8 && value.starts_with(|c: char| c.is_ascii_digit());
    !is_policy && !is_duration
}

/// Whether a key may be a header line whose name and value a typing error joined: if the name is sensitive, the value is a credential.
pub(super) fn is_line_of_header(key: &str) -> bool {
    key.contains(' ') && is_sensitive_header(key)
}

/// Whether a command's part ends with a flag whose value, the next part, is a credential.
pub(super) fn is_sensitive_flag(part: &str) -> bool {
    let word = part.split_whitespace().next_back().unwrap_or_default();
    // A typing error may have put something before it, or joined it to the previous word.
    let is_joined = |(at, _): &(usize, &str)| word[..*at].ends_with(|c: char| !c.is_alphanumeric());
    let begins = word.match_indices('-').filter(|found| found.0 == 0 || is_joined(found));
    let has_value = |flag: &str| flag.split_once('=').is_some_and(|(_, value)| !value.is_empty());
    begins.map(|(at, _)| word[at..].trim_start_matches('-')).any(|flag| !has_value(flag) && is_sensitive_key(flag))
}

/// Whether a header's values are credentials by its name.
pub(super) fn is_sensitive_header(name: &str) -> bool {
    let name = squeezed(name);
    name == "sig" || HEADERS.iter().any(|word| name.contains(word))
}

/// Whether a key identifies the client of a neighbouring `secret`, which then does not name a Secret.
pub(super) fn names_client(key: &str) -> bool {
    key.len() >= "clientid".len() && squeezed(key) == "clientid"
}

/// Whether the keys below a key name headers that are sent, not matched.
pub(super) fn sets_headers(key: &str) -> bool {
    let is_match = ["header", "headers", "regex_headers"].iter().any(|name| key.eq_ignore_ascii_case(name));
    has_word(key, b"header") && !is_match
}

/// Whether a header's value may be a session.
pub(super) fn is_cookie_header(name: &str) -> bool {
    squeezed(name).ends_with("cookie")
}

/// Whether a header value carries a session: a name and its value, and not an expression.
pub(super) fn is_cookie(name: &str, value: &str) -> bool {
    let is_session = |(_, session): (&str, &str)| session.len() >= SHORTEST_SESSION && !session.contains(['*', '(', '[', '\\', '%']);
    is_cookie_header(name) && value.split_once('=').is_some_and(is_session)
}

/// Whether a text contains a word that marks a secret. Most texts contain none and are skipped.
pub(super) fn mentions_secrets(text: &str) -> bool {
    const SIGNS: &[&[u8]] = &[
        b"secret",
        b"pass",
        b"pwd",
        b"token",
        b"private",
        b"apikey",
        b"api_key",
        b"api-key",
        b"authoriz",
        b"bearer",
        b"stringdata",
        b"accesskey",
        b"access_key",
        b"access-key",
        b"accountkey",
        b"credential",
        b"creds",
        b"key-data",
    ];
    let seen = CharacterSet::of(text);
    let mut small = None;
    SIGNS.iter().any(|sign| {
        seen.may_have_small(sign) && {
            let small = small.get_or_insert_with(|| text.to_ascii_lowercase());
            memchr::memmem::find(small.as_bytes(), sign).is_some()
        }
    })
}

/// A key without characters that a typing error put around it.
pub(super) fn bare_key(key: &str) -> &str {
    key.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Splits a key from a value that belongs to it because the space after the colon, or the colon, is missing.
pub(super) fn split_key(key: &str) -> (&str, Option<&str>) {
    if !key.bytes().any(|byte| matches!(byte, b':' | b'=' | b' ')) {
        return (key, None);
    }
    match key.split_once([':', '=']).or_else(|| key.split_once(' ')) {
        Some((name, rest)) if !name.is_empty() && !rest.is_empty() => (name, Some(rest.trim_start_matches([':', '=', ' ', '"', '\'']))),
        _ => (key, None),
    }
}

/// Whether a key and its value name a header with credentials, even without a space after the colon.
pub(super) fn names_sensitive_header(key: &str, value: Option<&str>) -> bool {
    let (name, rest) = split_key(key);
    let name = bare_key(name);
    let is_known = ["key", "variable", "headerName"].iter().any(|known| name.eq_ignore_ascii_case(known));
    let is_name = is_known || name.len() >= 3 && is_near(name, "name", 1);
    // A JSON Patch names its target by a path.
    let is_path = || name.eq_ignore_ascii_case("path") && rest.or(value).and_then(|path| path.rsplit('/').next()).is_some_and(is_sensitive_key);
    is_name && rest.or(value).is_some_and(is_sensitive_header) || is_path()
}

/// Whether a sent query contains a parameter with a credential.
pub(super) fn is_sensitive_query(key: &str, value: &str) -> bool {
    let carries = |name: &str| is_sensitive_header(name) || is_sensitive_key(name) || matches!(name, "code" | "key");
    key.eq_ignore_ascii_case("modifiedQueryString")
        && value.split('&').filter_map(|parameter| parameter.split_once('=')).any(|(name, value)| carries(name.trim()) && !value.is_empty())
}

/// Whether a key holds a header's value, or is a misspelling of it.
pub(super) fn is_value_of_header(key: &str) -> bool {
    matches!(key, "headerValue" | "pattern" | "inline_string" | "inline_bytes") || key.len() >= 3 && !is_usual(key) && is_near(key, "value", 2)
}

/// Whether a key holds the match of a header or query parameter.
pub(super) fn is_match_of_header(key: &str) -> bool {
    const MATCHES: &[&str] = &["exact", "prefix", "suffix", "contains", "regex", "notexact", "notcontains", "notprefix", "notsuffix", "notregex"];
    MATCHES.iter().any(|known| key.eq_ignore_ascii_case(known))
}

/// Whether the value of a sensitive key is not a credential itself: empty, a switch, a number, a path, a template, or a place's name.
pub(super) fn names_location(value: &str) -> bool {
    let value = value.trim();
    let is_switch = matches!(value, "" | "null" | "~" | "true" | "false" | "yes" | "no" | "on" | "off" | "{}" | "[]");
    let is_path = value.starts_with('/') && value.get(1..).is_some_and(|rest| rest.contains('/') || rest.len() < 8) && !value.contains(['+', '=']);
    let is_variable = value.strip_prefix('$').is_some_and(|name| {
        name.starts_with(['{', '(']) || name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    });
    let is_template = value.starts_with("{{") && value.ends_with("}}") && !value.contains(['"', '\'', '`']);
    let is_command = value.starts_with('%') && value.matches('%').count() > 1;
    let is_number = value.len() < 6 && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = is_switch || is_path || is_number || is_variable || is_template || is_command || names_credential(value);
    is_name || !value.bytes().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

/// Whether the keys below a key are names of headers or query parameters.
pub(super) fn names_headers(key: &str) -> bool {
    has_word(key, b"header") || has_word(key, b"query")
}

fn has_word(key: &str, word: &[u8]) -> bool {
    let first = word.first().copied().unwrap_or_default();
    key.as_bytes()
        .windows(word.len())
        .any(|part| part.first().is_some_and(|byte| byte.eq_ignore_ascii_case(&first)) && part.eq_ignore_ascii_case(word))
}

/// Whether a Secret's key is a plain name, not a misplaced value.
pub(super) fn is_plain_key(key: &str) -> bool {
    let is_name =
        !key.is_empty() && key.len() <= 120 && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/'));
    let words = key.trim_end_matches(|c: char| c.is_ascii_digit());
    let joined = key.contains(['.', '_', '-']);
    is_name && (key.len() <= 40 || joined) && (joined || words.len() + 4 >= key.len() && !words.bytes().any(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::{USUAL, holds_tokens, is_near, is_sensitive_flag, is_sensitive_key, names_headers, split_key, squeezed};
    use crate::redact::embedded::hidden_in_key;
    use crate::redact::value::is_credential;

    #[test]
    fn usual_keys_are_not_sensitive() {
        for key in USUAL {
            let near = [("data", 1), ("binaryData", 2), ("stringData", 3), ("encryptedData", 2)].iter().any(|(word, most)| is_near(key, word, *most));
            let says = is_sensitive_key(key) || names_headers(key) || holds_tokens(key) || squeezed(key) == "clientid" || is_credential(key);
            let is_line = split_key(key).1.is_some() || !hidden_in_key(key).is_empty() || key.contains('&');
            assert!(!near && !says && !is_line, "{key}");
        }
    }

    #[test]
    fn misspelled_flags_are_found() {
        for part in ["--password", "-token", "&-token", "--api--key", "/bin/check#--password", "check --token", "---token!"] {
            assert!(is_sensitive_flag(part), "{part}");
        }
        for part in ["/bin/check-token", "password", "--port", "a-b", "-", ""] {
            assert!(!is_sensitive_flag(part), "{part}");
        }
    }

    #[test]
    fn near_words_differ_in_one_place() {
        for (word, other, most) in [("dta", "data", 1), ("DATA", "data", 0), ("dataa", "data", 1), ("date", "data", 1), ("Sceret", "Secret", 2)] {
            assert!(is_near(word, other, most), "{word}");
        }
        for (word, other, most) in [("meta", "data", 1), ("", "data", 3), ("sp", "kind", 2), ("strngDat", "stringData", 2)] {
            assert!(!is_near(word, other, most), "{word}");
        }
    }
}
