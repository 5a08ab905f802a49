//! The fields of the config entries of gateways and their routes; the others are in [`super::entries`].

use super::entries::{HTTP_HEADER_MODIFIERS, INTENTION_JWT_PROVIDER, PASSIVE_HEALTH_CHECK};
use super::{Struct, Type, null, omit, some, zero};

pub(crate) static INGRESS_GATEWAY: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    zero("TLS", "", Type::Struct(&GATEWAY_TLS_CONFIG)),
    zero("Listeners", "", Type::List(&Type::Struct(&INGRESS_LISTENER))),
    some("Defaults", "", Type::Struct(&INGRESS_SERVICE_CONFIG)),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static TERMINATING_GATEWAY: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    zero("Services", "", Type::List(&Type::Struct(&LINKED_SERVICE))),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static API_GATEWAY: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    zero("Listeners", "", Type::List(&Type::Struct(&API_GATEWAY_LISTENER))),
    zero("Status", "", Type::Struct(&STATUS)),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static BOUND_API_GATEWAY: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    zero("Listeners", "", Type::List(&Type::Struct(&BOUND_API_GATEWAY_LISTENER))),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static HTTP_ROUTE: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    zero("Parents", "", Type::List(&Type::Struct(&RESOURCE_REFERENCE))),
    zero("Rules", "", Type::List(&Type::Struct(&HTTP_ROUTE_RULE))),
    zero("Hostnames", "", Type::List(&Type::Text)),
    omit("Meta", "", Type::Map(&Type::Text)),
    zero("Status", "", Type::Struct(&STATUS)),
]);

pub(crate) static TCP_ROUTE: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    zero("Parents", "", Type::List(&Type::Struct(&RESOURCE_REFERENCE))),
    zero("Services", "", Type::List(&Type::Struct(&TCP_SERVICE))),
    omit("Meta", "", Type::Map(&Type::Text)),
    zero("Status", "", Type::Struct(&STATUS)),
]);

