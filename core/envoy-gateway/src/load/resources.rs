//! The objects of one GatewayClass as the provider hands them to the translator: only those that something refers to.
//!
//! Does not decide which objects these are; see `load`.

use super::super::cluster::{Admitted, Name};
use super::super::model::Metadata;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::ObjectId;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;
use core::cell::RefCell;
use hashbrown::HashMap;

/// Settings of the proxies of a Gateway: EnvoyProxies of Gateway and class, and the controller's default, merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EnvoyProxy {
    pub(crate) namespace: Str,
    pub(crate) name: Str,
    /// `spec`
    pub(crate) spec: Tree,
    /// The most specific EnvoyProxy, as Envoy carries it.
    pub(crate) metadata: Metadata,
}

/// The label that Kubernetes gives each namespace.
pub(crate) const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// What the endpoints of a slice belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SliceOwner {
    Service,
    ServiceImport,
}

/// EndpointSlices by what they belong to, with its namespace and name.
pub(crate) type SlicesByOwner<'a> = HashMap<(SliceOwner, Str, Str), Vec<&'a Admitted<'a>>>;

/// Objects by namespace and name.
pub(crate) type ByName<'a> = BTreeMap<Name, &'a Admitted<'a>>;

/// The objects of one GatewayClass. Lists are sorted by age, namespace and name.
#[derive(Default)]
pub(crate) struct Resources<'a> {
    pub(crate) class: Str,
    pub(crate) envoy_proxy_for_class: Option<&'a Admitted<'a>>,
    /// EnvoyProxies that Gateways name.
    pub(crate) envoy_proxies: ByName<'a>,
    /// `EnvoyGateway.envoyProxy`; `Tree::NULL` if unset.
    pub(crate) envoy_proxy_default: Tree,
    pub(crate) gateways: Vec<&'a Admitted<'a>>,
    pub(crate) listener_sets: Vec<&'a Admitted<'a>>,
    pub(crate) http_routes: Vec<&'a Admitted<'a>>,
    pub(crate) grpc_routes: Vec<&'a Admitted<'a>>,
    pub(crate) tls_routes: Vec<&'a Admitted<'a>>,
    pub(crate) tcp_routes: Vec<&'a Admitted<'a>>,
    pub(crate) udp_routes: Vec<&'a Admitted<'a>>,
    pub(crate) backend_tls_policies: Vec<&'a Admitted<'a>>,
    pub(crate) client_traffic_policies: Vec<&'a Admitted<'a>>,
    pub(crate) backend_traffic_policies: Vec<&'a Admitted<'a>>,
    pub(crate) security_policies: Vec<&'a Admitted<'a>>,
    pub(crate) envoy_extension_policies: Vec<&'a Admitted<'a>>,
    pub(crate) envoy_patch_policies: Vec<&'a Admitted<'a>>,
    pub(crate) backends: Vec<&'a Admitted<'a>>,
    pub(super) backends_by_name: ByName<'a>,
    pub(crate) grants: Vec<&'a Admitted<'a>>,
    pub(crate) services: ByName<'a>,
    pub(crate) service_imports: ByName<'a>,
    pub(crate) slices: SlicesByOwner<'a>,
    pub(crate) secrets: ByName<'a>,
    pub(crate) config_maps: ByName<'a>,
    pub(crate) http_route_filters: ByName<'a>,
    pub(crate) trust_bundles: BTreeMap<Str, &'a Admitted<'a>>,
    pub(crate) namespaces: BTreeMap<Str, &'a Admitted<'a>>,
    /// Services that something other than an HTTPRoute refers to.
    pub(crate) others_backends: Vec<Name>,
    /// The names of the Services that were looked up, while they are recorded.
    pub(super) reads: RefCell<Option<Vec<Name>>>,
}

/// Who refers to an object of another namespace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct From<'t> {
    pub(crate) group: &'t str,
    pub(crate) kind: &'t str,
    pub(crate) namespace: &'t str,
}

/// The object of another namespace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct To<'t> {
    pub(crate) group: &'t str,
    pub(crate) kind: &'t str,
    pub(crate) namespace: &'t str,
    pub(crate) name: &'t str,
}

