//! Text: byte ranges, lines, and the tree of a YAML, JSON or HCL document with a range on every key and value.
//!
//! Here lives everything between a string and a tree of plain values: splitting a file into documents ([`split`]), reading one
//! document as Kubernetes would ([`parse`]), finding out where a value was written ([`Spans`], [`LineIndex`]), and writing a tree down
//! again ([`to_yaml`], [`to_json`]).
//!
//! What must not be here: any knowledge of Kubernetes kinds, of dialects, or of diagnostics' codes and severities beyond
//! [`ProblemKind::is_warning`]; files, names of files, or anything else that says where a text came from.
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
