//! Defines listeners, filter chains and network filters.

use super::{AccessLog, DownstreamTls, HeaderKeyFormat, HttpFilter, Origins, RouteConfiguration};
use crate::resource::{Also, Sourced};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Str;
use core::time::Duration;

/// A port with its filter chains.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Listener {
    /// Unique in the gateway.
    pub name: Sourced<Str>,
    /// Where it listens.
    pub address: Address,
    /// Filters that inspect a connection before a chain is selected.
    pub filters: Vec<Sourced<ListenerFilter>>,
    /// Envoy selects the chain with the most specific match.
    pub chains: Vec<FilterChain>,
    pub per_connection_buffer_limit: Option<Sourced<u32>>,
    pub socket_options: Vec<Sourced<SocketOption>>,
    /// Distributes connections evenly over Envoy's threads.
    pub exact_balance: Option<Sourced<()>>,
    /// The number of connections accepted at once.
    pub max_connections_per_event: Option<Sourced<u32>>,
    /// Its connections do not count toward Envoy's global limit.
    pub ignore_global_limit: bool,
    /// For tracing.
    pub traffic_direction: Option<Sourced<TrafficDirection>>,
    /// Only in the bootstrap, never sent by xDS (the readiness listener).
    pub in_bootstrap: bool,
    /// The resources that produced it.
    pub origins: Origins,
}

