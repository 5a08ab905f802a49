//! The view of a value, and the walk over the set fields of a message.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use prost_types::{Duration, FieldMask, ListValue, Struct, Timestamp};

use super::info::{EnumInfo, FieldInfo, Kind, MessageInfo};
use crate::Any;
use crate::json::{self, Style};

/// A value that knows its type: a message, or a scalar that prost uses for `google.protobuf`'s wrappers.
pub trait Reflect: Send + Sync {
    /// Its table.
    fn info(&self) -> &'static MessageInfo;
    /// Returns its view: a message, or the value of its well-known type.
    fn as_value(&self) -> Value<'_>;
    /// Presents every field that is set, in the order of declaration.
    fn visit(&self, visitor: &mut dyn Visitor);
}

/// The receiver of the fields from [`Reflect::visit`].
pub trait Visitor {
    /// A field that is set.
    fn field(&mut self, field: &'static FieldInfo, value: Value<'_>);
}

/// A value, borrowed.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "the variants are named after what they hold")]
pub enum Value<'a> {
    Bool(bool),
    I32(i32),
    I64(i64),
    U32(u32),
    U64(u64),
    F32(f32),
    F64(f64),
    String(&'a str),
    Bytes(&'a [u8]),
    Enum(i32, &'static EnumInfo),
    Message(&'a dyn Reflect),
    Any(&'a Any),
    Duration(&'a Duration),
    Timestamp(&'a Timestamp),
    FieldMask(&'a FieldMask),
    Struct(&'a Struct),
    Dynamic(&'a prost_types::Value),
    DynamicList(&'a ListValue),
    Empty,
    List(List<'a>),
    Map(Map<'a>),
}

/// The elements of a repeated field.
#[derive(Clone, Copy)]
pub struct List<'a> {
    items: &'a dyn Items,
    kind: &'static Kind,
}

impl<'a> List<'a> {
    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.count()
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.count() == 0
    }

    /// Returns one element.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        self.items.item(index, self.kind)
    }

    /// Returns all elements, in order.
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let (items, kind) = (self.items, self.kind);
        (0..items.count()).filter_map(move |index| items.item(index, kind))
    }
}

/// The entries of a map field.
#[derive(Clone, Copy)]
pub struct Map<'a> {
    pairs: &'a dyn Pairs,
    kind: &'static Kind,
}

impl Map<'_> {
    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.count()
    }

    /// Whether the map is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.count() == 0
    }

    /// Calls with each key and value, by key.
    pub fn each(&self, call: &mut dyn FnMut(Value<'_>, Value<'_>)) {
        self.pairs.each(self.kind, call);
    }
}

/// The container of a [`List`]'s elements.
pub trait Items {
    /// The number of elements.
    fn count(&self) -> usize;
    /// Returns one element.
    fn item(&self, index: usize, kind: &'static Kind) -> Option<Value<'_>>;
}

impl<T: Reflect> Items for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn item(&self, index: usize, kind: &'static Kind) -> Option<Value<'_>> {
        self.get(index).map(|item| seen(item, kind))
    }
}

/// The container of a [`Map`]'s entries.
pub trait Pairs {
    /// The number of entries.
    fn count(&self) -> usize;
    /// Calls with each key and value, by key.
    fn each(&self, kind: &'static Kind, call: &mut dyn FnMut(Value<'_>, Value<'_>));
}

impl<K: Reflect, T: Reflect> Pairs for BTreeMap<K, T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn each(&self, kind: &'static Kind, call: &mut dyn FnMut(Value<'_>, Value<'_>)) {
        for (key, value) in self {
            call(key.as_value(), seen(value, kind));
        }
    }
}

/// prost stores enums as numbers, but the field knows the enum.
#[inline]
fn seen<'a, T: Reflect>(value: &'a T, kind: &'static Kind) -> Value<'a> {
    match (value.as_value(), kind) {
        (Value::I32(number), Kind::Enum(of)) => Value::Enum(number, of),
        (value, _) => value,
    }
}

/// A field as prost lays it out.
pub trait Field {
    /// Presents the field, if it is set.
    fn put(&self, visitor: &mut dyn Visitor, field: &'static FieldInfo);
}

macro_rules! implicit {
    ($($of:ty: $value:ident => $set:expr;)*) => {$(
        impl Field for $of {
            #[inline]
            fn put(&self, visitor: &mut dyn Visitor, field: &'static FieldInfo) {
                let $value = self;
                if $set {
                    visitor.field(field, seen(self, &field.kind));
                }
            }
        }
    )*};
}

implicit! {
    bool: v => *v;
    i32: v => *v != 0;
    i64: v => *v != 0;
    u32: v => *v != 0;
    u64: v => *v != 0;
    f32: v => v.to_bits() != 0;
    f64: v => v.to_bits() != 0;
    String: v => !v.is_empty();
    Vec<u8>: v => !v.is_empty();
}

impl<T: Reflect> Field for Option<T> {
    #[inline]
    fn put(&self, visitor: &mut dyn Visitor, field: &'static FieldInfo) {
        if let Some(value) = self {
            visitor.field(field, seen(value, &field.kind));
        }
    }
}

impl<T: Reflect> Field for Vec<T> {
    #[inline]
    fn put(&self, visitor: &mut dyn Visitor, field: &'static FieldInfo) {
        if !self.is_empty() {
            visitor.field(field, Value::List(List { items: self, kind: &field.kind }));
        }
    }
}

impl<K: Reflect, T: Reflect> Field for BTreeMap<K, T> {
    #[inline]
    fn put(&self, visitor: &mut dyn Visitor, field: &'static FieldInfo) {
        if !self.is_empty() {
            visitor.field(field, Value::Map(Map { pairs: self, kind: &field.kind }));
        }
    }
}

/// Presents a message that would otherwise contain itself.
#[inline]
pub fn put_boxed<T: Reflect>(value: &Option<Box<T>>, visitor: &mut dyn Visitor, field: &'static FieldInfo) {
    if let Some(value) = value {
        visitor.field(field, value.as_value());
    }
}

/// Presents the set member of a oneof, even if it is zero.
#[inline]
pub fn put_member<T: Reflect>(value: &T, visitor: &mut dyn Visitor, field: &'static FieldInfo) {
    visitor.field(field, seen(value, &field.kind));
}

/// Writes the name of a message and its JSON, without secrets.
pub fn debug(message: &dyn Reflect, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
    let style = if f.alternate() { Style::PRETTY } else { Style::COMPACT };
    write!(f, "{} {}", message.info().name(), json::to_string_with(message, &style.redact()))
}

impl Debug for Value<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&json::value_to_string(*self))
    }
}
