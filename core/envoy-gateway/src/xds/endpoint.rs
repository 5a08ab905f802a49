//! Writes the endpoints of clusters, by zone and weight. Does not find them; see `translate`.

use super::health::endpoint_config;
use super::metadata::write_metadata;
use super::proto::{address, derived, list, message};
use crate::model::{ClusterTraffic, DestinationSetting};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// The endpoints of a cluster.
pub(crate) fn load_assignment(name: &str, settings: &[&DestinationSetting], traffic: &ClusterTraffic) -> Tree {
    let zones = traffic.load_balancer.at(&["zoneAware", "weightedZones"]).items();
    let prefers_local = !traffic.load_balancer.at(&["zoneAware", "preferLocal"]).is_null();
    let mut localities = Vec::new();
    for (at, setting) in settings.iter().enumerate() {
        let metadata = match &setting.tls {
            Some(tls) => {
                let name = message! { "name": format!("{name}/tls/{at}") };
                message! { "filter_metadata": message! { "envoy.transport_socket_match": name } }.or_from(tls.origin)
            }
            None => Tree::NULL,
        };
        let endpoints = |metadata: &Tree| -> Vec<(Str, Tree)> { setting.endpoints.iter().map(|of| lb_endpoint(of, metadata, traffic)).collect() };
        if !zones.is_empty() || prefers_local || !setting.prefer_local.is_null() {
            localities.extend(zonal(setting, endpoints(&metadata), zones));
        } else {
            localities.push(weighted(setting, endpoints(&metadata)));
        }
    }
    message! { "cluster_name": name, "endpoints": list(localities) }
}

fn lb_endpoint(of: &crate::model::Endpoint, metadata: &Tree, traffic: &ClusterTraffic) -> (Str, Tree) {
    let endpoint = message! {
        "hostname": super::proto::copied(&of.hostname),
        "address": endpoint_address(of),
        "health_check_config": endpoint_config(&traffic.health_check, &of.hostname),
    };
    let whole = message! {
        "metadata": metadata.clone(),
        "endpoint": endpoint,
        "load_balancing_weight": 1_i64,
        "health_status": if of.draining { "DRAINING".into() } else { Tree::NULL },
    };
    (of.zone.str(), whole.or_from(of.origin))
}

/// The address of an endpoint.
fn endpoint_address(of: &crate::model::Endpoint) -> Tree {
    if of.path.is_null() {
        let port = of.port_reference.map_or(Plain::Int(of.port.value), |by| Plain::Selected(Sourced::new(of.port.value, by)));
        return address(of.host.clone(), Tree { value: port, origin: of.port.origin });
    }
    message! { "pipe": message! { "path": of.path.clone() } }
}

fn priority(of: &DestinationSetting) -> Tree {
    of.priority.into()
}

fn weighted(of: &DestinationSetting, endpoints: Vec<(Str, Tree)>) -> Tree {
    message! {
        "locality": message! { "region": &of.name },
        "lb_endpoints": list(endpoints.into_iter().map(|(_, endpoint)| endpoint).collect()),
        "load_balancing_weight": of.weight.map_or_else(|| 1_i64.into(), Tree::from),
        "priority": priority(of),
        "metadata": write_metadata(of.metadata.as_ref()),
    }
    .or_from(of.origin)
}

fn zonal(of: &DestinationSetting, endpoints: Vec<(Str, Tree)>, weights: &[Tree]) -> Vec<Tree> {
    let mut zones: BTreeMap<Str, Vec<Tree>> = BTreeMap::new();
    for (zone, endpoint) in endpoints {
        zones.entry(zone).or_default().push(endpoint);
    }
    let locality = |(zone, endpoints): (Str, Vec<Tree>)| {
        let known = weights.iter().rfind(|weight| weight.get("zone").is(&zone));
        let weight = match known {
            Some(known) => derived(known.get("weight").int(), known.get("weight")),
            None if weights.is_empty() => Tree::NULL,
            None => 1_i64.into(),
        };
        message! {
            "locality": message! { "zone": &zone },
            "lb_endpoints": list(endpoints),
            "load_balancing_weight": weight,
            "priority": priority(of),
            "metadata": write_metadata(of.metadata.as_ref()),
        }
        .or_from(of.origin)
    };
    zones.into_iter().map(locality).collect()
}
