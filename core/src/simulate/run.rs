//! A request's way, from the connection to the upstream.
//!
//! What must not be here: the rules of any one step.

use super::action::{inline, location, not_found_status, rewritten, seconds, status};
use super::connection::{Chosen, chain_name, filter_chain, is_tls, listener};
use super::describe::{Scopes, cluster, filters, is_preflight, listener_name, settings};
use super::headers::{Level, Values, mutate};
use super::manager::{Prepared, is_upgrade, prepare};
use super::matcher::{Subject, check, path_words};
use super::request::host_of;
use super::simulation::{ClusterShare, HeaderChange, HostChoice, Outcome, Place, RouteRef, Simulation, Tried, Upstream};
use super::table::{Host, Table};
use super::{Detail, Gateway, Protocol, Request};
use crate::backend::envoy::v3::pb;
use crate::envoy_config::managers_of;
use crate::order::Order as _;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use pb::hcm::HttpConnectionManager;
use pb::route::{Route, RouteAction, VirtualHost, route::Action};

/// What is known of the request on its way.
struct Run<'g, 'a> {
    gateway: &'g Gateway<'a>,
    request: &'g Request,
    detail: Detail,
    out: Simulation,
}

pub(super) fn run<'a>(gateway: &Gateway<'a>, request: &Request, detail: Detail) -> Simulation {
    let mut run = Run { gateway, request, detail, out: Simulation::default() };
    run.connect();
    run.out
}

