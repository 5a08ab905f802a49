//! Keeps the results of a compile for outputs, checks and views.
//!
//! Does not compute the results; see `source` and `build`.

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

/// The results of a compile.
#[derive(Debug, Default)]
pub struct Stages {
    admitted: AdmittedObjects,
    pub nginx: Arc<Nginx>,
    pub source: Source,
    /// The controller's messages about merges.
    pub notices: Vec<Notice>,
    /// The keys of the ConfigMap without effect.
    pub unused: Vec<Unused>,
}

impl Stages {
    pub fn new(cluster: &Cluster<'_>, nginx: Arc<Nginx>, source: Source, notices: Vec<Notice>, unused: Vec<Unused>) -> Self {
        let mut admitted = AdmittedObjects::default();
        for (kind, definition) in kinds::ALL {
            admitted.add(definition.name, cluster.all(*kind).map(|held| (held.object.id, held.root.clone())));
        }
        Self { admitted, nginx, source, notices, unused }
    }

    /// Returns the stages of a side, if the side has this dialect.
    pub fn of(side: &compilation::Side) -> Option<&Self> {
        let stages: &dyn core::any::Any = &*side.stages;
        stages.downcast_ref()
    }
}

impl compilation::Stages for Stages {
    /// Returns the objects that the API server holds, by kind and in the order of names.
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

/// Sorts verdicts by the position of their Ingress in the input.
pub fn in_input_order(mut verdicts: Vec<Verdict>, objects: &Objects) -> Vec<Verdict> {
    let places: HashMap<ObjectId, usize> = objects.all().enumerate().map(|(place, object)| (object.id, place)).collect();
    verdicts.sort_by_key(|verdict| places.get(&verdict.object).copied());
    verdicts
}
