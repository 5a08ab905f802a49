//! Maps a changed object to the managed objects that depend on it.
//!
//! A mapper only sees the present state. Does not find objects that depended on it before the change; see `manager`.

use super::cache::Cache;
use super::object::{Id, Object};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maps a changed object to managed objects.
pub type Mapper = Arc<dyn Fn(&Object, &Cache) -> Vec<Id> + Send + Sync>;

/// Maps to the managed object of the same name.
#[must_use]
pub fn same_name(managed: &'static str) -> Mapper {
    Arc::new(move |object, _| vec![object.id.with_kind(managed)])
}

/// Maps to the managed object that owns it.
#[must_use]
pub fn owner(managed: &'static str) -> Mapper {
    Arc::new(move |object, _| object.owner.iter().filter(|owner| *owner.kind == *managed).cloned().collect())
}

/// Maps to the managed objects that it owns.
#[must_use]
pub fn owned(managed: &'static str) -> Mapper {
    Arc::new(move |object, cache| cache.owned_by(&object.id, managed).cloned().collect())
}

/// Maps to the managed objects that refer to it, through an index of references.
#[must_use]
pub fn referring(managed: &'static str, index: &'static str) -> Mapper {
    Arc::new(move |object, cache| cache.by_index(managed, index, &object.id.text()).map(|found| found.id.clone()).collect())
}

/// Maps to the managed objects that it refers to.
#[must_use]
pub fn referred(references: impl Fn(&Object) -> Vec<Id> + Send + Sync + 'static) -> Mapper {
    Arc::new(move |object, _| references(object))
}

/// Maps to the managed objects in its namespace whose selector matches it.
#[must_use]
pub fn selecting(managed: &'static str, selector: impl Fn(&Object) -> BTreeMap<String, String> + Send + Sync + 'static) -> Mapper {
    Arc::new(move |object, cache| {
        let takes =
            |selector: BTreeMap<String, String>| !selector.is_empty() && selector.iter().all(|(key, value)| object.labels.get(key) == Some(value));
        let near = cache.list(managed).filter(|of| of.id.namespace == object.id.namespace);
        near.filter(|of| takes(selector(of))).map(|of| of.id.clone()).collect()
    })
}

/// Maps to all managed objects.
#[must_use]
pub fn all(managed: &'static str) -> Mapper {
    Arc::new(move |_, cache| cache.list(managed).map(|object| object.id.clone()).collect())
}

/// Joins the results of several mappers.
#[must_use]
pub fn several(mappers: impl IntoIterator<Item = Mapper>) -> Mapper {
    let mappers: Vec<Mapper> = mappers.into_iter().collect();
    Arc::new(move |object, cache| {
        let found: BTreeSet<Id> = mappers.iter().flat_map(|mapper| mapper(object, cache)).collect();
        found.into_iter().collect()
    })
}
