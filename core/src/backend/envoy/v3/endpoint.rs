//! `ClusterLoadAssignment`: the endpoints of a cluster.

use super::base::{plain_address, text};
use super::pb;
use crate::backend::output_map::Trace;
use crate::ir::{Endpoint, SocketProtocol};
use crate::resource::Sourced;
use crate::text::Str;
use alloc::vec::Vec;
use pb::endpoint::{LbEndpoint, LocalityLbEndpoints, lb_endpoint::HostIdentifier};

pub(super) fn load_assignment(name: &Str, endpoints: &[Sourced<Endpoint>], t: &mut Trace) -> pb::endpoint::ClusterLoadAssignment {
    let localities = t.at("endpoints", |t| {
        t.item(0, |t| LocalityLbEndpoints {
            lb_endpoints: t.sourced_list("lb_endpoints", endpoints, |endpoint, _| lb_endpoint(endpoint)),
            ..Default::default()
        })
    });
    pb::endpoint::ClusterLoadAssignment {
        cluster_name: text(name),
        endpoints: if endpoints.is_empty() { Vec::new() } else { [localities].into() },
        ..Default::default()
    }
}

fn lb_endpoint(endpoint: &Endpoint) -> LbEndpoint {
    LbEndpoint {
        host_identifier: Some(HostIdentifier::Endpoint(pb::endpoint::Endpoint {
            address: Some(plain_address(&endpoint.address, endpoint.port, SocketProtocol::Tcp)),
            ..Default::default()
        })),
        ..Default::default()
    }
}
