//! Answers requests with an Envoy. Does not simulate them; see `chancery_envoy::simulate`. The settings of routes, clusters and chains are in
//! `envoy_facts`.

use super::envoy_facts::{ChainFacts, ClusterFacts, chain_secrets, cors_headers, route_facts, service_shares};
use super::nginx::{is_compared_request_header, is_compared_response_header};
use super::nginx_facts::bytes_in_words;
use super::{AnswerEnding, AnswerTarget, Aspect, GatewayAnswer, PartPlace, PreparedEnvoy, Services, without_default_port};
use alloc::borrow::ToOwned as _;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_envoy::config::chains_of;
use chancery_envoy::emit::pb::matcher::{StringMatcher, string_matcher::MatchPattern};
use chancery_envoy::emit::pb::route::{Route, VirtualHost, header_matcher::HeaderMatchSpecifier, route::Action};
use chancery_envoy::simulate::{Gateway, HeaderChange, Outcome, Request, Simulation, endpoint_address};
use core::cell::RefCell;
use hashbrown::HashMap;

pub(super) struct OpenEnvoy<'r> {
    number: usize,
    gateway: Gateway<'r>,
    clusters: HashMap<&'r str, ClusterFacts>,
    chains: HashMap<String, ChainFacts>,
    routes: HashMap<String, (&'r Route, &'r VirtualHost)>,
    /// The largest bodies by the pointer of a route.
    body_limits: RefCell<HashMap<String, Option<u64>>>,
    /// The largest bodies by the regular expression for refused lengths.
    accepted_lengths: RefCell<HashMap<String, Option<u64>>>,
}

impl<'r> OpenEnvoy<'r> {
    pub(super) fn new(number: usize, of: &'r PreparedEnvoy<'_>, services: &Services) -> Self {
        let config = &of.config;
        let gateway = Gateway::new(config);
        let mut clusters = HashMap::new();
        for placed in config.clusters.iter() {
            let cluster = &placed.message;
            let addresses: Vec<String> = gateway.hosts(cluster).filter_map(endpoint_address).collect();
            let is_empty = gateway.endpoints(cluster).is_some() && addresses.is_empty();
            let shares = service_shares(&gateway, cluster, services);
            clusters.insert(cluster.name.as_str(), ClusterFacts::of(cluster, shares, &gateway.upstream_tls(cluster), &addresses, is_empty));
        }
        let secrets = chain_secrets(of);
        let mut chains = HashMap::new();
        for (pointer, chain) in config.listeners.iter().flat_map(chains_of) {
            chains.extend(ChainFacts::of(chain, secrets.get(&pointer)).map(|facts| (pointer, facts)));
        }
        let mut routes = HashMap::new();
        for (table, routes_of) in config.route_tables() {
            for (at, host) in routes_of.virtual_hosts.iter().enumerate() {
                for (number, route) in host.routes.iter().enumerate() {
                    routes.insert(format!("{table}/virtual_hosts/{at}/routes/{number}"), (route, host));
                }
            }
        }
        Self { number, gateway, clusters, chains, routes, body_limits: RefCell::default(), accepted_lengths: RefCell::default() }
    }

