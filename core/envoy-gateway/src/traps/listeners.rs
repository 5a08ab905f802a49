//! Reports listeners that get no routes, although other listeners of their Gateway do.

use super::{finding, value_place};
use crate::codes;
use crate::context::{Listener, ListenerId, RouteContext, Translator};
use crate::translate::hosts;
use alloc::format;
use alloc::string::String;
use chancery_base::diagnostic::Findings;

/// Reports the listeners of a class. A Gateway without any routes is not reported: its routes may be in other files.
pub(super) fn without_routes(t: &Translator<'_>, sink: &mut Findings) {
    for (at, gateway) in t.gateways.iter().enumerate() {
        if gateway.listeners.iter().all(|listener| listener.status.attached_routes == 0) {
            continue;
        }
        let is_empty = |(_, listener): &(usize, &Listener<'_>)| listener.status.attached_routes == 0 && !listener.has_invalid_condition();
        for (place, _) in gateway.listeners.iter().enumerate().filter(is_empty) {
            report(t, ListenerId { gateway: at, listener: place }, sink);
        }
    }
}

fn report(t: &Translator<'_>, id: ListenerId, sink: &mut Findings) {
    let listener = t.listener(id);
    let is_alone = t.gateways[id.gateway].listeners.iter().filter(|other| other.port == listener.port).count() == 1;
    let effect = match (&listener.hostname, &*listener.protocol) {
        (Some(host), "HTTP" | "HTTPS") => format!("Envoy answers 404 to requests for {host} on port {}", listener.port),
        (None, "HTTP" | "HTTPS") if is_alone => format!("Envoy answers 404 to all requests on port {}", listener.port),
        (None, "HTTP" | "HTTPS") => format!("Envoy answers 404 to requests for other hosts on port {}", listener.port),
        _ => format!("Envoy forwards none of its connections on port {}", listener.port),
    };
    let name = listener.at.field("name");
    let of_set = listener.set.and_then(|set| t.listener_sets.get(set)).map(|set| set.object);
    let object = of_set.unwrap_or(t.gateways[id.gateway].object);
    let message = format!("no route is attached to the listener `{}`: {effect}", listener.name);
    let mut found = finding(&codes::LISTENER_WITHOUT_ROUTES, message, object, value_place(name));
    if let Some((route, section)) = t.routes.iter().find_map(|route| Some((route, other_section(t, route, id)?))) {
        let of = format!("{} `{}`", route.kind.name(), route.object.name());
        found = found.help(format!("{of} names `sectionName: {section}`; add a parentRef with `sectionName: {}` if it is for both", listener.name));
    }
    sink.report(found);
}

/// The other listener of the Gateway that a route names, if the route would fit this listener.
fn other_section(t: &Translator<'_>, route: &RouteContext<'_>, id: ListenerId) -> Option<String> {
    let own = |other: &&ListenerId| other.gateway == id.gateway && t.listener(**other).protocol == t.listener(id).protocol;
    if hosts::compute(t, route.object.spec().field("hostnames"), id).is_empty() {
        return None;
    }
    route.parents.iter().find_map(|parent| {
        let section = parent.at.field("sectionName").str();
        (!section.is_empty() && parent.listeners.iter().any(|other| own(&other))).then(|| String::from(section))
    })
}
