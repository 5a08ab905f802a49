//! Puts listeners, tables of routes and clusters together, in the order of the reference.

use super::cluster::{self, ClusterArgs, EndpointType};
use super::filters::{self, RateLimitService};
use super::listener::{self, Building, Chain, HttpContext};
use super::memory::{KnownRoute, ListenerMemory, Memory, address};
use super::metadata::write_metadata;
use super::proto::{duration, extension, list, message, one};
use super::resources::{ClusterParts, ResourceBuilder, Resources};
use super::{access_log, route, tls, tracing};
use crate::model::{
    AppProtocol, Certificate, ClusterTraffic, Destination, DestinationSetting, Endpoint, HttpListener, HttpRoute, TcpListener, TcpRoute, Xds,
};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::executor::{self, Executor};
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

/// The parts of the controller's configuration that change what Envoy gets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    pub(crate) rate_limit: Option<RateLimitService>,
    /// The runtime flag `XDSNameSchemeV2`.
    pub(crate) names_by_port: bool,
    pub(crate) controller_namespace: Str,
    pub(crate) dns_domain: Str,
}

/// What an Envoy gets, and what could not be translated.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Generated {
    pub(crate) resources: Resources,
    /// With any of these, the reference publishes nothing.
    pub(crate) errors: Vec<String>,
}

/// A table of routes that is still being built.
struct Table {
    name: Str,
    hosts: Vec<Tree>,
    largest_body: usize,
    origin: Option<chancery_base::resource::Origin>,
}

/// A virtual host whose routes are still being built.
struct Host<'a> {
    first: &'a HttpRoute,
    addresses: Vec<usize>,
    routes: Vec<Tree>,
}

impl Host<'_> {
    fn add(&mut self, route: &Arc<HttpRoute>, built: Tree) {
        self.addresses.push(address(route));
        self.routes.push(built);
    }
}

/// The routes of a listener that were built just now, and the clusters that they may add.
struct NewParts {
    /// By the address of the route.
    routes: HashMap<usize, Result<Tree, String>>,
    clusters: HashMap<Str, ClusterParts>,
}

struct Generator<'a> {
    xds: &'a Xds,
    settings: &'a Settings,
    executor: &'a dyn Executor,
    resources: ResourceBuilder,
    listeners: Vec<Building>,
    tables: Vec<Table>,
    errors: Vec<String>,
    /// The memory of the last compile, and that for the next one.
    known: Option<Memory>,
    kept: BTreeMap<Str, ListenerMemory>,
}

/// Generates everything that an Envoy gets. `memory` holds what was generated from the same settings, or is empty; it is `None` if nothing is kept.
pub(crate) fn generate(xds: &Xds, settings: &Settings, executor: &dyn Executor, mut memory: Option<&mut Memory>) -> Generated {
    let mut generator = Generator {
        xds,
        settings,
        executor,
        resources: ResourceBuilder::default(),
        listeners: Vec::new(),
        tables: Vec::new(),
        errors: Vec::new(),
        known: memory.as_deref_mut().map(core::mem::take),
        kept: BTreeMap::new(),
    };
    let ready = xds.ready.as_ref().map(listener::ready);
    generator.http_listeners();
    for of in &xds.tcp {
        generator.tcp_listener(of);
    }
    let datagrams = generator.udp_listeners();
    generator.shared_clusters();
    generator.services();
    let Generator { resources, listeners, tables, errors, kept, .. } = generator;
    // With an error, hosts lack routes.
    if let Some(memory) = memory.filter(|_| errors.is_empty()) {
        memory.replace(kept);
    }
    let mut resources = resources.finish();
    resources.listeners.extend(ready.map(Arc::new));
    resources.listeners.extend(listeners.into_iter().map(|of| Arc::new(of.into_tree())));
    resources.listeners.extend(datagrams.into_iter().map(Arc::new));
    resources.routes.extend(tables.into_iter().map(|table| Arc::new(table.into_tree())));
    Generated { resources, errors }
}

impl Table {
    fn into_tree(self) -> Tree {
        // Bodies of answers that are longer than 4 KiB need more room.
        let largest = match self.largest_body {
            0..=4096 => Tree::NULL,
            size => size.max(1024 * 1024).into(),
        };
        message! {
            "name": self.name,
            "ignore_port_in_host_matching": true,
            "virtual_hosts": list(self.hosts),
            "max_direct_response_body_size_bytes": largest,
        }
        .or_from(self.origin)
    }
}

