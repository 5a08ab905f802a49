//! Finds settings of a Mapping's cluster that another Mapping decides: Mappings with the same service share a cluster, and the first one defines it.
//!
//! Source of behaviour: Emissary `python/ambassador/ir/{ir,ircluster}.py` (a cluster's name does not contain these settings).

use super::field;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::diagnostic::{Diagnostic, Place, Severity, codes};
use chancery_base::ir::{Cluster, Ir, RouteAction, UpstreamClusters};
use chancery_base::resource::{Object, ObjectId};
use chancery_text::{Node, Str, series, to_json};
use hashbrown::HashMap;

/// Settings of a cluster that are not part of its name, and do nothing else.
const SETTINGS: [&str; 10] = [
    "cluster_idle_timeout_ms",
    "cluster_max_connection_lifetime_ms",
    "connect_timeout_ms",
    "dns_type",
    "enable_ipv4",
    "enable_ipv6",
    "health_checks",
    "keepalive",
    "respect_dns_ttl",
    "stats_name",
];

/// Finds settings of clusters that have no effect because another Mapping defines the cluster.
pub fn shared_clusters(side: SideRef<'_>) -> Vec<Diagnostic> {
    let sets_some = |object: &&Object| *object.key.kind == *"Mapping" && !object.broken && settings(object).next().is_some();
    if !side.objects().iter().any(|object| sets_some(&object)) {
        return Vec::new();
    }
    let mut definers: HashMap<ObjectId, ObjectId> = HashMap::new();
    side.irs().for_each(|ir| collect_definers(ir, &mut definers));
    let mut found = Vec::new();
    for object in side.objects().iter().filter(sets_some) {
        let Some(definer) = definers.get(&object.id).and_then(|definer| side.objects().get(*definer)) else { continue };
        if let Some(finding) = report(object, definer) {
            found.push(finding);
        }
    }
    found
}

/// The cluster settings that an object writes.
fn settings(object: &Object) -> impl Iterator<Item = (&'static str, &Node)> {
    SETTINGS.into_iter().filter_map(|name| Some((name, field(object, name)?))).filter(|(_, node)| !node.is_null())
}

/// Collects the Mappings whose cluster another Mapping defines.
fn collect_definers(ir: &Ir, found: &mut HashMap<ObjectId, ObjectId>) {
    let clusters: HashMap<&Str, &Cluster> = ir.clusters.iter().map(|cluster| (&cluster.name.value, &**cluster)).collect();
    let managers = ir.listeners.iter().flat_map(|listener| listener.http_managers());
    for route in managers.flat_map(|manager| &manager.routes.virtual_hosts).flat_map(|host| host.routes.iter()) {
        let RouteAction::Forward(forward) = &route.action else { continue };
        let names: Vec<_> = match &forward.clusters {
            UpstreamClusters::One(name) => Vec::from([name]),
            UpstreamClusters::Weighted(all) => all.iter().map(|cluster| &cluster.name).collect(),
        };
        for name in names {
            let (Some(user), Some(cluster)) = (name.origin, clusters.get(&name.value)) else { continue };
            let Some(definer) = cluster.name.origin.filter(|definer| definer.object() != user.object()) else { continue };
            found.insert(user.object(), definer.object());
        }
    }
}

fn report(object: &Object, definer: &Object) -> Option<Diagnostic> {
    let own: Vec<(&str, &Node)> = settings(object).collect();
    let (_, first) = own.first()?;
    let text = |node: &Node| to_json(node, false);
    let differs = own.iter().any(|(name, node)| field(definer, name).map(text) != Some(text(node)));
    let names: Vec<String> = own.iter().map(|(name, _)| format!("`{name}`")).collect();
    let verb = if names.len() == 1 { "changes" } else { "change" };
    let message =
        format!("{} {verb} nothing: {} {} has the same service and defines the cluster of both", series(&names), definer.key.kind, definer.key.name);
    let mut finding = Diagnostic::new(&codes::FIELD_WITHOUT_EFFECT, message, Place::key(object.id, first.id)).about(object.key.clone());
    finding.severity = if differs { Severity::Warning } else { Severity::Notice };
    for (_, node) in &own {
        for leaf in object.leaves(node.id).into_iter().filter(|leaf| *leaf != first.id) {
            finding = finding.related(Place::value(object.id, leaf), "this field has no effect");
        }
        if node.id != first.id && object.leaves(node.id).is_empty() {
            finding = finding.related(Place::value(object.id, node.id), "this field has no effect");
        }
    }
    let finding = finding.related(chancery_kubernetes::at_name(definer), "this Mapping defines the cluster");
    Some(
        finding.help(format!(
            "set it in {} {}, or give this Mapping a `cluster_tag`, which makes a separate cluster",
            definer.key.kind, definer.key.name
        )),
    )
}
