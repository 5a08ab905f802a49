//! Describes the result of a request in an Application Gateway as steps. Does not simulate the request; see `chancery_core::backend::appgw`.

use crate::protocol::{Sent, Step, Tried, Way};
use crate::worker::common::span;
use chancery_core::backend::appgw::route::{Ending, MatchedRule, Passed};
use chancery_core::explain::{AppGatewayReport, Graph, app_gateway_story_path, describe_app_gateway_ending};

/// Converts a report. `method` is the request's method.
pub fn way(report: &AppGatewayReport, overview: &Graph, method: &str) -> Way {
    let mut steps: Vec<Step> = report.journey.taken.iter().map(|taken| step(report, "Listener", "listener", &taken.listener)).collect();
    steps.push(rules(report));
    steps.push(end(report, method));
    let limit = "This result follows Azure's documentation; no Application Gateway was queried. The health of the addresses is unknown.".to_string();
    Way {
        nodes: app_gateway_story_path(report, overview),
        steps,
        notes: report.near_path_note().into_iter().chain([limit]).collect(),
        ..Way::default()
    }
}

/// A step with the JSON pointer and the line of its part.
fn step(report: &AppGatewayReport, what: &str, of: &str, name: &str) -> Step {
    let origins = report.origins.iter().filter(|origin| origin.of == of);
    let spans = origins.clone().filter_map(|origin| origin.origin.span.as_ref()).map(span).take(1).collect();
    let pointer = origins.map(|origin| origin.pointer.clone()).next();
    Step { what: what.into(), name: name.into(), pointer, spans, ..Step::default() }
}

/// The rules that were tried, and the rule that matched.
fn rules(report: &AppGatewayReport) -> Step {
    let passed = report.journey.passed.iter();
    let passed = passed.map(|(rule, why)| Tried {
        name: format!("{rule}: {}", why.words()),
        far: !matches!(why, Passed::Host | Passed::Frontend),
        ..Tried::default()
    });
    let tried = passed.collect();
    match &report.journey.taken {
        Some(taken) => Step { tried, facts: rule_facts(taken), ..step(report, "Rule", "rule", &taken.rule) },
        None => Step { tried, lost: true, ..step(report, "Rule", "rule", "none") },
    }
}

fn rule_facts(taken: &MatchedRule) -> Vec<String> {
    let path = taken.path_rule.as_ref().map(|(rule, pattern)| format!("its path rule {rule} matches {pattern}"));
    let rewrites = taken.rewrites.as_ref().map(|name| format!("the rewrite rule set {name} applies"));
    let policy = taken.policy.as_ref().map(|name| format!("the firewall policy {name} applies; its blocking is not simulated"));
    path.into_iter().chain(rewrites).chain(policy).collect()
}

fn end(report: &AppGatewayReport, method: &str) -> Step {
    let plain = |line: String| Sent { line, ..Sent::default() };
    match &report.journey.ending {
        Ending::Forwarded { pool, addresses, is_https, port, host, path } => {
            let scheme = if *is_https { "https" } else { "http" };
            let mut sent = vec![plain(format!("{} {path}", if method.is_empty() { "GET" } else { method }))];
            sent.extend(host.as_ref().map(|host| plain(format!("host: {host}"))));
            let facts = addresses.iter().map(|address| format!("{scheme}://{address}:{port}")).collect();
            Step { facts, sent, ..step(report, "Pool", "pool", pool) }
        }
        Ending::Redirected { code, location } => Step { facts: vec![format!("answered with {code}")], ..step(report, "Redirect", "", location) },
        Ending::Refused { .. } => {
            Step { lost: true, facts: vec![format!("the request {}", describe_app_gateway_ending(&report.journey))], ..step(report, "End", "", "") }
        }
    }
}
