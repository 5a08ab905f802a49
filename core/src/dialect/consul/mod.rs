//! Consul's service mesh: config entries, registrations, discovery chains, and what each proxy gets of them.
//!
//! ```text
//! text -> documents -> State (entries, instances) -> service + chains -> snapshot of a proxy -> Envoy's resources
//! ```
//!
//! What must not be here: what other dialects share; that is the IR's.

mod bexpr;
mod bootstrap;
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
mod stages;
pub mod state;
#[cfg(test)]
mod tests;
mod validate;
mod weak;
pub mod xds;

pub use options::Options;

use crate::compilation::{Dialect, Hints};
use crate::schema::ListedKind;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Consul as a dialect.
pub static DIALECT: Dialect = Dialect {
    name: "consul",
    controller: "Consul",
    claims: &[],
    read_options: |_| documents::read_options(),
    kinds: Vec::new,
    listing,
    reads: |key| entry::Kind::named(&key.kind).is_some() || matches!(key.kind.as_str(), "service" | "catalog"),
    wanted: |_, _| Vec::new(),
    options: options::SPECS,
    defaults: &[],
    hints: Hints { why_idle: |_| "no proxy makes anything of it", why_unreached: |_| None },
    annotations: &[],
    codes: &[],
    outputs: stages::OUTPUTS,
    checks: &[],
    memory: || Box::new(()),
    compile: |task| compile::compile(task),
    setting_changes: |_, _| Vec::new(),
};

/// The kinds that it reads.
fn listing() -> Vec<ListedKind> {
    Vec::new()
}
