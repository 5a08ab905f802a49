//! Turns refusals into findings: conditions of statuses that say that an object, or a part of it, does not work.
//!
//! Does not judge anything itself; see `translate` and `policy`.

use super::cluster::Admitted;
use super::codes;
use super::context::{ADDRESSING, GatewayContext, Listener, RouteContext, RouteParent, Scope, Translator};
use super::kinds::GROUP;
use super::load::Loaded;
use super::load::resources::{From, To};
use super::options::Options;
use super::status::{Condition, Conditions};
use super::traps;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, SideRef, State, Why};
use chancery_base::diagnostic::{Code, Diagnostic, Findings, Place, Severity};
use chancery_base::resource::{ObjectId, Objects, nearest};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::gateway_api::owners::Owners;
use chancery_text::{Str, series};

/// Reports what the conditions of a class's objects say.
pub(crate) fn report(loaded: &Loaded<'_>, class: &Conditions, t: &Translator<'_>, sink: &mut Findings) {
    match wrong_parameters(class, loaded.class) {
        Some(found) => _ = sink.report(found),
        None => refused(class, "GatewayClass", loaded.class, loaded.class.spec().field("parametersRef"), sink),
    }
    // The ListenerSets with a finding about one of their listeners.
    let mut reported = BTreeSet::new();
    for gateway in t.gateways.iter().chain(&t.failed) {
        if !refused_parameters(&gateway.conditions, t, gateway, sink) {
            refused(&gateway.conditions, "Gateway", gateway.object, gateway.object.spec(), sink);
        }
        for listener in &gateway.listeners {
            let object = listener.set.map_or(gateway.object, |place| t.listener_sets[place].object);
            let conditions = &listener.status.conditions;
            // `Programmed` only says that another condition has the reason.
            let wrong = [("ResolvedRefs", false), ("Accepted", false), ("Conflicted", true), ("Programmed", false)];
            let wrong = wrong.into_iter().find_map(|(kind, holds)| conditions.get(kind).filter(|found| found.holds == holds));
            if let Some(condition) = wrong {
                let message = format!("the listener `{}` does not work as written: {}", listener.name, describe(condition));
                let found = finding(&codes::LISTENER_REFUSED, message, object, listener.at);
                reported.extend(listener.set);
                sink.report(if listener.is_ready() { found } else { disabling(found, object, listener.at) });
            }
        }
        without_http2(t, gateway, sink);
    }
    for (place, set) in t.listener_sets.iter().enumerate() {
        // The listener's finding has the reason.
        if reported.contains(&place) && set.conditions.get("Accepted").is_some_and(|condition| condition.reason == "ListenersNotValid") {
            continue;
        }
        refused(&set.conditions, "ListenerSet", set.object, set.object.spec().field("parentRef"), sink);
    }
    routes(t, sink);
    policies(t, sink);
}

/// Reports the listeners of a Gateway whose clients get no HTTP/2, as their certificates overlap.
fn without_http2(t: &Translator<'_>, gateway: &GatewayContext<'_>, sink: &mut Findings) {
    let Some(model) = t.xds.get(&t.ir_key(gateway.object)) else { return };
    let object = |of: &Listener<'_>| of.set.map_or(gateway.object, |place| t.listener_sets[place].object);
    let is_affected = |of: &&Listener<'_>| {
        let made = model.http.iter().find(|made| made.core.name == of.ir_name);
        made.is_some_and(|made| made.tls_overlaps && made.tls.as_ref().is_some_and(|tls| tls.alpn.is_none()))
    };
    let mut affected = gateway.listeners.iter().filter(is_affected);
    let Some(first) = affected.next() else { return };
    let rest: Vec<&Listener<'_>> = affected.collect();
    let others = match rest.as_slice() {
        [] => String::new(),
        [other] => format!(" and `{}`", other.name),
        _ => format!(" and {} more listeners", rest.len()),
    };
    let message = format!(
        "clients of `{}`{others} cannot use HTTP/2: the certificates have a name in common, so Envoy Gateway offers only HTTP/1.1",
        first.name
    );
    let mut found = finding(&codes::HTTP2_DISABLED, message, object(first), first.at)
        .help("write one listener for hosts of the same certificate, or set `tls.alpnProtocols` in a ClientTrafficPolicy");
    for other in rest.into_iter().take(MOST_FIELDS) {
        found = found.related(Place::origin(Some(other.at.origin())), "also without HTTP/2");
    }
    sink.report(found);
}

/// At most this many fields are added to a finding.
const MOST_FIELDS: usize = 32;

