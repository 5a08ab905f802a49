//! Caches lowered values: routes by group, lists of routes by host, and clusters by source.
//!
//! Equal values keep their `Arc`s, so back ends recognize values that they have already emitted. Only values without findings are cached.

use super::variant::{HostRoutes, Variants};
use crate::Options;
use crate::model::host::MatchLabels;
use crate::model::{ClusterEntry, Group, Host, Model};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir;
use chancery_text::{Node, Str};

/// The cached values of earlier compiles.
#[derive(Default)]
pub struct Memory {
    environment: Option<Environment>,
    /// By the group's number.
    pub(super) groups: Vec<Option<CachedGroup>>,
    /// By the host's place in the model.
    pub(super) hosts: Vec<Arc<HostRoutes>>,
    /// By the cluster's number.
    clusters: Vec<Option<CachedCluster>>,
}

/// The inputs of routes and clusters other than their own Mappings.
#[derive(PartialEq)]
struct Environment {
    options: Options,
    module: Option<Arc<Node>>,
    authentication: bool,
    rate_limit_domain: Option<Str>,
    /// The hosts and selectors that decide which host has which routes.
    hosts: Vec<(Str, Option<MatchLabels>)>,
}

/// A group that was lowered.
pub(super) struct CachedGroup {
    /// Kept alive, so that its address is unique; `None` if no later compile needs it.
    pub(super) group: Option<Arc<Group>>,
    pub(super) routes: Vec<Arc<Variants>>,
    /// The hosts that have the group's routes.
    pub(super) hosts: Hosts,
    /// Whether it can be used again.
    pub(super) quiet: bool,
    /// Whether it is part of this compile.
    pub(super) used: bool,
}

/// A cluster that was lowered.
struct CachedCluster {
    entry: Arc<ClusterEntry>,
    lowered: Arc<ir::Cluster>,
}

/// A set of hosts, by their places in the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    /// The first 64, which are mostly all.
    first: u64,
    others: Vec<u64>,
}

impl Hosts {
    pub(super) fn insert(&mut self, at: usize) {
        let bit = 1 << (at % 64);
        match (at / 64).checked_sub(1) {
            None => self.first |= bit,
            Some(word) => {
                self.others.resize(self.others.len().max(word + 1), 0);
                self.others[word] |= bit;
            }
        }
    }

    pub(super) fn contains(&self, at: usize) -> bool {
        let word = match (at / 64).checked_sub(1) {
            None => self.first,
            Some(word) => self.others.get(word).copied().unwrap_or_default(),
        };
        word & (1 << (at % 64)) != 0
    }

    pub(super) fn extend(&mut self, other: &Self) {
        self.first |= other.first;
        self.others.resize(self.others.len().max(other.others.len()), 0);
        self.others.iter_mut().zip(&other.others).for_each(|(ours, theirs)| *ours |= theirs);
    }
}

impl Memory {
    pub(super) fn prepare(&mut self, model: &Model<'_>) {
        let host = |host: &Host| (host.hostname.value.clone(), host.mapping_selector.as_ref().map(|selector| selector.value.clone()));
        let environment = Environment {
            options: model.options.clone(),
            module: model.config.get_module("ambassador").map(|module| module.spec.clone()),
            authentication: model.auth.is_some(),
            rate_limit_domain: model.rate_limit.as_ref().map(|limit| limit.domain.value.clone()),
            hosts: model.hosts.values().map(host).collect(),
        };
        if self.environment.as_ref() != Some(&environment) || model.clusters.is_ambiguous() {
            *self = Self { environment: Some(environment), ..Self::default() };
        }
        self.groups.resize_with(model.groups.numbers(), || None);
        self.clusters.resize_with(model.clusters.numbers(), || None);
    }

    /// The lowered form of a cluster.
    pub(super) fn cluster(&self, number: u32, entry: &Arc<ClusterEntry>) -> Option<&Arc<ir::Cluster>> {
        let known = self.clusters.get(number as usize)?.as_ref()?;
        Arc::ptr_eq(&known.entry, entry).then_some(&known.lowered)
    }

    pub(super) fn keep_cluster(&mut self, number: u32, entry: &Arc<ClusterEntry>, lowered: Option<&Arc<ir::Cluster>>) {
        if let Some(slot) = self.clusters.get_mut(number as usize) {
            *slot = lowered.map(|lowered| CachedCluster { entry: entry.clone(), lowered: lowered.clone() });
        }
    }
}