impl<'a> Generator<'a> {
    fn attempt(&mut self, result: Result<(), String>) -> bool {
        result.map_err(|error| self.errors.push(error)).is_ok()
    }

    fn find(&self, address: &str, port: i64, is_udp: bool) -> Option<usize> {
        self.listeners.iter().position(|of| of.address == address && of.port == port && of.is_udp == is_udp)
    }

    fn http_listeners(&mut self) {
        let xds = self.xds;
        let place = |of: &HttpListener| (of.core.address.clone(), of.core.port.value);
        let with_http3: BTreeMap<_, _> = xds.http.iter().filter(|of| !of.client.http3.is_null()).map(|of| (place(of), of)).collect();
        // Envoy has no PROXY protocol for QUIC, and rejects the listener. `traps::no_quic` reports it.
        let with_proxy: BTreeSet<_> = xds.http.iter().filter(|of| !of.client.proxy_protocol.is_null()).map(place).collect();
        for of in &xds.http {
            let http3 = with_http3.get(&place(of)).copied();
            let has_quic = http3.is_some() && !with_proxy.contains(&place(of));
            if let Err(error) = self.http_listener(of, has_quic) {
                self.errors.push(error);
                continue;
            }
            self.http_secrets(of);
            self.http_routes(of, http3);
            let result = filters::add_resources(&mut self.resources, &of.routes);
            self.attempt(result);
        }
    }

    fn http_listener(&mut self, of: &HttpListener, http3: bool) -> Result<(), String> {
        let xds = self.xds;
        let logs = xds.access_logs.as_ref();
        let by_port = self.settings.names_by_port;
        let cx = HttpContext {
            logs,
            tracing: xds.tracing.as_ref(),
            service: self.settings.rate_limit.as_ref(),
            order: &xds.filter_order,
            names_by_port: by_port,
        };
        let known = self.find(&of.core.address, of.core.port.value, false);
        let at = match known {
            Some(at) => at,
            None => {
                if http3 {
                    self.listeners.push(listener::start_quic(&of.core, logs, by_port)?);
                }
                self.listeners.push(listener::start_tcp(&of.core, &of.client, logs, by_port)?);
                self.listeners.len() - 1
            }
        };
        let quic = self.find(&of.core.address, of.core.port.value, true).filter(|_| http3);
        let shares = known.is_some() && of.tls.is_none() && self.listeners.get(at).is_some_and(|of| of.default_chain.is_some());
        for (at, is_quic) in core::iter::once((at, false)).chain(quic.map(|at| (at, true))) {
            let Some(building) = self.listeners.get_mut(at) else { continue };
            if !shares {
                listener::add_http_chain(building, of, &cx, is_quic)?;
                continue;
            }
            if let Some((_, http)) = building.default_chain.as_mut().and_then(|chain| chain.http.as_mut()) {
                filters::configure_chain(http, of, logs, cx.service, cx.order)?;
            }
        }
        Ok(())
    }

    fn http_secrets(&mut self, of: &HttpListener) {
        if let Some(of) = &of.tls {
            self.resources.add_certificates(of.certificates.iter());
            if let Some(secret) = of.ca.as_ref().and_then(|ca| tls::ca_secret(ca, of.crl.as_ref())) {
                self.resources.add_secret(secret);
            }
        }
        for destination in of.routes.iter().filter_map(|route| route.destination.as_ref()) {
            self.resources.add_client_certificates(&destination.settings);
        }
    }