impl Listener {
    /// The HTTP connection managers of all chains.
    pub fn http_managers(&self) -> impl Iterator<Item = &HttpConnectionManager> {
        self.chains.iter().flat_map(|chain| &chain.filters).filter_map(|filter| match filter {
            NetworkFilter::Http(manager) => Some(&**manager),
            NetworkFilter::Tcp(_) => None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SocketOption {
    pub description: Str,
    /// The number of the protocol level.
    pub level: i64,
    /// The number of the option.
    pub name: i64,
    pub value: i64,
}

/// Where a listener listens.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Address {
    pub address: Sourced<Str>,
    pub port: Sourced<u16>,
    /// Further origins of the port.
    #[serde(skip)]
    pub port_also: Also,
    pub protocol: SocketProtocol,
    /// An IPv6 socket accepts IPv4 too.
    pub ipv4_compat: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum SocketProtocol {
    #[default]
    Tcp,
    /// UDP, for HTTP/3.
    Udp,
}

/// The direction of a listener's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum TrafficDirection {
    /// `UNSPECIFIED`
    Unspecified,
    /// `INBOUND`
    Inbound,
    /// `OUTBOUND`
    Outbound,
}

/// A filter that inspects a connection before a chain is selected.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum ListenerFilter {
    /// Reads the PROXY protocol.
    ProxyProtocol,
    /// Reads SNI and ALPN.
    TlsInspector {
        /// Computes a JA3 fingerprint.
        ja3: Option<Sourced<bool>>,
        /// Computes a JA4 fingerprint.
        ja4: Option<Sourced<bool>>,
    },
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct FilterChain {
    /// Empty if the controller sets no name.
    pub name: Str,
    /// Which connections match; `None` if the controller sends no match.
    pub matcher: Option<FilterChainMatch>,
    /// TLS termination.
    pub tls: Option<Sourced<DownstreamTls>>,
    pub filters: Vec<NetworkFilter>,
    /// The resources that produced it.
    pub origins: Origins,
}

/// Which connections match a chain.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct FilterChainMatch {
    /// SNI; empty: any.
    pub server_names: Vec<Sourced<Str>>,
    /// `tls`, `quic` or `raw_buffer`; `None`: any.
    pub transport_protocol: Option<Str>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum NetworkFilter {
    Http(Arc<HttpConnectionManager>),
    Tcp(TcpProxy),
}

/// Forwards TCP connections.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TcpProxy {
    /// Prefix of statistics.
    pub stat_prefix: Sourced<Str>,
    /// Clusters by weight.
    pub clusters: Vec<super::WeightedCluster>,
    /// Closes idle connections.
    pub idle_timeout: Option<Sourced<Duration>>,
    pub access_logs: Vec<Sourced<AccessLog>>,
}

/// Handles HTTP on a connection.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct HttpConnectionManager {
    /// Prefix of statistics.
    pub stat_prefix: Sourced<Str>,
    /// HTTP version; `None`: detected.
    pub codec: Option<CodecType>,
    pub routes: RouteConfiguration,
    /// Filters; the router is the last.
    pub filters: Vec<Arc<HttpFilter>>,
    pub access_logs: Vec<Sourced<AccessLog>>,
    /// Resolves dot segments before routing.
    pub normalize_path: Option<Sourced<bool>>,
    /// Merges adjacent slashes.
    pub merge_slashes: Option<Sourced<bool>>,
    /// Refuses requests with escaped slashes.
    pub reject_escaped_slashes: Option<Sourced<bool>>,
    /// Removes the port from the host before routing.
    pub strip_matching_host_port: Option<Sourced<bool>>,
    /// Removes a trailing dot from the host before routing.
    pub strip_trailing_host_dot: Option<Sourced<bool>>,
    /// Uses the connection's address as the client's.
    pub use_remote_address: Option<Sourced<bool>>,
    /// The number of trusted proxies in front.
    pub xff_num_trusted_hops: Option<Sourced<u32>>,
    /// The `server` header.
    pub server_name: Option<Sourced<Str>>,
    /// Envoy's enum name: how an existing `server` header is treated.
    pub server_header_transformation: Option<Sourced<Str>>,
    /// Sends the options that HTTP versions share even if none is set.
    pub common_options_even_empty: bool,
    /// Closes idle connections.
    pub idle_timeout: Option<Sourced<Duration>>,
    /// Drains connections of this age.
    pub max_connection_duration: Option<Sourced<Duration>>,
    /// The maximum number of requests on one connection.
    pub max_requests_per_connection: Option<Sourced<u32>>,
    /// The maximum time for a whole request to arrive; zero disables it.
    pub request_timeout: Option<Sourced<Duration>>,
    /// Idle timeout of a stream; zero disables it.
    pub stream_idle_timeout: Option<Sourced<Duration>>,
    /// The time between the first and the last notice of closing.
    pub drain_timeout: Option<Sourced<Duration>>,
    /// How long a closed connection waits for the client.
    pub delayed_close_timeout: Option<Sourced<Duration>>,
    /// Protocols that a connection may upgrade to, on all routes.
    pub upgrades: Vec<Sourced<Str>>,
    /// Envoy's enum name: how header names with `_` are treated.
    pub headers_with_underscores: Option<Sourced<Str>>,
    pub max_request_headers_kb: Option<Sourced<u32>>,
    pub http1: Http1Options,
    /// HTTP/2: the maximum number of streams of a connection.
    pub max_concurrent_streams: Option<Sourced<u32>>,
    /// Serves HTTP/3.
    pub http3: bool,
    /// Keeps the clients' `x-request-id`.
    pub preserve_external_request_id: Option<Sourced<bool>>,
    /// Generates `x-request-id`.
    pub generate_request_id: Option<Sourced<bool>>,
    /// Envoy's enum name: how `x-forwarded-client-cert` is treated.
    pub forward_client_cert: Option<Sourced<Str>>,
    /// The parts of a client's certificate that it contains.
    pub client_cert_details: Option<Sourced<ClientCertDetails>>,
    pub tracing: Option<Sourced<Tracing>>,
    /// The resources that produced it.
    pub origins: Origins,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum CodecType {
    /// HTTP/1.1 or HTTP/2, detected.
    Auto,
    Http1,
    Http2,
    Http3,
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Http1Options {
    pub accept_http_10: Option<Sourced<bool>>,
    /// Allows `transfer-encoding` together with `content-length`.
    pub allow_chunked_length: Option<Sourced<bool>>,
    /// The case of header names.
    pub header_key_format: Option<Sourced<HeaderKeyFormat>>,
}

/// The forwarded parts of a client's certificate; `None` is Envoy's default.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct ClientCertDetails {
    pub subject: Option<bool>,
    pub cert: Option<bool>,
    pub chain: Option<bool>,
    pub dns: Option<bool>,
    pub uri: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Tracing {
    /// Percentage of requests traced when the client asks for it.
    pub client_sampling: Option<Sourced<f64>>,
    /// Percentage traced at random.
    pub random_sampling: Option<Sourced<f64>>,
    /// Maximum percentage.
    pub overall_sampling: Option<Sourced<f64>>,
    /// The longest path in a span.
    pub max_path_tag_length: Option<Sourced<u32>>,
    /// Tags of spans.
    pub tags: Vec<Sourced<TracingTag>>,
}

/// A tag of a span.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TracingTag {
    pub tag: Str,
    pub value: TracingTagValue,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum TracingTagValue {
    /// A fixed value.
    Literal(Str),
    /// An environment variable of the proxy, with a default.
    Environment(Str, Option<Str>),
    /// A request header, with a default.
    RequestHeader(Str, Option<Str>),
}
