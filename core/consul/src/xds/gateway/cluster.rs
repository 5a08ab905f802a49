//! Shared parts of the clusters of mesh and terminating gateways.

use crate::instance::Instance;
use crate::proxycfg::Proxy;
use crate::xds::context::Context;
use crate::xds::parts::cluster::{by_dns, by_stream};
use crate::xds::parts::config::GatewayConfig;
use crate::xds::parts::proto::{counted, duration, empty, message, millis};
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
pub(crate) fn cluster(cx: &Context<'_>, wanted: &GatewayCluster<'_>) -> Tree {
    let config = GatewayConfig::of(cx.instance.proxy.get("Config"));
    let timeout = if *wanted.connect_timeout > 0 { duration(wanted.connect_timeout) } else { millis(config.connect_timeout) };
    let mut cluster = message! {
        "name": wanted.name,
        "connect_timeout": timeout,
        "outlier_detection": empty(),
    };
    let outside = wanted.remote || matches!(cx.proxy, Proxy::Terminating(_));
    if let Some([time, interval, probes]) = config.keepalive.filter(|_| outside) {
        let probes = message! {
            "keepalive_time": counted(time),
            "keepalive_interval": counted(interval),
            "keepalive_probes": counted(probes),
        };
        cluster.set("upstream_connection_options", message! { "tcp_keepalive": probes });
    }
    if wanted.named.is_empty() {
        by_stream(&mut cluster);
    } else {
        by_dns(&mut cluster, wanted.named, config.strict_dns, wanted.remote, wanted.only_passing);
    }
    cluster
}
