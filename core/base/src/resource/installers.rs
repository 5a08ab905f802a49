//! Finds objects that make an operator create Services and routes: Helm charts, applications, and controllers' own Services. The input contains such
//! an object, and the cluster also the results.
//!
//! Sources: the `HelmRelease` and the `Kustomization` of Flux, the `HelmChart` of k3s, the `Application` of Argo CD, and the Service of Flux's
//! `Receiver`. Charts are not rendered, so it is unknown what they create; a name that begins with the chart's name is a sign.
//!
//! Does not decide whether a missing object is assumed; see `compilation::Assumptions`.

use super::{Object, ResourceKey, nearest};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::Node;

/// Groups and kinds of objects that create others, the field that names the namespace, and whether that is the object's own one without it.
const KINDS: &[(&str, &str, &[&str], bool)] = &[
    ("helm.toolkit.fluxcd.io", "HelmRelease", &["spec", "targetNamespace"], true),
    ("helm.cattle.io", "HelmChart", &["spec", "targetNamespace"], true),
    ("kustomize.toolkit.fluxcd.io", "Kustomization", &["spec", "targetNamespace"], false),
    ("argoproj.io", "Application", &["spec", "destination", "namespace"], false),
];

/// The Services that a controller serves objects of a kind with, in the namespace of the objects.
const SERVICES: &[(&str, &str, &str)] = &[("notification.toolkit.fluxcd.io", "Receiver", "webhook-receiver")];

/// Whether objects of this kind make an operator create others.
#[must_use]
pub fn installs(key: &ResourceKey) -> bool {
    KINDS.iter().any(|(group, kind, ..)| key.group == *group && key.kind == *kind)
        || SERVICES.iter().any(|(group, kind, _)| key.group == *group && key.kind == *kind)
}

/// The objects that create others, by namespace.
#[derive(Default)]
pub struct Installers<'o> {
    by_namespace: BTreeMap<&'o str, Vec<&'o Object>>,
    /// The written Services and routes by kind and namespace.
    names: BTreeMap<(&'o str, &'o str), BTreeSet<&'o str>>,
}

impl<'o> Installers<'o> {
    /// Gathers the objects of an input.
    #[must_use]
    pub fn of(objects: impl Iterator<Item = &'o Object>) -> Self {
        let mut all = Self::default();
        for object in objects.filter(|object| !object.broken && !object.assumed) {
            if let Some(namespace) = target(object) {
                all.by_namespace.entry(namespace).or_default().push(object);
            } else if let Some(namespace) = object.key.namespace.as_deref() {
                all.names.entry((&object.key.kind, namespace)).or_default().insert(&object.key.name);
            }
        }
        all
    }

    /// Says which object may create a missing one. `None` if no object creates others in that namespace, or if an object of the same kind has a
    /// similar name: then the name is probably misspelt.
    #[must_use]
    pub fn maker_of(&self, key: &ResourceKey) -> Option<String> {
        let namespace = key.namespace.as_deref()?;
        let all = self.by_namespace.get(namespace)?;
        let serves = |object: &&&Object| {
            let of_kind =
                |(group, kind, service): &&(&str, &str, &str)| object.key.group == *group && object.key.kind == *kind && key.name == *service;
            *key.kind == *"Service" && SERVICES.iter().any(|of| of_kind(&of))
        };
        if let Some(object) = all.iter().find(serves) {
            return Some(format!("the controller of {} creates it", object.key));
        }
        let known = self.names.get(&(&*key.kind, namespace));
        if known.is_some_and(|known| nearest(&key.name, known.iter().copied()).is_some()) {
            return None;
        }
        let charts = || all.iter().filter(|object| KINDS.iter().any(|(_, kind, ..)| object.key.kind == *kind));
        let named = charts().filter_map(|object| Some((prefix(object, &key.name)?, object))).max_by_key(|(length, _)| *length);
        match (named, charts().next()) {
            (Some((_, object)), _) => Some(format!("{} may create it", object.key)),
            (None, Some(object)) if charts().count() == 1 => Some(format!("{} may create it", object.key)),
            (None, Some(object)) => Some(format!("a {} of its namespace may create it", object.key.kind)),
            (None, None) => None,
        }
    }
}

/// The namespace that an object creates others in.
fn target(object: &Object) -> Option<&str> {
    let own = object.key.namespace.as_deref();
    if SERVICES.iter().any(|(group, kind, _)| object.key.group == *group && object.key.kind == *kind) {
        return own;
    }
    let (.., path, is_own) = KINDS.iter().find(|(group, kind, ..)| object.key.group == *group && object.key.kind == *kind)?;
    object.root.at(path).and_then(Node::as_str).filter(|text| !text.is_empty()).or(own.filter(|_| *is_own))
}

/// The length of a chart's name, if the other name begins with it.
fn prefix(object: &Object, name: &str) -> Option<usize> {
    let release = object.root.at(&["spec", "releaseName"]).and_then(Node::as_str);
    let names = [Some(object.key.name.as_str()), release];
    let begins = |own: &&str| name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    names.into_iter().flatten().filter(|own| !own.is_empty()).filter(begins).map(str::len).max()
}
