//! Mesh gateways.

use super::clusters::{self, balance};
use super::filters::{self, Http};
use super::gateway_cluster::{At, GatewayCluster, cluster};
use super::listeners::{chain_name, listener as listener_at};
use super::proto::{list, message, one};
use super::{Context, Failure, Outcome, endpoints, tls};
use crate::dialect::consul::names::{self, TRUST_DOMAIN};
use crate::dialect::consul::proxycfg::{Exported, MeshGateway};
use crate::dialect::consul::registration;
use crate::dialect::consul::validate::{is_hash_based, is_http};
use crate::ir::Tree;
use crate::text::Str;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Whether peers reach the servers through it.
fn serves_peers(cx: &Context<'_>) -> bool {
    cx.mesh().at(&["Peering", "PeerThroughMeshGateways"]).bool()
}

/// A chain that hands on what asks for a name.
fn through(cx: &Context<'_>, server: String, cluster: String, name: String, prefix: &'static str) -> Tree {
    let opts = Http { cluster, filter_name: name, stat_prefix: prefix, ..Http::default() };
    message! { "filter_chain_match": message! { "server_names": one(server.into()) }, "filters": one(filters::tcp(cx, &opts)) }
}

pub(super) fn listener(cx: &Context<'_>, gateway: &MeshGateway, at: &At) -> Result<Tree, Failure> {
    let local = &gateway.datacenter;
    let mut chains = Vec::new();
    for exported in gateway.exported(cx.mail) {
        chains.push(for_peers(cx, &exported)?);
    }
    let remote = gateway.remote(cx.mail);
    for name in remote.keys() {
        let cluster = names::gateway_sni(name, TRUST_DOMAIN);
        chains.push(through(cx, format!("*.{cluster}"), cluster, format!("{}.{name}", at.name), "mesh_gateway_remote."));
    }
    if gateway.federates {
        for name in remote.keys() {
            let cluster = names::server_sni(None, name);
            chains.push(through(cx, format!("*.{cluster}"), cluster, format!("{}.{name}", at.name), "mesh_gateway_remote."));
        }
        let cluster = names::server_sni(Some(registration::NODE), local);
        chains.push(through(cx, cluster.clone(), cluster, format!("{}.{local}", at.name), "mesh_gateway_local_server."));
    }
    if serves_peers(cx) {
        let cluster = names::peering_server(local, TRUST_DOMAIN);
        chains.push(through(cx, cluster.clone(), cluster, format!("{}.{local}", at.name), "mesh_gateway_local_peering_server."));
    }
    let rest = Http { filter_name: at.name.to_string(), stat_prefix: "mesh_gateway_local.", ..Http::default() };
    chains.push(message! { "filters": Tree::from(Vec::from([filters::by_server_name(), filters::tcp(cx, &rest)])) });
    let mut listener = listener_at(cx, &at.name, at.host.clone(), &at.port, "");
    listener.set("listener_filters", one(filters::inspector("tls_inspector")));
    listener.set("filter_chains", list(chains));
    Ok(listener.or_from(cx.instance.tree.origin))
}

/// The chain by which peers reach a service.
fn for_peers(cx: &Context<'_>, exported: &Exported<'_>) -> Result<Tree, Failure> {
    let chain = exported.chain;
    let http = is_http(&chain.protocol);
    let cluster = match (http, chain.only_target()) {
        (true, _) => String::new(),
        (false, Some(target)) => clusters::cluster_name(chain, target, true),
        (false, None) => return Err(Failure::new("expected discovery chain with single node", None)),
    };
    let opts = Http {
        cluster,
        protocol: chain.protocol.clone(),
        filter_name: chain_name(chain),
        route_name: exported.service.to_string(),
        stat_prefix: "mesh_gateway_local_peered.",
        forward: Some("SANITIZE_SET"),
        by_name: http,
        ..Http::default()
    };
    let servers = exported.peers.iter().map(|peer| Tree::from(names::peered_sni(&exported.service, peer, TRUST_DOMAIN)));
    let mut out = message! {
        "filter_chain_match": message! { "server_names": list(servers.collect()) },
        "filters": one(filters::of(cx, &opts)),
    };
    if http {
        let protocol = super::config::ProxyConfig::of(cx.instance.proxy.get("Config")).protocol;
        out.set("transport_socket", tls::mesh_down(cx, "gateway-mesh", &protocol, &exported.peers));
    }
    Ok(out)
}

pub(super) fn clusters(cx: &Context<'_>, gateway: &MeshGateway) -> Outcome {
    let local = &gateway.datacenter;
    let mut out = Vec::new();
    let remote = gateway.remote(cx.mail);
    for (name, instances) in &remote {
        let named = clusters::by_name(instances);
        let mut add = |name: &str| out.push(cluster(cx, &GatewayCluster { name, named: &named, remote: true, ..GatewayCluster::default() }));
        add(&names::gateway_sni(name, TRUST_DOMAIN));
        if gateway.federates {
            add(&names::server_sni(None, name));
        }
    }
    let mut plain = |name: &str| out.push(cluster(cx, &GatewayCluster { name, ..GatewayCluster::default() }));
    if gateway.federates {
        if !gateway.own(cx.mail).is_empty() {
            plain(&names::server_sni(None, local));
        }
        plain(&names::server_sni(Some(registration::NODE), local));
    }
    if serves_peers(cx) {
        plain(&names::peering_server(local, TRUST_DOMAIN));
    }
    for (service, instances) in gateway.groups(cx.mail) {
        let resolver = gateway.resolver(cx.mail, &service);
        let subsets = resolver.get("Subsets").fields().iter().map(|(name, _)| name.clone());
        for subset in [Str::default()].into_iter().chain(subsets) {
            let name = names::service_sni(&service, &subset, local, TRUST_DOMAIN);
            let remote = instances.first().is_some_and(|instance| instance.node.datacenter != *local);
            let timeout = resolver.get("ConnectTimeout").int();
            let mut made = cluster(cx, &GatewayCluster { name: &name, connect_timeout: timeout, remote, ..GatewayCluster::default() });
            balance(&mut made, resolver.find("LoadBalancer").filter(|balancer| !is_hash_based(balancer)))?;
            out.push(made.or_from(resolver.origin));
        }
    }
    for (instances, named) in gateway.imported(cx.mail) {
        let Some(sni) = endpoints::sni_of(&instances) else { continue };
        let named = if named { &instances[..] } else { &[] };
        out.push(cluster(cx, &GatewayCluster { name: &sni, named, remote: true, ..GatewayCluster::default() }));
    }
    for exported in gateway.exported(cx.mail) {
        out.extend(clusters::of_chain(cx, None, exported.chain, true)?);
    }
    Ok(out)
}
