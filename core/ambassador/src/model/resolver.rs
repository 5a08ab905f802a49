//! Models IRServiceResolver: how a service name is resolved to endpoints.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irserviceresolver.py`.

use super::notices::{ControllerNotice, Identity};
use super::{Model, spec_of};
use crate::config::{Payload, Resource, Target};
use crate::spec;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::diagnostic::codes;
use chancery_base::ir::Endpoint;
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_text::{NodeId, Str};
use core::net::IpAddr;

#[derive(Clone, Debug)]
pub struct Resolver {
    /// Who it is.
    pub identity: Identity,
    /// What it asks.
    pub kind: ResolverKind,
    /// Consul's datacenter.
    pub datacenter: Str,
}

/// The source of a resolver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolverKind {
    /// DNS, for the Service's name.
    KubernetesService,
    /// The Service's endpoints.
    KubernetesEndpoint,
    Consul,
}

/// How a cluster finds its endpoints.
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// A name for DNS, or an address.
    Name(Endpoint),
    /// EDS with this name, and the known endpoints.
    Eds {
        /// E.g. `k8s/default/quote/80`.
        path: Str,
        /// With the objects that list them.
        endpoints: Vec<Sourced<Endpoint>>,
    },
}

impl Model<'_> {
    /// IRServiceResolverFactory: resolvers that are written, then the ones that always exist, under both of their names.
    pub(super) fn load_resolvers(&mut self) {
        for resource in self.resources("resolvers") {
            self.load_resolver(resource);
        }
        self.resolver_or_default("kubernetes-service", ResolverKind::KubernetesService);
        self.resolver_pair("endpoint", "kubernetes-endpoint", ResolverKind::KubernetesEndpoint);
        self.resolver_pair("consul", "consul-endpoint", ResolverKind::Consul);
    }

    fn load_resolver(&mut self, resource: &Resource) {
        let kind = match resource.kind.as_str() {
            "KubernetesServiceResolver" => ResolverKind::KubernetesService,
            "KubernetesEndpointResolver" => ResolverKind::KubernetesEndpoint,
            _ => ResolverKind::Consul,
        };
        let consul: spec::ConsulResolver = spec_of(resource);
        let identity = Identity::of(resource);
        let datacenter = consul.datacenter.unwrap_or_default().value;
        if kind == ResolverKind::Consul && datacenter.is_empty() {
            self.notices.error(&identity, ControllerNotice::new(&codes::MISSING_FIELD, "ConsulResolver is required to have a datacenter", None));
        }
        self.resolvers.insert(resource.name.clone(), Resolver { identity, kind, datacenter });
    }

    fn resolver_or_default(&mut self, name: &str, kind: ResolverKind) {
        let identity = Identity::internal("ir.resolver", "Resolver", name);
        self.resolvers.entry(name.into()).or_insert(Resolver { identity, kind, datacenter: "dc1".into() });
    }

    /// Two names of one resolver: if one is written, the other is an alias.
    fn resolver_pair(&mut self, one: &str, other: &str, kind: ResolverKind) {
        match (self.resolvers.get(one).cloned(), self.resolvers.get(other).cloned()) {
            (Some(known), None) => drop(self.resolvers.insert(other.into(), known)),
            (None, Some(known)) => drop(self.resolvers.insert(one.into(), known)),
            (Some(_), Some(_)) => {}
            (None, None) => {
                self.resolver_or_default(other, kind);
                self.resolver_or_default(one, kind);
            }
        }
    }

    /// Where a cluster for this host and port finds its endpoints.
    pub(super) fn resolve(&mut self, resolver: &str, host: &str, namespace: &str, port: u16, service: &Sourced<Str>) -> Targets {
        let name = Targets::Name(Endpoint::new(host, port));
        if host.parse::<IpAddr>().is_ok() {
            return name;
        }
        let Some(resolver) = self.resolvers.get(resolver) else { return name };
        match resolver.kind {
            ResolverKind::KubernetesService => name,
            ResolverKind::KubernetesEndpoint => {
                let own = self.ambassador.settings.use_ambassador_namespace_for_service_resolution.as_ref().is_some_and(|on| on.value);
                let (name, namespace) = match host.split_once('.') {
                    Some((name, rest)) => (name, rest.split('.').next().unwrap_or("")),
                    None if !own && !namespace.is_empty() => (host, namespace),
                    None => (host, self.options.ambassador_namespace.as_str()),
                };
                let endpoints = self.endpoints(name, namespace, port, service);
                Targets::Eds { path: format!("k8s/{namespace}/{name}/{port}").into(), endpoints }
            }
            ResolverKind::Consul => Targets::Eds { path: format!("consul/{}/{host}", resolver.datacenter).into(), endpoints: Vec::new() },
        }
    }

    fn endpoints(&mut self, name: &str, namespace: &str, port: u16, asked_by: &Sourced<Str>) -> Vec<Sourced<Endpoint>> {
        let key = format!("k8s-{name}-{namespace}");
        let Some(service) = self.config.get_config("service").and_then(|services| services.get(key.as_str())) else { return vec![] };
        let Payload::Service(data) = &service.payload else { return vec![] };
        if data.endpoints.is_empty() {
            return vec![];
        }
        let Some(list) = data.endpoints.get(&port) else {
            let message = format!("Service {name}: {key}:{port} matches no endpoints from Kubernetes");
            let identity = Identity { origin: Some(Origin::field(service.object, NodeId(0))), ..Identity::of(service) };
            let post = ControllerNotice::new(&codes::PORT_WITHOUT_ENDPOINTS, message, asked_by.origin);
            self.notices.error(&identity, post);
            return vec![];
        };
        let endpoint = |target: &Target| {
            let value = Endpoint::new(target.address.clone(), target.port);
            Sourced::new(value, target.origin.map(|origin| origin.by(Rule::Reference)))
        };
        list.iter().map(endpoint).collect()
    }
}
