//! Derives the connection that a gateway opens to an upstream, as the next gateway receives it. Does not find the next gateway; see
//! `explain::gateway_chain`.

use super::simulation::{ClusterShare, Outcome, Simulation};
use super::{Gateway, Request, is_unhealthy};
use crate::emit::pb;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use pb::cluster::Cluster;

/// The next target of a request, and the request as it arrives there.
#[derive(Clone, Debug, PartialEq)]
pub struct NextHop {
    pub(crate) cluster: String,
    /// The share of requests that go there, in percent.
    pub percent: f64,
    /// The address of the endpoint.
    pub address: IpAddr,
    /// The request as the endpoint receives it.
    pub request: Request,
}

impl<'a> Gateway<'a> {
    /// Returns the connection to the first endpoint of each cluster, the largest share first. `identity` is the name in the proxy's certificate.
    pub fn next_hops(&self, request: &Request, of: &Simulation, identity: Option<&str>) -> Vec<NextHop> {
        if of.outcome != Outcome::Forward {
            return Vec::new();
        }
        let mut shares: Vec<&ClusterShare> = of.clusters.iter().filter(|share| share.weight > 0 || of.clusters.len() == 1).collect();
        shares.sort_by_key(|share| core::cmp::Reverse(share.weight));
        shares.into_iter().filter_map(|share| self.next_hop(request, of, share, identity)).collect()
    }

    fn next_hop(&self, request: &Request, of: &Simulation, share: &ClusterShare, identity: Option<&str>) -> Option<NextHop> {
        let mut members = self.members(&share.name).into_iter();
        let (cluster, (address, port)) = members.find_map(|of| Some((of, self.first_endpoint(of)?)))?;
        let mut next = forwarded(request, of);
        next.port = Some(port);
        next.url_port = None;
        next.destination = Some(address);
        if let Some(tls) = tls_of(cluster) {
            next.tls = true;
            next.sni = Some(tls.sni.clone()).filter(|name| !name.is_empty());
            next.alpn = tls.common_tls_context.as_ref().map(|common| common.alpn_protocols.clone()).unwrap_or_default();
            next.client_certificate = identity.is_some();
            next.identity = identity.map(ToOwned::to_owned);
        } else if of.upstream.is_some() {
            (next.tls, next.sni, next.alpn, next.client_certificate, next.identity) = (false, None, Vec::new(), false, None);
        }
        Some(NextHop { cluster: cluster.name.clone(), percent: share.percent, address, request: next })
    }

    /// The first endpoint that is not known to be unhealthy.
    fn first_endpoint(&self, of: &'a Cluster) -> Option<(IpAddr, u32)> {
        use pb::base::{address::Address, socket_address::PortSpecifier};
        use pb::endpoint::lb_endpoint::HostIdentifier;
        self.hosts(of).filter(|host| !is_unhealthy(host)).find_map(|host| {
            let Some(HostIdentifier::Endpoint(endpoint)) = &host.host_identifier else { return None };
            let Some(Address::SocketAddress(socket)) = &endpoint.address.as_ref()?.address else { return None };
            match socket.port_specifier {
                Some(PortSpecifier::PortValue(port)) => Some((socket.address.parse().ok()?, port)),
                _ => None,
            }
        })
    }
}

/// Returns the request as the gateway sends it: rewritten if the gateway reads HTTP, else unchanged.
fn forwarded(request: &Request, of: &Simulation) -> Request {
    let mut next = request.clone();
    let Some(upstream) = &of.upstream else { return next };
    next.method.clone_from(&upstream.method);
    next.authority.clone_from(&upstream.authority);
    next.path.clone_from(&upstream.path);
    upstream.headers_removed.iter().for_each(|name| {
        next.headers.remove(name);
    });
    for change in &upstream.headers_added {
        let Some(value) = &change.value else { continue };
        if change.action == "set" { next.headers.set(&change.name.to_ascii_lowercase(), value) } else { next.headers.add(&change.name, value) }
    }
    next
}

fn tls_of(of: &Cluster) -> Option<&pb::tls::UpstreamTlsContext> {
    match of.transport_socket.as_ref()?.config_type.as_ref()? {
        pb::base::transport_socket::ConfigType::TypedConfig(config) => config.downcast_ref(),
    }
}
