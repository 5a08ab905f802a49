//! Explains why Consul refuses an entry: services of one discovery chain with different protocols, a listener with another protocol than its service,
//! or entries that lead in a circle. Does not decide it; see `graph`.
//!
//! Source of behaviour: Consul agent/consul/discoverychain/compile.go, `recordServiceProtocol`: a service-defaults without `Protocol` counts as
//! tcp and hides the protocol of proxy-defaults.

use super::entry::{Entry, Kind};
use super::state::State;
use super::validate::is_set;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Place};
use chancery_text::Str;

/// Adds to the finding about a refused entry which services and lines cause the refusal. Other refusals stay unchanged.
pub(super) fn explain(state: &State, entry: &Entry, why: &str, mut finding: Diagnostic) -> Diagnostic {
    if let Some(service) = listener_service(why) {
        return explain_listener(state, entry, &service, finding);
    }
    if let Some(services) = circle(why) {
        return explain_circle(state, entry, &services, finding);
    }
    let Some((chain, other)) = services(why) else { return finding };
    if let Some(target) = entry.targets().into_iter().map(|target| target.get("Service")).find(|service| service.is(&other)) {
        finding.place = target.origin.map_or(finding.place, Place::origin);
    }
    let (first, second) = (source(state, &chain), source(state, &other));
    // A service-defaults without `Protocol` is the line that must change.
    if let Some(silent) = [&first, &second].into_iter().find(|source| source.is_silent).and_then(|source| source.place.clone()) {
        let entry_place = core::mem::replace(&mut finding.place, silent);
        finding = finding.related(entry_place, "this entry is refused");
    }
    for source in [&first, &second].into_iter().filter(|source| !source.is_silent) {
        if let Some(place) = source.place.clone() {
            finding = finding.related(place, source.words.clone());
        }
    }
    finding.help(format!("{}, and {}: give both the same `Protocol` in their service-defaults", first.words, second.words))
}

/// Explains why a listener of an ingress gateway cannot serve a service: at the service's name, with the line that decides its protocol.
fn explain_listener(state: &State, entry: &Entry, service: &Str, mut finding: Diagnostic) -> Diagnostic {
    let mut listeners = entry.tree.get("Listeners").items().iter().flat_map(|listener| {
        let protocol = listener.get("Protocol").text();
        listener.get("Services").items().iter().map(move |of| (of.get("Name"), protocol))
    });
    let Some((name, expected)) = listeners.find(|(name, _)| name.is(service)) else { return finding };
    let source = source(state, service);
    finding.place = name.origin.map_or(finding.place, Place::origin);
    if let Some(place) = source.place {
        finding = finding.related(place, source.words.clone());
    }
    finding
        .help(format!("{}: write a service-defaults for it with `Protocol = \"{expected}\"` before this entry, or change the listener", source.words))
}

/// Explains a circle: at the field that closes it, with the other entries of the circle.
fn explain_circle(state: &State, entry: &Entry, services: &[Str], mut finding: Diagnostic) -> Diagnostic {
    let closing = entry.targets().into_iter().map(|target| target.get("Service")).find(|service| services.iter().any(|name| service.is(name)));
    finding.place = closing.and_then(|service| service.origin).map_or(finding.place, Place::origin);
    for service in services.iter().filter(|service| **service != entry.name) {
        let others = LINKS.into_iter().filter_map(|kind| state.entries.get(&(kind, service.clone())));
        for place in others.filter_map(|other| other.tree.get("Name").origin.map(Place::origin)) {
            finding = finding.related(place, "part of the circle");
        }
    }
    finding.help("this entry closes the circle: lead it, or one of the others, to a service outside of it")
}

/// The kinds of entries that lead to other services.
const LINKS: [Kind; 3] = [Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver];

/// The services of Consul's sentence about a circle, such as `[splitter:x.default.default -> splitter:y.default.default]`.
fn circle(why: &str) -> Option<Vec<Str>> {
    let (_, path) = why.strip_prefix("detected circular ")?.split_once('[')?;
    let mut services: Vec<Str> = Vec::new();
    for node in path.trim_end_matches(']').split(" -> ") {
        let name = node.rsplit_once(':').map_or(node, |(_, name)| name).split('.').next().unwrap_or_default();
        if !services.iter().any(|known| *known == *name) {
            services.push(Str::new(name));
        }
    }
    Some(services)
}

/// The service of Consul's sentence about a listener's protocol.
fn listener_service(why: &str) -> Option<Str> {
    let (service, rest) = why.strip_prefix("service \"")?.split_once('"')?;
    rest.contains("which does not match defined listener protocol").then(|| Str::new(service))
}

/// The services of Consul's sentence: the one of the chain, and the one whose protocol differs.
fn services(why: &str) -> Option<(Str, Str)> {
    let rest = why.split_once("discovery chain \"")?.1;
    let (chain, rest) = rest.split_once("\" uses inconsistent protocols; service \"")?;
    let (other, _) = rest.split_once('"')?;
    Some((Str::new(chain), Str::new(other)))
}

/// The line that decides the protocol of a service, and an explanation.
struct ProtocolSource {
    place: Option<Place>,
    words: String,
    /// Whether it is a service-defaults without `Protocol`.
    is_silent: bool,
}

fn source(state: &State, service: &Str) -> ProtocolSource {
    let global = state.tree(Kind::ProxyDefaults, "global").at(&["Config", "protocol"]);
    match state.entries.get(&(Kind::ServiceDefaults, service.clone())) {
        Some(defaults) if is_set(defaults.tree.get("Protocol")) => {
            let protocol = defaults.tree.get("Protocol");
            ProtocolSource {
                place: protocol.origin.map(Place::origin),
                words: format!("`{service}` has the protocol {}", protocol.text()),
                is_silent: false,
            }
        }
        Some(defaults) => {
            let hidden = if is_set(global) { format!(", and hides the {} of proxy-defaults", global.text()) } else { String::new() };
            let kind = defaults.tree.get("Kind");
            ProtocolSource {
                place: kind.origin.or(defaults.tree.get("Name").origin).map(Place::origin),
                is_silent: true,
                words: format!("the service-defaults of `{service}` has no `Protocol`, so the protocol of `{service}` is tcp{hidden}"),
            }
        }
        None if is_set(global) => ProtocolSource {
            place: global.origin.map(Place::origin),
            words: format!("`{service}` has the protocol {} of proxy-defaults", global.text()),
            is_silent: false,
        },
        None => ProtocolSource { place: None, words: format!("the protocol of `{service}` is tcp by default"), is_silent: false },
    }
}
