//! Converts between text and trees: byte ranges, lines, and YAML, JSON or HCL documents with a range on every key and value.
//!
//! Splits a file into documents ([`split`]), reads one document like Kubernetes ([`parse`]), finds where a value was written ([`Spans`],
//! [`LineIndex`]), and writes a tree ([`to_yaml`], [`to_json`]). Knows no Kubernetes kinds, dialects or codes of findings.
#![no_std]

extern crate alloc;

mod range;

mod line_index;

mod tree;

mod document;

mod split;

mod yaml;

mod fast;

mod hcl;

mod json_comments;

mod limits;

pub mod base64;

pub mod markup;

mod scalar;

mod build;

mod place;

mod quote;

mod series;

mod problem_words;

mod repair;

mod embedded;

mod emit;

pub use document::{Comment, Document, FieldPath, NodeSpan, Problem, ProblemKind, Segment, Spans};
pub use embedded::{parse_embedded, places_in};
pub use emit::{quoted, write_json_scalar, write_quoted};
pub use emit::{to_json, to_json_within, to_yaml};
pub use hcl::{WRONG_QUOTES, is_hcl};
pub use limits::Limits;
pub use line_index::{LineIndex, Position};
pub use range::TextRange;
pub use series::series;
pub use split::{Chunk, split};
pub use tree::{Entry, Node, NodeId, Object, Str, Value};
#[doc(hidden)]
pub use yaml::parse_fully;
pub use yaml::{parse, syntax_error};

#[cfg(test)]
mod tests;
