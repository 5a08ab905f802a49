//! Reads HCL version 1, as Consul writes its configuration: `Kind = "service-router"`, `Match { HTTP { PathPrefix = "/" } }`.
//!
//! Rust libraries read version 2, which refuses blocks in lists (`Routes = [ { Match { ... } } ]`), but Consul's entries use them. Version 1 is
//! small: comments, keys, strings, numbers, lists, objects. A block is an object at its key; blocks of the same key form a list; a block's labels
//! are keys of nested objects. `${...}` is plain text.

use super::build::{Builder, Stop};
use super::{Document, Limits, ProblemKind, Str, TextRange, Value};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Quotes that HCL does not have: single quotes, and typographic ones.
pub const WRONG_QUOTES: [char; 6] = ['\'', '\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}'];

/// Whether a text is HCL: its first word is followed by `=` or `{`, or by labels and `{`. No YAML or JSON object starts this way.
pub fn is_hcl(text: &str) -> bool {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, depth: 0, deepest: 1, fault: None, comments: Vec::new() };
    reader.blanks();
    let Some(key) = reader.word() else { return false };
    if key.is_empty() || is_like_base64(&key) {
        return false;
    }
    reader.spaces();
    if reader.line_is_yaml() {
        return false;
    }
    match reader.peek() {
        // Base64 text may end with this sign: a value must follow.
        Some(b'=') => {
            reader.at += 1;
            reader.spaces();
            let is_value = |first: u8| first.is_ascii_alphanumeric() || matches!(first, b'"' | b'[' | b'{' | b'<' | b'-');
            reader.peek().is_some_and(is_value) || reader.wrong_quote().is_some()
        }
        Some(b'{') => reader.bytes.get(reader.at + 1) != Some(&b'{'),
        Some(b'"') => {
            while reader.peek() == Some(b'"') {
                if reader.string().is_none() {
                    return false;
                }
                reader.spaces();
            }
            reader.peek() == Some(b'{')
        }
        _ => false,
    }
}

/// Whether a word is long and has more capitals than a key of several words: it may be base64, which may end with `=`.
fn is_like_base64(word: &str) -> bool {
    word.len() >= 16 && word.bytes().filter(u8::is_ascii_uppercase).count() * 4 > word.len()
}

/// Reads an HCL document. Never fails: unreadable parts become problems.
pub(super) fn parse(text: &str, limits: &Limits) -> Document {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, depth: 0, deepest: limits.max_depth, fault: None, comments: Vec::new() };
    let start = reader.blanks();
    let fields = reader.fields(None);
    let end = fields.iter().map(|field| field.value.range.end).fold(reader.end_of_content().max(start), u32::max);
    let root = Parsed { range: TextRange::new(start, end), value: Form::Object(fields) };
    let mut builder = Builder::new(limits, text);
    for (range, own_line) in core::mem::take(&mut reader.comments) {
        builder.comment(range, own_line);
    }
    if let Some((range, message)) = reader.fault.take() {
        builder.problem(ProblemKind::Syntax, range, message);
    }
    // An exceeded limit is already a problem.
    let _ = build(&mut builder, root);
    Document { hcl: true, ..builder.finish() }
}

struct Parsed {
    range: TextRange,
    value: Form,
}

enum Form {
    Scalar(Value),
    List(Vec<Parsed>),
    Object(Vec<Field>),
}

struct Field {
    key: (TextRange, Str),
    value: Parsed,
    is_block: bool,
}

fn build(builder: &mut Builder<'_>, of: Parsed) -> Result<(), Stop> {
    match of.value {
        Form::Scalar(value) => builder.value(of.range, value, 0),
        Form::List(items) => {
            builder.begin(of.range.start, false, 0)?;
            items.into_iter().try_for_each(|item| build(builder, item))?;
            builder.end(Some(of.range.end))
        }
        Form::Object(fields) => {
            builder.begin(of.range.start, true, 0)?;
            for field in together(fields) {
                builder.value(field.key.0, Value::String(field.key.1), 0)?;
                build(builder, field.value)?;
            }
            builder.end(Some(of.range.end))
        }
    }
}

