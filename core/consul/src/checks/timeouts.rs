//! Checks timeouts that are not the ones that count: callers have their own, and Consul reads only those of the first entry of a chain.
//!
//! Source of behaviour: hashicorp/consul, `agent/xds/routes.go` (a route gets a timeout from its router's destination, or from a resolver that is
//! the first node of the chain) and `agent/consul/discoverychain/gateway.go` (an http-route takes the place of routers). A route without a
//! timeout has Envoy's default.

use super::{Mesh, is_transparent};
use crate::codes;
use crate::entry::{Entry, Kind};
use crate::instance::Instance;
use crate::validate::is_set;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Place, codes as base_codes};
use chancery_base::ir::Tree;
use chancery_base::resource::ObjectId;
use chancery_text::Str;

/// Envoy's timeout of a route that has none, in milliseconds.
const DEFAULT: i64 = 15_000;

/// Nanoseconds per millisecond.
const MILLISECOND: i64 = 1_000_000;

pub(super) fn check(mesh: &mut Mesh<'_>) {
    zeros(mesh);
    beyond_callers(mesh);
    behind_other_entries(mesh);
}

/// A timeout of 0 counts as not set.
fn zeros(mesh: &mut Mesh<'_>) {
    let routers = mesh
        .entries(Kind::ServiceRouter)
        .flat_map(|entry| entry.tree.get("Routes").items().iter().map(move |route| (route.at(&["Destination", "RequestTimeout"]), entry.object)));
    let resolvers = mesh.entries(Kind::ServiceResolver).map(|entry| (entry.tree.get("RequestTimeout"), entry.object));
    let zeros: Vec<(&Tree, ObjectId)> = routers.chain(resolvers).filter(|(of, _)| of.origin.is_some() && *of.number() == 0).collect();
    for (value, object) in zeros {
        let message = "0 counts as not set, so it does not turn the timeout off";
        let help = "write how long a request may take, such as `1h`".into();
        mesh.report_with(&base_codes::FIELD_WITHOUT_EFFECT, message, value, Some(object), Some(help));
    }
}

/// The longest time that a sidecar gives its service, where the proxies of callers give less.
fn beyond_callers(mesh: &mut Mesh<'_>) {
    for entry in mesh.entries(Kind::ServiceDefaults) {
        beyond_caller(mesh, &entry.name, entry.tree.get("LocalRequestTimeoutMs"), Some(entry.object));
    }
    for proxy in mesh.proxies() {
        beyond_caller(mesh, &proxy.destination(), proxy.proxy.at(&["Config", "local_request_timeout_ms"]), proxy.object);
    }
    let own = |name: &Str| mesh.state.tree(Kind::ServiceDefaults, name).get("LocalRequestTimeoutMs");
    let first = mesh.names.iter().find(|name| is_http(mesh, name) && is_called(mesh, name) && !is_set(own(name))).cloned();
    let all = mesh.state.tree(Kind::ProxyDefaults, "global").at(&["Config", "local_request_timeout_ms"]);
    if let Some(first) = first {
        let object = mesh.entries(Kind::ProxyDefaults).next().map(|entry| entry.object);
        beyond_caller(mesh, &first, all, object);
    }
}

fn is_http(mesh: &Mesh<'_>, service: &str) -> bool {
    ["http", "http2", "grpc"].iter().any(|known| mesh.state.protocol(service).eq_ignore_ascii_case(known))
}

/// Whether a proxy of the mesh has the service as its upstream. The routes of gateways have their own timeouts.
fn is_called(mesh: &Mesh<'_>, service: &Str) -> bool {
    let calls = |proxy: &Instance| proxy.proxy.get("Upstreams").items().iter().any(|upstream| upstream.get("DestinationName").is(service));
    mesh.proxies().any(|proxy| calls(proxy) || is_transparent(mesh, proxy))
}

fn beyond_caller(mesh: &mut Mesh<'_>, service: &Str, given: &Tree, object: Option<ObjectId>) {
    let (limit, help) = limit_of_callers(mesh, service);
    if given.origin.is_none() || !is_http(mesh, service) || given.int() <= limit || !is_called(mesh, service) {
        return;
    }
    let default = if limit == DEFAULT { " (Envoy's default)" } else { "" };
    let message =
        format!("`{service}` may take {}, but the proxies of its callers end a request after {}{default}", seconds(given.int()), seconds(limit));
    mesh.report_with(&base_codes::TIMEOUT_CONFLICT, message, given, object, Some(help));
}

