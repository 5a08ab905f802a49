//! The life of Contour's configuration: whether Contour serves with it, what its status says, and what a change of it takes. As Contour's design of
//! the ContourConfiguration has it (`design/configuration-crd.md`); Contour itself reads its configuration only when it starts, and writes no
//! status for it.
//!
//! What must not be here: writing to a cluster.

use super::super::cluster::Cluster;
use super::super::kinds::Kind;
use super::super::options::{NAMESPACE, Options};
use super::super::status::{condition, list, object, text};
use super::{CONFIGURATION, EFFECTIVE, Failure, Flags, Settings};
use crate::config::{Answers, SettingChange, Takes};
use crate::text::{Node, Object};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What keeps a ContourConfiguration until Contour no longer uses it.
pub const FINALIZER: &str = "projectcontour.io/configuration";

/// Whether Contour serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serving {
    /// With its configuration.
    Ready,
    /// With defaults, as its configuration is gone.
    Defaults,
    /// Not at all: its controllers do not run and it is not ready, until the configuration is repaired.
    Unready,
}

/// What there is of a configuration.
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    /// It does not exist, or has been deleted.
    Nothing,
    /// Contour can use it.
    Usable(&'a Settings),
    /// Contour cannot.
    Broken(&'a Failure),
}

/// How Contour stands to its configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Life {
    /// Whether it serves.
    pub serving: Serving,
    /// Whether the ContourConfiguration carries [`FINALIZER`].
    pub finalizer: bool,
    /// The status of the ContourConfiguration; `None` where there is none.
    pub status: Option<Node>,
}

impl Serving {
    /// The word by which outputs name it.
    pub fn name(self) -> &'static str {
        match self {
            Serving::Ready => "ready",
            Serving::Defaults => "defaults",
            Serving::Unready => "unready",
        }
    }
}

impl Life {
    /// What follows from what is found.
    pub fn of(found: Found<'_>) -> Self {
        let status = |condition| Some(object(alloc::vec![("conditions", list(alloc::vec![object(condition)]))]));
        match found {
            Found::Nothing => Self { serving: Serving::Defaults, finalizer: false, status: None },
            Found::Usable(_) => {
                Self { serving: Serving::Ready, finalizer: true, status: status(condition("Valid", "True", "Valid", "Valid ContourConfiguration")) }
            }
            Found::Broken(failure) => {
                Self { serving: Serving::Unready, finalizer: true, status: status(condition("Valid", "False", "ErrorPresent", &failure.error)) }
            }
        }
    }
}

/// The life of the configuration that Contour is started with: `{serving, error, contourConfiguration, restarts}`.
pub fn document(cluster: &Cluster<'_>, options: &Options, outcome: Result<&Settings, &Failure>) -> Node {
    let name = Flags::of_serve(&options.arguments).ok().and_then(|flags| flags.get("contour-config-name").filter(|name| !name.is_empty()).cloned());
    let configuration = name.as_ref().and_then(|name| cluster.get(Kind::ContourConfiguration, NAMESPACE, name));
    let found = match outcome {
        Ok(settings) => Found::Usable(settings),
        // A name that leads nowhere: as after a deletion. What is wrong with the flags themselves is another matter.
        Err(failure) if name.is_some() && configuration.is_none() && failure.stage != "flags" => Found::Nothing,
        Err(failure) => Found::Broken(failure),
    };
    let life = Life::of(found);
    let mut fields = alloc::vec![("serving", text(life.serving.name()))];
    fields.extend(outcome.err().map(|failure| ("error", text(&failure.error))));
    if let Some(configuration) = configuration {
        let finalizers = if life.finalizer { alloc::vec![text(FINALIZER)] } else { Vec::new() };
        let mut said = alloc::vec![("name", text(configuration.name())), ("namespace", text(NAMESPACE)), ("finalizers", list(finalizers))];
        said.extend(life.status.map(|status| ("status", status)));
        fields.push(("contourConfiguration", object(said)));
    }
    let taking = |wanted: Takes| list(MORE.iter().filter(|(_, takes)| *takes == wanted).map(|(field, _)| text(field)).collect());
    fields.push(("restarts", object(alloc::vec![("process", taking(Takes::Process)), ("controllers", taking(Takes::Controllers))])));
    object(fields)
}

/// What settings take that are more than data for Envoy: where Contour listens, and what it watches or looks for when it starts.
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
    let effective = |answers: &Answers| answers.documents.get(CONFIGURATION).and_then(|document| document.node().get(EFFECTIVE).cloned());
    match (effective(before), effective(after)) {
        (Some(before), Some(after)) => changes(&before, &after),
        _ => Vec::new(),
    }
}

/// The settings that differ, by path, and what each takes.
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
    // A whole part that comes or goes takes what the most demanding field in it takes.
    let holds = |field: &str| field.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    MORE.iter().filter(|(field, _)| is_in(field) || holds(field)).map(|(_, takes)| *takes).max().unwrap_or(Takes::Nothing)
}
