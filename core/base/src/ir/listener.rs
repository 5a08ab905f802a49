//! Listeners, filter chains and network filters.

use super::{AccessLog, DownstreamTls, HeaderKeyFormat, HttpFilter, Origins, RouteConfiguration};
use crate::resource::{Also, Sourced};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Str;
use core::time::Duration;

/// A port with what stands behind it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Listener {
    /// Unique in the gateway.
    pub name: Sourced<Str>,
    /// Where it listens.
    pub address: Address,
    /// What looks at a connection before a chain is chosen.
    pub filters: Vec<Sourced<ListenerFilter>>,
    /// Envoy takes the most specific match.
    pub chains: Vec<FilterChain>,
    /// Buffer limit of a connection.
    pub per_connection_buffer_limit: Option<Sourced<u32>>,
    /// Options of its socket.
    pub socket_options: Vec<Sourced<SocketOption>>,
    /// Connections are spread over Envoy's threads one by one.
    pub exact_balance: Option<Sourced<()>>,
    /// Connections accepted at once.
    pub max_connections_per_event: Option<Sourced<u32>>,
    /// Its connections do not count against Envoy's limit of all.
    pub ignore_global_limit: bool,
    /// For tracing.
    pub traffic_direction: Option<Sourced<TrafficDirection>>,
    /// Bootstrap only, never by xDS (the readiness listener).
    pub in_bootstrap: bool,
    /// What made it.
    pub origins: Origins,
}

impl Listener {
    /// The managers of its connections that read HTTP.
    pub fn http_managers(&self) -> impl Iterator<Item = &HttpConnectionManager> {
        self.chains.iter().flat_map(|chain| &chain.filters).filter_map(|filter| match filter {
            NetworkFilter::Http(manager) => Some(&**manager),
            NetworkFilter::Tcp(_) => None,
        })
    }
}

/// An option of a socket that listens.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SocketOption {
    /// For people.
    pub description: Str,
    /// Number of the protocol level.
    pub level: i64,
    /// Number of the option.
    pub name: i64,
    /// Its value.
    pub value: i64,
}

/// Where a listener listens.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Address {
    /// IP address.
    pub address: Sourced<Str>,
    /// Port.
    pub port: Sourced<u16>,
    /// Fields that ask for this port besides.
    #[serde(skip)]
    pub port_also: Also,
    /// TCP, or UDP for QUIC.
    pub protocol: SocketProtocol,
    /// An IPv6 socket takes IPv4 too.
    pub ipv4_compat: bool,
}

/// Protocol of a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum SocketProtocol {
    /// TCP.
    #[default]
    Tcp,
    /// UDP, for HTTP/3.
    Udp,
}

/// Direction of a listener's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum TrafficDirection {
    /// `UNSPECIFIED`
    Unspecified,
    /// `INBOUND`
    Inbound,
    /// `OUTBOUND`
    Outbound,
}

/// What looks at a connection before a chain is chosen.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum ListenerFilter {
    /// Reads the PROXY protocol.
    ProxyProtocol,
    /// Reads SNI and ALPN.
    TlsInspector {
        /// Takes a JA3 fingerprint.
        ja3: Option<Sourced<bool>>,
        /// Takes a JA4 fingerprint.
        ja4: Option<Sourced<bool>>,
    },
}

/// One filter chain.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct FilterChain {
    /// Empty where the controller gives none.
    pub name: Str,
    /// Which connections; `None` where the controller sends no match at all.
    pub matcher: Option<FilterChainMatch>,
    /// TLS termination.
    pub tls: Option<Sourced<DownstreamTls>>,
    /// Network filters.
    pub filters: Vec<NetworkFilter>,
    /// What made it.
    pub origins: Origins,
}

/// Which connections a chain takes.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct FilterChainMatch {
    /// SNI; empty: any.
    pub server_names: Vec<Sourced<Str>>,
    /// `tls`, `quic` or `raw_buffer`; `None`: any.
    pub transport_protocol: Option<Str>,
}

/// What a chain does.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum NetworkFilter {
    /// HTTP.
    Http(Arc<HttpConnectionManager>),
    /// TCP.
    Tcp(TcpProxy),
}

/// TCP forwarded as it is.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TcpProxy {
    /// Prefix of statistics.
    pub stat_prefix: Sourced<Str>,
    /// Clusters by weight.
    pub clusters: Vec<super::WeightedCluster>,
    /// Idle connections are closed.
    pub idle_timeout: Option<Sourced<Duration>>,
    /// Access logs.
    pub access_logs: Vec<Sourced<AccessLog>>,
}

