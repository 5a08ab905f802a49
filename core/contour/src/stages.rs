//! Keeps the objects of Contour's API server for views. Does not admit them; see `cluster`.

use super::cluster::Cluster;
use super::{kinds, relations};
use alloc::vec::Vec;
use chancery_base::compilation::{self, Loaded, Relation};
use chancery_base::ir::{Holder, SecretReference};
use chancery_base::resource::Objects;
use chancery_kubernetes::admitted::AdmittedObjects;
use chancery_kubernetes::secret;
use chancery_text::Str;

/// The objects that the API server took, by kind, in the order of their names.
#[derive(Debug, Default)]
pub struct Stages {
    admitted: AdmittedObjects,
}

impl Stages {
    /// Copies the objects of the API server.
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
            Holder::ClusterTrustBundle => None,
            Holder::ConfigMap => secret::text_of_config_map(objects, namespace, name, part.key()).map(|text| text.as_bytes().to_vec()),
        }
    }
}
