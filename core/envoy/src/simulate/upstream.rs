//! Finds the hosts of clusters, including aggregate clusters, and whether they are healthy. Does not choose a host.

use super::Gateway;
use crate::emit::pb;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use pb::base::HealthStatus;
use pb::cluster::{Cluster, cluster::ClusterDiscoveryType};
use pb::endpoint::LbEndpoint;

/// Aggregate clusters are followed to this depth.
const DEPTH: usize = 8;

/// Envoy uses all hosts below this percentage of healthy hosts, if a cluster does not set it.
const PANIC_THRESHOLD: f64 = 50.0;

/// Returns the members of an aggregate cluster, the preferred one first.
pub fn aggregated(of: &Cluster) -> Option<&[String]> {
    let Some(ClusterDiscoveryType::ClusterType(kind)) = &of.cluster_discovery_type else { return None };
    kind.typed_config.as_ref()?.downcast_ref::<pb::aggregate::ClusterConfig>().map(|of| &of.clusters[..])
}

/// Whether the endpoint's source reports it as unhealthy.
pub fn is_unhealthy(host: &LbEndpoint) -> bool {
    matches!(host.health_status(), HealthStatus::Unhealthy | HealthStatus::Draining | HealthStatus::Timeout)
}

impl<'a> Gateway<'a> {
    /// Returns the cluster of a name, or the members of an aggregate cluster, in their order.
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

    /// Returns the known hosts of a cluster that is not an aggregate.
    pub fn hosts(&self, of: &'a Cluster) -> impl Iterator<Item = &'a LbEndpoint> {
        self.endpoints(of).into_iter().flat_map(|of| &of.endpoints).flat_map(|locality| &locality.lb_endpoints)
    }

    /// Returns a note if the known hosts of a cluster are all unhealthy.
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
