//! What an Envoy has: listeners, tables of routes, clusters, endpoints and certificates, wherever they were read from.
//!
//! Everything that explains traffic (simulation, comparison, checks over routes) reads this and not the IR, so that it serves every
//! dialect, and configurations that others made. Messages are as Envoy receives them; each stands at a JSON pointer into the document
//! that it came from, by which its origins may be looked up.
//!
//! What must not be here: what a message means, and reading of files.

mod by_pointer;
mod clusters;
mod running;

pub use by_pointer::{ByPointer, tree_of};
pub use clusters::Clusters;
pub use running::{Accepted, Refused, Running};

use crate::emit::{self, pb};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Ir;
use pb::hcm::HttpConnectionManager;

/// Where a bootstrap has its clusters.
const CLUSTERS: &str = "/static_resources/clusters";

/// What an Envoy has. Messages in an `Any` are typed, as far as their type is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvoyConfig {
    /// LDS and the bootstrap's own, in the order of the document.
    pub listeners: Vec<Placed<pb::listener::Listener>>,
    /// Tables of routes that connection managers ask for by name (RDS). Others stand in their connection managers.
    pub routes: Vec<Placed<pb::route::RouteConfiguration>>,
    /// CDS and the bootstrap's own.
    pub clusters: Clusters,
    /// Endpoints that clusters ask for by name (EDS). Others stand in their clusters.
    pub endpoints: Vec<Placed<pb::endpoint::ClusterLoadAssignment>>,
    /// SDS. Key material may be in them: nothing that is shown may come from here unasked.
    pub secrets: Vec<Placed<pb::tls::Secret>>,
    /// Values of the runtime, upper layers over lower ones.
    pub runtime: BTreeMap<String, pb::Value>,
    /// Clusters of the servers that it gets the rest from, as far as the bootstrap names them.
    pub servers: BTreeSet<String>,
    /// The node's identity and service cluster, where they are known.
    pub node: Option<pb::base::Node>,
    /// What an Envoy is started with besides resources, where that is a bootstrap's own: the administration interface, the runtime, statistics.
    pub settings: Option<Placed<pb::bootstrap::Bootstrap>>,
}

/// A message and where it stands in the document that it came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placed<T> {
    /// The message.
    pub message: T,
    /// JSON pointer.
    pub pointer: String,
}

impl<T> Placed<T> {
    /// A message at a pointer.
    pub fn new(message: T, pointer: impl Into<String>) -> Self {
        Self { message, pointer: pointer.into() }
    }

    /// The elements of a list, each at its place.
    pub fn list(messages: impl IntoIterator<Item = T>, list: &str) -> Vec<Self> {
        messages.into_iter().enumerate().map(|(index, message)| Self::new(message, format!("{list}/{index}"))).collect()
    }
}

