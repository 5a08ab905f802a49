//! Recognizes credentials by form: PEM keys, tokens, password hashes, encrypted data, users and passwords in URLs.
//!
//! Base64 alone is not a credential here: host names, image hashes and certificates look like it. Does not know keys and kinds; see `words`.

use super::character_set::CharacterSet;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::base64;

/// Shorter user names in URLs belong to people.
const LONG_USER: usize = 12;

/// Kinds of public PEM blocks.
const PUBLIC: &[&str] = &[
    "CERTIFICATE",
    "TRUSTED CERTIFICATE",
    "X509 CERTIFICATE",
    "X509 CRL",
    "PUBLIC KEY",
    "RSA PUBLIC KEY",
    "EC PARAMETERS",
    "DH PARAMETERS",
    "CERTIFICATE REQUEST",
];

/// Whether PEM blocks of this kind are public.
pub(super) fn is_public(kind: &str) -> bool {
    PUBLIC.contains(&kind.trim())
}

/// The plain-text keys of a JWKS, in JSON or base64-encoded JSON.
pub(super) fn symmetric_keys(value: &str) -> Vec<String> {
    let packed = value.trim().starts_with("eyJ").then(|| decode(value).and_then(|bytes| String::from_utf8(bytes).ok())).flatten();
    let text = packed.as_deref().unwrap_or(value);
    if !text.contains("\"oct\"") {
        return Vec::new();
    }
    let quoted = |rest: &str| {
        let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        Some(String::from(rest.split_once('"')?.0))
    };
    text.split("\"k\"").skip(1).filter_map(quoted).collect()
}

/// The content of a JWKS at a place where none belongs: the string, and its base64. A single key counts too.
pub(super) fn misplaced_keys(key: &str, value: &str) -> Vec<String> {
    if !key.eq_ignore_ascii_case("jwks") || value.contains("\"keys\"") {
        return Vec::new();
    }
    let packed = decode(value).and_then(|bytes| String::from_utf8(bytes).ok());
    match packed {
        Some(text) if text.contains("\"keys\"") => Vec::new(),
        packed => core::iter::once(value.into()).chain(packed).collect(),
    }
}

/// Decodes standard base64 and ignores surrounding spaces.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    base64::decode(text.trim())
}

pub(super) use base64::encode;

/// The kinds of the PEM blocks that start in a text.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    text.split("-----BEGIN").skip(1).map(|rest| rest.split_once("-----").map_or("", |(kind, _)| kind))
}

/// Whether a text contains a private PEM block or the start of one.
pub(super) fn has_private_block(text: &str) -> bool {
    blocks(text).any(|kind| !is_public(kind))
}

/// Whether a value is or contains a credential.
pub(super) fn is_credential(value: &str) -> bool {
    if value.len() < 8 {
        return false;
    }
    let seen = CharacterSet::of(value);
    let has = |part: &[u8]| seen.may_have(part) && memchr::memmem::find(value.as_bytes(), part).is_some();
    (has(b"-----BEGIN") && has_private_block(value))
        || has(b"PRIVATE KEY")
        || has(PACKED_BEGIN.as_bytes()) && packed_block(value)
        || (seen.has(b'$') || seen.has(b'{') || seen.has(b'}')) && has_hash(value)
        || (has(b"eyJ") && value.split(|c: char| !is_token_character(c) && c != '.').any(is_jwt))
        || has(b"ENC[")
        || (seen.has(b'"') || has(b"eyJ")) && has(b"oct") && !symmetric_keys(value).is_empty()
        || has(b"eyJ") && value.split(|c| !is_of_base64(c)).any(|word| word.starts_with("eyJ") && !symmetric_keys(word).is_empty())
        || (has(b"@") && has_user(value))
        || seen.may_have_blank() && has_scheme(value)
        || MARKS.iter().any(|mark| has(mark.as_bytes())) && has_marked_token(value)
        || (has(b"sig=") && ["sv=", "se=", "sp="].iter().any(|part| has(part.as_bytes())))
        || WEBHOOKS.iter().any(|url| has(url.as_bytes()))
        || seen.has(b' ') && is_command(value)
}

/// Webhook addresses: knowing one is enough to post to it.
const WEBHOOKS: &[&str] = &["hooks.slack.com/services/", "discord.com/api/webhooks/", "webhook.office.com/"];

