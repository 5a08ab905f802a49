//! Endpoints and EndpointSlices as one: which addresses stand behind which ports.
//!
//! In a cluster the same facts stand in both; where both are supplied, Endpoints win. Source of behaviour: `k8s.io/api/core/v1` (Endpoints)
//! and `k8s.io/api/discovery/v1` (EndpointSlice).

use alloc::vec::Vec;
use chancery_base::resource::{Object, Origin};
use chancery_text::{Node, Str};

/// The kinds that say so: of each the other counts as well.
pub const KINDS: &[(&str, &str)] = &[("", "Endpoints"), ("discovery.k8s.io", "EndpointSlice")];

/// Addresses that share their ports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subset {
    /// IP addresses that are ready, with their places.
    pub addresses: Vec<(Str, Origin)>,
    /// Ports.
    pub ports: Vec<EndpointPort>,
}

/// A port of a subset.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointPort {
    /// Its name, empty where it has none.
    pub name: Str,
    /// Its number.
    pub port: u16,
    /// `TCP` unless written otherwise.
    pub protocol: Str,
}

/// The subsets of an Endpoints object.
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

/// The Service that an EndpointSlice belongs to, and what it adds to it. Addresses that are not ready are left out.
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

/// The Service, by namespace and name, that an object gives endpoints to.
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