impl EnvoyConfig {
    /// Whether there is nothing in it that takes or forwards a request.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listeners.is_empty() && self.routes.is_empty() && self.clusters.is_empty() && self.endpoints.is_empty()
    }

    /// What a bootstrap holds by itself.
    #[must_use]
    pub fn of_bootstrap(mut bootstrap: pb::bootstrap::Bootstrap) -> Self {
        use pb::bootstrap::runtime_layer::LayerSpecifier;
        let resources = bootstrap.static_resources.take().unwrap_or_default();
        let mut runtime = BTreeMap::new();
        for layer in bootstrap.layered_runtime.iter().flat_map(|runtime| &runtime.layers) {
            if let Some(LayerSpecifier::StaticLayer(values)) = &layer.layer_specifier {
                runtime.extend(values.fields.clone());
            }
        }
        let dynamic = bootstrap.dynamic_resources.take().unwrap_or_default();
        let by_source = [dynamic.lds_config, dynamic.cds_config].into_iter().flatten().filter_map(|source| match source.config_source_specifier {
            Some(pb::base::config_source::ConfigSourceSpecifier::ApiConfigSource(api)) => Some(api),
            _ => None,
        });
        let servers = dynamic.ads_config.into_iter().chain(by_source).flat_map(|api| servers_of(&api).collect::<Vec<_>>()).collect();
        Self {
            listeners: Placed::list(resources.listeners, "/static_resources/listeners"),
            routes: Vec::new(),
            clusters: Placed::list(resources.clusters, CLUSTERS).into(),
            endpoints: Vec::new(),
            secrets: Placed::list(resources.secrets, "/static_resources/secrets"),
            runtime,
            servers,
            node: bootstrap.node.take(),
            settings: Some(Placed::new(bootstrap, "")),
        }
    }

    /// What a gateway gets: its bootstrap, routes and endpoints inline. Pointers are those of
    /// `explain::View::Envoy`. No key material is in it.
    #[must_use]
    pub fn of(ir: &Ir) -> Self {
        Self::standing_alone(ir, &crate::Options::default())
    }

    /// The same with what is left for others to give where `options` has it: with key material, a configuration that runs by itself.
    /// Key material is in it then.
    #[must_use]
    pub fn standing_alone(ir: &Ir, options: &crate::Options<'_>) -> Self {
        let mut clusters: Vec<Placed<pb::cluster::Cluster>> = Vec::with_capacity(ir.clusters.len() + 4);
        let bootstrap = emit::bootstrap_apart(ir, options, &mut |cluster| {
            let pointer = format!("{CLUSTERS}/{}", clusters.len());
            clusters.push(Placed::new(cluster, pointer));
        });
        Self { clusters: clusters.into(), ..Self::of_bootstrap(bootstrap) }
    }

    /// What a gateway gets, as [`EnvoyConfig::of`] has it, where each message of a cluster is made when it is first asked for.
    #[must_use]
    pub fn on_demand(ir: &Arc<Ir>) -> Self {
        let mut clusters = Clusters::on_demand(ir);
        let bootstrap = emit::bootstrap_around(ir, &crate::Options::default(), &mut |cluster| {
            let pointer = format!("{CLUSTERS}/{}", clusters.len());
            clusters.push(Placed::new(cluster, pointer));
        });
        Self { clusters, ..Self::of_bootstrap(bootstrap) }
    }

    /// All connection managers with the pointers at which they stand, listener by listener.
    pub fn connection_managers(&self) -> impl Iterator<Item = (String, &HttpConnectionManager)> {
        let chains = self.listeners.iter().flat_map(chains_of);
        chains.flat_map(|(pointer, chain)| managers_of(chain).map(move |(at, found)| (format!("{pointer}/filters/{at}/typed_config"), found)))
    }

    /// All tables of routes, each once, with the pointers at which they stand: those that are asked for by name, then those in
    /// connection managers.
    pub fn route_tables(&self) -> Vec<(String, &pb::route::RouteConfiguration)> {
        use pb::hcm::http_connection_manager::RouteSpecifier;
        let mut tables: Vec<_> = self.routes.iter().map(|table| (table.pointer.clone(), &table.message)).collect();
        tables.extend(self.connection_managers().filter_map(|(pointer, manager)| match &manager.route_specifier {
            Some(RouteSpecifier::RouteConfig(table)) => Some((format!("{pointer}/route_config"), table)),
            _ => None,
        }));
        tables
    }

    /// A cluster by its name.
    #[must_use]
    pub fn cluster(&self, name: &str) -> Option<&Placed<pb::cluster::Cluster>> {
        self.clusters.get(self.clusters.names().position(|of| of == name)?)
    }

    /// Names of the clusters.
    #[must_use]
    pub fn cluster_names(&self) -> BTreeSet<&str> {
        self.clusters.names().collect()
    }
}

/// The clusters of the servers that something comes from.
pub fn servers_of(api: &pb::base::ApiConfigSource) -> impl Iterator<Item = String> {
    let by_grpc = api.grpc_services.iter().filter_map(|service| match &service.target_specifier {
        Some(pb::base::grpc_service::TargetSpecifier::EnvoyGrpc(of)) => Some(of.cluster_name.clone()),
        _ => None,
    });
    api.cluster_names.iter().cloned().chain(by_grpc)
}

/// The filter chains of a listener with the pointers at which they stand; the default one is the last.
pub fn chains_of(listener: &Placed<pb::listener::Listener>) -> impl Iterator<Item = (String, &pb::listener::FilterChain)> {
    let chains = listener.message.filter_chains.iter().enumerate();
    let chains = chains.map(|(at, chain)| (format!("{}/filter_chains/{at}", listener.pointer), chain));
    let last = listener.message.default_filter_chain.iter().map(|chain| (format!("{}/default_filter_chain", listener.pointer), chain));
    chains.chain(last)
}

/// The connection managers of a filter chain, with their indexes among its filters.
pub fn managers_of(chain: &pb::listener::FilterChain) -> impl Iterator<Item = (usize, &HttpConnectionManager)> {
    use pb::listener::filter::ConfigType;
    chain.filters.iter().enumerate().filter_map(|(at, filter)| match &filter.config_type {
        Some(ConfigType::TypedConfig(config)) => config.downcast_ref::<HttpConnectionManager>().map(|found| (at, found)),
        _ => None,
    })
}
