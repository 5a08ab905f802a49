//! Defines the input objects: every document, list item and configuration in an annotation, with its text. Does not read them from text; see
//! [`crate::read`].

use super::{ResourceKey, Secret};
use crate::blocks::Blocks;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Document, FieldPath, Node, NodeId, Segment, Str, TextRange, Value};
use core::num::NonZeroU32;
use hashbrown::HashSet;

/// The program's input: named files and documents.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// In the order given.
    pub inputs: Vec<Input>,
    /// Names of the inputs from an API server. It has pruned, defaulted and validated their objects by its own schemas, which may differ from ours,
    /// so they are accepted unchanged.
    pub stored: Arc<BTreeSet<Str>>,
}

impl From<Vec<Input>> for Inputs {
    /// Input that no API server has admitted yet: files, standard input, an editor's tab.
    fn from(inputs: Vec<Input>) -> Self {
        Self { inputs, stored: Arc::default() }
    }
}

impl Inputs {
    pub fn one(name: impl Into<Str>, text: impl Into<Arc<str>>) -> Self {
        Vec::from([Input { name: name.into(), text: text.into() }]).into()
    }
}

/// One text: a file, standard input, an editor's tab.
#[derive(Clone, Debug)]
pub struct Input {
    /// A path or label, shown in messages.
    pub name: Str,
    /// YAML or JSON.
    pub text: Arc<str>,
}

impl Input {
    /// Converts bytes to text. U+FFFD replaces each invalid byte; returns the offsets of the invalid bytes in the text and in the bytes.
    pub fn from_bytes(name: impl Into<Str>, bytes: Vec<u8>) -> (Self, Vec<(u32, usize)>) {
        let name = name.into();
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => return (Self { name, text: text.into() }, Vec::new()),
            Err(error) => error.into_bytes(),
        };
        let (mut text, mut wrong, mut at) = (String::with_capacity(bytes.len()), Vec::new(), 0);
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            at += chunk.valid().len();
            if !chunk.invalid().is_empty() {
                wrong.push((text.len() as u32, at));
                text.push(char::REPLACEMENT_CHARACTER);
                at += chunk.invalid().len();
            }
        }
        (Self { name, text: text.into() }, wrong)
    }

    /// Decodes UTF-16 bytes that start with a byte order mark; `None` for all others.
    pub fn text_of_utf16(bytes: &[u8]) -> Option<String> {
        let unit = match bytes {
            [0xff, 0xfe, ..] => u16::from_le_bytes,
            [0xfe, 0xff, ..] => u16::from_be_bytes,
            _ => return None,
        };
        let units = bytes.get(2..)?.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        Some(char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
    }
}

/// An input by its index in [`Inputs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// An input object, numbered from 2; 1 is the controller's built-in configuration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(NonZeroU32);

impl ObjectId {
    /// The controller's built-in defaults.
    pub const BUILT_IN: ObjectId = ObjectId(NonZeroU32::MIN);

    /// The object at this index of [`Objects`].
    pub fn from_index(index: usize) -> Self {
        let number = u32::try_from(index).unwrap_or(u32::MAX - 2) + 2;
        ObjectId(NonZeroU32::new(number).unwrap_or(NonZeroU32::MAX))
    }

    /// The index in [`Objects`]; `None` for [`ObjectId::BUILT_IN`].
    pub fn index(self) -> Option<usize> {
        (self.0.get() as usize).checked_sub(2)
    }

    pub(super) fn get(self) -> NonZeroU32 {
        self.0
    }

    pub(super) fn from_non_zero(number: NonZeroU32) -> Self {
        ObjectId(number)
    }
}

impl core::fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.index() {
            Some(index) => write!(f, "#{index}"),
            None => f.write_str("#built-in"),
        }
    }
}

/// The place of an object's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The input that contains it.
    pub source: SourceId,
    /// The byte offset of the document in the input; node ranges are relative to it.
    pub offset: u32,
    /// The index of the document in its input.
    pub number: u32,
}

