//! Finds hidden ranges in text that cannot be parsed, line by line.
//!
//! In a possible Secret only the keys of every Secret, its kind and its version stay visible. In any other text the values are hidden that a line
//! gives to a credential name.

use super::opaque;
use super::value::{has_packed, has_private_block, is_credential, is_public};
use super::words::{
    bare_key, holds_tokens, is_near, is_secret_kind, is_section, is_sensitive_header, is_sensitive_key, is_text_section, names_headers,
    names_location,
};
use alloc::vec::Vec;
use chancery_text::TextRange;

/// Whether a key stays visible even in an unreadable Secret.
fn is_key_of_secrets(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind" | "metadata" | "name" | "namespace" | "type" | "data" | "stringData" | "labels" | "annotations")
}

/// Characters before a key, correct or by a typing error.
const BEFORE_KEYS: [char; 19] = [' ', '\t', '-', '{', '}', '[', ']', ',', ':', '?', '!', '&', '*', '|', '>', '%', '@', '`', '#'];

/// The `kind` of an item in a list has at most this many characters before it. A reference to a Secret has more.
const OF_ITEMS: usize = 4;

/// The parts of a line.
struct Line<'a> {
    start: u32,
    indent: usize,
    /// The text before the colon, without quotes and dashes.
    key: Option<&'a str>,
    /// The text after the colon, or the whole line.
    value: TextRange,
    text: &'a str,
    /// The line without leading spaces.
    bare: &'a str,
}

fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len() as u32;
        let bare = line.trim_start_matches(BEFORE_KEYS);
        let end = at + line.trim_end().len() as u32;
        let before = (line.len() - bare.len()) as u32;
        let split = bare.split_once(':').filter(|(key, rest)| {
            let key = key.trim();
            !key.is_empty()
                && key.len() < 64
                && !key.trim_matches(['"', '\'']).contains([' ', '\t', '"', '\''])
                && rest.starts_with([' ', '\t', '\r', '\n', '"', '\'', '{', '[', '|', '>', ':']) | rest.is_empty()
        });
        let behind = split.map_or(0, |(key, rest)| (key.len() + 1 + rest.len() - rest.trim_start_matches(':').len()) as u32);
        let value = TextRange::new((at + before + behind).min(end), end);
        let key = split.map(|(key, _)| key.trim().trim_matches(['"', '\'']));
        // Most long lines are long because of their indentation.
        let text = line.trim_end();
        let bare = text.get(text.bytes().take_while(|byte| *byte == b' ').count()..).unwrap_or_default();
        Line { start: at, indent: before as usize, key, value, text, bare }
    })
}

fn word(value: &str) -> &str {
    value.trim().trim_end_matches([',', '}', ']']).trim().trim_matches(['"', '\''])
}

/// Whether a text declares a kind.
pub(super) fn declares_kind(text: &str) -> bool {
    lines(text).any(|line| line.key == Some("kind"))
}

/// Whether unparsable text may be a Secret.
pub fn is_secret(text: &str) -> bool {
    let mut kinds = 0;
    let (mut other, mut section, mut packed) = (false, false, false);
    for line in lines(text) {
        if words(line.bare).any(is_text_section) {
            return true;
        }
        let value = word(line.value.slice(text));
        let Some(key) = line.key else {
            packed |= has_packed(line.bare) || is_credential(line.bare);
            continue;
        };
        section |= is_section(key);
        packed |= has_packed(value) || has_packed(key) || is_credential(value) || is_sensitive_key(key);
        if is_near(key, "kind", 2) && !value.is_empty() {
            kinds += 1;
            if is_secret_kind(value) && line.indent <= OF_ITEMS {
                return true;
            }
            other |= key == "kind" && !is_near(value, "ConfigMap", 3);
        }
    }
    kinds == 0 && (section || packed) || section && other && packed
}