    fn http_routes(&mut self, of: &'a HttpListener, http3: Option<&HttpListener>) {
        let by_port = self.settings.names_by_port;
        // Listeners of one port without TLS share the table of the first.
        let shared = self.find(&of.core.address, of.core.port.value, false).and_then(|at| self.listeners.get(at)?.default_chain.as_ref());
        let name = shared.map_or_else(|| listener::route_table_name(of, by_port), |chain| chain.route_name.clone());
        let metadata = write_metadata(Some(&of.core.metadata));
        let hidden: Vec<Tree> = filters::geoip::headers_to_remove(of).collect();
        // With shared clusters and looked up places, a route depends on other routes.
        let remembers = self.known.is_some() && hidden.is_empty() && self.xds.backend_clusters.is_empty();
        // The default host of HTTP/1.0 may be a route's, and telemetry fails if its Service is in no route.
        let settings = Vec::from([of.client.http1.clone(), self.xds.metrics.clone(), self.xds.health_check_log.clone()]);
        let known = self.known.as_mut().map(|known| known.take(&of.core.name)).unwrap_or_default();
        let mut known = if known.is_for(&settings) { known } else { ListenerMemory::default() };
        let mut kept = ListenerMemory::of(settings);
        let mut new = self.build_new(of, &hidden, |route| remembers && known.knows(route));
        let mut hosts: Vec<Host<'_>> = Vec::new();
        let mut places: HashMap<Str, usize> = HashMap::new();
        let mut largest_body = 0;
        for one_route in &of.routes {
            let host = &one_route.hostname.value;
            let place = *places.entry_ref(host).or_insert_with(|| {
                hosts.push(Host { first: one_route, addresses: Vec::new(), routes: Vec::new() });
                hosts.len() - 1
            });
            largest_body = largest_body.max(one_route.direct_response.as_ref().map_or(0, |direct| direct.body.text().len()));
            let mut again = known.route(one_route).filter(|_| remembers).filter(|known| self.resources.add_again(&known.clusters));
            if let Some(again) = again.take() {
                hosts[place].add(one_route, again.built.clone());
                kept.keep_route(again);
                continue;
            }
            let built = new.routes.remove(&address(one_route));
            let mut built = match built.unwrap_or_else(|| route::build(one_route, of, &self.xds.backend_clusters, &hidden)) {
                Ok(built) => built,
                Err(error) => {
                    self.errors.push(error);
                    continue;
                }
            };
            if http3.is_some() {
                let mut headers = built.get("response_headers_to_add").items().to_vec();
                headers.push(listener::alternative_service(of));
                built.set("response_headers_to_add", headers.into());
            }
            hosts[place].add(one_route, built.clone());
            self.resources.record();
            for args in self.cluster_args(of, one_route) {
                let built = new.clusters.remove(args.name);
                self.resources.add_built_cluster(&args, built);
            }
            let clusters = self.resources.record();
            if remembers {
                kept.keep_route(KnownRoute { of: one_route.clone(), built, clusters });
            }
        }
        let mut built_hosts = Vec::with_capacity(hosts.len());
        for Host { first, addresses, routes } in hosts {
            let name = &first.hostname.value;
            let built = known.host(name, &addresses).filter(|_| remembers).unwrap_or_else(|| {
                let mut host = self.virtual_host(of, first, &metadata);
                host.set("routes", list(routes));
                host
            });
            if remembers {
                kept.keep_host(name.clone(), addresses, built.clone());
            }
            built_hosts.push(built);
        }
        if remembers {
            self.kept.insert(of.core.name.clone(), kept);
        }
        match self.tables.iter_mut().find(|table| table.name == name) {
            Some(table) => {
                table.hosts.extend(built_hosts);
                // The last listener with long bodies decides.
                if largest_body > 4096 {
                    table.largest_body = largest_body;
                }
            }
            None => self.tables.push(Table { name, hosts: built_hosts, largest_body, origin: of.core.origin }),
        }
    }

    /// Builds the routes of a listener that are not known, and the clusters that they add, on all threads of the host.
    fn build_new(&self, of: &'a HttpListener, hidden: &[Tree], is_known: impl Fn(&Arc<HttpRoute>) -> bool) -> NewParts {
        let new: Vec<&Arc<HttpRoute>> = of.routes.iter().filter(|route| !is_known(route)).collect();
        let routes = executor::map(self.executor, &new, |route| (address(route), route::build(route, of, &self.xds.backend_clusters, hidden)));
        let mut names = HashSet::new();
        let all = new.iter().flat_map(|route| self.cluster_args(of, route));
        let clusters: Vec<ClusterArgs<'_>> = all.filter(|args| !self.resources.has_cluster(args.name) && names.insert(args.name)).collect();
        let clusters = executor::map(self.executor, &clusters, |args| (Str::new(args.name), ClusterParts::build(args)));
        NewParts { routes: routes.into_iter().collect(), clusters: clusters.into_iter().collect() }
    }

    fn virtual_host(&self, of: &HttpListener, route: &HttpRoute, metadata: &Tree) -> Tree {
        let host = &route.hostname;
        let plain = host.value.replace('.', "_");
        let name = if self.settings.names_by_port { plain.clone() } else { format!("{}/{plain}", of.core.name) };
        let stats = self.xds.metrics.get("enableVirtualHostStats");
        let clusters = if stats.bool() {
            let header = message! { "name": ":authority", "string_match": message! { "prefix": host.clone() } };
            one(message! { "name": plain, "headers": one(header) }).or_from(stats.origin)
        } else {
            Tree::NULL
        };
        message! {
            "name": Tree::from(name).or_from(host.origin),
            "domains": one(host.clone().into()),
            "metadata": metadata.clone(),
            "virtual_clusters": clusters,
        }
        .or_from(host.origin)
    }

