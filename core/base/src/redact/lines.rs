//! Finds hidden ranges in text that cannot be parsed, line by line.
//!
//! In a possible Secret only the words that every Secret has and its identity stay visible. In any other text the lines with a credential are
//! hidden.

use super::opaque;
use super::stand_in::{Form, Hidden};
use super::value::{has_packed, has_private_block, is_credential, is_packed_loosely, is_public};
use super::words::{
    bare_key, holds_tokens, is_near, is_qualifier, is_secret_kind, is_section, is_sensitive_header, is_sensitive_key, is_text_section, names_headers,
    names_location, split_key,
};
use alloc::vec::Vec;
use chancery_text::TextRange;

/// Keys that stay visible even in an unreadable Secret.
const PLAIN_KEYS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "name",
    "namespace",
    "type",
    "data",
    "stringData",
    "labels",
    "annotations",
    "immutable",
    "items",
    "tls.crt",
    "tls.key",
    "ca.crt",
    "crl.pem",
    "user.key",
    "username",
    "password",
    "token",
    "auth",
    "key",
    "value",
    ".dockerconfigjson",
];

/// Characters before a key, correct or by a typing error.
const BEFORE_KEYS: [char; 19] = [' ', '\t', '-', '{', '}', '[', ']', ',', ':', '?', '!', '&', '*', '|', '>', '%', '@', '`', '#'];

/// Shorter base64 words may be anything, unless they end with padding.
const LONG_PACKED: usize = 24;

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
    let (mut other, mut section, mut packed, mut named) = (false, false, false, false);
    for line in lines(text) {
        if words(line.bare).any(is_text_section) {
            return true;
        }
        let value = word(line.value.slice(text));
        let Some(key) = line.key else {
            packed |= has_packed(line.bare) || is_credential(line.bare);
            // `kind Secret`, `- Secret`
            named |= mentions_secret(line.bare);
            continue;
        };
        section |= is_section(key);
        packed |= has_packed(value) || is_packed_loosely(key) || is_credential(value) || is_sensitive_key(key);
        // Two joined lines: `apiVersion: v1kind: Secret`.
        named |= value.contains(':') && mentions_secret(value);
        if is_near(key, "kind", 2) && !value.is_empty() {
            kinds += 1;
            // A reference to a Secret is more indented, below a key.
            if is_secret_kind(value) && !refers(text, &line) {
                return true;
            }
            other |= key == "kind" && !is_near(value, "ConfigMap", 3);
        }
    }
    // One line may contain the whole Secret.
    let flow = text.trim_start_matches("---").trim_start().starts_with(['{', '[']) && text.lines().any(quotes_secret);
    flow || named && (section || packed) || kinds == 0 && (section || packed || named) || section && other && packed
}

/// Whether comments contain a commented-out Secret.
pub(super) fn comments_are_secret(text: &str) -> bool {
    let (mut section, mut packed) = (false, false);
    for line in lines(text) {
        if words(line.text).any(is_text_section) {
            return true;
        }
        section |= line.key.is_some_and(is_section);
        packed |= has_packed(line.value.slice(text));
        if line.key.is_some_and(|key| is_near(key, "kind", 2)) && is_secret_kind(word(line.value.slice(text))) && !refers(text, &line) {
            return true;
        }
    }
    section && packed
}

/// The words of a text, ignoring separators.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.trim_start().split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether a word is nearly `Secret`, or starts with it because two words were joined.
fn mentions_secret(text: &str) -> bool {
    words(text).any(|word| word.starts_with("Secret") || word.starts_with('S') && is_near(word, "Secret", 1))
}

/// Whether a line contains the quoted word, as JSON writes a kind.
fn quotes_secret(line: &str) -> bool {
    let bare = |c: char| matches!(c, '"' | '\'' | '\\' | ':' | ',' | '{' | '}' | '[' | ']' | ' ');
    line.split(bare).any(|word| (4..=24).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphabetic()) && is_secret_kind(word))
        && line.contains(bare)
}

/// Whether a text contains a Secret as JSON, even after other text or with errors.
pub(super) fn packs_secret(text: &str) -> bool {
    let quotes = ['"', '\'', '\\', ' ', ',', ':'];
    text.contains('{') && quotes_secret(text) && text.split(quotes).any(|word| is_section(word) || is_packed_loosely(word))
}

