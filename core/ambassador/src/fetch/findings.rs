//! Builds the findings of this stage, one function each.

use super::super::Options;
use super::verdict::Applied;
use alloc::format;
use chancery_base::diagnostic::{Diagnostic, Place, Severity, codes};
use chancery_base::resource::{Object, ObjectId, ResourceKey, nearest};
use chancery_kubernetes::at_name;
use chancery_text::{Node, NodeId, Str};

/// The place of an object's kind.
fn at_kind(object: &Object) -> Place {
    let node = object.root.get("kind").map_or(object.root.id, |kind| kind.id);
    Place::value(object.id, node)
}

fn at_version(object: &Object) -> Place {
    let node = object.root.get("apiVersion").map_or(object.root.id, |version| version.id);
    Place::value(object.id, node)
}

pub(super) fn edge_stack_kind(object: &Object) -> Diagnostic {
    let message = format!("{} is a kind of the Edge Stack; Emissary-ingress does not read it", object.key.kind);
    let help = match &*object.key.kind {
        "Filter" | "FilterPolicy" => "in Emissary-ingress, an AuthService hands requests to a service that authenticates them",
        "RateLimit" => "in Emissary-ingress, a RateLimitService calls your rate limit service",
        _ => "remove it, or run the Edge Stack",
    };
    Diagnostic::new(&codes::EDGE_STACK_KIND, message, at_kind(object)).about(object.key.clone()).help(help)
}

pub(super) fn unknown_ambassador_kind(object: &Object) -> Diagnostic {
    let message = format!("unknown kind {}: {} has no such kind", object.key.kind, object.key.group);
    let mut finding = Diagnostic::new(&codes::UNKNOWN_KIND, message, at_kind(object)).about(object.key.clone());
    // Unlike a foreign kind, the API server refuses this one.
    finding.severity = Severity::Error;
    match nearest(&object.key.kind, super::role::AMBASSADOR) {
        Some(kind) => finding.help(format!("did you mean {kind}?")),
        None => finding,
    }
}

pub(super) fn foreign_kind(object: &Object) -> Diagnostic {
    let message = format!("{} is not read by Emissary-ingress", object.key.kind);
    Diagnostic::new(&codes::UNKNOWN_KIND, message, at_kind(object)).about(object.key.clone())
}

pub(super) fn old_ingress(object: &Object) -> Diagnostic {
    let message = format!("Kubernetes 1.22 and later do not serve Ingress in {}", object.api_version);
    Diagnostic::new(&codes::DEPRECATED_VERSION, message, at_version(object))
        .about(object.key.clone())
        .help("write `apiVersion: networking.k8s.io/v1`, with `pathType` and `backend.service`")
}

pub(super) fn other_id(object: ObjectId, key: ResourceKey, node: NodeId, options: &Options) -> Diagnostic {
    let message = format!("{key} is for another instance: Chancery compiles for the ambassador_id `{}`", options.ambassador_id);
    Diagnostic::new(&codes::OTHER_AMBASSADOR_ID, message, Place::value(object, node)).about(key)
}

/// A Module for another instance whose `config` has the id that its `spec` should have (Emissary `config.py`, `good_ambassador_id`).
pub(super) fn id_in_config(object: &Object, options: &Options) -> Option<Diagnostic> {
    let config = object.root.at(&["spec", "config"]).or_else(|| object.root.get("config")).filter(|_| *object.key.kind == *"Module")?;
    let id = ["ambassador_id", "ambassadorId"].into_iter().find_map(|name| config.get(name))?;
    let is_meant = |id: &Node| id.as_str() == Some(&*options.ambassador_id);
    if !is_meant(id) && !id.as_array().is_some_and(|ids| ids.iter().any(is_meant)) {
        return None;
    }
    let message = format!("`ambassador_id` has no effect in `config`, so the instance `{}` ignores this Module", options.ambassador_id);
    let mut finding = Diagnostic::new(&codes::OTHER_AMBASSADOR_ID, message, Place::key(object.id, id.id)).about(object.key.clone());
    finding.severity = Severity::Warning;
    Some(finding.help("move it out of `config`, to `spec.ambassador_id`"))
}

pub(super) fn not_watched(object: &Object, why: &str) -> Diagnostic {
    let message = format!("{} is not read: {why}", object.key);
    let node = object.root.at(&["metadata", "namespace"]).map_or(object.root.id, |namespace| namespace.id);
    Diagnostic::new(&codes::NOT_WATCHED, message, Place::value(object.id, node)).about(object.key.clone())
}