/// Adds the fields below a place that a finding disables.
fn disabling(found: Diagnostic, object: &Admitted<'_>, at: Cursor<'_>) -> Diagnostic {
    let fields = object.object.leaves(at.origin().node()).into_iter().take(MOST_FIELDS);
    fields.fold(found, |found, field| found.related(Place::value(object.id(), field), "this field has no effect until the problem is fixed"))
}

/// The sections of an EnvoyProxy's `spec.telemetry` whose backends a Gateway needs, as messages call them.
const TELEMETRY: [(&str, &str); 3] = [("Invalid access log", "accessLog"), ("Invalid tracing", "tracing"), ("Invalid metric", "metrics")];

/// Reports a Gateway that a broken EnvoyProxy refuses, at the EnvoyProxy. Returns whether this is the reason.
fn refused_parameters(conditions: &Conditions, t: &Translator<'_>, gateway: &GatewayContext<'_>, sink: &mut Findings) -> bool {
    let Some(condition) = conditions.get("Accepted").filter(|condition| !condition.holds) else { return false };
    let Some((_, section)) = TELEMETRY.iter().find(|(begin, _)| condition.message.starts_with(begin)) else { return false };
    let parameters = gateway.object.spec().at("infrastructure.parametersRef.name");
    let own = parameters.some_str().and_then(|name| t.resources.envoy_proxies.get(&(gateway.object.namespace().clone(), name.into())));
    let Some(proxy) = own.copied().or(t.resources.envoy_proxy_for_class) else { return false };
    let at = proxy.spec().field("telemetry").field(section);
    if !at.exists() {
        return false;
    }
    let message = format!("this refuses the Gateway `{}`, so no request is answered: {}", gateway.object.name(), describe(condition));
    let found = finding(&codes::GATEWAY_REFUSED, message, proxy, at);
    sink.report(disabling(found, proxy, at).related(Place::origin(Some(gateway.object.metadata().field("name").origin())), "the Gateway"));
    true
}

/// A line of a route's condition that names a rule: the rule, the backend if it names one, and the rest.
fn named_rule(line: &str) -> Option<(usize, Option<usize>, &str)> {
    let (at, rest) = number(line.strip_prefix("Failed to process route rule ")?)?;
    let (backend, rest) = match rest.strip_prefix(" backendRef ").and_then(number) {
        Some((backend, rest)) => (Some(backend), rest),
        None => (None, rest),
    };
    Some((at, backend, rest.strip_prefix(": ")?))
}

fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// The first filter of a type that a message names, if it names one.
fn named_filter<'a>(route: &RouteContext<'a>, message: &str) -> Option<Cursor<'a>> {
    let (_, rest) = message.split_once("nvalid filter ")?;
    let kind = rest.split(':').next()?;
    let rules = route.object.spec().field("rules").items();
    rules.flat_map(|rule| rule.field("filters").items().collect::<Vec<_>>()).find(|filter| filter.field("type").str() == kind)
}

/// The value of a match whose regular expression a message quotes.
fn named_match<'a>(route: &RouteContext<'a>, message: &str) -> Option<Cursor<'a>> {
    fn look<'a>(at: Cursor<'a>, quoted: &str, depth: usize) -> Option<Cursor<'a>> {
        const DEEPEST: usize = 8;
        if at.some_str() == Some(quoted) {
            return Some(at);
        }
        if depth > DEEPEST {
            return None;
        }
        let below = at.entries().map(|(_, value)| value).chain(at.items());
        below.into_iter().find_map(|value| look(value, quoted, depth + 1))
    }
    let (_, rest) = message.split_once("regex \"")?;
    let (quoted, _) = rest.split_once("\" is invalid")?;
    look(route.object.spec().field("rules"), quoted, 0)
}

/// All references of a route to backends, also those of mirrors.
fn backends<'a>(route: &RouteContext<'a>) -> Vec<Cursor<'a>> {
    let mut all = Vec::new();
    for rule in route.object.spec().field("rules").items() {
        all.extend(rule.field("backendRefs").items());
        all.extend(rule.field("filters").items().filter_map(|filter| filter.at("requestMirror.backendRef").some()));
    }
    all
}

