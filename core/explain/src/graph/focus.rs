//! Parts of the graph: around a node, of some kinds, or where something is wrong.
//!
//! What must not be here: the graph's making.

use super::{Graph, GraphNode, NodeKind, Relation};
use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// Which part of a graph. The default is all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// Only what these nodes, by their ids, lead to and what leads to them.
    pub from: Vec<String>,
    /// At most this many relations away from them, or from what is wrong.
    pub depth: Option<u32>,
    /// Only these kinds: of resources (`Mapping`) or of nodes (`cluster`).
    pub kinds: Vec<String>,
    /// Only what is wrong or missing, and its neighbours.
    pub only_errors: bool,
    /// Without what the controller adds by itself, of which no resource tells.
    pub written_only: bool,
}

impl GraphNode {
    /// Whether something is wrong with it.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        self.errors > 0 || (self.kind == NodeKind::Missing && !self.is_assumed()) || self.state == Some("invalid")
    }

    /// Whether it is not there and that is fine: it is taken to be elsewhere.
    #[must_use]
    pub fn is_assumed(&self) -> bool {
        self.kind == NodeKind::Missing && self.state == Some("assumed")
    }

    /// Whether it is of a kind, by the word for it: `Mapping`, `listener`, `virtual_host`.
    #[must_use]
    pub fn is_a(&self, kind: &str) -> bool {
        let said = |name: &str| name.eq_ignore_ascii_case(&kind.replace('-', "_"));
        said(self.kind.name()) || self.resource.as_ref().is_some_and(|resource| said(&resource.kind))
    }
}

impl Focus {
    /// That part of the graph.
    pub fn apply(&self, graph: &mut Graph) {
        let mut keep = vec![true; graph.nodes.len()];
        if !self.from.is_empty() {
            let starts: Vec<usize> = (0..graph.nodes.len()).filter(|at| self.from.iter().any(|id| *id == graph.nodes[*at].id)).collect();
            let near = Near::of(graph);
            let (ahead, behind) = (near.walk(&starts, self.depth, true, false), near.walk(&starts, self.depth, false, true));
            keep.iter_mut().zip(ahead.into_iter().zip(behind)).for_each(|(keep, (ahead, behind))| *keep = ahead || behind);
        }
        if self.written_only {
            keep.iter_mut().zip(written(graph)).for_each(|(keep, written)| *keep &= written);
        }
        if self.only_errors {
            let starts: Vec<usize> = (0..graph.nodes.len()).filter(|at| graph.nodes[*at].is_wrong()).collect();
            let reached = Near::of(graph).walk(&starts, Some(self.depth.unwrap_or(1)), true, true);
            keep.iter_mut().zip(reached).for_each(|(keep, reached)| *keep &= reached);
        }
        if !self.kinds.is_empty() {
            keep.iter_mut().zip(&graph.nodes).for_each(|(keep, node)| *keep &= self.kinds.iter().any(|kind| node.is_a(kind)));
        }
        if keep.iter().all(|keep| *keep) {
            return;
        }
        let mut at = 0;
        graph.nodes.retain(|_| {
            at += 1;
            keep[at - 1]
        });
        let known: BTreeSet<&str> = graph.nodes.iter().map(|node| node.id.as_str()).collect();
        graph.edges.retain(|edge| known.contains(edge.from.as_str()) && known.contains(edge.to.as_str()));
        graph.cycles.retain(|cycle| cycle.iter().all(|id| known.contains(id.as_str())));
    }
}

/// What is written, what that makes, and what those lead to; all of a graph that has no resources.
fn written(graph: &Graph) -> Vec<bool> {
    if !graph.nodes.iter().any(|node| node.kind == NodeKind::Resource) {
        return vec![true; graph.nodes.len()];
    }
    let made: BTreeSet<&str> = graph.edges.iter().filter(|edge| edge.relation == Relation::Makes).map(|edge| edge.to.as_str()).collect();
    // Where requests come in or are distinguished, the focus must name it.
    let added = |node: &GraphNode| matches!(node.kind, NodeKind::Listener | NodeKind::Route) && !made.contains(node.id.as_str());
    let starts: Vec<usize> =
        (0..graph.nodes.len()).filter(|at| !graph.nodes[*at].kind.is_envoy() || made.contains(graph.nodes[*at].id.as_str())).collect();
    let mut near = Near::of(graph);
    for (node, (after, _)) in graph.nodes.iter().zip(&mut near.0) {
        after.retain(|to| !added(&graph.nodes[*to]));
        if added(node) {
            after.clear();
        }
    }
    near.walk(&starts, None, true, false)
}

/// Neighbours of every node, ahead and behind.
struct Near(Vec<(Vec<usize>, Vec<usize>)>);

impl Near {
    fn of(graph: &Graph) -> Self {
        let places: HashMap<&str, usize> = graph.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
        let mut near = vec![(Vec::new(), Vec::new()); graph.nodes.len()];
        for edge in &graph.edges {
            if let (Some(from), Some(to)) = (places.get(edge.from.as_str()), places.get(edge.to.as_str())) {
                near[*from].0.push(*to);
                near[*to].1.push(*from);
            }
        }
        Self(near)
    }

    /// What can be reached in this many steps.
    fn walk(&self, starts: &[usize], depth: Option<u32>, ahead: bool, behind: bool) -> Vec<bool> {
        let mut reached = vec![false; self.0.len()];
        starts.iter().for_each(|at| reached[*at] = true);
        let mut queue: VecDeque<(usize, u32)> = starts.iter().map(|at| (*at, 0)).collect();
        while let Some((at, steps)) = queue.pop_front() {
            if depth.is_some_and(|depth| steps >= depth) {
                continue;
            }
            let (after, before) = &self.0[at];
            let next = after.iter().filter(|_| ahead).chain(before.iter().filter(|_| behind));
            for next in next {
                if !core::mem::replace(&mut reached[*next], true) {
                    queue.push_back((*next, steps + 1));
                }
            }
        }
        reached
    }
}
