//! The form of a gateway's parts in its ARM document, both ways: each type is written down once, as fields with their names in the document,
//! and is read and written by that.
//!
//! What is not known, or is of another type than it should be, is kept as it was read ([`Rest`]), so that a document goes through
//! unharmed. Fields that Azure only tells and does not take are left out when a document is written.
//!
//! What must not be here: which parts there are; text.

use crate::resource::{Also, ObjectId, Origin, Rule, Sourced};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Node, Str, Value};
use core::ops::Deref;

/// A value of a document, and where it comes from.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The value.
    pub value: Branch,
    /// What made it; `None` where what is around it says so.
    pub origin: Option<Origin>,
    /// What else it was derived from.
    pub also: Also,
}

/// What a [`Tree`] holds.
#[derive(Clone, Debug)]
pub enum Branch {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// A string.
    Text(Str),
    /// A list.
    List(Vec<Tree>),
    /// Fields by name.
    Fields(Vec<(Str, Tree)>),
    /// What was kept as it was read, of this object.
    Kept(Node, ObjectId),
}

impl Tree {
    /// A value whose origin is that of what is around it.
    pub fn plain(value: Branch) -> Self {
        Self { value, origin: None, also: Also::default() }
    }

    /// A value with its origin.
    pub fn of(value: Branch, origin: Option<Origin>) -> Self {
        Self { value, origin, also: Also::default() }
    }
}

/// What a type does not know of an object: its other fields, as they were read.
pub type Rest = Vec<(Str, Node)>;

/// Fields that Azure tells and does not take.
const TOLD_ONLY: &[&str] = &["etag", "type", "provisioningState", "publicCertData", "backendIPConfigurations", "resourceGuid"];

/// A value that stands in a field.
pub trait Wire: Sized {
    /// Reads it; `None` where it is of another form.
    fn read(node: &Node, object: ObjectId) -> Option<Self>;
    /// The value for a document.
    fn write(&self) -> Tree;
}

/// Where a node stands. What no object of the input holds was given to the controller.
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

/// What is left of an object beside the fields that were taken.
pub(super) fn rest_of(node: &Node, taken: impl Fn(&str) -> bool) -> Rest {
    let fields = node.as_object().into_iter().flatten();
    fields.filter(|entry| !taken(&entry.key) && !entry.value.is_null()).map(|entry| (entry.key.clone(), entry.value.clone())).collect()
}

/// Adds what was kept.
pub(super) fn write_rest(rest: &Rest, object: ObjectId, fields: &mut Vec<(Str, Tree)>) {
    let kept = rest.iter().filter(|(key, _)| !TOLD_ONLY.contains(&key.as_str()));
    fields.extend(kept.map(|(key, node)| {
        let tree = Tree::of(Branch::Kept(node.clone(), object), origin_of(node, object));
        (key.clone(), tree)
    }));
}

/// Defines objects of the document: their fields with the names that these have there. A field whose value has another form than it should
/// have is kept among the rest.
macro_rules! wire {
    ($($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty = $key:literal,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$doc])* pub $field: Option<$type>,)*
            /// Further fields, as they were read.
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
