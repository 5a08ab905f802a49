//! An Envoy's configuration from any source: listeners, route tables, clusters, endpoints and certificates.
//!
//! Everything that explains traffic (simulation, comparison, checks of routes) reads this and not the IR, so that it serves every dialect and
//! configurations from other tools. Messages are as Envoy receives them; each has a JSON pointer into its document that leads to its origins
//! found.
//!
//! Does not interpret messages; see `simulate`.

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

/// The place of clusters in a bootstrap.
const CLUSTERS: &str = "/static_resources/clusters";

/// An Envoy's configuration. Messages in an `Any` are typed if their type is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvoyConfig {
    /// From LDS and the bootstrap, in the order of the document.
    pub listeners: Vec<Placed<pb::listener::Listener>>,
    /// Route tables that connection managers request by name (RDS). Other tables are inline in their connection managers.
    pub routes: Vec<Placed<pb::route::RouteConfiguration>>,
    /// From CDS and the bootstrap.
    pub clusters: Clusters,
    /// Endpoints that clusters request by name (EDS). Other endpoints are inline in their clusters.
    pub endpoints: Vec<Placed<pb::endpoint::ClusterLoadAssignment>>,
    /// From SDS. They may contain key material: outputs must not show them without masking.
    pub secrets: Vec<Placed<pb::tls::Secret>>,
    /// Values of the runtime; upper layers override lower ones.
    pub runtime: BTreeMap<String, pb::Value>,
    /// Clusters of the configuration servers, as far as the bootstrap names them.
    pub servers: BTreeSet<String>,
    /// The node's identity and service cluster, if known.
    pub node: Option<pb::base::Node>,
    /// The rest of a bootstrap: the administration interface, the runtime, statistics.
    pub settings: Option<Placed<pb::bootstrap::Bootstrap>>,
}

/// A message and its place in the document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placed<T> {
    pub message: T,
    /// JSON pointer.
    pub pointer: String,
}

impl<T> Placed<T> {
    pub fn new(message: T, pointer: impl Into<String>) -> Self {
        Self { message, pointer: pointer.into() }
    }

    /// Places the elements of a list.
    pub fn list(messages: impl IntoIterator<Item = T>, list: &str) -> Vec<Self> {
        messages.into_iter().enumerate().map(|(index, message)| Self::new(message, format!("{list}/{index}"))).collect()
    }
}

impl EnvoyConfig {
    /// Whether it contains nothing that accepts or forwards requests.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listeners.is_empty() && self.routes.is_empty() && self.clusters.is_empty() && self.endpoints.is_empty()
    }

    /// Reads the configuration that a bootstrap itself contains.
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

    /// Returns the configuration of a gateway: its bootstrap, with routes and endpoints inline. Pointers are those of `explain::View::Envoy`. It
    /// contains no key material.
    #[must_use]
    pub fn of(ir: &Ir) -> Self {
        Self::standing_alone(ir, &crate::Options::default())
    }

    /// Like [`EnvoyConfig::of`], but with the data that `options` provides: with key material, the configuration runs without a management server.
    /// It then contains key material.
    #[must_use]
    pub fn standing_alone(ir: &Ir, options: &crate::Options<'_>) -> Self {
        let mut clusters: Vec<Placed<pb::cluster::Cluster>> = Vec::with_capacity(ir.clusters.len() + 4);
        let bootstrap = emit::bootstrap_apart(ir, options, &mut |cluster| {
            let pointer = format!("{CLUSTERS}/{}", clusters.len());
            clusters.push(Placed::new(cluster, pointer));
        });
        Self { clusters: clusters.into(), ..Self::of_bootstrap(bootstrap) }
    }

    /// Like [`EnvoyConfig::of`], but builds each cluster's message on first use.
    #[must_use]
    pub fn on_demand(ir: &Arc<Ir>) -> Self {
        let mut clusters = Clusters::on_demand(ir);
        let bootstrap = emit::bootstrap_around(ir, &crate::Options::default(), &mut |cluster| {
            let pointer = format!("{CLUSTERS}/{}", clusters.len());
            clusters.push(Placed::new(cluster, pointer));
        });
        Self { clusters, ..Self::of_bootstrap(bootstrap) }
    }

    /// Returns all connection managers with their pointers, listener by listener.
    pub fn connection_managers(&self) -> impl Iterator<Item = (String, &HttpConnectionManager)> {
        let chains = self.listeners.iter().flat_map(chains_of);
        chains.flat_map(|(pointer, chain)| managers_of(chain).map(move |(at, found)| (format!("{pointer}/filters/{at}/typed_config"), found)))
    }

    /// Returns every route table once, with its pointer: tables requested by name, then tables inside connection managers.
    pub fn route_tables(&self) -> Vec<(String, &pb::route::RouteConfiguration)> {
        use pb::hcm::http_connection_manager::RouteSpecifier;
        let mut tables: Vec<_> = self.routes.iter().map(|table| (table.pointer.clone(), &table.message)).collect();
        tables.extend(self.connection_managers().filter_map(|(pointer, manager)| match &manager.route_specifier {
            Some(RouteSpecifier::RouteConfig(table)) => Some((format!("{pointer}/route_config"), table)),
            _ => None,
        }));
        tables
    }

    #[must_use]
    pub fn cluster(&self, name: &str) -> Option<&Placed<pb::cluster::Cluster>> {
        self.clusters.get(self.clusters.names().position(|of| of == name)?)
    }

    #[must_use]
    pub fn cluster_names(&self) -> BTreeSet<&str> {
        self.clusters.names().collect()
    }
}

/// Returns the clusters of an API's servers.
pub fn servers_of(api: &pb::base::ApiConfigSource) -> impl Iterator<Item = String> {
    let by_grpc = api.grpc_services.iter().filter_map(|service| match &service.target_specifier {
        Some(pb::base::grpc_service::TargetSpecifier::EnvoyGrpc(of)) => Some(of.cluster_name.clone()),
        _ => None,
    });
    api.cluster_names.iter().cloned().chain(by_grpc)
}

/// Returns the filter chains of a listener with their pointers; the default chain is the last.
pub fn chains_of(listener: &Placed<pb::listener::Listener>) -> impl Iterator<Item = (String, &pb::listener::FilterChain)> {
    let chains = listener.message.filter_chains.iter().enumerate();
    let chains = chains.map(|(at, chain)| (format!("{}/filter_chains/{at}", listener.pointer), chain));
    let last = listener.message.default_filter_chain.iter().map(|chain| (format!("{}/default_filter_chain", listener.pointer), chain));
    chains.chain(last)
}

/// Returns the connection managers of a filter chain, with their indexes among its filters.
pub fn managers_of(chain: &pb::listener::FilterChain) -> impl Iterator<Item = (usize, &HttpConnectionManager)> {
    use pb::listener::filter::ConfigType;
    chain.filters.iter().enumerate().filter_map(|(at, filter)| match &filter.config_type {
        Some(ConfigType::TypedConfig(config)) => config.downcast_ref::<HttpConnectionManager>().map(|found| (at, found)),
        _ => None,
    })
}
