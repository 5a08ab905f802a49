//! The shapes of documents: their fields, and how these are read and written.
//!
//! Reading is as lenient as in Consul: keys in any case, aliases, numbers in strings. Does not validate values; see `validate`.

mod decode;
pub(crate) mod entries;
pub(crate) mod gateways;
pub(crate) mod registration;
mod write;

pub(crate) use decode::{Fault, Leniency, decode};
pub(crate) use write::write;

/// The fields of an object.
pub(crate) struct Struct(pub(crate) &'static [Field]);

pub(crate) struct Field {
    /// The written name.
    pub(crate) name: &'static str,
    /// Another accepted name, in lower case; empty if there is none.
    pub(crate) alias: &'static str,
    pub(crate) holds: Type,
    /// How it is written if it is absent.
    pub(crate) absent: Absent,
}

/// How an absent field is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// As the zero value of its type; a list or map as null.
    Zero,
    /// As null.
    Null,
    /// Not written, nor if it has the zero value.
    Omitted,
    /// Not written; an explicit zero value is written.
    Unset,
}

/// The type of a field.
pub(crate) enum Type {
    Text,
    Bool,
    Int,
    Uint,
    Float,
    /// In nanoseconds.
    Duration,
    /// In nanoseconds, written as a string.
    DurationText,
    Bytes,
    /// Any value, unchanged.
    Opaque,
    List(&'static Type),
    Map(&'static Type),
    Struct(&'static Struct),
}

/// Always written; an absent list or map as null.
pub(crate) const fn zero(name: &'static str, alias: &'static str, holds: Type) -> Field {
    Field { name, alias, holds, absent: Absent::Zero }
}

/// Written as null if it is absent.
pub(crate) const fn null(name: &'static str, alias: &'static str, holds: Type) -> Field {
    Field { name, alias, holds, absent: Absent::Null }
}

/// Not written if it has the zero value.
pub(crate) const fn omit(name: &'static str, alias: &'static str, holds: Type) -> Field {
    Field { name, alias, holds, absent: Absent::Omitted }
}

/// Not written if it is absent.
pub(crate) const fn some(name: &'static str, alias: &'static str, holds: Type) -> Field {
    Field { name, alias, holds, absent: Absent::Unset }
}
