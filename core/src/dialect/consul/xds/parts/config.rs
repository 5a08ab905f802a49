//! Opaque configuration of proxies, gateways and upstreams.
//!
//! What must not be here: what is made of it.

use crate::dialect::consul::weak::{self, find};
use crate::dialect::kubernetes::reason::Reason;
use crate::ir::Tree;
use crate::resource::Sourced;
use crate::text::Str;
use alloc::collections::BTreeMap;

/// What counts where no timeout for connecting is said, in milliseconds.
pub(crate) const CONNECT_TIMEOUT: i64 = 5000;

/// What a proxy is configured with. Where something does not fit, nothing gets its default.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProxyConfig {
    pub(crate) public_listener: Tree,
    pub(crate) tracing: Tree,
    pub(crate) local_cluster: Tree,
    /// In milliseconds, as the next two.
    pub(crate) connect_timeout: Sourced<i64>,
    pub(crate) request_timeout: Option<Sourced<i64>>,
    pub(crate) idle_timeout: Option<Sourced<i64>>,
    pub(crate) protocol: Str,
    pub(crate) bind_address: Tree,
    pub(crate) bind_port: i64,
    pub(crate) max_connections: Sourced<i64>,
    pub(crate) balance: Str,
}

impl ProxyConfig {
    pub(crate) fn of(config: &Tree) -> Self {
        let mut fits = true;
        macro_rules! take {
            ($kind:ident, $name:literal) => {
                weak::$kind(find(config, $name, "")).unwrap_or_else(|_| {
                    fits = false;
                    Default::default()
                })
            };
        }
        let mut read = Self {
            public_listener: find(config, "envoy_public_listener_json", "").clone(),
            tracing: find(config, "envoy_listener_tracing_json", "").clone(),
            local_cluster: find(config, "envoy_local_cluster_json", "").clone(),
            connect_timeout: take!(sourced_int, "local_connect_timeout_ms"),
            request_timeout: take!(some_sourced_int, "local_request_timeout_ms"),
            idle_timeout: take!(some_sourced_int, "local_idle_timeout_ms"),
            protocol: take!(text, "protocol"),
            bind_address: find(config, "bind_address", "").clone(),
            bind_port: take!(int, "bind_port"),
            max_connections: take!(sourced_int, "max_inbound_connections"),
            balance: take!(text, "balance_inbound_connections"),
        };
        if fits {
            read.protocol = if read.protocol.is_empty() { Str::new_static("tcp") } else { Str::from(read.protocol.to_lowercase()) };
            if read.connect_timeout.value < 1 {
                read.connect_timeout.value = CONNECT_TIMEOUT;
            }
        }
        read
    }
}

/// What a gateway is configured with.
#[derive(Clone, Debug, Default)]
pub(crate) struct GatewayConfig {
    pub(crate) bind_tagged: bool,
    pub(crate) bind: BTreeMap<Str, (Str, i64)>,
    pub(crate) no_default: bool,
    pub(crate) strict_dns: bool,
    /// In milliseconds.
    pub(crate) connect_timeout: Sourced<i64>,
    /// Probes for remote ends: after how long, how often, how many.
    pub(crate) keepalive: Option<[Sourced<i64>; 3]>,
}

impl GatewayConfig {
    pub(crate) fn of(config: &Tree) -> Self {
        let of = |name: &str, alias: &str| find(config, name, alias).clone();
        let timeout = weak::sourced_int(&of("connect_timeout_ms", ""));
        let fits = timeout.is_ok();
        let addresses = of("envoy_gateway_bind_addresses", "envoy_mesh_gateway_bind_addresses");
        let bind = addresses.fields().iter().map(|(name, address)| {
            let port = weak::int(find(address, "port", "")).unwrap_or_default();
            (name.clone(), (weak::text(find(address, "address", "")).unwrap_or_default(), port))
        });
        let probe = |name: &str| weak::sourced_int(&of(name, "")).unwrap_or_default();
        let keepalive = weak::bool(&of("envoy_gateway_remote_tcp_enable_keepalive", "")).unwrap_or_default();
        let keepalive = keepalive.then(|| {
            [
                probe("envoy_gateway_remote_tcp_keepalive_time"),
                probe("envoy_gateway_remote_tcp_keepalive_interval"),
                probe("envoy_gateway_remote_tcp_keepalive_probes"),
            ]
        });
        let timeout = timeout.unwrap_or_default();
        Self {
            bind_tagged: weak::bool(&of("envoy_gateway_bind_tagged_addresses", "envoy_mesh_gateway_bind_tagged_addresses")).unwrap_or_default(),
            bind: bind.collect(),
            no_default: weak::bool(&of("envoy_gateway_no_default_bind", "envoy_mesh_gateway_no_default_bind")).unwrap_or_default(),
            strict_dns: of("envoy_dns_discovery_type", "").text().eq_ignore_ascii_case("strict_dns"),
            connect_timeout: if timeout.value < 1 && fits { timeout.map(|_| CONNECT_TIMEOUT) } else { timeout },
            keepalive,
        }
    }
}

