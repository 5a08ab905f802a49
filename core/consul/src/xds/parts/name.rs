//! The names of clusters, and their targets.

use crate::chain::{Chain, Resolver, Target};
use crate::names::{self, DEFAULT, PEER_TRUST_DOMAIN, TRUST_DOMAIN, UpstreamId};
use crate::xds::context::Context;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The cluster of a peer's service.
pub(crate) fn peer_cluster(id: &UpstreamId) -> String {
    format!("{}.{DEFAULT}.{}.external.{PEER_TRUST_DOMAIN}", id.name, id.peer)
}

/// The name of a target's cluster.
pub(crate) fn cluster_name(chain: &Chain, target: &Target, for_mesh_gateway: bool) -> String {
    let name = if target.peer.is_empty() { target.name.to_string() } else { peer_cluster(&target.upstream()) };
    let name = if chain.hash.is_empty() { name } else { format!("{}~{name}", chain.hash) };
    if for_mesh_gateway { format!("exported~{name}") } else { name }
}

/// The clusters of a resolver, each with its target: one, or those of the failover.
pub(crate) fn targets<'a>(chain: &'a Chain, resolver: &Resolver, for_mesh_gateway: bool) -> Vec<(String, &'a Target)> {
    let Some(first) = chain.targets.get(&resolver.target) else { return Vec::new() };
    let base = cluster_name(chain, first, for_mesh_gateway);
    if resolver.failover.is_empty() || for_mesh_gateway {
        return Vec::from([(base, first)]);
    }
    let rest = resolver.failover.iter().filter_map(|id| chain.targets.get(id));
    let all = [first].into_iter().chain(rest).enumerate();
    all.map(|(at, target)| (format!("failover-target~{at}~{base}"), target)).collect()
}

/// The cluster of an address outside.
pub(crate) fn destination_name(cx: &Context<'_>, service: &str, address: &str) -> String {
    let address = address.replace([':', '.'], "-");
    let name = names::service_sni(&format!("{address}.{service}"), "", &cx.instance.node.datacenter, TRUST_DOMAIN);
    format!("destination.{name}")
}

/// The name of a chain's filters.
pub(crate) fn chain_name(chain: &Chain) -> String {
    format!("{}.{DEFAULT}.{DEFAULT}.{}", chain.service, chain.datacenter)
}
