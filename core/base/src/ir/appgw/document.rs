//! The document of a gateway as a tree: which of its fields are written, and in which order.
//!
//! Lists stand in the order of names, as the gateway has no other order for them; what is in a part keeps its order.

use super::wire::{Branch, Tree, Wire};
use super::{Gateway, Part, Properties};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Node, Str, Value};

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

/// A part, of whichever kind.
pub trait AnyPart: Send + Sync {
    /// Its name.
    fn name(&self) -> &Str;
    /// Its part of the document.
    fn tree(&self) -> Tree;
}

impl<T: Wire + Default + Send + Sync> AnyPart for Part<T> {
    fn name(&self) -> &Str {
        &self.name
    }

    fn tree(&self) -> Tree {
        self.write()
    }
}

/// A document apart from its parts, and the parts by the names of their lists.
pub struct Split {
    /// The document; lists of parts are empty.
    pub frame: Tree,
    /// The parts, as they stand in the gateway: they are written in the order of names.
    pub lists: BTreeMap<&'static str, Vec<Arc<dyn AnyPart>>>,
}

/// Takes the parts of a gateway out of its document.
#[must_use]
pub fn split(gateway: &Gateway, which: Document) -> Split {
    let mut frame = gateway.clone();
    let mut lists = BTreeMap::new();
    if let Some(properties) = &mut frame.properties {
        lists = take_lists(properties);
        // Azure tells it, and does not take it.
        properties.operational_state = None;
    }
    let mut frame = frame.write();
    if let (Document::Parts, Branch::Fields(fields)) = (which, &mut frame.value) {
        fields.retain(|(key, _)| matches!(key.as_str(), "properties" | "tags"));
        for (_, tree) in fields.iter_mut().filter(|(key, _)| key == "properties") {
            let Branch::Fields(properties) = &mut tree.value else { continue };
            properties.retain(|(key, _)| LISTS.contains(&key.as_str()));
            for list in LISTS {
                if !properties.iter().any(|(key, _)| key == list) {
                    properties.push((Str::new_static(list), Tree::plain(Branch::List(Vec::new()))));
                }
            }
            properties.sort_by(|a, b| a.0.cmp(&b.0));
        }
    }
    Split { frame, lists }
}

/// The document with the origin of each value.
#[must_use]
pub fn tree(gateway: &Gateway, which: Document) -> Tree {
    let Split { mut frame, mut lists } = split(gateway, which);
    let Branch::Fields(fields) = &mut frame.value else { return frame };
    for (_, properties) in fields.iter_mut().filter(|(key, _)| key == "properties") {
        let Branch::Fields(properties) = &mut properties.value else { continue };
        for (key, tree) in properties {
            if let Some(parts) = lists.get_mut(key.as_str()) {
                parts.sort_by(|one, other| one.name().cmp(other.name()));
                tree.value = Branch::List(parts.iter().map(|part| part.tree()).collect());
            }
        }
    }
    frame
}

/// The document without origins.
#[must_use]
pub fn document(gateway: &Gateway, which: Document) -> Node {
    node(tree(gateway, which))
}

/// A tree without origins.
#[must_use]
pub fn node(tree: Tree) -> Node {
    Node::synthesised(match tree.value {
        Branch::Flag(value) => Value::Bool(value),
        Branch::Number(value) => Value::Int(value),
        Branch::Text(text) => Value::String(text),
        Branch::List(items) => Value::Array(items.into_iter().map(node).collect()),
        Branch::Fields(fields) => Value::Object(fields.into_iter().map(|(key, tree)| (key, node(tree))).collect()),
        Branch::Kept(kept, _) => kept.value,
    })
}

/// Takes the parts out of their lists, which stay. Lists that are not there, and empty ones, are not among them.
fn take_lists(properties: &mut Properties) -> BTreeMap<&'static str, Vec<Arc<dyn AnyPart>>> {
    let mut lists: BTreeMap<&'static str, Vec<Arc<dyn AnyPart>>> = BTreeMap::new();
    macro_rules! take {
        ($($list:ident = $key:literal)*) => {
            $(if let Some(parts) = properties.$list.as_mut().filter(|parts| !parts.is_empty()) {
                let parts = core::mem::take(parts).into_iter().map(|part| part as Arc<dyn AnyPart>);
                lists.insert($key, parts.collect());
            })*
        };
    }
    take![
        authentication_certificates = "authenticationCertificates"
        pools = "backendAddressPools"
        settings = "backendHttpSettingsCollection"
        frontends = "frontendIPConfigurations"
        ports = "frontendPorts"
        listeners = "httpListeners"
        probes = "probes"
        redirects = "redirectConfigurations"
        rules = "requestRoutingRules"
        rewrites = "rewriteRuleSets"
        certificates = "sslCertificates"
        trusted_roots = "trustedRootCertificates"
        path_maps = "urlPathMaps"
        ssl_profiles = "sslProfiles"
    ];
    lists
}