/// What is said of an upstream.
#[derive(Clone, Debug, Default)]
pub(crate) struct UpstreamConfig {
    pub(crate) listener: Tree,
    pub(crate) cluster: Tree,
    pub(crate) protocol: Str,
    /// In milliseconds; 0 where it is not said.
    pub(crate) connect_timeout: Sourced<i64>,
    /// Connections, pending requests, requests; nothing where there are no limits at all.
    pub(crate) limits: Option<[Tree; 3]>,
    pub(crate) health: Option<HealthCheck>,
    pub(crate) mesh_gateway: Str,
    pub(crate) balance: Str,
}

/// What is watched of the requests to an upstream.
#[derive(Clone, Debug, Default)]
pub(crate) struct HealthCheck {
    pub(crate) interval: Option<i64>,
    pub(crate) failures: i64,
    pub(crate) enforcing: Option<i64>,
    pub(crate) ejection: Option<i64>,
    pub(crate) base_time: Option<i64>,
    pub(crate) origin: Option<crate::resource::Origin>,
}

impl HealthCheck {
    /// As an entry has it, or opaque configuration.
    pub(crate) fn of(tree: &Tree) -> Result<Option<Self>, Reason> {
        if tree.is_null() {
            return Ok(None);
        }
        Ok(Some(Self {
            interval: weak::some_duration(find(tree, "Interval", "interval"))?,
            failures: weak::int(find(tree, "MaxFailures", "max_failures"))?,
            enforcing: weak::some_int(find(tree, "EnforcingConsecutive5xx", "enforcing_consecutive_5xx"))?,
            ejection: weak::some_int(find(tree, "MaxEjectionPercent", "max_ejection_percent"))?,
            base_time: weak::some_duration(find(tree, "BaseEjectionTime", "base_ejection_time"))?,
            origin: tree.origin,
        }))
    }
}

impl UpstreamConfig {
    /// What is said, or why it cannot be read.
    pub(crate) fn of(config: &Tree) -> Result<Self, Reason> {
        let text = |name: &str, alias: &str| weak::text(find(config, name, alias));
        let limits = find(config, "limits", "");
        let limit = |name: &str, alias: &str| -> Result<Tree, Reason> {
            let value = find(limits, name, alias);
            Ok(Tree::from(weak::some_int(value)?).or_from(value.origin))
        };
        let limits = if limits.is_null() {
            None
        } else {
            Some([
                limit("MaxConnections", "max_connections")?,
                limit("MaxPendingRequests", "max_pending_requests")?,
                limit("MaxConcurrentRequests", "max_concurrent_requests")?,
            ])
        };
        let gateway = find(config, "mesh_gateway", "MeshGateway");
        Ok(Self {
            listener: find(config, "envoy_listener_json", "EnvoyListenerJSON").clone(),
            cluster: find(config, "envoy_cluster_json", "EnvoyClusterJSON").clone(),
            protocol: Str::from(text("protocol", "")?.to_lowercase()),
            connect_timeout: weak::sourced_int(find(config, "connect_timeout_ms", "ConnectTimeoutMs"))?.map(|timeout| timeout.max(0)),
            limits,
            health: HealthCheck::of(find(config, "passive_health_check", "PassiveHealthCheck"))?,
            mesh_gateway: weak::text(find(gateway, "Mode", "mode"))?,
            balance: text("balance_outbound_connections", "BalanceOutboundConnections")?,
        })
    }
}