/// Whether unparsable text in a string has the marks of a Secret. A key that names a credential is none: programs' files have such keys too.
pub(super) fn is_marked_secret(text: &str) -> bool {
    let (mut section, mut packed) = (false, false);
    for line in lines(text) {
        let value = word(line.value.slice(text));
        let key = line.key.unwrap_or_default();
        let is_kind = is_near(key, "kind", 2) && is_secret_kind(value) && line.indent <= OF_ITEMS;
        if is_kind || words(line.bare).any(is_text_section) {
            return true;
        }
        section |= is_section(key);
        packed |= has_packed(value) || is_credential(value);
    }
    section && packed
}

/// Whether comments contain a commented-out Secret.
pub(super) fn comments_are_secret(text: &str) -> bool {
    let is_kind = |line: &Line<'_>| line.key.is_some_and(|key| is_near(key, "kind", 2)) && line.indent <= OF_ITEMS;
    lines(text).any(|line| words(line.text).any(is_text_section) || is_kind(&line) && is_secret_kind(word(line.value.slice(text))))
}

/// The words of a text, ignoring separators.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.trim_start().split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// The hidden ranges of an unparsable text that may be a Secret: everything but the keys of every Secret, its kind and its version.
pub(super) fn all_but_keys(text: &str) -> Vec<TextRange> {
    let mut hidden = Vec::new();
    for line in lines(text).filter(|line| !matches!(line.text, "" | "---" | "...")) {
        let value = line.value.slice(text).trim();
        let is_of = |byte: u8| byte.is_ascii_alphabetic() || byte.is_ascii_digit() || matches!(byte, b'.' | b'/');
        match line.key.filter(|key| is_key_of_secrets(key)) {
            Some("kind") if value.len() <= 40 && value.bytes().all(|byte| byte.is_ascii_alphabetic()) => {}
            Some("apiVersion") if value.len() <= 40 && value.bytes().all(is_of) => {}
            Some(_) => hidden.push(line.value),
            None => hidden.push(TextRange::new(line.start, line.start + line.text.len() as u32)),
        }
    }
    hidden.retain(|range| !range.is_empty());
    hidden
}

/// Where the value begins that a line gives to a word which names a credential.
fn named(line: &str, in_headers: bool) -> Option<usize> {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut at = 0;
    while let Some(start) = line.get(at..)?.find(char::is_alphanumeric).map(|start| at + start) {
        at = line[start..].find(|c| !is_of_word(c)).map_or(line.len(), |length| start + length);
        let name = line[start..at].trim_end_matches(['-', '_', '.']);
        let rest = &line[start + name.len()..];
        let value = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let marks = &rest[..rest.len() - value.len()];
        // `private key: MIIE`
        let before = line[..at].rmatch_indices(' ').nth(1).map_or(0, |(at, _)| at);
        let is_second_word = || name.eq_ignore_ascii_case("key") && is_sensitive_key(&line[before..at]);
        let is_given = (names_credential(name, in_headers || holds_value(rest)) || is_second_word()) && {
            // An expression or a placeholder is not a value.
            let is_pattern = is_getter(line) || marks.contains(['[', '(', '<', '^']) && !marks.ends_with(['"', '\'']);
            // The next word is the value of a flag.
            let before = line[..start].trim_end_matches('-');
            let is_flag = before.len() < start && !before.ends_with(char::is_alphanumeric) && !marks.is_empty();
            // `<password>hunter2</password>`
            let is_element = marks == ">" && line[..start].ends_with('<');
            // Settings of many programs have but a blank between them.
            let is_opaque = || opaque::words(value.split_whitespace().next().unwrap_or_default()).next().is_some();
            !is_pattern && (is_flag || is_element || marks.contains([':', '=']) || is_field_beside(rest) || is_opaque())
        };
        // What begins the name of a place, a variable or a command belongs to the value.
        let whole = &rest[marks.trim_end_matches(['$', '%', '{', '(', '/']).len()..];
        if is_given && !names_location(word(whole)) {
            return Some(line.len() - value.len());
        }
    }
    None
}

