//! The graph as a picture: what is written in which box, where it stands, and the lines between. [`svg`] writes it down; a page may
//! draw the same boxes with its own means.
//!
//! Listeners are on the left, addresses on the right; each resource stands before what it makes. What no request passes (secrets,
//! policies, settings) stands in a band below. Lines that others already tell are left out: who makes a route need not be joined to its
//! cluster.
//!
//! What must not be here: where things go (`layout`) and what refers to what (`graph`).

mod flow;
mod list;
mod svg;
mod words;

pub use svg::{badge, line_width, svg};

use super::layout::{Item, Layout, Link, Point, Spacing, layout};
use super::{Graph, GraphNode, NodeKind, Relation};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// One box.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Frame {
    /// The node's id.
    pub id: String,
    /// What it is.
    pub kind: NodeKind,
    /// The small line: its kind and what says more.
    pub caption: String,
    /// The large line: its name.
    pub title: String,
    /// Why it is not there; empty for what is.
    pub reason: String,
    /// What else there is to say: the conditions of a rule.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The left end.
    pub x: i32,
    /// The top.
    pub y: i32,
    /// Its width.
    pub width: i32,
    /// Its height.
    pub height: i32,
    /// Whether it is not there and that is fine.
    pub assumed: bool,
    /// Whether it has no effect.
    pub faint: bool,
    /// Whether no request passes it.
    pub supporting: bool,
    /// Errors found in it.
    pub errors: u32,
    /// Warnings found in it.
    pub warnings: u32,
}

/// One line.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Thread {
    /// The box where it starts, by its index.
    pub from: usize,
    /// The box where it ends.
    pub to: usize,
    /// The edge, by its index in the graph.
    pub edge: usize,
    /// What it says.
    pub relation: Relation,
    /// Its field, or what it is for.
    pub label: String,
    /// The share of the requests that go this way, in percent; nothing for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<u32>,
    /// Whether it is part of a circle.
    pub cycle: bool,
    /// Its points; [`super::layout::curve`] draws through them.
    pub points: Vec<Point>,
}

/// The whole.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Picture {
    /// In the order of the graph.
    pub frames: Vec<Frame>,
    /// In the order of the graph.
    pub threads: Vec<Thread>,
    /// Width of the whole.
    pub width: i32,
    /// Height of the whole.
    pub height: i32,
    /// Where the band of what supports begins, if there is one.
    pub supporting: Option<i32>,
    /// Whether boxes have one line only.
    pub compact: bool,
}

/// How to draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PictureOptions {
    /// The top of each box in the picture before, by id: what was there keeps its order.
    pub before: BTreeMap<String, i32>,
    /// Boxes of one line; where nothing is said, from 150 boxes on.
    pub compact: Option<bool>,
    /// One lane from top to bottom, for a narrow page.
    pub narrow: bool,
    /// The width that columns should fit into: they stand closer where that is enough, and texts are cut shorter where that is.
    pub room: Option<i32>,
}

/// How much room columns take: between them, and the widest that small texts may make a box.
type Tightness = (i32, Option<i32>);

/// Between columns that stand close, and where shares are written between them.
const CLOSE: i32 = 24;
const CLOSE_WITH_SHARES: i32 = 40;

/// The widest that small texts make a box where room is short.
const SHORT: i32 = 140;

/// From this number of boxes on, each has one line.
const MANY: usize = 150;

/// Draws a graph.
#[must_use]
pub fn picture(graph: &Graph, options: &PictureOptions) -> Picture {
    let compact = options.compact.unwrap_or(graph.nodes.len() > MANY && !options.narrow);
    let places: HashMap<&str, usize> = graph.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let ends: Vec<Option<(usize, usize)>> =
        graph.edges.iter().map(|edge| Some((*places.get(edge.from.as_str())?, *places.get(edge.to.as_str())?))).collect();
    let is_story = graph.nodes.iter().any(|node| node.lane.is_some());
    let supporting = match is_story {
        true => graph.nodes.iter().map(|node| node.lane.is_none()).collect(),
        false => flow::supporting(graph, &ends),
    };
    let shown = flow::told_once(graph, &ends);
    let mut threads = threads(graph, shown, &ends);
    let framed = |widest: Option<i32>| {
        let mut frames: Vec<Frame> = graph.nodes.iter().zip(&supporting).map(|(node, below)| words::frame(node, *below, compact, widest)).collect();
        even_widths(&mut frames, graph);
        frames
    };
    let columns = |(column, widest): Tightness| {
        let frames = framed(widest);
        let placed =
            place(graph, &frames, &threads, options, Spacing { column, row: if compact { 6 } else { Spacing::default().row }, ..Spacing::default() });
        (frames, placed)
    };
    let fits = |placed: &Layout| options.room.is_none_or(|room| placed.width <= room);
    let (mut frames, placed) = match options.narrow {
        true => {
            let frames = framed(None);
            let placed = list::place(&frames, &threads);
            (frames, placed)
        }
        // What fits in no way is moved to be seen: then whole texts are worth more.
        false => {
            let close = if threads.iter().any(|thread| thread.share.is_some()) { CLOSE_WITH_SHARES } else { CLOSE };
            let tighter = [(Spacing::default().column, None), (close, None), (close, Some(SHORT))];
            tighter.into_iter().map(columns).find(|(_, placed)| fits(placed)).unwrap_or_else(|| columns((close, None)))
        }
    };
    for (frame, corner) in frames.iter_mut().zip(&placed.items) {
        (frame.x, frame.y) = (corner.x, corner.y);
    }
    for (thread, points) in threads.iter_mut().zip(placed.links) {
        thread.points = points;
    }
    let supporting = placed.bands.iter().find(|(band, ..)| *band > 0 && placed.bands.len() > 1).map(|(_, top, _)| *top);
    Picture { frames, threads, width: placed.width, height: placed.height, supporting, compact }
}

