//! What only Contour means: its graph of listeners, virtual hosts and routes (Contour `internal/dag/dag.go`), before names of clusters and
//! Envoy's defaults are worked out.
//!
//! Values that mean the same in every dialect are the IR's own. Processors make the graph, each from one kind of input, in Contour's order;
//! `lower` makes the IR of it.
//!
//! What must not be here: how objects are read, and Envoy's fields.

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
    /// What ExtensionServices stand for, by cluster name.
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
    /// What made it.
    pub origins: Vec<Origin>,
}

/// A host.
#[derive(Clone, Debug, Default)]
pub struct VirtualHost {
    /// Its name; `*` for all.
    pub name: Sourced<Str>,
    /// CORS.
    pub cors: Option<Sourced<CorsPolicy>>,
    /// Rate limits of all its routes.
    pub rate_limit: Option<Sourced<RateLimitPolicy>>,
    /// Addresses that may pass, or may not.
    pub ip_filter: Option<IpFilter>,
    /// Its routes.
    pub routes: Arc<Routes>,
    /// What made it.
    pub origins: Vec<Origin>,
}

impl VirtualHost {
    /// Adds a route, in place of one that matches the same.
    pub fn add(&mut self, route: Arc<Route>) {
        Arc::make_mut(&mut self.routes).add(route);
    }

    /// Adds routes one after another; `table` is what they come to by themselves.
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
    /// What every host has.
    pub host: VirtualHost,
    /// Lowest TLS version, `1.2`.
    pub min_tls: Option<Sourced<Str>>,
    /// Highest TLS version, `1.3`.
    pub max_tls: Option<Sourced<Str>>,
    /// Its certificate.
    pub secret: Option<Sourced<Arc<Material>>>,
    /// What says besides which certificate that is.
    pub secret_also: Also,
    /// The certificate for clients that send no server name.
    pub fallback: Option<Sourced<Arc<Material>>>,
    /// TCP is forwarded instead of HTTP.
    pub tcp_proxy: Option<TcpProxy>,
    /// How clients' certificates are checked.
    pub client_validation: Option<Sourced<PeerValidation>>,
    /// Who is asked whether a request may pass.
    pub authorization: Option<Sourced<Authorization>>,
    /// Who issues tokens.
    pub jwt_providers: Vec<Sourced<JwtProvider>>,
}

/// TCP forwarded.
#[derive(Clone, Debug, Default)]
pub struct TcpProxy {
    /// Where to.
    pub clusters: Vec<Arc<Cluster>>,
    /// What made it.
    pub origins: Vec<Origin>,
}
