//! Reports routes whose matches are the same, so that only one of them gets the requests.

use super::super::context::{RouteKind, Translator};
use super::super::model::{HttpRoute, StringMatch, StringMatchKind};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Str;
use core::hash::{BuildHasher, Hash, Hasher};

type Compared = (String, String, bool, String);
/// Kind, namespace and name of a route.
type Owner = (Str, Str, Str);

/// Adds a condition to routes that overlap.
pub(crate) fn report(t: &mut Translator<'_>) {
    // By listener and route: the routes that it overlaps with.
    let mut overlaps: BTreeMap<(Str, Owner), BTreeSet<Owner>> = BTreeMap::new();
    for listener in t.xds.values().flat_map(|xds| &xds.http) {
        let mut buckets: BTreeMap<_, BTreeSet<Owner>> = BTreeMap::new();
        for route in candidates(&listener.routes) {
            let of = &route.metadata;
            buckets.entry(key(route)).or_default().insert((of.kind.clone(), of.namespace.clone(), of.name.clone()));
        }
        for owners in buckets.into_values().filter(|owners| owners.len() > 1) {
            for owner in &owners {
                let others = owners.iter().filter(|other| *other != owner).cloned();
                overlaps.entry((listener.core.name.clone(), owner.clone())).or_default().extend(others);
            }
        }
    }
    if overlaps.is_empty() {
        return;
    }
    let mut found = Vec::new();
    for (place, route) in t.routes.iter().enumerate().filter(|(_, route)| matches!(route.kind, RouteKind::Http | RouteKind::Grpc)) {
        let owner: Owner = (Str::new_static(route.kind.name()), route.object.namespace().clone(), route.object.name().clone());
        for (parent, of) in route.parents.iter().enumerate() {
            let others: BTreeSet<Owner> =
                of.listeners.iter().filter_map(|id| overlaps.get(&(t.listener(*id).ir_name.clone(), owner.clone()))).flatten().cloned().collect();
            if !others.is_empty() {
                found.push((place, parent, others));
            }
        }
    }
    for (place, parent, others) in found {
        let names: BTreeSet<String> = others.iter().map(|(kind, namespace, name)| format!("{kind} {namespace}/{name}")).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let message = format!("Overlapping match conditions with route(s): {names}");
        t.routes[place].conditions(parent).set("RouteRulesOverlap", true, "RouteRulesOverlap", message);
        t.routes[place].parents[parent].overlapping = others;
    }
}

/// Returns routes whose matches may be those of another route: all but those whose hash is unique.
fn candidates(routes: &[Arc<HttpRoute>]) -> impl Iterator<Item = &HttpRoute> {
    let mut hashes: Vec<(u64, usize)> = routes.iter().enumerate().map(|(at, route)| (hash_of(route), at)).collect();
    hashes.sort_unstable();
    let several = hashes.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1).flatten();
    let places: Vec<usize> = several.map(|(_, at)| *at).collect();
    places.into_iter().filter_map(|at| routes.get(at).map(|route| &**route))
}

/// A hash that is equal for routes with equal keys. It leaves out what is costly to compare.
fn hash_of(route: &HttpRoute) -> u64 {
    let mut hasher = foldhash::fast::FixedState::with_seed(0).build_hasher();
    route.hostname.value.hash(&mut hasher);
    let path = route.path.as_ref().filter(|_| !is_connect(route)).map_or("/", |path| &path.value.value);
    path.strip_suffix('/').unwrap_or(path).hash(&mut hasher);
    (route.headers.len(), route.query.len(), route.cookies.len()).hash(&mut hasher);
    hasher.finish()
}

fn is_connect(route: &HttpRoute) -> bool {
    let upgrades = route.traffic.as_ref().and_then(|traffic| traffic.http_upgrade.as_ref());
    upgrades.is_some_and(|upgrades| upgrades.iter().any(|upgrade| upgrade.get("type").is("CONNECT")))
}

fn key(route: &HttpRoute) -> (Str, Compared, Vec<Compared>, Vec<Compared>, Vec<Compared>) {
    let path = if is_connect(route) { (String::from("CONNECT"), String::new(), false, String::new()) } else { path(route.path.as_ref()) };
    let list = |matches: &[StringMatch], lower: bool| {
        let mut all: Vec<Compared> = matches.iter().map(|of| compared(of, lower)).collect();
        all.sort();
        all
    };
    (route.hostname.value.clone(), path, list(&route.headers, true), list(&route.query, false), list(&route.cookies, false))
}

fn path(of: Option<&StringMatch>) -> Compared {
    let prefix = |text: &str| (String::new(), format!("{:?}", StringMatchKind::Prefix), false, String::from(text));
    match of {
        None => prefix("/"),
        Some(of) if of.kind == StringMatchKind::Prefix => match of.value.value.as_str() {
            "/" => prefix("/"),
            text => prefix(text.strip_suffix('/').unwrap_or(text)),
        },
        Some(of) => compared(of, false),
    }
}

fn compared(of: &StringMatch, lower: bool) -> Compared {
    let name = if lower { of.name.value.to_lowercase() } else { String::from(of.name.value.as_str()) };
    (name, format!("{:?}", of.kind), of.invert.value, String::from(of.value.value.as_str()))
}
