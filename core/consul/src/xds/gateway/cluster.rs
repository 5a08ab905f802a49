//! Shared parts of the clusters of mesh and terminating gateways.

use crate::instance::Instance;
use crate::proxycfg::Proxy;
use crate::xds::context::Context;
use crate::xds::parts::cluster::{by_dns, by_stream};
use crate::xds::parts::config::GatewayConfig;
use crate::xds::parts::proto::{duration, empty, message, millis, non_zero};
use alloc::sync::Arc;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;

/// The parameters of a gateway's cluster.
#[derive(Default)]
pub(crate) struct GatewayCluster<'a> {
    pub(crate) name: &'a str,
    /// Instances that are reached by host name.
    pub(crate) named: &'a [Arc<Instance>],
    /// In nanoseconds; 0 for the gateway's own.
    pub(crate) connect_timeout: Sourced<i64>,
    pub(crate) remote: bool,
    pub(crate) only_passing: Sourced<bool>,
}

/// A cluster of a gateway.
pub(crate) fn cluster(cx: &Context<'_>, parameters: &GatewayCluster<'_>) -> Tree {
    let config = GatewayConfig::of(cx.instance.proxy.get("Config"));
    let timeout = if *parameters.connect_timeout > 0 { duration(parameters.connect_timeout) } else { millis(config.connect_timeout) };
    let mut cluster = message! {
        "name": parameters.name,
        "connect_timeout": timeout,
        "outlier_detection": empty(),
    };
    let outside = parameters.remote || matches!(cx.proxy, Proxy::Terminating(_));
    if let Some([time, interval, probes]) = config.keepalive.filter(|_| outside) {
        let probes = message! {
            "keepalive_time": non_zero(time),
            "keepalive_interval": non_zero(interval),
            "keepalive_probes": non_zero(probes),
        };
        cluster.set("upstream_connection_options", message! { "tcp_keepalive": probes });
    }
    if parameters.named.is_empty() {
        by_stream(&mut cluster);
    } else {
        by_dns(&mut cluster, parameters.named, config.strict_dns, parameters.remote, parameters.only_passing);
    }
    cluster
}
