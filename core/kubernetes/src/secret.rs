//! Reads and checks Secrets like the API server.
//!
//! Source of behaviour: `k8s.io/kubernetes/pkg/apis/core/validation` (ValidateSecret).

use super::refused;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Findings, Place, Reported, codes};
use chancery_base::resource::{Object, Objects, Secret, nearest};
use chancery_text::{Entry, Node, NodeId, Str, base64};

/// The sections that hold a Secret's values.
const SECTIONS: [&str; 2] = ["data", "stringData"];

/// A Secret's `type`; defaults to `Opaque`.
pub fn secret_type(object: &Object) -> Str {
    let written = object.root.get("type").and_then(Node::as_str).filter(|written| !written.is_empty());
    written.map_or(Str::new_static("Opaque"), Str::new)
}

/// A Secret's values as base64 with their nodes; `stringData` overrides `data`.
pub fn data(object: &Object) -> BTreeMap<Str, (NodeId, Secret<Str>)> {
    let mut data = BTreeMap::new();
    for (field, is_text) in [("data", false), ("stringData", true)] {
        for entry in object.root.get(field).and_then(Node::as_object).into_iter().flatten() {
            let Some(value) = object.secret(entry.value.id) else { continue };
            let value = if is_text { value.map(|text| Str::from(base64::encode(text.as_bytes()))) } else { value.clone() };
            data.insert(entry.key.clone(), (entry.value.id, value));
        }
    }
    data
}

/// A Secret's decoded value. The last Secret of the name wins.
pub fn value(objects: &Objects, namespace: &str, name: &str, key: &str) -> Option<Vec<u8>> {
    base64::decode(data(named(objects, "Secret", namespace, name)?).get(key)?.1.expose())
}

/// A ConfigMap's text. The last ConfigMap of the name wins.
pub fn text_of_config_map<'o>(objects: &'o Objects, namespace: &str, name: &str, key: &str) -> Option<&'o str> {
    named(objects, "ConfigMap", namespace, name)?.root.at(&["data", key])?.as_str()
}

fn named<'o>(objects: &'o Objects, kind: &str, namespace: &str, name: &str) -> Option<&'o Object> {
    let is = |object: &&Object| {
        let key = &object.key;
        key.group.is_empty() && key.kind == kind && key.name == *name && key.namespace.as_deref() == Some(namespace)
    };
    objects.iter().filter(is).last()
}

/// Checks a Secret beyond its metadata, as the API server does.
pub fn check(object: &Object, sink: &mut Findings) -> Result<(), Reported> {
    let before = sink.len();
    let root = &*object.root;
    for entry in root.get("data").and_then(Node::as_object).into_iter().flatten() {
        let node = entry.value.id;
        match object.secret(node) {
            Some(value) if base64::decode(value.expose()).is_none() => {
                let message = format!("the value of `{}` is not base64", entry.key);
                let help = "write plain text under `stringData`, or encode it with `base64 -w0`";
                sink.report(refused(&codes::INVALID_SECRET, object, node, message).help(help));
            }
            Some(_) => {}
            None if entry.value.is_null() => {}
            None => {
                let message = format!("the value of `{}` must be a string, but this is a YAML {}", entry.key, entry.value.kind_name());
                sink.report(refused(&codes::INVALID_SECRET, object, node, message));
            }
        }
    }
    for entry in root.get("stringData").and_then(Node::as_object).into_iter().flatten() {
        if entry.value.as_str().is_none() && !entry.value.is_null() {
            let message = format!("the value of `{}` must be a string, but this is a YAML {}", entry.key, entry.value.kind_name());
            sink.report(refused(&codes::INVALID_SECRET, object, entry.value.id, message));
        }
    }
    let required: &[&str] = match &*secret_type(object) {
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        _ => &[],
    };
    for key in required {
        if !SECTIONS.iter().any(|field| root.at(&[field, key]).is_some()) {
            let message = format!("a Secret of type {} needs the key `{key}`", secret_type(object));
            let node = root.get("data").or_else(|| root.get("type")).map_or(root.id, |node| node.id);
            let mut finding = refused(&codes::INVALID_SECRET, object, node, message);
            // A section with a misspelled name contains it.
            let meant = |entry: &Entry| nearest(&entry.key, SECTIONS).filter(|_| entry.value.get(key).is_some());
            let misspelt = root.as_object().into_iter().flatten().find_map(|entry| Some((entry.value.id, meant(entry)?)));
            if let Some((node, section)) = misspelt {
                let place = Place::key(object.id, node);
                finding = finding.help(format!("did you mean `{section}`?"));
                if root.get(section).is_none() {
                    finding = finding.fix(format!("rename to `{section}`"), place.clone(), section);
                }
                finding.place = place;
            }
            sink.report(finding);
        }
    }
    sink.since(before)
}
