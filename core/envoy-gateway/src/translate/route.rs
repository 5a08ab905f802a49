//! Attaches routes to listeners, and concludes their statuses.

use super::super::cluster::Admitted;
use super::super::context::{ListenerId, RouteContext, RouteKind, RouteParent, Translated, Translator};
use super::super::kinds::GATEWAY_API;
use super::super::status::{Conditions, Reference};
use super::{http_route, stream_route};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// Translates all routes of the class.
pub(crate) fn process(t: &mut Translator<'_>) {
    let resources = t.resources;
    let kinds = [
        (RouteKind::Http, &resources.http_routes),
        (RouteKind::Grpc, &resources.grpc_routes),
        (RouteKind::Tls, &resources.tls_routes),
        (RouteKind::Tcp, &resources.tcp_routes),
        (RouteKind::Udp, &resources.udp_routes),
    ];
    for (kind, objects) in kinds {
        for object in objects.iter().copied() {
            if kind == RouteKind::Http
                && let Some(known) = t.memory.as_mut().and_then(|memory| memory.find(object))
            {
                t.add_again(object, known);
                continue;
            }
            let mut route =
                RouteContext { kind, object, parents: Vec::new(), statuses: Vec::new(), attached: Vec::new(), spans: Vec::new(), translated: None };
            if !attach(t, &mut route) {
                continue;
            }
            let uses = t.backend_tls_uses;
            if t.memory.is_some() {
                resources.record_reads();
            }
            match kind {
                RouteKind::Http | RouteKind::Grpc => http_route::process(t, &mut route),
                RouteKind::Tls => stream_route::process_tls(t, &mut route),
                RouteKind::Tcp | RouteKind::Udp => stream_route::process(t, &mut route),
            }
            // The status of a BackendTLSPolicy names the routes that use it.
            let services = resources.take_reads();
            if t.memory.is_some() && t.backend_tls_uses == uses {
                route.translated = Some(Translated::Now { services, statuses: route.statuses.clone() });
            }
            t.routes.push(route);
        }
    }
}

/// Finds the listeners of each parent. Returns whether any parent is one of ours.
fn attach<'a>(t: &Translator<'a>, route: &mut RouteContext<'a>) -> bool {
    let object: &'a Admitted<'a> = route.object;
    for (place, at) in object.spec().field("parentRefs").items().enumerate() {
        let Some(selected) = referenced(t, object.namespace(), at) else { continue };
        let reference = reference_of(at);
        let status = status_of(route, at, &reference);
        let conditions = &mut route.statuses[status].1;
        *conditions = Conditions::default();
        let mut listeners = Vec::new();
        if selected.is_empty() {
            conditions.set("Accepted", false, "NoMatchingParent", "No listeners match this parent ref");
        } else {
            listeners = selected.into_iter().filter(|id| allows(t, *id, route.kind, object.namespace())).collect();
            let conditions = &mut route.statuses[status].1;
            if listeners.is_empty() {
                let message = "No listeners included by this parent ref allowed this attachment.";
                conditions.set("Accepted", false, "NotAllowedByListeners", message);
            } else {
                conditions.set("Accepted", true, "Accepted", "Route is accepted");
            }
        }
        route.parents.push(RouteParent { at, place, reference, listeners, status, overlapping: BTreeSet::new() });
    }
    !route.parents.is_empty()
}

fn reference_of(at: Cursor<'_>) -> Reference {
    let text = |field: &str| at.field(field).some_str().map(Str::new);
    Reference {
        group: text("group"),
        kind: text("kind"),
        namespace: text("namespace"),
        name: Str::new(at.field("name").str()),
        section: text("sectionName"),
        port: at.field("port").int(),
    }
}

/// Returns the place of a parent's conditions. Parents that differ only by port share them, unless they have a section.
fn status_of(route: &mut RouteContext<'_>, at: Cursor<'_>, reference: &Reference) -> usize {
    let here = route.object.namespace().clone();
    let key = |of: &Reference| {
        let section = of.section.clone();
        let port = section.as_ref().and(of.port);
        let or = |value: &Option<Str>, default: &str| value.clone().unwrap_or_else(|| Str::new(default));
        (or(&of.group, GATEWAY_API), or(&of.kind, "Gateway"), or(&of.namespace, &here), of.name.clone(), section, port)
    };
    let _ = at;
    let known = route.statuses.iter().position(|(known, _)| key(known) == key(reference));
    known.unwrap_or_else(|| {
        route.statuses.push((reference.clone(), Conditions::default()));
        route.statuses.len() - 1
    })
}

/// Returns the listeners that a parent reference selects; `None` if the parent is not one of ours.
fn referenced(t: &Translator<'_>, namespace: &Str, parent: Cursor<'_>) -> Option<Vec<ListenerId>> {
    let (group, kind) = (parent.field("group").some_str(), parent.field("kind").some_str());
    let there = parent.field("namespace").some_str().unwrap_or(namespace);
    let name = parent.field("name").str();
    let section = parent.field("sectionName").some_str();
    let port = parent.field("port").int();
    let selects = |id: &ListenerId| {
        let listener = t.listener(*id);
        section.is_none_or(|section| *listener.name == *section) && port.is_none_or(|port| listener.port == port)
    };
    let ids = |gateway: usize| (0..t.gateways[gateway].listeners.len()).map(move |listener| ListenerId { gateway, listener });
    if group == Some(GATEWAY_API) && kind == Some("ListenerSet") {
        let of_set = |id: &ListenerId| t.listener(*id).set_name.as_ref().is_some_and(|set| *set.0 == *there && *set.1 == *name);
        let all: Vec<ListenerId> = (0..t.gateways.len()).flat_map(ids).filter(of_set).collect();
        return (!all.is_empty()).then(|| all.into_iter().filter(selects).collect());
    }
    if group.is_some_and(|group| group != GATEWAY_API) || kind.is_some_and(|kind| kind != "Gateway") {
        return None;
    }
    let gateway = t.gateways.iter().position(|of| *of.object.namespace() == *there && *of.object.name() == *name)?;
    Some(ids(gateway).filter(|id| !t.listener(*id).is_from_listener_set()).filter(selects).collect())
}

/// Whether a listener admits routes of a kind from a namespace.
fn allows(t: &Translator<'_>, id: ListenerId, kind: RouteKind, namespace: &Str) -> bool {
    let listener = t.listener(id);
    let is_kind = listener.status.supported_kinds.iter().any(|(group, known)| *group == *GATEWAY_API && *known == *kind.name());
    let own = match &listener.set_name {
        Some((namespace, _)) => namespace,
        None => t.gateways[id.gateway].object.namespace(),
    };
    let is_namespace = match listener.at.at("allowedRoutes.namespaces.from").str() {
        "All" => true,
        "Selector" => listener.selector.as_ref().is_some_and(|selector| selector.matches(|key| t.resources.namespace_label(namespace, key))),
        _ => own == namespace,
    };
    is_kind && is_namespace
}
