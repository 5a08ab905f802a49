//! Determines what clusters reach, independent of their names. Does not compare routes; see `hosts`.

use super::Reaches;
use super::residue::{Residue, residue};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::config::{EnvoyConfig, Placed};
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{Gateway, aggregated, endpoint_address, is_unhealthy};
use hashbrown::HashSet;
use pb::cluster::Cluster;
use pb::cluster::cluster::{ClusterDiscoveryType, DiscoveryType};
use pb::route::{Route, route::Action, route_action::ClusterSpecifier};

/// Aggregate clusters are followed to this depth.
const DEPTH: usize = 8;

/// Returns what a cluster reaches: its addresses, with unhealthy ones marked, or the name of its endpoint requests. An aggregate cluster
/// reaches the targets of its members, in their order.
pub(super) fn reach(gateway: &Gateway<'_>, name: &str, named: Option<Reaches<'_>>) -> String {
    reach_within(gateway, name, named, DEPTH)
}

fn reach_within(gateway: &Gateway<'_>, name: &str, named: Option<Reaches<'_>>, depth: usize) -> String {
    let Some(cluster) = gateway.cluster(name).map(|placed| &placed.message) else {
        return if name.is_empty() { "nothing".into() } else { format!("{name}, which does not exist") };
    };
    if let Some(label) = named.and_then(|named| named(cluster)) {
        return label;
    }
    if let Some(parts) = aggregated(cluster).filter(|_| depth > 0) {
        return parts.iter().map(|name| reach_within(gateway, name, named, depth - 1)).collect::<Vec<_>>().join(", else ");
    }
    let mut all: Vec<String> =
        gateway.hosts(cluster).filter_map(|host| Some(endpoint_address(host)? + if is_unhealthy(host) { " (unhealthy)" } else { "" })).collect();
    all.sort();
    all.dedup();
    if all.is_empty() { service(cluster).to_string() } else { all.join(", ") }
}

/// Returns a readable name of what a cluster reaches, if its addresses are not readable: the dialect's name for it, or the name that it requests
/// its endpoints by.
pub(super) fn label(gateway: &Gateway<'_>, name: &str, cluster_label: Option<fn(&str) -> Option<String>>) -> Option<String> {
    cluster_label.and_then(|label| label(name)).or_else(|| {
        let cluster = &gateway.cluster(name)?.message;
        cluster.eds_cluster_config.as_ref().map(|eds| eds.service_name.clone()).filter(|name| !name.is_empty())
    })
}

/// Returns the name that the cluster requests its endpoints by.
fn service(cluster: &Cluster) -> &str {
    let asked = cluster.eds_cluster_config.as_ref().map(|eds| eds.service_name.as_str());
    let assigned = cluster.load_assignment.as_ref().map(|of| of.cluster_name.as_str());
    asked.or(assigned).filter(|name| !name.is_empty()).unwrap_or(&cluster.name)
}

/// Returns a cluster without its names, and without the discovery settings of known endpoints.
fn bare(cluster: &Cluster) -> Cluster {
    let mut cluster = cluster.clone();
    cluster.name = String::new();
    cluster.alt_stat_name = String::new();
    cluster.metadata = None;
    cluster.stats_matcher = None;
    cluster.eds_cluster_config = None;
    if let Some(of) = &mut cluster.load_assignment {
        of.cluster_name = String::new();
    }
    let given = [DiscoveryType::Static as i32, DiscoveryType::Eds as i32];
    if cluster.cluster_discovery_type.as_ref().is_none_or(|of| matches!(of, ClusterDiscoveryType::Type(kind) if given.contains(kind))) {
        cluster.cluster_discovery_type = None;
        cluster.load_assignment = None;
    }
    cluster
}

/// Returns a cluster, and for an aggregate cluster all its members, each once.
fn parts<'a>(gateway: &Gateway<'a>, name: &str) -> Vec<&'a Placed<Cluster>> {
    let mut out: Vec<&Placed<Cluster>> = Vec::new();
    let mut met = BTreeSet::new();
    let mut open: Vec<&str> = Vec::from([name]);
    while let Some(name) = open.pop() {
        let Some(placed) = gateway.cluster(name).filter(|placed| met.insert(placed.message.name.as_str())) else { continue };
        out.push(placed);
        open.extend(aggregated(&placed.message).into_iter().flatten().rev().map(String::as_str));
    }
    out
}

/// Returns the differing settings of two clusters and their members, except their addresses: fields, with their places on both sides.
pub(super) fn settings(gateways: [&Gateway<'_>; 2], names: [&str; 2]) -> Vec<(Residue, [String; 2])> {
    let [before, after] = gateways;
    let [old, new] = names;
    let mut out = Vec::new();
    for (at, (before, after)) in parts(before, old).into_iter().zip(parts(after, new)).enumerate() {
        if before.message == after.message {
            continue;
        }
        for mut of in residue(&bare(&before.message), &bare(&after.message), &[], &|_, _| false) {
            let pointers = [format!("{}{}", before.pointer, of.pointers[0]), format!("{}{}", after.pointer, of.pointers[1])];
            of.path = if at == 0 { format!("cluster.{}", of.path) } else { format!("cluster.clusters[{}].{}", at - 1, of.path) };
            out.push((of, pointers));
        }
    }
    out
}

/// Returns names that mean different things on the two sides.
pub(super) fn changed<'a>(before: &Gateway<'a>, after: &Gateway<'a>, sides: [&'a EnvoyConfig; 2]) -> BTreeSet<&'a str> {
    let [old, new] = sides.map(|side| &side.clusters);
    let mut out = BTreeSet::new();
    // Without separate endpoints, clusters can be compared by their messages.
    let alone = sides.iter().all(|side| side.endpoints.is_empty());
    let shared = if alone { old.shared_with(new) } else { HashSet::new() };
    for placed in old.without(&shared) {
        let cluster = &placed.message;
        match after.cluster(&cluster.name).map(|placed| &placed.message) {
            Some(other) if cluster == other && aggregated(cluster).is_none() && before.endpoints(cluster) == after.endpoints(other) => {}
            Some(_)
                if settings([before, after], [&cluster.name; 2]).is_empty()
                    && reach(before, &cluster.name, None) == reach(after, &cluster.name, None) => {}
            _ => drop(out.insert(cluster.name.as_str())),
        }
    }
    out.extend(new.names().filter(|name| before.cluster(name).is_none()));
    out
}

/// Returns the clusters that a route names.
pub(super) fn clusters_of(route: &Route) -> Vec<&str> {
    let Some(Action::Route(action)) = &route.action else { return Vec::new() };
    let mut out = Vec::new();
    match &action.cluster_specifier {
        Some(ClusterSpecifier::Cluster(name)) => out.push(name.as_str()),
        Some(ClusterSpecifier::WeightedClusters(all)) => out.extend(all.clusters.iter().map(|of| of.name.as_str())),
        _ => {}
    }
    out.extend(action.request_mirror_policies.iter().map(|of| of.cluster.as_str()));
    out
}

/// Describes the shares of targets, in percent.
pub(super) fn shares(all: impl IntoIterator<Item = (String, f64)>) -> String {
    let mut by: BTreeMap<String, f64> = BTreeMap::new();
    for (name, percent) in all {
        *by.entry(name).or_default() += percent;
    }
    match by.len() {
        0 => "nowhere".into(),
        1 => by.into_keys().next().unwrap_or_default(),
        _ => by.iter().map(|(name, percent)| format!("{}% {name}", rounded(*percent))).collect::<Vec<_>>().join(", "),
    }
}

fn rounded(percent: f64) -> String {
    let text = format!("{percent:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
