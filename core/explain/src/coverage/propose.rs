//! Proposes a small set of requests that reaches everything that other requests do not reach, with today's answers as expectations.
//!
//! Each route gives a sample request, and variants in which one condition does not hold or the path is longer. Simulating them shows what they reach.
//! Then the request that reaches the most is taken, until none reaches anything new.
//!
//! Does not simulate or count; see `request_test` and the parent module.

use super::{Coverage, PartId};
use crate::request_test::{TestedGateway, TestedKind, Tester, object, test_node};
use crate::sample_request::request_for;
use crate::{RouteRow, TestAnswer, app_gateway_routes, app_gateway_sample_request, nginx_routes, nginx_sample_request, routes};
use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::config::ByPointer;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{MatchCondition, WrittenRequest, conditions_of, host_of};
use chancery_nginx::simulate::message::DEFAULT_CLIENT;
use chancery_text::{Node, Value, to_yaml};
use core::cmp::Reverse;
use hashbrown::HashMap;
use pb::route::{RouteMatch, route_match::PathSpecifier};

/// Proposed tests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProposedTests {
    /// A test file; empty if there is nothing to add.
    pub text: String,
    /// How many tests it has.
    pub tests: usize,
    /// The parts that no request was found for.
    pub missing: Vec<PartId>,
}

/// A request that reaches parts that no other request reached before.
struct Candidate {
    gateway: usize,
    request: WrittenRequest,
    answer: TestAnswer,
    reached: BTreeSet<PartId>,
}

/// Proposes tests for the parts that no request has reached.
#[must_use]
pub fn propose(tester: &Tester<'_>, coverage: &Coverage) -> ProposedTests {
    let mut wanted: BTreeSet<PartId> = coverage.unreached().collect();
    let mut candidates: Vec<Candidate> = Vec::new();
    for (at, gateway) in tester.gateways.iter().enumerate() {
        for request in requests(gateway, &wanted) {
            let Ok(read) = request.read() else { continue };
            let answer = gateway.answer(&read, tester.positions);
            let reached: BTreeSet<PartId> = answer.reached.intersection(&wanted).copied().collect();
            if !reached.is_empty() {
                candidates.push(Candidate { gateway: at, request, answer, reached });
            }
        }
    }
    let mut chosen: Vec<&Candidate> = Vec::new();
    // The number of new parts only falls, so an outdated number is an upper limit. Among equals, plainer and earlier requests win.
    let rank = |new: usize, at: usize| (new, Reverse(candidates.get(at).map_or(0, |of| of.request.headers.len())), Reverse(at));
    let mut heap: BinaryHeap<_> = candidates.iter().enumerate().map(|(at, of)| rank(of.reached.len(), at)).collect();
    while let Some((known, _, Reverse(at))) = heap.pop() {
        let Some(candidate) = candidates.get(at) else { continue };
        let new = candidate.reached.intersection(&wanted).count();
        if new == 0 {
            continue;
        }
        if new < known {
            heap.push(rank(new, at));
            continue;
        }
        wanted.retain(|id| !candidate.reached.contains(id));
        chosen.push(candidate);
    }
    ProposedTests { tests: chosen.len(), text: write(tester, chosen), missing: wanted.into_iter().collect() }
}

/// Writes tests by host.
fn write(tester: &Tester<'_>, chosen: Vec<&Candidate>) -> String {
    if chosen.is_empty() {
        return String::new();
    }
    let mut by_host: BTreeMap<String, Vec<&Candidate>> = BTreeMap::new();
    for candidate in chosen {
        let host = candidate.request.read().map(|request| host_of(&request.authority).to_string()).unwrap_or_default();
        by_host.entry(host).or_default().push(candidate);
    }
    let mut out = String::from("# Proposed by `chancery test --write`: today's answers. Review each one before you keep it.\ntests:\n");
    for (host, mut tests) in by_host {
        tests.sort_by(|one, other| {
            (&one.request.url, &one.request.method, &one.request.headers).cmp(&(&other.request.url, &other.request.method, &other.request.headers))
        });
        let node = |of: &&Candidate| {
            let gateway = tester.gateways.get(of.gateway).filter(|_| tester.gateways.len() > 1).map(TestedGateway::name);
            let mut request = of.request.clone();
            // Another gateway answers differently if it knows no client address.
            if of.answer.report["status"] == 403 && request.source.is_none() && tester.is_nginx(of.gateway) {
                request.source = Some(DEFAULT_CLIENT.to_string());
            }
            test_node(&request, gateway.as_deref(), &of.answer.summary(), tester.expectation(of.gateway, &of.request, &of.answer))
        };
        let list = to_yaml(&object([("tests", Node::synthesised(Value::Array(tests.iter().map(node).collect())))]));
        out.push_str(&format!("# {host}\n{}", list.strip_prefix("tests:\n").unwrap_or(&list)));
    }
    out
}