impl<'a> Resources<'a> {
    pub(crate) fn service(&self, namespace: &str, name: &str) -> Option<&'a Admitted<'a>> {
        self.note_read(namespace, name);
        find(&self.services, namespace, name)
    }

    /// Returns the objects that are there because something refers to them, apart from Services and EndpointSlices.
    pub(crate) fn referenced(&self) -> Vec<ObjectId> {
        let lists = [&self.backends, &self.grants].into_iter().flatten();
        let maps = [&self.envoy_proxies, &self.service_imports, &self.secrets, &self.config_maps, &self.http_route_filters];
        let named = maps.into_iter().flat_map(BTreeMap::values).chain(self.trust_bundles.values()).chain(self.namespaces.values());
        lists.chain(named).map(|object| object.id()).collect()
    }

    /// Returns the EndpointSlices of a Service or ServiceImport.
    pub(crate) fn slices_of(&self, owner: SliceOwner, namespace: &str, name: &str) -> &[&'a Admitted<'a>] {
        self.note_read(namespace, name);
        self.slices.get(&(owner, Str::new(namespace), Str::new(name))).map_or(&[][..], Vec::as_slice)
    }

    fn note_read(&self, namespace: &str, name: &str) {
        if let Some(reads) = self.reads.borrow_mut().as_mut() {
            reads.push((Str::new(namespace), Str::new(name)));
        }
    }

    /// Starts to record the Services that are looked up.
    pub(crate) fn record_reads(&self) {
        *self.reads.borrow_mut() = Some(Vec::new());
    }

    /// Returns the names of the recorded Services.
    pub(crate) fn take_reads(&self) -> Vec<Name> {
        let mut reads = self.reads.take().unwrap_or_default();
        reads.sort();
        reads.dedup();
        reads
    }

    pub(crate) fn service_import(&self, namespace: &str, name: &str) -> Option<&'a Admitted<'a>> {
        find(&self.service_imports, namespace, name)
    }

    pub(crate) fn secret(&self, namespace: &str, name: &str) -> Option<&'a Admitted<'a>> {
        find(&self.secrets, namespace, name)
    }

    pub(crate) fn config_map(&self, namespace: &str, name: &str) -> Option<&'a Admitted<'a>> {
        find(&self.config_maps, namespace, name)
    }

    pub(crate) fn backend(&self, namespace: &str, name: &str) -> Option<&'a Admitted<'a>> {
        find(&self.backends_by_name, namespace, name)
    }

    /// Returns a label of a namespace. Kubernetes labels each namespace with its name.
    pub(crate) fn namespace_label<'s>(&'s self, namespace: &'s str, key: &str) -> Option<&'s str> {
        if key == NAME_LABEL {
            return Some(namespace);
        }
        self.namespaces.get(namespace)?.labels().field(key).some_str()
    }

    /// Whether a ReferenceGrant permits the reference. References within a namespace need none.
    pub(crate) fn permits(&self, from: From<'_>, to: To<'_>) -> bool {
        from.namespace == to.namespace || self.grants.iter().any(|grant| is_granted(grant, from, to))
    }
}

/// Whether a ReferenceGrant permits a reference.
fn is_granted(grant: &Admitted<'_>, from: From<'_>, to: To<'_>) -> bool {
    let is_from = |entry: Cursor<'_>| {
        entry.field("group").str() == from.group && entry.field("kind").str() == from.kind && entry.field("namespace").str() == from.namespace
    };
    let is_to = |entry: Cursor<'_>| {
        let name = entry.field("name").str();
        entry.field("group").str() == to.group && entry.field("kind").str() == to.kind && (name.is_empty() || name == to.name)
    };
    *grant.namespace() == *to.namespace && grant.spec().field("from").items().any(is_from) && grant.spec().field("to").items().any(is_to)
}

fn find<'a>(objects: &ByName<'a>, namespace: &str, name: &str) -> Option<&'a Admitted<'a>> {
    objects.get(&(Str::new(namespace), Str::new(name))).copied()
}
