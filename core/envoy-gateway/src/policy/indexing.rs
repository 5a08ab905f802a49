//! Indexes the policies' settings for backends before routes are translated. Does not apply policies.

use super::super::cluster::Admitted;
use super::super::context::{Index, Scope, Translator};
use super::target;
use alloc::vec::Vec;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

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

/// Reads all BackendTrafficPolicies.
pub(super) fn build(t: &Translator<'_>) -> Index {
    let mut index = Index::default();
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

fn is_hashing(spec: Cursor<'_>) -> bool {
    spec.at("loadBalancer.type").str() == "ConsistentHash"
}