    fn args(&self) -> ClusterArgs<'a> {
        ClusterArgs {
            metrics: self.xds.metrics.clone(),
            health_check_log: self.xds.health_check_log.clone(),
            is_route: true,
            ..ClusterArgs::default()
        }
    }

    /// Returns the clusters of a route and of its mirrors.
    fn cluster_args(&self, listener: &'a HttpListener, of: &'a HttpRoute) -> Vec<ClusterArgs<'a>> {
        let mut all = Vec::new();
        if let Some(destination) = &of.destination
            && route::needs_route_cluster(destination)
        {
            let args = ClusterArgs {
                traffic: of.traffic.as_ref().map(|traffic| &traffic.cluster),
                route_hostname: of.hostname.clone().into(),
                http1: listener.client.http1.clone(),
                use_client_protocol: of.use_client_protocol.bool(),
                ip_family: cluster::ip_family(&destination.settings),
                metadata: destination.metadata.as_ref(),
                stat_name: destination.stat_name.clone(),
                ..self.args()
            };
            if !route::needs_cluster_per_setting(of, destination) && destination.cluster_refs.is_empty() {
                let settings: Vec<&DestinationSetting> = destination.settings.iter().collect();
                let endpoint_type = EndpointType::of(&settings);
                all.push(ClusterArgs { name: &destination.name, settings, endpoint_type, ..args });
            } else {
                all.extend(destination.settings.iter().map(|setting| {
                    let settings = alloc::vec![setting];
                    let endpoint_type = EndpointType::of(&settings);
                    ClusterArgs { name: &setting.name, settings, endpoint_type, ..args.clone() }
                }));
            }
        }
        let metrics = &self.xds.metrics;
        let of_mirror = |destination: &'a Destination| ClusterArgs { metrics: metrics.clone(), is_route: true, ..ClusterArgs::of(destination, None) };
        all.extend(of.mirrors.iter().map(|mirror| of_mirror(&mirror.destination)));
        all
    }

    fn tcp_listener(&mut self, of: &'a TcpListener) {
        let logs = self.xds.access_logs.as_ref();
        let at = match self.find(&of.core.address, of.core.port.value, false) {
            Some(at) => at,
            None => match listener::start_tcp(&of.core, &of.client, logs, self.settings.names_by_port) {
                Ok(building) => {
                    self.listeners.push(building);
                    self.listeners.len() - 1
                }
                Err(error) => return self.errors.push(error),
            },
        };
        if let Some(building) = self.listeners.get_mut(at) {
            building.read_proxy_protocol(&of.client.proxy_protocol);
        }
        for one_route in &of.routes {
            if let Some(destination) = &one_route.destination
                && route::needs_route_cluster(destination)
            {
                let settings: Vec<&DestinationSetting> = destination.settings.iter().collect();
                let endpoint_type = EndpointType::of(&settings);
                let args = ClusterArgs {
                    name: &destination.name,
                    settings,
                    endpoint_type,
                    traffic: Some(&one_route.traffic),
                    metadata: destination.metadata.as_ref(),
                    ..self.args()
                };
                self.resources.add_cluster(&args);
            }
            if let Some(of) = &one_route.terminate {
                self.resources.add_certificates(of.client_certificates.iter().chain(&of.certificates));
                if let Some(secret) = of.ca.as_ref().and_then(|ca| tls::ca_secret(ca, of.crl.as_ref())) {
                    self.resources.add_secret(secret);
                }
            } else if let Some(destination) = &one_route.destination {
                self.resources.add_client_certificates(&destination.settings);
            }
            let name = one_route.destination.as_ref().map(|destination| Tree::from(route::single_cluster(destination)).or_from(destination.origin));
            let result = self.tcp_chain(at, of, one_route, name.unwrap_or_default());
            self.attempt(result);
        }
        if of.routes.is_empty() {
            self.empty_cluster();
            let has_it = |chain: &Chain| chain.name.is("EmptyCluster");
            if !self.listeners.get(at).is_some_and(|building| building.chains.iter().any(has_it)) {
                let none = TcpRoute { name: Str::new_static("EmptyCluster"), origin: of.core.origin, ..TcpRoute::default() };
                let result = self.tcp_chain(at, of, &none, "EmptyCluster".into());
                self.attempt(result);
            }
        }
    }

    fn empty_cluster(&mut self) {
        self.resources.add_plain_cluster(cluster::empty_cluster());
    }

    fn tcp_chain(&mut self, at: usize, of: &TcpListener, one_route: &TcpRoute, cluster_name: Tree) -> Result<(), String> {
        let logs = self.xds.access_logs.as_ref();
        let Some(building) = self.listeners.get_mut(at) else { return Ok(()) };
        let stat_prefix = match one_route.stat_name.text() {
            "" => {
                let kind = match (&one_route.terminate, &one_route.server_names) {
                    (Some(_), _) => "tls-terminate",
                    (_, Some(_)) => "tls-passthrough",
                    _ => "tcp",
                };
                Tree::from(format!("{kind}-{}", building.port)).or_from(of.core.port.origin)
            }
            _ => one_route.stat_name.clone(),
        };
        let mut chain_filters = Vec::new();
        if let Some(authorization) = &one_route.authorization {
            chain_filters.push(filters::network_authorization(&stat_prefix, authorization)?);
        }
        chain_filters.extend(listener::connection_limit(&of.client.connection, &stat_prefix));
        let by_name = one_route.server_names.is_some()
            && one_route.terminate.is_none()
            && one_route.destination.as_ref().is_some_and(Destination::is_dynamic_resolver);
        if by_name {
            const LOOPBACK: &str = r"(?i)^(localhost|localhost\.localdomain|ip6-localhost|ip6-loopback|127\.0\.0\.1|::1|\[::1\])\.?$";
            chain_filters.push(filters::deny_server_names(&stat_prefix, LOOPBACK));
            let config = message! { "dns_cache_config": cluster::dns_cache("", Some(&one_route.traffic)), "port_value": 443_i64 };
            let kind = "envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig";
            chain_filters.push(extension("envoy.filters.network.sni_dynamic_forward_proxy", kind, config));
        }
        chain_filters.push(listener::tcp_proxy(one_route, cluster_name, &stat_prefix, &of.client, logs)?);
        let mut chain = Chain {
            name: Tree::from(&one_route.name).or_from(one_route.origin),
            filters: chain_filters,
            handshake_timeout: duration(of.client.timeout.at(&["tcp", "tlsHandshakeTimeout"])),
            ..Chain::default()
        };
        let fingerprints = of.tls.as_ref().map_or(&[][..], |of| &of.fingerprints);
        building.match_names(&mut chain, one_route.server_names.as_deref().unwrap_or_default(), fingerprints);
        if by_name {
            building.inspect_tls(&[]);
        }
        if let Some(of) = &one_route.terminate {
            chain.socket = tls::downstream(of, false);
        }
        building.chains.push(chain);
        Ok(())
    }

    fn udp_listeners(&mut self) -> Vec<Tree> {
        let mut out = Vec::new();
        for of in &self.xds.udp {
            let name = match &of.route {
                Some(one_route) => {
                    let destination = one_route.destination.as_ref();
                    if let Some(destination) = destination
                        && route::needs_route_cluster(destination)
                    {
                        let args = ClusterArgs {
                            metrics: self.xds.metrics.clone(),
                            is_route: true,
                            ..ClusterArgs::of(destination, Some(&one_route.traffic))
                        };
                        self.resources.add_cluster(&args);
                    }
                    destination.map(|destination| Tree::from(route::single_cluster(destination)).or_from(destination.origin)).unwrap_or_default()
                }
                None => {
                    self.empty_cluster();
                    "EmptyCluster".into()
                }
            };
            match listener::udp(&of.core, name, self.xds.access_logs.as_ref(), self.settings.names_by_port) {
                Ok(listener) => out.push(listener),
                Err(error) => self.errors.push(error),
            }
        }
        out
    }

    fn shared_clusters(&mut self) {
        for of in &self.xds.backend_clusters {
            let settings = alloc::vec![&of.setting];
            let args = ClusterArgs {
                name: &of.name,
                endpoint_type: EndpointType::of(&settings),
                settings,
                traffic: of.traffic.as_ref(),
                use_client_protocol: of.use_client_protocol.bool(),
                ip_family: of.setting.ip_family.clone(),
                metadata: of.metadata.as_ref(),
                is_route: false,
                ..self.args()
            };
            self.resources.add_cluster(&args);
            self.resources.add_client_certificates(core::slice::from_ref(&of.setting));
        }
    }

    /// Clusters of services that Envoy itself asks.
    fn services(&mut self) {
        let xds = self.xds;
        access_log::add_clusters(&mut self.resources, xds.access_logs.as_ref(), &xds.metrics, &xds.health_check_log);
        for url in sds_urls(xds) {
            self.resources.add_plain_cluster(cluster::sds_cluster(&url));
        }
        if let Some(of) = &xds.tracing {
            self.resources.add_cluster(&tracing::cluster(of, &xds.metrics, &xds.health_check_log));
        }
        if let Some(destination) = &xds.global.proxy_service_cluster {
            let local = message! { "preferLocal": message! { "minEndpointsThreshold": 1_i64 } };
            let traffic = ClusterTraffic { load_balancer: message! { "type": "LeastRequest", "zoneAware": local }, ..ClusterTraffic::default() };
            let args = ClusterArgs { endpoint_type: EndpointType::Static, ..ClusterArgs::of(destination, Some(&traffic)) };
            self.resources.add_cluster(&args);
        }
        if let Some(certificate) = &xds.global.envoy_client_certificate {
            self.controller_services(certificate);
        }
    }

    fn controller_services(&mut self, certificate: &Certificate) {
        self.resources.add_certificates(core::iter::once(certificate));
        let routes = || self.xds.http.iter().flat_map(|of| &of.routes);
        let has_limits = routes().any(|of| filters::global_rules(of).is_some());
        let has_wasm = routes().any(|of| of.extensions.as_ref().is_some_and(|of| !of.wasms.is_empty()));
        if has_limits && let Some(service) = &self.settings.rate_limit {
            self.controller_service(filters::RATE_LIMIT_CLUSTER, &service.host, service.port, certificate);
        }
        if has_wasm {
            let host = Str::from(format!("envoy-gateway.{}.svc.cluster.local", self.settings.controller_namespace));
            self.controller_service(filters::WASM_CLUSTER, &host, 18_002, certificate);
        }
    }

    fn controller_service(&mut self, name: &str, host: &Str, port: i64, certificate: &Certificate) {
        let endpoint = Endpoint { host: Sourced::new(host.clone(), None), port: Sourced::new(port, None), ..Endpoint::default() };
        let setting = DestinationSetting {
            name: Str::from(format!("{name}/backend/-1")),
            weight: Some(Sourced::new(1, None)),
            protocol: AppProtocol::Grpc,
            endpoints: alloc::vec![endpoint],
            ..DestinationSetting::default()
        };
        let args = ClusterArgs {
            name,
            settings: alloc::vec![&setting],
            socket: Some(tls::upstream_of_controller(certificate)),
            endpoint_type: EndpointType::Dns,
            metrics: self.xds.metrics.clone(),
            ..ClusterArgs::default()
        };
        self.resources.add_cluster(&args);
    }
}

