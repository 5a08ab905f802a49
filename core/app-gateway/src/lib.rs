//! Azure's Application Gateway: from its parts ([`chancery_base::ir::appgw`]) to its ARM document, with an output map.
//!
//! The typed model of the gateway stands in the IR and not here, as a dialect makes it and no dialect knows a back end.
//!
//! What must not be here: which parts there are, and what they are called.
#![no_std]

extern crate alloc;

mod document;
pub mod rewrite;
pub mod route;

pub use chancery_base::ir::appgw::Document;
pub use document::{Emitted, emit, output_map, text};
