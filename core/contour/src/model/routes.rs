//! Stores the routes of a host by their conditions. Does not use Envoy's order; see `lower::order`.

use super::{Conditions, Route};
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use core::borrow::Borrow;
use core::cmp::Ordering;

/// Routes by their conditions: the last one wins.
#[derive(Clone, Debug, Default)]
pub struct Routes(BTreeSet<ByConditions>);

/// A route that is found by its conditions.
#[derive(Clone, Debug)]
struct ByConditions(Arc<Route>);

impl Borrow<Conditions> for ByConditions {
    fn borrow(&self) -> &Conditions {
        &self.0.conditions
    }
}

impl Ord for ByConditions {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.conditions.cmp(&other.0.conditions)
    }
}

impl PartialOrd for ByConditions {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByConditions {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ByConditions {}

impl Routes {
    /// Adds a route and replaces one with the same conditions.
    pub fn add(&mut self, route: Arc<Route>) {
        self.0.replace(ByConditions(route));
    }

    /// The route that matches this.
    pub fn get(&self, conditions: &Conditions) -> Option<&Arc<Route>> {
        self.0.get(conditions).map(|of| &of.0)
    }

    /// All routes, ordered by their conditions.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Route>> {
        self.0.iter().map(|of| &of.0)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Extend<Arc<Route>> for Routes {
    fn extend<I: IntoIterator<Item = Arc<Route>>>(&mut self, routes: I) {
        routes.into_iter().for_each(|route| self.add(route));
    }
}

impl FromIterator<Arc<Route>> for Routes {
    fn from_iter<I: IntoIterator<Item = Arc<Route>>>(routes: I) -> Self {
        let mut all = Self::default();
        all.extend(routes);
        all
    }
}
