//! Finds the routes that a policy names, and the SecurityPolicy of a listener. Does not report anything.

use super::super::cluster::{Admitted, Name};
use super::super::context::{RouteContext, Translator};
use super::{is_accepted, targets};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// Kind, namespace and name of a route.
type RouteKey = (Str, Str, Str);

pub(super) struct Index<'t, 'a> {
    routes: BTreeMap<RouteKey, (usize, &'t RouteContext<'a>)>,
    /// The first accepted SecurityPolicy of each Gateway, and of each listener.
    security_policies: BTreeMap<(Name, Option<Str>), &'a Admitted<'a>>,
}

impl<'t, 'a> Index<'t, 'a> {
    pub(super) fn of(t: &'t Translator<'a>) -> Self {
        let key = |route: &RouteContext<'a>| (Str::new_static(route.kind.name()), route.object.namespace().clone(), route.object.name().clone());
        let routes = t.routes.iter().enumerate().map(|(at, route)| (key(route), (at, route))).collect();
        let mut security_policies = BTreeMap::new();
        for policy in t.resources.security_policies.iter().copied().filter(|policy| is_accepted(t, policy)) {
            for target in targets(policy).into_iter().filter(|target| target.field("kind").str() == "Gateway") {
                let gateway = (policy.namespace().clone(), Str::new(target.field("name").str()));
                security_policies.entry((gateway, target.field("sectionName").some_str().map(Str::new))).or_insert(policy);
            }
        }
        Self { routes, security_policies }
    }

    /// The routes that a policy names, in the order of the controller.
    pub(super) fn routes_of(&self, policy: &Admitted<'_>) -> Vec<&'t RouteContext<'a>> {
        let find = |target: Cursor<'_>| {
            let of = (Str::new(target.field("kind").str()), policy.namespace().clone(), Str::new(target.field("name").str()));
            self.routes.get(&of).copied()
        };
        let found: BTreeMap<usize, &'t RouteContext<'a>> = targets(policy).into_iter().filter_map(find).collect();
        found.into_values().collect()
    }

    /// The SecurityPolicy that applies to a listener: the listener's, or else the Gateway's. The oldest is first.
    pub(super) fn policy_of_listener(&self, gateway: &Name, listener: &Str) -> Option<&'a Admitted<'a>> {
        let of = |section: Option<Str>| self.security_policies.get(&(gateway.clone(), section)).copied();
        of(Some(listener.clone())).or_else(|| of(None))
    }
}
