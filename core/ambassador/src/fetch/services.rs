//! Loads Services with the endpoints of their ports, and simulates endpoint discovery.
//!
//! Source of behaviour: Emissary `fetch/service.py` (resources) and `cmd/entrypoint/endpoints.go` (discovery).

use super::emit::{self, CURRENT_VERSION, Emitter, Parts, made_text};
use super::expand;
use super::role::Role;
use super::verdict::Applied;
use super::visible::{VisibleObjects, ignore};
use crate::config::{Location, Payload, ServiceData, Target};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::Why;
use chancery_base::resource::Rule;
use chancery_kubernetes::endpoints::{self, Subset};
use chancery_kubernetes::service::{self, Port};
use chancery_text::{self, Node, Str, Value};
use hashbrown::HashMap;

/// Addresses by namespace and name of their Service.
type ByService = HashMap<(Str, Str), Vec<Subset>>;

/// The endpoints of all Services. Endpoints override EndpointSlices, as both are equal in a cluster.
fn subsets(seen: &VisibleObjects<'_>) -> ByService {
    let mut all = ByService::new();
    for applied in seen.of(Role::EndpointSlice) {
        let namespace = applied.object.key.namespace.clone().unwrap_or_default();
        if let Some((service, subset)) = endpoints::of_slice(applied.object) {
            all.entry((namespace, service)).or_default().push(subset);
        }
    }
    for applied in seen.of(Role::Endpoints) {
        let key = &applied.object.key;
        all.insert((key.namespace.clone().unwrap_or_default(), key.name.clone()), endpoints::of_endpoints(applied.object));
    }
    all
}

/// Creates the resources of all Services, and returns their Helm chart.
pub(super) fn emit(seen: &VisibleObjects<'_>, emitter: &mut Emitter<'_>) -> Option<Str> {
    let subsets = subsets(seen);
    let chart = |applied: &Applied<'_>| Some(Str::new(applied.object.root.at(&["metadata", "labels", "helm.sh/chart"])?.as_str()?));
    let helm_chart = seen.of(Role::Service).iter().find_map(chart);
    let mut used = BTreeSet::new();
    for applied in seen.of(Role::Service) {
        let object = applied.object;
        let ports = service::ports(&object.root);
        if ports.is_empty() {
            ignore(emitter.ledger, object.id, Why::NothingInIt, "a Service without ports");
            continue;
        }
        let namespace = object.key.namespace.clone().unwrap_or_default();
        let place = (namespace.clone(), object.key.name.clone());
        let behind = subsets.get(&place).and_then(|subsets| compiler_view(subsets));
        let endpoints = behind.map_or_else(BTreeMap::new, |behind| behind.by_port(&ports, &place));
        used.insert(place);
        let mut spec = chancery_text::Object::new();
        spec.insert("ambassador_id", made_text(object.root.id, emitter.options.ambassador_id.clone()));
        if let Some(chart) = &helm_chart {
            spec.insert("helm_chart", made_text(object.root.id, chart.clone()));
        }
        let parts = Parts {
            kind: object.key.kind.clone(),
            name: object.key.name.clone(),
            namespace,
            api_version: Str::new_static(CURRENT_VERSION),
            labels: emit::labels(object.root.at(&["metadata", "labels"])),
            spec: Arc::new(Node { id: object.root.id, value: Value::Object(spec) }),
            rule: Rule::Field,
            key: object.key.clone(),
            payload: Payload::Service(Arc::new(ServiceData { endpoints })),
            invalid: Vec::new(),
        };
        let mut resource = parts.resource(object, emitter.options);
        resource.rkey = Str::from(format!("k8s-{}-{}", resource.name, resource.namespace));
        let key = &object.key;
        resource.location = Location::Object { kind: key.kind.clone(), name: key.name.clone(), namespace: key.namespace.clone(), number: 1 };
        emitter.push(Arc::new(resource));
    }
    for applied in seen.of(Role::Endpoints).iter().chain(seen.of(Role::EndpointSlice)) {
        let key = &applied.object.key;
        let label = applied.object.root.at(&["metadata", "labels", "kubernetes.io/service-name"]).and_then(Node::as_str);
        let service = label.filter(|_| applied.verdict.role == Role::EndpointSlice).unwrap_or(&key.name);
        if used.contains(&(key.namespace.clone().unwrap_or_default(), Str::new(service))) {
            emitter.used(applied.object.id);
        } else {
            ignore(emitter.ledger, applied.object.id, Why::NeverReferenced, "there is no Service of this name");
        }
    }
    helm_chart.map(|chart| expand::expand_text(&chart, emitter.options))
}

