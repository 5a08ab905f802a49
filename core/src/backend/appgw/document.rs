//! The ARM document of a gateway: as a tree, as text, and where in it each origin went.
//!
//! Lists stand in the order of names, as the gateway has no other order for them; what is in a part keeps its order.

use crate::backend::output_map::{Fragment, OutputMap, Trace};
use crate::ir::appgw::wire::{Branch, Tree, Wire};
use crate::ir::appgw::{Gateway, Properties};
use crate::order::Order as _;
use crate::resource::{ObjectId, Origin};
use crate::text::{Node, Object, Str, Value, to_json};
use alloc::string::String;
use alloc::vec::Vec;

/// Which document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Document {
    /// What a controller takes part in: the lists of parts, and the tags.
    #[default]
    Parts,
    /// The whole resource, as it is sent.
    Whole,
}

/// The lists of parts that a controller takes part in.
const LISTS: &[&str] = &[
    "authenticationCertificates",
    "backendAddressPools",
    "backendHttpSettingsCollection",
    "frontendIPConfigurations",
    "frontendPorts",
    "httpListeners",
    "probes",
    "redirectConfigurations",
    "requestRoutingRules",
    "rewriteRuleSets",
    "sslCertificates",
    "trustedRootCertificates",
    "urlPathMaps",
];

/// The document as a tree.
#[must_use]
pub fn document(gateway: &Gateway, which: Document) -> Node {
    build(gateway, which, &mut Trace::off())
}

/// The document as JSON.
#[must_use]
pub fn text(gateway: &Gateway, which: Document, pretty: bool) -> String {
    to_json(&document(gateway, which), pretty)
}

/// Where in the document each origin went.
#[must_use]
pub fn output_map(gateway: &Gateway, which: Document) -> OutputMap {
    let mut trace = Trace::on();
    build(gateway, which, &mut trace);
    let frame: Fragment = trace.finish();
    OutputMap::new(frame, Vec::new())
}

fn build(gateway: &Gateway, which: Document, trace: &mut Trace) -> Node {
    let mut sorted = gateway.clone();
    if let Some(properties) = &mut sorted.properties {
        sort(properties);
        // Azure tells it, and does not take it.
        properties.operational_state = None;
    }
    let Branch::Fields(mut fields) = sorted.write().value else { return Node::synthesised(Value::Null) };
    if which == Document::Parts {
        fields.retain(|(key, _)| matches!(key.as_str(), "properties" | "tags"));
        for (_, tree) in fields.iter_mut().filter(|(key, _)| key == "properties") {
            let Branch::Fields(properties) = &mut tree.value else { continue };
            properties.retain(|(key, _)| LISTS.contains(&key.as_str()));
            for list in LISTS {
                if !properties.iter().any(|(key, _)| key == list) {
                    properties.push((Str::new_static(list), Tree::plain(Branch::List(Vec::new()))));
                }
            }
            properties.order_by(|a, b| a.0.cmp(&b.0));
        }
    }
    node(Tree::plain(Branch::Fields(fields)), trace)
}

fn sort(properties: &mut Properties) {
    macro_rules! by_name {
        ($($list:ident)*) => {
            $(if let Some(list) = &mut properties.$list {
                list.order_by(|a, b| a.name.cmp(&b.name));
            })*
        };
    }
    by_name![authentication_certificates pools settings frontends ports listeners probes redirects rules rewrites certificates trusted_roots path_maps];
}

fn node(tree: Tree, trace: &mut Trace) -> Node {
    trace.here(tree.origin);
    Node::synthesised(match tree.value {
        Branch::Flag(value) => Value::Bool(value),
        Branch::Number(value) => Value::Int(value),
        Branch::Text(text) => Value::String(text),
        Branch::List(items) => Value::Array(items.into_iter().enumerate().map(|(at, item)| trace.item(at, |trace| node(item, trace))).collect()),
        Branch::Fields(fields) => {
            let entries = fields.into_iter().map(|(key, value)| {
                let value = trace.at(&key, |trace| node(value, trace));
                (key, value)
            });
            Value::Object(entries.collect())
        }
        Branch::Kept(kept, object) => return kept_node(&kept, object, trace),
    })
}

/// What was kept as it was read: each value comes from where it was written. It is as deep as the reader lets documents be.
fn kept_node(kept: &Node, object: ObjectId, trace: &mut Trace) -> Node {
    if kept.id.is_some() {
        trace.here(Origin::field(object, kept.id));
    }
    Node::synthesised(match &kept.value {
        Value::Array(items) => {
            Value::Array(items.iter().enumerate().map(|(at, item)| trace.item(at, |trace| kept_node(item, object, trace))).collect())
        }
        Value::Object(fields) => {
            let entries = fields.iter().map(|entry| (entry.key.clone(), trace.at(&entry.key, |trace| kept_node(&entry.value, object, trace))));
            Value::Object(entries.collect::<Object>())
        }
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests;
