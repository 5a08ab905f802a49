//! The life of Contour's configuration: whether Contour serves with it, what its status says, and what a change of it takes. As Contour's design of
//! the ContourConfiguration has it (`design/configuration-crd.md`); Contour itself reads its configuration only when it starts, and writes no
//! status for it.
//!
//! What must not be here: writing to a cluster.

use super::super::status::{condition, list, object};
use super::{Failure, Settings};
use crate::text::{Node, Value};
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

/// What a changed setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Takes {
    /// Contour serves the new value to the Envoys that run.
    Nothing,
    /// Contour stops its controllers and starts them with the new value.
    Controllers,
    /// Contour listens elsewhere, so that its process must start again.
    Process,
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

/// The settings that differ, by path, and what each takes.
pub fn changes(before: &Settings, after: &Settings) -> Vec<(String, Takes)> {
    let mut found = Vec::new();
    differ(&before.root, &after.root, String::new(), &mut found);
    found
}

fn differ(before: &Node, after: &Node, path: String, found: &mut Vec<(String, Takes)>) {
    let says_nothing = |node: &Node| node.is_null() || node.as_object().is_some_and(crate::text::Object::is_empty);
    let (Value::Object(old), Value::Object(new)) = (&before.value, &after.value) else {
        if before != after && !(says_nothing(before) && says_nothing(after)) {
            let takes = takes(&path);
            found.push((path, takes));
        }
        return;
    };
    let nothing = Node::synthesised(Value::Null);
    let added = new.iter().filter(|entry| !old.contains_key(&entry.key));
    for key in old.iter().chain(added).map(|entry| &entry.key) {
        let path = if path.is_empty() { format!("{key}") } else { format!("{path}.{key}") };
        differ(old.get(key).unwrap_or(&nothing), new.get(key).unwrap_or(&nothing), path, found);
    }
}

fn takes(path: &str) -> Takes {
    let is_in = |holder: &str| path.strip_prefix(holder).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    // A whole part that comes or goes takes what the most demanding field in it takes.
    let holds = |field: &str| field.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    MORE.iter().filter(|(field, _)| is_in(field) || holds(field)).map(|(_, takes)| *takes).max().unwrap_or(Takes::Nothing)
}