/// The endpoints of a Service as the compiler sees them: the last subset that has addresses and TCP ports.
struct ServiceEndpoints<'a> {
    subset: &'a Subset,
    /// By number and by name.
    ports: BTreeMap<Str, u16>,
}

fn compiler_view(subsets: &[Subset]) -> Option<ServiceEndpoints<'_>> {
    let usable = |subset| {
        let mut ports = BTreeMap::new();
        let subset: &Subset = subset;
        for port in subset.ports.iter().filter(|port| port.protocol.eq_ignore_ascii_case("TCP")) {
            ports.insert(Str::from(format!("{}", port.port)), port.port);
            if !port.name.is_empty() {
                ports.insert(port.name.clone(), port.port);
            }
        }
        (!subset.addresses.is_empty() && !ports.is_empty()).then_some(ServiceEndpoints { subset, ports })
    };
    subsets.iter().rev().find_map(usable)
}

impl ServiceEndpoints<'_> {
    fn by_port(&self, ports: &[Port], service: &(Str, Str)) -> BTreeMap<u16, Vec<Target>> {
        let _ = service;
        let only = if self.ports.len() == 1 { self.ports.values().next().copied() } else { None };
        let targets = |port: u16| {
            let target = |(ip, origin): &(Str, _)| Target { address: ip.clone(), port, origin: Some(*origin) };
            self.subset.addresses.iter().map(target).collect()
        };
        ports.iter().map(|port| (port.port, targets(only.unwrap_or_else(|| self.target(port))))).collect()
    }

    /// The port of the endpoints that a port of the Service leads to.
    fn target(&self, port: &Port) -> u16 {
        let own = Str::from(format!("{}", port.port));
        let candidates = [Some(&port.target), port.name.as_ref(), Some(&own)];
        let found = candidates.iter().flatten().find_map(|candidate| self.ports.get(*candidate).copied());
        let fallback = candidates.iter().flatten().find_map(|candidate| candidate.parse().ok());
        found.or(fallback).unwrap_or(port.port)
    }
}

/// The addresses of endpoint discovery, by the names that clusters request.
pub(super) fn discovery(seen: &VisibleObjects<'_>) -> BTreeMap<Str, Vec<Target>> {
    let mut found: BTreeMap<Str, Vec<Target>> = BTreeMap::new();
    let subsets = subsets(seen);
    if subsets.is_empty() {
        return found;
    }
    for applied in seen.of(Role::Service) {
        let namespace = applied.object.key.namespace.clone().unwrap_or_default();
        let name = &applied.object.key.name;
        let Some(subsets) = subsets.get(&(namespace.clone(), name.clone())) else { continue };
        let names = port_names(&service::ports(&applied.object.root));
        for subset in subsets {
            for port in subset.ports.iter().filter(|port| port.protocol == "TCP" || port.protocol == "UDP") {
                let number = Str::from(format!("{}", port.port));
                let candidates = [number, port.name.clone(), Str::default()];
                let asked: BTreeSet<&Str> = candidates.iter().filter_map(|candidate| names.get(candidate)).flatten().collect();
                for name_of_port in asked {
                    let separator = if name_of_port.is_empty() { "" } else { "/" };
                    let cluster = Str::from(format!("k8s/{namespace}/{name}{separator}{name_of_port}"));
                    let targets = found.entry(cluster).or_default();
                    let target = |(ip, origin): &(Str, _)| Target { address: ip.clone(), port: port.port, origin: Some(*origin) };
                    targets.extend(subset.addresses.iter().map(target));
                }
            }
        }
    }
    found
}

/// The names that clusters request, by the port's name in the endpoints.
fn port_names(ports: &[Port]) -> BTreeMap<Str, BTreeSet<Str>> {
    let mut names: BTreeMap<Str, BTreeSet<Str>> = BTreeMap::new();
    let mut add = |from: &Str, to: &Str| {
        names.entry(from.clone()).or_default().insert(to.clone());
    };
    let nothing = Str::default();
    for port in ports {
        let number = Str::from(format!("{}", port.port));
        add(&port.target, &number);
        if let Some(name) = &port.name {
            add(&port.target, name);
            add(name, &number);
        }
        if ports.len() == 1 {
            add(&port.target, &nothing);
            add(&nothing, &number);
            add(&nothing, &nothing);
        }
    }
    names
}
