//! Findings of Envoy's own rules: fields that it would refuse, told at the lines that made them.
//!
//! The lowering leaves out what Envoy refuses and says so; what is found here is what it did not know of.

use super::{Viewed, describe};
use crate::backend::envoy::{self, v3::Emitted};
use crate::compilation::GatewayRef;
use crate::diagnostic::{Diagnostic, Place, codes};
use crate::executor::Executor;
use crate::ir::Tree;
use crate::resource::{ObjectId, Origin};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;

/// What Envoy would refuse of the output, each told once. `root` names places where it is given.
pub fn refused_by_envoy(gateway: GatewayRef<'_>, viewed: Option<&Viewed>, emitted: &mut Emitted, executor: &dyn Executor) -> Vec<Diagnostic> {
    let broken = envoy::v3::violations(gateway.ir, &envoy::Options { executor, ..envoy::Options::default() }, emitted);
    let mut found: Vec<Diagnostic> = Vec::new();
    for violation in broken {
        let origin = violation.origins.iter().find(|origin| origin.object() != ObjectId::BUILT_IN).copied();
        let place = viewed.map(|viewed| describe(&viewed.root, &violation.pointer).join(" \u{203a} "));
        let place = place.unwrap_or_else(|| violation.pointer.clone());
        let message = format!("Envoy refuses {place}: {}", violation.message);
        let mut finding = Diagnostic::new(&codes::REFUSED_BY_ENVOY, message, Place::origin(origin));
        finding.resource = origin.and_then(|origin| gateway.compilation.objects.get(origin.object())).map(|object| object.key.clone());
        // The same value in several places is one mistake.
        if !found.iter().any(|known| known.place == finding.place && known.place != Place::Whole) {
            found.push(finding);
        }
    }
    for (message, help, at) in gateway.ir.delivery.verbatim.clusters.iter().filter_map(|cluster| misfit(cluster)) {
        let origin = at.filter(|origin| origin.object() != ObjectId::BUILT_IN);
        let mut finding = Diagnostic::new(&codes::REFUSED_BY_ENVOY, message, Place::origin(origin)).help(help);
        finding.resource = origin.and_then(|origin| gateway.compilation.objects.get(origin.object())).map(|object| object.key.clone());
        if !found.iter().any(|known| known.place == finding.place && known.place != Place::Whole) {
            found.push(finding);
        }
    }
    found
}

/// What does not fit together in a cluster that is passed on in Envoy's own words: Envoy looks at more than the rules of fields
/// (envoyproxy/envoy, `source/extensions/clusters`). With what to do about it, and where.
fn misfit(cluster: &Tree) -> Option<(String, &'static str, Option<Origin>)> {
    if cluster.find("cluster_type").is_some() {
        return None;
    }
    let (name, kind) = (cluster.get("name").text(), cluster.get("type"));
    let at = |value: &Tree| value.origin.or(kind.origin).or(cluster.origin);
    match kind.text() {
        "STATIC" | "" => {
            let groups = cluster.at(&["load_assignment", "endpoints"]).items().iter();
            let hosts = groups.flat_map(|group| group.get("lb_endpoints").items());
            let mut addresses = hosts.map(|host| host.at(&["endpoint", "address", "socket_address", "address"]));
            let address = addresses.find(|address| !address.text().is_empty() && address.text().parse::<IpAddr>().is_err())?;
            let message = format!("Envoy refuses the cluster `{name}`: its type is STATIC, and `{}` is no IP address", address.text());
            Some((message, "a type that looks names up is STRICT_DNS or LOGICAL_DNS", at(address)))
        }
        "EDS" if cluster.find("eds_cluster_config").is_none() => {
            let message = format!("Envoy refuses the cluster `{name}`: its type is EDS, and it does not say where endpoints come from");
            Some((message, "a type that looks names up is STRICT_DNS or LOGICAL_DNS", at(kind)))
        }
        "ORIGINAL_DST" if cluster.get("lb_policy").text() != "CLUSTER_PROVIDED" => {
            let message = format!("Envoy refuses the cluster `{name}`: its type is ORIGINAL_DST, and its load balancing is not CLUSTER_PROVIDED");
            Some((message, "a cluster with an address of its own has the type STRICT_DNS, LOGICAL_DNS or STATIC", at(kind)))
        }
        _ => None,
    }
}
