//! Adds fields to the report of a request that only tests compare: whether a route matches, whether a token is required, the policies that apply,
//! and the headers that the upstream receives. All gateways share these fields.
//!
//! Does not compare; see the parent module.

use super::{object, value_node};
use crate::answers::{AnswerEnding, AnswerTarget, Aspect, GatewayAnswer};
use crate::{AppGatewayReport, NginxReport, RouteReport, app_gateway_ending};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::simulate::{Ending, Outcome, Request, Simulation, Upstream, percent};
use chancery_text::{Node, Value};
use serde_json::{Map, Value as Json, json};

/// Filters that require a token or password.
const TOKENS: [&str; 4] = ["jwt_authn", "oauth2", "basic_auth", "api_key_auth"];

/// Returns the fields of a request to an Envoy.
pub(super) fn of_envoy(report: &RouteReport, request: &Request) -> Json {
    let mut json = serde_json::to_value(report).unwrap_or_default();
    let simulation = &report.simulation;
    let is_token = |filter: &str| TOKENS.iter().any(|name| filter.contains(name));
    let requires_token = simulation.lacks.is_some() || simulation.conditions.iter().any(|condition| is_token(&condition.filter));
    json["no_route"] = json!(is_unrouted(simulation.outcome));
    json["requires_token"] = json!(requires_token);
    json["policies"] = json!(policies(simulation));
    if let Some(upstream) = &simulation.upstream {
        json["upstream"]["headers"] = json!(headers_of(upstream, request));
    }
    json
}

/// Returns the fields of a request to an nginx.
pub(super) fn of_nginx(report: &NginxReport) -> Json {
    let is_default = report.ingress.is_none();
    let outcome = match (&report.seen, &report.location, report.status) {
        (Some(_), ..) if !is_default => Outcome::Forward,
        (_, Some(_), 300..=399) => Outcome::Redirect,
        (_, _, 0) => Outcome::Reset,
        _ if is_default => Outcome::NoRoute,
        _ => Outcome::DirectResponse,
    };
    let mut json = serde_json::to_value(report).unwrap_or_default();
    json["outcome"] = json!(outcome.name());
    json["no_route"] = json!(is_unrouted(outcome));
    let is_challenge = report.status == 401 || report.others.iter().any(|seen| seen.path.starts_with("/_external-auth"));
    json["requires_token"] = json!(is_challenge);
    json["clusters"] = report.upstream.iter().map(|name| json!({ "name": name })).collect();
    json["upstream"] = match &report.seen {
        Some(seen) => {
            let headers: Map<String, Json> = seen.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            json!({ "method": seen.method, "authority": seen.host, "path": seen.path, "headers": headers })
        }
        None => Json::Null,
    };
    json
}

/// Returns the fields of a request to an Application Gateway.
pub(super) fn of_app_gateway(report: &AppGatewayReport) -> Json {
    let mut json = serde_json::to_value(report).unwrap_or_default();
    let ending = app_gateway_ending(&report.journey);
    json["outcome"] = json!(ending.outcome.name());
    json["no_route"] = json!(is_unrouted(ending.outcome));
    json["requires_token"] = json!(false);
    json["status"] = json!(ending.status);
    json["location"] = json!(ending.location);
    json["clusters"] = ending.clusters.iter().map(|share| json!({ "name": share.name })).collect();
    json["upstream"] = match ending.path {
        Some(path) => json!({ "authority": ending.authority, "path": path }),
        None => Json::Null,
    };
    json
}

/// Adds the fields that have the same values on each kind of gateway: the Services that get the request, and the authentication.
pub(super) fn add_shared(report: &mut Json, answer: &GatewayAnswer) {
    let targets = answer.targets.iter().filter(|of| of.percent > 0.0);
    let rounded = |of: f64| percent(of).parse().unwrap_or(of);
    let one = |of: &AnswerTarget| json!({ "name": of.names.first(), "percent": rounded(of.percent) });
    report["services"] = targets.map(one).collect();
    // A response of the configuration redirects by its headers.
    if answer.ending == AnswerEnding::Redirected && report["location"].is_null() {
        report["location"] = json!(answer.location);
    }
    report["authentication"] = json!(answer.facts.get(&Aspect::Authentication).map(|fact| &fact.value));
}

fn is_unrouted(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::NoRoute | Outcome::NoVirtualHost | Outcome::NoListener | Outcome::NoFilterChain)
}

/// Returns the settings and filters that apply to a request, by name.
fn policies(of: &Simulation) -> BTreeMap<String, String> {
    let mut out: BTreeMap<String, String> = BTreeMap::new();
    let mut add = |name: &str, words: &str| {
        let known = out.entry(name.into()).or_default();
        if !known.is_empty() {
            known.push_str("; ");
        }
        known.push_str(words);
    };
    of.timeout.iter().for_each(|timeout| add("timeout", timeout));
    of.settings.iter().for_each(|setting| add(&setting.name, &setting.value));
    for step in of.filters.iter().filter(|step| matches!(step.verdict, "asks" | "answers")) {
        add(step.name.rsplit('.').next().unwrap_or(&step.name), step.does.as_deref().unwrap_or(step.verdict));
    }
    out
}

