//! Recognizes misspelled words, and words that name secrets. Does not know their position in a text.

use super::character_set::CharacterSet;
use alloc::string::String;

/// At most this many characters of a word are compared.
const LONGEST: usize = 32;

/// Whether two words differ by at most this many letters: missing, added, replaced or swapped.
pub(super) fn is_near(word: &str, other: &str, most: usize) -> bool {
    let (a, b) = (word.as_bytes(), other.as_bytes());
    if a.len().abs_diff(b.len()) > most || a.len() > LONGEST || b.len() > LONGEST {
        return false;
    }
    // Every letter in only one of the words costs a change; nearly all comparisons end here.
    let (in_a, in_b) = (letters(a), letters(b));
    if (in_a & !in_b).count_ones() as usize > most || (in_b & !in_a).count_ones() as usize > most {
        return false;
    }
    distance(a, b) <= most
}

/// The letters of a word as bits.
fn letters(word: &[u8]) -> u64 {
    word.iter().fold(0, |bits, byte| bits | 1 << (byte.to_ascii_lowercase() & 63))
}

/// The number of letters to remove, add, replace or swap with a neighbour to turn one word into the other. Neither is longer than [`LONGEST`].
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut rows = [[0_u8; LONGEST + 1]; 3];
    rows[0].iter_mut().zip(0..).for_each(|(cell, j)| *cell = j);
    for i in 1..=a.len() {
        let (this, above, before) = (i % 3, (i + 2) % 3, (i + 1) % 3);
        rows[this][0] = i as u8;
        for j in 1..=b.len() {
            let cost = u8::from(!a[i - 1].eq_ignore_ascii_case(&b[j - 1]));
            let mut least = (rows[above][j - 1] + cost).min(rows[above][j] + 1).min(rows[this][j - 1] + 1);
            let swapped = i > 1 && j > 1 && a[i - 1].eq_ignore_ascii_case(&b[j - 2]) && a[i - 2].eq_ignore_ascii_case(&b[j - 1]);
            if swapped {
                least = least.min(rows[before][j - 2] + 1);
            }
            rows[this][j] = least;
        }
    }
    usize::from(rows[a.len() % 3][b.len()])
}

