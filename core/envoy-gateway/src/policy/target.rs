//! What policies are for: references and selectors, resolved. Does not decide between policies; see `attach`.

use super::super::cluster::{Admitted, Name};
use super::super::context::{RouteKind, Translator};
use super::super::kinds::{GATEWAY_API, GROUP};
use super::super::load::resources::{From, To};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::selector::Selector;
use chancery_text::Str;

/// An object that a policy is for, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) group: Str,
    pub(super) kind: Str,
    pub(super) namespace: Str,
    pub(super) name: Str,
    pub(super) section: Option<Str>,
}

impl Target {
    pub(super) fn full_name(&self) -> Name {
        (self.namespace.clone(), self.name.clone())
    }

    pub(super) fn section(&self) -> Option<&str> {
        self.section.as_deref()
    }

    /// Returns the kind of route; `None` if it is none.
    pub(super) fn route_kind(&self) -> Option<RouteKind> {
        let all = [RouteKind::Http, RouteKind::Grpc, RouteKind::Tls, RouteKind::Tcp, RouteKind::Udp];
        all.into_iter().find(|kind| *self.kind == *kind.name())
    }

    pub(super) fn is_gateway(&self) -> bool {
        *self.kind == *"Gateway"
    }

    pub(super) fn is_listener_set(&self) -> bool {
        *self.kind == *"ListenerSet"
    }
}

/// Returns the objects that the references of a policy name.
pub(super) fn of_references(policy: &Admitted<'_>) -> Vec<Target> {
    let spec = policy.spec();
    let single = spec.field("targetRef");
    let all: Vec<Cursor<'_>> = if single.exists() { [single].into() } else { spec.field("targetRefs").items().collect() };
    let target = |at: Cursor<'_>| Target {
        group: Str::new(at.field("group").str()),
        kind: Str::new(at.field("kind").str()),
        namespace: policy.namespace().clone(),
        name: Str::new(at.field("name").str()),
        section: at.field("sectionName").some_str().map(Str::new),
    };
    let is_empty = |target: &Target| target.group.is_empty() && target.kind.is_empty() && target.name.is_empty() && target.section.is_none();
    all.into_iter().map(target).filter(|target| !is_empty(target)).collect()
}

/// Returns what a policy is for: objects that its selectors choose, by age, then those that it names.
pub(super) fn resolve(t: &Translator<'_>, policy: &Admitted<'_>, candidates: &[&Admitted<'_>]) -> Vec<Target> {
    let mut selected: Vec<(Str, Target)> = Vec::new();
    let mut seen = BTreeSet::new();
    for selector in policy.spec().field("targetSelectors").items() {
        let Ok(labels) = Selector::of_fields(selector) else { continue };
        let group = selector.field("group").some_str().unwrap_or(GATEWAY_API);
        for object in candidates {
            let is_meant = object.kind.name() == selector.field("kind").str() && group == GATEWAY_API;
            if !is_meant || !namespace_matches(t, selector.field("namespaces"), policy.namespace(), object.namespace()) {
                continue;
            }
            if !labels.matches(|key| object.labels().field(key).some_str()) {
                continue;
            }
            let from = From { group: GROUP, kind: policy.kind.name(), namespace: policy.namespace() };
            let to = To { group: GATEWAY_API, kind: object.kind.name(), namespace: object.namespace(), name: object.name() };
            if !t.resources.permits(from, to) {
                continue;
            }
            if !seen.insert(object.id()) {
                continue;
            }
            let target = Target {
                group: Str::new_static(GATEWAY_API),
                kind: Str::new_static(object.kind.name()),
                namespace: object.namespace().clone(),
                name: object.name().clone(),
                section: None,
            };
            selected.push((Str::new(object.created()), target));
        }
    }
    selected.sort_by(|a, b| a.0.cmp(&b.0));
    let mut all: Vec<Target> = selected.into_iter().map(|(_, target)| target).collect();
    let chosen = all.len();
    for target in of_references(policy) {
        if !all[..chosen].contains(&target) {
            all.push(target);
        }
    }
    all
}

fn namespace_matches(t: &Translator<'_>, namespaces: Cursor<'_>, own: &str, there: &str) -> bool {
    match namespaces.field("from").str() {
        "All" => true,
        "Selector" => {
            let selector = namespaces.field("selector");
            let is_known = t.resources.namespaces.contains_key(there);
            let selector = selector.exists().then(|| Selector::of_fields(selector).ok()).flatten();
            is_known && selector.is_some_and(|selector| selector.matches(|key| t.resources.namespace_label(there, key)))
        }
        _ => own == there,
    }
}
