//! Runs a request through an Envoy, from the connection to the upstream. The rules of each step are in the other modules.

use super::action::{inline, location, status};
use super::connection::{ChosenListener, chain_name, filter_chain, is_tls, listener};
use super::describe::{cluster, listener_name};
use super::filters::{Answer, Scopes, Stage, access, header_mutations, walk};
use super::headers::Peer;
use super::manager::{Prepared, is_upgrade, prepare};
use super::matcher::{MatchOdds, Subject, check, fraction_of, path_words};
use super::request::host_of;
use super::simulation::{
    ClusterShare, Condition, FRACTION, Failed, HostChoice, Outcome, Place, RouteRef, RouteShare, Simulation, TriedRoute, WiderRoute,
};
use super::table::{Host, Table};
use super::{Detail, Gateway, Protocol, Request};
use crate::config::managers_of;
use crate::emit::pb;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use pb::hcm::HttpConnectionManager;
use pb::route::{Route, VirtualHost, route::Action};

/// The state of a simulation.
pub(super) struct Run<'g, 'a> {
    pub(super) gateway: &'g Gateway<'a>,
    pub(super) request: &'g Request,
    pub(super) detail: Detail,
    /// The port of the listener.
    pub(super) port: u32,
    /// Whether Envoy's own answers are in the form for gRPC clients.
    pub(super) is_grpc: bool,
    /// The certificate that the client shows.
    peer: Peer,
    pub(super) out: Simulation,
}

pub(super) fn run<'a>(gateway: &Gateway<'a>, request: &Request, detail: Detail) -> Simulation {
    let mut run = Run { gateway, request, detail, port: 0, is_grpc: false, peer: Peer::default(), out: Simulation::default() };
    run.connect();
    run.adapt_for_grpc();
    run.out
}

