//! Keeps what was generated for routes, so that an unchanged route is not generated again. Does not generate; see `tables`.
//!
//! A route is known by its address, which the entry keeps unique. Everything else that routes are generated from must be the same: the caller
//! forgets the memory otherwise.

use super::resources::AddedCluster;
use crate::model::HttpRoute;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;
use hashbrown::HashMap;

/// What was generated before, by the name of the listener.
#[derive(Default)]
pub(crate) struct Memory {
    listeners: BTreeMap<Str, ListenerMemory>,
}

/// What was generated for the routes of one listener.
#[derive(Default)]
pub(super) struct ListenerMemory {
    /// Settings outside of routes that other routes can change.
    settings: Vec<Tree>,
    /// By the address of the route.
    routes: HashMap<usize, KnownRoute>,
    /// By the name of the host.
    hosts: HashMap<Str, KnownHost>,
}

/// A route that was generated.
pub(super) struct KnownRoute {
    /// Keeps the address unique.
    pub(super) of: Arc<HttpRoute>,
    pub(super) built: Tree,
    pub(super) clusters: Vec<AddedCluster>,
}

/// A virtual host that was generated.
struct KnownHost {
    /// The addresses of its routes.
    routes: Vec<usize>,
    built: Tree,
}

impl Memory {
    /// Takes the memory of a listener.
    pub(super) fn take(&mut self, listener: &Str) -> ListenerMemory {
        self.listeners.remove(listener).unwrap_or_default()
    }

    /// Replaces everything that is known.
    pub(super) fn replace(&mut self, listeners: BTreeMap<Str, ListenerMemory>) {
        self.listeners = listeners;
    }
}

impl ListenerMemory {
    /// An empty memory for these settings outside of routes.
    pub(super) fn of(settings: Vec<Tree>) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Whether it is for these settings, and they come from the same places.
    pub(super) fn is_for(&self, settings: &[Tree]) -> bool {
        self.settings.len() == settings.len() && self.settings.iter().zip(settings).all(|(a, b)| a.is_same(b))
    }

    pub(super) fn knows(&self, of: &Arc<HttpRoute>) -> bool {
        self.routes.contains_key(&address(of))
    }

    /// Takes a route.
    pub(super) fn route(&mut self, of: &Arc<HttpRoute>) -> Option<KnownRoute> {
        self.routes.remove(&address(of))
    }

    pub(super) fn keep_route(&mut self, known: KnownRoute) {
        self.routes.insert(address(&known.of), known);
    }

    /// Returns a host if it has these routes in this order.
    pub(super) fn host(&self, name: &Str, routes: &[usize]) -> Option<Tree> {
        self.hosts.get(name).filter(|known| known.routes == routes).map(|known| known.built.clone())
    }

    pub(super) fn keep_host(&mut self, name: Str, routes: Vec<usize>, built: Tree) {
        self.hosts.insert(name, KnownHost { routes, built });
    }
}

/// The address of a route.
pub(super) fn address(of: &Arc<HttpRoute>) -> usize {
    Arc::as_ptr(of).addr()
}
