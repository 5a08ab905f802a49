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
        let origin = violation.origins.iter().find(|origin| is_written(origin)).copied();
        let place = viewed.map(|viewed| describe(&viewed.root, &violation.pointer).join(" \u{203a} "));
        let place = place.unwrap_or_else(|| violation.pointer.clone());
        let message = format!("Envoy refuses {place}: {}", violation.message);
        add(&mut found, finding(gateway, message, origin));
    }
    for misfit in gateway.ir.delivery.verbatim.clusters.iter().filter_map(|cluster| misfit(cluster)) {
        let finding = finding(gateway, misfit.message, misfit.at).help(misfit.help);
        add(&mut found, finding);
    }
    found
}

fn is_written(origin: &Origin) -> bool {
    origin.object() != ObjectId::BUILT_IN
}

fn finding(gateway: GatewayRef<'_>, message: String, origin: Option<Origin>) -> Diagnostic {
    let mut finding = Diagnostic::new(&codes::REFUSED_BY_ENVOY, message, Place::origin(origin));
    finding.resource = origin.and_then(|origin| gateway.compilation.objects.get(origin.object())).map(|object| object.key.clone());
    finding
}

/// Adds a finding. The same value in several places is one mistake.
fn add(found: &mut Vec<Diagnostic>, finding: Diagnostic) {
    if !found.iter().any(|known| known.place == finding.place && known.place != Place::Whole) {
        found.push(finding);
    }
}

/// Fields of a cluster of which Envoy takes each, and refuses all together.
struct Misfit {
    message: String,
    help: &'static str,
    at: Option<Origin>,
}

/// What does not fit together in a cluster that is passed on in Envoy's own words (envoyproxy/envoy, `source/common/upstream` and
/// `source/extensions/clusters`).
fn misfit(cluster: &Tree) -> Option<Misfit> {
    if cluster.find("cluster_type").is_some() {
        return None;
    }
    let (name, kind) = (cluster.get("name").text(), cluster.get("type"));
    let at = |value: &Tree| value.origin.or(kind.origin).or(cluster.origin).filter(is_written);
    let (message, help, at) = match kind.text() {
        "STATIC" | "" => {
            let groups = cluster.at(&["load_assignment", "endpoints"]).items().iter();
            let hosts = groups.flat_map(|group| group.get("lb_endpoints").items());
            let mut addresses = hosts.map(|host| host.at(&["endpoint", "address", "socket_address", "address"]));
            let address = addresses.find(|address| !address.text().is_empty() && address.text().parse::<IpAddr>().is_err())?;
            let message = format!("Envoy refuses the cluster `{name}`: its type is STATIC, and `{}` is no IP address", address.text());
            (message, "a type that looks names up is STRICT_DNS or LOGICAL_DNS", at(address))
        }
        "EDS" if cluster.find("eds_cluster_config").is_none() => {
            let message = format!("Envoy refuses the cluster `{name}`: its type is EDS, and it does not say where endpoints come from");
            (message, "a type that looks names up is STRICT_DNS or LOGICAL_DNS", at(kind))
        }
        "ORIGINAL_DST" if cluster.get("lb_policy").text() != "CLUSTER_PROVIDED" => {
            let message = format!("Envoy refuses the cluster `{name}`: its type is ORIGINAL_DST, and its load balancing is not CLUSTER_PROVIDED");
            (message, "a cluster with an address of its own has the type STRICT_DNS, LOGICAL_DNS or STATIC", at(kind))
        }
        _ => return None,
    };
    Some(Misfit { message, help, at })
}