pub(crate) static INLINE_CERTIFICATE: Struct = Struct(&[
    zero("Kind", "", Type::Text),
    zero("Name", "", Type::Text),
    zero("Certificate", "", Type::Text),
    zero("PrivateKey", "", Type::Text),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static GATEWAY_TLS_CONFIG: Struct = Struct(&[
    zero("Enabled", "", Type::Bool),
    some("SDS", "", Type::Struct(&GATEWAY_SDS_CONFIG)),
    omit("TLSMinVersion", "tls_min_version", Type::Text),
    omit("TLSMaxVersion", "tls_max_version", Type::Text),
    omit("CipherSuites", "cipher_suites", Type::List(&Type::Text)),
]);

pub(crate) static INGRESS_LISTENER: Struct = Struct(&[
    zero("Port", "", Type::Int),
    zero("Protocol", "", Type::Text),
    some("TLS", "", Type::Struct(&GATEWAY_TLS_CONFIG)),
    zero("Services", "", Type::List(&Type::Struct(&INGRESS_SERVICE))),
]);

pub(crate) static INGRESS_SERVICE_CONFIG: Struct = Struct(&[
    zero("MaxConnections", "", Type::Uint),
    zero("MaxPendingRequests", "", Type::Uint),
    zero("MaxConcurrentRequests", "", Type::Uint),
    some("PassiveHealthCheck", "passive_health_check", Type::Struct(&PASSIVE_HEALTH_CHECK)),
]);

pub(crate) static LINKED_SERVICE: Struct = Struct(&[
    omit("Name", "", Type::Text),
    omit("CAFile", "ca_file", Type::Text),
    omit("CertFile", "cert_file", Type::Text),
    omit("KeyFile", "key_file", Type::Text),
    omit("SNI", "", Type::Text),
]);

pub(crate) static API_GATEWAY_LISTENER: Struct = Struct(&[
    zero("Name", "", Type::Text),
    zero("Hostname", "", Type::Text),
    zero("Port", "", Type::Int),
    zero("Protocol", "", Type::Text),
    zero("TLS", "", Type::Struct(&API_GATEWAY_TLS_CONFIGURATION)),
]);

pub(crate) static STATUS: Struct = Struct(&[zero("Conditions", "", Type::List(&Type::Struct(&CONDITION)))]);

pub(crate) static BOUND_API_GATEWAY_LISTENER: Struct = Struct(&[
    zero("Name", "", Type::Text),
    zero("Routes", "", Type::List(&Type::Struct(&RESOURCE_REFERENCE))),
    zero("Certificates", "", Type::List(&Type::Struct(&RESOURCE_REFERENCE))),
]);

pub(crate) static RESOURCE_REFERENCE: Struct =
    Struct(&[zero("Kind", "", Type::Text), zero("Name", "", Type::Text), zero("SectionName", "", Type::Text)]);

pub(crate) static HTTP_ROUTE_RULE: Struct = Struct(&[
    zero("Filters", "", Type::Struct(&HTTP_FILTERS)),
    zero("Matches", "", Type::List(&Type::Struct(&HTTP_MATCH))),
    zero("Services", "", Type::List(&Type::Struct(&HTTP_SERVICE))),
]);

pub(crate) static TCP_SERVICE: Struct = Struct(&[zero("Name", "", Type::Text)]);

pub(crate) static GATEWAY_SDS_CONFIG: Struct =
    Struct(&[omit("ClusterName", "cluster_name", Type::Text), omit("CertResource", "cert_resource", Type::Text)]);

pub(crate) static INGRESS_SERVICE: Struct = Struct(&[
    zero("Name", "", Type::Text),
    zero("Hosts", "", Type::List(&Type::Text)),
    some("TLS", "", Type::Struct(&GATEWAY_SERVICE_TLS_CONFIG)),
    some("RequestHeaders", "request_headers", Type::Struct(&HTTP_HEADER_MODIFIERS)),
    some("ResponseHeaders", "response_headers", Type::Struct(&HTTP_HEADER_MODIFIERS)),
    omit("MaxConnections", "max_connections", Type::Uint),
    omit("MaxPendingRequests", "max_pending_requests", Type::Uint),
    omit("MaxConcurrentRequests", "max_concurrent_requests", Type::Uint),
    some("PassiveHealthCheck", "passive_health_check", Type::Struct(&PASSIVE_HEALTH_CHECK)),
    omit("Meta", "", Type::Map(&Type::Text)),
]);

pub(crate) static API_GATEWAY_TLS_CONFIGURATION: Struct = Struct(&[
    zero("Certificates", "", Type::List(&Type::Struct(&RESOURCE_REFERENCE))),
    zero("MaxVersion", "", Type::Text),
    zero("MinVersion", "", Type::Text),
    zero("CipherSuites", "", Type::List(&Type::Text)),
]);

pub(crate) static CONDITION: Struct = Struct(&[
    zero("Type", "", Type::Text),
    zero("Status", "", Type::Text),
    zero("Reason", "", Type::Text),
    zero("Message", "", Type::Text),
    null("Resource", "", Type::Struct(&RESOURCE_REFERENCE)),
    omit("LastTransitionTime", "", Type::Text),
]);

pub(crate) static HTTP_FILTERS: Struct = Struct(&[
    zero("Headers", "", Type::List(&Type::Struct(&HTTP_HEADER_FILTER))),
    null("URLRewrite", "", Type::Struct(&URL_REWRITE)),
    null("RetryFilter", "", Type::Struct(&RETRY_FILTER)),
    null("TimeoutFilter", "", Type::Struct(&TIMEOUT_FILTER)),
    null("JWT", "", Type::Struct(&JWT_FILTER)),
]);

pub(crate) static HTTP_MATCH: Struct = Struct(&[
    zero("Headers", "", Type::List(&Type::Struct(&HTTP_HEADER_MATCH))),
    zero("Method", "", Type::Text),
    zero("Path", "", Type::Struct(&HTTP_PATH_MATCH)),
    zero("Query", "", Type::List(&Type::Struct(&HTTP_QUERY_MATCH))),
]);

pub(crate) static HTTP_SERVICE: Struct =
    Struct(&[zero("Name", "", Type::Text), zero("Weight", "", Type::Int), zero("Filters", "", Type::Struct(&HTTP_FILTERS))]);

pub(crate) static GATEWAY_SERVICE_TLS_CONFIG: Struct = Struct(&[some("SDS", "", Type::Struct(&GATEWAY_SDS_CONFIG))]);

pub(crate) static HTTP_HEADER_FILTER: Struct =
    Struct(&[zero("Add", "", Type::Map(&Type::Text)), zero("Remove", "", Type::List(&Type::Text)), zero("Set", "", Type::Map(&Type::Text))]);

pub(crate) static URL_REWRITE: Struct = Struct(&[zero("Path", "", Type::Text)]);

pub(crate) static RETRY_FILTER: Struct = Struct(&[
    zero("NumRetries", "", Type::Uint),
    zero("RetryOn", "", Type::List(&Type::Text)),
    zero("RetryOnStatusCodes", "", Type::List(&Type::Uint)),
    zero("RetryOnConnectFailure", "", Type::Bool),
]);

pub(crate) static TIMEOUT_FILTER: Struct = Struct(&[zero("RequestTimeout", "", Type::Duration), zero("IdleTimeout", "", Type::Duration)]);

pub(crate) static JWT_FILTER: Struct = Struct(&[zero("Providers", "", Type::List(&Type::Struct(&INTENTION_JWT_PROVIDER)))]);

pub(crate) static HTTP_HEADER_MATCH: Struct = Struct(&[zero("Match", "", Type::Text), zero("Name", "", Type::Text), zero("Value", "", Type::Text)]);

pub(crate) static HTTP_PATH_MATCH: Struct = Struct(&[zero("Match", "", Type::Text), zero("Value", "", Type::Text)]);

pub(crate) static HTTP_QUERY_MATCH: Struct = Struct(&[zero("Match", "", Type::Text), zero("Name", "", Type::Text), zero("Value", "", Type::Text)]);
