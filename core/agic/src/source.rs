//! The controller's view of the cluster, with lookups.
//!
//! AGIC `pkg/k8scontext/context.go`. If the controller uses any element of a map (one pod of several), this uses the first by name.
//!
//! Does not decide which events are handled; see `pipeline`.

use super::certificate;
use super::cluster::{AdmittedObject, Cluster, Name};
use super::environment::Environment;
use super::kinds::Kind;
use super::model::{Ingress, Pod, Service, Subset, subsets, subsets_of_clusters};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::resource::ObjectId;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::object_tables::{ByContent, NameKey};
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

/// The controller's view of the cluster.
pub struct Source<'c> {
    pub cluster: &'c Cluster<'c>,
    pub environment: &'c Environment,
    /// Whether Ingresses are those of `extensions/v1beta1`.
    pub old_ingress_api: bool,
    /// Services by name, in any namespace.
    pub services: Arc<HashMap<Name, Arc<Service>>>,
    /// Pods in watched namespaces, by namespace and name.
    pub pods: Vec<Arc<Pod>>,
    /// The first pod of each Service, by its name.
    first_pods: Arc<HashMap<Name, Arc<Pod>>>,
    /// Addresses of Services.
    subsets: Arc<HashMap<Name, Arc<Addresses>>>,
    /// Whether a Secret can become a certificate of the gateway.
    certificates: Arc<HashMap<Name, Arc<bool>>>,
    /// All Ingresses, by namespace and name.
    pub all_ingresses: Vec<Arc<Ingress>>,
    /// The Ingresses of the controller's class.
    own_class: HashSet<ObjectId>,
}

/// The values that earlier compiles read: a value is the same as long as its object is.
#[derive(Default)]
pub struct Memory {
    services: ByContent<Arc<Service>>,
    services_by_name: Table<Service>,
    subsets: ByContent<Arc<Addresses>>,
    subsets_by_name: Table<Addresses>,
    pods: ByContent<Arc<Pod>>,
    first_pods: FirstPods,
    certificates: ByContent<Arc<bool>>,
    certificates_by_name: Table<bool>,
    ingresses: ByContent<Arc<Ingress>>,
}

/// The first pods of Services, and the inputs that they were found in.
#[derive(Default)]
struct FirstPods {
    services: Arc<HashMap<Name, Arc<Service>>>,
    pods: Vec<Arc<Pod>>,
    found: Arc<HashMap<Name, Arc<Pod>>>,
}

impl FirstPods {
    fn of(&mut self, services: &Arc<HashMap<Name, Arc<Service>>>, pods: &[Arc<Pod>]) -> Arc<HashMap<Name, Arc<Pod>>> {
        let same = Arc::ptr_eq(&self.services, services) && are_same(pods.iter(), &self.pods);
        if !same {
            *self = Self { services: services.clone(), pods: pods.to_vec(), found: Arc::new(first_pods(services, pods)) };
        }
        self.found.clone()
    }
}

/// The tables in which Ingresses look up their references. Equal tables have the same content.
#[derive(Clone, Default)]
pub struct Tables {
    services: Arc<HashMap<Name, Arc<Service>>>,
    subsets: Arc<HashMap<Name, Arc<Addresses>>>,
    first_pods: Arc<HashMap<Name, Arc<Pod>>>,
    certificates: Arc<HashMap<Name, Arc<bool>>>,
}

impl Tables {
    /// Whether all tables are the same values.
    pub fn are_same_tables(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.services, &other.services)
            && Arc::ptr_eq(&self.subsets, &other.subsets)
            && Arc::ptr_eq(&self.first_pods, &other.first_pods)
            && Arc::ptr_eq(&self.certificates, &other.certificates)
    }
}

/// Whether two sequences contain the same values.
fn are_same<'v, T: 'v>(now: impl ExactSizeIterator<Item = &'v Arc<T>>, then: &[Arc<T>]) -> bool {
    now.len() == then.len() && now.zip(then).all(|(now, then)| Arc::ptr_eq(now, then))
}

/// The objects behind a Service that an Ingress names.
#[derive(Clone, Debug, Default)]
pub struct Backing {
    service: Option<Arc<Service>>,
    subsets: Option<Arc<Addresses>>,
    pod: Option<Arc<Pod>>,
}

/// The addresses of a Service, and the object that has them.
#[derive(Debug)]
struct Addresses {
    object: ObjectId,
    subsets: Vec<Subset>,
}

impl Backing {
    /// Their object ids.
    pub fn objects(&self) -> impl Iterator<Item = ObjectId> {
        let service = self.service.as_ref().map(|service| service.object);
        let subsets = self.subsets.as_ref().map(|subsets| subsets.object);
        [service, subsets, self.pod.as_ref().map(|pod| pod.object)].into_iter().flatten()
    }