    pub(super) fn answer(&self, request: &Request) -> GatewayAnswer {
        let simulation = self.gateway.simulate(request);
        let pointer = |of: &str| simulation.places.iter().find(|place| place.of == of).map(|place| place.pointer.clone());
        let route = pointer("route");
        let place = route.clone().or_else(|| pointer("virtual_host")).map(|pointer| PartPlace::Pointer(self.number, pointer));
        let mut out = GatewayAnswer {
            rule: simulation.route.as_ref().map(|route| format!("route {}", route.path)),
            place,
            why: simulation.why.clone(),
            notes: simulation.notes.clone(),
            ..GatewayAnswer::default()
        };
        let chain = pointer("filter_chain").and_then(|pointer| Some((self.chains.get(&pointer)?, pointer)));
        if let Some((facts, pointer)) = chain.filter(|_| request.tls) {
            if facts.requires_certificate && !request.client_certificate {
                out.why = Some("the client sends no certificate; Envoy closes the connection".into());
                out.wants_certificate = true;
                return out;
            }
            let place = Some(PartPlace::Pointer(self.number, format!("{pointer}/transport_socket")));
            if let Some(certificate) = &facts.certificate {
                out.set(Aspect::Certificate, certificate.clone(), place.clone());
            }
            if let Some(name) = facts.client_name.as_ref().filter(|_| request.client_certificate) {
                out.set(Aspect::ClientName, name.clone(), place.clone());
            }
            out.set(Aspect::TlsVersions, facts.versions.clone(), place.clone());
            out.set(Aspect::HttpVersions, facts.http_versions.clone(), place);
        }
        let location = changed(&simulation.response_headers).remove("location");
        match simulation.outcome {
            Outcome::Forward if simulation.clusters.iter().all(|share| self.has_no_endpoints(&share.name)) && !simulation.clusters.is_empty() => {
                out.ending = AnswerEnding::Answered;
                out.status = Some(503);
                out.why = Some("the cluster has no endpoints".into());
            }
            Outcome::Forward => self.forwarded(&mut out, &simulation, route.as_deref(), request),
            Outcome::Redirect => {
                out.ending = AnswerEnding::Redirected;
                out.status = simulation.status;
                out.location = simulation.location.as_deref().map(without_default_port);
            }
            // A response of the configuration may redirect by its headers.
            Outcome::DirectResponse if simulation.status.is_some_and(|status| (300..400).contains(&status)) && location.is_some() => {
                out.ending = AnswerEnding::Redirected;
                out.status = simulation.status;
                out.location = location.as_deref().map(without_default_port);
            }
            Outcome::DirectResponse | Outcome::NoRoute | Outcome::NoVirtualHost => {
                out.ending = AnswerEnding::Answered;
                out.status = simulation.status.or(Some(404));
            }
            Outcome::Reset | Outcome::NoListener | Outcome::NoFilterChain => {}
        }
        out
    }

    fn has_no_endpoints(&self, cluster: &str) -> bool {
        self.clusters.get(cluster).is_some_and(|facts| facts.is_empty)
    }

