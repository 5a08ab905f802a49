//! Lists the kinds that Contour reads in one table, with one file for each kind that belongs to Contour. Kinds that other dialects read too are in
//! `chancery_kubernetes`.

mod common;
mod contour_configuration;
mod contour_deployment;
mod extension_service;
mod http_proxy;
mod tls_certificate_delegation;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Findings;
use chancery_base::resource::Object;
use chancery_base::schema::ListedKind;
use chancery_base::schema::{KnownKind, Schema};
use chancery_kubernetes::admit::Admission;
use chancery_kubernetes::custom;
use chancery_kubernetes::gateway_api::kinds as gateway_api;
use chancery_kubernetes::kind::{self, Version};
use chancery_kubernetes::kinds as kubernetes;
use chancery_text::Node;

/// The API group of Contour's own kinds.
pub const GROUP: &str = "projectcontour.io";

macro_rules! kinds {
    ($($(#[$meta:meta])* $name:ident $definition:expr;)*) => {
        /// A kind that Contour reads.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$meta])* $name,)*
        }

        /// All kinds, in the order in which people meet them.
        pub static ALL: &[(Kind, &kind::Kind)] = &[$((Kind::$name, $definition)),*];
    };
}

kinds! {
    /// `projectcontour.io/v1`
    HttpProxy &HTTP_PROXY;
    /// `projectcontour.io/v1`
    TlsCertificateDelegation &TLS_CERTIFICATE_DELEGATION;
    /// `projectcontour.io/v1alpha1`
    ExtensionService &EXTENSION_SERVICE;
    /// `projectcontour.io/v1alpha1`
    ContourConfiguration &CONTOUR_CONFIGURATION;
    /// `projectcontour.io/v1alpha1`
    ContourDeployment &CONTOUR_DEPLOYMENT;
    /// `networking.k8s.io/v1`
    Ingress &kubernetes::INGRESS;
    /// `networking.k8s.io/v1`
    IngressClass &kubernetes::INGRESS_CLASS;
    /// `v1`
    Service &kubernetes::SERVICE;
    /// `discovery.k8s.io/v1`
    EndpointSlice &kubernetes::ENDPOINT_SLICE;
    /// `v1`
    Secret &kubernetes::SECRET;
    /// `v1`
    ConfigMap &kubernetes::CONFIG_MAP;
    /// `v1`
    Namespace &kubernetes::NAMESPACE;
    /// `gateway.networking.k8s.io/v1`
    GatewayClass &gateway_api::GATEWAY_CLASS;
    /// `gateway.networking.k8s.io/v1`
    Gateway &gateway_api::GATEWAY;
    /// `gateway.networking.k8s.io/v1`
    HttpRoute &gateway_api::HTTP_ROUTE;
    /// `gateway.networking.k8s.io/v1`
    GrpcRoute &gateway_api::GRPC_ROUTE;
    /// `gateway.networking.k8s.io/v1alpha2`
    TlsRoute &gateway_api::TLS_ROUTE;
    /// `gateway.networking.k8s.io/v1alpha2`
    TcpRoute &gateway_api::TCP_ROUTE;
    /// `gateway.networking.k8s.io/v1alpha3`
    BackendTlsPolicy &gateway_api::BACKEND_TLS_POLICY;
    /// `gateway.networking.k8s.io/v1beta1`
    ReferenceGrant &gateway_api::REFERENCE_GRANT;
}

const fn own(name: &'static str, plural: &'static str, versions: &'static [Version], doc: &'static str) -> kind::Kind {
    kind::Kind { group: GROUP, name, plural, namespaced: true, doc, versions, built_in: false }
}

static HTTP_PROXY: kind::Kind = own(
    "HTTPProxy",
    "httpproxies",
    &[Version { name: "v1", schema: &HTTP_PROXY_V1 }],
    "A virtual host, its routes, and what it takes from other HTTPProxies",
);
static HTTP_PROXY_V1: Schema = custom![required http_proxy::SPEC, "The host, its routes and includes"];

static TLS_CERTIFICATE_DELEGATION: kind::Kind = own(
    "TLSCertificateDelegation",
    "tlscertificatedelegations",
    &[Version { name: "v1", schema: &TLS_CERTIFICATE_DELEGATION_V1 }],
    "Lets other namespaces use a Secret of this one",
);
static TLS_CERTIFICATE_DELEGATION_V1: Schema = custom![required tls_certificate_delegation::SPEC, "The Secrets, and who may use them"];

static EXTENSION_SERVICE: kind::Kind = own(
    "ExtensionService",
    "extensionservices",
    &[Version { name: "v1alpha1", schema: &EXTENSION_SERVICE_V1ALPHA1 }],
    "A gRPC service that proxies ask, for authorization, rate limits and traces",
);
static EXTENSION_SERVICE_V1ALPHA1: Schema = custom![extension_service::SPEC, "The address and protocol of the service"];

static CONTOUR_CONFIGURATION: kind::Kind = own(
    "ContourConfiguration",
    "contourconfigurations",
    &[Version { name: "v1alpha1", schema: &CONTOUR_CONFIGURATION_V1ALPHA1 }],
    "How Contour itself works",
);
static CONTOUR_CONFIGURATION_V1ALPHA1: Schema = custom![required contour_configuration::SPEC, "The settings"];

static CONTOUR_DEPLOYMENT: kind::Kind = own(
    "ContourDeployment",
    "contourdeployments",
    &[Version { name: "v1alpha1", schema: &CONTOUR_DEPLOYMENT_V1ALPHA1 }],
    "What the Gateway provisioner makes for a Gateway",
);
static CONTOUR_DEPLOYMENT_V1ALPHA1: Schema = custom![contour_deployment::SPEC, "How Contour and Envoy are run"];

/// All whose schemas are known, in all their versions.
pub fn known() -> Vec<KnownKind> {
    let of = |kind: &'static kind::Kind| {
        kind.versions.iter().rev().filter_map(move |version| {
            let spec = &version.schema.describe(&["spec"])?.schema;
            Some(KnownKind { name: kind.name, api_version: kind.api_version(version), doc: kind.doc, spec })
        })
    };
    ALL.iter().map(|(_, definition)| *definition).flat_map(of).collect()
}

/// The kind of this group and name.
pub fn find(group: &str, kind: &str) -> Option<Kind> {
    ALL.iter().find(|(_, definition)| definition.group == group && definition.name == kind).map(|(kind, _)| *kind)
}

impl Kind {
    /// The kind's definition.
    pub fn definition(self) -> &'static kind::Kind {
        // The table has the order of the enum; a test checks this.
        ALL[self as usize].1
    }
}

/// Admits an object: returns its tree with defaults, or the API server's errors.
pub fn admit(kind: Kind, object: &Object, admission: Admission<'_>, sink: &mut Findings) -> Result<Arc<Node>, Vec<String>> {
    admission.admit(kind.definition(), object, sink)
}

/// The kinds that Contour reads.
pub fn listing() -> Vec<ListedKind> {
    let listed = ALL.iter().map(|(_, definition)| ListedKind {
        name: definition.name,
        group: definition.group,
        plural: Some(definition.plural),
        versions: definition.versions.iter().map(|version| version.name).collect(),
        config_key: None,
        own: definition.group == GROUP,
        doc: definition.doc,
    });
    listed.collect()
}

#[cfg(test)]
mod tests;
