//! Endpoints: the instances behind clusters.

use super::clusters::{cluster_name, peer_cluster};
use super::config::UpstreamConfig;
use super::proto::{address, list, message, one};
use super::{Context, Outcome};
use crate::dialect::consul::chain::{Chain, NodeKind, Target};
use crate::dialect::consul::entry::Kind;
use crate::dialect::consul::instance::Instance;
use crate::dialect::consul::names::{self, TRUST_DOMAIN, UpstreamId};
use crate::dialect::consul::proxycfg::{ConnectProxy, Health, MeshGateway, TerminatingGateway, Watch};
use crate::dialect::consul::{bexpr, registration};
use crate::ir::Tree;
use crate::text::Str;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Endpoints of one priority.
pub(super) struct Group<'a> {
    pub(super) instances: &'a [Arc<Instance>],
    pub(super) only_passing: bool,
    /// What counts instead of the instances' own health.
    pub(super) healthy: Option<bool>,
}

impl<'a> Group<'a> {
    pub(super) fn all(instances: &'a [Arc<Instance>]) -> Self {
        Self { instances, only_passing: false, healthy: None }
    }
}

/// An endpoint with its health and weight.
pub(super) fn weighed(instance: &Instance, wan: bool, only_passing: bool, forced: Option<bool>) -> Tree {
    let (host, port) = instance.best_address(wan);
    let (healthy, weight) = instance.health_and_weight(only_passing);
    let healthy = forced.unwrap_or(healthy);
    let at = instance.tree.origin;
    message! {
        "endpoint": message! { "address": address(Tree::from(host).or_from(at), Tree::from(port).or_from(at)) },
        "health_status": if healthy { "HEALTHY" } else { "UNHEALTHY" },
        "load_balancing_weight": weight,
    }
    .or_from(at)
}

/// The endpoints of a cluster. `local` is the datacenter whose instances are reached by their own addresses.
pub(super) fn assignment(cluster: &str, group: &Group<'_>, local: &str) -> Tree {
    let endpoints = group.instances.iter().map(|instance| {
        let wan = local.is_empty() || instance.node.datacenter != local || !instance.node.peer.is_empty();
        weighed(instance, wan, group.only_passing, group.healthy)
    });
    let mut locality = super::proto::empty();
    locality.set("lb_endpoints", list(endpoints.collect()));
    message! { "cluster_name": cluster, "endpoints": one(locality) }
}

pub(super) fn connect_proxy(cx: &Context<'_>, proxy: &ConnectProxy) -> Outcome {
    let mut out = Vec::new();
    for (id, chain) in cx.mail.chains().filter(|(id, _)| !proxy.skips(cx.mail, id)) {
        of_chain(cx, id, chain, proxy.upstream(id), &mut out)?;
    }
    for id in proxy.peered(cx.mail) {
        if proxy.skips(cx.mail, &id) {
            continue;
        }
        let mode = proxy.upstream(&id).map(|upstream| upstream.at(&["MeshGateway", "Mode"]).str()).unwrap_or_default();
        out.extend(of_peer(cx, &peer_cluster(&id), &id, &mode));
    }
    for name in cx.mail.names(&Watch::IntentionDestinations(proxy.destination.clone())) {
        let destination = cx.mail.entry(Kind::ServiceDefaults, &name).get("Destination");
        for address in destination.get("Addresses").items() {
            let gateways = cx.mail.instances(&Watch::GatewaysOf(name.clone()));
            let cluster = super::clusters::destination_name(cx, &name, address.text());
            out.push(assignment(&cluster, &Group::all(gateways), ""));
        }
    }
    Ok(out)
}

/// The gateways of a peer, or those of the own datacenter.
fn of_peer(cx: &Context<'_>, cluster: &str, id: &UpstreamId, mode: &str) -> Option<Tree> {
    let datacenter = &cx.instance.node.datacenter;
    if mode == "local" {
        let gateways = cx.mail.instances(&Watch::MeshGateways(datacenter.clone()));
        return Some(assignment(cluster, &Group::all(gateways), datacenter));
    }
    let instances = cx.mail.instances(&Watch::Health(Health::of_peer(id, datacenter)));
    let named = super::clusters::by_name(instances);
    named.is_empty().then(|| assignment(cluster, &Group::all(instances), ""))
}

/// The endpoints of the clusters of a chain.
pub(super) fn of_chain(cx: &Context<'_>, id: &UpstreamId, chain: &Chain, upstream: Option<&Tree>, out: &mut Vec<Tree>) -> Result<(), super::Failure> {
    const NOTHING: &Tree = &Tree::NULL;
    let config = upstream.map_or(NOTHING, |upstream| upstream.get("Config"));
    let read = UpstreamConfig::of(config).map_err(|why| super::Failure::new(format!("upstream {}: {why}", id.name), config.origin))?;
    let escape = super::escape::cluster_name(&read.cluster, chain);
    let mode = upstream.map(|upstream| upstream.at(&["MeshGateway", "Mode"]).str()).unwrap_or_default();
    for node in chain.nodes.values() {
        let NodeKind::Resolver(resolver) = &node.kind else { continue };
        for (name, target) in super::clusters::targets(chain, resolver, false) {
            let name = escape.clone().unwrap_or(name);
            if !target.peer.is_empty() {
                let id = UpstreamId::of_target(target);
                out.extend(of_peer(cx, &name, &id, &mode));
                continue;
            }
            out.extend(of_target(cx, target, &name));
        }
    }
    Ok(())
}

