//! Holds listeners, and routes of connections.

use super::{Authorization, ClusterTraffic, Destination, HttpRoute, Metadata, TlsSettings};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// The part that all listeners have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CoreListener {
    /// `namespace/gateway/listener`, or `namespace/gateway/listener-set-namespace/listener-set/listener`.
    pub(crate) name: Str,
    /// `0.0.0.0` or `::`.
    pub(crate) address: Str,
    /// The port of the proxy's container.
    pub(crate) port: Sourced<i64>,
    /// The port in the Gateway's words.
    pub(crate) external_port: Sourced<i64>,
    pub(crate) metadata: Metadata,
    /// `IPv4`, `IPv6` or `DualStack`; empty if unset.
    pub(crate) ip_family: Str,
    /// The listener in its Gateway or ListenerSet.
    pub(crate) origin: Option<Origin>,
}

/// The fields of a ClientTrafficPolicy, verbatim: `spec.tcpKeepalive` and so on. `Tree::NULL` is unset.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClientSettings {
    pub(crate) tcp_keepalive: Tree,
    /// `spec.proxyProtocol`; the deprecated `enableProxyProtocol: true` is an empty object.
    pub(crate) proxy_protocol: Tree,
    pub(crate) client_ip_detection: Tree,
    pub(crate) headers: Tree,
    pub(crate) path: Tree,
    pub(crate) host: Tree,
    pub(crate) http1: Tree,
    pub(crate) http2: Tree,
    pub(crate) http3: Tree,
    /// {enableGRPCWeb, enableGRPCStats}: what GRPCRoutes, EnvoyProxy and policies turn on.
    pub(crate) grpc: Tree,
    pub(crate) health_check: Tree,
    pub(crate) timeout: Tree,
    pub(crate) connection: Tree,
    /// `spec.scheme`
    pub(crate) scheme: Tree,
    /// `spec.requestID`
    pub(crate) request_id: Tree,
    /// Paths of GeoIP databases, as `EnvoyProxy.spec.geoIP` writes them.
    pub(crate) geoip: Tree,
}

/// A listener for HTTP and HTTPS.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HttpListener {
    pub(crate) core: CoreListener,
    /// Hostnames; `*` for all.
    pub(crate) hostnames: Vec<Sourced<Str>>,
    pub(crate) tls: Option<TlsSettings>,
    /// Whether its certificates overlap those of another listener, so that HTTP/2 connections could reach the wrong one.
    pub(crate) tls_overlaps: bool,
    /// Sorted, unless `preserve_route_order`.
    pub(crate) routes: Vec<Arc<HttpRoute>>,
    pub(crate) client: ClientSettings,
    pub(crate) preserve_route_order: bool,
    /// `EnvoyProxy.spec.telemetry.requestID.tracing`; `Tree::NULL` if unset.
    pub(crate) request_id_tracing: Tree,
}

/// A listener for TCP and TLS.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TcpListener {
    pub(crate) core: CoreListener,
    pub(crate) tls: Option<TlsSettings>,
    pub(crate) client: ClientSettings,
    pub(crate) routes: Vec<TcpRoute>,
}

/// A route of connections.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TcpRoute {
    pub(crate) name: Str,
    /// The name in statistics; `Tree::NULL` if unset.
    pub(crate) stat_name: Tree,
    /// The server names of a TLSRoute; `None` for a TCPRoute. Envoy reads them from the client's first message.
    pub(crate) server_names: Option<Vec<Sourced<Str>>>,
    /// How the listener terminates TLS; `None` if it passes TLS through or has none.
    pub(crate) terminate: Option<TlsSettings>,
    pub(crate) destination: Option<Destination>,
    pub(crate) traffic: ClusterTraffic,
    pub(crate) authorization: Option<Authorization>,
    pub(crate) metadata: Metadata,
    pub(crate) origin: Option<Origin>,
}

/// A listener for UDP.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UdpListener {
    pub(crate) core: CoreListener,
    pub(crate) route: Option<UdpRoute>,
}

/// The only route of a UDP listener.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UdpRoute {
    pub(crate) name: Str,
    pub(crate) destination: Option<Destination>,
    pub(crate) traffic: ClusterTraffic,
    pub(crate) metadata: Metadata,
    pub(crate) origin: Option<Origin>,
}
