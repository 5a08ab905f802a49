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
use chancery_base::compilation::{Answers, Failure, Life, Serving, SettingChange, Takes};
use chancery_text::{Node, Object};

/// The finalizer that keeps a ContourConfiguration while Contour uses it.
pub const FINALIZER: &str = "projectcontour.io/configuration";

/// The state of Contour with its startup configuration.
pub fn life(cluster: &Cluster<'_>, options: &Options, outcome: Result<&Settings, &Failure>) -> Life {
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
    let taking = |wanted: Takes| MORE.iter().filter(|(_, takes)| *takes == wanted).map(|(field, _)| *field).collect();
    Life {
        serving,
        error: outcome.err().map(|failure| failure.error.clone()),
        configuration,
        restarts_process: taking(Takes::Process),
        restarts_controllers: taking(Takes::Controllers),
    }
}

/// Settings that are more than data for Envoy: where Contour listens, and what it watches at startup.
const MORE: &[(&str, Takes)] = &[
    ("xdsServer", Takes::Process),
    ("debug", Takes::Process),
    ("health", Takes::Process),
    ("metrics", Takes::Process),
    ("gateway", Takes::Controllers),
    ("ingress", Takes::Controllers),
    ("httpproxy.rootNamespaces", Takes::Controllers),
    ("httpproxy.fallbackCertificate", Takes::Controllers),
    ("envoy.clientCertificate", Takes::Controllers),
    ("envoy.service", Takes::Controllers),
    ("rateLimitService.extensionService", Takes::Controllers),
    ("tracing.extensionService", Takes::Controllers),
    ("globalExtAuth.extensionRef", Takes::Controllers),
    ("featureFlags", Takes::Controllers),
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
    let says = |node: &&Node| !node.is_null() && !node.as_object().is_some_and(Object::is_empty);
    let (before, after) = (before.filter(says), after.filter(says));
    if before != after {
        found.push(SettingChange { takes: takes(&path), path, before: before.cloned(), after: after.cloned() });
    }
}

fn takes(path: &str) -> Takes {
    let is_in = |holder: &str| path.strip_prefix(holder).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    // Adding or removing a whole part restarts what its most demanding field restarts.
    let holds = |field: &str| field.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    MORE.iter().filter(|(field, _)| is_in(field) || holds(field)).map(|(_, takes)| *takes).max().unwrap_or(Takes::Nothing)
}
