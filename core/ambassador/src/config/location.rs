//! Describes where a user finds a resource.

use chancery_text::Str;
use core::fmt;

/// Where a user finds a resource: "Service ambassador, namespace default, object 1".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// The n-th resource that an object of the cluster made: the object itself, one in its annotation, or one made from it.
    Object {
        /// The object's kind.
        kind: Str,
        name: Str,
        namespace: Option<Str>,
        /// Which of its resources, from 1.
        number: u32,
    },
    /// Any other location.
    Text(Str),
}

impl From<&str> for Location {
    fn from(text: &str) -> Self {
        Location::Text(Str::new(text))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Text(text) => f.write_str(text),
            Location::Object { kind, name, namespace: Some(namespace), number } => {
                write!(f, "{kind} {name}, namespace {namespace}, object {number}")
            }
            Location::Object { kind, name, namespace: None, number } => write!(f, "{kind} {name}, object {number}"),
        }
    }
}
