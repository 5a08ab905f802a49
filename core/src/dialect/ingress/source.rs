//! What the controller knows of the cluster, and how it looks things up.
//!
//! AGIC `pkg/k8scontext/context.go`. Where the controller takes whatever comes first out of a map (one pod of several), this takes the first
//! by name.
//!
//! What must not be here: which events it hears of (`pipeline`); what the gateway gets.

use super::certificate;
use super::cluster::{Cluster, Name};
use super::environment::Environment;
use super::kinds::Kind;
use super::model::{Ingress, Pod, Service, Subset, subsets, subsets_of_clusters};
use crate::dialect::kubernetes::cursor::Cursor;
use crate::order::{Gather as _, Order as _};
use crate::text::Str;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// What the controller knows of the cluster.
pub struct Source<'c> {
    /// The objects.
    pub cluster: &'c Cluster<'c>,
    /// The controller's variables.
    pub environment: &'c Environment,
    /// Ingresses are those of `extensions/v1beta1`.
    pub old_ingress_api: bool,
    /// Services by name, whatever the namespace.
    pub services: BTreeMap<Name, Service>,
    /// Pods in namespaces that are watched, by namespace and name.
    pub pods: Vec<Pod>,
    /// Places of pods by namespace and one of their labels.
    by_label: BTreeMap<(Str, Str, Str), Vec<usize>>,
    /// Addresses behind Services.
    subsets: BTreeMap<Name, Vec<Subset>>,
    /// Whether a Secret can be made a certificate of the gateway.
    certificates: BTreeMap<Name, bool>,
}

impl<'c> Source<'c> {
    /// Reads what it will look up.
    pub fn new(cluster: &'c Cluster<'c>, environment: &'c Environment, old_ingress_api: bool) -> Self {
        let (services, subsets) = if environment.multi_cluster {
            let all = || cluster.all(Kind::MultiClusterService);
            let services = all().map(|held| (held.full_name(), Service::read_of_clusters(held))).gathered();
            (services, all().map(|held| (held.full_name(), subsets_of_clusters(held))).gathered())
        } else {
            let services = cluster.all(Kind::Service).map(|held| (held.full_name(), Service::read(held))).gathered();
            (services, cluster.all(Kind::Endpoints).map(|held| (held.full_name(), subsets(held))).gathered())
        };
        // In that mode pods are not watched.
        let is_pod_seen = |namespace: &str| !environment.multi_cluster && environment.watches(namespace);
        let pods: Vec<Pod> = cluster.all(Kind::Pod).filter(|held| is_pod_seen(held.namespace())).map(Pod::read).collect();
        let mut by_label: BTreeMap<(Str, Str, Str), Vec<usize>> = BTreeMap::new();
        for (at, pod) in pods.iter().enumerate() {
            for (key, value) in &pod.labels {
                by_label.entry((pod.namespace.clone(), key.clone(), value.clone())).or_default().push(at);
            }
        }
        let certificates = cluster.all(Kind::Secret).map(|held| (held.full_name(), certificate::converts(held.object).is_ok())).gathered();
        Self { cluster, environment, old_ingress_api, services, pods, by_label, subsets, certificates }
    }

    /// The kind that Ingresses are of.
    pub fn ingress_kind(&self) -> Kind {
        match (self.environment.multi_cluster, self.old_ingress_api) {
            (true, _) => Kind::MultiClusterIngress,
            (false, true) => Kind::OldIngress,
            (false, false) => Kind::Ingress,
        }
    }

    /// The Ingresses that the gateway gets: of its class, in namespaces that are watched, with paths if they have rules; in the order of
    /// `NAMESPACE/NAME` as text.
    pub fn ingresses(&self) -> Vec<Ingress<'c>> {
        let kind = self.ingress_kind();
        let seen = self.cluster.all(kind).filter(|held| self.environment.watches(held.namespace()));
        let mut ingresses: Vec<Ingress<'c>> = seen.map(|held| Ingress::read(held, kind)).filter(|ingress| self.is_ours(ingress)).collect();
        ingresses.retain(|ingress| ingress.rules.is_empty() || ingress.has_http());
        ingresses.order_by_made_key(Ingress::key);
        ingresses
    }

    /// Whether an Ingress is of the controller's class: by the annotation if it says anything, else by the field.
    pub fn is_ours(&self, ingress: &Ingress<'_>) -> bool {
        if let Some(class) = ingress.annotations.some_text(&super::annotations::INGRESS_CLASS) {
            return *class == self.environment.controller;
        }
        let environment = self.environment;
        match &ingress.class {
            _ if !environment.class_enabled => false,
            None => environment.class_default,
            Some(name) => **name == environment.class_name && self.class_controller(name) == Some(&environment.controller),
        }
    }

    /// Who an IngressClass says is responsible for it.
    pub fn class_controller(&self, name: &str) -> Option<&str> {
        let class = self.cluster.get(Kind::IngressClass, "", name)?;
        class.root().at("spec.controller").some_str()
    }

    /// A Service, wherever it is.
    pub fn service(&self, name: &Name) -> Option<&Service> {
        self.services.get(name)
    }

    /// The Services that count where a list of them is asked for: those with a TCP port in namespaces that are watched.
    pub fn is_listed(&self, name: &Name) -> bool {
        self.environment.watches(&name.0) && self.services.get(name).is_some_and(Service::has_tcp)
    }

    /// The addresses behind a Service; `None` where it has no Endpoints.
    pub fn subsets(&self, name: &Name) -> Option<&[Subset]> {
        self.subsets.get(name).map(Vec::as_slice)
    }

    /// The pods of a Service in its own namespace, by name.
    pub fn pods_of<'s>(&'s self, namespace: &'s str, service: &'s Service) -> impl Iterator<Item = &'s Pod> {
        let first = service.selector.first();
        let candidates = first.map(|(key, value)| {
            let key = (Str::new(namespace), key.clone(), value.clone());
            self.by_label.get(&key).map_or(&[][..], Vec::as_slice).iter().filter_map(|at| self.pods.get(*at))
        });
        let all = self.pods.iter().filter(move |pod| first.is_none() && pod.namespace == namespace);
        candidates.into_iter().flatten().chain(all).filter(move |pod| pod.has(&service.selector))
    }

    /// Whether a Secret can be made a certificate of the gateway.
    pub fn has_certificate(&self, name: &Name) -> bool {
        self.certificates.get(name).copied().unwrap_or_default()
    }

    /// The targets that the controller leaves alone, in namespaces that are watched: places of their `spec`.
    pub fn prohibited_targets(&self) -> Vec<Cursor<'c>> {
        let targets = self.cluster.all(Kind::ProhibitedTarget).filter(|held| self.environment.watches(held.namespace()));
        targets.map(|held| held.root().field("spec")).collect()
    }

    /// What the provider calls the first node.
    pub fn node(&self) -> Option<Cursor<'c>> {
        self.cluster.all(Kind::Node).next().map(|held| held.root().at("spec.providerID"))
    }

    /// Whether Istio's objects are there that the controller needs to read any.
    pub fn has_istio(&self) -> bool {
        self.cluster.all(Kind::IstioGateway).next().is_some() && self.cluster.all(Kind::IstioVirtualService).next().is_some()
    }
}
