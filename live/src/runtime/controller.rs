//! The declaration of a controller: the kind that it manages, the kinds that it watches, and its reconciler. Does not run it; see `manager`.

use super::cache::{Cache, Index};
use super::mapper::Mapper;
use super::object::{Id, Object};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a reconciler reads. It notes what was read: that is bound to the object that is reconciled.
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

    /// An object. One that is not there is bound too: the object is reconciled when it comes.
    #[must_use]
    pub fn get(&self, id: &Id) -> Option<Arc<Object>> {
        self.note(id);
        self.cache.get(id).cloned()
    }

    /// What an index finds.
    #[must_use]
    pub fn by_index(&self, kind: &str, index: &str, key: &str) -> Vec<Arc<Object>> {
        self.all(self.cache.by_index(kind, index, key))
    }

    /// The first of what an index finds, by name, at most `most`.
    #[must_use]
    pub fn first(&self, kind: &str, index: &str, key: &str, most: usize) -> Vec<Arc<Object>> {
        self.all(self.cache.by_index(kind, index, key).take(most))
    }

    /// All objects of a kind for which this holds.
    #[must_use]
    pub fn list(&self, kind: &str, holds: impl Fn(&Object) -> bool) -> Vec<Arc<Object>> {
        self.all(self.cache.list(kind).filter(|object| holds(object)))
    }

    /// The objects of a kind that the reconciled one owns.
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

/// What a reconciler asks for.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there are a few at a time")]
pub enum Action {
    /// An object is to be like this.
    Apply(Object),
    /// Its status is to be this.
    Status(Id, Value),
    /// It is to be held by these finalizers of ours, and by no others of ours.
    Finalizers(Id, Vec<String>),
    /// An object is to be this document, whoever keeps what of it was read.
    Write(Id, Value),
    /// It is to go.
    Delete(Id),
}

/// A reconciler.
pub trait Reconcile: Send {
    /// Sees to it that what follows from an object is as it should be. The object may be gone.
    ///
    /// # Errors
    ///
    /// It could not be done, and is to be tried again later; says why.
    fn reconcile(&mut self, id: &Id, reading: &Reading<'_>) -> Result<Vec<Action>, String>;

    /// What it asked for has been done.
    fn carried_out(&mut self, _id: &Id, _actions: &[Action]) {}
}

impl<F: FnMut(&Id, &Reading<'_>) -> Result<Vec<Action>, String> + Send> Reconcile for F {
    fn reconcile(&mut self, id: &Id, reading: &Reading<'_>) -> Result<Vec<Action>, String> {
        self(id, reading)
    }
}

/// A kind that is watched besides the managed one.
#[derive(Clone)]
pub(super) struct Watch {
    pub(super) kind: &'static str,
    pub(super) mapper: Mapper,
    /// Not a kind of objects, but something else that happens.
    pub(super) custom: bool,
}

/// Work that is done once, before anything is reconciled.
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
    /// One that manages a kind.
    #[must_use]
    pub fn new(name: &'static str, managed: &'static str, reconciler: impl Reconcile + 'static) -> Self {
        Self { name, managed, indexes: Vec::new(), watches: Vec::new(), writes: Vec::new(), initializer: None, reconciler: Box::new(reconciler) }
    }

    /// With an index of a kind.
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

    /// Watches something other than objects, by the name of its events.
    #[must_use]
    pub fn custom_watch(mut self, name: &'static str, mapper: Mapper) -> Self {
        self.watches.push(Watch { kind: name, mapper, custom: true });
        self
    }

    /// Writes a kind, or its status.
    #[must_use]
    pub fn writes(mut self, kind: &'static str) -> Self {
        self.writes.push(kind);
        self
    }

    /// Does this once, before anything is reconciled.
    #[must_use]
    pub fn initializer(mut self, initialize: impl FnMut(&Cache) -> Result<(), String> + Send + 'static) -> Self {
        self.initializer = Some(Box::new(initialize));
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }
}
