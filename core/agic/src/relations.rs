//! The fields that refer to objects, for graphs and ledgers.

use super::kinds::{MULTI_CLUSTER_GROUP, REWRITE_GROUP};
use alloc::vec::Vec;
use chancery_base::compilation::{Absent, Relation};
use chancery_base::resource::{Objects, Origin, ResourceKey};
use chancery_kubernetes::relations::{self, Form, Referring};
use chancery_text::Str;

const SERVICE: (&str, &str) = ("", "Service");
const SECRET: (&str, &str) = ("", "Secret");
const CLUSTER_SERVICE: (&str, &str) = (MULTI_CLUSTER_GROUP, "MultiClusterService");

const fn field(kind: &'static str, path: &'static str, relation: &'static str, to: (&'static str, &'static str), form: Form) -> Referring {
    Referring { kind, path, relation, to, form }
}

pub(super) const FIELDS: &[Referring] = &[
    field("Ingress", "spec.rules.*.http.paths.*.backend.service.name", "service", SERVICE, Form::Name),
    field("Ingress", "spec.rules.*.http.paths.*.backend.serviceName", "service", SERVICE, Form::Name),
    field("Ingress", "spec.defaultBackend.service.name", "service", SERVICE, Form::Name),
    field("Ingress", "spec.backend.serviceName", "service", SERVICE, Form::Name),
    field("Ingress", "spec.tls.*.secretName", "secret", SECRET, Form::Name),
    field("Ingress", "spec.ingressClassName", "class", ("networking.k8s.io", "IngressClass"), Form::Cluster),
    field("MultiClusterIngress", "spec.template.rules.*.http.paths.*.backend.service.name", "service", CLUSTER_SERVICE, Form::Name),
    field("MultiClusterIngress", "spec.template.defaultBackend.service.name", "service", CLUSTER_SERVICE, Form::Name),
    field("MultiClusterIngress", "spec.template.tls.*.secretName", "secret", SECRET, Form::Name),
];

/// Returns all references by field, and by annotations to rewrites.
pub fn relations(objects: &Objects) -> Vec<Relation> {
    let rewrite = super::annotations::REWRITE_CUSTOM_RESOURCE.name;
    let mut all = relations::relations(objects, &[FIELDS]);
    for object in objects.iter().filter(|object| !object.broken && object.key.kind == "Ingress") {
        let Some(node) = object.root.at(&["metadata", "annotations", rewrite]) else { continue };
        let Some(name) = node.as_str().filter(|name| !name.is_empty()) else { continue };
        let namespace = object.key.namespace.clone().unwrap_or_default();
        all.push(Relation {
            from: object.id,
            at: Some(Origin::field(object.id, node.id)),
            relation: "rewrite",
            to: ResourceKey::new(REWRITE_GROUP, "AzureApplicationGatewayRewrite", namespace, name),
            written: Str::new(name),
            anywhere: false,
            optional: false,
            absent: Absent::Hole,
        });
    }
    all
}
