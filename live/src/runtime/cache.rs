//! Keeps the last known state of each object, with indexes that controllers declare. Mappers and reconcilers read from
//! it. Does not follow a server; see `sources::kube`.

use super::object::{Id, Object};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Returns the keys of an object in an index.
pub type Keys = Arc<dyn Fn(&Object) -> Vec<String> + Send + Sync>;

/// An index of one kind.
#[derive(Clone)]
pub struct Index {
    pub name: &'static str,
    /// Returns the keys of an object.
    pub keys: Keys,
}

impl Index {
    /// Creates an index with this name.
    #[must_use]
    pub fn new(name: &'static str, keys: impl Fn(&Object) -> Vec<String> + Send + Sync + 'static) -> Self {
        Self { name, keys: Arc::new(keys) }
    }

    /// Creates an index by the objects that an object refers to.
    #[must_use]
    pub fn of_references(name: &'static str, references: impl Fn(&Object) -> Vec<Id> + Send + Sync + 'static) -> Self {
        Self::new(name, move |object| references(object).iter().map(Id::text).collect())
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Index({})", self.name)
    }
}

/// The index, with the objects of each key.
#[derive(Debug)]
struct Indexed {
    index: Index,
    by_key: BTreeMap<String, BTreeSet<Id>>,
}

/// The objects of one kind.
#[derive(Debug, Default)]
struct Table {
    objects: BTreeMap<Id, Arc<Object>>,
    indexes: Vec<Indexed>,
}

/// The objects of all kinds.
#[derive(Debug, Default)]
pub struct Cache {
    kinds: BTreeMap<Arc<str>, Table>,
    by_owner: BTreeMap<Id, BTreeSet<Id>>,
    by_bound: BTreeMap<Id, BTreeSet<Id>>,
}

fn link(map: &mut BTreeMap<Id, BTreeSet<Id>>, from: &Id, to: &Id, there: bool) {
    if there {
        map.entry(from.clone()).or_default().insert(to.clone());
    } else if let Some(all) = map.get_mut(from) {
        all.remove(to);
        if all.is_empty() {
            map.remove(from);
        }
    }
}

impl Cache {
    /// Declares an index, and adds existing objects to it. An index is declared once, even if several controllers
    /// declare its name.
    pub fn declare(&mut self, kind: &str, index: Index) {
        let table = self.kinds.entry(kind.into()).or_default();
        if table.indexes.iter().any(|known| known.index.name == index.name) {
            return;
        }
        let mut by_key: BTreeMap<String, BTreeSet<Id>> = BTreeMap::new();
        for object in table.objects.values() {
            for key in (index.keys)(object) {
                by_key.entry(key).or_default().insert(object.id.clone());
            }
        }
        table.indexes.push(Indexed { index, by_key });
    }

    /// Sets the present state of an object. Returns the state before, or `None` for a new object.
    pub fn put(&mut self, object: Object) -> Option<Arc<Object>> {
        let before = self.take(&object.id);
        let (id, object) = (object.id.clone(), Arc::new(object));
        if let Some(owner) = &object.owner {
            link(&mut self.by_owner, owner, &id, true);
        }
        object.bound.iter().for_each(|of| link(&mut self.by_bound, of, &id, true));
        let table = self.kinds.entry(id.kind.clone()).or_default();
        for indexed in &mut table.indexes {
            for key in (indexed.index.keys)(&object) {
                indexed.by_key.entry(key).or_default().insert(id.clone());
            }
        }
        table.objects.insert(id, object);
        before
    }

    /// Removes an object. Returns its last state.
    pub fn take(&mut self, id: &Id) -> Option<Arc<Object>> {
        let table = self.kinds.get_mut(&id.kind)?;
        let before = table.objects.remove(id)?;
        for indexed in &mut table.indexes {
            for key in (indexed.index.keys)(&before) {
                if let Some(all) = indexed.by_key.get_mut(&key) {
                    all.remove(id);
                    if all.is_empty() {
                        indexed.by_key.remove(&key);
                    }
                }
            }
        }
        if let Some(owner) = &before.owner {
            link(&mut self.by_owner, owner, id, false);
        }
        before.bound.iter().for_each(|of| link(&mut self.by_bound, of, id, false));
        Some(before)
    }

    /// Returns an object.
    #[must_use]
    pub fn get(&self, id: &Id) -> Option<&Arc<Object>> {
        self.kinds.get(&id.kind)?.objects.get(id)
    }

    /// Returns all objects of a kind, by namespace and name.
    pub fn list(&self, kind: &str) -> impl Iterator<Item = &Arc<Object>> {
        self.kinds.get(kind).into_iter().flat_map(|table| table.objects.values())
    }

    /// Returns the objects with a key in an index. An undeclared index has no objects.
    pub fn by_index(&self, kind: &str, index: &str, key: &str) -> impl Iterator<Item = &Arc<Object>> {
        let table = self.kinds.get(kind);
        let indexed = table.and_then(|table| table.indexes.iter().find(|known| known.index.name == index));
        let ids = indexed.and_then(|indexed| indexed.by_key.get(key));
        ids.into_iter().flatten().filter_map(move |id| table?.objects.get(id))
    }

    /// Returns the names of a kind's objects that this object owns.
    pub fn owned_by(&self, owner: &Id, kind: &str) -> impl Iterator<Item = &Id> {
        self.by_owner.get(owner).into_iter().flatten().filter(move |id| *id.kind == *kind)
    }

    /// Returns the names of a kind's objects whose reconciliation read this object.
    pub fn bound_to(&self, id: &Id, kind: &str) -> impl Iterator<Item = &Id> {
        self.by_bound.get(id).into_iter().flatten().filter(move |id| *id.kind == *kind)
    }

    /// Whether a kind has an index with this name.
    #[must_use]
    pub fn has_index(&self, kind: &str, index: &str) -> bool {
        self.kinds.get(kind).is_some_and(|table| table.indexes.iter().any(|known| known.index.name == index))
    }
}
