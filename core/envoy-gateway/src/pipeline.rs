//! Translates the objects of a GatewayClass into the model of each Envoy, and writes their statuses.
//!
//! Follows Envoy Gateway's order: Gateways, listeners, patches, Backends, routes, policies. Does not write Envoy's messages; see `xds`.

use super::context::{InForce, Index, RouteMemory, Translator};
use super::load::Loaded;
use super::policy;
use super::settings::Settings;
use super::status::{Conditions, PolicyStatuses};
use super::translate::{backend, backend_tls, envoy_proxy, frontend, gateways, global, listener, listener_set, overlap, route, sort};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::diagnostic::Findings;
use chancery_base::ir::Tree;

/// Translates what one class has loaded. `class` gets further conditions of the class.
///
/// `memory` holds HTTPRoutes of earlier compiles; it is `None` if nothing is kept.
pub(crate) fn translate<'a>(
    loaded: &'a Loaded<'a>,
    settings: &'a Settings,
    class: &mut Conditions,
    memory: Option<&'a mut RouteMemory>,
) -> Translator<'a> {
    let resources = &loaded.resources;
    let mut translator = Translator {
        settings,
        resources,
        merge_gateways: envoy_proxy::merges_gateways(resources),
        merge_backends: envoy_proxy::merge_backends(resources),
        gateways: Vec::new(),
        failed: Vec::new(),
        listener_sets: Vec::new(),
        routes: Vec::new(),
        xds: BTreeMap::new(),
        policies: PolicyStatuses::new(),
        backend_clusters: BTreeMap::new(),
        backend_tls_uses: 0,
        memory,
        index: Index::default(),
        in_force: InForce::default(),
        findings: Findings::default(),
    };
    let t = &mut translator;
    gateways::accept(t, loaded, class);
    policy::prepare(t);
    listener_set::attach(t);
    frontend::resolve(t);
    listener::process(t);
    listener_set::conclude(t);
    policy::patches(t);
    backend::report(t);
    route::process(t);
    policy::client_traffic(t);
    policy::backend_traffic(t);
    if !settings.version.is_1_8() {
        overlap::report(t);
    }
    policy::security(t);
    policy::extensions(t);
    global::add(t);
    backend_tls::conclude(t);
    keep(t);
    for xds in t.xds.values_mut() {
        for listener in xds.http.iter_mut().filter(|listener| !listener.preserve_route_order) {
            sort::sort(&mut listener.routes);
        }
    }
    for gateway in &t.gateways {
        let order = gateway.proxy(&["filterOrder"]);
        if gateway.envoy_proxy.is_some()
            && let Some(xds) = t.xds.get_mut(&if t.merge_gateways { resources.class.clone() } else { gateway.object.path().into() })
        {
            xds.filter_order = order.items().iter().map(Tree::clone).collect();
        }
    }
    translator
}

/// Keeps the routes for the next compile, before they are sorted.
fn keep(t: &mut Translator<'_>) {
    let Some(memory) = t.memory.take() else { return };
    // Shared clusters and the databases of places depend on several routes.
    let policies = t.resources.security_policies.iter();
    let mut rules = policies.flat_map(|policy| policy.spec().at("authorization.rules").items());
    let uses_places = rules.any(|rule| rule.at("principal.clientIPGeoLocations").exists());
    if !t.backend_clusters.is_empty() || uses_places {
        *memory = RouteMemory::default();
        return;
    }
    memory.keep(&mut t.routes, &t.settings.controller, &t.xds);
    memory.end();
}
