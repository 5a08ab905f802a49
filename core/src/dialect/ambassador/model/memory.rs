//! What earlier compiles found out about Mappings: each is made once, as long as its resource and what it looks things up
//! in are the same.
//!
//! Only what was made without a complaint is kept, so that complaints are made anew each time.

use super::resolver::ResolverKind;
use super::{Cluster, HttpMapping, Model, Options};
use crate::config::Resource;
use crate::resource::Sourced;
use crate::text::{Node, Str};
use alloc::sync::Arc;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// What the model remembers from one compile to the next.
#[derive(Default)]
pub struct Memory {
    pub(super) mappings: Mappings,
}

/// Everything that a Mapping is made from, beside its own resource.
#[derive(PartialEq)]
pub(super) struct Environment {
    options: Options,
    module: Option<Arc<Node>>,
    resolvers: Vec<(Str, ResolverKind)>,
    selectors: Vec<Vec<(Str, Sourced<Str>)>>,
}

impl Environment {
    pub(super) fn of(model: &Model<'_>) -> Self {
        Self {
            options: model.options.clone(),
            module: model.config.get_module("ambassador").map(|module| module.spec.clone()),
            resolvers: model.resolvers.iter().map(|(name, resolver)| (name.clone(), resolver.kind)).collect(),
            selectors: model.hosts.values().filter_map(|host| Some(host.mapping_selector.as_ref()?.value.clone())).collect(),
        }
    }
}

/// The Mapping that a cluster was made of, which is kept alive, the marker in its name, and the cluster.
type KnownCluster = (Arc<HttpMapping>, Option<Str>, Arc<Cluster>);

/// Mappings by the address of the resource that they were made from, which is kept alive.
#[derive(Default)]
pub(super) struct Mappings {
    environment: Option<Environment>,
    known: HashMap<usize, (Arc<Resource>, Arc<HttpMapping>)>,
    used: HashMap<usize, (Arc<Resource>, Arc<HttpMapping>)>,
    /// By the address of the Mapping.
    clusters: HashMap<usize, KnownCluster>,
}

impl Mappings {
    pub(super) fn prepare(&mut self, environment: Environment) {
        if self.environment.as_ref() != Some(&environment) {
            *self = Self { environment: Some(environment), ..Self::default() };
        }
        self.used.reserve(self.known.len());
    }

    pub(super) fn recall(&mut self, resource: &Arc<Resource>) -> Option<Arc<HttpMapping>> {
        let address = Arc::as_ptr(resource) as usize;
        let entry = self.known.remove(&address)?;
        let mapping = entry.1.clone();
        self.used.insert(address, entry);
        Some(mapping)
    }

    pub(super) fn keep(&mut self, resource: &Arc<Resource>, mapping: &Arc<HttpMapping>) {
        self.used.insert(Arc::as_ptr(resource) as usize, (resource.clone(), mapping.clone()));
    }

    /// Forgets what this compile did not use.
    pub(super) fn finish(&mut self) {
        for (_, dropped) in self.known.drain() {
            self.clusters.remove(&(Arc::as_ptr(&dropped.1) as usize));
        }
        self.known = core::mem::take(&mut self.used);
    }

    /// The cluster that was made of a Mapping.
    pub(super) fn cluster(&self, mapping: &Arc<HttpMapping>, marker: Option<&Str>) -> Option<Arc<Cluster>> {
        let (_, known, cluster) = self.clusters.get(&(Arc::as_ptr(mapping) as usize))?;
        (known.as_ref() == marker).then(|| cluster.clone())
    }

    pub(super) fn keep_cluster(&mut self, mapping: &Arc<HttpMapping>, marker: Option<Str>, cluster: &Arc<Cluster>) {
        self.clusters.insert(Arc::as_ptr(mapping) as usize, (mapping.clone(), marker, cluster.clone()));
    }
}
