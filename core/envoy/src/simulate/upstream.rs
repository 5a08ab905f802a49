//! Finds the hosts of clusters, including aggregate clusters, and whether they are healthy. Does not choose a host.

use super::Gateway;
use crate::emit::pb;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use pb::base::{HealthStatus, TransportSocket};
use pb::cluster::{Cluster, cluster::ClusterDiscoveryType};
use pb::endpoint::LbEndpoint;
use pb::tls::UpstreamTlsContext;

/// Aggregate clusters are followed to this depth.
const DEPTH: usize = 8;

/// Envoy uses all hosts below this percentage of healthy hosts, if a cluster does not set it.
const PANIC_THRESHOLD: f64 = 50.0;

/// Returns the members of an aggregate cluster, the preferred one first.
pub fn aggregated(of: &Cluster) -> Option<&[String]> {
    let Some(ClusterDiscoveryType::ClusterType(kind)) = &of.cluster_discovery_type else { return None };
    kind.typed_config.as_ref()?.downcast_ref::<pb::aggregate::ClusterConfig>().map(|of| &of.clusters[..])
}

/// The overprovisioning factor in percent, if a cluster's endpoints do not set it.
const OVERPROVISIONING: u32 = 140;

/// The hosts of one locality, and their share of the cluster's requests.
pub struct LocalityShare<'a> {
    pub hosts: Vec<&'a LbEndpoint>,
    /// The name of the region.
    pub region: &'a str,
    /// The Services that the control plane records for its hosts: namespace, name and port.
    pub services: Vec<[&'a str; 3]>,
    /// Between 0 and 1.
    pub share: f64,
}

