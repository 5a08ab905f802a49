//! Chooses the listener and the filter chain of a connection.
//!
//! Follows Envoy's `source/common/listener_manager/filter_chain_manager_impl.cc`: one criterion after the other, and only the chains that match
//! each criterion most specifically remain. Envoy does not return to the other chains.
//!
//! Does not handle HTTP; see `manager`.

use super::connection_settings::of_chain;
use super::request::Request;
use super::simulation::{Connection, Failed, PRECEDENCE, TriedChain};
use crate::config::{EnvoyConfig, Placed};
use crate::emit::pb;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::HashMap;
use pb::listener::{FilterChain, FilterChainMatch, Listener};

/// A listener that accepts the connection.
pub(super) struct ChosenListener<'a> {
    pub(super) listener: &'a Placed<Listener>,
    /// Why this listener, if the request does not determine it.
    pub(super) why: Option<String>,
    pub(super) port: u32,
}

/// Address and port that a listener is bound to, and whether it is UDP.
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

/// Whether a chain uses TLS.
pub fn is_tls(chain: &FilterChain) -> bool {
    chain.transport_socket.as_ref().is_some_and(|socket| !socket.name.contains("raw_buffer"))
}

/// Whether clients must send TLS to a chain, which ends it or passes it through.
fn expects_tls(chain: &FilterChain) -> bool {
    is_tls(chain) || chain.filter_chain_match.as_ref().is_some_and(|of| !of.server_names.is_empty() || of.transport_protocol == "tls")
}

/// Names of listeners that controllers add for their own checks, statistics and the admin interface.
const OWN: [&str; 5] = ["stats-health", "stats", "health", "envoy-admin", "ambassador-listener-ready"];

/// The beginnings of names of such listeners that also contain an address.
const OWN_WITH_ADDRESS: [&str; 2] = ["envoy-gateway-proxy-ready-", "envoy-gateway-proxy-stats-"];

/// Envoy Gateway adds this number to ports below 1024, which its Envoy may not open. Its Service forwards the original port.
const PRIVILEGED_OFFSET: u32 = 10_000;

/// Whether a listener belongs to the controller, and is not for users' requests.
pub fn is_own(listener: &Listener) -> bool {
    OWN_WITH_ADDRESS.iter().any(|own| listener.name.starts_with(own))
        || OWN.iter().any(|own| listener.name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with("-127.0.0.1")))
}

fn chains(listener: &Listener) -> impl Iterator<Item = &FilterChain> {
    listener.filter_chains.iter().chain(&listener.default_filter_chain)
}

/// Returns the listener that gets connections to an address at which no listener is bound: the one that restores their destination.
fn redirected<'a>(config: &'a EnvoyConfig, request: &Request) -> Option<&'a Placed<Listener>> {
    let port = request.port.or(request.url_port);
    let is_its = |address: &str| address.parse::<IpAddr>().is_ok_and(|address| address.is_unspecified() || Some(address) == request.destination);
    let is_own = |of: &Listener| bound(of).is_some_and(|(address, at, _)| Some(at) == port && is_its(address));
    let restores = |of: &Listener| of.listener_filters.iter().any(|filter| filter.name.ends_with("original_dst"));
    let all = || config.listeners.iter();
    if all().any(|of| is_own(&of.message)) { None } else { all().find(|of| restores(&of.message)) }
}