/// Whether a line passes a user's password to a program: curl's flag, a line of `.netrc`, a database account.
fn is_command(value: &str) -> bool {
    let word_behind = |mark: &str| value.split_once(mark).and_then(|(_, rest)| rest.split_whitespace().next());
    let is_user =
        |word: &str| word.split_once(':').is_some_and(|(user, password)| !user.is_empty() && !password.is_empty() && !password.starts_with('/'));
    let gives = [" -u ", " --user ", " -U "].into_iter().filter_map(word_behind).any(is_user);
    let is_netrc = value.contains("login ") && word_behind("password ").is_some() && (value.contains("machine ") || value.contains("default "));
    gives || is_netrc || value.to_ascii_lowercase().contains("identified by ")
}

fn is_of_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')
}

/// Whether any word of a text is base64, ignoring surrounding characters.
pub(super) fn has_packed(text: &str) -> bool {
    text.split(|c| !is_of_base64(c)).any(is_packed)
}

fn is_token_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Whether a word is base64 of a private or truncated PEM block.
fn packed_block(value: &str) -> bool {
    let is_private = |word: &str| decode(word).and_then(|bytes| String::from_utf8(bytes).ok()).is_none_or(|text| has_private_block(&text));
    let words = || value.split(|c| !is_of_base64(c)).filter(|word| word.starts_with(PACKED_BEGIN));
    // Base64 may contain line breaks.
    if value.trim_start().starts_with(PACKED_BEGIN) { is_private(value) } else { words().any(is_private) }
}

/// The start of a PEM block in base64.
const PACKED_BEGIN: &str = "LS0tLS1CRUdJTi";

/// Password hashes of user files and of `crypt`. Short marks may occur inside other words.
fn has_hash(value: &str) -> bool {
    const MARKS: &[&str] = &["apr1", "$2y$", "$2a$", "$2b$", "$argon2", "{SHA", "{SSHA", "SHA}"];
    const SHORT: &[&str] = &["$1$", "$5$", "$6$", "$y$"];
    let begins = |at: usize| at == 0 || value[..at].ends_with([':', '\n', ' ', '"', '\'']);
    MARKS.iter().any(|mark| value.contains(mark)) || SHORT.iter().any(|mark| value.match_indices(mark).any(|(at, _)| begins(at)))
}

/// A JSON Web Token: parts separated by dots; the first part starts with `{"`. A header with `alg` or `kid` is enough.
fn is_jwt(word: &str) -> bool {
    const HEADS: &[&str] = &["eyJhbGciOi", "eyJ0eXAiOi", "eyJraWQiOi"];
    word.len() >= 20 && word.starts_with("eyJ") && (word.contains('.') || HEADS.iter().any(|head| word.starts_with(head)))
}

/// A user with a password before the host of a URL, even with a damaged `://`. An image's tag precedes its hash.
fn has_user(value: &str) -> bool {
    if value.split_once("://").is_some_and(|(_, rest)| is_split_user(rest)) {
        return true;
    }
    if value.split("://").skip(1).any(|rest| password_of(rest).is_some()) {
        return true;
    }
    if value.split_whitespace().any(is_account) {
        return true;
    }
    let ends_url = |c: char| matches!(c, '"' | '\'' | '?' | '#') || c.is_whitespace();
    value.match_indices('@').any(|(at, _)| {
        let before = value[..at].rsplit(ends_url).next().unwrap_or_default();
        let Some((scheme, user)) = before.rsplit_once('/') else { return false };
        let is_user = match user.split_once(':') {
            Some((_, password)) => !password.is_empty(),
            // A token may be there alone.
            None => scheme.ends_with('/') && user.len() >= LONG_USER,
        };
        is_user && !value[at..].starts_with("@sha")
    })
}

/// An account before its host, as databases write it without a scheme: `user:password@host`.
fn is_account(word: &str) -> bool {
    let is_name = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
    let Some((account, host)) = word.split_once('@') else { return false };
    let is_host = host.starts_with(|c: char| c.is_ascii_alphanumeric()) && !host.starts_with("sha");
    is_host && account.split_once(':').is_some_and(|(user, password)| is_name(user) && password.len() >= 4 && !password.contains(['/', ':']))
}

