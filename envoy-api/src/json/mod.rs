//! Proto3 JSON, as Envoy reads it: names in snake_case, enums by name.
//!
//! Contains the writer, and the reader under the feature `registry`. Does not contain other text formats or a tree of JSON values.

#[cfg(feature = "registry")]
mod any;
#[cfg(feature = "registry")]
pub(crate) mod fields;
#[cfg(feature = "registry")]
mod read;
#[cfg(feature = "registry")]
pub(crate) mod reader;
mod text;
#[cfg(feature = "registry")]
mod tokens;
mod write;

#[cfg(feature = "registry")]
pub use read::{Read, Readable, any_from_str, from_str, named_from_str};
#[cfg(feature = "registry")]
pub use reader::{Problem, ProblemKind};
#[cfg(feature = "registry")]
pub use tokens::SyntaxError;
pub use write::{Resolver, Style, to_string, to_string_pretty, to_string_with, value_to_string, write, write_value};