/// Whether a line of a script gets something by its name, as in `local t = request:headers():get("x-token")`.
fn is_getter(line: &str) -> bool {
    line.trim_start().starts_with("local ") && line.contains("get(") && line.trim_end().ends_with(')')
}

/// Whether an object with a value follows a name, as headers are written: `x-token: {value: y}`.
fn holds_value(rest: &str) -> bool {
    let inner = rest.trim_start_matches(['"', '\'', ' ', ':', '=']).strip_prefix('{');
    inner.is_some_and(|inner| inner.trim_start_matches(['"', '\'', ' ']).starts_with("value"))
}

/// Whether a field's name is followed by its value, as in `name: x, value: y`.
fn is_field_beside(rest: &str) -> bool {
    let marks = rest.len() - rest.trim_start_matches(|c: char| !c.is_alphanumeric()).len();
    rest[marks..].starts_with("value") || rest[..marks].contains(',') && rest.contains("value")
}

/// Whether a line ends just before the value of a credential name.
fn opens(line: &str, in_headers: bool) -> bool {
    let bare = line.trim_end_matches(|c: char| !c.is_alphanumeric());
    let name = bare.rsplit(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.')).next().unwrap_or_default();
    line[bare.len()..].contains([':', '=']) && (names_credential(name, in_headers) || holds_tokens(name))
}

/// Whether a word names a credential, without knowing its context.
fn names_credential(name: &str, in_headers: bool) -> bool {
    is_sensitive_key(name) || in_headers && is_sensitive_header(name) || matches!(name, "inline_string" | "inline_bytes")
}

/// The hidden ranges of a text that is not a document, such as a comment or a value: the values that its lines assign to credential names.
pub(super) fn given(text: &str) -> Vec<TextRange> {
    let mut hidden = Vec::new();
    let mut in_key = false;
    // Whether the previous line named a header with credentials.
    let mut header = false;
    let mut headers: Option<usize> = None;
    // Lines that are indented deeper are the credential's value.
    let mut below: Option<usize> = None;
    for line in lines(text) {
        let whole = TextRange::new(line.start, line.start + line.text.len() as u32);
        if let Some((_, rest)) = line.bare.split_once("-----BEGIN") {
            in_key = !is_public(rest.split_once("-----").map_or("", |(kind, _)| kind)) || has_private_block(line.bare);
        }
        if in_key {
            hidden.push(line.value);
            in_key = !line.bare.contains("-----END");
            continue;
        }
        if line.bare.is_empty() {
            continue;
        }
        if below.is_some_and(|depth| line.indent > depth) {
            // A switch or a bracket is not the value.
            if !names_location(word(line.value.slice(text))) {
                hidden.push(whole);
            }
            continue;
        }
        below = None;
        headers = headers.filter(|depth| line.indent > *depth);
        let in_headers = headers.is_some() || words(line.bare).any(names_headers);
        let value = word(line.value.slice(text));
        let applied = line.bare.contains("last-applied-configuration");
        let of_header = header && words(line.bare).any(|word| word == "value") && !names_location(value);
        let between = |c: char| matches!(c, '"' | '\'' | '\\' | ',' | '{' | '}' | '[' | ']' | ':');
        let has_credential =
            || is_credential(line.bare) || line.bare.split(between).any(is_credential) || line.bare.split(char::is_whitespace).any(is_credential);
        let by_name = named(line.bare, in_headers).map(|at| whole.end - line.bare.len() as u32 + at as u32);
        let by_look = (of_header || applied || has_credential()).then_some(if line.key.is_some() { line.value.start } else { line.start });
        hidden.extend(by_name.into_iter().chain(by_look).min().map(|from| TextRange::new(from, whole.end)));
        if opens(line.bare, in_headers) {
            below = Some(line.indent);
        }
        header = line.key.is_some_and(|key| bare_key(key) == "name") && is_sensitive_header(value);
        if in_headers {
            headers = headers.or(Some(line.indent));
        }
    }
    hidden.retain(|range| !range.is_empty());
    hidden
}
