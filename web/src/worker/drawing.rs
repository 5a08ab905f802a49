//! Converts the graph to the page's form. Does not lay out boxes or find references; see `chancery_core::explain`.

use crate::protocol::{Drawing, Frame, GraphFocus, Line, Span};
use crate::worker::common::span;
use chancery_core::compilation::Compilation;
use chancery_core::explain::layout::Point;
use chancery_core::explain::picture::{EdgePath, Frame as CoreFrame, PictureOptions, ShareLabel, effects_at, line_width, picture, share_labels, svg};
use chancery_core::explain::{Focus, Graph, GraphNode, Lineage, NodeKind, Relation, layout, story as overview_of};
use std::collections::{BTreeMap, BTreeSet, HashMap};

fn kind_of(node: &GraphNode) -> String {
    if node.lane.is_some() && node.kind == NodeKind::Route && node.folded.is_none() {
        return RULE.into();
    }
    match (&node.resource, node.kind) {
        (Some(resource), NodeKind::Resource | NodeKind::Missing | NodeKind::Created) => resource.kind.to_string(),
        (_, kind) => kind.name().replace('_', " "),
    }
}

/// A graph with more nodes is folded, unless the page asks otherwise. The first limit is for Envoy's parts, the second for the overview.
const MANY: usize = 300;
const MANY_OF_OVERVIEW: usize = 50;

/// If the user groups the overview, more boxes than these are joined further.
const FEW: usize = 12;

/// The kind of a path with its conditions in the overview.
const RULE: &str = "rule";

/// The overview, without parts that the controller adds itself.
pub fn written_overview(whole: &Graph) -> Graph {
    at_level(whole, &GraphFocus { written_only: true, ..GraphFocus::default() })
}

/// Whether the page asks for this overview.
pub fn is_written_overview(focus: &GraphFocus) -> bool {
    focus.written_only && !focus.envoy_parts
}

/// The requested level of detail: the overview, or each part of Envoy's configuration.
pub fn at_level(whole: &Graph, focus: &GraphFocus) -> Graph {
    if !focus.envoy_parts {
        return overview_of(whole, !focus.written_only);
    }
    let mut graph = whole.clone();
    Focus { written_only: focus.written_only, ..Focus::default() }.apply(&mut graph);
    graph
}

/// The requested part of a graph, the number of folded nodes, and all kinds of the whole graph.
fn focused(mut graph: Graph, focus: &GraphFocus) -> (Graph, usize, Vec<(String, usize)>) {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for node in &graph.nodes {
        let kind = kind_of(node);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    let keep: Vec<String> = match focus.without.is_empty() {
        true => Vec::new(),
        false => {
            let left = kinds.iter().map(|(kind, _)| kind).filter(|kind| !focus.without.contains(kind));
            left.map(|kind| if kind == RULE { NodeKind::Route.name().into() } else { kind.replace(' ', "_") }).collect()
        }
    };
    let all_hidden = !focus.without.is_empty() && keep.is_empty();
    let part = Focus { from: focus.from.clone(), depth: focus.depth, kinds: keep, only_problems: focus.only_problems, ..Focus::default() };
    part.apply(&mut graph);
    if all_hidden {
        graph = Graph::default();
    }
    let most = focus.most.map(|most| most as usize);
    let folded = match (focus.fold, focus.envoy_parts) {
        (Some(false), _) => 0,
        (Some(true), true) => graph.fold(0, &focus.open),
        (None, true) => graph.fold(most.unwrap_or(MANY), &focus.open),
        (Some(true), false) => graph.fold_story(most.unwrap_or(FEW), &focus.open, &focus.keep),
        (None, false) => graph.fold_story(most.unwrap_or(MANY_OF_OVERVIEW), &focus.open, &focus.keep),
    };
    (graph, folded, kinds)
}

/// How to draw a part. The path of the request is at one place only in a large graph: a small one should not move with each request.
fn options(focus: &GraphFocus, folded: usize) -> PictureOptions {
    let path = if folded > 0 { focus.keep.clone() } else { Vec::new() };
    PictureOptions { narrow: focus.narrow, room: focus.room, path, ..PictureOptions::default() }
}

/// Lays out a graph. `joined` receives the box that represents each joined box.
pub fn draw(graph: Graph, focus: &GraphFocus, tops: &mut BTreeMap<String, i32>, joined: &mut HashMap<String, String>) -> Drawing {
    let (graph, folded, kinds) = focused(graph, focus);
    let groups = graph.nodes.iter().filter(|node| node.folded.is_some());
    *joined = groups.flat_map(|group| group.stands_for.iter().map(|id| (id.to_string(), group.id.to_string()))).collect();
    let options = PictureOptions { before: std::mem::take(tops), ..options(focus, folded) };
    let picture = picture(&graph, &options);
    *tops = picture.frames.iter().map(|frame| (frame.id.clone(), frame.y)).collect();
    let makers = makers(&graph);
    let frame = |(frame, node): (&CoreFrame, &GraphNode)| Frame {
        id: frame.id.clone(),
        kind: kind_of(node),
        caption: frame.caption.clone(),
        title: frame.title.clone(),
        reason: frame.reason.clone(),
        note: frame.note.clone(),
        tip: tip(node),
        x: frame.x,
        y: frame.y,
        width: frame.width,
        height: frame.height,
        missing: node.kind == NodeKind::Missing,
        folded: node.folded.is_some(),
        faint: frame.assumed || frame.faint,
        errors: frame.errors,
        warnings: frame.warnings,
        span: node.span.as_deref().map(span).or_else(|| makers.get(node.id.as_str()).cloned()),
    };
    let line = |((thread, effect_at), share): ((&EdgePath, Option<Point>), Option<ShareLabel>)| Line {
        from: thread.from,
        to: thread.to,
        relation: thread.relation.verb().into(),
        label: thread.label.clone(),
        share: share.as_ref().map(|share| share.text.clone()),
        width: line_width(thread.share),
        share_at: share.map(|share| (share.at.x, share.at.y)).unwrap_or_default(),
        effect: thread.relation.call_effect().map(Into::into),
        effect_at: effect_at.map(|at| (at.x, at.y)),
        cycle: thread.cycle,
        course: layout::curve(&thread.points),
        span: graph.edges.get(thread.edge).and_then(|edge| edge.at.as_ref()?.span.as_ref()).map(span),
    };
    Drawing {
        width: picture.width,
        height: picture.height,
        supporting: picture.supporting,
        compact: picture.compact,
        frames: picture.frames.iter().zip(&graph.nodes).map(frame).collect(),
        lines: picture.threads.iter().zip(effects_at(&picture)).zip(share_labels(&picture)).map(line).collect(),
        folded,
        kinds,
    }
}

/// The full text of a node.
fn tip(node: &GraphNode) -> String {
    let name = match &node.resource {
        Some(resource) if node.kind != NodeKind::Route && node.folded.is_none() => {
            format!("{resource}{}", resource.namespace.iter().map(|of| format!(" in {of}")).collect::<String>())
        }
        _ => node.label.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", "),
    };
    node.reason.iter().fold(name, |name, reason| format!("{name}: {reason}"))
}