/// Returns the headers that an upstream receives, by name.
fn headers_of(upstream: &Upstream, request: &Request) -> BTreeMap<String, String> {
    let mut out: BTreeMap<String, String> = BTreeMap::new();
    let mut add = |name: &str, value: &str, action: &str| {
        let name = name.to_ascii_lowercase();
        match out.get_mut(&name).filter(|_| action == "add") {
            Some(known) => *known = format!("{known}, {value}"),
            None => _ = out.insert(name, value.to_string()),
        }
    };
    let is_removed = |name: &str| upstream.headers_removed.iter().any(|removed| removed.eq_ignore_ascii_case(name));
    request.headers.iter().filter(|(name, _)| !is_removed(name)).for_each(|(name, value)| add(name, value, "add"));
    for change in upstream.headers_added.iter().chain(&upstream.headers_by_envoy) {
        change.value.iter().for_each(|value| add(&change.name, value, change.action));
    }
    out
}

/// Returns the expectation that the report of an Envoy fulfils: how the request ends, and its policies by name.
pub(super) fn expectation(report: &Json) -> Node {
    let mut expect: Vec<(&str, Node)> = Vec::new();
    expect.extend(text(report, "outcome"));
    expect.extend(status(report));
    expect.extend(text(report, "location"));
    expect.extend(targets(report, "clusters"));
    expect.extend(upstream(report));
    let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let shares: Vec<Node> = list(&report["shares"]).iter().filter_map(|of| Some(object([("percent", float(&of["percent"])?)]))).collect();
    if !shares.is_empty() {
        expect.push(("shares", Node::synthesised(Value::Array(shares))));
    }
    if report["requires_token"].as_bool() == Some(true) {
        expect.push(("requires_token", Node::synthesised(Value::Bool(true))));
    }
    let names: Vec<&String> = report["policies"].as_object().into_iter().flat_map(Map::keys).filter(|name| *name != "timeout").collect();
    if !names.is_empty() {
        expect.push(("policies", object(names.into_iter().map(|name| (name.as_str(), Node::synthesised(Value::Bool(true)))))));
    }
    object(expect)
}

/// Returns the expectation that a report fulfils in terms that each kind of gateway has.
pub(super) fn shared_expectation(report: &Json) -> Node {
    let mut expect: Vec<(&str, Node)> = Vec::new();
    match report["outcome"].as_str().unwrap_or_default() {
        "forward" => {
            expect.extend(text(report, "outcome"));
            expect.extend(targets(report, "services"));
            expect.extend(upstream(report));
            expect.extend(text(report, "authentication"));
        }
        "redirect" => {
            expect.extend(status(report));
            expect.extend(text(report, "location"));
        }
        // Each kind of gateway distinguishes its own answers differently.
        _ => match status(report) {
            Some(status) => expect.push(status),
            None => expect.extend(text(report, "outcome")),
        },
    }
    object(expect)
}

type Field<'f> = (&'f str, Node);

fn text<'f>(report: &Json, name: &'f str) -> Option<Field<'f>> {
    Some((name, value_node(report[name].as_str()?)))
}

fn float(value: &Json) -> Option<Node> {
    value.as_f64().map(|value| Node::synthesised(Value::Float(value)))
}

fn status(report: &Json) -> Option<Field<'static>> {
    let status = report["status"].as_i64().filter(|status| *status > 0)?;
    Some(("status", Node::synthesised(Value::Int(status))))
}

/// The clusters or Services that get the request, with their shares if there are several.
fn targets<'f>(report: &Json, name: &'f str) -> Option<Field<'f>> {
    let all = report[name].as_array().filter(|all| !all.is_empty())?;
    let one = |of: &Json| {
        let percent = float(&of["percent"]).filter(|_| all.len() > 1).map(|percent| ("percent", percent));
        object(text(of, "name").into_iter().chain(percent))
    };
    Some((name, Node::synthesised(Value::Array(all.iter().map(one).collect()))))
}

fn upstream(report: &Json) -> Option<Field<'static>> {
    let fields: Vec<Field<'_>> = ["authority", "path"].into_iter().filter_map(|name| text(&report["upstream"], name)).collect();
    (!fields.is_empty()).then(|| ("upstream", object(fields)))
}

/// Describes the end of a request as the end of a sentence.
pub(super) fn summary(report: &Json) -> String {
    let text = |value: &Json| value.as_str().map(ToString::to_string);
    let share = |of: &Json| {
        Some(chancery_envoy::simulate::ClusterShare {
            name: text(&of["name"])?,
            percent: of["percent"].as_f64().unwrap_or(100.0),
            ..Default::default()
        })
    };
    let outcome: Option<Outcome> = serde_json::from_value(report["outcome"].clone()).ok();
    let ending = Ending {
        outcome: outcome.unwrap_or_default(),
        status: report["status"].as_u64().and_then(|status| u32::try_from(status).ok()),
        location: text(&report["location"]),
        clusters: report["clusters"].as_array().into_iter().flatten().filter_map(share).collect(),
        path: text(&report["upstream"]["path"]),
        ..Ending::default()
    };
    ending.summary().replace("by Envoy itself", "by the gateway itself")
}
