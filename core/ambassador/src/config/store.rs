//! Files resources by kind and name, and looks them up.
//!
//! Source of behaviour: Emissary `python/ambassador/src/ambassador/config/config.py`. Ambassador's own rules (keys of kinds, supported API
//! versions) are passed as [`Rules`].

use super::{Overrides, Resource};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::blocks::Blocks;
use chancery_base::compilation::Loaded;
use chancery_base::diagnostic::{Diagnostic, Findings, Place, codes};
use chancery_base::resource::{ObjectId, Origin, ResourceKey};
use chancery_text::{Node, NodeId, Object, Str, Value};
use core::hash::BuildHasher;
use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// The key of a kind in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Under this key, by name.
    ByName(&'static str),
    /// Under this key, by identifier: for kinds whose names are not unique enough.
    ByRkey(&'static str),
    /// As a module: under `modules`, with the fields of its `config` as its own.
    Module,
    /// Under its kind, by name.
    ByKind,
}

/// How an API version is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It is current.
    Current,
    /// It is read, with this notice.
    Notice(&'static str),
    /// It is not read.
    Refused,
}

/// A dialect's rules for its resources.
pub struct Rules<'a> {
    /// The namespace of resources without one.
    pub namespace: &'a str,
    /// Where a kind is filed.
    pub store: fn(kind: &str) -> Store,
    /// How an API version is supported.
    pub support: fn(api_version: &str) -> Support,
    /// Whether a resource is meant for this instance of the controller.
    pub accepts: &'a dyn Fn(&Resource) -> bool,
}

/// The configuration as loaded.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The loaded resources in order, then the results of modules.
    resources: Blocks<Arc<Resource>>,
    loaded: usize,
    /// Indexes of `resources` sorted by rkey, equal ones in order; empty if the resources are already sorted.
    by_rkey: Arc<Vec<usize>>,
    stores: Vec<(Str, Arc<Filed>)>,
    /// The first Helm chart that a Service names.
    pub helm_chart: Option<Str>,
    /// Secrets that are assumed to exist, with the fields that refer to them.
    pub assumed: BTreeMap<ResourceKey, Vec<Origin>>,
    /// The supplied Secrets, whether or not they are passed on.
    pub supplied_secrets: BTreeSet<ResourceKey>,
    /// Secrets that are made from other objects, such as cert-manager's, and are assumed to exist.
    pub provided_secrets: Arc<BTreeMap<ResourceKey, ObjectId>>,
    /// Whether missing Secrets are assumed to exist.
    pub assume_missing: bool,
    /// Whether unreferenced Secrets are assumed too.
    pub assume_unreferenced: bool,
    /// Addresses by their name in endpoint discovery, e.g. `k8s/default/quote/80`.
    pub endpoints: Arc<BTreeMap<Str, Vec<super::Target>>>,
}

#[derive(Clone, Debug, Default)]
struct Filed {
    entries: Vec<(Str, usize)>,
    /// Places in `entries` by name.
    index: HashTable<usize>,
}

impl Filed {
    fn find(&self, name: &str) -> Option<usize> {
        self.index.find(hash(name), |place| self.entries.get(*place).is_some_and(|(known, _)| known == name)).copied()
    }

    fn insert(&mut self, name: Str, at: usize) {
        let entries = &self.entries;
        let rehash = |place: &usize| entries.get(*place).map_or(0, |(name, _)| hash(name));
        self.index.insert_unique(hash(&name), entries.len(), rehash);
        self.entries.push((name, at));
    }
}

fn hash(name: &str) -> u64 {
    FixedState::default().hash_one(name)
}

/// The state of a referenced object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Presence<'a> {
    /// It is part of the configuration.
    Known(&'a Resource),
    /// It was supplied, but the controller does not pass it on.
    Withheld,
    /// It is not in the input, and assumed to exist.
    Assumed,
    /// There is no such thing.
    Missing,
}

/// The resources that are filed under one key, in the order in which they were loaded.
#[derive(Clone, Copy, Debug)]
pub struct Bucket<'a> {
    config: &'a Config,
    filed: &'a Filed,
}

