//! Finds Secrets that an operator generates from another object: the input contains that object, and the cluster the Secret.
//!
//! Sources: cert-manager `Certificate` (`spec.secretName`) and its annotations on Ingresses and Gateways; Sealed Secrets `SealedSecret`, External
//! Secrets `ExternalSecret`. The latter two may name another Secret than themselves; redaction removes that name, so it is unknown here.
//!
//! Does not decide whether a missing Secret is assumed; see `compilation::Assumptions`.

use super::{Object, ObjectId, ResourceKey};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_text::{Node, Str};

/// Groups and kinds, and the field that names the Secret.
const MAKERS: &[(&str, &str, &[&str])] = &[
    ("cert-manager.io", "Certificate", &["spec", "secretName"]),
    ("bitnami.com", "SealedSecret", &["metadata", "name"]),
    ("external-secrets.io", "ExternalSecret", &["metadata", "name"]),
];

/// Annotations of Ingresses and Gateways that make cert-manager issue certificates.
const ISSUERS: [&str; 3] = ["cert-manager.io/cluster-issuer", "cert-manager.io/issuer", "kubernetes.io/tls-acme"];

/// Whether objects of this kind exist to generate a Secret.
#[must_use]
pub fn makes_secret(key: &ResourceKey) -> bool {
    MAKERS.iter().any(|(group, kind, _)| key.group == *group && key.kind == *kind)
}

/// The Secrets that are generated from these objects, each with its first source object.
#[must_use]
pub fn provided_secrets<'o>(objects: impl Iterator<Item = &'o Object>) -> BTreeMap<ResourceKey, ObjectId> {
    let mut out = BTreeMap::new();
    for object in objects.filter(|object| !object.broken) {
        for name in names(object) {
            let namespace = object.key.namespace.clone().unwrap_or_default();
            out.entry(ResourceKey::new("", "Secret", namespace, name)).or_insert(object.id);
        }
    }
    out
}

fn names(object: &Object) -> Vec<Str> {
    let text = |node: Option<&Node>| node.and_then(Node::as_str).filter(|text| !text.is_empty()).map(Str::new);
    if let Some((.., path)) = MAKERS.iter().find(|(group, kind, _)| object.key.group == *group && object.key.kind == *kind) {
        return text(object.root.at(path)).into_iter().collect();
    }
    let annotations = object.root.at(&["metadata", "annotations"]);
    let is_issued = || annotations.is_some_and(|annotations| ISSUERS.iter().any(|name| annotations.get(name).is_some()));
    let items = |path: &[&str]| object.root.at(path).and_then(Node::as_array).into_iter().flatten();
    match (&*object.key.group, &*object.key.kind) {
        ("networking.k8s.io", "Ingress") if is_issued() => items(&["spec", "tls"]).filter_map(|tls| text(tls.get("secretName"))).collect(),
        ("gateway.networking.k8s.io", "Gateway") if is_issued() => {
            let references = items(&["spec", "listeners"]).filter_map(|listener| listener.at(&["tls", "certificateRefs"])?.as_array()).flatten();
            references.filter(|reference| reference.get("namespace").is_none()).filter_map(|reference| text(reference.get("name"))).collect()
        }
        _ => Vec::new(),
    }
}
