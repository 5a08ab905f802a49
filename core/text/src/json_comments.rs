//! Reads JSON with comments, as editors write it (`//` to the end of the line, `/* ... */`): neither JSON nor YAML, but clear. Does not read
//! values; the text without its comments is read like any other.

use super::{Comment, Document, Problem, ProblemKind, TextRange};
use alloc::{string::String, vec::Vec};

/// A JSON text whose comments are replaced by spaces.
pub(super) struct Uncommented {
    pub(super) text: String,
    comments: Vec<Comment>,
}

impl Uncommented {
    /// `None` if the text has no such comment, or is not otherwise JSON.
    pub(super) fn of(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut at = text.len() - text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).len();
        if !matches!(bytes.get(at)?, b'{' | b'[' | b'/') {
            return None;
        }
        let mut comments = Vec::new();
        let (mut has_value, mut own_line) = (false, true);
        while let Some(byte) = bytes.get(at) {
            let is_alone = own_line;
            own_line = *byte == b'\n' || own_line && matches!(byte, b' ' | b'\t' | b'\r');
            at = match byte {
                b'/' => {
                    let end = end_of_comment(text, at)?;
                    comments.push(Comment { range: TextRange::new(at as u32, end as u32), own_line: is_alone });
                    end
                }
                b'"' => end_of_string(bytes, at)?,
                b'{' | b'[' => {
                    has_value = true;
                    at + 1
                }
                b' ' | b'\t' | b'\r' | b'\n' => at + 1,
                _ if !has_value => return None,
                b'}' | b']' | b',' | b':' => at + 1,
                _ => end_of_literal(text, at)?,
            };
        }
        if comments.is_empty() || !has_value {
            return None;
        }
        Some(Self { text: blanked(text, &comments), comments })
    }

    /// Adds the comments, and the problem that they cause, to the document.
    pub(super) fn document(self, mut document: Document) -> Document {
        if let Some(first) = self.comments.first() {
            let message = "JSON has no comments, so this text is refused; delete them, or write YAML with `#`";
            let place = document.problems.partition_point(|problem| problem.range.start < first.range.start);
            let problem = Problem { kind: ProblemKind::Syntax, range: first.range, message: message.into(), related: None };
            document.problems.insert(place, problem);
        }
        document.comments = self.comments;
        document
    }
}

/// Replaces each byte of a comment by a space; line breaks stay.
fn blanked(text: &str, comments: &[Comment]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for comment in comments {
        let (start, end) = (comment.range.start as usize, comment.range.end as usize);
        out.push_str(&text[from..start]);
        out.extend(text[start..end].bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' }));
        from = end;
    }
    out.push_str(&text[from..]);
    out
}

fn end_of_comment(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    if rest.starts_with("//") {
        return Some(at + rest.find(['\n', '\r']).unwrap_or(rest.len()));
    }
    Some(at + 2 + rest.strip_prefix("/*")?.find("*/")? + 2)
}

fn end_of_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at = match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at + 2,
            _ => at + 1,
        };
    }
}

fn end_of_literal(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let literal = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len())];
    let is_number = literal.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && literal.parse::<f64>().is_ok();
    (is_number || matches!(literal, "true" | "false" | "null")).then_some(at + literal.len())
}
