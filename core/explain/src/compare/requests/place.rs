//! Describes which requests a change affects, by a phrase and an example. Does not describe the change; see `report`.

use super::both::{Both, scheme_of};
use super::conditions;
use super::difference::{Scene, pointer};
use super::paths::Pattern;
use super::report::{OTHER_THAN, RequestPlace};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::emit::pb::route::RouteMatch;
use chancery_envoy::simulate::{Credential, Simulation};

/// Returns the requests that a witness represents: the requests of the narrower of its two routes.
pub(super) fn of_request(scene: &Scene<'_>, simulations: &[Simulation; 2], domains: &[String], both: &Both) -> RequestPlace {
    let matcher = |side: usize| {
        let (host, _) = scene.hosts.get(side)?.as_ref()?;
        let index = simulations.get(side)?.route.as_ref()?.index;
        host.routes.get(index)?.r#match.as_ref()
    };
    let matchers = [matcher(0), matcher(1)];
    let narrower = matchers.into_iter().flatten().max_by_key(|of| (Pattern::of(of).narrowness(), of.headers.len() + of.query_parameters.len()));
    // If only one side has the host, the change affects all its requests that have a route; otherwise the requests of the narrower route.
    let is_of_both = scene.hosts.iter().all(Option::is_some) || domains.iter().any(|domain| domain == "*");
    let narrower = narrower.filter(|_| is_of_both);
    let [before, after] = [&simulations[0], &simulations[1]].map(pointer);
    let mut conditions = narrower.map(conditions::words).unwrap_or_default();
    let scheme = take_scheme(&mut conditions).or_else(|| scene.has_tls.then(|| scheme_of(&both.request)));
    if !is_of_both && !takes_all_paths(scene) {
        conditions.push("if a route matches".to_owned());
    }
    if let Some(credential) = &both.credential {
        conditions.push(format!("with a valid {}", credential_kind(credential)));
    } else if let Some(credential) = simulations.iter().find_map(|simulation| simulation.lacks.as_ref()) {
        conditions.push(format!("without a valid {}", credential_kind(credential)));
    }
    conditions.extend(narrower.map(|narrower| others(scene, simulations, narrower)).unwrap_or_default());
    RequestPlace {
        scheme,
        hosts: narrower.map(conditions::domains).filter(|own| !own.is_empty()).unwrap_or_else(|| domains.to_vec()),
        path: Some(narrower.map_or_else(|| "/*".to_owned(), |of| Pattern::of(of).words())),
        conditions,
        port_before: both.ports[0],
        port_after: both.ports[1],
        before,
        after,
    }
}

fn credential_kind(credential: &Credential) -> &'static str {
    match credential.value.split_once(' ') {
        Some(("Bearer", _)) => "token",
        Some(("Basic", _)) => "password",
        _ => "key or token",
    }
}

/// Removes the condition on `x-forwarded-proto` and returns its scheme: Envoy sets the header from the connection itself.
pub(super) fn take_scheme(conditions: &mut Vec<String>) -> Option<String> {
    let at = conditions.iter().position(|words| matches!(words.as_str(), "header x-forwarded-proto https" | "header x-forwarded-proto http"))?;
    conditions.remove(at).rsplit(' ').next().map(ToOwned::to_owned)
}

/// Whether a route of any host matches every path, under any conditions.
fn takes_all_paths(scene: &Scene<'_>) -> bool {
    scene.hosts.iter().flatten().flat_map(|(host, _)| &host.routes).filter_map(|route| route.r#match.as_ref()).any(|of| {
        let mut more = conditions::words(of);
        take_scheme(&mut more);
        more.is_empty() && Pattern::of(of).takes_all()
    })
}

/// At most this many excluded routes are named.
const MOST_OTHERS: usize = 2;
/// At most this many routes of a path are considered on each side.
const MOST_OF_PATH: usize = 100;

