//! Builds a document from a reader's events: ids, spans, keys, merges, anchors, limits.
//!
//! Both readers (`yaml` and `fast`) use this builder, so they agree on the meaning of a text. It does not read the text itself, except to normalize
//! a range.
use alloc::{
    borrow::ToOwned,
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use super::{Comment, Document, Limits, Node, NodeId, NodeSpan, Object, Problem, ProblemKind, Spans, Str, TextRange, Value, scalar};

/// A limit was exceeded: the problem is recorded, and reading must stop.
#[derive(Debug)]
pub(super) struct Stop;

pub(super) struct Builder<'a> {
    limits: &'a Limits,
    spans: Vec<NodeSpan>,
    frames: Vec<Frame>,
    anchors: BTreeMap<usize, Anchor>,
    root: Option<Node>,
    comments: Vec<Comment>,
    problems: Vec<Problem>,
    /// The number of nodes that anchors and aliases created.
    copied: u32,
    /// The end of the last element.
    last_end: u32,
    /// The starts of the collections that ended since the last key or scalar.
    closed: Vec<u32>,
}

/// An open object or list.
struct Frame {
    id: NodeId,
    content: Content,
    end: u32,
    anchor: usize,
    copied_before: u32,
    /// It is used as a key, which JSON does not support.
    is_key: bool,
}

enum Content {
    Array(Vec<Node>),
    Object { object: Object, pending: Option<Key>, merged: BTreeSet<Str> },
}

struct Key {
    text: Str,
    range: TextRange,
    role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Normal,
    /// `<<`
    Merge,
    /// The value is read and dropped.
    Refused,
}

struct Anchor {
    node: Node,
    size: u32,
}

/// What the innermost open collection expects next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Expects {
    Root,
    Item,
    Key,
    ValueOf(TextRange),
}

impl<'a> Builder<'a> {
    pub(super) fn new(limits: &'a Limits, text: &str) -> Self {
        Self {
            limits,
            spans: Vec::with_capacity(text.len() / 12),
            frames: Vec::with_capacity(8),
            anchors: BTreeMap::new(),
            root: None,
            comments: Vec::new(),
            problems: Vec::new(),
            copied: 0,
            last_end: 0,
            closed: Vec::new(),
        }
    }

    pub(super) fn expects(&self) -> Expects {
        match self.frames.last().map(|frame| &frame.content) {
            None => Expects::Root,
            Some(Content::Array(_)) => Expects::Item,
            Some(Content::Object { pending: None, .. }) => Expects::Key,
            Some(Content::Object { pending: Some(key), .. }) => Expects::ValueOf(key.range),
        }
    }

    pub(super) fn last_end(&self) -> u32 {
        self.last_end
    }

    /// The open collections, the innermost last: the start of each, and whether it is an object.
    pub(super) fn open(&self) -> impl DoubleEndedIterator<Item = (u32, bool)> {
        self.frames.iter().map(|frame| {
            let start = self.spans[frame.id.0 as usize].value.start;
            (start, matches!(frame.content, Content::Object { .. }))
        })
    }

    /// The starts of the collections that just ended.
    pub(super) fn closed(&self) -> &[u32] {
        &self.closed
    }

    pub(super) fn problem(&mut self, kind: ProblemKind, range: TextRange, message: impl Into<String>) {
        self.push_problem(Problem { kind, range, message: message.into(), related: None });
    }

    pub(super) fn push_problem(&mut self, problem: Problem) {
        push(&mut self.problems, problem);
    }

    pub(super) fn too_deep(&self) -> String {
        format!("objects and lists are nested more than {} deep here; nothing below is read", self.limits.max_depth)
    }

    pub(super) fn comment(&mut self, range: TextRange, own_line: bool) {
        self.comments.push(Comment { range, own_line });
    }

    pub(super) fn plain(&mut self, range: TextRange, text: &str, anchor: usize) -> Result<(), Stop> {
        if text == "<<" && self.expects() == Expects::Key {
            self.set_key(Str::new_static("<<"), range, Role::Merge);
            return Ok(());
        }
        self.value(range, scalar::resolve(text), anchor)
    }

    pub(super) fn value(&mut self, range: TextRange, value: Value, anchor: usize) -> Result<(), Stop> {
        if self.expects() == Expects::Key {
            if anchor != 0 {
                let node = Node { id: NodeId::NONE, value: value.clone() };
                self.anchors.insert(anchor, Anchor { node, size: 1 });
            }
            match scalar::key(value) {
                Some(key) => self.set_key(key, range, Role::Normal),
                None => self.refuse_key(range, "null"),
            }
            return Ok(());
        }
        let id = self.begin_node(range)?;
        let value = match value {
            Value::Float(number) if !number.is_finite() => {
                let name = if number.is_nan() { "not-a-number" } else { "infinity" };
                self.problem(ProblemKind::NotJson, range, format!("{name} cannot be written in JSON, so Kubernetes refuses it"));
                Value::Null
            }
            value => value,
        };
        let node = Node { id, value };
        if anchor != 0 {
            self.remember(anchor, &node, 1)?;
        }
        self.attach(node, range.end);
        Ok(())
    }