/// Joins blocks of the same key to one list at the position of the first.
fn together(fields: Vec<Field>) -> Vec<Field> {
    let mut out: Vec<Field> = Vec::with_capacity(fields.len());
    let mut blocks: BTreeMap<Str, usize> = BTreeMap::new();
    for field in fields {
        if !field.is_block {
            out.push(field);
            continue;
        }
        let Some(first) = blocks.get(&field.key.1).and_then(|at| out.get_mut(*at)) else {
            blocks.insert(field.key.1.clone(), out.len());
            out.push(field);
            continue;
        };
        let range = first.value.range;
        first.value.range = range.join(field.value.range);
        match &mut first.value.value {
            Form::List(items) => items.push(field.value),
            one => {
                let value = core::mem::replace(one, Form::List(Vec::new()));
                first.value.value = Form::List(Vec::from([Parsed { range, value }, field.value]));
            }
        }
    }
    out
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    depth: u32,
    deepest: u32,
    /// The first problem. Reading stops there.
    fault: Option<(TextRange, String)>,
    comments: Vec<(TextRange, bool)>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn range(&self, start: usize) -> TextRange {
        TextRange::new(start as u32, self.at as u32)
    }

    fn fail<T>(&mut self, message: impl Into<String>) -> Option<T> {
        self.fail_at(self.at, message)
    }

    fn fail_at<T>(&mut self, at: usize, message: impl Into<String>) -> Option<T> {
        let end = at + self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        self.fault.get_or_insert((TextRange::new(at as u32, end as u32), message.into()));
        None
    }

    fn end_of_content(&self) -> u32 {
        self.text.get(..self.at).map_or(self.at, |read| read.trim_end().len()) as u32
    }

    /// Skips spaces on a line.
    fn spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Skips spaces, line breaks and comments, and returns the position.
    fn blanks(&mut self) -> u32 {
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            match rest {
                [b' ' | b'\t' | b'\r' | b'\n', ..] => self.at += 1,
                [0xef, 0xbb, 0xbf, ..] if self.at == 0 => self.at += 3,
                [b'#', ..] | [b'/', b'/', ..] => {
                    let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                    self.comment(length);
                }
                [b'/', b'*', ..] => match self.text.get(self.at..).and_then(|rest| rest.find("*/")) {
                    Some(length) => self.comment(length + 2),
                    None => {
                        let _: Option<()> = self.fail("this comment does not end: `*/` is missing");
                        return self.at as u32;
                    }
                },
                _ => return self.at as u32,
            }
        }
    }

    fn comment(&mut self, length: usize) {
        let start = self.at;
        let line = self.text.get(..start).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
        self.at += length;
        self.comments.push((self.range(start), line.trim().is_empty()));
    }

    /// Whether the rest of the line makes this text a YAML key.
    fn line_is_yaml(&self) -> bool {
        let line = self.text.get(self.at..).and_then(|rest| rest.lines().next()).unwrap_or_default().as_bytes();
        let mut quoted = false;
        for (at, byte) in line.iter().enumerate() {
            // Elsewhere the start of an HCL comment is part of a YAML key.
            let may_begin_comment = at == 0 || line.get(at - 1).is_some_and(u8::is_ascii_whitespace);
            match byte {
                b'"' => quoted = !quoted,
                b'#' if !quoted && may_begin_comment => return false,
                b'/' if !quoted && may_begin_comment && line.get(at + 1) == Some(&b'/') => return false,
                b':' if !quoted && line.get(at + 1).is_none_or(u8::is_ascii_whitespace) => return true,
                _ => {}
            }
        }
        // An unclosed quote is part of a YAML key.
        let ends_key = |at: usize| line.get(at + 1).is_none_or(u8::is_ascii_whitespace);
        quoted && memchr::memchr_iter(b':', line).any(ends_key)
    }

    /// Reads a key without quotes.
    fn word(&mut self) -> Option<Str> {
        let start = self.at;
        if !self.peek().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_') {
            return None;
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')) {
            self.at += 1;
        }
        self.text.get(start..self.at).map(Str::new)
    }

    /// Reads fields up to a closing brace or the end of the text.
    fn fields(&mut self, open: Option<usize>) -> Vec<Field> {
        let mut fields = Vec::new();
        while self.fault.is_none() {
            self.blanks();
            match (self.peek(), open) {
                (None, None) => break,
                (None, Some(open)) => {
                    let _: Option<()> = self.fail_at(open, "this `{` is not closed");
                }
                (Some(b'}'), Some(_)) => break,
                _ => {
                    fields.extend(self.field());
                    self.blanks();
                    // One comma may follow each field.
                    if self.fault.is_none() && self.peek() == Some(b',') {
                        self.at += 1;
                    }
                }
            }
        }
        fields
    }

    fn key(&mut self) -> Option<(TextRange, Str)> {
        let start = self.at;
        let key = if self.peek() == Some(b'"') { self.string().map(|text| Str::new(&text)) } else { self.word() };
        match key {
            Some(key) => Some((self.range(start), key)),
            None => self.fail("HCL wants a key here, such as `Kind`"),
        }
    }

    fn field(&mut self) -> Option<Field> {
        let key = self.key()?;
        let mut labels = Vec::new();
        loop {
            self.spaces();
            match self.peek() {
                Some(b'=') => {
                    self.at += 1;
                    self.blanks();
                    let value = self.value()?;
                    return Some(labelled(key, labels, value, false));
                }
                Some(b'{') => {
                    let value = self.value()?;
                    return Some(labelled(key, labels, value, true));
                }
                Some(byte) if byte == b'"' || byte.is_ascii_alphabetic() => labels.push(self.key()?),
                Some(b':') => return self.fail("HCL wants `=` here: this looks like YAML or JSON"),
                _ => return self.fail(format!("HCL wants `=` or `{{` after the key `{}`", key.1)),
            }
        }
    }

    fn value(&mut self) -> Option<Parsed> {
        if self.depth >= self.deepest {
            return self.fail(format!("objects and lists are nested more than {} deep here; nothing below is read", self.deepest));
        }
        let start = self.at;
        self.depth += 1;
        let value = match self.peek() {
            Some(b'"') => self.string().map(|text| Form::Scalar(Value::String(Str::new(&text)))),
            Some(b'<') => self.heredoc().map(|text| Form::Scalar(Value::String(Str::new(&text)))),
            Some(b'[') => self.list(),
            Some(b'{') => {
                self.at += 1;
                let fields = self.fields(Some(start));
                if self.fault.is_none() {
                    self.at += 1;
                }
                // The readable part of a broken object is kept.
                Some(Form::Object(fields))
            }
            Some(b'-' | b'+' | b'0'..=b'9') => self.number(),
            _ if self.wrong_quote().is_some() => self.unquoted(),
            _ => match self.word().as_deref() {
                Some("true") => Some(Form::Scalar(Value::Bool(true))),
                Some("false") => Some(Form::Scalar(Value::Bool(false))),
                Some("null") => Some(Form::Scalar(Value::Null)),
                Some(word) => {
                    let message = format!("`{word}` is not a value: text is written in quotes, and Consul has no variables");
                    self.fail_at(start, message)
                }
                None => self.fail("HCL wants a value here"),
            },
        };
        self.depth -= 1;
        value.map(|value| Parsed { range: self.range(start), value })
    }

    /// The next quote, if HCL does not have it.
    fn wrong_quote(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next().filter(|c| WRONG_QUOTES.contains(c))
    }

    /// Reads text in quotes that HCL does not have.
    fn unquoted(&mut self) -> Option<Form> {
        let start = self.at;
        let quote = self.wrong_quote()?;
        self.at += quote.len_utf8();
        self.fail_at(start, format!("HCL has text in double quotes (`\"`), not in `{quote}`"))
    }

    fn list(&mut self) -> Option<Form> {
        let open = self.at;
        self.at += 1;
        let mut items = Vec::new();
        let mut needs_comma = false;
        loop {
            self.blanks();
            match self.peek() {
                _ if self.fault.is_some() => return Some(Form::List(items)),
                None => {
                    return self.fail_at(open, "this `[` is not closed");
                }
                Some(b']') => {
                    self.at += 1;
                    return Some(Form::List(items));
                }
                Some(b',') => {
                    self.at += 1;
                    needs_comma = false;
                }
                Some(_) if needs_comma => {
                    let _: Option<()> = self.fail("HCL wants `,` or `]` here: items of a list need a comma between them");
                }
                _ => match self.value() {
                    Some(item) => {
                        // HCL requires no comma after a nested list.
                        needs_comma = !matches!(item.value, Form::List(_));
                        items.push(item);
                    }
                    None => return Some(Form::List(items)),
                },
            }
        }
    }

    fn number(&mut self) -> Option<Form> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+')) {
            self.at += 1;
        }
        let written = self.text.get(start..self.at).unwrap_or_default();
        let digits = written.trim_start_matches(['-', '+']);
        let whole = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None if digits.len() > 1 && digits.starts_with('0') => i64::from_str_radix(digits, 8).ok(),
            None => digits.parse().ok(),
        };
        let sign = if written.starts_with('-') { -1 } else { 1 };
        let float = || written.parse::<f64>().ok().filter(|value| value.is_finite() && digits.starts_with(|first: char| first.is_ascii_digit()));
        let value = whole.map(|value| Value::Int(sign * value)).or_else(|| float().map(Value::Float));
        match value {
            Some(value) => Some(Form::Scalar(value)),
            None => {
                let message = format!("`{written}` is no number; text is written in quotes");
                self.fail_at(start, message)
            }
        }
    }

    /// Reads a quoted string. `${...}` is kept verbatim.
    fn string(&mut self) -> Option<String> {
        let open = self.at;
        self.at += 1;
        let (mut out, mut braces) = (String::new(), 0_u32);
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(next) = rest.chars().next().filter(|next| *next != '\n' || braces > 0) else {
                return self.fail_at(open, "this text does not end: a quote is missing");
            };
            match next {
                '"' if braces == 0 => {
                    self.at += 1;
                    return Some(out);
                }
                '\\' if braces == 0 => out.push(self.escape()?),
                _ => {
                    if rest.starts_with("${") {
                        braces += 1;
                        out.push('$');
                        self.at += 1;
                    }
                    if braces > 0 && next == '}' {
                        braces -= 1;
                    }
                    out.extend(self.text.get(self.at..).and_then(|rest| rest.chars().next()));
                    self.at += self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
                }
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let start = self.at;
        let escaped = self.text.get(start + 1..).and_then(|rest| rest.chars().next());
        self.at += 1 + escaped.map_or(0, char::len_utf8);
        let of_digits = |reader: &mut Self, count: usize, radix: u32| {
            let digits = reader.text.get(reader.at..reader.at + count).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
            let read = digits.and_then(|digits| u32::from_str_radix(digits, radix).ok()).and_then(char::from_u32);
            reader.at += if read.is_some() { count } else { 0 };
            read
        };
        let read = match escaped.unwrap_or_default() {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'v' => Some('\u{b}'),
            '"' => Some('"'),
            '\\' => Some('\\'),
            'x' => of_digits(self, 2, 16),
            'u' => of_digits(self, 4, 16),
            'U' => of_digits(self, 8, 16),
            _ => None,
        };
        if read.is_none() {
            return self.fail_at(start, "HCL does not know this escape");
        }
        read
    }

    /// Reads `<<END` and the lines up to `END`; with `<<-END` these lines may be indented.
    fn heredoc(&mut self) -> Option<String> {
        let open = self.at;
        let rest = self.text.get(open..).unwrap_or_default();
        let head = rest.lines().next().unwrap_or_default();
        let is_indented = head.starts_with("<<-");
        let mark = head.strip_prefix("<<").map(|mark| mark.trim_start_matches('-').trim());
        let Some(mark) = mark.filter(|mark| !mark.is_empty() && mark.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')) else {
            return self.fail("HCL wants a value here");
        };
        let mut lines: Vec<&str> = Vec::new();
        let head_ends = rest.find('\n').map_or(rest.len(), |at| at + 1);
        for line in rest.get(head_ends..).unwrap_or_default().split_inclusive('\n') {
            if line.trim() == mark {
                self.at = open + head_ends + lines.iter().map(|line| line.len()).sum::<usize>() + line.trim_end().len();
                let indents = lines.iter().filter(|line| !line.trim().is_empty()).map(|line| line.len() - line.trim_start().len());
                let indent = if is_indented { indents.min().unwrap_or_default() } else { 0 };
                return Some(lines.iter().map(|line| line.get(indent..).unwrap_or("\n")).collect());
            }
            lines.push(line);
        }
        self.fail_at(open, format!("this text does not end: a line `{mark}` is missing"))
    }
}

