//! The input objects: every document, item of a `List` and configuration in an annotation is one, with the text it
//! came from. Reading them from text is `resource::read`; what they mean is a dialect's business.

use super::ResourceKey;
use crate::text::{Document, Node, NodeId, Str, TextRange};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU32;

/// What the program was given: texts with names.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// In the order given.
    pub inputs: Vec<Input>,
}

/// One text: a file, standard input, an editor's tab.
#[derive(Clone, Debug)]
pub struct Input {
    /// A path or label, shown in every message.
    pub name: Str,
    /// YAML or JSON.
    pub text: Arc<str>,
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
#[derive(Clone, Debug)]
pub struct Source {
    /// The input that holds it.
    pub source: SourceId,
    /// Byte offset of the document in the input; ranges of nodes are relative to it.
    pub offset: u32,
    /// The document, shared by all the objects that stand in it.
    pub document: Arc<Document>,
    /// Which document of its input it is, from 0.
    pub number: u32,
}

/// One object of the input.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its number.
    pub id: ObjectId,
    /// Its text.
    pub source: Source,
    /// The object itself (the document's root, or an item of a `List`). Empty when the document could not be read.
    pub root: Arc<Node>,
    /// The object whose annotation holds this one, and the annotation's node.
    pub parent: Option<(ObjectId, NodeId)>,
    /// `apiVersion` as written, empty when absent.
    pub api_version: Str,
    /// Its name in the cluster; parts that are absent are empty.
    pub key: ResourceKey,
}

impl Object {
    /// Range of a node's value in its input.
    pub fn value_range(&self, node: NodeId) -> Option<TextRange> {
        let span = self.source.document.spans.get(node)?;
        Some(self.absolute(span.value))
    }

    /// Range of a node's key in its input; its value's for items of a list and roots.
    pub fn key_range(&self, node: NodeId) -> Option<TextRange> {
        let span = self.source.document.spans.get(node)?;
        let range = if span.key.start < span.key.end { span.key } else { span.value };
        Some(self.absolute(range))
    }

    fn absolute(&self, range: TextRange) -> TextRange {
        TextRange { start: range.start + self.source.offset, end: range.end + self.source.offset }
    }
}

/// All input objects, by number.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    objects: Vec<Object>,
}

impl Objects {
    /// The number that the next object gets.
    pub fn next_id(&self) -> ObjectId {
        ObjectId::from_index(self.objects.len())
    }

    /// Adds an object under [`Objects::next_id`].
    pub fn push(&mut self, object: Object) {
        debug_assert_eq!(object.id, self.next_id(), "objects are numbered in order");
        self.objects.push(object);
    }

    /// An object by its number; `None` for [`ObjectId::BUILT_IN`].
    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(id.index()?)
    }

    /// All of them in order.
    pub fn iter(&self) -> core::slice::Iter<'_, Object> {
        self.objects.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

impl<'a> IntoIterator for &'a Objects {
    type Item = &'a Object;
    type IntoIter = core::slice::Iter<'a, Object>;
    fn into_iter(self) -> Self::IntoIter {
        self.objects.iter()
    }
}
