//! Turns the graph into a picture: the labels and positions of boxes, and the lines between them. [`svg`] writes it; a page may draw the same boxes
//! by other means.
//!
//! Listeners are on the left, addresses on the right; each resource is left of what it makes. Objects that no request passes (secrets, policies,
//! settings) are in a band below. Redundant lines are left out: the maker of a route is not also joined to its cluster.
//!
//! Does not compute positions (see `layout`) or references (see `graph`).

mod flow;
mod labels;
mod list;
mod svg;

pub use svg::{badge, line_width, svg};

use super::layout::{Item, Layout, Link, Point, Spacing, layout};
use super::{Graph, GraphNode, NodeKind, Relation};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use hashbrown::{HashMap, HashSet};

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Frame {
    pub id: String,
    pub kind: NodeKind,
    /// The small line: its kind and details.
    pub caption: String,
    /// The large line: its name.
    pub title: String,
    /// Why it is missing; empty if it is present.
    pub reason: String,
    /// The conditions of a rule.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The left edge.
    pub x: i32,
    /// The top edge.
    pub y: i32,
    pub width: i32,
    pub height: i32,
    /// Whether it is missing from the input and assumed to exist.
    pub assumed: bool,
    /// Whether it has no effect.
    pub faint: bool,
    /// Whether no request passes it.
    pub supporting: bool,
    pub errors: u32,
    pub warnings: u32,
}