/// The shortest time in milliseconds that proxies of callers give a service, and how to change it.
fn limit_of_callers(mesh: &Mesh<'_>, service: &Str) -> (i64, String) {
    let given = |of: &Tree| Some(*of.number() / MILLISECOND).filter(|limit| *limit > 0).unwrap_or(DEFAULT);
    let routes = mesh.state.tree(Kind::ServiceRouter, service).get("Routes").items();
    let destinations = routes.iter().map(|route| route.get("Destination"));
    let to_service = destinations.filter(|to| !is_set(to.get("Service")) || to.get("Service").is(service));
    let of_router = to_service.map(|to| given(to.get("RequestTimeout"))).min();
    if mesh.state.entries.contains_key(&(Kind::ServiceRouter, service.clone())) {
        let help = format!("set `RequestTimeout` in the routes of the service-router `{service}`");
        return (of_router.unwrap_or(DEFAULT), help);
    }
    if mesh.state.entries.contains_key(&(Kind::ServiceSplitter, service.clone())) {
        let help = format!("set `RequestTimeout` in a service-router of `{service}`: behind a splitter, the one of a resolver does not count");
        return (DEFAULT, help);
    }
    let resolver = mesh.state.tree(Kind::ServiceResolver, service);
    (given(resolver.get("RequestTimeout")), format!("set `RequestTimeout` in a service-resolver of `{service}`"))
}

/// Seconds, with a fraction only where there is one.
fn seconds(milliseconds: i64) -> String {
    if milliseconds % 1000 == 0 { format!("{}s", milliseconds / 1000) } else { format!("{milliseconds}ms") }
}

/// Routers that an http-route replaces, and timeouts of resolvers that are not the first entry.
fn behind_other_entries(mesh: &mut Mesh<'_>) {
    for route in mesh.entries(Kind::HttpRoute) {
        let gateway = route.tree.get("Parents").items().first().map(|parent| parent.get("Name").str()).unwrap_or_default();
        let services = route.tree.get("Rules").items().iter().flat_map(|rule| rule.get("Services").items());
        for service in services.map(|service| service.get("Name")) {
            let name = service.str();
            let router = mesh.state.entries.get(&(Kind::ServiceRouter, name.clone())).cloned();
            if let Some(router) = router.filter(|router| !is_reported(mesh, router)) {
                let message = format!(
                    "requests through the API gateway `{gateway}` do not use this service-router: the http-route `{}` takes its place",
                    route.name
                );
                let help = "write its conditions, timeouts and rewrites in the http-route".into();
                mesh.report_with(&codes::BYPASSED_CHAIN_ENTRY, message, router.tree.get("Name"), Some(router.object), Some(help));
                relate(mesh, service, "this rule leads to the service");
            }
            let help = "set `RequestTimeout` in a `TimeoutFilter` of the http-route's rule";
            later_resolver(mesh, &name, &format!("the http-route `{}`", route.name), help, service);
        }
    }
    for kind in [Kind::ServiceRouter, Kind::ServiceSplitter] {
        for entry in mesh.entries(kind) {
            let help = "set `RequestTimeout` in the routes of a service-router";
            later_resolver(mesh, &entry.name, &format!("the {} `{}`", kind.name(), entry.name), help, entry.tree.get("Name"));
        }
    }
}

/// Reports the timeout of a resolver behind another entry, once.
fn later_resolver(mesh: &mut Mesh<'_>, service: &Str, first: &str, help: &str, first_place: &Tree) {
    let Some(resolver) = mesh.state.entries.get(&(Kind::ServiceResolver, service.clone())).cloned() else { return };
    let timeout = resolver.tree.get("RequestTimeout");
    if *timeout.number() <= 0 || is_reported(mesh, &resolver) {
        return;
    }
    let message = format!("requests through {first} do not get this timeout: it counts only where no other entry comes before the resolver");
    mesh.report_with(&codes::BYPASSED_CHAIN_ENTRY, message, timeout, Some(resolver.object), Some(help.into()));
    relate(mesh, first_place, "this entry comes first");
}

fn is_reported(mesh: &Mesh<'_>, entry: &Entry) -> bool {
    let is_its = |place: &Place| matches!(place, Place::Node { object, .. } if *object == entry.object);
    mesh.found.iter().any(|finding| finding.code == &codes::BYPASSED_CHAIN_ENTRY && is_its(&finding.place))
}

fn relate(mesh: &mut Mesh<'_>, at: &Tree, message: &str) {
    if let Some(origin) = at.origin {
        mesh.relate(Place::origin(origin), message);
    }
}
