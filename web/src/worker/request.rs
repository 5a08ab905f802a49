//! Describes the result of a request as steps: each with its name, its lines, and why other candidates did not match. Does not simulate the request;
//! see `chancery_core::simulate`.

use crate::protocol::{Hop, Reason, RouteVerdict, Sent, Span, Step, Tried, Wanting, Way, WrittenRequest};
use crate::worker::common::span;
use crate::worker::step_nodes::{add_nodes, call_step};
use crate::worker::{app_gateway, nginx};
use chancery_core::backend::OutputMap;
use chancery_core::compilation::GatewayRef;
use chancery_core::compile::EmittedByGateway;
use chancery_core::envoy_config::{ByPointer, EnvoyConfig};
use chancery_core::explain::{
    self, Contribution, Graph, MeshDestination, Positions, RequestReport, RequestVerdict, RouteReport, RunningGateway, ServedHost, TracedGateway,
};
use chancery_core::resource::ObjectId;
use chancery_core::simulate::{self, ClientAddress, Ending, HeaderChange, Outcome, Request, RouteShare, SavedRequest, Verdict, WiderRoute, percent};
use std::collections::HashMap;
use std::sync::Arc;

/// The largest number of hosts to suggest if no host matches.
const MOST_HOSTS: usize = 8;

/// The largest number of unmatched candidates to list. If there are more, the last ones are listed.
const MOST_TRIED: usize = 200;

/// The largest number of lines per step.
const MOST_SPANS: usize = 3;

/// Simulates requests in the shown gateway, and in the gateways that a request passes after it.
pub struct Router<'a> {
    pub shown: RunningGateway<'a>,
    pub positions: &'a Positions<'a>,
    /// The configuration of the shown gateway, and which objects produced it.
    pub config: &'a Arc<EnvoyConfig>,
    pub map: &'a OutputMap,
    pub overview: &'a Graph,
    /// The number of each route in the list of routes, by pointer.
    pub numbers: Option<&'a HashMap<String, u32>>,
}

impl<'a> Router<'a> {
    /// The gateway that receives a request, and the report from there.
    fn report(&self, request: &Request) -> (RunningGateway<'a>, RequestReport) {
        let receiver = self.shown.receiver(request);
        if let (RunningGateway::Envoy(gateway), true) = (receiver, receiver.named().id == self.shown.named().id)
            && gateway.of().gateways().nth(1).is_none()
        {
            // A single gateway has no next gateway, and its documents are known.
            let ground = TracedGateway { side: gateway.of(), positions: self.positions, config: self.config, map: self.map };
            let mut report = ground.route(request);
            report.verdict = explain::envoy_verdict(&report, request, self.overview);
            return (receiver, RequestReport::Envoy(Box::new(report)));
        }
        (receiver, receiver.route(self.positions, request, &mut EmittedByGateway::default(), self.overview))
    }

    /// Simulates a request and describes its steps.
    pub fn way(&self, written: &WrittenRequest) -> Result<Way, String> {
        let request = written.read()?;
        let (receiver, report) = self.report(&request);
        let (verdict, ending) = (report.verdict().clone(), report.ending());
        let is_shown = receiver.named().id == self.shown.named().id;
        let mut way = match report {
            RequestReport::Envoy(report) => self.envoy_way(receiver, *report),
            RequestReport::AppGateway(report) => app_gateway::way(&report, self.overview, &request.method),
            RequestReport::Nginx(report) => match receiver {
                RunningGateway::Nginx(of) => nginx::way(&report, of.nginx, self.overview),
                RunningGateway::Envoy(_) | RunningGateway::AppGateway(_) => Way::default(),
            },
        };
        if let Some(numbers) = self.numbers.filter(|_| is_shown) {
            for tried in way.steps.iter_mut().flat_map(|step| &mut step.tried) {
                tried.number = tried.pointer.as_ref().and_then(|pointer| numbers.get(pointer)).copied().unwrap_or_default();
            }
        }
        if !is_shown {
            way.steps.iter_mut().for_each(forget_pointers);
            way.gateway = Some(receiver.named().id.to_string());
        }
        add_nodes(&mut way, self.overview);
        Ok(Way { headline: verdict.sentence, good: verdict.good, status: verdict.status, ending, ..way })
    }

