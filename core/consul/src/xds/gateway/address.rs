//! The addresses of a gateway's listeners.

use crate::instance::VIRTUAL;
use crate::proxycfg::Proxy;
use crate::xds::context::{Context, Failure, Outcome};
use crate::xds::parts::config::GatewayConfig;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

/// An address of a gateway's listeners.
pub(crate) struct GatewayAddress {
    pub(crate) name: Str,
    pub(crate) host: Tree,
    pub(crate) port: Tree,
}

/// Returns the listeners of all addresses.
pub(super) fn at_each(cx: &Context<'_>, listeners: impl Fn(&GatewayAddress) -> Outcome) -> Outcome {
    let mut out = Vec::new();
    for at in addresses(cx)? {
        out.extend(listeners(&at)?);
    }
    Ok(out)
}

/// All addresses of a gateway, by name, each once.
fn addresses(cx: &Context<'_>) -> Result<Vec<GatewayAddress>, Failure> {
    let config = GatewayConfig::of(cx.instance.proxy.get("Config"));
    if let (Some(fault), Proxy::Ingress(_) | Proxy::Api(_)) = (config.fault, cx.proxy) {
        return Err(fault.into());
    }
    let instance = cx.instance;
    let mut all = Vec::new();
    if !config.no_default {
        let own = instance.tree.get("Address");
        let host = if own.text().is_empty() { Tree::from("0.0.0.0") } else { own.clone() };
        all.push(GatewayAddress { name: Str::new_static("default"), host, port: instance.tree.get("Port").clone() });
    }
    if config.bind_tagged {
        // Addresses of services behind it come only from the catalog.
        let is_own = |name: &str| !name.strip_prefix(VIRTUAL).is_some_and(|rest| rest.starts_with(':'));
        for (name, address) in instance.tree.get("TaggedAddresses").fields().iter().filter(|(name, _)| is_own(name)) {
            all.push(GatewayAddress { name: name.clone(), host: address.get("Address").clone(), port: address.get("Port").clone() });
        }
    }
    let origin = instance.proxy.get("Config").origin;
    for (name, (host, port)) in config.bind {
        all.push(GatewayAddress { name, host: host.or_from(origin), port: Tree::from(port).or_from(origin) });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let mut seen: Vec<(Str, i64)> = Vec::new();
    all.retain(|at| {
        let key = (at.host.str(), at.port.int());
        let new = !seen.contains(&key);
        seen.push(key);
        new
    });
    Ok(all)
}