/// Returns the excluded requests: earlier routes with a narrower path or more conditions match them. Routes that the controller adds by itself are
/// left out.
fn others(scene: &Scene<'_>, simulations: &[Simulation; 2], narrower: &RouteMatch) -> Vec<String> {
    let (own, domains) = (conditions::words(narrower), conditions::domains(narrower));
    let pattern = Pattern::of(narrower);
    let mut out: Vec<String> = Vec::new();
    for (side, ((host, by_path), simulation)) in scene.hosts.iter().zip(&scene.by_path).zip(simulations).enumerate() {
        let Some((host, _)) = host else { continue };
        let end = simulation.route.as_ref().map_or(usize::MAX, |taken| taken.index);
        for (other, routes, takes_all) in pattern.overlapping(by_path) {
            for at in routes.iter().take_while(|at| **at < end).take(MOST_OF_PATH) {
                let Some(of) = host.routes.get(*at).and_then(|route| route.r#match.as_ref()) else { continue };
                let mut more = conditions::words(of);
                more.retain(|words| !own.contains(words));
                take_scheme(&mut more);
                let path = (!takes_all).then(|| other.words());
                let words = match (path, more.is_empty()) {
                    (None, true) => continue,
                    (None, false) => more.join(" and "),
                    (Some(path), true) => path,
                    (Some(path), false) => format!("{path} with {}", more.join(" and ")),
                };
                let words = format!("{OTHER_THAN}{words}");
                if conditions::domains(of) == domains && scene.is_written(side, *at) && !out.contains(&words) {
                    out.push(words);
                }
            }
        }
    }
    // A plain prefix already excludes all paths under it.
    let plain: Vec<String> = out
        .iter()
        .filter(|words| words.strip_prefix(OTHER_THAN).is_some_and(|path| path.starts_with('/') && !path.contains(" with ")))
        .filter_map(|words| words.strip_suffix('*').map(ToOwned::to_owned))
        .collect();
    out.retain(|words| !plain.iter().any(|prefix| words.starts_with(prefix) && words.len() > prefix.len() + 1));
    few(out)
}

/// Keeps the first few exclusions.
fn few(mut out: Vec<String>) -> Vec<String> {
    if out.len() > MOST_OTHERS {
        out.truncate(MOST_OTHERS);
        out.push(format!("{OTHER_THAN}requests of further routes"));
    }
    out
}

/// Returns conditions that exclude these paths.
pub(in crate::compare) fn without(paths: &[String]) -> Vec<String> {
    few(paths.iter().map(|path| format!("{OTHER_THAN}{path}")).collect())
}

/// Returns the place of all requests of a listener, filter chain, table or virtual host.
pub(super) fn of_all(both: &Both, pointers: &[String; 2]) -> RequestPlace {
    let [before, after] = pointers.clone();
    RequestPlace {
        scheme: None,
        hosts: Vec::new(),
        path: None,
        conditions: Vec::new(),
        port_before: both.ports[0],
        port_after: both.ports[1],
        before: Some(before),
        after: Some(after),
    }
}

/// Returns the port of either side, if known.
pub(super) fn any_port(ports: [Option<u32>; 2]) -> u32 {
    ports.into_iter().flatten().next().unwrap_or(80)
}

/// A host that no configuration contains.
pub(super) const UNKNOWN_HOST: &str = "elsewhere.invalid";

/// Returns a host that matches a domain.
pub(super) fn witness(domain: &str, port: u32) -> String {
    match domain {
        "*" => UNKNOWN_HOST.to_owned(),
        _ => match (domain.strip_prefix('*'), domain.strip_suffix('*')) {
            (Some(suffix), _) => format!("x{suffix}"),
            (_, Some(prefix)) if prefix.ends_with(':') => format!("{prefix}{port}"),
            (_, Some(prefix)) => format!("{prefix}x"),
            _ => domain.to_owned(),
        },
    }
}
