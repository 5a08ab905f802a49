//! Decides whether routes share the cluster of a backend (`mergeBackends`).

use super::super::context::{BackendClusterKey, GatewayContext, ListenerId, RouteContext, RouteKind, Translator};
use super::super::load::resources::Resources;
use super::super::model::{AppProtocol, BackendCluster, BackendClusterRef, Destination, DestinationSetting, Metadata};
use super::destination::or_kind;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{ObjectId, Origin};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::selector::Selector;
use chancery_text::Str;

/// A backend of a rule, and the shared cluster that it may use.
#[derive(Clone, Debug)]
pub(crate) struct BackendDestination {
    pub(crate) setting: DestinationSetting,
    pub(crate) key: Option<BackendClusterKey>,
}

impl<'a> Translator<'a> {
    fn merge_backends_of(&self, gateway: &GatewayContext<'_>) -> Tree {
        let own = gateway.proxy(&["mergeBackends"]);
        if own.is_null() { self.merge_backends.clone() } else { own.clone() }
    }

    /// Whether a Gateway's routes share clusters.
    pub(crate) fn merges_backends(&self, gateway: &GatewayContext<'_>) -> bool {
        !self.merge_backends_of(gateway).is_null()
    }

    /// Whether a rule's backends must stay in the rule's own cluster.
    pub(super) fn needs_one_cluster(&self, route: &RouteContext<'_>, refs: &[Cursor<'_>], persistent: bool, gateway: Option<usize>) -> bool {
        if refs.len() <= 1 {
            return false;
        }
        if persistent {
            return true;
        }
        let is_fallback = |reference: &Cursor<'_>| {
            or_kind(*reference) == "Backend"
                && backend(self.resources, *reference, route.object.namespace()).is_some_and(|backend| backend.field("fallback").is_true())
        };
        refs.iter().any(is_fallback) || gateway.is_some_and(|at| self.index.is_consistent_hash(&self.gateways[at].name()))
    }

    /// Returns the key of the shared cluster of a backend, if its routes may share one.
    pub(super) fn shared_key(
        &self,
        gateway: usize,
        routing_type: Option<&str>,
        is_unsafe: bool,
        reference: Cursor<'_>,
        namespace: &str,
        setting: &DestinationSetting,
    ) -> Option<BackendClusterKey> {
        let context = &self.gateways[gateway];
        let config = self.merge_backends_of(context);
        let kind = or_kind(reference);
        if config.is_null() || is_unsafe || setting.filters.is_some() || setting.is_dynamic_resolver || setting.is_custom_backend {
            return None;
        }
        if let Some(selector) = config.find("selector")
            && !self.selects(selector, kind, namespace, reference.field("name").str())
        {
            return None;
        }
        let baseline = self.is_service_routing(context, self.index.gateway_routing_type(&context.name()).as_deref());
        if baseline != self.is_service_routing(context, routing_type) {
            return None;
        }
        Some(BackendClusterKey {
            ir_key: self.ir_key(context.object),
            kind: Str::new(kind),
            namespace: Str::new(namespace),
            name: Str::new(reference.field("name").str()),
            port: reference.field("port").int().unwrap_or_default(),
            protocol: protocol_name(setting.protocol),
        })
    }

    fn selects(&self, selector: &Tree, kind: &str, namespace: &str, name: &str) -> bool {
        let object = match kind {
            "ServiceImport" => self.resources.service_import(namespace, name),
            "Service" => self.resources.service(namespace, name),
            "Backend" => self.resources.backend(namespace, name),
            _ => None,
        };
        let Some(object) = object else { return false };
        let node = selector.node();
        let labels = object.labels();
        Selector::of_fields(Cursor::new(ObjectId::BUILT_IN, &node)).is_ok_and(|selector| selector.matches(|key| labels.field(key).some_str()))
    }

    /// Returns the destination of a rule at a listener. Backends that may be shared become references.
    pub(super) fn destination_for_listener(
        &mut self,
        id: ListenerId,
        kind: RouteKind,
        route: &(Str, Str),
        rule: Option<&str>,
        of: DestinationParts<'_>,
    ) -> Destination {
        let gateway = self.gateways[id.gateway].name();
        let listener = self.listener(id);
        let set = listener.set_name.as_ref();
        let is_own = self.index.has_cluster_settings_below_gateway(kind, route, &gateway, &listener.name, set, rule);
        let mut destination = Destination {
            name: of.name.clone(),
            metadata: Some(of.metadata.clone()),
            stat_name: of.stat_name.clone(),
            origin: of.origin,
            ..Destination::default()
        };
        for backend in of.backends {
            let Some(key) = backend.key.as_ref().filter(|_| !is_own) else {
                destination.settings.push(backend.setting.clone());
                continue;
            };
            let name = self.shared_cluster(key, &backend.setting);
            destination.cluster_refs.push(BackendClusterRef { name, weight: backend.setting.weight });
        }
        destination
    }

    fn shared_cluster(&mut self, key: &BackendClusterKey, setting: &DestinationSetting) -> Str {
        if let Some(known) = self.backend_clusters.get(key) {
            return known.name.clone();
        }
        let base = format!("{}/{}/{}/{}", key.kind.to_lowercase(), key.namespace, key.name, key.port);
        let name = Str::from(if key.protocol.is_empty() { base } else { format!("{base}/{}", key.protocol.to_lowercase()) });
        let setting = DestinationSetting { name: name.clone(), weight: None, ..setting.clone() };
        let metadata = setting.metadata.clone();
        let cluster = BackendCluster { name: name.clone(), setting, metadata, ..BackendCluster::default() };
        if let Some(xds) = self.xds.get_mut(&key.ir_key) {
            xds.backend_clusters.push(cluster.clone());
        }
        self.backend_clusters.insert(key.clone(), cluster);
        name
    }
}

/// The parts of a destination.
#[derive(Clone, Copy)]
pub(super) struct DestinationParts<'d> {
    pub(super) name: &'d Str,
    pub(super) metadata: &'d Metadata,
    pub(super) stat_name: &'d Tree,
    pub(super) backends: &'d [BackendDestination],
    pub(super) origin: Option<Origin>,
}

/// Returns references to different backends.
pub(super) fn distinct<'c>(refs: impl Iterator<Item = Cursor<'c>>, namespace: &str) -> Vec<Cursor<'c>> {
    let mut seen = BTreeSet::new();
    let key = |reference: Cursor<'c>| {
        let there = match reference.field("namespace").str() {
            "" => namespace,
            written => written,
        };
        (Str::new(or_kind(reference)), Str::new(there), Str::new(reference.field("name").str()), reference.field("port").int())
    };
    refs.filter(|reference| seen.insert(key(*reference))).collect()
}

fn backend<'a>(resources: &Resources<'a>, reference: Cursor<'_>, namespace: &str) -> Option<Cursor<'a>> {
    let there = match reference.field("namespace").str() {
        "" => namespace,
        written => written,
    };
    Some(resources.backend(there, reference.field("name").str())?.spec())
}

fn protocol_name(protocol: AppProtocol) -> &'static str {
    match protocol {
        AppProtocol::Unset => "",
        AppProtocol::Grpc => "GRPC",
        AppProtocol::Http => "HTTP",
        AppProtocol::Http2 => "HTTP2",
        AppProtocol::Https => "HTTPS",
        AppProtocol::Tcp => "TCP",
        AppProtocol::Udp => "UDP",
    }
}
