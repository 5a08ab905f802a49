//! Models clusters and their connection settings. Does not name them; see `lower::name`.

use super::{CircuitBreakers, CookieRewrite, HeadersPolicy, Material, RouteTimeouts, Service, Timeout};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;
use core::time::Duration;

#[derive(Clone, Debug, Default)]
pub struct ClusterTimeouts {
    /// Idle connections are closed.
    pub idle_connection: Sourced<Timeout>,
    /// For connecting; zero leaves Contour's default.
    pub connect: Sourced<Duration>,
}

/// The target of requests.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The Service.
    pub upstream: Arc<Service>,
    /// Share of requests.
    pub weight: Sourced<u32>,
    /// `h2`, `h2c`, `tls` or empty.
    pub protocol: Sourced<Str>,
    /// How the upstream's certificate is checked.
    pub validation: Option<Sourced<PeerValidation>>,
    /// `WeightedLeastRequest`, `Random`, `Cookie`, `RequestHash` or empty.
    pub lb_policy: Sourced<Str>,
    /// Health check by HTTP.
    pub http_health: Option<Sourced<HttpHealthCheck>>,
    /// Health check by TCP.
    pub tcp_health: Option<Sourced<HealthCheckTimes>>,
    /// Changes of request headers.
    pub request_headers: Option<HeadersPolicy>,
    /// Changes of response headers.
    pub response_headers: Option<HeadersPolicy>,
    /// Changes of cookies.
    pub cookies: Vec<Sourced<CookieRewrite>>,
    /// Server name sent; may be empty.
    pub sni: Sourced<Str>,
    /// `auto`, `v4`, `v6`, `all`; empty for `auto`.
    pub dns_family: Sourced<Str>,
    /// Certificate shown.
    pub client_certificate: Option<Sourced<Arc<Material>>>,
    pub timeouts: ClusterTimeouts,
    /// New endpoints get their share slowly.
    pub slow_start: Option<Sourced<SlowStart>>,
    /// Requests on one connection.
    pub max_requests_per_connection: Option<Sourced<u32>>,
    /// Bytes.
    pub per_connection_buffer_limit: Option<Sourced<u32>>,
    /// TLS versions and ciphers.
    pub upstream_tls: Option<Arc<UpstreamTls>>,
    /// The resources that produced it; the first is the main one.
    pub origins: Vec<Origin>,
}

impl Cluster {
    /// A cluster of a Service with default settings, referenced by the field at `origin`.
    pub fn new(upstream: Service, weight: Sourced<u32>, origin: Origin) -> Self {
        Self {
            upstream: Arc::new(upstream),
            weight,
            protocol: Sourced::default(),
            validation: None,
            lb_policy: Sourced::default(),
            http_health: None,
            tcp_health: None,
            request_headers: None,
            response_headers: None,
            cookies: Vec::new(),
            sni: Sourced::default(),
            dns_family: Sourced::default(),
            client_certificate: None,
            timeouts: ClusterTimeouts::default(),
            slow_start: None,
            max_requests_per_connection: None,
            per_connection_buffer_limit: None,
            upstream_tls: None,
            origins: Vec::from([origin]),
        }
    }
}

/// How often and how long health is checked; zero leaves Contour's default.
#[derive(Clone, Debug, Default)]
pub struct HealthCheckTimes {
    /// Between two checks.
    pub interval: Sourced<Duration>,
    /// For an answer.
    pub timeout: Sourced<Duration>,
    /// Failures until unhealthy.
    pub unhealthy_threshold: Sourced<u32>,
    /// Successes until healthy.
    pub healthy_threshold: Sourced<u32>,
}

/// A health check by HTTP.
#[derive(Clone, Debug, Default)]
pub struct HttpHealthCheck {
    pub path: Sourced<Str>,
    /// Host; empty for Contour's own.
    pub host: Sourced<Str>,
    /// When.
    pub times: HealthCheckTimes,
    /// Half-open ranges of healthy statuses.
    pub expected_statuses: Vec<Sourced<(i64, i64)>>,
}

/// New endpoints get their share slowly.
#[derive(Clone, Debug)]
pub struct SlowStart {
    /// How long.
    pub window: Sourced<Duration>,
    /// How fast.
    pub aggression: Sourced<f64>,
    /// Share at the beginning.
    pub min_weight_percent: Sourced<u32>,
}

/// TLS versions and ciphers towards upstreams.
#[derive(Clone, Debug, Default)]
pub struct UpstreamTls {
    /// Lowest version, `1.2`.
    pub min: Sourced<Str>,
    /// Highest version, `1.3`.
    pub max: Sourced<Str>,
    /// Ciphers up to TLS 1.2.
    pub ciphers: Vec<Sourced<Str>>,
    pub curves: Vec<Sourced<Str>>,
}

/// How a peer's certificate is checked.
#[derive(Clone, Debug, Default)]
pub struct PeerValidation {
    /// Authorities trusted.
    pub ca: Vec<Sourced<Arc<Material>>>,
    /// Accepted names; the certificate must have one.
    pub subject_names: Vec<Sourced<Str>>,
    /// Skips verification.
    pub skip: Sourced<bool>,
    /// The parts of the client certificate in `x-forwarded-client-cert`.
    pub forward: Option<Sourced<ir::ClientCertDetails>>,
    /// Revoked certificates.
    pub crl: Option<Sourced<Arc<Material>>>,
    /// Checks only the leaf certificate against the lists.
    pub only_leaf_crl: Sourced<bool>,
    /// Clients need not present a certificate.
    pub optional: Sourced<bool>,
}

/// An ExtensionService.
#[derive(Clone, Debug)]
pub struct ExtensionCluster {
    /// `extension/NAMESPACE/NAME`.
    pub name: Str,
    /// Services with their weights.
    pub services: Vec<(Arc<Service>, Sourced<u32>)>,
    /// `h2`, `h2c` or `http/1.1`.
    pub protocol: Sourced<Str>,
    /// How its certificate is checked.
    pub validation: Option<Sourced<PeerValidation>>,
    /// Load balancing.
    pub lb_policy: Sourced<Str>,
    /// For an answer.
    pub timeouts: RouteTimeouts,
    /// For connections.
    pub cluster_timeouts: ClusterTimeouts,
    /// Server name sent; may be empty.
    pub sni: Sourced<Str>,
    /// Certificate shown.
    pub client_certificate: Option<Sourced<Arc<Material>>>,
    /// TLS versions and ciphers.
    pub upstream_tls: Option<Arc<UpstreamTls>>,
    /// Limits.
    pub circuit_breakers: CircuitBreakers,
    /// The resources that produced it.
    pub origins: Vec<Origin>,
}

/// A cluster that is found by name.
#[derive(Clone, Debug)]
pub struct DnsCluster {
    /// Host name.
    pub address: Sourced<Str>,
    /// `http` or `https`.
    pub scheme: Sourced<Str>,
    pub port: Sourced<u32>,
    /// `auto`, `v4`, `v6`, `all`.
    pub dns_family: Sourced<Str>,
    /// How its certificate is checked.
    pub validation: Option<Sourced<PeerValidation>>,
    /// TLS versions and ciphers.
    pub upstream_tls: Option<Arc<UpstreamTls>>,
    /// The resources that produced it.
    pub origins: Vec<Origin>,
}
