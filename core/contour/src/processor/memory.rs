//! Caches the results of HTTPProxies: the hosts of each root, and the routes of each HTTPProxy by the path to it.
//!
//! A root is unchanged if none of its HTTPProxies and Services changed. Only the few changed objects are tested, so most of 10,000 HTTPProxies are
//! not visited. Only results without findings are cached.

use crate::cluster::{Admitted, Name};
use crate::kinds::Kind;
use crate::memory::CachedObjects;
use crate::model::{Route, SecureVirtualHost, VirtualHost};
use crate::source::{Source, WatchedObjects};
use crate::status::{DetailedCondition, HTTP_PROXY};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::StatusOf;
use chancery_base::resource::ObjectId;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::object_tables::{CachedObject, Names};
use chancery_text::{Node, NodeId, Str};
use core::hash::{BuildHasher, Hash, Hasher};
use hashbrown::{HashMap, HashSet};

/// Caches the results of HTTPProxies.
#[derive(Default)]
pub struct Memory {
    proxies: CachedObjects,
    services: CachedObjects,
    /// The changed HTTPProxies and Services.
    changed: HashSet<Dependency>,
    /// Whether all Services are unchanged.
    same_services: bool,
    listeners: Listeners,
    roots: HashMap<ObjectId, Root>,
    statuses: Option<ValidStatuses>,
    round: u32,
}

/// The statuses of valid HTTPProxies.
struct ValidStatuses {
    names: Arc<Names>,
    others: HashSet<ObjectId>,
    balancer: Node,
    all: Vec<StatusOf>,
}

/// The name of an HTTPProxy or a Service that something depends on, as a hash.
pub(super) type Dependency = u64;

/// The names of the listeners that hosts of HTTPProxies belong to.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Listeners {
    /// For hosts without TLS.
    pub http: Option<Str>,
    /// For hosts with TLS.
    pub https: Option<Str>,
}

/// An HTTPProxy that a root includes.
pub(super) struct Reached {
    pub(super) id: ObjectId,
    pub(super) name: Name,
}

/// The results of a root, and of the path to them.
#[derive(Default)]
struct Root {
    made: Option<Made>,
    /// By the hash of the visit.
    visits: HashMap<u64, Visited>,
    /// The last compile that used it.
    round: u32,
}

/// The results of a root without findings.
struct Made {
    root: CachedObject,
    hosts: Arc<Hosts>,
    depends_on: Vec<Dependency>,
}

/// The hosts that a root adds to the graph.
pub(super) struct Hosts {
    /// Its host without TLS.
    pub host: Option<Arc<VirtualHost>>,
    /// Its host with TLS.
    pub secure_host: Option<Arc<SecureVirtualHost>>,
    /// The HTTPProxies that it includes.
    pub reached: Vec<Reached>,
}

/// The path to an HTTPProxy: the HTTPProxies on it, ending with itself, and the conditions of the includes.
#[derive(PartialEq)]
pub(super) struct Visit {
    way: Vec<CachedObject>,
    conditions: Vec<(ObjectId, NodeId)>,
}

struct Visited {
    visit: Visit,
    depends_on: Vec<Dependency>,
    routes: Vec<Arc<Route>>,
    /// The last compile that used it.
    round: u32,
}

impl Visit {
    pub(super) fn new(way: &[&Admitted<'_>], conditions: &[Cursor<'_>]) -> Self {
        Self {
            way: way.iter().map(|object| CachedObject::new(object.object)).collect(),
            conditions: conditions.iter().map(|condition| (condition.object(), condition.node().map_or(NodeId::NONE, |node| node.id))).collect(),
        }
    }

    fn hash(&self) -> u64 {
        let mut hasher = hasher();
        self.way.iter().for_each(|known| hasher.write_usize(known.address()));
        self.conditions.iter().for_each(|(_, node)| hasher.write_u32(node.0));
        hasher.finish()
    }
}

impl Memory {
    /// Takes note of the HTTPProxies and the Services of this compile.
    pub(in super::super) fn update(&mut self, source: &Source<'_>) {
        let (changed, same_services) = (&mut self.changed, &mut self.same_services);
        changed.clear();
        self.proxies.update(source.proxies.iter(), |key| _ = changed.insert(dependency(Kind::HttpProxy, key)));
        *same_services = true;
        self.services.update(source.all(Kind::Service), |key| {
            *same_services = false;
            changed.insert(dependency(Kind::Service, key));
        });
    }

    /// Starts a compile with these listeners.
    pub(super) fn begin(&mut self, listeners: &Listeners, has_extensions: bool) {
        self.round = self.round.wrapping_add(1);
        // Authorization services depend on Services too.
        if self.listeners != *listeners || (has_extensions && !self.same_services) {
            self.listeners = listeners.clone();
            self.roots.values_mut().for_each(|root| root.made = None);
        }
    }

