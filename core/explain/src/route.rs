//! Routes a request and reports the result in terms of the user's lines.
//!
//! The simulation refers to places in Envoy's configuration; this module adds the origins of each place. Does not simulate; see
//! `chancery_envoy::simulate`.

use super::finding::finding;
use super::policies::{self, RequestPolicy};
use super::route_order::{self, RoutePrecedence};
use super::unmatched::{self, ServedHost, UnservedResource};
use super::{Finding, OriginView, Positions, RequestVerdict, Span};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{GatewayRef, SideRef};
use chancery_base::diagnostic::{self, Diagnostic, codes};
use chancery_base::output_map::OutputMap;
use chancery_base::resource::{ObjectId, Origin};
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::emit::Emitted;
use chancery_envoy::simulate::{Gateway, Place, Request, Simulation};

/// What happens to a request, and the origins of each step.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RouteReport {
    #[serde(flatten)]
    pub simulation: Simulation,
    /// The result on the whole way, if it was computed.
    #[serde(skip_serializing_if = "RequestVerdict::is_empty")]
    pub verdict: RequestVerdict,
    /// The origins of the report's parts. Empty for configurations with unknown origins.
    pub origins: Vec<OriginOf>,
    /// If no route matches: the available hosts, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<ServedHost>,
    /// If no route matches: resources for its host that are not served.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wanting: Vec<UnservedResource>,
    /// Values that Envoy rejects with the listener; and if the route makes Envoy answer with an error, findings in the resources that made the route.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Why the route is tried before others that would match too, if the controller's rules tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub precedence: Vec<RoutePrecedence>,
    /// The policies that count for the request, by kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<RequestPolicy>,
    /// The gateways that the request passes next, if other gateways of the same input listen at its target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<Hop>,
}

impl RouteReport {
    /// Returns the rule that puts the matched route before another route, given by its number.
    #[must_use]
    pub fn why_later(&self, route: usize) -> Option<&str> {
        self.precedence.iter().find(|of| of.over == route).map(|of| of.because.as_str())
    }
}

/// A gateway on a request's way, after the first.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Hop {
    pub gateway: String,
    /// The share of the requests that come here, in percent.
    #[serde(skip_serializing_if = "is_whole")]
    pub percent: f64,
    /// The rule between services that decides the call of the gateway before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<DecidedCall>,
    /// What happens to the request there.
    #[serde(flatten)]
    pub report: RouteReport,
}

/// The share of all requests, in percent.
const WHOLE: f64 = 100.0;

fn is_whole(percent: &f64) -> bool {
    *percent >= WHOLE
}

impl Hop {
    /// Whether all of the requests come here.
    #[must_use]
    pub fn gets_all(&self) -> bool {
        is_whole(&self.percent)
    }
}

/// The rule that decides a call between two gateways.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DecidedCall {
    pub is_allowed: bool,
    /// The rule. Missing if no rule applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The decision and its reason, as one clause.
    pub why: String,
    /// The field that decides. Missing if no rule applies.
    #[serde(flatten)]
    pub span: Option<Span>,
    /// The object that has the field.
    #[serde(skip)]
    pub object: Option<ObjectId>,
}

/// Where a part of the report comes from.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct OriginOf {
    /// The part: `listener`, `virtual_host`, `route`, `cluster NAME`, `tried N`, `shadowed N`...
    pub of: String,
    /// Its place in Envoy's configuration.
    pub pointer: String,
    /// Whether the origin is that of an enclosing place, because the part itself has none.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub around: bool,
    #[serde(flatten)]
    pub origin: OriginView,
}

/// At most this many rejected values are named.
const MOST_REJECTIONS: usize = 3;

/// Origins are given for at most this many of the tried routes, the last ones.
const TRIED: usize = 100;

/// A gateway with its origins, to route several requests.
#[derive(Clone, Copy)]
pub struct TracedGateway<'a> {
    pub side: SideRef<'a>,
    pub positions: &'a Positions<'a>,
    /// What Envoy gets.
    pub config: &'a EnvoyConfig,
    /// The objects that made it.
    pub map: &'a OutputMap,
}

impl TracedGateway<'_> {
    /// Routes a request.
    #[must_use]
    pub fn route(&self, request: &Request) -> RouteReport {
        self.route_in(&Gateway::new(self.config), request)
    }

    /// Routes a request, with an index of the configuration that several requests share.
    #[must_use]
    pub fn route_in(&self, gateway: &Gateway<'_>, request: &Request) -> RouteReport {
        let simulation = gateway.simulate_tracing(request);
        let mut report = report(simulation, |pointer| origins(self.map, pointer, self.side, self.positions));
        if unmatched::is_unserved(&report.simulation) {
            report.hosts = unmatched::served_hosts(self.config, request);
            report.wanting = unmatched::unserved_resources(self.side, self.positions, request);
        }
        report.precedence = route_order::reasons(&report.simulation, self);
        report.policies = policies::of_request(&report.simulation, self.map, self.side, self.positions);
        report.findings = self.rejections(&report.simulation);
        report.findings.retain(|finding| !report.wanting.iter().any(|of| of.why.contains(&finding.message)));
        let reasons = unmatched::reasons(&report, self.side, self.positions);
        for finding in reasons {
            if !report.findings.contains(&finding) {
                report.findings.push(finding);
            }
        }
        report
    }

    /// Returns the errors about values that Envoy rejects in the objects that made the request's listener: Envoy may reject the listener with them,
    /// and keep its last configuration.
    fn rejections(&self, simulation: &Simulation) -> Vec<Finding> {
        let mut all = self.side.diagnostics().filter(|of| *of.code == codes::REFUSED_BY_ENVOY).peekable();
        let Some(listener) = simulation.places.iter().find(|place| place.of == "listener").filter(|_| all.peek().is_some()) else {
            return Vec::new();
        };
        let made = self.map.descendants(&listener.pointer);
        let objects: BTreeSet<ObjectId> = made.iter().flat_map(|made| made.origins).map(|origin| origin.object()).collect();
        let has_made = |of: &&Diagnostic| match of.place {
            diagnostic::Place::Node { object, .. } if objects.contains(&object) => true,
            _ => self.side.objects().iter().any(|object| Some(&object.key) == of.resource.as_ref() && objects.contains(&object.id)),
        };
        all.filter(has_made).take(MOST_REJECTIONS).map(|of| finding(of, self.side.compilation, self.positions)).collect()
    }
}

