//! Describes the result of a request in an nginx as steps. Does not simulate the request; see `chancery_core::backend::nginx`.

use crate::protocol::{Sent, Step, Way};
use crate::worker::common::span;
use chancery_core::compilation::NginxRef;
use chancery_core::explain::{
    Graph, NginxReport, Positions, WayStep, describe_nginx_ending, nginx_ending, nginx_story_path, route_nginx, service_name,
};
use chancery_core::simulate::{Outcome, SavedRequest, Verdict, WrittenRequest};

/// Simulates a request. `overview` names upstreams by the Services behind them.
pub fn way(of: NginxRef<'_>, positions: &Positions<'_>, overview: &Graph, written: &WrittenRequest) -> Result<Way, String> {
    let report = route_nginx(of, positions, &written.read()?);
    let ending = nginx_ending(&report);
    let mut steps: Vec<Step> = report.way.iter().map(|passed| step(&report, passed)).collect();
    match (report.outcome, steps.last_mut()) {
        (Outcome::Forward, Some(last)) => sent(&report, last),
        (Outcome::Redirect, _) => steps.push(end("Redirect", report.location.as_deref().unwrap_or_default(), &report, false)),
        _ => steps.push(end("End", "", &report, true)),
    }
    Ok(Way {
        result: describe_nginx_ending(&report),
        headline: headline(&report, overview),
        nodes: nginx_story_path(&report, of.nginx, overview),
        good: matches!(report.outcome, Outcome::Forward | Outcome::Redirect),
        ending,
        steps,
        notes: report.notes,
        ..Way::default()
    })
}

/// Checks a saved request against its expectation.
pub fn judge(of: NginxRef<'_>, positions: &Positions<'_>, saved: &SavedRequest) -> Verdict {
    let expected = saved.expected.summary();
    match saved.request.read() {
        Ok(request) => {
            let ending = nginx_ending(&route_nginx(of, positions, &request));
            Verdict { holds: ending == saved.expected, expected, now: ending.summary(), ending: Some(ending) }
        }
        Err(why) => Verdict { holds: false, expected, now: why, ending: None },
    }
}

fn headline(report: &NginxReport, overview: &Graph) -> String {
    match (&report.upstream, &report.seen) {
        (Some(upstream), Some(seen)) => format!("{}, as {}", service_name(overview, upstream), seen.path),
        _ => describe_nginx_ending(report),
    }
}

/// A part that the request passes, with its place and its lines.
fn step(report: &NginxReport, passed: &WayStep) -> Step {
    let word = match passed.what {
        "server" => "Server",
        "location" => "Location",
        _ => "Upstream",
    };
    let origins = report.origins.iter().filter(|origin| origin.of == passed.what && origin.pointer == passed.name);
    let spans = origins.filter_map(|origin| origin.origin.span.as_ref()).map(span).take(1).collect();
    let pointer = Some(passed.pointer.clone()).filter(|pointer| !pointer.is_empty());
    Step { what: word.into(), name: passed.name.clone(), pointer, spans, ..Step::default() }
}

/// Adds the request that the service receives.
fn sent(report: &NginxReport, step: &mut Step) {
    let Some(seen) = &report.seen else { return };
    let line = |line: String| Sent { line, ..Sent::default() };
    step.facts.extend(seen.endpoint.clone());
    step.sent.extend([line(format!("{} {} ({})", seen.method, seen.path, seen.protocol)), line(format!("host: {}", seen.host))]);
    step.sent.extend(seen.headers.iter().map(|(name, value)| line(format!("{name}: {value}"))));
}

fn end(what: &str, name: &str, report: &NginxReport, is_lost: bool) -> Step {
    let fact = match is_lost {
        true => format!("the request {}", describe_nginx_ending(report)),
        false => format!("answered with {}", report.status),
    };
    Step { what: what.into(), name: name.into(), lost: is_lost, facts: vec![fact], ..Step::default() }
}
