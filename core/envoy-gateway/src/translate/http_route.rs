//! Translates HTTPRoutes and GRPCRoutes.

use super::super::context::{ListenerId, RouteContext, RouteKind, RouteSpan, Translator};
use super::super::model::{DirectResponse, HttpRoute, Metadata};
use super::super::names;
use super::super::status::sentence;
use super::super::value::{text, tree};
use super::error::{About, Collector, RouteError};
use super::merge_backends::{BackendDestination, DestinationParts};
use super::route_backend::{Backend, routing_type};
use super::rule::process_backend;
use super::rule_filters::{At, Filters};
use super::{filters, hosts, matches, metadata};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// A route without its host, and the parts of its destination.
struct Prepared {
    route: HttpRoute,
    /// `None` if Envoy answers itself.
    destination: Option<Parts>,
}

#[derive(Clone)]
struct Parts {
    name: Str,
    metadata: Metadata,
    stat_name: Tree,
    rule_name: Option<Str>,
    backends: Vec<BackendDestination>,
}

/// Translates a route for each of its parents.
pub(super) fn process<'a>(t: &mut Translator<'a>, route: &mut RouteContext<'a>) {
    for parent in 0..route.parents.len() {
        let (prepared, errors, dropped) = rules(t, route, parent);
        let is_everything_dropped = dropped.len() == route.object.spec().field("rules").len();
        for error in errors {
            let conditions = route.conditions(parent);
            let message = sentence(&error.message);
            if error.about != About::Accepted || is_everything_dropped {
                conditions.set(error.about.name(), false, &error.reason, message);
            } else {
                let list = dropped.iter().map(|rule| format!("{rule}")).collect::<Vec<_>>().join(" ");
                conditions.set("PartiallyInvalid", true, &error.reason, format!("Dropped Rule(s) [{list}]: {message}"));
                conditions.set("Accepted", true, "Accepted", "Route is accepted");
            }
        }
        conclude(route, parent);
        if route.kind == RouteKind::Grpc && route.conditions(parent).is("Accepted", false) {
            continue;
        }
        let fits = listeners(t, route, parent, &prepared);
        if !fits {
            let kind = route.kind.name();
            let message = format!("There were no hostname intersections between the {kind} and this parent ref's Listener(s).");
            route.conditions(parent).set("Accepted", false, "NoMatchingListenerHostname", message);
        }
    }
}

/// Says that all references are resolved, unless something says the contrary.
fn conclude(route: &mut RouteContext<'_>, parent: usize) {
    let conditions = route.conditions(parent);
    if !conditions.is("ResolvedRefs", false) {
        conditions.set("ResolvedRefs", true, "ResolvedRefs", "Resolved all the Object references for the Route");
    }
}

/// Translates the rules. Returns the errors, and the rules that are not accepted.
fn rules<'a>(t: &mut Translator<'a>, route: &RouteContext<'a>, parent: usize) -> (Vec<Prepared>, Vec<RouteError>, BTreeSet<usize>) {
    let (mut prepared, mut errors, mut dropped) = (Vec::new(), Collector::default(), BTreeSet::new());
    let gateway = route.parents[parent].listeners.first().map(|id| id.gateway);
    let is_grpc = route.kind == RouteKind::Grpc;
    let pattern = gateway.map_or(Tree::NULL, |gateway| t.gateways[gateway].proxy(&["telemetry", "metrics", "clusterStatName"]).clone());
    let object = route.object;
    for (index, rule) in object.spec().field("rules").items().enumerate() {
        let at = At { route, parent, rule: index, gateway, is_grpc };
        let list: Vec<Cursor<'a>> = rule.field("filters").items().collect();
        let (filters, filter_errors) = filters::process(t, at, &list);
        let mut is_filter_broken = false;
        for error in filter_errors {
            is_filter_broken |= error.about != About::BackendsAvailable;
            if error.about == About::Accepted {
                dropped.insert(index);
            }
            errors.add(error);
        }
        let metadata = metadata::of(object, text(rule.field("name")));
        let mut routes = match routes_of_rule(at, rule, &filters, &metadata) {
            Ok(routes) => routes,
            Err(error) => {
                let reason = accepted_reason(&error.reason).into();
                let error = RouteError { about: About::Accepted, reason, ..error.within(&format!("failed to process route rule {index}")) };
                errors.add(error);
                dropped.insert(index);
                continue;
            }
        };
        let destination = destination(t, at, rule, &mut errors);
        answer_itself(&destination, is_filter_broken, at, rule, &mut routes, &mut errors);
        let rule_name = rule.field("name").some_str().map(Str::new);
        let stat_name = match pattern.text() {
            "" => Tree::NULL,
            text => stat_name(text, route, rule_name.as_deref(), index, &destination.names).with_origin(pattern.origin),
        };
        let parts = Parts { name: destination.name, metadata, stat_name, rule_name, backends: destination.backends };
        for mut made in routes {
            made.is_http2 = is_grpc;
            let has_answer = made.direct_response.is_some() || made.redirect.is_some();
            prepared.push(Prepared { route: made, destination: (!has_answer).then(|| parts.clone()) });
        }
    }
    (prepared, errors.all(), dropped)
}

