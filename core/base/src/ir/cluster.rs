//! Clusters and endpoints.

use super::{EndpointAddress, Origins, UpstreamTls};
use crate::resource::{Also, Sourced};
use alloc::boxed::Box;
use alloc::vec::Vec;
use chancery_text::Str;
use core::time::Duration;

/// A set of endpoints that serve one thing.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Cluster {
    /// Unique in the gateway.
    pub name: Sourced<Str>,
    /// Fields from which its name was derived besides the origin of `name`.
    #[serde(skip)]
    pub name_also: Also,
    /// The same of the name of its endpoints; `None`: they have the cluster's name.
    #[serde(skip)]
    pub assignment_also: Option<Also>,
    /// Name in statistics.
    pub alt_stat_name: Option<Sourced<Str>>,
    /// How endpoints are found.
    pub discovery: ClusterDiscovery,
    /// Load balancing.
    pub lb_policy: Sourced<LbPolicy>,
    /// Connect timeout.
    pub connect_timeout: Sourced<Duration>,
    /// Address families asked for.
    pub dns_family: Option<Sourced<DnsFamily>>,
    /// Names are asked for again as often as DNS says.
    pub respect_dns_ttl: Option<Sourced<bool>>,
    /// Limits by priority.
    pub circuit_breakers: Vec<Sourced<CircuitBreaker>>,
    /// Limits of each endpoint: connections; `None`: there are none.
    pub per_host_circuit_breaker: Option<Sourced<Option<u32>>>,
    /// HTTP options of connections to it.
    pub http: UpstreamHttp,
    /// TLS to it.
    pub tls: Option<Sourced<Box<UpstreamTls>>>,
    /// TCP keepalive.
    pub keepalive: Option<Sourced<TcpKeepalive>>,
    /// Active health checks.
    pub health_checks: Vec<Sourced<HealthCheck>>,
    /// Endpoints that are no longer found are dropped even if they are healthy.
    pub ignore_health_on_removal: Option<Sourced<()>>,
    /// Per cent of healthy endpoints below which all are used; `None` leaves Envoy's 50.
    pub healthy_panic_threshold: Option<Sourced<f64>>,
    /// New endpoints get their share slowly.
    pub slow_start: Option<Sourced<SlowStart>>,
    /// Buffer limit of a connection.
    pub per_connection_buffer_limit: Option<Sourced<u32>>,
    /// The resources that made it.
    pub origins: Origins,
}

/// How a cluster's endpoints are found.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum ClusterDiscovery {
    /// Host names, asked of DNS.
    Dns {
        /// How answers are used.
        kind: Sourced<DnsKind>,
        /// `load_assignment.cluster_name`.
        assignment_name: Str,
        /// The names.
        endpoints: Vec<Sourced<Endpoint>>,
    },
    /// Endpoints over EDS.
    Eds {
        /// `eds_cluster_config.service_name`.
        service_name: Str,
        /// The endpoints as far as they are known.
        localities: Vec<Locality>,
        /// A bootstrap contains the endpoints, so that Envoy asks no server for them.
        in_bootstrap: bool,
    },
    /// Fixed addresses.
    Static {
        /// `load_assignment.cluster_name`.
        assignment_name: Str,
        /// The addresses.
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
    /// The first address at the time of connecting.
    Logical,
}

/// Which addresses DNS is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum DnsFamily {
    /// IPv4.
    V4Only,
    /// IPv6.
    V6Only,
    /// IPv6, else IPv4.
    Auto,
    /// Both.
    All,
}

/// Endpoints that share a weight.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Locality {
    /// Share of requests; `None`: none is said.
    pub weight: Option<Sourced<u32>>,
    /// Its endpoints.
    pub endpoints: Vec<Sourced<Endpoint>>,
}

impl Locality {
    /// All endpoints in one place without a weight; no place where there are no endpoints.
    pub fn alone(endpoints: Vec<Sourced<Endpoint>>) -> Vec<Self> {
        if endpoints.is_empty() { Vec::new() } else { Vec::from([Self { weight: None, endpoints }]) }
    }
}

/// One address.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Endpoint {
    /// Where it is.
    #[serde(flatten)]
    pub address: EndpointAddress,
    /// Where the port is written, where that is another place than the address.
    #[serde(skip)]
    pub port_origins: Also,
    /// The port that health checks ask, if it is another.
    pub health_check_port: Option<u16>,
}

