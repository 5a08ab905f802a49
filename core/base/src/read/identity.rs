//! Reads an object's identity: `apiVersion`, `kind`, namespace and name, with their problems. Does not check whether the kind is known or
//! Kubernetes would accept the name.

use crate::diagnostic::{Diagnostic, Place, codes};
use crate::redact::{REDACTED, is_name};
use crate::resource::{ObjectId, ResourceKey};
use alloc::format;
use chancery_text::{Node, Spans, Str, Value};

/// Cluster-scoped kinds of Kubernetes and of the projects around gateways.
const CLUSTER_SCOPED: &[(&str, &str)] = &[
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("cert-manager.io", "ClusterIssuer"),
    ("certmanager.k8s.io", "ClusterIssuer"),
    ("gateway.networking.k8s.io", "GatewayClass"),
    ("networking.x-k8s.io", "GatewayClass"),
    ("networking.k8s.io", "IngressClass"),
    ("policy", "PodSecurityPolicy"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "StorageClass"),
];

/// Configuration files of controllers that look like objects. They need no name.
const FILES: &[(&str, &str)] = &[("gateway.envoyproxy.io", "EnvoyGateway")];

/// The namespace that `kubectl apply` uses by default.
const DEFAULT_NAMESPACE: &str = "default";

pub(super) struct Identity {
    pub(super) api_version: Str,
    pub(super) key: ResourceKey,
    /// Why no controller could use the object. Its place has no object yet; [`ObjectId::BUILT_IN`] is the placeholder.
    pub(super) problem: Option<Diagnostic>,
}

/// The identity of a Kubernetes object. Without `text`, findings quote nothing.
pub(super) fn of_object(root: &Node, spans: &Spans, text: Option<&str>) -> Identity {
    let written = |node: &Node| text.map_or(REDACTED, |text| spans.get(node.id).map_or("", |span| span.value.slice(text)));
    let sane = |name: &Str| text.is_some() || is_name(name);
    let mut problem = None;
    let mut text_field = |holder: Option<&Node>, path: &'static str, field: &str| -> Str {
        let node = holder.and_then(|holder| holder.get(field));
        match node.map(|node| (node, &node.value)) {
            Some((_, Value::String(value))) if !value.is_empty() => {
                if sane(value) {
                    value.clone()
                } else {
                    Str::new_static(REDACTED)
                }
            }
            Some((node, Value::Null | Value::String(_))) => {
                problem.get_or_insert_with(|| incomplete(node, path));
                Str::default()
            }
            Some((node, value)) => {
                let written = written(node);
                problem.get_or_insert_with(|| not_a_string(node, value, path, written));
                Str::new(written)
            }
            None => {
                problem.get_or_insert_with(|| incomplete(holder.unwrap_or(root), path));
                Str::default()
            }
        }
    };
    let kind = text_field(Some(root), "kind", "kind");
    let api_version = text_field(Some(root), "apiVersion", "apiVersion");
    let metadata = root.get("metadata").filter(|metadata| metadata.as_object().is_some());
    let name = text_field(metadata.or(Some(root)).filter(|_| metadata.is_some()), "metadata.name", "name");
    let namespace = match metadata.and_then(|metadata| metadata.get("namespace")).map(|node| (node, &node.value)) {
        Some((_, Value::String(value))) if !value.is_empty() => {
            if sane(value) {
                value.clone()
            } else {
                Str::new_static(REDACTED)
            }
        }
        None | Some((_, Value::Null | Value::String(_))) => Str::new_static(DEFAULT_NAMESPACE),
        Some((node, value)) => {
            let written = written(node);
            problem.get_or_insert_with(|| not_a_string(node, value, "metadata.namespace", written));
            Str::new(written)
        }
    };
    let group = group_of(&api_version);
    let is_file = FILES.iter().any(|(known_group, known_kind)| *known_kind == kind && *known_group == group);
    if is_file && name.is_empty() && metadata.is_none() {
        problem = None;
    }
    let namespace = (!is_cluster_scoped(&group, &kind)).then_some(namespace);
    Identity { key: ResourceKey { group, kind, namespace, name }, api_version, problem }
}

