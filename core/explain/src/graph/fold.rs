//! Folds a large graph: joins similar nodes into one. Does not select parts of a graph; see `focus`.

use super::{Edge, Graph, GraphNode, NodeKind, Relation};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_text::Str;
use core::mem;
use hashbrown::{HashMap, HashSet};

/// Groups of up to this many nodes are not joined, so that rare nodes remain visible.
const FEW: usize = 12;

/// Up to this many objects created for one gateway are not joined, in graphs of any size: a user did not write them.
const FEW_CREATED: usize = 3;

/// Groups keep up to this many nodes with problems apart.
const WRONG: usize = 24;

/// The properties that joined nodes share: the node kind; for resources their kind, their namespace and whether they have an effect; for Envoy's
/// parts and created objects their gateway.
type Group = (NodeKind, Str, Str, bool);

fn group(node: &GraphNode) -> Group {
    let (kind, namespace) = match &node.resource {
        Some(resource) if node.kind != NodeKind::Created => (resource.kind.clone(), resource.namespace.clone().unwrap_or_default()),
        _ => (Str::default(), node.gateway.clone().unwrap_or_default()),
    };
    (node.kind, kind, namespace, matches!(node.state, Some("ignored" | "shadowed" | "invalid")))
}

/// Returns the id of a group's node.
fn id((kind, of, namespace, idle): &Group) -> String {
    let state = if *idle { "/unused" } else { "" };
    match of.is_empty() {
        true if namespace.is_empty() => format!("folded:{}{state}", kind.name()),
        true => format!("folded:{}/{namespace}{state}", kind.name()),
        false if *kind == NodeKind::Resource => format!("folded:{of}/{namespace}{state}"),
        false => format!("folded:{}:{of}/{namespace}{state}", kind.name()),
    }
}

impl GraphNode {
    /// Returns the id of the node that this node is joined into.
    #[must_use]
    pub fn folded_into(&self) -> String {
        id(&group(self))
    }
}

impl Graph {
    /// If there are more than `most` nodes, joins nodes of the same kind and namespace. Objects that a controller creates for a gateway are always
    /// joined.
    ///
    /// Rare nodes and a limited number of nodes with problems stay apart, as do the groups and nodes whose ids are in `open`. Returns how many
    /// nodes were joined.
    pub fn fold(&mut self, most: usize, open: &[String]) -> usize {
        let is_small = self.nodes.len() <= most;
        if is_small && !self.nodes.iter().any(|node| node.kind == NodeKind::Created) {
            return 0;
        }
        let mut sizes: BTreeMap<Group, (usize, usize)> = BTreeMap::new();
        let stays = |node: &GraphNode, wrong: &mut usize| {
            *wrong += usize::from(node.is_wrong());
            (node.is_wrong() && *wrong <= WRONG) || open.iter().any(|id| *id == node.id)
        };
        for node in &self.nodes {
            let (size, wrong) = sizes.entry(group(node)).or_default();
            *size += usize::from(!stays(node, wrong));
        }
        sizes.retain(|group, _| !open.contains(&id(group)));
        let mut wrong: BTreeMap<Group, usize> = BTreeMap::new();
        let mut groups: BTreeMap<Group, usize> = BTreeMap::new();
        let mut renamed: HashMap<Str, Str> = HashMap::new();
        let mut nodes: Vec<GraphNode> = Vec::new();
        let mut joined = 0;
        for node in mem::take(&mut self.nodes) {
            let group = group(&node);
            let is_created = group.0 == NodeKind::Created;
            let few = if is_created { FEW_CREATED } else { FEW };
            let large = (is_created || !is_small) && sizes.get(&group).is_some_and(|(size, _)| *size > few);
            if !large || stays(&node, wrong.entry(group.clone()).or_default()) {
                nodes.push(node);
                continue;
            }
            let at = *groups.entry(group.clone()).or_insert_with(|| {
                nodes.push(GraphNode { gateway: node.gateway.clone(), folded: Some(0), ..GraphNode::new(id(&group), group.0, String::new()) });
                nodes.len() - 1
            });
            let Some(into) = nodes.get_mut(at) else { continue };
            into.errors += node.errors;
            into.warnings += node.warnings;
            into.folded = into.folded.map(|count| count + 1);
            into.state = if into.folded == Some(1) { node.state } else { into.state.filter(|state| node.state == Some(state)) };
            renamed.insert(node.id, into.id.clone());
            joined += 1;
        }
        for (group, at) in groups {
            if let Some(node) = nodes.get_mut(at) {
                node.label = label(&group, node.folded.unwrap_or_default());
            }
        }
        self.nodes = nodes;
        self.edges = edges(mem::take(&mut self.edges), &renamed);
        self.cycles.retain(|cycle| cycle.iter().all(|id| !renamed.contains_key(id)));
        joined
    }
}

/// Returns the number of nodes and their kind, and their place on a second line.
fn label((kind, of, namespace, idle): &Group, count: u32) -> String {
    let mut more: Vec<&str> = Vec::new();
    let what = match kind {
        NodeKind::Created => "created object".into(),
        _ if of.is_empty() => kind.name().replace('_', " "),
        // A story's rule has a separate kind name from its resource's kind.
        NodeKind::Route => {
            more.push(of);
            "rule".into()
        }
        _ => of.to_string(),
    };
    more.extend(Some(namespace.as_str()).filter(|namespace| !namespace.is_empty()));
    more.extend(idle.then_some("without effect"));
    more.extend((*kind == NodeKind::Missing).then_some("not in the input"));
    let what = format!("{count} \u{d7} {what}");
    if more.is_empty() { what } else { format!("{what}\n{}", more.join(" \u{b7} ")) }
}

/// Renames the ends of edges to the remaining nodes, and removes duplicates.
pub(super) fn edges(edges: Vec<Edge>, renamed: &HashMap<Str, Str>) -> Vec<Edge> {
    let mut seen: HashSet<(Str, Str, Relation)> = HashSet::new();
    let mut out: Vec<Edge> = Vec::new();
    for mut edge in edges {
        let (from, to) = (renamed.get(&edge.from), renamed.get(&edge.to));
        if from.is_some() || to.is_some() {
            edge.from = from.unwrap_or(&edge.from).clone();
            edge.to = to.unwrap_or(&edge.to).clone();
            edge.at = None;
            edge.terms = Box::default();
        }
        if edge.from != edge.to && seen.insert((edge.from.clone(), edge.to.clone(), edge.relation)) {
            out.push(edge);
        }
    }
    out
}
