//! Keeps what HTTPRoutes became in earlier compiles: their routes with the effects of policies, and their statuses. Does not translate; see
//! `translate::route`.

use super::super::cluster::{Admitted, Name};
use super::super::model::{HttpRoute, Xds};
use super::super::status::{self, Conditions, Reference};
use super::route_kind::RouteKind;
use super::translator::{ListenerId, RouteContext, RouteParent, RouteSpan, Translator};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_kubernetes::object_tables::ByContent;
use chancery_text::{Node, Str};

/// The HTTPRoutes of earlier compiles.
#[derive(Default)]
pub(crate) struct RouteMemory {
    known: ByContent<Arc<KnownRoute>>,
}

/// What an HTTPRoute became.
#[derive(Debug)]
pub(crate) struct KnownRoute {
    /// The Services that it looked up.
    services: Vec<Name>,
    parents: Vec<KnownParent>,
    /// Before other routes and policies add conditions.
    statuses: Vec<(Reference, Conditions)>,
    /// The document of these statuses.
    status: Arc<Node>,
    attached: Vec<ListenerId>,
    /// With the effects of policies.
    spans: Vec<(RouteSpan, Vec<Arc<HttpRoute>>)>,
}

/// A parent of an HTTPRoute.
#[derive(Debug)]
struct KnownParent {
    /// Its place in `spec.parentRefs`.
    place: usize,
    reference: Reference,
    listeners: Vec<ListenerId>,
    status: usize,
}

/// The result of a translation of a route, for later compiles.
#[derive(Debug)]
pub(crate) enum Translated {
    /// It is translated as in an earlier compile.
    Again(Arc<KnownRoute>),
    /// It can be kept, with the Services that it looked up and its statuses.
    Now { services: Vec<Name>, statuses: Vec<(Reference, Conditions)> },
}

impl RouteMemory {
    /// Starts a compile. Forgets the HTTPRoutes that looked up a changed Service, even if this compile does not have them.
    pub(crate) fn begin(&mut self, changed: &BTreeSet<Name>) {
        if !changed.is_empty() {
            self.known.retain(|known| !known.services.iter().any(|name| changed.contains(name)));
        }
        self.known.begin();
    }

    /// Returns what an HTTPRoute became, if it would become the same again.
    pub(crate) fn find(&mut self, object: &Admitted<'_>) -> Option<Arc<KnownRoute>> {
        self.known.get(object.object).cloned()
    }

    /// Ends a compile.
    pub(crate) fn end(&mut self) {
        self.known.end();
    }

    /// Keeps the routes with the effects of policies, before they are sorted.
    pub(crate) fn keep(&mut self, routes: &mut [RouteContext<'_>], controller: &str, xds: &BTreeMap<Str, Xds>) {
        for route in routes.iter_mut().filter(|route| route.kind == RouteKind::Http) {
            let Some(translated) = &route.translated else {
                self.known.remove(route.object.object);
                continue;
            };
            let all_of = |span: &RouteSpan| xds.get(&span.ir_key).map(|xds| &xds.http[span.listener].routes[span.routes.clone()]).unwrap_or_default();
            if let Translated::Again(known) = translated
                && known.spans.iter().zip(&route.spans).all(|((_, before), now)| before.iter().zip(all_of(now)).all(|(a, b)| Arc::ptr_eq(a, b)))
            {
                continue;
            }
            // Policies answer requests of routes in an order that depends on earlier effects.
            if route.spans.iter().any(|span| all_of(span).iter().any(|route| route.direct_response.is_some())) {
                self.known.remove(route.object.object);
                continue;
            }
            let (services, statuses, status) = match translated {
                Translated::Again(known) => (known.services.clone(), known.statuses.clone(), known.status.clone()),
                Translated::Now { services, statuses } => {
                    let status = Arc::new(status::route(statuses, controller, route.object.generation()));
                    (services.clone(), statuses.clone(), status)
                }
            };
            let known = KnownRoute {
                services,
                parents: route.parents.iter().map(KnownParent::of).collect(),
                statuses,
                status,
                attached: route.attached.clone(),
                spans: route.spans.iter().map(|span| (span.clone(), all_of(span).to_vec())).collect(),
            };
            let known = Arc::new(known);
            self.known.put(route.object.object, known.clone());
            route.translated = Some(Translated::Again(known));
        }
    }
}

impl RouteContext<'_> {
    /// Returns the document of its statuses.
    pub(crate) fn status(&self, controller: &str) -> Arc<Node> {
        match &self.translated {
            Some(Translated::Again(known)) if known.statuses == self.statuses => known.status.clone(),
            _ => Arc::new(status::route(&self.statuses, controller, self.object.generation())),
        }
    }
}

impl KnownParent {
    fn of(parent: &RouteParent<'_>) -> Self {
        let RouteParent { place, reference, listeners, status, .. } = parent;
        Self { place: *place, reference: reference.clone(), listeners: listeners.clone(), status: *status }
    }
}

impl<'a> Translator<'a> {
    /// Adds the routes of an HTTPRoute as in an earlier compile.
    pub(crate) fn add_again(&mut self, object: &'a Admitted<'a>, known: Arc<KnownRoute>) {
        let refs = object.spec().field("parentRefs");
        let parents = known.parents.iter().map(|of| RouteParent {
            at: refs.items().nth(of.place).unwrap_or(refs),
            place: of.place,
            reference: of.reference.clone(),
            listeners: of.listeners.clone(),
            status: of.status,
            overlapping: BTreeSet::new(),
        });
        let mut route = RouteContext {
            kind: RouteKind::Http,
            object,
            parents: parents.collect(),
            statuses: known.statuses.clone(),
            attached: known.attached.clone(),
            spans: Vec::with_capacity(known.spans.len()),
            translated: None,
        };
        for id in &known.attached {
            self.listener_mut(*id).status.attached_routes += 1;
        }
        for (span, routes) in &known.spans {
            let Some(listener) = self.xds.get_mut(&span.ir_key).and_then(|xds| xds.http.get_mut(span.listener)) else { continue };
            let start = listener.routes.len();
            listener.routes.extend(routes.iter().cloned());
            route.spans.push(RouteSpan { routes: start..listener.routes.len(), ..span.clone() });
        }
        route.translated = Some(Translated::Again(known));
        self.routes.push(route);
    }
}
