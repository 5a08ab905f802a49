//! Describes what one Envoy should do, in the terms of Envoy Gateway: listeners, routes, destinations and their features.
//!
//! The skeleton has types. Settings that a policy writes stay [`Tree`]s in the policy's own words, so that every value keeps its origin.
//! Does not read Kubernetes objects; see `translate` and `policy`. Does not write Envoy's messages; see `xds`.
//!
//! A leaf is a [`Tree`] if a person may leave it out (`Tree::NULL`), and if Envoy receives it. Its origin is the field that says it.

mod change;
mod destination;
mod extension;
mod listener;
mod matching;
mod route;
mod security;
mod telemetry;
mod tls;
mod traffic;

pub(crate) use change::{AddHeader, CredentialInjection, HostModifier, PathModifier, Redirect, UrlRewrite};
pub(crate) use destination::{
    AddressType, AppProtocol, BackendCluster, BackendClusterRef, Destination, DestinationFilters, DestinationSetting, Endpoint,
};
pub(crate) use extension::{DynamicModule, ExtProc, Extensions, Lua, Wasm, WasmCode};
pub(crate) use listener::{ClientSettings, CoreListener, HttpListener, TcpListener, TcpRoute, UdpListener, UdpRoute};
pub(crate) use matching::{CidrMatch, StringMatch, StringMatchKind};
pub(crate) use route::{DirectResponse, HttpRoute, Mirror};
pub(crate) use security::{
    ApiKeyAuth, Authorization, AuthorizationRule, BasicAuth, Cors, ExtAuth, ExtAuthProtocol, Jwt, JwtProvider, Oidc, Principal, RemoteJwks, Security,
};
pub(crate) use telemetry::{AccessLogs, AlsLog, JsonLog, OpenTelemetryLog, ReadyListener, TextLog, Tracing};
pub(crate) use tls::{CaCertificate, Certificate, Crl, Sds, SubjectAltName, TlsSettings, UpstreamTls};
pub(crate) use traffic::{ClusterTraffic, LocalRateLimit, RateLimit, RateLimitRule, ResponseOverrideRule, Traffic};

use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// What one Envoy should do.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Xds {
    pub(crate) ready: Option<ReadyListener>,
    pub(crate) access_logs: Option<AccessLogs>,
    pub(crate) tracing: Option<Tracing>,
    /// `EnvoyProxy.spec.telemetry.metrics`; `Tree::NULL` if unset.
    pub(crate) metrics: Tree,
    /// `EnvoyProxy.spec.telemetry.accessLog`-like settings of health-check event logs: {sinks: [{type, file: {path}}], ...} as EnvoyProxy writes them.
    pub(crate) health_check_log: Tree,
    pub(crate) http: Vec<HttpListener>,
    pub(crate) tcp: Vec<TcpListener>,
    pub(crate) udp: Vec<UdpListener>,
    pub(crate) patches: Vec<PatchPolicy>,
    /// Items of `EnvoyProxy.spec.filterOrder`: {name, before | after}.
    pub(crate) filter_order: Vec<Tree>,
    pub(crate) global: GlobalResources,
    /// Clusters that several routes share (`EnvoyProxy.spec.mergeBackends`).
    pub(crate) backend_clusters: Vec<BackendCluster>,
}

/// Resources that listeners and routes share.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GlobalResources {
    /// The certificate that Envoy shows to Envoy Gateway's own services (rate limit, Wasm).
    pub(crate) envoy_client_certificate: Option<Certificate>,
    /// The Service of the proxies themselves, for zone-aware routing.
    pub(crate) proxy_service_cluster: Option<Destination>,
}

/// An EnvoyPatchPolicy for this Envoy.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PatchPolicy {
    pub(crate) namespace: Str,
    pub(crate) name: Str,
    /// Items of `spec.jsonPatches`: {type, name, operation: {op, path, jsonPath, from, value}}.
    pub(crate) patches: Vec<Tree>,
    pub(crate) origin: Option<Origin>,
}

/// The Kubernetes resource that a part of Envoy's configuration is generated from; Envoy carries it as metadata.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Metadata {
    pub(crate) kind: Str,
    pub(crate) namespace: Str,
    pub(crate) name: Str,
    /// Name and value of each annotation with the prefix `gateway.envoyproxy.io/`, sorted by name; the name is without the prefix.
    pub(crate) annotations: Vec<(Str, Tree)>,
    /// The rule, listener or port; empty if there is none.
    pub(crate) section: Sourced<Str>,
    /// Policies that apply, in the order of their application.
    pub(crate) policies: Vec<PolicyName>,
    pub(crate) origin: Option<Origin>,
}

/// A policy by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PolicyName {
    pub(crate) kind: Str,
    pub(crate) namespace: Str,
    pub(crate) name: Str,
}
