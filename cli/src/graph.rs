//! `chancery graph`: draws the graph as a picture, for Graphviz or Mermaid, or writes JSON.
//!
//! Does not find references; see `chancery_core::explain::graph`.

use crate::args::{Deployment, GraphArgs, GraphFormat};
use crate::input::{self, LoadedInput};
use crate::output::{message, print, print_json};
use crate::{Outcome, Unusable};
use chancery_core::explain::picture::{PictureOptions, picture, svg};
use chancery_core::explain::{Edge, Focus, Graph, GraphNode, NodeKind, Relation, graph as core_graph, graph_of};
use chancery_core::resource::nearest;
use std::collections::HashMap;
use std::fmt::Write;

/// Pictures with more nodes are folded, unless an option sets another limit.
const MOST: usize = 300;
/// Higher pictures, in pixels, are folded further.
const HIGHEST: i32 = 2000;
/// At most this many nodes, one after the other.
const FOLDED: [usize; 4] = [200, 150, 100, 60];

/// Runs it.
pub fn run(args: &GraphArgs, deployment: &Deployment) -> Outcome {
    let given = input::given(&args.inputs.inputs, deployment)?;
    let mut graph = whole(&given)?;
    let mut from = Vec::new();
    for asked in &args.from {
        from.extend(named(&graph, asked)?.into_iter().map(|node| node.id.to_string()));
    }
    let mut kinds = args.kind.clone();
    if let Some(unknown) = kinds.iter().find(|kind| !graph.nodes.iter().any(|node| node.is_a(kind))) {
        return Err(format!("there is no node of kind `{unknown}` in the graph").into());
    }
    if args.resources {
        kinds.extend([NodeKind::Resource, NodeKind::Missing, NodeKind::Created].map(|kind| kind.name().into()));
    }
    Focus {
        from,
        depth: args.depth,
        kinds,
        only_errors: args.only_errors,
        written_only: args.format == GraphFormat::Svg && !args.all,
        ..Focus::default()
    }
    .apply(&mut graph);
    let most = args.fold.unwrap_or(if args.format == GraphFormat::Json { 0 } else { MOST });
    let joined = if most == 0 { 0 } else { graph.fold(most, &[]) };
    if joined > 0 {
        message(&format!("{joined} nodes are joined by kind: --from, --kind or --only-errors show a part, --fold 0 all of them"));
    }
    match args.format {
        GraphFormat::Dot => print(&dot(&graph))?,
        GraphFormat::Mermaid => print(&mermaid(&graph))?,
        GraphFormat::Json => print_json(&graph)?,
        GraphFormat::Svg => print(&drawn(&mut graph, args.fold.is_none()))?,
    }
    Ok(0)
}

/// Returns the picture. If it is higher than a screen, folds more and more nodes, if allowed.
fn drawn(graph: &mut Graph, may_fold: bool) -> String {
    let mut drawing = picture(graph, &PictureOptions::default());
    for most in FOLDED {
        if !may_fold || drawing.height <= HIGHEST {
            break;
        }
        let joined = graph.fold(most, &[]);
        if joined > 0 {
            message(&format!("{joined} nodes are joined by kind, to keep the picture low: --fold 0 shows all of them"));
            drawing = picture(graph, &PictureOptions::default());
        }
    }
    svg(&drawing)
}

/// Returns the graph of the input: of resources, or of a running Envoy's configuration.
pub fn whole(given: &LoadedInput) -> Result<Graph, Unusable> {
    if let Some(running) = given.running()? {
        return Ok(graph_of(&running.config));
    }
    let (_, compilation) = given.compile()?;
    input::warn_of_unread(&compilation);
    Ok(core_graph(&compilation, &compilation.positions()))
}

