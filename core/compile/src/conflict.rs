//! Finds hosts and ports that two gateways of one input both claim, by their IRs. Each gateway has its own Envoy, so this is only reported.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, SideRef};
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::ir::{NetworkFilter, SocketProtocol, VirtualHost};
use chancery_base::resource::{ObjectId, Objects, Origin};
use chancery_text::Str;

/// Written hosts by their names in lower case, without ports.
type Hosts = BTreeMap<String, Origin>;
/// Where a gateway listens, with the origin.
type Ports = BTreeMap<(u16, bool), (Str, Option<Origin>)>;

/// The hosts and ports that two sides both claim: findings, each with its side.
pub fn between(compilation: &Compilation, earlier: usize, later: usize) -> Vec<(usize, Diagnostic)> {
    let sides = (compilation.sides().nth(earlier), compilation.sides().nth(later));
    let (Some(earlier_side), Some(later_side)) = sides else { return Vec::new() };
    let mut found: Vec<(usize, Diagnostic)> = of_hosts(earlier_side, later_side).into_iter().map(|finding| (later, finding)).collect();
    for (is_later, finding) in of_ports(earlier_side, later_side) {
        found.push((if is_later { later } else { earlier }, finding));
    }
    found
}

fn of_hosts(earlier: SideRef<'_>, later: SideRef<'_>) -> Vec<Diagnostic> {
    let (objects, mut found) = (later.objects(), Vec::new());
    let (theirs, ours) = (hosts(earlier), hosts(later));
    let [them, us] = [earlier, later].map(|side| side.dialect().controller);
    for (host, origin) in &ours {
        let (message, other) = if let Some(other) = theirs.get(host) {
            (format!("{them} and {us} both serve the host `{host}`"), other)
        } else if let Some((wider, other)) = among(host, &theirs) {
            (format!("{us} serves the host `{host}`, which is one of {them}'s `{wider}`"), other)
        } else {
            continue;
        };
        let finding = Diagnostic::new(&codes::HOST_CLAIMED_TWICE, message, Place::origin(*origin))
            .related(Place::origin(*other), format!("{them} serves it here"))
            .help(format!("each has its own Envoy, so DNS decides which one receives a request: let only one of {them} and {us} name the host"));
        found.push(about(finding, objects, *origin));
    }
    for (host, other) in &theirs {
        let Some((wider, origin)) = among(host, &ours).filter(|_| !ours.contains_key(host)) else { continue };
        let message = format!("{them} serves the host `{host}`, which is one of {us}'s `{wider}`");
        let finding = Diagnostic::new(&codes::HOST_CLAIMED_TWICE, message, Place::origin(*origin))
            .related(Place::origin(*other), format!("{them} serves the host here"))
            .help("each has its own Envoy, so DNS decides which one receives a request: give the host a separate DNS record");
        found.push(about(finding, objects, *origin));
    }
    found
}

/// The most specific wildcard that contains a host. `*` alone claims no host.
fn among<'h>(host: &str, hosts: &'h Hosts) -> Option<(&'h str, &'h Origin)> {
    let dots = host.match_indices('.').map(|(at, _)| at);
    let mut wider = dots.filter_map(|at| hosts.get_key_value(&format!("*{}", host.get(at..)?)));
    wider.find(|(wider, _)| **wider != host).map(|(wider, origin)| (wider.as_str(), origin))
}

