//! Describes the result of a request in nginx as steps. Does not simulate the request; see `chancery_core::backend::nginx`.

use crate::protocol::{Sent, Step, Way};
use crate::worker::common::span;
use chancery_core::explain::{Graph, NginxReport, WayStep, nginx_story_path};
use chancery_core::ir::nginx::Nginx;

/// Converts a report of an nginx.
pub fn way(report: &NginxReport, nginx: &Nginx, overview: &Graph) -> Way {
    let mut steps: Vec<Step> = report.way.iter().map(|of| step(report, of)).collect();
    steps.push(end(report));
    let refused = report.refused.is_some().then(|| "nginx refuses this configuration. The steps show what it would do otherwise.".to_string());
    let notes = refused.into_iter().chain(report.notes.iter().cloned()).collect();
    Way { nodes: nginx_story_path(report, nginx, overview), steps, notes, ..Way::default() }
}

/// A step with the place and the line of its part.
fn step(report: &NginxReport, of: &WayStep) -> Step {
    let what = match of.what {
        "server" => "Server",
        "location" => "Location",
        _ => "Upstream",
    };
    let origins = report.origins.iter().filter(|origin| origin.of == of.what && origin.pointer == of.name);
    let spans = origins.filter_map(|origin| origin.origin.span.as_ref()).map(span).take(1).collect();
    let pointer = Some(of.pointer.clone()).filter(|pointer| !pointer.is_empty());
    Step { what: what.into(), name: of.name.clone(), pointer, spans, ..Step::default() }
}

fn end(report: &NginxReport) -> Step {
    let plain = |line: String| Sent { line, ..Sent::default() };
    let others = report.others.iter().map(|other| format!("nginx also sends {} {} to {}", other.method, other.path, other.host));
    if let Some(seen) = &report.seen {
        let endpoint = seen.endpoint.iter().map(|endpoint| format!("at {endpoint}"));
        let sent = [format!("{} {}", seen.method, seen.path), format!("host: {}", seen.host)].map(plain).into();
        let name = report.upstream.clone().unwrap_or_default();
        return Step { what: "Forward".into(), name, facts: endpoint.chain(others).collect(), sent, ..Step::default() };
    }
    if let Some(location) = report.location.as_ref().filter(|_| report.error.is_none()) {
        return Step { what: "Redirect".into(), name: location.clone(), facts: vec![format!("answered with {}", report.status)], ..Step::default() };
    }
    let why = report.error.clone().unwrap_or_else(|| format!("nginx answers {}", report.status));
    Step { what: "End".into(), lost: true, facts: std::iter::once(why).chain(others).collect(), ..Step::default() }
}
