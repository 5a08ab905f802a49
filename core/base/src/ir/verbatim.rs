//! Defines values that are passed on verbatim with their origins: resources in the proxy's own format.
//!
//! A dialect that writes Envoy's messages itself, or lets its users do so, passes them as [`Tree`]s. Does not interpret the messages.

use super::{Holder, SecretPart, SecretReference};
use crate::resource::{Origin, Sourced};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Node, Str, Value, write_json_scalar, write_quoted};

/// A value with an origin at every node.
pub type Tree = Sourced<Plain>;

/// JSON's data model with an origin at every node.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[serde(untagged)]
pub enum Plain {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    /// A whole number that another value selects among several, with the origin of this other value.
    Selected(Sourced<i64>),
    /// Any other number.
    Float(f64),
    String(Str),
    /// The name of key material, such as `secret:default/web/tls.key`; several names are joined by `+`. A dialect creates it, so a user's text
    /// never denotes a secret.
    Material(Str),
    List(Shared<Tree>),
    /// Keys and values, in order.
    Object(Fields),
}

impl PartialEq for Plain {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(other)) => one == other,
            (Self::Int(one) | Self::Selected(Sourced { value: one, .. }), Self::Int(other) | Self::Selected(Sourced { value: other, .. })) => {
                one == other
            }
            (Self::Float(one), Self::Float(other)) => one == other,
            (Self::String(one), Self::String(other)) | (Self::Material(one), Self::Material(other)) => one == other,
            (Self::List(one), Self::List(other)) => one == other,
            (Self::Object(one), Self::Object(other)) => one == other,
            _ => false,
        }
    }
}

/// Keys and values, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(pub Shared<(Str, Tree)>);

/// A list that its copies share until one of them changes.
#[derive(Debug, PartialEq)]
pub struct Shared<T>(Arc<Vec<T>>);

impl<T> Shared<T> {
    /// The address of the list. Two lists with the same address are equal.
    #[must_use]
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> From<Vec<T>> for Shared<T> {
    fn from(list: Vec<T>) -> Self {
        Self(Arc::new(list))
    }
}

impl<T> FromIterator<T> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(Arc::new(items.into_iter().collect()))
    }
}

impl<T> core::ops::Deref for Shared<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Clone> core::ops::DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: Clone> IntoIterator for Shared<T> {
    type Item = T;
    type IntoIter = alloc::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        Arc::unwrap_or_clone(self.0).into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Shared<T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: serde::Serialize> serde::Serialize for Shared<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_slice().serialize(serializer)
    }
}

impl serde::Serialize for Fields {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// Resources in the proxy's own format, in addition to the modelled ones.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Verbatim {
    /// `envoy.config.listener.v3.Listener`
    pub listeners: Vec<Arc<Tree>>,
    /// `envoy.config.route.v3.RouteConfiguration`
    pub routes: Vec<Arc<Tree>>,
    /// `envoy.config.cluster.v3.Cluster`
    pub clusters: Vec<Arc<Tree>>,
    /// `envoy.config.endpoint.v3.ClusterLoadAssignment`
    pub endpoints: Vec<Arc<Tree>>,
    /// `envoy.extensions.transport_sockets.tls.v3.Secret`
    pub secrets: Vec<Arc<Tree>>,
}

impl Verbatim {
    /// Whether there are no resources.
    pub fn is_empty(&self) -> bool {
        self.listeners.is_empty() && self.routes.is_empty() && self.clusters.is_empty() && self.endpoints.is_empty() && self.secrets.is_empty()
    }
}

/// The name in a `<placeholder>`: a value known only at run time, or kept out of every tree.
pub fn placeholder(text: &str) -> Option<&str> {
    text.strip_prefix('<')?.strip_suffix('>').filter(|name| !name.contains(['<', '>', '\n']))
}