/// Returns requests for the routes that have any of these parts.
fn requests(gateway: &TestedGateway<'_>, wanted: &BTreeSet<PartId>) -> Vec<WrittenRequest> {
    match &gateway.kind {
        TestedKind::Envoy { gateway, config, parts, .. } => {
            let all: Vec<RouteRow> = routes(*gateway).collect();
            let several = all.iter().any(|row| all.first().is_some_and(|first| first.address != row.address));
            let rows: HashMap<&str, &RouteRow> = all.iter().map(|row| (row.pointer.as_str(), row)).collect();
            let by_pointer = ByPointer::of(config);
            let mut out = Vec::new();
            for pointer in parts.routes_with(wanted) {
                let Some(request) = rows.get(pointer).and_then(|row| request_for(row, several, &by_pointer)) else { continue };
                let matcher = by_pointer.route(pointer).and_then(|route| route.r#match.clone()).unwrap_or_default();
                let others = variants(&request, &matcher);
                out.push(request);
                out.extend(others);
            }
            // Redirects of whole hosts and connections without HTTP.
            out.extend(all.iter().filter(|row| row.order == 1).filter_map(|row| request_for(row, several, &by_pointer)).flat_map(other_scheme));
            out
        }
        TestedKind::Nginx { of, .. } => {
            let rows = nginx_routes(*of);
            rows.iter().filter_map(|row| nginx_sample_request(&rows, Some(&row.pointer))).flat_map(both_schemes).collect()
        }
        TestedKind::AppGateway { of, .. } => {
            let rows = app_gateway_routes(*of);
            rows.iter().filter_map(|row| app_gateway_sample_request(core::slice::from_ref(row), Some(&row.pointer))).collect()
        }
    }
}

/// Returns the request with the other scheme; its port then follows from the scheme.
fn other_scheme(mut request: WrittenRequest) -> Option<WrittenRequest> {
    request.url = match request.url.strip_prefix("https://") {
        Some(rest) => format!("http://{rest}"),
        None => format!("https://{}", request.url.strip_prefix("http://")?),
    };
    Some(request)
}

fn both_schemes(request: WrittenRequest) -> Vec<WrittenRequest> {
    let other = other_scheme(request.clone());
    core::iter::once(request).chain(other).collect()
}

/// Returns variants of a route's sample request: a longer path, the other scheme, and for each condition a request that does not fulfil it.
fn variants(request: &WrittenRequest, matcher: &RouteMatch) -> Vec<WrittenRequest> {
    let mut out: Vec<WrittenRequest> = other_scheme(request.clone()).into_iter().collect();
    let longer = match &matcher.path_specifier {
        Some(PathSpecifier::Prefix(_)) => Some("x"),
        Some(PathSpecifier::PathSeparatedPrefix(_)) => Some("/x"),
        _ => None,
    };
    if let Some(rest) = longer {
        let (path, query) = request.url.split_once('?').map_or((request.url.as_str(), String::new()), |(path, query)| (path, format!("?{query}")));
        out.push(WrittenRequest { url: format!("{path}{rest}{query}"), ..request.clone() });
    }
    for condition in conditions_of(matcher) {
        out.extend(violations(request, &condition));
    }
    out
}

/// Returns requests that fulfil everything but one condition.
fn violations(request: &WrittenRequest, of: &MatchCondition) -> Vec<WrittenRequest> {
    let mut out = Vec::new();
    if let Some(name) = of.matcher.strip_prefix("header ") {
        if name == ":method" {
            let other = ["GET", "POST", "DELETE"].into_iter().find(|method| *method != request.method && !of.expected.contains(method));
            out.extend(other.map(|method| WrittenRequest { method: method.into(), ..request.clone() }));
        } else if !name.starts_with(':') {
            let is_it = |header: &&(String, String)| header.0.eq_ignore_ascii_case(name);
            let mut without = request.clone();
            without.headers.retain(|header| !is_it(&header));
            // The condition holds without the header, or with any value.
            let value = of.expected.split_once(' ').map_or("x", |(_, value)| value.rsplit_once(' ').map_or(value, |(_, last)| last));
            for value in ["other", value] {
                let mut changed = without.clone();
                changed.headers.push((name.into(), value.into()));
                out.push(changed);
            }
            out.insert(0, without);
        }
    }
    if let Some(name) = of.matcher.strip_prefix("query parameter ") {
        let (path, query) = request.url.split_once('?').unwrap_or((&request.url, ""));
        let kept: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && pair.split('=').next() != Some(name)).collect();
        let with = |pairs: &[&str]| {
            let mark = if pairs.is_empty() { "" } else { "?" };
            WrittenRequest { url: format!("{path}{mark}{}", pairs.join("&")), ..request.clone() }
        };
        let added = format!("{name}=other");
        out.push(with(&kept));
        out.push(with(&kept.iter().copied().chain([added.as_str()]).collect::<Vec<_>>()));
    }
    if of.matcher == "grpc" {
        let mut plain = request.clone();
        plain.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        out.push(plain);
    }
    if of.matcher.starts_with("tls_context") {
        out.push(WrittenRequest { client_certificate: !request.client_certificate, ..request.clone() });
    }
    out
}
