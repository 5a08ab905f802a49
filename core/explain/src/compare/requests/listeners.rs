//! Pairs the listeners of both sides, and divides requests by the connections that filter chains distinguish and the hosts that route tables
//! distinguish. Does not compare routes; see `hosts`.

use super::behaviour;
use super::both::{Both, scheme_of};
use super::chains::{self, chains};
use super::difference::{Relevance, Scene, pointer};
use super::frames::{self, Frame, IdleChange};
use super::hosts::{self, PlacedHost};
use super::place::{self, UNKNOWN_HOST, any_port, witness};
use super::report::RequestPlace;
use super::work::Work;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::config::{EnvoyConfig, Placed, managers_of};
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{Request, Simulation, Table, bound, chain_of, is_own, is_tls};
use core::net::IpAddr;
use pb::hcm::HttpConnectionManager;
use pb::listener::{FilterChain, FilterChainMatch, Listener};

/// Which listeners are compared with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListenerPairing {
    /// Listeners on the same port.
    #[default]
    SamePort,
    /// The first cleartext listener and the first TLS listener of each side, on any port: the usual ports before others.
    SameRole,
}

type Bound<'a> = (&'a Placed<Listener>, u32);
type ListenerPair<'a> = [Option<Bound<'a>>; 2];

/// Compares all listeners.
pub(super) fn compare(work: &mut Work<'_, '_>) {
    for pair in pairs(work) {
        compare_pair(work, &pair);
    }
}

fn all_bound<'a>(config: &'a EnvoyConfig, own: &[&str], work: &mut Work<'_, '_>) -> Vec<Bound<'a>> {
    let mut out = Vec::new();
    for listener in config.listeners.iter().filter(|of| !own.iter().any(|own| of.message.name.starts_with(own))) {
        match bound(&listener.message) {
            Some((_, port, false)) => out.push((listener, port)),
            Some((.., true)) => drop(work.budget.limits.insert("UDP listeners (HTTP/3) were not compared.".to_owned())),
            None => drop(work.budget.limits.insert("Listeners without a port were not compared.".to_owned())),
        }
    }
    out
}

fn pairs<'a>(work: &mut Work<'_, 'a>) -> Vec<ListenerPair<'a>> {
    let [before, after] = work.sides;
    let [own_old, own_new] = work.options.own_listeners;
    let (old, new) = (all_bound(before.config, own_old, work), all_bound(after.config, own_new, work));
    if old.iter().chain(&new).all(|(listener, _)| is_own(&listener.message)) && before.config.clusters != after.config.clusters {
        work.budget.cut("Neither side has a listener for users' requests, so none could be tried.");
    }
    match work.options.pairing {
        ListenerPairing::SamePort => by_port(&old, &new),
        ListenerPairing::SameRole => by_role(&old, &new, work),
    }
}

