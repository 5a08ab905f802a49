//! Matches like RE2.
//!
//! Translates an expression for the `regex` project's parser where the two differ, and runs it in its engines, which take linear time like RE2. The
//! differences: RE2's `\d`, `\s`, `\w` and `\b` know ASCII only; `\C`, `\Q...\E` and octal escapes exist; in a class `[`, `&&`, `--` and `~~` are
//! literal, and so are `\<`, `{,3}` and a `{` that starts no repetition elsewhere; flags are `imsU`. Remaining differences: invalid UTF-8 is not
//! supported here, and `(?i)` folds by another Unicode version's tables.
//!
//! Does not check whether Envoy accepts an expression; see [`super::check`].

use super::RegexError;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use regex_automata::Span;
use regex_automata::meta;
use regex_automata::util::captures::Captures;
use regex_automata::util::primitives::PatternID;
use regex_syntax::hir::{Hir, Look};

/// An expression that matches whole strings.
#[derive(Clone, Debug)]
pub struct Regex(meta::Regex);

/// An expression that is searched within strings.
#[derive(Clone, Debug)]
pub struct Finder(meta::Regex);

/// Larger programs are not run: bytes.
const MOST_MEMORY: usize = 4 << 20;

impl Regex {
    /// Compiles an expression.
    ///
    /// # Errors
    ///
    /// RE2 rejects it, or it is larger than the limit.
    pub fn new(regex: &str) -> Result<Self, RegexError> {
        build(&Hir::concat(alloc::vec![Hir::look(Look::Start), parse(regex)?, Hir::look(Look::End)])).map(Self)
    }

    /// Whether it matches the whole string.
    #[must_use]
    pub fn is_full_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl Finder {
    /// Compiles an expression.
    ///
    /// # Errors
    ///
    /// Like [`Regex::new`].
    pub fn new(regex: &str) -> Result<Self, RegexError> {
        build(&parse(regex)?).map(Self)
    }

    /// Whether it matches a part of the string.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// The first match, then its groups. An unused group is empty.
    #[must_use]
    pub fn groups(&self, text: &str) -> Option<Vec<String>> {
        let found = self.0.captures_iter(text).next()?;
        let group = |span: Option<Span>| span.and_then(|span| text.get(span.start..span.end)).unwrap_or_default().to_string();
        Some(found.iter().map(group).collect())
    }

    /// The number of groups.
    #[must_use]
    pub fn group_count(&self) -> usize {
        self.0.group_info().group_len(PatternID::ZERO).saturating_sub(1)
    }

    /// Replaces every match; `\0` to `\9` in the substitution are groups. An undefined group leaves the string unchanged; a `\` before anything
    /// else ends the substitution (`RE2::GlobalReplace`).
    #[must_use]
    pub fn replace_all(&self, text: &str, substitution: &str) -> String {
        if greatest_group(substitution) > self.group_count() {
            return text.to_string();
        }
        let mut out = String::new();
        let mut last = 0;
        for found in self.0.captures_iter(text) {
            let Some(whole) = found.get_match() else { continue };
            out.push_str(text.get(last..whole.start()).unwrap_or_default());
            substitute(&mut out, text, &found, substitution);
            last = whole.end();
        }
        out.push_str(text.get(last..).unwrap_or_default());
        out
    }
}

fn build(hir: &Hir) -> Result<meta::Regex, RegexError> {
    let config = meta::Config::new().utf8_empty(true).nfa_size_limit(Some(MOST_MEMORY)).hybrid_cache_capacity(MOST_MEMORY / 4);
    let built = meta::Builder::new().configure(config).build_from_hir(hir);
    built.map_err(|_| RegexError::TooLarge)
}

/// Parses the translated expression.
pub(super) fn parse(regex: &str) -> Result<Hir, RegexError> {
    super::check(regex)?;
    let translated = translate(regex);
    regex_syntax::ParserBuilder::new().utf8(false).build().parse(&translated).map_err(|error| match error {
        regex_syntax::Error::Parse(error) => RegexError::Other(error.kind().to_string()),
        regex_syntax::Error::Translate(error) => RegexError::Other(error.kind().to_string()),
        _ => RegexError::Other("it cannot be read".to_string()),
    })
}

/// The expression that matches exactly this string.
pub(super) fn quote(text: &str) -> String {
    regex_syntax::escape(text)
}

/// The highest group in a substitution; 0 without any.
pub fn greatest_group(substitution: &str) -> usize {
    let mut chars = substitution.chars();
    let mut greatest = 0;
    while let Some(c) = chars.next() {
        if c == '\\'
            && let Some(digit) = chars.next().and_then(|digit| digit.to_digit(10))
        {
            greatest = greatest.max(digit as usize);
        }
    }
    greatest
}

fn substitute(out: &mut String, text: &str, found: &Captures, substitution: &str) {
    let mut chars = substitution.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(digit) if digit.is_ascii_digit() => {
                    let group = found.get_group(digit as usize - '0' as usize);
                    out.push_str(group.and_then(|span| text.get(span.start..span.end)).unwrap_or_default());
                }
                Some('\\') => out.push('\\'),
                _ => return,
            },
            c => out.push(c),
        }
    }
}

