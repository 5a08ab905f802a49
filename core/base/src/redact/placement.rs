//! Decides which objects of a tree may be Secrets. Does not remove anything; see `secret_objects`.

use super::value::{has_packed, is_credential};
use super::words::{is_near, is_secret_kind, is_section, is_sensitive_key, is_text_section, split_key};
use alloc::vec::Vec;
use chancery_text::{Node, Object, Value};

/// The placement of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// A document, or an item of a `List`.
    Whole,
    /// A document in a string of another object. Without a kind it is nearly always a program's own file.
    Embedded,
    /// A part of another object.
    Part,
}

/// Values of `type` that only Secrets have.
pub(super) fn is_secret_type(text: &str) -> bool {
    let known = ["kubernetes.io/", "bootstrap.kubernetes.io/", "helm.sh/", "istio.io/", "cert-manager.io/"];
    text == "Opaque" || text.len() < 64 && known.iter().any(|known| text.starts_with(known))
}

/// The API groups of gateways: their objects have a `spec`, which the compiler needs.
const GATEWAY_GROUPS: &[&str] = &[
    "getambassador.io/",
    "projectcontour.io/",
    "gateway.networking.k8s.io/",
    "networking.k8s.io/",
    "consul.hashicorp.com/",
    "appgw.ingress.k8s.io/",
];

/// Whether an object belongs to a gateway, by its `apiVersion` and `spec`. A Secret's section in it is a typing error and does not make it a
/// Secret.
fn is_of_gateway(object: &Object) -> bool {
    let group = object.get("apiVersion").and_then(Node::as_str).is_some_and(|text| GATEWAY_GROUPS.iter().any(|group| text.starts_with(group)));
    let kind = object.get("kind").and_then(Node::as_str).is_some_and(|kind| !kind.is_empty() && !is_secret_kind(kind));
    group && kind && object.get("spec").is_some_and(|spec| spec.as_object().is_some())
}

/// The sections of a Secret that a typing error put into a gateway's object.
pub(super) fn stray_sections(root: &Node) -> impl Iterator<Item = &Node> {
    let object = root.as_object().filter(|object| is_of_gateway(object));
    object.into_iter().flatten().filter(|entry| is_section(&entry.key)).map(|entry| &entry.value)
}

pub(super) fn may_be_secret(object: &Object, placement: Placement) -> bool {
    // Consul's config entries capitalize it.
    let kind = object.get("kind").or_else(|| object.get("Kind"));
    let is_whole = placement != Placement::Part;
    if let Some(kind) = kind.and_then(Node::as_str).filter(|kind| !kind.is_empty()) {
        if is_secret_kind(kind) {
            // A reference to a Secret has only names.
            return is_whole || object.iter().any(|entry| is_section(&entry.key) || entry.value.as_object().is_some());
        }
        if !is_whole {
            return false;
        }
        if is_of_gateway(object) {
            return false;
        }
        let type_of_secret = object.get("type").and_then(Node::as_str).is_some_and(is_secret_type);
        let section = |key: &str| is_text_section(key) || is_section(key) && !is_near(kind, "ConfigMap", 3);
        return type_of_secret || object.iter().any(|entry| section(&entry.key));
    }
    if !is_whole {
        // Only a Secret has such a section. The kind is missing because of a typing error.
        return object.iter().any(|entry| {
            // The following text may have become part of the key.
            let (name, rest) = split_key(&entry.key);
            is_text_section(name) && (rest.is_some() || entry.value.as_object().is_some())
        });
    }
    if placement == Placement::Embedded {
        return is_secret_without_kind(object);
    }
    let is_registration = is_registration(object);
    object.iter().any(|entry| is_section(&entry.key) || mentions_secret(&entry.key, &entry.value) || holds_values(&entry.value, !is_registration))
}

/// Whether an embedded object is a Secret that lost its kind: it has a section that only Secrets have, or its parts are those of a Secret. A program's
/// file may have a password, but its other values are no secrets.
fn is_secret_without_kind(object: &Object) -> bool {
    let is_of_kubernetes = object.contains_key("metadata") || object.contains_key("apiVersion");
    object.iter().any(|entry| is_text_section(&entry.key) || is_of_kubernetes && is_section(&entry.key) || mentions_secret(&entry.key, &entry.value))
}

/// Whether an object registers services with Consul. It has no kind; its keys name its credentials.
fn is_registration(object: &Object) -> bool {
    const OF_SERVICES: [&str; 7] = ["port", "connect", "proxy", "kind", "address", "tags", "checks"];
    let registers = |node: &Node| {
        let service = node.as_object();
        service.is_some_and(|of| of.contains_key("name") && OF_SERVICES.iter().any(|key| of.contains_key(key)))
    };
    let are_services = |node: &Node| registers(node) || node.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(registers));
    object.len() == 1 && object.iter().all(|entry| matches!(entry.key.as_str(), "service" | "services") && are_services(&entry.value))
}

/// Whether anything below looks like a Secret's value, or with `by_key` has a key that names a credential.
fn holds_values(node: &Node, by_key: bool) -> bool {
    match &node.value {
        Value::String(text) => has_packed(text) || is_credential(text),
        Value::Array(items) => items.iter().any(|item| holds_values(item, by_key)),
        Value::Object(object) => object.iter().any(|entry| {
            let key = &entry.key;
            by_key && is_sensitive_key(key) || holds_values(&entry.value, by_key)
        }),
        _ => false,
    }
}

/// Whether a key like `kind` has the value `Secret`, or a key like `type` a Secret's type.
fn mentions_secret(key: &str, value: &Node) -> bool {
    let Some(text) = value.as_str() else { return false };
    is_near(text.trim(), "Secret", 1) || is_secret_type(text) || is_near(key, "kind", 2) && is_secret_kind(text)
}

/// The items of a `List`.
pub(super) fn items_of(object: &Object) -> Option<&[Node]> {
    let is_list = object.get("kind").and_then(Node::as_str).is_some_and(|kind| kind.ends_with("List"));
    object.get("items").and_then(Node::as_array).filter(|_| is_list).map(Vec::as_slice)
}
