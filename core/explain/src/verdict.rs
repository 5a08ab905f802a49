//! Decides what happens to a request on its whole way, over every gateway that it passes: one verdict for all views and the command line.
//!
//! Does not simulate requests or list their steps; see `route` and `gateway_chain`.

use super::gateway_chain::{listens, route_in_one_gateway, route_through_gateways};
use super::headline::{headline, service_name, story_path};
use super::nginx::shares;
use super::permitted_request::{with_credential, with_permitted_paths};
use super::sample_request::simplest;
use super::{
    AppGatewayReport, Graph, Hop, NginxReport, Positions, RouteReport, app_gateway_ending, app_gateway_routes, app_gateway_sample_request,
    describe_app_gateway_ending, describe_nginx_ending, graph, mark_assumed, nginx_ending, nginx_routes, nginx_sample_request, route_app_gateway,
    route_nginx, routes, sample_requests, story,
};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_app_gateway::route as appgw;
use chancery_base::compilation::{AppGatewayRef, Compilation, GatewayRef, NamedGateway, NginxRef, SideRef};
use chancery_compile::EmittedByGateway;
use chancery_envoy::config::{ByPointer, EnvoyConfig};
use chancery_envoy::simulate::{Ending, LostShare, Outcome, Request, SavedRequest, Simulation, Verdict, WrittenRequest, percent};

/// The result of a request on its whole way.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RequestVerdict {
    /// In the user's terms, for example `90 % cart:8080, 10 % cart-next:8080, as /1`.
    pub sentence: String,
    /// Whether it reaches a service or a redirect, or the gateway itself answers it without an error.
    pub good: bool,
    pub outcome: Outcome,
    /// The status of a response that a gateway makes itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u32>,
    /// The gateway that ends the request, if it is not the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl RequestVerdict {
    /// Whether no verdict was computed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sentence.is_empty()
    }
}

/// A running gateway of any kind.
#[derive(Clone, Copy, Debug)]
pub enum RunningGateway<'a> {
    Envoy(GatewayRef<'a>),
    AppGateway(AppGatewayRef<'a>),
    Nginx(NginxRef<'a>),
}

impl<'a> RunningGateway<'a> {
    /// Returns all running gateways, side by side.
    #[must_use]
    pub fn all(compilation: &'a Compilation) -> Vec<Self> {
        compilation.sides().flat_map(Self::of_side).collect()
    }

    /// Returns the running gateways of a side.
    #[must_use]
    pub fn of_side(side: SideRef<'a>) -> Vec<Self> {
        let others = side.app_gateways().map(Self::AppGateway).chain(side.nginxes().map(Self::Nginx));
        side.gateways().map(Self::Envoy).chain(others).collect()
    }

    /// Returns its name and side.
    #[must_use]
    pub fn named(self) -> NamedGateway<'a> {
        match self {
            Self::Envoy(gateway) => gateway.named(),
            Self::AppGateway(gateway) => gateway.named,
            Self::Nginx(gateway) => gateway.named,
        }
    }

    /// Returns the gateway of the same side that receives a request: this gateway, unless the request names a port at which only another listens.
    #[must_use]
    pub fn receiver(self, request: &Request) -> Self {
        let Self::Envoy(gateway) = self else { return self };
        let Some(port) = request.port.or(request.url_port) else { return self };
        let takes = |of: &GatewayRef<'_>| listens(of.ir, request.destination, port);
        match takes(&gateway) {
            true => self,
            false => gateway.of().gateways().find(takes).map_or(self, Self::Envoy),
        }
    }

    /// Simulates a request from this gateway to the end of its way. `names` is a story of the graph, which has the user's names of clusters.
    pub fn route(self, positions: &Positions<'_>, request: &Request, emitted: &mut EmittedByGateway, names: &Graph) -> RequestReport {
        let compilation = self.named().of.compilation;
        match self {
            Self::Envoy(gateway) => {
                let mut report = route_through_gateways(gateway, positions, request, emitted.of(gateway));
                report.verdict = envoy_verdict(&report, request, names);
                RequestReport::Envoy(Box::new(report))
            }
            Self::AppGateway(gateway) => {
                let mut report = route_app_gateway(gateway, positions, request);
                report.verdict = app_gateway_verdict(&report, names);
                report.verdict.sentence = mark_assumed(compilation, &report.verdict.sentence);
                RequestReport::AppGateway(Box::new(report))
            }
            Self::Nginx(gateway) => {
                let mut report = route_nginx(gateway, positions, request);
                report.verdict = nginx_verdict(&report, names);
                report.verdict.sentence = mark_assumed(compilation, &report.verdict.sentence);
                RequestReport::Nginx(Box::new(report))
            }
        }
    }

    /// Simulates a request in this gateway only.
    pub fn route_alone(self, positions: &Positions<'_>, request: &Request, emitted: &mut EmittedByGateway, names: &Graph) -> RequestReport {
        let Self::Envoy(gateway) = self else { return self.route(positions, request, emitted, names) };
        let mut report = route_in_one_gateway(gateway, positions, request, emitted.of(gateway));
        report.verdict = envoy_verdict(&report, request, names);
        RequestReport::Envoy(Box::new(report))
    }
}

/// Returns the overview of the graph, which has the user's names of clusters.
#[must_use]
pub fn overview(compilation: &Compilation, positions: &Positions<'_>) -> Graph {
    story(&graph(compilation, positions), false)
}

/// What happens to a request in a gateway of any kind.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum RequestReport {
    Envoy(Box<RouteReport>),
    AppGateway(Box<AppGatewayReport>),
    Nginx(Box<NginxReport>),
}

