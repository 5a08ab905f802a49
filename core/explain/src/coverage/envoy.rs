//! Lists the parts of an Envoy that requests can reach, and the parts that a simulated request reached. Does not count; see the parent module.

use super::{Coverage, FoundPart, PartId, PartKind, written};
use crate::{Positions, routes};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::GatewayRef;
use chancery_base::output_map::OutputMap;
use chancery_base::resource::Origin;
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{Outcome, Simulation, conditions_of, fraction, path_words, percent};
use hashbrown::HashMap;
use pb::route::{Route, route::Action, route_action::ClusterSpecifier};

/// The parts of one Envoy.
#[derive(Debug, Default)]
pub struct EnvoyParts {
    /// By the route's pointer.
    routes: HashMap<String, RouteParts>,
    /// Filters that decide or change requests, by pointer.
    filters: HashMap<String, PartId>,
    /// Redirects of virtual hosts that require TLS, by the host's pointer.
    hosts: HashMap<String, PartId>,
    /// Filter chains that forward connections, by the chain's pointer.
    chains: HashMap<String, PartId>,
}

#[derive(Debug, Default)]
struct RouteParts {
    /// Reached by every request that the route matches.
    whole: Vec<PartId>,
    /// Reached by requests that may go to the cluster.
    splits: Vec<(String, PartId)>,
    conditions: Vec<ConditionParts>,
}

#[derive(Debug)]
struct ConditionParts {
    /// As in a failed check: the matcher and the expected value.
    failed: (String, String),
    /// The parts of its two results; `None` if the controller adds the condition.
    holds: Option<PartId>,
    fails: Option<PartId>,
}

/// Matchers of paths: after them, no condition was checked.
const PATHS: [&str; 6] = ["prefix", "path", "path_separated_prefix", "safe_regex", "connect_matcher", "path_match_policy"];

/// Filters that decide about some requests only: they are reached by requests that they decide about.
const DECIDING: [&str; 8] = ["jwt_authn", "ext_authz", "ratelimit", "rbac", "oauth2", "basic_auth", "api_key_auth", "csrf"];

/// A place below a route or filter with its origins, relative to it.
type Places<'m> = Vec<(String, &'m [Origin])>;

impl EnvoyParts {
    /// Adds the parts of a gateway to `all`.
    pub fn of(all: &mut Coverage, gateway: GatewayRef<'_>, config: &EnvoyConfig, map: &OutputMap, positions: &Positions<'_>) -> Self {
        let mut below: HashMap<String, Places<'_>> = HashMap::new();
        for made in map.iter() {
            if let Some((owner, rest)) = owner_of(&made.pointer) {
                below.entry(owner.to_owned()).or_default().push((rest.to_owned(), made.origins));
            }
        }
        let shadowed: HashMap<String, u32> = routes(gateway).filter_map(|row| Some((row.pointer, row.shadowed_by?))).collect();
        let mut adder = Adder { all, gateway, positions, map, below: &below, shadowed: &shadowed };
        let mut out = Self::default();
        for (table, of) in config.route_tables() {
            for (at, host) in of.virtual_hosts.iter().enumerate() {
                let pointer = format!("{table}/virtual_hosts/{at}");
                let is_any = host.domains.iter().any(|domain| domain == "*");
                for (at, route) in host.routes.iter().enumerate() {
                    let pointer = format!("{pointer}/routes/{at}");
                    let parts = adder.route(&pointer, route, is_any);
                    out.routes.insert(pointer, parts);
                }
                out.hosts.extend(adder.require_tls(&pointer, host).map(|id| (pointer, id)));
            }
        }
        for (manager, of) in config.connection_managers() {
            for (at, filter) in of.http_filters.iter().enumerate() {
                let pointer = format!("{manager}/http_filters/{at}");
                out.filters.extend(adder.filter(&pointer, &filter.name).map(|id| (pointer, id)));
            }
        }
        for row in routes(gateway).filter(|row| row.action == "tcp") {
            let chain = row.pointer.split("/filters/").next().unwrap_or_default().to_owned();
            out.chains.extend(adder.chain(&chain, &row.chain).map(|id| (chain, id)));
        }
        out
    }

