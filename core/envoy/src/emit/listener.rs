//! Emits `Listener`, `FilterChain` and the network filters that are not HTTP.
//!
//! Listeners are emitted without filter chains, and filter chains without filters: the document adds them.

use super::access_log::access_logs;
use super::base::{duration, socket_address, strings, text};
use super::tls::downstream_socket;
use super::{Context, pb};
use alloc::borrow::ToOwned;
use chancery_base::ir::{FilterChain, FilterChainMatch, Listener, ListenerFilter, SocketOption, SocketProtocol, TcpProxy, TrafficDirection};
use chancery_base::output_map::Trace;
use chancery_base::resource::Sourced;
use pb::tcp_proxy::tcp_proxy::{ClusterSpecifier, WeightedCluster, weighted_cluster::ClusterWeight};

pub(super) const HTTP_FILTER: &str = "envoy.filters.network.http_connection_manager";
const TCP_FILTER: &str = "envoy.filters.network.tcp_proxy";

/// Without its filter chains.
pub(super) fn listener(listener: &Listener, t: &mut Trace) -> pb::listener::Listener {
    t.here(&listener.origins);
    let address = &listener.address;
    pb::listener::Listener {
        name: text(t.field("name", &listener.name)),
        address: Some(t.at("address", |t| socket_address(address, t))),
        listener_filters: t.sourced_list("listener_filters", &listener.filters, listener_filter),
        per_connection_buffer_limit_bytes: t.optional("per_connection_buffer_limit_bytes", &listener.per_connection_buffer_limit).copied(),
        socket_options: t.sourced_list("socket_options", &listener.socket_options, |of, _| socket_option(of)),
        connection_balance_config: t.optional("connection_balance_config", &listener.exact_balance).map(|()| exact_balance()),
        max_connections_to_accept_per_socket_event: t
            .optional("max_connections_to_accept_per_socket_event", &listener.max_connections_per_event)
            .copied(),
        ignore_global_conn_limit: listener.ignore_global_limit,
        traffic_direction: listener.traffic_direction.as_ref().map(|of| traffic_direction(of, t)).unwrap_or_default(),
        udp_listener_config: (address.protocol == SocketProtocol::Udp).then(|| t.own("udp_listener_config", quic_listener())),
        ..Default::default()
    }
}

fn socket_option(of: &SocketOption) -> pb::base::SocketOption {
    use pb::base::socket_option::{SocketState, Value};
    pb::base::SocketOption {
        description: text(&of.description),
        level: of.level,
        name: of.name,
        value: Some(Value::IntValue(of.value)),
        state: SocketState::StateListening as i32,
        ..Default::default()
    }
}

fn exact_balance() -> pb::listener::listener::ConnectionBalanceConfig {
    use pb::listener::listener::connection_balance_config::{BalanceType, ExactBalance};
    pb::listener::listener::ConnectionBalanceConfig { balance_type: Some(BalanceType::ExactBalance(ExactBalance {})) }
}

fn quic_listener() -> pb::listener::UdpListenerConfig {
    pb::listener::UdpListenerConfig {
        quic_options: Some(pb::listener::QuicProtocolOptions::default()),
        downstream_socket_config: Some(pb::base::UdpSocketConfig { prefer_gro: Some(true), ..Default::default() }),
        ..Default::default()
    }
}

fn traffic_direction(direction: &Sourced<TrafficDirection>, t: &mut Trace) -> i32 {
    let direction_of = match direction.value {
        TrafficDirection::Unspecified => return pb::base::TrafficDirection::Unspecified as i32,
        TrafficDirection::Inbound => pb::base::TrafficDirection::Inbound,
        TrafficDirection::Outbound => pb::base::TrafficDirection::Outbound,
    };
    t.field("traffic_direction", direction);
    direction_of as i32
}