fn of_target(cx: &Context<'_>, target: &Target, cluster: &str) -> Option<Tree> {
    let local = &cx.instance.node.datacenter;
    if !cx.mail.reaches(target, local) {
        return None;
    }
    let own = cx.mail.of_target(target, local);
    let gateways = match target.mesh_gateway.as_str() {
        "remote" => &target.datacenter,
        "local" => local,
        _ => "",
    };
    if gateways.is_empty() || target.datacenter == *local {
        let group = Group { instances: own, only_passing: target.only_passing, healthy: None };
        return Some(assignment(cluster, &group, local));
    }
    let healthy = own.iter().any(|instance| instance.health_and_weight(target.only_passing).0);
    let instances = cx.mail.instances(&Watch::MeshGateways(Str::new(gateways)));
    Some(assignment(cluster, &Group { instances, only_passing: false, healthy: Some(healthy) }, local))
}

pub(super) fn ingress(cx: &Context<'_>, upstreams: &[(UpstreamId, Tree)]) -> Outcome {
    let mut out = Vec::new();
    for (id, upstream) in upstreams {
        if let Some(chain) = cx.chain(id) {
            of_chain(cx, id, chain, Some(upstream), &mut out)?;
        }
    }
    Ok(out)
}

/// The instances that an expression chooses.
pub(super) fn chosen(instances: &[Arc<Instance>], filter: &Tree) -> Vec<Arc<Instance>> {
    match bexpr::Expression::parse(filter.text()) {
        Ok(filter) => instances.iter().filter(|instance| filter.chooses(instance)).cloned().collect(),
        Err(_) => Vec::new(),
    }
}

/// The clusters of a service: the whole, and each subset.
fn of_service(cx: &Context<'_>, service: &str, instances: &[Arc<Instance>], resolver: &Tree, out: &mut Vec<Tree>) {
    let local = &cx.instance.node.datacenter;
    let mut groups: BTreeMap<Str, (Vec<Arc<Instance>>, bool)> = BTreeMap::from([(Str::default(), (instances.to_vec(), false))]);
    for (name, subset) in resolver.get("Subsets").fields() {
        let group = (chosen(instances, subset.get("Filter")), subset.get("OnlyPassing").bool());
        if resolver.get("DefaultSubset").is(name) {
            groups.insert(Str::default(), group.clone());
        }
        groups.insert(name.clone(), group);
    }
    for (subset, (instances, only_passing)) in groups {
        let cluster = names::service_sni(service, &subset, local, TRUST_DOMAIN);
        out.push(assignment(&cluster, &Group { instances: &instances, only_passing, healthy: None }, local));
    }
}

pub(super) fn terminating(cx: &Context<'_>, gateway: &TerminatingGateway) -> Outcome {
    let mut out = Vec::new();
    for (name, _) in gateway.services(cx.mail) {
        let instances = gateway.instances(cx.mail, &name);
        if instances.is_empty() || !gateway.by_name(cx.mail, &name).is_empty() {
            continue;
        }
        of_service(cx, &name, instances, cx.mail.entry(Kind::ServiceResolver, &name), &mut out);
    }
    Ok(out)
}

pub(super) fn mesh(cx: &Context<'_>, gateway: &MeshGateway) -> Outcome {
    let local = &gateway.datacenter;
    let mut out = Vec::new();
    for (name, instances) in gateway.remote(cx.mail) {
        if !super::clusters::by_name(instances).is_empty() {
            continue;
        }
        out.push(assignment(&names::gateway_sni(&name, TRUST_DOMAIN), &Group::all(instances), local));
        if gateway.federates {
            out.push(assignment(&names::server_sni(None, &name), &Group::all(instances), local));
        }
    }
    if gateway.federates {
        let server = message! {
            "endpoint": message! { "address": address(registration::LOCAL, 8300_i64) },
        };
        for node in [Some(registration::NODE), None] {
            let locality = message! { "lb_endpoints": one(server.clone()) };
            out.push(message! { "cluster_name": names::server_sni(node, local), "endpoints": one(locality) });
        }
    }
    let groups = gateway.groups(cx.mail);
    for (name, instances) in &groups {
        of_service(cx, name, instances, gateway.resolver(cx.mail, name), &mut out);
    }
    exported(cx, gateway, &groups, &mut out);
    for (instances, named) in gateway.imported(cx.mail) {
        if let (false, Some(sni)) = (named, sni_of(&instances)) {
            out.push(assignment(&sni, &Group::all(&instances), ""));
        }
    }
    Ok(out)
}

/// The name by which an imported service is asked for.
pub(super) fn sni_of(instances: &[Arc<Instance>]) -> Option<Str> {
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
            let instances = if target.subset.is_empty() { instances.to_vec() } else { chosen(instances, target.definition.get("Filter")) };
            let cluster = cluster_name(exported.chain, target, true);
            if !seen.contains(&cluster) {
                let group = Group { instances: &instances, only_passing: target.only_passing, healthy: None };
                out.push(assignment(&cluster, &group, &gateway.datacenter));
                seen.push(cluster);
            }
        }
    }
}