pub(super) fn class_not_ours(object: &Object, class: Option<&str>, known: bool) -> Diagnostic {
    let spec = object.root.at(&["spec", "ingressClassName"]);
    let annotation = object.root.at(&["metadata", "annotations", "kubernetes.io/ingress.class"]);
    let node = spec.or(annotation).map_or(object.root.id, |node: &Node| node.id);
    let (message, help) = match class {
        Some(class) if known => (
            format!("{} belongs to the class `{class}`, which another controller serves", object.key),
            "give the IngressClass the controller getambassador.io/ingress-controller",
        ),
        Some(class) => (
            format!("{} names the class `{class}`, but there is no such IngressClass of this controller", object.key),
            "add an IngressClass with the controller getambassador.io/ingress-controller, or the annotation \
             kubernetes.io/ingress.class: ambassador",
        ),
        None => (
            format!("{} names no class, so this controller leaves it alone", object.key),
            "add the annotation kubernetes.io/ingress.class: ambassador",
        ),
    };
    Diagnostic::new(&codes::CLASS_NOT_OURS, message, Place::value(object.id, node)).about(object.key.clone()).help(help)
}

pub(super) fn annotation_lost(holder: &Object, annotation: NodeId) -> Diagnostic {
    let message = format!("one document of this annotation cannot be read, so the whole annotation of {} is lost", holder.key);
    Diagnostic::new(&codes::ANNOTATION_LOST, message, Place::key(holder.id, annotation)).about(holder.key.clone())
}

pub(super) fn annotation_not_read(holder: &Object, annotation: NodeId) -> Diagnostic {
    let message = format!("configuration in annotations is read from Services and Ingresses, not from a {}", holder.key.kind);
    Diagnostic::new(&codes::ANNOTATION_NOT_READ, message, Place::key(holder.id, annotation)).about(holder.key.clone())
}

pub(super) fn annotation_without_name(object: &Object) -> Diagnostic {
    let message = "the resource in this annotation has no name, so it is dropped";
    Diagnostic::new(&codes::INCOMPLETE_OBJECT, message, Place::value(object.id, object.root.id)).help("add `name: ...`")
}

pub(super) fn unsupported_in_annotation(object: &Object, key: &ResourceKey) -> Diagnostic {
    let message = format!("the controller does not read {} in annotations, so it is ignored", key.kind);
    let finding = Diagnostic::new(&codes::UNSUPPORTED_IN_ANNOTATION, message, at_kind(object)).about(key.clone());
    match nearest(&key.kind, super::role::AMBASSADOR) {
        Some(kind) => finding.help(format!("did you mean {kind}?")),
        None => finding.help("only the kinds of getambassador.io can"),
    }
}

pub(super) fn unreferenced_secret(object: &Object) -> Diagnostic {
    let message = format!("{} is not passed on: no Host, TLSContext, Module or Ingress in use refers to it", object.key);
    Diagnostic::new(&codes::UNREFERENCED_SECRET, message, at_name(object)).about(object.key.clone())
}

pub(super) fn unusable_secret(object: &Object, why: &str) -> Diagnostic {
    let message = format!("{} is not used: {why}", object.key);
    Diagnostic::new(&codes::UNUSABLE_SECRET, message, at_name(object)).about(object.key.clone())
}

pub(super) fn bad_pem(object: &Object, node: NodeId, key: &str, what: &str, forced: bool) -> Diagnostic {
    let message = format!("`{key}` of {} {what}", object.key);
    let finding = Diagnostic::new(&codes::BAD_PEM, message, Place::value(object.id, node)).about(object.key.clone());
    if !forced {
        return finding.help("the controller passes it on anyway, and Envoy rejects the resources that use it");
    }
    let mut finding = finding.help("with AMBASSADOR_FORCE_SECRET_VALIDATION, the controller withholds it");
    finding.severity = Severity::Error;
    finding
}

pub(super) fn assumed_secret(by: &[(ObjectId, NodeId)], namespace: &str, name: &str, maker: Option<&Object>) -> Diagnostic {
    let why = maker.map_or_else(|| "it is assumed to exist".into(), |maker| format!("{} makes it", maker.key));
    let message = format!("the Secret `{name}` ({namespace}) is not in the input; {why}");
    let place = by.first().map_or(Place::Whole, |(object, node)| Place::value(*object, *node));
    Diagnostic::new(&codes::ASSUMED_SECRET, message, place)
}

pub(super) fn bad_timeout(applied: &Applied<'_>, node: NodeId, text: &str) -> Diagnostic {
    let message = format!("`{text}` is not a duration; 15 seconds are used");
    let key = applied.object.key.clone();
    Diagnostic::new(&codes::BAD_DURATION, message, Place::value(applied.object.id, node)).about(key)
}

pub(super) fn summary(finding: &Diagnostic) -> Str {
    Str::from(finding.message.as_str())
}