impl Endpoint {
    /// An endpoint that has one port for all.
    pub fn new(address: impl Into<Str>, port: u16) -> Self {
        Self::from(EndpointAddress::socket(address, port))
    }
}

impl From<EndpointAddress> for Endpoint {
    fn from(address: EndpointAddress) -> Self {
        Self { address, port_origins: Also::default(), health_check_port: None }
    }
}

/// New endpoints get their share slowly.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SlowStart {
    /// How long.
    pub window: Sourced<Duration>,
    /// How fast: 1 is linear.
    pub aggression: Sourced<f64>,
    /// Runtime key that overrides it.
    pub aggression_key: Str,
    /// Per cent of the share at the beginning.
    pub min_weight_percent: Sourced<f64>,
}

/// Load balancing algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum LbPolicy {
    /// In turn.
    #[default]
    RoundRobin,
    /// The less busy of two.
    LeastRequest,
    /// By hash, ring.
    RingHash,
    /// By hash, Maglev.
    Maglev,
    /// At random.
    Random,
}

/// Limits for one priority.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct CircuitBreaker {
    /// Which requests count.
    pub priority: Sourced<super::Priority>,
    /// Connections.
    pub max_connections: Option<Sourced<u32>>,
    /// Requests waiting for a connection.
    pub max_pending_requests: Option<Sourced<u32>>,
    /// Requests under way.
    pub max_requests: Option<Sourced<u32>>,
    /// Retries under way.
    pub max_retries: Option<Sourced<u32>>,
    /// What remains is in the statistics.
    pub track_remaining: bool,
}

/// HTTP options of connections to a cluster.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct UpstreamHttp {
    /// HTTP/2 (gRPC).
    pub http2: Option<Sourced<()>>,
    /// HTTP/1.1, said explicitly.
    pub http1: Option<Sourced<()>>,
    /// Requests on one connection.
    pub max_requests_per_connection: Option<Sourced<u32>>,
    /// Connections idle for so long are closed.
    pub idle_timeout: Option<Sourced<Duration>>,
    /// Connections this old are drained.
    pub max_connection_duration: Option<Sourced<Duration>>,
    /// Case of header names over HTTP/1.1.
    pub header_key_format: Option<Sourced<HeaderKeyFormat>>,
}

/// Case of header names over HTTP/1.1.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum HeaderKeyFormat {
    /// `Content-Type`.
    ProperCaseWords,
    /// These headers as written, others lower case. Envoy dropped this field in v3: it is kept to say so.
    Custom(Vec<(Str, Str)>),
}

/// TCP keepalive probes; `None` leaves the system's value.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct TcpKeepalive {
    /// Probes without answer before the connection is dead.
    pub probes: Option<Sourced<u32>>,
    /// Seconds of idleness before the first.
    pub time: Option<Sourced<u32>>,
    /// Seconds between two.
    pub interval: Option<Sourced<u32>>,
}

/// An active health check.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct HealthCheck {
    /// Time for an answer.
    pub timeout: Sourced<Duration>,
    /// Time between two.
    pub interval: Sourced<Duration>,
    /// Successes until healthy.
    pub healthy_threshold: Sourced<u32>,
    /// Failures until unhealthy.
    pub unhealthy_threshold: Sourced<u32>,
    /// What is asked.
    pub checker: HealthChecker,
}

/// What a health check asks.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum HealthChecker {
    /// That a connection can be made.
    Tcp,
    /// An HTTP request.
    Http {
        /// It is asked by HTTP/2.
        http2: Option<Sourced<()>>,
        /// Path.
        path: Sourced<Str>,
        /// Host header; `None`: the cluster's name.
        host: Option<Sourced<Str>>,
        /// Headers added and removed.
        headers: super::HeaderMutations,
        /// Ranges of healthy statuses, the end excluded; empty: 200.
        expected_statuses: Vec<Sourced<(i64, i64)>>,
    },
    /// `grpc.health.v1.Health`.
    Grpc {
        /// Service asked for.
        service_name: Sourced<Str>,
        /// `:authority`; `None`: the cluster's name.
        authority: Option<Sourced<Str>>,
    },
}
