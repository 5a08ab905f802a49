//! What earlier compiles found out about Mappings: each is made once, as long as its resource and what it looks things up
//! in are the same; so are groups and clusters.
//!
//! Only what was made without a finding is cached, so that reports are made again each time.

use super::Model;
use super::clusters::Clusters;
use super::groups::Groups;

/// What the model remembers from one compile to the next: a model takes it, and [`Memory::keep`] takes it back.
#[derive(Default)]
pub struct Memory {
    pub(super) groups: Groups,
    pub(super) clusters: Clusters,
}

impl Memory {
    /// Keeps what a model made. The model is no longer needed.
    pub fn keep(&mut self, model: Model<'_>) {
        *self = Self { groups: model.groups, clusters: model.clusters };
    }
}
