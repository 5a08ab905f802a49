//! Defines clusters and endpoints.

use super::{EndpointAddress, Origins, UpstreamTls};
use crate::resource::{Also, Sourced};
use alloc::boxed::Box;
use alloc::vec::Vec;
use chancery_text::Str;
use core::time::Duration;

/// A set of endpoints of one service.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Cluster {
    /// Unique in the gateway.
    pub name: Sourced<Str>,
    /// Further origins of the name.
    #[serde(skip)]
    pub name_also: Also,
    /// Further origins of the endpoints' name; `None`: they have the cluster's name.
    #[serde(skip)]
    pub assignment_also: Option<Also>,
    /// Name in statistics.
    pub alt_stat_name: Option<Sourced<Str>>,
    /// How endpoints are discovered.
    pub discovery: ClusterDiscovery,
    /// Load balancing.
    pub lb_policy: Sourced<LbPolicy>,
    pub connect_timeout: Sourced<Duration>,
    /// The requested address families.
    pub dns_family: Option<Sourced<DnsFamily>>,
    /// Resolves names as often as their DNS TTL requires.
    pub respect_dns_ttl: Option<Sourced<bool>>,
    /// Limits by priority.
    pub circuit_breakers: Vec<Sourced<CircuitBreaker>>,
    /// The maximum number of connections per endpoint; `Some(None)`: unlimited.
    pub per_host_circuit_breaker: Option<Sourced<Option<u32>>>,
    /// HTTP options of connections to it.
    pub http: UpstreamHttp,
    /// TLS to it.
    pub tls: Option<Sourced<Box<UpstreamTls>>>,
    pub keepalive: Option<Sourced<TcpKeepalive>>,
    pub health_checks: Vec<Sourced<HealthCheck>>,
    /// Drops endpoints that discovery no longer returns even if they are healthy.
    pub ignore_health_on_removal: Option<Sourced<()>>,
    /// If fewer than this percentage of endpoints are healthy, all are used; `None` is Envoy's 50.
    pub healthy_panic_threshold: Option<Sourced<f64>>,
    /// New endpoints receive their share gradually.
    pub slow_start: Option<Sourced<SlowStart>>,
    pub per_connection_buffer_limit: Option<Sourced<u32>>,
    /// The resources that produced it.
    pub origins: Origins,
}

/// How a cluster's endpoints are discovered.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum ClusterDiscovery {
    /// Host names, resolved by DNS.
    Dns {
        /// How DNS answers are used.
        kind: Sourced<DnsKind>,
        /// `load_assignment.cluster_name`.
        assignment_name: Str,
        endpoints: Vec<Sourced<Endpoint>>,
    },
    /// Endpoints over EDS.
    Eds {
        /// `eds_cluster_config.service_name`.
        service_name: Str,
        /// The known endpoints.
        localities: Vec<Locality>,
        /// The bootstrap contains the endpoints, so Envoy requests them from no server.
        in_bootstrap: bool,
    },
    /// Fixed addresses.
    Static {
        /// `load_assignment.cluster_name`.
        assignment_name: Str,
        endpoints: Vec<Sourced<Endpoint>>,
    },
}

impl Default for ClusterDiscovery {
    fn default() -> Self {
        ClusterDiscovery::Eds { service_name: Str::default(), localities: Vec::new(), in_bootstrap: false }
    }
}

/// How DNS answers are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum DnsKind {
    /// All addresses are endpoints.
    Strict,
    /// The first address at connection time.
    Logical,
}

/// Which addresses are requested from DNS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum DnsFamily {
    V4Only,
    V6Only,
    /// IPv6, or else IPv4.
    Auto,
    /// Both.
    All,
}

/// Endpoints that share a weight.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Locality {
    /// The share of requests; `None`: not set.
    pub weight: Option<Sourced<u32>>,
    pub endpoints: Vec<Sourced<Endpoint>>,
}

