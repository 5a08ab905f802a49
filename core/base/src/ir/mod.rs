//! Defines the intermediate representation: what a gateway does, independent of dialects.
//!
//! Dialects lower to it, and back ends emit from it. It knows no dialect: differences between controllers are data ([`Spelling`], names of clusters
//! and listeners, strings of access logs). Values carry their [`Origin`](crate::resource::Origin), so every emitted field can be traced.

mod access_log;

pub mod appgw;
mod cluster;
mod filter;
mod header;
mod listener;
pub mod nginx;
mod route;
mod tls;
mod value;
mod verbatim;

pub use access_log::{AccessLog, AccessLogFilter, AccessLogFormat, AccessLogSink, FileAccessLog, Formatter, GrpcAccessLog, GrpcAccessLogKind};
pub use cluster::{
    CircuitBreaker, Cluster, ClusterDiscovery, DnsFamily, DnsKind, Endpoint, HeaderKeyFormat, HealthCheck, HealthChecker, LbPolicy, Locality,
    SlowStart, TcpKeepalive, UpstreamHttp,
};
pub use filter::{
    AuthorizationTransport, Body, Compression, Compressor, ExtAuthz, GrpcStats, GrpcStatsMethods, HttpFilter, HttpFilterKind, IpRange, IpSource,
    Jwks, JwtProvider, LocalRateLimit, LuaScripts, NameMatch, RateLimitService, Rbac, RbacAction, TokenBucket, holds_keys,
};
pub use header::{AppendAction, HeaderMatch, HeaderMutations, HeaderToAdd, Regex, StringMatch};
pub use listener::{
    Address, ClientCertDetails, CodecType, FilterChain, FilterChainMatch, Http1Options, HttpConnectionManager, Listener, ListenerFilter,
    NetworkFilter, SocketOption, SocketProtocol, TcpProxy, Tracing, TracingTag, TracingTagValue, TrafficDirection,
};
pub use route::{
    Cors, DirectResponse, Forward, HashBy, HashPolicy, HostRateLimits, HostRewrite, InternalRedirect, MirrorPolicy, PathMatch, PathRewrite,
    PerFilter, Priority, QueryMatch, RateLimitAction, RateLimitDescriptor, Redirect, RedirectCode, RedirectPath, RegexRewrite, RetryPolicy, Route,
    RouteAction, RouteConfiguration, RouteMatch, RuntimeFraction, UpstreamClusters, VirtualHost, WeightedCluster,
};
pub use tls::{
    Certificate, CertificateSource, Delivery, DownstreamTls, Holder, PublicMaterial, SecretPart, SecretReference, TlsParameters, TlsVersion,
    UpstreamTls, ValidationContext,
};
pub use value::{EndpointAddress, HeaderName, InvalidHeaderName, StatusCode};

pub use verbatim::{Fields, Plain, Shared, Tree, Verbatim, placeholder};

use crate::resource::{Origin, Sourced};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Str;
use core::time::Duration;

/// What one gateway does with traffic, and how its proxy receives the configuration.
///
/// A back end for a proxy other than Envoy reads the traffic part and ignores [`Ir::delivery`].
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Ir {
    /// In the order in which the controller sends them.
    pub listeners: Vec<Arc<Listener>>,
    /// Route tables that are served in addition to the listeners' tables.
    pub tables: Vec<Arc<RouteConfiguration>>,
    /// Certificates that are served in addition to those of listeners and clusters.
    pub certificates: Vec<Sourced<Certificate>>,
    /// In the controller's order.
    pub clusters: Vec<Arc<Cluster>>,
    /// How Envoy receives the configuration.
    #[serde(flatten)]
    pub delivery: EnvoyDelivery,
}

impl Ir {
    fn downstream_tls(&self) -> impl Iterator<Item = &Sourced<DownstreamTls>> {
        self.listeners.iter().flat_map(|listener| &listener.chains).filter_map(|chain| chain.tls.as_ref())
    }

    fn upstream_tls(&self) -> impl Iterator<Item = &Sourced<Box<UpstreamTls>>> {
        self.clusters.iter().chain(&self.delivery.bootstrap.clusters).filter_map(|cluster| cluster.tls.as_ref())
    }

    /// The certificates that listeners and clusters present, and the additional ones.
    pub fn shown_certificates(&self) -> impl Iterator<Item = &Sourced<Certificate>> {
        let of_listeners = self.downstream_tls().flat_map(|tls| &tls.certificates);
        of_listeners.chain(self.upstream_tls().flat_map(|tls| &tls.certificates)).chain(&self.certificates)
    }