impl<'a> Run<'_, 'a> {
    fn ends(&mut self, outcome: Outcome, why: impl Into<String>) {
        self.out.outcome = outcome;
        self.out.why = Some(why.into());
    }

    fn answers(&mut self, status: u32, why: impl Into<String>) {
        self.ends(Outcome::DirectResponse, why);
        self.out.status = Some(status);
    }

    fn place(&mut self, of: impl Into<String>, pointer: impl Into<String>) {
        self.out.places.push(Place { of: of.into(), pointer: pointer.into() });
    }

    fn connect(&mut self) {
        let (config, request) = (self.gateway.config, self.request);
        let Some(chosen) = listener(config, request) else {
            let why = match request.port {
                Some(port) => format!("no listener is bound to port {port}"),
                None => "there is no listener".to_owned(),
            };
            return self.ends(Outcome::NoListener, why);
        };
        self.out.listener = Some(listener_name(&chosen.listener.message));
        self.place("listener", chosen.listener.pointer.clone());
        let (taken, connection) = filter_chain(&chosen, request);
        let sees_tls = connection.transport_protocol == "tls";
        self.out.connection = Some(connection);
        let Some((index, chain)) = taken else {
            return self.ends(Outcome::NoFilterChain, "no filter chain takes the connection; Envoy closes it");
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
            (false, true) if !sees_tls || managers_of(chain).next().is_some() => {
                return self.ends(Outcome::Reset, "the request is TLS, and the filter chain speaks plain text; Envoy closes the connection");
            }
            _ => {}
        }
        let manager = managers_of(chain).next();
        match manager {
            Some((at, manager)) => self.http(manager, &format!("{pointer}/filters/{at}/typed_config"), &chosen),
            None => self.tcp(chain),
        }
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
        self.ends(Outcome::Forward, "the connection is forwarded as it is: the filter chain proxies TCP, and knows no HTTP");
        self.share(shares);
    }

    fn share(&mut self, shares: Vec<(String, u32)>) {
        let total: u64 = shares.iter().map(|(_, weight)| u64::from(*weight)).sum();
        for (name, weight) in shares {
            let percent = if total == 0 { 0.0 } else { f64::from(weight) * 100.0 / total as f64 };
            if !self.out.upstream_clusters.iter().any(|known| known.name == name) {
                let view = cluster(self.gateway, &name);
                if let Some(placed) = self.gateway.cluster(&name) {
                    self.place(format!("cluster {name}"), placed.pointer.clone());
                }
                self.out.upstream_clusters.push(view);
            }
            self.out.clusters.push(ClusterShare { name, weight, percent });
        }
    }

    fn http(&mut self, manager: &'a HttpConnectionManager, pointer: &str, chosen: &Chosen<'a>) {
        self.place("http_connection_manager", pointer);
        let mut prepared = match prepare(manager, self.request, chosen.port) {
            Ok(prepared) => prepared,
            Err(answer) => {
                self.out.location = answer.location;
                self.answers(answer.status, answer.why);
                if self.out.location.is_some() {
                    self.out.outcome = Outcome::Redirect;
                }
                return;
            }
        };
        self.out.seen = Some(prepared.seen());
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
            self.out.status = Some(404);
            self.out.filters = filters(manager, &Scopes { route: None, host: None, table: Some(table.config) });
            let alone = host_of(&looked_for);
            let port = if alone.len() < looked_for.len() && table.host(alone).is_some() {
                format!(" (one has {alone}: the port counts here, and clients send any but 80 and 443)")
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

    /// Whether the virtual host sends the request to https.
    fn redirected_to_https(&mut self, host: &VirtualHost, prepared: &Prepared) -> bool {
        use pb::route::virtual_host::TlsRequirementType;
        let wants = match host.require_tls() {
            TlsRequirementType::None => false,
            TlsRequirementType::ExternalOnly => !prepared.internal,
            TlsRequirementType::All => true,
        };
        if !wants || prepared.forwarded_proto == "https" {
            return false;
        }
        let https = pb::route::RedirectAction {
            scheme_rewrite_specifier: Some(pb::route::redirect_action::SchemeRewriteSpecifier::HttpsRedirect(true)),
            ..Default::default()
        };
        self.out.location = Some(location(&pb::route::RouteMatch::default(), &https, prepared));
        self.out.status = Some(301);
        self.ends(Outcome::Redirect, format!("the virtual host wants TLS ({})", host.require_tls().as_str_name()));
        true
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
        if self.redirected_to_https(host, prepared) {
            return;
        }
        if host.matcher.is_some() {
            self.out.notes.push("the virtual host chooses routes by a matcher tree, which is not simulated".to_owned());
        }
        let taken = self.choose(prepared, table, routes, host_pointer);
        let scopes = Scopes { route: taken.map(|(_, route)| route), host: Some(host), table: Some(table.config) };
        if self.detail != Detail::Route {
            self.out.filters = filters(manager, &scopes);
        }
        let Some((index, route)) = taken else {
            self.out.status = Some(404);
            let count = routes.routes.len();
            return self.ends(Outcome::NoRoute, format!("none of the {count} routes of the virtual host takes the request; Envoy answers 404"));
        };
        self.out.route = Some(reference(index, route));
        self.place("route", format!("{host_pointer}/routes/{index}"));
        if self.detail == Detail::Route {
            self.out.outcome = Outcome::Forward;
            return;
        }
        if is_preflight(manager, &scopes, &self.request.method, &prepared.headers, self.gateway.config) {
            return self.answers(200, "it is a preflight request of CORS, which the CORS filter answers");
        }
        if self.refuses_upgrade(manager, route, prepared) {
            return;
        }
        let matcher = route.r#match.clone().unwrap_or_default();
        match &route.action {
            Some(Action::Route(action)) => self.forward(action, route, prepared, &scopes, &matcher),
            Some(Action::Redirect(redirect)) => {
                self.out.location = Some(location(&matcher, redirect, prepared));
                self.out.status = Some(status(redirect));
                self.out.outcome = Outcome::Redirect;
                self.response_headers(&scopes, None, prepared, "");
            }
            Some(Action::DirectResponse(response)) => {
                self.out.status = Some(response.status);
                self.out.outcome = Outcome::DirectResponse;
                self.out.body = response.body.as_ref().and_then(inline);
                self.response_headers(&scopes, None, prepared, "");
            }
            Some(Action::FilterAction(_) | Action::NonForwardingAction(_)) | None => {
                self.answers(500, "the route says nothing of where requests go; filters would have to answer");
            }
        }
    }

    /// The route that takes the request.
    fn choose(&mut self, prepared: &Prepared, table: &Table<'a>, routes: &Host<'a>, host_pointer: &str) -> Option<(usize, &'a Route)> {
        let subject = Subject {
            start: prepared.start(&self.request.method),
            headers: &prepared.headers,
            tls: self.request.tls,
            client_certificate: self.request.client_certificate,
            ignore_path_parameters: table.config.ignore_path_parameters_in_path_matching,
            seed: self.request.seed,
            runtime: &self.gateway.config.runtime,
            patterns: &routes.patterns,
        };
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
            tried.push(Tried { index, name: route.name.clone(), path, matched, failed, odds });
            if matched {
                winner = Some((index, route));
                break;
            }
        }
        if self.detail == Detail::Tracing
            && let Some((winner, _)) = winner
        {
            for index in candidates.into_iter().filter(|index| *index > winner) {
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
        if let Some(odds) = tried.last().and_then(|last| last.odds) {
            let by = self.request.seed.map_or_else(|| "the likelier case".to_owned(), |seed| format!("the case of seed {seed}"));
            unknown.push(format!("the route takes {odds}% of requests; this is {by}"));
        }
        unknown.order();
        unknown.dedup();
        self.out.notes.extend(unknown);
        self.out.tried = tried;
        winner
    }

    /// Whether Envoy refuses to change the protocol.
    fn refuses_upgrade(&mut self, manager: &HttpConnectionManager, route: &Route, prepared: &Prepared) -> bool {
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

    fn forward(&mut self, action: &'a RouteAction, route: &'a Route, prepared: &mut Prepared, scopes: &Scopes<'a>, matcher: &pb::route::RouteMatch) {
        use pb::route::route_action::ClusterSpecifier;
        self.out.outcome = Outcome::Forward;
        let mut weighted = None;
        match &action.cluster_specifier {
            Some(ClusterSpecifier::Cluster(name)) => self.share(Vec::from([(name.clone(), 100)])),
            Some(ClusterSpecifier::ClusterHeader(header)) => match prepared.headers.first(&header.to_ascii_lowercase()).map(ToOwned::to_owned) {
                Some(name) => self.share(Vec::from([(name, 100)])),
                None => return self.answers(not_found_status(action), format!("the cluster is to stand in the header {header}, which is not there")),
            },
            Some(ClusterSpecifier::WeightedClusters(all)) => {
                self.share(all.clusters.iter().map(|of| (of.name.clone(), of.weight.unwrap_or_default())).collect());
                weighted = self.drawn(&all.clusters);
            }
            Some(ClusterSpecifier::ClusterSpecifierPlugin(name)) => {
                self.out.notes.push(format!("the cluster is chosen by {name}, an extension that is not simulated"));
            }
            Some(ClusterSpecifier::InlineClusterSpecifierPlugin(_)) => {
                self.out.notes.push("the cluster is chosen by an extension that is not simulated".to_owned());
            }
            None => {}
        }
        let missing = weighted.map(|of| of.name.clone()).or_else(|| self.out.clusters.first().map(|of| of.name.clone()));
        if let Some(missing) = missing.filter(|name| self.gateway.cluster(name).is_none()) {
            self.out.settings = settings(action, scopes.host.unwrap_or(&VirtualHost::default()), scopes);
            return self.answers(not_found_status(action), format!("there is no cluster {missing}"));
        }
        self.out.timeout = Some(action.timeout.as_ref().map_or_else(|| "15s".to_owned(), seconds));
        self.out.settings = scopes.host.map(|host| settings(action, host, scopes)).unwrap_or_default();
        let cluster_name = weighted.map(|of| of.name.clone()).or_else(|| self.out.clusters.first().map(|of| of.name.clone())).unwrap_or_default();
        self.upstream(action, route, weighted, prepared, scopes, matcher, &cluster_name);
        self.response_headers(scopes, weighted, prepared, &cluster_name);
    }

    /// The cluster that chance, or the heavier weight, chooses.
    fn drawn<'w>(&mut self, clusters: &'w [pb::route::weighted_cluster::ClusterWeight]) -> Option<&'w pb::route::weighted_cluster::ClusterWeight> {
        let total: u64 = clusters.iter().map(|of| u64::from(of.weight.unwrap_or_default())).sum();
        if let (Some(seed), true) = (self.request.seed, total > 0) {
            let mut left = seed % total;
            for of in clusters {
                let weight = u64::from(of.weight.unwrap_or_default());
                if left < weight {
                    return Some(of);
                }
                left -= weight;
            }
        }
        let heaviest = clusters.iter().map(|of| of.weight.unwrap_or_default()).max()?;
        clusters.iter().find(|of| of.weight.unwrap_or_default() == heaviest)
    }

    #[expect(clippy::too_many_arguments, reason = "each is a level that has a say")]
    fn upstream(
        &mut self,
        action: &RouteAction,
        route: &'a Route,
        weighted: Option<&pb::route::weighted_cluster::ClusterWeight>,
        prepared: &mut Prepared,
        scopes: &Scopes<'a>,
        matcher: &pb::route::RouteMatch,
        cluster_name: &str,
    ) {
        let mut levels: Vec<Level<'_>> = Vec::new();
        if let Some(of) = weighted {
            levels.push(Level { name: "cluster", add: &of.request_headers_to_add, remove: &of.request_headers_to_remove });
        }
        let mut outer = Vec::from([Level { name: "route", add: &route.request_headers_to_add, remove: &route.request_headers_to_remove }]);
        outer.extend(scopes.host.map(|of| Level { name: "virtual_host", add: &of.request_headers_to_add, remove: &of.request_headers_to_remove }));
        outer.extend(scopes.table.map(|of| Level {
            name: "route_configuration",
            add: &of.request_headers_to_add,
            remove: &of.request_headers_to_remove,
        }));
        if scopes.table.is_some_and(|table| table.most_specific_header_mutations_wins) {
            outer.reverse();
        }
        levels.extend(outer);
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for level in &levels {
            let mut headers = core::mem::take(&mut prepared.headers);
            let before = headers.clone();
            let changes = mutate(&mut headers, level, &self.values(prepared, &before, cluster_name, route), false);
            prepared.headers = headers;
            for change in changes {
                if change.value.is_none() {
                    removed.push(change.name);
                } else {
                    added.push(change);
                }
            }
        }
        let by = |name: &str, value: String| HeaderChange { name: name.to_owned(), value: Some(value), action: "set", level: "envoy" };
        let mut by_envoy = prepared.by_envoy.clone();
        let authority = self.host_rewrite(action, weighted, prepared);
        if authority.is_some() && action.append_x_forwarded_host {
            by_envoy.push(by("x-forwarded-host", prepared.authority.clone()));
        }
        let path = rewritten(matcher, action, &prepared.path, &mut self.out.notes);
        if path.is_some() {
            by_envoy.push(by("x-envoy-original-path", prepared.path.clone()));
        }
        by_envoy.retain(|change| {
            prepared.headers.first(&change.name).is_some() || change.name.starts_with("x-envoy-original") || change.name == "x-forwarded-host"
        });
        self.out.upstream = Some(Upstream {
            method: self.request.method.clone(),
            authority: authority.unwrap_or_else(|| prepared.authority.clone()),
            path: path.unwrap_or_else(|| prepared.path.clone()),
            headers_added: added,
            headers_removed: removed,
            headers_by_envoy: by_envoy,
        });
    }

    fn values<'v>(&'v self, prepared: &'v Prepared, headers: &'v super::Headers, cluster: &'v str, route: &'v Route) -> Values<'v> {
        Values {
            start: prepared.start(&self.request.method),
            request: headers,
            source: prepared.client.map(|client| client.to_string()),
            server_name: self.request.sni.as_deref().filter(|_| self.request.tls),
            protocol: match self.request.protocol {
                Protocol::Http1 => "HTTP/1.1",
                Protocol::Http2 => "HTTP/2",
            },
            cluster,
            route: &route.name,
        }
    }

    fn host_rewrite(
        &mut self,
        action: &RouteAction,
        weighted: Option<&pb::route::weighted_cluster::ClusterWeight>,
        prepared: &Prepared,
    ) -> Option<String> {
        use pb::route::route_action::HostRewriteSpecifier as By;
        use pb::route::weighted_cluster::cluster_weight::HostRewriteSpecifier as OfCluster;
        if let Some(OfCluster::HostRewriteLiteral(host)) = weighted.and_then(|of| of.host_rewrite_specifier.as_ref()) {
            return Some(host.clone());
        }
        match action.host_rewrite_specifier.as_ref()? {
            By::HostRewriteLiteral(host) => Some(host.clone()).filter(|host| !host.is_empty()),
            By::HostRewriteHeader(header) => {
                prepared.headers.first(&header.to_ascii_lowercase()).map(ToOwned::to_owned).filter(|host| !host.is_empty())
            }
            By::AutoHostRewrite(true) => {
                self.out.notes.push("auto_host_rewrite sends the name of the endpoint that is chosen as host, where it has one".to_owned());
                let one = self.out.upstream_clusters.first().filter(|of| of.discovery.ends_with("DNS")).map(|of| &of.endpoints[..]);
                match one {
                    Some([one]) => Some(super::request::host_of(one).to_owned()),
                    _ => None,
                }
            }
            By::AutoHostRewrite(false) => None,
            _ => {
                self.out.notes.push("the host is rewritten by an expression, which is not simulated".to_owned());
                None
            }
        }
    }

    fn response_headers(
        &mut self,
        scopes: &Scopes<'a>,
        weighted: Option<&pb::route::weighted_cluster::ClusterWeight>,
        prepared: &Prepared,
        cluster: &str,
    ) {
        let mut levels: Vec<Level<'_>> = Vec::new();
        levels.extend(weighted.map(|of| Level { name: "cluster", add: &of.response_headers_to_add, remove: &of.response_headers_to_remove }));
        levels.extend(scopes.route.map(|of| Level { name: "route", add: &of.response_headers_to_add, remove: &of.response_headers_to_remove }));
        levels.extend(scopes.host.map(|of| Level { name: "virtual_host", add: &of.response_headers_to_add, remove: &of.response_headers_to_remove }));
        levels.extend(scopes.table.map(|of| Level {
            name: "route_configuration",
            add: &of.response_headers_to_add,
            remove: &of.response_headers_to_remove,
        }));
        let none = Route::default();
        let mut response = super::Headers::default();
        let mut changes = Vec::new();
        for level in &levels {
            changes.extend(mutate(&mut response, level, &self.values(prepared, &prepared.headers, cluster, scopes.route.unwrap_or(&none)), true));
        }
        self.out.response_headers = changes;
    }
}

fn reference(index: usize, route: &Route) -> RouteRef {
    RouteRef { index, name: route.name.clone(), path: route.r#match.as_ref().map(path_words).unwrap_or_default() }
}
