//! Schemas of kinds, generated from CRDs. Does not hold anything written by hand.

pub(super) mod backend;
pub(super) mod backend_tls_policy;
pub(super) mod backend_traffic_policy;
pub(super) mod client_traffic_policy;
pub(super) mod envoy_extension_policy;
pub(super) mod envoy_patch_policy;
pub(super) mod envoy_proxy;
mod envoy_proxy_parts;
pub(super) mod gateway;
pub(super) mod gateway_class;
pub(super) mod grpc_route;
pub(super) mod http_route;
pub(super) mod http_route_filter;
pub(super) mod listener_set;
pub(super) mod reference_grant;
pub(super) mod security_policy;
pub(super) mod shared;
pub(super) mod tls_route;
