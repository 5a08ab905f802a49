//! Reports references to clusters that do not exist, and clusters that receive cleartext at a TLS port.
//!
//! Does not check for ports that a Service lacks; see `port`.

use super::whole::Whole;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::codes;
use chancery_base::ir::{Cluster, ClusterDiscovery, EndpointAddress, Tree};
use chancery_base::resource::Origin;
use hashbrown::{HashMap, HashSet};

/// The port where servers expect TLS.
const TLS_PORT: u16 = 443;

pub(super) fn check(whole: &mut Whole<'_>) {
    unknown(whole);
    cleartext(whole);
}

/// Reports undefined clusters that verbatim listeners and routes refer to.
fn unknown(whole: &mut Whole<'_>) {
    let all = &whole.ir.delivery.verbatim;
    if all.is_empty() {
        return;
    }
    let verbatim = || all.clusters.iter().map(|cluster| cluster.get("name"));
    let mut known: HashSet<&str> = verbatim().map(Tree::text).collect();
    known.extend(whole.clusters.keys().map(|name| name.as_str()));
    let mut named: HashMap<&str, Option<Origin>> = HashMap::new();
    for tree in all.listeners.iter().chain(&all.routes) {
        references(tree, None, &mut named);
    }
    let mut unknown: Vec<(&str, Option<Origin>)> =
        named.iter().filter(|(name, _)| !known.contains(*name)).map(|(name, origin)| (*name, *origin)).collect();
    unknown.sort_unstable_by_key(|(name, _)| *name);
    // A cluster without references is probably the intended one.
    let mut idle: Vec<&str> = verbatim().filter(|name| name.origin.is_some() && !named.contains_key(name.text())).map(Tree::text).collect();
    idle.sort_unstable();
    for (name, origin) in unknown {
        if whole.object(origin).is_none() {
            continue;
        }
        let message = format!("Envoy sends these requests to the cluster `{name}`, which does not exist: they get 503");
        let finding = whole.finding(&codes::UNKNOWN_CLUSTER, origin, message);
        whole.report(match idle.as_slice() {
            [one] => finding.help(format!("nothing refers to the cluster `{one}`: name it `{name}`")),
            _ => finding.help(format!("add a cluster with the name `{name}`, or replace the listener too")),
        });
    }
}

/// Collects the clusters that routes and TCP proxies name, each with the nearest origin. `above` is the origin of the enclosing value.
fn references<'a>(tree: &'a Tree, above: Option<Origin>, found: &mut HashMap<&'a str, Option<Origin>>) {
    let own = tree.origin.or(above);
    let mut note = |name: &'a Tree| {
        if !name.text().is_empty() {
            found.entry(name.text()).or_insert(name.origin.or(own));
        }
    };
    for (field, value) in tree.fields() {
        match field.as_str() {
            "cluster" => note(value),
            "weighted_clusters" => value.get("clusters").items().iter().for_each(|cluster| note(cluster.get("name"))),
            _ => {}
        }
    }
    tree.fields().iter().for_each(|(_, value)| references(value, own, found));
    tree.items().iter().for_each(|value| references(value, own, found));
}

/// Reports clusters of HTTP routes without TLS whose endpoints have port 443.
fn cleartext(whole: &mut Whole<'_>) {
    let mut seen = HashSet::new();
    let mut found: Vec<(Option<Origin>, String)> = Vec::new();
    for (route, forward) in whole.forwards() {
        for (name, origin) in super::whole::clusters_of(forward) {
            let Some(cluster) = whole.clusters.get(name).filter(|cluster| cluster.tls.is_none() && seen.insert(&cluster.name.value)) else {
                continue;
            };
            if let Some(host) = host_at_tls_port(cluster) {
                let origin = origin.filter(|origin| whole.object(Some(*origin)).is_some()).or_else(|| super::whole::written(&route.origins));
                found.push((origin, host));
            }
        }
    }
    for (origin, host) in found {
        if whole.object(origin).is_some() {
            let message = format!("Envoy sends cleartext to port {TLS_PORT} of `{host}`, where servers expect TLS");
            let finding = whole.finding(&codes::CLEARTEXT_TO_TLS_PORT, origin, message);
            whole.report(finding.help("use TLS for this service, or name the port that serves cleartext"));
        }
    }
}

fn host_at_tls_port(cluster: &Cluster) -> Option<String> {
    let (ClusterDiscovery::Dns { endpoints, .. } | ClusterDiscovery::Static { endpoints, .. }) = &cluster.discovery else { return None };
    let mut addresses = endpoints.iter().map(|endpoint| &endpoint.value.address);
    let address = addresses.find(|address| EndpointAddress::port(address) == Some(TLS_PORT))?;
    address.host().map(|host| host.as_str().into())
}
