//! What becomes of a request, in terms of the user's lines.
//!
//! The simulation speaks of Envoy's configuration; here every place of it gets its origins.
//!
//! What must not be here: how requests are routed, and rendering.

use super::{OriginView, Positions};
use crate::backend::OutputMap;
use crate::backend::envoy::{self, v3::Emitted};
use crate::compilation::{GatewayRef, SideRef};
use crate::envoy_config::EnvoyConfig;
use crate::simulate::{Gateway, Place, Request, Simulation};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What becomes of a request, and from where.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RouteReport {
    /// What becomes of it.
    #[serde(flatten)]
    pub simulation: Simulation,
    /// Where what was told comes from. Empty for configurations that nothing is known of.
    pub origins: Vec<OriginOf>,
}

/// Where something that was told comes from.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct OriginOf {
    /// What: `listener`, `virtual_host`, `route`, `cluster NAME`, `tried N`, `shadowed N`...
    pub of: String,
    /// Where it stands in Envoy's configuration.
    pub pointer: String,
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: OriginView,
}

/// Of so many routes that were tried, the last ones, the origins are told.
const TRIED: usize = 100;

/// What becomes of a request in a gateway.
pub fn route(gateway: GatewayRef<'_>, positions: &Positions<'_>, request: &Request, emitted: &mut Emitted) -> RouteReport {
    let config = EnvoyConfig::of(gateway.ir);
    let simulation = Gateway::new(&config).simulate_tracing(request);
    let map = envoy::v3::output_map(gateway.ir, &envoy::Options::default(), emitted);
    report(simulation, |pointer| origins(&map, pointer, gateway.of(), positions))
}

/// A simulation with the origins that `of` knows by pointer.
pub fn report(simulation: Simulation, of: impl Fn(&str) -> Vec<OriginView>) -> RouteReport {
    let host = simulation.places.iter().find(|place| place.of == "virtual_host").map(|place| place.pointer.clone());
    let first = simulation.tried.len().saturating_sub(TRIED);
    let tried = simulation.tried.iter().skip(first).filter_map(|tried| {
        let pointer = format!("{}/routes/{}", host.as_ref()?, tried.index);
        Some(Place { of: format!("tried {}", tried.index), pointer })
    });
    let places: Vec<Place> = simulation.places.iter().cloned().chain(tried).collect();
    let origins = places.into_iter().flat_map(|place| {
        let all = of(&place.pointer);
        all.into_iter().map(move |origin| OriginOf { of: place.of.clone(), pointer: place.pointer.clone(), origin })
    });
    RouteReport { origins: origins.collect(), simulation }
}

/// What made a place, or the nearest that it lies in.
fn origins(map: &OutputMap, pointer: &str, side: SideRef<'_>, positions: &Positions<'_>) -> Vec<OriginView> {
    let made = map.lookup(pointer);
    made.into_iter().flat_map(|made| made.origins).map(|origin| OriginView::of(*origin, side, positions)).collect()
}
