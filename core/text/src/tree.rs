//! Defines the tree of plain values of a document. A node has only its number; `Spans` knows its range.
use alloc::{boxed::Box, collections::BTreeMap, vec::Vec};

/// The string type of trees: short strings are stored inline, long ones are shared.
pub type Str = smol_str::SmolStr;

/// A node's number within its document, in the order of the text. An alias's value keeps the numbers of its anchor's value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The number of synthesized nodes.
    pub const NONE: Self = Self(u32::MAX);

    /// The number of nodes that a controller's flag set.
    pub const GIVEN: Self = Self(u32::MAX - 1);

    /// Whether the number refers to a place in a text.
    pub const fn is_some(self) -> bool {
        self.0 < Self::GIVEN.0
    }
}

/// A value with its number. Two nodes are equal if their values are.
#[derive(Clone, Debug)]
pub struct Node {
    /// `Spans` maps this number to the range.
    pub id: NodeId,
    pub value: Value,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// JSON's data model; integers are separate from other numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number that is not whole, was written as such (`1.0`), or exceeds [`Value::Int`]. Always finite after reading.
    Float(f64),
    String(Str),
    Array(Vec<Node>),
    Object(Object),
}

impl Value {
    /// The type's name in JSON Schema.
    pub const fn kind_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) => "integer",
            Self::Float(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

impl Node {
    /// A node without text.
    pub const fn synthesised(value: Value) -> Self {
        Self { id: NodeId::NONE, value }
    }

    /// A string that a flag set.
    pub fn given(text: &str) -> Self {
        Self { id: NodeId::GIVEN, value: Value::String(Str::new(text)) }
    }

    /// The value at `key`, if this is an object with that key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_object()?.get(key)
    }

    /// The value at a path of keys.
    pub fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Value::String(value) = &self.value { Some(value) } else { None }
    }

    pub const fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(value) = self.value { Some(value) } else { None }
    }

    /// The whole number. `1.0` is one too, as JSON does not distinguish them.
    pub fn as_i64(&self) -> Option<i64> {
        const LIMIT: f64 = 9_007_199_254_740_992.0;
        match self.value {
            Value::Int(value) => Some(value),
            Value::Float(value) if (-LIMIT..=LIMIT).contains(&value) && (value as i64) as f64 == value => Some(value as i64),
            _ => None,
        }
    }

    pub const fn as_f64(&self) -> Option<f64> {
        match self.value {
            Value::Int(value) => Some(value as f64),
            Value::Float(value) => Some(value),
            _ => None,
        }
    }

    pub const fn as_array(&self) -> Option<&Vec<Node>> {
        if let Value::Array(value) = &self.value { Some(value) } else { None }
    }

    pub const fn as_object(&self) -> Option<&Object> {
        if let Value::Object(value) = &self.value { Some(value) } else { None }
    }

    pub const fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// The type's name in JSON Schema.
    pub const fn kind_name(&self) -> &'static str {
        self.value.kind_name()
    }
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: Str,
    /// The span of the value also contains the key's range.
    pub value: Node,
}

/// Keys and values in the order of the text. Equal if keys, values and order are.
#[derive(Clone, Debug, Default)]
pub struct Object {
    entries: Vec<Entry>,
    /// Maps a key to its index in `entries`; only for objects with more than [`INDEX_OVER`] entries.
    #[expect(clippy::box_collection, reason = "few objects have an index, and all values would be larger for it")]
    index: Option<Box<BTreeMap<Str, u32>>>,
}

/// Up to this many entries are searched linearly.
const INDEX_OVER: usize = 32;

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Object {
    pub const fn new() -> Self {
        Self { entries: Vec::new(), index: None }
    }

    /// An empty object with capacity for this many entries.
    pub fn with_capacity(entries: usize) -> Self {
        Self { entries: Vec::with_capacity(entries), index: None }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The index of `key`.
    pub fn position(&self, key: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(key).map(|at| *at as usize),
            None => self.entries.iter().position(|entry| entry.key == key),
        }
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.position(key).map(|at| &self.entries[at].value)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.position(key).map(|at| &mut self.entries[at].value)
    }

    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// Sets `key` at its position or else at the end, and returns the previous value.
    pub fn insert(&mut self, key: impl Into<Str>, value: Node) -> Option<Node> {
        let key = key.into();
        match self.position(&key) {
            Some(at) => Some(core::mem::replace(&mut self.entries[at].value, value)),
            None => {
                self.push_new(key, value);
                None
            }
        }
    }

    /// Adds an entry with a new key.
    pub(super) fn push_new(&mut self, key: Str, value: Node) {
        if let Some(index) = &mut self.index {
            index.insert(key.clone(), self.entries.len() as u32);
        }
        self.entries.push(Entry { key, value });
        if self.index.is_none() && self.entries.len() > INDEX_OVER {
            self.reindex();
        }
    }

    /// Frees unused capacity.
    pub fn shrink_to_fit(&mut self) {
        self.entries.shrink_to_fit();
    }

    /// Removes `key` and returns its value; the other entries keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        let at = self.position(key)?;
        let entry = self.entries.remove(at);
        if self.index.is_some() {
            self.reindex();
        }
        Some(entry.value)
    }

    /// Keeps the entries that `keep` accepts; efficient for removing many.
    pub fn retain(&mut self, keep: impl FnMut(&Entry) -> bool) {
        self.entries.retain(keep);
        self.reindex();
    }

    pub fn iter(&self) -> core::slice::Iter<'_, Entry> {
        self.entries.iter()
    }

    /// The entries in order, with mutable values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&Str, &mut Node)> {
        self.entries.iter_mut().map(|entry| (&entry.key, &mut entry.value))
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn reindex(&mut self) {
        let keys = || self.entries.iter().enumerate().map(|(at, entry)| (entry.key.clone(), at as u32));
        self.index = (self.entries.len() > INDEX_OVER).then(|| Box::new(keys().collect()));
    }
}

impl<'a> IntoIterator for &'a Object {
    type Item = &'a Entry;
    type IntoIter = core::slice::Iter<'a, Entry>;
    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl IntoIterator for Object {
    type Item = Entry;
    type IntoIter = alloc::vec::IntoIter<Entry>;
    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<K: Into<Str>> FromIterator<(K, Node)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Node)>>(pairs: I) -> Self {
        let mut object = Self::new();
        for (key, value) in pairs {
            object.insert(key, value);
        }
        object.shrink_to_fit();
        object
    }
}

/// Serializes the value without node numbers.
impl serde::Serialize for Node {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(value) => serializer.serialize_i64(*value),
            Value::Float(value) => serializer.serialize_f64(*value),
            Value::String(value) => serializer.serialize_str(value),
            Value::Array(items) => serializer.collect_seq(items),
            Value::Object(object) => serializer.collect_map(object.iter().map(|entry| (&entry.key, &entry.value))),
        }
    }
}