/// One object of the input: its content ([`Content`], shared between compiles) and its current place.
#[derive(Clone, Debug)]
pub struct Object {
    pub id: ObjectId,
    /// The place of its text.
    pub source: Source,
    /// The object whose annotation contains this one, and the annotation's node.
    pub parent: Option<(ObjectId, NodeId)>,
    /// The object is not in the input; it is assumed to exist because another object refers to it. Its place is that reference.
    pub assumed: bool,
    pub content: Arc<Content>,
}

/// The content of an object. It is independent of the object's place, so it is kept while the text is unchanged.
#[derive(Clone, PartialEq)]
pub struct Content {
    /// The object itself (the document's root, or an item of a `List`). Null if the document is unreadable. Contains no key material: the values of
    /// a Secret are in [`Content::secrets`].
    pub root: Arc<Node>,
    /// The document that contains it, shared by all its objects. The document's root is in `root`.
    pub document: Arc<Document>,
    /// `apiVersion` as written; empty if absent.
    pub api_version: Str,
    /// The object's key; absent parts are empty.
    pub key: ResourceKey,
    /// Whether no controller could use it: its text is broken or has no identity. A finding gives the reason.
    pub broken: bool,
    /// Whether it was read from an API server, which has pruned, defaulted and validated it. Never set for objects in annotations.
    pub stored: bool,
    /// The values of a Secret's `data` and `stringData`, by node.
    pub secrets: Vec<(NodeId, Secret<Str>)>,
    /// Credentials that remain in the tree because the gateway needs them. Outputs redact them unless the user requests them.
    pub credentials: Vec<Secret<Str>>,
    /// The source text; `None` for a possible Secret.
    pub text: Option<Arc<str>>,
    /// A hash of the text and of the object's index in it. For caches; never shown.
    pub fingerprint: u64,
}

impl core::fmt::Debug for Content {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Content").field("key", &self.key).field("api_version", &self.api_version).field("root", &self.root).finish()
    }
}

impl Content {
    /// The value of a Secret at this node.
    pub fn secret(&self, node: NodeId) -> Option<&Secret<Str>> {
        self.secrets.iter().find(|(at, _)| *at == node).map(|(_, value)| value)
    }
}

impl core::ops::Deref for Object {
    type Target = Content;
    fn deref(&self) -> &Content {
        &self.content
    }
}

impl Object {
    /// The range of a node's value in its input.
    pub fn value_range(&self, node: NodeId) -> Option<TextRange> {
        let span = self.document.spans.get(node)?;
        Some(self.absolute(span.value))
    }

    /// The range of a node's key in its input; for list items and roots, the range of the value.
    pub fn key_range(&self, node: NodeId) -> Option<TextRange> {
        let span = self.document.spans.get(node)?;
        let range = if span.key.start < span.key.end { span.key } else { span.value };
        Some(self.absolute(range))
    }

    /// The scalars below a node, in the order of the text.
    pub fn leaves(&self, node: NodeId) -> Vec<NodeId> {
        let spans = &self.document.spans;
        let Some(end) = spans.get(node).map(|span| span.value.end) else { return Vec::new() };
        // Node numbers follow the text.
        let below = (node.0 + 1..).map(NodeId).take_while(|id| spans.get(*id).is_some_and(|span| span.whole().start < end));
        below.filter(|id| spans.get(NodeId(id.0 + 1)).is_none_or(|next| next.parent != *id)).collect()
    }

    /// The keys and indexes from the object to one of its nodes.
    pub fn path(&self, node: NodeId) -> FieldPath {
        let spans = &self.document.spans;
        let mut chain = Vec::new();
        let mut at = node;
        while at != self.root.id {
            let Some(span) = spans.get(at) else { break };
            chain.push(at);
            at = span.parent;
        }
        let mut path = FieldPath::default();
        let mut holder: &Node = &self.root;
        for id in chain.into_iter().rev() {
            let step = match &holder.value {
                Value::Object(object) => {
                    object.iter().find(|entry| entry.value.id == id).map(|entry| (Segment::Key(entry.key.clone()), &entry.value))
                }
                Value::Array(items) => items.iter().enumerate().find(|(_, item)| item.id == id).map(|(at, item)| (Segment::Index(at as u32), item)),
                _ => None,
            };
            let Some((segment, next)) = step else { break };
            path.segments.push(segment);
            holder = next;
        }
        path
    }