    fn forwarded(&self, out: &mut GatewayAnswer, simulation: &Simulation, pointer: Option<&str>, request: &Request) {
        out.ending = AnswerEnding::Forwarded;
        let shares = |cluster: &str| {
            let known = self.clusters.get(cluster).map(|facts| facts.shares.clone()).filter(|shares| !shares.is_empty());
            known.unwrap_or_else(|| Vec::from([(BTreeSet::from([cluster.to_string()]), 1.0)]))
        };
        // Only a Service has a name; other servers are known by their host.
        let name = |cluster: &str| {
            let facts = self.clusters.get(cluster);
            let host = facts.filter(|facts| facts.shares.is_empty()).and_then(|facts| facts.host.clone());
            let largest = || shares(cluster).into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b)).and_then(|(names, _)| names.first().cloned());
            host.or_else(largest)
        };
        let targets = simulation
            .clusters
            .iter()
            .flat_map(|of| shares(&of.name).into_iter().map(|(names, share)| AnswerTarget { names, percent: of.percent * share }));
        out.targets = targets.collect();
        let place = out.place.clone();
        if let Some(upstream) = &simulation.upstream {
            out.set(Aspect::UpstreamPath, upstream.path.clone(), place.clone());
            out.set(Aspect::UpstreamHost, upstream.authority.clone(), place.clone());
            for (name, value) in request_headers(request, &upstream.headers_added, &upstream.headers_removed, &upstream.headers_by_envoy) {
                out.set(Aspect::RequestHeader(name), value, place.clone());
            }
        }
        let route = pointer.and_then(|pointer| self.routes.get(pointer));
        let mut response = changed(&simulation.response_headers);
        response.extend(route.into_iter().flat_map(|(route, host)| cors_headers(route, host, request.headers.first("origin"))));
        for (name, value) in response.into_iter().filter(|(name, _)| is_compared_response_header(name)) {
            out.set(Aspect::ResponseHeader(name), value, place.clone());
        }
        let at = |field: &str| Some(PartPlace::Pointer(self.number, format!("{}{field}", pointer.unwrap_or_default())));
        if let Some((route, host)) = route {
            for (aspect, value, field) in route_facts(route, host) {
                out.set(aspect, value, at(field));
            }
            if let (Some(limit), Some(pointer)) = (self.body_limit(request, pointer, host), pointer) {
                // A limit of the route itself would be lower or equal.
                if out.facts.get(&Aspect::BodySize).is_none_or(|fact| fact.value == "no limit") {
                    out.set(Aspect::BodySize, bytes_in_words(limit), Some(PartPlace::Pointer(self.number, pointer.to_owned())));
                }
            }
        }
        for condition in &simulation.conditions {
            let service = condition.cluster.as_deref().and_then(name);
            if condition.filter.contains("ext_authz") {
                condition.asked_path.iter().for_each(|path| out.set(Aspect::AuthenticationPath, path.clone(), place.clone()));
                out.set(Aspect::AuthenticationFailure, if condition.fails_open { "allowed" } else { "denied" }, place.clone());
            }
            match (condition.filter.contains("ext_authz"), service) {
                (true, Some(service)) => out.set(Aspect::Authentication, format!("asks {service}"), place.clone()),
                (true, None) => out.set(Aspect::Authentication, "asks a service", place.clone()),
                // Limits are facts of the route.
                (false, _) if condition.filter.contains("ratelimit") => {}
                (false, _) if condition.filter == "tls" => {}
                (false, _) => out.notes.push(format!("the answer assumes that {}", condition.wants)),
            }
        }
        if simulation.filters.iter().any(|step| step.name.contains("basic_auth") && step.enabled && step.verdict == "asks") {
            out.set(Aspect::Authentication, "basic authentication", place);
        }
        let largest = simulation.clusters.iter().reduce(|best, share| if share.weight > best.weight { share } else { best });
        if let Some((facts, share)) = largest.and_then(|share| Some((self.clusters.get(share.name.as_str())?, share))) {
            let pointer = simulation.places.iter().find(|place| place.of == format!("cluster {}", share.name)).map(|place| place.pointer.clone());
            let at = |field: &str| pointer.as_ref().map(|pointer| PartPlace::Pointer(self.number, format!("{pointer}{field}")));
            out.set(Aspect::ConnectTimeout, facts.connect_timeout.clone(), at("/connect_timeout"));
            out.set(Aspect::Protocol, facts.protocol.clone(), at("/transport_socket"));
            if let Some(tls) = &facts.tls {
                out.set(Aspect::UpstreamTls, tls.clone(), at("/transport_socket"));
            }
            let mirrors: Vec<String> = route.into_iter().flat_map(|(route, _)| super::envoy_facts::mirrors(route)).filter_map(name).collect();
            if !mirrors.is_empty() {
                out.set(Aspect::Mirror, mirrors.join(", "), out.place.clone());
            }
        }
    }
}

/// A length of a body that no gateway accepts.
const LARGEST: u64 = 1 << 50;