impl RequestReport {
    #[must_use]
    pub fn verdict(&self) -> &RequestVerdict {
        match self {
            Self::Envoy(report) => &report.verdict,
            Self::AppGateway(report) => &report.verdict,
            Self::Nginx(report) => &report.verdict,
        }
    }

    /// Returns how the request ends on its whole way.
    #[must_use]
    pub fn ending(&self) -> Ending {
        match self {
            Self::Envoy(report) => envoy_ending(report),
            Self::AppGateway(report) => app_gateway_ending(&report.journey),
            Self::Nginx(report) => nginx_ending(report),
        }
    }

    /// Compares the result with the expectation of a saved request.
    #[must_use]
    pub fn judge(&self, saved: &SavedRequest) -> Verdict {
        let ending = self.ending();
        let server = match self {
            Self::Envoy(_) => "Envoy",
            Self::AppGateway(_) => "the gateway",
            Self::Nginx(_) => "nginx",
        };
        let now = self.verdict().sentence.clone();
        let is_refused = matches!(self, Self::Nginx(report) if report.refused.is_some());
        let holds = ending == saved.expected && !is_refused;
        Verdict { holds, expected: if holds { now.clone() } else { saved.expected.summary_at(server) }, now, ending: Some(ending) }
    }
}

/// Whether requests with this outcome are served. The gateway's own response is meant if its status is no error.
fn is_good(outcome: Outcome, status: Option<u32>) -> bool {
    match outcome {
        Outcome::Forward | Outcome::Redirect => true,
        Outcome::DirectResponse => status.is_some_and(|status| status < 400),
        _ => false,
    }
}

/// Returns the gateways after the first that do not forward the request.
fn ending_hops(report: &RouteReport) -> impl Iterator<Item = &Hop> {
    let is_forwarded = report.simulation.outcome == Outcome::Forward;
    report.then.iter().filter(move |hop| is_forwarded && hop.report.simulation.outcome != Outcome::Forward)
}

/// Returns the simulation that ends all of the requests, and its gateway if it is not the first.
fn deciding(report: &RouteReport) -> (Option<&Hop>, &Simulation) {
    let whole = ending_hops(report).find(|hop| hop.gets_all());
    whole.map_or((None, &report.simulation), |hop| (Some(hop), &hop.report.simulation))
}

/// Returns how a request ends after all Envoys on its way.
#[must_use]
pub fn envoy_ending(report: &RouteReport) -> Ending {
    match deciding(report) {
        (Some(hop), simulation) => Ending { at: Some(hop.gateway.clone()), ..Ending::of(simulation) },
        (None, simulation) => {
            let lost = |hop: &Hop| LostShare { percent: hop.percent, at: hop.gateway.clone(), status: hop.report.simulation.status };
            Ending { lost: ending_hops(report).map(lost).collect(), ..Ending::of(simulation) }
        }
    }
}

/// The filter of conditions of a TLS handshake.
const HANDSHAKE: &str = "tls";

/// The status of requests that access rules deny.
const DENIED: u32 = 403;

/// Returns the verdict on a request that Envoys get.
#[must_use]
pub fn envoy_verdict(report: &RouteReport, request: &Request, names: &Graph) -> RequestVerdict {
    let (hop, simulation) = deciding(report);
    let start = headline(report, request, names);
    let lost: Vec<String> = ending_hops(report).map(describe_loss).collect();
    let sentence = if lost.is_empty() { format!("{start}{}", conditions(report)) } else { format!("{start}, but {}", lost.join(", and ")) };
    // gRPC clients get errors with the status 200.
    let good = is_good(simulation.outcome, simulation.status.filter(|_| simulation.grpc_status.is_none())) && lost.is_empty();
    RequestVerdict { sentence, good, outcome: simulation.outcome, status: simulation.status, at: hop.map(|hop| hop.gateway.clone()) }
}

