//! What the controller established, kept for outputs, checks and views.
//!
//! Does not establish anything; see `build`.

use super::admission::Verdict;
use super::build::Notice;
use super::cluster::Cluster;
use super::config_map::Unused;
use super::source::Source;
use super::{kinds, relations};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{self, Loaded, Relation};
use chancery_base::ir::SecretReference;
use chancery_base::ir::nginx::Nginx;
use chancery_base::resource::{ObjectId, Objects};
use chancery_kubernetes::admitted::AdmittedObjects;
use chancery_kubernetes::secret;
use chancery_text::Str;
use hashbrown::HashMap;

/// What the controller established.
#[derive(Debug, Default)]
pub struct Stages {
    admitted: AdmittedObjects,
    /// The configuration of nginx.
    pub nginx: Arc<Nginx>,
    /// The Ingresses.
    pub source: Source,
    /// What the controller says.
    pub notices: Vec<Notice>,
    /// Keys of the ConfigMap without effect.
    pub unused: Vec<Unused>,
}

impl Stages {
    /// Keeps what was established.
    pub fn new(cluster: &Cluster<'_>, nginx: Arc<Nginx>, source: Source, notices: Vec<Notice>, unused: Vec<Unused>) -> Self {
        let mut admitted = AdmittedObjects::default();
        for (kind, definition) in kinds::ALL {
            admitted.add(definition.name, cluster.all(*kind).map(|held| (held.object.id, held.root.clone())));
        }
        Self { admitted, nginx, source, notices, unused }
    }
}

impl compilation::Stages for Stages {
    /// What the API server holds, by kind, in the order of names.
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

/// Verdicts in the order of the input.
pub fn in_order(mut verdicts: Vec<Verdict>, objects: &Objects) -> Vec<Verdict> {
    let places: HashMap<ObjectId, usize> = objects.all().enumerate().map(|(place, object)| (object.id, place)).collect();
    verdicts.sort_by_key(|verdict| places.get(&verdict.object).copied());
    verdicts
}