/// The place of a line of a route's condition, and what it says: the backend that it names by number or name, else the rule.
fn blamed_backend<'a, 'm>(route: &RouteContext<'a>, line: &'m str) -> (Option<Cursor<'a>>, Cursor<'a>, &'m str) {
    let rules = route.object.spec().field("rules");
    if let Some((rule, backend, why)) = named_rule(line) {
        let at = rules.items().nth(rule).unwrap_or(rules);
        return (backend.and_then(|backend| at.field("backendRefs").items().nth(backend)), at, why);
    }
    let all = backends(route);
    let is_named = |backend: &&Cursor<'a>| {
        let words = line.split([' ', ':']).filter_map(|word| word.rsplit_once('/'));
        words.into_iter().any(|(_, name)| name.trim_end_matches('.') == backend.field("name").str())
    };
    let only = if let [only] = all[..] { Some(only) } else { None };
    (all.iter().find(is_named).copied().or(only), rules, line)
}

/// A backend's port that its Service does not have, with the ports that it has.
fn wrong_port(t: &Translator<'_>, route: &RouteContext<'_>, backend: Option<Cursor<'_>>, port: Cursor<'_>, why: &str) -> Diagnostic {
    let found = finding(&codes::ROUTE_UNRESOLVED, format!("a reference cannot be resolved: {why} (PortNotFound)"), route.object, port);
    let Some(backend) = backend else { return found };
    let namespace = backend.field("namespace").some_str().unwrap_or(route.object.namespace());
    let service = t.resources.services.get(&(namespace.into(), backend.field("name").str().into()));
    let ports = service.map(|service| service.spec().field("ports").items().filter_map(|of| of.field("port").int()).collect::<Vec<i64>>());
    match ports.as_deref() {
        Some([only]) => found.help(format!("write {only}, the Service's only port")),
        Some(ports) if !ports.is_empty() => {
            let ports: Vec<String> = ports.iter().map(|port| format!("{port}")).collect();
            found.help(format!("the Service has the ports {}", series(&ports)))
        }
        _ => found,
    }
}

/// Reports at its own field why no listener takes a route, if the reason is one that a field decides. Returns whether it is.
fn unattached(t: &Translator<'_>, route: &RouteContext<'_>, parent: &RouteParent<'_>, condition: &Condition, sink: &mut Findings) -> bool {
    let name = (parent.reference.namespace.clone().unwrap_or_else(|| route.object.namespace().clone()), parent.reference.name.clone());
    let Some(gateway) = t.gateways.iter().find(|gateway| gateway.name() == name) else { return false };
    if parent.reference.kind.as_deref().is_some_and(|kind| kind != "Gateway") {
        return false;
    }
    let section = parent.at.field("sectionName");
    let is_meant = |listener: &&Listener<'_>| section.some_str().is_none_or(|section| *listener.name == *section) && !listener.is_from_listener_set();
    let kind = route.kind.name();
    let report = |message: String, at: Cursor<'_>| finding(&codes::ROUTE_REFUSED, message, route.object, at);
    match condition.reason.as_str() {
        "NoMatchingParent" if section.exists() && !gateway.listeners.iter().any(|listener| is_meant(&listener)) => {
            let known: Vec<&str> = gateway.listeners.iter().filter(|of| !of.is_from_listener_set()).map(|of| of.name.as_str()).collect();
            let message = format!("Gateway `{}` has no listener `{}`, so nothing reaches this {kind}", gateway.object.name(), section.str());
            let found = report(message, section);
            sink.report(match nearest(section.str(), known.iter().copied()) {
                Some(near) => found.help(format!("write `{near}`")),
                None => found.help(format!("its listeners are {}", series(&known))),
            });
        }
        "NoMatchingListenerHostname" => {
            let hosts: Vec<&str> = gateway.listeners.iter().filter(is_meant).filter_map(|listener| listener.hostname.as_deref()).collect();
            let message = format!("no host of this {kind} fits a listener of Gateway `{}`, so nothing reaches it", gateway.object.name());
            let mut found = report(message, route.object.spec().field("hostnames")).help(format!("the listener takes {}", series(&hosts)));
            for listener in gateway.listeners.iter().filter(is_meant).filter(|listener| listener.at.field("hostname").exists()) {
                found = found.related(Place::origin(Some(listener.at.field("hostname").origin())), "the listener's host");
            }
            sink.report(found);
        }
        "NotAllowedByListeners" => {
            let message = format!("no listener of Gateway `{}` admits this {kind}, so nothing reaches it", gateway.object.name());
            let mut found = report(message, parent.at);
            for listener in gateway.listeners.iter().filter(is_meant) {
                let allowed = listener.at.field("allowedRoutes");
                let why = match allowed.at("namespaces.from").some_str().unwrap_or("Same") {
                    _ if !listener.status.supported_kinds.iter().any(|(_, known)| *known == *kind) => format!("it does not take {kind}s"),
                    "Same" => format!("it admits routes of the namespace {} only", gateway.object.namespace()),
                    "Selector" => format!("its selector does not choose the namespace {}", route.object.namespace()),
                    _ => continue,
                };
                let at = if allowed.exists() { allowed } else { listener.at };
                found = found.related(Place::origin(Some(at.origin())), format!("listener `{}`: {why}", listener.name));
            }
            let is_about_namespaces = found.related.iter().any(|of| of.message.contains("namespace"));
            sink.report(if is_about_namespaces {
                found.help("set `allowedRoutes.namespaces.from: All` at the listener, or move the route")
            } else {
                found
            });
        }
        _ => return false,
    }
    true
}