/// Returns the listener of a request. If the request has no port, the listener that the URL most likely means.
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
    if let Some(listener) = request.destination.and_then(|_| redirected(config, request)) {
        let port = request.port.or(request.url_port).unwrap_or(if request.tls { 443 } else { 80 });
        return Some(ChosenListener { listener, why: Some("connections to other addresses are redirected to it".to_owned()), port });
    }
    let shifted = |asked: Option<u32>| {
        let asked = asked.filter(|port| *port < 1024)?;
        let (port, why) = (asked + PRIVILEGED_OFFSET, format!("the gateway's Service forwards port {asked} to {}", asked + PRIVILEGED_OFFSET));
        Some(ChosenListener { listener: at(port)?, why: Some(why), port })
    };
    if let Some(port) = request.port {
        return at(port).map(|listener| ChosenListener { listener, why: None, port }).or_else(|| shifted(request.port));
    }
    if let Some((listener, port)) = request.url_port.and_then(|port| Some((at(port)?, port))) {
        return Some(ChosenListener { listener, why: Some("the URL names its port".to_owned()), port });
    }
    if let Some(chosen) = shifted(request.url_port) {
        return Some(chosen);
    }
    // A Service or a load balancer in front of the gateway may have other ports.
    let unbound = |why: String| match request.url_port {
        Some(port) => format!("nothing listens on port {port}; {why}"),
        None => why,
    };
    // Services of gateways usually have the ports 80 and 443, their pods 8080 and 8443, or 10080 and 10443.
    let usual: [u32; 3] = if request.tls { [443, 8443, 443 + PRIVILEGED_OFFSET] } else { [80, 8080, 80 + PRIVILEGED_OFFSET] };
    if let Some((listener, port)) = usual.into_iter().find_map(|port| Some((at(port)?, port))) {
        let why = match request.url_port {
            Some(asked) => format!("nothing listens on port {asked}; {port} was chosen"),
            None => "chosen: the URL names no port".to_owned(),
        };
        return Some(ChosenListener { listener, why: Some(why), port });
    }
    let fits = |of: &&(&'a Placed<Listener>, &str, u32)| chains(&of.0.message).any(|chain| expects_tls(chain) == request.tls);
    let how = if request.tls { "over TLS" } else { "in cleartext" };
    // Only local programs can reach a listener on the loopback address, such as the admin interface.
    let is_here = |of: &&(&'a Placed<Listener>, &str, u32)| of.1.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    let all: Vec<_> = all.iter().filter(|of| !is_own(&of.0.message)).collect();
    let reachable = || all.iter().copied().filter(|of| !is_here(of));
    // A sidecar listens on the loopback address only for its own service's calls.
    let ((listener, _, port), why) = match reachable().find(fits).or_else(|| all.iter().copied().find(fits)) {
        Some(found) => (found, format!("this is the first listener {how}")),
        None => {
            let usual = reachable().find(|(.., port)| matches!(port, 80 | 8080));
            (usual.or_else(|| reachable().next()).or(all.first().copied())?, format!("no listener is {how}"))
        }
    };
    Some(ChosenListener { listener, why: Some(unbound(why)), port: *port })
}

/// The properties of a connection that matchers use.
struct ConnectionProperties<'a> {
    port: u32,
    destination: Option<IpAddr>,
    source: Option<IpAddr>,
    server_name: String,
    transport: &'static str,
    alpn: &'a [String],
    /// Whether failures are described.
    explains: bool,
}

/// How a chain meets one criterion: how specifically, or the expected and the actual value.
enum Fit {
    /// Higher is more specific. 0 means that the chain does not restrict the criterion.
    Fits(u32),
    Fails(Failed),
}

impl ConnectionProperties<'_> {
    /// Describes a failure by the expected and the actual value. A gateway may have thousands of chains, so only a traced request has the words.
    fn fails(&self, matcher: &str, values: impl FnOnce() -> (String, Option<String>)) -> Fit {
        let (expected, seen) = if self.explains { values() } else { (String::new(), None) };
        let matcher = if self.explains { matcher.to_owned() } else { String::new() };
        Fit::Fails(Failed { matcher, expected, seen })
    }
}

