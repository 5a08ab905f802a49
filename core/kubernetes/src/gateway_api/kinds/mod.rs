//! Lists the kinds of Gateway API, one file each.
//!
//! Release 1.3.0, `config/crd/experimental`: names, limits, patterns, defaults and rules match the CRDs.

mod backend_tls_policy;
mod common;
mod filter;
mod gateway;
mod gateway_class;
mod grpc_route;
mod http_route;
mod reference_grant;
mod tcp_route;
mod tls_route;

use crate::custom;
use crate::kind::{Kind, Version};
use chancery_base::schema::Schema;

/// The API group of all kinds.
pub const GROUP: &str = "gateway.networking.k8s.io";

macro_rules! kinds {
    ($($constant:ident $name:literal $plural:literal $namespaced:literal [$($version:literal)*] $schema:expr, $doc:literal;)*) => {
        $(
            #[doc = $doc]
            pub static $constant: Kind = {
                static SCHEMA: Schema = $schema;
                Kind {
                    group: GROUP,
                    name: $name,
                    plural: $plural,
                    namespaced: $namespaced,
                    doc: $doc,
                    versions: &[$(Version { name: $version, schema: &SCHEMA }),*],
                    built_in: false,
                }
            };
        )*
    };
}

kinds! {
    GATEWAY_CLASS "GatewayClass" "gatewayclasses" false ["v1beta1" "v1"]
        custom![required gateway_class::SPEC, "Who is responsible for it"],
        "Which controller is responsible for Gateways of this class";
    GATEWAY "Gateway" "gateways" true ["v1beta1" "v1"]
        custom![required gateway::SPEC, "Its class, its listeners and addresses"],
        "Where traffic comes in: ports, protocols, hosts and certificates";
    HTTP_ROUTE "HTTPRoute" "httproutes" true ["v1beta1" "v1"]
        custom![required http_route::SPEC, "Its gateways, hosts and rules"],
        "Which HTTP requests go where, and how";
    GRPC_ROUTE "GRPCRoute" "grpcroutes" true ["v1"]
        custom![grpc_route::SPEC, "Its gateways, hosts and rules"],
        "Which gRPC calls go where, and how";
    TLS_ROUTE "TLSRoute" "tlsroutes" true ["v1alpha2"]
        custom![required tls_route::SPEC, "Its gateways, hosts and rules"],
        "Where TLS connections go, by the host they ask for";
    TCP_ROUTE "TCPRoute" "tcproutes" true ["v1alpha2"]
        custom![required tcp_route::SPEC, "Its gateways and rules"],
        "Where TCP connections go";
    BACKEND_TLS_POLICY "BackendTLSPolicy" "backendtlspolicies" true ["v1alpha3"]
        custom![required backend_tls_policy::SPEC, "The Services, and how their certificates are checked"],
        "TLS on the way to Services";
    REFERENCE_GRANT "ReferenceGrant" "referencegrants" true ["v1beta1"]
        custom![reference_grant::SPEC, "Who may refer to what"],
        "Lets other namespaces refer to objects of this one";
}
