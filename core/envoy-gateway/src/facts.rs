//! Finds which objects resources are generated from, and whether Envoy requests secrets for them. Does not generate resources; see `xds`.
//!
//! Looks at each part of a resource once: an unchanged part has the same address in the next compile.

use super::xds::Resources;
use alloc::vec::Vec;
use chancery_base::executor::{self, Executor};
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

/// The facts of parts of resources.
#[derive(Default)]
pub(crate) struct FactMemory {
    /// By the address of the part's fields.
    facts: HashMap<usize, Facts>,
    round: u32,
}

impl FactMemory {
    /// Starts a compile: looks at the parts that are new, on all threads of the host.
    fn look<'t>(&mut self, parts: impl Iterator<Item = &'t Tree>, executor: &dyn Executor) {
        self.round = self.round.wrapping_add(1);
        let new: Vec<&Tree> = parts.filter(|part| !self.facts.contains_key(&address(part))).collect();
        let found = executor::map(executor, &new, |part| (address(part), Facts::of(part)));
        self.facts.extend(found);
    }

    /// Adds the objects that a part is generated from. Returns whether it requests secrets.
    fn add(&mut self, part: &Tree, used: &mut ObjectSet) -> bool {
        let Some(facts) = self.facts.get_mut(&address(part)) else { return false };
        facts.round = self.round;
        facts.objects.iter().for_each(|object| used.insert(*object));
        facts.requests_secrets
    }

    /// Ends a compile: forgets the parts that it does not have.
    fn end(&mut self) {
        let round = self.round;
        self.facts.retain(|_, facts| facts.round == round);
    }
}

/// The facts of a part of a resource.
struct Facts {
    /// Keeps the address unique.
    #[expect(dead_code, reason = "keeps the address unique")]
    of: Tree,
    /// Sorted.
    objects: Vec<ObjectId>,
    requests_secrets: bool,
    /// The last compile that had the part.
    round: u32,
}

impl Facts {
    fn of(part: &Tree) -> Self {
        let mut found = Found::default();
        found.add(part);
        found.objects.sort_unstable();
        found.objects.dedup();
        Self { of: part.clone(), objects: found.objects, requests_secrets: found.requests_secrets, round: 0 }
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

/// The address of an object's fields; 0 for other values.
fn address(of: &Tree) -> usize {
    if let Plain::Object(fields) = &of.value { fields.0.address() } else { 0 }
}

/// Adds the objects that resources are generated from. Returns whether listeners or clusters request secrets.
pub(crate) fn collect(resources: &Resources, executor: &dyn Executor, memory: &mut FactMemory, used: &mut ObjectSet) -> bool {
    let Resources { listeners, routes, clusters, endpoints, secrets } = resources;
    // The hosts are most of a table.
    let hosts = routes.iter().flat_map(|table| table.get("virtual_hosts").items());
    let passive: Vec<&Tree> = hosts.chain(endpoints.iter().chain(secrets).map(|of| &**of)).collect();
    let active: Vec<&Tree> = listeners.iter().chain(clusters).map(|of| &**of).collect();
    memory.look(passive.iter().chain(&active).copied(), executor);
    for part in passive {
        memory.add(part, used);
    }
    let mut requests_secrets = false;
    for part in active {
        requests_secrets |= memory.add(part, used);
    }
    memory.end();
    for table in routes {
        let mut frame = Tree::clone(table);
        if let Some(hosts) = frame.get_mut("virtual_hosts") {
            hosts.value = Plain::Null;
        }
        Facts::of(&frame).objects.into_iter().for_each(|object| used.insert(object));
    }
    requests_secrets
}