    /// How listeners and clusters verify peer certificates.
    pub fn validations(&self) -> impl Iterator<Item = &Sourced<ValidationContext>> {
        let of_listeners = self.downstream_tls().filter_map(|tls| tls.validation.as_ref());
        of_listeners.chain(self.upstream_tls().filter_map(|tls| tls.validation.as_ref()))
    }

    /// The references inside verbatim Envoy resources, with their origins. A certificate may be inline; its key may not.
    pub fn verbatim_references(&self) -> Vec<(SecretReference, Option<Origin>)> {
        let verbatim = &self.delivery.verbatim;
        let with_certificate = |(reference, origin): (SecretReference, Option<Origin>)| {
            let is_key = reference.part == SecretPart::PrivateKey;
            let certificate = is_key.then(|| SecretReference { part: SecretPart::Certificate, ..reference.clone() });
            certificate.into_iter().chain([reference]).map(move |reference| (reference, origin))
        };
        let all = verbatim.listeners.iter().chain(&verbatim.clusters).chain(&verbatim.routes).chain(&verbatim.secrets);
        all.flat_map(|of| of.references()).flat_map(with_certificate).collect()
    }

    /// All references to Secrets, ConfigMaps and other holders of certificates, with the origins that refer to them.
    pub fn secret_references(&self) -> BTreeMap<SecretReference, Vec<Origin>> {
        let certificates = self.shown_certificates().flat_map(|of| [(&of.chain, of.origin), (&of.key, of.origin)]);
        let validations = self.validations().flat_map(|of| [(&of.trusted_ca, of.origin), (&of.crl, of.origin)]);
        let own = certificates.chain(validations).flat_map(|(source, origin)| {
            let references = source.iter().flat_map(|source| source.value.references());
            references.map(move |reference| (reference.clone(), origin))
        });
        let mut all: BTreeMap<SecretReference, Vec<Origin>> = BTreeMap::new();
        for (reference, origin) in own.chain(self.verbatim_references()) {
            let origins = all.entry(reference).or_default();
            origins.extend(origin.filter(|origin| !origins.contains(origin)));
        }
        all
    }
}

/// How an Envoy receives its configuration: its bootstrap, its management server, and which of two equivalent fields the controller uses.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct EnvoyDelivery {
    /// Resources in Envoy's own format, served after the others.
    #[serde(skip_serializing_if = "Verbatim::is_empty")]
    pub verbatim: Verbatim,
    /// The URI in the certificate that the proxy presents, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Str>,
    /// Runtime layers that the management server serves.
    pub runtimes: Vec<RuntimeLayer>,
    /// The server of resources that are referenced by name.
    pub config_source: ConfigSource,
    /// The bootstrap, which xDS does not serve.
    pub bootstrap: Bootstrap,
    /// Which of two equivalent Envoy fields the controller uses.
    pub spelling: Spelling,
}

/// The server of resources that are referenced by name: routes, endpoints, certificates.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub enum ConfigSource {
    /// The aggregated stream.
    #[default]
    Aggregated,
    /// A management server with a separate stream per resource type.
    Server {
        /// The server's cluster.
        cluster: Str,
        /// `:authority` sent to it.
        authority: Str,
    },
}

/// The configuration that the proxy starts with.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Bootstrap {
    /// `node.cluster`.
    pub node_cluster: Str,
    /// `node.id`.
    pub node_id: Str,
    /// The address of Envoy's admin interface; `None` disables it.
    pub admin: Option<Admin>,
    /// Runtime layers, lowest first.
    pub runtime: Vec<RuntimeLayer>,
    /// The management server's cluster; it serves resources by ADS.
    pub xds_cluster: Option<XdsCluster>,
    /// Files that only the controller's own pods have. A bootstrap for any machine requests their content from the management server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pod_files: Vec<Str>,
    /// Clusters that the bootstrap itself needs (tracing, access log services).
    pub clusters: Vec<Arc<Cluster>>,
    /// A tracer for the whole proxy.
    pub tracer: Option<Sourced<Tracer>>,
    pub stats_sinks: Vec<Sourced<StatsSink>>,
    /// The flush interval; `None` for Envoy's default of 5 s.
    pub stats_flush_interval: Option<Sourced<Duration>>,
    /// Tags with a fixed value on every statistic.
    pub stats_tags: Vec<(Str, Sourced<Str>)>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Admin {
    /// The address that it listens on.
    pub address: Sourced<EndpointAddress>,
    /// The file of its access log.
    pub access_log_path: Str,
}

/// A layer of runtime values.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct RuntimeLayer {
    /// Name of the layer.
    pub name: Str,
    /// Keys and values in order.
    pub values: Vec<(Str, Sourced<Json>)>,
}