/// Describes a later gateway that ends a share of the requests, as the end of a sentence.
fn describe_loss(hop: &Hop) -> String {
    let simulation = &hop.report.simulation;
    let end = match hop.call.as_ref().filter(|call| !call.is_allowed && simulation.status == Some(DENIED)) {
        Some(call) => format!("{} ({DENIED})", call.why),
        None => format!("{} {}", hop.gateway, describe_end(simulation)),
    };
    if hop.gets_all() { end } else { format!("{}% of them fail: {end}", percent(hop.percent)) }
}

/// Returns the external decisions that the result depends on, as the end of a sentence.
fn conditions(report: &RouteReport) -> String {
    if report.simulation.outcome != Outcome::Forward {
        return String::new();
    }
    // The CA of a mesh issues the certificates of both ends of a call.
    let of_hop = |hop: &Hop| {
        hop.report
            .simulation
            .conditions
            .iter()
            .filter(|condition| hop.call.is_none() || condition.filter != HANDSHAKE)
            .map(|condition| condition.wants.clone())
            .collect::<Vec<_>>()
    };
    let first = report.simulation.conditions.iter().map(|condition| condition.wants.clone());
    let mut wants: Vec<String> = Vec::new();
    first.chain(report.then.iter().flat_map(of_hop)).for_each(|of| {
        if !wants.contains(&of) {
            wants.push(of)
        }
    });
    let mut by: Vec<String> = Vec::new();
    let rules = report.then.iter().filter_map(|hop| hop.call.as_ref()?.by.as_ref()).map(|by| format!(", by {by}"));
    rules.for_each(|of| {
        if !by.contains(&of) {
            by.push(of)
        }
    });
    if wants.is_empty() { by.concat() } else { format!("{}, if {}", by.concat(), wants.join(" and ")) }
}

/// Describes the end of a request in a gateway, as the end of a sentence that begins with the gateway.
fn describe_end(simulation: &Simulation) -> String {
    let status = simulation.status.map(|status| format!(" {status}")).unwrap_or_default();
    let what = match simulation.outcome {
        Outcome::Forward => "forwards it".into(),
        Outcome::Redirect => format!("redirects it{status} to {}", simulation.location.as_deref().unwrap_or_default()),
        Outcome::DirectResponse => format!("answers{status}"),
        Outcome::NoRoute | Outcome::NoVirtualHost => format!("has no route for it and answers{status}"),
        Outcome::Reset => "closes the connection".into(),
        Outcome::NoFilterChain => "has no filter chain for it and closes the connection".into(),
        Outcome::NoListener => "has no listener for it".into(),
    };
    let why = simulation.why.as_ref().filter(|_| simulation.outcome != Outcome::Redirect);
    why.map_or_else(|| what.clone(), |why| format!("{what}: {}", why.trim_end_matches('.')))
}

fn app_gateway_verdict(report: &AppGatewayReport, names: &Graph) -> RequestVerdict {
    let ending = app_gateway_ending(&report.journey);
    let sentence = match &report.journey.ending {
        appgw::Ending::Forwarded { pool, addresses, port, path, .. } => {
            let to = addresses.iter().map(|address| format!("{address}:{port}")).collect::<Vec<_>>().join(", ");
            match service_name(names, pool) {
                service if service == pool.as_str() => format!("{to}, as {path}"),
                service => format!("{service} at {to}, as {path}"),
            }
        }
        appgw::Ending::Redirected { .. } | appgw::Ending::Refused { .. } => describe_app_gateway_ending(&report.journey),
    };
    RequestVerdict { sentence, good: is_good(ending.outcome, ending.status), outcome: ending.outcome, status: ending.status, at: None }
}

