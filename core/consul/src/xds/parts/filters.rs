//! Filters of connections: those that forward bytes, and those for HTTP.

use super::proto::{ads, empty, extension, list, message, millis, one};
use super::{access_log, escape};
use crate::xds::context::Context;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// The parameters of a chain's filters.
#[derive(Clone, Default)]
pub(crate) struct Http {
    /// The target cluster; empty if routes decide.
    pub(crate) cluster: String,
    pub(crate) protocol: Str,
    pub(crate) filter_name: String,
    pub(crate) route_name: String,
    /// Only this path.
    pub(crate) route_path: Tree,
    pub(crate) stat_prefix: &'static str,
    /// How client certificates are forwarded.
    pub(crate) forward: Option<&'static str>,
    /// Filters before all others.
    pub(crate) before: Vec<Tree>,
    pub(crate) request_timeout: Option<Sourced<i64>>,
    pub(crate) idle_timeout: Option<Sourced<i64>>,
    pub(crate) tracing: Tree,
    /// Whether routes come from the stream.
    pub(crate) by_name: bool,
}

/// A name in metrics.
fn stat_prefix(of: &Http) -> String {
    format!("{}{}", of.stat_prefix, of.filter_name.replace(':', "_"))
}

/// The last filter of a chain.
pub(crate) fn of(cx: &Context<'_>, opts: &Http) -> Tree {
    if matches!(opts.protocol.as_str(), "grpc" | "http2" | "http") { http(cx, opts) } else { tcp(cx, opts) }
}

/// A filter that forwards bytes.
pub(crate) fn tcp(cx: &Context<'_>, opts: &Http) -> Tree {
    let config = message! {
        "stat_prefix": stat_prefix(opts),
        "cluster": opts.cluster.as_str(),
        "access_log": access_log::logs(cx.logs(), false),
    };
    extension("envoy.filters.network.tcp_proxy", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", config)
}

/// A filter that derives the cluster from the server name.
pub(crate) fn by_server_name() -> Tree {
    extension("envoy.filters.network.sni_cluster", "envoy.extensions.filters.network.sni_cluster.v3.SniCluster", empty())
}

/// A filter of a listener.
pub(crate) fn inspector(what: &str) -> Tree {
    let kind = match what {
        "tls_inspector" => "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector",
        "http_inspector" => "envoy.extensions.filters.listener.http_inspector.v3.HttpInspector",
        _ => "envoy.extensions.filters.listener.original_dst.v3.OriginalDst",
    };
    extension(&format!("envoy.filters.listener.{what}"), kind, empty())
}

/// A limit on connections.
pub(crate) fn limit(connections: Sourced<i64>) -> Tree {
    let config = message! { "stat_prefix": "inbound_connection_limit", "max_connections": connections };
    let kind = "envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit";
    extension("envoy.filters.network.connection_limit", kind, config)
}

/// Tracing as users write it; invalid configuration is left out.
pub(crate) fn tracing(json: &Tree) -> Tree {
    const KIND: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing";
    if json.text().is_empty() { Tree::NULL } else { escape::message(json, KIND).unwrap_or_default() }
}

fn inline_routes(opts: &Http) -> Tree {
    let path = if opts.route_path.text().is_empty() {
        message! { "prefix": "/" }
    } else {
        message! { "path": opts.route_path.clone() }
    };
    let action = message! {
        "cluster": opts.cluster.as_str(),
        "timeout": opts.request_timeout.map(millis),
        "idle_timeout": opts.idle_timeout.map(millis),
    };
    let host = message! {
        "name": opts.filter_name.as_str(),
        "domains": one("*".into()),
        "routes": one(message! { "match": path, "route": action }),
    };
    message! { "name": opts.route_name.as_str(), "virtual_hosts": one(host) }
}

fn http(cx: &Context<'_>, opts: &Http) -> Tree {
    let mut filters = Vec::new();
    if opts.protocol == "grpc" {
        let config = message! { "stats_for_all_methods": true };
        filters.push(extension("envoy.filters.http.grpc_stats", "envoy.extensions.filters.http.grpc_stats.v3.FilterConfig", config));
        let kind = "envoy.extensions.filters.http.grpc_http1_bridge.v3.Config";
        filters.push(extension("envoy.filters.http.grpc_http1_bridge", kind, empty()));
    }
    filters.extend(opts.before.iter().cloned());
    filters.push(extension("envoy.filters.http.router", "envoy.extensions.filters.http.router.v3.Router", empty()));
    let tracing = if opts.tracing.is_null() {
        message! { "random_sampling": empty() }
    } else {
        opts.tracing.clone()
    };
    let mut config = message! {
        "stat_prefix": stat_prefix(opts),
        "access_log": access_log::logs(cx.logs(), false),
        "http_filters": list(filters),
        "tracing": tracing,
        "upgrade_configs": one(message! { "upgrade_type": "websocket" }),
    };
    if opts.by_name {
        config.set("rds", message! { "route_config_name": opts.route_name.as_str(), "config_source": ads() });
    } else {
        config.set("route_config", inline_routes(opts));
    }
    if matches!(opts.protocol.as_str(), "http2" | "grpc") {
        config.set("http2_protocol_options", empty());
    }
    if let Some(policy) = opts.forward {
        config.set("forward_client_cert_details", policy.into());
        let details = message! { "subject": true, "cert": true, "chain": true, "dns": true, "uri": true };
        config.set("set_current_client_cert_details", details);
    }
    let kind = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
    extension("envoy.filters.network.http_connection_manager", kind, config)
}

/// Whether a filter is for HTTP.
pub(crate) fn is_http(filter: &Tree) -> bool {
    filter.get("name").is("envoy.filters.network.http_connection_manager") || filter.get("name").is("envoy.http_connection_manager")
}

/// Inserts a filter before the HTTP filters of all chains, unless a chain has none.
pub(crate) fn inject(listener: &mut Tree, filter: &Tree) -> bool {
    let chains = listener.get("filter_chains");
    let all = chains.items().iter().all(|chain| chain.get("filters").items().iter().any(is_http));
    if !all {
        return false;
    }
    for chain in listener.get_mut("filter_chains").into_iter().flat_map(Tree::items_mut) {
        let filters = chain.get_mut("filters").into_iter().flat_map(Tree::items_mut);
        let Some(config) = filters.filter(|filter| is_http(filter)).find_map(|filter| filter.get_mut("typed_config")) else { continue };
        match config.get_mut("http_filters") {
            Some(Tree { value: Plain::List(filters), .. }) => filters.insert(0, filter.clone()),
            _ => config.set("http_filters", one(filter.clone())),
        }
    }
    true
}
