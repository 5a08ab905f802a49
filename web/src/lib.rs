//! The playground: Chancery in a browser, without a server.
//!
//! The *worker* contains the core and does all the work. The *page* shows its answers and computes nothing. They communicate through
//! [`protocol`], in JSON.

#[cfg(target_arch = "wasm32")]
pub mod fault;
pub mod languages;
pub mod protocol;
pub mod worker;