    /// Starts an object or list. Its end is known later.
    pub(super) fn begin(&mut self, start: u32, is_object: bool, anchor: usize) -> Result<(), Stop> {
        if self.frames.len() >= self.limits.max_depth as usize {
            let message = self.too_deep();
            self.problem(ProblemKind::TooDeep, TextRange::new(start, start + 1), message);
            return Err(Stop);
        }
        let is_key = self.expects() == Expects::Key;
        let id = self.begin_node(TextRange::empty(start))?;
        let content =
            if is_object { Content::Object { object: Object::new(), pending: None, merged: BTreeSet::new() } } else { Content::Array(Vec::new()) };
        self.frames.push(Frame { id, content, end: start, anchor, copied_before: self.copied, is_key });
        Ok(())
    }

    /// Ends the innermost object or list: at its closing bracket, or else at the end of its content.
    pub(super) fn end(&mut self, end: Option<u32>) -> Result<(), Stop> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        let end = end.unwrap_or(frame.end);
        self.closed.push(self.spans[frame.id.0 as usize].value.start);
        let range = {
            let range = &mut self.spans[frame.id.0 as usize].value;
            range.end = end.max(range.start);
            *range
        };
        let value = match frame.content {
            Content::Array(mut items) => {
                items.shrink_to_fit();
                Value::Array(items)
            }
            Content::Object { mut object, .. } => {
                object.shrink_to_fit();
                Value::Object(object)
            }
        };
        if frame.is_key {
            let kind = value.kind_name();
            self.refuse_key(range, kind);
            return Ok(());
        }
        let node = Node { id: frame.id, value };
        if frame.anchor != 0 {
            let written = self.spans.len() as u32 - frame.id.0;
            self.remember(frame.anchor, &node, written + (self.copied - frame.copied_before))?;
        }
        self.attach(node, end);
        Ok(())
    }

    /// Adds an alias to a known anchor.
    pub(super) fn alias(&mut self, range: TextRange, anchor: usize, name: &str) -> Result<(), Stop> {
        let Some(found) = self.anchors.get(&anchor) else {
            let message = format!("`{name}` is an alias of something that contains this alias itself");
            self.problem(ProblemKind::UnknownAnchor, range, message);
            return self.value(range, Value::Null, 0);
        };
        let size = found.size;
        self.count_copies(range, size)?;
        let Some(value) = self.anchors.get(&anchor).map(|found| found.node.value.clone()) else { return Ok(()) };
        if matches!(value, Value::Array(_) | Value::Object(_)) && self.expects() == Expects::Key {
            let kind = value.kind_name();
            self.refuse_key(range, kind);
            return Ok(());
        }
        self.value(range, value, 0)
    }

    /// Adds an alias to an unknown anchor.
    pub(super) fn unknown_alias(&mut self, range: TextRange, name: &str) -> Result<(), Stop> {
        let message = format!("there is no anchor `&{name}` above this alias; a value that begins with `*` must be quoted");
        self.problem(ProblemKind::UnknownAnchor, range, message);
        if self.expects() == Expects::Key {
            self.set_key(Str::new(name), range, Role::Refused);
            return Ok(());
        }
        self.value(range, Value::Null, 0)
    }

    /// Returns the document. Open collections end with their content.
    pub(super) fn finish(mut self) -> Document {
        // No alias can follow, so anchors are no longer needed.
        self.frames.iter_mut().for_each(|frame| frame.anchor = 0);
        while self.end(None).is_ok() && !self.frames.is_empty() {}
        self.spans.shrink_to_fit();
        self.comments.sort_by_key(|comment| comment.range);
        self.problems.sort_by_key(|problem| problem.range.start);
        Document { root: self.root, spans: Spans { spans: self.spans }, comments: self.comments, problems: self.problems, hcl: false }
    }

    fn begin_node(&mut self, value: TextRange) -> Result<NodeId, Stop> {
        self.closed.clear();
        let id = NodeId(self.spans.len() as u32);
        if id.0 >= self.limits.max_nodes {
            let message = format!("the document has more than {} values; nothing from here on is read", self.limits.max_nodes);
            self.problem(ProblemKind::TooLarge, value, message);
            return Err(Stop);
        }
        let (key, parent) = match self.frames.last() {
            None => (TextRange::empty(value.start), NodeId::NONE),
            Some(frame) => match &frame.content {
                Content::Object { pending: Some(key), .. } => (key.range, frame.id),
                _ => (TextRange::empty(value.start), frame.id),
            },
        };
        self.spans.push(NodeSpan { key, value, parent });
        self.last_end = self.last_end.max(value.end);
        Ok(id)
    }

    fn set_key(&mut self, text: Str, range: TextRange, role: Role) {
        self.closed.clear();
        self.last_end = self.last_end.max(range.end);
        let Some(frame) = self.frames.last_mut() else { return };
        frame.end = frame.end.max(range.end);
        if let Content::Object { pending, .. } = &mut frame.content {
            *pending = Some(Key { text, range, role });
        }
    }

    fn refuse_key(&mut self, range: TextRange, kind: &str) {
        // A template's `{{` is already reported.
        if !self.problems.last().is_some_and(|last| last.kind == ProblemKind::Template && last.range.contains(range.start)) {
            let message = format!("a key must be a string, this is {}; Kubernetes refuses it", with_article(kind));
            self.problem(ProblemKind::NonStringKey, range, message);
        }
        self.set_key(Str::default(), range, Role::Refused);
    }

    fn attach(&mut self, node: Node, end: u32) {
        self.last_end = self.last_end.max(end);
        let Some(frame) = self.frames.last_mut() else {
            self.root.get_or_insert(node);
            return;
        };
        frame.end = frame.end.max(end);
        match &mut frame.content {
            Content::Array(items) => items.push(node),
            Content::Object { object, pending, merged } => {
                let Some(key) = pending.take() else { return };
                match key.role {
                    Role::Refused => {}
                    Role::Merge => merge(object, merged, &key, node, &self.spans, &mut self.problems),
                    Role::Normal => match object.position(&key.text) {
                        None => object.push_new(key.text, node),
                        Some(_) => {
                            let first = object.insert(key.text.clone(), node);
                            if merged.is_empty() || !merged.remove(&key.text) {
                                let first = first.and_then(|first| self.spans.get(first.id.0 as usize)).map(|span| span.key);
                                let message = format!("`{}` was set before in this object; the last value wins", key.text);
                                let related = first.map(|range| (range, "set here first".to_owned()));
                                let problems = &mut self.problems;
                                push(problems, Problem { kind: ProblemKind::DuplicateKey, range: key.range, message, related });
                            }
                        }
                    },
                }
            }
        }
    }

    fn remember(&mut self, id: usize, node: &Node, size: u32) -> Result<(), Stop> {
        let range = self.spans.get(node.id.0 as usize).map_or(TextRange::default(), |span| span.value);
        self.count_copies(range, size)?;
        self.anchors.insert(id, Anchor { node: node.clone(), size });
        Ok(())
    }

    fn count_copies(&mut self, range: TextRange, size: u32) -> Result<(), Stop> {
        self.copied = self.copied.saturating_add(size);
        if self.copied <= self.limits.max_alias_nodes {
            return Ok(());
        }
        let message = format!("the aliases up to here expand to more than {} values; nothing from here on is read", self.limits.max_alias_nodes);
        self.problem(ProblemKind::AliasBomb, range, message);
        Err(Stop)
    }
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => "nothing".to_owned(),
        "object" | "array" | "integer" => format!("an {kind}"),
        kind => format!("a {kind}"),
    }
}

