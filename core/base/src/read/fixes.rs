//! Finds text changes that certainly fix a problem: each is tested before it is offered. Does not detect problems.

use crate::diagnostic::{Edit, Fix, Place};
use crate::resource::SourceId;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::{Document, Limits, Node, Problem, TextRange, Value, WRONG_QUOTES, parse};

/// Longer documents are not read again.
const LONGEST: usize = 1 << 20;
/// A change with more edits is not offered.
const MOST_EDITS: usize = 2000;
/// The usual tab widths; the replacement uses the first one.
const WIDTHS: [&str; 3] = ["  ", "    ", "        "];

/// Replaces all indenting tabs by spaces; `None` if different tab widths give different results or none is valid.
pub(super) fn tabs(text: &str, limits: &Limits) -> Option<Fix> {
    if text.len() > LONGEST {
        return None;
    }
    let tabs = indenting_tabs(text);
    if tabs.len() > MOST_EDITS {
        return None;
    }
    let mut readable = WIDTHS.iter().filter_map(|width| Some((*width, whole(&edited(text, &tabs, width), limits)?)));
    let (width, root) = readable.next()?;
    if readable.any(|(_, other)| other != root) {
        return None;
    }
    let edit = |range: TextRange| Edit { place: Place::Text(SourceId(0), range), replacement: width.repeat(range.len() as usize) };
    Some(Fix { message: "write spaces instead of tabs".to_owned(), edits: tabs.into_iter().map(edit).collect() })
}

/// Removes the duplicate key that has no effect because a later one overrides it; `None` if its lines contain anything else.
pub(super) fn duplicate(document: &Document, text: &str, problem: &Problem, limits: &Limits) -> Option<Fix> {
    let (first, _) = problem.related.as_ref()?;
    let range = lines_of_entry(text, first.start).filter(|_| text.len() <= LONGEST)?;
    if range.contains(problem.range.start) {
        return None;
    }
    let after = parse(&edited(text, &[range], ""), limits);
    let is_same = after.root.as_ref().zip(document.root.as_ref()).is_some_and(|(one, other)| same(one, other));
    if !is_same || after.problems.len() >= document.problems.len() {
        return None;
    }
    let message = "remove the overridden key".to_owned();
    Some(Fix { message, edits: Vec::from([Edit { place: Place::Text(SourceId(0), range), replacement: String::new() }]) })
}

/// Replaces no-break spaces that indent a line, separate a key from its value, or end a line.
pub(super) fn no_break_spaces(document: &Document, text: &str, limits: &Limits) -> Option<Fix> {
    let is_space = |c: char| matches!(c, ' ' | '\u{a0}');
    let mut edits = Vec::new();
    for (start, line) in lines(text) {
        let line = line.trim_end_matches(['\n', '\r']);
        let (indentation, end) = (line.len() - line.trim_start_matches(is_space).len(), line.trim_end_matches(is_space).len());
        for (at, _) in line.match_indices('\u{a0}') {
            let follows_mark = line[..at].trim_end_matches(is_space).ends_with([':', '-']);
            if at < indentation || at >= end || follows_mark {
                edits.push((range(start + at, '\u{a0}'.len_utf8()), " "));
            }
        }
    }
    replaced(document, text, limits, "write ordinary spaces", edits)
}

/// Removes the Markdown fence around the text.
pub(super) fn fences(document: &Document, text: &str, limits: &Limits) -> Option<Fix> {
    let fences = lines(text).filter(|(_, line)| line.starts_with("```"));
    replaced(document, text, limits, "delete the fence", fences.map(|(start, line)| (range(start, line.len()), "")).collect())
}

/// Replaces other quotes around HCL values by double quotes.
pub(super) fn quotes(document: &Document, text: &str, limits: &Limits) -> Option<Fix> {
    let mut edits = Vec::new();
    for (start, line) in lines(text) {
        let mut at = 0;
        while let Some(open) = line[at..].find(WRONG_QUOTES).map(|found| at + found) {
            let width = line[open..].chars().next().map_or(1, char::len_utf8);
            let is_value = line[..open].trim_end().ends_with(['=', '[', ',', '{', ':']);
            let Some(close) = line[open + width..].find(WRONG_QUOTES).map(|found| open + width + found).filter(|_| is_value) else {
                at = open + width;
                continue;
            };
            let closing = line[close..].chars().next().map_or(1, char::len_utf8);
            edits.extend([(range(start + open, width), "\""), (range(start + close, closing), "\"")]);
            at = close + closing;
        }
    }
    replaced(document, text, limits, "write double quotes", edits)
}

/// The lines of a text with their line breaks and start offsets.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |next, line| {
        let start = *next;
        *next += line.len();
        Some((start, line))
    })
}

fn range(start: usize, length: usize) -> TextRange {
    TextRange::new(start as u32, (start + length) as u32)
}

