//! Models Ambassador's own IR (`IRAmbassador`, `IRHost`, `IRListener`, `IRMapping`, `IRMappingGroup`, `IRCluster`, `IRAuth`...), built from a
//! [`Config`] in the order of [`Model::build`].
//!
//! Does not know Envoy's messages or the dialect-free IR; `lower/` converts to it.

pub mod ambassador;
pub mod auth;
pub mod breakers;
pub mod cluster;
pub mod clusters;
mod environment;
pub mod filter;
pub mod group;
pub mod groups;
pub mod health_check;
pub mod host;
pub mod hostglob;
pub mod key;
pub mod listener;
pub mod log_service;
pub mod mapping;
pub mod memory;
pub mod protocol;
pub mod rate_limit;
pub mod resolver;
pub mod service;
pub mod sharing;
pub mod tls;
pub mod tracing;

mod notices;
mod numbered;

pub use ambassador::Ambassador;
pub use auth::Auth;
pub use cluster::{Cluster, ClusterEntry};
pub use clusters::Clusters;
pub use filter::Filter;
pub use group::{Group, GroupKind};
pub use groups::Groups;
pub use host::Host;
pub use listener::Listener;
pub use log_service::LogService;
pub use mapping::{HttpMapping, TcpMapping};
pub use memory::Memory;
pub use notices::{Identity, Notices, REFUSED_HELP};
pub use rate_limit::RateLimit;
pub use resolver::Resolver;
pub use tls::{ContextId, TlsContext};
pub use tracing::Tracing;

use super::options::Options;
use super::spec::{Decode, Decoder};
use crate::config::{Config, Resource};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Findings;
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// Maps that keep the order of insertion: the reference's dictionaries do, and its answers depend on it.
pub type Map<K, V> = indexmap::IndexMap<K, V, hashbrown::DefaultHashBuilder>;

/// The whole model, complete after [`Model::build`].
pub struct Model<'c> {
    /// The source of the model.
    pub config: &'c Config,
    /// How the controller is deployed.
    pub options: &'c Options,
    /// The `ambassador` Module with its defaults.
    pub ambassador: Ambassador,
    /// All TLS contexts ever made; hosts and clusters name them by number.
    pub contexts: Vec<TlsContext>,
    /// Contexts that can be found by name.
    pub context_names: Map<Str, ContextId>,
    /// The port whose cleartext requests are redirected, if a context sets one.
    pub redirect_cleartext_from: Option<Sourced<i64>>,
    /// Secrets that were found, by name: the reference looks them up by name and namespace joined with a dot, so a name with a dot finds the result
    /// of an earlier look-up.
    saved_secrets: Map<Str, (tls::FoundSecret, chancery_base::ir::SecretReference)>,
    /// Listeners by their bind address, e.g. `tcp-0.0.0.0-8080`.
    pub listeners: Map<Str, Listener>,
    /// Hosts by name.
    pub hosts: Map<Str, Host>,
    /// Resolvers by name.
    pub resolvers: Map<Str, Resolver>,
    /// The tracing service, if one is active.
    pub tracing: Option<Tracing>,
    /// The rate limit service, if one is active.
    pub rate_limit: Option<RateLimit>,
    /// Log services by name.
    pub log_services: Map<Str, LogService>,
    /// HTTP filters in order, the router last.
    pub filters: Vec<Filter>,
    /// The authentication filter's settings, if one is active.
    pub auth: Option<Auth>,
    /// Mapping groups.
    pub groups: Groups,
    pub clusters: Clusters,
    /// Reported errors and notices by resource.
    pub notices: Notices,
}