/// A literal prefix of every matching string, as far as the expression shows.
#[must_use]
pub fn literal_prefix(regex: &str) -> &str {
    let body = regex.strip_prefix('^').unwrap_or(regex);
    if body.contains('|') {
        return "";
    }
    let end = body.find(['\\', '.', '[', ']', '(', ')', '{', '}', '*', '+', '?', '^', '$']).unwrap_or(body.len());
    let literal = body.get(..end).unwrap_or_default();
    match body.get(end..).and_then(|rest| rest.chars().next()) {
        // The last character may be missing.
        Some('*' | '?' | '{') => {
            let last = literal.chars().next_back().map_or(0, char::len_utf8);
            literal.get(..literal.len() - last).unwrap_or_default()
        }
        _ => literal,
    }
}

/// Translates a checked expression for the other parser.
fn translate(regex: &str) -> String {
    let mut out = String::with_capacity(regex.len() + 8);
    let mut rest = regex;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => rest = escape(rest, false, &mut out),
            '[' => rest = class(rest, &mut out),
            '{' if !begins_repetition(rest) => out.push_str("\\{"),
            '}' if !ends_repetition(&out) => out.push_str("\\}"),
            c => out.push(c),
        }
    }
    out
}

fn begins_repetition(rest: &str) -> bool {
    let Some((inner, _)) = rest.split_once('}') else { return false };
    let (low, high) = inner.split_once(',').unwrap_or((inner, "0"));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    !low.is_empty() && digits(low) && digits(high)
}

fn ends_repetition(out: &str) -> bool {
    let digits = out.trim_end_matches(|c: char| c.is_ascii_digit() || c == ',');
    digits.len() < out.len() && digits.ends_with('{') && !digits.ends_with("\\{")
}

/// Translates a class, after its `[`.
fn class<'r>(mut rest: &'r str, out: &mut String) -> &'r str {
    out.push('[');
    if let Some(after) = rest.strip_prefix('^') {
        out.push('^');
        rest = after;
    }
    let mut first = true;
    // The meaning of a following `-`: literal, or a range between its neighbours.
    let (mut low, mut open) = (false, false);
    while let Some(c) = rest.chars().next() {
        let named = rest.strip_prefix("[:").and_then(|inner| inner.find(":]")).map(|at| at + 4);
        if let Some(end) = named {
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            (first, low, open) = (false, false, false);
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if c == '-' && low && !rest.starts_with(']') {
            out.push('-');
            (low, open) = (false, true);
            continue;
        }
        match c {
            ']' if !first => {
                out.push(']');
                return rest;
            }
            '\\' => rest = escape(rest, true, out),
            '[' | ']' | '&' | '~' | '-' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
        (first, low, open) = (false, !open, false);
    }
    rest
}

/// Translates an escape, after its backslash.
fn escape<'r>(rest: &'r str, in_class: bool, out: &mut String) -> &'r str {
    let Some(c) = rest.chars().next() else { return rest };
    let after = &rest[c.len_utf8()..];
    let set = |plain: &str| if in_class { plain.to_string() } else { format!("[{plain}]") };
    match c {
        'd' => out.push_str(&set("0-9")),
        's' => out.push_str(&set("\\t\\n\\f\\r ")),
        'w' => out.push_str(&set("0-9A-Za-z_")),
        'D' => out.push_str("[^0-9]"),
        'S' => out.push_str("[^\\t\\n\\f\\r ]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        'b' if !in_class => out.push_str("(?-u:\\b)"),
        'B' if !in_class => out.push_str("(?-u:\\B)"),
        'C' => out.push_str("(?s-u:.)"),
        'Q' => {
            let (literal, after) = after.split_once("\\E").unwrap_or((after, ""));
            out.push_str(&regex_syntax::escape(literal));
            return after;
        }
        '0'..='7' => {
            let digits = rest.bytes().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
            let value = u32::from_str_radix(&rest[..digits], 8).unwrap_or_default();
            out.push_str(&format!("\\x{{{value:X}}}"));
            return &rest[digits..];
        }
        'p' | 'P' | 'x' => {
            out.push('\\');
            out.push(c);
            let length = if after.starts_with('{') { after.find('}').map_or(0, |end| end + 1) } else { 0 };
            out.push_str(&after[..length]);
            return &after[length..];
        }
        'a' | 'f' | 'n' | 'r' | 't' | 'v' | 'A' | 'z' => {
            out.push('\\');
            out.push(c);
        }
        c => out.push_str(&regex_syntax::escape(c.encode_utf8(&mut [0; 4]))),
    }
    after
}

#[cfg(test)]
mod tests {
    use super::{Finder, Regex, literal_prefix};

    fn full(regex: &str, text: &str) -> bool {
        Regex::new(regex).unwrap_or_else(|error| panic!("{regex}: {error}")).is_full_match(text)
    }

