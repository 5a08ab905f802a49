//! Describes which services may call a service, from the rules about calls in a graph. Does not decide calls; see the dialect.

use super::{Edge, Graph, Relation};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Returns who may call these nodes, one sentence for each rule about calls.
#[must_use]
pub fn callers(graph: &Graph, called: &[String]) -> Vec<String> {
    let name = |id: &str| {
        let node = graph.nodes.iter().find(|node| node.id == *id)?;
        let resource = node.resource.as_ref().map(|resource| String::from(resource.name.as_str()));
        resource.or_else(|| node.label.lines().next().map(String::from))
    };
    let rules = graph.edges.iter().filter(|edge| edge.relation.call_effect().is_some() && called.iter().any(|id| edge.to == *id));
    let sentence = |edge: &Edge| {
        let verb = match edge.relation {
            Relation::Allows => "may call it",
            Relation::Denies => "must not call it",
            _ => "may call it under conditions",
        };
        let terms = if edge.terms.is_empty() { String::new() } else { format!(": {}", edge.terms.join(", then ")) };
        let place = edge.at.as_ref().and_then(|at| at.span.as_ref()).map(|span| format!(" ({}:{})", span.file, span.line));
        Some(format!("`{}` {verb}{terms}{}.", name(edge.from.as_str())?, place.unwrap_or_default()))
    };
    rules.filter_map(sentence).collect()
}
