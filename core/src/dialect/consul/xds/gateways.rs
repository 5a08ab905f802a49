//! Listeners of gateways: at which addresses they listen.

use super::api;
use super::config::GatewayConfig;
use super::gateway_cluster::At;
use super::{Context, Outcome, ingress, mesh, terminating};
use crate::dialect::consul::proxycfg::Proxy;
use crate::ir::Tree;
use crate::text::Str;
use alloc::vec::Vec;

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
