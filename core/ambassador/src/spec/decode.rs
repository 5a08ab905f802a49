//! Decodes typed specs from normalized trees: every field is optional, every value has its origin.
//!
//! A value of the wrong type reads as absent. The schema (`kinds/`) has already reported it; for the untyped `Module`, see [`Decoder::wrong`].
use alloc::boxed::Box;
use alloc::vec::Vec;
use chancery_base::resource::{ObjectId, Origin, Rule, Sourced};
use chancery_text::{Node, Str, Value};

/// A value of the wrong type.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// Where.
    pub origin: Origin,
    /// The expected type.
    pub expected: &'static str,
    /// The found type.
    pub found: &'static str,
}

/// Reads values of one object.
pub struct Decoder<'w> {
    object: ObjectId,
    rule: Rule,
    wrong: Option<&'w mut Vec<Wrong>>,
}

impl<'w> Decoder<'w> {
    /// A decoder that passes over values of the wrong type.
    pub fn new(object: ObjectId, rule: Rule) -> Self {
        Self { object, rule, wrong: None }
    }

    /// A decoder that also notes them.
    pub fn noting(object: ObjectId, rule: Rule, wrong: &'w mut Vec<Wrong>) -> Self {
        Self { object, rule, wrong: Some(wrong) }
    }

    /// The origin of a node.
    pub fn origin(&self, node: &Node) -> Origin {
        Origin::new(self.object, node.id, self.rule)
    }

    /// The value of a node with its origin; `None` for `null` and wrong types.
    pub fn read<T: Decode>(&mut self, node: &Node) -> Option<Sourced<T>> {
        if matches!(node.value, Value::Null) {
            return None;
        }
        match T::decode(node, self) {
            Some(value) => Some(Sourced::new(value, self.origin(node))),
            None => {
                let origin = self.origin(node);
                if let Some(wrong) = &mut self.wrong {
                    wrong.push(Wrong { origin, expected: T::EXPECTED, found: node.kind_name() });
                }
                None
            }
        }
    }
}

/// A type that can be read from a node.
pub trait Decode: Sized {
    /// The type's name in messages.
    const EXPECTED: &'static str;

