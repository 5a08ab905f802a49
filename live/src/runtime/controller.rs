//! Declares a controller: the kind that it manages, the kinds that it watches, and its reconciler. Does not run it; see
//! `manager`.

use super::cache::{Cache, Index};
use super::mapper::Mapper;
use super::object::{Id, Object};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Gives a reconciler access to the cache. It notes the objects that were read, because they are bound to the reconciled
/// object.
#[derive(Debug)]
pub struct Reading<'a> {
    cache: &'a Cache,
    own: &'a Id,
    read: RefCell<BTreeSet<Id>>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(cache: &'a Cache, own: &'a Id) -> Self {
        Self { cache, own, read: RefCell::default() }
    }

    fn note(&self, id: &Id) {
        if id != self.own {
            self.read.borrow_mut().insert(id.clone());
        }
    }

    /// Returns an object. A missing object is bound, too: its creation reconciles the object again.
    #[must_use]
    pub fn get(&self, id: &Id) -> Option<Arc<Object>> {
        self.note(id);
        self.cache.get(id).cloned()
    }

    /// Returns the objects with a key in an index.
    #[must_use]
    pub fn by_index(&self, kind: &str, index: &str, key: &str) -> Vec<Arc<Object>> {
        self.all(self.cache.by_index(kind, index, key))
    }

    /// Returns the first objects with a key in an index, by name, at most `most`.
    #[must_use]
    pub fn first(&self, kind: &str, index: &str, key: &str, most: usize) -> Vec<Arc<Object>> {
        self.all(self.cache.by_index(kind, index, key).take(most))
    }

    /// Returns the objects of a kind that match `holds`.
    #[must_use]
    pub fn list(&self, kind: &str, holds: impl Fn(&Object) -> bool) -> Vec<Arc<Object>> {
        self.all(self.cache.list(kind).filter(|object| holds(object)))
    }

    /// Returns the objects of a kind that the reconciled object owns.
    #[must_use]
    pub fn owned(&self, kind: &str) -> Vec<Arc<Object>> {
        self.all(self.cache.owned_by(self.own, kind).filter_map(|id| self.cache.get(id)))
    }

    fn all<'b>(&self, found: impl Iterator<Item = &'b Arc<Object>>) -> Vec<Arc<Object>> {
        found.inspect(|object| self.note(&object.id)).cloned().collect()
    }

    pub(super) fn bound(self) -> BTreeSet<Id> {
        self.read.into_inner()
    }
}

/// A requested change.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there are a few at a time")]
pub enum Action {
    /// Creates or updates an object.
    Apply(Object),
    /// Sets the status of an object.
    Status(Id, Value),
    /// Sets our finalizers of the object with this uid. Finalizers of others stay.
    Finalizers(Id, String, Vec<String>),
    /// Writes a whole document. The manager does not add the bound objects to it.
    Write(Id, Value),
    /// Deletes an object.
    Delete(Id),
}

/// Computes the changes that an object needs.
pub trait Reconcile: Send {
    /// Returns the actions that bring everything that depends on an object up to date. The object may be deleted.
    ///
    /// # Errors
    ///
    /// The reconciliation failed and must be retried later. The message contains the reason.
    fn reconcile(&mut self, id: &Id, reading: &Reading<'_>) -> Result<Vec<Action>, String>;

    /// Notes that the actions were carried out.
    fn carried_out(&mut self, _id: &Id, _actions: &[Action]) {}
}

impl<F: FnMut(&Id, &Reading<'_>) -> Result<Vec<Action>, String> + Send> Reconcile for F {
    fn reconcile(&mut self, id: &Id, reading: &Reading<'_>) -> Result<Vec<Action>, String> {
        self(id, reading)
    }
}

/// A kind that is watched in addition to the managed kind.
#[derive(Clone)]
pub(super) struct Watch {
    pub(super) kind: &'static str,
    pub(super) mapper: Mapper,
    /// Whether it watches events without an object, instead of a kind of objects.
    pub(super) custom: bool,
}

/// Runs once, before any reconciliation.
pub type Initialize = Box<dyn FnMut(&Cache) -> Result<(), String> + Send>;

/// A controller.
pub struct Controller {
    pub(super) name: &'static str,
    pub(super) managed: &'static str,
    pub(super) indexes: Vec<(&'static str, Index)>,
    pub(super) watches: Vec<Watch>,
    /// Kinds that it writes, or whose statuses it writes.
    pub(super) writes: Vec<&'static str>,
    pub(super) initializer: Option<Initialize>,
    pub(super) reconciler: Box<dyn Reconcile>,
}

impl std::fmt::Debug for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller").field("name", &self.name).field("managed", &self.managed).finish_non_exhaustive()
    }
}

impl Controller {
    /// Creates a controller that manages a kind.
    #[must_use]
    pub fn new(name: &'static str, managed: &'static str, reconciler: impl Reconcile + 'static) -> Self {
        Self { name, managed, indexes: Vec::new(), watches: Vec::new(), writes: Vec::new(), initializer: None, reconciler: Box::new(reconciler) }
    }

    /// Adds an index of a kind.
    #[must_use]
    pub fn index(mut self, kind: &'static str, index: Index) -> Self {
        self.indexes.push((kind, index));
        self
    }

    /// Watches another kind.
    #[must_use]
    pub fn watch(mut self, kind: &'static str, mapper: Mapper) -> Self {
        self.watches.push(Watch { kind, mapper, custom: false });
        self
    }

    /// Watches events without an object, by their name.
    #[must_use]
    pub fn custom_watch(mut self, name: &'static str, mapper: Mapper) -> Self {
        self.watches.push(Watch { kind: name, mapper, custom: true });
        self
    }

    /// Declares that the controller writes a kind, or its status.
    #[must_use]
    pub fn writes(mut self, kind: &'static str) -> Self {
        self.writes.push(kind);
        self
    }

    /// Runs this once, before any reconciliation.
    #[must_use]
    pub fn initializer(mut self, initialize: impl FnMut(&Cache) -> Result<(), String> + Send + 'static) -> Self {
        self.initializer = Some(Box::new(initialize));
        self
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }
}
