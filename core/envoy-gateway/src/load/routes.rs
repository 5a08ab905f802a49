//! Collects Gateways, ListenerSets and routes, with what they refer to. Does not translate them.

use super::super::cluster::{Admitted, Name};
use super::super::kinds::{GROUP, Kind, MULTI_CLUSTER};
use super::{BackendKey, Loader, is_secret, or_here, parent_of};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::resource::ObjectId;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// The kinds of routes, in the order in which the controller reads them.
const ROUTES: [(Kind, &str); 5] = [
    (Kind::TlsRoute, "TLSRoute"),
    (Kind::HttpRoute, "HTTPRoute"),
    (Kind::GrpcRoute, "GRPCRoute"),
    (Kind::TcpRoute, "TCPRoute"),
    (Kind::UdpRoute, "UDPRoute"),
];

/// The routes of one kind, and their positions by each parent that they name.
struct AttachedRoutes<'a> {
    routes: Vec<&'a Admitted<'a>>,
    by_parent: BTreeMap<(&'static str, Name), Vec<usize>>,
}

/// The backends of an HTTPRoute that refers to nothing else.
pub(super) struct References(Vec<BackendKey>);

impl References {
    /// Returns the backends of an HTTPRoute; `None` if it refers to other namespaces, or to HTTPRouteFilters.
    fn of(route: &Admitted<'_>) -> Option<Self> {
        let mut backends = Vec::new();
        for rule in route.spec().field("rules").items() {
            for reference in rule.field("backendRefs").items() {
                let is_simple = matches!(reference.field("kind").str(), "" | "Service")
                    && reference.field("group").str().is_empty()
                    && reference.field("namespace").str().is_empty()
                    && !reference.field("filters").has_items();
                if !is_simple {
                    return None;
                }
                let name = Str::new(reference.field("name").str());
                backends.push((Str::default(), Str::new_static("Service"), route.namespace().clone(), name));
            }
            if rule.field("filters").items().any(|filter| matches!(filter.field("type").str(), "RequestMirror" | "ExtensionRef")) {
                return None;
            }
        }
        Some(Self(backends))
    }
}

impl<'a> AttachedRoutes<'a> {
    fn of(routes: Vec<&'a Admitted<'a>>) -> Self {
        let mut by_parent: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (at, route) in routes.iter().enumerate() {
            let parents = route.spec().field("parentRefs").items();
            for parent in parents.filter_map(|parent| parent_of(parent, route.namespace())) {
                by_parent.entry(parent).or_default().push(at);
            }
        }
        Self { routes, by_parent }
    }
}

