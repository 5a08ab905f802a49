//! Turns refusals into findings: conditions of statuses that say that an object, or a part of it, does not work.
//!
//! Does not judge anything itself; see `translate` and `policy`.

use super::cluster::Admitted;
use super::codes;
use super::load::Loaded;
use super::status::{Condition, Conditions};
use super::translate::context::Translator;
use alloc::format;
use alloc::string::String;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::diagnostic::{Code, Diagnostic, Findings, Place};
use chancery_base::resource::{ObjectId, Objects};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::gateway_api::owners::Owners;

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
                let at = if condition.kind == "Accepted" { parent.at } else { route.object.spec().field("rules") };
                sink.report(finding(code, message, route.object, at));
            }
        }
    }
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
        if t.policies.get(&policy.id()).is_none_or(|status| status.ancestors.is_empty()) {
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
                ("Programmed", false) => (&codes::PATCH_FAILED, format!("a patch is not applied: {}", describe(condition))),
                _ => continue,
            };
            sink.report(finding(code, message, object, target(object)));
        }
    }
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
pub(crate) fn of_others(objects: &Objects, controller: &str, ledger: &mut Ledger) {
    let owners = Owners::of(objects.all(), controller);
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
