//! The intermediate representation: what a gateway does, in no dialect's words.
//!
//! Dialects lower to it, back ends emit from it. It imports nothing from `dialect/` and knows no dialect's name: what
//! differs between controllers is data here ([`Spelling`], names of clusters and listeners, strings of access logs).
//! Values carry their [`Origin`](crate::resource::Origin), so that every emitted field can be traced.

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

pub use verbatim::{Fields, Plain, Tree, Verbatim, placeholder};

use crate::resource::{Origin, Sourced};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Str;
use core::time::Duration;

/// What one gateway does with traffic, and beside it how its proxy gets that.
///
/// A back end for another proxy than Envoy reads the traffic and leaves [`Ir::delivery`] alone.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Ir {
    /// In the order in which the controller sends them.
    pub listeners: Vec<Arc<Listener>>,
    /// Tables of routes that are served beside those of listeners.
    pub tables: Vec<Arc<RouteConfiguration>>,
    /// Certificates that are served beside those of listeners and clusters.
    pub certificates: Vec<Sourced<Certificate>>,
    /// Sorted as the controller sorts them.
    pub clusters: Vec<Arc<Cluster>>,
    /// How Envoy gets it.
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

    /// The certificates that listeners and clusters show, and those that are served beside them.
    pub fn shown_certificates(&self) -> impl Iterator<Item = &Sourced<Certificate>> {
        let of_listeners = self.downstream_tls().flat_map(|tls| &tls.certificates);
        of_listeners.chain(self.upstream_tls().flat_map(|tls| &tls.certificates)).chain(&self.certificates)
    }

    /// How listeners and clusters check the certificates of others.
    pub fn validations(&self) -> impl Iterator<Item = &Sourced<ValidationContext>> {
        let of_listeners = self.downstream_tls().filter_map(|tls| tls.validation.as_ref());
        of_listeners.chain(self.upstream_tls().filter_map(|tls| tls.validation.as_ref()))
    }

    /// What resources in the proxy's own words are made of, with where each is asked for. A certificate may stand in place, where its key does not.
    pub fn verbatim_references(&self) -> Vec<(SecretReference, Option<Origin>)> {
        let verbatim = &self.delivery.verbatim;
        let with_certificate = |(reference, origin): (SecretReference, Option<Origin>)| {
            let is_key = reference.part == SecretPart::PrivateKey;
            let certificate = is_key.then(|| SecretReference { part: SecretPart::Certificate, ..reference.clone() });
            certificate.into_iter().chain([reference]).map(move |reference| (reference, origin))
        };
        verbatim.listeners.iter().chain(&verbatim.clusters).flat_map(|of| of.references()).flat_map(with_certificate).collect()
    }

    /// What of Secrets, ConfigMaps and other holders of certificates all of these are made of, with the origins of those that ask for them.
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

/// How an Envoy gets what it does: what it starts with, whom it asks, and which of two equivalent fields say it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct EnvoyDelivery {
    /// Resources that are served in Envoy's own words, after the others.
    #[serde(skip_serializing_if = "Verbatim::is_empty")]
    pub verbatim: Verbatim,
    /// The name in the certificate that the proxy shows to others, where it has one: the URI of its alternative names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Str>,
    /// Layers of runtime values that the management server serves.
    pub runtimes: Vec<RuntimeLayer>,
    /// Whom the proxy asks for what is served by name.
    pub config_source: ConfigSource,
    /// What stands in the bootstrap and is not served by xDS.
    pub bootstrap: Bootstrap,
    /// Which of two equivalent Envoy fields the controller uses.
    pub spelling: Spelling,
}

/// Whom the proxy asks for what is served by name: routes, endpoints, certificates.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub enum ConfigSource {
    /// The stream that serves everything.
    #[default]
    Aggregated,
    /// A management server, on a stream for each.
    Server {
        /// Its cluster.
        cluster: Str,
        /// `:authority` sent to it.
        authority: Str,
    },
}

