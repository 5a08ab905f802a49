//! Consul's service mesh: config entries, registrations, discovery chains, and what each proxy gets of them.
//!
//! ```text
//! text -> documents -> State (entries, instances) -> service + chains -> snapshot of a proxy -> Envoy's resources
//! ```
//!
//! What must not be here: what other dialects share; that is the IR's.

mod bexpr;
pub mod chain;
mod compile;
mod documents;
pub mod entry;
mod extension;
mod go;
mod graph;
pub mod instance;
mod intention;
mod names;
mod options;
pub mod proxycfg;
mod registration;
mod schema;
mod service;
pub mod state;
mod validate;
mod weak;
pub mod xds;

pub use compile::{Compiled, Proxy, compile};
pub use options::Options;