/// Returns the nodes that match the arguments.
pub fn named<'a>(graph: &'a Graph, asked: &str) -> Result<Vec<&'a GraphNode>, Unusable> {
    let found = graph.named(asked);
    if !found.is_empty() {
        return Ok(found);
    }
    let names = graph.nodes.iter().filter_map(|node| node.resource.as_ref()).map(|resource| resource.name.as_str());
    let wanted = asked.rsplit(['/', ':', ' ']).next().unwrap_or(asked);
    let near = nearest(wanted, names.clone()).or_else(|| names.clone().find(|name| !wanted.is_empty() && name.contains(wanted)));
    let hint = near.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    Err(format!("there is no `{asked}` in the graph{hint}").into())
}

/// Returns the label of a node.
fn node_label(node: &GraphNode) -> String {
    let label = match &node.resource {
        Some(resource) => format!("{}\n{}", resource.kind, name(node)),
        None => node.label.clone(),
    };
    node.reason.iter().fold(label, |label, reason| format!("{label}\n{reason}"))
}

fn name(node: &GraphNode) -> String {
    let Some(resource) = &node.resource else { return String::new() };
    match &resource.namespace {
        Some(namespace) if namespace != "default" => format!("{}.{namespace}", resource.name),
        _ => resource.name.to_string(),
    }
}

/// Returns the label of an edge.
fn edge_label(edge: &Edge) -> String {
    if let Some(effect) = edge.relation.call_effect() {
        return if edge.terms.is_empty() { effect.to_string() } else { edge.terms.join("\n") };
    }
    edge.at.as_ref().and_then(|at| at.path.clone()).unwrap_or_else(|| edge.label.to_string())
}

