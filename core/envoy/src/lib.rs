//! The Envoy back end: emits Envoy's configuration, reads it, and simulates requests.
//!
//! This file has the options that are the same for every version of Envoy's API. Makes no decisions about a gateway; see the dialects.
#![no_std]

extern crate alloc;

pub mod config;
pub mod emit;
pub mod simulate;

use alloc::vec::Vec;
use chancery_base::executor::{Executor, Sequential};
use chancery_base::ir::SecretReference;
use core::fmt;

/// What to emit.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    pub document: Document,
    pub layout: Layout,
    /// Key material, if the host has it and it may appear. A bootstrap then has certificates and endpoints inline, so that it runs without a
    /// management server.
    pub secrets: Option<Lookup<'a>>,
    /// Runs the work, possibly in parallel. The bytes do not depend on it.
    pub executor: &'a dyn Executor,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { document: Document::default(), layout: Layout::default(), secrets: None, executor: &Sequential }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("document", &self.document)
            .field("layout", &self.layout)
            .field("secrets", &self.secrets.map(|_| "<redacted>"))
            .finish()
    }
}

/// Returns the data that a reference names, if the host knows it.
pub type Lookup<'a> = &'a (dyn Fn(&SecretReference) -> Option<Vec<u8>> + Sync);

/// The kind of document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Document {
    /// One bootstrap: listeners with their routes inline, clusters, everything.
    #[default]
    Bootstrap,
    /// The resources of a management server as plain lists by kind: `listeners`, `routes`, `clusters`, `endpoints`, `secrets`, `runtimes`.
    Resources,
}

/// The layout of JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Without spaces.
    #[default]
    Compact,
    /// Two spaces per level.
    Pretty,
}

#[cfg(test)]
mod testing {
    use chancery_base::compilation::Dialect;

    /// The dialects that tests compile.
    pub static ALL: &[&Dialect] = &[&chancery_ambassador::DIALECT, &chancery_contour::DIALECT, &chancery_consul::DIALECT];
}
