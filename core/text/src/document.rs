//! Defines a document: its tree, the ranges of its nodes, its comments, and its problems.
//!
//! All ranges are relative to the document's own text, so a document can be cached by the hash of its text and reused when it moves. Does not read
//! text (see `yaml`, `fast`) or phrase problems (see `problem_words`).

use alloc::{string::String, vec::Vec};
use core::fmt;

use super::{Node, NodeId, Str, TextRange, Value};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Its tree; `None` if it is empty or unreadable.
    pub root: Option<Node>,
    /// The ranges of its nodes.
    pub spans: Spans,
    pub comments: Vec<Comment>,
    /// Its problems, in order.
    pub problems: Vec<Problem>,
    /// Whether it is HCL, which does not distinguish a list of one object from the object.
    pub hcl: bool,
}

impl Document {
    /// Whether Kubernetes would refuse the text itself, whatever it means.
    pub fn is_broken(&self) -> bool {
        self.problems.iter().any(|problem| !problem.kind.is_warning())
    }

    /// Changes every range, for a text that is part of another one.
    pub(super) fn map_ranges(&mut self, change: impl Fn(&mut TextRange)) {
        for span in &mut self.spans.spans {
            change(&mut span.key);
            change(&mut span.value);
        }
        for comment in &mut self.comments {
            change(&mut comment.range);
        }
        for problem in &mut self.problems {
            change(&mut problem.range);
            if let Some((range, _)) = &mut problem.related {
                change(range);
            }
        }
    }
}

/// A comment: from its `#` or `//` to the end of its line, or from `/*` to `*/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its range, including its delimiters, without the line break.
    pub range: TextRange,
    /// Whether only spaces precede it on its line.
    pub own_line: bool,
}

/// The ranges of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeSpan {
    /// The mapping key with its quotes; empty for roots and list items.
    pub key: TextRange,
    /// The value with quotes, brackets, and a block scalar's `|`, without tags and anchors. A missing value has the empty range after its `:` or
    /// `-`.
    pub value: TextRange,
    /// The containing object or list; [`NodeId::NONE`] for the root.
    pub parent: NodeId,
}

impl NodeSpan {
    pub fn whole(&self) -> TextRange {
        if self.key.is_empty() { self.value } else { self.key.join(self.value) }
    }
}

/// The ranges of all nodes of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spans {
    pub(super) spans: Vec<NodeSpan>,
}

impl Spans {
    /// The ranges of a node; `None` for synthesized nodes.
    pub fn get(&self, id: NodeId) -> Option<&NodeSpan> {
        self.spans.get(id.0 as usize)
    }

    /// Numbers the nodes of a synthesized tree like a reader, and places them all at one range.
    pub fn numbering(root: &mut Node, range: TextRange) -> Self {
        let mut spans = Self::default();
        spans.number(root, NodeId::NONE, range);
        spans
    }

    fn number(&mut self, node: &mut Node, parent: NodeId, range: TextRange) {
        node.id = NodeId(self.spans.len() as u32);
        self.spans.push(NodeSpan { key: TextRange::empty(range.start), value: range, parent });
        let parent = node.id;
        match &mut node.value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.number(item, parent, range)),
            Value::Object(object) => object.iter_mut().for_each(|(_, value)| self.number(value, parent, range)),
            _ => {}
        }
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The keys and indexes from the root to the node. An alias has the path of its anchor's value. If the node is not in the tree (a later key
    /// replaced it), the path ends at its parent.
    pub fn path(&self, root: &Node, id: NodeId) -> FieldPath {
        let mut chain = Vec::new();
        let mut at = id;
        while let Some(span) = self.get(at) {
            chain.push(at);
            at = span.parent;
        }
        let mut path = FieldPath::default();
        let mut node = root;
        for id in chain.into_iter().rev().skip(1) {
            let step = match &node.value {
                Value::Object(object) => {
                    object.iter().find(|entry| entry.value.id == id).map(|entry| (Segment::Key(entry.key.clone()), &entry.value))
                }
                Value::Array(items) => {
                    let at = items.iter().position(|item| item.id == id);
                    at.map(|at| (Segment::Index(at as u32), &items[at]))
                }
                _ => None,
            };
            let Some((segment, next)) = step else { break };
            path.segments.push(segment);
            node = next;
        }
        path
    }

    /// The innermost node whose key or value contains `offset`.
    pub fn deepest_at(&self, offset: u32) -> Option<NodeId> {
        // Numbers follow the text, so the node is the last one that starts at or before the offset, or one of its ancestors.
        let after = self.spans.partition_point(|span| span.whole().start <= offset);
        let mut id = NodeId(after.checked_sub(1)? as u32);
        while let Some(span) = self.get(id) {
            if span.whole().contains(offset) {
                return Some(id);
            }
            id = span.parent;
        }
        None
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    Key(Str),
    /// An item of a list, starting at 0.
    Index(u32),
}

/// The keys and indexes to a node. Displayed as `spec.cors.origins[2]` or `metadata.annotations["a.b/c"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath {
    pub segments: Vec<Segment>,
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) if is_plain_key(key) => write!(f, "{}{key}", if at == 0 { "" } else { "." })?,
                Segment::Key(key) => write!(f, "[{:?}]", key.as_str())?,
            }
        }
        Ok(())
    }
}

fn is_plain_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// A problem of a document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub kind: ProblemKind,
    pub range: TextRange,
    /// The problem in one sentence, and the advice.
    pub message: String,
    /// Another place that explains the problem.
    pub related: Option<(TextRange, String)>,
}

/// The kinds of problems of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProblemKind {
    /// Invalid YAML. The text before it was read.
    Syntax,
    /// Text after the document's value, which Kubernetes ignores.
    Ignored,
    /// A tab where YAML requires spaces.
    Tab,
    /// A no-break space where a space was probably meant.
    NoBreakSpace,
    /// A character that YAML does not allow.
    ControlCharacter,
    /// A line that was probably meant as `---`.
    Separator,
    /// `{{ ... }}`: a template that was not rendered.
    Template,
    /// Collections nested deeper than the limit.
    TooDeep,
    /// More bytes or nodes than the limit.
    TooLarge,
    /// Aliases that expand to more nodes than the limit.
    AliasBomb,
    /// An alias to an unknown anchor, or to an anchor that contains the alias.
    UnknownAnchor,
    /// A tag that does not fit its value.
    BadTag,
    /// A key that cannot become a string.
    NonStringKey,
    /// A number that JSON does not support.
    NotJson,
    /// `<<` with a value that cannot be merged.
    MergeKey,
    /// `<<` with a value that replaces an earlier key.
    MergeReplaces,
    /// A repeated key; the last one wins.
    DuplicateKey,
}

impl ProblemKind {
    /// Whether Kubernetes would still read the document.
    pub const fn is_warning(self) -> bool {
        matches!(self, Self::Ignored | Self::NoBreakSpace | Self::DuplicateKey | Self::MergeReplaces | Self::Separator)
    }
}
