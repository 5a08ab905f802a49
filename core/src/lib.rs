//! Chancery's core: what people write for Envoy-based gateways, read as the real controllers read it, lowered to one
//! intermediate representation, emitted as Envoy configuration, and explained.
//!
//! ```text
//! text --parse--> objects --load--> Config --lower--> IR --emit--> Envoy --check--> findings
//! ```
//!
//! `no_std` with `alloc`. No IO, no clock, no environment, no logging, no global state: hosts (the command line, the
//! playground, the live server) convert, call and show. No stage fails: broken input stays in the value as a broken
//! thing, and says so in a [`diagnostic::Diagnostic`].
#![no_std]

extern crate alloc;

pub mod backend;
pub mod blocks;
pub mod check;
pub mod compare;
pub mod compilation;
pub mod compile;
pub mod convert;
pub mod diagnostic;
pub mod dialect;
pub mod envoy_config;
pub mod executor;
pub mod explain;
pub mod ir;
pub mod order;
pub mod re2;
pub mod read;
pub mod redact;
pub mod resource;
pub mod schema;
pub mod simulate;
pub mod substitution;
pub mod text;

pub use dialect::ambassador::Config;
pub use ir::Ir;
