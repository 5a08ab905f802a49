//! Indexes the policies' settings for backends before routes are translated. Does not apply policies.

use super::super::cluster::{Admitted, Name};
use super::super::translate::context::{Listener, RouteKind, Translator};
use super::scope::Scope;
use super::target;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// Values of policies by what the policies are for. The first policy of a scope counts.
#[derive(Clone, Debug)]
struct Table<V> {
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
    fn put(&mut self, scope: Scope, value: V, counts: bool) {
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
    routing_types: Table<Option<Str>>,
    cluster_settings: Table<bool>,
    hashing: Table<bool>,
    /// Of ClientTrafficPolicies.
    client_settings: Table<bool>,
}

/// Fields of a BackendTrafficPolicy that change clusters.
const CLUSTER_FIELDS: [&str; 11] = [
    "loadBalancer",
    "proxyProtocol",
    "healthCheck",
    "circuitBreaker",
    "timeout",
    "tcpKeepalive",
    "connection",
    "http2",
    "dns",
    "admissionControl",
    "useClientProtocol",
];

impl Index {
    /// Reads all BackendTrafficPolicies.
    pub(super) fn build(t: &Translator<'_>) -> Self {
        let mut index = Self::default();
        let resources = t.resources;
        let routes = [&resources.http_routes, &resources.grpc_routes, &resources.tls_routes, &resources.tcp_routes, &resources.udp_routes];
        let mut candidates: Vec<&Admitted<'_>> = routes.into_iter().flatten().copied().collect();
        candidates.extend(t.gateways.iter().map(|gateway| gateway.object));
        candidates.extend(resources.listener_sets.iter().copied());
        for policy in &resources.backend_traffic_policies {
            let spec = policy.spec();
            let routing = spec.field("routingType").some_str().map(Str::new);
            let changes = CLUSTER_FIELDS.iter().any(|field| spec.field(field).exists());
            let merges = spec.field("mergeType").exists();
            for target in target::resolve(t, policy, &candidates) {
                let (name, section) = (target.full_name(), target.section());
                if let Some(kind) = target.route_kind() {
                    let scope = || Scope::route(kind, &name, section);
                    index.routing_types.put(scope(), routing.clone(), routing.is_some() || !merges);
                    index.cluster_settings.put(scope(), changes, changes || !merges);
                } else if target.is_listener_set() {
                    let scope = || Scope::listener_set(&name, section);
                    index.routing_types.put(scope(), routing.clone(), routing.is_some());
                    index.cluster_settings.put(scope(), changes, true);
                } else if target.is_gateway() {
                    let scope = || Scope::gateway(&name, section);
                    index.routing_types.put(scope(), routing.clone(), routing.is_some() || section.is_none());
                    if section.is_some() {
                        index.cluster_settings.put(scope(), changes, true);
                    } else {
                        index.hashing.put(scope(), is_hashing(spec), true);
                    }
                }
            }
        }
        let mut listeners: Vec<&Admitted<'_>> = t.gateways.iter().map(|gateway| gateway.object).collect();
        listeners.extend(resources.listener_sets.iter().copied());
        for policy in &resources.client_traffic_policies {
            let changes = policy.spec().field("http1").exists();
            for target in target::resolve(t, policy, &listeners) {
                let (name, section) = (target.full_name(), target.section());
                if target.is_listener_set() {
                    index.client_settings.put(Scope::listener_set(&name, section), changes, true);
                } else if target.is_gateway() && section.is_some() {
                    index.client_settings.put(Scope::gateway(&name, section), changes, true);
                }
            }
        }
        index
    }

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
        listener: &Listener<'_>,
        rule: Option<&str>,
    ) -> bool {
        let place = Place { route: (kind, route, rule), gateway, listener: Some(&listener.name), set: listener.set_name.as_ref() };
        let (changes, replaces) = self.cluster_settings.find(&place);
        let name: &str = &listener.name;
        let scopes = match &listener.set_name {
            Some(set) => [Some(Scope::listener_set(set, None)), Some(Scope::listener_set(set, Some(name)))],
            None => [Some(Scope::gateway(gateway, Some(name))), None],
        };
        let is_client = |scope: &Scope| self.client_settings.exact(scope).unwrap_or_default();
        changes || replaces || scopes.iter().flatten().any(is_client)
    }

    /// Whether the Gateway's BackendTrafficPolicy uses consistent hashing.
    pub(crate) fn is_consistent_hash(&self, gateway: &Name) -> bool {
        self.hashing.exact(&Scope::gateway(gateway, None)).unwrap_or_default()
    }
}

fn is_hashing(spec: Cursor<'_>) -> bool {
    spec.at("loadBalancer.type").str() == "ConsistentHash"
}
