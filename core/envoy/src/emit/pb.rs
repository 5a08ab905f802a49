//! Envoy's v3 messages under short names.

pub use chancery_envoy_api::envoy::admin::v3 as admin;
pub use chancery_envoy_api::envoy::config::{
    accesslog::v3 as access_log, bootstrap::v3 as bootstrap, cluster::v3 as cluster, common::mutation_rules::v3 as mutation, core::v3 as base,
    endpoint::v3 as endpoint, listener::v3 as listener, metrics::v3 as metrics, ratelimit::v3 as rate_limit, rbac::v3 as rbac, route::v3 as route,
    trace::v3 as trace,
};
pub use chancery_envoy_api::envoy::extensions::{
    access_loggers::{file::v3 as file_log, grpc::v3 as grpc_log},
    clusters::{aggregate::v3 as aggregate, common::dns::v3 as dns_family, dns::v3 as dns_cluster},
    common::ratelimit::v3 as descriptor,
    compression::{brotli::compressor::v3 as brotli, gzip::compressor::v3 as gzip, zstd::compressor::v3 as zstd},
    filters::http as http_filter,
    filters::listener as listener_filter,
    filters::network::{
        connection_limit::v3 as connection_limit, http_connection_manager::v3 as hcm, rbac::v3 as network_rbac, tcp_proxy::v3 as tcp_proxy,
    },
    formatter,
    http::{early_header_mutation, original_ip_detection},
    internal_redirect, load_balancing_policies as load_balancing,
    matching::{common_inputs::network::v3 as network_input, input_matchers::ip::v3 as ip_matcher},
    transport_sockets::{quic::v3 as quic, tls::v3 as tls},
    upstreams::http::v3 as upstream_http,
};
pub use chancery_envoy_api::envoy::service::runtime::v3 as runtime;
pub use chancery_envoy_api::envoy::r#type::{matcher::v3 as matcher, tracing::v3 as tracing, v3 as kind};
pub use chancery_envoy_api::xds::r#type::matcher::v3 as tree;
pub use chancery_envoy_api::{Any, Duration, ListValue, Struct, Value, value};
