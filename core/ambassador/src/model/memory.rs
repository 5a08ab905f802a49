//! Caches Mappings, groups and clusters while their resources and the environment are unchanged.
//!
//! Only values without findings are cached, so findings are reported in every compile.

use super::Model;
use super::clusters::Clusters;
use super::groups::Groups;

/// The model's cache between compiles: a model takes it, and [`Memory::keep`] returns it.
#[derive(Default)]
pub struct Memory {
    pub(super) groups: Groups,
    pub(super) clusters: Clusters,
}

impl Memory {
    /// Stores the results of a model, which is no longer needed.
    pub fn keep(&mut self, model: Model<'_>) {
        *self = Self { groups: model.groups, clusters: model.clusters };
    }
}
