//! Explains why a text is not YAML, and where, by its context. Does not change the result of reading.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
};

use granit_parser::{ErrorKind, ScanError};

use super::{
    Document, NodeId, Problem, ProblemKind, TextRange,
    build::{Builder, Expects},
    place::line_start,
    quote::{closing_quote, in_flow, opening_quote},
};

/// The line that contains `offset`, without its line break.
fn line_at(text: &str, offset: u32) -> TextRange {
    let start = line_start(text, offset);
    let end = memchr::memchr(b'\n', &text.as_bytes()[offset as usize..]).map_or(text.len() as u32, |at| offset + at as u32);
    let content = text[start as usize..end as usize].trim_end_matches('\r').len() as u32;
    TextRange::new(start, start + content)
}

/// The content of the line that contains `offset`, without surrounding spaces.
fn content_at(text: &str, offset: u32) -> TextRange {
    let line = line_at(text, offset);
    let content = line.slice(text);
    let start = line.start + (content.len() - content.trim_start().len()) as u32;
    TextRange::new(start, start + content.trim().len() as u32)
}

/// The last line with content above the line that contains `offset`.
fn content_above(text: &str, offset: u32) -> Option<TextRange> {
    let mut at = line_start(text, offset);
    while at > 0 {
        let content = content_at(text, at - 1);
        if !content.is_empty() && !content.slice(text).starts_with('#') {
            return Some(content);
        }
        at = line_start(text, at - 1);
    }
    None
}

fn column(text: &str, offset: u32) -> u32 {
    offset - line_start(text, offset)
}

fn line_number(text: &str, offset: u32) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..offset as usize]).count() + 1
}

fn spaces(count: u32) -> String {
    match count {
        0 => "not indented".to_owned(),
        1 => "indented by 1 space".to_owned(),
        count => format!("indented by {count} spaces"),
    }
}

/// The first character that YAML, JSON and HCL do not allow.
pub(super) fn control_character(text: &str) -> Option<Problem> {
    let (at, c) = text.char_indices().find(|(at, c)| match *c {
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' => false,
        '\u{feff}' => *at != 0,
        '\u{ff00}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}' => false,
        _ => true,
    })?;
    let name = match c {
        '\0' => "a NUL character".to_owned(),
        '\u{1b}' => "an escape character (terminals use it for colours)".to_owned(),
        '\u{feff}' => "a byte order mark within a text".to_owned(),
        c => format!("the control character U+{:04X}", c as u32),
    };
    let range = TextRange::new(at as u32, (at + c.len_utf8()) as u32);
    Some(Problem { kind: ProblemKind::ControlCharacter, range, message: format!("{name} is not allowed in configuration; delete it"), related: None })
}