impl OpenEnvoy<'_> {
    /// Returns the largest body that a request may announce before another route of the virtual host answers 413. All requests of one route share
    /// the result.
    fn body_limit(&self, request: &Request, pointer: Option<&str>, host: &VirtualHost) -> Option<u64> {
        let pointer = pointer?;
        if let Some(known) = self.body_limits.borrow().get(pointer) {
            return *known;
        }
        let found = host.routes.iter().any(|route| length_matcher(route).is_some()).then(|| self.find_body_limit(request)).flatten();
        self.body_limits.borrow_mut().insert(pointer.to_owned(), found);
        found
    }

    fn find_body_limit(&self, request: &Request) -> Option<u64> {
        let mut larger = request.clone();
        larger.headers.set("content-length", &LARGEST.to_string());
        let simulation = self.gateway.simulate(&larger);
        let place = simulation.places.iter().find(|place| place.of == "route")?;
        let matcher = length_matcher(self.routes.get(&place.pointer)?.0)?;
        let Some(MatchPattern::SafeRegex(regex)) = &matcher.match_pattern else { return accepted_length(&matcher) };
        if let Some(known) = self.accepted_lengths.borrow().get(&regex.regex) {
            return *known;
        }
        let found = accepted_length(&matcher);
        self.accepted_lengths.borrow_mut().insert(regex.regex.clone(), found);
        found
    }
}

/// Returns the largest length that a condition for refused lengths does not match.
fn accepted_length(refused_by: &StringMatcher) -> Option<u64> {
    let is_refused = |length: u64| chancery_envoy::simulate::string_matches(refused_by, &length.to_string());
    let (mut accepted, mut refused) = (0, LARGEST);
    if is_refused(accepted) || !is_refused(refused) {
        return None;
    }
    while refused - accepted > 1 {
        let middle = accepted + (refused - accepted) / 2;
        if is_refused(middle) {
            refused = middle;
        } else {
            accepted = middle;
        }
    }
    Some(accepted)
}

/// Returns the condition on `Content-Length` of a route that answers 413.
fn length_matcher(route: &Route) -> Option<StringMatcher> {
    let Some(Action::DirectResponse(response)) = &route.action else { return None };
    let headers = &route.r#match.as_ref()?.headers;
    let header = headers.iter().find(|header| response.status == 413 && header.name.eq_ignore_ascii_case("content-length"))?;
    match header.header_match_specifier.as_ref()? {
        HeaderMatchSpecifier::StringMatch(matcher) => Some(matcher.clone()),
        HeaderMatchSpecifier::SafeRegexMatch(regex) => {
            Some(StringMatcher { match_pattern: Some(MatchPattern::SafeRegex(regex.clone())), ..StringMatcher::default() })
        }
        _ => None,
    }
}

/// Returns the headers of the request as the service receives them.
fn request_headers(request: &Request, added: &[HeaderChange], removed: &[String], own: &[HeaderChange]) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in request.headers.iter() {
        all.entry(name.to_string()).or_default().push(value.to_string());
    }
    for name in removed {
        all.remove(&name.to_ascii_lowercase());
    }
    for change in own.iter().chain(added) {
        let name = change.name.to_ascii_lowercase();
        match (&change.value, change.action) {
            (Some(value), "add") => all.entry(name).or_default().push(value.clone()),
            (Some(value), _) => drop(all.insert(name, Vec::from([value.clone()]))),
            (None, _) => drop(all.remove(&name)),
        }
    }
    let is_random = |value: &String| value.starts_with('<') && value.ends_with('>');
    let compared = all.into_iter().filter(|(name, _)| is_compared_request_header(name));
    compared
        .map(|(name, values)| {
            (name, values.iter().map(|value| if is_random(value) { "<generated>".into() } else { value.clone() }).collect::<Vec<_>>().join(", "))
        })
        .collect()
}

/// Returns the headers that the changes leave in a response that has none.
fn changed(changes: &[HeaderChange]) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for change in changes {
        let name = change.name.to_ascii_lowercase();
        match (&change.value, change.action) {
            (Some(value), "add") => all.entry(name).or_default().push(value.clone()),
            (Some(value), _) => drop(all.insert(name, Vec::from([value.clone()]))),
            (None, _) => drop(all.remove(&name)),
        }
    }
    all.into_iter().map(|(name, values)| (name, values.join(", "))).collect()
}
