//! `chancery graph`: the graph for Graphviz, Mermaid or programs.
//!
//! What must not be here: what refers to what; that is `chancery_core::explain::graph`.

use crate::args::{Deployment, GraphArgs, GraphFormat};
use crate::output::{print, print_json};
use crate::{Outcome, input};
use chancery_core::explain::{Edge, Graph, GraphNode, NodeKind, Positions, Relation, graph};
use std::collections::HashMap;
use std::fmt::Write;

/// Runs it.
pub fn run(args: &GraphArgs, deployment: &Deployment) -> Outcome {
    let (_, compilation) = input::compile(&args.inputs.inputs, deployment)?;
    let positions = Positions::new(&compilation.inputs, &compilation.objects);
    let mut graph = graph(&compilation, &positions);
    if args.resources {
        graph.nodes.retain(|node| matches!(node.kind, NodeKind::Resource | NodeKind::Missing));
        let known: std::collections::HashSet<&str> = graph.nodes.iter().map(|node| node.id.as_str()).collect();
        graph.edges.retain(|edge| known.contains(edge.from.as_str()) && known.contains(edge.to.as_str()));
    }
    match args.format {
        GraphFormat::Dot => print(&dot(&graph))?,
        GraphFormat::Mermaid => print(&mermaid(&graph))?,
        GraphFormat::Json => print_json(&graph)?,
    }
    Ok(0)
}

/// What is written on a node.
fn label(node: &GraphNode) -> String {
    match (&node.resource, &node.reason) {
        (Some(resource), Some(reason)) => format!("{}\n{}\n{reason}", resource.kind, name(node)),
        (Some(resource), None) => format!("{}\n{}", resource.kind, name(node)),
        _ => node.label.clone(),
    }
}

fn name(node: &GraphNode) -> String {
    let Some(resource) = &node.resource else { return String::new() };
    match &resource.namespace {
        Some(namespace) if namespace != "default" => format!("{}.{namespace}", resource.name),
        _ => resource.name.to_string(),
    }
}

/// What is written on an edge.
fn said(edge: &Edge) -> String {
    edge.at.as_ref().and_then(|at| at.path.clone()).unwrap_or_else(|| edge.label.to_string())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn dot(graph: &Graph) -> String {
    let mut out = String::from(
        "digraph chancery {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", fontname=\"sans-serif\", fontsize=11];\n  edge [fontname=\"sans-serif\", fontsize=9, color=\"#666666\"];\n",
    );
    let groups = [
        ("resources", &[NodeKind::Resource, NodeKind::Missing][..]),
        ("Envoy", &[NodeKind::Listener, NodeKind::VirtualHost, NodeKind::Route, NodeKind::Cluster][..]),
    ];
    for (at, (title, kinds)) in groups.iter().enumerate() {
        let nodes: Vec<&GraphNode> = graph.nodes.iter().filter(|node| kinds.contains(&node.kind)).collect();
        if nodes.is_empty() {
            continue;
        }
        let _ = writeln!(out, "  subgraph cluster_{at} {{\n    label={};\n    color=\"#cccccc\";", quoted(title));
        for node in nodes {
            let look = match (node.kind, node.state) {
                (NodeKind::Missing, _) => ", style=\"rounded,dashed\", color=\"#c0392b\", fontcolor=\"#c0392b\"",
                (_, Some("invalid")) => ", fillcolor=\"#fadbd8\", color=\"#c0392b\"",
                (_, Some("ignored" | "shadowed")) => ", fillcolor=\"#eeeeee\", fontcolor=\"#777777\"",
                (NodeKind::Listener, _) => ", fillcolor=\"#d6eaf8\"",
                (NodeKind::VirtualHost, _) => ", fillcolor=\"#e8f6f3\"",
                (NodeKind::Route, _) => ", fillcolor=\"#fef9e7\"",
                (NodeKind::Cluster, _) => ", fillcolor=\"#f5eef8\"",
                _ => "",
            };
            let tip = node.span.as_ref().map(|span| format!(", tooltip={}", quoted(&format!("{}:{}", span.file, span.line)))).unwrap_or_default();
            let _ = writeln!(out, "    {} [label={}{look}{tip}];", quoted(&node.id), quoted(&label(node)));
        }
        out.push_str("  }\n");
    }
    for edge in &graph.edges {
        let look = match edge.relation {
            Relation::Makes => ", style=dotted",
            Relation::Selects => ", style=dashed",
            Relation::Refers | Relation::Holds | Relation::Forwards => "",
        };
        let _ = writeln!(out, "  {} -> {} [label={}{look}];", quoted(&edge.from), quoted(&edge.to), quoted(&said(edge)));
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
            NodeKind::Resource => ("[", "]"),
            NodeKind::Missing => ("[/", "/]"),
            NodeKind::Listener => ("([", "])"),
            NodeKind::VirtualHost => ("{{", "}}"),
            NodeKind::Route => ("(", ")"),
            NodeKind::Cluster => ("[(", ")]"),
        };
        let class = match (node.kind, node.state) {
            (NodeKind::Missing, _) => ":::missing",
            (_, Some("invalid")) => ":::invalid",
            (_, Some("ignored" | "shadowed")) => ":::unused",
            _ => "",
        };
        let _ = writeln!(out, "  {id}{open}{}{close}{class}", text(&label(node)));
    }
    for edge in &graph.edges {
        let arrow = match edge.relation {
            Relation::Refers | Relation::Holds | Relation::Forwards => "-->",
            Relation::Selects | Relation::Makes => "-.->",
        };
        let said = said(edge);
        let said = if said.is_empty() { String::new() } else { format!("|{}|", text(&said)) };
        let _ = writeln!(out, "  {} {arrow}{said} {}", ids[edge.from.as_str()], ids[edge.to.as_str()]);
    }
    out.push_str("  classDef missing stroke:#c0392b,stroke-dasharray:4,color:#c0392b\n");
    out.push_str("  classDef invalid fill:#fadbd8,stroke:#c0392b\n");
    out.push_str("  classDef unused fill:#eeeeee,color:#777777\n");
    out
}
