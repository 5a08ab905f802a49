//! Builds the graph: one processor for each kind of input, in Contour's order (Contour `cmd/contour/serve.go`, `getDAGBuilder`).

pub mod condition;
pub mod header;
pub mod policy;
pub mod record;

mod address;
mod authorization;
mod delegation;
mod extension;
mod findings;
mod gateway;
mod httpproxy;
mod ingress;
mod jwt;
mod listener;
mod memory;
mod replaced;
mod route;
pub(super) mod service;
mod tcp;

pub use gateway::ports;
pub use memory::Memory;

use super::cluster::Name;
use super::model::{CircuitBreakers, Cluster, ClusterTimeouts, Graph, Listener, Material, SecureVirtualHost, Service, UpstreamTls, VirtualHost};
use super::source::{LookupError, Source, quoted};
use super::status::{DetailedCondition, ProxyConditions, Statuses};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Diagnostic;
use chancery_base::resource::{Origin, ResourceKey, Rule, Sourced};
use chancery_base::schema::duration;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::go;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;
use core::time::Duration;

/// The graph under construction, and everything that processors need.
pub struct Processing<'a> {
    /// The objects.
    pub source: &'a Source<'a>,
    /// The result.
    pub graph: Graph,
    /// Statuses that are complete.
    pub statuses: Statuses,
    /// The conditions of HTTPProxies.
    pub proxies: ProxyConditions,
    /// Messages that Contour only logs: dropped parts of Ingresses.
    pub logged: Vec<Diagnostic>,
    /// The errors of other objects.
    pub found: Vec<(ResourceKey, DetailedCondition)>,
    /// The administrator's settings for all hosts.
    pub common: Common<'a>,
    /// The results of earlier compiles.
    memory: &'a mut Memory,
}

/// The administrator's settings for all hosts.
pub struct Common<'a> {
    /// `enableExternalNameService`.
    pub external_names: bool,
    /// `envoy.timeouts.connectTimeout`; zero leaves Contour's default.
    pub connect_timeout: Sourced<Duration>,
    /// `envoy.clientCertificate`: the Secret's name.
    pub client_certificate: Option<(Name, Cursor<'a>)>,
    /// `httpproxy.fallbackCertificate`: the Secret's name.
    pub fallback_certificate: Option<Name>,
    /// `envoy.cluster.dnsLookupFamily`.
    pub dns_family: Sourced<Str>,
    /// `envoy.cluster.maxRequestsPerConnection`.
    pub max_requests_per_connection: Option<Sourced<u32>>,
    /// `envoy.cluster.per-connection-buffer-limit-bytes`.
    pub per_connection_buffer_limit: Option<Sourced<u32>>,
    /// `envoy.cluster.circuitBreakers`, if set.
    pub circuit_breakers: Option<CircuitBreakers>,
    /// `envoy.cluster.upstreamTLS`.
    pub upstream_tls: Arc<UpstreamTls>,
    /// `policy.requestHeaders`.
    pub request_headers: Cursor<'a>,
    /// `policy.responseHeaders`.
    pub response_headers: Cursor<'a>,
    /// `globalExtAuth`.
    pub authorization: Cursor<'a>,
    /// Not `httpproxy.disablePermitInsecure`.
    pub permits_insecure: bool,
}

impl<'a> Common<'a> {
    fn new(source: &Source<'a>) -> Self {
        let settings = source.settings;
        let reference = |path: &str| {
            let at = settings.at(path).some()?;
            Some(((Str::new(at.field("namespace").str()), Str::new(at.field("name").str())), at))
        };
        let cluster = settings.at("envoy.cluster");
        let connect = settings.at("envoy.timeouts.connectTimeout");
        let nanoseconds = duration::read(connect.str()).unwrap_or_default();
        Self {
            external_names: settings.at("enableExternalNameService").is_true(),
            connect_timeout: Sourced::new(go::as_duration(nanoseconds), connect.origin()).by(Rule::Module),
            client_certificate: reference("envoy.clientCertificate"),
            fallback_certificate: reference("httpproxy.fallbackCertificate").map(|(name, _)| name),
            dns_family: Sourced::new(Str::new(cluster.field("dnsLookupFamily").str()), cluster.field("dnsLookupFamily").origin()).by(Rule::Module),
            max_requests_per_connection: cluster.field("maxRequestsPerConnection").u32().map(|value| value.by(Rule::Module)),
            per_connection_buffer_limit: cluster.field("per-connection-buffer-limit-bytes").u32().map(|value| value.by(Rule::Module)),
            circuit_breakers: cluster.field("circuitBreakers").some().map(circuit_breakers),
            upstream_tls: Arc::new(upstream_tls(cluster.field("upstreamTLS"))),
            request_headers: settings.at("policy.requestHeaders"),
            response_headers: settings.at("policy.responseHeaders"),
            authorization: settings.at("globalExtAuth"),
            permits_insecure: !settings.at("httpproxy.disablePermitInsecure").is_true(),
        }
    }
}

