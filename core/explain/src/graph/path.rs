//! Finds paths through the graph: how two nodes are related, and which resources refer to each other in a cycle. Does not build the graph; see
//! `build`.

use super::{Edge, Graph, GraphNode};
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// One edge of a path.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Step<'a> {
    #[serde(flatten)]
    pub edge: &'a Edge,
    /// Whether the path follows the edge backwards.
    pub back: bool,
}

/// Returns the shortest path from one node to another, by their ids. Prefers a path along all edges, then one against all edges, then any path.
/// Returns `None` if the nodes are not connected.
pub fn why<'a>(graph: &'a Graph, from: &str, to: &str) -> Option<Vec<Step<'a>>> {
    let places: HashMap<&str, usize> = graph.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let (from, to) = (*places.get(from)?, *places.get(to)?);
    let mut near: Vec<Vec<(usize, &Edge, bool)>> = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        if let (Some(start), Some(end)) = (places.get(edge.from.as_str()), places.get(edge.to.as_str())) {
            near[*start].push((*end, edge, false));
            near[*end].push((*start, edge, true));
        }
    }
    let found = |forward: bool, back: bool| search(&near, from, to, |against| if against { back } else { forward });
    found(true, false).or_else(|| found(false, true)).or_else(|| found(true, true))
}

fn search<'a>(near: &[Vec<(usize, &'a Edge, bool)>], from: usize, to: usize, allowed: impl Fn(bool) -> bool) -> Option<Vec<Step<'a>>> {
    let mut reached: Vec<Option<(usize, Step<'a>)>> = vec![None; near.len()];
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        if at == to {
            break;
        }
        for (next, edge, back) in near[at].iter().filter(|(.., back)| allowed(*back)) {
            if *next != from && reached[*next].is_none() {
                reached[*next] = Some((at, Step { edge, back: *back }));
                queue.push_back(*next);
            }
        }
    }
    let mut steps = Vec::new();
    let mut at = to;
    while at != from {
        let (before, step) = reached[at].clone()?;
        steps.push(step);
        at = before;
    }
    steps.reverse();
    Some(steps)
}

impl Graph {
    /// Returns the nodes with this id, or else with this name (`quote`, `Mapping quote`, `Mapping/quote`, `cluster_quote_default`).
    #[must_use]
    pub fn named(&self, asked: &str) -> Vec<&GraphNode> {
        let wanted = asked.replace(' ', "/");
        let exact = |node: &&GraphNode| node.id == asked;
        let named = |node: &&GraphNode| {
            let by_resource = node.resource.as_ref().is_some_and(|resource| {
                *resource.name == *asked
                    || wanted.split_once('/').is_some_and(|(kind, name)| {
                        resource.kind.eq_ignore_ascii_case(kind)
                            && (*resource.name == *name
                                || name
                                    .split_once(['/', '.'])
                                    .is_some_and(|(name, namespace)| *resource.name == *name && resource.namespace.as_deref() == Some(namespace)))
                    })
            });
            by_resource || node.id.split_once(':').is_some_and(|(_, rest)| rest == asked) || node.label.lines().next() == Some(asked)
        };
        let all = |wanted: &dyn Fn(&&GraphNode) -> bool| -> Vec<&GraphNode> { self.nodes.iter().filter(|node| wanted(node)).collect() };
        [&exact as &dyn Fn(&&GraphNode) -> bool, &named].into_iter().map(all).find(|found| !found.is_empty()).unwrap_or_default()
    }
}

/// Returns one cycle for each set of nodes that all reach one another, from its first node on.
pub(super) fn cycles(count: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, to) in edges {
        after[*from].push(*to);
    }
    let mut out: Vec<Vec<usize>> = components(&after).into_iter().filter(|all| all.len() > 1).filter_map(|all| circle(&after, &all)).collect();
    out.sort();
    out
}

/// Returns the shortest cycle through the first node of a component.
fn circle(after: &[Vec<usize>], all: &[usize]) -> Option<Vec<usize>> {
    let start = *all.iter().min()?;
    let inside: hashbrown::HashSet<usize> = all.iter().copied().collect();
    let mut came: HashMap<usize, usize> = HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for next in after[at].iter().filter(|next| inside.contains(*next)) {
            if *next == start {
                let mut way: Vec<usize> = core::iter::successors(Some(at), |at| came.get(at).copied()).collect();
                way.reverse();
                return Some(way);
            }
            if !came.contains_key(next) {
                came.insert(*next, at);
                queue.push_back(*next);
            }
        }
    }
    None
}

/// Returns strongly connected components, by Tarjan's algorithm without recursion.
fn components(after: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NOT: usize = usize::MAX;
    let (mut index, mut low) = (vec![NOT; after.len()], vec![NOT; after.len()]);
    let mut on_stack = vec![false; after.len()];
    let (mut stack, mut calls, mut next, mut out) = (Vec::new(), Vec::new(), 0, Vec::new());
    for start in 0..after.len() {
        if index[start] == NOT {
            calls.push((start, 0));
        }
        while let Some((node, edge)) = calls.last().copied() {
            if edge == 0 && index[node] == NOT {
                (index[node], low[node]) = (next, next);
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            match after[node].get(edge) {
                Some(to) => {
                    if let Some(call) = calls.last_mut() {
                        call.1 += 1;
                    }
                    if index[*to] == NOT {
                        calls.push((*to, 0));
                    } else if on_stack[*to] {
                        low[node] = low[node].min(index[*to]);
                    }
                }
                None => {
                    calls.pop();
                    if let Some((outer, _)) = calls.last() {
                        low[*outer] = low[*outer].min(low[node]);
                    }
                    if low[node] == index[node] {
                        let from = stack.iter().rposition(|at| *at == node).unwrap_or(0);
                        let component = stack.split_off(from);
                        component.iter().for_each(|at| on_stack[*at] = false);
                        out.push(component);
                    }
                }
            }
        }
    }
    out
}
