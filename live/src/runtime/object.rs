//! An object that is watched, managed or written, and its name.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The name of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// Its kind, as `HTTPProxy.projectcontour.io`.
    pub kind: Arc<str>,
    /// Its namespace; empty for none.
    pub namespace: Arc<str>,
    /// Its name there.
    pub name: Arc<str>,
}

impl Id {
    /// Of these.
    #[must_use]
    pub fn new(kind: &str, namespace: &str, name: &str) -> Self {
        Self { kind: kind.into(), namespace: namespace.into(), name: name.into() }
    }

    /// The same name in another kind.
    #[must_use]
    pub fn with_kind(&self, kind: &str) -> Self {
        Self { kind: kind.into(), ..self.clone() }
    }

    /// As text, `KIND/NAMESPACE/NAME`: the form in which it is kept.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}/{}/{}", self.kind, self.namespace, self.name)
    }

    /// From that text.
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
    /// Its name.
    pub id: Id,
    /// The object with which it is deleted.
    pub owner: Option<Id>,
    /// Labels for selectors.
    pub labels: BTreeMap<String, String>,
    /// How often what people write of it was changed.
    pub generation: i64,
    /// What people write, or a controller computed.
    pub spec: Value,
    /// What a controller says of it.
    pub status: Value,
    /// What a controller read when it last reconciled the object.
    pub bound: BTreeSet<Id>,
    /// Who holds it when it is deleted.
    pub finalizers: Vec<String>,
    /// It is being deleted, and is held by a finalizer.
    pub deleting: bool,
}

impl Object {
    /// One with a spec.
    #[must_use]
    pub fn new(id: Id, spec: Value) -> Self {
        Self { id, spec, ..Self::default() }
    }
}
