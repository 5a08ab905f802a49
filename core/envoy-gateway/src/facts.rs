//! Finds which objects resources are generated from, and whether Envoy requests secrets for them. Does not generate resources; see `xds`.
//!
//! Looks at each part of a resource once: an unchanged part has the same address in the next compile.

use super::xds::Resources;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_base::resource::ObjectId;
use hashbrown::HashMap;

/// Objects by their numbers.
#[derive(Default)]
pub(crate) struct ObjectSet(Vec<bool>);

impl ObjectSet {
    /// Adds an object of the input.
    pub(crate) fn insert(&mut self, object: ObjectId) {
        let Some(at) = object.index() else { return };
        if self.0.len() <= at {
            self.0.resize(at + 1, false);
        }
        if let Some(place) = self.0.get_mut(at) {
            *place = true;
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = ObjectId> {
        self.0.iter().enumerate().filter(|(_, is_in)| **is_in).map(|(at, _)| ObjectId::from_index(at))
    }
}

/// The facts of parts of resources, by the address of their fields.
#[derive(Default)]
pub(crate) struct FactMemory(HashMap<usize, Facts>);

/// The facts of a part of a resource.
struct Facts {
    /// Keeps the address unique.
    #[expect(dead_code, reason = "keeps the address unique")]
    of: Tree,
    /// Sorted.
    objects: Vec<ObjectId>,
    requests_secrets: bool,
}

impl Facts {
    fn of(part: &Tree) -> Self {
        let mut found = Found::default();
        found.add(part);
        found.objects.sort_unstable();
        found.objects.dedup();
        Self { of: part.clone(), objects: found.objects, requests_secrets: found.requests_secrets }
    }
}

#[derive(Default)]
struct Found {
    objects: Vec<ObjectId>,
    requests_secrets: bool,
}

impl Found {
    fn add(&mut self, of: &Tree) {
        if let Some(object) = of.origin.map(|origin| origin.object())
            && self.objects.last() != Some(&object)
        {
            self.objects.push(object);
        }
        for (key, value) in of.fields() {
            self.requests_secrets |= key == "sds_config";
            self.add(value);
        }
        of.items().iter().for_each(|item| self.add(item));
    }
}

/// Adds the objects that resources are generated from. Returns whether listeners or clusters request secrets.
pub(crate) fn collect(resources: &Resources, memory: Option<&mut FactMemory>, used: &mut ObjectSet) -> bool {
    let Resources { listeners, routes, clusters, endpoints, secrets } = resources;
    let mut none = FactMemory::default();
    let keeps = memory.is_some();
    let memory = memory.unwrap_or(&mut none);
    let mut kept = HashMap::new();
    let mut look = |part: &Tree| -> bool {
        let known = if let Plain::Object(fields) = &part.value { memory.0.remove(&fields.0.address()) } else { None };
        let facts = known.unwrap_or_else(|| Facts::of(part));
        facts.objects.iter().for_each(|object| used.insert(*object));
        let requests = facts.requests_secrets;
        if let (true, Plain::Object(fields)) = (keeps, &part.value) {
            kept.insert(fields.0.address(), facts);
        }
        requests
    };
    for table in routes {
        // The hosts are most of a table.
        table.get("virtual_hosts").items().iter().for_each(|host| _ = look(host));
    }
    endpoints.iter().chain(secrets).for_each(|of: &Arc<Tree>| _ = look(of));
    let mut requests = false;
    listeners.iter().chain(clusters).for_each(|of: &Arc<Tree>| requests |= look(of));
    for table in routes {
        let mut frame = Tree::clone(table);
        if let Some(hosts) = frame.get_mut("virtual_hosts") {
            hosts.value = Plain::Null;
        }
        Facts::of(&frame).objects.into_iter().for_each(|object| used.insert(object));
    }
    memory.0 = kept;
    requests
}
