//! The resources of mesh gateways.

use super::address::{GatewayAddress, at_each};
use super::cluster::{GatewayCluster, cluster};
use crate::chain::NodeKind;
use crate::instance::Instance;
use crate::names::{self, TRUST_DOMAIN, UpstreamId};
use crate::proxycfg::{Exported, MeshGateway};
use crate::validate::{is_hash_based, is_http};
use crate::xds::context::{Context, Failure, Outcome, Resources};
use crate::xds::parts::cluster::{balance, of_chain};
use crate::xds::parts::config::ProxyConfig;
use crate::xds::parts::filters::{self, Http};
use crate::xds::parts::listener::listener as listener_at;
use crate::xds::parts::name::{chain_name, cluster_name};
use crate::xds::parts::proto::{address, list, message, one};
use crate::xds::parts::{endpoint, route, tls};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

pub(crate) fn resources(cx: &Context<'_>, gateway: &MeshGateway) -> Result<Resources, Failure> {
    Ok(Resources {
        listeners: at_each(cx, |at| listener(cx, gateway, at).map(|one| Vec::from([one])))?,
        routes: routes(cx, gateway)?,
        clusters: clusters(cx, gateway)?,
        endpoints: endpoints(cx, gateway)?,
    })
}

/// The servers that peers reach through it. A read replica is of no use to them.
fn servers_for_peers<'a>(cx: &'a Context<'_>, gateway: &MeshGateway) -> Vec<&'a Instance> {
    if !cx.mesh().at(&["Peering", "PeerThroughMeshGateways"]).bool() {
        return Vec::new();
    }
    let servers = gateway.servers(cx.mail).iter().map(|server| &**server);
    servers.filter(|server| !server.tree.at(&["Meta", "read_replica"]).is("true")).collect()
}

/// An endpoint of a server, at one of its ports.
fn endpoint_of(server: &Instance, port: Tree) -> Tree {
    let (host, _) = server.best_address(false);
    let (at, _) = server.origins_of_address(false);
    message! { "endpoint": message! { "address": address(Tree::from(host).or_from(at), port) } }
}

/// A cluster with some endpoints.
fn assigned(cluster: String, endpoints: Vec<Tree>) -> Tree {
    message! { "cluster_name": cluster, "endpoints": one(message! { "lb_endpoints": list(endpoints) }) }
}

/// A chain that forwards connections for a server name.
fn through(cx: &Context<'_>, server: String, cluster: String, name: String, prefix: &'static str) -> Tree {
    let opts = Http { cluster, filter_name: name, stat_prefix: prefix, ..Http::default() };
    message! { "filter_chain_match": message! { "server_names": one(server.into()) }, "filters": one(filters::tcp(cx, &opts)) }
}

