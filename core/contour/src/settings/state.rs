//! Computes the state of Contour's configuration: whether Contour serves with it, its status, and what a change restarts. Follows Contour's design
//! of the ContourConfiguration (`design/configuration-crd.md`); Contour itself reads its configuration only at startup and writes no status for it.

use super::super::cluster::Cluster;
use super::super::kinds::Kind;
use super::super::options::Options;
use super::super::status::{condition, list, object, text};
use super::{Flags, Settings};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Answers, ControllerState, Failure, Restart, Serving, SettingChange};
use chancery_text::{Node, Object};

/// The finalizer that keeps a ContourConfiguration while Contour uses it.
pub const FINALIZER: &str = "projectcontour.io/configuration";

/// The state of Contour with its startup configuration.
pub fn controller_state(cluster: &Cluster<'_>, options: &Options, outcome: Result<&Settings, &Failure>) -> ControllerState {
    let name = Flags::of_serve(&options.arguments).ok().and_then(|flags| flags.get("contour-config-name").filter(|name| !name.is_empty()).cloned());
    let configuration = name.as_ref().and_then(|name| cluster.get(Kind::ContourConfiguration, &options.namespace, name));
    let (serving, finalizers, condition) = match outcome {
        Ok(_) => (Serving::Ready, alloc::vec![text(FINALIZER)], Some(condition("Valid", "True", "Valid", "Valid ContourConfiguration"))),
        // The name refers to a missing object, as after a deletion. Errors in the flags themselves are different.
        Err(failure) if name.is_some() && configuration.is_none() && failure.stage != "flags" => (Serving::Defaults, Vec::new(), None),
        Err(failure) => (Serving::Unready, alloc::vec![text(FINALIZER)], Some(condition("Valid", "False", "ErrorPresent", &failure.error))),
    };
    let configuration = configuration.map(|configuration| {
        let status = condition.map(|condition| ("status", object(alloc::vec![("conditions", list(alloc::vec![object(condition)]))])));
        let named = [("name", text(configuration.name())), ("namespace", text(&options.namespace)), ("finalizers", list(finalizers))];
        object(named.into_iter().chain(status).collect())
    });
    let restarting = |what: Restart| RESTARTING.iter().filter(|(_, restart)| *restart == what).map(|(field, _)| *field).collect();
    ControllerState {
        serving,
        error: outcome.err().map(|failure| failure.error.clone()),
        configuration,
        restarts_process: restarting(Restart::Process),
        restarts_controllers: restarting(Restart::Controllers),
    }
}

/// Settings that are more than data for Envoy: where Contour listens, and what it watches at startup.
const RESTARTING: &[(&str, Restart)] = &[
    ("xdsServer", Restart::Process),
    ("debug", Restart::Process),
    ("health", Restart::Process),
    ("metrics", Restart::Process),
    ("gateway", Restart::Controllers),
    ("ingress", Restart::Controllers),
    ("httpproxy.rootNamespaces", Restart::Controllers),
    ("httpproxy.fallbackCertificate", Restart::Controllers),
    ("envoy.clientCertificate", Restart::Controllers),
    ("envoy.service", Restart::Controllers),
    ("rateLimitService.extensionService", Restart::Controllers),
    ("tracing.extensionService", Restart::Controllers),
    ("globalExtAuth.extensionRef", Restart::Controllers),
    ("featureFlags", Restart::Controllers),
];

/// The settings that differ between two compiles that came as far as having some.
pub fn changes_between(before: &Answers, after: &Answers) -> Vec<SettingChange> {
    match (&before.configuration, &after.configuration) {
        (Some(before), Some(after)) => changes(&before.effective, &after.effective),
        _ => Vec::new(),
    }
}

/// The changed settings by path, each with what it restarts.
pub fn changes(before: &Node, after: &Node) -> Vec<SettingChange> {
    let mut found = Vec::new();
    differ(Some(before), Some(after), String::new(), &mut found);
    found
}

fn differ(before: Option<&Node>, after: Option<&Node>, path: String, found: &mut Vec<SettingChange>) {
    let [old, new] = [before, after].map(|node| node.and_then(Node::as_object));
    if let (Some(old), Some(new)) = (old, new) {
        let added = new.iter().filter(|entry| !old.contains_key(&entry.key));
        for key in old.iter().chain(added).map(|entry| &entry.key) {
            let path = if path.is_empty() { format!("{key}") } else { format!("{path}.{key}") };
            differ(old.get(key), new.get(key), path, found);
        }
        return;
    }
    let is_set = |node: &&Node| !node.is_null() && !node.as_object().is_some_and(Object::is_empty);
    let (before, after) = (before.filter(is_set), after.filter(is_set));
    if before != after {
        found.push(SettingChange { restart: restart_of(&path), path, before: before.cloned(), after: after.cloned() });
    }
}

fn restart_of(path: &str) -> Restart {
    let is_in = |holder: &str| path.strip_prefix(holder).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    // Adding or removing a whole part restarts what its most demanding field restarts.
    let holds = |field: &str| field.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    RESTARTING.iter().filter(|(field, _)| is_in(field) || holds(field)).map(|(_, restart)| *restart).max().unwrap_or(Restart::Nothing)
}
