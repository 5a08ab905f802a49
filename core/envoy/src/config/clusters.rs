//! The clusters of an Envoy. Messages for an IR's clusters can be built on first use: there may be tens of thousands, each of several kilobytes.

use super::{CLUSTERS, Placed};
use crate::emit::{self, pb::cluster::Cluster};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::{self, Ir};
use hashbrown::{HashMap, HashSet};
use once_cell::race::OnceBox;

/// Clusters in the order of their document, each with its place.
#[derive(Default)]
pub struct Clusters {
    /// The IR that the first clusters come from, if their messages are built on first use.
    ir: Option<Arc<Ir>>,
    first: Vec<OnceBox<Placed<Cluster>>>,
    others: Vec<Placed<Cluster>>,
}

impl Clusters {
    /// The clusters of an IR, each built on first use.
    pub(super) fn on_demand(ir: &Arc<Ir>) -> Self {
        Self { ir: Some(ir.clone()), first: ir.clusters.iter().map(|_| OnceBox::new()).collect(), others: Vec::new() }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.first.len() + self.others.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[must_use]
    pub fn get(&self, at: usize) -> Option<&Placed<Cluster>> {
        let Some(slot) = self.first.get(at) else { return self.others.get(at.checked_sub(self.first.len())?) };
        Some(slot.get_or_init(|| {
            let message = self.ir.as_ref().and_then(|ir| emit::cluster_at(ir, at, &crate::Options::default()));
            Box::new(Placed::new(message.unwrap_or_default(), format!("{CLUSTERS}/{at}")))
        }))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Placed<Cluster>> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Returns the names of all clusters, without building messages.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let first = self.ir.iter().flat_map(|ir| &ir.clusters).map(|cluster| cluster.name.value.as_str());
        first.chain(self.others.iter().map(|cluster| cluster.message.name.as_str()))
    }

    /// Returns the names of clusters that both sides build from the same cluster of an IR: they are equal, and no message is built to compare them.
    /// Excludes clusters that only one side has or that were built twice.
    #[must_use]
    pub fn shared_with<'c>(&'c self, others: &Self) -> HashSet<&'c str> {
        let (Some(ir), Some(other)) = (&self.ir, &others.ir) else { return HashSet::new() };
        if !emit::agree_about_clusters(ir, other) {
            return HashSet::new();
        }
        let known: HashMap<&str, &Arc<ir::Cluster>> = other.clusters.iter().map(|cluster| (cluster.name.value.as_str(), cluster)).collect();
        let shared = ir.clusters.iter().filter(|cluster| known.get(cluster.name.value.as_str()).is_some_and(|other| Arc::ptr_eq(cluster, other)));
        shared.map(|cluster| cluster.name.value.as_str()).collect()
    }

    /// Returns the clusters that do not have one of these names.
    pub fn without<'c>(&'c self, names: &HashSet<&str>) -> impl Iterator<Item = &'c Placed<Cluster>> {
        let left: Vec<usize> = self.names().enumerate().filter(|(_, name)| !names.contains(name)).map(|(at, _)| at).collect();
        left.into_iter().filter_map(|at| self.get(at))
    }

    /// Returns all clusters for changes: builds every message.
    pub fn all_mut(&mut self) -> &mut Vec<Placed<Cluster>> {
        if !self.first.is_empty() {
            *self = self.clone();
        }
        &mut self.others
    }

    pub fn push(&mut self, cluster: Placed<Cluster>) {
        self.others.push(cluster);
    }
}

impl From<Vec<Placed<Cluster>>> for Clusters {
    fn from(others: Vec<Placed<Cluster>>) -> Self {
        Self { ir: None, first: Vec::new(), others }
    }
}

impl Extend<Placed<Cluster>> for Clusters {
    fn extend<I: IntoIterator<Item = Placed<Cluster>>>(&mut self, more: I) {
        self.others.extend(more);
    }
}

impl Clone for Clusters {
    fn clone(&self) -> Self {
        self.iter().cloned().collect::<Vec<_>>().into()
    }
}

impl PartialEq for Clusters {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl core::fmt::Debug for Clusters {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