/// Explains a parse error.
pub(super) fn explain(text: &str, error: &ScanError, offset: u32, builder: &Builder<'_>) -> Problem {
    let offset = text.floor_char_boundary(offset as usize) as u32;
    let here = char_range(text, offset);
    let plain = |kind, range, message: String| Problem { kind, range, message, related: None };
    if let Some(problem) = broken_separator(text, offset) {
        return problem;
    }
    let line = line_at(text, offset);
    if let Some(at) = line.slice(text).find("{{").filter(|_| *error.kind() != ErrorKind::RecursionLimitExceeded) {
        let start = line.start + at as u32;
        let message = "`{{` looks like a template's placeholder; render the template first".to_owned();
        return plain(ProblemKind::Template, TextRange::new(start, start + 2), message);
    }
    match error.kind() {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => tab(text, offset),
        ErrorKind::RecursionLimitExceeded => {
            plain(ProblemKind::TooDeep, here, builder.too_deep())
        }
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::DocumentIndicatorInQuotedScalar => unclosed_quote(text, offset, builder),
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar if in_flow(text, builder) => {
            plain(ProblemKind::Syntax, here, "expected `:`, `,` or a closing bracket after the quoted text".to_owned())
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            let message = "the quoted text ends before this; quote the whole value, or write the quote inside it twice (`''`) or as `\\\"`";
            plain(ProblemKind::Syntax, rest_of_line(text, offset), message.to_owned())
        }
        ErrorKind::UnexpectedCharacter { character: '`' } if text[here.start as usize..].starts_with("```") => {
            let message = "this line is a fence of Markdown and no part of the YAML; delete it".to_owned();
            plain(ProblemKind::Syntax, content_at(text, offset), message)
        }
        ErrorKind::UnexpectedCharacter { character } => match character {
            '`' | '@' | '%' => {
                plain(ProblemKind::Syntax, here, format!("a value cannot begin with `{character}`; put it in quotes"))
            }
            '\t' => tab(text, offset),
            c => plain(ProblemKind::Syntax, here, format!("`{}` is not allowed here", c.escape_debug())),
        },
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::BlockEntryInFlowCollection => unclosed_bracket(text, offset, builder),
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            let after = builder.last_end().max(offset) as usize;
            let place = text[after..].find(*close).map_or(offset, |at| (after + at) as u32);
            Problem { message: format!("`{close}` cannot close `{open}`"), ..unclosed_bracket(text, place, builder) }
        }
        ErrorKind::MisplacedFlowCollectionEnd => {
            plain(ProblemKind::Syntax, here, format!("`{}` closes nothing", here.slice(text)))
        }
        _ if in_flow(text, builder) => unclosed_bracket(text, offset, builder),
        ErrorKind::SimpleKeyExpected => missing_colon(text, offset),
        ErrorKind::MappingValueNotAllowed | ErrorKind::ExpectedBlockMappingKey | ErrorKind::ExpectedBlockSequenceEntry => {
            indentation(text, offset, builder)
        }
        ErrorKind::BlockSequenceEntryNotAllowed => {
            plain(ProblemKind::Syntax, rest_of_line(text, offset), "a list cannot begin in the line of its key; put it on the next line".to_owned())
        }
        ErrorKind::InvalidBlockScalarHeader => {
            let message = "only `+`, `-` or a digit may follow a `|` or `>` that begins a block of text; put a value that begins with it in quotes";
            plain(ProblemKind::Syntax, rest_of_line(text, offset), message.to_owned())
        }
        ErrorKind::MissingAnchorOrAliasName => {
            plain(ProblemKind::Syntax, here, format!("a name must follow `{0}`; put a value that begins with `{0}` in quotes", here.slice(text)))
        }
        ErrorKind::UnknownQuotedScalarEscape => escape(text, offset),
        ErrorKind::MissingLowSurrogate => plain(
            ProblemKind::Syntax,
            rest_of_line(text, offset),
            "half of a surrogate pair (`\\uD800` to `\\uDFFF`) is alone in this text; it is not a character".to_owned(),
        ),
        ErrorKind::ExpectedDocumentStart => plain(
            ProblemKind::Ignored,
            content_at(text, offset),
            "the document's value is complete before this, so Kubernetes ignores everything after it; indent it like the lines above, or begin another document with a `---` line".to_owned(),
        ),
        _ => {
            let at_line_start = content_at(text, offset).start == offset;
            if at_line_start && builder.open().next().is_some() { indentation(text, offset, builder) } else { plain(ProblemKind::Syntax, here, error.info()) }
        }
    }
}

fn char_range(text: &str, offset: u32) -> TextRange {
    let len = text[offset as usize..].chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
    TextRange::new(offset, offset + len as u32)
}

pub(super) fn rest_of_line(text: &str, offset: u32) -> TextRange {
    TextRange::new(offset, content_at(text, offset).end)
}

/// The line of the error, or the one above, may be a malformed separator.
fn broken_separator(text: &str, offset: u32) -> Option<Problem> {
    let here = content_at(text, offset);
    let candidates = [Some(here), content_above(text, offset)];
    for range in candidates.into_iter().flatten() {
        let content = range.slice(text);
        let dashes = content.bytes().take_while(|b| *b == b'-').count();
        let only_dashes = dashes == content.len() && dashes >= 2;
        let glued = dashes == 3 && column(text, range.start) == 0 && content.as_bytes().get(3).is_some_and(u8::is_ascii_alphabetic);
        let is_marker = only_dashes && dashes == 3 && column(text, range.start) == 0;
        if is_marker || (!only_dashes && !glued) {
            continue;
        }
        let message = if glued {
            "the `---` that begins a document must be alone on its line; put the rest on the next line".to_owned()
        } else if dashes == 3 {
            "a `---` that begins a document must be at the start of its line".to_owned()
        } else {
            format!("this is not a separator: documents are separated by exactly `---`, not by {dashes} dashes")
        };
        return Some(Problem { kind: ProblemKind::Syntax, range, message, related: None });
    }
    None
}

