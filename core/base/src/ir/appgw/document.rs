//! Writes a gateway as a document: which fields are written, and in which order.
//!
//! Lists of parts are sorted by name, since the gateway gives them no other order; the content of a part keeps its order.

use super::wire::{Branch, Tree, Wire};
use super::{Gateway, Part, Properties};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Node, Str, Value};

/// Which document is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Document {
    /// The part that a controller manages: the lists of parts, and the tags.
    #[default]
    Parts,
    /// The complete resource that AGIC sends.
    Whole,
}

/// The lists of parts that a controller manages.
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

/// A part of any kind.
pub trait AnyPart: Send + Sync {
    fn name(&self) -> &Str;
    /// The part's tree in the document.
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

/// A document without its parts, and the parts by list name.
pub struct Split {
    /// The document with empty lists of parts.
    pub frame: Tree,
    /// The parts in the gateway's order; the document sorts them by name.
    pub lists: BTreeMap<&'static str, Vec<Arc<dyn AnyPart>>>,
}

/// Separates a gateway's parts from its document.
#[must_use]
pub fn split(gateway: &Gateway, which: Document) -> Split {
    let mut frame = gateway.clone();
    let mut lists = BTreeMap::new();
    if let Some(properties) = &mut frame.properties {
        lists = take_lists(properties);
        // Azure reports it, but does not accept it.
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

/// Empties the lists of parts and returns the parts. Missing and empty lists are not returned.
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
