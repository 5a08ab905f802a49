//! The resources of a sidecar. Parts that gateways share are in `parts`.

mod clusters;
mod expose;
mod listeners;
mod transparent;

use crate::entry::Kind;
use crate::proxycfg::{ConnectProxy, Watch};
use crate::validate::is_set;
use crate::xds::context::{Context, Failure, Outcome, Resources};
use crate::xds::parts::name::{destination_name, peer_cluster};
use crate::xds::parts::proto::one;
use crate::xds::parts::{endpoint, route};
use alloc::string::ToString;
use alloc::vec::Vec;

pub(crate) fn resources(cx: &Context<'_>, proxy: &ConnectProxy) -> Result<Resources, Failure> {
    Ok(Resources {
        listeners: listeners::all(cx, proxy)?,
        routes: routes(cx, proxy)?,
        clusters: clusters::all(cx, proxy)?,
        endpoints: endpoints(cx, proxy)?,
    })
}

/// The routes of chains that have any.
fn routes(cx: &Context<'_>, proxy: &ConnectProxy) -> Outcome {
    let mut out = transparent::routes(cx, proxy);
    for (id, chain) in cx.mail.chains() {
        let listed =
            proxy.upstreams.get(id).is_some_and(|upstream| upstream.get("LocalBindPort").int() != 0 || is_set(upstream.get("LocalBindSocketPath")));
        if !chain.default && (listed || proxy.is_implicit(cx.mail, id)) {
            out.push(route::table(&id.to_string(), Vec::from([route::host(id, chain, one("*".into()), false)?])));
        }
    }
    Ok(out)
}

/// The instances behind its clusters.
fn endpoints(cx: &Context<'_>, proxy: &ConnectProxy) -> Outcome {
    let mut out = Vec::new();
    for (id, chain) in cx.mail.chains().filter(|(id, _)| !proxy.skips(cx.mail, id)) {
        endpoint::of_chain(cx, id, chain, proxy.upstream(id), &mut out)?;
    }
    for id in proxy.peered(cx.mail) {
        if proxy.skips(cx.mail, &id) {
            continue;
        }
        let mode = proxy.upstream(&id).map(|upstream| upstream.at(&["MeshGateway", "Mode"]).str()).unwrap_or_default();
        out.extend(endpoint::of_peer(cx, &peer_cluster(&id), &id, &mode));
    }
    for name in cx.mail.names(&Watch::IntentionDestinations(proxy.destination.clone())) {
        let destination = cx.mail.entry(Kind::ServiceDefaults, &name).get("Destination");
        for address in destination.get("Addresses").items() {
            let gateways = cx.mail.instances(&Watch::GatewaysOf(name.clone()));
            let cluster = destination_name(cx, &name, address.text());
            out.push(endpoint::assignment(cluster, &endpoint::Group::all(gateways), ""));
        }
    }
    Ok(out)
}
