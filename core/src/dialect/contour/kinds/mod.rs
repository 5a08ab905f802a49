//! The kinds that Contour reads, in one table.
//!
//! What must not be here: what they mean.

use crate::diagnostic::Diagnostic;
use crate::resource::Object;
use crate::text::Node;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A kind that Contour reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `projectcontour.io/v1`
    HttpProxy,
    /// `projectcontour.io/v1`
    TlsCertificateDelegation,
    /// `projectcontour.io/v1alpha1`
    ExtensionService,
    /// `projectcontour.io/v1alpha1`
    ContourConfiguration,
    /// `projectcontour.io/v1alpha1`
    ContourDeployment,
    /// `networking.k8s.io/v1`
    Ingress,
    /// `networking.k8s.io/v1`
    IngressClass,
    /// `v1`
    Service,
    /// `discovery.k8s.io/v1`
    EndpointSlice,
    /// `v1`
    Secret,
    /// `v1`
    ConfigMap,
    /// `v1`
    Namespace,
    /// `gateway.networking.k8s.io/v1`
    GatewayClass,
    /// `gateway.networking.k8s.io/v1`
    Gateway,
    /// `gateway.networking.k8s.io/v1`
    HttpRoute,
    /// `gateway.networking.k8s.io/v1`
    GrpcRoute,
    /// `gateway.networking.k8s.io/v1alpha2`
    TlsRoute,
    /// `gateway.networking.k8s.io/v1alpha2`
    TcpRoute,
    /// `gateway.networking.k8s.io/v1alpha3`
    BackendTlsPolicy,
    /// `gateway.networking.k8s.io/v1beta1`
    ReferenceGrant,
}

const TABLE: &[(&str, &str, Kind)] = &[
    ("projectcontour.io", "HTTPProxy", Kind::HttpProxy),
    ("projectcontour.io", "TLSCertificateDelegation", Kind::TlsCertificateDelegation),
    ("projectcontour.io", "ExtensionService", Kind::ExtensionService),
    ("projectcontour.io", "ContourConfiguration", Kind::ContourConfiguration),
    ("projectcontour.io", "ContourDeployment", Kind::ContourDeployment),
    ("networking.k8s.io", "Ingress", Kind::Ingress),
    ("networking.k8s.io", "IngressClass", Kind::IngressClass),
    ("", "Service", Kind::Service),
    ("discovery.k8s.io", "EndpointSlice", Kind::EndpointSlice),
    ("", "Secret", Kind::Secret),
    ("", "ConfigMap", Kind::ConfigMap),
    ("", "Namespace", Kind::Namespace),
    ("gateway.networking.k8s.io", "GatewayClass", Kind::GatewayClass),
    ("gateway.networking.k8s.io", "Gateway", Kind::Gateway),
    ("gateway.networking.k8s.io", "HTTPRoute", Kind::HttpRoute),
    ("gateway.networking.k8s.io", "GRPCRoute", Kind::GrpcRoute),
    ("gateway.networking.k8s.io", "TLSRoute", Kind::TlsRoute),
    ("gateway.networking.k8s.io", "TCPRoute", Kind::TcpRoute),
    ("gateway.networking.k8s.io", "BackendTLSPolicy", Kind::BackendTlsPolicy),
    ("gateway.networking.k8s.io", "ReferenceGrant", Kind::ReferenceGrant),
];

/// The kind of this group and name.
pub fn find(group: &str, kind: &str) -> Option<Kind> {
    TABLE.iter().find(|(its_group, name, _)| *its_group == group && *name == kind).map(|(.., kind)| *kind)
}

/// What the API server makes of an object: its tree with defaults, or what it says against it.
pub fn admit(_kind: Kind, object: &Object, _skip_validation: bool, _sink: &mut Vec<Diagnostic>) -> Result<Arc<Node>, Vec<String>> {
    Ok(object.root.clone())
}