/// The maximum number of reported problems per document.
const MAX_PROBLEMS: usize = 1000;

fn push(problems: &mut Vec<Problem>, problem: Problem) {
    // Warnings never displace an error.
    if problems.len() < MAX_PROBLEMS || !problem.kind.is_warning() && problems.len() < 2 * MAX_PROBLEMS {
        problems.push(problem);
    }
}

/// Merges the value of `<<` into the object. It overrides earlier keys; later keys override it.
fn merge(object: &mut Object, merged: &mut BTreeSet<Str>, key: &Key, node: Node, spans: &[NodeSpan], problems: &mut Vec<Problem>) {
    let sources = match node.value {
        Value::Object(_) => alloc::vec![node],
        // The first of several wins, so it is merged last.
        Value::Array(items) if items.iter().all(|item| item.as_object().is_some()) => items.into_iter().rev().collect(),
        value => {
            let message = format!(
                "`<<` takes an object or a list of objects, this is {}",
                match value {
                    Value::Array(_) => "a list with other things in it".to_owned(),
                    _ => with_article(value.kind_name()),
                }
            );
            push(problems, Problem { kind: ProblemKind::MergeKey, range: key.range, message, related: None });
            return;
        }
    };
    let written = object.len();
    let mut reported = false;
    for source in sources {
        let Value::Object(source) = source.value else { continue };
        for entry in source {
            let before = object.position(&entry.key).filter(|at| *at < written && !merged.contains(&entry.key));
            let Some(at) = before else {
                merged.insert(entry.key.clone());
                object.insert(entry.key, entry.value);
                continue;
            };
            let old = &object.entries()[at].value;
            if !reported && *old != entry.value {
                reported = true;
                let place = spans.get(old.id.0 as usize).map(|span| (span.key, "set here".to_owned()));
                let message = format!("`<<` replaces `{}`, which is written above it; Kubernetes lets only the keys below `<<` win", entry.key);
                push(problems, Problem { kind: ProblemKind::MergeReplaces, range: key.range, message, related: place });
            }
            object.insert(entry.key, entry.value);
        }
    }
}
