//! Reports listeners and routes that Envoy rejects for reasons beyond single fields (`crate::rejected_by_envoy`).
//!
//! Source of behaviour: Envoy `source/common/listener_manager/filter_chain_manager_impl.cc`, `source/common/router/config_utility.cc`. Does not
//! check headers; see `header`.

use super::header::REFUSED;
use super::whole::{Whole, written};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::diagnostic::{Place, codes};
use chancery_base::ir::{FilterChain, NetworkFilter, RouteAction, Tree};
use chancery_base::resource::Origin;
use chancery_kubernetes::at_name;
use chancery_text::Str;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

/// The largest body of a direct response, in bytes.
const LARGEST_BODY: usize = 4096;

pub(super) fn check(whole: &mut Whole<'_>) {
    chains(whole);
    verbatim_chains(whole);
    bodies(whole);
}

/// Reports filter chains of a listener that match the same connections.
fn chains(whole: &mut Whole<'_>) {
    let mut found = Vec::new();
    for listener in &whole.ir.listeners {
        let mut seen: HashMap<(Vec<&Str>, Option<&Str>), &FilterChain> = HashMap::new();
        for chain in &listener.chains {
            match seen.entry(connections(chain)) {
                Entry::Occupied(first) => found.push((listener.address.port.value, *first.get(), chain)),
                Entry::Vacant(place) => drop(place.insert(chain)),
            }
        }
    }
    for (port, first, second) in found {
        // A TCP route is the rarer one, and the one that a person has just added.
        let is_tcp = |chain: &FilterChain| chain.filters.iter().any(|filter| matches!(filter, NetworkFilter::Tcp(_)));
        let (at, other) = if is_tcp(first) && !is_tcp(second) { (first, second) } else { (second, first) };
        let (mut origin, mut related) = (written(&at.origins), written(&other.origins));
        // A controller also makes chains that no line asks for, such as that of a TLS listener without a route.
        if whole.object(origin).is_none() {
            (origin, related) = (related, origin);
        }
        let name = |origin: Option<Origin>| whole.object(origin).map_or_else(|| "the controller's own".to_owned(), |object| object.key.to_string());
        let message = format!("two filter chains on port {port} match the same connections: {} and {}", name(origin), name(related));
        let help = format!("move one of them to another port, or give each its own host name over TLS; {REFUSED}");
        if whole.object(origin).is_some() {
            let mut finding = whole.finding(&codes::REFUSED_BY_ENVOY, origin, message).help(help);
            if let Some(object) = whole.object(related) {
                finding = finding.related(at_name(object), "this resource has the other filter chain");
            }
            whole.report(finding);
        }
    }
}

/// Reports filter chains of verbatim listeners that match the same connections.
fn verbatim_chains(whole: &mut Whole<'_>) {
    let mut found: Vec<(&Tree, &Tree, &Tree)> = Vec::new();
    for listener in &whole.ir.delivery.verbatim.listeners {
        let mut seen: HashMap<(String, String), &Tree> = HashMap::new();
        for chain in listener.get("filter_chains").items() {
            let same = verbatim_connections(chain).into_iter().find_map(|connections| match seen.entry(connections) {
                Entry::Occupied(first) => Some(*first.get()),
                Entry::Vacant(place) => {
                    place.insert(chain);
                    None
                }
            });
            found.extend(same.map(|first| (&**listener, first, chain)));
        }
    }
    for (listener, first, second) in found {
        let is_of_input = |origin: &Origin| whole.object(Some(*origin)).is_some();
        let origin = |tree: &Tree| tree.get("name").origin.or(tree.origin).filter(is_of_input);
        let Some(at) = origin(second).or_else(|| origin(first)).or_else(|| origin(listener)) else { continue };
        let name = |tree: &Tree| tree.get("name").text().to_owned();
        let message = format!(
            "Envoy rejects the listener `{}`: its filter chains `{}` and `{}` match the same connections",
            name(listener),
            name(first),
            name(second)
        );
        let help =
            "give each its own host names or port; a chain without host names matches every connection, and so does a listener without a route";
        let mut finding = whole.finding(&codes::REFUSED_BY_ENVOY, Some(at), message).help(format!("{help}; {REFUSED}"));
        if let Some(other) = origin(first).filter(|other| *other != at) {
            finding = finding.related(Place::origin(other), "this has the other filter chain");
        }
        whole.report(finding);
    }
}

/// Returns the connections that a chain matches: for each server name, the name and all other conditions.
fn verbatim_connections(chain: &Tree) -> Vec<(String, String)> {
    let matcher = chain.get("filter_chain_match");
    let others: Vec<String> =
        matcher.fields().iter().filter(|(key, _)| *key != *"server_names").map(|(key, value)| format!("{key}={}", value.json())).collect();
    let others = others.join(",");
    let names = matcher.get("server_names").items();
    if names.is_empty() {
        return Vec::from([(String::new(), others)]);
    }
    names.iter().map(|name| (name.text().to_owned(), others.clone())).collect()
}

fn connections(chain: &FilterChain) -> (Vec<&Str>, Option<&Str>) {
    let matcher = chain.matcher.as_ref();
    let mut names: Vec<&Str> = matcher.iter().flat_map(|matcher| &matcher.server_names).map(|name| &name.value).collect();
    names.sort();
    (names, matcher.and_then(|matcher| matcher.transport_protocol.as_ref()))
}

fn bodies(whole: &mut Whole<'_>) {
    for route in whole.routes.clone().iter() {
        let RouteAction::Respond(response) = &route.action else { continue };
        let Some(body) = response.body.as_ref().filter(|body| body.value.len() > LARGEST_BODY) else { continue };
        let message = format!("Envoy rejects this body: it has {} bytes, and {LARGEST_BODY} are allowed", body.value.len());
        report(whole, body.origin, message, "write a shorter one, or let a service answer");
    }
}

fn report(whole: &mut Whole<'_>, at: Option<Origin>, message: String, help: &str) {
    if whole.object(at).is_some() {
        let finding = whole.finding(&codes::REFUSED_BY_ENVOY, at, message);
        whole.report(finding.help(format!("{help}: {REFUSED}")));
    }
}