impl SecretReference {
    /// The reference that a placeholder names: `leaf:web:cert`, `inline-certificate:shop:key`, `roots`.
    pub fn of_placeholder(name: &str) -> Self {
        let (name, part) = match (name.strip_suffix(":cert"), name.strip_suffix(":key")) {
            (Some(name), _) => (name, SecretPart::Certificate),
            (_, Some(name)) => (name, SecretPart::PrivateKey),
            _ => (name, SecretPart::Certificate),
        };
        Self { holder: Holder::Secret, namespace: Str::default(), name: Str::new(name), part }
    }
}

impl Tree {
    /// The references that a host may fill in for the placeholders and names, with their origins.
    pub fn references(&self) -> Vec<(SecretReference, Option<Origin>)> {
        let held = self.get("inline_string");
        let own = placeholder(held.text()).map(|name| (SecretReference::of_placeholder(name), held.origin.or(self.origin)));
        let named = self.material().into_iter().map(|reference| (reference, self.origin));
        let within = self.fields().iter().map(|(_, value)| value).chain(self.items());
        own.into_iter().chain(named).chain(within.flat_map(Tree::references)).collect()
    }

    /// A name of key material.
    pub fn named_material(name: impl Into<Str>) -> Self {
        Self { value: Plain::Material(name.into()), origin: None }
    }

    /// The references of a name of key material; empty for anything else.
    pub fn material(&self) -> Vec<SecretReference> {
        let Plain::Material(names) = &self.value else { return Vec::new() };
        names.split('+').filter_map(SecretReference::of_name).collect()
    }

    /// The first name of key material in the value, if any.
    pub fn first_material(&self) -> Option<&Str> {
        if let Plain::Material(name) = &self.value {
            return Some(name);
        }
        let within = self.fields().iter().map(|(_, value)| value).chain(self.items());
        within.into_iter().find_map(Tree::first_material)
    }

    pub const NULL: Tree = Tree { value: Plain::Null, origin: None };

