//! Finds circuit breakers of Contour's configuration that every Service in use replaces by annotations.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::diagnostic::{Diagnostic, Place, Severity, codes};
use chancery_base::ir::CircuitBreaker;
use chancery_base::resource::{ObjectId, Origin, Sourced};
use chancery_kubernetes::known::is_read;
use chancery_text::{Node, NodeId, series};
use hashbrown::HashSet;

/// Finds limits of a ContourConfiguration that no cluster has, if there are clusters.
pub fn replaced_limits(side: SideRef<'_>) -> Vec<Diagnostic> {
    let is_configuration = |object: &chancery_base::resource::Object| *object.key.kind == *"ContourConfiguration" && is_read(side, object);
    if !side.objects().iter().any(is_configuration) || side.irs().all(|ir| ir.clusters.iter().all(|cluster| cluster.circuit_breakers.is_empty())) {
        return Vec::new();
    }
    let mut used: HashSet<(ObjectId, NodeId)> = HashSet::new();
    for cluster in side.irs().flat_map(|ir| &ir.clusters) {
        used.extend(cluster.circuit_breakers.iter().flat_map(|breaker| origins(&breaker.value)).map(|origin| (origin.object(), origin.node())));
        let per_host = cluster.per_host_circuit_breaker.as_ref().and_then(|limit| limit.origin);
        used.extend(per_host.map(|origin| (origin.object(), origin.node())));
    }
    let mut found = Vec::new();
    for object in side.objects().iter().filter(|object| is_configuration(object)) {
        let limits = object.root.at(&["spec", "envoy", "cluster", "circuitBreakers"]).and_then(Node::as_object);
        let set = limits.into_iter().flat_map(|limits| limits.iter()).filter(|limit| limit.value.as_i64().is_some_and(|limit| limit > 0));
        let unused: Vec<_> = set.filter(|limit| !used.contains(&(object.id, limit.value.id))).collect();
        let Some(first) = unused.first() else { continue };
        let names: Vec<String> = unused.iter().map(|limit| format!("`{}`", limit.key)).collect();
        let verb = if names.len() == 1 { "changes" } else { "change" };
        let message = format!("{} {verb} nothing: every Service in use has annotations with its own limits", series(&names));
        let mut finding = Diagnostic::new(&codes::FIELD_WITHOUT_EFFECT, message, Place::key(object.id, first.value.id)).about(object.key.clone());
        finding.severity = Severity::Notice;
        let others = unused.iter().skip(1);
        found.push(others.fold(finding, |finding, limit| finding.related(Place::value(object.id, limit.value.id), "this field has no effect")));
    }
    found
}

/// The places of a circuit breaker's limits.
fn origins(of: &CircuitBreaker) -> impl Iterator<Item = Origin> {
    let place = |limit: &Option<Sourced<u32>>| limit.as_ref().and_then(|limit| limit.origin);
    [place(&of.max_connections), place(&of.max_pending_requests), place(&of.max_requests), place(&of.max_retries)].into_iter().flatten()
}
