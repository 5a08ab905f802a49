//! The results of the controller, kept for outputs and views.

use super::cluster::Cluster;
use super::events::Recorder;
use super::status::Change;
use super::{kinds, relations};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{self, Loaded, Relation};
use chancery_base::ir::SecretReference;
use chancery_base::ir::appgw::Gateway;
use chancery_base::resource::Objects;
use chancery_kubernetes::admitted::AdmittedObjects;
use chancery_kubernetes::secret;
use chancery_text::Str;

#[derive(Debug, Default)]
pub struct Stages {
    /// The accepted objects, by kind, sorted by name.
    admitted: AdmittedObjects,
    /// The requested gateway; `None` if nothing is sent.
    pub gateway: Option<Arc<Gateway>>,
    pub recorder: Recorder,
    /// Statuses that change.
    pub statuses: Vec<Change>,
}

impl Stages {
    pub fn new(cluster: &Cluster<'_>, gateway: Option<Arc<Gateway>>, recorder: Recorder, statuses: Vec<Change>) -> Self {
        let mut admitted = AdmittedObjects::default();
        for (kind, definition) in kinds::ALL {
            admitted.add(definition.name, cluster.all(*kind).map(|admitted| (admitted.object.id, admitted.root.clone())));
        }
        Self { admitted, gateway, recorder, statuses }
    }
}

impl compilation::Stages for Stages {
    /// The objects in the API server, by kind, sorted by name.
    fn loaded(&self, objects: &Objects) -> Vec<(Str, Vec<Loaded>)> {
        self.admitted.loaded(objects)
    }

    fn relations(&self, objects: &Objects) -> Vec<Relation> {
        relations::relations(objects)
    }

    fn key_material(&self, objects: &Objects, reference: &SecretReference) -> Option<Vec<u8>> {
        secret::value(objects, &reference.namespace, &reference.name, reference.part.key())
    }
}
