//! Finds the permissions that references across namespaces depend on: TLSCertificateDelegations and ReferenceGrants, for graphs and ledgers.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::compilation::{Absent, Relation};
use chancery_base::resource::{Object, Objects};
use chancery_kubernetes::gateway_api::GROUP as GATEWAY_API;
use chancery_text::Node;

/// The kinds that need a TLSCertificateDelegation to use Secrets of other namespaces.
const DELEGATED: &[&str] = &["HTTPProxy", "ExtensionService", "Ingress"];

/// The permissions that references to other namespaces depend on. If several permissions allow a reference, each is optional.
pub fn relations(objects: &Objects, references: &[Relation]) -> Vec<Relation> {
    let mut permissions: BTreeMap<(&str, &str), Vec<&Object>> = BTreeMap::new();
    for object in objects.iter().filter(|object| !object.broken && matches!(&*object.key.kind, "TLSCertificateDelegation" | "ReferenceGrant")) {
        permissions.entry((&object.key.kind, object.key.namespace.as_deref().unwrap_or_default())).or_default().push(object);
    }
    if permissions.is_empty() {
        return Vec::new();
    }
    let mut out = Vec::new();
    for reference in references.iter().filter(|reference| reference.to.group.is_empty()) {
        let Some(from) = objects.get(reference.from).filter(|from| from.key.namespace != reference.to.namespace) else { continue };
        let (kind, permits): (_, fn(&Node, &Object, &Relation) -> bool) = match &*from.key.group {
            GATEWAY_API => ("ReferenceGrant", grants),
            _ if DELEGATED.contains(&&*from.key.kind) && reference.to.kind == "Secret" => ("TLSCertificateDelegation", delegates),
            _ => continue,
        };
        let there = permissions.get(&(kind, reference.to.namespace.as_deref().unwrap_or_default())).map_or(&[][..], Vec::as_slice);
        let permitting: Vec<&&Object> = there.iter().filter(|permission| permits(&permission.root, from, reference)).collect();
        let absent = if permitting.len() > 1 { Absent::Nothing } else { Absent::Hole };
        out.extend(permitting.iter().map(|permission| Relation {
            relation: "permission",
            to: permission.key.clone(),
            anywhere: false,
            absent,
            ..reference.clone()
        }));
    }
    out
}

fn items<'n>(node: &'n Node, path: &[&str]) -> &'n [Node] {
    node.at(path).and_then(Node::as_array).map_or(&[], Vec::as_slice)
}

fn text<'n>(node: &'n Node, field: &str) -> &'n str {
    node.get(field).and_then(Node::as_str).unwrap_or_default()
}

fn delegates(delegation: &Node, from: &Object, reference: &Relation) -> bool {
    let here = from.key.namespace.as_deref().unwrap_or_default();
    items(delegation, &["spec", "delegations"]).iter().any(|one| {
        let targets = items(one, &["targetNamespaces"]);
        let everywhere = targets.len() == 1 && targets.iter().all(|target| target.as_str() == Some("*"));
        text(one, "secretName") == reference.to.name && (everywhere || targets.iter().any(|target| target.as_str() == Some(here)))
    })
}

fn grants(grant: &Node, from: &Object, reference: &Relation) -> bool {
    let here = from.key.namespace.as_deref().unwrap_or_default();
    let is_from = |one: &Node| text(one, "namespace") == here && text(one, "group") == GATEWAY_API && text(one, "kind") == from.key.kind;
    let is_to = |one: &Node| {
        let name = text(one, "name");
        text(one, "group").is_empty() && text(one, "kind") == reference.to.kind && (name.is_empty() || name == reference.to.name)
    };
    items(grant, &["spec", "from"]).iter().any(is_from) && items(grant, &["spec", "to"]).iter().any(is_to)
}