    /// Returns the parts that a request reached. The simulation must have traced every route.
    #[must_use]
    pub fn reached(&self, of: &Simulation) -> BTreeSet<PartId> {
        let mut out = BTreeSet::new();
        let place = |name: &str| of.places.iter().find(|place| place.of == name).map(|place| place.pointer.as_str());
        let host = place("virtual_host");
        let route_at = |index: usize| self.routes.get(&format!("{}/routes/{index}", host?));
        for tried in &of.tried {
            let Some(parts) = route_at(tried.index) else { continue };
            let failed = tried.failed.as_ref();
            if failed.is_some_and(|failed| PATHS.contains(&failed.matcher.as_str())) {
                continue;
            }
            let is_it = |condition: &ConditionParts| {
                failed.is_some_and(|failed| (failed.matcher.as_str(), failed.expected.as_str()) == (&condition.failed.0, &condition.failed.1))
            };
            let end = parts.conditions.iter().position(is_it);
            out.extend(parts.conditions.iter().take(end.unwrap_or(usize::MAX)).filter_map(|condition| condition.holds));
            out.extend(end.and_then(|end| parts.conditions.get(end)?.fails));
        }
        let matched = place("route").and_then(|route| self.routes.get(route));
        let by_chance = of.shares.iter().filter_map(|share| route_at(share.route.as_ref()?.index));
        for parts in matched.into_iter().chain(by_chance) {
            out.extend(parts.whole.iter().copied());
        }
        let goes_to = |name: &str| of.clusters.iter().any(|share| share.name == name && share.percent > 0.0);
        out.extend(matched.iter().flat_map(|parts| &parts.splits).filter(|(name, _)| goes_to(name)).map(|(_, id)| *id));
        if let Some(manager) = place("http_connection_manager") {
            for (at, step) in of.filters.iter().enumerate() {
                let decides = DECIDING.iter().any(|name| step.name.contains(name));
                let acts = matches!(step.verdict, "asks" | "answers") || step.verdict == "passes" && step.enabled && !decides;
                out.extend(self.filters.get(&format!("{manager}/http_filters/{at}")).filter(|_| acts));
            }
        }
        match (of.outcome, place("route"), host) {
            (Outcome::Redirect, None, Some(host)) => out.extend(self.hosts.get(host)),
            (Outcome::Forward, None, None) => out.extend(place("filter_chain").and_then(|chain| self.chains.get(chain))),
            _ => {}
        }
        out
    }

    /// Returns the pointers of the routes that have any of these parts.
    pub(super) fn routes_with(&self, wanted: &BTreeSet<PartId>) -> Vec<&str> {
        let has = |parts: &RouteParts| {
            let conditions = parts.conditions.iter().flat_map(|condition| condition.holds.into_iter().chain(condition.fails));
            let splits = parts.splits.iter().map(|(_, id)| *id);
            parts.whole.iter().copied().chain(splits).chain(conditions).any(|id| wanted.contains(&id))
        };
        let mut found: Vec<&str> = self.routes.iter().filter(|(_, parts)| has(parts)).map(|(pointer, _)| pointer.as_str()).collect();
        found.sort();
        found
    }
}

/// Returns the route or filter that a place belongs to, and the rest of the pointer.
fn owner_of(pointer: &str) -> Option<(&str, &str)> {
    let from = |at: usize, list: &str| {
        let number = at + list.len();
        let end = pointer.get(number..)?.find('/').map_or(pointer.len(), |length| number + length);
        Some((pointer.get(..end)?, pointer.get(end..)?))
    };
    if let Some(hosts) = pointer.find("/virtual_hosts/") {
        let at = hosts + pointer.get(hosts..)?.find("/routes/")?;
        return from(at, "/routes/");
    }
    from(pointer.find("/http_filters/")?, "/http_filters/")
}