impl<'a> Run<'_, 'a> {
    fn ends(&mut self, outcome: Outcome, why: impl Into<String>) {
        self.out.outcome = outcome;
        self.out.why = Some(why.into());
    }

    pub(super) fn answers(&mut self, status: u32, why: impl Into<String>) {
        self.ends(Outcome::DirectResponse, why);
        self.out.status = Some(status);
    }

    pub(super) fn place(&mut self, of: impl Into<String>, pointer: impl Into<String>) {
        self.out.places.push(Place { of: of.into(), pointer: pointer.into() });
    }

    fn connect(&mut self) {
        let (config, request) = (self.gateway.config, self.request);
        let Some(chosen) = listener(config, request) else {
            let why = match request.port {
                Some(port) => format!("nothing listens on port {port}"),
                None if config.listeners.is_empty() => "there is no listener".to_owned(),
                None => "no listener accepts requests: there are only the controller's own listeners".to_owned(),
            };
            return self.ends(Outcome::NoListener, why);
        };
        self.port = chosen.port;
        self.out.listener = Some(listener_name(&chosen.listener.message));
        self.place("listener", chosen.listener.pointer.clone());
        let (taken, connection) = filter_chain(&chosen, self.gateway.chains_of(&chosen.listener.message), request, self.detail == Detail::Tracing);
        self.out.connection = Some(connection);
        let Some((index, chain)) = taken else {
            return self.ends(Outcome::NoFilterChain, "no filter chain matches the connection; Envoy closes it");
        };
        let is_default = index >= chosen.listener.message.filter_chains.len();
        let pointer = if is_default { "default_filter_chain".to_owned() } else { format!("filter_chains/{index}") };
        let pointer = format!("{}/{pointer}", chosen.listener.pointer);
        self.out.filter_chain = Some(if is_default { "default_filter_chain".to_owned() } else { chain_name(chain, index) });
        self.place("filter_chain", pointer.clone());
        match (is_tls(chain), request.tls) {
            (true, false) => {
                return self.ends(Outcome::Reset, "the filter chain speaks TLS, and the request is plain text; Envoy closes the connection");
            }
            // Without HTTP, the chain forwards the bytes of TLS as they are.
            (false, true) if managers_of(chain).next().is_some() => {
                return self.ends(Outcome::Reset, "the request is TLS, and the filter chain speaks plain text; Envoy closes the connection");
            }
            _ => {}
        }
        self.handshake(chain);
        if self.closes_connection(chain, &pointer) {
            return;
        }
        let manager = managers_of(chain).next();
        match manager {
            Some((at, manager)) => self.http(manager, &format!("{pointer}/filters/{at}/typed_config"), &chosen),
            None => self.tcp(chain),
        }
    }

    /// Whether the rules of a network filter close the connection.
    fn closes_connection(&mut self, chain: &pb::listener::FilterChain, pointer: &str) -> bool {
        use pb::listener::filter::ConfigType;
        for (at, filter) in chain.filters.iter().enumerate() {
            let Some(ConfigType::TypedConfig(config)) = &filter.config_type else { continue };
            let Some(rules) = config.downcast_ref::<pb::network_rbac::Rbac>() else { continue };
            match access::connection(rules, self.request, self.port) {
                Ok(condition) => self.out.conditions.extend(condition),
                Err(why) => {
                    self.place("filter", format!("{pointer}/filters/{at}"));
                    self.ends(Outcome::Reset, format!("{}: {why}; Envoy closes the connection", filter.name));
                    return true;
                }
            }
        }
        false
    }

    fn tcp(&mut self, chain: &pb::listener::FilterChain) {
        use pb::listener::filter::ConfigType;
        use pb::tcp_proxy::tcp_proxy::ClusterSpecifier;
        let proxy = chain.filters.iter().find_map(|filter| match &filter.config_type {
            Some(ConfigType::TypedConfig(config)) => config.downcast_ref::<pb::tcp_proxy::TcpProxy>(),
            _ => None,
        });
        let names = chain.filters.iter().map(|filter| filter.name.as_str()).collect::<Vec<_>>().join(", ");
        let shares: Vec<(String, u32)> = match proxy.and_then(|proxy| proxy.cluster_specifier.as_ref()) {
            Some(ClusterSpecifier::Cluster(name)) => Vec::from([(name.clone(), 100)]),
            Some(ClusterSpecifier::WeightedClusters(all)) => all.clusters.iter().map(|of| (of.name.clone(), of.weight)).collect(),
            None if names.is_empty() => return self.ends(Outcome::Reset, "the filter chain has no filters; Envoy closes the connection"),
            None => {
                self.out.notes.push(format!("what the network filters do is not simulated: {names}"));
                return self.ends(Outcome::Reset, format!("the filter chain has no connection manager, but {names}"));
            }
        };
        self.ends(Outcome::Forward, "the filter chain proxies TCP: it forwards the connection without reading HTTP");
        self.share(shares);
    }

    pub(super) fn share(&mut self, shares: Vec<(String, u32)>) {
        let total: u64 = shares.iter().map(|(_, weight)| u64::from(*weight)).sum();
        for (name, weight) in shares {
            let percent = if total == 0 { 0.0 } else { f64::from(weight) * 100.0 / total as f64 };
            if !self.out.upstream_clusters.iter().any(|known| known.name == name) {
                let view = cluster(self.gateway, &name);
                if let Some(placed) = self.gateway.cluster(&name) {
                    self.place(format!("cluster {name}"), placed.pointer.clone());
                }
                self.out.upstream_clusters.push(view);
                self.out.notes.extend(self.gateway.unhealthy(&name));
            }
            self.out.clusters.push(ClusterShare { name, weight, percent });
        }
    }

    fn http(&mut self, manager: &'a HttpConnectionManager, pointer: &str, chosen: &ChosenListener<'a>) {
        self.place("http_connection_manager", pointer);
        let mut prepared = match prepare(manager, self.request, chosen.port, self.peer) {
            Ok(prepared) => prepared,
            Err(answer) => {
                self.out.location = answer.location;
                if !answer.field.is_empty() {
                    self.place("filter", format!("{pointer}/{}", answer.field));
                }
                self.answers(answer.status, answer.why);
                if self.out.location.is_some() {
                    self.out.outcome = Outcome::Redirect;
                }
                return;
            }
        };
        self.out.seen = Some(prepared.seen());
        self.is_grpc = is_grpc(&prepared.headers);
        let gateway = self.gateway;
        let table = match gateway.table(manager) {
            Ok(table) => table,
            Err(why) => {
                self.out.status = Some(404);
                return self.ends(Outcome::NoRoute, why);
            }
        };
        if !prepared.internal {
            table.config.internal_only_headers.iter().for_each(|name| {
                prepared.headers.remove(&name.to_ascii_lowercase());
            });
        }
        let looked_for = table.looked_for(&prepared.authority);
        let mut choice = HostChoice { looked_for: looked_for.clone(), of: table.config.virtual_hosts.len(), ..HostChoice::default() };
        let Some(found) = table.host(&looked_for) else {
            self.out.host = Some(choice);
            if self.filtered(manager, &prepared, Scopes::default(), false) {
                return;
            }
            self.out.status = Some(404);
            let alone = host_of(&looked_for);
            let port = if alone.len() < looked_for.len() && table.host(alone).is_some() {
                format!(" (one has {alone}: the port must match, and clients send every port except 80 and 443)")
            } else {
                String::new()
            };
            return self.ends(Outcome::NoVirtualHost, format!("no virtual host has the domain {looked_for}{port}; Envoy answers 404"));
        };
        choice.domain = Some(found.domain);
        choice.by = Some(found.by);
        choice.routes = found.host.routes.len();
        self.out.host = Some(choice);
        self.out.virtual_host = Some(found.host.name.clone());
        let host_pointer = format!("{}/virtual_hosts/{}", table.pointer, found.index);
        self.place("virtual_host", host_pointer.clone());
        let Some(routes) = table.routes(found.index) else { return };
        self.route(manager, &mut prepared, table, found.host, routes, &host_pointer);
    }

    /// Adds the conditions of the TLS handshake.
    fn handshake(&mut self, chain: &pb::listener::FilterChain) {
        let Some(context) = tls_context(chain).filter(|_| self.request.tls) else { return };
        // A listener asks for a certificate only if it can check one.
        if context.common_tls_context.as_ref().is_some_and(|common| common.validation_context_type.is_some()) {
            self.peer = Peer::of(self.request);
        }
        if context.require_client_certificate != Some(true) {
            return;
        }
        let wants = if self.request.client_certificate {
            "Envoy trusts the client's certificate"
        } else {
            "the client sends a certificate that Envoy trusts"
        };
        self.out.conditions.push(Condition { filter: "tls".to_owned(), wants: wants.to_owned(), ..Condition::default() });
    }

    /// Sends the request through the HTTP filters. Returns whether a filter answers it.
    fn filtered(&mut self, manager: &HttpConnectionManager, prepared: &Prepared, scopes: Scopes<'a>, is_routed: bool) -> bool {
        if self.detail == Detail::Route {
            return false;
        }
        let mut stage = Stage::new(self.gateway, self.request, prepared, scopes, self.port);
        stage.is_routed |= is_routed;
        let walked = walk(manager, &mut stage);
        self.out.filters = walked.steps;
        self.out.conditions.extend(walked.conditions);
        self.out.notes.extend(walked.notes);
        self.place_of_answer(&scopes);
        let Some(Answer { status, why, location, body, grpc_status, as_it_is, headers, lacks }) = walked.answer else { return false };
        self.out.lacks = lacks;
        // A filter's answer gets the response headers of a route that forwards (`prepareLocalReplyViaFilterChain` in
        // `source/common/http/filter_manager.cc`).
        if !as_it_is && scopes.route.is_some_and(|route| matches!(route.action, Some(Action::Route(_)))) {
            self.response_headers(&scopes, scopes.cluster, prepared, "");
        }
        self.out.response_headers.extend(headers);
        self.answers(status, why);
        if location.is_some() {
            self.out.outcome = Outcome::Redirect;
        }
        self.out.location = location;
        self.out.body = body;
        self.out.grpc_status = grpc_status;
        self.is_grpc &= !as_it_is;
        true
    }

    /// Records the place of the configuration that makes a filter answer, if any: of the route, of the virtual host, or of the filter itself.
    fn place_of_answer(&mut self, scopes: &Scopes<'a>) {
        let Some((at, step)) = self.out.filters.iter().enumerate().find(|(_, step)| step.verdict == "answers") else { return };
        let place = |of: &str| self.out.places.iter().find(|place| place.of == of).map(|place| place.pointer.clone());
        let name = step.name.replace('~', "~0").replace('/', "~1");
        let own = |of: &str| place(of).map(|pointer| format!("{pointer}/typed_per_filter_config/{name}"));
        let is_in = |configs: &BTreeMap<String, pb::Any>| configs.contains_key(&step.name);
        let pointer = if scopes.route.is_some_and(|route| is_in(&route.typed_per_filter_config)) {
            own("route")
        } else if scopes.host.is_some_and(|host| is_in(&host.typed_per_filter_config)) {
            own("virtual_host")
        } else {
            place("http_connection_manager").map(|manager| format!("{manager}/http_filters/{at}"))
        };
        if let Some(pointer) = pointer {
            self.place("filter", pointer);
        }
    }

    /// gRPC clients get Envoy's own answers as 200 with a gRPC status (`Utility::sendLocalReply` in `source/common/http/utility.cc`).
    fn adapt_for_grpc(&mut self) {
        let is_own = matches!(self.out.outcome, Outcome::Redirect | Outcome::DirectResponse | Outcome::NoRoute | Outcome::NoVirtualHost);
        let Some(status) = self.out.status.filter(|_| self.is_grpc && is_own && self.detail != Detail::Route) else { return };
        let grpc = self.out.grpc_status.unwrap_or(match status {
            400 => 13,
            401 => 16,
            403 => 7,
            404 => 12,
            429 | 502 | 503 | 504 => 14,
            _ => 2,
        });
        self.out.grpc_status = Some(grpc);
        self.out.status = Some(200);
        if self.out.outcome != Outcome::Redirect {
            self.out.outcome = Outcome::DirectResponse;
        }
        let why = self.out.why.take().map(|why| format!("{why}; ")).unwrap_or_default();
        self.out.why = Some(format!("{why}clients of gRPC get 200 with the grpc-status {grpc} instead of {status}"));
    }

    /// Whether the virtual host redirects the request to https.
    fn requires_https(host: &VirtualHost, prepared: &Prepared) -> bool {
        use pb::route::virtual_host::TlsRequirementType;
        let wants = match host.require_tls() {
            TlsRequirementType::None => false,
            TlsRequirementType::ExternalOnly => !prepared.internal,
            TlsRequirementType::All => true,
        };
        wants && prepared.forwarded_proto != "https"
    }

    fn redirect_to_https(&mut self, host: &VirtualHost, prepared: &Prepared) {
        let https = pb::route::RedirectAction {
            scheme_rewrite_specifier: Some(pb::route::redirect_action::SchemeRewriteSpecifier::HttpsRedirect(true)),
            ..Default::default()
        };
        self.out.location = Some(location(&pb::route::RouteMatch::default(), &https, prepared));
        self.out.status = Some(301);
        self.ends(Outcome::Redirect, format!("the virtual host requires TLS ({})", host.require_tls().as_str_name()));
    }

    fn route(
        &mut self,
        manager: &HttpConnectionManager,
        prepared: &mut Prepared,
        table: &Table<'a>,
        host: &'a VirtualHost,
        routes: &Host<'a>,
        host_pointer: &str,
    ) {
        if Self::requires_https(host, prepared) {
            if !self.filtered(manager, prepared, Scopes::default(), true) {
                self.redirect_to_https(host, prepared);
            }
            return;
        }
        if host.matcher.is_some() {
            self.out.notes.push("the virtual host chooses routes by a matcher tree, which is not simulated".to_owned());
        }
        let taken = self.choose(prepared, table, routes, host_pointer);
        let Some((index, route)) = taken else {
            if self.filtered(manager, prepared, Scopes::default(), false) {
                return;
            }
            self.out.status = Some(404);
            let why = match routes.routes.len() {
                0 => "the virtual host has no routes".to_owned(),
                1 => "the only route of the virtual host does not match the request".to_owned(),
                count => format!("none of the {count} routes of the virtual host matches the request"),
            };
            if self.detail == Detail::Tracing {
                self.find_wider(prepared, table, host);
            }
            return self.ends(Outcome::NoRoute, format!("{why}; Envoy answers 404"));
        };
        self.out.route = Some(reference(index, route));
        self.place("route", format!("{host_pointer}/routes/{index}"));
        if self.detail == Detail::Route {
            self.out.outcome = Outcome::Forward;
            return;
        }
        let cluster = match &route.action {
            Some(Action::Route(action)) => match &action.cluster_specifier {
                Some(pb::route::route_action::ClusterSpecifier::WeightedClusters(all)) => self.drawn(&all.clusters),
                _ => None,
            },
            _ => None,
        };
        let scopes = Scopes { cluster, route: Some(route), host: Some(host), table: Some(table.config) };
        if self.rejects_upgrade(manager, route, prepared) || self.filtered(manager, prepared, scopes, true) {
            return;
        }
        prepared.by_filters = header_mutations(manager, &scopes);
        self.act(route, prepared, &scopes);
    }

    /// Applies the route's action.
    fn act(&mut self, route: &'a Route, prepared: &mut Prepared, scopes: &Scopes<'a>) {
        let matcher = route.r#match.clone().unwrap_or_default();
        match &route.action {
            Some(Action::Route(action)) => self.forward(action, route, prepared, scopes, &matcher),
            Some(Action::Redirect(redirect)) => {
                self.out.location = Some(location(&matcher, redirect, prepared));
                self.out.status = Some(status(redirect));
                self.out.outcome = Outcome::Redirect;
                self.response_headers(scopes, None, prepared, "");
            }
            Some(Action::DirectResponse(response)) => {
                self.out.status = Some(response.status);
                self.out.outcome = Outcome::DirectResponse;
                self.out.body = response.body.as_ref().and_then(inline);
                self.response_headers(scopes, None, prepared, "");
            }
            Some(Action::FilterAction(_) | Action::NonForwardingAction(_)) | None => {
                self.answers(500, "the route has no action; a filter would have to answer");
            }
        }
    }

    /// Returns the route that matches the request.
    fn choose(&mut self, prepared: &Prepared, table: &Table<'a>, routes: &Host<'a>, host_pointer: &str) -> Option<(usize, &'a Route)> {
        let subject = subject_of(self.gateway, self.request, prepared, table, routes);
        let mut unknown = Vec::new();
        let candidates = routes.candidates(&prepared.path);
        let takes = |index: usize, unknown: &mut Vec<String>| {
            let route = routes.routes.get(index)?;
            let of = route.r#match.as_ref()?;
            Some((route, path_words(of), check(of, &subject, unknown)))
        };
        let mut tried = Vec::new();
        let mut winner = None;
        let all: Vec<usize> = if self.detail == Detail::Tracing { (0..routes.routes.len()).collect() } else { candidates.clone() };
        for index in all {
            let Some((route, path, checked)) = takes(index, &mut unknown) else { continue };
            let (matched, failed, odds) = match checked {
                Ok(taken) => (true, None, taken.odds),
                Err(failed) => (false, Some(failed), None),
            };
            tried.push(TriedRoute { index, name: route.name.clone(), path, matched, failed, odds });
            if matched {
                winner = Some((index, route));
                break;
            }
        }
        if self.detail == Detail::Tracing
            && let Some((winner, _)) = winner
        {
            for index in candidates.iter().copied().filter(|index| *index > winner) {
                if let Some((route, _, Ok(_))) = takes(index, &mut Vec::new()) {
                    self.out.shadowed.push(reference(index, route));
                }
            }
            let places: Vec<Place> = self
                .out
                .shadowed
                .iter()
                .map(|of| Place { of: format!("shadowed {}", of.index), pointer: format!("{host_pointer}/routes/{}", of.index) })
                .collect();
            self.out.places.extend(places);
        }
        if self.detail == Detail::Tracing {
            let takes = |index: &usize| takes(*index, &mut Vec::new()).map(|(route, _, checked)| (*index, route, checked));
            self.out.shares = shares(candidates.iter().filter_map(takes), &subject);
        }
        if let Some(odds) = tried.last().and_then(|last| last.odds) {
            let by = self.request.seed.map_or_else(|| "the likelier case".to_owned(), |seed| format!("the case of seed {seed}"));
            unknown.push(format!("the route matches {odds}% of requests; this is {by}"));
        }
        unknown.sort();
        unknown.dedup();
        self.out.notes.extend(unknown);
        self.out.tried = tried;
        winner
    }

    /// Records the first route of each other virtual host with a wider domain that would match the request.
    fn find_wider(&mut self, prepared: &Prepared, table: &Table<'a>, own: &VirtualHost) {
        for (at, domain) in table.all_hosts(&table.looked_for(&prepared.authority)) {
            let other = table.config.virtual_hosts.get(at).filter(|other| !core::ptr::eq(*other, own));
            let (Some(_), Some(routes)) = (other, table.routes(at)) else { continue };
            let subject = subject_of(self.gateway, self.request, prepared, table, routes);
            let is_match = |route: &Route| route.r#match.as_ref().is_some_and(|of| check(of, &subject, &mut Vec::new()).is_ok());
            let found = routes
                .candidates(&prepared.path)
                .into_iter()
                .find_map(|index| Some((index, routes.routes.get(index).filter(|route| is_match(route))?)));
            if let Some((index, route)) = found {
                self.place(format!("wider {}", self.out.wider.len()), format!("{}/virtual_hosts/{at}/routes/{index}", table.pointer));
                self.out.wider.push(WiderRoute { domain, route: reference(index, route) });
            }
        }
    }

    /// Whether Envoy rejects the protocol upgrade.
    fn rejects_upgrade(&mut self, manager: &HttpConnectionManager, route: &Route, prepared: &Prepared) -> bool {
        if self.request.protocol != Protocol::Http1 || !is_upgrade(&prepared.headers) {
            return false;
        }
        let wanted = prepared.headers.first("upgrade").unwrap_or_default().to_ascii_lowercase();
        let of_route = match &route.action {
            Some(Action::Route(action)) => {
                action.upgrade_configs.iter().find(|of| of.upgrade_type.eq_ignore_ascii_case(&wanted)).map(|of| of.enabled)
            }
            _ => None,
        };
        let of_manager = || manager.upgrade_configs.iter().find(|of| of.upgrade_type.eq_ignore_ascii_case(&wanted)).map(|of| of.enabled);
        if of_route.or_else(of_manager).is_some_and(|enabled| enabled != Some(false)) {
            return false;
        }
        self.answers(403, format!("neither the route nor the connection manager allows upgrades to {wanted}"));
        true
    }
}