/// What the proxy starts with.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Bootstrap {
    /// `node.cluster`.
    pub node_cluster: Str,
    /// `node.id`.
    pub node_id: Str,
    /// Where Envoy's admin interface listens; `None` for no admin interface.
    pub admin: Option<Admin>,
    /// Layers of runtime values, lowest first.
    pub runtime: Vec<RuntimeLayer>,
    /// The management server's cluster; resources come over ADS from it.
    pub xds_cluster: Option<XdsCluster>,
    /// Clusters that the bootstrap itself needs (tracing, access log services).
    pub clusters: Vec<Arc<Cluster>>,
    /// Tracer for the whole proxy.
    pub tracer: Option<Sourced<Tracer>>,
    /// Where statistics are sent.
    pub stats_sinks: Vec<Sourced<StatsSink>>,
    /// How often; `None` for Envoy's default of 5 s.
    pub stats_flush_interval: Option<Sourced<Duration>>,
    /// Tags with a fixed value on every statistic.
    pub stats_tags: Vec<(Str, Sourced<Str>)>,
}

/// Envoy's admin interface.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Admin {
    /// Where it listens.
    #[serde(flatten)]
    pub address: Sourced<EndpointAddress>,
    /// File for its access log.
    pub access_log_path: Str,
}

/// One layer of runtime values.
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
    /// Cluster name.
    pub name: Str,
    /// `load_assignment.cluster_name`.
    pub assignment_name: Str,
    /// Where the server is.
    #[serde(flatten)]
    pub address: EndpointAddress,
    /// Connect timeout.
    pub connect_timeout: Duration,
}

/// A distributed tracer.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Tracer {
    /// Envoy's extension name, e.g. `envoy.zipkin`.
    pub name: Str,
    /// Its settings.
    pub config: TracerConfig,
}

/// A tracer's settings.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum TracerConfig {
    /// Zipkin.
    Zipkin {
        /// Cluster of the collector.
        cluster: Str,
        /// Path on the collector.
        endpoint: Sourced<Str>,
        /// `HTTP_JSON` or `HTTP_PROTO`.
        version: Sourced<Str>,
        /// Host sent to the collector.
        hostname: Option<Sourced<Str>>,
        /// 128-bit trace ids.
        trace_id_128bit: Option<Sourced<bool>>,
        /// Client and server share a span.
        shared_span_context: Option<Sourced<bool>>,
    },
    /// Datadog.
    Datadog {
        /// Cluster of the agent.
        cluster: Str,
        /// Name of this service.
        service_name: Sourced<Str>,
    },
    /// OpenTelemetry over gRPC.
    OpenTelemetry {
        /// Cluster of the collector.
        cluster: Str,
        /// `:authority` sent to it; `None`: the cluster's name.
        authority: Option<Sourced<Str>>,
        /// Time for an answer; zero is off; `None` leaves Envoy's default.
        timeout: Option<Sourced<Duration>>,
        /// Name of this service.
        service_name: Sourced<Str>,
    },
}

/// Where statistics are sent.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct StatsSink {
    /// `true` for Datadog's dialect of statsd.
    pub dogstatsd: bool,
    /// IP address of the UDP receiver.
    pub address: Str,
    /// Its port.
    pub port: u16,
}

/// A JSON value that is passed on as it is.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Json {
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// Any number.
    Number(f64),
    /// A string.
    String(Str),
    /// An array.
    Array(Vec<Json>),
    /// An object, keys in order.
    Object(#[serde(serialize_with = "as_map")] Vec<(Str, Json)>),
}

fn as_map<S: serde::Serializer>(entries: &[(Str, Json)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(key, value)| (key, value)))
}

/// Envoy lets some things be said in two ways, of which the older is deprecated. A controller uses one of them; which
/// one is data, and [`Spelling::CURRENT`] never uses a deprecated field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Spelling {
    /// `append: bool` of headers to add, instead of `append_action`.
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
    /// Weighted TCP clusters even for one cluster.
    pub tcp_always_weighted: bool,
    /// Headers that an HTTP authorization service gets, as a field of that service instead of the filter.
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
    /// The version of the authorization service's protocol even where it is asked by HTTP, which has none.
    pub ext_authz_version_of_http: bool,
}

impl Spelling {
    /// Envoy's current fields only.
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

/// The origins of something made from several resources.
pub type Origins = Vec<Origin>;