struct Adder<'c, 'm> {
    all: &'c mut Coverage,
    gateway: GatewayRef<'m>,
    positions: &'m Positions<'m>,
    map: &'m OutputMap,
    below: &'m HashMap<String, Places<'m>>,
    shadowed: &'m HashMap<String, u32>,
}

impl Adder<'_, '_> {
    /// Returns the written origins of places below an owner whose relative pointer `of` accepts.
    fn origins(&self, owner: &str, of: impl Fn(&str) -> bool) -> Vec<Origin> {
        let places = self.below.get(owner).into_iter().flatten().filter(|(place, _)| of(place));
        written(places.flat_map(|(_, origins)| origins.iter().copied()), self.positions)
    }

    fn add(&mut self, kind: PartKind, what: String, holds: Option<bool>, origins: &[Origin], unreachable: Option<&String>) -> Option<PartId> {
        let found = FoundPart { kind, what, holds, origins, unreachable: unreachable.cloned() };
        self.all.add(found, self.gateway.of(), self.positions)
    }

    fn route(&mut self, pointer: &str, route: &Route, is_any_host: bool) -> RouteParts {
        let mut out = RouteParts::default();
        let matcher = route.r#match.clone().unwrap_or_default();
        let is_match = |place: &str| place == "/match" || place.starts_with("/match/");
        let mut rule = self.origins(pointer, is_match);
        if rule.is_empty() {
            rule = self.origins(pointer, str::is_empty);
        }
        if rule.is_empty() {
            // Some controllers know the maker of the action only.
            rule = self.origins(pointer, |_| true);
        }
        if rule.is_empty() {
            return out;
        }
        let unreachable = self.shadowed.get(pointer).map(|by| format!("route {by} of the same host matches all its requests"));
        let unreachable = unreachable.as_ref();
        let path = path_words(&matcher);
        let (kind, what, origins) = match &route.action {
            Some(Action::Redirect(_)) => (PartKind::Redirect, format!("redirect of {path}"), self.redirect(pointer, &rule)),
            Some(Action::DirectResponse(answer)) => (PartKind::Answer, format!("answer {} for {path}", answer.status), rule.clone()),
            _ => (PartKind::Rule, path, rule.clone()),
        };
        let is_shared = origins != rule;
        let what = if is_shared { "redirect".to_string() } else { what };
        out.whole.extend(self.add(kind, what, None, &origins, unreachable));
        if is_shared {
            return out;
        }
        self.shares(pointer, route, &rule, &mut out);
        out.conditions = conditions_of(&matcher).into_iter().map(|of| self.condition(pointer, &of, is_any_host, unreachable)).collect();
        self.policies(pointer, &mut out, unreachable);
        out
    }

    /// Returns the origins of a redirect: those of another resource that asks for it, else those of its rule.
    fn redirect(&self, pointer: &str, rule: &[Origin]) -> Vec<Origin> {
        let by = self.origins(pointer, |place| place.starts_with("/redirect"));
        let is_foreign = |origin: &Origin| rule.iter().all(|of| of.object() != origin.object());
        if !by.is_empty() && by.iter().all(is_foreign) { by } else { rule.to_vec() }
    }