impl<'a> Bucket<'a> {
    /// Names and resources in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a Resource)> + use<'a> {
        let config = self.config;
        self.filed.entries.iter().filter_map(move |(name, at)| Some((name.as_str(), &**config.resources.get(*at)?)))
    }

    /// The resource of this name.
    pub fn get(&self, name: &str) -> Option<&'a Resource> {
        let place = self.filed.find(name)?;
        let (_, at) = self.filed.entries.get(place)?;
        self.config.resources.get(*at).map(|resource| &**resource)
    }

    /// The shared resources, in order.
    pub fn shared(&self) -> impl Iterator<Item = &'a Arc<Resource>> + use<'a> {
        let config = self.config;
        self.filed.entries.iter().filter_map(move |(_, at)| config.resources.get(*at))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.filed.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.filed.entries.is_empty()
    }
}

impl Config {
    /// Files all resources in order. A configuration is loaded once; load another one to change it.
    pub fn load_all(resources: impl IntoIterator<Item = Arc<Resource>>, rules: &Rules<'_>, sink: &mut Findings) -> Self {
        let mut config = Self::default();
        let mut modules = Vec::new();
        let mut duplicates = Vec::new();
        for resource in resources.into_iter().filter(|resource| (rules.accepts)(resource)) {
            config.process(resource, rules, &mut modules, &mut duplicates, sink);
        }
        config.loaded = config.resources.len();
        config.index_rkeys();
        // Modules keep their place among filed resources, but their results are not inputs.
        for (source, place, name) in modules {
            let Some(lifted) = config.resources.get(source).map(|module| Arc::new(lift(module, name))) else { continue };
            config.resources.push(lifted);
            let at = config.resources.len() - 1;
            if let Some((_, entry)) = config.filed("modules").entries.get_mut(place) {
                *entry = at;
            }
        }
        for (later, earlier) in duplicates {
            config.post_duplicate(later, earlier, sink);
        }
        config
    }

    fn process(
        &mut self,
        mut resource: Arc<Resource>,
        rules: &Rules<'_>,
        modules: &mut Vec<(usize, usize, Str)>,
        duplicates: &mut Vec<(usize, usize)>,
        sink: &mut Findings,
    ) {
        if resource.namespace.is_empty() {
            Arc::make_mut(&mut resource).namespace = Str::new(rules.namespace);
        }
        let at = self.resources.len();
        let valid = validate(&mut resource, rules, sink);
        let store = (rules.store)(&resource.kind);
        self.resources.push(resource);
        if !valid {
            return;
        }
        let (key, by_rkey) = match store {
            Store::ByName(key) => (Str::new_static(key), false),
            Store::ByRkey(key) => (Str::new_static(key), true),
            Store::Module => (Str::new_static("modules"), false),
            Store::ByKind => (self.resources[at].kind.clone(), false),
        };
        let (place, name) = self.file(key, at, by_rkey, duplicates);
        if store == Store::Module {
            modules.push((at, place, name));
        } else if !by_rkey && self.resources[at].name != name {
            Arc::make_mut(&mut self.resources[at]).name = name;
        }
    }

    /// Files a resource; returns its index and name in its bucket.
    fn file(&mut self, key: Str, at: usize, by_rkey: bool, duplicates: &mut Vec<(usize, usize)>) -> (usize, Str) {
        let store = match self.stores.iter().position(|(known, _)| *known == key) {
            Some(store) => store,
            None => {
                self.stores.push((key, Arc::default()));
                self.stores.len() - 1
            }
        };
        let filed = Arc::make_mut(&mut self.stores[store].1);
        let resource = &self.resources[at];
        let mut name = if by_rkey { resource.rkey.clone() } else { resource.name.clone() };
        let taken = filed.find(&name).and_then(|place| Some(filed.entries.get(place)?.1));
        if let Some(earlier) = taken {
            let same_namespace = self.resources[earlier].namespace == resource.namespace;
            if same_namespace || by_rkey {
                duplicates.push((at, earlier));
            } else {
                name = Str::from(format!("{}.{}", resource.name, resource.namespace));
            }
        }
        match filed.find(&name) {
            Some(place) => {
                filed.entries[place].1 = at;
                (place, name)
            }
            None => {
                filed.insert(name.clone(), at);
                (filed.entries.len() - 1, name)
            }
        }
    }

    fn filed(&mut self, key: &str) -> &mut Filed {
        match self.stores.iter().position(|(known, _)| known == key) {
            Some(at) => Arc::make_mut(&mut self.stores[at].1),
            None => {
                self.stores.push((Str::new(key), Arc::default()));
                let last = self.stores.len() - 1;
                Arc::make_mut(&mut self.stores[last].1)
            }
        }
    }

