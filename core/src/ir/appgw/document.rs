//! The document of a gateway as a tree: which of its fields are written, and in which order.
//!
//! Lists stand in the order of names, as the gateway has no other order for them; what is in a part keeps its order.

use super::wire::{Branch, Tree, Wire};
use super::{Gateway, Properties};
use crate::order::Order as _;
use crate::text::{Node, Str, Value};
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

/// The document with the origin of each value.
#[must_use]
pub fn tree(gateway: &Gateway, which: Document) -> Tree {
    let mut sorted = gateway.clone();
    if let Some(properties) = &mut sorted.properties {
        sort(properties);
        // Azure tells it, and does not take it.
        properties.operational_state = None;
    }
    let mut tree = sorted.write();
    if let (Document::Parts, Branch::Fields(fields)) = (which, &mut tree.value) {
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
    tree
}

/// The document without origins.
#[must_use]
pub fn document(gateway: &Gateway, which: Document) -> Node {
    node(tree(gateway, which))
}

/// A tree without origins.
pub(super) fn node(tree: Tree) -> Node {
    Node::synthesised(match tree.value {
        Branch::Flag(value) => Value::Bool(value),
        Branch::Number(value) => Value::Int(value),
        Branch::Text(text) => Value::String(text),
        Branch::List(items) => Value::Array(items.into_iter().map(node).collect()),
        Branch::Fields(fields) => Value::Object(fields.into_iter().map(|(key, tree)| (key, node(tree))).collect()),
        Branch::Kept(kept, _) => kept.value,
    })
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