/// The lines that are worth drawing, without their courses.
fn threads(graph: &Graph, shown: Vec<usize>, ends: &[Option<(usize, usize)>]) -> Vec<Thread> {
    let cycle = in_cycles(graph);
    let thread = |edge: usize| {
        let (of, (from, to)) = (graph.edges.get(edge)?, (*ends.get(edge)?)?);
        let label = of.at.as_ref().and_then(|at| at.path.clone()).unwrap_or_else(|| of.label.into());
        let cycle = cycle.contains(&(of.from.as_str(), of.to.as_str()));
        Some(Thread { from, to, edge, relation: of.relation, label, share: of.share, cycle, points: Vec::new() })
    };
    shown.into_iter().filter_map(thread).collect()
}

/// Columns from left to right.
fn place(graph: &Graph, frames: &[Frame], threads: &[Thread], options: &PictureOptions, spacing: Spacing) -> Layout {
    let item = |(node, frame): (&GraphNode, &Frame)| Item {
        width: frame.width,
        height: frame.height,
        column: column(node, frame.supporting),
        band: u8::from(frame.supporting),
        before: options.before.get(node.id.as_str()).copied(),
    };
    let items: Vec<Item> = graph.nodes.iter().zip(frames).map(item).collect();
    let links: Vec<Link> = threads.iter().map(|thread| Link { from: thread.from, to: thread.to }).collect();
    layout(&items, &links, &spacing)
}

/// The first column that a node may stand in: the order in which a request passes, with room for resources between.
fn column(node: &GraphNode, supporting: bool) -> Option<u32> {
    if supporting {
        return None;
    }
    if let Some(lane) = node.lane {
        return Some(u32::from(lane));
    }
    match node.kind {
        NodeKind::Resource | NodeKind::Missing | NodeKind::Created | NodeKind::Secret => None,
        NodeKind::Listener => Some(1),
        NodeKind::FilterChain => Some(2),
        NodeKind::VirtualHost => Some(3),
        NodeKind::Route => Some(4),
        NodeKind::Cluster => Some(5),
        NodeKind::Endpoint => Some(6),
    }
}

/// Where the share of a line is written, by its end: on the side that the line does not come from.
#[must_use]
pub fn share_at(points: &[Point]) -> Point {
    let end = points.last().copied().unwrap_or_default();
    let from_above = points.iter().rev().find(|point| point.y != end.y).is_some_and(|point| point.y < end.y);
    Point { x: end.x - 12, y: if from_above { end.y + 14 } else { end.y - 6 } }
}

/// Boxes of one kind are of one width in their column of a story, so that columns are even.
fn even_widths(frames: &mut [Frame], graph: &Graph) {
    let mut widest: BTreeMap<(NodeKind, bool, Option<u8>), i32> = BTreeMap::new();
    let key = |frame: &Frame, node: &GraphNode| (frame.kind, frame.supporting, node.lane);
    for (frame, node) in frames.iter().zip(&graph.nodes) {
        let width = widest.entry(key(frame, node)).or_default();
        *width = (*width).max(frame.width);
    }
    for (frame, node) in frames.iter_mut().zip(&graph.nodes) {
        frame.width = widest.get(&key(frame, node)).copied().unwrap_or(frame.width);
    }
}

/// The edges of circles, by the ids of their ends.
fn in_cycles(graph: &Graph) -> hashbrown::HashSet<(&str, &str)> {
    graph
        .cycles
        .iter()
        .flat_map(|cycle| (0..cycle.len()).filter_map(move |at| Some((cycle.get(at)?.as_str(), cycle.get((at + 1) % cycle.len())?.as_str()))))
        .collect()
}
