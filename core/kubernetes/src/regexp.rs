//! Checks whether Go's `regexp` accepts an expression, with Go's error messages. Does not match.
//!
//! Source of behaviour: Go's `regexp/syntax` with Perl's flags. For RE2 see [`chancery_base::re2`].

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The maximum product of nested repetitions.
const MOST_REPEATS: u64 = 1000;
/// The maximum depth of groups.
const DEEPEST: usize = 1000;

type Verdict<T> = Result<T, String>;

fn error<T>(what: &str, expression: &str) -> Verdict<T> {
    Err(format!("{what}: `{expression}`"))
}

/// Checks whether Go accepts an expression.
///
/// # Errors
///
/// Go's message without the prefix `error parsing regexp: `.
pub fn check(regex: &str) -> Verdict<()> {
    let mut parser = Parser { whole: regex, stack: Vec::new(), deepest: 0 };
    let mut rest = regex;
    let mut last_repeat = "";
    while let Some(c) = rest.chars().next() {
        let before = rest;
        let mut repeat = "";
        rest = match c {
            '(' if rest.starts_with("(?") => parser.flags(rest)?,
            '(' => parser.open(&rest[1..]),
            '|' => parser.bar(&rest[1..]),
            ')' => parser.close(&rest[1..])?,
            '[' => {
                parser.stack.push(Entry::Piece(1));
                class(rest)?
            }
            '*' | '+' | '?' => {
                repeat = before;
                parser.repeat(None, before, &rest[1..], last_repeat)?
            }
            '{' => match counts(rest) {
                None => parser.piece(&rest[1..]),
                Some((least, most, after)) => {
                    repeat = before;
                    if least > MOST_REPEATS || most.is_some_and(|most| most > MOST_REPEATS || most < least) {
                        return error("invalid repeat count", &before[..before.len() - after.len()]);
                    }
                    parser.repeat(Some(most.unwrap_or(least)), before, after, last_repeat)?
                }
            },
            '\\' => {
                let after = escaped(rest)?;
                parser.piece(after)
            }
            c => parser.piece(&rest[c.len_utf8()..]),
        };
        if parser.deepest > DEEPEST {
            return error("expression nests too deeply", regex);
        }
        last_repeat = repeat;
    }
    match parser.stack.iter().any(|entry| matches!(entry, Entry::Open)) {
        true => error("missing closing )", regex),
        false => Ok(()),
    }
}

/// An element that is not yet part of a larger one.
#[derive(Clone, Copy)]
enum Entry {
    /// A repeatable element with the product of its repetitions.
    Piece(u64),
    Open,
    Bar,
}

struct Parser<'r> {
    whole: &'r str,
    stack: Vec<Entry>,
    deepest: usize,
}

