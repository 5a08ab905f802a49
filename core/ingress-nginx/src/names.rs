//! Finds the addresses of Services that URLs name, in annotations and in the ConfigMap.
//!
//! Does not resolve names outside the cluster.

use super::annotations::forms::Url;
use super::cluster::Cluster;
use super::endpoints::cluster_address;
use super::source::Counted;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::ir::nginx::Globals;
use chancery_kubernetes::references::{address_of as assumed_address, cluster_name};
use chancery_text::Str;

/// Returns the addresses of Services by the hosts of URLs. The address is empty if a cluster host has no Service.
pub fn named_services(cluster: &Cluster<'_>, globals: &Globals, counted: &[Counted]) -> BTreeMap<Str, Str> {
    let mut hosts: Vec<Str> = Vec::from([globals.external_auth.host.value.clone()]);
    for settings in counted.iter().map(|counted| &counted.settings) {
        hosts.push(settings.external_auth.host.value.clone());
        let target = settings.mirror.target.value.split('$').next().unwrap_or_default();
        hosts.extend(Url::absolute(target).map(|url| Str::new(url.host_name())).ok());
    }
    hosts.into_iter().filter_map(|host| Some((host.clone(), address_of(cluster, &host)?))).collect()
}

/// Returns the address of the Service that a cluster host names; `None` for other hosts.
fn address_of(cluster: &Cluster<'_>, host: &str) -> Option<Str> {
    let (name, namespace) = cluster_name(host)?;
    let Some(held) = cluster.service(namespace, name) else { return Some(Str::default()) };
    // Files rarely have the address, because the cluster chooses it.
    Some(cluster_address(held).map_or_else(|| Str::from(assumed_address(&held.object.key)), |address| address.value))
}
