//! What the API server holds for Contour, kept for views.
//!
//! What must not be here: admission, which is `cluster`'s.

use super::cluster::Cluster;
use super::{kinds, relations};
use crate::compilation::{self, Loaded, Relation};
use crate::dialect::kubernetes::admitted::AdmittedObjects;
use crate::dialect::kubernetes::secret;
use crate::ir::{Holder, SecretReference};
use crate::resource::Objects;
use crate::text::Str;
use alloc::vec::Vec;

/// The objects that the API server took, by kind, in the order of their names.
#[derive(Debug, Default)]
pub struct Stages {
    admitted: AdmittedObjects,
}

impl Stages {
    /// Of what the API server holds.
    pub fn new(cluster: &Cluster<'_>) -> Self {
        let mut admitted = AdmittedObjects::default();
        for (kind, definition) in kinds::ALL {
            admitted.add(definition.name, cluster.all(*kind).map(|admitted| (admitted.object.id, admitted.root.clone())));
        }
        Self { admitted }
    }
}

impl compilation::Stages for Stages {
    fn loaded(&self, objects: &Objects) -> Vec<(Str, Vec<Loaded>)> {
        self.admitted.loaded(objects)
    }

    fn relations(&self, objects: &Objects) -> Vec<Relation> {
        relations::relations(objects)
    }

    fn key_material(&self, objects: &Objects, reference: &SecretReference) -> Option<Vec<u8>> {
        let SecretReference { holder, namespace, name, part } = reference;
        match holder {
            Holder::Secret => secret::value(objects, namespace, name, part.key()),
            Holder::ConfigMap => secret::text_of_config_map(objects, namespace, name, part.key()).map(|text| text.as_bytes().to_vec()),
        }
    }
}