    fn post_duplicate(&mut self, later: usize, earlier: usize, sink: &mut Findings) {
        let (second, first) = (&self.resources[later], &self.resources[earlier]);
        let message = format!("{} is defined twice; this one, {}, replaces {}", second.key, second.rkey, first.rkey);
        let place = |resource: &Resource| Place::value(resource.object, resource.spec.id);
        let finding = Diagnostic::new(&codes::DUPLICATE_RESOURCE, message, place(second))
            .about(second.key.clone())
            .related(place(first), "the other definition")
            .help("give one of them another name");
        Arc::make_mut(&mut self.resources[later]).post_error(finding.clone());
        sink.report(finding);
    }

    /// All loaded resources in order, including invalid ones.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.resources.iter().take(self.loaded).map(|resource| &**resource)
    }

    /// The resource with this identifier; the last of several.
    pub fn resource(&self, rkey: &str) -> Option<&Resource> {
        self.place(rkey).and_then(|at| self.resources.get(at)).map(|resource| &**resource)
    }

    /// Replaces a resource without findings by another one of the same identifier, kind and name. Returns whether the old one was found.
    pub(crate) fn replace(&mut self, known: &Arc<Resource>, by: Arc<Resource>) -> bool {
        let place = self.place(&known.rkey).and_then(|at| self.resources.get_mut(at)).filter(|place| Arc::ptr_eq(place, known));
        place.map(|place| *place = by).is_some()
    }

    fn index_rkeys(&mut self) {
        let resources = &self.resources;
        if !resources.iter().is_sorted_by(|a, b| a.rkey <= b.rkey) {
            let mut order: Vec<usize> = (0..resources.len()).collect();
            order.sort_by(|a, b| resources[*a].rkey.cmp(&resources[*b].rkey));
            self.by_rkey = Arc::new(order);
        }
    }

    /// The index of the last resource with this identifier.
    fn place(&self, rkey: &str) -> Option<usize> {
        let at = |index: usize| self.by_rkey.get(index).copied().unwrap_or(index);
        let (mut low, mut high) = (0, self.loaded);
        while low < high {
            let middle = low.midpoint(high);
            if self.resources.get(at(middle))?.rkey.as_str() <= rkey {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let found = at(low.checked_sub(1)?);
        (self.resources.get(found)?.rkey == rkey).then_some(found)
    }

    /// The resources that are filed under a key, such as `mappings`.
    pub fn get_config(&self, key: &str) -> Option<Bucket<'_>> {
        let (_, filed) = self.stores.iter().find(|(known, _)| known == key)?;
        Some(Bucket { config: self, filed })
    }

    /// Takes out the resources that are filed under a key, in the order in which they were loaded.
    pub fn take(&mut self, key: &str) -> Vec<Arc<Resource>> {
        let Some((_, filed)) = self.stores.iter_mut().find(|(known, _)| known == key) else { return Vec::new() };
        let filed = core::mem::take(filed);
        let (nothing, resources) = (Arc::new(Resource::default()), &mut self.resources);
        filed.entries.iter().filter_map(|(_, at)| Some(core::mem::replace(resources.get_mut(*at)?, nothing.clone()))).collect()
    }

    /// The keys of filed resources, in order of appearance.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.stores.iter().map(|(key, _)| key.as_str())
    }

    /// The module of this name, with the fields of its `config` as its own.
    pub fn get_module(&self, name: &str) -> Option<&Resource> {
        self.get_config("modules")?.get(name)
    }

    pub fn module_field(&self, module: &str, field: &str) -> Option<&Node> {
        self.get_module(module)?.get(field)
    }

    /// A field of a module, or else `default`.
    pub fn module_lookup<'a>(&'a self, module: &str, field: &str, default: &'a Node) -> &'a Node {
        self.module_field(module, field).unwrap_or(default)
    }

    /// The state of a Secret.
    pub fn secret(&self, namespace: &str, name: &str) -> Presence<'_> {
        let rkey = format!("{name}.{namespace}.1");
        if let Some(resource) = self.get_config("secrets").and_then(|secrets| secrets.get(&rkey)) {
            return Presence::Known(resource);
        }
        let key = ResourceKey::new("", "Secret", namespace, name);
        if self.supplied_secrets.contains(&key) {
            return Presence::Withheld;
        }
        if self.assumes(&key) { Presence::Assumed } else { Presence::Missing }
    }

    /// Whether a Secret that is not supplied is assumed to exist.
    pub fn assumes(&self, secret: &ResourceKey) -> bool {
        self.assume_missing || self.provided_secrets.contains_key(secret)
    }

    /// Records that one resource uses another through the field at `at`.
    pub fn link(&mut self, from: &str, to: &str, at: Option<Origin>) {
        let (Some(from), Some(to)) = (self.place(from), self.place(to)) else { return };
        if from != to {
            let mut used = core::mem::take(&mut self.resources[to]);
            Arc::make_mut(&mut self.resources[from]).references(Arc::make_mut(&mut used), at);
            self.resources[to] = used;
        }
    }

    /// Notices an error on a resource; it reaches everything that uses it.
    pub fn post_error(&mut self, rkey: &str, error: Diagnostic, sink: &mut Findings) {
        if let Some(resource) = self.place(rkey).and_then(|at| self.resources.get_mut(at)) {
            Arc::make_mut(resource).post_error(error.clone());
        }
        sink.report(error);
    }

    /// The errors of a resource and of everything that it uses, directly or not, with the resource that each was posted on.
    pub fn errors(&self, rkey: &str) -> Vec<(&Resource, &Diagnostic)> {
        let mut errors = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = alloc::vec![rkey];
        while let Some(rkey) = open.pop() {
            let Some(resource) = self.resource(rkey).filter(|_| seen.insert(rkey)) else { continue };
            errors.extend(resource.errors.iter().map(|error| (resource, error)));
            open.extend(resource.references.iter().rev().map(|reference| reference.rkey.as_str()));
        }
        errors
    }

    /// The whole configuration by key and name; [`Resource::as_dict`] returns each resource.
    pub fn loaded(&self) -> Vec<(Str, Vec<Loaded>)> {
        let loaded = |(name, at): &(Str, usize)| {
            let of = self.resources.get(*at)?;
            Some(Loaded { name: name.clone(), object: of.object, rule: of.rule, written: of.spec.clone(), shown: of.as_dict() })
        };
        self.stores.iter().map(|(key, filed)| (key.clone(), filed.entries.iter().filter_map(loaded).collect())).collect()
    }

    /// The same as a tree. Key material is redacted.
    pub fn dump(&self) -> Node {
        let bucket = |all: Vec<Loaded>| Node::synthesised(Value::Object(all.into_iter().map(|one| (one.name, one.shown)).collect()));
        Node::synthesised(Value::Object(self.loaded().into_iter().map(|(key, all)| (key, bucket(all))).collect()))
    }
}

