//! Defines an object that is watched, managed or written, and its name. Does not read documents; see
//! `controllers::objects`.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The name of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// The kind, such as `HTTPProxy.projectcontour.io`.
    pub kind: Arc<str>,
    /// The namespace, or the empty string.
    pub namespace: Arc<str>,
    pub name: Arc<str>,
}

impl Id {
    /// Creates a name.
    #[must_use]
    pub fn new(kind: &str, namespace: &str, name: &str) -> Self {
        Self { kind: kind.into(), namespace: namespace.into(), name: name.into() }
    }

    /// Returns the same name in another kind.
    #[must_use]
    pub fn with_kind(&self, kind: &str) -> Self {
        Self { kind: kind.into(), ..self.clone() }
    }

    /// Returns the stored form, `KIND/NAMESPACE/NAME`.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}/{}/{}", self.kind, self.namespace, self.name)
    }

    /// Parses the stored form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once('/')?;
        let (namespace, name) = rest.split_once('/')?;
        Some(Self::new(kind, namespace, name))
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.namespace.is_empty() { write!(f, "{} {}", self.kind, self.name) } else { write!(f, "{} {}.{}", self.kind, self.name, self.namespace) }
    }
}

/// An object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    pub id: Id,
    /// Differs from the uid of an earlier object with the same name. Empty if the object is not from an API server.
    pub uid: String,
    /// The owner, whose deletion deletes the object.
    pub owner: Option<Id>,
    /// Labels for selectors.
    pub labels: BTreeMap<String, String>,
    /// The number of changes of the spec.
    pub generation: i64,
    /// The spec, from the user or a controller.
    pub spec: Value,
    /// The status, from a controller.
    pub status: Value,
    /// The objects that a controller read at the last reconciliation.
    pub bound: BTreeSet<Id>,
    /// The finalizers that delay the deletion.
    pub finalizers: Vec<String>,
    /// Whether a finalizer delays its deletion now.
    pub deleting: bool,
}

impl Object {
    /// Creates an object with a spec.
    #[must_use]
    pub fn new(id: Id, spec: Value) -> Self {
        Self { id, spec, ..Self::default() }
    }
}