/// The management server.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct XdsCluster {
    pub name: Str,
    /// `load_assignment.cluster_name`.
    pub assignment_name: Str,
    /// The server's address.
    #[serde(flatten)]
    pub address: EndpointAddress,
    pub connect_timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Tracer {
    /// Envoy's extension name, e.g. `envoy.zipkin`.
    pub name: Str,
    pub config: TracerConfig,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum TracerConfig {
    Zipkin {
        /// The collector's cluster.
        cluster: Str,
        /// The path on the collector.
        endpoint: Sourced<Str>,
        /// `HTTP_JSON` or `HTTP_PROTO`.
        version: Sourced<Str>,
        /// The host sent to the collector.
        hostname: Option<Sourced<Str>>,
        /// Uses 128-bit trace ids.
        trace_id_128bit: Option<Sourced<bool>>,
        /// Client and server share a span.
        shared_span_context: Option<Sourced<bool>>,
    },
    Datadog {
        /// The agent's cluster.
        cluster: Str,
        /// The name of this service.
        service_name: Sourced<Str>,
    },
    /// OpenTelemetry over gRPC.
    OpenTelemetry {
        /// The collector's cluster.
        cluster: Str,
        /// `:authority` sent to the collector; `None`: the cluster's name.
        authority: Option<Sourced<Str>>,
        /// The maximum time for a response; zero disables it; `None` is Envoy's default.
        timeout: Option<Sourced<Duration>>,
        /// The name of this service.
        service_name: Sourced<Str>,
    },
}

/// The destination of statistics.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct StatsSink {
    /// Whether the receiver is Datadog's variant of statsd.
    pub dogstatsd: bool,
    /// The IP address of the UDP receiver.
    pub address: Str,
    pub port: u16,
}

/// A JSON value that is passed on verbatim.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Json {
    Null,
    Bool(bool),
    /// Any number.
    Number(f64),
    String(Str),
    Array(Vec<Json>),
    /// An object with ordered keys.
    Object(#[serde(serialize_with = "as_map")] Vec<(Str, Json)>),
}

fn as_map<S: serde::Serializer>(entries: &[(Str, Json)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(key, value)| (key, value)))
}

/// Selects between two equivalent Envoy fields; the older one is deprecated. The controller's choice is data; [`Spelling::CURRENT`] never
/// uses a deprecated field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Spelling {
    /// `append: bool` of added headers, instead of `append_action`.
    pub header_append: bool,
    /// `cors` on the route's action, instead of the CORS filter's per-route configuration.
    pub cors_on_route: bool,
    /// `prefix_match`, `suffix_match` and `safe_regex_match` of header matchers, instead of `string_match`.
    pub header_match_fields: bool,
    /// HTTP options as fields of the cluster, instead of `typed_extension_protocol_options`.
    pub http_options_on_cluster: bool,
    /// `google_re2` in regular expressions.
    pub google_re2: bool,
    /// `json_format` of the file access log, instead of `log_format`.
    pub file_log_json_format: bool,
    /// `inline_code` of Lua, instead of `default_source_code`.
    pub lua_inline_code: bool,
    /// Weighted TCP clusters even for a single cluster.
    pub tcp_always_weighted: bool,
    /// The headers for an HTTP authorization service as a field of the service instead of the filter.
    pub ext_authz_headers_on_service: bool,
    /// The tracer in the bootstrap, instead of each connection manager.
    pub tracer_in_bootstrap: bool,
    /// `start_child_span` of the router, instead of `spawn_upstream_span` of the connection manager's tracing.
    pub child_span_on_router: bool,
    /// `content_type` of the compressor, instead of `content_type_matcher`.
    pub compressor_content_type: bool,
    /// `respect_dns_ttl` of the cluster, instead of a cluster of the DNS extension.
    pub dns_ttl_on_cluster: bool,
    /// Alternatives of a policy as `or_ids` of one principal, instead of several principals.
    pub rbac_or_ids: bool,
    /// The authorization protocol's version even for HTTP, which has no version.
    pub ext_authz_version_of_http: bool,
}

impl Spelling {
    /// Only Envoy's current fields.
    pub const CURRENT: Spelling = Spelling {
        header_append: false,
        cors_on_route: false,
        header_match_fields: false,
        http_options_on_cluster: false,
        google_re2: false,
        file_log_json_format: false,
        lua_inline_code: false,
        tcp_always_weighted: false,
        ext_authz_headers_on_service: false,
        tracer_in_bootstrap: false,
        child_span_on_router: false,
        compressor_content_type: false,
        dns_ttl_on_cluster: false,
        rbac_or_ids: false,
        ext_authz_version_of_http: false,
    };
}

impl Default for Spelling {
    fn default() -> Self {
        Self::CURRENT
    }
}

/// The origins of a value made from several resources.
pub type Origins = Vec<Origin>;