fn by_port<'a>(old: &[Bound<'a>], new: &[Bound<'a>]) -> Vec<ListenerPair<'a>> {
    let ports: BTreeSet<u32> = old.iter().chain(new).map(|(_, port)| *port).collect();
    let mut out = Vec::new();
    for port in ports {
        let mut olds: Vec<Bound<'a>> = old.iter().filter(|of| of.1 == port).copied().collect();
        let mut news: Vec<Bound<'a>> = new.iter().filter(|of| of.1 == port).copied().collect();
        let address = |of: &Bound<'a>| bound(&of.0.message).map(|(address, ..)| address.to_owned());
        // With several listeners on a port, the same address is preferred.
        for old in core::mem::take(&mut olds) {
            match news.iter().position(|new| address(new) == address(&old)) {
                Some(at) => out.push([Some(old), Some(news.remove(at))]),
                None => olds.push(old),
            }
        }
        let mut news = news.into_iter();
        for old in olds {
            out.push([Some(old), news.next()]);
        }
        out.extend(news.map(|new| [None, Some(new)]));
    }
    out
}

fn by_role<'a>(old: &[Bound<'a>], new: &[Bound<'a>], work: &mut Work<'_, '_>) -> Vec<ListenerPair<'a>> {
    let mut out = Vec::new();
    for (tls, usual, what) in [(false, [80, 8080], "plain text"), (true, [443, 8443], "TLS")] {
        let of = |all: &[Bound<'a>]| {
            let mut all: Vec<Bound<'a>> = all.iter().filter(|(listener, _)| chains(&listener.message).any(is_tls) == tls).copied().collect();
            all.sort_by_key(|(_, port)| (!usual.contains(port), *port));
            all.into_iter().next()
        };
        match (of(old), of(new)) {
            (None, None) => {}
            (Some(first), Some(second)) => {
                if first.1 != second.1 {
                    work.budget
                        .limits
                        .insert(format!("Port {} of the first side is compared with port {} of the second, for {what}.", first.1, second.1));
                }
                out.push([Some(first), Some(second)]);
            }
            one_sided => out.push([one_sided.0, one_sided.1]),
        }
    }
    let taken: BTreeSet<&str> = out.iter().flatten().flatten().map(|(listener, _)| listener.pointer.as_str()).collect();
    for (side, all) in [("first", old), ("second", new)] {
        for (listener, port) in all.iter().filter(|(listener, _)| !taken.contains(listener.pointer.as_str())) {
            work.budget.limits.insert(format!("The listener {} on port {port} of the {side} side was not compared.", listener.message.name));
        }
    }
    out
}

/// The properties of a connection that filter chains match.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    tls: bool,
    sni: Option<String>,
    alpn: Vec<String>,
    source: Option<IpAddr>,
    destination: Option<IpAddr>,
}

/// At most this many connections are tried for one listener.
const MOST_LINKS: usize = 20_000;

/// Returns the connections that the filter chains of a pair distinguish.
fn links(pair: &ListenerPair<'_>, work: &mut Work<'_, '_>) -> Vec<Link> {
    let listeners: Vec<&Listener> = pair.iter().flatten().map(|(listener, _)| &listener.message).collect();
    let wanted = || listeners.iter().flat_map(|listener| chains(listener)).filter_map(|chain| chain.filter_chain_match.as_ref());
    let mut names: BTreeSet<Option<String>> = BTreeSet::from([None]);
    for name in wanted().flat_map(|of| &of.server_names) {
        names.insert(Some(name.strip_prefix('*').map_or_else(|| name.clone(), |suffix| format!("x{suffix}"))));
    }
    if names.len() > 1 {
        names.insert(Some(UNKNOWN_HOST.to_owned()));
    }
    let mut alpn: BTreeSet<Vec<String>> = BTreeSet::from([Vec::new()]);
    alpn.extend(wanted().filter(|of| !of.application_protocols.is_empty()).map(|of| of.application_protocols.clone()));
    let addresses = |of: fn(&FilterChainMatch) -> [&[pb::base::CidrRange]; 2]| {
        let mut out: BTreeSet<Option<IpAddr>> = BTreeSet::from([None]);
        out.extend(wanted().flat_map(of).flatten().filter_map(|range| range.address_prefix.parse().ok()).map(Some));
        out
    };
    let mut sources = addresses(|of| [&of.direct_source_prefix_ranges, &of.source_prefix_ranges]);
    if wanted().any(|of| of.source_type != 0) {
        sources.insert(Some(IpAddr::from([127, 0, 0, 1])));
    }
    let destinations = addresses(|of| [&of.prefix_ranges, &[]]);
    if wanted().any(|of| !of.source_ports.is_empty()) {
        work.budget.limits.insert("Filter chains that match the client's port were assumed to match nothing.".to_owned());
    }
    let speaks_tls = listeners.iter().any(|listener| {
        chains(listener).any(|chain| {
            is_tls(chain) || chain.filter_chain_match.as_ref().is_some_and(|of| of.transport_protocol == "tls" || !of.server_names.is_empty())
        })
    });
    let mut out = Vec::new();
    for source in &sources {
        for destination in &destinations {
            out.push(Link { source: *source, destination: *destination, ..Link::default() });
            for (sni, alpn) in names.iter().filter(|_| speaks_tls).flat_map(|name| alpn.iter().map(move |alpn| (name, alpn))) {
                out.push(Link { tls: true, sni: sni.clone(), alpn: alpn.clone(), source: *source, destination: *destination });
            }
            if out.len() > MOST_LINKS {
                work.budget.cut(format!("If filter chains distinguish more than {MOST_LINKS} connections, not all were tried."));
                out.truncate(MOST_LINKS);
                return out;
            }
        }
    }
    out
}