type Criterion = fn(&FilterChainMatch, &ConnectionProperties<'_>) -> Fit;

/// In Envoy's order.
const CRITERIA: [Criterion; 9] =
    [destination_port, destination, server_names, transport_protocol, application_protocols, direct_source, source_type, source, source_port];

fn destination_port(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    match of.destination_port {
        None => Fit::Fits(0),
        Some(port) if port == seen.port => Fit::Fits(1),
        Some(port) => seen.fails("destination_port", || (port.to_string(), Some(seen.port.to_string()))),
    }
}

fn destination(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    ranges("prefix_ranges", &of.prefix_ranges, seen.destination, seen)
}

fn direct_source(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    ranges("direct_source_prefix_ranges", &of.direct_source_prefix_ranges, seen.source, seen)
}

fn source(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    ranges("source_prefix_ranges", &of.source_prefix_ranges, seen.source, seen)
}

fn ranges(name: &str, ranges: &[pb::base::CidrRange], address: Option<IpAddr>, seen: &ConnectionProperties<'_>) -> Fit {
    if ranges.is_empty() {
        return Fit::Fits(0);
    }
    let longest =
        ranges.iter().filter(|range| address.is_some_and(|address| contains(range, address))).map(|range| range.prefix_len.unwrap_or(0)).max();
    match longest {
        Some(length) => Fit::Fits(length + 1),
        None => seen.fails(name, || {
            let words: Vec<String> = ranges.iter().map(|range| format!("{}/{}", range.address_prefix, range.prefix_len.unwrap_or(0))).collect();
            (words.join(", "), address.map(|address| address.to_string()))
        }),
    }
}

/// Whether a range contains an address.
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
        // A longer suffix is more specific, and an exact name more so.
        Some(suffix) if suffix.starts_with('.') => {
            (seen.server_name.len() > suffix.len() && seen.server_name.ends_with(suffix)).then(|| u32::try_from(suffix.len()).unwrap_or(u32::MAX - 1))
        }
        _ => (*name == seen.server_name).then_some(u32::MAX),
    };
    match of.server_names.iter().filter_map(fit).max() {
        Some(exact) => Fit::Fits(exact),
        None => seen.fails("server_names", || (of.server_names.join(", "), (!seen.server_name.is_empty()).then(|| seen.server_name.clone()))),
    }
}

fn transport_protocol(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    match of.transport_protocol.as_str() {
        "" => Fit::Fits(0),
        wanted if wanted == seen.transport => Fit::Fits(1),
        wanted => seen.fails("transport_protocol", || (wanted.to_owned(), Some(seen.transport.to_owned()))),
    }
}

fn application_protocols(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    if of.application_protocols.is_empty() {
        return Fit::Fits(0);
    }
    // The client's first protocol is the most specific.
    match seen.alpn.iter().position(|offered| of.application_protocols.contains(offered)) {
        Some(at) => Fit::Fits(u32::try_from(1000_usize.saturating_sub(at)).unwrap_or(1).max(1)),
        None => seen.fails("application_protocols", || (of.application_protocols.join(", "), (!seen.alpn.is_empty()).then(|| seen.alpn.join(", ")))),
    }
}

fn source_type(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    use pb::listener::filter_chain_match::ConnectionSourceType;
    let local = seen.source.is_some_and(|source| source.is_loopback() || Some(source) == seen.destination);
    let here = if local { "SAME_IP_OR_LOOPBACK" } else { "EXTERNAL" };
    match of.source_type() {
        ConnectionSourceType::Any => Fit::Fits(0),
        wanted if wanted.as_str_name() == here => Fit::Fits(1),
        wanted => seen.fails("source_type", || (wanted.as_str_name().to_owned(), Some(here.to_owned()))),
    }
}

