//! The position of a value in a message: a JSON pointer (RFC 6901) of proto field names, list indexes and map keys.
//!
//! The members of an `Any` follow the name of its field at once, as they do in JSON.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::describe::{FieldInfo, Value};

/// The way from the root to where a walk is.
#[derive(Default)]
pub struct Path {
    steps: Vec<Step>,
}

enum Step {
    Name(&'static str),
    Index(usize),
    Key(String),
}

impl Path {
    /// Goes into a field.
    pub fn field(&mut self, field: &'static FieldInfo) {
        self.steps.push(Step::Name(field.name()));
    }

    /// Goes into an element of a list.
    pub fn index(&mut self, index: usize) {
        self.steps.push(Step::Index(index));
    }

    /// Goes into an entry of a map.
    pub fn key(&mut self, key: Value<'_>) {
        self.steps.push(Step::Key(key_text(key)));
    }

    /// Goes into something that has a name.
    pub fn name(&mut self, name: &'static str) {
        self.steps.push(Step::Name(name));
    }

    /// Goes back.
    pub fn leave(&mut self) {
        self.steps.pop();
    }

    /// The JSON pointer.
    #[must_use]
    pub fn pointer(&self) -> String {
        let mut out = String::new();
        for step in &self.steps {
            match step {
                Step::Name(name) => {
                    out.push('/');
                    out.push_str(name);
                }
                Step::Index(index) => {
                    write!(out, "/{index}").unwrap_or_default();
                }
                Step::Key(key) => push_escaped(&mut out, key),
            }
        }
        out
    }
}

/// A map's key as JSON writes it.
pub(crate) fn key_text(key: Value<'_>) -> String {
    match key {
        Value::String(s) => s.to_string(),
        Value::Bool(b) => b.to_string(),
        Value::I32(n) => n.to_string(),
        Value::I64(n) => n.to_string(),
        Value::U32(n) => n.to_string(),
        Value::U64(n) => n.to_string(),
        _ => String::new(),
    }
}

/// Adds one step to a pointer.
pub fn push_escaped(out: &mut String, name: &str) {
    out.push('/');
    for c in name.chars() {
        match c {
            '~' => out.push_str("~0"),
            '/' => out.push_str("~1"),
            c => out.push(c),
        }
    }
}
