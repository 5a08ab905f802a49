//! What becomes of a request, in terms of the user's lines.
//!
//! The simulation speaks of Envoy's configuration; here every place of it gets its origins.
//!
//! What must not be here: how requests are routed, and rendering.

use super::unserved::{self, HostThere, UnservedResource};
use super::{Finding, OriginView, Positions};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{GatewayRef, SideRef};
use chancery_base::output_map::OutputMap;
use chancery_base::resource::{ObjectId, Origin};
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::emit::Emitted;
use chancery_envoy::simulate::{Gateway, Place, Request, Simulation};

/// What becomes of a request, and from where.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RouteReport {
    /// What becomes of it.
    #[serde(flatten)]
    pub simulation: Simulation,
    /// Where what the report says comes from. Empty for configurations that nothing is known of.
    pub origins: Vec<OriginOf>,
    /// Where no route takes it: the hosts that there are, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostThere>,
    /// Where no route takes it: resources that want its host and are not served.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wanting: Vec<UnservedResource>,
    /// Where the route makes Envoy answer with an error: what was found in the resources that made the route.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The gateways that the request goes on to, where others of the same input listen where it goes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<Hop>,
}

/// A gateway on a request's way, after the first.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Hop {
    /// The gateway.
    pub gateway: String,
    /// What becomes of the request there.
    #[serde(flatten)]
    pub report: RouteReport,
}

/// Where something that the report says comes from.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct OriginOf {
    /// What: `listener`, `virtual_host`, `route`, `cluster NAME`, `tried N`, `shadowed N`...
    pub of: String,
    /// Where it stands in Envoy's configuration.
    pub pointer: String,
    /// It is written nowhere: what it lies in comes from there.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub around: bool,
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: OriginView,
}

/// Origins are given of at most this many of the routes that were tried, the last ones.
const TRIED: usize = 100;

/// A gateway with what is known of it, to ask about several requests.
#[derive(Clone, Copy)]
pub struct TracedGateway<'a> {
    /// The side that the gateway belongs to.
    pub side: SideRef<'a>,
    /// Where objects stand in the texts.
    pub positions: &'a Positions<'a>,
    /// What Envoy gets.
    pub config: &'a EnvoyConfig,
    /// Which objects made it.
    pub map: &'a OutputMap,
}

impl TracedGateway<'_> {
    /// What becomes of a request.
    #[must_use]
    pub fn route(&self, request: &Request) -> RouteReport {
        let simulation = Gateway::new(self.config).simulate_tracing(request);
        let mut report = report(simulation, |pointer| origins(self.map, pointer, self.side, self.positions));
        if unserved::is_unserved(&report.simulation) {
            report.hosts = unserved::hosts(self.config, request);
            report.wanting = unserved::wanting(self.side, self.positions, request);
        }
        report.findings = unserved::reasons(&report, self.side, self.positions);
        report
    }
}

/// What becomes of a request in a gateway.
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

/// What becomes of a request in a configuration whose lines are not known.
pub fn route_unknown(config: &EnvoyConfig, request: &Request) -> RouteReport {
    let mut report = report(Gateway::new(config).simulate_tracing(request), |_| (true, Vec::new()));
    if unserved::is_unserved(&report.simulation) {
        report.hosts = unserved::hosts(config, request);
    }
    report
}

/// A simulation with the origins that `of` knows by pointer, and whether they are those of what lies around the place.
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
    RouteReport { origins: origins.collect(), simulation, hosts: Vec::new(), wanting: Vec::new(), findings: Vec::new(), then: Vec::new() }
}

/// Whether a place is a filter: what people wrote of it are the rules in it.
fn is_filter(pointer: &str) -> bool {
    pointer.rsplit('/').nth(1).is_some_and(|list| list.ends_with("filters"))
}

/// The origins within a place, the first of each object.
fn within(map: &OutputMap, pointer: &str) -> Vec<Origin> {
    let mut found: Vec<Origin> = Vec::new();
    for origin in map.descendants(pointer).iter().flat_map(|made| made.origins) {
        if origin.object() != ObjectId::BUILT_IN && !found.iter().any(|known| known.object() == origin.object()) {
            found.push(*origin);
        }
    }
    found
}

/// What made a place, or the nearest that it lies in.
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