/// What handles a connection on one side.
struct End<'t, 'a> {
    pointer: String,
    chain: &'a FilterChain,
    manager: Option<(String, &'a HttpConnectionManager)>,
    table: Option<&'t Table<'a>>,
}

fn end<'t, 'a>(work: &Work<'t, 'a>, side: usize, bound: Option<Bound<'a>>, request: &Request) -> Option<(usize, End<'t, 'a>)> {
    let (listener, port) = bound?;
    let (index, chain) = chain_of(listener, port, request)?;
    let last = index >= listener.message.filter_chains.len();
    let pointer = if last { format!("{}/default_filter_chain", listener.pointer) } else { format!("{}/filter_chains/{index}", listener.pointer) };
    let manager = managers_of(chain).next().map(|(at, manager)| (format!("{pointer}/filters/{at}/typed_config"), manager));
    let gateway = work.gateways.get(side)?;
    let table = manager.as_ref().and_then(|(_, manager)| gateway.table(manager).ok());
    Some((index, End { pointer, chain, manager, table }))
}

/// Whether a connection is in cleartext, whether no filter chain matches it, and the matching chains of both sides.
type MatchedChains = (bool, bool, [Option<usize>; 2]);

fn compare_pair<'a>(work: &mut Work<'_, 'a>, pair: &ListenerPair<'a>) {
    let ports = pair.map(|bound| bound.map(|(_, port)| port));
    let blank = |link: &Link| Both {
        request: Request {
            method: "GET".to_owned(),
            authority: link.sni.clone().unwrap_or_else(|| UNKNOWN_HOST.to_owned()),
            path: "/".to_owned(),
            tls: link.tls,
            sni: link.sni.clone(),
            alpn: link.alpn.clone(),
            source: link.source,
            destination: link.destination,
            ..Request::default()
        },
        ports,
        credential: None,
    };
    if let [Some((old, _)), Some((new, _))] = pair {
        if chains::are_same_listeners(&old.message, &new.message) && work.changed.is_empty() && tables_are_the_same(work) {
            return;
        }
        let pointers = [old.pointer.clone(), new.pointer.clone()];
        if !work.options.routes_only {
            let place = place::of_all(&blank(&Link::default()), &pointers);
            let frame = Frame { what: "listener", sides: [&old.message, &new.message], without: frames::LISTENER, pointers };
            frames::compare_settings(work, frame, place, &blank(&Link::default()));
        }
    }
    // Connections by the chains that match them on both sides; unmatched connections come last.
    let mut by_chains: BTreeMap<MatchedChains, Vec<Link>> = BTreeMap::new();
    for link in links(pair, work) {
        let request = blank(&link).request;
        let chains = [0, 1].map(|side| end(work, side, pair[side], &request).map(|(index, _)| index));
        // TLS first, since a listener with TLS is meant for it.
        by_chains.entry((!link.tls, chains == [None; 2], chains)).or_default().push(link);
    }
    let mut framed = BTreeSet::new();
    let mut owners = BTreeSet::new();
    for links in by_chains.into_values() {
        let Some(link) = links.first() else { continue };
        let request = blank(link).request;
        let ends = [end(work, 0, pair[0], &request), end(work, 1, pair[1], &request)].map(|end| end.map(|(_, end)| end));
        let [Some(old), Some(new)] = &ends else {
            one_sided(work, pair, &ends, &links, &blank, &mut owners);
            continue;
        };
        let alike = || {
            let table = old.table.map(|table| table.config);
            chains::are_same_chains(old.chain, new.chain)
                && tables_are_the_same(work)
                && (work.changed.is_empty() || !frames::mentions(old.chain, table, &work.changed))
        };
        if alike() {
            continue;
        }
        if is_tls(old.chain) != is_tls(new.chain) {
            // One side closes the connection.
            one_sided(work, pair, &ends, &links, &blank, &mut owners);
            continue;
        }
        if old.table.is_none() || new.table.is_none() {
            one_sided(work, pair, &ends, &links, &blank, &mut owners);
        }
        if is_tls(old.chain) != link.tls && is_tls(new.chain) != link.tls && old.table.is_some() && new.table.is_some() {
            // Both sides close the connection.
            continue;
        }
        if !work.options.routes_only && framed.insert([old.pointer.clone(), new.pointer.clone()]) {
            settings(work, pair, [old, new], &links, &blank(link));
        }
        if let (Some(old), Some(new)) = (old.table, new.table) {
            tables(work, pair, [old, new], &links, &blank);
        }
    }
}

