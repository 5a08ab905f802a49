//! Lowers listeners and their filter chains (Contour `internal/xdscache/v3/listener.go`).

use super::http::ManagerFor;
use super::{Lowering, name, setting};
use crate::model::{Listener, SecureVirtualHost, TcpProxy, VirtualHost};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::ir::{
    Address, Certificate, FilterChain, FilterChainMatch, ListenerFilter, NetworkFilter, RouteConfiguration, SocketOption, WeightedCluster,
};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;
use core::time::Duration;

/// The table that exists even if it is empty, when no Gateway defines listeners.
const HTTP_TABLE: &str = "ingress_http";

/// Idle TCP connections are closed after so long.
const TCP_IDLE: Duration = Duration::from_secs(9001);

/// Resources that are served although no listener references them.
#[derive(Default)]
pub(super) struct UnreferencedRoutes {
    pub(super) tables: Vec<Arc<RouteConfiguration>>,
    pub(super) certificates: Vec<Sourced<Certificate>>,
}

impl Lowering<'_> {
    /// All listeners by name, and the unreferenced resources.
    pub(super) fn listeners(&mut self) -> (Vec<Arc<chancery_base::ir::Listener>>, UnreferencedRoutes) {
        let graph = self.graph;
        let mut listeners = self.own_listeners();
        for listener in graph.listeners.values() {
            listeners.extend(self.listener(listener));
        }
        listeners.sort_by(|a, b| a.name.cmp(&b.name));
        let mut beside = UnreferencedRoutes::default();
        if !graph.dynamic_listeners {
            beside.tables.push(Arc::new(self.table(Str::new_static(HTTP_TABLE), [])));
        }
        for listener in graph.listeners.values().filter(|listener| listener.tcp_proxy.is_some()) {
            self.behind_tcp(listener, &mut beside);
        }
        (listeners.into_iter().map(Arc::new).collect(), beside)
    }

    fn listener(&mut self, listener: &Listener) -> Option<chancery_base::ir::Listener> {
        let mut filters: Vec<Sourced<ListenerFilter>> = Vec::new();
        let mut chains = Vec::new();
        if let Some(proxy) = &listener.tcp_proxy {
            let filter = NetworkFilter::Tcp(self.tcp_proxy(&listener.name, proxy, "envoy.http"));
            chains.push(FilterChain { filters: vec![filter], origins: proxy.origins.clone(), ..FilterChain::default() });
        } else {
            filters.extend(self.proxy_protocol());
            if !listener.secure_hosts.is_empty() {
                filters.push(self.tls_inspector());
                chains = self.secure_chains(listener);
            } else if !listener.hosts.is_empty() {
                chains.push(self.plain_chain(listener));
            }
        }
        if chains.is_empty() {
            return None;
        }
        let port = self.port(listener.port)?;
        Some(chancery_base::ir::Listener {
            name: Sourced::new(listener.name.clone(), listener.origins.first().copied().or(listener.port.origin)),
            address: Address { address: listener.address.clone(), port, ipv4_compat: listener.address.value == "::", ..Address::default() },
            filters,
            chains,
            per_connection_buffer_limit: self.number("envoy.listener.per-connection-buffer-limit-bytes"),
            socket_options: self.socket_options(),
            exact_balance: self.text("envoy.listener.connectionBalancer").filter(|of| of.value == "exact").map(|of| of.map(|_| ())),
            max_connections_per_event: self.number("envoy.listener.maxConnectionsToAcceptPerSocketEvent"),
            origins: if listener.origins.is_empty() { listener.port.origin.into_iter().collect() } else { listener.origins.clone() },
            ..chancery_base::ir::Listener::default()
        })
    }

    /// Hosts of a listener that forwards all as TCP are out of reach, but their tables and certificates are served.
    fn behind_tcp(&mut self, listener: &Listener, beside: &mut UnreferencedRoutes) {
        let mut chains = self.secure_chains(listener);
        if !listener.hosts.is_empty() {
            chains.push(self.plain_chain(listener));
        }
        for chain in chains {
            beside.certificates.extend(chain.tls.into_iter().flat_map(|tls| tls.value.certificates));
            beside.tables.extend(chain.filters.into_iter().filter_map(|filter| match filter {
                NetworkFilter::Http(manager) => Some(Arc::new(manager.routes.clone())),
                NetworkFilter::Tcp(_) => None,
            }));
        }
    }

    fn proxy_protocol(&self) -> Option<Sourced<ListenerFilter>> {
        let on = self.flag("envoy.listener.useProxyProtocol").filter(|on| on.value)?;
        Some(on.map(|_| ListenerFilter::ProxyProtocol))
    }

    fn tls_inspector(&self) -> Sourced<ListenerFilter> {
        let flag = |name: &str| self.flag(&format!("envoy.listener.tls.fingerprint.{name}")).filter(|on| on.value);
        Sourced::built_in(ListenerFilter::TlsInspector { ja3: flag("ja3"), ja4: flag("ja4") })
    }

    fn socket_options(&self) -> Vec<Sourced<SocketOption>> {
        let mut options = keepalive();
        let added = [("tos", "Set IPv4 TOS field", 0, 1), ("trafficClass", "Set IPv6 Traffic Class field", 41, 0x43)];
        for (field, description, level, name) in added {
            let at = self.at("envoy.listener.socketOptions").field(field);
            if let Some(value) = at.int().filter(|value| *value != 0) {
                options.push(setting(SocketOption { description: Str::new_static(description), level, name, value }, at));
            }
        }
        options
    }

    /// One chain for all hosts without TLS.
    fn plain_chain(&mut self, listener: &Listener) -> FilterChain {
        let table = if listener.route_config.is_empty() { &listener.name } else { &listener.route_config };
        let hosts = listener.hosts.values().filter(|host| !host.routes.is_empty());
        let hosts: Vec<_> = hosts.map(|host| self.virtual_host(host, false)).collect();
        let routes = self.table(table.clone(), hosts);
        let manager = self.manager(ManagerFor::Plain, listener, routes, &[]);
        let origins = listener.hosts.values().flat_map(|host| host.origins.iter().copied()).collect();
        FilterChain { filters: vec![NetworkFilter::Http(Arc::new(manager))], origins, ..FilterChain::default() }
    }

    /// A chain for each TLS host, by name, and at most one for clients without SNI.
    fn secure_chains(&mut self, listener: &Listener) -> Vec<FilterChain> {
        let mut named = Vec::new();
        let mut others = Vec::new();
        let alpn = self.alpn();
        let fallback_hosts: Vec<&SecureVirtualHost> =
            listener.secure_hosts.values().map(|host| &**host).filter(|host| host.fallback.is_some()).collect();
        let mut with_fallback = false;
        for host in listener.secure_hosts.values() {
            let chain = self.secure_chain(listener, host, &alpn);
            if host.host.name.value == "*" {
                others.push(chain)
            } else {
                named.push(chain)
            }
            if host.fallback.is_some() && !with_fallback {
                with_fallback = true;
                others.push(self.fallback_chain(listener, host, &fallback_hosts, &alpn));
            }
        }
        named.extend(others);
        named
    }

    fn secure_chain(&mut self, listener: &Listener, host: &SecureVirtualHost, alpn: &[Sourced<Str>]) -> FilterChain {
        let (filter, alpn) = match &host.tcp_proxy {
            Some(proxy) => (NetworkFilter::Tcp(self.tcp_proxy(&listener.name, proxy, "envoy.https")), &[][..]),
            None => {
                let name = format!("{}/{}", route_prefix(listener), host.host.name.value);
                let hosts: Vec<_> =
                    Some(&host.host).filter(|host| !host.routes.is_empty()).map(|host| self.virtual_host(host, true)).into_iter().collect();
                let absent = hosts.is_empty();
                let routes = RouteConfiguration { absent, ..self.table(name.into(), hosts) };
                (NetworkFilter::Http(Arc::new(self.manager(ManagerFor::Host(host), listener, routes, &host.host.origins))), alpn)
            }
        };
        let matcher = match host.host.name.value.as_str() {
            "*" => FilterChainMatch { transport_protocol: Some("tls".into()), ..FilterChainMatch::default() },
            _ => FilterChainMatch { server_names: vec![host.host.name.clone()], ..FilterChainMatch::default() },
        };
        FilterChain {
            matcher: Some(matcher),
            tls: self.host_tls(host, alpn),
            filters: vec![filter],
            origins: host.host.origins.clone(),
            ..FilterChain::default()
        }
    }

    fn fallback_chain(&mut self, listener: &Listener, first: &SecureVirtualHost, all: &[&SecureVirtualHost], alpn: &[Sourced<Str>]) -> FilterChain {
        let name = match listener.fallback_route_config.as_str() {
            "" => format!("{}/fallbackcert", route_prefix(listener)).into(),
            name => Str::new(name),
        };
        let hosts: Vec<&VirtualHost> = all.iter().map(|host| &host.host).filter(|host| !host.routes.is_empty()).collect();
        let origins: Vec<Origin> = hosts.iter().flat_map(|host| host.origins.iter().copied()).collect();
        let hosts: Vec<_> = hosts.into_iter().map(|host| self.virtual_host(host, true)).collect();
        let absent = hosts.is_empty();
        let routes = RouteConfiguration { absent, ..self.table(name, hosts) };
        let manager = self.manager(ManagerFor::Fallback(first), listener, routes, &origins);
        let matcher = FilterChainMatch { transport_protocol: Some("tls".into()), ..FilterChainMatch::default() };
        // If the first host forwards TCP, no protocol is offered here either.
        let alpn = if first.tcp_proxy.is_some() { &[] } else { alpn };
        FilterChain {
            name: "fallback-certificate".into(),
            matcher: Some(matcher),
            tls: self.fallback_tls(first, alpn),
            filters: vec![NetworkFilter::Http(Arc::new(manager))],
            origins,
        }
    }

    /// Clusters without weight receive nothing, unless none has a weight.
    fn tcp_proxy(&self, listener: &Str, proxy: &TcpProxy, log: &str) -> chancery_base::ir::TcpProxy {
        let weighted: Vec<_> = proxy.clusters.iter().filter(|cluster| cluster.weight.value > 0).collect();
        let kept = if weighted.is_empty() { proxy.clusters.iter().collect() } else { weighted };
        let mut clusters: Vec<WeightedCluster> = kept
            .into_iter()
            .map(|cluster| WeightedCluster {
                name: Sourced::new(name::cluster(cluster), cluster.origins.first().copied()),
                weight: cluster.weight.map(|weight| weight.max(1)),
                ..WeightedCluster::default()
            })
            .collect();
        clusters.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.weight.cmp(&b.weight)));
        chancery_base::ir::TcpProxy {
            stat_prefix: Sourced::new(listener.clone(), proxy.origins.first().copied()),
            clusters,
            idle_timeout: Some(Sourced::built_in(TCP_IDLE)),
            access_logs: self.access_logs(log),
        }
    }
}

/// The prefix of the names of a secure listener's tables.
fn route_prefix(listener: &Listener) -> &Str {
    if listener.route_config.is_empty() { &listener.name } else { &listener.route_config }
}

/// TCP keepalive probes; the numbers are Linux's.
pub(super) fn keepalive() -> Vec<Sourced<SocketOption>> {
    let options = [
        ("Enable TCP keep-alive", 1, 9, 1),
        ("TCP keep-alive initial idle time", 6, 4, 45),
        ("TCP keep-alive time between probes", 6, 5, 5),
        ("TCP keep-alive probe count", 6, 6, 9),
    ];
    let option =
        |(description, level, name, value)| Sourced::built_in(SocketOption { description: Str::new_static(description), level, name, value });
    options.map(option).into()
}
