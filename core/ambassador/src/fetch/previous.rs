//! Stores the previous fetch and its objects for comparison.

use crate::config::Config;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::Ledger;
use chancery_base::diagnostic::{Diagnostic, Place};
use chancery_base::resource::{Content, Object, ObjectId, Objects};

/// With more edits, everything is fetched again.
const FEW: usize = 64;

/// The previous results and their objects.
pub(super) struct PreviousFetch {
    /// In the order of the text.
    pub(super) objects: Vec<(ObjectId, Arc<Content>)>,
    pub(super) config: Config,
    pub(super) ledger: Ledger,
    pub(super) findings: Vec<Diagnostic>,
}

impl PreviousFetch {
    pub(super) fn new(objects: &Objects, config: &Config, ledger: &Ledger, findings: &[Diagnostic]) -> Self {
        let objects = objects.all().map(|object| (object.id, object.content.clone())).collect();
        Self { objects, config: config.clone(), ledger: ledger.clone(), findings: findings.to_vec() }
    }

    /// The changed objects with their indexes; `None` if objects were added or removed, or many changed.
    pub(super) fn edited<'o>(&self, objects: &'o Objects) -> Option<Vec<(usize, &'o Object)>> {
        if objects.all().count() != self.objects.len() {
            return None;
        }
        let mut edited = Vec::new();
        for (at, (object, (id, content))) in objects.all().zip(&self.objects).enumerate() {
            if object.id != *id || edited.len() > FEW {
                return None;
            }
            if !Arc::ptr_eq(&object.content, content) {
                edited.push((at, object));
            }
        }
        Some(edited)
    }

    /// Whether anything was found about an object.
    pub(super) fn mentions(&self, object: ObjectId) -> bool {
        let is_there = |place: &Place| place.object() == Some(object);
        self.findings.iter().any(|finding| is_there(&finding.place) || finding.related.iter().any(|related| is_there(&related.place)))
    }
}
