//! Builds an upstream for each port of a Service that an Ingress names, with the settings of the first such Ingress.

use super::{Builder, Notice, NoticeKind};
use crate::cluster::AdmittedObject;
use crate::endpoints;
use crate::ingress::{Ingress, ServiceRef};
use crate::kinds::Kind;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{DEFAULT_UPSTREAM, Endpoint, ServiceFacts, Settings, Upstream};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

impl Builder<'_> {
    pub(super) fn create_upstreams(&mut self) {
        let default = self.default_upstream();
        self.upstreams.insert(Str::new_static(DEFAULT_UPSTREAM), default);
        for counted in self.counted {
            let (ingress, settings) = (counted.ingress.clone(), counted.settings.clone());
            if let Some(service) = ingress.default_service() {
                // An upstream of a default backend replaces one of the same name.
                let mut upstream = self.create(&ingress, &settings, service);
                upstream.port = Str::new_static("0");
                self.upstreams.insert(upstream.name.value.clone(), upstream);
            }
            for (_, path) in ingress.paths() {
                let Some(service) = &path.backend.service else {
                    self.notice(Notice {
                        kind: NoticeKind::ResourceBackend,
                        message: format!("path {} does not contain a service backend, using default backend", path.path.value),
                        origin: Some(path.backend.origin),
                        other: None,
                        ingress: Some(ingress.object),
                    });
                    continue;
                };
                let name = service.upstream(&ingress.namespace);
                if !self.upstreams.contains_key(&name) {
                    let upstream = self.create(&ingress, &settings, service);
                    self.upstreams.insert(name, upstream);
                }
            }
        }
    }

    fn create(&mut self, ingress: &Ingress, settings: &Arc<Settings>, wanted: &ServiceRef) -> Upstream {
        let name = wanted.upstream(&ingress.namespace);
        let origin = wanted.name.origin;
        let mut upstream = Upstream {
            name: Sourced::new(name, origin),
            port: if wanted.port.is_empty() { Str::new_static("0") } else { wanted.port.value.clone() },
            hash_by: settings.hash_by.clone(),
            load_balance: if settings.load_balance.is_empty() { self.globals.text("load-balance") } else { settings.load_balance.clone() },
            ..Upstream::default()
        };
        let cluster = self.cluster;
        let service = cluster.service(&ingress.namespace, wanted.lookup_name());
        if settings.service_upstream.value
            && let Some(service) = service
        {
            upstream.endpoints.extend(service_address(service, wanted));
        }
        if settings.canary.enabled.value {
            upstream.no_server = true;
            upstream.policy = settings.canary.clone();
        }
        let Some(service) = service else {
            let key = format!("{}/{}", ingress.namespace, wanted.name.value);
            self.notice(Notice {
                kind: NoticeKind::ServiceMissing,
                message: format!("Error obtaining Endpoints for Service {key:?}: no object matching key {key:?} in local store"),
                origin,
                other: None,
                ingress: Some(ingress.object),
            });
            return upstream;
        };
        self.used.insert(service.object.id);
        if upstream.endpoints.is_empty() {
            upstream.endpoints = self.endpoints(ingress, service, wanted);
            self.used.extend(cluster.slices(service.namespace(), service.name()).map(|slice| slice.object.id));
        }
        upstream.service = Some(service_facts(service));
        upstream
    }

    /// Returns the endpoints of a Service at the port that an Ingress names.
    fn endpoints(&mut self, ingress: &Ingress, service: &AdmittedObject<'_>, wanted: &ServiceRef) -> Vec<Endpoint> {
        let notice = |kind: NoticeKind, message: alloc::string::String| {
            let (origin, other) = (wanted.port.origin, Some(endpoints::origin_of(service)));
            Notice { kind, message, origin, other, ingress: Some(ingress.object) }
        };
        let key = service.key();
        let is_external = endpoints::spec_text(service, "type") == "ExternalName";
        if is_external && self.options.disables_external_names {
            self.notice(notice(NoticeKind::NoEndpoints, format!("Service {key:?} of type ExternalName not allowed due to Ingress configuration.")));
            return Vec::new();
        }
        let written = wanted.port.value.as_str();
        let port = if is_external {
            Some(endpoints::external_port(service, written))
        } else {
            let is_meant = |port: &chancery_kubernetes::service::Port| {
                format!("{}", port.port) == written || port.target == written || port.name.as_deref().unwrap_or_default() == written
            };
            endpoints::ports(service).into_iter().find(is_meant)
        };
        let Some(port) = port else {
            self.notice(notice(NoticeKind::PortMissing, format!("Service {key:?} does not have a port {written:?}")));
            return Vec::new();
        };
        let found = endpoints::endpoints_of_port(self.cluster, service, &port, "TCP");
        if found.is_empty() {
            let message = format!("Service {key:?} does not have any active Endpoint.");
            self.notice(Notice {
                kind: NoticeKind::NoEndpoints,
                message,
                origin: wanted.name.origin,
                other: Some(endpoints::origin_of(service)),
                ingress: Some(ingress.object),
            });
        }
        found
    }

    /// Builds the upstream of requests that no path matches: the Service of a flag, or nginx's default server.
    fn default_upstream(&mut self) -> Upstream {
        let flag = Origin::built_in();
        let mut upstream =
            Upstream { name: Sourced::new(Str::new_static(DEFAULT_UPSTREAM), flag), port: Str::new_static("0"), ..Upstream::default() };
        let own = Endpoint { address: Sourced::new(Str::new_static("127.0.0.1"), flag), port: format!("{}", self.options.ports.default).into() };
        let cluster = self.cluster;
        let service = cluster.by_key(Kind::Service, &self.options.default_backend);
        let port = service.and_then(|service| endpoints::ports(service).into_iter().next());
        if let Some((service, port)) = service.zip(port) {
            self.used.insert(service.object.id);
            self.used.extend(cluster.slices(service.namespace(), service.name()).map(|slice| slice.object.id));
            upstream.endpoints = endpoints::endpoints_of_port(cluster, service, &port, "TCP");
            upstream.service = Some(service_facts(service));
        }
        if upstream.endpoints.is_empty() {
            upstream.endpoints.push(own);
        }
        upstream
    }
}

fn service_facts(service: &AdmittedObject<'_>) -> ServiceFacts {
    let kind = endpoints::spec_text(service, "type");
    ServiceFacts {
        name: service.key(),
        kind: if kind.is_empty() { Str::new_static("ClusterIP") } else { Str::new(kind) },
        external_name: Str::new(endpoints::spec_text(service, "externalName")),
        origin: Some(endpoints::origin_of(service)),
    }
}

/// Returns the address of the Service at the port that an Ingress names.
fn service_address(service: &AdmittedObject<'_>, wanted: &ServiceRef) -> Option<Endpoint> {
    let address = endpoints::cluster_address(service)?;
    let port = if wanted.is_number {
        wanted.port.value.clone()
    } else {
        let named = endpoints::ports(service).into_iter().find(|port| port.name.as_deref() == Some(wanted.port.value.as_str()))?;
        Str::from(format!("{}", named.port))
    };
    Some(Endpoint { address, port })
}
