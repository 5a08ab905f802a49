//! `chancery why`: shows the path from one node of the graph to another.
//!
//! Does not search; see `chancery_core::explain::why`.

use crate::args::{Deployment, Format, WhyArgs};
use crate::graph::{named, whole};
use crate::output::{print, print_json};
use crate::style::{Style, plain};
use crate::{Outcome, input};
use chancery_core::explain::{Graph, GraphNode, Relation, Step, why};
use std::fmt::Write;

/// Runs it.
pub fn run(args: &WhyArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let graph = whole(&input::given(&args.inputs.inputs, deployment)?)?;
    let (from, to) = (named(&graph, &args.from)?, named(&graph, &args.to)?);
    // If the arguments match several nodes, use the nearest two.
    const MOST: usize = 8;
    let pairs = from.iter().take(MOST).flat_map(|from| to.iter().take(MOST).map(move |to| (*from, *to)));
    let ways = pairs.filter_map(|(from, to)| Some((from, to, why(&graph, &from.id, &to.id)?)));
    let best = ways.min_by_key(|(.., way)| (way.iter().any(|step| step.back), way.len()));
    let Some((from, to, way)) = best else {
        match args.format {
            Format::Human => print(&format!("Nothing joins {} and {}.\n", plain(&args.from), plain(&args.to)))?,
            Format::Json => print_json(&serde_json::json!({ "from": args.from, "to": args.to, "steps": null }))?,
        }
        return Ok(1);
    };
    match args.format {
        Format::Human => print(&rendered(&graph, from, to, &way, style))?,
        Format::Json => print_json(&serde_json::json!({ "from": from.id, "to": to.id, "steps": way }))?,
    }
    Ok(0)
}

fn rendered(graph: &Graph, from: &GraphNode, to: &GraphNode, way: &[Step<'_>], style: &Style) -> String {
    let mut out = format!("{}\n", style.bold(plain(&name(from))));
    if way.is_empty() {
        let _ = writeln!(out, "  is the same as {}", plain(&name(to)));
    }
    for step in way {
        let next = if step.back { &step.edge.from } else { &step.edge.to };
        let Some(node) = graph.nodes.iter().find(|node| node.id == *next) else { continue };
        let verb = if step.back { passive(step.edge.relation) } else { step.edge.relation.verb() };
        let path = step.edge.at.as_ref().and_then(|at| at.path.clone());
        let field = path.map(|path| format!(" by {}", style.cyan(plain(&path)))).unwrap_or_default();
        let span = step.edge.at.as_ref().and_then(|at| at.span.as_ref());
        let place = span.map(|span| style.dim(plain(&format!("  {}:{}", span.file, span.line)))).unwrap_or_default();
        let reason = node.reason.as_ref().map(|reason| format!("  {}", style.red(plain(reason)))).unwrap_or_default();
        let _ = writeln!(out, "  {verb} {}{field}{place}{reason}", style.bold(plain(&name(node))));
    }
    out
}

fn passive(relation: Relation) -> &'static str {
    match relation {
        Relation::Refers => "is referred to by",
        Relation::Holds => "is held by",
        Relation::Selects => "is selected by",
        Relation::Owns => "is owned by",
        Relation::Makes => "is made by",
        Relation::Forwards => "gets requests from",
        Relation::Uses => "is used by",
        Relation::Allows => "may be called by",
        Relation::Denies => "must not be called by",
        Relation::Decides => "may be called under conditions by",
    }
}

fn name(node: &GraphNode) -> String {
    if node.resource.is_some() {
        return node.label.clone();
    }
    let kind = node.kind.name().replace('_', " ");
    let side = node.gateway.as_ref().map(|gateway| format!("{gateway}'s ")).unwrap_or_default();
    format!("{side}{kind} {}", node.label.lines().next().unwrap_or_default())
}
