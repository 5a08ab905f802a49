//! Collects the objects of each GatewayClass as Envoy Gateway's provider does: only those that something refers to.
//!
//! Does not translate anything; see `translate`.

mod grants;
mod policies;
pub(crate) mod resources;
mod routes;

use super::cluster::{Admitted, Cluster, Name};
use super::kinds::{GATEWAY_API, GROUP, Kind};
use super::settings::Settings;
use super::status::Conditions;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::object_tables::ByContent;
use chancery_text::Str;
use hashbrown::HashSet;
use resources::{Resources, SliceOwner, SlicesByOwner};

/// Everything that a GatewayClass gives to the translator.
pub(crate) struct Loaded<'a> {
    pub(crate) class: &'a Admitted<'a>,
    /// Conditions of the class.
    pub(crate) conditions: Conditions,
    /// Gateways that the provider refuses itself: reason and message.
    pub(crate) refused_gateways: BTreeMap<Name, String>,
    pub(crate) resources: Resources<'a>,
}

/// The labels of an EndpointSlice that name its Service or ServiceImport.
pub(crate) const SERVICE_LABEL: &str = "kubernetes.io/service-name";
pub(crate) const IMPORT_LABEL: &str = "multicluster.kubernetes.io/service-name";

/// A backend that something refers to: group, kind, namespace and name.
type BackendKey = (Str, Str, Str, Str);

/// What HTTPRoutes refer to, from earlier compiles.
#[derive(Default)]
pub(crate) struct Memory(ByContent<Arc<routes::References>>);

/// Collects the objects of one class.
pub(crate) struct Loader<'a, 'm> {
    cluster: &'a Cluster<'a>,
    settings: &'a Settings,
    all_grants: Vec<&'a Admitted<'a>>,
    out: Resources<'a>,
    /// Whether what refers to a backend is an HTTPRoute.
    in_http_route: bool,
    /// Backends that something refers to, each once.
    backend_refs: Vec<BackendKey>,
    known_refs: HashSet<BackendKey>,
    memory: Option<&'m mut Memory>,
    namespaces: BTreeSet<Str>,
    /// ListenerSets of each Gateway.
    sets_of: BTreeMap<Name, Vec<Name>>,
}

/// Collects the objects of all classes of the controller, or of all classes. `memory` is `None` if nothing is kept.
pub(crate) fn load<'a>(cluster: &'a Cluster<'a>, settings: &'a Settings, reads_all: bool, mut memory: Option<&mut Memory>) -> Vec<Loaded<'a>> {
    if let Some(memory) = &mut memory {
        memory.0.begin();
    }
    let classes = cluster.all(Kind::GatewayClass).into_iter();
    let ours = classes.filter(|class| reads_all || class.spec().field("controllerName").str() == settings.controller.as_str());
    let loaded = ours.map(|class| load_class(cluster, settings, class, memory.as_deref_mut())).collect();
    if let Some(memory) = memory {
        memory.0.end();
    }
    loaded
}

fn load_class<'a>(cluster: &'a Cluster<'a>, settings: &'a Settings, class: &'a Admitted<'a>, memory: Option<&mut Memory>) -> Loaded<'a> {
    let mut conditions = Conditions::default();
    let mut refused_gateways = BTreeMap::new();
    let mut loader = Loader {
        cluster,
        settings,
        all_grants: Vec::new(),
        out: Resources { class: class.name().clone(), ..Resources::default() },
        in_http_route: false,
        backend_refs: Vec::new(),
        known_refs: HashSet::new(),
        memory,
        namespaces: BTreeSet::new(),
        sets_of: BTreeMap::new(),
    };
    loader.all_grants = loader.all(Kind::ReferenceGrant);
    loader.out.envoy_proxy_default = settings.file.get("envoyProxy").clone();
    let mut failed = None;
    if class.spec().field("parametersRef").exists()
        && let Err(error) = loader.class_parameters(class)
    {
        failed = Some(error);
    }
    if let Err(error) = loader.class_proxy_secret() {
        failed = failed.or(Some(error));
    }
    match failed {
        Some(error) => conditions.set("Accepted", false, "InvalidParameters", format!("Invalid parametersRef: {error}")),
        None => conditions.set("Accepted", true, "Accepted", "Valid GatewayClass"),
    }
    for name in ["envoy-oidc-hmac", "envoy"] {
        loader.secret_of_controller(name);
    }
    loader.gateways(class, &mut refused_gateways);
    loader.out.envoy_patch_policies = loader.all(Kind::EnvoyPatchPolicy);
    loader.client_traffic_policies();
    loader.backend_traffic_policies();
    loader.security_policies();
    loader.backend_tls_policies();
    loader.envoy_extension_policies();
    loader.policy_target_grants();
    loader.backends();
    for name in core::mem::take(&mut loader.namespaces) {
        if let Some(namespace) = cluster.get(Kind::Namespace, "", &name) {
            loader.out.namespaces.insert(name, namespace);
        }
    }
    let mut resources = loader.out;
    resources.sort();
    Loaded { class, conditions, refused_gateways, resources }
}