/// Whether a resource may be filed. Earlier validation errors are already posted.
fn validate(resource: &mut Arc<Resource>, rules: &Rules<'_>, sink: &mut Findings) -> bool {
    let place = Place::value(resource.object, resource.spec.id);
    // Earlier validation errors already have findings.
    if !resource.invalid.is_empty() {
        return false;
    }
    match (rules.support)(&resource.api_version) {
        Support::Current => {}
        Support::Notice(notice) => {
            let message = format!("apiVersion {} {notice}", resource.api_version);
            sink.report(Diagnostic::new(&codes::DEPRECATED_VERSION, message, place).about(resource.key.clone()));
        }
        Support::Refused => {
            let written = if resource.api_version.is_empty() { "nothing".into() } else { format!("`{}`", resource.api_version) };
            let message = format!("{} has {written} for an apiVersion, which is not supported", resource.key);
            let finding = Diagnostic::new(&codes::UNSUPPORTED_VERSION, message, place)
                .about(resource.key.clone())
                .help("write `apiVersion: getambassador.io/v3alpha1`");
            Arc::make_mut(resource).post_error(finding.clone());
            sink.report(finding);
            return false;
        }
    }
    true
}

/// A module with the fields of its `config` as its own.
fn lift(module: &Resource, name: Str) -> Resource {
    let config = module.get("config").filter(|config| config.as_object().is_some());
    let spec = config.cloned().unwrap_or_else(|| Node { id: NodeId::NONE, value: Value::Object(Object::new()) });
    Resource::from_resource(module, Overrides { spec: Some(Arc::new(spec)), name: Some(name), ..Overrides::default() })
}