/// Whether the lines around a `kind` contain only a reference.
fn refers(text: &str, of: &Line<'_>) -> bool {
    if of.indent == 0 {
        return false;
    }
    let known = ["kind", "name", "namespace", "group", "apiGroup", "sectionName"];
    let (before, after) = text.split_at_checked(of.start as usize).unwrap_or((text, ""));
    // Each of them occurs at most once, so later lines are skipped.
    let from = before.rmatch_indices('\n').nth(known.len() + 1).map_or(0, |(at, _)| at + 1);
    let before: Vec<Line<'_>> = lines(before.get(from..).unwrap_or_default()).collect();
    let same = |line: &Line<'_>| line.indent == of.indent;
    let before = before.into_iter().rev().take_while(same);
    let after = lines(after).skip(1).take(known.len() + 1).take_while(same);
    let mut beside = before.chain(after);
    beside.by_ref().take(known.len()).all(|line| line.key.is_some_and(|key| known.contains(&key))) && beside.next().is_none()
}

/// The hidden ranges of unparsable text.
pub(super) fn hidden(text: &str, is_secret: bool) -> Vec<Hidden> {
    let mut hidden = Vec::new();
    let mut put = |range: TextRange| {
        if !range.is_empty() {
            hidden.push(Hidden { range, form: Form::Loose });
        }
    };
    if is_secret {
        all_but_names(text, &mut put);
    } else {
        credentials(text, Given::Beside, &mut put);
    }
    hidden
}

fn all_but_names(text: &str, put: &mut impl FnMut(TextRange)) {
    // Whether the last key less deep was `metadata`, and how deep it stood.
    let mut metadata: Option<usize> = None;
    // Lines deeper than this belong to a block of text.
    let mut block: Option<usize> = None;
    for line in lines(text) {
        let end = line.start + line.text.len() as u32;
        let depth = line.text.len() - line.text.trim_start().len();
        if line.text.is_empty() || matches!(line.text, "---" | "...") {
            continue;
        }
        if block.is_some_and(|least| depth > least) {
            put(TextRange::new(line.start, end));
            continue;
        }
        block = None;
        let Some(key) = line.key.filter(|key| PLAIN_KEYS.contains(key)) else {
            put(TextRange::new(line.start, end));
            continue;
        };
        let value = line.value.slice(text).trim();
        if metadata.is_some_and(|at| line.indent <= at) {
            metadata = None;
        }
        let in_metadata = metadata.is_some();
        if key == "metadata" && value.is_empty() {
            metadata = Some(line.indent);
        }
        if value.trim_start_matches(['!', 'b', 'i', 'n', 'a', 'r', 'y', ' ']).starts_with(['|', '>']) {
            block = Some(depth);
        }
        let bare = word(value);
        let of_name =
            |bare: &str| !bare.is_empty() && bare.len() <= 63 && bare.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-'));
        let shown = match key {
            "kind" => bare.len() <= 40 && bare.bytes().all(|byte| byte.is_ascii_alphabetic()) && value == bare,
            "apiVersion" => bare.len() <= 40 && bare.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'/')) && value == bare,
            "name" | "namespace" => in_metadata && of_name(bare) && value == bare,
            _ => false,
        };
        if !shown {
            put(line.value);
        }
    }
}

/// How certainly a word and a neighbouring value belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    /// The text is readable: a colon or an equals sign separates name and value.
    Marked,
    /// The text is broken: the mark may have been lost.
    Beside,
}

/// The hidden ranges of a text that is not a document, such as a comment or a value: the values that its lines assign to credential names.
pub(super) fn given(text: &str) -> Vec<TextRange> {
    let mut hidden = Vec::new();
    credentials(text, Given::Marked, &mut |range| hidden.push(range));
    hidden.retain(|range| !range.is_empty());
    hidden
}