/// A block's labels are keys of nested objects.
fn labelled(key: (TextRange, Str), labels: Vec<(TextRange, Str)>, value: Parsed, is_block: bool) -> Field {
    let inner = labels.into_iter().rev().fold(value, |value, key| {
        let range = key.0.join(value.range);
        Parsed { range, value: Form::Object(Vec::from([Field { key, value, is_block }])) }
    });
    Field { key, value: inner, is_block }
}

#[cfg(test)]
mod tests {
    use crate::{Limits, Node, parse, to_json};
    use alloc::format;
    use alloc::string::String;

    fn json(text: &str) -> String {
        let document = parse(text, &Limits::default());
        assert!(!document.is_broken(), "{:?}", document.problems);
        to_json(document.root.as_ref().expect("it has content"), false)
    }

    fn problem(text: &str) -> (String, String) {
        let document = parse(text, &Limits::default());
        let problem = document.problems.first().expect("something is wrong");
        (problem.range.slice(text).into(), problem.message.clone())
    }

    #[test]
    fn consul_documentation_entries_are_read() {
        let text = "# a router\nKind = \"service-router\"\nName = \"web\" // its name\nRoutes = [\n  {\n    Match {\n      HTTP {\n        PathPrefix = \"/admin\"\n      }\n    }\n    Destination { Service = \"admin\", NumRetries = 3 }\n  },\n]\n";
        let want = r#"{"Kind":"service-router","Name":"web","Routes":[{"Match":{"HTTP":{"PathPrefix":"/admin"}},"Destination":{"Service":"admin","NumRetries":3}}]}"#;
        assert_eq!(json(text), want);
    }

