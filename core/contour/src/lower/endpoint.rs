//! Lowers endpoints of clusters from EndpointSlices (Contour `internal/xdscache/v3/endpointslicetranslator.go`).

use super::Lowering;
use crate::kinds::Kind;
use crate::model::{ExtensionCluster, Service};
use crate::source::Source;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::{Endpoint, Locality};
use chancery_base::resource::{Also, ObjectId, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;
use core::net::IpAddr;

/// The EndpointSlices.
pub(super) struct Slices<'a> {
    /// By the namespace and name of their Service, each in the order of their names.
    of_services: BTreeMap<(Str, Str), Vec<Cursor<'a>>>,
    /// The assumed objects.
    assumed: BTreeSet<ObjectId>,
}

impl<'a> Slices<'a> {
    fn new(source: &Source<'a>) -> Self {
        let (mut of_services, mut assumed): (BTreeMap<(Str, Str), Vec<Cursor<'a>>>, _) = (BTreeMap::new(), BTreeSet::new());
        for slice in source.all(Kind::EndpointSlice) {
            let service = slice.metadata().field("labels").field("kubernetes.io/service-name");
            of_services.entry((slice.namespace().clone(), Str::new(service.str()))).or_default().push(slice.root());
            if slice.object.assumed {
                assumed.insert(slice.object.id);
            }
        }
        Self { of_services, assumed }
    }
}

impl<'a> Lowering<'a> {
    /// The EndpointSlices; only newly lowered clusters need them.
    fn slices(&self) -> &Slices<'a> {
        self.slices.get_or_init(|| Slices::new(self.source))
    }

    /// A Service without endpoints has no locality.
    pub(super) fn endpoints_of_service(&mut self, service: &Service) -> Vec<Locality> {
        // A cluster has one Service, which receives the whole load without a weight.
        let weight = if service.weight.value == 0 { service.weight.map(|_| 1) } else { service.weight };
        self.locality(service, weight).into_iter().collect()
    }

    /// A locality for each Service with endpoints. If no Service has a weight, all have the same.
    pub(super) fn endpoints_of_extension(&mut self, of: &ExtensionCluster) -> Vec<Locality> {
        let unweighted = of.services.iter().all(|(_, weight)| weight.value == 0);
        let mut out = Vec::new();
        for (service, weight) in &of.services {
            out.extend(self.locality(service, if unweighted { weight.map(|_| 1) } else { *weight }));
        }
        out
    }

    /// Whether there are endpoints and all are written: assumed ones replace endpoints that Contour knows.
    pub(super) fn are_written(&self, localities: &[Locality]) -> bool {
        let mut endpoints = localities.iter().flat_map(|locality| &locality.endpoints).peekable();
        let is_written = |endpoint: &Sourced<Endpoint>| endpoint.origin.is_some_and(|origin| !self.slices().assumed.contains(&origin.object()));
        endpoints.peek().is_some() && endpoints.all(is_written)
    }

    fn locality(&mut self, service: &Service, weight: Sourced<u32>) -> Option<Locality> {
        let endpoints = self.endpoints(service);
        (!endpoints.is_empty()).then(|| Locality { weight: Some(weight).filter(|weight| weight.value > 0), endpoints })
    }

    fn endpoints(&mut self, service: &Service) -> Vec<Sourced<Endpoint>> {
        let mut found: Vec<Sourced<Endpoint>> = Vec::new();
        let mut known: BTreeSet<(Str, u16)> = BTreeSet::new();
        let mut health_check_port = None;
        let slices = self.slices().of_services.get(&(service.namespace.clone(), service.name.clone())).cloned().unwrap_or_default();
        for slice in slices {
            let mut endpoints: Vec<Cursor<'_>> = slice.field("endpoints").items().collect();
            endpoints.sort_by_key(|endpoint| first_address(*endpoint).str());
            for endpoint in endpoints {
                if endpoint.field("conditions").field("ready").some_bool() == Some(false) {
                    continue;
                }
                let at = first_address(endpoint);
                for port in slice.field("ports").items() {
                    let Some(number) = port.field("port").int().and_then(|number| u16::try_from(number).ok()) else { continue };
                    if port.field("protocol").some_str().unwrap_or("TCP") != "TCP" {
                        continue;
                    }
                    let name = port.field("name").some_str();
                    let (wanted, health) = (service.port.name.as_str(), service.health_port.name.as_str());
                    if name.is_some_and(|name| !health.is_empty() && name == health && wanted != health) {
                        health_check_port = Some(number).filter(|number| *number > 0);
                    }
                    if !wanted.is_empty() && name.is_some_and(|name| name != wanted) {
                        continue;
                    }
                    let address = Str::new(at.str());
                    if address.parse::<IpAddr>().is_err() {
                        let message = format!("an endpoint of Service {}/{} must be an IP address, not `{address}`", service.namespace, service.name);
                        self.refuse(message, at.origin());
                        continue;
                    }
                    if known.insert((address.clone(), number)) {
                        let port_origins = Also(Vec::from([port.field("port").origin()]));
                        found.push(Sourced::new(Endpoint { port_origins, ..Endpoint::new(address, number) }, at.origin()));
                    }
                }
            }
        }
        for endpoint in &mut found {
            endpoint.value.health_check_port = health_check_port;
        }
        found
    }
}

/// Kubernetes treats the addresses of one endpoint as equivalent.
fn first_address(endpoint: Cursor<'_>) -> Cursor<'_> {
    endpoint.field("addresses").items().next().unwrap_or_else(Cursor::nothing)
}
