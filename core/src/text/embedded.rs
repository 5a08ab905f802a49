//! YAML inside a YAML string, such as the configuration in a `getambassador.io/config` annotation: read like a file of its own, every
//! range given in the outer text.
//!
//! What must not be here: which strings hold YAML; the caller knows.

use alloc::vec::Vec;

use super::{Document, Limits, TextRange, parse, split};

/// Reads `content`, the string that `scalar` in `outer_text` stands for, and gives every range in `outer_text`. Exact for literal block
/// scalars and for plain and quoted scalars in one line, escapes included; where the places of a string's characters cannot be
/// told (folded text), ranges are those of the whole lines or of the whole scalar.
pub fn parse_embedded(outer_text: &str, scalar: TextRange, content: &str, limits: &Limits) -> Vec<Document> {
    let places = Places::find(outer_text, scalar, content);
    let documents = split(content).into_iter().filter(|chunk| !chunk.is_empty);
    documents
        .map(|chunk| {
            let mut document = parse(chunk.range.slice(content), limits);
            let translate = |range: &mut TextRange| *range = places.translate(range.shifted(chunk.range.start));
            for span in &mut document.spans.spans {
                translate(&mut span.key);
                translate(&mut span.value);
            }
            document.comments.iter_mut().for_each(|comment| translate(&mut comment.range));
            for problem in &mut document.problems {
                translate(&mut problem.range);
                if let Some((range, _)) = &mut problem.related {
                    translate(range);
                }
            }
            document
        })
        .collect()
}

/// Where the characters of a decoded string stand in the outer text.
enum Places {
    /// Runs of equal text in order: where each begins inside, where outside.
    Runs(Vec<(u32, u32)>),
    /// Not known.
    Whole(TextRange),
}

impl Places {
    fn find(outer_text: &str, scalar: TextRange, content: &str) -> Self {
        let outer = scalar.slice(outer_text);
        let runs = match outer.as_bytes().first() {
            Some(b'|') => lines(outer, content),
            Some(b'"') => double_quoted(outer, content),
            Some(b'\'') => single_quoted(outer, content),
            _ => (outer == content).then(|| alloc::vec![(0, 0)]),
        };
        let Some(mut runs) = runs else { return Self::Whole(scalar) };
        for (_, outside) in &mut runs {
            *outside += scalar.start;
        }
        Self::Runs(runs)
    }

    fn translate(&self, range: TextRange) -> TextRange {
        let runs = match self {
            Self::Whole(scalar) => return *scalar,
            Self::Runs(runs) => runs,
        };
        let place = |offset: u32| {
            let at = runs.partition_point(|(inside, _)| *inside <= offset).saturating_sub(1);
            runs.get(at).map_or(offset, |(inside, outside)| outside + (offset - inside))
        };
        let start = place(range.start);
        // The end belongs to the last character, not to what follows it.
        let end = if range.is_empty() { start } else { place(range.end - 1) + 1 };
        TextRange::new(start, end)
    }
}

/// A literal block scalar: each line stands as it is behind its indentation.
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
            // Blank lines at the end, which the scalar's range leaves out.
            if !inside.trim().is_empty() {
                return None;
            }
            runs.push((at_inside as u32, outer.len() as u32));
            break;
        };
        let bare = line.trim_end_matches(['\n', '\r']);
        let text = inside.trim_end_matches('\n');
        let skip = indent.min(bare.len());
        // Spaces at the end of the last line are left out of the scalar's range.
        if bare.get(skip..)?.trim_end() != text.trim_end() || !bare.get(..skip)?.trim().is_empty() {
            return None;
        }
        runs.push((at_inside as u32, (at_outside + skip) as u32));
        at_outside += line.len();
        at_inside += inside.len();
    }
    Some(runs)
}

/// A quoted scalar in one line, its escapes taken one by one.
fn double_quoted(outer: &str, content: &str) -> Option<Vec<(u32, u32)>> {
    let mut runs = alloc::vec![(0, 1)];
    let mut inside = content.chars();
    let (mut at_inside, mut at_outside) = (0_u32, 1_u32);
    let mut rest = outer.strip_prefix('"')?.strip_suffix('"')?;
    while let Some(c) = rest.chars().next() {
        let mut len = c.len_utf8();
        if matches!(c, '\n' | '\r') {
            return None;
        }
        let found = inside.next()?;
        if c == '\\' {
            let escape = *rest.as_bytes().get(1)?;
            len = match escape {
                b'x' => 4,
                b'u' => 6,
                b'U' => 10,
                b'\n' | b'\r' => return None,
                _ => 2,
            };
            if escape == b'u' && found as u32 > 0xffff {
                len = 12;
            }
        } else if c != found {
            return None;
        }
        rest = rest.get(len..)?;
        at_inside += found.len_utf8() as u32;
        at_outside += len as u32;
        if len != found.len_utf8() {
            runs.push((at_inside, at_outside));
        }
    }
    inside.next().is_none().then_some(runs)
}

/// A single-quoted scalar in one line, whose only escape is the doubled quote.
fn single_quoted(outer: &str, content: &str) -> Option<Vec<(u32, u32)>> {
    let bare = outer.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut runs = alloc::vec![(0, 1)];
    let mut at_inside = 0;
    for part in bare.split("''") {
        let end = at_inside + part.len();
        if content.get(at_inside..end)? != part || part.contains(['\n', '\r']) {
            return None;
        }
        at_inside = end + 1;
        let places = (at_inside as u32, (part.as_ptr() as usize - outer.as_ptr() as usize + part.len() + 2) as u32);
        runs.push(places);
    }
    (at_inside == content.len() + 1).then_some(runs)
}