    /// Whether all of it is the same value.
    pub fn is(&self, other: &Self) -> bool {
        fn same<T>(one: &Option<Arc<T>>, other: &Option<Arc<T>>) -> bool {
            one.as_ref().map(Arc::as_ptr) == other.as_ref().map(Arc::as_ptr)
        }
        same(&self.service, &other.service) && same(&self.subsets, &other.subsets) && same(&self.pod, &other.pod)
    }
}

/// Reads the objects of a kind; unchanged objects are reused.
fn read<'h, 'c, T: Clone>(
    cluster: &'h Cluster<'c>,
    kind: Kind,
    memory: &mut ByContent<T>,
    is_read: impl Fn(&AdmittedObject<'_>) -> bool,
    read: impl Fn(&AdmittedObject<'_>) -> T,
) -> Vec<(&'h AdmittedObject<'c>, T)> {
    memory.begin();
    let mut out = Vec::new();
    for held in cluster.all(kind).filter(|held| is_read(held)) {
        out.push((held, memory.or_make(held.object, || read(held))));
    }
    memory.end();
    out
}

/// Values by the names of their objects, and in the order of the names: a table of the same values is the same.
struct Table<T> {
    values: Vec<Arc<T>>,
    by_name: Arc<HashMap<Name, Arc<T>>>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { values: Vec::new(), by_name: Arc::default() }
    }
}

impl<T> Table<T> {
    fn of(&mut self, all: Vec<(&AdmittedObject<'_>, Arc<T>)>) -> Arc<HashMap<Name, Arc<T>>> {
        // An object's name is part of its content, which identifies the value.
        if !are_same(all.iter().map(|(_, value)| value), &self.values) {
            self.values = all.iter().map(|(_, value)| value.clone()).collect();
            self.by_name = Arc::new(by_name(all));
        }
        self.by_name.clone()
    }
}

fn by_name<T>(all: Vec<(&AdmittedObject<'_>, T)>) -> HashMap<Name, T> {
    let mut out = HashMap::with_capacity(all.len());
    out.extend(all.into_iter().map(|(held, value)| (held.full_name(), value)));
    out
}

impl<'c> Source<'c> {
    /// Reads all objects.
    pub fn new(cluster: &'c Cluster<'c>, environment: &'c Environment, old_ingress_api: bool, memory: &mut Memory) -> Self {
        let of_clusters = environment.multi_cluster;
        let (of_services, of_subsets) =
            if of_clusters { (Kind::MultiClusterService, Kind::MultiClusterService) } else { (Kind::Service, Kind::Endpoints) };
        let service = |held: &AdmittedObject<'_>| Arc::new(if of_clusters { Service::read_of_clusters(held) } else { Service::read(held) });
        let addresses = |held: &AdmittedObject<'_>| {
            let subsets = if of_clusters { subsets_of_clusters(held) } else { subsets(held) };
            Arc::new(Addresses { object: held.object.id, subsets })
        };
        let services = memory.services_by_name.of(read(cluster, of_services, &mut memory.services, |_| true, service));
        // In multi-cluster mode pods are not watched.
        let is_pod_seen = |held: &AdmittedObject<'_>| !of_clusters && environment.watches(held.namespace());
        let pods = read(cluster, Kind::Pod, &mut memory.pods, is_pod_seen, |held| Arc::new(Pod::read(held)));
        let pods: Vec<Arc<Pod>> = pods.into_iter().map(|(_, pod)| pod).collect();
        let converts = |held: &AdmittedObject<'_>| Arc::new(certificate::converts(held.object).is_ok());
        let mut source = Self {
            cluster,
            environment,
            old_ingress_api,
            first_pods: memory.first_pods.of(&services, &pods),
            services,
            pods,
            subsets: memory.subsets_by_name.of(read(cluster, of_subsets, &mut memory.subsets, |_| true, addresses)),
            certificates: memory.certificates_by_name.of(read(cluster, Kind::Secret, &mut memory.certificates, |_| true, converts)),
            all_ingresses: Vec::new(),
            own_class: HashSet::new(),
        };
        let kind = source.ingress_kind();
        let ingresses = read(cluster, kind, &mut memory.ingresses, |_| true, |held| Arc::new(Ingress::read(held, kind)));
        source.all_ingresses = ingresses.into_iter().map(|(_, ingress)| ingress).collect();
        source.own_class = source.all_ingresses.iter().filter(|ingress| source.has_our_class(ingress)).map(|ingress| ingress.object).collect();
        source
    }

    /// The kind of the effective Ingresses.
    pub fn ingress_kind(&self) -> Kind {
        match (self.environment.multi_cluster, self.old_ingress_api) {
            (true, _) => Kind::MultiClusterIngress,
            (false, true) => Kind::OldIngress,
            (false, false) => Kind::Ingress,
        }
    }

    /// Returns the Ingresses for the gateway: of its class, in watched namespaces, with paths if they have rules; sorted by `NAMESPACE/NAME` as
    /// strings.
    pub fn ingresses(&self) -> Vec<Arc<Ingress>> {
        let mut ingresses: Vec<Arc<Ingress>> = self.all_ingresses.iter().filter(|ingress| self.is_effective(ingress)).cloned().collect();
        ingresses.sort_by(|one, other| one.in_order(other));
        ingresses
    }

    /// Whether an Ingress is for the gateway.
    pub fn is_effective(&self, ingress: &Ingress) -> bool {
        self.is_ours(ingress) && self.environment.watches(&ingress.namespace) && (ingress.rules.is_empty() || ingress.has_http())
    }

    /// Whether an Ingress is of the controller's class.
    pub fn is_ours(&self, ingress: &Ingress) -> bool {
        self.own_class.contains(&ingress.object)
    }

    /// Whether an object is an Ingress of the controller's class.
    pub fn is_our_ingress(&self, object: ObjectId) -> bool {
        self.own_class.contains(&object)
    }

    /// Whether an Ingress is of the controller's class: by the annotation if it is set, else by the field.
    fn has_our_class(&self, ingress: &Ingress) -> bool {
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

    /// The controller of an IngressClass.
    pub fn class_controller(&self, name: &str) -> Option<&str> {
        let class = self.cluster.get(Kind::IngressClass, "", name)?;
        class.root().at("spec.controller").some_str()
    }

    /// A Service in any namespace.
    pub fn service(&self, name: &Name) -> Option<&Service> {
        self.services.get(name).map(|service| &**service)
    }

    /// Whether a Service appears in the controller's lists: with a TCP port, in a watched namespace.
    pub fn is_listed(&self, name: &Name) -> bool {
        self.environment.watches(&name.0) && self.services.get(name).is_some_and(|service| service.has_tcp())
    }

    /// The addresses of a Service; `None` if it has no Endpoints.
    pub fn subsets(&self, name: &Name) -> Option<&[Subset]> {
        self.subsets.get(name).map(|of| of.subsets.as_slice())
    }

    /// The first pod of a Service in its own namespace, by name.
    pub fn first_pod(&self, namespace: &str, name: &str) -> Option<&Arc<Pod>> {
        if self.pods.is_empty() { None } else { self.first_pods.get(&NameKey(namespace, name)) }
    }

    /// The tables in which Ingresses look up their references.
    pub fn tables(&self) -> Tables {
        Tables {
            services: self.services.clone(),
            subsets: self.subsets.clone(),
            first_pods: self.first_pods.clone(),
            certificates: self.certificates.clone(),
        }
    }

    /// Returns the objects behind a Service that an Ingress names.
    pub fn backing(&self, namespace: &str, name: &str) -> Backing {
        let key = NameKey(namespace, name);
        Backing { service: self.services.get(&key).cloned(), subsets: self.subsets.get(&key).cloned(), pod: self.first_pod(namespace, name).cloned() }
    }

    /// Whether a Secret can become a certificate of the gateway.
    pub fn has_certificate(&self, namespace: &str, name: &str) -> bool {
        self.certificates.get(&NameKey(namespace, name)).is_some_and(|converts| **converts)
    }

    /// The `spec`s of prohibited targets in watched namespaces.
    pub fn prohibited_targets(&self) -> Vec<Cursor<'c>> {
        let targets = self.cluster.all(Kind::ProhibitedTarget).filter(|held| self.environment.watches(held.namespace()));
        targets.map(|held| held.root().field("spec")).collect()
    }

    /// The provider's id of the first node.
    pub fn node(&self) -> Option<Cursor<'c>> {
        self.cluster.all(Kind::Node).next().map(|held| held.root().at("spec.providerID"))
    }

    /// Whether the objects that Istio support requires exist.
    pub fn has_istio(&self) -> bool {
        self.cluster.all(Kind::IstioGateway).next().is_some() && self.cluster.all(Kind::IstioVirtualService).next().is_some()
    }
}

/// Returns the first pod of each Service: in its namespace, with its labels. A Service without a selector selects every pod.
fn first_pods(services: &HashMap<Name, Arc<Service>>, pods: &[Arc<Pod>]) -> HashMap<Name, Arc<Pod>> {
    let mut by_label: HashMap<(&Str, &Str, &Str), Vec<&Arc<Pod>>> = HashMap::new();
    let mut by_namespace: HashMap<&Str, &Arc<Pod>> = HashMap::new();
    for pod in pods {
        by_namespace.entry(&pod.namespace).or_insert(pod);
        for (key, value) in &pod.labels {
            by_label.entry((&pod.namespace, key, value)).or_default().push(pod);
        }
    }
    let mut out = HashMap::new();
    for (name, service) in services.iter().filter(|_| !pods.is_empty()) {
        let first = match service.selector.first() {
            Some((key, value)) => by_label.get(&(&name.0, key, value)).and_then(|all| all.iter().copied().find(|pod| pod.has(&service.selector))),
            None => by_namespace.get(&name.0).copied(),
        };
        out.extend(first.map(|pod| (name.clone(), pod.clone())));
    }
    out
}