impl<'a> Loader<'a, '_> {
    /// Adds the Gateways of the class with everything that is attached to them.
    pub(super) fn gateways(&mut self, class: &'a Admitted<'a>, refused: &mut BTreeMap<Name, String>) {
        let merged = self.is_merged();
        if merged {
            let service = self.proxy_service(class.name(), self.out.envoy_proxy_for_class);
            let namespace = self.settings.namespace.clone();
            self.add_proxy_service(&namespace, &service);
        }
        let routes = ROUTES.map(|(kind, name)| (kind, name, AttachedRoutes::of(self.all(kind))));
        let sets = self.sets();
        let mut known = BTreeSet::new();
        for gateway in self.all(Kind::Gateway) {
            if gateway.spec().field("gatewayClassName").str() != class.name().as_str() {
                continue;
            }
            self.namespaces.insert(gateway.namespace().clone());
            self.gateway_secrets(gateway);
            self.listener_sets(gateway, &sets);
            for (kind, name, attached) in &routes {
                self.in_http_route = *kind == Kind::HttpRoute;
                self.routes(gateway, *kind, name, attached, &mut known);
                self.in_http_route = false;
            }
            let proxy = match self.gateway_parameters(gateway) {
                Ok(proxy) => proxy,
                Err(error) => {
                    refused.insert(gateway.full_name(), error);
                    None
                }
            };
            if !merged {
                let proxy = proxy.or(self.out.envoy_proxy_for_class);
                if self.settings.gateway_namespace_mode {
                    let name = proxy.and_then(service_name).unwrap_or_else(|| gateway.name().clone());
                    self.add_proxy_service(gateway.namespace(), &name);
                } else {
                    let service = self.proxy_service(&gateway.path(), proxy);
                    let namespace = self.settings.namespace.clone();
                    self.add_proxy_service(&namespace, &service);
                }
            }
            self.out.gateways.push(gateway);
        }
    }

    fn is_merged(&self) -> bool {
        let of_class = self.out.envoy_proxy_for_class.and_then(|proxy| proxy.spec().field("mergeGateways").some_bool());
        of_class.unwrap_or_else(|| self.out.envoy_proxy_default.get("mergeGateways").bool())
    }

    fn proxy_service(&self, name: &str, proxy: Option<&Admitted<'_>>) -> Str {
        proxy.and_then(service_name).unwrap_or_else(|| Str::from(super::super::names::infra(name)))
    }

    fn add_proxy_service(&mut self, namespace: &str, name: &str) {
        if self.settings.topology_injector && self.get(Kind::Service, namespace, name).is_some() {
            self.add_backend((Str::default(), Str::new_static("Service"), Str::new(namespace), Str::new(name)));
        }
    }

    fn gateway_secrets(&mut self, gateway: &'a Admitted<'a>) {
        let namespace = gateway.namespace();
        self.certificates("Gateway", namespace, gateway.spec().field("listeners"));
        let tls = gateway.spec().field("tls");
        let client = tls.at("backend.clientCertificateRef");
        if client.exists() && is_secret(client) {
            let _ = self.secret_ref("Gateway", namespace, client);
        }
        let frontend = tls.field("frontend");
        let per_port = frontend.field("perPort").items().map(|port| port.at("tls.validation"));
        let validations: Vec<Cursor<'a>> = [frontend.at("default.validation")].into_iter().chain(per_port).collect();
        for reference in validations.into_iter().flat_map(|validation| validation.field("caCertificateRefs").items()) {
            self.ca_ref("Gateway", namespace, reference, "");
        }
    }

    fn certificates(&mut self, kind: &str, namespace: &Str, listeners: Cursor<'_>) {
        for listener in listeners.items() {
            let terminates = matches!(listener.field("protocol").str(), "HTTPS" | "TLS") && listener.at("tls.mode").str() == "Terminate";
            let references = listener.at("tls.certificateRefs").items().filter(|reference| terminates && is_secret(*reference));
            for reference in references {
                let _ = self.secret_ref(kind, namespace, reference);
            }
        }
    }

    fn listener_sets(&mut self, gateway: &'a Admitted<'a>, sets: &BTreeMap<Name, Vec<&'a Admitted<'a>>>) {
        let of = gateway.full_name();
        let mut attached = Vec::new();
        for set in sets.get(&of).into_iter().flatten() {
            self.certificates("ListenerSet", set.namespace(), set.spec().field("listeners"));
            self.namespaces.insert(set.namespace().clone());
            attached.push(set.full_name());
            self.out.listener_sets.push(set);
        }
        self.sets_of.insert(of, attached);
    }

    /// The ListenerSets of each Gateway.
    fn sets(&self) -> BTreeMap<Name, Vec<&'a Admitted<'a>>> {
        let mut found: BTreeMap<Name, Vec<&'a Admitted<'a>>> = BTreeMap::new();
        for set in self.all(Kind::ListenerSet) {
            let parent = set.spec().field("parentRef");
            if matches!(parent.field("kind").str(), "" | "Gateway") {
                found.entry((or_here(parent, set.namespace()), Str::new(parent.field("name").str()))).or_default().push(set);
            }
        }
        found
    }

    /// Adds the routes that name the Gateway or one of its ListenerSets as a parent, except those in `known`.
    fn routes(&mut self, gateway: &'a Admitted<'a>, kind: Kind, name: &str, attached: &AttachedRoutes<'a>, known: &mut BTreeSet<ObjectId>) {
        let of = gateway.full_name();
        let sets = self.sets_of.get(&of).cloned().unwrap_or_default();
        let parents = core::iter::once(("Gateway", of)).chain(sets.into_iter().map(|set| ("ListenerSet", set)));
        let places: BTreeSet<usize> = parents.filter_map(|parent| attached.by_parent.get(&parent)).flatten().copied().collect();
        for route in places.into_iter().filter_map(|at| attached.routes.get(at).copied()) {
            if !known.insert(route.id()) {
                continue;
            }
            self.references(route, name);
            self.namespaces.insert(route.namespace().clone());
            self.list(kind).push(route);
        }
    }

    /// Adds what a route refers to.
    fn references(&mut self, route: &'a Admitted<'a>, kind: &str) {
        let known = self.memory.as_mut().filter(|_| kind == "HTTPRoute").and_then(|memory| memory.0.get(route.object).cloned());
        if let Some(References(backends)) = known.as_deref() {
            backends.iter().for_each(|key| self.add_backend(key.clone()));
            return;
        }
        for rule in route.spec().field("rules").items() {
            self.rule(rule, route, kind);
        }
        if let Some(memory) = self.memory.as_mut().filter(|_| kind == "HTTPRoute")
            && let Some(references) = References::of(route)
        {
            memory.0.put(route.object, Arc::new(references));
        }
    }

    fn list(&mut self, kind: Kind) -> &mut Vec<&'a Admitted<'a>> {
        match kind {
            Kind::HttpRoute => &mut self.out.http_routes,
            Kind::GrpcRoute => &mut self.out.grpc_routes,
            Kind::TlsRoute => &mut self.out.tls_routes,
            Kind::TcpRoute => &mut self.out.tcp_routes,
            _ => &mut self.out.udp_routes,
        }
    }

    fn rule(&mut self, rule: Cursor<'_>, route: &'a Admitted<'a>, kind: &str) {
        for reference in rule.field("backendRefs").items() {
            if !is_known_backend(reference) {
                continue;
            }
            self.backend_ref(kind, route.namespace(), reference);
            if kind == "HTTPRoute" {
                for filter in reference.field("filters").items() {
                    self.filter(filter, route, kind);
                }
            }
        }
        for filter in rule.field("filters").items() {
            self.filter(filter, route, kind);
        }
    }

    /// Adds what a filter refers to. The backend of a GRPCRoute's mirror is not added.
    fn filter(&mut self, filter: Cursor<'_>, route: &'a Admitted<'a>, kind: &str) {
        match filter.field("type").str() {
            "RequestMirror" if kind == "HTTPRoute" => {
                let reference = filter.at("requestMirror.backendRef");
                if reference.exists() && is_known_backend(reference) {
                    self.backend_ref(kind, route.namespace(), reference);
                }
            }
            // Version 1.8 does not look up the filters of GRPCRoutes.
            "ExtensionRef" if kind != "GRPCRoute" || !self.settings.version.is_1_8() => {
                let reference = filter.field("extensionRef");
                if reference.field("group").str() == GROUP && reference.field("kind").str() == "HTTPRouteFilter" {
                    self.route_filter(route.namespace(), reference.field("name").str());
                }
            }
            _ => {}
        }
    }

    fn route_filter(&mut self, namespace: &Str, name: &str) {
        let Some(filter) = self.get(Kind::HttpRouteFilter, namespace, name) else { return };
        let body = filter.spec().at("directResponse.body.valueRef");
        if body.field("kind").str() == "ConfigMap" && self.get(Kind::ConfigMap, namespace, body.field("name").str()).is_some() {
            self.local_config_map(namespace, body.field("name").str());
        }
        let credential = filter.spec().at("credentialInjection.credential.valueRef.name");
        if credential.exists() && self.get(Kind::Secret, namespace, credential.str()).is_some() {
            self.local_secret(namespace, credential.str());
        }
        self.out.http_route_filters.insert(filter.full_name(), filter);
    }

    /// Adds the EnvoyProxy that a Gateway names.
    fn gateway_parameters(&mut self, gateway: &'a Admitted<'a>) -> Result<Option<&'a Admitted<'a>>, String> {
        let reference = gateway.spec().at("infrastructure.parametersRef");
        if !reference.exists() {
            return Ok(None);
        }
        if self.out.envoy_proxy_for_class.is_some_and(|proxy| proxy.spec().field("mergeGateways").is_true()) {
            return Err("infrastructure.parametersref must be nil when MergeGateways feature is enabled by gatewayclass".into());
        }
        let name = reference.field("name").str();
        if reference.field("group").str() != GROUP || reference.field("kind").str() != "EnvoyProxy" || name.is_empty() {
            return Err(format!("unsupported parametersRef for gateway {}", gateway.path()));
        }
        let Some(proxy) = self.get(Kind::EnvoyProxy, gateway.namespace(), name) else {
            let missing = super::not_found("envoyproxies.gateway.envoyproxy.io", name);
            return Err(format!("failed to find envoyproxy {}/{name} for Gateway {}: {missing}", gateway.namespace(), gateway.name()));
        };
        self.telemetry_backends(proxy);
        let client = proxy.spec().at("backendTLS.clientCertificateRef");
        if client.exists() && is_secret(client) {
            let _ = self.secret_ref("Gateway", gateway.namespace(), client);
        }
        self.out.envoy_proxies.insert(proxy.full_name(), proxy);
        Ok(Some(proxy))
    }
}

/// Whether a backend is of a group and kind that the provider looks up.
fn is_known_backend(reference: Cursor<'_>) -> bool {
    matches!(reference.field("group").str(), "" | MULTI_CLUSTER | GROUP)
        && matches!(reference.field("kind").str(), "" | "Service" | "ServiceImport" | "Backend")
}

/// Returns the name that an EnvoyProxy gives the Service of its proxies.
fn service_name(proxy: &Admitted<'_>) -> Option<Str> {
    proxy.spec().at("provider.kubernetes.envoyService.name").some_str().map(Str::new)
}