    fn shares(&mut self, pointer: &str, route: &Route, rule: &[Origin], out: &mut RouteParts) {
        let matcher = route.r#match.as_ref();
        if let Some(of) = matcher.and_then(|of| of.runtime_fraction.as_ref()) {
            let (numerator, denominator) = fraction(of, &alloc::collections::BTreeMap::new());
            let origins = self.origins(pointer, |place| place.starts_with("/match/runtime_fraction"));
            if numerator < denominator && !origins.is_empty() {
                let what = format!("{}% of requests", percent(numerator as f64 * 100.0 / denominator as f64));
                out.whole.extend(self.add(PartKind::Split, what, None, &origins, None));
            }
        }
        let Some(Action::Route(action)) = &route.action else { return };
        let Some(ClusterSpecifier::WeightedClusters(all)) = &action.cluster_specifier else { return };
        let total: u64 = all.clusters.iter().map(|of| u64::from(of.weight.unwrap_or_default())).sum();
        for (at, cluster) in all.clusters.iter().enumerate() {
            let weight = u64::from(cluster.weight.unwrap_or_default());
            if weight == 0 || all.clusters.len() < 2 {
                continue;
            }
            let here = format!("/route/weighted_clusters/clusters/{at}");
            let mut origins = self.origins(pointer, |place| place.strip_prefix(&here).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
            if origins.is_empty() {
                origins = rule.to_vec();
            }
            let what = format!("{}% to {}", percent(weight as f64 * 100.0 / total.max(1) as f64), cluster.name);
            out.splits.extend(self.add(PartKind::Split, what, None, &origins, None).map(|id| (cluster.name.clone(), id)));
        }
    }

    fn condition(
        &mut self,
        pointer: &str,
        of: &chancery_envoy::simulate::MatchCondition,
        is_any_host: bool,
        unreachable: Option<&String>,
    ) -> ConditionParts {
        let here = format!("/match/{}", of.field);
        let origins = self.origins(pointer, |place| place.strip_prefix(&here).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
        // The virtual host already compares the host.
        let is_of_host = !is_any_host && matches!(of.matcher.as_str(), "header :authority" | "header host");
        let words = format!("{} {}", of.matcher, of.expected);
        let mut add = |holds: bool, verb: &str| {
            let what = format!("{words} {verb}");
            if origins.is_empty() || is_of_host { None } else { self.add(PartKind::Condition, what, Some(holds), &origins, unreachable) }
        };
        ConditionParts { failed: (of.matcher.clone(), of.expected.clone()), holds: add(true, "holds"), fails: add(false, "does not hold") }
    }

    fn policies(&mut self, pointer: &str, out: &mut RouteParts, unreachable: Option<&String>) {
        let places = self.below.get(pointer).into_iter().flatten();
        let names: BTreeSet<String> = places.filter_map(|(place, _)| policy_of(place)).map(ToOwned::to_owned).collect();
        for name in names {
            let origins = self.origins(pointer, |place| policy_of(place) == Some(name.as_str()));
            let what = name.replace("~1", "/").replace("~0", "~");
            out.whole.extend(self.add(PartKind::Policy, what, None, &origins, unreachable));
        }
    }

    fn require_tls(&mut self, pointer: &str, host: &pb::route::VirtualHost) -> Option<PartId> {
        if host.require_tls == 0 {
            return None;
        }
        let origins = written(self.map.get(&format!("{pointer}/require_tls"))?.iter().copied(), self.positions);
        self.add(PartKind::Redirect, "redirect to https".into(), None, &origins, None)
    }

    fn filter(&mut self, pointer: &str, name: &str) -> Option<PartId> {
        let origins = self.origins(pointer, |_| true);
        self.add(PartKind::Policy, name.into(), None, &origins, None)
    }

    fn chain(&mut self, pointer: &str, words: &str) -> Option<PartId> {
        let origins = written(self.map.lookup(pointer)?.origins.iter().copied(), self.positions);
        self.add(PartKind::Rule, format!("connections, {words}"), None, &origins, None)
    }
}

/// Returns the setting of a route that a place belongs to: everything but the match, the target and a redirect.
fn policy_of(place: &str) -> Option<&str> {
    let first = |rest: &str| rest.len() - rest.split_once('/').map_or(0, |(_, after)| after.len() + 1);
    let name = |rest| -> Option<&str> { str::get(rest, ..first(rest)) };
    if let Some(rest) = place.strip_prefix("/route/") {
        return name(rest).filter(|field| !matches!(*field, "cluster" | "weighted_clusters" | "cluster_header"));
    }
    if let Some(rest) = place.strip_prefix("/typed_per_filter_config/") {
        return name(rest);
    }
    let field = name(place.strip_prefix('/')?)?;
    field.contains("_headers_to_").then_some(field)
}