/// A line between two boxes.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct EdgePath {
    /// The index of the box where it starts.
    pub from: usize,
    /// The index of the box where it ends.
    pub to: usize,
    /// The index of its edge in the graph.
    pub edge: usize,
    pub relation: Relation,
    /// The field that refers, or the purpose.
    pub label: String,
    /// The percentage of requests that follow this line; `None` for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<u32>,
    /// The field with the weight that gives the share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// Whether it is part of a cycle.
    pub cycle: bool,
    /// Its points; [`super::layout::curve`] draws through them.
    pub points: Vec<Point>,
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Picture {
    /// In the order of the graph.
    pub frames: Vec<Frame>,
    /// In the order of the graph.
    pub threads: Vec<EdgePath>,
    pub width: i32,
    pub height: i32,
    /// The top of the supporting band, if there is one.
    pub supporting: Option<i32>,
    /// Whether boxes have only one line.
    pub compact: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PictureOptions {
    /// The top of each box in the previous picture, by id; known boxes keep their order.
    pub before: BTreeMap<String, i32>,
    /// Whether boxes have one line; by default from 150 boxes on.
    pub compact: Option<bool>,
    /// One lane from top to bottom, for a narrow page.
    pub narrow: bool,
    /// The width that columns should fit into. Columns are moved closer and then small text are cut, if that is enough to fit.
    pub room: Option<i32>,
    /// The boxes of a path, by id: they are placed next to each other, so that a large picture shows the whole path in one place.
    pub path: Vec<String>,
}

/// The distance between columns, and the maximum box width that small text may cause.
type ColumnSpacing = (i32, Option<i32>);

/// Distance between close columns, without and with shares written between them.
const CLOSE: i32 = 24;
const CLOSE_WITH_SHARES: i32 = 40;

/// The maximum box width that small text may cause when width is short.
const SHORT: i32 = 140;

/// From this number of boxes on, each box has one line.
const MANY: usize = 150;

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
    let shown = flow::deduplicated_edges(graph, &ends);
    let mut threads = threads(graph, shown, &ends);
    let framed = |widest: Option<i32>| {
        let mut frames: Vec<Frame> = graph.nodes.iter().zip(&supporting).map(|(node, below)| labels::frame(node, *below, compact, widest)).collect();
        even_widths(&mut frames, graph);
        frames
    };
    let columns = |(column, widest): ColumnSpacing| {
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
        // If nothing fits, the user must scroll anyway: then text is not cut.
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

/// Returns the lines to draw, without their points.
fn threads(graph: &Graph, shown: Vec<usize>, ends: &[Option<(usize, usize)>]) -> Vec<EdgePath> {
    let cycle = in_cycles(graph);
    let thread = |edge: usize| {
        let (of, (from, to)) = (graph.edges.get(edge)?, (*ends.get(edge)?)?);
        let label = match of.terms.is_empty() {
            true => of.at.as_ref().and_then(|at| at.path.clone()).unwrap_or_else(|| of.label.into()),
            false => of.terms.join(", then "),
        };
        let label = match (of.share, of.weight.as_deref()) {
            (Some(share), Some(field)) => joined(&label, &format!("{share}% by {field}")),
            (Some(share), None) => joined(&label, &format!("{share}%")),
            (None, _) => label,
        };
        let cycle = cycle.contains(&(of.from.as_str(), of.to.as_str()));
        Some(EdgePath {
            from,
            to,
            edge,
            relation: of.relation,
            label,
            share: of.share,
            weight: of.weight.as_ref().map(ToString::to_string),
            cycle,
            points: Vec::new(),
        })
    };
    shown.into_iter().filter_map(thread).collect()
}

/// Joins two parts of a label.
fn joined(first: &str, second: &str) -> String {
    if first.is_empty() { second.into() } else { format!("{first}, {second}") }
}

/// Places boxes in columns from left to right.
fn place(graph: &Graph, frames: &[Frame], threads: &[EdgePath], options: &PictureOptions, spacing: Spacing) -> Layout {
    let path: HashSet<&str> = options.path.iter().map(String::as_str).collect();
    let item = |(node, frame): (&GraphNode, &Frame)| Item {
        width: frame.width,
        height: frame.height,
        column: column(node, frame.supporting),
        band: u8::from(frame.supporting),
        before: options.before.get(node.id.as_str()).copied(),
        on_path: path.contains(node.id.as_str()),
    };
    let items: Vec<Item> = graph.nodes.iter().zip(frames).map(item).collect();
    let links: Vec<Link> = threads.iter().map(|thread| Link { from: thread.from, to: thread.to }).collect();
    layout(&items, &links, &spacing)
}

/// Returns the first column that a node may be in: the order in which a request passes, with room for resources between.
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

/// The share of a line, as text on the picture.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareLabel {
    pub text: String,
    /// The end of the text, on its baseline.
    pub at: Point,
}

/// The widest letter of a share, and the heights above and below its baseline.
const SHARE_LETTER: i32 = 7;
const SHARE_HEIGHT: (i32, i32) = (11, 3);

/// Returns the share of each line that has one, with the name of the weight's field if there is room. A text that would cover another share or a
/// box is left out.
#[must_use]
pub fn share_labels(picture: &Picture) -> Vec<Option<ShareLabel>> {
    let (above, below) = SHARE_HEIGHT;
    let mut taken: Vec<(i32, i32, i32, i32)> = picture.frames.iter().map(|of| (of.x, of.y, of.x + of.width, of.y + of.height)).collect();
    let label = |thread: &EdgePath| {
        let short = format!("{}%", thread.share?);
        let named = thread.weight.as_deref().and_then(|field| field.rsplit('.').next()).map(|field| format!("{field} {short}"));
        let texts = named.into_iter().chain([short]);
        let mut all = texts.flat_map(|text| share_places(&thread.points).into_iter().map(move |at| ShareLabel { text: text.clone(), at }));
        let area = |of: &ShareLabel| (of.at.x - of.text.chars().count() as i32 * SHARE_LETTER, of.at.y - above, of.at.x, of.at.y + below);
        let found = all.find(|of| {
            let (left, top, right, bottom) = area(of);
            left >= 0 && !taken.iter().any(|other| left < other.2 && right > other.0 && top < other.3 && bottom > other.1)
        })?;
        taken.push(area(&found));
        Some(found)
    };
    picture.threads.iter().map(label).collect()
}

/// Returns the places for a line's share, best first: its end, on the side that the line does not come from; the other side; the end's curve.
fn share_places(points: &[Point]) -> Vec<Point> {
    let [.., before, end] = points else { return Vec::new() };
    let from_above = points.iter().rev().find(|point| point.y != end.y).is_some_and(|point| point.y < end.y);
    let (under, over) = (Point { x: end.x - 12, y: end.y + 14 }, Point { x: end.x - 12, y: end.y - 6 });
    let (first, second) = if from_above { (under, over) } else { (over, under) };
    let middle = Point { x: i32::midpoint(before.x, end.x), y: i32::midpoint(before.y, end.y) };
    let start = Point { x: before.x + 40, y: if from_above { before.y + 14 } else { before.y - 6 } };
    Vec::from([first, second, Point { y: middle.y - 6, ..middle }, Point { y: middle.y + 14, ..middle }, start])
}

/// The size of an effect's word.
const EFFECT: (i32, i32) = (34, 14);

/// Returns the place of the effect of each line that is a rule about calls: the middle of its last curve, on the baseline. A word that would cover
/// another word or a box is left out.
#[must_use]
pub fn effects_at(picture: &Picture) -> Vec<Option<Point>> {
    let (wide, high) = EFFECT;
    let mut taken: Vec<Point> = Vec::new();
    let covers = |at: &Point, frame: &Frame| {
        at.x + wide / 2 > frame.x && at.x - wide / 2 < frame.x + frame.width && at.y + 3 > frame.y && at.y + 3 - high < frame.y + frame.height
    };
    let place = |thread: &EdgePath| {
        thread.relation.call_effect()?;
        let [.., before, end] = &thread.points[..] else { return None };
        let at = Point { x: i32::midpoint(before.x, end.x), y: i32::midpoint(before.y, end.y) + 4 };
        let is_free = !taken.iter().any(|other| (other.x - at.x).abs() < wide && (other.y - at.y).abs() < high);
        let fits = is_free && !picture.frames.iter().any(|frame| covers(&at, frame));
        fits.then(|| {
            taken.push(at);
            at
        })
    };
    picture.threads.iter().map(place).collect()
}

/// Gives boxes of one kind in a story's column the same width.
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

/// Returns the edges of cycles, by the ids of their ends.
fn in_cycles(graph: &Graph) -> HashSet<(&str, &str)> {
    graph
        .cycles
        .iter()
        .flat_map(|cycle| (0..cycle.len()).filter_map(move |at| Some((cycle.get(at)?.as_str(), cycle.get((at + 1) % cycle.len())?.as_str()))))
        .collect()
}
