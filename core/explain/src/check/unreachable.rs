//! Reports routes that no request can reach, because another route matches all their requests. The proof is in `cover`.

use super::cover::{Cover, covered, runtime};
use super::whole::{Whole, tables, written};
use crate::ResourceRef;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Place, codes};
use chancery_base::resource::Origin;
use chancery_envoy::emit::{self, pb};
use core::ptr;
use hashbrown::{HashMap, HashSet};
use pb::route::RouteMatch;

/// Reports resources without any reachable route.
pub(super) fn check(whole: &mut Whole<'_>) {
    let ir = whole.ir;
    let runtime = runtime(ir);
    let matchers: HashMap<usize, RouteMatch> =
        whole.routes.iter().map(|route| (ptr::from_ref(*route).addr(), emit::route_matcher(ir, &route.matcher))).collect();
    let mut seen = HashSet::new();
    // For each place of the input: the number of routes it makes, how many of them are covered, and the covering route.
    let mut made: BTreeMap<Origin, (usize, usize, Option<Origin>)> = BTreeMap::new();
    for host in tables(ir).flat_map(|table| &table.virtual_hosts).filter(|host| seen.insert(Arc::as_ptr(&host.routes).addr())) {
        let ordered = host.routes.iter().filter_map(|route| Some((matchers.get(&Arc::as_ptr(route).addr())?, written(&route.origins))));
        let (ordered, origins): (Vec<&RouteMatch>, Vec<Option<Origin>>) = ordered.unzip();
        for (origin, cover) in origins.iter().zip(covered(ordered, &runtime)) {
            let Some(origin) = origin else { continue };
            let (all, hidden, whose) = made.entry(*origin).or_default();
            *all += 1;
            let by = if let Cover::By(by) = cover { origins.get(by).copied().flatten() } else { None };
            let by = by.filter(|by| by.object() != origin.object());
            *hidden += usize::from(by.is_some());
            *whose = whose.or(by);
        }
    }
    for (origin, (all, hidden, by)) in made {
        let Some(other) = whole.key(by).filter(|_| all == hidden) else { continue };
        let message =
            format!("no request reaches this: {} comes before it in every virtual host and matches all of its requests", ResourceRef::from(other));
        let finding = whole.finding(&codes::UNREACHABLE_ROUTE, Some(origin), message);
        whole.report(finding.related(Place::origin(by), "this one matches them"));
    }
}
