//! Opaque configuration, read as leniently as Consul reads it: keys in any case, by a name or an alias; numbers and truth values that stand
//! in strings; a list of one for its value.
//!
//! What must not be here: which keys there are.

use super::go;
use alloc::format;
use alloc::string::{String, ToString};
use chancery_base::ir::{Plain, Tree};
use chancery_base::resource::{Origin, Sourced};
use chancery_base::schema::duration;
use chancery_text::Str;

/// The value at a key: exactly, or in another case, or by an alias. A list of one stands for its value.
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

/// A value that does not fit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) origin: Option<Origin>,
}

/// Reads the fields of an object one by one. One that does not fit is left out; the first of those is reported.
pub(crate) struct Reader<'a> {
    map: &'a Tree,
    pub(crate) fault: Option<Fault>,
}

impl<'a> Reader<'a> {
    /// Of a map; nothing has no fields.
    pub(crate) fn of(map: &'a Tree) -> Self {
        let fault = match &map.value {
            Plain::Null | Plain::Object(_) => None,
            _ => Some(Fault { message: String::from("expected a map"), origin: map.origin }),
        };
        Self { map, fault }
    }

    /// What is in it, if it is there; what does not fit there does not fit here.
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

    /// A whole number, if one is given.
    pub(crate) fn some_int(&mut self, name: &str, alias: &str) -> Option<Sourced<i64>> {
        self.read(name, alias, "a whole number", int_of)
    }

    /// A whole number with the place where it is written; nothing is 0.
    pub(crate) fn int(&mut self, name: &str, alias: &str) -> Sourced<i64> {
        self.some_int(name, alias).unwrap_or_default()
    }

    /// A whole number of 32 bits without a sign, if one is given; what is more than that is cut off.
    pub(crate) fn some_uint(&mut self, name: &str, alias: &str) -> Option<Sourced<i64>> {
        self.read(name, alias, "a whole number without a sign", uint_of)
    }

    /// A truth value; nothing is false.
    pub(crate) fn bool(&mut self, name: &str, alias: &str) -> bool {
        self.read(name, alias, "a truth value", bool_of).is_some_and(|read| read.value)
    }

    /// Text with the place where it is written; null where there is none.
    pub(crate) fn tree(&mut self, name: &str, alias: &str) -> Tree {
        self.read(name, alias, "a string", text_of).map_or(Tree::NULL, |read| Tree::from(&read.value).or_from(read.origin))
    }

    /// Text; nothing is empty.
    pub(crate) fn text(&mut self, name: &str, alias: &str) -> Str {
        self.read(name, alias, "a string", text_of).map(|read| read.value).unwrap_or_default()
    }

    /// A duration in nanoseconds with the place where it is written, as text or as a number, if one is given.
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
        Plain::Int(value) => Some(*value),
        Plain::Float(value) => Some(*value as i64),
        Plain::Bool(value) => Some(i64::from(*value)),
        Plain::String(text) => go::parse_int(text),
        Plain::Null | Plain::List(_) | Plain::Object(_) => None,
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
        Plain::Int(value) => Some(*value != 0),
        Plain::Float(value) => Some(*value != 0.0),
        Plain::String(text) => go::parse_bool(text),
        Plain::Null | Plain::List(_) | Plain::Object(_) => None,
    }
}

fn text_of(tree: &Tree) -> Option<Str> {
    match &tree.value {
        Plain::String(text) => Some(text.clone()),
        Plain::Bool(value) => Some(Str::new_static(if *value { "1" } else { "0" })),
        Plain::Int(value) => Some(Str::from(value.to_string())),
        Plain::Float(value) => Some(Str::from(go::float(*value))),
        Plain::Null | Plain::List(_) | Plain::Object(_) => None,
    }
}
