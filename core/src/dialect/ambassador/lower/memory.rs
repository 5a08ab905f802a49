//! What earlier compiles lowered: routes by the members of their group, clusters by what they were made from.
//!
//! The same values come back in the same `Arc`s, by which back ends know what they have emitted already. Only what was
//! lowered without a complaint is kept.

use super::route::Variants;
use crate::dialect::ambassador::Options;
use crate::dialect::ambassador::model::group::{HttpGroup, Member};
use crate::dialect::ambassador::model::{Cluster, ClusterEntry, HttpMapping, Model};
use crate::ir;
use crate::resource::Origin;
use crate::text::{Node, Str};
use alloc::sync::Arc;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// What the lowering remembers from one compile to the next.
#[derive(Default)]
pub struct Memory {
    environment: Option<Environment>,
    routes: HashMap<GroupKey, Known>,
    used_routes: HashMap<GroupKey, Known>,
    clusters: HashMap<usize, KnownCluster>,
    used_clusters: HashMap<usize, KnownCluster>,
}

/// What routes and clusters depend on beside their own Mappings.
#[derive(PartialEq)]
struct Environment {
    options: Options,
    module: Option<Arc<Node>>,
    authentication: bool,
    rate_limit_domain: Option<Str>,
}

/// The members of a group: which they are, their shares and their clusters.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct GroupKey(Vec<(usize, u32, Str)>);

struct Known {
    /// Keeps the addresses in the key from being used again.
    _members: Vec<Arc<HttpMapping>>,
    routes: Vec<Arc<Variants>>,
}

struct KnownCluster {
    cluster: Arc<Cluster>,
    envoy_name: Str,
    origins: Vec<Origin>,
    lowered: Arc<ir::Cluster>,
}

impl GroupKey {
    pub(super) fn of(group: &HttpGroup, model: &Model<'_>) -> Self {
        let member = |member: &Member<HttpMapping>| {
            let cluster = member.cluster.as_deref().map(|key| model.envoy_name(key)).unwrap_or_default();
            (Arc::as_ptr(&member.mapping) as usize, member.share.value, cluster)
        };
        let end = (0, 0, Str::default());
        let mut key: Vec<_> = group.mappings.iter().map(member).collect();
        key.push(group.shadow.as_ref().map_or(end.clone(), member));
        key.push(group.redirect.as_ref().map_or(end, member));
        key.push((Arc::as_ptr(&group.founder) as usize, 0, Str::default()));
        Self(key)
    }
}

impl Memory {
    pub(super) fn prepare(&mut self, model: &Model<'_>) {
        let environment = Environment {
            options: model.options.clone(),
            module: model.config.get_module("ambassador").map(|module| module.spec.clone()),
            authentication: model.auth.is_some(),
            rate_limit_domain: model.rate_limit.as_ref().map(|limit| limit.domain.value.clone()),
        };
        if self.environment.as_ref() != Some(&environment) {
            *self = Self { environment: Some(environment), ..Self::default() };
        }
        self.used_routes.reserve(self.routes.len());
        self.used_clusters.reserve(self.clusters.len());
    }

    pub(super) fn routes(&mut self, key: &GroupKey) -> Option<Vec<Arc<Variants>>> {
        let (key, known) = self.routes.remove_entry(key)?;
        let routes = known.routes.clone();
        self.used_routes.insert(key, known);
        Some(routes)
    }

    pub(super) fn keep_routes(&mut self, key: GroupKey, group: &HttpGroup, routes: &[Arc<Variants>]) {
        let others = group.shadow.iter().chain(&group.redirect);
        let mut members: Vec<_> = group.mappings.iter().chain(others).map(|member| member.mapping.clone()).collect();
        members.push(group.founder.clone());
        self.used_routes.insert(key, Known { _members: members, routes: routes.to_vec() });
    }

    pub(super) fn cluster(&mut self, entry: &ClusterEntry) -> Option<Arc<ir::Cluster>> {
        let address = Arc::as_ptr(&entry.cluster) as usize;
        let known = self.clusters.remove(&address)?;
        if known.envoy_name != entry.envoy_name || known.origins != entry.origins || !entry.more.is_empty() {
            return None;
        }
        let lowered = known.lowered.clone();
        self.used_clusters.insert(address, known);
        Some(lowered)
    }

    pub(super) fn keep_cluster(&mut self, entry: &ClusterEntry, lowered: &Arc<ir::Cluster>) {
        // What TLS and endpoints say may change without the cluster itself.
        if entry.tls.is_some() || !entry.more.is_empty() {
            return;
        }
        let known = KnownCluster {
            cluster: entry.cluster.clone(),
            envoy_name: entry.envoy_name.clone(),
            origins: entry.origins.clone(),
            lowered: lowered.clone(),
        };
        self.used_clusters.insert(Arc::as_ptr(&known.cluster) as usize, known);
    }

    /// Forgets what this compile did not use.
    pub(super) fn finish(&mut self) {
        self.routes = core::mem::take(&mut self.used_routes);
        self.clusters = core::mem::take(&mut self.used_clusters);
    }
}
