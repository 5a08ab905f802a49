//! Finds the exact ranges of elements that the full parser reports only roughly, so that both readers return the same ranges.

use super::{TextRange, build::Expects};

/// The start of the line that contains `offset`.
pub(super) fn line_start(text: &str, offset: u32) -> u32 {
    memchr::memrchr(b'\n', &text.as_bytes()[..offset as usize]).map_or(0, |at| at as u32 + 1)
}

/// The range of a block scalar from its `|` or `>` to its last character, given the range of its content.
pub(super) fn block_scalar(text: &str, content: TextRange, after: u32) -> TextRange {
    let after = after.min(content.start);
    let mut start = content.start;
    // The last non-blank line before the content contains the header.
    let header_end = after as usize + text[after as usize..content.start as usize].trim_end().len();
    let line = line_start(text, header_end as u32).max(after);
    let bytes = &text.as_bytes()[..header_end];
    let mut header_only_end = header_end as u32;
    for at in line as usize..header_end {
        if !matches!(bytes[at], b'|' | b'>') || (at > 0 && !matches!(bytes[at - 1], b' ' | b'\t' | b':' | b'-' | b'\n')) {
            continue;
        }
        let rest = bytes[at + 1..].iter().position(|b| !matches!(b, b'0'..=b'9' | b'+' | b'-')).map_or(header_end, |end| at + 1 + end);
        if bytes.get(rest).is_none_or(|b| matches!(b, b' ' | b'\t' | b'\r')) {
            start = at as u32;
            header_only_end = rest as u32;
            break;
        }
    }
    let end = content.start + content.slice(text).trim_end().len() as u32;
    TextRange::new(start, if end <= header_end as u32 || content.slice(text).trim().is_empty() { header_only_end } else { end })
}

/// The place of a missing value, which the parser reports between its `:` or `-` and the next token. The last element ended at `after`.
pub(super) fn missing_value(text: &str, at: TextRange, expects: Expects, after: u32) -> TextRange {
    let mark = match expects {
        Expects::ValueOf(_) => b':',
        Expects::Item => b'-',
        _ => return at,
    };
    if mark == b':' && text.as_bytes().get(at.start as usize) == Some(&mark) {
        return TextRange::empty(at.start + 1);
    }
    let (after, mut end) = (after.min(at.start) as usize, at.start as usize);
    loop {
        // First the line up to here without its comment, then the whole line: an apparent comment may be in quotes.
        let start = memchr::memrchr(b'\n', &text.as_bytes()[after..end]).map_or(after, |line| after + line + 1);
        let line = &text[start..end];
        let ends = [line.find(" #"), line.trim_start().starts_with('#').then_some(0), Some(line.len())];
        for line in ends.into_iter().flatten().map(|len| line[..len].trim_end()) {
            if line.as_bytes().last() == Some(&mark) {
                return TextRange::empty((start + line.len()) as u32);
            }
        }
        let bare = line.trim_start();
        if start <= after || !(bare.is_empty() || bare.starts_with('#')) {
            return at;
        }
        end = start - 1;
    }
}

/// The start of a block list: its first dash. The parser reports a list that is not indented below its key at its first item's content.
pub(super) fn first_dash(text: &str, start: u32, expects: Expects) -> u32 {
    let Expects::ValueOf(key) = expects else { return start };
    let mut at = key.end;
    for (number, line) in text[key.end as usize..].split_inclusive('\n').enumerate() {
        let content = line.trim_start_matches([' ', '\t']);
        if number > 0 && content.starts_with('-') {
            return at + (line.len() - content.len()) as u32;
        }
        at += line.len() as u32;
        if at > start {
            break;
        }
    }
    start
}
