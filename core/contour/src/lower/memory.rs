//! Caches lowered routes and clusters. Equal values keep their `Arc`s, so back ends recognize values that they have already emitted.

use super::cluster::clusters_of;
use super::merged::{Merged, Named};
use crate::kinds::Kind;
use crate::memory::CachedObjects;
use crate::model::{Cluster, Route, Routes, VirtualHost};
use crate::source::Source;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir;
use chancery_text::Str;
use hashbrown::HashMap;

/// The results of earlier compiles.
#[derive(Default)]
pub struct Memory {
    slices: CachedObjects,
    /// By name, and whether it is the host with TLS.
    hosts: HashMap<(Str, bool), Host>,
    /// By the address of the routes.
    names: HashMap<usize, Names>,
    /// By the address of the source value.
    clusters: HashMap<usize, KnownCluster>,
    /// The clusters of all hosts; taken out while they are lowered.
    pub(super) merged: Merged,
    round: u32,
}

struct Host {
    made: Lowered,
    routes: Arc<Vec<Arc<ir::Route>>>,
    round: u32,
}

/// Routes of a host that were lowered without a finding.
pub(super) struct Lowered {
    table: Arc<Routes>,
    /// By the address of the source value, which the table holds.
    routes: HashMap<usize, Arc<ir::Route>>,
}

struct Names {
    #[expect(dead_code, reason = "keeps the address unique")]
    table: Arc<Routes>,
    names: Arc<Vec<Named>>,
    round: u32,
}

/// A cluster that was lowered without a finding.
struct KnownCluster {
    #[expect(dead_code, reason = "keeps the address unique")]
    of: Arc<Cluster>,
    lowered: Arc<ir::Cluster>,
}

impl Lowered {
    pub(super) fn new(host: &VirtualHost) -> Self {
        Self { table: host.routes.clone(), routes: HashMap::with_capacity(host.routes.len()) }
    }

    pub(super) fn add(&mut self, of: &Arc<Route>, lowered: &Arc<ir::Route>) {
        self.routes.insert(Arc::as_ptr(of).addr(), lowered.clone());
    }

    pub(super) fn route(&self, of: &Arc<Route>) -> Option<Arc<ir::Route>> {
        self.routes.get(&Arc::as_ptr(of).addr()).cloned()
    }

    /// Whether all of its routes are here.
    fn is_whole(&self) -> bool {
        self.routes.len() == self.table.len()
    }
}

impl Memory {
    /// Records the places of the clusters' endpoints.
    pub(in super::super) fn update(&mut self, source: &Source<'_>) {
        let (clusters, merged) = (&mut self.clusters, &mut self.merged);
        self.slices.update(source.all(Kind::EndpointSlice), |_| {
            clusters.clear();
            *merged = Merged::default();
        });
    }

    pub(super) fn begin(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// Drops entries that this compile did not use.
    pub(super) fn end(&mut self) {
        let round = self.round;
        self.hosts.retain(|_, host| host.round == round);
        self.names.retain(|_, names| names.round == round);
    }

    /// The routes of an unchanged host, or its previously lowered parts.
    pub(super) fn host(&mut self, host: &VirtualHost, secure: bool) -> Result<Arc<Vec<Arc<ir::Route>>>, Option<Lowered>> {
        let key = (host.name.value.clone(), secure);
        match self.hosts.get_mut(&key) {
            Some(known) if Arc::ptr_eq(&known.made.table, &host.routes) && known.made.is_whole() => {
                known.round = self.round;
                Ok(known.routes.clone())
            }
            _ => Err(self.hosts.remove(&key).map(|known| known.made)),
        }
    }

    pub(super) fn keep_host(&mut self, host: &VirtualHost, secure: bool, made: Lowered, routes: &Arc<Vec<Arc<ir::Route>>>) {
        let known = Host { made, routes: routes.clone(), round: self.round };
        self.hosts.insert((host.name.value.clone(), secure), known);
    }

    /// The clusters of routes, with their names.
    pub(super) fn names(&mut self, routes: &Arc<Routes>) -> Arc<Vec<Named>> {
        let clusters = &self.clusters;
        let known_name = |cluster: &Arc<Cluster>| Some(clusters.get(&Arc::as_ptr(cluster).addr())?.lowered.name.value.clone());
        let make = || Names { table: routes.clone(), names: Arc::new(clusters_of(routes, known_name)), round: 0 };
        let known = self.names.entry(Arc::as_ptr(routes).addr()).or_insert_with(make);
        known.round = self.round;
        known.names.clone()
    }

    /// Merges the clusters of all hosts, and drops those of changed hosts.
    pub(super) fn merge(&mut self, lists: Vec<Arc<Vec<Named>>>) -> Merged {
        let mut merged = core::mem::take(&mut self.merged);
        for gone in merged.update(lists) {
            self.clusters.remove(&Arc::as_ptr(&gone).addr());
        }
        merged
    }

    pub(super) fn cluster(&self, of: &Arc<Cluster>) -> Option<Arc<ir::Cluster>> {
        Some(self.clusters.get(&Arc::as_ptr(of).addr())?.lowered.clone())
    }

    pub(super) fn keep_cluster(&mut self, of: &Arc<Cluster>, lowered: &Arc<ir::Cluster>) {
        self.clusters.insert(Arc::as_ptr(of).addr(), KnownCluster { of: of.clone(), lowered: lowered.clone() });
    }
}
