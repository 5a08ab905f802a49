//! What the API server holds for Contour, kept for views.
//!
//! What must not be here: admission, which is `cluster`'s.

use super::cluster::Cluster;
use super::{kinds, lower, relations};
use crate::compilation::{self, Loaded, Relation};
use crate::ir::SecretReference;
use crate::resource::{ObjectId, Objects, Rule};
use crate::text::{Node, Str};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// An object and what the API server holds of it.
type AdmittedObject = (ObjectId, Arc<Node>);

/// The objects that the API server took, by kind, in the order of their names.
#[derive(Debug, Default)]
pub struct Stages {
    admitted: Vec<(&'static str, Vec<AdmittedObject>)>,
}

impl Stages {
    /// Of what the API server holds.
    pub fn new(cluster: &Cluster<'_>) -> Self {
        let of_kind = |(kind, definition): &(kinds::Kind, &crate::dialect::kubernetes::kind::Kind)| {
            (definition.name, cluster.all(*kind).map(|admitted| (admitted.object.id, admitted.root.clone())).collect())
        };
        Self { admitted: kinds::ALL.iter().map(of_kind).filter(|(_, objects): &(_, Vec<_>)| !objects.is_empty()).collect() }
    }
}

impl compilation::Stages for Stages {
    /// What the API server holds, by kind, in the order of names (`namespace/name`): with defaults put in and unknown fields gone.
    fn loaded(&self, objects: &Objects) -> Vec<(Str, Vec<Loaded>)> {
        let named = |(id, root): &AdmittedObject| {
            let key = &objects.get(*id)?.key;
            let name = match key.namespace.as_deref() {
                None | Some("") => key.name.clone(),
                Some(namespace) => format!("{namespace}/{}", key.name).into(),
            };
            Some(Loaded { name, object: *id, rule: Rule::Field, written: root.clone(), shown: Node::clone(root) })
        };
        self.admitted.iter().map(|(kind, all)| (Str::new_static(kind), all.iter().filter_map(named).collect())).collect()
    }

    fn relations(&self, objects: &Objects) -> Vec<Relation> {
        relations::relations(objects)
    }

    fn key_material(&self, objects: &Objects, reference: &SecretReference) -> Option<Vec<u8>> {
        lower::key_material(objects, reference)
    }
}