/// Whether a kind is `Secret`, a derived kind, or a misspelling.
pub(super) fn is_secret_kind(kind: &str) -> bool {
    let kind = kind.trim();
    let contains = kind.as_bytes().windows(6).any(|part| part.eq_ignore_ascii_case(b"secret"));
    contains || (4..=8).contains(&kind.len()) && is_near(kind, "Secret", 2)
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
    "secretaccesskey",
    "proxyauthorization",
    "htpasswd",
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

/// A key without word separators. Only its end matters.
fn squeezed(key: &str) -> String {
    let start = key.floor_char_boundary(key.len().saturating_sub(LONGEST));
    let kept = key.get(start..).unwrap_or_default().bytes().filter(u8::is_ascii_alphanumeric);
    kept.map(|byte| char::from(byte.to_ascii_lowercase())).collect()
}

/// Whether a key names a credential.
pub(super) fn is_sensitive_key(key: &str) -> bool {
    // A typing error may have appended something, or put the end of other text before it.
    let key = key.trim_end_matches(|c: char| !c.is_alphanumeric());
    let key = key.rsplit(['"', '\'']).next().unwrap_or(key);
    // Nearly all keys end differently.
    let tail = key.as_bytes().last_chunk::<3>().map(|tail| tail.map(|byte| byte.to_ascii_lowercase()));
    let known =
        [*b"ord", *b"swd", *b"pwd", *b"ase", *b"key", *b"ken", *b"ion", *b"ret", *b"son", *b"cfg", *b"rer", *b"uth", *b"pem", *b"rsa", *b"ypt"];
    let known = || known.into_iter().chain([*b"ial", *b"als", *b"eds", *b"psk", *b"ass", *b"otp"]);
    // Longer than `metadata`, which nearly all objects have.
    let is_data = |tail: [u8; 3]| tail == *b"ata" && key.len() > 8;
    if !tail.is_some_and(|tail| known().any(|known| known == tail) || is_data(tail)) {
        return false;
    }
    let of_word = |word: &str| key.len() > word.len() && key.ends_with(word);
    if [".key", "-token", "_token", ".token", "/token", "-Token", "_pwd", "_PWD", "_AUTH", "_pass", "-pass", ".pass", "_PASS"]
        .into_iter()
        .any(of_word)
    {
        return true;
    }
    let key = squeezed(key);
    SENSITIVE_WHOLE.contains(&key.as_str()) || key.len() > 7 && is_near(&key, "privatekey", 2) || SENSITIVE.iter().any(|word| key.ends_with(word))
}

/// Whether a key under `authorization` says that it holds rules of a policy, not a header's value.
pub(super) fn begins_rules(key: &str, first: &str) -> bool {
    key == "authorization" && matches!(first, "rules" | "defaultAction")
}

/// Whether the values below a key are names of cookies, not their values.
pub(super) fn names_cookies(key: &str) -> bool {
    key == "cookieNames"
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
    begins.map(|(at, _)| word[at..].trim_start_matches('-')).any(is_sensitive_key)
}

/// Whether a header's values are credentials by its name.
pub(super) fn is_sensitive_header(name: &str) -> bool {
    let seen = CharacterSet::of(name);
    if !name.eq_ignore_ascii_case("sig") && !HEADERS.iter().any(|word| seen.may_have_small(word.as_bytes())) {
        return false;
    }
    let name = squeezed(name);
    name == "sig" || HEADERS.iter().any(|word| name.contains(word))
}

/// Whether a key identifies the client of a neighbouring `secret`, which then does not name a Secret.
pub(super) fn names_client(key: &str) -> bool {
    key.len() >= "clientid".len() && !is_usual(key) && squeezed(key) == "clientid"
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
    // A typing error may have replaced a letter.
    let says_name = || name.len() >= 3 && !is_usual(name) && is_near(name, "name", 1);
    let is_name = matches!(name, "name" | "key" | "headerName")
        || ["name", "key", "variable"].iter().any(|known| name.eq_ignore_ascii_case(known))
        || says_name();
    // A JSON Patch names its target by a path.
    let is_path = || name.eq_ignore_ascii_case("path") && rest.or(value).and_then(|path| path.rsplit('/').next()).is_some_and(is_sensitive_key);
    is_name && rest.or(value).is_some_and(is_sensitive_header) || is_path()
}

/// Whether a key next to a header's value contains the header's name.
pub(super) fn is_name_of_header(key: &str) -> bool {
    matches!(key, "name" | "headerName")
}

/// Whether a sent query contains a parameter with a credential.
pub(super) fn is_sensitive_query(key: &str, value: &str) -> bool {
    let carries = |name: &str| is_sensitive_header(name) || is_sensitive_key(name) || matches!(name, "code" | "key");
    key.eq_ignore_ascii_case("modifiedQueryString")
        && value.split('&').filter_map(|parameter| parameter.split_once('=')).any(|(name, value)| carries(name.trim()) && !value.is_empty())
}

/// Whether a key holds a header's value, or is a misspelling of it.
pub(super) fn is_value_of_header(key: &str) -> bool {
    matches!(key, "headerValue" | "pattern") || key.len() >= 3 && !is_usual(key) && is_near(key, "value", 2)
}

/// Whether a key holds the match of a header or query parameter.
pub(super) fn is_match_of_header(key: &str) -> bool {
    const MATCHES: &[&str] = &["exact", "prefix", "suffix", "contains", "regex", "notexact", "notcontains", "notprefix", "notsuffix", "notregex"];
    MATCHES.iter().any(|known| key.eq_ignore_ascii_case(known))
}

/// Whether a key holds the match of a header or query parameter in Envoy's messages.
pub(super) fn is_matcher(key: &str) -> bool {
    key == "string_match"
}

/// Whether a key holds a header's name or value in a list of headers.
pub(super) fn is_field_of_header(key: &str) -> bool {
    matches!(bare_key(split_key(key).0), "name" | "key" | "value")
}

/// Fields of an item in a list of set or matched headers, in the dialects with such lists and in Envoy's messages.
const OF_HEADERS: &[&str] = &[
    "name",
    "key",
    "value",
    "values",
    "type",
    "append",
    "invert",
    "present",
    "contains",
    "exact",
    "regex",
    "prefix",
    "suffix",
    "notpresent",
    "notcontains",
    "notexact",
    "ignorecase",
    "treatmissingasempty",
    "string_match",
    "invert_match",
    "treat_missing_header_as_empty",
    "actiontype",
    "headername",
    "headervalue",
];

/// Whether an item in a list of headers has an invalid field: a typing error may have made it from the header's name.
pub(super) fn is_odd_field_of_header(key: &str) -> bool {
    !OF_HEADERS.iter().any(|known| key.eq_ignore_ascii_case(known)) || key == "Key"
}

/// Whether the value of a sensitive key is not a credential itself: empty, a switch, a number, a path, or a place's name.
pub(super) fn names_location(value: &str) -> bool {
    let value = value.trim();
    let is_switch = matches!(value, "" | "null" | "~" | "true" | "false" | "yes" | "no" | "on" | "off" | "{}" | "[]");
    let is_path = value.starts_with('/') && value.get(1..).is_some_and(|rest| rest.contains('/') || rest.len() < 8) && !value.contains(['+', '=']);
    let is_variable = value.strip_prefix('$').is_some_and(|name| {
        name.starts_with(['{', '(']) || name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    });
    let is_command = value.starts_with('%') && value.matches('%').count() > 1;
    let is_number = value.len() < 6 && value.bytes().all(|byte| byte.is_ascii_digit());
    is_switch || is_path || is_number || is_variable || is_command || !value.bytes().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
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
    use super::{USUAL, distance, holds_tokens, is_near, is_sensitive_flag, is_sensitive_key, names_headers, split_key, squeezed};
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
    fn is_near_depends_only_on_distance() {
        let words = [
            "",
            "a",
            "data",
            "dta",
            "adta",
            "DATA",
            "dataa",
            "date",
            "stringData",
            "stringdata",
            "strngDta",
            "tringDataa",
            "Secret",
            "Scret",
            "ESCRET",
        ];
        for a in words {
            for b in words {
                for most in 0..4 {
                    let near = distance(a.as_bytes(), b.as_bytes()) <= most;
                    assert_eq!(is_near(a, b, most), near, "{a} and {b}, at most {most}");
                }
            }
        }
        assert_eq!(distance(b"data", b"adta"), 1, "swapped");
        assert_eq!(distance(b"stringData", b"strngDta"), 2);
        assert_eq!(distance(b"kind", b"KIND"), 0);
        assert_eq!(distance(b"", b"kind"), 4);
    }
}
