//! The kinds that Envoy Gateway reads, in one table.
//!
//! Envoy Gateway 1.9.0 with Gateway API 1.6.1: names, limits, patterns, defaults and rules are those of the CRDs. Does not say what they mean; see
//! `translate` and `policy`.

mod controller_file;
mod generated;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use chancery_base::object;
use chancery_base::schema::{ANY, INTEGER, KnownKind, ListedKind, Literal, STRING, STRINGS, Schema, array, field};
use chancery_kubernetes::custom;
use chancery_kubernetes::kind::{self, Version};
use chancery_kubernetes::kinds as kubernetes;
pub(crate) use controller_file::CONTROLLER_FILE;
use generated::{
    backend, backend_tls_policy, backend_traffic_policy, client_traffic_policy, envoy_extension_policy, envoy_patch_policy, envoy_proxy, gateway,
    gateway_class, grpc_route, http_route, http_route_filter, listener_set, reference_grant, security_policy, shared, tls_route,
};

/// The API group of Envoy Gateway's own kinds.
pub const GROUP: &str = "gateway.envoyproxy.io";
/// The API group of Gateway API.
pub const GATEWAY_API: &str = chancery_kubernetes::gateway_api::GROUP;
/// The API group of imported Services.
pub const MULTI_CLUSTER: &str = "multicluster.x-k8s.io";