/// HTTP on a connection.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct HttpConnectionManager {
    /// Prefix of statistics.
    pub stat_prefix: Sourced<Str>,
    /// HTTP version; `None`: found out.
    pub codec: Option<CodecType>,
    /// Routes.
    pub routes: RouteConfiguration,
    /// Filters, router last.
    pub filters: Vec<Arc<HttpFilter>>,
    /// Access logs.
    pub access_logs: Vec<Sourced<AccessLog>>,
    /// Dot segments are resolved before routing.
    pub normalize_path: Option<Sourced<bool>>,
    /// Adjacent slashes become one.
    pub merge_slashes: Option<Sourced<bool>>,
    /// Requests with escaped slashes are refused.
    pub reject_escaped_slashes: Option<Sourced<bool>>,
    /// The port is taken off the host before routing.
    pub strip_matching_host_port: Option<Sourced<bool>>,
    /// A dot at the end of the host is taken off before routing.
    pub strip_trailing_host_dot: Option<Sourced<bool>>,
    /// The client's address is the connection's.
    pub use_remote_address: Option<Sourced<bool>>,
    /// Proxies in front that are trusted.
    pub xff_num_trusted_hops: Option<Sourced<u32>>,
    /// `server` header.
    pub server_name: Option<Sourced<Str>>,
    /// Envoy's enum name: what happens to a `server` header that is there.
    pub server_header_transformation: Option<Sourced<Str>>,
    /// Options that HTTP versions share are sent even where none is set.
    pub common_options_even_empty: bool,
    /// Idle connections are closed.
    pub idle_timeout: Option<Sourced<Duration>>,
    /// Connections this old are drained.
    pub max_connection_duration: Option<Sourced<Duration>>,
    /// Requests on one connection.
    pub max_requests_per_connection: Option<Sourced<u32>>,
    /// Time for a whole request to come in; zero is off.
    pub request_timeout: Option<Sourced<Duration>>,
    /// Idle timeout of a stream; zero is off.
    pub stream_idle_timeout: Option<Sourced<Duration>>,
    /// Time between the first and the last notice of closing.
    pub drain_timeout: Option<Sourced<Duration>>,
    /// Time that a closed connection waits for the client.
    pub delayed_close_timeout: Option<Sourced<Duration>>,
    /// Protocols that a connection may upgrade to, on all routes.
    pub upgrades: Vec<Sourced<Str>>,
    /// Envoy's enum name: what happens to header names with `_`.
    pub headers_with_underscores: Option<Sourced<Str>>,
    /// KiB.
    pub max_request_headers_kb: Option<Sourced<u32>>,
    /// HTTP/1 options.
    pub http1: Http1Options,
    /// HTTP/2: streams of a connection.
    pub max_concurrent_streams: Option<Sourced<u32>>,
    /// HTTP/3 is served.
    pub http3: bool,
    /// `x-request-id` of clients is kept.
    pub preserve_external_request_id: Option<Sourced<bool>>,
    /// `x-request-id` is made.
    pub generate_request_id: Option<Sourced<bool>>,
    /// Envoy's enum name: what happens to `x-forwarded-client-cert`.
    pub forward_client_cert: Option<Sourced<Str>>,
    /// What of a client's certificate goes into it.
    pub client_cert_details: Option<Sourced<ClientCertDetails>>,
    /// Tracing.
    pub tracing: Option<Sourced<Tracing>>,
    /// What made it.
    pub origins: Origins,
}

/// HTTP version of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum CodecType {
    /// HTTP/1.1 or HTTP/2, found out.
    Auto,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2.
    Http2,
    /// HTTP/3.
    Http3,
}

/// HTTP/1 options.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Http1Options {
    /// HTTP/1.0 is accepted.
    pub accept_http_10: Option<Sourced<bool>>,
    /// `transfer-encoding` and `content-length` may both stand.
    pub allow_chunked_length: Option<Sourced<bool>>,
    /// Case of header names.
    pub header_key_format: Option<Sourced<HeaderKeyFormat>>,
}

/// What of a client's certificate is forwarded; `None` leaves Envoy's default.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct ClientCertDetails {
    /// Subject.
    pub subject: Option<bool>,
    /// Certificate.
    pub cert: Option<bool>,
    /// Chain.
    pub chain: Option<bool>,
    /// DNS names.
    pub dns: Option<bool>,
    /// URI names.
    pub uri: Option<bool>,
}

/// Tracing of requests.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Tracing {
    /// Per cent of requests traced when the client asks.
    pub client_sampling: Option<Sourced<f64>>,
    /// Per cent traced at random.
    pub random_sampling: Option<Sourced<f64>>,
    /// Per cent at most.
    pub overall_sampling: Option<Sourced<f64>>,
    /// Longest path in a span.
    pub max_path_tag_length: Option<Sourced<u32>>,
    /// Tags of spans.
    pub tags: Vec<Sourced<TracingTag>>,
}

/// A tag of a span.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TracingTag {
    /// Its name.
    pub tag: Str,
    /// Its value.
    pub value: TracingTagValue,
}

/// A tag's value.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum TracingTagValue {
    /// Fixed.
    Literal(Str),
    /// An environment variable of the proxy, with a default.
    Environment(Str, Option<Str>),
    /// A request header, with a default.
    RequestHeader(Str, Option<Str>),
}
