//! Stores the validation results of single objects. Does not validate; see `judge`.

use super::role::Role;
use crate::config::Resource;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Findings;
use chancery_base::resource::Object;
use chancery_text::{Node, Str};

/// An object that the API server holds.
#[derive(Clone, Copy)]
pub(super) struct Applied<'a> {
    pub(super) object: &'a Object,
    pub(super) verdict: &'a Verdict,
}

/// The validation result of a single object.
pub(super) struct Verdict {
    pub(super) role: Role,
    /// Why the API server refuses it. Ambassador's own objects continue as invalid ones.
    pub(super) refused: Option<Str>,
    /// For Ambassador's kinds: its `spec` in the current version.
    pub(super) spec: Option<Arc<Node>>,
    /// Errors of the controller's own validation.
    pub(super) errors: Vec<String>,
    /// For Ambassador's kinds: the resource; `None` if it belongs to another instance.
    pub(super) resource: Option<Arc<Resource>>,
    pub(super) findings: Findings,
}

/// Results by object number, each with a hash of its source.
pub(super) struct CachedByObject<T> {
    pub(super) slots: Vec<Option<(u64, Box<T>)>>,
}

impl<T> Default for CachedByObject<T> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<T> CachedByObject<T> {
    /// Whether the object's current form has no cached result.
    pub(super) fn lacks(&self, object: &Object) -> bool {
        let slot = object.id.index().and_then(|index| self.slots.get(index));
        slot.is_some_and(|slot| !matches!(slot, Some((fingerprint, _)) if *fingerprint == object.fingerprint))
    }

    /// Caches the result for an object.
    pub(super) fn insert(&mut self, object: &Object, value: Box<T>) {
        if let Some(slot) = object.id.index().and_then(|index| self.slots.get_mut(index)) {
            *slot = Some((object.fingerprint, value));
        }
    }

    /// The cached result for an object.
    pub(super) fn get(&self, object: &Object) -> Option<&T> {
        let (_, known) = self.slots.get(object.id.index()?)?.as_ref()?;
        Some(known)
    }
}