/// Routes a request in a gateway.
///
/// ```
/// use chancery_base::compilation::Options;
/// use chancery_compile::Compiler;
/// use chancery_base::resource::Inputs;
/// use chancery_explain::route;
/// use chancery_envoy::simulate::{Outcome, Request};
///
/// let inputs = Inputs::one("quote.yaml", "\
/// apiVersion: getambassador.io/v3alpha1
/// kind: Mapping
/// metadata: {name: quote}
/// spec: {hostname: \"*\", prefix: /quote/, service: quote, timout_ms: 9000}
/// ");
/// let mut compiler = Compiler::new(&[&chancery_ambassador::DIALECT]);
/// let compilation = compiler.compile(&inputs, &Options::default());
///
/// let gateway = compilation.gateways().next().expect("Emissary runs one gateway");
/// let request = Request::new("GET", "http://shop.example.com/quote/1").expect("a URL");
/// let report = route(gateway, &compilation.positions(), &request, compiler.emitted.of(gateway));
/// // There is no Listener, so nothing listens on port 80.
/// assert_eq!(report.simulation.outcome, Outcome::NoListener);
/// ```
pub fn route(gateway: GatewayRef<'_>, positions: &Positions<'_>, request: &Request, emitted: &mut Emitted) -> RouteReport {
    let config = EnvoyConfig::of(gateway.ir);
    let map = chancery_envoy::emit::output_map(gateway.ir, &chancery_envoy::Options::default(), emitted);
    TracedGateway { side: gateway.of(), positions, config: &config, map: &map }.route(request)
}

/// Routes a request in a configuration with unknown origins.
pub fn route_unknown(config: &EnvoyConfig, request: &Request) -> RouteReport {
    let mut report = report(Gateway::new(config).simulate_tracing(request), |_| (true, Vec::new()));
    if unmatched::is_unserved(&report.simulation) {
        report.hosts = unmatched::served_hosts(config, request);
    }
    report
}

/// Adds origins to a simulation. `of` returns the origins of a pointer, and whether they are the origins of an enclosing place.
pub fn report(simulation: Simulation, of: impl Fn(&str) -> (bool, Vec<OriginView>)) -> RouteReport {
    let host = simulation.places.iter().find(|place| place.of == "virtual_host").map(|place| place.pointer.clone());
    let first = simulation.tried.len().saturating_sub(TRIED);
    let tried = simulation.tried.iter().skip(first).filter_map(|tried| {
        let pointer = format!("{}/routes/{}", host.as_ref()?, tried.index);
        Some(Place { of: format!("tried {}", tried.index), pointer })
    });
    let places: Vec<Place> = simulation.places.iter().cloned().chain(tried).collect();
    let origins = places.into_iter().flat_map(|place| {
        let (around, all) = of(&place.pointer);
        all.into_iter().map(move |origin| OriginOf { of: place.of.clone(), pointer: place.pointer.clone(), around, origin })
    });
    RouteReport {
        origins: origins.collect(),
        simulation,
        verdict: RequestVerdict::default(),
        hosts: Vec::new(),
        wanting: Vec::new(),
        findings: Vec::new(),
        precedence: Vec::new(),
        policies: Vec::new(),
        then: Vec::new(),
    }
}

/// Whether a place is a filter: users write its rules, not the filter itself.
fn is_filter(pointer: &str) -> bool {
    pointer.rsplit('/').nth(1).is_some_and(|list| list.ends_with("filters"))
}

/// Returns the origins within a place, the first of each object.
fn within(map: &OutputMap, pointer: &str) -> Vec<Origin> {
    let mut found: Vec<Origin> = Vec::new();
    for origin in map.descendants(pointer).iter().flat_map(|made| made.origins) {
        if origin.object() != ObjectId::BUILT_IN && !found.iter().any(|known| known.object() == origin.object()) {
            found.push(*origin);
        }
    }
    found
}

/// Returns the origins of a place, or of the nearest enclosing place that has any.
fn origins(map: &OutputMap, pointer: &str, side: SideRef<'_>, positions: &Positions<'_>) -> (bool, Vec<OriginView>) {
    let Some(made) = map.lookup(pointer) else { return (true, Vec::new()) };
    if made.pointer != pointer && is_filter(pointer) {
        let within = within(map, pointer);
        if !within.is_empty() {
            return (false, within.iter().map(|origin| OriginView::of(*origin, side, positions)).collect());
        }
    }
    (made.pointer != pointer, made.origins.iter().map(|origin| OriginView::of(*origin, side, positions)).collect())
}