fn tab(text: &str, offset: u32) -> Problem {
    let line = line_at(text, offset);
    // A tab may only be noticed when the line above is completely read.
    let rest = || text[offset as usize..].find('\t').map_or(offset, |at| offset + at as u32);
    let tab = line.slice(text).find('\t').map_or_else(rest, |at| line.start + at as u32);
    let count = text[tab as usize..].bytes().take_while(|b| *b == b'\t').count() as u32;
    let message = "YAML does not allow tabs for indentation; replace this by spaces".to_owned();
    Problem { kind: ProblemKind::Tab, range: TextRange::new(tab, tab + count), message, related: None }
}

/// The first tab where Kubernetes requires spaces although the parser accepted it: before a key, a `-` or a comment.
pub(super) fn misplaced_tab(text: &str, document: &Document) -> Option<Problem> {
    let bytes = text.as_bytes();
    memchr::memchr(b'\t', bytes)?;
    let mut start = 0;
    text.split_inclusive('\n').find_map(|line| {
        let before = line.bytes().take_while(|b| matches!(b, b' ' | b'-' | b'?')).count();
        let at = (start + before) as u32;
        start += line.len();
        if line.as_bytes().get(before) != Some(&b'\t') || line[..before].contains("--") {
            return None;
        }
        // Multi-line scalars and flow collections may contain tabs.
        let mut id = document.spans.deepest_at(at).unwrap_or(NodeId::NONE);
        while let Some(span) = document.spans.get(id) {
            let is_leaf = document.spans.get(NodeId(id.0 + 1)).is_none_or(|next| next.parent != id);
            let is_flow = matches!(bytes.get(span.value.start as usize), Some(b'[' | b'{'));
            if span.value.contains(at) && (is_leaf || is_flow) {
                return None;
            }
            id = span.parent;
        }
        Some(tab(text, at))
    })
}

fn unclosed_quote(text: &str, offset: u32, builder: &Builder<'_>) -> Problem {
    let quote = opening_quote(text, offset, builder).unwrap_or(offset);
    let line = line_number(text, quote);
    let message = match closing_quote(text, quote) {
        None => format!("the quote that begins here (line {line}) is never closed"),
        Some(close) => format!("the quote that begins here (line {line}) is closed too late, in line {}", line_number(text, close)),
    };
    let noticed = content_at(text, offset);
    let related = (offset > quote && !noticed.is_empty()).then(|| (noticed, "the quoted text cannot continue here".to_owned()));
    Problem { kind: ProblemKind::Syntax, range: char_range(text, quote), message, related }
}

fn unclosed_bracket(text: &str, offset: u32, builder: &Builder<'_>) -> Problem {
    let bracket = builder.open().rev().map(|(start, _)| start).find(|start| matches!(text.as_bytes().get(*start as usize), Some(b'[' | b'{')));
    let here = char_range(text, offset);
    let Some(bracket) = bracket else {
        let message = match here.slice(text) {
            open @ ("[" | "{") => format!("this `{open}` is never closed"),
            _ => "a `]` or `}` is missing before this".to_owned(),
        };
        return Problem { kind: ProblemKind::Syntax, range: here, message, related: None };
    };
    let open = char_range(text, bracket);
    let close = if open.slice(text) == "[" { ']' } else { '}' };
    let message =
        format!("expected `,` or `{close}` before this: the `{}` in line {} is not closed yet", open.slice(text), line_number(text, bracket));
    Problem { kind: ProblemKind::Syntax, range: here, message, related: Some((open, "opened here".to_owned())) }
}

fn missing_colon(text: &str, offset: u32) -> Problem {
    let content = content_at(text, offset);
    let word = content.slice(text);
    let shown: String = word.chars().take(40).collect();
    let is_conflict = ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].iter().any(|mark| word.starts_with(mark));
    let message = match word.find(':') {
        Some(at) if word[at + 1..].starts_with('\u{a0}') => {
            "the space after `:` is a no-break space, which YAML does not treat as a space; replace it by an ordinary one".to_owned()
        }
        _ if is_conflict => "a conflict of Git was not resolved: take its marker away, and the lines that are not wanted".to_owned(),
        Some(at) if word[at + 1..].chars().next().is_some_and(|c| !c.is_whitespace()) => {
            format!("missing space after `:` in `{shown}`")
        }
        _ => format!("missing `:` after `{shown}`"),
    };
    Problem { kind: ProblemKind::Syntax, range: content, message, related: None }
}