/// Each finding with whether it belongs to the later side.
fn of_ports(earlier: SideRef<'_>, later: SideRef<'_>) -> Vec<(bool, Diagnostic)> {
    let (objects, mut found) = (later.objects(), Vec::new());
    let [them, us] = [earlier, later].map(|side| side.dialect().controller);
    let theirs = ports(earlier);
    for ((port, udp), (address, ours)) in ports(later) {
        let Some((other, theirs)) = theirs.get(&(port, udp)).filter(|(other, _)| meets(&address, other)) else { continue };
        let shown = if udp { "UDP port" } else { "port" };
        let message = format!("the Envoys of {them} and {us} both listen at {shown} {port}");
        let said = |who: &str, address: &str| format!("{who} listens at {address}:{port}");
        let help = "in separate pods both can; on the network of one node, or behind one Service, only one of them can";
        let finding = |place, related, words| Diagnostic::new(&codes::PORT_CLAIMED_TWICE, message, place).related(related, words).help(help);
        match (ours, *theirs) {
            (Some(origin), other_origin) => {
                let related = other_origin.map_or(Place::Whole, Place::origin);
                let finding = finding(Place::origin(origin), related, said(them, other));
                found.push((true, about(finding, objects, origin)));
            }
            (None, Some(origin)) => {
                let finding = finding(Place::origin(origin), Place::Whole, format!("{} by default", said(us, &address)));
                found.push((false, about(finding, objects, origin)));
            }
            (None, None) => found.push((true, finding(Place::Whole, Place::Whole, format!("{} by default", said(us, &address))))),
        }
    }
    found
}

/// Whether two addresses overlap.
fn meets(one: &str, other: &str) -> bool {
    let is_any = |address: &str| matches!(address, "0.0.0.0" | "::");
    one == other || is_any(one) || is_any(other)
}

fn about(finding: Diagnostic, objects: &Objects, origin: Origin) -> Diagnostic {
    match objects.get(origin.object()) {
        Some(object) => finding.about(object.key.clone()),
        None => finding,
    }
}

/// The origin, unless the controller added the value itself.
fn written(origin: Option<Origin>) -> Option<Origin> {
    origin.filter(|origin| origin.object() != ObjectId::BUILT_IN)
}

/// The hosts that a gateway serves, by HTTP or SNI.
fn hosts(side: SideRef<'_>) -> Hosts {
    let mut hosts = Hosts::new();
    let mut add = |name: &str, origin: Option<Origin>| {
        if let Some(origin) = written(origin).filter(|_| !name.is_empty()) {
            hosts.entry(without_port(name).to_ascii_lowercase()).or_insert(origin);
        }
    };
    for chain in side.irs().flat_map(|ir| &ir.listeners).flat_map(|listener| &listener.chains) {
        for filter in &chain.filters {
            match filter {
                NetworkFilter::Http(manager) => each_domain(&manager.routes.virtual_hosts, &mut add),
                NetworkFilter::Tcp(_) => {
                    for name in chain.matcher.iter().flat_map(|matcher| &matcher.server_names) {
                        add(name, written(name.origin).or_else(|| chain.origins.first().copied()));
                    }
                }
            }
        }
    }
    for table in side.irs().flat_map(|ir| &ir.tables) {
        each_domain(&table.virtual_hosts, &mut add);
    }
    hosts
}

fn each_domain(virtual_hosts: &[VirtualHost], add: &mut impl FnMut(&str, Option<Origin>)) {
    for host in virtual_hosts.iter().filter(|host| !host.routes.is_empty()) {
        for domain in &host.domains {
            add(domain, written(domain.origin).or_else(|| host.origins.first().copied()));
        }
    }
}

/// A host without its port, also for `[::1]:80`.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port == "*" || (!port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())) => name,
        _ => host,
    }
}

/// Where a gateway listens for other programs.
fn ports(side: SideRef<'_>) -> Ports {
    let mut ports = Ports::new();
    for listener in side.irs().flat_map(|ir| &ir.listeners).filter(|listener| !listener.in_bootstrap) {
        let at = &listener.address;
        let is_local = at.address.starts_with("127.") || *at.address.value == *"::1";
        // A listener without an origin serves the controller itself, unless a part of it has an origin.
        let origin = written(at.port.origin).or_else(|| listener.origins.iter().copied().find_map(|origin| written(Some(origin))));
        let serves = listener.chains.iter().any(|chain| chain.origins.iter().any(|origin| written(Some(*origin)).is_some()));
        if !is_local && (origin.is_some() || serves) {
            let key = (at.port.value, at.protocol == SocketProtocol::Udp);
            ports.entry(key).or_insert_with(|| (Str::new(at.address.to_string()), origin));
        }
    }
    ports
}
