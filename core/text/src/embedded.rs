//! Reads YAML inside a YAML string, such as the configuration in a `getambassador.io/config` annotation. All ranges refer to the outer text. The
//! caller knows which strings contain YAML.

use alloc::vec::Vec;

use super::{Document, Limits, TextRange, parse, split};

/// Reads `content`, the value of `scalar` in `outer_text`, with ranges in `outer_text`. Ranges are exact for literal block scalars, quoted scalars
/// and single-line plain scalars. Otherwise (folded block scalars, aliases) every range is the whole scalar.
pub fn parse_embedded(outer_text: &str, scalar: TextRange, content: &str, limits: &Limits) -> Vec<Document> {
    let places = Places::find(outer_text, scalar, content);
    let documents = split(content).into_iter().filter(|chunk| !chunk.is_empty);
    documents
        .map(|chunk| {
            let mut document = parse(chunk.range.slice(content), limits);
            document.map_ranges(|range| *range = places.translate(range.shifted(chunk.range.start)));
            document
        })
        .collect()
}

/// Maps parts of `content`, the value of `scalar`, to `outer_text`; the whole scalar if the positions are unknown.
pub fn places_in(outer_text: &str, scalar: TextRange, content: &str, parts: Vec<TextRange>) -> Vec<TextRange> {
    let places = Places::find(outer_text, scalar, content);
    parts.into_iter().map(|part| places.translate(part)).collect()
}

/// The positions of a decoded string's characters in the outer text.
enum Places {
    /// Runs of equal text in order, with their inner and outer start. Indentation separates lines.
    Runs { runs: Vec<(u32, u32)>, are_lines: bool },
    /// Unknown.
    Whole(TextRange),
}

impl Places {
    fn find(outer_text: &str, scalar: TextRange, content: &str) -> Self {
        let outer = scalar.slice(outer_text);
        let runs = match outer.as_bytes().first() {
            Some(b'|') => lines(outer, content),
            Some(b'"') => quoted(outer, content, '"'),
            Some(b'\'') => quoted(outer, content, '\''),
            _ => (outer == content).then(|| alloc::vec![(0, 0)]),
        };
        let Some(mut runs) = runs else { return Self::Whole(scalar) };
        for (_, outside) in &mut runs {
            *outside += scalar.start;
        }
        Self::Runs { runs, are_lines: outer.starts_with('|') }
    }

    fn translate(&self, range: TextRange) -> TextRange {
        let (runs, are_lines) = match self {
            Self::Whole(scalar) => return *scalar,
            Self::Runs { runs, are_lines } => (runs, *are_lines),
        };
        let place = |offset: u32| {
            let at = runs.partition_point(|(inside, _)| *inside <= offset).saturating_sub(1);
            runs.get(at).map_or(offset, |(inside, outside)| outside + (offset - inside))
        };
        let start = place(range.start);
        // The end belongs to the last character, not to the next line's text.
        let end = match range.is_empty() {
            true => start,
            false if are_lines => place(range.end - 1) + 1,
            false => place(range.end),
        };
        TextRange::new(start, end)
    }
}

/// A literal block scalar: each line is verbatim after its indentation.
fn lines(outer: &str, content: &str) -> Option<Vec<(u32, u32)>> {
    let header = outer.find('\n')? + 1;
    let mut outside = outer[header..].split_inclusive('\n');
    let mut at_outside = header;
    let mut at_inside = 0;
    let mut runs = Vec::new();
    let first = outer[header..].lines().zip(content.lines()).find(|(_, inside)| !inside.trim().is_empty())?;
    let indent = first.0.len().checked_sub(first.1.len())?;
    for inside in content.split_inclusive('\n') {
        let Some(line) = outside.next() else {
            // The scalar's range excludes trailing blank lines.
            if !inside.trim().is_empty() {
                return None;
            }
            runs.push((at_inside as u32, outer.len() as u32));
            break;
        };
        let bare = line.trim_end_matches(['\n', '\r']);
        let text = inside.trim_end_matches('\n');
        let skip = indent.min(bare.len());
        // The scalar's range excludes trailing spaces of the last line.
        if bare.get(skip..)?.trim_end() != text.trim_end() || !bare.get(..skip)?.trim().is_empty() {
            return None;
        }
        runs.push((at_inside as u32, (at_outside + skip) as u32));
        at_outside += line.len();
        at_inside += inside.len();
    }
    Some(runs)
}

/// A quoted scalar, with escapes and folded line breaks.
fn quoted(outer: &str, content: &str, quote: char) -> Option<Vec<(u32, u32)>> {
    let mut rest = outer.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut inside = content;
    let mut runs = alloc::vec![(0, 1)];
    while !rest.is_empty() {
        let (outer_len, inner_len) = piece(rest, inside, quote)?;
        rest = rest.get(outer_len..)?;
        inside = inside.get(inner_len..)?;
        if outer_len != inner_len {
            runs.push(((content.len() - inside.len()) as u32, (outer.len() - 1 - rest.len()) as u32));
        }
    }
    inside.is_empty().then_some(runs)
}

/// The lengths of the next piece of a quoted string and of its value.
fn piece(rest: &str, inside: &str, quote: char) -> Option<(usize, usize)> {
    let blank = rest.trim_start_matches([' ', '\t']);
    if blank.starts_with(['\n', '\r']) {
        // A single line break is a space; of several, the first is dropped.
        let next = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        let breaks = rest[..rest.len() - next.len()].matches('\n').count();
        let folded = if breaks == 1 { inside.starts_with(' ').then_some(1) } else { Some(breaks.checked_sub(1)?) };
        let folded = folded.filter(|len| breaks == 1 || inside.bytes().take(*len).filter(|b| *b == b'\n').count() == *len)?;
        return Some((rest.len() - next.len(), folded));
    }
    let c = rest.chars().next()?;
    if quote == '"' && c == '\\' {
        let escape = *rest.as_bytes().get(1)?;
        if matches!(escape, b'\n' | b'\r') {
            let next = rest[1..].trim_start_matches('\r').strip_prefix('\n')?.trim_start_matches([' ', '\t']);
            return Some((rest.len() - next.len(), 0));
        }
        let found = inside.chars().next()?;
        let len = match escape {
            b'x' => 4,
            b'u' if found > '\u{ffff}' => 12,
            b'u' => 6,
            b'U' => 10,
            _ => 2,
        };
        return Some((len, found.len_utf8()));
    }
    let len = if quote == '\'' && c == '\'' { 2 } else { c.len_utf8() };
    inside.starts_with(c).then_some((len, c.len_utf8()))
}
