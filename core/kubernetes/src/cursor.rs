//! A place in an object's tree, for reading what the API server has checked already: fields by name, values with their origins, and
//! nothing for what is absent.
//!
//! What must not be here: judging. Types are those of the schema, since the API server takes nothing else; where validation was off, a
//! value of another type reads as absent.

use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::{ObjectId, Origin, Rule, Sourced};
use chancery_text::{Node, NodeId, Str, Value};

/// A place in an object's tree; it may be empty.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    object: ObjectId,
    node: Option<&'a Node>,
    /// The nearest node above that was written.
    above: NodeId,
}

impl<'a> Cursor<'a> {
    /// The root of an object.
    pub fn new(object: ObjectId, root: &'a Node) -> Self {
        Self { object, node: Some(root), above: root.id }
    }

    /// A place of which nothing is written.
    pub fn nothing() -> Self {
        Self { object: ObjectId::BUILT_IN, node: None, above: NodeId(0) }
    }

    /// A field of this object; dots lead deeper.
    #[must_use]
    pub fn at(self, path: &str) -> Self {
        path.split('.').fold(self, Self::field)
    }

    /// A field of this object, by its name as it is.
    #[must_use]
    pub fn field(self, name: &str) -> Self {
        Self { object: self.object, node: self.node.and_then(|node| node.get(name)).filter(|node| !node.is_null()), above: self.nearest() }
    }

    /// The nearest node that was written, this one or one above.
    fn nearest(self) -> NodeId {
        self.node.map(|node| node.id).filter(|id| id.is_some()).unwrap_or(self.above)
    }

    /// The entry of this object whose place is known; nothing where there is none.
    #[must_use]
    pub fn entry(self, place: Option<u32>) -> Self {
        let entry = place.and_then(|at| self.node?.as_object()?.iter().as_slice().get(at as usize));
        Self { object: self.object, node: entry.map(|entry| &entry.value).filter(|node| !node.is_null()), above: self.nearest() }
    }

    /// Whether something is written.
    pub fn exists(self) -> bool {
        self.node.is_some()
    }

    /// The same place, if something is written.
    pub fn some(self) -> Option<Self> {
        self.node.map(|_| self)
    }

    /// The value itself.
    pub fn node(self) -> Option<&'a Node> {
        self.node
    }

    /// The object that it stands in.
    pub fn object(self) -> ObjectId {
        self.object
    }

    /// Where it is written; where it is not, the nearest place above, by the rule of defaults.
    pub fn origin(self) -> Origin {
        match self.node {
            Some(node) if node.id.is_some() => Origin::field(self.object, node.id),
            Some(node) if node.id == NodeId::GIVEN => Origin::built_in().by(Rule::Environment),
            _ if self.object == ObjectId::BUILT_IN => Origin::built_in(),
            _ => Origin::new(self.object, self.above, Rule::Default),
        }
    }

    /// The string; empty where there is none.
    pub fn str(self) -> &'a str {
        self.node.and_then(Node::as_str).unwrap_or_default()
    }

    /// The string, if there is one, even if it is empty.
    pub fn some_str(self) -> Option<&'a str> {
        self.node.and_then(Node::as_str)
    }

    /// The string with its origin; `None` where it is absent or empty.
    pub fn text(self) -> Option<Sourced<Str>> {
        match self.node.map(|node| &node.value) {
            Some(Value::String(text)) if !text.is_empty() => Some(Sourced::new(text.clone(), self.origin())),
            _ => None,
        }
    }

    /// The whole number.
    pub fn int(self) -> Option<i64> {
        self.node.and_then(Node::as_i64)
    }

    /// The whole number with its origin, cut to 32 bits without a sign as Go's conversions cut it.
    pub fn u32(self) -> Option<Sourced<u32>> {
        Some(Sourced::new(self.int()? as u32, self.origin()))
    }

    /// The number.
    pub fn number(self) -> Option<f64> {
        self.node.and_then(Node::as_f64)
    }

    /// The truth value; `false` where there is none.
    pub fn is_true(self) -> bool {
        self.some_bool().unwrap_or_default()
    }

    /// The truth value, if there is one.
    pub fn some_bool(self) -> Option<bool> {
        self.node.and_then(Node::as_bool)
    }

    /// The truth value with its origin.
    pub fn bool(self) -> Option<Sourced<bool>> {
        Some(Sourced::new(self.some_bool()?, self.origin()))
    }

    /// The items of a list; none where it is none.
    pub fn items(self) -> impl ExactSizeIterator<Item = Cursor<'a>> + DoubleEndedIterator + use<'a> {
        let items = self.node.and_then(Node::as_array).map_or(&[][..], Vec::as_slice);
        let above = self.nearest();
        items.iter().map(move |node| Cursor { object: self.object, node: Some(node), above })
    }

    /// Whether it is a list with something in it, or an object with something in it.
    pub fn has_items(self) -> bool {
        !self.is_empty()
    }

    /// How many items or fields there are.
    pub fn len(self) -> usize {
        match self.node.map(|node| &node.value) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(object)) => object.len(),
            _ => 0,
        }
    }

    /// Whether it is a list or an object without anything in it, or nothing.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Names and values of an object, in the order in which they are written.
    pub fn entries(self) -> impl Iterator<Item = (&'a Str, Cursor<'a>)> + use<'a> {
        let object = self.node.and_then(Node::as_object);
        let above = self.nearest();
        object.into_iter().flatten().map(move |entry| (&entry.key, Cursor { object: self.object, node: Some(&entry.value), above }))
    }

    /// The strings of a list with their origins.
    pub fn texts(self) -> Vec<Sourced<Str>> {
        self.items().filter_map(|item| Some(Sourced::new(Str::new(item.some_str()?), item.origin()))).collect()
    }

    /// The strings of a list, joined.
    pub fn joined(self, separator: &str) -> String {
        let strings: Vec<&str> = self.items().filter_map(Cursor::some_str).collect();
        strings.join(separator)
    }

    /// A whole number or a string, as text.
    pub fn int_or_string(self) -> Option<Str> {
        match self.node.map(|node| &node.value) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Int(number)) => Some(Str::from(alloc::format!("{number}"))),
            _ => None,
        }
    }
}