/// Returns what the matchers of a virtual host's routes look at.
fn subject_of<'s>(gateway: &'s Gateway<'_>, request: &'s Request, prepared: &'s Prepared, table: &Table<'_>, routes: &'s Host<'_>) -> Subject<'s> {
    Subject {
        start: prepared.start(&request.method),
        headers: &prepared.headers,
        tls: request.tls,
        client_certificate: request.client_certificate,
        ignore_path_parameters: table.config.ignore_path_parameters_in_path_matching,
        seed: request.seed,
        runtime: &gateway.config.runtime,
        patterns: &routes.patterns,
    }
}

/// Returns how routes share the requests that only chance distinguishes; empty if one route matches all of them. Envoy compares one random number
/// per request with each route's fraction (`source/common/router/config_impl.cc`, `evaluateRuntimeMatch`), so a route gets the part that exceeds
/// the fractions of earlier routes.
fn shares<'r>(routes: impl Iterator<Item = (usize, &'r Route, Result<MatchOdds, Failed>)>, subject: &Subject<'_>) -> Vec<RouteShare> {
    let mut shares = Vec::new();
    let mut below = 0.0;
    for (index, route, checked) in routes {
        let is_by_chance = |failed: &Failed| failed.matcher == FRACTION;
        if checked.as_ref().is_err_and(|failed| !is_by_chance(failed)) {
            continue;
        }
        let upto = route.r#match.as_ref().map_or(100.0, |of| fraction_of(of, subject));
        if upto > below {
            shares.push(RouteShare { percent: upto - below, route: Some(reference(index, route)), clusters: clusters_of(route) });
            below = upto;
        }
        if below >= 100.0 {
            break;
        }
    }
    if !shares.is_empty() && below < 100.0 {
        shares.push(RouteShare { percent: 100.0 - below, ..RouteShare::default() });
    }
    if shares.len() > 1 { shares } else { Vec::new() }
}