/// The identity of an object in an annotation. `name` and `namespace` may be outside `metadata`; the namespace defaults to the holder's. Reports no
/// problems: the dialect decides what such an object needs.
pub(super) fn of_embedded(root: &Node, holder: &ResourceKey) -> Identity {
    let text = |path: &[&str]| root.at(path).and_then(Node::as_str).filter(|value| !value.is_empty()).map(Str::new);
    let api_version = text(&["apiVersion"]).unwrap_or_default();
    let key = ResourceKey {
        group: group_of(&api_version),
        kind: text(&["kind"]).unwrap_or_default(),
        namespace: text(&["namespace"]).or_else(|| text(&["metadata", "namespace"])).or_else(|| holder.namespace.clone()),
        name: text(&["name"]).or_else(|| text(&["metadata", "name"])).unwrap_or_default(),
    };
    Identity { api_version, key, problem: None }
}

/// The group of an `apiVersion`; `v1` has none.
pub(super) fn group_of(api_version: &Str) -> Str {
    // The common groups are short enough to be stored inline.
    api_version.split_once('/').map_or(Str::default(), |(group, _)| Str::new(group))
}

fn is_cluster_scoped(group: &str, kind: &str) -> bool {
    CLUSTER_SCOPED.iter().any(|(known_group, known_kind)| *known_kind == kind && *known_group == group)
}

/// The fields of a `kustomization.yaml`, which may omit `apiVersion` and `kind`.
const OF_KUSTOMIZE: [&str; 20] = [
    "bases",
    "commonAnnotations",
    "commonLabels",
    "components",
    "configMapGenerator",
    "configurations",
    "crds",
    "generatorOptions",
    "generators",
    "images",
    "labels",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "resources",
    "secretGenerator",
];

/// Whether all fields are Kustomize fields.
fn is_kustomization(node: &Node) -> bool {
    let fields = node.as_object().filter(|fields| !fields.is_empty());
    fields.is_some_and(|fields| fields.iter().all(|entry| OF_KUSTOMIZE.contains(&&*entry.key)))
}

fn incomplete(node: &Node, path: &str) -> Diagnostic {
    let lacks_name = path == "metadata.name";
    let effect = if lacks_name { "Kubernetes refuses it" } else { "Kubernetes does not know its kind" };
    let message = format!("the object has no `{path}`, so {effect}");
    let field = path.split('.').next().unwrap_or(path);
    let other = node.as_object().into_iter().flatten().map(|entry| &entry.key).find(|key| *key != field && key.eq_ignore_ascii_case(field));
    let help = match other {
        Some(other) => format!("`{other}` must be written `{field}`: Kubernetes distinguishes capitals"),
        None if is_kustomization(node) => {
            "this is a file of Kustomize, which makes objects of others: give what `kubectl kustomize` writes for its folder".into()
        }
        None if lacks_name && node.get("name").and_then(Node::as_str).is_some() => "move `name` and `namespace` into `metadata`".into(),
        None => "every object needs `apiVersion`, `kind` and `metadata.name`".into(),
    };
    Diagnostic::new(&codes::INCOMPLETE_OBJECT, message, Place::value(ObjectId::BUILT_IN, node.id)).help(help)
}

fn not_a_string(node: &Node, value: &Value, path: &str, written: &str) -> Diagnostic {
    let place = Place::value(ObjectId::BUILT_IN, node.id);
    let message = format!("`{path}` must be a string, but YAML reads `{written}` as {}", article(value));
    let finding = Diagnostic::new(&codes::NAME_NOT_A_STRING, message, place.clone());
    if matches!(value, Value::Array(_) | Value::Object(_)) {
        return finding;
    }
    finding.fix("put it in quotes", place, format!("\"{written}\""))
}

/// A value's type with its article.
pub(super) fn article(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::Float(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
