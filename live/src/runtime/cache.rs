//! Keeps the objects as they were last seen, with indexes that controllers declare. Mappers and reconcilers read from it.

use super::object::{Id, Object};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The keys under which an object is found.
pub type Keys = Arc<dyn Fn(&Object) -> Vec<String> + Send + Sync>;

/// An index of one kind.
#[derive(Clone)]
pub struct Index {
    /// Its name.
    pub name: &'static str,
    /// What it finds objects by.
    pub keys: Keys,
}

impl Index {
    /// One of this name.
    #[must_use]
    pub fn new(name: &'static str, keys: impl Fn(&Object) -> Vec<String> + Send + Sync + 'static) -> Self {
        Self { name, keys: Arc::new(keys) }
    }

    /// By objects that are referred to.
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

/// Found by one index.
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

/// All objects.
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
    /// Declares an index. What is there already is indexed too; the same name again is the same index.
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

    /// An object is like this now. Gives what it was; `None` where it is new. The result says whether it is the same again.
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

    /// An object is gone. Gives what it was.
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

    /// An object.
    #[must_use]
    pub fn get(&self, id: &Id) -> Option<&Arc<Object>> {
        self.kinds.get(&id.kind)?.objects.get(id)
    }

    /// All objects of a kind, by namespace and name.
    pub fn list(&self, kind: &str) -> impl Iterator<Item = &Arc<Object>> {
        self.kinds.get(kind).into_iter().flat_map(|table| table.objects.values())
    }

    /// What an index finds. An index that is not declared finds nothing.
    pub fn by_index(&self, kind: &str, index: &str, key: &str) -> impl Iterator<Item = &Arc<Object>> {
        let table = self.kinds.get(kind);
        let indexed = table.and_then(|table| table.indexes.iter().find(|known| known.index.name == index));
        let ids = indexed.and_then(|indexed| indexed.by_key.get(key));
        ids.into_iter().flatten().filter_map(move |id| table?.objects.get(id))
    }

    /// Names of the objects of a kind that this one owns.
    pub fn owned_by(&self, owner: &Id, kind: &str) -> impl Iterator<Item = &Id> {
        self.by_owner.get(owner).into_iter().flatten().filter(move |id| *id.kind == *kind)
    }

    /// Names of the objects of a kind for which this one was read.
    pub fn bound_to(&self, id: &Id, kind: &str) -> impl Iterator<Item = &Id> {
        self.by_bound.get(id).into_iter().flatten().filter(move |id| *id.kind == *kind)
    }

    /// Whether a kind has such an index.
    #[must_use]
    pub fn has_index(&self, kind: &str, index: &str) -> bool {
        self.kinds.get(kind).is_some_and(|table| table.indexes.iter().any(|known| known.index.name == index))
    }
}
