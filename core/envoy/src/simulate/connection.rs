//! Which listener takes a connection, and which of its filter chains.
//!
//! As `source/common/listener_manager/filter_chain_manager_impl.cc` of Envoy: one criterion after the other, and at each only the chains
//! that say it most exactly go on. There is no way back to others.
//!
//! What must not be here: HTTP.

use super::request::Request;
use super::simulation::{Connection, Failed, PRECEDENCE, TriedChain};
use crate::config::{EnvoyConfig, Placed};
use crate::emit::pb;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::net::IpAddr;
use pb::listener::{FilterChain, FilterChainMatch, Listener};

/// A listener that takes the connection.
pub(super) struct ChosenListener<'a> {
    pub(super) listener: &'a Placed<Listener>,
    /// Why, where the request leaves it open.
    pub(super) why: Option<String>,
    pub(super) port: u32,
}

/// Address and port that a listener is bound to.
pub fn bound(listener: &Listener) -> Option<(&str, u32, bool)> {
    use pb::base::{address::Address, socket_address::PortSpecifier, socket_address::Protocol};
    match listener.address.as_ref()?.address.as_ref()? {
        Address::SocketAddress(address) => match &address.port_specifier {
            Some(PortSpecifier::PortValue(port)) => Some((&address.address, *port, address.protocol == Protocol::Udp as i32)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a chain speaks TLS.
pub fn is_tls(chain: &FilterChain) -> bool {
    chain.transport_socket.as_ref().is_some_and(|socket| !socket.name.contains("raw_buffer"))
}

/// Names that controllers give to listeners of their own: for their checks, statistics and the admin interface.
const OWN: [&str; 5] = ["stats-health", "stats", "health", "envoy-admin", "ambassador-listener-ready"];

/// Whether a listener is the controller's own, which is not for users' requests.
pub fn is_own(listener: &Listener) -> bool {
    OWN.iter().any(|own| listener.name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with("-127.0.0.1")))
}

fn chains(listener: &Listener) -> impl Iterator<Item = &FilterChain> {
    listener.filter_chains.iter().chain(&listener.default_filter_chain)
}

/// The listener. Where the request says no port, the one that people would mean by the URL.
pub(super) fn listener<'a>(config: &'a EnvoyConfig, request: &Request) -> Option<ChosenListener<'a>> {
    let bound_to = |of: &'a Placed<Listener>| bound(&of.message).filter(|(.., udp)| !udp).map(|(address, port, _)| (of, address, port));
    let all: Vec<_> = config.listeners.iter().filter_map(bound_to).collect();
    let at = |wanted: u32| {
        let of_port: Vec<_> = all.iter().filter(|(.., port)| *port == wanted).collect();
        let is_any = |address: &str| address.parse::<IpAddr>().is_ok_and(|address| address.is_unspecified());
        let wanted_address = request.destination.map(|address| address.to_string());
        let exact = of_port.iter().find(|(_, address, _)| wanted_address.as_deref() == Some(*address));
        let any = of_port.iter().find(|(_, address, _)| is_any(address));
        let found = exact.or(any).or_else(|| of_port.first().filter(|_| request.destination.is_none()));
        found.map(|(listener, ..)| *listener)
    };
    if let Some(port) = request.port {
        return at(port).map(|listener| ChosenListener { listener, why: None, port });
    }
    if let Some((listener, port)) = request.url_port.and_then(|port| Some((at(port)?, port))) {
        return Some(ChosenListener { listener, why: Some("the URL names its port".to_owned()), port });
    }
    // A Service or a load balancer may stand before the gateway, with ports of its own.
    let unbound = |why: String| match request.url_port {
        Some(port) => format!("no listener is bound to the URL's port {port}; {why}"),
        None => why,
    };
    // The ports of Services before gateways are 80 and 443, those of their pods 8080 and 8443.
    let usual: [u32; 2] = if request.tls { [443, 8443] } else { [80, 8080] };
    if let Some((listener, port)) = usual.into_iter().find_map(|port| Some((at(port)?, port))) {
        let scheme = if request.tls { "https" } else { "http" };
        return Some(ChosenListener { listener, why: Some(unbound(format!("{port} is a usual port for {scheme}"))), port });
    }
    let fits = |of: &&(&'a Placed<Listener>, &str, u32)| chains(&of.0.message).any(|chain| is_tls(chain) == request.tls);
    let what = if request.tls { "TLS" } else { "plain text" };
    // Nobody else reaches what listens to its own machine only, as the admin interface does.
    let is_here = |of: &&(&'a Placed<Listener>, &str, u32)| of.1.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    let all: Vec<_> = all.iter().filter(|of| !is_own(&of.0.message)).collect();
    let reachable = || all.iter().copied().filter(|of| !is_here(of));
    // A sidecar listens for its own machine only to what its service calls.
    let ((listener, _, port), why) = match reachable().find(fits).or_else(|| all.iter().copied().find(fits)) {
        Some(found) => (found, format!("it is the first with {what}")),
        None => {
            let usual = reachable().find(|(.., port)| matches!(port, 80 | 8080));
            (usual.or_else(|| reachable().next()).or(all.first().copied())?, format!("no listener has {what}"))
        }
    };
    Some(ChosenListener { listener, why: Some(unbound(why)), port: *port })
}

/// The connection as matchers see it.
struct ConnectionProperties<'a> {
    port: u32,
    destination: Option<IpAddr>,
    source: Option<IpAddr>,
    server_name: String,
    transport: &'static str,
    alpn: &'a [String],
}

/// How a chain fares with one criterion: how exactly it says it, or what it wanted and what it got.
enum Fit {
    /// The higher, the more exact. 0 says nothing about it.
    Fits(u32),
    Fails(Failed),
}

fn fails(matcher: &str, expected: String, seen: Option<String>) -> Fit {
    Fit::Fails(Failed { matcher: matcher.to_owned(), expected, seen })
}

type Criterion = fn(&FilterChainMatch, &ConnectionProperties<'_>) -> Fit;

/// In Envoy's order.
const CRITERIA: [Criterion; 9] =
    [destination_port, destination, server_names, transport_protocol, application_protocols, direct_source, source_type, source, source_port];

fn destination_port(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    match of.destination_port {
        None => Fit::Fits(0),
        Some(port) if port == seen.port => Fit::Fits(1),
        Some(port) => fails("destination_port", port.to_string(), Some(seen.port.to_string())),
    }
}

fn destination(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    ranges("prefix_ranges", &of.prefix_ranges, seen.destination)
}

fn direct_source(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    ranges("direct_source_prefix_ranges", &of.direct_source_prefix_ranges, seen.source)
}

fn source(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    ranges("source_prefix_ranges", &of.source_prefix_ranges, seen.source)
}

fn ranges(name: &str, ranges: &[pb::base::CidrRange], address: Option<IpAddr>) -> Fit {
    if ranges.is_empty() {
        return Fit::Fits(0);
    }
    let longest =
        ranges.iter().filter(|range| address.is_some_and(|address| contains(range, address))).map(|range| range.prefix_len.unwrap_or(0)).max();
    match longest {
        Some(length) => Fit::Fits(length + 1),
        None => {
            let words: Vec<String> = ranges.iter().map(|range| format!("{}/{}", range.address_prefix, range.prefix_len.unwrap_or(0))).collect();
            fails(name, words.join(", "), address.map(|address| address.to_string()))
        }
    }
}

/// Whether a range holds an address.
pub(super) fn contains(range: &pb::base::CidrRange, address: IpAddr) -> bool {
    let length = range.prefix_len.unwrap_or(0);
    match (range.address_prefix.parse::<IpAddr>(), address.to_canonical()) {
        (Ok(IpAddr::V4(range)), IpAddr::V4(address)) => {
            let mask = u32::MAX.checked_shl(32 - length.min(32)).unwrap_or(0);
            range.to_bits() & mask == address.to_bits() & mask
        }
        (Ok(IpAddr::V6(range)), IpAddr::V6(address)) => {
            let mask = u128::MAX.checked_shl(128 - length.min(128)).unwrap_or(0);
            range.to_bits() & mask == address.to_bits() & mask
        }
        _ => false,
    }
}

fn server_names(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    if of.server_names.is_empty() {
        return Fit::Fits(0);
    }
    let fit = |name: &String| match name.strip_prefix('*') {
        // The longest suffix is the most exact, and an exact name more so.
        Some(suffix) if suffix.starts_with('.') => {
            (seen.server_name.len() > suffix.len() && seen.server_name.ends_with(suffix)).then(|| u32::try_from(suffix.len()).unwrap_or(u32::MAX - 1))
        }
        _ => (*name == seen.server_name).then_some(u32::MAX),
    };
    match of.server_names.iter().filter_map(fit).max() {
        Some(exact) => Fit::Fits(exact),
        None => fails("server_names", of.server_names.join(", "), (!seen.server_name.is_empty()).then(|| seen.server_name.clone())),
    }
}

fn transport_protocol(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    match of.transport_protocol.as_str() {
        "" => Fit::Fits(0),
        wanted if wanted == seen.transport => Fit::Fits(1),
        wanted => fails("transport_protocol", wanted.to_owned(), Some(seen.transport.to_owned())),
    }
}

fn application_protocols(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    if of.application_protocols.is_empty() {
        return Fit::Fits(0);
    }
    // The client's first is the most exact.
    match seen.alpn.iter().position(|offered| of.application_protocols.contains(offered)) {
        Some(at) => Fit::Fits(u32::try_from(1000_usize.saturating_sub(at)).unwrap_or(1).max(1)),
        None => fails("application_protocols", of.application_protocols.join(", "), (!seen.alpn.is_empty()).then(|| seen.alpn.join(", "))),
    }
}

fn source_type(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    use pb::listener::filter_chain_match::ConnectionSourceType;
    let local = seen.source.is_some_and(|source| source.is_loopback() || Some(source) == seen.destination);
    let here = if local { "SAME_IP_OR_LOOPBACK" } else { "EXTERNAL" };
    match of.source_type() {
        ConnectionSourceType::Any => Fit::Fits(0),
        wanted if wanted.as_str_name() == here => Fit::Fits(1),
        wanted => fails("source_type", wanted.as_str_name().to_owned(), Some(here.to_owned())),
    }
}

/// The simulation has no source port: chains that want one are not taken.
fn source_port(of: &FilterChainMatch, _: &ConnectionProperties<'_>) -> Fit {
    if of.source_ports.is_empty() {
        return Fit::Fits(0);
    }
    fails("source_ports", of.source_ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "), None)
}

/// A filter chain by its name, or by its number where it has none.
pub(super) fn chain_name(chain: &FilterChain, index: usize) -> String {
    if chain.name.is_empty() { index.to_string() } else { chain.name.clone() }
}

/// The chain of a listener that takes the connection of a request.
pub fn chain_of<'a>(listener: &'a Placed<Listener>, port: u32, request: &Request) -> Option<(usize, &'a FilterChain)> {
    filter_chain(&ChosenListener { listener, why: None, port }, request).0
}

/// What a chain wants, in words.
fn criteria(of: &FilterChainMatch) -> Vec<String> {
    let mut words = Vec::new();
    let mut say = |name: &str, values: Vec<String>| {
        if !values.is_empty() {
            words.push(format!("{name} {}", values.join(", ")));
        }
    };
    let cidr = |ranges: &[pb::base::CidrRange]| -> Vec<String> {
        ranges.iter().map(|range| format!("{}/{}", range.address_prefix, range.prefix_len.unwrap_or(0))).collect()
    };
    say("destination_port", of.destination_port.iter().map(ToString::to_string).collect());
    say("prefix_ranges", cidr(&of.prefix_ranges));
    say("server_names", of.server_names.clone());
    say("transport_protocol", Some(of.transport_protocol.clone()).filter(|name| !name.is_empty()).into_iter().collect());
    say("application_protocols", of.application_protocols.clone());
    say("direct_source_prefix_ranges", cidr(&of.direct_source_prefix_ranges));
    if of.source_type != 0 {
        say("source_type", vec![of.source_type().as_str_name().to_owned()]);
    }
    say("source_prefix_ranges", cidr(&of.source_prefix_ranges));
    say("source_ports", of.source_ports.iter().map(ToString::to_string).collect());
    words
}

/// The chain that takes the connection: its index (that of the list's end is the default chain), and what was tried.
pub(super) fn filter_chain<'a>(chosen: &ChosenListener<'a>, request: &Request) -> (Option<(usize, &'a FilterChain)>, Connection) {
    let listener = &chosen.listener.message;
    let none = FilterChainMatch::default();
    let of = |chain: &'a FilterChain| chain.filter_chain_match.as_ref();
    // Envoy puts the inspector in by itself where a chain wants to know.
    let looks = listener.listener_filters.iter().any(|filter| filter.name.contains("tls_inspector"))
        || listener
            .filter_chains
            .iter()
            .filter_map(of)
            .any(|of| !of.server_names.is_empty() || !of.application_protocols.is_empty() || of.transport_protocol == "tls");
    let sees_tls = request.tls && looks;
    let seen = ConnectionProperties {
        port: chosen.port,
        destination: request.destination,
        source: request.source,
        server_name: request.sni.as_ref().filter(|_| sees_tls).map(|name| name.to_ascii_lowercase()).unwrap_or_default(),
        transport: if sees_tls { "tls" } else { "raw_buffer" },
        alpn: if sees_tls { &request.alpn } else { &[] },
    };
    let mut tried: Vec<TriedChain> = listener
        .filter_chains
        .iter()
        .enumerate()
        .map(|(index, chain)| TriedChain {
            name: chain_name(chain, index),
            criteria: of(chain).map(criteria).unwrap_or_default(),
            ..TriedChain::default()
        })
        .collect();
    let mut left: Vec<usize> = (0..listener.filter_chains.len()).collect();
    for criterion in CRITERIA {
        let fits: Vec<(usize, Fit)> =
            left.iter().filter_map(|at| listener.filter_chains.get(*at).map(|chain| (*at, criterion(of(chain).unwrap_or(&none), &seen)))).collect();
        let best = fits.iter().filter_map(|(_, fit)| if let Fit::Fits(exact) = fit { Some(*exact) } else { None }).max();
        let winner = fits.iter().find_map(|(at, fit)| matches!(fit, Fit::Fits(exact) if Some(*exact) == best).then_some(*at));
        left.clear();
        for (at, fit) in fits {
            let Some(row) = tried.get_mut(at) else { continue };
            match fit {
                Fit::Fits(exact) if Some(exact) == best => left.push(at),
                Fit::Fits(_) => {
                    let other =
                        winner.and_then(|winner| listener.filter_chains.get(winner).map(|chain| chain_name(chain, winner))).unwrap_or_default();
                    row.failed = Some(Failed {
                        matcher: PRECEDENCE.to_owned(),
                        expected: "no filter chain that is more specific".to_owned(),
                        seen: Some(format!("filter chain {other}")),
                    });
                }
                Fit::Fails(failed) => row.failed = Some(failed),
            }
        }
    }
    let taken = left.first().and_then(|at| listener.filter_chains.get(*at).map(|chain| (*at, chain)));
    if let Some(row) = taken.and_then(|(at, _)| tried.get_mut(at)) {
        row.matched = true;
    }
    let taken = taken.or_else(|| listener.default_filter_chain.as_ref().map(|chain| (listener.filter_chains.len(), chain)));
    let address = bound(listener).map(|(address, port, _)| format!("{address}:{port}")).unwrap_or_default();
    let connection = Connection {
        address,
        why: chosen.why.clone(),
        transport_protocol: seen.transport.to_owned(),
        server_name: Some(seen.server_name).filter(|name| !name.is_empty()),
        chains: tried,
    };
    (taken, connection)
}