fn escape(text: &str, offset: u32) -> Problem {
    let mut range = rest_of_line(text, offset);
    let bytes = text.as_bytes();
    let mut at = offset as usize;
    while at + 1 < range.end as usize {
        if bytes[at] == b'\\' {
            if !b"0abt\tnvfre \"/\\N_LPxuU\n\r".contains(&bytes[at + 1]) {
                range = TextRange::new(at as u32, at as u32 + 1 + char_range(text, at as u32 + 1).len());
                break;
            }
            at += 1;
        }
        at += 1;
    }
    let shown: String = range.slice(text).chars().take(2).collect();
    let message = format!("`{shown}` is not an escape in YAML; write `\\\\` for a backslash, or use single quotes");
    Problem { kind: ProblemKind::Syntax, range, message, related: None }
}

/// The line's indentation does not fit the lines above.
fn indentation(text: &str, offset: u32, builder: &Builder<'_>) -> Problem {
    let line = content_at(text, offset);
    let content = line.slice(text);
    let indent = line_start(text, line.start);
    if text[indent as usize..line.start as usize].contains('\t') {
        return tab(text, indent);
    }
    let here = column(text, line.start);
    let above = content_above(text, line.start);
    let problem = |range, message, related| Problem { kind: ProblemKind::Syntax, range, message, related };
    // A second `: ` on one line.
    let before = &text[line.start as usize..offset.clamp(line.start, line.end) as usize];
    if text.as_bytes().get(offset as usize) == Some(&b':') && (before.contains(": ") || before.starts_with("- ") && before.matches(": ").count() > 0)
    {
        let message = "a value with `: ` in it must be quoted; a key of an inner object must be on the next line".to_owned();
        return problem(char_range(text, offset), message, None);
    }
    // The columns of the open objects and lists around this line, the innermost last.
    let mut columns: alloc::vec::Vec<(u32, u32, bool)> = builder.open().map(|(start, is_object)| (column(text, start), start, is_object)).collect();
    if let Expects::ValueOf(key) = builder.expects()
        && line_start(text, key.start) == line.start
    {
        columns.retain(|(_, start, _)| *start < line.start);
    }
    let is_item = content == "-" || content.starts_with("- ");
    if let Some((_, start, is_object)) = columns.iter().rev().find(|(at, ..)| *at == here) {
        let sibling = content_at(text, *start);
        if *is_object && is_item {
            let message = "a list item cannot be among keys; indent it below the key it belongs to, or delete the value of that key".to_owned();
            return problem(line, message, above.map(|above| (above, "the line above".to_owned())));
        }
        if !*is_object && !is_item {
            let message = "expected a `- ` like the other lines of this list".to_owned();
            return problem(line, message, Some((sibling, "the list begins here".to_owned())));
        }
    }
    // A line above that looks like a key without its `: ` swallowed the lines below.
    if let Some(above) = above.filter(|above| column(text, above.start) == here) {
        let word = above.slice(text).trim_start_matches("- ");
        if !word.contains(": ") && !word.ends_with(':') && word.contains(':') {
            return missing_colon(text, above.start);
        }
    }
    // The line ended these collections, but does not fit into their parents either.
    let deeper = builder.closed().iter().map(|start| (column(text, *start), *start)).filter(|(at, _)| *at > here).min();
    if let Some((at, start)) = deeper {
        let outer = columns.last().map_or(String::new(), |(at, ..)| format!(" and their parent by {at}"));
        let message = format!("this line is {}, its siblings by {at}{outer}", spaces(here));
        return problem(line, message, Some((content_at(text, start), "a sibling".to_owned())));
    }
    let sibling = columns.iter().rev().find(|(at, ..)| *at > here).or_else(|| columns.last());
    if let Some((at, start, _)) = sibling
        && *at != here
    {
        let message = format!("this line is {}, its siblings by {at}", spaces(here));
        return problem(line, message, Some((content_at(text, *start), "a sibling".to_owned())));
    }
    let message = match above {
        Some(above) if column(text, above.start) != here => {
            let message = format!("this line is {}, the line above it by {}", spaces(here), column(text, above.start));
            return problem(line, message, Some((above, "the line above".to_owned())));
        }
        _ => "this does not fit the lines above it; look for a missing `:` or wrong indentation".to_string(),
    };
    problem(line, message, above.map(|above| (above, "the line above".to_owned())))
}