/// Where the value begins that a line gives to a word which names a credential.
fn named(line: &str, in_headers: bool, how: Given) -> Option<usize> {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut at = 0;
    let mut is_first = how == Given::Beside;
    while let Some(start) = line.get(at..)?.find(char::is_alphanumeric).map(|start| at + start) {
        at = line[start..].find(|c| !is_of_word(c)).map_or(line.len(), |length| start + length);
        let name = line[start..at].trim_end_matches(['-', '_', '.']);
        let is_block = holds_tokens(name);
        let rest = &line[start + name.len()..];
        let joined = || ends_with_qualifier(&line[..start]) && matches!(name, "key" | "Key" | "KEY" | "word" | "phrase");
        if is_block || names_credential(name, in_headers || holds_value(rest)) || joined() {
            let value = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
            let marks = &rest[..rest.len() - value.len()];
            // An expression or a placeholder is not a value.
            let is_getter = how == Given::Marked && line.trim_start().starts_with("local ") && calls_getters(value);
            let is_pattern = is_getter || how == Given::Marked && marks.contains(['[', '(', '<', '^']) && !marks.ends_with(['"', '\'']);
            // The next word is the value of a flag.
            let before = line[..start].trim_end_matches('-');
            let is_flag = before.len() < start && !before.ends_with(char::is_alphanumeric) && !marks.is_empty();
            // `<password>hunter2</password>`
            let is_element = marks == ">" && line[..start].ends_with('<');
            let is_quoted = how == Given::Beside && marks.contains(['"', '\'']);
            // Settings of many programs have but a blank between them.
            let is_opaque =
                |value: &str| marks.chars().all(|c| c.is_whitespace() || matches!(c, '"' | '\'')) && opaque::words(word(value)).next().is_some();
            let is_given = match is_block {
                true => marks.contains('{'),
                false => {
                    !is_pattern
                        && (is_first
                            || is_flag
                            || is_element
                            || marks.contains([':', '='])
                            || is_slip(marks)
                            || is_quoted
                            || is_field_beside(rest)
                            || is_opaque(value))
                }
            };
            // What begins the name of a place, a variable or a command belongs to the value.
            let whole = &rest[marks.trim_end_matches(['$', '%', '{', '(', '/']).len()..];
            if is_given && !names_location(word(whole)) {
                return Some(line.len() - value.len());
            }
        }
        is_first = false;
    }
    None
}

/// Whether an expression of a script only calls functions that get something by its name, as in `request:headers():get("x-token")`.
fn calls_getters(value: &str) -> bool {
    let calls = value.trim_end().trim_end_matches(')');
    let is_code = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'(' | b')'));
    let mut quoted = calls.split(['"', '\'']);
    let before = quoted.next().unwrap_or_default();
    calls.len() < value.trim_end().len() && is_code(before) && before.ends_with("get(") && quoted.nth(1).is_none_or(|rest| rest.is_empty())
}

/// Whether a text ends with the first of two words that name a credential, as in `private key`.
fn ends_with_qualifier(text: &str) -> bool {
    let last = text.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    is_qualifier(last) && text.ends_with(char::is_whitespace)
}

/// Characters that a typing error may have put in place of a colon.
pub(super) const SLIPS: [char; 5] = ['*', '&', '@', '`', '|'];

