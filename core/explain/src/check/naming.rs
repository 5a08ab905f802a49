//! Reports misleading names: clusters that two services share, and names that are invalid in DNS.
//!
//! The dialects define how a controller names its clusters.

use super::whole::{Whole, tables};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Place, codes};
use chancery_base::ir::{Cluster, ClusterDiscovery, Endpoint};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

pub(super) fn check(whole: &mut Whole<'_>) {
    collapsed(whole);
    long(whole);
}

pub(super) fn names_of(cluster: &Cluster) -> &[Sourced<Endpoint>] {
    match &cluster.discovery {
        ClusterDiscovery::Dns { endpoints, .. } => endpoints,
        ClusterDiscovery::Eds { .. } | ClusterDiscovery::Static { .. } => &[],
    }
}

/// Whether an address is a Service's name, with or without its namespace.
pub(super) fn is_called(address: &str, service: &str) -> bool {
    let start = address.get(..service.len()).filter(|start| start.eq_ignore_ascii_case(service));
    start.is_some() && address.get(service.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Reports objects whose requests go to the service of another object.
fn collapsed(whole: &mut Whole<'_>) {
    let references = whole.references.clone();
    for (name, service) in whole.named_services(&references, |_| true) {
        let Some(endpoints) = whole.clusters.get(name).map(|cluster| names_of(cluster)).filter(|endpoints| !endpoints.is_empty()) else {
            continue;
        };
        if endpoints.iter().filter_map(|endpoint| endpoint.value.address.host()).any(|host| is_called(host, &service.key.name)) {
            continue;
        }
        // The address of a Service of type ExternalName is another name.
        if endpoints.iter().any(|endpoint| whole.key(endpoint.origin).is_some_and(|owner| *owner == service.key)) {
            continue;
        }
        // Percent-encoded text was never a service name.
        let Some(other) = endpoints.first() else { continue };
        let Some(host) = other.value.address.host().filter(|host| !host.contains('%')) else { continue };
        let message = format!("requests go to `{host}` instead: Envoy's cluster for both has the name `{name}`");
        let mut finding = whole.finding(&codes::COLLAPSED_CLUSTERS, service.at, message);
        if whole.object(other.origin).is_some() {
            finding = finding.related(Place::origin(other.origin), "this one comes first");
        }
        whole.report(finding.help("names of services must differ in letters and digits: every other character becomes `_`"));
    }
}

/// The longest label and the longest name of DNS (RFC 1035).
const LONGEST: (usize, usize) = (63, 253);

fn long(whole: &mut Whole<'_>) {
    let mut names: Vec<(Str, Option<Origin>)> = Vec::new();
    for host in tables(whole.ir).flat_map(|table| &table.virtual_hosts) {
        names.extend(host.domains.iter().map(|domain| (domain.value.clone(), domain.origin)));
    }
    for cluster in whole.clusters.values().collect::<Vec<_>>() {
        let named = |endpoint: &Sourced<Endpoint>| {
            let origin = endpoint.origin.or_else(|| cluster.origins.first().copied());
            endpoint.value.address.host().map(|host| (host.clone(), origin))
        };
        names.extend(names_of(cluster).iter().filter_map(named));
    }
    names.retain(|(name, _)| name.len() > LONGEST.0);
    names.sort();
    for (name, origin) in names {
        let label = name.split('.').find(|label| label.len() > LONGEST.0);
        let message = match label {
            Some(label) => format!("this is not a DNS name: `{label}` has {} characters, and the limit for a label is {}", label.len(), LONGEST.0),
            None if name.len() > LONGEST.1 => format!("this is not a DNS name: it has {} characters, and the limit is {}", name.len(), LONGEST.1),
            None => continue,
        };
        if whole.object(origin).is_some() {
            let finding = whole.finding(&codes::NAME_TOO_LONG, origin, message);
            whole.report(finding);
        }
    }
}
