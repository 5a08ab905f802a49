//! Converts an object's node to file, line and column, and to the surrounding lines. Returned texts contain no key material.

use crate::compilation::Compilation;
use crate::diagnostic::{Part, Place};
use crate::redact::{REDACTED, RedactionMap};
use crate::resource::{Inputs, Object, ObjectId, Objects, Origin, SourceId};
use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_text::{LineIndex, Node, NodeId, Str, TextRange};
use once_cell::race::OnceBox;

/// The longest line in an excerpt, in bytes.
const LONG_LINES: u32 = 16 << 10;

/// A range of an input's text. Lines and columns count from 1, ends are exclusive.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Span {
    #[serde(skip)]
    pub source: SourceId,
    pub file: Str,
    pub line: u32,
    /// The column in characters.
    pub column: u32,
    pub end_line: u32,
    /// The column of the end in characters.
    pub end_column: u32,
    /// The byte offset of the first character in the input.
    pub offset: u32,
    /// The byte offset of the end.
    pub end_offset: u32,
    /// The column in UTF-16 units from 0, as editors count.
    pub column_utf16: u32,
    /// The end's column in UTF-16 units from 0.
    pub end_column_utf16: u32,
}

impl Span {
    /// The range in bytes.
    pub fn range(&self) -> TextRange {
        TextRange::new(self.offset, self.end_offset)
    }
}

/// Whole lines of an input with masked key material.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The first line's number, from 1.
    pub line: u32,
    /// The byte offset of the first line in the input.
    pub offset: u32,
    /// The lines. As long as the input's, byte for byte.
    pub text: String,
}

pub struct Positions<'a> {
    inputs: &'a Inputs,
    objects: &'a Objects,
    lines: Vec<OnceBox<LineIndex>>,
    veils: Vec<OnceBox<RedactionMap>>,
}

impl Compilation {
    pub fn positions(&self) -> Positions<'_> {
        Positions::new(&self.inputs, &self.objects)
    }
}

impl<'a> Positions<'a> {
    pub fn new(inputs: &'a Inputs, objects: &'a Objects) -> Self {
        let count = inputs.inputs.len();
        let (mut lines, mut veils) = (Vec::new(), Vec::new());
        lines.resize_with(count, OnceBox::new);
        veils.resize_with(count, OnceBox::new);
        Self { inputs, objects, lines, veils }
    }