/// Whether such a character separates a word from a value.
fn is_slip(marks: &str) -> bool {
    marks.strip_suffix(' ').is_some_and(|mark| mark.len() == 1 && mark.starts_with(SLIPS))
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

/// The number of opened minus closed brackets on a line.
fn opened(line: &str) -> i32 {
    line.bytes().map(|byte| i32::from(matches!(byte, b'{' | b'[')) - i32::from(matches!(byte, b'}' | b']'))).sum()
}

/// Whether a line ends just before the value of a credential name.
fn opens(line: &str, in_headers: bool, how: Given) -> bool {
    let bare = line.trim_end_matches(|c: char| !c.is_alphanumeric());
    if how == Given::Marked && !line[bare.len()..].contains([':', '=']) {
        return false;
    }
    let name = bare.rsplit(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.')).next().unwrap_or_default();
    names_credential(name, in_headers) || holds_tokens(name)
}

/// Whether a word names a credential, without knowing its context.
fn names_credential(name: &str, in_headers: bool) -> bool {
    is_sensitive_key(name) || in_headers && is_sensitive_header(name) || matches!(name, "inline_string" | "inline_bytes")
}

fn credentials(text: &str, how: Given, put: &mut impl FnMut(TextRange)) {
    let mut in_key = false;
    let mut header = false;
    let mut headers: Option<usize> = None;
    // Whether the previous line had a credential.
    let mut after = false;
    // Lines that are indented deeper are the credential's value, up to its closing bracket.
    let mut below: Option<usize> = None;
    let mut brackets = 0_i32;
    for line in lines(text) {
        let end = line.start + line.text.len() as u32;
        let begins = line.bare.contains("-----BEGIN");
        if begins {
            let kind = line.bare.split_once("-----BEGIN").and_then(|(_, rest)| rest.split_once("-----")).map_or("", |(kind, _)| kind);
            in_key = !is_public(kind) || has_private_block(line.bare);
        }
        if in_key {
            put(line.value);
            in_key = !line.bare.contains("-----END");
            continue;
        }
        if line.bare.is_empty() {
            continue;
        }
        if below.is_some_and(|depth| line.indent > depth) || brackets > 0 {
            put(TextRange::new(line.start, end));
            brackets = (brackets + opened(line.bare)).max(0);
            continue;
        }
        // Inside brackets or quotes, or after a typing error, a value need not be indented.
        let is_value = || line.key.is_none() || line.bare.starts_with(['{', '[', '"', '\'']);
        if below.take().is_some() && how == Given::Beside && is_value() {
            put(TextRange::new(line.start, end));
            continue;
        }
        // In a broken text the end of headers is unknown.
        if how == Given::Marked && headers.is_some_and(|depth| line.indent <= depth) {
            headers = None;
        }
        let in_headers = headers.is_some() || words(line.bare).any(names_headers);
        let value = word(line.value.slice(text));
        let applied = line.bare.contains("last-applied-configuration") || line.bare.contains("\\\"") && quotes_secret(line.bare);
        // In a broken text a typing error may have changed the name.
        let is_header = header || how == Given::Beside && headers.is_some();
        let of_header = is_header && words(line.bare).any(|word| word == "value") && !names_location(value);
        let between = |c: char| matches!(c, '"' | '\'' | '\\' | ',' | '{' | '}' | '[' | ']' | ':');
        let has_credential =
            || is_credential(line.bare) || line.bare.split(between).any(is_credential) || line.bare.split(char::is_whitespace).any(is_credential);
        let by_name = named(line.bare, in_headers, how).map(|at| end - line.bare.len() as u32 + at as u32);
        let by_look = (of_header || applied || has_credential()).then_some(if line.key.is_some() { line.value.start } else { line.start });
        let from = by_name.into_iter().chain(by_look).min();
        // A typing error may have broken the line of the value.
        let goes_on = after && line.key.is_none();
        after = how == Given::Beside && (from.is_some() || goes_on);
        match from {
            Some(from) => put(TextRange::new(from, end)),
            None if goes_on => put(TextRange::new(line.start, end)),
            None if how == Given::Beside => packed_words(&line, put),
            None => {}
        }
        if opens(line.bare, in_headers, how) {
            below = Some(line.indent);
            brackets = opened(line.bare).max(0);
        }
        header = line.key.is_some_and(|key| bare_key(key) == "name") && is_sensitive_header(value);
        if headers.is_none() && in_headers {
            headers = Some(line.indent);
        }
    }
}

/// Finds the value that follows a credential name in a tag, anchor or alias, as in `!token:abc` without a space.
pub(super) fn behind_marks(text: &str) -> Vec<TextRange> {
    let mut hidden = Vec::new();
    for (at, _) in text.match_indices(['!', '&', '*']) {
        let behind = &text[at + 1..];
        if at > 0 && !text[..at].ends_with(|c: char| c.is_whitespace() || matches!(c, '{' | '[' | ',')) {
            continue;
        }
        let word = behind.split(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']')).next().unwrap_or_default();
        if let (name, Some(value)) = split_key(word)
            && is_sensitive_key(name)
            && !names_location(value)
        {
            let start = (at + 1 + word.len() - value.len()) as u32;
            hidden.push(TextRange::new(start, start + value.len() as u32));
        }
    }
    hidden
}

/// Whether a comment is only a credential's key: its value may be on the next line.
pub(super) fn is_key_alone(comment: &str) -> bool {
    let Some(key) = comment.trim_start_matches(['#', '/', ' ']).trim_end().strip_suffix([':', '=']) else { return false };
    let bare = bare_key(key);
    is_sensitive_key(bare) && key.len() <= bare.len() + 4 && !bare.contains(char::is_whitespace)
}

/// Base64 words that end with padding. Comments have no use for them.
pub(super) fn padded(text: &str) -> Vec<TextRange> {
    let mut hidden = Vec::new();
    for line in lines(text).filter(|line| line.text.contains('=')) {
        packed_words(&line, &mut |range| hidden.push(range));
    }
    hidden.retain(|range| range.slice(text).ends_with('='));
    hidden
}

/// Words that look like base64 keys. In readable text they are not a sign of a credential.
fn packed_words(line: &Line<'_>, put: &mut impl FnMut(TextRange)) {
    let mut at = line.start + (line.text.len() - line.bare.len()) as u32;
    for part in line.bare.split_inclusive(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | '"' | '\'' | '{' | '}' | '[' | ']')) {
        let is_long = part.len() >= LONG_PACKED && !part.starts_with('/');
        if is_packed_loosely(part) && (is_long || part.contains('=')) {
            put(TextRange::new(at, at + part.trim_end().len() as u32));
        }
        at += part.len() as u32;
    }
}
