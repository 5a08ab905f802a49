//! Finds objects that make parts of a gateway although no request reaches their rules.
//!
//! Does not report findings; see `check::unreachable` and the checks of the dialects. Does not decide what gateways do.

use super::app_gateway::app_gateway_routes;
use super::check::{Coverage, coverage, routes_once, tables};
use super::{ResourceRef, RouteRow};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_app_gateway::route::{Request, Router};
use chancery_base::compilation::{AppGatewayRef, Outcome, SideRef};
use chancery_base::diagnostic::Severity;
use chancery_base::ir::Ir;
use chancery_base::ir::appgw::FrontendType;
use chancery_base::resource::{ObjectId, Origin};
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

/// Why no request reaches an object.
pub(super) struct Unreached {
    /// The object that gets its requests, if one is known.
    pub by: Option<ObjectId>,
    /// The reason, as a phrase.
    pub why: Str,
}

/// Returns the objects whose rules no request reaches. Objects without rules are not in it.
pub(super) fn unreached_objects(side: SideRef<'_>) -> HashMap<ObjectId, Unreached> {
    let mut found = covered_objects(side);
    let is_empty = |ir: &Ir| ir.listeners.is_empty() && ir.clusters.is_empty() && ir.delivery.verbatim.is_empty();
    for gateway in &side.side.gateways {
        if let (Some(owner), Outcome::Runs(ir)) = (gateway.owner, &gateway.outcome)
            && is_empty(ir)
        {
            found.insert(owner, Unreached { by: None, why: Str::new_static("it gets no listener and no cluster") });
        }
    }
    for gateway in side.app_gateways() {
        of_app_gateway(gateway, &mut found);
    }
    found
}

/// Returns the objects whose routes are all covered by routes of other objects, in every gateway.
fn covered_objects(side: SideRef<'_>) -> HashMap<ObjectId, Unreached> {
    let mut objects: BTreeMap<ObjectId, Coverage> = BTreeMap::new();
    for ir in side.irs() {
        for (origin, of) in coverage(ir, routes_once(ir).into_iter()) {
            let sum = objects.entry(origin.object()).or_default();
            sum.all += of.all;
            sum.hidden += of.hidden;
            sum.by = sum.by.or(of.by);
        }
    }
    // Listeners, hosts and certificates work without routes.
    let others: HashSet<ObjectId> = if objects.values().any(|of| of.all == of.hidden) { makers_of_chains(side) } else { HashSet::new() };
    let hidden = objects.into_iter().filter(|(object, of)| of.all == of.hidden && !others.contains(object));
    hidden.map(|(object, of)| (object, Unreached { by: of.by.map(Origin::object), why: Str::new_static(COVERED) })).collect()
}

const COVERED: &str = "its routes come first and match all of these requests";

/// Returns the objects that make listeners, filter chains, virtual hosts or certificates.
fn makers_of_chains(side: SideRef<'_>) -> HashSet<ObjectId> {
    let mut found = HashSet::new();
    for listener in side.irs().flat_map(|ir| &ir.listeners) {
        found.extend(listener.origins.iter().map(|origin| origin.object()));
        found.extend(listener.chains.iter().flat_map(|chain| &chain.origins).map(|origin| origin.object()));
    }
    let hosts = side.irs().flat_map(tables).flat_map(|table| &table.virtual_hosts);
    found.extend(hosts.flat_map(|host| &host.origins).map(|origin| origin.object()));
    found
}

/// Paths that represent every other path.
const ANY_PATH: [&str; 2] = ["/", "/chancery-tries-this-path/"];

/// Labels that replace a star in a host.
const ANY_LABEL: [&str; 2] = ["www", "chancery-tries-this-host"];

