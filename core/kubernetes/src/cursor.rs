//! Navigates an object's tree that the API server has already checked: fields by name, values with origins, and an empty cursor for absent values.
//! Does not validate.

use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::{ObjectId, Origin, Rule, Sourced};
use chancery_text::{Node, NodeId, Str, Value};

/// A place in an object's tree; it may be empty.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    object: ObjectId,
    node: Option<&'a Node>,
    /// The nearest written ancestor.
    above: NodeId,
}

impl<'a> Cursor<'a> {
    pub fn new(object: ObjectId, root: &'a Node) -> Self {
        Self { object, node: Some(root), above: root.id }
    }

    /// An empty cursor.
    pub fn nothing() -> Self {
        Self { object: ObjectId::BUILT_IN, node: None, above: NodeId(0) }
    }

    /// A field of this object; dots separate nested fields.
    #[must_use]
    pub fn at(self, path: &str) -> Self {
        path.split('.').fold(self, Self::field)
    }

    /// A field of this object by its exact name.
    #[must_use]
    pub fn field(self, name: &str) -> Self {
        Self { object: self.object, node: self.node.and_then(|node| node.get(name)).filter(|node| !node.is_null()), above: self.nearest() }
    }

    /// The nearest written node: this one or an ancestor.
    fn nearest(self) -> NodeId {
        self.node.map(|node| node.id).filter(|id| id.is_some()).unwrap_or(self.above)
    }

    /// The entry at a known index; empty if there is none.
    #[must_use]
    pub fn entry(self, place: Option<u32>) -> Self {
        let entry = place.and_then(|at| self.node?.as_object()?.iter().as_slice().get(at as usize));
        Self { object: self.object, node: entry.map(|entry| &entry.value).filter(|node| !node.is_null()), above: self.nearest() }
    }

    /// Whether the value is written.
    pub fn exists(self) -> bool {
        self.node.is_some()
    }

    /// The cursor, if its value is written.
    pub fn some(self) -> Option<Self> {
        self.node.map(|_| self)
    }

    /// The value itself.
    pub fn node(self) -> Option<&'a Node> {
        self.node
    }

    /// The object that contains it.
    pub fn object(self) -> ObjectId {
        self.object
    }

    /// The value's origin; for an absent value, the nearest ancestor with the default rule.
    pub fn origin(self) -> Origin {
        match self.node {
            Some(node) if node.id.is_some() => Origin::field(self.object, node.id),
            Some(node) if node.id == NodeId::GIVEN => Origin::built_in().by(Rule::Environment),
            _ if self.object == ObjectId::BUILT_IN => Origin::built_in(),
            _ => Origin::new(self.object, self.above, Rule::Default),
        }
    }

    /// The string; empty if it is absent.
    pub fn str(self) -> &'a str {
        self.node.and_then(Node::as_str).unwrap_or_default()
    }

    /// The string, even if it is empty.
    pub fn some_str(self) -> Option<&'a str> {
        self.node.and_then(Node::as_str)
    }

    /// The string with its origin; `None` if it is absent or empty.
    pub fn text(self) -> Option<Sourced<Str>> {
        match self.node.map(|node| &node.value) {
            Some(Value::String(text)) if !text.is_empty() => Some(Sourced::new(text.clone(), self.origin())),
            _ => None,
        }
    }

    pub fn int(self) -> Option<i64> {
        self.node.and_then(Node::as_i64)
    }

    /// The whole number with its origin, truncated to 32 unsigned bits like Go's conversions.
    pub fn u32(self) -> Option<Sourced<u32>> {
        Some(Sourced::new(self.int()? as u32, self.origin()))
    }

    pub fn number(self) -> Option<f64> {
        self.node.and_then(Node::as_f64)
    }

    /// The boolean; `false` if it is absent.
    pub fn is_true(self) -> bool {
        self.some_bool().unwrap_or_default()
    }

    pub fn some_bool(self) -> Option<bool> {
        self.node.and_then(Node::as_bool)
    }

    pub fn bool(self) -> Option<Sourced<bool>> {
        Some(Sourced::new(self.some_bool()?, self.origin()))
    }

    /// The items; empty if this is not a list.
    pub fn items(self) -> impl ExactSizeIterator<Item = Cursor<'a>> + DoubleEndedIterator + use<'a> {
        let items = self.node.and_then(Node::as_array).map_or(&[][..], Vec::as_slice);
        let above = self.nearest();
        items.iter().map(move |node| Cursor { object: self.object, node: Some(node), above })
    }

    /// Whether this is a non-empty list or object.
    pub fn has_items(self) -> bool {
        !self.is_empty()
    }

    /// The number of items or fields.
    pub fn len(self) -> usize {
        match self.node.map(|node| &node.value) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(object)) => object.len(),
            _ => 0,
        }
    }

    /// Whether this is an empty list or object, or absent.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Names and values of an object, in written order.
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

    /// A whole number or a string, as a string.
    pub fn int_or_string(self) -> Option<Str> {
        match self.node.map(|node| &node.value) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Int(number)) => Some(Str::from(alloc::format!("{number}"))),
            _ => None,
        }
    }
}
