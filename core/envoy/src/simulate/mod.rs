//! Simulates what an Envoy does with a request.
//!
//! A [`Gateway`] is an Envoy's configuration with indexes. [`Gateway::simulate`] sends a request through it as Envoy 1.40 does: listener, filter
//! chain, connection manager, virtual host, routes, and the action of the route. Each file follows the files of Envoy's source that it names, and is
//! compared with a real Envoy by `tests/suite/differential`.
//!
//! HTTP filters are evaluated if their decision depends only on the request ([`filters`]). Other decisions become a [`Condition`], and the
//! simulation continues as if it held. It does not simulate bodies, the health of upstreams, or extensions, which it names in the result.
//!
//! Does not know compilations or origins; see `explain::route`.

mod action;
mod client_address;
mod connection;
mod connection_settings;
mod curl;
mod describe;
mod ending;
mod filters;
mod forward;
mod headers;
mod health;
mod manager;
mod matcher;
mod next_hop;
mod path;
mod request;
mod run;
mod simulation;
mod start_line;
mod table;
mod upstream;
mod written;

pub use connection::{bound, chain_of, is_own, is_tls};
pub use describe::endpoint_address;
pub use ending::{Ending, LostShare, RouteShareEnding, SavedRequest, Verdict, percent};
pub use filters::{ANY_PASSWORD, host_configures, is_idle, table_configures};
pub use headers::header_action;
pub use matcher::parts as fraction;
pub use matcher::{MatchCondition, conditions_of, path_words, string_matches, string_words};
pub use next_hop::NextHop;
pub use pb::base::header_value_option::HeaderAppendAction as HeaderAction;
pub use request::host_of;
pub use request::{Headers, Protocol, Request};
pub use simulation::{
    ClientAddress, ClusterShare, ClusterView, Condition, Connection, Credential, Failed, FilterStep, HeaderChange, HostChoice, Outcome, Place,
    RouteRef, RouteShare, RoutedRequest, Setting, Simulation, TriedChain, TriedRoute, Upstream, WiderRoute,
};
pub use upstream::{LocalityShare, aggregated, is_unhealthy};
pub use written::WrittenRequest;

use crate::config::{EnvoyConfig, Placed};
use crate::emit::pb;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use connection::ChainIndex;
use hashbrown::HashMap;
pub use table::Table;

/// An Envoy's configuration with indexes, ready for simulations.
///
/// ```
/// use chancery_base::compilation::Options;
/// use chancery_compile::compile;
/// use chancery_base::resource::Inputs;
/// use chancery_envoy::config::EnvoyConfig;
/// use chancery_envoy::simulate::{Gateway, Outcome, Request};
///
/// let inputs = Inputs::one("quote.yaml", "\
/// apiVersion: getambassador.io/v3alpha1
/// kind: Listener
/// metadata: {name: http}
/// spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
/// ---
/// apiVersion: getambassador.io/v3alpha1
/// kind: Host
/// metadata: {name: all}
/// spec: {hostname: \"*\", requestPolicy: {insecure: {action: Route}}}
/// ---
/// apiVersion: getambassador.io/v3alpha1
/// kind: Mapping
/// metadata: {name: quote}
/// spec: {hostname: \"*\", prefix: /quote/, service: quote}
/// ");
/// let compilation = compile(&inputs, &Options::default(), &[&chancery_ambassador::DIALECT]);
/// let gateway = compilation.gateways().next().expect("Emissary runs one gateway");
/// let envoy = EnvoyConfig::of(gateway.ir);
/// let gateway = Gateway::new(&envoy);
/// let request = Request::new("GET", "http://shop.example.com:8080/quote/1").expect("a URL");
/// let simulation = gateway.simulate(&request);
/// assert_eq!(simulation.outcome, Outcome::Forward);
/// assert_eq!(simulation.clusters[0].name, "cluster_quote_default");
/// ```
pub struct Gateway<'a> {
    config: &'a EnvoyConfig,
    /// By the address of the message.
    tables: HashMap<usize, Table<'a>>,
    by_name: HashMap<&'a str, usize>,
    /// Indexes in the configuration's list.
    clusters: HashMap<&'a str, usize>,
    /// Endpoints that clusters request by name.
    endpoints: HashMap<&'a str, &'a pb::endpoint::ClusterLoadAssignment>,
    /// By the address of the listener.
    chains: HashMap<usize, ChainIndex<'a>>,
}

/// The detail level of the answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Only the matching route.
    Route,
    /// The whole result.
    Whole,
    /// The result, and every route before and after.
    Tracing,
}