fn accepted_reason(reason: &str) -> &str {
    match reason {
        "NotAllowedByListeners" | "NoMatchingListenerHostname" | "NoMatchingParent" => reason,
        _ => "UnsupportedValue",
    }
}

/// What the backends of a rule are.
struct RuleDestination {
    name: Str,
    backends: Vec<BackendDestination>,
    /// `NAMESPACE/NAME` of each backend with a weight.
    names: Vec<String>,
    has_valid: bool,
    is_broken: bool,
    lacks_endpoints: bool,
    has_dynamic: bool,
}

fn destination<'a>(t: &mut Translator<'a>, at: At<'_, 'a>, rule: Cursor<'a>, errors: &mut Collector) -> RuleDestination {
    let name = names::destination(at.route, at.rule as i64);
    let kind = routing_type(t, at.route, at.parent, at.gateway, rule.field("name").some_str());
    let refs: Vec<Cursor<'a>> = rule.field("backendRefs").items().collect();
    let is_persistent = !at.is_grpc && rule.field("sessionPersistence").exists();
    let is_unsafe = t.needs_one_cluster(at.route, &refs, is_persistent, at.gateway);
    let mut out = RuleDestination {
        backends: Vec::new(),
        names: Vec::new(),
        has_valid: false,
        is_broken: false,
        lacks_endpoints: false,
        has_dynamic: false,
        name: Str::from(name.as_str()),
    };
    for (index, reference) in refs.iter().copied().enumerate() {
        let backend = Backend::of(reference);
        let (mut made, error) = process_backend(t, at, &names::setting(&name, index as i64), &backend, kind.as_deref(), is_unsafe);
        match error {
            Some(error) if error.reason == "EndpointsNotFound" => {
                errors.add(RouteError { about: About::BackendsAvailable, ..error.within("failed to find endpoints") });
                out.lacks_endpoints = true;
            }
            Some(error) => {
                let context = format!("failed to process route rule {} backendRef {index}", at.rule);
                errors.add(RouteError { about: About::ResolvedRefs, ..error.within(&context) });
                made.setting.invalid = !at.is_grpc;
                out.is_broken = true;
            }
            None => {}
        }
        if backend.weight == 0 {
            out.names.push(String::new());
            continue;
        }
        let setting = &made.setting;
        out.has_dynamic |= setting.is_dynamic_resolver;
        out.has_valid |= !setting.invalid && (setting.is_dynamic_resolver || setting.is_custom_backend || !setting.endpoints.is_empty());
        let namespace = reference.field("namespace").some_str().unwrap_or(at.route.object.namespace());
        out.names.push(format!("{namespace}/{}", reference.field("name").str()));
        out.backends.push(made);
    }
    out
}

/// Lets Envoy answer itself where a rule has no backend that works.
fn answer_itself(of: &RuleDestination, is_filter_broken: bool, at: At<'_, '_>, rule: Cursor<'_>, routes: &mut [HttpRoute], errors: &mut Collector) {
    let origin = rule.origin();
    let unsupported = |what: &str| format!("failed to process route rule {}: {what}", at.rule);
    if is_filter_broken {
        answer(routes, 500, origin, !at.is_grpc);
    } else if !of.has_valid {
        answer(routes, if of.lacks_endpoints && !of.is_broken { 503 } else { 500 }, origin, false);
    } else if of.has_dynamic && routes.iter().any(|route| route.rewrite.as_ref().is_some_and(|rewrite| rewrite.host.path_regex.is_some())) {
        answer(routes, 500, origin, false);
        let message = unsupported("host rewrite from path (PathRegex) is not supported with a dynamic resolver backend");
        errors.add(RouteError::new("UnsupportedValue", message));
    } else if !at.is_grpc && of.has_dynamic && rule.field("backendRefs").len() > 1 {
        answer(routes, 500, origin, false);
        errors.add(RouteError::new("InvalidBackendRef", unsupported("dynamic resolver is not supported for multiple backendRefs")));
    }
}

