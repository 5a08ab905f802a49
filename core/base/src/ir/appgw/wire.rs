//! Maps a gateway's parts to its ARM document and back: each type lists its fields once, with their names in the document, and both directions use
//! that list.
//!
//! Unknown fields and values of another type are kept as read ([`Rest`]), so a document survives the round trip. Read-only fields of Azure are
//! omitted on writing.

use crate::resource::{Also, ObjectId, Origin, Rule, Sourced};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Node, Str, Value};
use core::ops::Deref;

/// A value of a document with its origins.
#[derive(Clone, Debug)]
pub struct Tree {
    pub value: Branch,
    /// The origin; `None` if the enclosing value's origin applies.
    pub origin: Option<Origin>,
    /// Further origins.
    pub also: Also,
}

/// The content of a [`Tree`].
#[derive(Clone, Debug)]
pub enum Branch {
    Flag(bool),
    /// A whole number.
    Number(i64),
    Text(Str),
    List(Vec<Tree>),
    /// Fields by name.
    Fields(Vec<(Str, Tree)>),
    /// A value of this object, as read.
    Kept(Node, ObjectId),
}

impl Tree {
    /// A value with the enclosing value's origin.
    pub fn plain(value: Branch) -> Self {
        Self { value, origin: None, also: Also::default() }
    }

    /// A value with its own origin.
    pub fn of(value: Branch, origin: Option<Origin>) -> Self {
        Self { value, origin, also: Also::default() }
    }
}

/// The fields of an object that its type does not know, as read.
pub type Rest = Vec<(Str, Node)>;

/// Read-only fields of Azure.
const READ_ONLY: &[&str] = &["etag", "type", "provisioningState", "publicCertData", "backendIPConfigurations", "resourceGuid"];

/// The value of a field.
pub trait Wire: Sized {
    /// Reads the value; `None` if it has another form.
    fn read(node: &Node, object: ObjectId) -> Option<Self>;
    /// Writes the value.
    fn write(&self) -> Tree;
}

/// The origin of a node. A value outside the input was given to the controller.
pub(super) fn origin_of(node: &Node, object: ObjectId) -> Option<Origin> {
    match object {
        ObjectId::BUILT_IN => Some(Origin::built_in().by(Rule::Environment)),
        _ => node.id.is_some().then(|| Origin::field(object, node.id)),
    }
}

impl Wire for Sourced<Str> {
    fn read(node: &Node, object: ObjectId) -> Option<Self> {
        let Value::String(text) = &node.value else { return None };
        Some(Sourced::new(text.clone(), origin_of(node, object)))
    }
    fn write(&self) -> Tree {
        Tree::of(Branch::Text(self.value.clone()), self.origin)
    }
}

impl Wire for Sourced<i64> {
    fn read(node: &Node, object: ObjectId) -> Option<Self> {
        Some(Sourced::new(node.as_i64()?, origin_of(node, object)))
    }
    fn write(&self) -> Tree {
        Tree::of(Branch::Number(self.value), self.origin)
    }
}

impl Wire for Sourced<bool> {
    fn read(node: &Node, object: ObjectId) -> Option<Self> {
        Some(Sourced::new(node.as_bool()?, origin_of(node, object)))
    }
    fn write(&self) -> Tree {
        Tree::of(Branch::Flag(self.value), self.origin)
    }
}

/// A value that was derived from several fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derived<T> {
    /// The value, with the field that decided it.
    pub sourced: Sourced<T>,
    /// The other fields.
    pub also: Also,
}

impl<T> Deref for Derived<T> {
    type Target = Sourced<T>;

    fn deref(&self) -> &Sourced<T> {
        &self.sourced
    }
}

impl<T> From<Sourced<T>> for Derived<T> {
    fn from(sourced: Sourced<T>) -> Self {
        Self { sourced, also: Also::default() }
    }
}

impl<T> Wire for Derived<T>
where
    Sourced<T>: Wire,
{
    fn read(node: &Node, object: ObjectId) -> Option<Self> {
        Sourced::read(node, object).map(Self::from)
    }
    fn write(&self) -> Tree {
        Tree { also: self.also.clone(), ..self.sourced.write() }
    }
}

impl<T: Wire> Wire for Arc<T> {
    fn read(node: &Node, object: ObjectId) -> Option<Self> {
        T::read(node, object).map(Arc::new)
    }
    fn write(&self) -> Tree {
        T::write(self)
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn read(node: &Node, object: ObjectId) -> Option<Self> {
        node.as_array()?.iter().map(|item| T::read(item, object)).collect()
    }
    fn write(&self) -> Tree {
        Tree::plain(Branch::List(self.iter().map(Wire::write).collect()))
    }
}

/// The fields of an object that were not read.
pub(super) fn rest_of(node: &Node, taken: impl Fn(&str) -> bool) -> Rest {
    let fields = node.as_object().into_iter().flatten();
    fields.filter(|entry| !taken(&entry.key) && !entry.value.is_null()).map(|entry| (entry.key.clone(), entry.value.clone())).collect()
}

/// Adds the kept fields.
pub(super) fn write_rest(rest: &Rest, object: ObjectId, fields: &mut Vec<(Str, Tree)>) {
    let kept = rest.iter().filter(|(key, _)| !READ_ONLY.contains(&key.as_str()));
    fields.extend(kept.map(|(key, node)| {
        let tree = Tree::of(Branch::Kept(node.clone(), object), origin_of(node, object));
        (key.clone(), tree)
    }));
}

/// Defines objects of the document: their fields with the names in the document. A field whose value has an unexpected form is kept in `rest`.
macro_rules! wire {
    ($($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty = $key:literal,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$doc])* pub $field: Option<$type>,)*
            /// Unknown fields, as read.
            pub rest: $crate::ir::appgw::wire::Rest,
            /// The object that they were read from.
            pub read_from: Option<$crate::resource::ObjectId>,
        }

        impl $crate::ir::appgw::wire::Wire for $name {
            fn read(node: &chancery_text::Node, object: $crate::resource::ObjectId) -> Option<Self> {
                node.as_object()?;
                $(let $field: Option<$type> =
                    node.get($key).filter(|node| !node.is_null()).and_then(|node| $crate::ir::appgw::wire::Wire::read(node, object));)*
                let rest = $crate::ir::appgw::wire::rest_of(node, |key| match key {
                    $($key => $field.is_some(),)*
                    _ => false,
                });
                Some(Self { $($field,)* rest, read_from: Some(object) })
            }

            fn write(&self) -> $crate::ir::appgw::wire::Tree {
                let mut fields: alloc::vec::Vec<(chancery_text::Str, $crate::ir::appgw::wire::Tree)> = alloc::vec::Vec::new();
                $(if let Some(value) = &self.$field {
                    fields.push((chancery_text::Str::new_static($key), $crate::ir::appgw::wire::Wire::write(value)));
                })*
                if let Some(object) = self.read_from {
                    $crate::ir::appgw::wire::write_rest(&self.rest, object, &mut fields);
                }
                $crate::ir::appgw::wire::Tree::plain($crate::ir::appgw::wire::Branch::Fields(fields))
            }
        }
    )*};
}

pub(super) use wire;