    fn absolute(&self, range: TextRange) -> TextRange {
        TextRange { start: range.start + self.source.offset, end: range.end + self.source.offset }
    }
}

/// All input objects in the order of the text, and the assumed objects. Numbers do not follow the order: an object keeps its number while the
/// surrounding text changes.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    slots: Blocks<Option<Object>>,
    order: Arc<Vec<ObjectId>>,
    assumed: Vec<ObjectId>,
}

impl Objects {
    /// The number of the next object, unless a cache gives it an earlier one.
    pub fn next_id(&self) -> ObjectId {
        ObjectId::from_index(self.slots.len())
    }

    /// Adds an object at the end. If its number is already used, the earlier object stays.
    pub fn push(&mut self, object: Object) {
        let Some(index) = object.id.index() else { return };
        while self.slots.len() <= index {
            self.slots.push(None);
        }
        if let Some(slot @ None) = self.slots.get_mut(index) {
            let order = if object.assumed { &mut self.assumed } else { Arc::make_mut(&mut self.order) };
            order.push(object.id);
            *slot = Some(object);
        }
    }

    /// Replaces the object with the same number.
    pub fn replace(&mut self, object: Object) {
        if let Some(slot @ Some(_)) = object.id.index().and_then(|index| self.slots.get_mut(index)) {
            *slot = Some(object);
        }
    }

    /// An object by its number; `None` for [`ObjectId::BUILT_IN`].
    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.slots.get(id.index()?)?.as_ref()
    }

    /// The objects that controllers use: the input's objects in order, then the assumed ones.
    pub fn all(&self) -> impl Iterator<Item = &Object> + Clone {
        self.iter().chain(self.assumed())
    }

    /// The assumed objects.
    pub fn assumed(&self) -> impl Iterator<Item = &Object> + Clone {
        self.assumed.iter().filter_map(|id| self.get(*id))
    }

    /// The kinds (group and name) of the input's objects.
    pub fn kinds(&self) -> BTreeSet<(Str, Str)> {
        self.iter().map(|object| object.key.kind_and_group()).collect()
    }

    /// The keys of all objects, including assumed ones.
    pub fn keys(&self) -> HashSet<&ResourceKey> {
        self.all().map(|object| &object.key).collect()
    }

    /// Only the input's objects.
    #[must_use]
    pub fn written(&self) -> Self {
        let mut written = self.clone();
        written.retain(|object| !object.assumed);
        written
    }

    /// Whether the object is assumed.
    pub fn is_assumed(&self, id: ObjectId) -> bool {
        self.get(id).is_some_and(|object| object.assumed)
    }

    /// The input's objects in order.
    pub fn iter(&self) -> impl Iterator<Item = &Object> + Clone {
        self.order.iter().filter_map(|id| self.get(*id))
    }

    /// The numbers of the input's objects in order.
    pub fn order(&self) -> &Arc<Vec<ObjectId>> {
        &self.order
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Keeps only the objects that `is_kept` accepts, with their numbers.
    ///
    /// For hosts that write a document and do not show the input: trees take more memory than the results.
    pub fn retain(&mut self, is_kept: impl Fn(&Object) -> bool) {
        for at in 0..self.slots.len() {
            // Shared content is not copied if nothing is removed.
            let goes = matches!(self.slots.get(at), Some(Some(object)) if !is_kept(object));
            if goes {
                self.slots[at] = None;
            }
        }
        let slots = &self.slots;
        let is_there = |id: &ObjectId| id.index().is_some_and(|at| matches!(slots.get(at), Some(Some(_))));
        Arc::make_mut(&mut self.order).retain(is_there);
        self.assumed.retain(is_there);
    }

    /// The length of a table by object number: the largest index plus one.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }
}