/// Lets Envoy answer with a status. `overrides` replaces an existing answer of Envoy too.
fn answer(routes: &mut [HttpRoute], status: i64, origin: Origin, overrides: bool) {
    for route in routes.iter_mut().filter(|route| overrides || (route.direct_response.is_none() && route.redirect.is_none())) {
        route.direct_response = Some(Box::new(DirectResponse { status: Sourced::new(status, origin), ..DirectResponse::default() }));
    }
}

fn routes_of_rule<'a>(at: At<'_, 'a>, rule: Cursor<'a>, filters: &Filters<'a>, metadata: &Metadata) -> Result<Vec<HttpRoute>, RouteError> {
    let persistence = if at.is_grpc { Tree::NULL } else { session_persistence(at, rule.field("sessionPersistence"))? };
    let list: Vec<Cursor<'a>> = rule.field("matches").items().collect();
    let combinations = matches::combine(&list, &filters.matches);
    let mut base = HttpRoute { metadata: metadata.clone(), origin: Some(rule.origin()), ..HttpRoute::default() };
    if !at.is_grpc {
        base.timeout = timeout(rule);
        base.retry = retry(rule);
    }
    if combinations.is_empty() {
        base.name = Str::from(names::route(at.route, at.rule, -1));
        filters.apply(&mut base);
        return Ok(Vec::from([base]));
    }
    let mut out = Vec::new();
    for (index, combination) in combinations.iter().enumerate() {
        let name = names::route(at.route, at.rule, index as i64);
        let mut route = HttpRoute { name: Str::from(name.as_str()), session_persistence: persistence.clone(), ..base.clone() };
        if at.is_grpc {
            matches::grpc(combination, &mut route)?;
        } else {
            matches::http(combination, &mut route)?;
        }
        filters.apply(&mut route);
        let method = combination.at.map_or(Cursor::nothing(), |at| at.field("method"));
        let has_preflight = !at.is_grpc && filters.cors.is_some() && method.exists() && method.str() != "OPTIONS" && route.cookies.is_empty();
        let preflight = has_preflight.then(|| HttpRoute {
            name: Str::from(format!("{name}/cors-preflight")),
            metadata: metadata.clone(),
            path: route.path.clone(),
            query: route.query.clone(),
            cors: filters.cors.clone().map(Box::new),
            headers: matches::preflight(&route.headers, method.origin()),
            origin: route.origin,
            ..HttpRoute::default()
        });
        out.push(route);
        out.extend(preflight);
    }
    Ok(out)
}

fn session_persistence(at: At<'_, '_>, of: Cursor<'_>) -> Result<Tree, RouteError> {
    if !of.exists() {
        return Ok(Tree::NULL);
    }
    let origin = Some(of.origin());
    let name = match of.field("sessionName").some() {
        Some(written) => tree(written),
        None => Tree::from(names::destination(at.route, at.rule as i64).replace('/', "-")).with_origin(origin),
    };
    match of.field("type").str() {
        "" | "Cookie" => {
            let timeout = of.field("absoluteTimeout");
            let is_permanent = of.at("cookieConfig.lifetimeType").str() == "Permanent";
            let mut cookie = Tree::object([("name", name)]);
            if timeout.exists() && is_permanent {
                cookie.set("ttl", tree(timeout));
            }
            Ok(Tree::object([("cookie", cookie.with_origin(origin))]).with_origin(origin))
        }
        "Header" => Ok(Tree::object([("header", Tree::object([("name", name)]).with_origin(origin))]).with_origin(origin)),
        other => Err(RouteError::new("UnsupportedValue", format!("unknown session persistence type {other}"))),
    }
}

fn timeout(rule: Cursor<'_>) -> Tree {
    let of_backend = rule.at("timeouts.backendRequest");
    if of_backend.exists() && !rule.field("retry").exists() { tree(of_backend) } else { tree(rule.at("timeouts.request")) }
}

/// Returns a rule's retries in the words of a BackendTrafficPolicy.
fn retry(rule: Cursor<'_>) -> Tree {
    let of = rule.field("retry");
    if !of.exists() {
        return Tree::NULL;
    }
    let origin = Some(of.origin());
    let (mut out, mut per_retry) = (empty(of), empty(of));
    if of.field("attempts").exists() {
        out.set("numRetries", tree(of.field("attempts")));
    }
    let mut has_own = false;
    if of.field("backoff").exists() {
        per_retry.set("backOff", Tree::object([("baseInterval", tree(of.field("backoff")))]).with_origin(origin));
        has_own = true;
    }
    if rule.at("timeouts.backendRequest").exists() {
        per_retry.set("timeout", tree(rule.at("timeouts.backendRequest")));
        has_own = true;
    }
    if has_own {
        out.set("perRetry", per_retry);
    }
    if of.field("codes").has_items() {
        out.set("retryOn", Tree::object([("httpStatusCodes", tree(of.field("codes")))]).with_origin(origin));
    }
    out
}

