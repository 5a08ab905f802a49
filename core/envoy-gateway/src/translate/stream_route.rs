//! Translates TLSRoutes, TCPRoutes and UDPRoutes.

use super::super::context::{ListenerId, RouteContext, RouteKind, Translator};
use super::super::model::{TcpRoute, UdpRoute};
use super::super::names;
use super::super::value::text;
use super::error::{Errors, RouteError};
use super::merge_backends::{BackendDestination, DestinationParts, distinct};
use super::route_backend::{Backend, routing_type};
use super::rule::process_backend;
use super::rule_filters::At;
use super::{hosts, metadata};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// Translates a TLSRoute for each of its parents.
pub(super) fn process_tls<'a>(t: &mut Translator<'a>, route: &mut RouteContext<'a>) {
    for parent in 0..route.parents.len() {
        let rules: Vec<Cursor<'a>> = spec(route).field("rules").items().collect();
        let all = distinct(rules.iter().flat_map(|rule| rule.field("backendRefs").items()), route.object.namespace());
        let mut errors = Errors::default();
        let mut backends = Vec::new();
        for rule in rules.iter().copied() {
            add_backends(t, route, parent, rule, all.len() > 1, &mut backends, &mut errors);
        }
        let has_dynamic = backends.iter().any(|backend| backend.setting.is_dynamic_resolver);
        if has_dynamic && backends.len() > 1 {
            errors.0.push(RouteError::new("InvalidBackendRef", "dynamic resolver is not supported for multiple backendRefs"));
            backends.clear();
        }
        resolved(route, parent, &errors);
        let ids = route.parents[parent].listeners.clone();
        let mut fits = ids.is_empty();
        for id in ids {
            let hosts = hosts::compute(t, spec(route).field("hostnames"), id);
            if hosts.is_empty() {
                continue;
            }
            fits = true;
            attach_tls(t, route, parent, id, hosts, has_dynamic, &backends);
        }
        if !fits {
            let message = "There were no hostname intersections between the TLSRoute and this parent ref's Listener(s).";
            route.conditions(parent).set("Accepted", false, "NoMatchingListenerHostname", message);
        }
    }
}

fn spec<'a>(route: &RouteContext<'a>) -> Cursor<'a> {
    let object = route.object;
    object.spec()
}

fn attach_tls<'a>(
    t: &mut Translator<'a>,
    route: &mut RouteContext<'a>,
    parent: usize,
    id: ListenerId,
    hosts: Vec<Sourced<Str>>,
    has_dynamic: bool,
    backends: &[BackendDestination],
) {
    t.listener_mut(id).status.attached_routes += 1;
    let Some((key, place)) = tcp_listener(t, id) else { return };
    let terminate = t.xds[&key].tcp[place].tls.clone();
    if terminate.is_some() && has_dynamic {
        let message = "Dynamic resolver backend is only supported with TLS passthrough listeners";
        route.conditions(parent).set("ResolvedRefs", false, "UnsupportedValue", message);
        return;
    }
    let metadata = metadata::of(route.object, Sourced::default());
    let destination = destination(t, route, id, None, &metadata, backends);
    let made = TcpRoute {
        name: Str::from(names::stream_route(route)),
        server_names: Some(hosts),
        terminate,
        destination: Some(destination),
        metadata,
        origin: Some(route.object.spec().field("rules").origin()),
        ..TcpRoute::default()
    };
    if let Some(xds) = t.xds.get_mut(&key) {
        xds.tcp[place].routes.push(made);
    }
}

/// Returns the place of a listener for connections, if Envoy listens.
fn tcp_listener(t: &Translator<'_>, id: ListenerId) -> Option<(Str, usize)> {
    let listener = t.listener(id);
    if !listener.is_ready() {
        return None;
    }
    let key = t.ir_key(t.gateways[id.gateway].object);
    let place = t.xds.get(&key)?.tcp.iter().position(|of| of.core.name == listener.ir_name)?;
    Some((key, place))
}

fn destination(
    t: &mut Translator<'_>,
    route: &RouteContext<'_>,
    id: ListenerId,
    rule: Option<&str>,
    metadata: &super::super::model::Metadata,
    backends: &[BackendDestination],
) -> super::super::model::Destination {
    let of = DestinationParts {
        name: &Str::from(names::destination(route, -1)),
        metadata,
        stat_name: &Tree::NULL,
        backends,
        origin: Some(route.object.spec().field("rules").origin()),
    };
    t.destination_for_listener(id, route.kind, &route.object.full_name(), rule, of)
}