fn circuit_breakers(at: Cursor<'_>) -> CircuitBreakers {
    let number = |field: &str| at.field(field).u32().map(|value| value.by(Rule::Module)).unwrap_or_default();
    CircuitBreakers {
        max_connections: number("maxConnections"),
        max_pending_requests: number("maxPendingRequests"),
        max_requests: number("maxRequests"),
        max_retries: number("maxRetries"),
        per_host_max_connections: number("perHostMaxConnections"),
    }
}

fn upstream_tls(at: Cursor<'_>) -> UpstreamTls {
    let unique = |field: &str| {
        let mut values: Vec<Sourced<Str>> = Vec::new();
        for value in at.field(field).texts() {
            if !values.contains(&value) {
                values.push(value.by(Rule::Module));
            }
        }
        values
    };
    UpstreamTls {
        min: tls_version(at.field("minimumProtocolVersion"), "1.2").by(Rule::Module),
        max: tls_version(at.field("maximumProtocolVersion"), "1.3").by(Rule::Module),
        ciphers: unique("cipherSuites"),
        curves: unique("ecdhCurves"),
    }
}

/// A TLS version that Contour knows, else the default.
fn tls_version(at: Cursor<'_>, default: &'static str) -> Sourced<Str> {
    let version = if matches!(at.str(), "1.2" | "1.3") { Str::new(at.str()) } else { Str::new_static(default) };
    Sourced::new(version, at.origin())
}

/// Makes the graph.
pub fn process<'a>(source: &'a Source<'a>, memory: &'a mut Memory) -> Processing<'a> {
    let mut processing = Processing {
        source,
        graph: Graph::default(),
        statuses: Statuses::default(),
        proxies: ProxyConditions::default(),
        logged: Vec::new(),
        found: Vec::new(),
        common: Common::new(source),
        memory,
    };
    processing.listeners();
    processing.ingresses();
    processing.extensions();
    processing.http_proxies();
    processing.gateways();
    processing.prune();
    processing.addresses();
    processing
}

impl Processing<'_> {
    /// The only listener of a protocol.
    fn single_listener(&self, protocol: &str) -> Result<Str, Reason> {
        let mut found = self.graph.listeners.values().filter(|listener| listener.protocol == protocol);
        match (found.next(), found.next()) {
            (Some(listener), None) => Ok(listener.name.clone()),
            (Some(_), Some(_)) => Err(format!("more than one {} listener configured", protocol.to_uppercase()).into()),
            (None, _) => Err(format!("no {} listener configured", protocol.to_uppercase()).into()),
        }
    }

    /// The host of a listener; creates it if missing.
    fn host(&mut self, listener: &Str, name: &Sourced<Str>) -> &mut VirtualHost {
        let host = Arc::make_mut(self.listener(listener).hosts.entry(name.value.clone()).or_default());
        name_host(host, name);
        host
    }

    /// The TLS host of a listener; creates it if missing.
    fn secure_host(&mut self, listener: &Str, name: &Sourced<Str>) -> &mut SecureVirtualHost {
        let host = Arc::make_mut(self.listener(listener).secure_hosts.entry(name.value.clone()).or_default());
        name_host(&mut host.host, name);
        host
    }

    fn listener(&mut self, name: &Str) -> &mut Listener {
        self.graph.listeners.entry(name.clone()).or_default()
    }

    /// A cluster of a Service with the administrator's settings.
    fn cluster(&self, upstream: Service, weight: Sourced<u32>, origin: Origin) -> Cluster {
        Cluster {
            timeouts: ClusterTimeouts { idle_connection: Sourced::default(), connect: self.common.connect_timeout },
            max_requests_per_connection: self.common.max_requests_per_connection,
            per_connection_buffer_limit: self.common.per_connection_buffer_limit,
            upstream_tls: Some(self.common.upstream_tls.clone()),
            ..Cluster::new(upstream, weight, origin)
        }
    }

    /// The certificate that Envoy presents to upstreams, if configured.
    fn client_certificate(&self) -> Result<Option<Sourced<Arc<Material>>>, Reason> {
        let Some((name, at)) = &self.common.client_certificate else { return Ok(None) };
        match self.source.tls_secret_of_anywhere(name) {
            Ok(material) => Ok(Some(Sourced::new(material, at.origin()).by(Rule::Module))),
            Err(error) => Err(format!("tls.envoy-client-certificate Secret {} is invalid: {}", quoted(name), error.message()).into()),
        }
    }

    /// Drops hosts without routes, and listeners without hosts.
    fn prune(&mut self) {
        for listener in self.graph.listeners.values_mut() {
            listener.hosts.retain(|_, host| !host.routes.is_empty());
            listener.secure_hosts.retain(|_, host| (host.secret.is_some() && !host.host.routes.is_empty()) || host.tcp_proxy.is_some());
        }
        self.graph.listeners.retain(|_, listener| !listener.hosts.is_empty() || !listener.secure_hosts.is_empty() || listener.tcp_proxy.is_some());
    }
}

fn name_host(host: &mut VirtualHost, name: &Sourced<Str>) {
    if host.name.value.is_empty() {
        host.name = name.clone();
        host.origins.extend(name.origin);
    }
}

/// Whether an error of looking up is about delegation.
fn is_delegation(error: &LookupError) -> bool {
    *error == LookupError::DelegationNotPermitted
}