    fn envoy_way(&self, receiver: RunningGateway<'_>, report: RouteReport) -> Way {
        let steps = Walk::steps(&report, &Ending::of(&report.simulation));
        let RunningGateway::Envoy(gateway) = receiver else { return Way::default() };
        let is_shown = receiver.named().id == self.shown.named().id;
        let config = if is_shown { self.config.clone() } else { Arc::new(EnvoyConfig::on_demand(gateway.ir)) };
        let nodes = explain::whole_story_path(gateway, &report, &config, self.overview);
        let hosts = nearest_hosts(&report, gateway, &config);
        let wanting = wanting(&report);
        let (reasons, then) = (reasons(&report), report.then.iter().map(hop).collect());
        Way { nodes, steps, hosts, wanting, reasons, notes: report.simulation.notes, then, ..Way::default() }
    }

    /// Compares saved requests with their expectations.
    pub fn judge(&self, saved: &[SavedRequest]) -> Vec<Verdict> {
        let judge = |saved: &SavedRequest| match saved.request.read() {
            Ok(request) => self.report(&request).1.judge(saved),
            Err(why) => Verdict { holds: false, expected: saved.expected.summary(), now: why, ending: None },
        };
        saved.iter().map(judge).collect()
    }

    /// The part of an object in a request, if the shown gateway is an Envoy.
    pub fn contributions(&self, written: &WrittenRequest, object: ObjectId) -> Vec<Contribution> {
        let (RunningGateway::Envoy(gateway), Ok(request)) = (self.shown, written.read()) else { return Vec::new() };
        let (_, RequestReport::Envoy(report)) = self.report(&request) else { return Vec::new() };
        explain::contributions(gateway, self.positions, self.map, &report, object)
    }

    /// Requests that reach a service.
    pub fn suggestions(&self) -> Vec<WrittenRequest> {
        explain::suggested_requests(self.shown, &ByPointer::of(self.config), |written| self.verdict(written))
    }

    /// The services that the shown proxy of a mesh reaches, each with a request that reaches it, if there is one.
    pub fn destinations(&self) -> Vec<MeshDestination> {
        let RunningGateway::Envoy(gateway) = self.shown else { return Vec::new() };
        let mut all = explain::mesh_destinations(explain::routes(gateway), self.config);
        for destination in &mut all {
            let served = explain::served_request(self.shown, destination.request.clone(), &mut |written| self.verdict(written));
            destination.request = served.unwrap_or_else(|| destination.request.clone());
        }
        all
    }

    /// The verdict on the first request that is served, or on the first request.
    pub fn first_good(&self, requests: Vec<WrittenRequest>) -> Option<RouteVerdict> {
        let verdict = |written: WrittenRequest| {
            let RequestVerdict { sentence, good, .. } = self.verdict(&written)?;
            Some(RouteVerdict { url: written.url, sentence, good })
        };
        let all: Vec<RouteVerdict> = requests.into_iter().filter_map(verdict).collect();
        let at = all.iter().position(|verdict| verdict.good).unwrap_or_default();
        all.into_iter().nth(at)
    }

    /// The verdict on a request.
    fn verdict(&self, written: &WrittenRequest) -> Option<RequestVerdict> {
        Some(self.report(&written.read().ok()?).1.verdict().clone())
    }
}

/// Removes the pointers of a step: the page shows another gateway.
fn forget_pointers(step: &mut Step) {
    step.pointer = None;
    step.tried.iter_mut().for_each(|tried| tried.pointer = None);
}

/// A gateway after the first.
fn hop(of: &explain::Hop) -> Hop {
    let ending = Ending::of(&of.report.simulation);
    let mut steps = Walk::steps(&of.report, &ending);
    steps.iter_mut().for_each(forget_pointers);
    steps.splice(0..0, of.call.as_ref().map(call_step));
    Hop { gateway: of.gateway.clone(), result: ending.summary(), good: matches!(ending.outcome, Outcome::Forward | Outcome::Redirect), steps }
}

