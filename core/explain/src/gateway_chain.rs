//! Follows a request through all gateways of an input: from the first gateway through others that listen on its way. Does not route within a
//! gateway; see `simulate`.

use super::route::{DecidedCall, Hop, RouteReport, TracedGateway};
use super::{OriginView, Positions};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Call, Compilation, GatewayRef};
use chancery_base::ir::{Ir, Tree};
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::emit::Emitted;
use chancery_envoy::simulate::{Gateway, NextHop, Request};
use core::net::IpAddr;
use hashbrown::HashSet;

/// A request is followed through at most this many gateways.
const MOST: usize = 16;

/// Returns the gateways that may receive a request: gateways that listen on its port, or all if it names no port that any gateway has.
pub fn entry_gateways<'a>(compilation: &'a Compilation, request: &Request) -> Vec<GatewayRef<'a>> {
    let all: Vec<GatewayRef<'a>> = compilation.gateways().collect();
    let Some(port) = request.port.or(request.url_port) else { return all };
    let listening: Vec<GatewayRef<'a>> = all.iter().copied().filter(|gateway| listens(gateway.ir, request.destination, port)).collect();
    if listening.is_empty() { all } else { listening }
}

/// Routes a request, from the gateway that receives it to the end of its way. If the first gateway divides such requests among several clusters,
/// each share is followed; a later gateway that divides them again is followed to its largest share.
pub fn route_through_gateways(gateway: GatewayRef<'_>, positions: &Positions<'_>, request: &Request, emitted: &mut Emitted) -> RouteReport {
    let (mut first, hops) = pass(gateway, positions, request, emitted);
    for hop in hops {
        let ways_left = MOST.saturating_sub(first.then.len());
        first.then.extend(follow(gateway, positions, hop, ways_left));
    }
    first
}

/// Returns the gateways that a share of the requests passes, after the first gateway.
fn follow(gateway: GatewayRef<'_>, positions: &Positions<'_>, hop: NextHop, most: usize) -> Vec<Hop> {
    let percent = hop.percent;
    let (mut seen, mut out) = (HashSet::new(), Vec::<Hop>::new());
    let mut next = Some(hop);
    while let Some(hop) = next.take().filter(|_| out.len() < most) {
        let from = out.last().map_or_else(|| gateway.id.to_string(), |hop: &Hop| hop.gateway.clone());
        let Some(to) = listener_at(gateway, &hop, &from) else { break };
        if !seen.insert((to.id.to_string(), hop.request.port)) {
            break;
        }
        let (mut report, further) = pass(to, positions, &hop.request, &mut Emitted::default());
        if further.len() > 1 {
            report.simulation.notes.push("requests divide again here, and only the largest share is followed".to_string());
        }
        let call = decided_call(to, positions, &from, &hop.request);
        out.push(Hop { gateway: to.id.to_string(), percent, call, report });
        next = further.into_iter().next();
    }
    out
}

/// Returns the rule between services that decides a request from another gateway.
fn decided_call(to: GatewayRef<'_>, positions: &Positions<'_>, from: &str, request: &Request) -> Option<DecidedCall> {
    let side = to.of();
    let path = request.path.split('?').next().unwrap_or_default();
    let found = side.side.stages.decide_call(Call { from, to: to.id.as_str(), method: &request.method, path })?;
    let span = found.at.and_then(|origin| OriginView::of(origin, side, positions).span);
    let object = found.at.map(|origin| origin.object());
    Some(DecidedCall { is_allowed: found.is_allowed, by: found.by, why: found.why, span, object })
}

/// Routes a request in one gateway only. A note names the next gateway on its way, which is not simulated.
pub fn route_in_one_gateway(gateway: GatewayRef<'_>, positions: &Positions<'_>, request: &Request, emitted: &mut Emitted) -> RouteReport {
    let (mut report, next) = pass(gateway, positions, request, emitted);
    for to in next.iter().filter_map(|hop| listener_at(gateway, hop, gateway.id.as_str())) {
        let note = format!(
            "{} gets the request next, and may deny it: this report does not simulate it. Without `--gateway` or `--proxy`, `chancery route` simulates it too",
            to.id
        );
        report.simulation.notes.push(note);
    }
    report
}

/// Routes a request in one gateway, and returns where it goes next, the largest share first.
fn pass(gateway: GatewayRef<'_>, positions: &Positions<'_>, request: &Request, emitted: &mut Emitted) -> (RouteReport, Vec<NextHop>) {
    let config = EnvoyConfig::of(gateway.ir);
    let map = chancery_envoy::emit::output_map(gateway.ir, &chancery_envoy::Options::default(), emitted);
    let report = TracedGateway { side: gateway.of(), positions, config: &config, map: &map }.route(request);
    let identity = gateway.ir.delivery.identity.as_deref();
    let hops = Gateway::new(&config).next_hops(request, &report.simulation, identity);
    (report, hops)
}

/// Returns another gateway of the same side that listens at the target of a connection. A listener at this very address is preferred to one at all
/// addresses.
fn listener_at<'a>(gateway: GatewayRef<'a>, hop: &NextHop, from: &str) -> Option<GatewayRef<'a>> {
    let port = hop.request.port?;
    let others = || gateway.of().gateways().filter(|other| other.id.as_str() != from);
    let exactly = |other: &GatewayRef<'_>| bound(other.ir).any(|(host, at)| at == port && host.parse() == Ok(hop.address));
    others().find(exactly).or_else(|| others().find(|other| listens(other.ir, Some(hop.address), port)))
}

/// Whether a gateway listens on a port, at an address if that is known.
pub(super) fn listens(ir: &Ir, address: Option<IpAddr>, port: u32) -> bool {
    let takes = |host: &str| match (host.parse::<IpAddr>(), address) {
        (Ok(host), Some(address)) => host.is_unspecified() || host == address,
        _ => true,
    };
    bound(ir).any(|(host, at)| at == port && takes(&host))
}

/// Returns hosts and ports of a gateway's listeners.
fn bound(ir: &Ir) -> impl Iterator<Item = (String, u32)> {
    let own = ir.listeners.iter().map(|listener| (String::from(listener.address.address.value.as_str()), u32::from(listener.address.port.value)));
    let passed_on = ir.delivery.verbatim.listeners.iter().filter_map(|listener: &Arc<Tree>| {
        let socket = listener.at(&["address", "socket_address"]);
        Some((String::from(socket.get("address").text()), u32::try_from(socket.find("port_value")?.int()).ok()?))
    });
    own.chain(passed_on)
}
