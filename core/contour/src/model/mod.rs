//! Models Contour's graph of listeners, virtual hosts and routes (Contour `internal/dag/dag.go`), before clusters get names and Envoy's defaults
//! apply.
//!
//! Values that mean the same in every dialect use the IR's types. Processors build the graph, one for each kind of input, in Contour's order;
//! `lower` converts it to the IR.

mod cluster;
mod condition;
mod policy;
mod route;
mod routes;
mod secret;
mod service;
mod setting;

pub use cluster::{
    Cluster, ClusterTimeouts, DnsCluster, ExtensionCluster, HealthCheckTimes, HttpHealthCheck, PeerValidation, SlowStart, UpstreamTls,
};
pub use condition::{Conditions, HeaderCondition, MatchType, PathCondition, QueryCondition};
pub use policy::{
    Authorization, AuthorizationBody, CorsPolicy, HeaderNameMatch, IpFilter, Jwks, JwtProvider, LocalRateLimit, RateLimitDescriptor, RateLimitEntry,
    RateLimitPolicy,
};
pub use route::{DirectResponse, InternalRedirect, Mirror, PathRewrite, Redirect, RetryPolicy, Route};
pub use routes::Routes;
pub use secret::{Material, MaterialKind};
pub use service::{CircuitBreakers, Port, Service};
pub use setting::{CookieRewrite, HeadersPolicy, RouteTimeouts, Timeout};

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::resource::{Also, Origin, Sourced};
use chancery_text::Str;

/// Everything that Contour serves.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Listeners by name.
    pub listeners: BTreeMap<Str, Listener>,
    /// The clusters of ExtensionServices, by cluster name.
    pub extensions: BTreeMap<Str, Arc<ExtensionCluster>>,
    /// Whether listeners come from a Gateway.
    pub dynamic_listeners: bool,
}

/// A port that Envoy listens on.
#[derive(Clone, Debug, Default)]
pub struct Listener {
    /// `ingress_http`, or a Gateway's `http-80`.
    pub name: Str,
    /// `http`, `https` or `tcp`.
    pub protocol: Str,
    /// IP address.
    pub address: Sourced<Str>,
    /// Port of the container.
    pub port: Sourced<u32>,
    /// Name of the table of routes; a prefix of it on secure listeners.
    pub route_config: Str,
    /// Name of the table of the fallback certificate's hosts.
    pub fallback_route_config: Str,
    /// Hosts without TLS, by name.
    pub hosts: BTreeMap<Str, Arc<VirtualHost>>,
    /// Hosts with TLS, by name.
    pub secure_hosts: BTreeMap<Str, Arc<SecureVirtualHost>>,
    /// The whole port forwards TCP.
    pub tcp_proxy: Option<TcpProxy>,
    /// Every route may upgrade to websockets.
    pub enable_websockets: bool,
    /// The resources that produced it.
    pub origins: Vec<Origin>,
}

#[derive(Clone, Debug, Default)]
pub struct VirtualHost {
    /// Its name; `*` for all.
    pub name: Sourced<Str>,
    pub cors: Option<Sourced<CorsPolicy>>,
    /// Rate limits of all its routes.
    pub rate_limit: Option<Sourced<RateLimitPolicy>>,
    /// Addresses that may pass, or may not.
    pub ip_filter: Option<IpFilter>,
    pub routes: Arc<Routes>,
    /// The resources that produced it.
    pub origins: Vec<Origin>,
}

impl VirtualHost {
    /// Adds a route and replaces one with the same conditions.
    pub fn add(&mut self, route: Arc<Route>) {
        Arc::make_mut(&mut self.routes).add(route);
    }

    /// Adds routes one after another; `table` is their own merged table.
    pub fn add_all(&mut self, routes: &[Arc<Route>], table: &Arc<Routes>) {
        if self.routes.is_empty() {
            self.routes = table.clone();
        } else {
            routes.iter().for_each(|route| self.add(route.clone()));
        }
    }
}

/// A host with TLS.
#[derive(Clone, Debug, Default)]
pub struct SecureVirtualHost {
    /// The settings that every host has.
    pub host: VirtualHost,
    /// Lowest TLS version, `1.2`.
    pub min_tls: Option<Sourced<Str>>,
    /// Highest TLS version, `1.3`.
    pub max_tls: Option<Sourced<Str>>,
    /// Its certificate.
    pub secret: Option<Sourced<Arc<Material>>>,
    /// Further origins of the certificate.
    pub secret_also: Also,
    /// The certificate for clients that send no server name.
    pub fallback: Option<Sourced<Arc<Material>>>,
    /// TCP is forwarded instead of HTTP.
    pub tcp_proxy: Option<TcpProxy>,
    /// How clients' certificates are checked.
    pub client_validation: Option<Sourced<PeerValidation>>,
    /// The authorization service.
    pub authorization: Option<Sourced<Authorization>>,
    /// Who issues tokens.
    pub jwt_providers: Vec<Sourced<JwtProvider>>,
}

/// TCP forwarded.
#[derive(Clone, Debug, Default)]
pub struct TcpProxy {
    /// Where to.
    pub clusters: Vec<Arc<Cluster>>,
    /// The resources that produced it.
    pub origins: Vec<Origin>,
}