/// The simulation has no source port, so chains that require one do not match.
fn source_port(of: &FilterChainMatch, seen: &ConnectionProperties<'_>) -> Fit {
    if of.source_ports.is_empty() {
        return Fit::Fits(0);
    }
    seen.fails("source_ports", || (of.source_ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "), None))
}

/// The filter chains of a listener by their server names. A gateway may have thousands of chains.
pub(super) struct ChainIndex<'a> {
    by_name: HashMap<&'a str, Vec<usize>>,
    /// By the suffix of a wildcard, with its dot.
    by_suffix: HashMap<&'a str, Vec<usize>>,
    /// Chains without server names.
    others: Vec<usize>,
}

impl<'a> ChainIndex<'a> {
    /// Indexes the chains of a listener; `None` if criteria that Envoy looks at earlier may exclude chains.
    pub(super) fn of(listener: &'a Listener) -> Option<Self> {
        let mut index = Self { by_name: HashMap::default(), by_suffix: HashMap::default(), others: Vec::new() };
        for (at, chain) in listener.filter_chains.iter().enumerate() {
            let Some(of) = chain.filter_chain_match.as_ref() else {
                index.others.push(at);
                continue;
            };
            if of.destination_port.is_some() || !of.prefix_ranges.is_empty() {
                return None;
            }
            for name in &of.server_names {
                match name.strip_prefix('*').filter(|suffix| suffix.starts_with('.')) {
                    Some(suffix) => index.by_suffix.entry(suffix).or_default().push(at),
                    None => index.by_name.entry(name).or_default().push(at),
                }
            }
            if of.server_names.is_empty() {
                index.others.push(at);
            }
        }
        Some(index)
    }

    /// Returns the chains that a server name may match, in their order.
    fn candidates(&self, server_name: &str) -> Vec<usize> {
        let suffixes = server_name.match_indices('.').filter_map(|(at, _)| self.by_suffix.get(server_name.get(at..)?));
        let named = self.by_name.get(server_name).into_iter().chain(suffixes);
        let all: BTreeSet<usize> = named.chain([&self.others]).flatten().copied().collect();
        all.into_iter().collect()
    }
}

/// A filter chain by its name, or else by its number.
pub(super) fn chain_name(chain: &FilterChain, index: usize) -> String {
    if chain.name.is_empty() { index.to_string() } else { chain.name.clone() }
}

/// Returns the chain of a listener that matches the connection of a request.
pub fn chain_of<'a>(listener: &'a Placed<Listener>, port: u32, request: &Request) -> Option<(usize, &'a FilterChain)> {
    filter_chain(&ChosenListener { listener, why: None, port }, None, request, false).0
}

/// Describes the criteria of a chain.
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

/// Returns the matching chain with its index (the default chain has the index after the last), and with `explains` the tried chains.
pub(super) fn filter_chain<'a>(
    chosen: &ChosenListener<'a>,
    index: Option<&ChainIndex<'_>>,
    request: &Request,
    explains: bool,
) -> (Option<(usize, &'a FilterChain)>, Connection) {
    let listener = &chosen.listener.message;
    let none = FilterChainMatch::default();
    let of = |chain: &'a FilterChain| chain.filter_chain_match.as_ref();
    // Envoy adds the TLS inspector itself if a chain needs it.
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
        explains,
    };
    let mut tried: Vec<TriedChain> = listener
        .filter_chains
        .iter()
        .enumerate()
        .filter(|_| explains)
        .map(|(index, chain)| TriedChain {
            name: chain_name(chain, index),
            criteria: of(chain).map(criteria).unwrap_or_default(),
            ..TriedChain::default()
        })
        .collect();
    let mut left: Vec<usize> = match index.filter(|_| !explains) {
        Some(index) => index.candidates(&seen.server_name),
        None => (0..listener.filter_chains.len()).collect(),
    };
    for criterion in CRITERIA {
        let fits: Vec<(usize, Fit)> =
            left.iter().filter_map(|at| listener.filter_chains.get(*at).map(|chain| (*at, criterion(of(chain).unwrap_or(&none), &seen)))).collect();
        let best = fits.iter().filter_map(|(_, fit)| if let Fit::Fits(exact) = fit { Some(*exact) } else { None }).max();
        let is_best = |fit: &Fit| matches!(fit, Fit::Fits(exact) if Some(*exact) == best);
        let winner = fits.iter().find_map(|(at, fit)| is_best(fit).then_some(*at));
        left = fits.iter().filter(|(_, fit)| is_best(fit)).map(|(at, _)| *at).collect();
        for (at, fit) in fits {
            let Some(row) = tried.get_mut(at) else { continue };
            match fit {
                Fit::Fits(exact) if Some(exact) == best => {}
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
        settings: taken.filter(|_| explains).map(|(_, chain)| of_chain(chain)).unwrap_or_default(),
    };
    (taken, connection)
}
