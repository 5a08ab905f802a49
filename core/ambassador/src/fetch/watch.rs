//! Selects the objects that the controller sees in the API server.
//!
//! Source of behaviour: Emissary `cmd/entrypoint/interesting_types.go`.

use super::super::Options;
use super::findings;
use super::role::Role;
use super::verdict::Applied;
use super::visible::{VisibleObjects, ignore};
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, Why};
use chancery_base::diagnostic::Findings;
use chancery_base::resource::Object;
use chancery_kubernetes::selector::Selector;
use chancery_text::Node;

/// Sorts visible objects by kind, and records why the others are invisible.
pub(super) fn watch<'a>(cluster: Vec<Applied<'a>>, options: &Options, ledger: &mut Ledger, sink: &mut Findings) -> VisibleObjects<'a> {
    let scope = Scope::new(options);
    let mut seen = VisibleObjects { kinds: Vec::new() };
    for applied in cluster {
        let role = applied.verdict.role;
        if matches!(role, Role::Foreign | Role::EdgeStack | Role::UnknownAmbassador) {
            continue;
        }
        if let Some(why) = scope.excludes(applied.object, role) {
            ignore(ledger, applied.object.id, Why::NotWatched, why);
            sink.report(findings::not_watched(applied.object, why));
            continue;
        }
        match seen.kinds.iter_mut().find(|(known, _)| *known == role) {
            Some((_, list)) => list.push(applied),
            None => seen.kinds.push((role, alloc::vec![applied])),
        }
    }
    seen
}

struct Scope<'a> {
    namespace: Option<&'a str>,
    knative: bool,
    labels: Selector,
    fields: Selector,
}

impl<'a> Scope<'a> {
    fn new(options: &'a Options) -> Self {
        let selector = |name: &str| options.variable(name).map(Selector::parse).unwrap_or_default();
        Self {
            namespace: options.single_namespace.then_some(&*options.ambassador_namespace),
            knative: options.knative(),
            labels: selector("AMBASSADOR_LABEL_SELECTOR"),
            fields: selector("AMBASSADOR_FIELD_SELECTOR"),
        }
    }

    fn excludes(&self, object: &Object, role: Role) -> Option<&'static str> {
        let namespace = object.key.namespace.as_deref();
        match self.namespace {
            Some(_) if role == Role::IngressClass => {
                return Some("a controller that watches a single namespace does not see IngressClasses");
            }
            Some(own) if namespace.is_some_and(|namespace| namespace != own) => {
                return Some("the controller watches its own namespace only (AMBASSADOR_SINGLE_NAMESPACE)");
            }
            _ => {}
        }
        if role == Role::KnativeIngress && !self.knative {
            return Some("AMBASSADOR_KNATIVE_SUPPORT is not set to true");
        }
        if role == Role::Endpoints && namespace == Some("kube-system") {
            return Some("endpoints in kube-system are never read");
        }
        let label = |key: &str| object.root.at(&["metadata", "labels", key]).and_then(Node::as_str);
        if !self.labels.is_empty() && !self.labels.matches(label) {
            return Some("its labels do not match AMBASSADOR_LABEL_SELECTOR");
        }
        let field = |key: &str| match key {
            "metadata.name" => Some(&*object.key.name),
            "metadata.namespace" => Some(namespace.unwrap_or_default()),
            _ => None,
        };
        if !self.fields.is_empty() && !self.fields.matches(field) {
            return Some("its fields do not match AMBASSADOR_FIELD_SELECTOR");
        }
        None
    }
}