/// Conflicts between routes that are both accepted.
pub(crate) fn same_matches(side: SideRef<'_>) -> Vec<Diagnostic> {
    let refused = side.side.diagnostics.iter().filter(|found| found.code == &codes::ROUTE_REFUSED);
    let refused: Vec<_> = refused.filter_map(|found| found.resource.clone()).collect();
    let found = chancery_kubernetes::gateway_api::conflicts::same_matches(side);
    found.into_iter().filter(|found| found.resource.as_ref().is_none_or(|key| !refused.contains(key))).collect()
}

/// Reports what a condition says of the references of a route, each at its own backend.
fn unresolved(t: &Translator<'_>, route: &RouteContext<'_>, condition: &Condition, sink: &mut Findings) {
    for line in condition.message.lines() {
        let (backend, at, why) = blamed_backend(route, line);
        let why = why.strip_suffix('.').unwrap_or(why);
        let message = format!("a reference cannot be resolved: {why} ({})", condition.reason);
        let found = finding(&codes::ROUTE_UNRESOLVED, message, route.object, backend.unwrap_or(at));
        let port = backend.map(|backend| backend.field("port")).filter(|port| port.exists());
        if let Some(port) = port.filter(|_| why.contains("not found on Service")) {
            sink.report(wrong_port(t, route, backend, port, why));
            continue;
        }
        let found = match port {
            Some(port) => found.related(Place::origin(Some(port.origin())), "this field has no effect until the problem is fixed"),
            None => found,
        };
        let grant = if why.contains("ReferenceGrant") { needed_grant(t, route) } else { None };
        sink.report(match grant {
            Some((_, grant)) => found.help(grant),
            None => found,
        });
    }
}

fn describe(condition: &Condition) -> String {
    let text = condition.message.strip_suffix('.').unwrap_or(&condition.message);
    format!("{text} ({})", condition.reason)
}

fn finding(code: &'static Code, message: String, object: &Admitted<'_>, at: Cursor<'_>) -> Diagnostic {
    let origin = if at.exists() { at.origin() } else { object.metadata().field("name").origin() };
    Diagnostic::new(code, message, Place::origin(origin)).about(object.object.key.clone())
}

/// Reports a GatewayClass whose parameters have another group or kind than an EnvoyProxy. Envoy Gateway still processes its Gateways
/// (`internal/provider/kubernetes/controller.go`).
fn wrong_parameters(conditions: &Conditions, class: &Admitted<'_>) -> Option<Diagnostic> {
    let condition = conditions.get("Accepted").filter(|condition| !condition.holds && condition.message.contains("invalid group or kind"))?;
    let reference = class.spec().field("parametersRef");
    let (field, value) = [("group", GROUP), ("kind", "EnvoyProxy")].into_iter().find(|(field, value)| reference.field(field).str() != *value)?;
    let at = if reference.field(field).exists() { reference.field(field) } else { reference };
    let message = format!(
        "the {field} of an EnvoyProxy is `{value}`: Envoy Gateway ignores these parameters, and still serves the Gateways of the class ({})",
        condition.reason
    );
    let found = finding(&codes::GATEWAY_REFUSED, message, class, at);
    let place = Place::origin(at.origin());
    Some(if reference.field(field).exists() {
        found.fix(format!("write `{value}`"), place, value)
    } else {
        found.help(format!("write `{field}: {value}`"))
    })
}

fn refused(conditions: &Conditions, what: &str, object: &Admitted<'_>, at: Cursor<'_>, sink: &mut Findings) {
    if let Some(condition) = conditions.get("Accepted").filter(|condition| !condition.holds) {
        sink.report(finding(&codes::GATEWAY_REFUSED, format!("Envoy Gateway does not accept the {what}: {}", describe(condition)), object, at));
    }
}

