//! Writes values in the form of Consul's answers: fields that are always present, zero values, durations as strings or numbers.

use super::super::go;
use super::{Absent, Field, Struct, Type};
use alloc::vec::Vec;
use chancery_base::ir::{Fields, Plain, Tree};
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// Writes an object by its shape.
pub(crate) fn write(tree: &Tree, shape: &'static Struct) -> Tree {
    let mut out: Vec<(Str, Tree)> = Vec::new();
    for field in shape.0 {
        let given = tree.find(field.name);
        if let Some(value) = field_of(given, field) {
            out.push((Str::new_static(field.name), value));
        }
    }
    Tree { value: Plain::Object(Fields(out.into())), origin: tree.origin }
}

fn field_of(given: Option<&Tree>, field: &Field) -> Option<Tree> {
    match (given, field.absent) {
        (None, Absent::Omitted | Absent::Unset) => None,
        (None, Absent::Null) => Some(Tree::NULL),
        (None, Absent::Zero) => Some(Tree { value: zero(&field.holds), origin: None }),
        (Some(value), Absent::Omitted) if is_zero(value) => None,
        (Some(value), Absent::Omitted) => {
            let written = value_of(value, &field.holds);
            (!is_zero(&written)).then_some(written)
        }
        (Some(value), _) => Some(value_of(value, &field.holds)),
    }
}

fn zero(holds: &Type) -> Plain {
    match holds {
        Type::Text | Type::Bytes => Plain::String(Str::default()),
        Type::Bool => Plain::Bool(false),
        Type::Int | Type::Uint | Type::Duration => Plain::Int(0),
        Type::Float => Plain::Int(0),
        Type::DurationText => Plain::String(Str::default()),
        Type::Opaque | Type::List(_) | Type::Map(_) => Plain::Null,
        Type::Struct(shape) => write(&Tree::NULL, shape).value,
    }
}

fn is_zero(value: &Tree) -> bool {
    match &value.value {
        Plain::Null => true,
        Plain::Bool(value) => !value,
        Plain::Int(value) | Plain::Selected(Sourced { value, .. }) => *value == 0,
        Plain::Float(value) => *value == 0.0,
        Plain::String(value) | Plain::Material(value) => value.is_empty(),
        Plain::List(items) => items.is_empty(),
        Plain::Object(fields) => fields.0.is_empty(),
    }
}

fn value_of(value: &Tree, holds: &Type) -> Tree {
    let plain = match (holds, &value.value) {
        (Type::Struct(shape), _) => return write(value, shape),
        (Type::List(of), Plain::List(items)) => Plain::List(items.iter().map(|item| value_of(item, of)).collect()),
        (Type::Map(of), Plain::Object(fields)) => {
            Plain::Object(Fields(fields.0.iter().map(|(key, value)| (key.clone(), value_of(value, of))).collect()))
        }
        (Type::DurationText, Plain::Int(nanos)) => Plain::String(go::duration(*nanos)),
        // JSON does not distinguish 50.0 from 50.
        (Type::Float, Plain::Float(number)) if *number == go::round(*number) => Plain::Int(*number as i64),
        (_, plain) => plain.clone(),
    };
    Tree { value: plain, origin: value.origin }
}