    /// The value, or `None` if the node is something else.
    fn decode(node: &Node, decoder: &mut Decoder<'_>) -> Option<Self>;
}

impl Decode for bool {
    const EXPECTED: &'static str = "boolean";
    fn decode(node: &Node, _: &mut Decoder<'_>) -> Option<Self> {
        node.as_bool()
    }
}

impl Decode for i64 {
    const EXPECTED: &'static str = "integer";
    fn decode(node: &Node, _: &mut Decoder<'_>) -> Option<Self> {
        match node.value {
            Value::Int(value) => Some(value),
            #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number within range")]
            Value::Float(value) if value % 1.0 == 0.0 && (-9e15..9e15).contains(&value) => Some(value as i64),
            _ => None,
        }
    }
}

impl Decode for Str {
    const EXPECTED: &'static str = "string";
    fn decode(node: &Node, _: &mut Decoder<'_>) -> Option<Self> {
        match &node.value {
            Value::String(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl Decode for Node {
    const EXPECTED: &'static str = "value";
    fn decode(node: &Node, _: &mut Decoder<'_>) -> Option<Self> {
        Some(node.clone())
    }
}

impl<T: Decode> Decode for Vec<Sourced<T>> {
    const EXPECTED: &'static str = "array";
    fn decode(node: &Node, decoder: &mut Decoder<'_>) -> Option<Self> {
        Some(node.as_array()?.iter().filter_map(|item| decoder.read(item)).collect())
    }
}

/// A string or a list of strings: the untyped Module accepts both in some places.
#[derive(Clone, Debug, PartialEq)]
pub enum TextOrList {
    Text(Str),
    List(Vec<Sourced<Str>>),
}

impl Decode for TextOrList {
    const EXPECTED: &'static str = "array of strings";
    fn decode(node: &Node, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &node.value {
            Value::String(text) => Some(Self::Text(text.clone())),
            _ => Vec::decode(node, decoder).map(Self::List),
        }
    }
}

/// A JSON object with any keys, sorted by them: so does Go when it writes a map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map<T>(pub Vec<(Str, Sourced<T>)>);

impl<T> Map<T> {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Sourced<T>> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Keys and values in order.
    pub fn iter(&self) -> core::slice::Iter<'_, (Str, Sourced<T>)> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Decode> Decode for Map<T> {
    const EXPECTED: &'static str = "object";
    fn decode(node: &Node, decoder: &mut Decoder<'_>) -> Option<Self> {
        let object = node.as_object()?;
        let mut entries: Vec<(Str, Sourced<T>)> = object.iter().filter_map(|entry| Some((entry.key.clone(), decoder.read(&entry.value)?))).collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        Some(Map(entries))
    }
}

impl<T: Decode> Decode for Box<T> {
    const EXPECTED: &'static str = T::EXPECTED;
    fn decode(node: &Node, decoder: &mut Decoder<'_>) -> Option<Self> {
        T::decode(node, decoder).map(Self::new)
    }
}

/// Rarely used fields in an optional box. They are read and written like the other fields.
#[derive(Clone, Debug)]
pub struct Rare<T>(Option<Box<T>>);

/// A struct whose fields may all be unset.
pub trait Unset: Default + 'static {
    /// The keys that are read into it.
    const KEYS: &'static [&'static str];

    /// The one without any field.
    fn unset() -> &'static Self;

    /// Reads a field, if there is one of this key.
    fn read(&mut self, key: &str, value: &Node, decoder: &mut Decoder<'_>);
}

impl<T> Rare<T> {
    /// None of the fields.
    pub const fn none() -> Self {
        Self(None)
    }
}

impl<T: Unset> Rare<T> {
    /// Reads a field, if there is one of this key.
    pub fn read(&mut self, key: &str, value: &Node, decoder: &mut Decoder<'_>) {
        if T::KEYS.contains(&key) {
            (**self).read(key, value, decoder);
        }
    }
}

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Self::none()
    }
}

impl<T: Unset> core::ops::Deref for Rare<T> {
    type Target = T;
    fn deref(&self) -> &T {
        match &self.0 {
            Some(fields) => fields,
            None => T::unset(),
        }
    }
}

impl<T: Unset> core::ops::DerefMut for Rare<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T: Unset + PartialEq> PartialEq for Rare<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

/// Declares structs whose fields are all `Option<Sourced<T>>`, read from the keys of their names (or of the given string). `struct A with B` has
/// the fields of `B` in a separate box ([`Rare`]).
macro_rules! spec {
    ($($(#[$meta:meta])* pub struct $name:ident $(with $rare:ident)? { $($(#[$field_meta:meta])* $field:ident $(= $key:literal)?: $type:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: Option<chancery_base::resource::Sourced<$type>>,)*
            $(pub rare: $crate::spec::decode::Rare<$rare>,)?
        }

        impl $crate::spec::decode::Decode for $name {
            const EXPECTED: &'static str = "object";
            fn decode(node: &chancery_text::Node, decoder: &mut $crate::spec::decode::Decoder<'_>) -> Option<Self> {
                use $crate::spec::decode::Unset as _;
                let object = node.as_object()?;
                let mut spec = Self::default();
                for entry in object.iter() {
                    spec.read(&entry.key, &entry.value, decoder);
                }
                Some(spec)
            }
        }

        impl $crate::spec::decode::Unset for $name {
            const KEYS: &'static [&'static str] = &[$($crate::spec::decode::spec_key!($field $(= $key)?)),*];

            fn unset() -> &'static Self {
                static UNSET: $name = $name {
                    $($field: None,)*
                    $(rare: $crate::spec::decode::Rare::<$rare>::none(),)?
                };
                &UNSET
            }

            fn read(&mut self, key: &str, value: &chancery_text::Node, decoder: &mut $crate::spec::decode::Decoder<'_>) {
                match key {
                    $($crate::spec::decode::spec_key!($field $(= $key)?) => self.$field = decoder.read(value),)*
                    _ => {
                        $(<$crate::spec::decode::Rare<$rare>>::read(&mut self.rare, key, value, decoder);)?
                    }
                }
            }
        }

        $(
            impl core::ops::Deref for $name {
                type Target = $rare;
                fn deref(&self) -> &$rare {
                    &self.rare
                }
            }

            impl core::ops::DerefMut for $name {
                fn deref_mut(&mut self) -> &mut $rare {
                    &mut self.rare
                }
            }
        )?
    )*};
}

macro_rules! spec_key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident = $key:literal) => {
        $key
    };
}

pub(crate) use {spec, spec_key};