/// The places of the resources that produced parts of Envoy's configuration.
fn makers(graph: &Graph) -> HashMap<&str, Span> {
    let places: HashMap<&str, Span> = graph.nodes.iter().filter_map(|node| Some((node.id.as_str(), span(node.span.as_ref()?)))).collect();
    let made = graph.edges.iter().rev().filter(|edge| matches!(edge.relation, Relation::Makes | Relation::Refers));
    made.filter_map(|edge| Some((edge.to.as_str(), places.get(edge.from.as_str())?.clone()))).collect()
}

/// Finds the first node with this name, even if it is folded into another node.
pub fn seek(graph: Graph, focus: &GraphFocus, text: &str) -> Option<String> {
    let (graph, ..) = focused(graph, &GraphFocus { fold: Some(false), ..focus.clone() });
    let text = text.to_lowercase();
    graph.nodes.into_iter().find(|node| node.label.to_lowercase().contains(&text)).map(|node| node.id.to_string())
}

/// The graph as an SVG file, with boxes in the same order as on the page.
pub fn picture_of(graph: Graph, focus: &GraphFocus, before: BTreeMap<String, i32>) -> String {
    let (graph, folded, _) = focused(graph, focus);
    svg(&picture(&graph, &PictureOptions { before, ..options(focus, folded) }))
}

/// The boxes that belong to a selection: its resources and the parts that they produced. Also returns the box of each in the folded graph.
pub fn boxes_of_selection(graph: &Graph, overview: &Graph, compilation: &Compilation, thread: &Lineage) -> (Vec<String>, Vec<String>) {
    let resources = thread.resources(compilation);
    let own: BTreeSet<&str> = graph
        .nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Resource && node.resource.as_ref().is_some_and(|resource| resources.contains(resource)))
        .map(|node| node.id.as_str())
        .collect();
    let made = graph.edges.iter().filter(|edge| edge.relation == Relation::Makes && own.contains(edge.from.as_str())).map(|edge| edge.to.as_str());
    let lit: BTreeSet<&str> = own.iter().copied().chain(made).collect();
    let nodes = graph.nodes.iter().filter(|node| lit.contains(node.id.as_str()));
    // The selected resources come first.
    let (first, others): (Vec<&GraphNode>, Vec<&GraphNode>) = nodes.partition(|node| own.contains(node.id.as_str()));
    let of_whole = first.into_iter().chain(others).map(|node| (node.id.to_string(), node.folded_into()));
    // The overview represents the same parts by fewer boxes.
    let is_lit = |node: &&GraphNode| node.stands_for.iter().any(|id| lit.contains(id.as_str()));
    let of_overview = overview.nodes.iter().filter(is_lit).map(|node| (node.id.to_string(), node.folded_into()));
    of_whole.chain(of_overview).unzip()
}
