//! Turns refusals into findings: conditions of statuses that say that an object, or a part of it, does not work.
//!
//! Does not judge anything itself; see `translate` and `policy`.

use super::cluster::Admitted;
use super::codes;
use super::context::{RouteContext, Translator};
use super::load::Loaded;
use super::load::resources::{From, To};
use super::status::{Condition, Conditions};
use super::traps;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::diagnostic::{Code, Diagnostic, Findings, Place};
use chancery_base::resource::{ObjectId, Objects};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::gateway_api::owners::Owners;
use chancery_text::series;

/// Reports what the conditions of a class's objects say.
pub(crate) fn report(loaded: &Loaded<'_>, class: &Conditions, t: &Translator<'_>, sink: &mut Findings) {
    refused(class, "GatewayClass", loaded.class, loaded.class.spec().field("parametersRef"), sink);
    for gateway in t.gateways.iter().chain(&t.failed) {
        refused(&gateway.conditions, "Gateway", gateway.object, gateway.object.spec(), sink);
        for listener in &gateway.listeners {
            let object = listener.set.map_or(gateway.object, |place| t.listener_sets[place].object);
            let conditions = &listener.status.conditions;
            let wrong = ["ResolvedRefs", "Accepted", "Programmed"].into_iter().find_map(|kind| conditions.get(kind).filter(|found| !found.holds));
            if let Some(condition) = wrong {
                let message = format!("the listener `{}` does not work as written: {}", listener.name, describe(condition));
                sink.report(finding(&codes::LISTENER_REFUSED, message, object, listener.at));
            }
        }
    }
    for set in &t.listener_sets {
        refused(&set.conditions, "ListenerSet", set.object, set.object.spec().field("parentRef"), sink);
    }
    routes(t, sink);
    policies(t, sink);
}

fn describe(condition: &Condition) -> String {
    let text = condition.message.strip_suffix('.').unwrap_or(&condition.message);
    format!("{text} ({})", condition.reason)
}

fn finding(code: &'static Code, message: String, object: &Admitted<'_>, at: Cursor<'_>) -> Diagnostic {
    let origin = if at.exists() { at.origin() } else { object.metadata().field("name").origin() };
    Diagnostic::new(code, message, Place::origin(origin)).about(object.object.key.clone())
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
                let (code, message): (&'static Code, String) = match (condition.kind.as_str(), condition.holds) {
                    ("Accepted", false) => (&codes::ROUTE_REFUSED, format!("Envoy Gateway does not accept the {kind}: {}", describe(condition))),
                    ("PartiallyInvalid", true) => (&codes::ROUTE_REFUSED, format!("a part of the {kind} is dropped: {}", describe(condition))),
                    ("ResolvedRefs", false) => (&codes::ROUTE_UNRESOLVED, format!("a reference cannot be resolved: {}", describe(condition))),
                    ("BackendsAvailable", false) => (&codes::ENDPOINTS_NOT_READY, format!("Envoy answers 503: {}", describe(condition))),
                    ("RouteRulesOverlap", true) => (&codes::ROUTES_OVERLAP, describe(condition)),
                    _ => continue,
                };
                let is_grant = condition.reason == "RefNotPermitted";
                let needed = if is_grant { needed_grant(t, route) } else { None };
                let at = match &needed {
                    Some((at, _)) => *at,
                    None if condition.kind == "Accepted" => parent.at,
                    None => route.object.spec().field("rules"),
                };
                let found = finding(code, message, route.object, at);
                sink.report(match needed {
                    Some((_, grant)) => found.help(grant),
                    None => found,
                });
            }
        }
    }
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
        let grant = format!(
            "add this grant: {{apiVersion: {}/v1beta1, kind: ReferenceGrant, metadata: {{name: {}, namespace: {namespace}}}, \
             spec: {{from: [{{group: {}, kind: {}, namespace: {own}}}], to: [{{group: '{group}', kind: {kind}, name: {name}}}]}}}}",
            super::kinds::GATEWAY_API,
            route.object.name(),
            super::kinds::GATEWAY_API,
            route.kind.name()
        );
        Some((at, grant))
    })
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
            let message = format!("no Gateway or route in use is the target of the {}, so it has no effect", policy.kind.name());
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
    for (_, conditions) in t.policies.get(&object.id()).iter().flat_map(|status| &status.ancestors) {
        for condition in &conditions.0 {
            let (code, message): (&'static Code, String) = match (condition.kind.as_str(), condition.holds) {
                ("Accepted", false) => (&codes::POLICY_REFUSED, format!("Envoy Gateway does not accept the {kind}: {}", describe(condition))),
                ("ResolvedRefs", false) => (&codes::POLICY_REFUSED, format!("a reference of the {kind} cannot be resolved: {}", describe(condition))),
                ("Overridden", true) => (&codes::POLICY_OVERRIDDEN, describe(condition)),
                ("Warning", true) => (&codes::POLICY_WARNING, describe(condition)),
                // Each patch without a resource has its own finding.
                ("Programmed", false) if condition.reason == "ResourceNotFound" => continue,
                ("Programmed", false) => (&codes::PATCH_FAILED, format!("a patch is not applied: {}", describe(condition))),
                _ => continue,
            };
            let at = if *code == codes::POLICY_REFUSED { blamed(object, &condition.message).unwrap_or(target(object)) } else { target(object) };
            let found = finding(code, message, object, at);
            let broken = if *code == codes::POLICY_REFUSED { broken_routes(t, object) } else { Vec::new() };
            sink.report(if broken.is_empty() {
                found
            } else {
                found.help(format!(
                    "until then {} answers 500 to every request that the policy is for; other routes are not affected",
                    series(&broken)
                ))
            });
        }
    }
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
    let mut best = None;
    look(object.spec(), &words, 0, &mut best);
    best.map(|(_, at)| at)
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
pub(crate) fn startup(objects: &Objects, error: &str, sink: &mut Findings) {
    let file = objects.iter().find(|object| super::settings::is_file(object));
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
        let is_open = matches!(ledger.get(object.id), State::Loaded);
        if let Some(other) = owners.other(object).filter(|_| is_open) {
            ledger.set(object.id, State::Ignored(Why::OtherController, format!("it belongs to {other}").into()));
        }
    }
}

/// Records the objects that an Envoy's configuration is generated from.
pub(crate) fn emitted(objects: impl Iterator<Item = ObjectId>, key: &str, ledger: &mut Ledger) {
    for object in objects {
        ledger.emitted(object, format!("the Envoy {key}"));
    }
}