impl<'a> Gateway<'a> {
    /// Indexes a configuration.
    #[must_use]
    pub fn new(config: &'a EnvoyConfig) -> Self {
        let mut tables = HashMap::default();
        for (pointer, table) in config.route_tables() {
            tables.insert(address(table), Table::new(table, pointer));
        }
        let mut by_name = HashMap::default();
        for table in &config.routes {
            by_name.entry(table.message.name.as_str()).or_insert_with(|| address(&table.message));
        }
        let (mut clusters, mut endpoints) = (HashMap::default(), HashMap::default());
        for (at, name) in config.clusters.names().enumerate() {
            clusters.entry(name).or_insert(at);
        }
        for of in &config.endpoints {
            endpoints.entry(of.message.cluster_name.as_str()).or_insert(&of.message);
        }
        let index = |of: &'a Placed<pb::listener::Listener>| Some((address(&of.message), ChainIndex::of(&of.message)?));
        let chains = config.listeners.iter().filter_map(index).collect();
        Self { config, tables, by_name, clusters, endpoints, chains }
    }

    fn chains_of(&self, listener: &pb::listener::Listener) -> Option<&ChainIndex<'a>> {
        self.chains.get(&address(listener))
    }

    /// Finds the route that matches a request: reports only the outcome of the choice, and its place.
    pub fn choose(&self, request: &Request) -> Simulation {
        run::run(self, request, Detail::Route)
    }

    /// Returns the routes whose path matcher accepts a path, as pointers in the order in which they are tried. From each table, only the routes of
    /// the host's virtual host; without a host, those of all virtual hosts. The path is as a route sees it.
    #[must_use]
    pub fn routes_for(&self, host: Option<&str>, path: &str) -> Vec<String> {
        let path = path::without_query(path);
        let mut out = Vec::new();
        for table in self.config.route_tables().into_iter().filter_map(|(_, table)| self.tables.get(&address(table))) {
            let hosts = match host {
                Some(host) => table.host(&table.looked_for(host)).map(|found| found.index..found.index + 1).unwrap_or_default(),
                None => 0..table.config.virtual_hosts.len(),
            };
            for (at, host) in hosts.filter_map(|at| Some((at, table.routes(at)?))) {
                let takes = |index: &usize| {
                    let matcher = host.routes.get(*index).and_then(|route| route.r#match.as_ref());
                    matcher.is_some_and(|of| matcher::path_matches(of, path, &host.patterns))
                };
                let taking = host.candidates(path).into_iter().filter(takes);
                out.extend(taking.map(|index| format!("{}/virtual_hosts/{at}/routes/{index}", table.pointer)));
            }
        }
        out
    }

    pub fn cluster(&self, name: &str) -> Option<&'a Placed<pb::cluster::Cluster>> {
        self.config.clusters.get(*self.clusters.get(name)?)
    }

    /// Returns the known endpoints of a cluster.
    pub fn endpoints(&self, of: &'a pb::cluster::Cluster) -> Option<&'a pb::endpoint::ClusterLoadAssignment> {
        let service = of.eds_cluster_config.as_ref().map(|eds| if eds.service_name.is_empty() { &of.name } else { &eds.service_name });
        of.load_assignment.as_ref().or_else(|| self.endpoints.get(service?.as_str()).copied())
    }

    /// Simulates a request. It reports earlier routes unless the index rules them out.
    #[must_use]
    pub fn simulate(&self, request: &Request) -> Simulation {
        run::run(self, request, Detail::Whole)
    }

    /// Simulates a request, and reports every route before the matching one, and every later route that would also match.
    #[must_use]
    pub fn simulate_tracing(&self, request: &Request) -> Simulation {
        run::run(self, request, Detail::Tracing)
    }

    /// Returns the route table of a connection manager.
    pub fn table(&self, manager: &'a pb::hcm::HttpConnectionManager) -> Result<&Table<'a>, String> {
        use pb::hcm::http_connection_manager::RouteSpecifier;
        let key = match &manager.route_specifier {
            Some(RouteSpecifier::RouteConfig(table)) => Some(address(table)),
            Some(RouteSpecifier::Rds(rds)) => {
                let known = self.by_name.get(rds.route_config_name.as_str()).copied();
                return known.and_then(|key| self.tables.get(&key)).ok_or_else(|| format!("Envoy has no route table {}", rds.route_config_name));
            }
            Some(RouteSpecifier::ScopedRoutes(_)) => return Err("the connection manager uses scoped routes, which are not simulated".into()),
            None => None,
        };
        key.and_then(|key| self.tables.get(&key)).ok_or_else(|| "the connection manager has no routes".into())
    }
}

fn address<T>(message: &T) -> usize {
    core::ptr::from_ref(message).addr()
}

#[cfg(test)]
mod tests;