    /// The text of an input, for finding places in it. It is not masked; see [`Positions::masked`].
    pub fn text(&self, source: SourceId) -> &'a str {
        self.inputs.inputs.get(source.0 as usize).map_or("", |input| &input.text)
    }

    pub fn file(&self, source: SourceId) -> Str {
        self.inputs.inputs.get(source.0 as usize).map(|input| input.name.clone()).unwrap_or_default()
    }

    /// The input of this name, or else one whose name ends with it.
    pub fn source(&self, name: &str) -> Option<SourceId> {
        let names = || self.inputs.inputs.iter().enumerate();
        let exact = names().find(|(_, input)| input.name == name);
        let tail = || names().find(|(_, input)| input.name.strip_suffix(name).is_some_and(|rest| rest.ends_with(['/', '\\'])));
        exact.or_else(tail).map(|(at, _)| SourceId(at as u32))
    }

    pub fn lines(&self, source: SourceId) -> Option<&LineIndex> {
        Some(self.lines.get(source.0 as usize)?.get_or_init(|| Box::new(LineIndex::new(self.text(source)))))
    }

    /// A range with its lines and columns.
    pub fn span(&self, source: SourceId, range: TextRange) -> Option<Span> {
        let (text, lines) = (self.text(source), self.lines(source)?);
        let point = |offset: u32| {
            let at = lines.position(text, offset);
            (at.line + 1, at.column_chars + 1, at.column_utf16)
        };
        let (line, column, column_utf16) = point(range.start);
        let (end_line, end_column, end_column_utf16) = point(range.end);
        let file = self.file(source);
        let (offset, end_offset) = (range.start, range.end);
        Some(Span { source, file, line, column, end_line, end_column, offset, end_offset, column_utf16, end_column_utf16 })
    }

    /// The place of a finding. If it spans many lines, its most telling part: a key, or an object's name.
    pub fn place(&self, place: &Place) -> Option<Span> {
        match place {
            Place::Whole => None,
            Place::Text(source, range) => self.span(*source, *range),
            Place::Node { object, node, part } => self.node(*object, *node, *part),
        }
    }

    /// The place of an origin; `None` for the controller's built-in values.
    pub fn origin(&self, origin: Origin) -> Option<Span> {
        self.node(origin.object(), origin.node(), Part::Value)
    }

    /// The most telling place of a node.
    pub fn node(&self, object: ObjectId, node: NodeId, part: Part) -> Option<Span> {
        let object = self.objects.get(object)?;
        self.span(object.source.source, self.focus(object, node, part))
    }

    /// The place of an object's name, or a similar one.
    pub fn object(&self, object: ObjectId) -> Option<Span> {
        self.node(object, self.objects.get(object)?.root.id, Part::Value)
    }

    fn focus(&self, object: &Object, node: NodeId, part: Part) -> TextRange {
        let text = self.text(object.source.source);
        let root = &object.root;
        let name = || ["metadata.name", "name", "kind"].iter().find_map(|path| find(root, path)).and_then(|node| object.value_range(node.id));
        // Spans of unreadable documents have no root.
        let is_root = !node.is_some() || node == root.id || object.value_range(node).is_none();
        if is_root {
            let whole = object.value_range(root.id).unwrap_or(TextRange::empty(object.source.offset));
            return name().unwrap_or_else(|| first_line(text, whole));
        }
        let (value, key) = (object.value_range(node).unwrap_or_default(), object.key_range(node).unwrap_or_default());
        let many_lines = memchr::memchr(b'\n', value.slice(text).as_bytes()).is_some();
        let is_scalar = value.slice(text).starts_with(['|', '>', '"', '\'']);
        match part {
            Part::Key => first_line(text, key),
            Part::Value if value.is_empty() => key,
            Part::Value if many_lines && !is_scalar => first_line(text, key),
            Part::Value => value,
        }
    }

    /// The lines of a range with context, key material masked. `None` if a line is too long to read.
    pub fn excerpt(&self, source: SourceId, range: TextRange, around: u32) -> Option<Excerpt> {
        let (text, lines) = (self.text(source), self.lines(source)?);
        let first = lines.position(text, range.start).line.saturating_sub(around);
        let last = (lines.position(text, range.end).line + around).min(lines.line_count().saturating_sub(1));
        let start = lines.line_range(first)?.start;
        let end = lines.line_range(last)?.end;
        if (first..=last).filter_map(|line| lines.line_range(line)).any(|line| line.len() > LONG_LINES) {
            return None;
        }
        Some(Excerpt { line: first + 1, offset: start, text: self.masked(source, TextRange::new(start, end)) })
    }

    /// Text of an input; stars replace the bytes that may be secret.
    pub fn masked(&self, source: SourceId, range: TextRange) -> String {
        match self.redaction_map(source) {
            Some(redaction_map) => redaction_map.masked(self.text(source), range),
            None => String::new(),
        }
    }

    /// A message about a place, without quoted text that may be secret.
    pub fn redact_message(&self, source: SourceId, range: TextRange, message: &str) -> String {
        self.redaction_map(source).map_or_else(|| message.into(), |redaction_map| redaction_map.redact_message(self.text(source), range, message))
    }

    /// The path of a node without keys that may be secret: a typing error may turn a value into a key.
    pub fn path(&self, object: &Object, node: NodeId) -> String {
        let mut path = object.path(node).to_string();
        let spans = &object.document.spans;
        for at in core::iter::successors(Some(node), |at| spans.get(*at).map(|span| span.parent)) {
            let Some(key) = object.key_range(at).filter(|key| !key.is_empty() && self.hides(object.source.source, *key)) else { continue };
            let written = key.slice(self.text(object.source.source)).trim_matches(['"', '\'']);
            if !written.is_empty() && written.len() <= path.len() {
                path = path.replace(written, REDACTED);
            }
        }
        path
    }

    /// Whether a range contains hidden bytes.
    pub fn hides(&self, source: SourceId, range: TextRange) -> bool {
        self.redaction_map(source).is_some_and(|redaction_map| redaction_map.hides(self.text(source), range))
    }

    fn redaction_map(&self, source: SourceId) -> Option<&RedactionMap> {
        Some(self.veils.get(source.0 as usize)?.get_or_init(|| Box::new(RedactionMap::new(self.text(source)))))
    }

    /// The part of a range on its first line.
    pub fn first_line(&self, source: SourceId, range: TextRange) -> TextRange {
        first_line(self.text(source), range)
    }

    /// The offset of a line (from 1) and a column in UTF-16 units.
    pub fn offset_utf16(&self, source: SourceId, line: u32, column: u32) -> Option<u32> {
        self.lines(source)?.offset_utf16(self.text(source), line.checked_sub(1)?, column)
    }
}

/// Whether messages about an object may need redaction. Most objects need none and are not examined.
pub fn holds_back(object: &Object) -> bool {
    !object.credentials.is_empty() || !object.secrets.is_empty() || object.broken || !object.document.comments.is_empty()
}

/// The value at a dotted path.
fn find<'n>(root: &'n Node, path: &str) -> Option<&'n Node> {
    path.split('.').try_fold(root, |node, key| node.get(key))
}

/// The part of a range on its first line.
fn first_line(text: &str, range: TextRange) -> TextRange {
    let line = range.slice(text).lines().next().unwrap_or_default().trim_end();
    TextRange::new(range.start, range.start + line.len() as u32)
}