impl<'r> Parser<'r> {
    fn piece(&mut self, rest: &'r str) -> &'r str {
        self.stack.push(Entry::Piece(1));
        rest
    }

    fn open(&mut self, rest: &'r str) -> &'r str {
        self.stack.push(Entry::Open);
        self.deepest = self.deepest.max(self.stack.iter().filter(|entry| matches!(entry, Entry::Open)).count());
        rest
    }

    fn bar(&mut self, rest: &'r str) -> &'r str {
        self.stack.push(Entry::Bar);
        rest
    }

    fn close(&mut self, rest: &'r str) -> Verdict<&'r str> {
        let Some(at) = self.stack.iter().rposition(|entry| matches!(entry, Entry::Open)) else { return error("unexpected )", self.whole) };
        let inside = self.stack.split_off(at);
        let most = inside.iter().map(|entry| if let Entry::Piece(repeats) = entry { *repeats } else { 1 }).max();
        self.stack.push(Entry::Piece(most.unwrap_or(1)));
        Ok(rest)
    }

    /// Repeats the last element; `most` is the limit, if it is counted.
    fn repeat(&mut self, most: Option<u64>, before: &'r str, after: &'r str, last: &'r str) -> Verdict<&'r str> {
        let after = after.strip_prefix('?').unwrap_or(after);
        if !last.is_empty() {
            return error("invalid nested repetition operator", &last[..last.len() - after.len()]);
        }
        let written = &before[..before.len() - after.len()];
        match self.stack.last_mut() {
            Some(Entry::Piece(repeats)) => {
                if let Some(most) = most {
                    *repeats = repeats.saturating_mul(most.max(1));
                    if most >= 2 && *repeats > MOST_REPEATS {
                        return error("invalid repeat count", written);
                    }
                }
                Ok(after)
            }
            _ => error("missing argument to repetition operator", written),
        }
    }

    /// Reads a group that starts with `(?`: a name or flags.
    fn flags(&mut self, text: &'r str) -> Verdict<&'r str> {
        let name = if text.len() > 4 { text.strip_prefix("(?P<") } else { None };
        let name = name.or_else(|| if text.len() > 3 { text.strip_prefix("(?<") } else { None });
        if let Some(named) = name {
            let Some(end) = named.find('>') else { return error("invalid named capture", text) };
            let (name, rest) = (&named[..end], &named[end + 1..]);
            if name.is_empty() || !name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
                return error("invalid named capture", &text[..text.len() - rest.len()]);
            }
            return Ok(self.open(rest));
        }
        let mut rest = &text[2..];
        let (mut negative, mut any) = (false, false);
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                'i' | 'm' | 's' | 'U' => any = true,
                '-' if !negative => (negative, any) = (true, false),
                ':' | ')' if !negative || any => return Ok(if c == ':' { self.open(rest) } else { rest }),
                _ => break,
            }
        }
        error("invalid or unsupported Perl syntax", &text[..text.len() - rest.len()])
    }
}

/// The minimum and maximum of `{2,3}` and the rest; `None` if it is not a repetition. The maximum is optional.
fn counts(text: &str) -> Option<(u64, Option<u64>, &str)> {
    let number = |text: &mut &str| -> Option<u64> {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, rest) = text.split_at(digits);
        if number.is_empty() || number.len() > 1 && number.starts_with('0') {
            return None;
        }
        *text = rest;
        Some(number.parse::<u64>().unwrap_or(u64::MAX))
    };
    let mut rest = text.strip_prefix('{')?;
    let least = number(&mut rest)?;
    let mut most = Some(least);
    if let Some(after) = rest.strip_prefix(',') {
        rest = after;
        most = if rest.starts_with('}') { None } else { Some(number(&mut rest)?) };
    }
    Some((least, most, rest.strip_prefix('}')?))
}

/// The rest after an escape outside a class.
fn escaped(text: &str) -> Verdict<&str> {
    match text.as_bytes().get(1) {
        Some(b'A' | b'b' | b'B' | b'z' | b'd' | b'D' | b's' | b'S' | b'w' | b'W') => Ok(&text[2..]),
        Some(b'C') => error("invalid escape sequence", &text[..2]),
        Some(b'Q') => Ok(text[2..].split_once("\\E").map_or("", |(_, rest)| rest)),
        Some(b'p' | b'P') => unicode(text),
        _ => escape(text),
    }
}

/// The rest after an escape of one character.
fn escape(text: &str) -> Verdict<&str> {
    let after = &text[1..];
    let Some(c) = after.chars().next() else { return error("trailing backslash at end of expression", "") };
    let mut rest = &after[c.len_utf8()..];
    let is_octal = |rest: &str| rest.starts_with(|c| matches!(c, '0'..='7'));
    match c {
        '1'..='7' if !is_octal(rest) => {}
        '0'..='7' => {
            for _ in 0..2 {
                rest = rest.strip_prefix(|c| matches!(c, '0'..='7')).unwrap_or(rest);
            }
            return Ok(rest);
        }
        'x' => match hexadecimal(rest) {
            Ok(rest) => return Ok(rest),
            Err(read) => rest = read,
        },
        'a' | 'f' | 'n' | 'r' | 't' | 'v' => return Ok(rest),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => return Ok(rest),
        _ => {}
    }
    error("invalid escape sequence", &text[..text.len() - rest.len()])
}

/// The rest after the digits of `\x41` or `\x{41}`; otherwise the rest after the first invalid character.
fn hexadecimal(text: &str) -> Result<&str, &str> {
    let next = |text: &'_ str| text.chars().next().map(|c| (c, c.len_utf8()));
    let Some((first, length)) = next(text) else { return Err(text) };
    let mut rest = &text[length..];
    if first != '{' {
        let Some((second, length)) = next(rest) else { return Err(rest) };
        rest = &rest[length..];
        return if first.is_ascii_hexdigit() && second.is_ascii_hexdigit() { Ok(rest) } else { Err(rest) };
    }
    let (mut value, mut digits) = (0_u32, 0);
    while let Some((c, length)) = next(rest) {
        rest = &rest[length..];
        match c.to_digit(16) {
            Some(digit) => {
                value = value.saturating_mul(16).saturating_add(digit);
                digits += 1;
                if value > u32::from(char::MAX) {
                    return Err(rest);
                }
            }
            None => return if c == '}' && digits > 0 { Ok(rest) } else { Err(rest) },
        }
    }
    Err(rest)
}

/// The rest after `\pN` or `\p{Greek}`.
fn unicode(text: &str) -> Verdict<&str> {
    let (name, rest) = match text[2..].strip_prefix('{') {
        Some(inner) => match inner.split_once('}') {
            Some(found) => found,
            None => return error("invalid character class range", text),
        },
        None => match text[2..].chars().next() {
            Some(c) => text[2..].split_at(c.len_utf8()),
            None => return escape(text),
        },
    };
    let name = name.strip_prefix('^').unwrap_or(name);
    let is_known = || regex_syntax::Parser::new().parse(&format!("\\p{{{name}}}")).is_ok();
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    if is_name && is_known() { Ok(rest) } else { error("invalid character class range", &text[..text.len() - rest.len()]) }
}

/// The rest after a class.
fn class(whole: &str) -> Verdict<&str> {
    let mut rest = &whole[1..];
    rest = rest.strip_prefix('^').unwrap_or(rest);
    let mut first = true;
    while first || !rest.starts_with(']') {
        first = false;
        if let Some(end) = rest.strip_prefix("[:").filter(|inner| !inner.is_empty()).and_then(|inner| inner.find(":]")) {
            let name = &rest[..end + 4];
            if !is_named_class(&rest[2..end + 2]) {
                return error("invalid character class range", name);
            }
            rest = &rest[end + 4..];
            continue;
        }
        match rest.as_bytes() {
            [b'\\', b'p' | b'P', ..] => rest = unicode(rest)?,
            [b'\\', b'd' | b'D' | b's' | b'S' | b'w' | b'W', ..] => rest = &rest[2..],
            _ => {
                let range = rest;
                let (low, after) = class_character(rest, whole)?;
                rest = after;
                if let Some(after) = rest.strip_prefix('-').filter(|after| !after.is_empty() && !after.starts_with(']')) {
                    let (high, after) = class_character(after, whole)?;
                    rest = after;
                    if high < low {
                        return error("invalid character class range", &range[..range.len() - rest.len()]);
                    }
                }
            }
        }
    }
    Ok(&rest[1..])
}

/// A character of a class, and the rest.
fn class_character<'t>(text: &'t str, whole: &str) -> Verdict<(u32, &'t str)> {
    let Some(c) = text.chars().next() else { return error("missing closing ]", whole) };
    if c != '\\' {
        return Ok((u32::from(c), &text[c.len_utf8()..]));
    }
    let rest = escape(text)?;
    Ok((value_of(&text[1..text.len() - rest.len()]), rest))
}

/// The character of an escape.
fn value_of(escape: &str) -> u32 {
    let mut characters = escape.chars();
    match characters.next() {
        Some('x') => u32::from_str_radix(characters.as_str().trim_matches(['{', '}']), 16).unwrap_or_default(),
        Some('0'..='7') => u32::from_str_radix(escape, 8).unwrap_or_default(),
        Some('a') => 7,
        Some('f') => 12,
        Some('n') => 10,
        Some('r') => 13,
        Some('t') => 9,
        Some('v') => 11,
        Some(c) => u32::from(c),
        None => 0,
    }
}

fn is_named_class(name: &str) -> bool {
    const NAMES: [&str; 14] =
        ["alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word", "xdigit"];
    NAMES.contains(&name.strip_prefix('^').unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn accepts_go_regexps() {
        for regex in [
            "",
            "a",
            "a|b",
            "(a)",
            "(?:a)",
            "(?P<n>a)",
            "(?<n>a)",
            "(?i)a",
            "(?i-s:a)",
            "[a-z]",
            "[^a]",
            "[]a]",
            "[[:alpha:]]",
            "[[:^alpha:]-z]",
            "a{2,3}",
            "a{,3}",
            "a{2,}",
            "a{01}",
            "a{",
            r"\d\S",
            r"\pL",
            r"\p{Greek}",
            r"\x41\x{10FFFF}",
            r"\Qa*\E",
            r"\Qa",
            r"\012",
            "a*?",
            "[-a]",
            "[a-]",
            r"[\d-z]",
            r"\.",
            "(|a)*",
            "^*",
            "(?i)",
        ] {
            assert_eq!(check(regex), Ok(()), "{regex}");
        }
    }

    #[test]
    fn rejects_with_go_messages() {
        for (regex, words) in [
            ("(a", "missing closing ): `(a`"),
            ("a)b", "unexpected ): `a)b`"),
            ("[a", "missing closing ]: `[a`"),
            ("x[", "missing closing ]: `[`"),
            ("x[^", "missing closing ]: `[^`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("(*)", "missing argument to repetition operator: `*`"),
            ("a|+?b", "missing argument to repetition operator: `+?`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("a+?*b", "invalid nested repetition operator: `+?*`"),
            ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("a{3,2}", "invalid repeat count: `{3,2}`"),
            ("(a{100}){100}", "invalid repeat count: `{100}`"),
            ("{2}", "missing argument to repetition operator: `{2}`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?!a)", "invalid or unsupported Perl syntax: `(?!`"),
            ("(?<=a)", "invalid named capture: `(?<=a)`"),
            ("(?P<n", "invalid named capture: `(?P<n`"),
            ("(?P<n m>a)", "invalid named capture: `(?P<n m>`"),
            ("(?P=n)", "invalid or unsupported Perl syntax: `(?P`"),
            ("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`"),
            (r"\", "trailing backslash at end of expression: ``"),
            (r"(a)\1", r"invalid escape sequence: `\1`"),
            (r"\8", r"invalid escape sequence: `\8`"),
            (r"\y", r"invalid escape sequence: `\y`"),
            (r"\C", r"invalid escape sequence: `\C`"),
            (r"\xg1", r"invalid escape sequence: `\xg1`"),
            (r"\x{110000}", r"invalid escape sequence: `\x{110000`"),
            (r"\pX", r"invalid character class range: `\pX`"),
            (r"\p{Unheard}", r"invalid character class range: `\p{Unheard}`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("[[:unheard:]]", "invalid character class range: `[:unheard:]`"),
            (r"[a-\d]", r"invalid escape sequence: `\d`"),
            (r"[\y]", r"invalid escape sequence: `\y`"),
        ] {
            assert_eq!(check(regex), Err(words.into()), "{regex}");
        }
    }
}
