//! Endpoints: the instances behind clusters.

use super::config::UpstreamConfig;
use super::escape;
use super::name::targets;
use super::proto::{address, empty, list, message, one};
use crate::bexpr;
use crate::chain::{Chain, NodeKind, Target};
use crate::go;
use crate::instance::Instance;
use crate::names::{self, TRUST_DOMAIN, UpstreamId};
use crate::proxycfg::{Health, Watch};
use crate::xds::context::{Context, Failure, Outcome};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// Instances that are reached by host name, from elsewhere.
pub(crate) fn by_name(instances: &[Arc<Instance>]) -> Vec<Arc<Instance>> {
    instances.iter().filter(|instance| go::ip(&instance.best_address(true).0).is_none()).cloned().collect()
}

/// Endpoints of one priority.
pub(crate) struct Group<'a> {
    pub(crate) instances: &'a [Arc<Instance>],
    pub(crate) only_passing: Sourced<bool>,
    /// Overrides the health of the instances, if set.
    pub(crate) healthy: Option<Sourced<bool>>,
}

impl<'a> Group<'a> {
    pub(crate) fn all(instances: &'a [Arc<Instance>]) -> Self {
        Self { instances, only_passing: Sourced::default(), healthy: None }
    }
}

/// An endpoint with its health and weight.
pub(crate) fn weighed(instance: &Instance, wan: bool, only_passing: Sourced<bool>, forced: Option<Sourced<bool>>) -> Tree {
    let (host, port) = instance.best_address(wan);
    let (healthy, weight) = instance.health_and_weight(only_passing);
    let healthy = forced.unwrap_or(healthy);
    let (at, (host_at, port_at)) = (instance.tree.origin, instance.origins_of_address(wan));
    message! {
        "endpoint": message! { "address": address(Tree::from(host).or_from(host_at), Tree::from(port).or_from(port_at)) },
        "health_status": Tree::from(if *healthy { "HEALTHY" } else { "UNHEALTHY" }).or_from(healthy.origin),
        "load_balancing_weight": weight,
    }
    .or_from(at)
}

/// The endpoints of a cluster. `local` is the datacenter whose instances are reached by their own addresses.
pub(crate) fn assignment(cluster: impl Into<Tree>, group: &Group<'_>, local: &str) -> Tree {
    let endpoints = group.instances.iter().map(|instance| {
        let wan = local.is_empty() || instance.node.datacenter != local || !instance.node.peer.is_empty();
        weighed(instance, wan, group.only_passing, group.healthy)
    });
    let mut locality = empty();
    locality.set("lb_endpoints", list(endpoints.collect()));
    message! { "cluster_name": cluster.into(), "endpoints": one(locality) }
}

/// The gateways of a peer, or those of the own datacenter.
pub(crate) fn of_peer(cx: &Context<'_>, cluster: &str, id: &UpstreamId, mode: &str) -> Option<Tree> {
    let datacenter = &cx.instance.node.datacenter;
    if mode == "local" {
        let gateways = cx.mail.instances(&Watch::MeshGateways(datacenter.clone()));
        return Some(assignment(cluster, &Group::all(gateways), datacenter));
    }
    let instances = cx.mail.instances(&Watch::Health(Health::of_peer(id, datacenter)));
    let named = by_name(instances);
    named.is_empty().then(|| assignment(cluster, &Group::all(instances), ""))
}

/// The endpoints of the clusters of a chain.
pub(crate) fn of_chain(cx: &Context<'_>, id: &UpstreamId, chain: &Chain, upstream: Option<&Tree>, out: &mut Vec<Tree>) -> Result<(), Failure> {
    const NOTHING: &Tree = &Tree::NULL;
    let config = upstream.map_or(NOTHING, |upstream| upstream.get("Config"));
    let read = UpstreamConfig::of(config);
    if let Some(fault) = read.fault {
        return Err(Failure::new(format!("upstream {}: {}", id.name, fault.message), fault.origin.or(config.origin)));
    }
    let escape = escape::cluster_name(&read.cluster, chain);
    let mode = upstream.map(|upstream| upstream.at(&["MeshGateway", "Mode"]).str()).unwrap_or_default();
    // Overrides of a proxy are part of the name.
    let overrides = upstream.filter(|_| !chain.hash.is_empty()).and_then(|upstream| upstream.origin).map(Origin::whole);
    for node in chain.nodes.values() {
        let NodeKind::Resolver(resolver) = &node.kind else { continue };
        for (name, target) in targets(chain, resolver, false) {
            let name = escape.clone().unwrap_or(name);
            if !target.peer.is_empty() {
                let id = target.upstream();
                out.extend(of_peer(cx, &name, &id, &mode));
                continue;
            }
            out.extend(of_target(cx, target, Tree::from(name).or_from(overrides)));
        }
    }
    Ok(())
}

fn of_target(cx: &Context<'_>, target: &Target, cluster: Tree) -> Option<Tree> {
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
    let mut all = own.iter().map(|instance| instance.health_and_weight(target.only_passing).0);
    let healthy = all.clone().find(|healthy| **healthy).or(all.next()).unwrap_or_default();
    let instances = cx.mail.instances(&Watch::MeshGateways(Str::new(gateways)));
    Some(assignment(cluster, &Group { instances, only_passing: Sourced::default(), healthy: Some(healthy) }, local))
}

/// The endpoints of the chains of a gateway's upstreams.
pub(crate) fn of_upstreams(cx: &Context<'_>, upstreams: &[(UpstreamId, Tree)]) -> Outcome {
    let mut out = Vec::new();
    for (id, upstream) in upstreams {
        if let Some(chain) = cx.chain(id) {
            of_chain(cx, id, chain, Some(upstream), &mut out)?;
        }
    }
    Ok(out)
}

/// The instances that an expression selects.
pub(crate) fn chosen(instances: &[Arc<Instance>], filter: &Tree) -> Vec<Arc<Instance>> {
    match bexpr::Expression::parse(filter.text()) {
        Ok(filter) => instances.iter().filter(|instance| filter.chooses(instance)).cloned().collect(),
        Err(_) => Vec::new(),
    }
}

/// The clusters of a service: the whole, and each subset.
pub(crate) fn of_service(cx: &Context<'_>, service: &str, instances: &[Arc<Instance>], resolver: &Tree, out: &mut Vec<Tree>) {
    let local = &cx.instance.node.datacenter;
    let mut groups: BTreeMap<Str, (Vec<Arc<Instance>>, Sourced<bool>)> = BTreeMap::from([(Str::default(), (instances.to_vec(), Sourced::default()))]);
    for (name, subset) in resolver.get("Subsets").fields() {
        let group = (chosen(instances, subset.get("Filter")), subset.get("OnlyPassing").flag());
        if resolver.get("DefaultSubset").is(name) {
            groups.insert(Str::default(), group.clone());
        }
        groups.insert(name.clone(), group);
    }
    for (subset, (instances, only_passing)) in groups {
        let cluster = names::service_sni(service, &subset, local, TRUST_DOMAIN);
        out.push(assignment(cluster, &Group { instances: &instances, only_passing, healthy: None }, local));
    }
}