fn listener_filter(filter: &ListenerFilter, t: &mut Trace) -> pb::listener::ListenerFilter {
    use pb::listener_filter::{proxy_protocol::v3::ProxyProtocol, tls_inspector::v3::TlsInspector};
    let (name, config) = match filter {
        ListenerFilter::ProxyProtocol => ("envoy.filters.listener.proxy_protocol", pb::Any::pack(ProxyProtocol::default())),
        ListenerFilter::TlsInspector { ja3, ja4 } => {
            let inspector = t.at("typed_config", |t| TlsInspector {
                enable_ja3_fingerprinting: t.optional("enable_ja3_fingerprinting", ja3).copied(),
                enable_ja4_fingerprinting: t.optional("enable_ja4_fingerprinting", ja4).copied(),
                ..Default::default()
            });
            ("envoy.filters.listener.tls_inspector", pb::Any::pack(inspector))
        }
    };
    pb::listener::ListenerFilter {
        name: name.to_owned(),
        config_type: Some(pb::listener::listener_filter::ConfigType::TypedConfig(config)),
        ..Default::default()
    }
}

/// Without its filters.
pub(super) fn filter_chain(chain: &FilterChain, protocol: SocketProtocol, cx: &Context<'_>, t: &mut Trace) -> pb::listener::FilterChain {
    t.here(&chain.origins);
    pb::listener::FilterChain {
        name: text(&chain.name),
        filter_chain_match: chain.matcher.as_ref().map(|matcher| t.at("filter_chain_match", |t| filter_chain_match(matcher, t))),
        transport_socket: t.within("transport_socket", &chain.tls, |tls, t| downstream_socket(tls, protocol, cx, t)),
        ..Default::default()
    }
}

fn filter_chain_match(matcher: &FilterChainMatch, t: &mut Trace) -> pb::listener::FilterChainMatch {
    pb::listener::FilterChainMatch {
        server_names: strings("server_names", &matcher.server_names, t),
        transport_protocol: matcher.transport_protocol.as_ref().map(text).unwrap_or_default(),
        ..Default::default()
    }
}

/// The HTTP filter without the connection manager.
pub(super) fn http_filter() -> pb::listener::Filter {
    pb::listener::Filter { name: HTTP_FILTER.to_owned(), ..Default::default() }
}

pub(super) fn tcp_filter(proxy: &TcpProxy, cx: &Context<'_>, t: &mut Trace) -> pb::listener::Filter {
    let config = t.at("typed_config", |t| tcp_proxy(proxy, cx, t));
    filter(TCP_FILTER, pb::Any::pack(config))
}

pub(super) fn filter(name: &str, config: pb::Any) -> pb::listener::Filter {
    pb::listener::Filter { name: name.to_owned(), config_type: Some(pb::listener::filter::ConfigType::TypedConfig(config)) }
}

fn tcp_proxy(proxy: &TcpProxy, cx: &Context<'_>, t: &mut Trace) -> pb::tcp_proxy::TcpProxy {
    pb::tcp_proxy::TcpProxy {
        stat_prefix: text(t.field("stat_prefix", &proxy.stat_prefix)),
        cluster_specifier: Some(tcp_clusters(proxy, cx, t)),
        idle_timeout: t.optional("idle_timeout", &proxy.idle_timeout).map(duration),
        access_log: access_logs("access_log", &proxy.access_logs, cx, t),
        ..Default::default()
    }
}

fn tcp_clusters(proxy: &TcpProxy, cx: &Context<'_>, t: &mut Trace) -> ClusterSpecifier {
    match &proxy.clusters[..] {
        [one] if !cx.spelling.tcp_always_weighted => ClusterSpecifier::Cluster(text(t.field("cluster", &one.name))),
        several => ClusterSpecifier::WeightedClusters(t.at("weighted_clusters", |t| WeightedCluster {
            clusters: t.list("clusters", several, |cluster, t| ClusterWeight {
                name: text(t.field("name", &cluster.name)),
                weight: if *cluster.weight == 0 { 0 } else { *t.joined("weight", &cluster.weight, &cluster.weight_also) },
                ..Default::default()
            }),
        })),
    }
}
