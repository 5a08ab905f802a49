//! Reports routes that no request can reach, because another route matches all their requests. The proof is in `cover`.

use super::cover::{Cover, covered, runtime};
use super::whole::{Whole, tables, written};
use crate::ResourceRef;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Place, codes};
use chancery_base::ir::{Ir, Route};
use chancery_base::resource::Origin;
use chancery_envoy::emit::{self, pb};
use core::ptr;
use hashbrown::{HashMap, HashSet};
use pb::route::RouteMatch;

/// The routes that a place of the input makes, and those that other routes cover.
#[derive(Default)]
pub(crate) struct Coverage {
    /// How many routes the place makes.
    pub all: usize,
    /// How many of them routes of other objects cover.
    pub hidden: usize,
    /// The place of the first covering route.
    pub by: Option<Origin>,
}

/// Returns the coverage of the routes of each place in the input.
pub(crate) fn coverage<'r>(ir: &'r Ir, routes: impl Iterator<Item = &'r Route>) -> BTreeMap<Origin, Coverage> {
    let runtime = runtime(ir);
    let matchers: HashMap<usize, RouteMatch> = routes.map(|route| (ptr::from_ref(route).addr(), emit::route_matcher(ir, &route.matcher))).collect();
    let mut seen = HashSet::new();
    let mut made: BTreeMap<Origin, Coverage> = BTreeMap::new();
    for host in tables(ir).flat_map(|table| &table.virtual_hosts).filter(|host| seen.insert(Arc::as_ptr(&host.routes).addr())) {
        let ordered = host.routes.iter().filter_map(|route| Some((matchers.get(&Arc::as_ptr(route).addr())?, written(&route.origins))));
        let (ordered, origins): (Vec<&RouteMatch>, Vec<Option<Origin>>) = ordered.unzip();
        for (origin, cover) in origins.iter().zip(covered(ordered, &runtime)) {
            let Some(origin) = origin else { continue };
            let of = made.entry(*origin).or_default();
            of.all += 1;
            let by = if let Cover::By(by) = cover { origins.get(by).copied().flatten() } else { None };
            let by = by.filter(|by| by.object() != origin.object());
            of.hidden += usize::from(by.is_some());
            of.by = of.by.or(by);
        }
    }
    made
}

/// Reports resources without any reachable route.
pub(super) fn check(whole: &mut Whole<'_>) {
    let ir = whole.ir;
    for (origin, of) in coverage(ir, whole.routes.iter().copied()) {
        let Some(other) = whole.key(of.by).filter(|_| of.all == of.hidden) else { continue };
        let message =
            format!("no request reaches this: {} comes before it in every virtual host and matches all of its requests", ResourceRef::from(other));
        let finding = whole.finding(&codes::UNREACHABLE_ROUTE, Some(origin), message);
        whole.report(finding.related(Place::origin(of.by), "this one matches them"));
    }
}
