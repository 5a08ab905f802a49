//! What policies say of backends, found before routes are translated. Does not apply policies.

use super::super::cluster::Name;
use super::super::translate::context::{Listener, RouteKind};
use chancery_text::Str;

/// What policies say of backends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {}

impl Index {
    /// Returns the `routingType` of the BackendTrafficPolicy that applies to a rule: `Service` or `Endpoint`.
    pub(crate) fn routing_type(
        &self,
        _: RouteKind,
        _route: &Name,
        _gateway: &Name,
        _listener: Option<&str>,
        _listener_set: Option<&Name>,
        _rule: Option<&str>,
    ) -> Option<Str> {
        None
    }

    /// Returns the `routingType` of the Gateway's own BackendTrafficPolicy.
    pub(crate) fn gateway_routing_type(&self, _: &Name) -> Option<Str> {
        None
    }

    /// Whether a policy below the Gateway changes clusters, so that the route cannot share them.
    pub(crate) fn has_cluster_settings_below_gateway(
        &self,
        _: RouteKind,
        _route: &Name,
        _gateway: &Name,
        _listener: &Listener<'_>,
        _rule: Option<&str>,
    ) -> bool {
        false
    }

    /// Whether the Gateway's BackendTrafficPolicy uses consistent hashing.
    pub(crate) fn is_consistent_hash(&self, _: &Name) -> bool {
        false
    }
}