fn routes(t: &Translator<'_>, sink: &mut Findings) {
    for route in &t.routes {
        for parent in &route.parents {
            let conditions = &route.statuses[parent.status].1;
            for condition in &conditions.0 {
                let kind = route.kind.name();
                if condition.kind == "ResolvedRefs" && !condition.holds {
                    unresolved(t, route, condition, sink);
                    continue;
                }
                if condition.kind == "Accepted" && !condition.holds && unattached(t, route, parent, condition, sink) {
                    continue;
                }
                let (code, message): (&'static Code, String) = match (condition.kind.as_str(), condition.holds) {
                    ("Accepted", false) => (&codes::ROUTE_REFUSED, format!("Envoy Gateway does not accept the {kind}: {}", describe(condition))),
                    ("PartiallyInvalid", true) => (&codes::ROUTE_REFUSED, format!("a part of the {kind} is dropped: {}", describe(condition))),
                    ("BackendsAvailable", false) => (&codes::ENDPOINTS_NOT_READY, format!("Envoy answers 503: {}", describe(condition))),
                    ("RouteRulesOverlap", true) => (&codes::ROUTES_OVERLAP, describe(condition)),
                    _ => continue,
                };
                let filter = named_filter(route, &condition.message);
                let at = match filter.or_else(|| named_match(route, &condition.message)) {
                    Some(at) => at,
                    None if condition.kind == "Accepted" => parent.at,
                    None => route.object.spec().field("rules"),
                };
                let mut found = finding(code, message, route.object, at);
                if condition.kind == "RouteRulesOverlap" {
                    found = found.help(winner_of_overlap(t, route, parent));
                }
                sink.report(if filter.is_some() { disabling(found, route.object, at) } else { found });
            }
        }
    }
}

/// Names the route that gets the requests of overlapping routes: the first one, as routes are in the order of kind, age and name.
fn winner_of_overlap(t: &Translator<'_>, route: &RouteContext<'_>, parent: &RouteParent<'_>) -> String {
    let name = |of: &RouteContext<'_>| format!("{} {}/{}", of.kind.name(), of.object.namespace(), of.object.name());
    let owner = |of: &RouteContext<'_>| (Str::new_static(of.kind.name()), of.object.namespace().clone(), of.object.name().clone());
    let is_meant = |of: &&RouteContext<'_>| of.object.id() == route.object.id() || parent.overlapping.contains(&owner(of));
    let mut all = t.routes.iter().filter(is_meant);
    let (Some(first), Some(second)) = (all.next(), all.next()) else { return "give the routes different matches".into() };
    let why = match first.kind.name() == second.kind.name() {
        false => format!("{}s come before {}s", first.kind.name(), second.kind.name()),
        true if first.object.created() != second.object.created() => "it is the oldest".into(),
        true => "of routes with the same age, it is the first by namespace and name".into(),
    };
    let winner = if first.object.id() == route.object.id() { "this route".into() } else { name(first) };
    format!("{winner} gets these requests: {why}")
}

/// The first reference of a route that no ReferenceGrant permits, and the grant that it needs.
fn needed_grant<'a>(t: &Translator<'_>, route: &RouteContext<'a>) -> Option<(Cursor<'a>, String)> {
    let own = route.object.namespace();
    let backends = route.object.spec().field("rules").items().flat_map(|rule| rule.field("backendRefs").items());
    backends.into_iter().find_map(|at| {
        let namespace = at.field("namespace").some_str().filter(|namespace| *namespace != own.as_str())?;
        let (group, kind, name) = (at.field("group").str(), at.field("kind").some_str().unwrap_or("Service"), at.field("name").str());
        let from = From { group: super::kinds::GATEWAY_API, kind: route.kind.name(), namespace: own };
        if t.resources.permits(from, To { group, kind, namespace, name }) {
            return None;
        }
        Some((at, grant(route.object, super::kinds::GATEWAY_API, at, "Service")))
    })
}

/// Describes the ReferenceGrant that a reference to another namespace needs. `group` is the object's.
fn grant(object: &Admitted<'_>, group: &str, to: Cursor<'_>, default_kind: &str) -> String {
    let (to_group, kind) = (to.field("group").str(), to.field("kind").some_str().unwrap_or(default_kind));
    format!(
        "add this grant: {{apiVersion: {}/v1beta1, kind: ReferenceGrant, metadata: {{name: {}, namespace: {}}}, \
         spec: {{from: [{{group: {group}, kind: {}, namespace: {}}}], to: [{{group: '{to_group}', kind: {kind}, name: {}}}]}}}}",
        super::kinds::GATEWAY_API,
        object.name(),
        to.field("namespace").str(),
        object.kind.name(),
        object.namespace(),
        to.field("name").str()
    )
}

