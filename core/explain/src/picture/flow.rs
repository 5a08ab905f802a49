//! Separates nodes that requests pass from supporting nodes, and selects the edges to draw. Does not place boxes; see `layout`.

use crate::{Graph, NodeKind, Relation};
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

/// The two ends of each edge, by index.
type Ends = [Option<(usize, usize)>];

/// Marks nodes that no request passes and that do not decide where a request goes.
pub(super) fn supporting(graph: &Graph, ends: &Ends) -> Vec<bool> {
    let edges = || graph.edges.iter().zip(ends).filter_map(|(edge, ends)| Some((edge.relation, (*ends)?)));
    let kind = |at: usize| graph.nodes.get(at).map_or(NodeKind::Missing, |node| node.kind);
    let mut passed = vec![false; graph.nodes.len()];
    // Requested listeners and everything that they lead to. A graph without such listeners is a running Envoy: then all listeners.
    let asked: BTreeSet<usize> = edges().filter(|(relation, _)| *relation == Relation::Makes).map(|(_, (_, to))| to).collect();
    let has_input = graph.nodes.iter().any(|node| node.kind == NodeKind::Resource);
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for (_, (from, to)) in edges().filter(|(relation, _)| *relation == Relation::Forwards) {
        after[from].push(to);
    }
    let led: BTreeSet<usize> = after.iter().flatten().copied().collect();
    let starts = (0..graph.nodes.len()).filter(|at| match kind(*at) {
        NodeKind::Listener => !has_input || asked.contains(at),
        // A part of the graph may lack its listener.
        NodeKind::FilterChain | NodeKind::VirtualHost | NodeKind::Route => !led.contains(at),
        _ => false,
    });
    let mut open: Vec<usize> = starts.collect();
    while let Some(at) = open.pop() {
        if !core::mem::replace(&mut passed[at], true) {
            open.extend(&after[at]);
        }
    }
    let decides = |at: usize| matches!(kind(at), NodeKind::Listener | NodeKind::VirtualHost | NodeKind::Route | NodeKind::Endpoint);
    let mut resources = vec![false; graph.nodes.len()];
    for (relation, (from, to)) in edges() {
        match relation {
            Relation::Selects => (resources[from], resources[to]) = (true, true),
            Relation::Makes if passed[to] && decides(to) => resources[from] = true,
            _ => {}
        }
    }
    // The targets of requests.
    let targets: Vec<usize> = edges()
        .filter(|(relation, (from, to))| *relation == Relation::Refers && resources[*from] && !resources[*to])
        .filter(|(_, (_, to))| graph.nodes.get(*to).and_then(|node| node.resource.as_ref()).is_some_and(|resource| resource.kind == "Service"))
        .map(|(_, (_, to))| to)
        .collect();
    targets.into_iter().for_each(|at| resources[at] = true);
    // An object that makes clusters of the same name as a deciding object, and that a deciding object names.
    let name = |at: usize| graph.nodes.get(at).and_then(|node| node.resource.as_ref()).map(|resource| (&resource.name, &resource.namespace));
    let names: BTreeSet<_> = (0..graph.nodes.len()).filter(|at| resources[*at]).filter_map(name).collect();
    let makes_cluster: BTreeSet<usize> = edges()
        .filter(|(relation, (_, to))| *relation == Relation::Makes && passed[*to] && kind(*to) == NodeKind::Cluster)
        .map(|(_, (from, _))| from)
        .collect();
    let beside = edges().filter(|(relation, (from, _))| *relation == Relation::Refers && resources[*from]).map(|(_, (_, to))| to);
    let beside: Vec<usize> = beside.filter(|to| makes_cluster.contains(to) && name(*to).is_some_and(|name| names.contains(&name))).collect();
    beside.into_iter().for_each(|at| resources[at] = true);
    // Without any flow, nothing is in the supporting band.
    let any = passed.iter().chain(&resources).any(|main| *main);
    passed.iter().zip(&resources).map(|(passed, resource)| any && !passed && !resource).collect()
}

/// Returns the indexes of the edges to draw: from a resource only the first part that it makes on each path of a request.
pub(super) fn deduplicated_edges(graph: &Graph, ends: &Ends) -> Vec<usize> {
    // On a path through Envoy's configuration, the first node is at most this many steps before the last.
    const STEPS: usize = 6;
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    let mut makes: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (edge, ends) in graph.edges.iter().zip(ends) {
        let Some((from, to)) = *ends else { continue };
        match edge.relation {
            Relation::Forwards | Relation::Uses => before[to].push(from),
            Relation::Makes => {
                makes.insert((from, to));
            }
            _ => {}
        }
    }
    let mut seen: Vec<usize> = vec![usize::MAX; graph.nodes.len()];
    let mut is_repeated = |number: usize, from: usize, to: usize| {
        // The search for one edge visits at most this many nodes.
        let mut left = 256;
        let mut open: Vec<(usize, usize)> = before[to].iter().map(|at| (*at, 1)).collect();
        while let Some((at, steps)) = open.pop() {
            if left == 0 {
                return false;
            }
            left -= 1;
            if makes.contains(&(from, at)) {
                return true;
            }
            if steps < STEPS && core::mem::replace(&mut seen[at], number) != number {
                open.extend(before[at].iter().map(|at| (*at, steps + 1)));
            }
        }
        false
    };
    graph
        .edges
        .iter()
        .zip(ends)
        .enumerate()
        .filter(|(number, (edge, ends))| match ends {
            Some((from, to)) if edge.relation == Relation::Makes => !is_repeated(*number, *from, *to),
            ends => ends.is_some(),
        })
        .map(|(number, _)| number)
        .collect()
}