fn listener(cx: &Context<'_>, gateway: &MeshGateway, at: &GatewayAddress) -> Result<Tree, Failure> {
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
        for server in gateway.servers(cx.mail) {
            let cluster = names::server_sni(Some(&server.node.name), local);
            chains.push(through(cx, cluster.clone(), cluster, format!("{}.{local}", at.name), "mesh_gateway_local_server."));
        }
    }
    if !servers_for_peers(cx, gateway).is_empty() {
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

/// The chain for peers of a service.
fn for_peers(cx: &Context<'_>, exported: &Exported<'_>) -> Result<Tree, Failure> {
    let chain = exported.chain;
    let http = is_http(&chain.protocol);
    let cluster = match (http, chain.only_target()) {
        (true, _) => String::new(),
        (false, Some(target)) => cluster_name(chain, target, true),
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
        let protocol = ProxyConfig::of(cx.instance.proxy.get("Config")).protocol;
        out.set("transport_socket", tls::mesh_down(cx, "gateway-mesh", &protocol, &exported.peers));
    }
    Ok(out)
}

fn clusters(cx: &Context<'_>, gateway: &MeshGateway) -> Outcome {
    let local = &gateway.datacenter;
    let mut out = Vec::new();
    let remote = gateway.remote(cx.mail);
    for (name, instances) in &remote {
        let named = endpoint::by_name(instances);
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
        gateway.servers(cx.mail).iter().for_each(|server| plain(&names::server_sni(Some(&server.node.name), local)));
    }
    if !servers_for_peers(cx, gateway).is_empty() {
        plain(&names::peering_server(local, TRUST_DOMAIN));
    }
    for (service, instances) in gateway.groups(cx.mail) {
        let resolver = gateway.resolver(cx.mail, &service);
        let subsets = resolver.get("Subsets").fields().iter().map(|(name, _)| name.clone());
        for subset in [Str::default()].into_iter().chain(subsets) {
            let name = names::service_sni(&service, &subset, local, TRUST_DOMAIN);
            let remote = instances.first().is_some_and(|instance| instance.node.datacenter != *local);
            let timeout = resolver.get("ConnectTimeout").number();
            let mut made = cluster(cx, &GatewayCluster { name: &name, connect_timeout: timeout, remote, ..GatewayCluster::default() });
            balance(&mut made, resolver.find("LoadBalancer").filter(|balancer| !is_hash_based(balancer)))?;
            out.push(made.or_from(resolver.origin));
        }
    }
    for (instances, named) in gateway.imported(cx.mail) {
        let Some(sni) = sni_of(&instances) else { continue };
        let named = if named { &instances[..] } else { &[] };
        out.push(cluster(cx, &GatewayCluster { name: &sni, named, remote: true, ..GatewayCluster::default() }));
    }
    for exported in gateway.exported(cx.mail) {
        out.extend(of_chain(cx, None, exported.chain, true)?);
    }
    Ok(out)
}

fn routes(cx: &Context<'_>, gateway: &MeshGateway) -> Outcome {
    let mut out = Vec::new();
    for exported in gateway.exported(cx.mail) {
        if is_http(&exported.chain.protocol) {
            let id = UpstreamId::service(&exported.service);
            out.push(route::table(&id.to_string(), Vec::from([route::host(&id, exported.chain, one("*".into()), true)?])));
        }
    }
    Ok(out)
}

fn endpoints(cx: &Context<'_>, gateway: &MeshGateway) -> Outcome {
    let local = &gateway.datacenter;
    let mut out = Vec::new();
    for (name, instances) in gateway.remote(cx.mail) {
        if !endpoint::by_name(instances).is_empty() {
            continue;
        }
        out.push(endpoint::assignment(names::gateway_sni(&name, TRUST_DOMAIN), &endpoint::Group::all(instances), local));
        if gateway.federates {
            out.push(endpoint::assignment(names::server_sni(None, &name), &endpoint::Group::all(instances), local));
        }
    }
    if gateway.federates {
        let mut all = Vec::new();
        for server in gateway.servers(cx.mail) {
            let (_, at) = server.origins_of_address(false);
            let endpoint = endpoint_of(server, Tree::from(server.best_address(false).1).or_from(at));
            out.push(assigned(names::server_sni(Some(&server.node.name), local), Vec::from([endpoint.clone()])));
            all.push(endpoint);
        }
        out.push(assigned(names::server_sni(None, local), all));
    }
    // Peers cannot use a server without a TLS port.
    let for_peers = servers_for_peers(cx, gateway).into_iter().filter_map(|server| {
        let port = server.tree.at(&["Meta", "grpc_tls_port"]);
        let number: i64 = port.text().parse().ok()?;
        Some(endpoint_of(server, Tree::from(number).or_from(port.origin)))
    });
    let for_peers: Vec<Tree> = for_peers.collect();
    if !for_peers.is_empty() {
        out.push(assigned(names::peering_server(local, TRUST_DOMAIN), for_peers));
    }
    let groups = gateway.groups(cx.mail);
    for (name, instances) in &groups {
        endpoint::of_service(cx, name, instances, gateway.resolver(cx.mail, name), &mut out);
    }
    exported(cx, gateway, &groups, &mut out);
    for (instances, named) in gateway.imported(cx.mail) {
        if let (false, Some(sni)) = (named, sni_of(&instances)) {
            out.push(endpoint::assignment(&sni, &endpoint::Group::all(&instances), ""));
        }
    }
    Ok(out)
}

/// The server name of an imported service.
fn sni_of(instances: &[Arc<Instance>]) -> Option<Str> {
    instances.first()?.peer.as_ref()?.sni.first().cloned()
}

fn exported(cx: &Context<'_>, gateway: &MeshGateway, groups: &BTreeMap<Str, &[Arc<Instance>]>, out: &mut Vec<Tree>) {
    let mut seen: Vec<String> = Vec::new();
    for exported in gateway.exported(cx.mail) {
        for node in exported.chain.nodes.values() {
            let NodeKind::Resolver(resolver) = &node.kind else { continue };
            let Some(target) = exported.chain.targets.get(&resolver.target) else { continue };
            if target.datacenter != gateway.datacenter || !target.peer.is_empty() {
                continue;
            }
            let Some(instances) = groups.get(&target.service) else { continue };
            let instances = if target.subset.is_empty() { instances.to_vec() } else { endpoint::chosen(instances, target.definition.get("Filter")) };
            let cluster = cluster_name(exported.chain, target, true);
            if !seen.contains(&cluster) {
                let group = endpoint::Group { instances: &instances, only_passing: target.only_passing, healthy: None };
                out.push(endpoint::assignment(cluster.as_str(), &group, &gateway.datacenter));
                seen.push(cluster);
            }
        }
    }
}
