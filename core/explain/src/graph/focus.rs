//! Selects a part of the graph: around a node, of some kinds, or with problems. Does not build the graph; see `build`.

use super::{Graph, GraphNode, NodeKind, Relation};
use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// Which part of a graph to keep. The default keeps everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// Only these nodes (by id), and everything that leads to them or that they lead to.
    pub from: Vec<String>,
    /// At most this many edges away from the selected nodes.
    pub depth: Option<u32>,
    /// Only these kinds: of resources (`Mapping`) or of nodes (`cluster`).
    pub kinds: Vec<String>,
    /// Only nodes that have errors or are missing, and their neighbours.
    pub only_errors: bool,
    /// Only nodes that have errors or warnings or are missing, and what refers to them.
    pub only_problems: bool,
    /// Leaves out parts that the controller adds by itself, without a resource.
    pub written_only: bool,
}

impl GraphNode {
    /// Whether the node has errors or is missing without reason.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        self.errors > 0 || (self.kind == NodeKind::Missing && !self.is_assumed()) || self.state == Some("invalid")
    }

    /// Whether the node is missing from the input and assumed to exist.
    #[must_use]
    pub fn is_assumed(&self) -> bool {
        self.kind == NodeKind::Missing && self.state == Some("assumed")
    }

    /// Whether the node is of a kind, given by name: `Mapping`, `listener`, `virtual_host`.
    #[must_use]
    pub fn is_a(&self, kind: &str) -> bool {
        let said = |name: &str| name.eq_ignore_ascii_case(&kind.replace('-', "_"));
        said(self.kind.name()) || self.resource.as_ref().is_some_and(|resource| said(&resource.kind))
    }
}

impl Focus {
    /// Reduces the graph to the selected part.
    pub fn apply(&self, graph: &mut Graph) {
        let mut keep = vec![true; graph.nodes.len()];
        if !self.from.is_empty() {
            let starts: Vec<usize> = (0..graph.nodes.len()).filter(|at| self.from.iter().any(|id| *id == graph.nodes[*at].id)).collect();
            let near = Neighbours::of(graph);
            let (ahead, behind) = (near.walk(&starts, self.depth, true, false), near.walk(&starts, self.depth, false, true));
            keep.iter_mut().zip(ahead.into_iter().zip(behind)).for_each(|(keep, (ahead, behind))| *keep = ahead || behind);
        }
        if self.written_only {
            keep.iter_mut().zip(written(graph)).for_each(|(keep, written)| *keep &= written);
        }
        if self.only_errors || self.only_problems {
            let is_asked = |node: &GraphNode| node.is_wrong() || (self.only_problems && node.warnings > 0);
            let starts: Vec<usize> = (0..graph.nodes.len()).filter(|at| is_asked(&graph.nodes[*at])).collect();
            let reached = Neighbours::of(graph).walk(&starts, Some(self.depth.unwrap_or(1)), !self.only_problems, true);
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

/// Marks resources, the parts that they make, and what those lead to. A graph without resources is kept whole.
fn written(graph: &Graph) -> Vec<bool> {
    if !graph.nodes.iter().any(|node| node.kind == NodeKind::Resource) {
        return vec![true; graph.nodes.len()];
    }
    let made: BTreeSet<&str> = graph.edges.iter().filter(|edge| edge.relation == Relation::Makes).map(|edge| edge.to.as_str()).collect();
    // Listeners and routes without a maker are kept only if the focus names them.
    let added = |node: &GraphNode| matches!(node.kind, NodeKind::Listener | NodeKind::Route) && !made.contains(node.id.as_str());
    let starts: Vec<usize> =
        (0..graph.nodes.len()).filter(|at| !graph.nodes[*at].kind.is_envoy() || made.contains(graph.nodes[*at].id.as_str())).collect();
    let mut near = Neighbours::of(graph);
    for (node, (after, _)) in graph.nodes.iter().zip(&mut near.0) {
        after.retain(|to| !added(&graph.nodes[*to]));
        if added(node) {
            after.clear();
        }
    }
    near.walk(&starts, None, true, false)
}

/// Neighbours of every node: successors and predecessors.
struct Neighbours(Vec<(Vec<usize>, Vec<usize>)>);

impl Neighbours {
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

    /// Marks the nodes within this many steps.
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
