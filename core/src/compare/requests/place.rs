//! Which requests a change is of, in words and by an example.
//!
//! What must not be here: what changes.

use super::conditions;
use super::difference::{Scene, pointer};
use super::paths::Pattern;
use super::report::RequestPlace;
use super::work::Both;
use crate::backend::envoy::v3::pb::route::RouteMatch;
use crate::simulate::{Request, Simulation};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The requests that a request stands for: those of the narrower of the routes that take it.
pub(super) fn of_request(scene: &Scene<'_>, simulations: &[Simulation; 2], domains: &[String], both: &Both) -> RequestPlace {
    let matcher = |side: usize| {
        let (host, _) = scene.hosts.get(side)?.as_ref()?;
        let index = simulations.get(side)?.route.as_ref()?.index;
        host.routes.get(index)?.r#match.as_ref()
    };
    let matchers = [matcher(0), matcher(1)];
    let narrower = matchers.into_iter().flatten().max_by_key(|of| (Pattern::of(of).narrowness(), of.headers.len() + of.query_parameters.len()));
    // All of a host that only one side has changes; of every other host, what has a route.
    let narrower = narrower.filter(|_| scene.hosts.iter().all(Option::is_some) || domains.iter().any(|domain| domain == "*"));
    let [before, after] = [&simulations[0], &simulations[1]].map(pointer);
    let mut conditions = narrower.map(conditions::words).unwrap_or_default();
    let scheme = take_scheme(&mut conditions);
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

/// Takes out of conditions what an `x-forwarded-proto` says of the scheme: Envoy writes it of the connection itself.
pub(super) fn take_scheme(conditions: &mut Vec<String>) -> Option<String> {
    let at = conditions.iter().position(|words| matches!(words.as_str(), "header x-forwarded-proto https" | "header x-forwarded-proto http"))?;
    conditions.remove(at).rsplit(' ').next().map(ToOwned::to_owned)
}

/// At most this many routes are named whose requests are others.
const MOST_OTHERS: usize = 2;
/// At most this many routes of a path are looked at on each side.
const MOST_OF_PATH: usize = 100;

/// The requests with the same path that a request does not stand for: those of routes with conditions of their own, which are tried before the one that
/// takes it.
fn others(scene: &Scene<'_>, simulations: &[Simulation; 2], narrower: &RouteMatch) -> Vec<String> {
    let (own, domains) = (conditions::words(narrower), conditions::domains(narrower));
    let mut out: Vec<String> = Vec::new();
    for ((host, by_path), simulation) in scene.hosts.iter().zip(&scene.by_path).zip(simulations) {
        let Some((host, _)) = host else { continue };
        let end = simulation.route.as_ref().map_or(usize::MAX, |taken| taken.index);
        let same_path = by_path.get(&Pattern::of(narrower)).into_iter().flatten().take_while(|at| **at < end).take(MOST_OF_PATH);
        for of in same_path.filter_map(|at| host.routes.get(*at)?.r#match.as_ref()) {
            let mut more = conditions::words(of);
            more.retain(|words| !own.contains(words));
            take_scheme(&mut more);
            let words = format!("other than {}", more.join(" and "));
            if !more.is_empty() && conditions::domains(of) == domains && !out.contains(&words) {
                out.push(words);
            }
        }
    }
    if out.len() > MOST_OTHERS {
        out.truncate(MOST_OTHERS);
        out.push("other than what further routes take".to_owned());
    }
    out
}

/// Requests of a whole listener, filter chain, table or virtual host.
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

/// The scheme of a request's URL.
pub(super) fn scheme_of(request: &Request) -> String {
    if request.tls { "https" } else { "http" }.to_owned()
}

/// The port of either side, if there is one.
pub(super) fn any_port(ports: [Option<u32>; 2]) -> u32 {
    ports.into_iter().flatten().next().unwrap_or(80)
}

/// A host that no configuration has.
pub(super) const UNKNOWN_HOST: &str = "elsewhere.invalid";

/// A host that a domain takes.
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
