//! Generates Envoy's resources from a proxy's data: listeners, routes, clusters, endpoints.
//!
//! `parts` holds the shared parts, `sidecar` and `gateway` the resources of each kind, and `extensions` the users' patches. The data comes from
//! `proxycfg`.

mod context;
mod extensions;
mod gateway;
mod parts;
mod sidecar;

pub(crate) use context::{Context, Failure};
pub(crate) use parts::access_log::admin_log;

use super::proxycfg::Proxy;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::{Tree, Verbatim};
use chancery_text::Str;
use context::Resources;
use gateway::{api, ingress, mesh, terminating};

/// The resources of a proxy before its extensions.
fn plain(cx: &Context<'_>) -> Result<Resources, Failure> {
    match cx.proxy {
        Proxy::Connect(proxy) => sidecar::resources(cx, proxy),
        Proxy::Ingress(gateway) => ingress::resources(cx, gateway),
        Proxy::Terminating(gateway) => terminating::resources(cx, gateway),
        Proxy::Mesh(gateway) => mesh::resources(cx, gateway),
        Proxy::Api(gateway) => api::resources(cx, gateway),
    }
}

/// Messages by their names, one per name.
fn shared(mut all: Vec<Tree>, key: &str) -> Vec<Arc<Tree>> {
    all.sort_by(|a, b| a.get(key).text().cmp(b.get(key).text()));
    all.dedup_by(|a, b| a.get(key).text() == b.get(key).text());
    all.into_iter().map(Arc::new).collect()
}

/// The names of the routes that filters request.
fn tables(of: &Tree, found: &mut BTreeSet<Str>) {
    found.extend(of.find("route_config_name").map(Tree::str));
    of.fields().iter().for_each(|(_, value)| tables(value, found));
    of.items().iter().for_each(|value| tables(value, found));
}

/// Removes resources that Envoy does not request: routes that no listener names, and endpoints of clusters that have their own.
fn retain_referenced(all: &mut Resources) {
    let mut named = BTreeSet::new();
    all.listeners.iter().for_each(|listener| tables(listener, &mut named));
    all.routes.retain(|table| named.contains(table.get("name").text()));
    let by_stream = all.clusters.iter().filter(|cluster| cluster.find("eds_cluster_config").is_some());
    let name = |cluster: &Tree| {
        let service = cluster.at(&["eds_cluster_config", "service_name"]);
        if service.text().is_empty() { cluster.get("name").str() } else { service.str() }
    };
    let by_stream: BTreeSet<Str> = by_stream.map(name).collect();
    all.endpoints.retain(|endpoints| by_stream.contains(endpoints.get("cluster_name").text()));
}

/// All resources of a proxy.
pub(crate) fn resources(cx: &Context<'_>) -> Result<Verbatim, Failure> {
    let mut all = extensions::apply(cx, plain(cx)?)?;
    retain_referenced(&mut all);
    if let Some(agent) = cx.agent {
        let lists = [&mut all.listeners, &mut all.routes, &mut all.clusters, &mut all.endpoints];
        lists.into_iter().flatten().for_each(|of| agent.name_domain(of));
    }
    Ok(Verbatim {
        listeners: shared(all.listeners, "name"),
        routes: shared(all.routes, "name"),
        clusters: shared(all.clusters, "name"),
        endpoints: shared(all.endpoints, "cluster_name"),
        secrets: Vec::new(),
    })
}