/// Addresses of servers that hand out certificates, sorted.
fn sds_urls(xds: &Xds) -> BTreeSet<String> {
    let mut urls = BTreeSet::new();
    let mut note = |of: Option<&crate::model::Sds>| {
        urls.extend(of.map(tls::sds_url).filter(|url| !url.is_empty()));
    };
    let settings = |of: &Destination, note: &mut dyn FnMut(Option<&crate::model::Sds>)| {
        for tls in of.settings.iter().filter_map(|setting| setting.tls.as_ref()) {
            note(tls.ca.as_ref().and_then(|ca| ca.sds.as_ref()));
            tls.settings.client_certificates.iter().for_each(|of| note(of.sds.as_ref()));
        }
    };
    for of in &xds.backend_clusters {
        let destination = Destination { settings: alloc::vec![of.setting.clone()], ..Destination::default() };
        settings(&destination, &mut note);
    }
    for of in &xds.http {
        of.tls.iter().flat_map(|tls| &tls.certificates).for_each(|of| note(of.sds.as_ref()));
        of.routes.iter().filter_map(|route| route.destination.as_ref()).for_each(|of| settings(of, &mut note));
    }
    for route in xds.tcp.iter().flat_map(|of| &of.routes) {
        route.terminate.iter().flat_map(|tls| &tls.certificates).for_each(|of| note(of.sds.as_ref()));
        route.destination.iter().for_each(|of| settings(of, &mut note));
    }
    urls
}
