//! Processes a route at one of its parents, for all kinds of routes.

use super::backend::Backends;
use super::context::{Attachment, GatewayListener};
use super::filter::Filters;
use crate::model::{Conditions, PathRewrite, Route, RouteTimeouts};
use crate::processor::route::answer;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::resource::{Also, Origin, Rule, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::go;
use chancery_text::Str;

impl Attachment<'_, '_> {
    /// The routes of a rule, one for each match. `index` is the rule's place.
    pub(super) fn routes(
        &self,
        rule: Cursor<'_>,
        index: usize,
        matches: Vec<Conditions>,
        filters: Filters,
        timeouts: &RouteTimeouts,
        backends: Option<&Backends>,
    ) -> Vec<Arc<Route>> {
        let mut redirect = filters.redirect;
        if let Some(redirect) = &mut redirect {
            remove_prefix(&mut redirect.value.path, &matches);
        }
        let mut rewrite = filters.rewrite;
        remove_prefix(&mut rewrite, &matches);
        let make = |mut conditions: Conditions| {
            if redirect.is_some() {
                // Contour forgets them.
                conditions.queries.clear();
            }
            let mut route = Route::new(conditions);
            // Rules after the 256th wrap around, since Contour counts them in eight bits.
            route.priority = index as u8;
            route.request_headers = filters.request_headers.clone();
            route.response_headers = filters.response_headers.clone();
            route.source = (Str::new_static(self.kind.name()), self.route.namespace().clone(), self.route.name().clone());
            route.origins = alloc::vec![rule.origin()];
            route.redirect = redirect.clone();
            if let Some(backends) = backends {
                route.clusters = backends.clusters.clone();
                route.mirrors = filters.mirrors.clone();
                route.rewrite = rewrite.clone();
                route.timeouts = timeouts.clone();
                if backends.total_weight == 0 {
                    route.direct_response = Some(answer(500, rule.field("backendRefs").origin()));
                }
            }
            Arc::new(route)
        };
        matches.into_iter().map(make).collect()
    }

    /// Adds the routes of a rule to their hosts: all, or none if another route of this kind has the same match. Returns the rule of that route.
    pub(super) fn add(&mut self, listener: &GatewayListener<'_>, hosts: &[Sourced<Str>], routes: &[Arc<Route>]) -> Result<(), Option<Origin>> {
        let graph = self.processing.listener(&listener.graph_name);
        let conflict = |route: &Arc<Route>, name: &Str| {
            let host = if listener.secret.is_some() {
                graph.secure_hosts.get(name).map(|secure| &secure.host)
            } else {
                graph.hosts.get(name).map(|host| &**host)
            };
            let same = host.and_then(|host| host.routes.get(&route.conditions));
            same.filter(|same| same.source.0 == route.source.0)
        };
        if let Some(winner) = hosts.iter().find_map(|host| routes.iter().find_map(|route| conflict(route, &host.value))) {
            return Err(winner.origins.first().copied());
        }
        for host in hosts {
            for route in routes {
                let route = route.clone();
                match &listener.secret {
                    Some(secret) => {
                        let secure = self.processing.secure_host(&listener.graph_name, host);
                        secure.secret = Some(secret.clone());
                        secure.host.add(route);
                    }
                    None => self.processing.host(&listener.graph_name, host).add(route),
                }
            }
        }
        Ok(())
    }

    /// Reports rules that were dropped because other routes have the same match, each with the winning rule.
    pub(super) fn report_dropped(&mut self, dropped: &[(Origin, Option<Origin>)], rules: Cursor<'_>) {
        let kind = self.kind.name();
        let (first, winner) = dropped.first().copied().unwrap_or_else(|| (rules.origin(), None));
        if dropped.len() == rules.len() {
            let message = format!("{kind}'s Match has conflict with other {kind}'s Match");
            self.say_because("Accepted", false, "RuleMatchConflict", message, (first, winner));
        } else if !dropped.is_empty() {
            let message = format!("Dropped Rule: some of {kind}'s rule(s) has(ve) been dropped because of conflict against other {kind}'s rule(s)");
            self.say_because("PartiallyInvalid", true, "RuleMatchPartiallyConflict", message, (first, winner));
        }
    }
}

/// A prefix that becomes `/` is removed with all following slashes, as Envoy would leave two. All routes of a rule use the expression of the first
/// prefix among its matches.
fn remove_prefix(rewrite: &mut Option<Sourced<PathRewrite>>, matches: &[Conditions]) {
    let Some(rewrite) = rewrite else { return };
    let Some(first) = matches.iter().find(|conditions| conditions.path.value.is_prefix()) else { return };
    if rewrite.value == PathRewrite::Prefix(Str::new_static("/")) {
        let expression = format!("^{}/*", go::quote_meta(first.path.value.text()));
        rewrite.value = PathRewrite::RemovePrefixRegex(expression.into(), Also(first.path.origin.into_iter().collect()));
        rewrite.origin = rewrite.origin.map(|origin| origin.by(Rule::Derived));
    }
}
