//! Chancery's core: reads gateway configuration as the real controllers read it, lowers it to one intermediate representation, emits Envoy
//! configuration, and explains the result.
//!
//! ```text
//! text --parse--> objects --load--> Config --lower--> IR --emit--> Envoy --check--> findings
//! ```
//!
//! This crate holds the list of dialects and re-exports what hosts (the command line, the playground, the live server) need. The work is done by the
//! crates in the folders beside it. All of them are `no_std` with `alloc`, and do no IO: no clock, environment, logging or global state. No stage fails:
//! broken input stays in the value, with a [`diagnostic::Diagnostic`].
#![no_std]
#![warn(missing_docs)]

#[cfg(test)]
extern crate alloc;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

pub mod dialect;

pub use chancery_base::{Ir, blocks, compilation, diagnostic, executor, ir, re2, read, redact, resource, schema, substitution};
pub use chancery_compile as compile;
pub use chancery_convert as convert;
pub use chancery_envoy::{config as envoy_config, simulate};
pub use chancery_explain as explain;
pub use chancery_explain::{check, compare};
pub use chancery_text as text;
pub use dialect::ambassador::Config;

/// Back ends: from the intermediate representation to what a gateway reads.
pub mod backend {
    pub use chancery_app_gateway as appgw;
    pub use chancery_base::{MappedPlace, OutputMap, Rope, output_map, rope};
    pub use chancery_nginx as nginx;

    /// The Envoy back end.
    pub mod envoy {
        pub use chancery_envoy::emit as v3;
        pub use chancery_envoy::{Document, Layout, Lookup, Options};
    }
}