/// Whether the route tables that connection managers request by name are equal on both sides.
fn tables_are_the_same(work: &Work<'_, '_>) -> bool {
    let [before, after] = &work.sides;
    let (old, new) = (&before.config.routes, &after.config.routes);
    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.message == new.message)
}

/// Sets the handshake's server name to the request's host, if the same filter chains still match.
fn name_host<'a>(work: &Work<'_, 'a>, pair: &ListenerPair<'a>, both: &mut Both) {
    let host = chancery_envoy::simulate::host_of(&both.request.authority).to_owned();
    if both.request.sni.as_ref().is_none_or(|name| *name == host) || host.parse::<IpAddr>().is_ok() {
        return;
    }
    let chains = |request: &Request| [0, 1].map(|side| end(work, side, pair[side], request).map(|(index, _)| index));
    let named = Request { sni: Some(host), ..both.request.clone() };
    if chains(&named) == chains(&both.request) {
        both.request = named;
    }
}

/// At most this many routes are tried for a connection that only one side accepts.
const MOST_WITNESSES: usize = 200;

/// At most this many resources get their own change, for a connection that only one side accepts.
const MOST_OWN_CHANGES: usize = 20;

/// Reports connections that end early on one side: no listener, no matching filter chain, closed, or not read as HTTP. Each resource with affected
/// routes is reported separately (`owners` holds the resources reported so far), and everything else as a whole by its most relevant request.
fn one_sided<'a>(
    work: &mut Work<'_, 'a>,
    pair: &ListenerPair<'a>,
    ends: &[Option<End<'_, 'a>>; 2],
    links: &[Link],
    blank: &dyn Fn(&Link) -> Both,
    owners: &mut BTreeSet<String>,
) {
    let has = pair.map(|bound| bound.is_some());
    let mut tried = 0;
    // The most relevant request of each kind: of routes that the controller added, and of written routes that no route witness showed.
    let mut best: [Option<(Relevance, Both, [Simulation; 2])>; 2] = [None, None];
    let report = |work: &mut Work<'_, 'a>, place: RequestPlace, both: &Both, simulations: &[Simulation; 2], owner: &str| {
        let mut met = behaviour::compare(work, &Scene::default(), simulations);
        for of in met.iter_mut().filter(|of| of.what == "outcome") {
            of.alike = Some(format!("pair {has:?} {:?} {owner}", [&simulations[0], &simulations[1]].map(|of| of.outcome)));
        }
        let [before, after] = [&simulations[0], &simulations[1]].map(pointer);
        work.add(met, RequestPlace { before, after, ..place }, both, simulations);
    };
    for link in links {
        if tried > MOST_WITNESSES {
            break;
        }
        let blank = blank(link);
        let mut routes = Vec::new();
        for table in ends.iter().flatten().filter_map(|end| end.table) {
            routes.extend(hosts::witnesses(work, table, &blank, MOST_WITNESSES));
        }
        routes.iter_mut().flat_map(|route| &mut route.requests).for_each(|both| name_host(work, pair, both));
        let requests = routes.iter().map(|route| (Some(route), route.requests.as_slice()));
        for (route, requests) in requests.chain([(None, core::slice::from_ref(&blank))]) {
            tried += 1;
            if tried > MOST_WITNESSES || !work.budget.take_request() {
                break;
            }
            let takes = |simulation: &Simulation| route.is_some_and(|route| simulation.places.iter().any(|place| place.pointer == route.pointer));
            let mut simulated = requests.iter().map(|both| (both, work.simulate(both)));
            let Some(first) = simulated.next() else { continue };
            let (both, simulations) = match first.1.iter().any(takes) {
                true => first,
                false => simulated.find(|(_, simulations)| simulations.iter().any(takes)).unwrap_or(first),
            };
            if behaviour::compare(work, &Scene::default(), &simulations).is_empty() {
                continue;
            }
            match (route.filter(|_| simulations.iter().any(takes)), work.written_for(&simulations)) {
                (Some(route), Some(owner)) => {
                    let is_own = owners.contains(&owner) || owners.len() < MOST_OWN_CHANGES;
                    report(work, route.place.clone(), both, &simulations, if is_own { &owner } else { "others" });
                    owners.insert(owner);
                }
                (_, owner) => {
                    let relevance = work.relevance(&simulations);
                    let best = &mut best[usize::from(owner.is_some())];
                    if best.as_ref().is_none_or(|(known, ..)| *known < relevance) {
                        *best = Some((relevance, both.clone(), simulations));
                    }
                }
            }
        }
    }
    if tried > MOST_WITNESSES {
        work.budget.cut(format!("For connections that only one side accepts, only the first {MOST_WITNESSES} routes were tried."));
    }
    let [unwritten, written] = best;
    let Some((_, both, simulations)) = unwritten.or_else(|| written.filter(|_| owners.is_empty())) else { return };
    let [port_before, port_after] = both.ports;
    // Without a listener, server names do not matter unless they select a filter chain.
    let known = |link: &Link| link.sni.clone().filter(|name| name != UNKNOWN_HOST);
    let hosts =
        if has == [true; 2] || links.iter().all(|link| known(link).is_some()) { links.iter().filter_map(known).collect() } else { Vec::new() };
    // Describes the other requests of the same connections, if some were reported separately.
    let conditions = if owners.is_empty() { Vec::new() } else { Vec::from(["other than above".to_owned()]) };
    let speaks_tls =
        links.first().is_some_and(|link| link.tls) || has != [true; 2] && pair.iter().flatten().any(|(of, _)| chains(&of.message).any(is_tls));
    let scheme = speaks_tls.then(|| scheme_of(&both.request));
    let place = RequestPlace { scheme, hosts, path: None, conditions, port_before, port_after, before: None, after: None };
    report(work, place, &both, &simulations, "");
}

