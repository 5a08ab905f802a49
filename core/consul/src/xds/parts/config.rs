//! Reads the opaque configuration of proxies, gateways and upstreams.

use crate::lenient::{Fault, Reader, find};
use alloc::collections::BTreeMap;
use chancery_base::ir::Tree;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// The default connect timeout, in milliseconds.
pub(crate) const CONNECT_TIMEOUT: i64 = 5000;

/// The configuration of a proxy. If a value is invalid, no defaults are applied.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProxyConfig {
    pub(crate) public_listener: Tree,
    pub(crate) tracing: Tree,
    pub(crate) local_cluster: Tree,
    /// In milliseconds, like the next two.
    pub(crate) connect_timeout: Sourced<i64>,
    pub(crate) request_timeout: Option<Sourced<i64>>,
    pub(crate) idle_timeout: Option<Sourced<i64>>,
    pub(crate) protocol: Str,
    pub(crate) bind_address: Tree,
    pub(crate) bind_port: Sourced<i64>,
    pub(crate) max_connections: Sourced<i64>,
    pub(crate) balance: Str,
    /// The first invalid value.
    pub(crate) fault: Option<Fault>,
}

impl ProxyConfig {
    pub(crate) fn of(config: &Tree) -> Self {
        let mut from = Reader::of(config);
        let mut read = Self {
            public_listener: from.tree("envoy_public_listener_json", ""),
            tracing: from.tree("envoy_listener_tracing_json", ""),
            local_cluster: from.tree("envoy_local_cluster_json", ""),
            connect_timeout: from.int("local_connect_timeout_ms", ""),
            request_timeout: from.some_int("local_request_timeout_ms", ""),
            idle_timeout: from.some_int("local_idle_timeout_ms", ""),
            protocol: from.text("protocol", ""),
            bind_address: from.tree("bind_address", ""),
            bind_port: from.int("bind_port", ""),
            max_connections: from.int("max_inbound_connections", ""),
            balance: from.text("BalanceInboundConnections", "balance_inbound_connections"),
            fault: None,
        };
        read.fault = from.fault;
        if read.fault.is_none() {
            read.protocol = if read.protocol.is_empty() { Str::new_static("tcp") } else { Str::from(read.protocol.to_lowercase()) };
            if read.connect_timeout.value < 1 {
                read.connect_timeout.value = CONNECT_TIMEOUT;
            }
        }
        read
    }
}

/// The configuration of a gateway.
#[derive(Clone, Debug, Default)]
pub(crate) struct GatewayConfig {
    pub(crate) bind_tagged: bool,
    pub(crate) bind: BTreeMap<Str, (Tree, Sourced<i64>)>,
    pub(crate) no_default: bool,
    pub(crate) strict_dns: bool,
    /// In milliseconds.
    pub(crate) connect_timeout: Sourced<i64>,
    /// TCP keepalive for remote addresses: time, interval, number of probes.
    pub(crate) keepalive: Option<[Sourced<i64>; 3]>,
    /// The first invalid value.
    pub(crate) fault: Option<Fault>,
}

impl GatewayConfig {
    pub(crate) fn of(config: &Tree) -> Self {
        let mut from = Reader::of(config);
        let mut bind = BTreeMap::new();
        for (name, address) in from.each("envoy_gateway_bind_addresses", "envoy_mesh_gateway_bind_addresses") {
            let mut address = Reader::of(address);
            bind.insert(name.clone(), (address.tree("address", ""), address.int("port", "")));
            from.fault = from.fault.take().or(address.fault);
        }
        let keepalive = from.bool("envoy_gateway_remote_tcp_enable_keepalive", "");
        let probes = [
            from.int("envoy_gateway_remote_tcp_keepalive_time", ""),
            from.int("envoy_gateway_remote_tcp_keepalive_interval", ""),
            from.int("envoy_gateway_remote_tcp_keepalive_probes", ""),
        ];
        let mut read = Self {
            bind_tagged: from.bool("envoy_gateway_bind_tagged_addresses", "envoy_mesh_gateway_bind_tagged_addresses"),
            bind,
            no_default: from.bool("envoy_gateway_no_default_bind", "envoy_mesh_gateway_no_default_bind"),
            strict_dns: false,
            connect_timeout: from.int("connect_timeout_ms", ""),
            keepalive: keepalive.then_some(probes),
            fault: None,
        };
        let discovery = from.text("envoy_dns_discovery_type", "");
        read.fault = from.fault;
        // If a value is invalid, no defaults are applied.
        let fits = read.fault.is_none();
        read.strict_dns = if fits { discovery.eq_ignore_ascii_case("strict_dns") } else { discovery == "strict_dns" };
        if fits && read.connect_timeout.value < 1 {
            read.connect_timeout.value = CONNECT_TIMEOUT;
        }
        read
    }
}