fn nginx_verdict(report: &NginxReport, names: &Graph) -> RequestVerdict {
    let ending = nginx_ending(report);
    let sentence = match (&report.seen, &report.upstream) {
        (Some(seen), Some(upstream)) => {
            let at = seen.endpoint.as_ref().map(|endpoint| format!(" at {endpoint}")).unwrap_or_default();
            let to = match &shares(report, upstream)[..] {
                [(one, _)] => format!("{}{at}", service_name(names, one)),
                shares => {
                    let all: Vec<String> = shares.iter().map(|(name, share)| format!("{}% {}", percent(*share), service_name(names, name))).collect();
                    all.join(", ")
                }
            };
            format!("{to}, as {}", seen.path)
        }
        _ => describe_nginx_ending(report),
    };
    let (sentence, good) = match &report.refused {
        Some(refused) => (format!("nginx refuses this configuration, and the previous one answers: {}", refused.why), false),
        None => (sentence, is_good(ending.outcome, ending.status)),
    };
    RequestVerdict { sentence, good, outcome: ending.outcome, status: ending.status, at: None }
}

/// Simulates a saved request and compares the result. A request that cannot be read fails.
pub fn judge(gateway: RunningGateway<'_>, positions: &Positions<'_>, saved: &SavedRequest, emitted: &mut EmittedByGateway, names: &Graph) -> Verdict {
    match saved.request.read() {
        Ok(request) => gateway.receiver(&request).route(positions, &request, emitted, names).judge(saved),
        Err(why) => Verdict { holds: false, expected: saved.expected.summary(), now: why.to_string(), ending: None },
    }
}

/// Returns the ids of the story nodes that a request passes in all Envoys on its way. `config` is the configuration of the first.
#[must_use]
pub fn whole_story_path(gateway: GatewayRef<'_>, report: &RouteReport, config: &EnvoyConfig, story: &Graph) -> Vec<String> {
    let mut out = story_path(report, &ByPointer::of(config), story);
    for hop in &report.then {
        let Some(of) = gateway.of().gateways().find(|of| of.id.as_str() == hop.gateway) else { continue };
        let config = EnvoyConfig::of(of.ir);
        for id in story_path(&hop.report, &ByPointer::of(&config), story) {
            if !out.contains(&id) {
                out.push(id);
            }
        }
    }
    out
}

/// At most this many requests are suggested.
const MOST_SUGGESTED: usize = 4;

/// Returns requests that a user may try first: each reaches a service by another rule. If all rules of an Envoy redirect, each is redirected. `parts`
/// indexes the configuration of an Envoy, `verdict` simulates a request.
pub fn suggested_requests(
    gateway: RunningGateway<'_>,
    parts: &ByPointer<'_>,
    mut verdict: impl FnMut(&WrittenRequest) -> Option<RequestVerdict>,
) -> Vec<WrittenRequest> {
    let candidates = match gateway {
        RunningGateway::Envoy(of) => {
            let forwarded = sample_requests(&|| routes(of), "forward", parts);
            if forwarded.is_empty() {
                let redirected = sample_requests(&|| routes(of), "redirect", parts).into_iter();
                return redirected.filter(|written| verdict(written).is_some_and(|verdict| verdict.good)).take(MOST_SUGGESTED).collect();
            }
            forwarded
        }
        RunningGateway::AppGateway(of) => {
            let rows = app_gateway_routes(of);
            simplest(rows.iter().filter(|row| row.action == "forward").filter_map(|row| app_gateway_sample_request(&rows, Some(&row.pointer))))
        }
        RunningGateway::Nginx(of) => {
            let rows = nginx_routes(of);
            simplest(rows.iter().filter(|row| row.action == "forward").filter_map(|row| nginx_sample_request(&rows, Some(&row.pointer))))
        }
    };
    candidates.into_iter().filter_map(|written| served_request(gateway, written, &mut verdict)).take(MOST_SUGGESTED).collect()
}

/// Returns the request if it reaches a service. If it lacks a credential, or access rules deny it, returns it with a placeholder for the credential, or
/// with a path that the rules name, if that reaches a service.
pub fn served_request(
    gateway: RunningGateway<'_>,
    written: WrittenRequest,
    verdict: &mut dyn FnMut(&WrittenRequest) -> Option<RequestVerdict>,
) -> Option<WrittenRequest> {
    let is_served = |verdict: &RequestVerdict| verdict.good && verdict.outcome == Outcome::Forward;
    let first = verdict(&written)?;
    if is_served(&first) {
        return Some(written);
    }
    let RunningGateway::Envoy(gateway) = gateway else { return None };
    let denying = match &first.at {
        Some(at) => gateway.of().gateways().find(|of| of.id.as_str() == at)?,
        None => gateway,
    };
    let config = EnvoyConfig::on_demand(denying.ir);
    let with_credential = with_credential(&written, &config);
    let others = with_credential.into_iter().chain(with_permitted_paths(&written, &config));
    others.into_iter().find(|written| verdict(written).is_some_and(|of| is_served(&of)))
}

#[cfg(test)]
mod tests;