    /// Drops entries that this compile did not use.
    pub(super) fn end(&mut self) {
        let round = self.round;
        self.roots.retain(|_, root| root.round == round);
    }

    /// The statuses of all HTTPProxies if nothing is wrong with them, in the order of their names.
    pub(super) fn valid_statuses(&mut self, proxies: &WatchedObjects<'_>, balancer: &Node) -> Vec<StatusOf> {
        let (names, others) = proxies.selection();
        let is_as_it_was = |known: &&ValidStatuses| {
            names.is_some_and(|names| Arc::ptr_eq(&known.names, names)) && known.others == *others && known.balancer == *balancer
        };
        if let Some(known) = self.statuses.as_ref().filter(is_as_it_was) {
            return known.all.clone();
        }
        let status = Arc::new(DetailedCondition::default().proxy_status(balancer));
        let of = |proxy: &Admitted<'_>| StatusOf {
            kind: HTTP_PROXY,
            namespace: proxy.namespace().clone(),
            name: proxy.name().clone(),
            status: status.clone(),
        };
        let all: Vec<StatusOf> = proxies.iter().map(of).collect();
        self.statuses =
            names.map(|names| ValidStatuses { names: names.clone(), others: others.clone(), balancer: balancer.clone(), all: all.clone() });
        all
    }

    /// The hosts that a root adds to the graph, if all its sources are unchanged.
    pub(super) fn hosts(&mut self, root: &Admitted<'_>) -> Option<Arc<Hosts>> {
        let changed = &self.changed;
        let known = self.roots.get_mut(&root.object.id)?;
        let made = known.made.as_ref().filter(|made| made.root == CachedObject::new(root.object) && are_same(&made.depends_on, changed))?;
        known.round = self.round;
        Some(made.hosts.clone())
    }

    /// Stores the hosts of a root without findings.
    pub(super) fn keep_hosts(&mut self, root: &Admitted<'_>, hosts: Hosts, depends_on: Vec<Dependency>) {
        let known = self.roots.entry(root.object.id).or_default();
        known.round = self.round;
        known.made = Some(Made { root: CachedObject::new(root.object), hosts: Arc::new(hosts), depends_on });
    }

    /// Starts to build a root again.
    pub(super) fn open(&mut self, root: ObjectId) {
        let known = self.roots.entry(root).or_default();
        known.made = None;
        known.round = self.round;
    }

    /// Ends making a root anew: forgets the visits that it did not come by.
    pub(super) fn close(&mut self, root: ObjectId) {
        let round = self.round;
        if let Some(known) = self.roots.get_mut(&root) {
            known.visits.retain(|_, visited| visited.round == round);
        }
    }

    /// The routes of such a visit with their dependencies, if nothing changed.
    pub(super) fn routes(&mut self, root: ObjectId, visit: &Visit) -> Option<(Vec<Arc<Route>>, &[Dependency])> {
        let visits = &mut self.roots.get_mut(&root)?.visits;
        let visited = visits.get_mut(&visit.hash()).filter(|visited| visited.visit == *visit && are_same(&visited.depends_on, &self.changed))?;
        visited.round = self.round;
        Some((visited.routes.clone(), &visited.depends_on))
    }

    /// Keeps routes that were made without a finding.
    pub(super) fn keep_routes(&mut self, root: ObjectId, visit: Visit, routes: &[Arc<Route>], depends_on: Vec<Dependency>) {
        let visited = Visited { routes: routes.to_vec(), round: self.round, depends_on, visit };
        self.roots.entry(root).or_default().visits.insert(visited.visit.hash(), visited);
    }
}

/// The dependencies of an HTTPProxy's routes: itself and its Services.
pub(super) fn dependencies(proxy: &Admitted<'_>) -> Vec<Dependency> {
    let services = proxy.spec().field("routes").items().flat_map(|route| route.field("services").items());
    let services = services.map(|service| dependency(Kind::Service, (proxy.namespace(), service.field("name").str())));
    core::iter::once(dependency(Kind::HttpProxy, (proxy.namespace(), proxy.name()))).chain(services).collect()
}

fn dependency(kind: Kind, (namespace, name): (&str, &str)) -> Dependency {
    let mut hasher = hasher();
    (kind as u32, namespace, name).hash(&mut hasher);
    hasher.finish()
}

fn are_same(depends_on: &[Dependency], changed: &HashSet<Dependency>) -> bool {
    changed.is_empty() || !depends_on.iter().any(|name| changed.contains(name))
}

fn hasher() -> impl Hasher {
    foldhash::fast::FixedState::with_seed(0).build_hasher()
}