/// The configuration of an upstream.
#[derive(Clone, Debug, Default)]
pub(crate) struct UpstreamConfig {
    pub(crate) listener: Tree,
    pub(crate) cluster: Tree,
    pub(crate) protocol: Str,
    /// In milliseconds; 0 if unset.
    pub(crate) connect_timeout: Sourced<i64>,
    /// Connections, pending requests, requests; `None` without any limits.
    pub(crate) limits: Option<[Option<Sourced<i64>>; 3]>,
    pub(crate) health: Option<HealthCheck>,
    pub(crate) mesh_gateway: Str,
    pub(crate) balance: Str,
    /// The first invalid value.
    pub(crate) fault: Option<Fault>,
}

/// The passive health check of an upstream.
#[derive(Clone, Debug, Default)]
pub(crate) struct HealthCheck {
    pub(crate) interval: Option<Sourced<i64>>,
    pub(crate) failures: Sourced<i64>,
    pub(crate) enforcing: Option<Sourced<i64>>,
    pub(crate) ejection: Option<Sourced<i64>>,
    pub(crate) base_time: Option<Sourced<i64>>,
    pub(crate) origin: Option<Origin>,
}

impl HealthCheck {
    /// From an entry, or from opaque configuration.
    fn read(from: &mut Reader<'_>, origin: Option<Origin>) -> Self {
        Self {
            failures: from.some_uint("MaxFailures", "max_failures").unwrap_or_default(),
            enforcing: from.some_uint("EnforcingConsecutive5xx", "enforcing_consecutive_5xx"),
            ejection: from.some_uint("MaxEjectionPercent", "max_ejection_percent"),
            interval: from.some_duration("Interval", ""),
            base_time: from.some_duration("BaseEjectionTime", "base_ejection_time"),
            origin,
        }
    }

    /// From an entry.
    pub(crate) fn of(tree: &Tree) -> Option<Self> {
        (!tree.is_null()).then(|| Self::read(&mut Reader::of(tree), tree.origin))
    }
}

impl UpstreamConfig {
    pub(crate) fn of(config: &Tree) -> Self {
        let mut from = Reader::of(config);
        let limits = from.part("Limits", "", |limits| {
            [
                ("MaxConnections", "max_connections"),
                ("MaxPendingRequests", "max_pending_requests"),
                ("MaxConcurrentRequests", "max_concurrent_requests"),
            ]
            .map(|(name, alias)| limits.some_int(name, alias))
        });
        let origin = find(config, "PassiveHealthCheck", "passive_health_check").origin;
        let mut read = Self {
            listener: from.tree("EnvoyListenerJSON", "envoy_listener_json"),
            cluster: from.tree("EnvoyClusterJSON", "envoy_cluster_json"),
            protocol: from.text("Protocol", ""),
            connect_timeout: from.int("ConnectTimeoutMs", "connect_timeout_ms"),
            limits,
            health: from.part("PassiveHealthCheck", "passive_health_check", |health| HealthCheck::read(health, origin)),
            mesh_gateway: from.part("MeshGateway", "mesh_gateway", |gateway| gateway.text("Mode", "")).unwrap_or_default(),
            balance: from.text("BalanceOutboundConnections", "balance_outbound_connections"),
            fault: None,
        };
        read.fault = from.fault;
        if read.fault.is_none() {
            read.protocol = Str::from(read.protocol.to_lowercase());
            read.connect_timeout.value = read.connect_timeout.value.max(0);
        }
        read
    }
}
