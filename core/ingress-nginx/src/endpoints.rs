//! Finds the endpoints and ports of a Service.
//!
//! ingress-nginx `internal/ingress/controller/endpointslices.go`. Does not choose the Service or the port; see `build::upstreams`.

use super::cluster::{AdmittedObject, Cluster};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::nginx::Endpoint;
use chancery_base::resource::{Origin, Sourced};
use chancery_kubernetes::service::{self, Port};
use chancery_text::{Node, Str};
use core::net::IpAddr;
use hashbrown::HashSet;

/// Returns the string of a field of `spec`, or an empty string.
pub fn spec_text<'n>(service: &'n AdmittedObject<'_>, field: &str) -> &'n str {
    service.root.at(&["spec", field]).and_then(Node::as_str).unwrap_or_default()
}

/// Returns the endpoints of a Service at one of its ports, without unready endpoints.
pub fn endpoints_of_port(cluster: &Cluster<'_>, service: &AdmittedObject<'_>, port: &Port, protocol: &str) -> Vec<Endpoint> {
    if spec_text(service, "type") == "ExternalName" {
        return external_endpoint(service, port).into_iter().collect();
    }
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for slice in cluster.slices(service.namespace(), service.name()) {
        let ports = ports_of(slice, port, protocol);
        let root = slice.root();
        for endpoint in root.field("endpoints").items() {
            if endpoint.at("conditions.ready").some_bool() == Some(false) {
                continue;
            }
            for number in &ports {
                for address in endpoint.field("addresses").texts() {
                    let found = Endpoint { address, port: Str::from(format!("{number}")) };
                    if seen.insert(found.target()) {
                        all.push(found);
                    }
                }
            }
        }
    }
    all
}

/// Returns the port numbers in a slice for a port of the Service.
fn ports_of(slice: &AdmittedObject<'_>, port: &Port, protocol: &str) -> Vec<i64> {
    let target = port.target.parse::<i64>().ok();
    let written = slice.root().field("ports");
    if written.is_empty() {
        return target.into_iter().collect();
    }
    let mut numbers = Vec::new();
    for of in written.items() {
        let its = of.field("protocol").str();
        if if its.is_empty() { "TCP" } else { its } != protocol {
            continue;
        }
        let number = of.field("port").int().unwrap_or_default();
        let has_name = port.name.as_ref().is_none_or(|name| name == of.field("name").str());
        let number = if has_name && number != 0 { Some(number) } else { target.filter(|target| *target != 0) };
        numbers.extend(number);
    }
    numbers
}

/// Returns the endpoint of an ExternalName Service.
fn external_endpoint(service: &AdmittedObject<'_>, port: &Port) -> Option<Endpoint> {
    let at = service.root().at("spec.externalName");
    let name = at.str();
    let address = name.parse::<IpAddr>().ok();
    if name == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return None;
    }
    if address.is_none() && !super::annotations::forms::is_dns_name(name.strip_suffix('.').unwrap_or(name)) {
        return None;
    }
    let number = port.target.parse::<i64>().unwrap_or_default();
    Some(Endpoint { address: Sourced::new(Str::new(name), at.origin()), port: Str::from(format!("{number}")) })
}

/// Returns the `clusterIP` of a Service, if it has one.
pub fn cluster_address(service: &AdmittedObject<'_>) -> Option<Sourced<Str>> {
    let at = service.root().at("spec.clusterIP");
    let address = at.str();
    (!address.is_empty() && address != "None").then(|| Sourced::new(Str::new(address), at.origin()))
}

pub fn ports(service: &AdmittedObject<'_>) -> Vec<Port> {
    service::ports(&service.root)
}

/// Returns the port of an ExternalName Service, by number or name. The Service need not list the number. An unknown name gives port 0.
pub fn external_port(service: &AdmittedObject<'_>, wanted: &str) -> Port {
    let number = wanted.parse::<u16>().ok();
    let ports = ports(service);
    let named = if number.is_none() { ports.iter().find(|port| port.name.as_deref() == Some(wanted)) } else { None };
    if let Some(port) = named {
        let target = port.target.parse::<u16>().unwrap_or(port.port);
        return Port { name: None, target: Str::from(format!("{target}")), ..port.clone() };
    }
    let number = number.unwrap_or_default();
    match ports.iter().find(|port| port.port == number) {
        Some(port) => Port { name: None, ..port.clone() },
        None => {
            let node = service.root().origin().node();
            Port { port: number, name: None, target: Str::from(format!("{number}")), node, number_node: node }
        }
    }
}

pub fn origin_of(service: &AdmittedObject<'_>) -> Origin {
    service.root().origin()
}
