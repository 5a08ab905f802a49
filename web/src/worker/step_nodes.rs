//! Finds the box of the graph's overview for each step of a request. Does not describe the steps; see `request`.

use crate::protocol::{Step, Way};
use crate::worker::common::span;
use chancery_core::explain::{DecidedCall, Graph, GraphNode};

/// The column of the overview that shows this kind of step.
fn lane_of(step: &Step) -> Option<u8> {
    match step.what.as_str() {
        "Listener" | "Filter chain" | "Intention" => Some(0),
        "Virtual host" | "Server" => Some(1),
        "Routes" | "Rule" | "Location" | "Redirect" | "End" => Some(2),
        "Pool" | "Upstream" => Some(3),
        "Forward" if step.pointer.is_none() => Some(3),
        "Forward" => Some(2),
        what if what.starts_with("Cluster") => Some(3),
        _ => None,
    }
}

/// Whether a box represents a cluster or pool of this name.
fn represents(node: &GraphNode, name: &str) -> bool {
    node.stands_for.iter().any(|id| id.rsplit_once(':').is_some_and(|(_, of)| of == name)) || node.label.lines().next() == Some(name)
}

fn node_of(step: &Step, gateway: Option<&str>, passed: &[&GraphNode]) -> Option<String> {
    let lane = lane_of(step)?;
    let column: Vec<&&GraphNode> = passed.iter().filter(|node| node.lane == Some(lane)).collect();
    // A resource represents the parts of its gateways.
    let has_part =
        |node: &GraphNode, gateway: &str| node.stands_for.iter().any(|id| id.strip_prefix(gateway).is_some_and(|rest| rest.starts_with('/')));
    let is_of_gateway = |node: &&&&GraphNode| {
        gateway.is_some_and(|gateway| node.gateway.as_ref().is_some_and(|of| of.as_str() == gateway) || has_part(node, gateway))
    };
    let named = column.iter().find(|node| lane == 3 && represents(node, &step.name));
    named.or_else(|| column.iter().find(is_of_gateway)).or_else(|| column.first()).map(|node| node.id.to_string())
}

/// The step of the rule that decides a call between two gateways.
pub fn call_step(call: &DecidedCall) -> Step {
    Step {
        what: "Intention".into(),
        lost: !call.is_allowed,
        spans: call.span.iter().map(span).collect(),
        facts: vec![call.why.clone()],
        ..Step::default()
    }
}

/// Adds the boxes to the steps of all gateways on the way.
pub fn add_nodes(way: &mut Way, overview: &Graph) {
    let passed: Vec<&GraphNode> = overview.nodes.iter().filter(|node| way.nodes.iter().any(|id| *id == node.id)).collect();
    for step in &mut way.steps {
        step.node = node_of(step, way.gateway.as_deref(), &passed);
    }
    for hop in &mut way.then {
        for step in &mut hop.steps {
            step.node = node_of(step, Some(&hop.gateway), &passed);
        }
    }
}
