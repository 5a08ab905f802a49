//! A document as read: its tree, where everything in it was written, its comments, and what is wrong with it.
//!
//! All ranges are relative to the start of the document's own text, so that a document can be kept by the hash of its text and used
//! again when it moves within its file.
//!
//! What must not be here: how it is read (`yaml`, `fast`), and the wording of problems (`problem_words`).

use alloc::{string::String, vec::Vec};
use core::fmt;

use super::{Node, NodeId, Str, TextRange, Value};

/// One document as read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Its tree; nothing where it has no content or no part of it could be read.
    pub root: Option<Node>,
    /// Where its nodes were written.
    pub spans: Spans,
    /// Its comments, in order.
    pub comments: Vec<Comment>,
    /// What is wrong with it, in order.
    pub problems: Vec<Problem>,
    /// Whether it is written in HCL, which does not tell a list of one object from the object.
    pub hcl: bool,
}

impl Document {
    /// Whether Kubernetes would refuse the text as such, whatever it means.
    pub fn is_broken(&self) -> bool {
        self.problems.iter().any(|problem| !problem.kind.is_warning())
    }

    /// Changes every range, as for a text that is part of another one.
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
    /// Where it stands, its signs included and its line break left out.
    pub range: TextRange,
    /// Whether nothing but spaces stands before it on its line.
    pub own_line: bool,
}

/// Where a node was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeSpan {
    /// The mapping key, quotes included; empty for roots and list items.
    pub key: TextRange,
    /// The value: quotes, brackets, and a block scalar's `|` included; tags, anchors and what comes after it left out. A missing value
    /// has the empty range after its `:` or `-`.
    pub value: TextRange,
    /// The object or list that holds it, [`NodeId::NONE`] for the root.
    pub parent: NodeId,
}

impl NodeSpan {
    /// Key and value together.
    pub fn whole(&self) -> TextRange {
        if self.key.is_empty() { self.value } else { self.key.join(self.value) }
    }
}

/// Where the nodes of a document were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spans {
    pub(super) spans: Vec<NodeSpan>,
}

impl Spans {
    /// Where the node was written; nothing for synthesised nodes.
    pub fn get(&self, id: NodeId) -> Option<&NodeSpan> {
        self.spans.get(id.0 as usize)
    }

    /// Numbers the nodes of a tree that nobody wrote, as a reader would, and places all of them where it is asked for.
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

    /// How many nodes were written.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether no node was written.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The keys and indexes that lead from the root to the node. For what an alias stands for, the path of the place where it is
    /// written out. Where the node is not in the tree (a later key of the same name replaced it) the path ends at what holds it.
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

    /// The innermost node whose key or value stands at `offset`.
    pub fn deepest_at(&self, offset: u32) -> Option<NodeId> {
        // Numbers follow the text, so that whatever holds the offset is the last node that begins at or before it, or above that one.
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

/// One step of a [`FieldPath`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    /// The value at a key.
    Key(Str),
    /// An item of a list, the first being 0.
    Index(u32),
}

/// The keys and indexes that lead to a node. Shown as `spec.cors.origins[2]` or `metadata.annotations["a.b/c"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath {
    /// The steps from the root.
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

/// Something wrong with a document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// Where.
    pub range: TextRange,
    /// What is wrong in one plain sentence, and what to do about it.
    pub message: String,
    /// Another place that helps to understand it, and why.
    pub related: Option<(TextRange, String)>,
}

/// What is wrong with a document's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProblemKind {
    /// Not YAML. What stands before the place was read.
    Syntax,
    /// Text after the document's value is complete, which Kubernetes ignores.
    Ignored,
    /// A tab where YAML wants spaces.
    Tab,
    /// A no-break space where an ordinary one was probably meant.
    NoBreakSpace,
    /// A character that no YAML text may contain.
    ControlCharacter,
    /// Something that was probably meant to be `---`.
    Separator,
    /// `{{ ... }}`: a template that was not rendered.
    Template,
    /// Collections nested deeper than the limit.
    TooDeep,
    /// More bytes or nodes than the limit.
    TooLarge,
    /// Aliases that stand for more nodes than the limit.
    AliasBomb,
    /// An alias to an anchor that does not exist, or that holds the alias itself.
    UnknownAnchor,
    /// A tag that its value does not fit.
    BadTag,
    /// A key that cannot be made a string.
    NonStringKey,
    /// A number that JSON cannot hold.
    NotJson,
    /// `<<` with something that cannot be merged.
    MergeKey,
    /// `<<` with something that replaces a key written before it.
    MergeReplaces,
    /// A key that was written before in the same object; the last one counts.
    DuplicateKey,
}

impl ProblemKind {
    /// Whether Kubernetes would read the document all the same.
    pub const fn is_warning(self) -> bool {
        matches!(self, Self::Ignored | Self::NoBreakSpace | Self::DuplicateKey | Self::MergeReplaces | Self::Separator)
    }
}
