//! Keeps the results of earlier compiles, and decides which of them still hold.
//!
//! The routes of HTTPRoutes are kept, since they are many and change often. A route depends on its HTTPRoute, on the Services that it looked up,
//! and on their EndpointSlices. Everything else that it depends on is the [`World`]: if it changes, everything is translated again.

use super::cluster::{self, Cluster, Name};
use super::context::RouteMemory;
use super::facts::FactMemory;
use super::inert;
use super::kinds::{self, Kind};
use super::load::{self, IMPORT_LABEL, SERVICE_LABEL};
use super::{Options, xds};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::resource::{Content, Object, ObjectId, Objects};
use chancery_kubernetes::object_tables::CachedObject;
use chancery_text::{Node, Str};
use hashbrown::HashSet;

/// The results of earlier compiles.
#[derive(Default)]
pub(crate) struct Memory {
    pub(super) cluster: cluster::Memory,
    pub(super) inert: inert::Memory,
    pub(super) load: load::Memory,
    /// By the name of the GatewayClass.
    pub(super) classes: BTreeMap<Str, ClassMemory>,
    world: World,
    backends: TrackedObjects,
}

/// The results for one GatewayClass.
#[derive(Default)]
pub(crate) struct ClassMemory {
    /// The loaded objects that are looked up by reference. Routes that need the same object may load it for each other.
    pub(super) loaded: Vec<ObjectId>,
    pub(super) routes: RouteMemory,
    /// By the name of the Envoy.
    pub(super) envoys: BTreeMap<Str, EnvoyMemory>,
}

/// The results for one Envoy.
#[derive(Default)]
pub(crate) struct EnvoyMemory {
    pub(super) xds: xds::Memory,
    pub(super) facts: FactMemory,
}

/// The options, and all objects but HTTPRoutes, Services and EndpointSlices.
#[derive(Default, PartialEq)]
struct World {
    options: Options,
    objects: Vec<CachedObject>,
}

impl Memory {
    /// Starts a compile. Returns the names of Services whose endpoints or ports may have changed.
    pub(super) fn begin(&mut self, objects: &Objects, options: &Options, cluster: &Cluster<'_>) -> BTreeSet<Name> {
        let is_tracked =
            |object: &Object| matches!(kinds::find(&object.key.group, &object.key.kind), Some(Kind::HttpRoute | Kind::Service | Kind::EndpointSlice));
        let others = || objects.all().filter(|object| !is_tracked(object));
        let is_same = self.world.options == *options && others().count() == self.world.objects.len();
        if !(is_same && others().zip(&self.world.objects).all(|(object, known)| known.is(object))) {
            self.world = World { options: options.clone(), objects: others().map(CachedObject::new).collect() };
            self.classes.clear();
        }
        let all = [Kind::Service, Kind::EndpointSlice].into_iter().flat_map(|kind| cluster.all(kind));
        self.backends.update(all.map(|admitted| admitted.object))
    }
}

/// The Services and EndpointSlices of the last compile, in order.
#[derive(Default)]
struct TrackedObjects(Vec<CachedObject>);

impl TrackedObjects {
    /// Replaces the objects. Returns the names of Services that changed, or whose slices did.
    fn update<'o>(&mut self, now: impl Iterator<Item = &'o Object>) -> BTreeSet<Name> {
        let now: Vec<&Object> = now.collect();
        let known = &self.0;
        let head = known.iter().zip(&now).take_while(|(known, object)| known.is(object)).count();
        let tail = known[head..].iter().rev().zip(now[head..].iter().rev()).take_while(|(known, object)| known.is(object)).count();
        let (before, after) = (&known[head..known.len() - tail], &now[head..now.len() - tail]);
        let identity = |object: &Object| (object.id, Arc::as_ptr(&object.content).addr());
        let old: HashSet<_> = before.iter().map(CachedObject::identity).collect();
        let new: HashSet<_> = after.iter().map(|object| identity(object)).collect();
        let gone = before.iter().filter(|known| !new.contains(&known.identity())).map(CachedObject::content);
        let added = after.iter().filter(|object| !old.contains(&identity(object))).map(|object| &*object.content);
        let changed = gone.chain(added).flat_map(services_of).collect();
        if !before.is_empty() || !after.is_empty() {
            self.0 = now.into_iter().map(CachedObject::new).collect();
        }
        changed
    }
}

/// The Services that an object is, or has endpoints of.
fn services_of(content: &Content) -> Vec<Name> {
    let namespace = content.key.namespace.clone().unwrap_or_default();
    if *content.key.kind == *"Service" {
        return Vec::from([(namespace, content.key.name.clone())]);
    }
    let labels = [SERVICE_LABEL, IMPORT_LABEL].into_iter();
    let owners = labels.filter_map(|label| content.root.at(&["metadata", "labels", label]).and_then(Node::as_str));
    owners.map(|owner| (namespace.clone(), Str::new(owner))).collect()
}
