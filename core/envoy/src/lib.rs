//! The Envoy back end.
//!
//! Here: what is the same for every version of Envoy's API, that is what may be asked for. Each version is a folder that emits
//! the IR in its own messages; `v3` is the one that Envoy speaks. Not here: messages, and anything that decides what a gateway
//! does.
#![no_std]

extern crate alloc;

pub mod config;
pub mod emit;
pub mod simulate;

use alloc::vec::Vec;
use chancery_base::executor::{Executor, Sequential};
use chancery_base::ir::SecretReference;
use core::fmt;

/// What a caller wants.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Which document.
    pub document: Document,
    /// How it looks.
    pub layout: Layout,
    /// Key material, where the host has it and it may appear. A bootstrap then has certificates inline and endpoints fixed, so
    /// that it runs without a management server.
    pub secrets: Option<Lookup<'a>>,
    /// What makes pieces of the document, perhaps at the same time. It changes no byte.
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

/// Gives the data that a reference names, if the host knows it.
pub type Lookup<'a> = &'a (dyn Fn(&SecretReference) -> Option<Vec<u8>> + Sync);

/// Which document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Document {
    /// One bootstrap: listeners with their routes inline, clusters, everything.
    #[default]
    Bootstrap,
    /// Plain lists of what a management server serves, by kind: `listeners`, `routes`, `clusters`, `endpoints`, `secrets`,
    /// `runtimes`.
    Resources,
}

/// How JSON looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// No blanks at all.
    #[default]
    Compact,
    /// Two blanks a level.
    Pretty,
}

#[cfg(test)]
mod testing {
    use chancery_base::compilation::Dialect;

    /// The dialects that tests compile.
    pub static ALL: &[&Dialect] = &[&chancery_ambassador::DIALECT, &chancery_contour::DIALECT, &chancery_consul::DIALECT];
}
