//! Holds everything that the crates of the core share: resources and origins, findings and codes, schemas, reading, redaction, RE2, the
//! intermediate representation, the types of a compilation, and the dialect descriptor.
//!
//! Knows no dialect and no back end by name. Does not compile; see `chancery-compile`.
#![no_std]

extern crate alloc;

pub mod blocks;
pub mod client_certificate;
pub mod compilation;
pub mod diagnostic;
pub mod executor;
pub mod ir;
pub mod output_map;
pub mod positions;
pub mod re2;
pub mod read;
pub mod redact;
pub mod resource;
pub mod rope;
pub mod schema;
pub mod substitution;

pub use ir::Ir;
pub use output_map::{MappedPlace, OutputMap};
pub use rope::Rope;
