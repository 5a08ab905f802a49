//! Keeps the results of earlier compiles: the admitted objects, and the Ingresses with their settings.

use super::{cluster, source};

/// The results of earlier compiles.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) cluster: cluster::Memory,
    pub(super) source: source::Memory,
}