    #[test]
    fn the_whole_text_must_match() {
        assert!(full("/a/.*", "/a/b"));
        assert!(!full("/a", "/a/b"));
        assert!(!full("a", "ba"));
        assert!(full("a|ab", "ab"), "no branch is preferred");
        assert!(!full("a.b", "a\nb"));
    }

    #[test]
    fn classes_know_ascii_only() {
        assert!(!full(r"\d", "٣"));
        assert!(full(r"\d+", "42"));
        assert!(!full(r"\w", "é"));
        assert!(full(r"[\w-]+", "a-b_c"));
        assert!(full(r"[^\d]", "é"));
        assert!(full(".", "é"));
        assert!(full(r"\pL+", "été"));
    }

    #[test]
    fn parser_differences_are_translated() {
        assert!(full("a{,3}", "a{,3}"));
        assert!(full("a{x}", "a{x}"));
        assert!(full("[a&&b]+", "a&b"));
        assert!(full("[[a]", "["));
        assert!(full("[]a]+", "]a"));
        assert!(full(r"\<b\>", "<b>"));
        assert!(full(r"\Qa.b\E+", "a.bb"));
        assert!(full(r"\101", "A"));
        assert!(full("[--/]", "."));
        assert!(full("[[:alpha:]]{2}", "ab"));
        assert!(full("(?i)abc", "ABC"));
    }

    #[test]
    fn groups_go_into_substitutions() {
        let regex = Finder::new("/(a+)/(b*)").unwrap();
        assert_eq!(regex.replace_all("/aa/b/a/", r"/\2/\1\\"), r"/b/aa\//a\");
        assert_eq!(regex.replace_all("/aa/b/", r"/\3"), "/aa/b/", "an undefined group");
        assert_eq!(regex.replace_all("/aa/b/", r"/x\y/z"), "/x/", "no escape");
        assert_eq!(Finder::new("b*").unwrap().replace_all("abc", "x"), "xaxcx");
    }

    fn matches(pattern: &str, yes: &[&str], no: &[&str]) {
        let regex = Finder::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        for text in yes {
            assert!(regex.is_match(text), "{pattern} matches {text:?}");
        }
        for text in no {
            assert!(!regex.is_match(text), "{pattern} does not match {text:?}");
        }
    }

    #[test]
    fn patterns_are_found_within_texts() {
        matches(
            r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
            &["a", "*.example.com", "a-b.c"],
            &["", "*", "A.com", "a..b", "-a", "a-", "a:80"],
        );
        matches(r"^(((\d*(\.\d*)?h)|(\d*(\.\d*)?µs))+|infinity)$", &["1h", "1.5h3µs", "h", "infinity"], &["", "1", "1m", "infinity1"]);
        matches(r#"^[^()<>@,;:\\"\/[\]?={} \t\x7f]+$"#, &["name", "naïve"], &["", "a b", "a[", "a]", "a\\", "a\t", "\x7f"]);
        matches(r"^[A-Za-z0-9!#$%&'*+\-.^_\x60|~]+$", &["x-y", "`"], &["a b", "é"]);
        matches("^([0-9]{1,5}(h|m|s|ms)){1,4}$", &["1h30m", "12345ms"], &["", "123456s", "1h1h1h1h1h"]);
        matches(r"^(?i)\.?[a-z_][a-z_0-9]*$", &["Foo", ".foo"], &["0foo"]);
        matches("^(?:[-a/]|[%][0-9a-fA-F]{2})+$", &["/a%2F"], &["%2", "b"]);
        matches(r"^Hostname|IP|[a-z]+\/x$", &["Hostnames", "an IP", "a/x"], &["a/xy", "hostname"]);
        matches("^$|^a$", &["", "a"], &["b", "aa"]);
        matches(r"^(([^:/?#]+):)(//([^/?#]*))([^?#]*)(\?([^#]*))?(#(.*))?", &["http://x", "a://b/c?d#e"], &["http:/x", "//x"]);
        matches("b{2,}", &["abbb"], &["ab", ""]);
    }

    #[test]
    fn time_is_linear_in_the_text() {
        let text = "a".repeat(20_000);
        matches("^(a*)*(a|aa)*b$", &[], &[&text]);
    }

    #[test]
    fn prefixes_are_what_every_match_begins_with() {
        for (regex, prefix) in [
            ("/a/.*", "/a/"),
            ("^/ab?", "/a"),
            ("/x(y)z", "/x"),
            ("/a|/b", ""),
            ("(?i)/a", ""),
            ("", ""),
            ("/a*", "/"),
            ("/é+", "/é"),
            ("/é{2}", "/"),
        ] {
            assert_eq!(literal_prefix(regex), prefix, "{regex}");
        }
    }

    #[test]
    fn too_large_expressions_are_rejected() {
        assert!(Regex::new("((a{1000}){1000}){1000}").is_err());
        assert!(Regex::new("(?=a)").is_err());
    }
}
