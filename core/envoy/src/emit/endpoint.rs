//! Emits `ClusterLoadAssignment`: the endpoints of a cluster.

use super::base::{endpoint_address, text};
use super::pb;
use alloc::vec::Vec;
use chancery_base::ir::{Endpoint, Locality};
use chancery_base::output_map::Trace;
use chancery_base::resource::Sourced;
use chancery_text::Str;
use pb::endpoint::{LbEndpoint, LocalityLbEndpoints, endpoint::HealthCheckConfig, lb_endpoint::HostIdentifier};

pub(super) fn load_assignment(name: &Str, localities: &[Locality], t: &mut Trace) -> pb::endpoint::ClusterLoadAssignment {
    let endpoints = t.list("endpoints", localities, |of, t| locality(of.weight.as_ref(), &of.endpoints, t));
    pb::endpoint::ClusterLoadAssignment { cluster_name: text(name), endpoints, ..Default::default() }
}

/// Endpoints of a single locality.
pub(super) fn load_assignment_of(name: &Str, endpoints: &[Sourced<Endpoint>], t: &mut Trace) -> pb::endpoint::ClusterLoadAssignment {
    let one = t.at("endpoints", |t| t.item(0, |t| locality(None, endpoints, t)));
    pb::endpoint::ClusterLoadAssignment {
        cluster_name: text(name),
        endpoints: if endpoints.is_empty() { Vec::new() } else { [one].into() },
        ..Default::default()
    }
}

fn locality(weight: Option<&Sourced<u32>>, endpoints: &[Sourced<Endpoint>], t: &mut Trace) -> LocalityLbEndpoints {
    LocalityLbEndpoints {
        lb_endpoints: t.sourced_list("lb_endpoints", endpoints, lb_endpoint),
        load_balancing_weight: weight.map(|weight| *t.field("load_balancing_weight", weight)),
        ..Default::default()
    }
}

fn lb_endpoint(endpoint: &Endpoint, t: &mut Trace) -> LbEndpoint {
    if !endpoint.port_origins.0.is_empty() {
        let port = |t: &mut Trace| t.name_all("port_value", None, &endpoint.port_origins);
        t.at("endpoint", |t| t.at("address", |t| t.at("socket_address", port)));
    }
    LbEndpoint {
        host_identifier: Some(HostIdentifier::Endpoint(pb::endpoint::Endpoint {
            address: Some(endpoint_address(&endpoint.address)),
            health_check_config: endpoint.health_check_port.map(|port| HealthCheckConfig { port_value: port.into(), ..Default::default() }),
            ..Default::default()
        })),
        ..Default::default()
    }
}