impl<'c> Model<'c> {
    /// Builds the model. The order decides which definition wins and what later steps see.
    ///
    /// Source of the order: Emissary `python/ambassador/ir/ir.py`. `mappings` are the ones removed from the configuration, if any: each is dropped
    /// after its Mapping is built.
    pub fn build(config: &'c Config, mappings: Option<Vec<Arc<Resource>>>, options: &'c Options, memory: &mut Memory, sink: &mut Findings) -> Self {
        let mut model = Self::new(config, options);
        (model.groups, model.clusters) = (core::mem::take(&mut memory.groups), core::mem::take(&mut memory.clusters));
        if !model.clusters.begin() {
            model.groups = Groups::default();
        }
        // The Module first, as everything may look up a default in it; it is finished below, once certificates are known.
        model.ambassador = Ambassador::new(config, &mut model.notices);
        // TLS contexts, from the `tls` Module (IRAmbassadorTLS) and from TLSContext resources.
        model.load_tls_module();
        model.load_tls_contexts();
        // Listeners, then which of them have a companion for HTTP/3.
        model.load_listeners();
        model.pair_http3_listeners();
        // Hosts; without any, one for everything.
        model.load_hosts();
        model.default_host();
        // The Module's settings and filters.
        model.finish_ambassador();
        model.load_resolvers();
        // Single-instance resources: set up, then tested for activity.
        model.tracing = Tracing::set_up(&mut model).ok().flatten();
        model.rate_limit = RateLimit::set_up(&mut model).ok().flatten();
        model.load_log_services();
        model.add_cors_filter();
        model.auth = Auth::set_up(&mut model);
        model.add_service_filters();
        model.refuse_error_response_overrides();
        model.add_router_filter();
        // Mappings, into groups.
        model.load_mappings(mappings);
        model.load_tcp_mappings();
        // Active resources add the mappings and clusters that they need.
        model.add_mappings();
        // After everything is known: weights in groups, clusters, listeners for TCP groups, names that Envoy accepts.
        model.finalize_groups();
        model.add_tcp_listeners();
        model.clusters.finalize();
        sink.append(&mut model.notices.take());
        model
    }

    /// Adds the mappings and clusters that active resources need: for probes, and for services of filters and logs.
    fn add_mappings(&mut self) {
        self.add_probe_mappings();
        self.add_service_clusters();
    }

    /// Whether a cluster has this name.
    pub fn has_cluster(&self, name: &str) -> bool {
        self.get_cluster(name).is_some()
    }

    /// The cluster of this name.
    pub fn get_cluster(&self, name: &str) -> Option<&ClusterEntry> {
        self.clusters.get(name)
    }

    fn new(config: &'c Config, options: &'c Options) -> Self {
        Self {
            config,
            options,
            ambassador: Ambassador::default(),
            contexts: Vec::new(),
            context_names: Map::default(),
            redirect_cleartext_from: None,
            saved_secrets: Map::default(),
            listeners: Map::default(),
            hosts: Map::default(),
            resolvers: Map::default(),
            tracing: None,
            rate_limit: None,
            log_services: Map::default(),
            filters: Vec::new(),
            auth: None,
            groups: Groups::default(),
            clusters: Clusters::default(),
            notices: Notices::default(),
        }
    }

    /// The resources of a kind, in the order in which they were loaded.
    fn resources(&self, key: &str) -> impl Iterator<Item = &'c Resource> + use<'c> {
        let config = self.config;
        config.get_config(key).into_iter().flat_map(|storage| storage.iter().map(|(_, resource)| resource))
    }

    fn shared_resources(&self, key: &str) -> impl Iterator<Item = &'c Arc<Resource>> + use<'c> {
        let config = self.config;
        config.get_config(key).into_iter().flat_map(|storage| storage.shared())
    }

    fn refuse_error_response_overrides(&mut self) {
        if let Some(overrides) = &self.ambassador.settings.error_response_overrides {
            let origin = overrides.origin;
            let identity = self.ambassador.identity.clone();
            self.notices
                .error(&identity, notices::unsupported("error_response_overrides is not supported in Emissary 4 and will be ignored", origin));
        }
    }
}

/// Reads a resource's typed spec.
pub(super) fn spec_of<T: Decode + Default>(resource: &Resource) -> T {
    T::decode(&resource.spec, &mut Decoder::new(resource.object, resource.rule)).unwrap_or_default()
}