impl<'a> Loader<'a, '_> {
    /// Returns all objects of a kind in namespaces that the controller reads.
    fn all(&self, kind: Kind) -> Vec<&'a Admitted<'a>> {
        let mut all = self.cluster.all(kind);
        all.retain(|object| self.reads(object.namespace()));
        all
    }

    fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&'a Admitted<'a>> {
        self.cluster.get(kind, namespace, name).filter(|object| self.reads(object.namespace()))
    }

    fn reads(&self, namespace: &str) -> bool {
        let label = |key: &str| self.cluster.get(Kind::Namespace, "", namespace)?.labels().field(key).some_str();
        let is_name = |key: &str| key == resources::NAME_LABEL;
        namespace.is_empty() || self.settings.watches(namespace, |key| if is_name(key) { Some(namespace) } else { label(key) })
    }

    fn class_parameters(&mut self, class: &'a Admitted<'a>) -> Result<(), String> {
        let reference = class.spec().field("parametersRef");
        let name = reference.field("name").str();
        if reference.field("group").str() != GROUP || reference.field("kind").str() != "EnvoyProxy" || name.is_empty() {
            return Err(format!("unsupported parametersRef(invalid group or kind) for gatewayclass {}", class.name()));
        }
        let namespace = reference.field("namespace").some_str().unwrap_or("default");
        let Some(proxy) = self.get(Kind::EnvoyProxy, namespace, name) else {
            let missing = not_found("envoyproxies.gateway.envoyproxy.io", name);
            return Err(format!("failed to find envoyproxy {namespace}/{name} for GatewayClass {}: {missing}", class.name()));
        };
        if self.settings.gateway_namespace_mode && proxy.spec().field("mergeGateways").is_true() {
            return Err("using Merged Gateways with Gateway Namespace Mode is not supported".into());
        }
        self.telemetry_backends(proxy);
        self.out.envoy_proxy_for_class = Some(proxy);
        Ok(())
    }

    fn class_proxy_secret(&mut self) -> Result<(), String> {
        let Some(proxy) = self.out.envoy_proxy_for_class else { return Ok(()) };
        let reference = proxy.spec().at("backendTLS.clientCertificateRef");
        if reference.exists() && is_secret(reference) { self.secret_ref("Gateway", proxy.namespace(), reference) } else { Ok(()) }
    }

    fn secret_of_controller(&mut self, name: &str) {
        if let Some(secret) = self.get(Kind::Secret, &self.settings.namespace, name) {
            self.out.secrets.insert(secret.full_name(), secret);
        }
    }

    /// Adds the backends that an EnvoyProxy's telemetry sends to.
    fn telemetry_backends(&mut self, proxy: &'a Admitted<'a>) {
        let telemetry = proxy.spec().field("telemetry");
        let mut refs = Vec::new();
        for sink in telemetry.at("accessLog.settings").items().flat_map(|setting| setting.field("sinks").items()) {
            refs.extend(sink.at("openTelemetry.backendRefs").items());
            refs.extend(sink.at("als.backendRefs").items());
        }
        refs.extend(telemetry.at("metrics.sinks").items().flat_map(|sink| sink.at("openTelemetry.backendRefs").items()));
        refs.extend(telemetry.at("tracing.provider.backendRefs").items());
        refs.into_iter().for_each(|reference| self.insert_backend(reference, proxy.namespace()));
    }

    fn insert_backend(&mut self, reference: Cursor<'_>, namespace: &str) {
        let or = |field: &str, default: &str| match reference.field(field).str() {
            "" => Str::new(default),
            written => Str::new(written),
        };
        let (there, name) = (or("namespace", namespace), or("name", ""));
        if !self.in_http_route {
            self.out.others_backends.push((there.clone(), name.clone()));
        }
        self.add_backend((or("group", ""), or("kind", "Service"), there, name));
    }

    fn add_backend(&mut self, key: BackendKey) {
        if self.known_refs.insert(key.clone()) {
            self.backend_refs.push(key);
        }
    }

    /// Adds a backend, and the grant that permits it. The backend is added even if nothing permits it.
    fn backend_ref(&mut self, kind: &str, namespace: &str, reference: Cursor<'_>) {
        self.insert_backend(reference, namespace);
        let there = or_here(reference, namespace);
        if there != namespace {
            let to = match reference.field("kind").str() {
                "" => "Service",
                written => written,
            };
            self.grant(kind, namespace, to, &there, reference.field("name").str());
        }
    }

    /// Adds a Secret if it exists and is permitted.
    fn secret_ref(&mut self, kind: &str, namespace: &str, reference: Cursor<'_>) -> Result<(), String> {
        let there = or_here(reference, namespace);
        let name = reference.field("name").str();
        let Some(secret) = self.get(Kind::Secret, &there, name) else {
            return Err(format!("unable to find the Secret {there}/{name}: {}", not_found("secrets", name)));
        };
        self.permitted(kind, namespace, "Secret", &there, name)?;
        self.namespaces.insert(there);
        self.out.secrets.insert(secret.full_name(), secret);
        Ok(())
    }

    /// Adds a ConfigMap if it exists and is permitted.
    fn config_map_ref(&mut self, kind: &str, namespace: &str, reference: Cursor<'_>) {
        let there = or_here(reference, namespace);
        let name = reference.field("name").str();
        let Some(map) = self.get(Kind::ConfigMap, &there, name) else { return };
        if self.permitted(kind, namespace, "ConfigMap", &there, name).is_ok() {
            self.namespaces.insert(there);
            self.out.config_maps.insert(map.full_name(), map);
        }
    }

    /// Adds a ConfigMap of the same namespace.
    fn local_config_map(&mut self, namespace: &Str, name: &str) {
        self.namespaces.insert(namespace.clone());
        if let Some(map) = self.get(Kind::ConfigMap, namespace, name) {
            self.out.config_maps.insert(map.full_name(), map);
        }
    }

    /// Adds a Secret of the same namespace.
    fn local_secret(&mut self, namespace: &Str, name: &str) {
        self.namespaces.insert(namespace.clone());
        if let Some(secret) = self.get(Kind::Secret, namespace, name) {
            self.out.secrets.insert(secret.full_name(), secret);
        }
    }

    /// Adds the holder of a CA: a ConfigMap, Secret or ClusterTrustBundle.
    fn ca_ref(&mut self, kind: &str, namespace: &str, reference: Cursor<'_>, default_kind: &str) {
        let of_kind = match reference.field("kind").str() {
            "" => default_kind,
            written => written,
        };
        match of_kind {
            "ConfigMap" => self.config_map_ref(kind, namespace, reference),
            "Secret" => {
                let _ = self.secret_ref(kind, namespace, reference);
            }
            "ClusterTrustBundle" => {
                if let Some(bundle) = self.cluster.get(Kind::ClusterTrustBundle, "", reference.field("name").str()) {
                    self.out.trust_bundles.insert(bundle.name().clone(), bundle);
                }
            }
            _ => {}
        }
    }

    /// Adds Services, ServiceImports and Backends that something refers to, with their endpoints and CAs.
    fn backends(&mut self) {
        let mut slices = self.slices();
        let mut refs = core::mem::take(&mut self.backend_refs);
        // Slices of Services come before those of ServiceImports.
        refs.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        for (_, kind, namespace, name) in refs {
            let owner = match kind.as_str() {
                "Service" => {
                    if let Some(service) = self.get(Kind::Service, &namespace, &name) {
                        self.namespaces.insert(namespace.clone());
                        self.out.services.insert(service.full_name(), service);
                    }
                    SliceOwner::Service
                }
                "ServiceImport" => {
                    if let Some(import) = self.get(Kind::ServiceImport, &namespace, &name) {
                        self.namespaces.insert(namespace.clone());
                        self.out.service_imports.insert(import.full_name(), import);
                    }
                    SliceOwner::ServiceImport
                }
                "Backend" => {
                    self.backend(&namespace, &name);
                    continue;
                }
                _ => continue,
            };
            for slice in slices.remove(&(owner, namespace, name)).unwrap_or_default() {
                self.slice(slice);
            }
        }
    }

    /// The EndpointSlices of each Service and ServiceImport. A slice with both labels belongs to both.
    fn slices(&self) -> SlicesByOwner<'a> {
        let mut found = SlicesByOwner::default();
        for slice in self.all(Kind::EndpointSlice) {
            for (owner, label) in [(SliceOwner::Service, SERVICE_LABEL), (SliceOwner::ServiceImport, IMPORT_LABEL)] {
                if let Some(name) = slice.labels().field(label).some_str() {
                    found.entry((owner, slice.namespace().clone(), Str::new(name))).or_default().push(slice);
                }
            }
        }
        found
    }

    /// Adds a slice under the first label that it has.
    fn slice(&mut self, slice: &'a Admitted<'a>) {
        let of_service = slice.labels().field(SERVICE_LABEL).some_str();
        let (owner, name) = match of_service {
            Some(name) => (SliceOwner::Service, name),
            None => (SliceOwner::ServiceImport, slice.labels().field(IMPORT_LABEL).str()),
        };
        let slices = self.out.slices.entry((owner, slice.namespace().clone(), Str::new(name))).or_default();
        if !slices.iter().any(|known| known.id() == slice.id()) {
            slices.push(slice);
        }
    }

    fn backend(&mut self, namespace: &Str, name: &Str) {
        if !self.settings.backend {
            return;
        }
        let Some(backend) = self.get(Kind::Backend, namespace, name) else { return };
        self.namespaces.insert(namespace.clone());
        if self.out.backends_by_name.insert(backend.full_name(), backend).is_some() {
            return;
        }
        self.out.backends.push(backend);
        let tls = backend.spec().field("tls");
        for reference in tls.field("caCertificateRefs").items() {
            self.ca_ref("Backend", namespace, reference, "");
        }
        let client = tls.field("clientCertificateRef");
        if client.exists() && is_secret(client) {
            let _ = self.secret_ref("Backend", namespace, client);
        }
    }
}

