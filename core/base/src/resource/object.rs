//! The input objects: every document, item of a `List` and configuration in an annotation is one, with the text it
//! came from. Reading them from text is [`crate::read`]; what they mean is a dialect's business.

use super::{ResourceKey, Secret};
use crate::blocks::Blocks;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Document, FieldPath, Node, NodeId, Segment, Str, TextRange, Value};
use core::num::NonZeroU32;
use hashbrown::HashSet;

/// What the program was given: texts with names.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// In the order given.
    pub inputs: Vec<Input>,
    /// Names of the inputs that an API server gave. It has pruned, defaulted and validated their objects by the schemas that it has, which need not be
    /// ours: they are taken as they are.
    pub stored: Arc<BTreeSet<Str>>,
}

impl From<Vec<Input>> for Inputs {
    /// Texts that no API server has admitted yet: files, standard input, an editor's tab.
    fn from(inputs: Vec<Input>) -> Self {
        Self { inputs, stored: Arc::default() }
    }
}

impl Inputs {
    /// A single text.
    pub fn one(name: impl Into<Str>, text: impl Into<Arc<str>>) -> Self {
        Vec::from([Input { name: name.into(), text: text.into() }]).into()
    }
}

/// One text: a file, standard input, an editor's tab.
#[derive(Clone, Debug)]
pub struct Input {
    /// A path or label, shown in every message.
    pub name: Str,
    /// YAML or JSON.
    pub text: Arc<str>,
}

impl Input {
    /// A text from bytes. What is not UTF-8 becomes U+FFFD each, and the offsets of such bytes come with it: in the text, and in the bytes.
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

    /// The text of bytes in UTF-16, which begin with a byte order mark; `None` for any others.
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

/// An input by its place in [`Inputs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// An input object, counted from 2; 1 stands for what the controller has built in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(NonZeroU32);

impl ObjectId {
    /// The controller's own defaults.
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

/// Where an object's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The input that holds it.
    pub source: SourceId,
    /// Byte offset of the document in the input; ranges of nodes are relative to it.
    pub offset: u32,
    /// Which document of its input it is, from 0.
    pub number: u32,
}

/// One object of the input: what was read ([`Content`], shared between compiles) and where it stands now.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its number.
    pub id: ObjectId,
    /// Its text.
    pub source: Source,
    /// The object whose annotation holds this one, and the annotation's node.
    pub parent: Option<(ObjectId, NodeId)>,
    /// It is not in the input, and assumed to exist, as another object refers to it. Its place is that reference's.
    pub assumed: bool,
    /// What was read.
    pub content: Arc<Content>,
}

/// What was read of an object. It knows nothing of its place, so that it is kept as long as its text is the same.
#[derive(Clone, PartialEq)]
pub struct Content {
    /// The object itself (the document's root, or an item of a `List`). Null when the document could not be read. Key material is not in
    /// it: the values of a Secret are in [`Content::secrets`].
    pub root: Arc<Node>,
    /// The document that it stands in, shared by all of its objects. Its root is here, not there.
    pub document: Arc<Document>,
    /// `apiVersion` as written, empty when absent.
    pub api_version: Str,
    /// Its name in the cluster; parts that are absent are empty.
    pub key: ResourceKey,
    /// Whether no controller could use it: its text is broken, or does not say what it is. A finding says why.
    pub broken: bool,
    /// Whether it was read from an API server, which has pruned, defaulted and validated it. Never of what stands in its annotations.
    pub stored: bool,
    /// The values of a Secret's `data` and `stringData`, by the node where each is written.
    pub secrets: Vec<(NodeId, Secret<Str>)>,
    /// Credentials that are in its tree, as the gateway needs them: no output has them, unless a person wants it.
    pub credentials: Vec<Secret<Str>>,
    /// The text that it was read from; `None` for what may be a Secret.
    pub text: Option<Arc<str>>,
    /// A hash of the text and of the object's place in it: equal for equal text. For memories; never shown.
    pub fingerprint: u64,
}

impl core::fmt::Debug for Content {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Content").field("key", &self.key).field("api_version", &self.api_version).field("root", &self.root).finish()
    }
}