/// If no route matches: URLs of the nearest served hosts that some route matches.
fn nearest_hosts(report: &RouteReport, gateway: GatewayRef<'_>, config: &EnvoyConfig) -> Vec<String> {
    let all: Vec<&ServedHost> = report.hosts.iter().take(MOST_HOSTS).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = all.iter().map(|of| of.host.as_str()).collect();
    let samples = explain::sample_requests_for_hosts(explain::routes(gateway), &names, &ByPointer::of(config));
    let url = |(of, sample): (&&ServedHost, Option<WrittenRequest>)| {
        let sample = sample?;
        let usual = if of.tls { 443 } else { 80 };
        let port = if of.port == usual { String::new() } else { format!(":{}", of.port) };
        let path = sample.url.split_once("://")?.1.split_once('/').map_or("", |(_, path)| path);
        Some(format!("{}://{}{port}/{path}", if of.tls { "https" } else { "http" }, explain::named_host(&of.host)))
    };
    all.iter().zip(samples).filter_map(url).collect()
}

/// If no route matches: resources for the host that are not served.
fn wanting(report: &RouteReport) -> Vec<Wanting> {
    let wanting = report.wanting.iter().map(|of| Wanting {
        resource: of.resource.to_string(),
        state: of.state.into(),
        why: of.why.clone(),
        span: of.span.as_ref().map(span),
    });
    wanting.collect()
}

/// The findings that explain why the route returns an error.
fn reasons(report: &RouteReport) -> Vec<Reason> {
    let reason = |of: &explain::Finding| Reason { severity: of.severity.into(), message: of.message.clone(), span: of.span.as_ref().map(span) };
    report.findings.iter().map(reason).collect()
}

struct Walk<'a> {
    report: &'a RouteReport,
    steps: Vec<Step>,
}

fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

impl<'a> Walk<'a> {
    /// The steps of a request in one gateway.
    fn steps(report: &'a RouteReport, ending: &Ending) -> Vec<Step> {
        let mut walk = Self { report, steps: Vec::new() };
        walk.connection();
        walk.host();
        walk.routes();
        walk.end(ending);
        walk.clusters();
        walk.policies();
        walk.filters();
        walk.steps
    }

