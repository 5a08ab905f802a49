//! Reads Endpoints and EndpointSlices in one form: addresses with their ports.
//!
//! A cluster has the same facts in both; if the input has both, Endpoints win. Source of behaviour: `k8s.io/api/core/v1` (Endpoints) and
//! `k8s.io/api/discovery/v1` (EndpointSlice).

use alloc::vec::Vec;
use chancery_base::resource::{Object, Origin};
use chancery_text::{Node, Str};

/// The kinds of endpoints; each can replace the other.
pub const KINDS: &[(&str, &str)] = &[("", "Endpoints"), ("discovery.k8s.io", "EndpointSlice")];

/// Addresses that share their ports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subset {
    /// Ready IP addresses with their origins.
    pub addresses: Vec<(Str, Origin)>,
    pub ports: Vec<EndpointPort>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EndpointPort {
    /// Empty if it has no name.
    pub name: Str,
    pub port: u16,
    /// Defaults to `TCP`.
    pub protocol: Str,
}

pub fn of_endpoints(object: &Object) -> Vec<Subset> {
    let subsets = object.root.get("subsets").and_then(Node::as_array).map_or(&[][..], Vec::as_slice);
    let subset = |node: &Node| {
        let address = |node: &Node| {
            let ip = node.get("ip")?;
            Some((Str::new(ip.as_str().filter(|ip| !ip.is_empty())?), Origin::field(object.id, ip.id)))
        };
        Subset { addresses: items(node, "addresses").iter().filter_map(address).collect(), ports: ports(node) }
    };
    subsets.iter().map(subset).collect()
}

/// The Service of an EndpointSlice, and the endpoints that the slice adds. Addresses that are not ready are omitted.
pub fn of_slice(object: &Object) -> Option<(Str, Subset)> {
    let service = slice_service(object)?;
    let mut subset = Subset { addresses: Vec::new(), ports: ports(&object.root) };
    for endpoint in items(&object.root, "endpoints") {
        let ready = endpoint.at(&["conditions", "ready"]).and_then(Node::as_bool).unwrap_or(true);
        for address in items(endpoint, "addresses").iter().filter(|_| ready) {
            let Some(ip) = address.as_str() else { continue };
            subset.addresses.push((Str::new(ip), Origin::field(object.id, address.id)));
        }
    }
    Some((Str::new(service), subset))
}

/// The namespace and name of the Service whose endpoints an object contains.
pub fn service_of(object: &Object) -> Option<(Option<&str>, &str)> {
    let name = match (object.key.group.as_str(), object.key.kind.as_str()) {
        ("", "Endpoints") => &*object.key.name,
        ("discovery.k8s.io", "EndpointSlice") => slice_service(object)?,
        _ => return None,
    };
    Some((object.key.namespace.as_deref(), name))
}

fn slice_service(object: &Object) -> Option<&str> {
    object.root.at(&["metadata", "labels", "kubernetes.io/service-name"])?.as_str()
}

fn items<'a>(holder: &'a Node, key: &str) -> &'a [Node] {
    holder.get(key).and_then(Node::as_array).map_or(&[], Vec::as_slice)
}

fn ports(holder: &Node) -> Vec<EndpointPort> {
    let port = |node: &Node| {
        let text = |key: &str| node.get(key).and_then(Node::as_str).filter(|text| !text.is_empty()).map(Str::new);
        Some(EndpointPort {
            name: text("name").unwrap_or_default(),
            port: u16::try_from(node.get("port")?.as_i64()?).ok()?,
            protocol: text("protocol").unwrap_or(Str::new_static("TCP")),
        })
    };
    items(holder, "ports").iter().filter_map(port).collect()
}