/// Finds the reference of a policy to another namespace that a message names as `NAMESPACE/NAME`.
fn foreign_reference<'a>(at: Cursor<'a>, message: &str) -> Option<Cursor<'a>> {
    let (namespace, name) = (at.field("namespace").some_str(), at.field("name").str());
    if namespace.is_some_and(|namespace| message.contains(&format!(" {namespace}/{name} "))) {
        return Some(at);
    }
    at.entries().find_map(|(_, value)| foreign_reference(value, message)).or_else(|| at.items().find_map(|item| foreign_reference(item, message)))
}

fn policies(t: &Translator<'_>, sink: &mut Findings) {
    let resources = t.resources;
    let targeted = [
        &resources.client_traffic_policies,
        &resources.backend_traffic_policies,
        &resources.security_policies,
        &resources.envoy_extension_policies,
        &resources.envoy_patch_policies,
    ];
    let proxies = resources.envoy_proxies.values().copied().chain(resources.envoy_proxy_for_class);
    let others = resources.backends.iter().chain(&resources.backend_tls_policies).copied().chain(proxies);
    for policy in targeted.into_iter().flatten().copied() {
        if t.policies.get(&policy.id()).is_none_or(|status| status.ancestors.is_empty()) && !traps::missing_targets(t, policy, sink) {
            let message = match policy.kind.name() {
                "EnvoyPatchPolicy" if t.merge_gateways => {
                    "with `mergeGateways`, the target of an EnvoyPatchPolicy is the GatewayClass: no patch applies".into()
                }
                "EnvoyPatchPolicy" => "no Gateway in use is the target of the EnvoyPatchPolicy: no patch applies".into(),
                kind => format!("no Gateway or route in use is the target of the {kind}, so it has no effect"),
            };
            sink.report(finding(&codes::POLICY_WITHOUT_TARGET, message, policy, target(policy)));
        }
        conditions_of(t, policy, sink);
    }
    others.for_each(|object| conditions_of(t, object, sink));
}

fn target<'a>(policy: &'a Admitted<'_>) -> Cursor<'a> {
    let spec = policy.spec();
    ["targetRef", "targetRefs", "targetSelectors"].into_iter().map(|name| spec.field(name)).find(|at| at.exists()).unwrap_or(spec)
}

fn conditions_of(t: &Translator<'_>, object: &Admitted<'_>, sink: &mut Findings) {
    let kind = object.kind.name();
    // Several ancestors may have the same condition.
    let mut known: Vec<&Condition> = Vec::new();
    for (_, conditions) in t.policies.get(&object.id()).iter().flat_map(|status| &status.ancestors) {
        for condition in &conditions.0 {
            if known.iter().any(|other| (&other.kind, other.holds, &other.message) == (&condition.kind, condition.holds, &condition.message)) {
                continue;
            }
            known.push(condition);
            let (code, message): (&'static Code, String) = match (condition.kind.as_str(), condition.holds) {
                ("Accepted", false) => (&codes::POLICY_REFUSED, format!("Envoy Gateway does not accept the {kind}: {}", describe(condition))),
                ("ResolvedRefs", false) => (&codes::POLICY_REFUSED, format!("a reference of the {kind} cannot be resolved: {}", describe(condition))),
                ("Overridden", true) if lost_settings(t, object, sink) => continue,
                ("Overridden", true) => (&codes::POLICY_OVERRIDDEN, describe(condition)),
                ("Warning", true) if condition.reason == "DeprecatedField" => {
                    for part in condition.message.split("; ") {
                        let at = part.split(" is deprecated").next().map(|path| object.root().at(path)).filter(|at| at.exists());
                        let message = format!("{part} ({})", condition.reason);
                        sink.report(finding(&codes::POLICY_WARNING, message, object, at.unwrap_or_else(|| target(object))));
                    }
                    continue;
                }
                ("Warning", true) => (&codes::POLICY_WARNING, describe(condition)),
                // Each patch that fails has its own finding.
                ("Programmed", false) if matches!(condition.reason.as_str(), "ResourceNotFound" | "Invalid") => continue,
                ("Programmed", false) => (&codes::PATCH_FAILED, format!("a patch is not applied: {}", describe(condition))),
                _ => continue,
            };
            let at = if *code == codes::POLICY_REFUSED { blamed(object, &condition.message).unwrap_or(target(object)) } else { target(object) };
            let is_forbidden = *code == codes::POLICY_REFUSED && message.contains("not permitted by any ReferenceGrant");
            let reference = if is_forbidden { foreign_reference(object.spec(), &condition.message) } else { None };
            let found = finding(code, message, object, reference.map_or(at, |of| of.field("namespace")));
            let found = match reference {
                // References to certificates name no kind.
                Some(of) => found.help(grant(object, GROUP, of, if condition.message.contains(" Secret ") { "Secret" } else { "Service" })),
                None => found,
            };
            let found = if *code == codes::POLICY_REFUSED && is_out_of_force(t, object) { without_effect(found, object) } else { found };
            let broken = if *code == codes::POLICY_REFUSED { broken_routes(t, object) } else { Vec::new() };
            sink.report(if broken.is_empty() {
                found
            } else {
                let effect =
                    format!("until then {} answers 500 to every request that the policy is for; other routes are not affected", series(&broken));
                let help = found.help.as_ref().map_or_else(|| effect.clone(), |help| format!("{help}; {effect}"));
                found.help(help)
            });
        }
    }
}

