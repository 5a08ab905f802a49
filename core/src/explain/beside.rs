//! Views of several dialects of one input side by side: one list of findings, one ledger, one graph. Of a single side they are its own views.
//!
//! What must not be here: what a view shows of one side.

use super::graph::{Edge, Graph, GraphNode, graph};
use super::{Finding, LedgerRow, Positions, findings, ledger};
use crate::compile::Compilation;
use crate::config::Why;
use crate::order::Order as _;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::borrow::Borrow;
use hashbrown::{HashMap, HashSet};

/// What makes two findings the same.
#[derive(PartialEq, Eq, Hash)]
struct Said {
    code: &'static str,
    message: String,
    /// Source and offset.
    place: Option<(u32, u32)>,
}

/// The findings of all sides by place, each once: what is wrong with the text is wrong for everybody.
pub fn findings_of_all(sides: &[Compilation]) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    let mut known: HashMap<Said, usize> = HashMap::new();
    for side in sides {
        for mut finding in findings(side, &Positions::new(&side.inputs, &side.objects)) {
            let place = finding.span.as_ref().map(|span| (span.source.0, span.offset));
            let said = Said { code: finding.code, message: finding.message.clone(), place };
            match known.get(&said).and_then(|at| all.get_mut(*at)) {
                Some(same) if same.dialect != Some(side.dialect.name()) => same.dialect = None,
                _ => {
                    finding.dialect = Some(side.dialect.name()).filter(|_| sides.len() > 1);
                    known.insert(said, all.len());
                    all.push(finding);
                }
            }
        }
    }
    all.order_by_key(|finding| finding.span.as_ref().map_or((u32::MAX, 0), |span| (span.source.0, span.offset)));
    all
}

/// The ledgers of all sides, one after another. What a controller does not read is in that of another; what nobody reads is in the first.
pub fn ledger_of_all<C: Borrow<Compilation>>(sides: &[C]) -> Vec<LedgerRow> {
    let sides: Vec<&Compilation> = sides.iter().map(Borrow::borrow).collect();
    let mut all = Vec::new();
    for (at, side) in sides.iter().enumerate() {
        let is_read = |other: &Compilation, row: &LedgerRow| side.objects.get(row.object).is_some_and(|object| other.dialect.reads(&object.key));
        for mut row in ledger(side, &Positions::new(&side.inputs, &side.objects)) {
            let is_unknown = row.why == Some(Why::UnknownKind.name());
            if is_unknown && (at > 0 || sides.iter().skip(1).any(|other| is_read(other, &row))) {
                continue;
            }
            row.dialect = Some(side.dialect.name()).filter(|_| sides.len() > 1);
            all.push(row);
        }
    }
    all
}

/// The graphs of all sides as one: the resources stand once, and each Envoy has its own parts, whose ids begin with the dialect.
pub fn graph_of_all<C: Borrow<Compilation>>(sides: &[C]) -> Graph {
    let graphs = sides.iter().map(Borrow::borrow).map(|side| (side.dialect.name(), graph(side, &Positions::new(&side.inputs, &side.objects))));
    let mut graphs: Vec<(&'static str, Graph)> = graphs.collect();
    if graphs.len() == 1
        && let Some((_, only)) = graphs.pop()
    {
        return only;
    }
    let mut whole = Graph::default();
    let mut envoy = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let (mut drawn, mut circles) = (HashSet::new(), HashSet::new());
    for (dialect, graph) in graphs {
        let mut names: HashMap<String, String> = HashMap::new();
        for mut node in graph.nodes {
            if node.kind.is_envoy() {
                let id = format!("{dialect}/{}", node.id);
                names.insert(core::mem::replace(&mut node.id, id.clone()), id);
                node.side = Some(dialect);
                envoy.push(node);
                continue;
            }
            match places.get(&node.id).and_then(|at| whole.nodes.get_mut(*at)) {
                Some(same) => join(same, node),
                None => {
                    places.insert(node.id.clone(), whole.nodes.len());
                    whole.nodes.push(node);
                }
            }
        }
        let renamed = |id: String| names.get(&id).cloned().unwrap_or(id);
        let edges = graph.edges.into_iter().map(|edge| Edge { from: renamed(edge.from), to: renamed(edge.to), ..edge });
        for edge in edges {
            // Both know who refers to whom among what both read.
            if drawn.insert((edge.from.clone(), edge.to.clone(), edge.relation)) {
                whole.edges.push(edge);
            }
        }
        whole.cycles.extend(graph.cycles.into_iter().filter(|cycle| circles.insert(cycle.clone())));
    }
    whole.nodes.append(&mut envoy);
    whole
}

/// The same resource as two controllers see it: what one leaves alone the other may use.
fn join(node: &mut GraphNode, other: GraphNode) {
    if node.state.is_none_or(|state| state == "ignored") {
        node.state = other.state;
    }
    node.errors = node.errors.max(other.errors);
    node.warnings = node.warnings.max(other.warnings);
}