/// The part of a URL between its scheme and its path. A quotation mark inside a word is a typing error; elsewhere it ends the URL.
fn authority(behind_scheme: &str) -> &str {
    let is_quote = |c: char| matches!(c, '"' | '\'');
    let ends_text = |rest: &str| {
        rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || is_quote(c) || matches!(c, ',' | '}' | ']' | ')' | '>' | ';'))
    };
    let ends = |(at, c): (usize, char)| {
        let rest = behind_scheme.get(at + c.len_utf8()..).unwrap_or_default();
        match c {
            '/' | '?' => true,
            '"' | '\'' => ends_text(rest) || rest.strip_prefix(':').is_some_and(ends_text),
            _ => c.is_whitespace(),
        }
    };
    let end = behind_scheme.char_indices().find(|found| ends(*found)).map_or(behind_scheme.len(), |(at, _)| at);
    behind_scheme.get(..end).unwrap_or_default()
}

/// The password before the host of a URL. A typing error may have replaced the colon.
fn password_of(behind_scheme: &str) -> Option<&str> {
    let (user, _) = authority(behind_scheme).rsplit_once('@')?;
    let parts = |c: char| matches!(c, ':' | '#' | ';' | ',' | '|' | '*' | '&' | '!' | '=' | '`');
    let (_, password) = user.split_once(':').or_else(|| user.split_once(parts))?;
    (!password.is_empty()).then_some(password)
}

/// Whether a space replaces the colon between user and password, as in `user password@host`.
fn is_split_user(behind_scheme: &str) -> bool {
    let Some((before, _)) = behind_scheme.split_once('@') else { return false };
    let mut words = before.split(char::is_whitespace);
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'%'));
    matches!((words.next(), words.next(), words.next()), (Some(user), Some(password), None) if is_word(user) && is_word(password))
}

/// Authorization schemes.
const SCHEMES: &[&str] = &["bearer", "basic", "token", "apikey", "negotiate"];

/// Whether a text contains an authorization scheme with credentials. In a sentence, a word follows that is not one: it has neither digits nor inner
/// capitals.
fn has_scheme(value: &str) -> bool {
    let is_token = |word: &str| {
        let is_odd = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() || byte == b'=';
        word.len() >= 8 && !word.contains(['%', '"', '$']) && (word.starts_with(|c: char| c.is_ascii_digit()) || word.bytes().skip(1).any(is_odd))
    };
    let words = || value.split_whitespace().map(|word| word.trim_matches(['"', '\'', ';', ',', '}', ']']));
    words().zip(words().skip(1)).any(|(scheme, word)| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)) && is_token(word))
}

/// Prefixes of tokens that identify their issuer.
const MARKS: &[&str] = &["ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "sk_live_", "rk_live_", "AKIA", "ASIA", "AIza", "hvs."];

/// Whether a text contains such a token. Some contain dots.
fn has_marked_token(value: &str) -> bool {
    let is_one = |word: &str| word.len() >= 16 && MARKS.iter().any(|mark| word.starts_with(mark));
    value.split(|c: char| !is_token_character(c) && c != '.').any(is_one) || value.split(|c: char| !is_token_character(c)).any(is_one)
}

/// Whether a string without context looks like a Secret's value: base64 of some length.
pub(super) fn is_packed(value: &str) -> bool {
    let value = value.trim();
    let packed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b' ');
    if value.len() < 16 || !value.bytes().all(packed) || value.trim_end_matches('=').contains(['=', ' ']) {
        return false;
    }
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    value.ends_with('=') || has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit)
}

/// Passes each secret part of a value to `take`: lines, and words after a scheme or before a host.
pub(super) fn parts(value: &str, mut take: impl FnMut(&str)) {
    let mut public = false;
    // Each format writes control characters differently.
    for line in value.split(char::is_control) {
        let line = line.trim();
        if let Some((kind, rest)) = line.strip_prefix("-----BEGIN ").and_then(|rest| rest.split_once("-----")) {
            public = is_public(kind);
            // The line may contain a part of the block, or all of it.
            if !public && !rest.is_empty() {
                take(line);
                take(rest.split("-----").next().unwrap_or_default().trim());
            }
            continue;
        }
        if let Some(rest) = line.strip_prefix("-----END ") {
            public = false;
            // A typing error may have joined the next line to it.
            rest.split_once("-----").map(|(_, rest)| rest.trim()).filter(|rest| !rest.is_empty()).into_iter().for_each(|rest| {
                take(rest);
                rest.split_whitespace().filter(|word| is_packed(word)).for_each(&mut take);
            });
        } else if !public {
            take(line);
            if let Some((_, word)) = line.split_once(' ').filter(|_| has_scheme(line)) {
                take(word.trim());
            }
            // Names generated from a URL replace other characters.
            if let Some(password) = line.split_once("://").and_then(|(_, rest)| password_of(rest)) {
                take(password);
                take(&password.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
            }
        }
    }
}