    /// An object of the non-null fields.
    pub fn object<K: Into<Str>>(fields: impl IntoIterator<Item = (K, Tree)>) -> Self {
        let fields = fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.into(), value));
        let mut fields: Vec<(Str, Tree)> = fields.collect();
        // Most objects have one or two fields, and a new list has room for four.
        fields.shrink_to_fit();
        Self { value: Plain::Object(Fields(fields.into())), origin: None }
    }

    /// Sets the origin if the value has none.
    #[must_use]
    pub fn or_from(mut self, origin: Option<Origin>) -> Self {
        self.origin = self.origin.or(origin);
        self
    }

    /// Sets the origin.
    #[must_use]
    pub fn with_origin(mut self, origin: Option<Origin>) -> Self {
        self.origin = origin;
        self
    }

    pub fn is_null(&self) -> bool {
        matches!(self.value, Plain::Null)
    }

    /// The value at `key`, if this is an object with that key.
    pub fn find(&self, key: &str) -> Option<&Tree> {
        self.fields().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value at `key`, or null.
    pub fn get(&self, key: &str) -> &Tree {
        const NOTHING: &Tree = &Tree::NULL;
        self.find(key).unwrap_or(NOTHING)
    }

    /// The value at a path of keys, or null.
    pub fn at(&self, path: &[&str]) -> &Tree {
        path.iter().fold(self, |tree, key| tree.get(key))
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Tree> {
        match &mut self.value {
            Plain::Object(fields) => fields.0.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The fields; empty if this is not an object.
    pub fn fields(&self) -> &[(Str, Tree)] {
        if let Plain::Object(fields) = &self.value { &fields.0 } else { &[] }
    }

    /// The elements; empty if this is not a list.
    pub fn items(&self) -> &[Tree] {
        if let Plain::List(items) = &self.value { items } else { &[] }
    }

    pub fn items_mut(&mut self) -> &mut [Tree] {
        if let Plain::List(items) = &mut self.value { items } else { &mut [] }
    }

    /// The string; empty if this is not a string.
    pub fn text(&self) -> &str {
        if let Plain::String(value) | Plain::Material(value) = &self.value { value } else { "" }
    }

    /// The string; empty if this is not a string.
    pub fn str(&self) -> Str {
        if let Plain::String(value) | Plain::Material(value) = &self.value { value.clone() } else { Str::default() }
    }

    /// Whether this is the given string.
    pub fn is(&self, text: &str) -> bool {
        matches!(&self.value, Plain::String(value) | Plain::Material(value) if value == text)
    }

    /// The whole number; 0 if this is not a number.
    pub fn int(&self) -> i64 {
        match self.value {
            Plain::Int(value) | Plain::Selected(Sourced { value, .. }) => value,
            Plain::Float(value) => value as i64,
            _ => 0,
        }
    }

    /// The number; 0 if this is not a number.
    pub fn float(&self) -> f64 {
        match self.value {
            Plain::Int(value) | Plain::Selected(Sourced { value, .. }) => value as f64,
            Plain::Float(value) => value,
            _ => 0.0,
        }
    }

    /// The whole number with its origin; 0 if this is not a number.
    pub fn number(&self) -> Sourced<i64> {
        Sourced::new(self.int(), self.origin)
    }

    /// The boolean; false if this is not a boolean.
    pub fn bool(&self) -> bool {
        matches!(self.value, Plain::Bool(true))
    }

    /// The boolean with its origin.
    pub fn flag(&self) -> Sourced<bool> {
        Sourced::new(self.bool(), self.origin)
    }

    /// Sets a field at its position or else at the end. Null removes it.
    pub fn set(&mut self, key: &str, value: Tree) {
        if let Plain::Null = self.value {
            self.value = Plain::Object(Fields::default());
        }
        let Plain::Object(fields) = &mut self.value else { return };
        match fields.0.iter().position(|(name, _)| name == key) {
            Some(at) if value.is_null() => {
                fields.0.remove(at);
            }
            Some(at) => {
                if let Some((_, slot)) = fields.0.get_mut(at) {
                    *slot = value;
                }
            }
            None if value.is_null() => {}
            None => fields.0.push((Str::new(key), value)),
        }
    }

    /// Sets the origin of a value that has none.
    pub fn trace(&mut self, path: &[&str], origin: Option<Origin>) {
        let Some((name, rest)) = path.split_first() else {
            self.origin = self.origin.or(origin);
            return;
        };
        if let Plain::Object(fields) = &mut self.value
            && let Some((_, value)) = fields.0.iter_mut().find(|(key, _)| key == name)
        {
            value.trace(rest, origin);
        }
    }

    /// Removes and returns a field.
    pub fn take(&mut self, key: &str) -> Option<Tree> {
        let Plain::Object(fields) = &mut self.value else { return None };
        let at = fields.0.iter().position(|(name, _)| name == key)?;
        Some(fields.0.remove(at).1)
    }

    /// Appends an element; null becomes a list.
    pub fn push(&mut self, value: Tree) {
        match &mut self.value {
            Plain::List(items) => items.push(value),
            Plain::Null => self.value = Plain::List(Vec::from([value]).into()),
            _ => {}
        }
    }

    /// The value without origins.
    pub fn node(&self) -> Node {
        Node::synthesised(match &self.value {
            Plain::Null => Value::Null,
            Plain::Bool(value) => Value::Bool(*value),
            Plain::Int(value) | Plain::Selected(Sourced { value, .. }) => Value::Int(*value),
            Plain::Float(value) => Value::Float(*value),
            Plain::String(value) | Plain::Material(value) => Value::String(value.clone()),
            Plain::List(items) => Value::Array(items.iter().map(Tree::node).collect()),
            Plain::Object(fields) => Value::Object(fields.0.iter().map(|(key, value)| (key.clone(), value.node())).collect()),
        })
    }

    /// The value as JSON in one line.
    pub fn json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out, None);
        out
    }

    /// Appends the value as JSON: for a text that is indented by `indent` spaces, or on one line if it is `None`.
    pub fn write_json(&self, out: &mut String, indent: Option<usize>) {
        let inner = indent.map(|indent| indent + 2);
        let line = |out: &mut String, indent: Option<usize>| {
            if let Some(indent) = indent {
                out.push('\n');
                out.extend(core::iter::repeat_n(' ', indent));
            }
        };
        match &self.value {
            Plain::List(items) if !items.is_empty() => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    line(out, inner);
                    item.write_json(out, inner);
                }
                line(out, indent);
                out.push(']');
            }
            Plain::Object(fields) if !fields.0.is_empty() => {
                out.push('{');
                for (at, (key, value)) in fields.0.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    line(out, inner);
                    write_quoted(out, key);
                    out.push_str(if indent.is_some() { ": " } else { ":" });
                    value.write_json(out, inner);
                }
                line(out, indent);
                out.push('}');
            }
            Plain::List(_) => out.push_str("[]"),
            Plain::Object(_) => out.push_str("{}"),
            Plain::String(text) | Plain::Material(text) => write_quoted(out, text),
            Plain::Null => out.push_str("null"),
            Plain::Bool(value) => write_json_scalar(out, &Value::Bool(*value)),
            Plain::Int(value) | Plain::Selected(Sourced { value, .. }) => write_json_scalar(out, &Value::Int(*value)),
            Plain::Float(value) => write_json_scalar(out, &Value::Float(*value)),
        }
    }

    /// Whether both are equal and come from the same places.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.origin == other.origin
            && match (&self.value, &other.value) {
                (Plain::List(one), Plain::List(two)) => {
                    one.address() == two.address() || one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.is_same(two))
                }
                (Plain::Object(Fields(one)), Plain::Object(Fields(two))) => {
                    let is_same = |((key, one), (other, two)): (&(Str, Tree), &(Str, Tree))| key == other && one.is_same(two);
                    one.address() == two.address() || one.len() == two.len() && one.iter().zip(two).all(is_same)
                }
                (Plain::Selected(one), Plain::Selected(two)) => one == two && one.origin == two.origin,
                (Plain::Selected(_), _) | (_, Plain::Selected(_)) => false,
                (one, two) => one == two,
            }
    }

    /// Converts a value that was read; `origin` gives the origin of each node.
    pub fn of(node: &Node, origin: &impl Fn(&Node) -> Option<Origin>) -> Self {
        let value = match &node.value {
            Value::Null => Plain::Null,
            Value::Bool(value) => Plain::Bool(*value),
            Value::Int(value) => Plain::Int(*value),
            Value::Float(value) => Plain::Float(*value),
            Value::String(value) => Plain::String(value.clone()),
            Value::Array(items) => Plain::List(items.iter().map(|item| Tree::of(item, origin)).collect()),
            Value::Object(object) => Plain::Object(Fields(object.iter().map(|entry| (entry.key.clone(), Tree::of(&entry.value, origin))).collect())),
        };
        Self { value, origin: origin(node) }
    }
}

