//! Compares virtual hosts that receive the same requests on both sides, route by route.
//!
//! A request that is treated differently matches a differing route on at least one side: among equal routes in the same order, the first match is
//! the same on both sides. So only requests that differing routes may match are tried.
//!
//! Does not pair virtual hosts; see `listeners`.

use super::super::order::{common_ends, rising};
use super::both::{Both, scheme_of};
use super::chance;
use super::conditions::{self, Choice, Dimension};
use super::difference::Scene;
use super::frames::{self, Frame};
use super::paths::{Pattern, paths, rewritten};
use super::place::{self, any_port, witness};
use super::reach;
use super::report::RequestPlace;
use super::work::Work;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{Outcome, Simulation, Table};
use chancery_envoy_api::prost::Message;
use hashbrown::HashMap;
use pb::route::{Route, RouteMatch, redirect_action::PathRewriteSpecifier, route::Action};

/// A virtual host of a side.
#[derive(Clone, Copy)]
pub(super) struct PlacedHost<'t, 'a> {
    pub(super) table: &'t Table<'a>,
    pub(super) index: usize,
}

impl<'a> PlacedHost<'_, 'a> {
    fn routes(&self) -> &'a [Route] {
        self.table.config.virtual_hosts.get(self.index).map(|host| host.routes.as_slice()).unwrap_or_default()
    }

    fn pointer(&self) -> String {
        format!("{}/virtual_hosts/{}", self.table.pointer, self.index)
    }
}

/// Limits for requests of two routes: the number of paths, and of requests with the same path.
const MOST_OF_TWO: usize = 64;
const MOST_OF_PATH: usize = 3;
/// The number of routes that are tried for a virtual host that only one side has.
const MOST_OF_ONE: usize = 64;

/// A request is retried with credentials at most this many times: each filter may require another.
const MOST_CREDENTIALS: usize = 4;