/// Settings whose loss is a warning. `traps` reports lost authentication and authorization at the policy that replaces them.
const PROTECTION: [&str; 4] = ["rateLimit", "circuitBreaker", "cors", "requestBuffer"];

/// Reports each setting of a policy that is lost where narrower policies replace the policy. Returns whether there are any.
fn lost_settings(t: &Translator<'_>, policy: &Admitted<'_>, sink: &mut Findings) -> bool {
    let resources = t.resources;
    let same = [&resources.backend_traffic_policies, &resources.security_policies, &resources.envoy_extension_policies];
    let Some(all) = same.into_iter().find(|all| all.iter().any(|of| of.id() == policy.id())) else { return false };
    let kind = policy.kind.name();
    let mut is_any = false;
    for (setting, at) in policy.spec().entries().filter(|(key, _)| !ADDRESSING.contains(&key.as_str())) {
        let lacks = |(scope, id): (&Scope, ObjectId)| {
            let by = all.iter().copied().find(|of| of.id() == id)?;
            (!by.spec().field(setting).exists()).then(|| (scope.describe(), by))
        };
        let lost: Vec<(String, &Admitted<'_>)> = t.in_force.replacements(kind, policy.id()).filter_map(lacks).collect();
        let Some((_, first)) = lost.first() else { continue };
        is_any = true;
        let scopes: Vec<String> = lost.iter().map(|(scope, _)| scope.clone()).collect();
        let mut others: Vec<String> = lost.iter().map(|(_, by)| format!("`{}`", by.name())).collect();
        others.dedup();
        // A policy that merges is merged into the nearest wider one, which is not this one.
        let merges = first.spec().field("mergeType").exists();
        let verb = match (merges, others.len()) {
            (true, _) => "and the policy that it is merged with take the place of",
            (false, 1) => "replaces",
            (false, _) => "replace",
        };
        let message = format!("`{setting}` does not apply to {}: {kind} {} {verb} this whole policy there", series(&scopes), series(&others));
        let mut found = finding(&codes::POLICY_OVERRIDDEN, message, policy, at);
        if PROTECTION.contains(&setting.as_str()) {
            found.severity = Severity::Warning;
        }
        let can_merge =
            target(first).field("kind").str().ends_with("Route") || target(first).items().any(|of| of.field("kind").str().ends_with("Route"));
        let help = match can_merge && !merges {
            true => format!("add `mergeType: StrategicMerge` to `{}`, or repeat `{setting}` there", first.name()),
            false => format!("repeat `{setting}` in `{}`", first.name()),
        };
        sink.report(found.related(Place::origin(target(first).origin()), "this policy replaces it").help(help));
    }
    is_any
}

/// Whether a policy is refused everywhere, so that none of its settings counts.
fn is_out_of_force(t: &Translator<'_>, policy: &Admitted<'_>) -> bool {
    let is_whole = matches!(policy.kind.name(), "SecurityPolicy" | "BackendTrafficPolicy");
    is_whole && t.policies.get(&policy.id()).is_some_and(|status| status.ancestors.iter().all(|(_, of)| of.is("Accepted", false)))
}

/// Adds the settings of a policy that is not in force.
fn without_effect(found: Diagnostic, policy: &Admitted<'_>) -> Diagnostic {
    let settings = policy.spec().entries().filter(|(key, _)| !ADDRESSING.contains(&key.as_str())).map(|(_, at)| at);
    settings.fold(found, |found, at| if found.related.len() < MOST_FIELDS { disabling(found, policy, at) } else { found })
}

/// The field that a message names: the deepest written one whose name occurs in the message.
fn blamed<'a>(object: &'a Admitted<'_>, message: &str) -> Option<Cursor<'a>> {
    fn look<'a>(at: Cursor<'a>, words: &[&str], depth: usize, best: &mut Option<(usize, Cursor<'a>)>) {
        for (key, value) in at.entries() {
            if words.contains(&key.as_str()) && best.as_ref().is_none_or(|(known, _)| depth > *known) {
                *best = Some((depth, value));
            }
            look(value, words, depth + 1, best);
        }
        at.items().for_each(|item| look(item, words, depth + 1, best));
    }
    let words: Vec<&str> = message.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 4).collect();
    // A message begins with the section that it is about, as in `ExtAuth: ...`.
    let section = message.split_once(": ").and_then(|(section, _)| {
        let is_named = |key: &str| key.eq_ignore_ascii_case(section);
        object.spec().entries().find(|(key, _)| is_named(key)).map(|(_, at)| at)
    });
    let mut best = None;
    look(section.unwrap_or(object.spec()), &words, 0, &mut best);
    best.map(|(_, at)| at).or(section)
}