/// Returns the namespace of a reference; this one if it names none.
fn or_here(reference: Cursor<'_>, namespace: &str) -> Str {
    match reference.field("namespace").str() {
        "" => Str::new(namespace),
        written => Str::new(written),
    }
}

/// Whether a reference means a Secret.
fn is_secret(reference: Cursor<'_>) -> bool {
    reference.field("group").str().is_empty() && matches!(reference.field("kind").str(), "" | "Secret")
}

/// Returns the API server's words for an object that does not exist.
fn not_found(resource: &str, name: &str) -> String {
    format!("{resource} \"{name}\" not found")
}

impl Resources<'_> {
    fn sort(&mut self) {
        let lists = [
            &mut self.gateways,
            &mut self.listener_sets,
            &mut self.http_routes,
            &mut self.grpc_routes,
            &mut self.tls_routes,
            &mut self.tcp_routes,
            &mut self.udp_routes,
            &mut self.backend_tls_policies,
            &mut self.backends,
            &mut self.grants,
        ];
        for list in lists {
            list.sort_by(|a, b| (a.created(), a.namespace(), a.name()).cmp(&(b.created(), b.namespace(), b.name())));
        }
        let priority = |policy: &Admitted<'_>| policy.spec().field("priority").int().unwrap_or_default();
        self.envoy_patch_policies.sort_by_key(|a| priority(a));
    }
}

/// The kind, namespace and name of a parent reference. `None` for other kinds.
pub(crate) fn parent_of(parent: Cursor<'_>, route_namespace: &str) -> Option<(&'static str, Name)> {
    let group = parent.field("group").some_str().unwrap_or(GATEWAY_API);
    let kind = match parent.field("kind").some_str().unwrap_or("Gateway") {
        // The provider ignores the group of a Gateway.
        "Gateway" => "Gateway",
        "ListenerSet" if group == GATEWAY_API => "ListenerSet",
        _ => return None,
    };
    let namespace = parent.field("namespace").some_str().unwrap_or(route_namespace);
    Some((kind, (Str::new(namespace), Str::new(parent.field("name").str()))))
}