fn add_backends<'a>(
    t: &mut Translator<'a>,
    route: &RouteContext<'a>,
    parent: usize,
    rule: Cursor<'a>,
    is_unsafe: bool,
    backends: &mut Vec<BackendDestination>,
    errors: &mut Errors,
) {
    let gateway = route.parents[parent].listeners.first().map(|id| id.gateway);
    let kind = routing_type(t, route, parent, gateway, rule.field("name").some_str());
    let at = At { route, parent, rule: 0, gateway, is_grpc: false };
    let name = names::destination(route, -1);
    for (index, reference) in rule.field("backendRefs").items().enumerate() {
        let backend = Backend { filters: Vec::new(), ..Backend::of(reference) };
        let (made, error) = process_backend(t, at, &names::setting(&name, index as i64), &backend, kind.as_deref(), is_unsafe);
        match error {
            Some(error) => errors.0.push(error),
            None if backend.weight > 0 => backends.push(made),
            None => {}
        }
    }
}

fn resolved(route: &mut RouteContext<'_>, parent: usize, errors: &Errors) {
    let conditions = route.conditions(parent);
    if errors.is_empty() {
        conditions.set("ResolvedRefs", true, "ResolvedRefs", "Resolved all the Object references for the Route");
    } else {
        conditions.set("ResolvedRefs", false, &errors.reason(), errors.message());
    }
}

/// Translates a TCPRoute or UDPRoute for each of its parents.
pub(super) fn process<'a>(t: &mut Translator<'a>, route: &mut RouteContext<'a>) {
    for parent in 0..route.parents.len() {
        let rules: Vec<Cursor<'a>> = spec(route).field("rules").items().collect();
        let [rule] = rules.as_slice() else {
            route.conditions(parent).set("Accepted", false, "InvalidRule", "One and only one rule is supported");
            continue;
        };
        let (mut errors, mut backends) = (Errors::default(), Vec::new());
        add_backends(t, route, parent, *rule, rule.field("backendRefs").len() > 1, &mut backends, &mut errors);
        resolved(route, parent, &errors);
        if route.conditions(parent).is("Accepted", false) {
            continue;
        }
        let ids = route.parents[parent].listeners.clone();
        if ids.is_empty() {
            let protocol = if route.kind == RouteKind::Udp { "UDP" } else { "TCP" };
            let message = format!("Multiple routes on the same {protocol} listener");
            route.conditions(parent).set("Accepted", false, "UnsupportedValue", message);
        }
        for id in ids {
            t.listener_mut(id).status.attached_routes += 1;
            if route.kind == RouteKind::Udp {
                attach_udp(t, route, id, *rule, &backends);
            } else {
                attach_tcp(t, route, id, *rule, &backends);
            }
        }
    }
}

fn attach_tcp(t: &mut Translator<'_>, route: &RouteContext<'_>, id: ListenerId, rule: Cursor<'_>, backends: &[BackendDestination]) {
    let Some((key, place)) = tcp_listener(t, id) else { return };
    if !t.xds[&key].tcp[place].routes.is_empty() {
        return;
    }
    let name = rule.field("name");
    let destination = destination(t, route, id, name.some_str(), &metadata::of(route.object, text(name)), backends);
    let terminate = t.xds[&key].tcp[place].tls.clone();
    let listener = t.listener(id);
    let hostname = listener.hostname.clone().filter(|_| terminate.is_some());
    let made = TcpRoute {
        name: Str::from(names::stream_route(route)),
        server_names: hostname.map(|hostname| Vec::from([Sourced::new(hostname, listener.at.field("hostname").origin())])),
        terminate,
        destination: Some(destination),
        metadata: metadata::of(route.object, Sourced::default()),
        origin: Some(rule.origin()),
        ..TcpRoute::default()
    };
    if let Some(xds) = t.xds.get_mut(&key) {
        xds.tcp[place].routes.push(made);
    }
}

fn attach_udp(t: &mut Translator<'_>, route: &RouteContext<'_>, id: ListenerId, rule: Cursor<'_>, backends: &[BackendDestination]) {
    let listener = t.listener(id);
    if !listener.is_ready() {
        return;
    }
    let key = t.ir_key(t.gateways[id.gateway].object);
    let name = listener.ir_name.clone();
    let Some(place) = t.xds.get(&key).and_then(|xds| xds.udp.iter().position(|of| of.core.name == name && of.route.is_none())) else { return };
    let rule_name = rule.field("name");
    let destination = destination(t, route, id, rule_name.some_str(), &metadata::of(route.object, text(rule_name)), backends);
    let made = UdpRoute {
        name: Str::from(names::stream_route(route)),
        destination: Some(destination),
        metadata: metadata::of(route.object, Sourced::default()),
        origin: Some(rule.origin()),
        ..UdpRoute::default()
    };
    if let Some(xds) = t.xds.get_mut(&key) {
        xds.udp[place].route = Some(made);
    }
}
