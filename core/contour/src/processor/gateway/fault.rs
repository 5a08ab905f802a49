//! Collects the errors of the Gateway, its routes and policies, each once, although several parents and listeners may report it.

use crate::cluster::Admitted;
use crate::status::{DetailedCondition, SubCondition};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::{ObjectId, Origin, ResourceKey};

/// Errors by object.
#[derive(Default)]
pub struct Faults {
    by_object: BTreeMap<ObjectId, (ResourceKey, DetailedCondition)>,
    seen: BTreeSet<(ObjectId, Origin, String)>,
}

impl Faults {
    /// Adds an error: the type, reason and message of its condition.
    pub(super) fn add(&mut self, object: &Admitted<'_>, kind: &'static str, reason: &'static str, message: &str, origin: Origin) {
        self.report(object, SubCondition::new(kind, reason, message.into(), origin));
    }

    /// Something that is wrong.
    pub(super) fn report(&mut self, object: &Admitted<'_>, error: SubCondition) {
        let object = object.object;
        if self.seen.insert((object.id, error.origin, error.message.clone())) {
            let entry = self.by_object.entry(object.id).or_insert_with(|| (object.key.clone(), DetailedCondition::default()));
            entry.1.errors.report(error);
        }
    }

    /// All of it, in the order of the text.
    pub(super) fn into_found(self) -> Vec<(ResourceKey, DetailedCondition)> {
        self.by_object.into_values().collect()
    }
}