/// The routes that a refused policy names and that answer 500.
fn broken_routes(t: &Translator<'_>, policy: &Admitted<'_>) -> Vec<String> {
    let spec = policy.spec();
    let single = spec.field("targetRef");
    let targets: Vec<Cursor<'_>> = if single.exists() { Vec::from([single]) } else { spec.field("targetRefs").items().collect() };
    let routes = t.xds.values().flat_map(|xds| &xds.http).flat_map(|listener| &listener.routes);
    let failing: Vec<&str> =
        routes.filter(|route| route.direct_response.as_ref().is_some_and(|of| of.status.value == 500)).map(|route| route.name.as_str()).collect();
    let is_broken = |route: &RouteContext<'_>| failing.iter().any(|name| name.starts_with(route.prefix().as_str()));
    let is_named = |route: &RouteContext<'_>| {
        let is = |target: &Cursor<'_>| target.field("kind").str() == route.kind.name() && target.field("name").str() == route.object.name().as_str();
        route.object.namespace() == policy.namespace() && targets.iter().any(is)
    };
    let named = t.routes.iter().filter(|route| is_named(route) && is_broken(route));
    named.map(|route| format!("{} `{}`", route.kind.name(), route.object.name())).collect()
}

/// Reports that the configuration of an Envoy cannot be written.
pub(crate) fn nothing_published(key: &str, owner: Option<&Admitted<'_>>, error: &str, sink: &mut Findings) {
    let message = format!("the Envoy of {key} gets no configuration: {error}");
    let place = Place::origin(owner.map(|owner| owner.metadata().field("name").origin()));
    let finding = Diagnostic::new(&codes::NOTHING_PUBLISHED, message, place);
    sink.report(match owner {
        Some(owner) => finding.about(owner.object.key.clone()),
        None => finding,
    });
}

/// Reports that Envoy Gateway does not start.
pub(crate) fn startup(objects: &Objects, options: &Options, error: &str, sink: &mut Findings) {
    let mounted = super::settings::mounted_file(objects, options);
    let file = objects.iter().find(|object| super::settings::is_file(object)).or(mounted);
    let place = file.map(|file| Place::value(file.id, file.root.id));
    let finding =
        Diagnostic::new(&codes::STARTUP_REFUSED, format!("Envoy Gateway does not start: {error}"), place.unwrap_or_else(|| Place::origin(None)));
    sink.report(match file {
        Some(file) => finding.about(file.key.clone()),
        None => finding,
    });
}

/// Writes down which objects belong to other controllers.
pub(crate) fn of_others(objects: &Objects, owners: &Owners<'_>, ledger: &mut Ledger) {
    for object in objects.all() {
        if matches!(ledger.get(object.id), State::Loaded)
            && let Some(other) = owners.other(object)
        {
            ledger.set(object.id, State::Ignored(Why::OtherController, format!("it belongs to {other}").into()));
        }
    }
}

/// Records the objects that an Envoy's configuration is generated from.
pub(crate) fn emitted(objects: impl Iterator<Item = ObjectId>, key: &str, ledger: &mut Ledger) {
    let envoy = Str::from(format!("the Envoy {key}"));
    objects.for_each(|object| ledger.emitted(object, envoy.clone()));
}
