//! Splits a file into its documents without parsing them.
//!
//! A document ends at a line that starts with `---` or `...`: no YAML scalar continues past it, so a broken document cannot hide the next one. JSON
//! values may also follow each other on one line. Only the start of a line is examined, except for JSON's brackets.

use alloc::vec::Vec;

use super::TextRange;

/// The text of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its range in the file: from its `---` or its directives, including its `...`. Parsed alone, it gives the same result as in the file.
    pub range: TextRange,
    /// Whether it contains only blank lines, comments and markers.
    pub is_empty: bool,
}

/// Splits a file into its documents, without gaps except for a byte order mark.
pub fn split(text: &str) -> Vec<Chunk> {
    let bytes = text.as_bytes();
    let mut chunks = Vec::new();
    let mut start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut close = |start: &mut usize, end: usize| {
        if end > *start {
            push(text, *start, end, &mut chunks);
        }
        *start = end;
    };
    let mut line = start;
    // Whether the chunk has directives so far, which belong to the document after the marker, or content, after which no directive may come.
    let (mut directives, mut content) = (false, false);
    loop {
        match bytes[line..].first() {
            Some(b'-') if is_marker(&bytes[line..], b"---") => {
                if !directives {
                    close(&mut start, line);
                }
                (directives, content) = (false, false);
            }
            Some(b'.') if is_marker(&bytes[line..], b"...") => {
                let end = memchr::memchr(b'\n', &bytes[line..]).map_or(bytes.len(), |at| line + at + 1);
                close(&mut start, end);
                (directives, content) = (false, false);
            }
            Some(b'%') if !directives && !content => {
                content = !is_blank(&text[start..line]);
                if !content {
                    close(&mut start, line);
                    directives = true;
                }
            }
            _ => {}
        }
        // A line that changes nothing starts differently: find the next relevant one.
        let Some(next) =
            memchr::memchr_iter(b'\n', &bytes[line..]).map(|at| line + at + 1).find(|at| matches!(bytes.get(*at), Some(b'-' | b'.' | b'%')))
        else {
            break;
        };
        line = next;
    }
    close(&mut start, bytes.len());
    chunks
}

fn is_marker(line: &[u8], marker: &[u8; 3]) -> bool {
    line.starts_with(marker) && line.get(3).is_none_or(|b| b.is_ascii_whitespace())
}

fn push(text: &str, start: usize, end: usize, chunks: &mut Vec<Chunk>) {
    let chunk = |start: usize, end: usize| {
        let is_empty = is_blank(&text[start..end]);
        Chunk { range: TextRange { start: start as u32, end: end as u32 }, is_empty }
    };
    let mut start = start;
    while let Some(at) = end_of_json(&text.as_bytes()[start..end]) {
        chunks.push(chunk(start, start + at));
        start += at;
    }
    chunks.push(chunk(start, end));
}

/// Whether a text contains only blank lines, comments and markers.
pub(super) fn is_blank(text: &str) -> bool {
    text.lines().all(|line| {
        let line = if is_marker(line.as_bytes(), b"---") || is_marker(line.as_bytes(), b"...") { &line[3..] } else { line };
        let line = line.trim_matches([' ', '\t', '\r', '\u{feff}']);
        line.is_empty() || line.starts_with('#')
    })
}

/// The end of the first of several JSON objects or lists, with its line break.
fn end_of_json(bytes: &[u8]) -> Option<usize> {
    let first = bytes.iter().position(|b| !b.is_ascii_whitespace())?;
    if !matches!(bytes[first], b'{' | b'[') {
        return None;
    }
    let mut depth = 0_usize;
    let mut at = first;
    loop {
        match bytes.get(at)? {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                at += 1;
                loop {
                    at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
                    if bytes[at] == b'"' {
                        break;
                    }
                    at += 2;
                }
            }
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    let next = at + bytes[at..].iter().position(|b| !b.is_ascii_whitespace())?;
    if !matches!(bytes[next], b'{' | b'[') {
        return None;
    }
    Some(memchr::memchr(b'\n', &bytes[at..next]).map_or(at, |line| at + line + 1))
}