/// Adds the Ingresses whose rules no request reaches in an Application Gateway: others have their paths, or match first.
fn of_app_gateway(of: AppGatewayRef<'_>, found: &mut HashMap<ObjectId, Unreached>) {
    let side = of.named.of;
    let rows = app_gateway_routes(of);
    let router = Router::new(of.parts);
    let mut reached: HashSet<&ResourceRef> = HashSet::new();
    let mut winners: HashMap<&ResourceRef, &RouteRow> = HashMap::new();
    for row in rows.iter().filter(|row| !row.made_by.is_empty()) {
        let (is_reached, winner) = try_row(&router, &rows, row);
        if is_reached {
            reached.extend(&row.made_by);
        } else if let Some(winner) = winner {
            row.made_by.iter().for_each(|of| {
                winners.entry(of).or_insert(winner);
            });
        }
    }
    let taken_by = taken_paths(side);
    for object in side.objects().iter().filter(|object| *object.key.kind == *"Ingress") {
        let name = ResourceRef::from(&object.key);
        if reached.contains(&name) {
            continue;
        }
        let winner = winners.get(&name).and_then(|row| row.made_by.first());
        let by = winner.and_then(|winner| side.objects().iter().find(|other| ResourceRef::from(&other.key) == *winner)).map(|other| other.id);
        let by = by.or_else(|| taken_by.get(&object.id).copied()).filter(|by| *by != object.id);
        let why = if by.is_some() { "its rules match first" } else { "no rule of the gateway leads there" };
        found.insert(object.id, Unreached { by, why: Str::new_static(why) });
    }
}

/// Sends requests for a row. Returns whether the row matches one of them, or else the row that matches.
fn try_row<'r>(router: &Router<'_>, rows: &'r [RouteRow], row: &RouteRow) -> (bool, Option<&'r RouteRow>) {
    let pattern = |row: &RouteRow| row.path.strip_prefix("path ").map(String::from);
    let own = pattern(row);
    let paths: Vec<String> = match &own {
        Some(path) if path.ends_with('*') => ["", "x", "x/y"].iter().map(|end| format!("{}{end}", path.trim_end_matches('*'))).collect(),
        Some(path) => Vec::from([path.clone()]),
        None => ANY_PATH.iter().map(|path| String::from(*path)).collect(),
    };
    let hosts: Vec<String> = row.domains.iter().flat_map(|host| host_samples(host)).collect();
    let port: i64 = row.address.trim_start_matches(':').parse().unwrap_or_default();
    let mut winner = None;
    for (host, path) in hosts.iter().flat_map(|host| paths.iter().map(move |path| (host, path))) {
        for frontend in [FrontendType::Public, FrontendType::Private] {
            let journey = router.take(&Request { frontend, port, host, path, query: None });
            let Some(taken) = journey.taken else { continue };
            let path = taken.path_rule.map(|(_, pattern)| pattern);
            if taken.listener == *row.listener && path.as_deref() == own.as_deref() {
                return (true, None);
            }
            winner = winner.or_else(|| rows.iter().find(|row| taken.listener == *row.listener && path.as_deref() == pattern(row).as_deref()));
        }
    }
    (false, winner)
}

/// Returns hosts that a pattern matches.
fn host_samples(pattern: &str) -> Vec<String> {
    match pattern {
        "*" => Vec::from([String::from("chancery-tries-this-host.example")]),
        pattern if pattern.contains(['*', '?']) => ANY_LABEL.iter().map(|label| pattern.replace('*', label).replace('?', "q")).collect(),
        pattern => Vec::from([String::from(pattern)]),
    }
}

/// Returns the object that has the paths of another, by the findings about taken paths.
fn taken_paths(side: SideRef<'_>) -> HashMap<ObjectId, ObjectId> {
    let mut found = HashMap::new();
    for finding in side.diagnostics().filter(|finding| finding.severity != Severity::Notice) {
        let other = finding.related.iter().find_map(|related| related.place.object());
        if let (Some(object), Some(other)) = (finding.place.object(), other.filter(|_| TAKEN.contains(&finding.code.name))) {
            found.entry(object).or_insert(other);
        }
    }
    found
}

/// Codes of findings whose related place is the rule that gets the requests.
const TAKEN: [&str; 4] = ["path-taken", "unreachable-path", "default-taken", "wildcard-host-first"];
