//! The policies' settings for backends, which routes must know before policies are applied.
//!
//! Does not read policies; see `policy`.

use super::super::cluster::Name;
use super::route_kind::RouteKind;
use super::scope::Scope;
use alloc::collections::BTreeMap;
use chancery_text::Str;

/// Values of policies by what the policies are for. The first policy of a scope counts.
#[derive(Clone, Debug)]
pub(crate) struct Table<V> {
    /// The value, and whether it counts.
    entries: BTreeMap<Scope, (V, bool)>,
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self { entries: BTreeMap::new() }
    }
}

/// Where a rule is.
struct Place<'p> {
    route: (RouteKind, &'p Name, Option<&'p str>),
    gateway: &'p Name,
    listener: Option<&'p str>,
    set: Option<&'p Name>,
}

impl<V: Clone + Default> Table<V> {
    pub(crate) fn put(&mut self, scope: Scope, value: V, counts: bool) {
        self.entries.entry(scope).or_insert((value, counts));
    }

    fn exact(&self, scope: &Scope) -> Option<V> {
        self.entries.get(scope).filter(|(_, counts)| *counts).map(|(value, _)| value.clone())
    }

    fn of_parents(&self, place: &Place<'_>) -> V {
        let of_listener = match (place.set, place.listener) {
            (Some(set), Some(listener)) => self.exact(&Scope::listener_set(set, Some(listener))),
            (None, Some(listener)) => self.exact(&Scope::gateway(place.gateway, Some(listener))),
            (_, None) => None,
        };
        let of_set = || self.exact(&Scope::listener_set(place.set?, None));
        of_listener.or_else(of_set).or_else(|| self.exact(&Scope::gateway(place.gateway, None))).unwrap_or_default()
    }

    /// Returns the value for a rule, and whether a policy of the route or rule replaces those of wider scopes.
    fn find(&self, place: &Place<'_>) -> (V, bool) {
        let (kind, route, rule) = place.route;
        let of_rule = rule.and_then(|rule| self.entries.get(&Scope::route(kind, route, Some(rule))));
        match of_rule.or_else(|| self.entries.get(&Scope::route(kind, route, None))) {
            Some((value, true)) => (value.clone(), true),
            _ => (self.of_parents(place), false),
        }
    }
}

/// The policies' settings for backends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    pub(crate) routing_types: Table<Option<Str>>,
    pub(crate) cluster_settings: Table<bool>,
    pub(crate) hashing: Table<bool>,
    /// Of ClientTrafficPolicies.
    pub(crate) client_settings: Table<bool>,
}

impl Index {
    /// Returns the `routingType` of the BackendTrafficPolicy that applies to a rule: `Service` or `Endpoint`.
    pub(crate) fn routing_type(
        &self,
        kind: RouteKind,
        route: &Name,
        gateway: &Name,
        listener: Option<&str>,
        set: Option<&Name>,
        rule: Option<&str>,
    ) -> Option<Str> {
        self.routing_types.find(&Place { route: (kind, route, rule), gateway, listener, set }).0
    }

    /// Returns the `routingType` of the Gateway's own BackendTrafficPolicy.
    pub(crate) fn gateway_routing_type(&self, gateway: &Name) -> Option<Str> {
        self.routing_types.exact(&Scope::gateway(gateway, None)).flatten()
    }

    /// Whether a policy below the Gateway changes clusters, so that the route cannot share them.
    pub(crate) fn has_cluster_settings_below_gateway(
        &self,
        kind: RouteKind,
        route: &Name,
        gateway: &Name,
        listener: &str,
        set: Option<&Name>,
        rule: Option<&str>,
    ) -> bool {
        let place = Place { route: (kind, route, rule), gateway, listener: Some(listener), set };
        let (changes, replaces) = self.cluster_settings.find(&place);
        let scopes = match set {
            Some(set) => [Some(Scope::listener_set(set, None)), Some(Scope::listener_set(set, Some(listener)))],
            None => [Some(Scope::gateway(gateway, Some(listener))), None],
        };
        let is_client = |scope: &Scope| self.client_settings.exact(scope).unwrap_or_default();
        changes || replaces || scopes.iter().flatten().any(is_client)
    }

    /// Whether the Gateway's BackendTrafficPolicy uses consistent hashing.
    pub(crate) fn is_consistent_hash(&self, gateway: &Name) -> bool {
        self.hashing.exact(&Scope::gateway(gateway, None)).unwrap_or_default()
    }
}