/// Returns these edits if they leave fewer problems.
fn replaced(document: &Document, text: &str, limits: &Limits, message: &str, edits: Vec<(TextRange, &'static str)>) -> Option<Fix> {
    if edits.is_empty() || edits.len() > MOST_EDITS || text.len() > LONGEST {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (range, with) in &edits {
        out.push_str(&text[from..range.start as usize]);
        out.push_str(with);
        from = range.end as usize;
    }
    out.push_str(&text[from..]);
    let after = parse(&out, limits);
    if after.root.is_none() || after.problems.len() >= document.problems.len() {
        return None;
    }
    let edit = |(range, with): (TextRange, &str)| Edit { place: Place::Text(SourceId(0), range), replacement: with.to_owned() };
    Some(Fix { message: message.to_owned(), edits: edits.into_iter().map(edit).collect() })
}

/// The tabs that indent lines.
fn indenting_tabs(text: &str) -> Vec<TextRange> {
    let mut out: Vec<TextRange> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
        for at in memchr::memchr_iter(b'\t', &line.as_bytes()[..indentation]).map(|at| (start + at) as u32) {
            match out.last_mut() {
                Some(last) if last.end == at => last.end += 1,
                _ => out.push(TextRange::new(at, at + 1)),
            }
        }
        start += line.len();
    }
    out
}

/// Replaces each byte of these ranges by `each`. An empty `each` removes the ranges.
fn edited(text: &str, ranges: &[TextRange], each: &str) -> String {
    let mut out = String::with_capacity(text.len() + ranges.len() * each.len());
    let mut from = 0;
    for range in ranges {
        out.push_str(&text[from..range.start as usize]);
        (0..range.len()).for_each(|_| out.push_str(each));
        from = range.end as usize;
    }
    out + &text[from..]
}

/// The value of a text without problems.
fn whole(text: &str, limits: &Limits) -> Option<Node> {
    let document = parse(text, limits);
    if document.is_broken() { None } else { document.root }
}

/// The lines of the entry that starts with this key; `None` if the line contains something before the key.
fn lines_of_entry(text: &str, key: u32) -> Option<TextRange> {
    let start = text.get(..key as usize)?.rfind('\n').map_or(0, |at| at + 1);
    let column = key as usize - start;
    if !text[start..key as usize].bytes().all(|byte| byte == b' ') {
        return None;
    }
    let mut end = start;
    for (number, line) in text[start..].split_inclusive('\n').enumerate() {
        let content = line.trim_start_matches(' ');
        let indentation = line.len() - content.len();
        // A list may have the same indentation as its key.
        let is_below = indentation > column || (indentation == column && content.starts_with("- "));
        if number > 0 && !is_below {
            break;
        }
        end += line.len();
    }
    Some(TextRange::new(start as u32, end as u32))
}

/// Whether two values are equal, ignoring the order of keys.
fn same(one: &Node, other: &Node) -> bool {
    match (&one.value, &other.value) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len() && one.iter().all(|entry| other.get(&entry.key).is_some_and(|value| same(&entry.value, value)))
        }
        (Value::Array(one), Value::Array(other)) => one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other)),
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn applied(text: &str, fix: &Fix) -> String {
        let mut out = text.to_string();
        for edit in fix.edits.iter().rev() {
            let Place::Text(_, range) = &edit.place else { panic!("a place in the text") };
            out.replace_range(range.start as usize..range.end as usize, &edit.replacement);
        }
        out
    }

    fn without_tabs(text: &str) -> Option<String> {
        tabs(text, &Limits::default()).map(|fix| applied(text, &fix))
    }

    fn without_duplicate(text: &str) -> Option<String> {
        let limits = Limits::default();
        let document = parse(text, &limits);
        let problem = document.problems.first().expect("a key twice");
        duplicate(&document, text, problem, &limits).map(|fix| applied(text, &fix))
    }

    #[test]
    fn tabs_become_spaces_if_unambiguous() {
        assert_eq!(without_tabs("a:\n\tb: 1\n\tc:\n\t\td: 2\n").as_deref(), Some("a:\n  b: 1\n  c:\n    d: 2\n"), "all lines have tabs");
        assert_eq!(without_tabs("a:\n  b: 1\n\tc: 2\n").as_deref(), Some("a:\n  b: 1\n  c: 2\n"), "another width is no YAML");
        assert_eq!(without_tabs("a:\n    b: 1\n\tc: 2\n").as_deref(), Some("a:\n    b: 1\n    c: 2\n"), "the neighbouring lines have this width");
        assert_eq!(without_tabs("a:\n  b:\n    c: 1\n\td: 2\n"), None, "below `a` or below `b`");
        assert_eq!(without_tabs("a: [\n\tb\n"), None, "another problem is left");
    }

    #[test]
    fn overridden_key_is_removed_with_its_value() {
        assert_eq!(without_duplicate("a: 1\nb: 2\na: 3\n").as_deref(), Some("b: 2\na: 3\n"));
        assert_eq!(without_duplicate("s:\n  a:\n    x: 1\n  a: 3\n").as_deref(), Some("s:\n  a: 3\n"));
        assert_eq!(without_duplicate("a:\n- 1\n- 2\na: 3\n").as_deref(), Some("a: 3\n"));
        assert_eq!(without_duplicate("- a: 1\n  b: 2\n  a: 3\n"), None, "a dash precedes it");
        assert_eq!(without_duplicate("{a: 1, a: 2}\n"), None, "both are in one line");
    }

    /// Applies the fix of the text's first problem.
    fn fixed(text: &str) -> Option<String> {
        let limits = Limits::default();
        let document = parse(text, &limits);
        let problem = document.problems.first()?;
        super::super::problem::fix_for(&document, text, problem, &limits).map(|fix| applied(text, &fix))
    }

    #[test]
    fn no_break_spaces_fences_quotes_are_replaced() {
        assert_eq!(fixed("a:\u{a0}1\nb: 2\n").as_deref(), Some("a: 1\nb: 2\n"));
        assert_eq!(fixed("a:\n\u{a0}\u{a0}b: 1\u{a0}\n\u{a0}\u{a0}c: \"x\u{a0}y\"\n").as_deref(), Some("a:\n  b: 1 \n  c: \"x\u{a0}y\"\n"));
        assert_eq!(fixed("```yaml\na: 1\n```\n").as_deref(), Some("a: 1\n"));
        assert_eq!(fixed("Kind = 'mesh' # isn't\nName = \u{201c}a\u{201d}\n").as_deref(), Some("Kind = \"mesh\" # isn't\nName = \"a\"\n"));
        assert_eq!(fixed("Kind = 'mesh\n"), None, "its end is unknown");
    }
}