impl Locality {
    /// One locality without a weight for all endpoints; none if there are no endpoints.
    pub fn alone(endpoints: Vec<Sourced<Endpoint>>) -> Vec<Self> {
        if endpoints.is_empty() { Vec::new() } else { Vec::from([Self { weight: None, endpoints }]) }
    }
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Endpoint {
    #[serde(flatten)]
    pub address: EndpointAddress,
    /// The origins of the port if it is written elsewhere than the address.
    #[serde(skip)]
    pub port_origins: Also,
    /// The port of health checks, if it differs.
    pub health_check_port: Option<u16>,
}

impl Endpoint {
    /// An endpoint with one port for everything.
    pub fn new(address: impl Into<Str>, port: u16) -> Self {
        Self::from(EndpointAddress::socket(address, port))
    }
}

impl From<EndpointAddress> for Endpoint {
    fn from(address: EndpointAddress) -> Self {
        Self { address, port_origins: Also::default(), health_check_port: None }
    }
}

/// New endpoints receive their share gradually.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SlowStart {
    /// The duration.
    pub window: Sourced<Duration>,
    /// The speed: 1 is linear.
    pub aggression: Sourced<f64>,
    /// A runtime key that overrides it.
    pub aggression_key: Str,
    /// The percentage of the share at the start.
    pub min_weight_percent: Sourced<f64>,
}

/// Load balancing algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum LbPolicy {
    /// In turn.
    #[default]
    RoundRobin,
    /// The less busy of two random endpoints.
    LeastRequest,
    RingHash,
    /// By hash, Maglev.
    Maglev,
    Random,
}

/// Limits for one priority.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct CircuitBreaker {
    /// Which requests are limited.
    pub priority: Sourced<super::Priority>,
    pub max_connections: Option<Sourced<u32>>,
    /// Requests that wait for a connection.
    pub max_pending_requests: Option<Sourced<u32>>,
    /// Active requests.
    pub max_requests: Option<Sourced<u32>>,
    /// Active retries.
    pub max_retries: Option<Sourced<u32>>,
    /// Reports the remaining capacity in statistics.
    pub track_remaining: bool,
}

/// HTTP options of connections to a cluster.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct UpstreamHttp {
    /// HTTP/2 (gRPC).
    pub http2: Option<Sourced<()>>,
    /// HTTP/1.1, set explicitly.
    pub http1: Option<Sourced<()>>,
    /// The maximum number of requests on one connection.
    pub max_requests_per_connection: Option<Sourced<u32>>,
    /// Closes connections that are idle for this time.
    pub idle_timeout: Option<Sourced<Duration>>,
    /// Drains connections of this age.
    pub max_connection_duration: Option<Sourced<Duration>>,
    /// Case of header names over HTTP/1.1.
    pub header_key_format: Option<Sourced<HeaderKeyFormat>>,
}

/// Case of header names over HTTP/1.1.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum HeaderKeyFormat {
    /// `Content-Type`.
    ProperCaseWords,
    /// These headers as written, others in lower case. Envoy dropped this field in v3; it is kept for a finding.
    Custom(Vec<(Str, Str)>),
}

/// TCP keepalive probes; `None` is the system's value.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct TcpKeepalive {
    /// Unanswered probes before the connection is dead.
    pub probes: Option<Sourced<u32>>,
    /// Idle seconds before the first probe.
    pub time: Option<Sourced<u32>>,
    /// Seconds between two probes.
    pub interval: Option<Sourced<u32>>,
}

/// An active health check.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct HealthCheck {
    /// The maximum time for a response.
    pub timeout: Sourced<Duration>,
    /// The time between two checks.
    pub interval: Sourced<Duration>,
    /// Consecutive successes that make an endpoint healthy.
    pub healthy_threshold: Sourced<u32>,
    /// Consecutive failures that make an endpoint unhealthy.
    pub unhealthy_threshold: Sourced<u32>,
    /// The kind of check.
    pub checker: HealthChecker,
}

/// The kind of a health check.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum HealthChecker {
    /// A TCP connection.
    Tcp,
    /// An HTTP request.
    Http {
        /// Uses HTTP/2.
        http2: Option<Sourced<()>>,
        path: Sourced<Str>,
        /// Host header; `None`: the cluster's name.
        host: Option<Sourced<Str>>,
        /// Headers added and removed.
        headers: super::HeaderMutations,
        /// Ranges of healthy statuses with exclusive ends; empty: 200.
        expected_statuses: Vec<Sourced<(i64, i64)>>,
    },
    /// `grpc.health.v1.Health`.
    Grpc {
        /// The checked service.
        service_name: Sourced<Str>,
        /// `:authority`; `None`: the cluster's name.
        authority: Option<Sourced<Str>>,
    },
}
