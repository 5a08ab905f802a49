//! Classifies the kinds by how the controller reads them.
//!
//! Source of behaviour: Emissary `cmd/entrypoint/interesting_types.go`, `pkg/snapshot/v1/types.go` (order), `config/config.py` (storage).

use super::super::kinds::{self, AmbassadorKind, GROUP};
use crate::config::{Store, Support};
use chancery_kubernetes::ingress::is_ingress;

/// How the controller reads an object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// One of Ambassador's own kinds.
    Ambassador(&'static AmbassadorKind),
    Service,
    Secret,
    Endpoints,
    EndpointSlice,
    Ingress,
    IngressClass,
    KnativeIngress,
    /// A kind of the commercial Edge Stack.
    EdgeStack,
    /// An unknown kind of Ambassador's group.
    UnknownAmbassador,
    /// A kind that other controllers read.
    Foreign,
}

impl PartialEq for Role {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Role::Ambassador(one), Role::Ambassador(other)) => core::ptr::eq(*one, *other),
            _ => core::mem::discriminant(self) == core::mem::discriminant(other),
        }
    }
}

/// Ambassador's kinds in the compiler's order. It matters only if two resources have the same rkey.
pub(super) const AMBASSADOR: [&str; 14] = [
    "Listener",
    "Host",
    "Module",
    "Mapping",
    "TCPMapping",
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

/// Kinds of other groups that the controller reads: group, kind, and a one-line description.
pub const ALSO_READ: &[(&str, &str, &str)] = &[
    ("", "Service", "What Mappings name; may carry configuration in the annotation `getambassador.io/config`"),
    ("", "Secret", "Certificates and keys that a Host or TLSContext names"),
    ("", "Endpoints", "The pods behind a Service, for resolvers that balance over them"),
    ("discovery.k8s.io", "EndpointSlice", "The same in parts"),
    ("networking.k8s.io", "Ingress", "Routes requests to services, in Kubernetes' own format"),
    ("networking.k8s.io", "IngressClass", "Which Ingresses are the controller's"),
    ("networking.internal.knative.dev", "Ingress", "The same for Knative, where AMBASSADOR_KNATIVE_SUPPORT is set"),
];

/// How the controller reads an object.
pub(super) fn of(group: &str, kind: &str) -> Role {
    match (group, kind) {
        (GROUP | "ambassador", _) => match kinds::find(kind) {
            Some(kind) => Role::Ambassador(kind),
            None if EDGE_STACK.contains(&kind) => Role::EdgeStack,
            None => Role::UnknownAmbassador,
        },
        // The Edge Stack's additions to Gateway API.
        ("gateway.getambassador.io", _) => Role::EdgeStack,
        ("", "Service") => Role::Service,
        ("", "Secret") => Role::Secret,
        ("", "Endpoints") => Role::Endpoints,
        ("discovery.k8s.io", "EndpointSlice") => Role::EndpointSlice,
        ("networking.k8s.io", "IngressClass") => Role::IngressClass,
        ("networking.internal.knative.dev", "Ingress") => Role::KnativeIngress,
        _ if is_ingress(group, kind) => Role::Ingress,
        _ => Role::Foreign,
    }
}

/// The key of a kind in the store.
pub(super) fn store(kind: &str) -> Store {
    match kind {
        "Module" => Store::Module,
        "Secret" => Store::ByRkey("secrets"),
        "Service" => Store::ByRkey("service"),
        "Ingress" => Store::ByRkey("ingresses"),
        _ => kinds::find(kind).map_or(Store::ByKind, |kind| Store::ByName(kind.config_key)),
    }
}

/// How the compiler supports an API version.
pub(super) fn support(api_version: &str) -> Support {
    match api_version.strip_prefix("getambassador.io/") {
        Some("v3alpha1") => Support::Current,
        Some("v2") => Support::Notice("is deprecated, consider upgrading"),
        Some(_) => Support::Notice("is not supported"),
        None if api_version.starts_with("networking.internal.knative.dev") => Support::Current,
        None => Support::Refused,
    }
}
