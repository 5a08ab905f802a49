//! The shapes of documents: which fields there are, how they are read, and how they are written.
//!
//! Reading is as lenient as Consul's: keys in any case, aliases, numbers that stand in strings. What must not be here: what a field means, and
//! what is valid.

mod decode;
pub(crate) mod entries;
pub(crate) mod gateways;
pub(crate) mod registration;
mod write;

pub(crate) use decode::{Fault, Manner, decode};
pub(crate) use write::write;

/// The fields of an object.
pub(crate) struct Struct(pub(crate) &'static [Field]);

/// One field.
pub(crate) struct Field {
    /// As it is written.
    pub(crate) name: &'static str,
    /// Another name by which it is read, in lower case; empty where there is none.
    pub(crate) alias: &'static str,
    /// What it holds.
    pub(crate) holds: Type,
    /// How it is written where nothing is in it.
    pub(crate) absent: Absent,
}

/// How a field is written where nothing is in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// As the zero value of its type; a list or map as null.
    Zero,
    /// As null.
    Null,
    /// Not at all, and neither where it is the zero value.
    Omitted,
    /// Not at all; a zero value is written where it was given.
    Unset,
}

/// What a field holds.
pub(crate) enum Type {
    Text,
    Bool,
    Int,
    Uint,
    Float,
    /// In nanoseconds.
    Duration,
    /// In nanoseconds, written as text.
    DurationText,
    Bytes,
    /// Anything, as it is given.
    Opaque,
    List(&'static Type),
    Map(&'static Type),
    Struct(&'static Struct),
}

/// Always written; an empty list or map that was not given as null.
pub(crate) const fn zero(name: &'static str, alias: &'static str, holds: Type) -> Field {
    Field { name, alias, holds, absent: Absent::Zero }
}

/// Written as null where it was not given.
pub(crate) const fn null(name: &'static str, alias: &'static str, holds: Type) -> Field {
    Field { name, alias, holds, absent: Absent::Null }
}

/// Not written where it is the zero value.
pub(crate) const fn omit(name: &'static str, alias: &'static str, holds: Type) -> Field {
    Field { name, alias, holds, absent: Absent::Omitted }
}

/// Not written where it was not given.
pub(crate) const fn some(name: &'static str, alias: &'static str, holds: Type) -> Field {
    Field { name, alias, holds, absent: Absent::Unset }
}