impl Content {
    /// The value of a Secret that stands at this node.
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
    /// Range of a node's value in its input.
    pub fn value_range(&self, node: NodeId) -> Option<TextRange> {
        let span = self.document.spans.get(node)?;
        Some(self.absolute(span.value))
    }

    /// Range of a node's key in its input; its value's for items of a list and roots.
    pub fn key_range(&self, node: NodeId) -> Option<TextRange> {
        let span = self.document.spans.get(node)?;
        let range = if span.key.start < span.key.end { span.key } else { span.value };
        Some(self.absolute(range))
    }

    /// The scalars below a node, in the order of the text.
    pub fn leaves(&self, node: NodeId) -> Vec<NodeId> {
        let spans = &self.document.spans;
        let Some(end) = spans.get(node).map(|span| span.value.end) else { return Vec::new() };
        // Numbers follow the text.
        let below = (node.0 + 1..).map(NodeId).take_while(|id| spans.get(*id).is_some_and(|span| span.whole().start < end));
        below.filter(|id| spans.get(NodeId(id.0 + 1)).is_none_or(|next| next.parent != *id)).collect()
    }

    /// The keys and indexes that lead from the object to one of its nodes.
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

/// All input objects, in the order of the text, and those that are assumed to exist beside them. Numbers say nothing about the order: an object keeps its number while the text around it
/// changes.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    slots: Blocks<Option<Object>>,
    order: Arc<Vec<ObjectId>>,
    assumed: Vec<ObjectId>,
}

impl Objects {
    /// The number that the next object gets, unless a memory gives it an earlier one.
    pub fn next_id(&self) -> ObjectId {
        ObjectId::from_index(self.slots.len())
    }

    /// Adds an object after those that are there. A number that is taken already is left to whoever has it.
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

    /// Puts an object in the place of the one that has its number.
    pub fn replace(&mut self, object: Object) {
        if let Some(slot @ Some(_)) = object.id.index().and_then(|index| self.slots.get_mut(index)) {
            *slot = Some(object);
        }
    }

    /// An object by its number; `None` for [`ObjectId::BUILT_IN`].
    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.slots.get(id.index()?)?.as_ref()
    }

    /// What controllers work on: the objects of the input in order, and then those that are assumed to exist.
    pub fn all(&self) -> impl Iterator<Item = &Object> + Clone {
        self.iter().chain(self.assumed())
    }

    /// Objects that are assumed to exist.
    pub fn assumed(&self) -> impl Iterator<Item = &Object> + Clone {
        self.assumed.iter().filter_map(|id| self.get(*id))
    }

    /// The kinds (group and name) of the objects of the input.
    pub fn kinds(&self) -> BTreeSet<(Str, Str)> {
        self.iter().map(|object| object.key.kind_and_group()).collect()
    }

    /// The keys of all objects, those included that are assumed to exist.
    pub fn keys(&self) -> HashSet<&ResourceKey> {
        self.all().map(|object| &object.key).collect()
    }

    /// The objects of the input alone.
    #[must_use]
    pub fn written(&self) -> Self {
        let mut written = self.clone();
        written.retain(|object| !object.assumed);
        written
    }

    /// Whether the object is assumed, and not in the input.
    pub fn is_assumed(&self, id: ObjectId) -> bool {
        self.get(id).is_some_and(|object| object.assumed)
    }

    /// All objects of the input in order.
    pub fn iter(&self) -> impl Iterator<Item = &Object> + Clone {
        self.order.iter().filter_map(|id| self.get(*id))
    }

    /// The numbers of all objects of the input in order.
    pub fn order(&self) -> &Arc<Vec<ObjectId>> {
        &self.order
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Keeps the objects that `is_kept` wants, with their numbers.
    ///
    /// For hosts that write a document and show nothing of the input: trees take more memory than what is made of them.
    pub fn retain(&mut self, is_kept: impl Fn(&Object) -> bool) {
        for at in 0..self.slots.len() {
            // What is shared is left alone where nothing goes.
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

    /// One more than the largest index that a number has: the length of a table by number.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }
}
