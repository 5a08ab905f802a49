//! What fields ask of Gateways and GatewayClasses, and the objects that would do.
//!
//! What must not be here: whether anything is assumed.

use crate::dialect::kubernetes::status::{list, number, object, text};
use crate::dialect::kubernetes::wanted::{FieldReference, named};
use crate::resource::ResourceKey;
use crate::text::{Node, Str};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A Gateway that lets all in who ask for it, or a GatewayClass of this controller.
pub fn of_gateway_api(key: &ResourceKey, asked: &[&FieldReference<'_>], controller: &str) -> Option<Node> {
    match (key.group.as_str(), key.kind.as_str()) {
        (super::GROUP, "GatewayClass") => Some(named(key, "v1", alloc::vec![("spec", object(alloc::vec![("controllerName", text(controller))]))])),
        (super::GROUP, "Gateway") => {
            let listeners: BTreeMap<Str, Node> = asked.iter().map(|one| listener(key, one)).collect();
            let class = ("gatewayClassName", text("assumed"));
            Some(named(key, "v1", alloc::vec![("spec", object(alloc::vec![class, ("listeners", list(listeners.into_values().collect()))]))]))
        }
        _ => None,
    }
}

/// The listener that a route asks for, by its name.
fn listener(gateway: &ResourceKey, asked: &FieldReference<'_>) -> (Str, Node) {
    let section = asked.holder.get("sectionName").and_then(Node::as_str);
    let port = asked.holder.get("port").and_then(Node::as_i64);
    let is_secure = section.is_some_and(|name| name.contains("https") || name.contains("tls")) || port == Some(443);
    let (usual, protocol, usual_port) = match asked.by.key.kind.as_str() {
        "TLSRoute" => ("tls", "TLS", 443),
        "TCPRoute" => ("tcp", "TCP", 9000),
        _ if is_secure => ("https", "HTTPS", 443),
        _ => ("http", "HTTP", 80),
    };
    let name = section.unwrap_or(usual);
    let tls = match protocol {
        "TLS" => Some(object(alloc::vec![("mode", text("Passthrough"))])),
        "HTTPS" => Some(object(alloc::vec![("certificateRefs", list(alloc::vec![object(alloc::vec![("name", text(&gateway.name))])]))])),
        _ => None,
    };
    let everywhere = object(alloc::vec![("namespaces", object(alloc::vec![("from", text("All"))]))]);
    let fields =
        Vec::from([("name", text(name)), ("port", number(port.unwrap_or(usual_port))), ("protocol", text(protocol)), ("allowedRoutes", everywhere)]);
    (name.into(), object(fields.into_iter().chain(tls.map(|tls| ("tls", tls))).collect()))
}
