//! What earlier compiles made of HTTPProxies: their own routes, by the way that led to them, and tables of routes, by the root.
//!
//! What must not be here: how they are made.

use crate::dialect::contour::cluster::{Admitted, Name};
use crate::dialect::contour::kinds::Kind;
use crate::dialect::contour::memory::CachedObject;
use crate::dialect::contour::model::{Route, Routes};
use crate::dialect::contour::source::Source;
use crate::dialect::kubernetes::cursor::Cursor;
use crate::order::Gather as _;
use crate::resource::ObjectId;
use crate::text::{NodeId, Str};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::{BuildHasher, Hasher};
use hashbrown::HashMap;

/// What earlier compiles made of HTTPProxies.
#[derive(Default)]
pub struct Memory {
    services: Vec<CachedObject>,
    /// Whether all Services are what they were.
    same_services: bool,
    /// By the hash of the visit.
    visits: HashMap<u64, Visited>,
    /// By the root.
    tables: HashMap<ObjectId, Table>,
    round: u32,
}

/// How one came to an HTTPProxy: the HTTPProxies on the way, it last, and the conditions of the includes between them.
#[derive(PartialEq)]
pub(super) struct Visit {
    way: Vec<CachedObject>,
    conditions: Vec<(ObjectId, NodeId)>,
}

struct Visited {
    visit: Visit,
    services: Vec<(Name, CachedObject)>,
    routes: Vec<Arc<Route>>,
    /// The compile in which it was there last.
    round: u32,
}

struct Table {
    routes: Vec<Arc<Route>>,
    table: Arc<Routes>,
    round: u32,
}

impl Visit {
    pub(super) fn new(way: &[&Admitted<'_>], conditions: &[Cursor<'_>]) -> Self {
        Self {
            way: way.iter().map(|object| CachedObject::new(object)).collect(),
            conditions: conditions.iter().map(|condition| (condition.object(), condition.node().map_or(NodeId::NONE, |node| node.id))).collect(),
        }
    }

    fn hash(&self) -> u64 {
        let mut hasher = foldhash::fast::FixedState::with_seed(0).build_hasher();
        self.way.iter().for_each(|known| hasher.write_usize(known.address()));
        self.conditions.iter().for_each(|(_, node)| hasher.write_u32(node.0));
        hasher.finish()
    }
}

impl Memory {
    /// Takes note of the Services of this compile.
    pub(in super::super) fn services(&mut self, services: Vec<CachedObject>) {
        self.same_services = self.services == services;
        self.services = services;
    }

    pub(super) fn begin(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// Forgets what this compile did not come by.
    pub(super) fn end(&mut self) {
        let round = self.round;
        self.visits.retain(|_, visited| visited.round == round);
        self.tables.retain(|_, table| table.round == round);
    }

    /// The routes that were made on such a visit, if what they depend on is as it was.
    pub(super) fn routes(&mut self, visit: &Visit, source: &Source<'_>) -> Option<Vec<Arc<Route>>> {
        let visited = self.visits.get_mut(&visit.hash()).filter(|visited| visited.visit == *visit)?;
        let is = |(name, known): &(Name, CachedObject)| {
            source.get(Kind::Service, &name.0, &name.1).is_some_and(|service| CachedObject::new(service) == *known)
        };
        if !self.same_services && !visited.services.iter().all(is) {
            return None;
        }
        visited.round = self.round;
        Some(visited.routes.clone())
    }

    /// Keeps routes that were made without a finding, all of whose Services are there.
    pub(super) fn keep_routes(&mut self, visit: Visit, source: &Source<'_>, proxy: &Admitted<'_>, routes: &[Arc<Route>]) {
        let names = proxy.spec().field("routes").items().flat_map(|route| route.field("services").items()).map(|service| service.field("name").str());
        let known = |name: &str| {
            let service = source.get(Kind::Service, proxy.namespace(), name)?;
            Some(((proxy.namespace().clone(), Str::new(name)), CachedObject::new(service)))
        };
        let visited = Visited { services: names.filter_map(known).collect(), routes: routes.to_vec(), round: self.round, visit };
        self.visits.insert(visited.visit.hash(), visited);
    }

    /// Routes of a root by what they match.
    pub(super) fn table(&mut self, root: ObjectId, routes: &[Arc<Route>]) -> Arc<Routes> {
        let same = |known: &&mut Table| known.routes.len() == routes.len() && known.routes.iter().zip(routes).all(|(a, b)| Arc::ptr_eq(a, b));
        if let Some(known) = self.tables.get_mut(&root).filter(same) {
            known.round = self.round;
            return known.table.clone();
        }
        let table: Arc<Routes> = Arc::new(routes.iter().map(|route| (route.conditions.clone(), route.clone())).gathered());
        self.tables.insert(root, Table { routes: routes.to_vec(), table: table.clone(), round: self.round });
        table
    }
}
