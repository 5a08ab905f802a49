//! The Application Gateway back end: writes the ARM document of a gateway's parts ([`chancery_base::ir::appgw`]) with an output map, and simulates
//! requests.
//!
//! The typed model is part of the IR, since dialects create it and dialects do not know back ends. Does not choose or name parts; see the dialect.
#![no_std]

extern crate alloc;

mod by_id;
mod document;
pub mod rewrite;
pub mod route;

pub use by_id::ById;

pub use chancery_base::ir::appgw::Document;
pub use document::{Emitted, emit, output_map, text};