/// Whether the weights of localities decide where requests go, and not the weights of hosts alone.
fn weighs_localities(of: &Cluster) -> bool {
    use pb::cluster::cluster::common_lb_config::LocalityConfigSpecifier as Common;
    use pb::load_balancing::common::v3::{LocalityLbConfig, locality_lb_config::LocalityConfigSpecifier};
    use pb::load_balancing::{least_request, maglev, random, ring_hash, round_robin, wrr_locality};
    let is_weighted = |config: &Option<LocalityLbConfig>| {
        let specifier = config.as_ref().and_then(|config| config.locality_config_specifier.as_ref());
        matches!(specifier, Some(LocalityConfigSpecifier::LocalityWeightedLbConfig(_)))
    };
    let Some(policy) = &of.load_balancing_policy else {
        let specifier = of.common_lb_config.as_ref().and_then(|config| config.locality_config_specifier.as_ref());
        return matches!(specifier, Some(Common::LocalityWeightedLbConfig(_)));
    };
    policy.policies.iter().filter_map(|policy| policy.typed_extension_config.as_ref()?.typed_config.as_ref()).any(|config| {
        config.downcast_ref::<round_robin::v3::RoundRobin>().is_some_and(|of| is_weighted(&of.locality_lb_config))
            || config.downcast_ref::<least_request::v3::LeastRequest>().is_some_and(|of| is_weighted(&of.locality_lb_config))
            || config.downcast_ref::<random::v3::Random>().is_some_and(|of| is_weighted(&of.locality_lb_config))
            || config.downcast_ref::<maglev::v3::Maglev>().is_some_and(|of| of.locality_weighted_lb_config.is_some())
            || config.downcast_ref::<ring_hash::v3::RingHash>().is_some_and(|of| of.locality_weighted_lb_config.is_some())
            || config.downcast_ref::<wrr_locality::v3::WrrLocality>().is_some()
    })
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

    /// Returns the TLS settings of connections to a cluster's hosts, each once; `None` means connections without TLS. The metadata of a host
    /// selects its settings (`source/common/upstream/transport_socket_match_impl.cc`). If no host is known, all settings of the cluster count.
    pub fn upstream_tls(&self, of: &'a Cluster) -> Vec<Option<&'a UpstreamTlsContext>> {
        let own = of.transport_socket.as_ref();
        let mut sockets: Vec<Option<&TransportSocket>> = self.hosts(of).map(|host| matched_socket(of, host).or(own)).collect();
        if sockets.is_empty() {
            sockets = match &of.transport_socket_matches[..] {
                [] => Vec::from([own]),
                all => all.iter().map(|matched| matched.transport_socket.as_ref()).collect(),
            };
        }
        let mut out = Vec::new();
        for context in sockets.into_iter().map(|socket| socket.and_then(context_of)) {
            if !out.contains(&context) {
                out.push(context);
            }
        }
        out
    }

    /// Returns the localities with hosts of a cluster that is not an aggregate, each with its share of requests. Only the localities with the
    /// highest priority are included.
    pub fn locality_shares(&self, of: &'a Cluster) -> Vec<LocalityShare<'a>> {
        let Some(assignment) = self.endpoints(of) else { return Vec::new() };
        let is_panicking = self.hosts(of).all(is_unhealthy);
        let is_usable = |host: &&LbEndpoint| is_panicking || !is_unhealthy(host);
        let is_weighted = weighs_localities(of);
        let factor = assignment.policy.as_ref().and_then(|policy| policy.overprovisioning_factor).unwrap_or(OVERPROVISIONING);
        let has_hosts = |locality: &&pb::endpoint::LocalityLbEndpoints| locality.lb_endpoints.iter().any(|host| is_usable(&host));
        let first = assignment.endpoints.iter().filter(has_hosts).map(|locality| locality.priority).min();
        let localities = assignment.endpoints.iter().filter(has_hosts).filter(|locality| Some(locality.priority) == first);
        let mut out: Vec<LocalityShare<'a>> = localities
            .map(|locality| {
                let hosts: Vec<&LbEndpoint> = locality.lb_endpoints.iter().filter(is_usable).collect();
                let usable = hosts.len() as f64 / locality.lb_endpoints.len() as f64;
                let share = if is_weighted {
                    // A locality without a weight gets no requests.
                    f64::from(locality.load_balancing_weight.unwrap_or(0)) * (usable * f64::from(factor) / 100.0).min(1.0)
                } else {
                    hosts.iter().map(|host| f64::from(host.load_balancing_weight.unwrap_or(1))).sum()
                };
                let region = locality.locality.as_ref().map_or("", |locality| locality.region.as_str());
                LocalityShare { hosts, region, services: recorded_services(locality.metadata.as_ref()), share }
            })
            .collect();
        let total: f64 = out.iter().map(|of| of.share).sum();
        if total > 0.0 {
            out.iter_mut().for_each(|of| of.share /= total);
        }
        out
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

/// Returns the Services among the resources that a control plane writes into metadata: namespace, name and port.
fn recorded_services(of: Option<&pb::base::Metadata>) -> Vec<[&str; 3]> {
    use pb::value::Kind;
    fn service(value: &pb::Value) -> Option<[&str; 3]> {
        let Some(Kind::StructValue(own)) = &value.kind else { return None };
        let text = |name: &str| match own.fields.get(name)?.kind.as_ref()? {
            Kind::StringValue(text) => Some(text.as_str()),
            _ => None,
        };
        (text("kind")? == "Service").then_some([text("namespace")?, text("name")?, text("sectionName")?])
    }
    let lists = of.into_iter().flat_map(|of| of.filter_metadata.values()).filter_map(|own| match own.fields.get("resources")?.kind.as_ref()? {
        Kind::ListValue(list) => Some(&list.values),
        _ => None,
    });
    lists.flatten().filter_map(service).collect()
}

/// The key of the metadata that selects a socket.
const SOCKET_MATCH: &str = "envoy.transport_socket_match";

/// Returns the first socket whose conditions a host's metadata meets.
fn matched_socket<'a>(of: &'a Cluster, host: &LbEndpoint) -> Option<&'a TransportSocket> {
    let metadata = host.metadata.as_ref().and_then(|metadata| metadata.filter_metadata.get(SOCKET_MATCH));
    let value = |key: &str| metadata.and_then(|metadata| metadata.fields.get(key));
    let mut all = of.transport_socket_matches.iter();
    let fits = all.find(|of| of.r#match.as_ref().is_none_or(|wanted| wanted.fields.iter().all(|(key, wanted)| value(key) == Some(wanted))))?;
    fits.transport_socket.as_ref()
}

fn context_of(socket: &TransportSocket) -> Option<&UpstreamTlsContext> {
    match socket.config_type.as_ref()? {
        pb::base::transport_socket::ConfigType::TypedConfig(config) => config.downcast_ref::<UpstreamTlsContext>(),
    }
}
