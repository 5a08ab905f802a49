//! Builds the Gateways and GatewayClasses that references require. Does not decide whether they are assumed.

use crate::references::{FieldReference, named};
use crate::status::{list, number, object, text};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::ReferencedObject;
use chancery_base::resource::{Object, Objects, ResourceKey};
use chancery_text::{Node, Str};

/// A required listener: its name, the accepted protocols, and its port.
pub type Needed = (&'static str, &'static [&'static str], i64);

/// A Gateway that accepts all referring routes and has these listeners too, or a GatewayClass of this controller.
pub fn of_gateway_api(key: &ResourceKey, asked: &[&FieldReference<'_>], controller: &str, needed: &[Needed]) -> Option<Node> {
    match (key.group.as_str(), key.kind.as_str()) {
        (super::GROUP, "GatewayClass") => Some(named(key, "v1", alloc::vec![("spec", object(alloc::vec![("controllerName", text(controller))]))])),
        (super::GROUP, "Gateway") => {
            let mut listeners: BTreeMap<Str, Node> = asked.iter().map(|one| listener(key, one)).collect();
            for (name, protocols, port) in needed {
                let listens = |listener: &Node| listener.get("protocol").and_then(Node::as_str).is_some_and(|protocol| protocols.contains(&protocol));
                if let Some(protocol) = protocols.first().filter(|_| !listeners.values().any(listens)) {
                    listeners.insert((*name).into(), listening(key, name, protocol, *port));
                }
            }
            let class = ("gatewayClassName", text("assumed"));
            Some(named(key, "v1", alloc::vec![("spec", object(alloc::vec![class, ("listeners", list(listeners.into_values().collect()))]))]))
        }
        _ => None,
    }
}

/// The Namespaces of routes, if a Gateway selects routes by the labels of their namespaces.
pub fn namespaces(asked: &[FieldReference<'_>], objects: &Objects) -> Vec<ReferencedObject> {
    let of_gateway = |one: &&FieldReference<'_>| one.key.group == super::GROUP && one.key.kind == "Gateway" && one.relation == "parent";
    let mut out: Vec<ReferencedObject> = Vec::new();
    let gateways: BTreeMap<&ResourceKey, &Object> =
        objects.iter().filter(|object| object.key.kind == "Gateway" && !object.broken).map(|object| (&object.key, object)).collect();
    for one in asked.iter().filter(of_gateway) {
        let (Some(gateway), Some(namespace)) = (gateways.get(&one.key), &one.by.key.namespace) else { continue };
        let listeners = gateway.root.at(&["spec", "listeners"]).and_then(Node::as_array).into_iter().flatten();
        let rules = listeners.filter_map(|listener| listener.at(&["allowedRoutes", "namespaces"]));
        let chosen: Vec<(&str, Node)> =
            rules.filter(|rule| rule.get("from").and_then(Node::as_str) == Some("Selector")).flat_map(|rule| labels(rule.get("selector"))).collect();
        if chosen.is_empty() {
            continue;
        }
        let key = ResourceKey { group: Str::default(), kind: Str::new_static("Namespace"), namespace: None, name: namespace.clone() };
        let metadata = object(alloc::vec![("name", text(namespace)), ("labels", object(chosen))]);
        let made = object(alloc::vec![("apiVersion", text("v1")), ("kind", text("Namespace")), ("metadata", metadata)]);
        let message = format!("the {key} is not in the input; it is assumed to have the labels that the {} asks for", one.key);
        out.push(ReferencedObject { from: one.by.id, at: one.at, key, kinds: &[("", "Namespace")], object: made, notice: Some(message), asks: true });
    }
    out
}

/// Labels that satisfy a selector, as far as it states them.
fn labels(selector: Option<&Node>) -> Vec<(&str, Node)> {
    let Some(selector) = selector else { return Vec::new() };
    let entries = selector.get("matchLabels").and_then(Node::as_object).into_iter().flatten();
    let named = entries.filter_map(|entry| Some((&*entry.key, text(entry.value.as_str()?))));
    let expressions = selector.get("matchExpressions").and_then(Node::as_array).into_iter().flatten();
    let expressed = expressions.filter_map(|expression| {
        let first = expression.get("values").and_then(Node::as_array).and_then(|values| values.first()?.as_str());
        let value = match expression.get("operator").and_then(Node::as_str)? {
            "In" => first?,
            "Exists" => "",
            _ => return None,
        };
        Some((expression.get("key").and_then(Node::as_str)?, text(value)))
    });
    named.chain(expressed).filter(|(key, _)| *key != "kubernetes.io/metadata.name").collect()
}

/// The listener that a route refers to, by name.
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
    (name.into(), listening(gateway, name, protocol, port.unwrap_or(usual_port)))
}

/// A listener that accepts all routes.
fn listening(gateway: &ResourceKey, name: &str, protocol: &str, port: i64) -> Node {
    let tls = match protocol {
        "TLS" => Some(object(alloc::vec![("mode", text("Passthrough"))])),
        "HTTPS" => Some(object(alloc::vec![("certificateRefs", list(alloc::vec![object(alloc::vec![("name", text(&gateway.name))])]))])),
        _ => None,
    };
    let everywhere = object(alloc::vec![("namespaces", object(alloc::vec![("from", text("All"))]))]);
    let fields = [("name", text(name)), ("port", number(port)), ("protocol", text(protocol)), ("allowedRoutes", everywhere)];
    object(fields.into_iter().chain(tls.map(|tls| ("tls", tls))).collect())
}
