//! Reads opaque configuration as leniently as Consul: keys in any case, by a name or an alias; numbers and truth values in strings; a list of one
//! for its value.

use super::go;
use alloc::format;
use alloc::string::{String, ToString};
use chancery_base::ir::{Plain, Tree};
use chancery_base::resource::{Origin, Sourced};
use chancery_base::schema::duration;
use chancery_text::Str;

/// The value at a key: exactly, or in another case, or by an alias. A list of one is replaced by its value.
pub(crate) fn find<'a>(map: &'a Tree, name: &str, alias: &str) -> &'a Tree {
    const NOTHING: &Tree = &Tree::NULL;
    let other = |key: &str| key.eq_ignore_ascii_case(name) || (!alias.is_empty() && key.eq_ignore_ascii_case(alias));
    let found = map.find(name).or_else(|| map.fields().iter().find(|(key, _)| other(key)).map(|(_, value)| value));
    let found = found.unwrap_or(NOTHING);
    match &found.value {
        Plain::List(items) if items.len() == 1 => &items[0],
        _ => found,
    }
}

/// An invalid value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) origin: Option<Origin>,
}

/// Reads the fields of an object one by one. Invalid ones are left out, and the first of them is reported.
pub(crate) struct Reader<'a> {
    map: &'a Tree,
    pub(crate) fault: Option<Fault>,
}

impl<'a> Reader<'a> {
    /// Reads a map; null has no fields.
    pub(crate) fn of(map: &'a Tree) -> Self {
        let fault = match &map.value {
            Plain::Null | Plain::Object(_) => None,
            _ => Some(Fault { message: String::from("expected a map"), origin: map.origin }),
        };
        Self { map, fault }
    }

    /// Reads an object inside, if present; its faults are faults of this object.
    pub(crate) fn part<T>(&mut self, name: &str, alias: &str, read: impl FnOnce(&mut Reader<'_>) -> T) -> Option<T> {
        let map = find(self.map, name, alias);
        if map.is_null() {
            return None;
        }
        let mut reader = Reader::of(map);
        let out = read(&mut reader);
        self.fault = self.fault.take().or(reader.fault);
        Some(out)
    }

    /// The fields of a map by their keys.
    pub(crate) fn each(&mut self, name: &str, alias: &str) -> &'a [(Str, Tree)] {
        let map = find(self.map, name, alias);
        self.fault = self.fault.take().or(Reader::of(map).fault);
        map.fields()
    }

    fn read<T>(&mut self, name: &str, alias: &str, what: &str, read: impl FnOnce(&Tree) -> Option<T>) -> Option<Sourced<T>> {
        let tree = find(self.map, name, alias);
        if tree.is_null() {
            return None;
        }
        let value = read(tree);
        if value.is_none() && self.fault.is_none() {
            self.fault = Some(Fault { message: format!("`{name}` is not {what}"), origin: tree.origin.or(self.map.origin) });
        }
        value.map(|value| Sourced { value, origin: tree.origin })
    }

    /// A whole number, if set.
    pub(crate) fn some_int(&mut self, name: &str, alias: &str) -> Option<Sourced<i64>> {
        self.read(name, alias, "a whole number", int_of)
    }

    /// A whole number with its origin; by default 0.
    pub(crate) fn int(&mut self, name: &str, alias: &str) -> Sourced<i64> {
        self.some_int(name, alias).unwrap_or_default()
    }

    /// An unsigned 32-bit number, if set; larger numbers are truncated.
    pub(crate) fn some_uint(&mut self, name: &str, alias: &str) -> Option<Sourced<i64>> {
        self.read(name, alias, "a whole number without a sign", uint_of)
    }

    /// A truth value; by default false.
    pub(crate) fn bool(&mut self, name: &str, alias: &str) -> bool {
        self.read(name, alias, "a truth value", bool_of).is_some_and(|read| read.value)
    }

    /// A string with its origin; null if absent.
    pub(crate) fn tree(&mut self, name: &str, alias: &str) -> Tree {
        self.read(name, alias, "a string", text_of).map_or(Tree::NULL, |read| Tree::from(&read.value).or_from(read.origin))
    }

    /// A string; by default empty.
    pub(crate) fn text(&mut self, name: &str, alias: &str) -> Str {
        self.read(name, alias, "a string", text_of).map(|read| read.value).unwrap_or_default()
    }

    /// A duration in nanoseconds with its origin, written as a string or a number, if set.
    pub(crate) fn some_duration(&mut self, name: &str, alias: &str) -> Option<Sourced<i64>> {
        let read = |tree: &Tree| match &tree.value {
            Plain::String(text) => duration::read(text).ok(),
            _ => int_of(tree),
        };
        self.read(name, alias, "a duration", read)
    }
}

fn int_of(tree: &Tree) -> Option<i64> {
    match &tree.value {
        Plain::Int(value) | Plain::Selected(Sourced { value, .. }) => Some(*value),
        Plain::Float(value) => Some(*value as i64),
        Plain::Bool(value) => Some(i64::from(*value)),
        Plain::String(text) => go::parse_int(text),
        Plain::Material(_) | Plain::Null | Plain::List(_) | Plain::Object(_) => None,
    }
}

fn uint_of(tree: &Tree) -> Option<i64> {
    match &tree.value {
        Plain::String(text) => go::parse_int(text).filter(|value| !text.starts_with(['-', '+']) && *value <= i64::from(u32::MAX)),
        _ => int_of(tree).map(go::cut),
    }
}

fn bool_of(tree: &Tree) -> Option<bool> {
    match &tree.value {
        Plain::Bool(value) => Some(*value),
        Plain::Int(value) | Plain::Selected(Sourced { value, .. }) => Some(*value != 0),
        Plain::Float(value) => Some(*value != 0.0),
        Plain::String(text) => go::parse_bool(text),
        Plain::Material(_) | Plain::Null | Plain::List(_) | Plain::Object(_) => None,
    }
}

fn text_of(tree: &Tree) -> Option<Str> {
    match &tree.value {
        Plain::String(text) => Some(text.clone()),
        Plain::Bool(value) => Some(Str::new_static(if *value { "1" } else { "0" })),
        Plain::Int(value) | Plain::Selected(Sourced { value, .. }) => Some(Str::from(value.to_string())),
        Plain::Float(value) => Some(Str::from(go::float(*value))),
        Plain::Material(_) | Plain::Null | Plain::List(_) | Plain::Object(_) => None,
    }
}
