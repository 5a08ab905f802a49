//! Reports routes that a route of another HTTPProxy replaces. Does not compare the routes of one HTTPProxy; see `checks`.
//!
//! Source of behaviour: Contour `internal/dag/dag.go` stores the routes of a host by their conditions, and `internal/dag/httpproxy_processor.go`
//! adds the routes of includes before an HTTPProxy's own routes, so the last route wins.

use super::Processing;
use crate::cluster::{Admitted, Name};
use crate::model::{Route, Routes};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::sync::Arc;
use chancery_base::diagnostic::{Diagnostic, Place, Severity, codes};
use chancery_base::resource::Origin;
use chancery_kubernetes::cursor::Cursor;

impl<'a> Processing<'a> {
    /// Reports the written routes of a host that have no effect, because the table has other routes with their conditions.
    pub(super) fn report_replaced(&mut self, host: &str, routes: &[Arc<Route>], table: &Routes) {
        if table.len() == routes.len() {
            return;
        }
        // A written route may become several routes, which differ in the end of their prefix.
        let (mut kept, mut replaced) = (BTreeSet::new(), BTreeMap::new());
        for route in routes {
            let (Some(written), Some(winner)) = (route.origins.first(), table.get(&route.conditions)) else { continue };
            if Arc::ptr_eq(route, winner) {
                kept.insert(*written);
            } else {
                replaced.entry(*written).or_insert((route, winner));
            }
        }
        let names_of_kept: BTreeSet<Name> =
            routes.iter().filter(|route| route.origins.first().is_some_and(|at| kept.contains(at))).map(name_of).collect();
        for (written, (route, winner)) in replaced.into_iter().filter(|(written, _)| !kept.contains(written)) {
            let (loser, name) = (name_of(route), name_of(winner));
            if loser != name
                && let Some(proxy) = self.source.proxies.get(&loser)
            {
                let include = self.source.proxies.get(&name).and_then(|parent| include_of(parent, proxy));
                let is_dead = !names_of_kept.contains(&loser);
                self.logged.push(finding(host, proxy, written, winner, include.map(|include| (include, is_dead))));
            }
        }
    }
}

fn finding(host: &str, proxy: &Admitted<'_>, written: Origin, winner: &Arc<Route>, include: Option<(Cursor<'_>, bool)>) -> Diagnostic {
    let (namespace, name) = name_of(winner);
    let message = format!("HTTPProxy `{name}` ({namespace}) has a route with the same conditions, and takes all requests of this one for `{host}`");
    let mut finding = Diagnostic::new(&codes::ROUTE_CONFLICT, message, Place::origin(Some(written))).about(proxy.object.key.clone());
    finding.severity = Severity::Warning;
    if let Some(at) = winner.origins.first() {
        finding = finding.related(Place::origin(Some(*at)), "this route wins");
    }
    match include {
        Some((include, is_dead)) => {
            let effect = if is_dead { "no request reaches a route of this include" } else { "this include adds the route" };
            let help = "give them different conditions: a route wins over the routes of its HTTPProxy's includes";
            finding.related(Place::origin(Some(include.origin())), effect).help(help)
        }
        None => finding.help("give them different conditions: the last include wins"),
    }
}

/// The namespace and name of a route's HTTPProxy.
fn name_of(route: &Arc<Route>) -> Name {
    (route.source.1.clone(), route.source.2.clone())
}

/// Finds the include of an HTTPProxy in another one.
fn include_of<'p>(parent: &'p Admitted<'_>, child: &Admitted<'_>) -> Option<Cursor<'p>> {
    parent.spec().field("includes").items().find(|include| {
        let namespace = include.field("namespace").some_str().unwrap_or(parent.namespace());
        include.field("name").str() == child.name().as_str()
            && (if namespace.is_empty() { parent.namespace() } else { namespace }) == child.namespace().as_str()
    })
}