/// Returns the kind of gateway that a part belongs to; `otherwise` for an Envoy.
fn kind_of(graph: &Graph, node: &GraphNode, otherwise: &'static str) -> &'static str {
    match (graph.is_of_app_gateway(node), graph.is_of_nginx(node)) {
        (true, _) => "Application Gateway",
        (_, true) => "nginx",
        _ => otherwise,
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn dot(graph: &Graph) -> String {
    let mut out = String::from(
        "digraph chancery {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", fontname=\"sans-serif\", fontsize=11];\n  edge [fontname=\"sans-serif\", fontsize=9, color=\"#666666\"];\n",
    );
    let mut groups: Vec<(String, Vec<&GraphNode>)> = Vec::new();
    for node in &graph.nodes {
        let title = match (node.kind, &node.gateway) {
            (NodeKind::Created, _) => "created objects".to_string(),
            (kind, _) if !kind.is_envoy() => "your resources".to_string(),
            (_, Some(gateway)) => format!("{} {gateway}", kind_of(graph, node, "Envoy of")),
            (_, None) => kind_of(graph, node, "Envoy").to_string(),
        };
        match groups.iter_mut().find(|(known, _)| *known == title) {
            Some((_, nodes)) => nodes.push(node),
            None => groups.push((title, vec![node])),
        }
    }
    for (at, (title, nodes)) in groups.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{at} {{\n    label={};\n    color=\"#cccccc\";", quoted(title));
        for node in nodes {
            let look = match (node.kind, node.state) {
                (NodeKind::Created, _) => ", style=\"rounded,dashed\"",
                // Left out of the input, and nothing is wrong with that.
                (NodeKind::Missing, _) if node.is_assumed() => ", style=\"rounded,dashed\", color=\"#a9b4c0\", fontcolor=\"#697586\"",
                (NodeKind::Missing, _) => ", style=\"rounded,dashed\", color=\"#c0392b\", fontcolor=\"#c0392b\"",
                (_, Some("invalid")) => ", fillcolor=\"#fadbd8\", color=\"#c0392b\"",
                (_, Some("ignored" | "shadowed")) => ", fillcolor=\"#eeeeee\", fontcolor=\"#777777\"",
                (NodeKind::Listener, _) => ", fillcolor=\"#d6eaf8\"",
                (NodeKind::FilterChain, _) => ", fillcolor=\"#e8eaf6\"",
                (NodeKind::VirtualHost, _) => ", fillcolor=\"#e8f6f3\"",
                (NodeKind::Route, _) => ", fillcolor=\"#fef9e7\"",
                (NodeKind::Cluster, _) => ", fillcolor=\"#f5eef8\"",
                (NodeKind::Endpoint, _) => ", fillcolor=\"#eaf5e9\"",
                (NodeKind::Secret, _) => ", fillcolor=\"#f9ebee\"",
                _ => "",
            };
            let tip = node.span.as_ref().map(|span| format!(", tooltip={}", quoted(&format!("{}:{}", span.file, span.line)))).unwrap_or_default();
            let _ = writeln!(out, "    {} [label={}{look}{tip}];", quoted(&node.id), quoted(&node_label(node)));
        }
        out.push_str("  }\n");
    }
    for edge in &graph.edges {
        let look = match edge.relation {
            Relation::Makes => ", style=dotted",
            Relation::Selects | Relation::Uses => ", style=dashed",
            Relation::Allows => ", color=\"#1e8449\", fontcolor=\"#1e8449\"",
            Relation::Denies => ", style=dashed, color=\"#c0392b\", fontcolor=\"#c0392b\"",
            Relation::Decides => ", color=\"#9a6700\", fontcolor=\"#9a6700\"",
            Relation::Refers | Relation::Holds | Relation::Owns | Relation::Forwards => "",
        };
        let _ = writeln!(out, "  {} -> {} [label={}{look}];", quoted(&edge.from), quoted(&edge.to), quoted(&edge_label(edge)));
    }
    out.push_str("}\n");
    out
}

fn mermaid(graph: &Graph) -> String {
    let mut out = String::from("flowchart LR\n");
    let ids: HashMap<&str, String> = graph.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), format!("n{at}"))).collect();
    let text = |text: &str| {
        let safe = text.replace('&', "#amp;").replace('"', "#quot;").replace('<', "#lt;").replace('>', "#gt;").replace('`', "#96;");
        format!("\"{}\"", safe.replace('\n', "<br/>"))
    };
    for node in &graph.nodes {
        let id = &ids[node.id.as_str()];
        let (open, close) = match node.kind {
            NodeKind::Resource | NodeKind::Created => ("[", "]"),
            NodeKind::Missing => ("[/", "/]"),
            NodeKind::Listener => ("([", "])"),
            NodeKind::FilterChain => ("[[", "]]"),
            NodeKind::VirtualHost => ("{{", "}}"),
            NodeKind::Route => ("(", ")"),
            NodeKind::Cluster => ("[(", ")]"),
            NodeKind::Endpoint => ("((", "))"),
            NodeKind::Secret => (">", "]"),
        };
        let class = match (node.kind, node.state) {
            (NodeKind::Missing, _) if node.is_assumed() => ":::assumed",
            (NodeKind::Missing, _) => ":::missing",
            (_, Some("invalid")) => ":::invalid",
            (_, Some("ignored" | "shadowed")) => ":::unused",
            _ => "",
        };
        let _ = writeln!(out, "  {id}{open}{}{close}{class}", text(&node_label(node)));
    }
    for edge in &graph.edges {
        let arrow = match edge.relation {
            Relation::Refers | Relation::Holds | Relation::Owns | Relation::Forwards => "-->",
            Relation::Allows | Relation::Decides => "==>",
            Relation::Selects | Relation::Makes | Relation::Uses | Relation::Denies => "-.->",
        };
        let label = edge_label(edge);
        let label = if label.is_empty() { String::new() } else { format!("|{}|", text(&label)) };
        let _ = writeln!(out, "  {} {arrow}{label} {}", ids[edge.from.as_str()], ids[edge.to.as_str()]);
    }
    out.push_str("  classDef missing stroke:#c0392b,stroke-dasharray:4,color:#c0392b\n");
    out.push_str("  classDef assumed stroke:#a9b4c0,stroke-dasharray:4,color:#697586\n");
    out.push_str("  classDef invalid fill:#fadbd8,stroke:#c0392b\n");
    out.push_str("  classDef unused fill:#eeeeee,color:#777777\n");
    out
}
