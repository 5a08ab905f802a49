//! The hosts behind clusters, also of clusters that stand for others, and whether they are healthy.
//!
//! What must not be here: which of them gets a request.

use super::Gateway;
use crate::emit::pb;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use pb::base::HealthStatus;
use pb::cluster::{Cluster, cluster::ClusterDiscoveryType};
use pb::endpoint::LbEndpoint;

/// How deep clusters of clusters are followed.
const DEPTH: usize = 8;

/// The share of healthy hosts, in percent, below which Envoy uses all, where a cluster sets none.
const PANIC_THRESHOLD: f64 = 50.0;

/// The clusters that a cluster stands for, the first of which is preferred.
pub fn aggregated(of: &Cluster) -> Option<&[String]> {
    let Some(ClusterDiscoveryType::ClusterType(kind)) = &of.cluster_discovery_type else { return None };
    kind.typed_config.as_ref()?.downcast_ref::<pb::aggregate::ClusterConfig>().map(|of| &of.clusters[..])
}

/// Whether what sends a host says that it is unhealthy.
pub fn is_unhealthy(host: &LbEndpoint) -> bool {
    matches!(host.health_status(), HealthStatus::Unhealthy | HealthStatus::Draining | HealthStatus::Timeout)
}

impl<'a> Gateway<'a> {
    /// The cluster of a name, or those that it stands for, in their order.
    pub(crate) fn members(&self, name: &str) -> Vec<&'a Cluster> {
        let mut out = Vec::new();
        self.add_members(name, DEPTH, &mut out);
        out
    }

    fn add_members(&self, name: &str, depth: usize, out: &mut Vec<&'a Cluster>) {
        let Some(cluster) = self.cluster(name).map(|placed| &placed.message) else { return };
        match aggregated(cluster) {
            Some(names) if depth > 0 => names.iter().for_each(|name| self.add_members(name, depth - 1, out)),
            Some(_) => {}
            None => out.push(cluster),
        }
    }

    /// The hosts of a cluster that stands for no others, as far as they are known.
    pub fn hosts(&self, of: &'a Cluster) -> impl Iterator<Item = &'a LbEndpoint> {
        self.endpoints(of).into_iter().flat_map(|of| &of.endpoints).flat_map(|locality| &locality.lb_endpoints)
    }

    /// What to say of a cluster of which hosts are known, and none is healthy.
    pub(super) fn unhealthy(&self, name: &str) -> Option<String> {
        let members = self.members(name);
        let hosts: Vec<&LbEndpoint> = members.iter().flat_map(|of| self.hosts(of)).collect();
        if hosts.is_empty() || !hosts.iter().all(|host| is_unhealthy(host)) {
            return None;
        }
        let threshold = |of: &&Cluster| {
            let set = of.common_lb_config.as_ref().and_then(|of| of.healthy_panic_threshold.as_ref());
            set.map_or(PANIC_THRESHOLD, |percent| percent.value)
        };
        let panics = members.iter().any(|of| threshold(of) > 0.0 && self.hosts(of).next().is_some());
        let then = if panics { "Envoy sends requests to unhealthy ones then" } else { "Envoy answers 503 (no healthy upstream)" };
        Some(format!("none of the endpoints of {name} is healthy: {then}"))
    }
}