/// The clusters that a route names.
fn clusters_of(route: &Route) -> Vec<String> {
    use pb::route::route_action::ClusterSpecifier;
    let Some(Action::Route(action)) = &route.action else { return Vec::new() };
    match &action.cluster_specifier {
        Some(ClusterSpecifier::Cluster(name)) => Vec::from([name.clone()]),
        Some(ClusterSpecifier::WeightedClusters(all)) => all.clusters.iter().map(|of| of.name.clone()).collect(),
        _ => Vec::new(),
    }
}

/// Returns how a filter chain speaks TLS with clients.
fn tls_context(chain: &pb::listener::FilterChain) -> Option<&pb::tls::DownstreamTlsContext> {
    use pb::base::transport_socket::ConfigType;
    let ConfigType::TypedConfig(config) = chain.transport_socket.as_ref()?.config_type.as_ref()?;
    let quic = config.downcast_ref::<pb::quic::QuicDownstreamTransport>().and_then(|of| of.downstream_tls_context.as_ref());
    config.downcast_ref::<pb::tls::DownstreamTlsContext>().or(quic)
}

/// Whether it is a gRPC request.
fn is_grpc(headers: &super::Headers) -> bool {
    let kind = headers.first("content-type").unwrap_or_default();
    kind.strip_prefix("application/grpc").is_some_and(|rest| rest.is_empty() || rest.starts_with('+'))
}

fn reference(index: usize, route: &Route) -> RouteRef {
    RouteRef { index, name: route.name.clone(), path: route.r#match.as_ref().map(path_words).unwrap_or_default() }
}
