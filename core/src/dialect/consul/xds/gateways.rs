//! Listeners of gateways: at which addresses they listen, and what clusters of gateways have in common.

use super::api;
use super::clusters::{by_dns, by_stream};
use super::config::GatewayConfig;
use super::proto::{duration, empty, message};
use super::{Context, Outcome, ingress, mesh, terminating};
use crate::dialect::consul::instance::Instance;
use crate::dialect::consul::proxycfg::Proxy;
use crate::ir::Tree;
use crate::text::Str;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// An address at which a gateway listens.
pub(super) struct At {
    pub(super) name: Str,
    pub(super) host: Tree,
    pub(super) port: Tree,
}

fn addresses(cx: &Context<'_>) -> Vec<At> {
    let config = GatewayConfig::of(cx.instance.proxy.get("Config"));
    let instance = cx.instance;
    let mut all = Vec::new();
    if !config.no_default {
        let own = instance.tree.get("Address");
        let host = if own.text().is_empty() { Tree::from("0.0.0.0") } else { own.clone() };
        all.push(At { name: Str::new_static("default"), host, port: instance.tree.get("Port").clone() });
    }
    if config.bind_tagged {
        for (name, address) in instance.tree.get("TaggedAddresses").fields() {
            all.push(At { name: name.clone(), host: address.get("Address").clone(), port: address.get("Port").clone() });
        }
    }
    let origin = instance.proxy.get("Config").origin;
    for (name, (host, port)) in &config.bind {
        all.push(At { name: name.clone(), host: Tree::from(host).or_from(origin), port: Tree::from(*port).or_from(origin) });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let mut seen: Vec<(Str, i64)> = Vec::new();
    all.retain(|at| {
        let key = (at.host.str(), at.port.int());
        let new = !seen.contains(&key);
        seen.push(key);
        new
    });
    all
}

/// The listeners of a gateway.
pub(super) fn listeners(cx: &Context<'_>) -> Outcome {
    let mut out = Vec::new();
    for at in addresses(cx) {
        match cx.proxy {
            Proxy::Terminating(gateway) => out.push(terminating::listener(cx, gateway, &at)?),
            Proxy::Mesh(gateway) => out.push(mesh::listener(cx, gateway, &at)?),
            Proxy::Ingress(gateway) => out.extend(ingress::listeners(cx, gateway, &at.host)?),
            Proxy::Api(gateway) => out.extend(api::listeners(cx, gateway, &at.host)?),
            Proxy::Connect(_) => {}
        }
    }
    Ok(out)
}

/// What a gateway's cluster is like.
#[derive(Default)]
pub(super) struct Wanted<'a> {
    pub(super) name: &'a str,
    /// Instances that are reached by a host's name.
    pub(super) named: &'a [Arc<Instance>],
    /// In nanoseconds; 0 for the gateway's own.
    pub(super) connect_timeout: i64,
    pub(super) remote: bool,
    pub(super) only_passing: bool,
}

/// A cluster of a gateway.
pub(super) fn cluster(cx: &Context<'_>, wanted: &Wanted<'_>) -> Tree {
    let config = GatewayConfig::of(cx.instance.proxy.get("Config"));
    let timeout = if wanted.connect_timeout > 0 { wanted.connect_timeout } else { config.connect_timeout.saturating_mul(1_000_000) };
    let mut cluster = message! {
        "name": wanted.name,
        "connect_timeout": duration(timeout),
        "outlier_detection": empty(),
    };
    let outside = wanted.remote || matches!(cx.proxy, Proxy::Terminating(_));
    if let Some([time, interval, probes]) = config.keepalive.filter(|_| outside) {
        let some = |value: i64| if value == 0 { Tree::NULL } else { value.into() };
        let probes = message! {
            "keepalive_time": some(time),
            "keepalive_interval": some(interval),
            "keepalive_probes": some(probes),
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
