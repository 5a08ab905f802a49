//! The playground: Chancery in a browser, with nothing behind it.
//!
//! The *worker* holds the core and does all the work; the *page* shows what it is told and never computes. They speak
//! through [`protocol`], in JSON.
//!
//! What must not be here: anything about gateways; that is `chancery_core`.

#[cfg(target_arch = "wasm32")]
pub mod fault;
pub mod languages;
pub mod protocol;
pub mod worker;