/// Compares the requests of two virtual hosts. `domains` describes the hosts of the requests; `both` is the request that others are derived from.
pub(super) fn compare<'a>(work: &mut Work<'_, 'a>, hosts: [Option<PlacedHost<'_, 'a>>; 2], domains: &[String], both: &Both) {
    let mut scene = Scene {
        hosts: hosts.map(|host| host.and_then(|host| Some((host.table.config.virtual_hosts.get(host.index)?, host.pointer())))),
        sources: work.sides.map(|side| side.source),
        has_tls: work.has_tls,
        ..Scene::default()
    };
    let empty: &[Route] = &[];
    let [old, new] = hosts.map(|host| host.map_or(empty, |host| host.routes()));
    let same = EqualRoutes::of(old, new, &work.changed);
    let mut all = BTreeSet::new();
    let mut differ = BTreeSet::new();
    for (routes, kept) in [(old, &same.old), (new, &same.new)] {
        for (at, route) in routes.iter().enumerate() {
            let Some(of) = &route.r#match else { continue };
            all.insert(Pattern::of(of));
            if !kept.contains_key(&at) && (hosts.iter().all(Option::is_some) || differ.len() < MOST_OF_ONE) {
                differ.insert(Pattern::of(of));
            }
        }
    }
    if differ.is_empty() {
        return;
    }
    for (by_path, routes) in scene.by_path.iter_mut().zip([old, new]) {
        for (at, of) in routes.iter().enumerate().filter_map(|(at, route)| Some((at, route.r#match.as_ref()?))) {
            by_path.entry(Pattern::of(of)).or_default().push(at);
        }
    }
    let mut expressions: BTreeMap<Pattern<'_>, BTreeSet<&str>> = BTreeMap::new();
    for (routes, kept) in [(old, &same.old), (new, &same.new)] {
        for route in routes.iter().enumerate().filter(|(at, _)| !kept.contains_key(at)).map(|(_, route)| route) {
            if let (Some(of), Some(rewrite)) = (&route.r#match, regex_rewrite(route)) {
                expressions.entry(Pattern::of(of)).or_default().insert(rewrite);
            }
        }
    }
    let mut tried: HashMap<Vec<ChosenRoutes>, usize> = HashMap::default();
    // Requests of two routes are limited, so paths that rewrites distinguish come first.
    let first = rewritten(&expressions, &mut work.budget);
    for path in first.into_iter().chain(paths(&all, &differ, &mut work.budget)) {
        if work.options.own_paths.iter().any(|own| path.starts_with(own)) {
            continue;
        }
        let candidates = hosts.map(|host| host.and_then(|host| Some(host.table.routes(host.index)?.candidates(&path))).unwrap_or_default());
        let kept = candidates[0].iter().all(|at| same.old.contains_key(at)) && candidates[1].iter().all(|at| same.new.contains_key(at));
        if kept {
            continue;
        }
        let [first, second] = &candidates;
        let of =
            |routes: &'a [Route], all: &[usize]| -> Vec<&'a RouteMatch> { all.iter().filter_map(|at| routes.get(*at)?.r#match.as_ref()).collect() };
        let mut matchers = of(old, first);
        matchers.extend(of(new, second));
        let draws = chance::draws([old, new], &candidates, work);
        let mut here: HashMap<Vec<ChosenRoutes>, usize> = HashMap::default();
        for choice in conditions::choices(&matchers, &mut work.budget) {
            if !work.budget.take_request() {
                return;
            }
            let both = request(both, &path, &choice);
            let chosen: Vec<[Simulation; 2]> = draws.iter().map(|draw| work.choose(&draw.of(&both))).collect();
            // The chosen host may belong to another virtual host, which is compared separately.
            if chosen.iter().any(|[before, after]| comes_elsewhere(before, &scene, 0) || comes_elsewhere(after, &scene, 1)) {
                continue;
            }
            let taken: Vec<ChosenRoutes> =
                chosen.iter().map(|[before, after]| [chosen_route(before, &scene, 0), chosen_route(after, &scene, 1)]).collect();
            let kept = |taken: &ChosenRoutes| matches!(taken, [Some(Some(first)), Some(Some(second))] if same.old.get(first) == Some(second));
            if taken.iter().all(kept) {
                continue;
            }
            let times = here.entry(taken.clone()).or_insert(0);
            *times += 1;
            let paths = tried.entry(taken).or_default();
            *paths += usize::from(*times == 1);
            if *times > MOST_OF_PATH || *paths > MOST_OF_TWO {
                continue;
            }
            // Filters behind an authentication filter are reached only with a credential.
            let mut shown = both;
            for _ in 0..MOST_CREDENTIALS {
                let Some(credential) = chance::compare_draws(work, &scene, domains, &shown, &draws) else { break };
                shown = shown.showing(credential);
            }
        }
    }
}

/// Returns a route's regular expression for rewriting paths.
fn regex_rewrite(route: &Route) -> Option<&str> {
    let rewrite = match route.action.as_ref()? {
        Action::Route(action) => action.regex_rewrite.as_deref(),
        Action::Redirect(redirect) => match redirect.path_rewrite_specifier.as_ref()? {
            PathRewriteSpecifier::RegexRewrite(rewrite) => Some(rewrite),
            _ => None,
        },
        _ => None,
    };
    rewrite?.pattern.as_ref().map(|pattern| pattern.regex.as_str())
}

/// The routes that matched a request, on both sides.
type ChosenRoutes = [Option<Option<usize>>; 2];

/// Returns the index of the route that matched a request: `Some(None)` if none matched, `None` if the request reached another virtual host.
fn chosen_route(simulation: &Simulation, scene: &Scene<'_>, side: usize) -> Option<Option<usize>> {
    let (_, pointer) = scene.hosts.get(side)?.as_ref()?;
    let here = simulation.places.iter().any(|place| place.of == "virtual_host" && place.pointer == *pointer);
    here.then(|| simulation.route.as_ref().map(|route| route.index))
}

/// Whether a request reaches another virtual host than the compared one.
fn comes_elsewhere(simulation: &Simulation, scene: &Scene<'_>, side: usize) -> bool {
    let wanted = scene.hosts.get(side).and_then(Option::as_ref).map(|(_, pointer)| pointer);
    match simulation.places.iter().find(|place| place.of == "virtual_host") {
        Some(found) => wanted != Some(&found.pointer),
        None => wanted.is_some() && simulation.outcome == Outcome::NoVirtualHost,
    }
}

/// Requests for one route of a table.
pub(super) struct RouteWitness {
    /// The route, as a JSON pointer.
    pub(super) pointer: String,
    /// Its requests, as the report describes them.
    pub(super) place: RequestPlace,
    /// Candidate requests. The first one that the route matches is the witness.
    pub(super) requests: Vec<Both>,
}

/// At most this many requests are tried for one route.
const MOST_OF_ROUTE: usize = 64;

/// Returns candidate requests for each route of a table, up to `most`.
pub(super) fn witnesses(work: &mut Work<'_, '_>, table: &Table<'_>, like: &Both, most: usize) -> Vec<RouteWitness> {
    let mut out = Vec::new();
    for (index, host) in table.config.virtual_hosts.iter().enumerate() {
        for (at, of) in host.routes.iter().enumerate().filter_map(|(at, route)| Some((at, route.r#match.as_ref()?))) {
            let own = conditions::domains(of);
            let hosts = if own.is_empty() { host.domains.clone() } else { own };
            let Some(domain) = hosts.first() else { continue };
            let mut both = like.clone();
            both.request.authority = witness(domain, any_port(like.ports));
            let path = Pattern::of(of).example().unwrap_or_else(|| "/".to_owned());
            let choices = conditions::choices(&[of], &mut work.budget).into_iter().take(MOST_OF_ROUTE);
            let requests = choices.map(|choice| request(&both, &path, &choice)).collect();
            let [port_before, port_after] = like.ports;
            let (path, mut conditions) = (Some(Pattern::of(of).words()), conditions::words(of));
            place::take_scheme(&mut conditions);
            out.push(RouteWitness {
                pointer: format!("{}/virtual_hosts/{index}/routes/{at}", table.pointer),
                place: RequestPlace {
                    scheme: Some(scheme_of(&like.request)),
                    hosts,
                    path,
                    conditions,
                    port_before,
                    port_after,
                    before: None,
                    after: None,
                },
                requests,
            });
            if out.len() >= most {
                return out;
            }
        }
    }
    out
}

/// Builds a request with a path and chosen properties.
fn request(both: &Both, path: &str, choice: &Choice) -> Both {
    let mut out = both.clone();
    let request = &mut out.request;
    request.path = path.to_owned();
    let (mut query, mut cookies) = (Vec::new(), Vec::new());
    for (dimension, value) in choice {
        let Some(value) = value else { continue };
        match dimension {
            Dimension::Method => request.method.clone_from(value),
            Dimension::Authority => request.authority.clone_from(value),
            Dimension::Header(name) => request.headers.add(name, value),
            Dimension::Query(name) => query.push(if value.is_empty() { name.clone() } else { format!("{name}={value}") }),
            Dimension::Cookie(name) => cookies.push(format!("{name}={value}")),
            Dimension::ClientCertificate => request.client_certificate = request.tls,
        }
    }
    if !query.is_empty() {
        request.path.push('?');
        request.path.push_str(&query.join("&"));
    }
    if !cookies.is_empty() {
        request.headers.add("cookie", &cookies.join("; "));
    }
    out
}

/// Equal routes in the same order.
struct EqualRoutes {
    /// The index on the second side by the index on the first.
    old: HashMap<usize, usize>,
    new: HashMap<usize, usize>,
}

impl EqualRoutes {
    fn of(old: &[Route], new: &[Route], changed: &BTreeSet<&str>) -> Self {
        let equal = |a: &Route, b: &Route| a == b && (changed.is_empty() || !reach::clusters_of(a).iter().any(|name| changed.contains(name)));
        let (head, tail) = common_ends(old, new, equal);
        let mut pairs: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
        pairs.extend((1..=tail).map(|back| (old.len() - back, new.len() - back)));
        let middle = |all: &[Route]| head..all.len().saturating_sub(tail).max(head);
        // Routes between the equal ends are matched by content; the longest run in order is kept.
        let mut known: HashMap<Vec<u8>, Vec<usize>> = HashMap::default();
        for at in middle(new).rev() {
            known.entry(new.get(at).map(Message::encode_to_vec).unwrap_or_default()).or_default().push(at);
        }
        let mut between: Vec<(usize, usize)> = Vec::new();
        for at in middle(old) {
            let Some(route) = old.get(at) else { continue };
            let Some(all) = known.get_mut(&route.encode_to_vec()) else { continue };
            if let Some(other) = all.pop().filter(|other| new.get(*other).is_some_and(|other| equal(route, other))) {
                between.push((at, other));
            }
        }
        pairs.extend(rising(&between));
        Self { old: pairs.iter().copied().collect(), new: pairs.iter().map(|(a, b)| (*b, *a)).collect() }
    }
}

/// Compares the settings of the virtual hosts themselves.
pub(super) fn compare_frames<'a>(work: &mut Work<'_, 'a>, hosts: [PlacedHost<'_, 'a>; 2], domains: &[String], both: &Both) {
    let [Some(old), Some(new)] = hosts.map(|of| of.table.config.virtual_hosts.get(of.index)) else { return };
    let pointers = hosts.map(|of| of.pointer());
    let place = RequestPlace { hosts: domains.to_vec(), ..place::of_all(both, &pointers) };
    let without = if both.request.tls { frames::HOST_OVER_TLS } else { frames::HOST };
    frames::compare_settings(work, Frame { what: "virtual_host", sides: [old, new], without, pointers }, place, both);
}