macro_rules! plain {
    ($($from:ty => |$value:ident| $plain:expr;)*) => {
        $(impl From<$from> for Tree {
            fn from($value: $from) -> Self {
                Self { value: $plain, origin: None }
            }
        }

        impl From<Sourced<$from>> for Tree {
            fn from(of: Sourced<$from>) -> Self {
                of.map(|$value| $plain)
            }
        })*
    };
}

plain! {
    bool => |value| Plain::Bool(value);
    i64 => |value| Plain::Int(value);
    u32 => |value| Plain::Int(value.into());
    i32 => |value| Plain::Int(value.into());
    usize => |value| Plain::Int(i64::try_from(value).unwrap_or(i64::MAX));
    f64 => |value| Plain::Float(value);
    &str => |value| Plain::String(Str::new(value));
    String => |value| Plain::String(Str::from(value));
    Str => |value| Plain::String(value);
    &Str => |value| Plain::String(value.clone());
    Vec<Tree> => |value| Plain::List(value.into());
}

impl From<&Tree> for Tree {
    fn from(value: &Tree) -> Self {
        value.clone()
    }
}

impl<T: Into<Tree>> From<Option<T>> for Tree {
    fn from(value: Option<T>) -> Self {
        value.map_or(Tree::NULL, Into::into)
    }
}
