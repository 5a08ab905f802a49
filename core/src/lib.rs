//! All of Chancery that thinks: from text to Envoy, with provenance.
//!
//! What must not be here: IO, clocks, the environment, logging, global state.
#![no_std]

extern crate alloc;

pub mod text;
