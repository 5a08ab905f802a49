//! Finds fields that never change what an Envoy gets from Envoy Gateway, and reports them with the reason, one finding for each object.
//!
//! Does not report fields that a problem disables; see `findings`.

use super::cluster::Admitted;
use super::kinds::GROUP;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Findings, Place, codes};
use chancery_base::resource::Object;
use chancery_kubernetes::object_tables::ByContent;
use chancery_text::{Node, NodeId, Value, series};

/// A kind, a path, and the reason why the field has no effect.
type Field = (&'static str, &'static str, &'static str);

/// Fields with everything below them. A path that begins with a dot is the end of a path, in any kind.
const FIELDS: &[Field] = &[
    ("EnvoyProxy", "spec.provider.kubernetes.envoyDeployment", OF_PODS),
    ("EnvoyProxy", "spec.provider.kubernetes.envoyDaemonSet", OF_PODS),
    ("EnvoyProxy", "spec.provider.kubernetes.envoyHpa", OF_PODS),
    ("EnvoyProxy", "spec.provider.kubernetes.envoyPDB", OF_PODS),
    ("EnvoyProxy", "spec.provider.kubernetes.envoyServiceAccount", OF_PODS),
    ("EnvoyProxy", "spec.shutdown", OF_PODS),
    ("EnvoyProxy", "spec.logging", OF_PODS),
    ("EnvoyProxy", "spec.concurrency", OF_PODS),
    ("EnvoyProxy", "spec.extraArgs", OF_PODS),
    ("BackendTrafficPolicy", "spec.rateLimit.global.rules.limit.requests", OF_LIMITS),
    ("BackendTrafficPolicy", "spec.rateLimit.global.rules.limit.unit", OF_LIMITS),
    ("", ".backendSettings.timeout.http.streamIdleTimeout", OF_ROUTES),
    ("", ".backendSettings.retry.perRetry.timeout", OF_ROUTES),
    ("", ".backendSettings.retry.retryOn.httpStatusCodes", OF_ROUTES),
    ("", ".backendSettings.retry.numAttemptsPerPriority", OF_ROUTES),
];

const OF_PODS: &str = "Envoy Gateway only configures pods with such fields";
const OF_LIMITS: &str = "the rate limit service counts the requests, and Envoy asks that service";
const OF_ROUTES: &str = "only routes have this setting, not services that filters call";
const OF_BACKENDS: &str = "a Backend has its own ports";

/// At most this many further places are shown for one object.
const MOST_PLACES: usize = 32;

/// Objects without such fields.
#[derive(Default)]
pub(crate) struct Memory(ByContent<()>);

/// Reports the fields of objects that the API server accepted.
pub(crate) fn report<'a>(objects: impl Iterator<Item = &'a Admitted<'a>>, memory: &mut Memory, sink: &mut Findings) {
    memory.0.begin();
    for object in objects.map(|admitted| admitted.object) {
        if memory.0.get(object).is_some() {
            continue;
        }
        match finding(object) {
            Some(found) => _ = sink.report(found),
            None => memory.0.put(object, ()),
        }
    }
    memory.0.end();
}

type Found = (&'static str, String, NodeId);

fn finding(object: &Object) -> Option<Diagnostic> {
    let mut found: Vec<Found> = Vec::new();
    let fields: Vec<&Field> = FIELDS.iter().filter(|(kind, ..)| kind.is_empty() || *object.key.kind == **kind).collect();
    walk(&fields, object.root.get("spec")?, &mut String::from("spec"), &mut found);
    let (reason, _, at) = found.first()?;
    let mut names: Vec<String> = Vec::new();
    for (own, path, _) in &found {
        let name = format!("`{path}`");
        if own == reason && !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(3);
    names.truncate(3);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let verb = if names.len() == 1 { "does" } else { "do" };
    let message = format!("{} {verb} not change what Envoy gets: {reason}", series(&names));
    let finding = Diagnostic::new(&codes::INERT_FIELD, message, Place::value(object.id, *at)).about(object.key.clone());
    let others = found.iter().skip(1).take(MOST_PLACES);
    Some(others.fold(finding, |finding, (reason, path, at)| finding.related(Place::value(object.id, *at), format!("nor does `{path}`: {reason}"))))
}

/// Collects the scalars of the list below a node. `path` is the node's path without indexes.
fn walk(fields: &[&Field], node: &Node, path: &mut String, found: &mut Vec<Found>) {
    match &node.value {
        Value::Object(members) => {
            let is_backend =
                members.get("kind").and_then(Node::as_str) == Some("Backend") && members.get("group").and_then(Node::as_str) == Some(GROUP);
            let own = path.len();
            for entry in members.iter() {
                path.push('.');
                path.push_str(&entry.key);
                if is_backend && entry.key == "port" && !path.contains("targetRef") {
                    found.push((OF_BACKENDS, path.clone(), entry.value.id));
                } else {
                    walk(fields, &entry.value, path, found);
                }
                path.truncate(own);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(fields, item, path, found)),
        _ => found.extend(reason(fields, path).map(|reason| (reason, path.clone(), node.id))),
    }
}

fn reason(fields: &[&Field], path: &str) -> Option<&'static str> {
    let is_below = |field: &str| path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    fields.iter().find(|(_, field, _)| if field.starts_with('.') { path.ends_with(field) } else { is_below(field) }).map(|(.., reason)| *reason)
}
