//! Opaque configuration, read as leniently as Consul reads it: keys in any case, by a name or an alias; numbers and truth values that stand
//! in strings.
//!
//! What must not be here: which keys there are.

use super::go;
use crate::dialect::kubernetes::reason::Reason;
use crate::ir::{Plain, Tree};
use crate::resource::Sourced;
use crate::schema::duration;
use crate::text::Str;
use alloc::format;
use alloc::string::ToString;

/// The value at a key: exactly, or in another case, or by an alias.
pub(crate) fn find<'a>(map: &'a Tree, name: &str, alias: &str) -> &'a Tree {
    const NOTHING: &Tree = &Tree::NULL;
    if let Some(exact) = map.find(name) {
        return exact;
    }
    let other = |key: &str| key.eq_ignore_ascii_case(name) || (!alias.is_empty() && key.eq_ignore_ascii_case(alias));
    map.fields().iter().find(|(key, _)| other(key)).map_or(NOTHING, |(_, value)| value)
}

/// A whole number; nothing is 0.
pub(crate) fn int(tree: &Tree) -> Result<i64, Reason> {
    match &tree.value {
        Plain::Null => Ok(0),
        Plain::Int(value) => Ok(*value),
        Plain::Float(value) => Ok(*value as i64),
        Plain::Bool(value) => Ok(i64::from(*value)),
        Plain::String(text) => go::parse_int(text).ok_or_else(|| format!("cannot parse {} as a whole number", go::quote(text)).into()),
        Plain::List(_) | Plain::Object(_) => Err("expected a whole number".into()),
    }
}

/// A whole number, if one is given.
pub(crate) fn some_int(tree: &Tree) -> Result<Option<i64>, Reason> {
    if tree.is_null() { Ok(None) } else { int(tree).map(Some) }
}

/// A whole number with the place where it is written; nothing is 0.
pub(crate) fn sourced_int(tree: &Tree) -> Result<Sourced<i64>, Reason> {
    int(tree).map(|value| Sourced { value, origin: tree.origin })
}

/// The same, if one is given.
pub(crate) fn some_sourced_int(tree: &Tree) -> Result<Option<Sourced<i64>>, Reason> {
    if tree.is_null() { Ok(None) } else { sourced_int(tree).map(Some) }
}

/// A truth value; nothing is false.
pub(crate) fn bool(tree: &Tree) -> Result<bool, Reason> {
    match &tree.value {
        Plain::Null => Ok(false),
        Plain::Bool(value) => Ok(*value),
        Plain::Int(value) => Ok(*value != 0),
        Plain::Float(value) => Ok(*value != 0.0),
        Plain::String(text) => go::parse_bool(text).ok_or_else(|| format!("cannot parse {} as a truth value", go::quote(text)).into()),
        Plain::List(_) | Plain::Object(_) => Err("expected a truth value".into()),
    }
}

/// Text; nothing is empty.
pub(crate) fn text(tree: &Tree) -> Result<Str, Reason> {
    match &tree.value {
        Plain::Null => Ok(Str::default()),
        Plain::String(text) => Ok(text.clone()),
        Plain::Bool(value) => Ok(Str::new_static(if *value { "1" } else { "0" })),
        Plain::Int(value) => Ok(Str::from(value.to_string())),
        Plain::Float(value) => Ok(Str::from(go::float(*value))),
        Plain::List(_) | Plain::Object(_) => Err("expected a string".into()),
    }
}

/// A duration in nanoseconds, as text or as a number.
pub(crate) fn some_duration(tree: &Tree) -> Result<Option<i64>, Reason> {
    match &tree.value {
        Plain::String(text) => Ok(Some(duration::read(text)?)),
        _ => some_int(tree),
    }
}
