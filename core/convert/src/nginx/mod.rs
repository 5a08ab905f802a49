//! Converts Ingresses of ingress-nginx to Gateway API and the policies of Envoy Gateway.
//!
//! The source is the merged configuration of the controller (servers and locations), since the answers of nginx depend on all Ingresses of a
//! host. Parts without an equal counterpart are left out or reported. Does not compare the result with the source; see `proof`.

mod backends;
mod canaries;
mod clients;
mod host;
mod inventory;
mod paths;
mod redirects;
mod remedies;
mod reports;
mod rewrites;
mod security;
mod servers;
mod shared_listeners;
mod streams;
mod table;
#[cfg(test)]
mod tests;
mod traffic;
mod url;

pub use inventory::{AnnotationInventory, AnnotationUse, annotation_inventory};
pub use table::{Fidelity, NginxVerdict, VERDICTS, verdict};

use super::Conversion;
use super::gateway::{Plan, Target};
use alloc::collections::BTreeMap;
use alloc::string::String;
use chancery_base::compilation::{Compilation, Side};
use chancery_base::ir::nginx::{Location, Nginx};
use chancery_base::resource::{Objects, Origin, ResourceKey};
use chancery_ingress_nginx::source::Source;
use chancery_ingress_nginx::{Options, Stages};
use chancery_text::Str;

/// A Service and its port, as an Ingress names them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedService {
    namespace: Str,
    name: Str,
    port: Str,
}

struct Converter<'c> {
    objects: &'c Objects,
    nginx: &'c Nginx,
    source: &'c Source,
    /// The flags of the controller.
    options: Options,
    target: Target,
    plan: Plan,
    out: Conversion,
    /// The Services of upstreams, by the name of the upstream.
    named: BTreeMap<Str, NamedService>,
    /// Ports of Services by `NAMESPACE/NAME`: number, name.
    ports: BTreeMap<String, backends::KnownService>,
    /// The objects that name headers of an authentication service, with the place, by namespace and name of the Ingress.
    answering: BTreeMap<(String, String), (ResourceKey, Option<Origin>)>,
    /// The host of the listener with TLS, for hosts that share one.
    shared: BTreeMap<String, String>,
}

/// Converts all Ingresses that the controller serves.
pub fn ingress_nginx_to_gateway(compilation: &Compilation, target: Target) -> Conversion {
    let Some((side, stages)) = compilation.sides.iter().find_map(|side: &Side| Some((side, Stages::of(side)?))) else { return Conversion::default() };
    let mut converter = Converter {
        objects: &compilation.objects,
        nginx: &stages.nginx,
        source: &stages.source,
        options: Options::of(&side.options),
        target,
        plan: Plan::new(target),
        out: Conversion::default(),
        named: BTreeMap::new(),
        ports: backends::known(&compilation.objects),
        answering: BTreeMap::new(),
        shared: BTreeMap::new(),
    };
    converter.shared = converter.shared_listeners();
    converter.name_services();
    converter.gateway_traffic();
    for server in &stages.nginx.servers {
        converter.server(server);
    }
    converter.www_redirects();
    converter.streams();
    converter.clients();
    converter.reports();
    if converter.plan.routes.is_empty() && converter.plan.others.is_empty() {
        return converter.out;
    }
    let mut out = converter.out;
    converter.plan.write(&mut out);
    out
}

impl Converter<'_> {
    fn is_envoy_gateway(&self) -> bool {
        self.target == Target::EnvoyGateway
    }

    /// Reports something about the Ingress of a location.
    fn note(&mut self, location: &Location, origin: Option<Origin>, message: impl Into<String>) {
        let Some((key, origin)) = self.place(location, origin) else { return };
        self.out.note(&key, origin, message);
    }

    /// Returns the place of an annotation of a location's Ingress.
    fn annotation_origin(&self, location: &Location, name: &str) -> Option<Origin> {
        let object = self.objects.get(location.ingress.as_ref()?.origin?.object())?;
        let key = alloc::format!("{}/{name}", chancery_ingress_nginx::annotations::PREFIX);
        let node = object.root.at(&["metadata", "annotations", &key])?;
        Some(Origin::field(object.id, node.id))
    }

    /// Returns the object of a place, or the Ingress of a location.
    fn place(&self, location: &Location, origin: Option<Origin>) -> Option<(ResourceKey, Option<Origin>)> {
        let ingress = location.ingress.as_ref();
        let object = origin.or_else(|| ingress?.origin).and_then(|origin| self.objects.get(origin.object()));
        let key = object.map(|object| object.key.clone()).or_else(|| {
            let ingress = ingress?;
            Some(ResourceKey {
                group: Str::new_static("networking.k8s.io"),
                kind: Str::new_static("Ingress"),
                namespace: Some(ingress.namespace.clone()),
                name: ingress.name.clone(),
            })
        });
        Some((key?, origin.filter(|origin| self.objects.get(origin.object()).is_some())))
    }
}