/// Compares the settings of filter chains, connection managers and tables.
fn settings<'a>(work: &mut Work<'_, 'a>, pair: &ListenerPair<'a>, ends: [&End<'_, 'a>; 2], links: &[Link], both: &Both) {
    let [old, new] = ends;
    let names: Vec<String> = links.iter().filter_map(|link| link.sni.clone()).filter(|name| name != UNKNOWN_HOST).collect();
    let all = |pointers: &[String; 2]| RequestPlace { hosts: names.clone(), ..place::of_all(both, pointers) };
    let show = |work: &mut Work<'_, 'a>, frame: Frame<'_>| {
        let place = all(&frame.pointers);
        frames::compare_settings(work, frame, place, both);
    };
    let chains = [old.chain, new.chain].map(frames::chain);
    let pointers = [old.pointer.clone(), new.pointer.clone()];
    show(work, Frame { what: "filter_chain", sides: [&chains[0], &chains[1]], without: &[], pointers });
    if let (Some((before, first)), Some((after, second))) = (&old.manager, &new.manager) {
        let pointers = [before.clone(), after.clone()];
        let tables = [old.table, new.table].map(|table| table.map(|table| table.config));
        let place = all(&pointers);
        for change in frames::compare_managers(work, [*first, *second], tables, pointers, place, both) {
            idle_change(work, pair, change, both, [before, after]);
        }
    }
    if let (Some(before), Some(after)) = (old.table, new.table) {
        let pointers = [before.pointer.clone(), after.pointer.clone()];
        show(work, Frame { what: "route_config", sides: [before.config, after.config], without: frames::TABLE, pointers });
    }
}

