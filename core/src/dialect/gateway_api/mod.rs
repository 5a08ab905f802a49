//! Gateway API: what is the same for every controller that reads it.
//!
//! What must not be here: what one controller makes of it.

pub mod relations;