    fn simulation(&self) -> &'a simulate::Simulation {
        &self.report.simulation
    }

    /// A step with the JSON pointer and the lines of its part.
    fn step(&self, what: &str, name: &str, of: &str) -> Step {
        let places = &self.simulation().places;
        let pointer = places.iter().find(|place| place.of == of).map(|place| place.pointer.clone());
        Step { what: what.into(), name: name.into(), pointer, spans: self.spans(of), ..Step::default() }
    }

    fn spans(&self, of: &str) -> Vec<Span> {
        let all = self.report.origins.iter().filter(|origin| origin.of == of).filter_map(|origin| origin.origin.span.as_ref());
        let mut out: Vec<Span> = Vec::new();
        for span in all.map(span) {
            if out.len() < MOST_SPANS && !out.iter().any(|known| known.file == span.file && known.line == span.line) {
                out.push(span);
            }
        }
        out
    }

    fn connection(&mut self) {
        let simulation = self.simulation();
        let Some(connection) = &simulation.connection else { return };
        let mut step = self.step("Listener", simulation.listener.as_deref().unwrap_or_default(), "listener");
        let why = connection.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        step.facts.push(format!("bound to {}{why}", connection.address));
        self.steps.push(step);
        let mut step = self.step("Filter chain", simulation.filter_chain.as_deref().unwrap_or("none"), "filter_chain");
        step.lost = simulation.filter_chain.is_none();
        let failed = |chain: &simulate::TriedChain| {
            let failed = chain.failed.as_ref()?;
            let (matcher, expected, seen) = match failed.reason() {
                Some(reason) => (String::new(), reason, None),
                None => (failed.matcher.clone(), failed.expected.clone(), failed.seen.clone()),
            };
            Some(Tried { name: chain.name.clone(), matcher, expected, seen, ..Tried::default() })
        };
        step.tried = connection.chains.iter().filter_map(failed).collect();
        if let Some(taken) = connection.chains.iter().find(|chain| chain.matched) {
            let wanted = if taken.criteria.is_empty() { "it matches any connection".into() } else { taken.criteria.join(", ") };
            step.facts.push(wanted);
        }
        step.settings = connection.settings.iter().map(|setting| (setting.name.clone(), setting.value.clone())).collect();
        self.steps.push(step);
    }

    fn host(&mut self) {
        let simulation = self.simulation();
        let Some(host) = &simulation.host else { return };
        let mut step = self.step("Virtual host", simulation.virtual_host.as_deref().unwrap_or("none"), "virtual_host");
        step.facts = simulation
            .seen
            .iter()
            .flat_map(|seen| seen.client_address.iter().map(ClientAddress::words).chain(seen.changes.iter().cloned()))
            .collect();
        let all = counted(host.of, "virtual host");
        step.facts.push(match (&host.domain, host.by) {
            (Some(domain), Some("exact")) => format!("it has the domain {domain}"),
            (Some(_), Some("any")) => format!("it matches every host; none of {all} has {}", host.looked_for),
            (Some(domain), _) => format!("{} is in {domain}", host.looked_for),
            (None, _) => format!("none of {all} has {}", host.looked_for),
        });
        step.lost = host.domain.is_none();
        self.steps.push(step);
    }

    fn routes(&mut self) {
        let simulation = self.simulation();
        if simulation.host.as_ref().is_none_or(|host| host.domain.is_none()) {
            return;
        }
        let of = simulation.host.as_ref().map_or(0, |host| host.routes);
        let mut step = self.step("Routes", &format!("{} of {of} tried", simulation.tried.len()), "");
        step.lost = simulation.route.is_none();
        let host = simulation.places.iter().find(|place| place.of == "virtual_host").map(|place| place.pointer.as_str());
        let tried = |tried: &simulate::TriedRoute| {
            let mut failed = tried.failed.clone().unwrap_or_default();
            if let Some(reason) = failed.reason() {
                failed = simulate::Failed { expected: reason, ..simulate::Failed::default() };
            }
            // The route's own row shows the path already.
            let own = tried.path == format!("{} {}", failed.matcher, failed.expected);
            Tried {
                number: 0,
                name: match tried.odds {
                    Some(odds) => format!("{}, {}% of requests", tried.path, percent(odds)),
                    None => tried.path.clone(),
                },
                taken: tried.matched,
                far: matches!(failed.matcher.as_str(), "prefix" | "path" | "path_separated_prefix"),
                matcher: if own { String::new() } else { failed.matcher },
                expected: if own { String::new() } else { failed.expected },
                seen: failed.seen,
                pointer: host.map(|host| format!("{host}/routes/{}", tried.index)),
                span: self.spans(&format!("tried {}", tried.index)).into_iter().next(),
            }
        };
        let first = simulation.tried.len().saturating_sub(MOST_TRIED);
        step.tried = simulation.tried.iter().skip(first).map(tried).collect();
        if first > 0 {
            step.facts.push(format!("{} before these did not match", counted(first, "route")));
        }
        step.facts.extend(simulation.shares.iter().map(RouteShare::words));
        step.facts.extend(simulation.wider.iter().map(WiderRoute::words));
        if let Some(shadowed) = simulation.shadowed.first() {
            let more = if simulation.shadowed.len() > 1 { format!(" and {} more", simulation.shadowed.len() - 1) } else { String::new() };
            let because = self.report.why_later(shadowed.index).map(|because| format!(": {because}")).unwrap_or_default();
            step.facts.push(format!("after it, {}{more} would also match{because}", shadowed.path));
        }
        self.steps.push(step);
    }

    fn end(&mut self, ending: &Ending) {
        let simulation = self.simulation();
        let (what, name) = match simulation.outcome {
            Outcome::Forward => ("Forward", simulation.route.as_ref().map(|route| route.path.clone()).unwrap_or_default()),
            Outcome::Redirect => ("Redirect", simulation.location.clone().unwrap_or_default()),
            _ => ("End", String::new()),
        };
        let mut step = self.step(what, &name, "route");
        step.lost = !matches!(simulation.outcome, Outcome::Forward | Outcome::Redirect);
        // The reason already says that the connection is closed.
        if !matches!(simulation.outcome, Outcome::Forward | Outcome::Reset | Outcome::NoFilterChain) {
            step.facts.push(format!("the request {}", ending.summary()));
        }
        for condition in &simulation.conditions {
            step.facts.push(format!("if {}", condition.wants));
            step.facts.extend(condition.sent.clone());
        }
        step.facts.extend(simulation.why.clone());
        step.facts.extend(simulation.body.as_ref().map(|body| format!("with the body {body:?}")));
        if let Some(upstream) = &simulation.upstream {
            let plain = |line: String| Sent { line, ..Sent::default() };
            step.sent.push(plain(format!("{} {}", upstream.method, upstream.path)));
            step.sent.push(plain(format!("host: {}", upstream.authority)));
            step.sent.extend(upstream.headers_added.iter().map(change));
            step.sent.extend(upstream.headers_removed.iter().map(|name| Sent { line: name.clone(), sign: "-".into(), ..Sent::default() }));
            step.sent.extend(upstream.headers_by_envoy.iter().map(change));
        }
        let timeout = simulation.timeout.as_deref().map(|timeout| if timeout == "0s" { "none" } else { timeout });
        step.settings.extend(timeout.map(|timeout| ("timeout".to_string(), timeout.to_string())));
        step.settings.extend(simulation.settings.iter().map(|setting| (setting.name.clone(), setting.value.clone())));
        for header in &simulation.response_headers {
            step.settings.push((format!("response header {}", header.name), header.value.clone().unwrap_or_else(|| "removed".into())));
        }
        self.steps.push(step);
    }

    fn clusters(&mut self) {
        let simulation = self.simulation();
        for share in &simulation.clusters {
            let what = if simulation.clusters.len() > 1 { format!("Cluster, {}%", percent(share.percent)) } else { "Cluster".into() };
            let mut step = self.step(&what, &share.name, &format!("cluster {}", share.name));
            if let Some(view) = simulation.upstream_clusters.iter().find(|view| view.name == share.name) {
                step.lost = !view.known;
                if !view.known {
                    step.facts.push("the cluster does not exist".into());
                } else {
                    let endpoints = match view.endpoints.len() {
                        0 => "unknown endpoints".into(),
                        1..=4 => view.endpoints.join(", "),
                        more => format!("{} and {} more", view.endpoints.iter().take(3).cloned().collect::<Vec<_>>().join(", "), more - 3),
                    };
                    step.facts.push(format!("{endpoints}; {} {}", view.discovery, view.load_balancing));
                    step.settings.extend(view.tls.iter().map(|tls| ("TLS".to_string(), tls.clone())));
                    step.settings.extend(view.circuit_breakers.iter().map(|limit| ("circuit breakers".to_string(), limit.clone())));
                    step.settings.extend(view.settings.iter().map(|setting| (setting.name.clone(), setting.value.clone())));
                }
            }
            self.steps.push(step);
        }
    }

    fn policies(&mut self) {
        let policies = &self.report.policies;
        if policies.is_empty() {
            return;
        }
        let name = if policies.len() == 1 { "1 policy".to_owned() } else { format!("{} policies", policies.len()) };
        let mut step = self.step("Policies", &name, "");
        for policy in policies {
            step.facts.push(format!("{} {} {}", policy.resource.kind, policy.resource.name, policy.summary()));
            step.facts.extend(policy.replacements().map(|(sentence, _)| format!("It {sentence}")));
        }
        let lines = policies.iter().filter_map(|policy| policy.settings.first()?.span.as_ref());
        step.spans = lines.take(MOST_SPANS).map(span).collect();
        self.steps.push(step);
    }

    fn filters(&mut self) {
        let simulation = self.simulation();
        // The router filter alone is not worth a step.
        if simulation.filters.len() < 2 {
            return;
        }
        let mut step = self.step("HTTP filters", &counted(simulation.filters.len(), "filter"), "");
        let does = |filter: &simulate::FilterStep| match (filter.enabled, &filter.does) {
            (false, _) => "off for this request".to_string(),
            (true, does) => does.clone().unwrap_or_default(),
        };
        step.settings = simulation.filters.iter().map(|filter| (filter.name.clone(), does(filter))).collect();
        self.steps.push(step);
    }
}

fn change(of: &HeaderChange) -> Sent {
    Sent {
        line: of.value.as_ref().map_or_else(|| of.name.clone(), |value| format!("{}: {value}", of.name)),
        sign: if of.action == "remove" { "-" } else { "+" }.into(),
        by: of.level.replace('_', " "),
    }
}
