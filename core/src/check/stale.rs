//! What was right once, or somewhere else: versions that no cluster serves any more, annotations of other controllers, and placeholders
//! that were not replaced.
//!
//! What must not be here: deprecated fields and versions of a dialect's own kinds, which the dialect tells.

use super::whole::Whole;
use crate::compilation::{Claim, Dialect};
use crate::diagnostic::{Diagnostic, Place, codes};
use crate::resource::Object;
use crate::text::{Node, Value};
use alloc::format;
use alloc::vec::Vec;

/// Versions that are gone: `apiVersion`, kind (empty: any), what there is instead, since when.
const GONE: &[(&str, &str, &str, &str)] = &[
    ("extensions/v1beta1", "Ingress", "networking.k8s.io/v1", "Kubernetes 1.22"),
    ("networking.k8s.io/v1beta1", "Ingress", "networking.k8s.io/v1", "Kubernetes 1.22"),
    ("networking.k8s.io/v1beta1", "IngressClass", "networking.k8s.io/v1", "Kubernetes 1.22"),
    ("discovery.k8s.io/v1beta1", "EndpointSlice", "discovery.k8s.io/v1", "Kubernetes 1.25"),
    ("extensions/v1beta1", "Deployment", "apps/v1", "Kubernetes 1.16"),
    ("apps/v1beta1", "", "apps/v1", "Kubernetes 1.16"),
    ("apps/v1beta2", "", "apps/v1", "Kubernetes 1.16"),
    ("rbac.authorization.k8s.io/v1beta1", "", "rbac.authorization.k8s.io/v1", "Kubernetes 1.22"),
    ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "apiextensions.k8s.io/v1", "Kubernetes 1.22"),
    ("policy/v1beta1", "PodDisruptionBudget", "policy/v1", "Kubernetes 1.25"),
    ("autoscaling/v2beta2", "HorizontalPodAutoscaler", "autoscaling/v2", "Kubernetes 1.26"),
    ("contour.heptio.com/v1beta1", "IngressRoute", "HTTPProxy in projectcontour.io/v1", "Contour 1.6"),
    ("contour.heptio.com/v1beta1", "TLSCertificateDelegation", "projectcontour.io/v1", "Contour 1.6"),
    ("gateway.networking.k8s.io/v1alpha2", "GatewayClass", "gateway.networking.k8s.io/v1", "Gateway API 1.0"),
    ("gateway.networking.k8s.io/v1alpha2", "Gateway", "gateway.networking.k8s.io/v1", "Gateway API 1.0"),
    ("gateway.networking.k8s.io/v1alpha2", "HTTPRoute", "gateway.networking.k8s.io/v1", "Gateway API 1.0"),
];

/// What annotations of controllers begin with.
const CONTROLLERS: &[(&str, &str)] = &[
    ("nginx.ingress.kubernetes.io/", "ingress-nginx"),
    ("nginx.org/", "NGINX's own controller"),
    ("traefik.ingress.kubernetes.io/", "Traefik"),
    ("haproxy.org/", "HAProxy's controller"),
    ("haproxy-ingress.github.io/", "HAProxy Ingress"),
    ("alb.ingress.kubernetes.io/", "AWS's load balancer controller"),
    ("appgw.ingress.kubernetes.io/", "Azure's Application Gateway controller"),
    ("konghq.com/", "Kong"),
];

/// Words that stand for what somebody should put in, as capital letters.
const PLACEHOLDERS: &[&str] =
    &["CHANGEME", "CHANGE_ME", "CHANGE-ME", "REPLACEME", "REPLACE_ME", "REPLACE-ME", concat!("TO", "DO"), concat!("FIX", "ME"), "TBD"];

/// How deep objects are looked into for placeholders.
const DEEPEST: usize = 32;

pub(super) fn check(whole: &mut Whole<'_>) {
    for object in whole.side.objects().iter().filter(|object| !object.broken) {
        gone(whole, object);
        if *object.key.kind == *"Ingress" {
            foreign(whole, object);
        }
        if let Some(spec) = object.root.get("spec") {
            placeholders(whole, object, spec);
        }
    }
}

fn gone(whole: &mut Whole<'_>, object: &Object) {
    let (version, kind) = (&*object.api_version, &*object.key.kind);
    let Some((_, _, instead, since)) = GONE.iter().find(|(gone, of, ..)| *gone == version && (of.is_empty() || *of == kind)) else { return };
    let Some(node) = object.root.get("apiVersion") else { return };
    if whole.wrong.contains(&object.id) {
        return;
    }
    let message = format!("{kind} in {version} was removed in {since}");
    let finding = Diagnostic::new(&codes::REMOVED_VERSION, message, Place::value(object.id, node.id)).about(object.key.clone());
    whole.report(finding.help(format!("use {instead}")));
}

fn foreign(whole: &mut Whole<'_>, object: &Object) {
    let annotations = object.root.at(&["metadata", "annotations"]).and_then(Node::as_object);
    for entry in annotations.into_iter().flatten() {
        let Some((_, whose)) = CONTROLLERS.iter().find(|(prefix, _)| entry.key.starts_with(prefix)) else { continue };
        if is_own(whole.side.dialect(), &entry.key) {
            continue;
        }
        let message = format!("{} does not read `{}`: it is an annotation of {whose}", whole.side.dialect().controller, entry.key);
        let place = Place::key(object.id, entry.value.id);
        whole.report(Diagnostic::new(&codes::FOREIGN_ANNOTATION, message, place).about(object.key.clone()));
    }
}

/// Whether a dialect claims an annotation.
fn is_own(dialect: &Dialect, key: &str) -> bool {
    dialect.claims.iter().any(|claim| matches!(claim, Claim::Annotation(prefix) | Claim::SharedAnnotation(prefix) if key.starts_with(prefix)))
}

fn placeholders(whole: &mut Whole<'_>, object: &Object, root: &Node) {
    let mut nodes = Vec::from([(root, 0)]);
    while let Some((node, depth)) = nodes.pop() {
        match &node.value {
            Value::Object(object) if depth < DEEPEST => nodes.extend(object.iter().map(|entry| (&entry.value, depth + 1))),
            Value::Array(items) if depth < DEEPEST => nodes.extend(items.iter().map(|item| (item, depth + 1))),
            Value::String(text) if is_placeholder(text) => {
                let message = format!("`{text}` looks like a placeholder that was not replaced");
                let finding = Diagnostic::new(&codes::STAND_IN, message, Place::value(object.id, node.id));
                whole.report(finding.about(object.key.clone()));
            }
            _ => {}
        }
    }
}

fn is_placeholder(text: &str) -> bool {
    let shell = text.strip_prefix("${").is_some_and(|rest| rest.ends_with('}') && !rest.contains(' '));
    let yours = |text: &str| text.starts_with("YOUR_") || text.starts_with("YOUR-");
    let marked = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let marked = marked.is_some_and(|inner| !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ')));
    // Text of several lines, and sentences, are for people or are programs.
    let is_value = !text.contains(['\n', ' ']);
    let template = text.find("{{").is_some_and(|at| text.get(at..).is_some_and(|rest| rest.contains("}}"))) && !text.contains('\n');
    let is_mark = |word: &str| PLACEHOLDERS.contains(&word) || word.len() > 2 && word.bytes().all(|byte| matches!(byte, b'x' | b'X'));
    let word = is_value && text.split(['.', '/', ':', '@', ',']).any(is_mark);
    shell || yours(text) || marked || template || word
}