    #[test]
    fn equal_blocks_form_lists_labels_are_keys() {
        let text = "Splits { Weight = 90 }\nSplits { Weight = 10.5 }\nSubsets \"v1\" { Filter = \"a\" }\n";
        assert_eq!(json(text), r#"{"Splits":[{"Weight":90},{"Weight":10.5}],"Subsets":{"v1":{"Filter":"a"}}}"#);
    }

    #[test]
    fn list_items_need_commas_fields_do_not() {
        assert_eq!(json("Kind = \"a\", Name = \"web\",\nProtocol = \"http\"\n"), r#"{"Kind":"a","Name":"web","Protocol":"http"}"#);
        assert_eq!(json("a = [[1] [2]]\nb = [,1,,2]\n"), r#"{"a":[[1],[2]],"b":[1,2]}"#);
        for (text, at) in [("a = [\"b\" \"c\"]\n", "\""), ("a = [{b = 1}\n{b = 2}]\n", "{")] {
            let (place, message) = problem(text);
            assert!(place == at && message.contains("need a comma between"), "{text}: {place} {message}");
        }
        assert_eq!(problem("a = 1,, b = 2\n").0, ",");
    }

    #[test]
    fn all_literals_and_comments_are_read() {
        let text = "a = \"x\\n\\u00e9 ${b \"c\"}\"\nb = 0x10\nc = -3\nd = true\n/* e */ e = <<-END\n    one\n      two\n    END\nf = [1, 2,]\n\"g h\" = {}\n";
        assert_eq!(json(text), "{\"a\":\"x\\né ${b \\\"c\\\"}\",\"b\":16,\"c\":-3,\"d\":true,\"e\":\"one\\n  two\\n\",\"f\":[1,2],\"g h\":{}}");
    }

    #[test]
    fn only_double_quotes_are_quotes() {
        for (text, at) in [("Kind = 'mesh'\n", "'"), ("Kind = \u{201c}mesh\u{201d}\n", "\u{201c}"), ("a = [\"b\", 'c']\n", "'")] {
            assert!(super::is_hcl(text), "{text}");
            let (place, message) = problem(text);
            assert!(place == at && message.starts_with("HCL has text in double quotes"), "{text}: {place} {message}");
        }
    }

    #[test]
    fn line_breaks_of_windows_end_lines() {
        assert_eq!(json("a = <<END\r\none\r\nEND\r\nb = 1\r\n"), r#"{"a":"one\r\n","b":1}"#);
    }

    #[test]
    fn every_value_has_its_range() {
        let text = "Kind = \"mesh\"\nTransparentProxy {\n  MeshDestinationsOnly = true\n}\n";
        let document = parse(text, &Limits::default());
        let root = document.root.expect("it has content");
        let node = root.at(&["TransparentProxy", "MeshDestinationsOnly"]).expect("the field");
        let span = document.spans.get(node.id).expect("it was written");
        assert_eq!((span.key.slice(text), span.value.slice(text)), ("MeshDestinationsOnly", "true"));
        assert_eq!(root.get("Kind").and_then(Node::as_str), Some("mesh"));
    }

    #[test]
    fn problems_have_their_place() {
        assert_eq!(problem("Kind = \"a\"\nName: \"b\"\n").0, ":");
        assert_eq!(problem("Kind = \"a\"\nRoutes = [ { a = 1 }\n"), ("[".into(), "this `[` is not closed".into()));
        assert_eq!(problem("Kind = \"a\"\nMatch {\n  a = 1\n"), ("{".into(), "this `{` is not closed".into()));
        assert!(problem("Kind = \"a\nName = 1\n").1.contains("quote is missing"));
        assert!(problem("Kind = var.kind\n").1.contains("no variables"));
        assert!(problem("a = 1\nb = 12abc\n").1.contains("no number"));
        assert!(problem("a = 1\n}\n").1.contains("wants a key"));
        assert!(problem("a = <<END\nb\n").1.contains("`END` is missing"));
        assert_eq!(problem("a = \"b\\🌀\"\n").0, "\\");
        assert_eq!(problem("a = \"\\").0, "\\");
        assert!(problem(&format!("a = {}", "[".repeat(5000))).1.contains("deep"));
    }

    #[test]
    fn yaml_and_json_are_not_hcl() {
        for text in [
            "a: b = c\n",
            "{\"a\": 1}",
            "- a = 1\n",
            "a\n",
            "[1]",
            "{{ a }}\n",
            "# a = 1\nb: 2\n",
            "a == b",
            "a = b: 1\n",
            "g{O: 1\n",
            "A=\": null\n",
            "a \"b\" {:\n",
            "f{quWE?#Wk/x:\n- 1\n",
            "a{//b:\n",
        ] {
            assert!(!super::is_hcl(text), "{text}");
        }
        for text in ["a = 1 # b:\n", "a { // b:\n", "a = { b = 1 }# c\n"] {
            assert!(super::is_hcl(text), "{text}");
        }
    }

    #[test]
    fn truncated_texts_do_not_crash() {
        let text = "Kind = \"a\\u00e9${x}\"\nM \"l\" { b = [1, {c = <<-E\n x\n E\n}] } // é\n/* d */ e = 0x1F\n";
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            parse(&text[..at], &Limits::default());
            parse(&format!("{}{}", &text[..at], &text[at..].replace(['"', '}'], "")), &Limits::default());
        }
    }
}
