//! Describes how a request ends in nginx in the terms that all gateways share, and the parts of the model and of the story that it passes.
//!
//! Does not simulate requests; see `chancery_nginx::simulate`.

use super::{NginxReport, WayStep};
use crate::{Graph, GraphNode, Relation};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::Nginx;
use chancery_envoy::simulate::{ClusterShare, Ending, Outcome};
use chancery_nginx::location::server_name;
use chancery_nginx::simulate::Response;

/// Returns how a response ends the request.
pub(super) fn outcome(response: &Response) -> Outcome {
    match response.status {
        0 => Outcome::Reset,
        _ if response.seen.is_some() => Outcome::Forward,
        300..=399 if response.location.is_some() => Outcome::Redirect,
        404 if response.ingress.is_none() => Outcome::NoRoute,
        _ => Outcome::DirectResponse,
    }
}

/// Returns the steps of a response, each with its place in the model.
pub(super) fn way(nginx: &Nginx, response: &Response) -> Vec<WayStep> {
    let mut server = None;
    let mut out: Vec<WayStep> = Vec::new();
    for step in &response.way {
        let pointer = match step.what {
            "server" => {
                server = nginx.servers.iter().position(|of| server_name(&of.host.value).as_str() == step.name || of.host.value == step.name.as_str());
                server.map(|at| format!("/servers/{at}"))
            }
            "location" => server.and_then(|at| {
                let is_it = |location: &chancery_base::ir::nginx::Location| {
                    let path = response.location_path.as_deref().unwrap_or("/");
                    location.path.value == path
                        && (step.origin.is_none() || location.path.origin == step.origin || location_origin(location) == step.origin)
                };
                let all = &nginx.servers.get(at)?.locations;
                let exact = all
                    .iter()
                    .position(is_it)
                    .or_else(|| all.iter().position(|of| Some(of.path.value.as_str()) == response.location_path.as_deref()));
                exact.map(|number| format!("/servers/{at}/locations/{number}"))
            }),
            _ => nginx.upstreams.iter().position(|of| of.name.value == step.name.as_str()).map(|at| format!("/backends/{at}")),
        };
        out.push(WayStep { what: step.what, name: step.name.clone(), pointer: pointer.unwrap_or_default() });
    }
    out
}

fn location_origin(of: &chancery_base::ir::nginx::Location) -> Option<chancery_base::resource::Origin> {
    of.ingress.as_ref().and_then(|ingress| ingress.origin)
}

/// Converts the result of a request to the endings that all gateways share.
#[must_use]
pub fn nginx_ending(report: &NginxReport) -> Ending {
    let forwards = report.outcome == Outcome::Forward;
    let cluster = report.upstream.clone().filter(|_| forwards);
    Ending {
        outcome: report.outcome,
        status: (!forwards && report.status > 0).then_some(report.status.into()),
        location: report.location.clone().filter(|_| !forwards),
        clusters: cluster.iter().flat_map(|name| shares(report, name)).map(|(name, percent)| share_of(name, percent)).collect(),
        authority: report.seen.as_ref().map(|seen| seen.host.clone()).filter(|_| forwards),
        path: report.seen.as_ref().map(|seen| seen.path.clone()).filter(|_| forwards),
        ..Ending::default()
    }
}

fn share_of(name: &str, percent: f64) -> ClusterShare {
    ClusterShare { name: name.into(), weight: 100, percent }
}

/// Returns the upstreams of such requests, each with its share in percent, the largest first.
pub(crate) fn shares<'r>(report: &'r NginxReport, upstream: &'r str) -> Vec<(&'r str, f64)> {
    let canary = report.canary.as_ref().map_or(0.0, |canary| canary.percent);
    let mut all = Vec::from([(upstream, 100.0 - canary)]);
    all.extend(report.canary.as_ref().map(|canary| (canary.upstream.as_str(), canary.percent)));
    all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    all
}

/// Describes the result of a request as the end of a sentence: `goes to default-web-80 as /shop/`.
#[must_use]
pub fn describe_nginx_ending(report: &NginxReport) -> String {
    match (report.outcome, &report.error) {
        (Outcome::Reset, Some(error)) => format!("is not answered: {error}"),
        (Outcome::DirectResponse | Outcome::NoRoute | Outcome::Reset, _) => match &report.why {
            Some(why) => format!("is answered {} by nginx itself: {why}", report.status),
            None => format!("is answered {} by nginx itself", report.status),
        },
        _ => nginx_ending(report).summary(),
    }
}

/// Returns the ids of the story nodes that a request passes.
#[must_use]
pub fn nginx_story_path(report: &NginxReport, model: &Nginx, story: &Graph) -> Vec<String> {
    let number = |pointer: &str, at: usize| pointer.split('/').nth(at).and_then(|number| number.parse::<usize>().ok());
    let place = report.way.iter().rev().find(|step| step.what == "location").map(|step| step.pointer.as_str()).unwrap_or_default();
    let location = number(place, 2).and_then(|at| model.servers.get(at)).and_then(|server| {
        let location = server.locations.get(number(place, 4)?)?;
        Some(format!("route:{} {} {}", location.path.value, server.host.value, location.path_type.name()))
    });
    let Some(rule) = location else { return Vec::new() };
    let upstream = report.upstream.as_ref().map(|name| format!("cluster:{name}"));
    let stands_for = |node: &GraphNode, end: &str| node.lane.is_some() && node.stands_for.iter().any(|id| id.ends_with(end));
    let rules: Vec<&str> = story.nodes.iter().filter(|node| stands_for(node, &rule)).map(|node| node.id.as_str()).collect();
    let leads_there = |node: &GraphNode| {
        let mut edges = story.edges.iter().filter(|edge| edge.relation == Relation::Forwards && edge.from == node.id);
        node.lane.is_some() && edges.any(|edge| rules.contains(&edge.to.as_str()))
    };
    let serves = |node: &GraphNode| upstream.as_ref().is_some_and(|upstream| stands_for(node, upstream));
    let hosts: Vec<&str> = story.nodes.iter().filter(|node| leads_there(node)).map(|node| node.id.as_str()).collect();
    let receives =
        |node: &GraphNode| node.lane == Some(0) && story.edges.iter().any(|edge| edge.from == node.id && hosts.contains(&edge.to.as_str()));
    let passes = |node: &&GraphNode| stands_for(node, &rule) || serves(node) || hosts.contains(&node.id.as_str()) || receives(node);
    story.nodes.iter().filter(passes).map(|node| node.id.to_string()).collect()
}
