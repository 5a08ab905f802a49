//! Which kinds the controller reads, and what is said of those that it does not.
//!
//! Source of behaviour: Emissary `cmd/entrypoint/interesting_types.go`, `pkg/snapshot/v1/types.go` (order), `config/config.py` (storage).

use crate::config::{Store, Support};
use crate::dialect::kubernetes::ingress::is_ingress;

/// The group of Ambassador's own kinds.
pub(super) const GROUP: &str = "getambassador.io";

/// What an object is to the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// One of Ambassador's own kinds.
    Ambassador(&'static str),
    Service,
    Secret,
    Endpoints,
    EndpointSlice,
    Ingress,
    IngressClass,
    KnativeIngress,
    /// A kind of the commercial Edge Stack.
    EdgeStack,
    /// A kind of Ambassador's group that nobody knows.
    UnknownAmbassador,
    /// A kind that other controllers read.
    Foreign,
}

/// Ambassador's kinds in the order in which the compiler sees them.
pub(super) const AMBASSADOR: [&str; 14] = [
    "Listener",
    "Host",
    "Mapping",
    "TCPMapping",
    "Module",
    "TLSContext",
    "AuthService",
    "RateLimitService",
    "LogService",
    "TracingService",
    "DevPortal",
    "ConsulResolver",
    "KubernetesEndpointResolver",
    "KubernetesServiceResolver",
];

/// Kinds that only the Edge Stack reads.
const EDGE_STACK: &[&str] = &[
    "AccessPolicy",
    "ClusterRoute",
    "EdgePolicy",
    "Filter",
    "FilterPolicy",
    "Project",
    "ProjectController",
    "ProjectRevision",
    "RateLimit",
    "Resolver",
    "WebApplicationFirewall",
    "WebApplicationFirewallPolicy",
];

/// What an object is to the controller.
pub(super) fn of(group: &str, kind: &str) -> Class {
    match (group, kind) {
        (GROUP | "gateway.getambassador.io" | "ambassador" | "x.getambassador.io", _) => {
            match AMBASSADOR.into_iter().find(|known| *known == kind) {
                Some(kind) => Class::Ambassador(kind),
                None if EDGE_STACK.contains(&kind) => Class::EdgeStack,
                None => Class::UnknownAmbassador,
            }
        }
        ("", "Service") => Class::Service,
        ("", "Secret") => Class::Secret,
        ("", "Endpoints") => Class::Endpoints,
        ("discovery.k8s.io", "EndpointSlice") => Class::EndpointSlice,
        ("networking.k8s.io", "IngressClass") => Class::IngressClass,
        ("networking.internal.knative.dev", "Ingress") => Class::KnativeIngress,
        _ if is_ingress(group, kind) => Class::Ingress,
        _ => Class::Foreign,
    }
}

/// Whether the API server serves a kind of Ambassador in this version, with the chart's `enableLegacyVersions` and `enableV1`.
pub(super) fn is_served(kind: &str, api_version: &str) -> bool {
    match api_version.strip_prefix("getambassador.io/") {
        Some("v3alpha1") => true,
        Some("v2") => kind != "Listener",
        Some("v1") => kind != "Listener" && kind != "Host",
        _ => false,
    }
}

/// Under which key a kind is filed.
pub(super) fn store(kind: &str) -> Store {
    match kind {
        "Mapping" => Store::ByName("mappings"),
        "Host" => Store::ByName("hosts"),
        "Listener" => Store::ByName("listeners"),
        "Module" => Store::Module,
        "Secret" => Store::ByRkey("secrets"),
        "Service" => Store::ByRkey("service"),
        "TCPMapping" => Store::ByName("tcpmappings"),
        "TLSContext" => Store::ByName("tls_contexts"),
        "AuthService" => Store::ByName("auth_configs"),
        "RateLimitService" => Store::ByName("ratelimit_configs"),
        "TracingService" => Store::ByName("tracing_configs"),
        "LogService" => Store::ByName("log_services"),
        "DevPortal" => Store::ByName("devportals"),
        "ConsulResolver" | "KubernetesEndpointResolver" | "KubernetesServiceResolver" => Store::ByName("resolvers"),
        "Ingress" => Store::ByRkey("ingresses"),
        _ => Store::ByKind,
    }
}

/// What an API version is worth to the compiler.
pub(super) fn support(api_version: &str) -> Support {
    match api_version.strip_prefix("getambassador.io/") {
        Some("v3alpha1") => Support::Current,
        Some("v2") => Support::Notice("is deprecated, consider upgrading"),
        Some(_) => Support::Notice("is not supported"),
        None if api_version.starts_with("networking.internal.knative.dev") => Support::Current,
        None => Support::Refused,
    }
}