/// Reports a changed filter for the hosts that use it.
fn idle_change<'a>(work: &mut Work<'_, 'a>, pair: &ListenerPair<'a>, change: IdleChange, both: &Both, managers: [&String; 2]) {
    let mut shown = both.clone();
    if let Some(domain) = change.domains.iter().min_by_key(|domain| domain.contains('*')) {
        shown.request.authority = witness(domain, any_port(both.ports));
        name_host(work, pair, &mut shown);
    }
    let simulations = work.simulate(&shown);
    let scheme = work.has_tls.then(|| scheme_of(&shown.request));
    let pointers = managers.map(Clone::clone);
    let place = RequestPlace { scheme, hosts: change.domains, path: Some("/*".to_owned()), ..place::of_all(&shown, &pointers) };
    work.add(change.met, place, &shown, &simulations);
}

/// Compares the hosts that two route tables distinguish.
fn tables<'a>(work: &mut Work<'_, 'a>, pair: &ListenerPair<'a>, tables: [&Table<'a>; 2], links: &[Link], blank: &dyn Fn(&Link) -> Both) {
    let Some(any) = links.first() else { return };
    let mut by_hosts: BTreeMap<[Option<usize>; 2], (Vec<String>, Both)> = BTreeMap::new();
    let domains: BTreeSet<&str> =
        tables.iter().flat_map(|table| &table.config.virtual_hosts).flat_map(|host| &host.domains).map(String::as_str).chain(["*"]).collect();
    // Exact names are better witnesses than wildcards.
    let mut domains: Vec<&str> = domains.into_iter().collect();
    domains.sort_by_key(|domain| domain.contains('*'));
    for domain in domains {
        let port = any_port(blank(any).ports);
        let name = witness(domain, port);
        let host = chancery_envoy::simulate::host_of(&name);
        // The handshake uses the request's host if such a connection reaches these tables.
        let link = links.iter().find(|link| link.sni.as_deref() == Some(host)).unwrap_or(any);
        let mut both = blank(link);
        if link.tls && link.sni.is_none() {
            both.request.sni = None;
        }
        both.request.authority.clone_from(&name);
        name_host(work, pair, &mut both);
        let found = tables.map(|table| table.host(&table.looked_for(&name)).map(|found| found.index));
        let entry = by_hosts.entry(found).or_insert_with(|| (Vec::new(), both));
        entry.0.push(domain.to_string());
    }
    for (found, (domains, both)) in by_hosts {
        let [old, new] = [0, 1].map(|side| found[side].map(|index| PlacedHost { table: tables[side], index }));
        if old.is_none() && new.is_none() {
            continue;
        }
        if let (Some(first), Some(second), false) = (old, new, work.options.routes_only) {
            hosts::compare_frames(work, [first, second], &domains, &both);
        }
        hosts::compare(work, [old, new], &domains, &both);
    }
}
