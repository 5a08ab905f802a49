//! Builds Envoy's messages as trees of their JSON.

use crate::go;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::{Fields, Plain, Tree};
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// A message with the fields that are set.
macro_rules! message {
    ($($name:literal : $value:expr),* $(,)?) => {
        chancery_base::ir::Tree::object([$(($name, chancery_base::ir::Tree::from($value))),*])
    };
}
pub(crate) use message;

/// A message without fields.
pub(crate) fn empty() -> Tree {
    Tree { value: Plain::Object(Fields::default()), origin: None }
}

/// A list; null if it is empty.
pub(crate) fn list(items: Vec<Tree>) -> Tree {
    if items.is_empty() { Tree::NULL } else { items.into() }
}

/// A list of one.
pub(crate) fn one(item: Tree) -> Tree {
    Vec::from([item]).into()
}

/// A string; null if it is empty.
pub(crate) fn non_empty(text: &str) -> Tree {
    if text.is_empty() { Tree::NULL } else { text.into() }
}

/// The string of a value, with its origin; null if it is empty.
pub(crate) fn copied(value: &Tree) -> Tree {
    if value.text().is_empty() { Tree::NULL } else { value.clone() }
}

/// True; null if it is false.
pub(crate) fn flag(value: impl Into<Sourced<bool>>) -> Tree {
    let value = value.into();
    if *value { value.into() } else { Tree::NULL }
}

/// A number; null if it is 0.
pub(crate) fn non_zero(number: Sourced<i64>) -> Tree {
    if *number == 0 { Tree::NULL } else { number.into() }
}

/// A duration in nanoseconds.
pub(crate) fn duration(nanos: impl Into<Sourced<i64>>) -> Tree {
    nanos.into().map(go::proto_duration).into()
}

/// A duration in milliseconds.
pub(crate) fn millis(millis: Sourced<i64>) -> Tree {
    duration(millis.map(|millis| millis.saturating_mul(1_000_000)))
}

/// A message in an `Any`.
pub(crate) fn any(name: &str, mut message: Tree) -> Tree {
    if let Plain::Object(fields) = &mut message.value {
        fields.0.insert(0, (Str::new_static("@type"), format!("type.googleapis.com/{name}").into()));
    }
    message
}

/// A named filter, or another extension.
pub(crate) fn extension(name: &str, kind: &str, config: Tree) -> Tree {
    message! { "name": name, "typed_config": any(kind, config) }
}

/// An address with a port.
pub(crate) fn address(address: impl Into<Tree>, port: impl Into<Tree>) -> Tree {
    let port: Tree = port.into();
    let port = match port.value {
        // Invalid ports are truncated to 32 bits.
        Plain::Int(value) => Tree { value: Plain::Int(go::cut(value)), origin: port.origin },
        Plain::Null => Tree { value: Plain::Int(0), origin: port.origin },
        _ => port,
    };
    message! { "socket_address": message! { "address": address.into(), "port_value": port } }
}

/// An endpoint without health.
pub(crate) fn endpoint(host: impl Into<Tree>, port: impl Into<Tree>) -> Tree {
    message! { "endpoint": message! { "address": address(host, port) } }
}

/// The source of the aggregated stream.
pub(crate) fn ads() -> Tree {
    message! { "ads": empty(), "resource_api_version": "V3" }
}

/// A regular expression.
pub(crate) fn regex(regex: impl Into<Tree>) -> Tree {
    message! { "google_re2": empty(), "regex": regex.into() }
}