macro_rules! kinds {
    ($($(#[$meta:meta])* $name:ident $definition:expr;)*) => {
        /// A kind that Envoy Gateway reads.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$meta])* $name,)*
        }

        /// All kinds, in the order in which people meet them.
        pub static ALL: &[(Kind, &kind::Kind)] = &[$((Kind::$name, $definition)),*];
    };
}

kinds! {
    /// `gateway.networking.k8s.io/v1`
    GatewayClass &GATEWAY_CLASS;
    /// `gateway.networking.k8s.io/v1`
    Gateway &GATEWAY;
    /// `gateway.networking.k8s.io/v1`
    ListenerSet &LISTENER_SET;
    /// `gateway.networking.k8s.io/v1`
    HttpRoute &HTTP_ROUTE;
    /// `gateway.networking.k8s.io/v1`
    GrpcRoute &GRPC_ROUTE;
    /// `gateway.networking.k8s.io/v1`
    TlsRoute &TLS_ROUTE;
    /// `gateway.networking.k8s.io/v1`
    TcpRoute &TCP_ROUTE;
    /// `gateway.networking.k8s.io/v1`
    UdpRoute &UDP_ROUTE;
    /// `gateway.networking.k8s.io/v1`
    BackendTlsPolicy &BACKEND_TLS_POLICY;
    /// `gateway.networking.k8s.io/v1`
    ReferenceGrant &REFERENCE_GRANT;
    /// `gateway.envoyproxy.io/v1alpha1`
    Backend &BACKEND;
    /// `gateway.envoyproxy.io/v1alpha1`
    BackendTrafficPolicy &BACKEND_TRAFFIC_POLICY;
    /// `gateway.envoyproxy.io/v1alpha1`
    ClientTrafficPolicy &CLIENT_TRAFFIC_POLICY;
    /// `gateway.envoyproxy.io/v1alpha1`
    SecurityPolicy &SECURITY_POLICY;
    /// `gateway.envoyproxy.io/v1alpha1`
    EnvoyExtensionPolicy &ENVOY_EXTENSION_POLICY;
    /// `gateway.envoyproxy.io/v1alpha1`
    EnvoyPatchPolicy &ENVOY_PATCH_POLICY;
    /// `gateway.envoyproxy.io/v1alpha1`
    EnvoyProxy &ENVOY_PROXY;
    /// `gateway.envoyproxy.io/v1alpha1`
    HttpRouteFilter &HTTP_ROUTE_FILTER;
    /// `v1`
    Service &kubernetes::SERVICE;
    /// `discovery.k8s.io/v1`
    EndpointSlice &kubernetes::ENDPOINT_SLICE;
    /// `multicluster.x-k8s.io/v1alpha1`
    ServiceImport &SERVICE_IMPORT;
    /// `v1`
    Secret &kubernetes::SECRET;
    /// `v1`
    ConfigMap &kubernetes::CONFIG_MAP;
    /// `certificates.k8s.io/v1beta1`
    ClusterTrustBundle &CLUSTER_TRUST_BUNDLE;
    /// `v1`
    Namespace &kubernetes::NAMESPACE;
}

static GATEWAY_CLASS: kind::Kind = kind::Kind {
    group: GATEWAY_API,
    name: "GatewayClass",
    plural: "gatewayclasses",
    namespaced: false,
    doc: "A class of Gateways and its controller",
    versions: &[Version { name: "v1beta1", schema: &GATEWAY_CLASS_SCHEMA }, Version { name: "v1", schema: &GATEWAY_CLASS_SCHEMA }],
    built_in: false,
};
static GATEWAY_CLASS_SCHEMA: Schema = custom![required gateway_class::SPEC_GATEWAY_CLASS, "The controller of its Gateways, and their EnvoyProxy"];

static GATEWAY: kind::Kind = kind::Kind {
    group: GATEWAY_API,
    name: "Gateway",
    plural: "gateways",
    namespaced: true,
    doc: "Ports, protocols, hosts and certificates where traffic enters",
    versions: &[Version { name: "v1beta1", schema: &GATEWAY_SCHEMA }, Version { name: "v1", schema: &GATEWAY_SCHEMA }],
    built_in: false,
};
static GATEWAY_SCHEMA: Schema = custom![required gateway::SPEC_GATEWAY, "Its class, listeners and addresses"];

static LISTENER_SET: kind::Kind = kind::Kind {
    group: GATEWAY_API,
    name: "ListenerSet",
    plural: "listenersets",
    namespaced: true,
    doc: "Listeners that a team adds to a Gateway",
    versions: &[Version { name: "v1", schema: &LISTENER_SET_SCHEMA }],
    built_in: false,
};
static LISTENER_SET_SCHEMA: Schema = custom![required listener_set::SPEC_LISTENER_SET, "Its Gateway and listeners"];

static HTTP_ROUTE: kind::Kind = kind::Kind {
    group: GATEWAY_API,
    name: "HTTPRoute",
    plural: "httproutes",
    namespaced: true,
    doc: "Sends HTTP requests to backends",
    versions: &[Version { name: "v1beta1", schema: &HTTP_ROUTE_SCHEMA }, Version { name: "v1", schema: &HTTP_ROUTE_SCHEMA }],
    built_in: false,
};
static HTTP_ROUTE_SCHEMA: Schema = custom![required http_route::SPEC_HTTPROUTE, "Its parents, hosts and rules"];

static GRPC_ROUTE: kind::Kind = kind::Kind {
    group: GATEWAY_API,
    name: "GRPCRoute",
    plural: "grpcroutes",
    namespaced: true,
    doc: "Sends gRPC calls to backends",
    versions: &[Version { name: "v1", schema: &GRPC_ROUTE_SCHEMA }],
    built_in: false,
};
static GRPC_ROUTE_SCHEMA: Schema = custom![required grpc_route::SPEC_GRPCROUTE, "Its parents, hosts and rules"];

static TLS_ROUTE: kind::Kind = kind::Kind {
    group: GATEWAY_API,
    name: "TLSRoute",
    plural: "tlsroutes",
    namespaced: true,
    doc: "Sends TLS connections to backends by server name",
    versions: &[
        Version { name: "v1alpha2", schema: &TLS_ROUTE_SCHEMA },
        Version { name: "v1alpha3", schema: &TLS_ROUTE_SCHEMA_2 },
        Version { name: "v1", schema: &TLS_ROUTE_SCHEMA_2 },
    ],
    built_in: false,
};
static TLS_ROUTE_SCHEMA: Schema = custom![required tls_route::SPEC_TLSROUTE, "Its parents, hosts and rules"];
static TLS_ROUTE_SCHEMA_2: Schema = custom![required tls_route::SPEC_TLSROUTE_2, "Its parents, hosts and rules"];

static TCP_ROUTE: kind::Kind = kind::Kind {
    group: GATEWAY_API,
    name: "TCPRoute",
    plural: "tcproutes",
    namespaced: true,
    doc: "Sends TCP connections to backends",
    versions: &[Version { name: "v1alpha2", schema: &TCP_ROUTE_SCHEMA }, Version { name: "v1", schema: &TCP_ROUTE_SCHEMA_2 }],
    built_in: false,
};
static TCP_ROUTE_SCHEMA: Schema = custom![required shared::SPEC_TCPROUTE, "Its parents and rule"];
static TCP_ROUTE_SCHEMA_2: Schema = custom![required shared::SPEC_TCPROUTE_2, "Its parents and rule"];

static UDP_ROUTE: kind::Kind = kind::Kind {
    group: GATEWAY_API,
    name: "UDPRoute",
    plural: "udproutes",
    namespaced: true,
    doc: "Sends UDP packets to backends",
    versions: &[Version { name: "v1alpha2", schema: &UDP_ROUTE_SCHEMA }, Version { name: "v1", schema: &UDP_ROUTE_SCHEMA_2 }],
    built_in: false,
};
static UDP_ROUTE_SCHEMA: Schema = custom![required shared::SPEC_TCPROUTE, "Its parents and rule"];
static UDP_ROUTE_SCHEMA_2: Schema = custom![required shared::SPEC_TCPROUTE_2, "Its parents and rule"];

static BACKEND_TLS_POLICY: kind::Kind = kind::Kind {
    group: GATEWAY_API,
    name: "BackendTLSPolicy",
    plural: "backendtlspolicies",
    namespaced: true,
    doc: "TLS between the gateway and a backend",
    versions: &[Version { name: "v1alpha3", schema: &BACKEND_TLS_POLICY_SCHEMA }, Version { name: "v1", schema: &BACKEND_TLS_POLICY_SCHEMA }],
    built_in: false,
};
static BACKEND_TLS_POLICY_SCHEMA: Schema =
    custom![required backend_tls_policy::SPEC_BACKEND_TLSPOLICY, "Its targets, and how their certificates are verified"];

static REFERENCE_GRANT: kind::Kind = kind::Kind {
    group: GATEWAY_API,
    name: "ReferenceGrant",
    plural: "referencegrants",
    namespaced: true,
    doc: "Permits references from other namespaces",
    versions: &[Version { name: "v1beta1", schema: &REFERENCE_GRANT_SCHEMA }, Version { name: "v1", schema: &REFERENCE_GRANT_SCHEMA }],
    built_in: false,
};
static REFERENCE_GRANT_SCHEMA: Schema =
    custom![required reference_grant::SPEC_REFERENCE_GRANT, "The objects that may be referred to from other namespaces"];

static BACKEND: kind::Kind = kind::Kind {
    group: GROUP,
    name: "Backend",
    plural: "backends",
    namespaced: true,
    doc: "Endpoints outside Kubernetes Services",
    versions: &[Version { name: "v1alpha1", schema: &BACKEND_SCHEMA }],
    built_in: false,
};
static BACKEND_SCHEMA: Schema = custom![required backend::SPEC_BACKEND, "Its endpoints and TLS settings"];

static BACKEND_TRAFFIC_POLICY: kind::Kind = kind::Kind {
    group: GROUP,
    name: "BackendTrafficPolicy",
    plural: "backendtrafficpolicies",
    namespaced: true,
    doc: "Timeouts, retries, rate limits and load balancing towards backends",
    versions: &[Version { name: "v1alpha1", schema: &BACKEND_TRAFFIC_POLICY_SCHEMA }],
    built_in: false,
};
static BACKEND_TRAFFIC_POLICY_SCHEMA: Schema = custom![required backend_traffic_policy::SPEC_BACKEND_TRAFFIC_POLICY, "Its targets and settings"];

static CLIENT_TRAFFIC_POLICY: kind::Kind = kind::Kind {
    group: GROUP,
    name: "ClientTrafficPolicy",
    plural: "clienttrafficpolicies",
    namespaced: true,
    doc: "Connections from clients: TLS, HTTP versions, timeouts, limits",
    versions: &[Version { name: "v1alpha1", schema: &CLIENT_TRAFFIC_POLICY_SCHEMA }],
    built_in: false,
};
static CLIENT_TRAFFIC_POLICY_SCHEMA: Schema = custom![required client_traffic_policy::SPEC_CLIENT_TRAFFIC_POLICY, "Its targets and settings"];

static SECURITY_POLICY: kind::Kind = kind::Kind {
    group: GROUP,
    name: "SecurityPolicy",
    plural: "securitypolicies",
    namespaced: true,
    doc: "Authentication, authorization and CORS",
    versions: &[Version { name: "v1alpha1", schema: &SECURITY_POLICY_SCHEMA }],
    built_in: false,
};
static SECURITY_POLICY_SCHEMA: Schema = custom![required security_policy::SPEC_SECURITY_POLICY, "Its targets and settings"];

static ENVOY_EXTENSION_POLICY: kind::Kind = kind::Kind {
    group: GROUP,
    name: "EnvoyExtensionPolicy",
    plural: "envoyextensionpolicies",
    namespaced: true,
    doc: "External processing, Wasm, Lua and dynamic modules",
    versions: &[Version { name: "v1alpha1", schema: &ENVOY_EXTENSION_POLICY_SCHEMA }],
    built_in: false,
};
static ENVOY_EXTENSION_POLICY_SCHEMA: Schema = custom![required envoy_extension_policy::SPEC_ENVOY_EXTENSION_POLICY, "Its targets and extensions"];

static ENVOY_PATCH_POLICY: kind::Kind = kind::Kind {
    group: GROUP,
    name: "EnvoyPatchPolicy",
    plural: "envoypatchpolicies",
    namespaced: true,
    doc: "JSON patches of the generated Envoy resources",
    versions: &[Version { name: "v1alpha1", schema: &ENVOY_PATCH_POLICY_SCHEMA }],
    built_in: false,
};
static ENVOY_PATCH_POLICY_SCHEMA: Schema = custom![required envoy_patch_policy::SPEC_ENVOY_PATCH_POLICY, "Its target and patches"];

static ENVOY_PROXY: kind::Kind = kind::Kind {
    group: GROUP,
    name: "EnvoyProxy",
    plural: "envoyproxies",
    namespaced: true,
    doc: "Settings of the Envoys of a GatewayClass or Gateway",
    versions: &[Version { name: "v1alpha1", schema: &ENVOY_PROXY_SCHEMA }],
    built_in: false,
};
static ENVOY_PROXY_SCHEMA: Schema = custom![required envoy_proxy::SPEC_ENVOY_PROXY, "How Envoy runs and reports"];

static HTTP_ROUTE_FILTER: kind::Kind = kind::Kind {
    group: GROUP,
    name: "HTTPRouteFilter",
    plural: "httproutefilters",
    namespaced: true,
    doc: "A filter of Envoy Gateway that routes refer to",
    versions: &[Version { name: "v1alpha1", schema: &HTTP_ROUTE_FILTER_SCHEMA }],
    built_in: false,
};
static HTTP_ROUTE_FILTER_SCHEMA: Schema = custom![required http_route_filter::SPEC_HTTPROUTE_FILTER, "Its filter"];

static SERVICE_IMPORT: kind::Kind = kind::Kind {
    group: MULTI_CLUSTER,
    name: "ServiceImport",
    plural: "serviceimports",
    namespaced: true,
    doc: "A Service that other clusters export",
    versions: &[Version { name: "v1alpha1", schema: &SERVICE_IMPORT_SCHEMA }],
    built_in: false,
};
static SERVICE_IMPORT_SCHEMA: Schema = custom![
    object![
        field("ips", STRINGS, "Its addresses"),
        field("ports", array(&SERVICE_IMPORT_PORT), "Its ports"),
        field("sessionAffinity", STRING, "How clients stick to an endpoint"),
        field("sessionAffinityConfig", ANY, "Settings of `sessionAffinity`"),
        field("type", STRING, "`ClusterSetIP` or `Headless`"),
    ],
    "Its addresses and ports"
];
const SERVICE_IMPORT_PORT: Schema = object![
    field("appProtocol", STRING, "The protocol above TCP or UDP"),
    field("name", STRING, "Its name"),
    field("port", INTEGER.int32(), "Its number").required(),
    field("protocol", STRING.default(Literal::Str("TCP")), "`TCP`, `UDP` or `SCTP`"),
];

static CLUSTER_TRUST_BUNDLE: kind::Kind = kind::Kind {
    group: "certificates.k8s.io",
    name: "ClusterTrustBundle",
    plural: "clustertrustbundles",
    namespaced: false,
    doc: "CA certificates for a whole cluster",
    versions: &[
        Version { name: "v1alpha1", schema: &CLUSTER_TRUST_BUNDLE_SCHEMA },
        Version { name: "v1beta1", schema: &CLUSTER_TRUST_BUNDLE_SCHEMA },
    ],
    built_in: true,
};
static CLUSTER_TRUST_BUNDLE_SCHEMA: Schema = custom![
    object![field("signerName", STRING, "The signer that the certificates belong to"), field("trustBundle", STRING, "The certificates as PEM")],
    "Its certificates"
];

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
    /// Its names, versions and schemas.
    pub fn definition(self) -> &'static kind::Kind {
        // The table has the order of the kinds; a test checks it.
        ALL[self as usize].1
    }

    /// Its name, as `kind` has it.
    pub fn name(self) -> &'static str {
        self.definition().name
    }
}

/// The kinds that Envoy Gateway reads.
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
    let file = ListedKind {
        name: "EnvoyGateway",
        group: GROUP,
        plural: None,
        versions: Vec::from(["v1alpha1"]),
        config_key: None,
        own: true,
        doc: "The configuration of Envoy Gateway itself: a file, no object of the cluster",
    };
    listed.chain([file]).collect()
}