fn empty(at: Cursor<'_>) -> Tree {
    Tree { value: chancery_base::ir::Plain::Object(chancery_base::ir::Fields::default()), origin: Some(at.origin()) }
}

/// Returns the name of a rule's cluster in statistics.
fn stat_name(pattern: &str, route: &RouteContext<'_>, rule: Option<&str>, index: usize, backends: &[String]) -> Tree {
    let text = pattern
        .replace("%ROUTE_NAME%", route.object.name())
        .replace("%ROUTE_NAMESPACE%", route.object.namespace())
        .replace("%ROUTE_KIND%", route.kind.lower())
        .replace("%ROUTE_RULE_NAME%", rule.unwrap_or("-"))
        .replace("%ROUTE_RULE_NUMBER%", &format!("{index}"))
        .replace("%BACKEND_REFS%", &backends.join("|"));
    Tree::from(text)
}

/// Adds the routes to the listeners of a parent. Returns whether any host fits.
fn listeners<'a>(t: &mut Translator<'a>, route: &mut RouteContext<'a>, parent: usize, prepared: &[Prepared]) -> bool {
    let ids = route.parents[parent].listeners.clone();
    let mut fits = ids.is_empty();
    // Version 1.8 uses the port of a route's first listener for all of them.
    let mut first_ports: Vec<Option<Tree>> = alloc::vec![None; prepared.len()];
    let shares_ports = t.settings.version.is_1_8();
    for id in ids {
        let hosts = hosts::compute(t, route.object.spec().field("hostnames"), id);
        if hosts.is_empty() {
            continue;
        }
        fits = true;
        t.listener_mut(id).status.attached_routes += 1;
        route.attached.push(id);
        if !t.listener(id).is_ready() {
            continue;
        }
        let mut made = Vec::new();
        for host in &hosts {
            for (of, first_port) in prepared.iter().zip(&mut first_ports) {
                let mut of_host = route_for_host(t, route, id, host, of);
                if shares_ports && let Some(redirect) = &mut of_host.redirect {
                    redirect.port = first_port.get_or_insert_with(|| redirect.port.clone()).clone();
                }
                made.push(Arc::new(of_host));
            }
        }
        let key = t.ir_key(t.gateways[id.gateway].object);
        let name = t.listener(id).ir_name.clone();
        let origin = route.object.root().field("kind").origin();
        let Some(http) = t.xds.get_mut(&key).map(|xds| &mut xds.http) else { continue };
        let Some((place, listener)) = http.iter_mut().enumerate().find(|(_, of)| of.core.name == name) else { continue };
        if route.kind == RouteKind::Grpc {
            let mut grpc = if listener.client.grpc.is_null() { empty(route.object.root()) } else { listener.client.grpc.clone() };
            grpc.set("enableGRPCWeb", Tree::from(true).with_origin(Some(origin)));
            if grpc.get("enableGRPCStats").is_null() {
                grpc.set("enableGRPCStats", Tree::from(true).with_origin(Some(origin)));
            }
            listener.client.grpc = grpc;
        }
        let start = listener.routes.len();
        listener.routes.extend(made);
        route.spans.push(RouteSpan { ir_key: key, listener: place, routes: start..listener.routes.len() });
    }
    fits
}

fn route_for_host<'a>(t: &mut Translator<'a>, route: &RouteContext<'a>, id: ListenerId, host: &Sourced<Str>, of: &Prepared) -> HttpRoute {
    let mut made = of.route.clone();
    if let Some(redirect) = &mut made.redirect
        && redirect.port.is_null()
    {
        let (port, origin) = match redirect.scheme.text() {
            scheme if scheme.eq_ignore_ascii_case("http") => (80, redirect.scheme.origin),
            scheme if scheme.eq_ignore_ascii_case("https") => (443, redirect.scheme.origin),
            _ => (t.listener(id).port, Some(t.listener(id).at.field("port").origin())),
        };
        redirect.port = Tree::from(port).with_origin(origin);
    }
    made.name = Str::from(format!("{}/{}", made.name, host.value.replace('.', "_")));
    made.hostname = host.clone();
    if let Some(parts) = &of.destination {
        let of = DestinationParts {
            name: &parts.name,
            metadata: &parts.metadata,
            stat_name: &parts.stat_name,
            backends: &parts.backends,
            origin: made.origin,
        };
        made.destination = Some(t.destination_for_listener(id, route.kind, &route.object.full_name(), parts.rule_name.as_deref(), of));
    }
    made
}
