//! Lists the references from fields and annotations to objects, for graphs and ledgers.
//!
//! Does not look up the objects.

use super::annotations::PREFIX;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::{Absent, Relation};
use chancery_base::resource::{Objects, Origin, ResourceKey};
use chancery_kubernetes::relations::{self, Form, Referring};
use chancery_text::Str;

const SERVICE: (&str, &str) = ("", "Service");
const SECRET: (&str, &str) = ("", "Secret");
const CONFIG_MAP: (&str, &str) = ("", "ConfigMap");

const fn field(path: &'static str, relation: &'static str, to: (&'static str, &'static str), form: Form) -> Referring {
    Referring { kind: "Ingress", path, relation, to, form }
}

pub(super) const FIELDS: &[Referring] = &[
    field("spec.rules.*.http.paths.*.backend.service.name", "service", SERVICE, Form::Name),
    field("spec.defaultBackend.service.name", "service", SERVICE, Form::Name),
    field("spec.tls.*.secretName", "secret", SECRET, Form::Name),
    field("spec.ingressClassName", "class", ("networking.k8s.io", "IngressClass"), Form::Cluster),
];

/// The annotations that name objects, each with the relation and with the group and kind of the object.
const NAMING_ANNOTATIONS: &[(&str, &str, (&str, &str))] = &[
    ("auth-secret", "password-secret", SECRET),
    ("auth-tls-secret", "client-ca", SECRET),
    ("proxy-ssl-secret", "upstream-tls", SECRET),
    ("auth-proxy-set-headers", "headers", CONFIG_MAP),
    ("custom-headers", "headers", CONFIG_MAP),
    ("fastcgi-params-configmap", "fastcgi", CONFIG_MAP),
    ("default-backend", "default-backend", SERVICE),
];

/// Returns all references from fields and annotations.
pub fn relations(objects: &Objects) -> Vec<Relation> {
    let mut all = relations::relations(objects, &[FIELDS]);
    for object in objects.iter().filter(|object| !object.broken && object.key.kind == "Ingress") {
        let Some(annotations) = object.root.at(&["metadata", "annotations"]) else { continue };
        for (name, relation, (group, kind)) in NAMING_ANNOTATIONS {
            let Some(node) = annotations.get(&format!("{PREFIX}/{name}")) else { continue };
            let Some(written) = node.as_str().filter(|written| !written.is_empty()) else { continue };
            let own = object.key.namespace.clone().unwrap_or_default();
            let (namespace, target) = written.split_once('/').map_or((own, written), |(namespace, name)| (Str::new(namespace), name));
            all.push(Relation {
                from: object.id,
                at: Some(Origin::field(object.id, node.id)),
                relation,
                to: ResourceKey::new(*group, *kind, namespace, target),
                written: Str::new(written),
                anywhere: false,
                optional: false,
                absent: Absent::Hole,
            });
        }
    }
    all
}
