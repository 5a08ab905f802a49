//! The path of each object into the gateway: whether its handler queues it, and whether the worker processes it.
//!
//! AGIC `pkg/k8scontext/*handlers.go` and `pkg/controller/should_process.go`. The handlers drop objects in `kube-system` and `kube-public`, and in
//! namespaces that are not watched; the caches contain them anyway. Handlers of Ingresses run first here, since a Secret is queued only if an
//! Ingress names it.
//!
//! Does not model time, such as the draining and spacing of events.

use super::cluster::{AdmittedObject, Name};
use super::kinds::{self, Kind};
use super::model::{Pod, Service};
use super::source::Source;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::resource::{Object, ObjectId, Objects};
use chancery_kubernetes::object_tables::NameKey;
use chancery_kubernetes::status::{list, object, text};
use chancery_text::{Node, Str, Value};
use hashbrown::{HashMap, HashSet};

/// Namespaces whose objects the handlers ignore.
const DEAF: [&str; 2] = ["kube-system", "kube-public"];

/// How far an object gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectProgress {
    pub object: ObjectId,
    pub enqueued: bool,
    pub processed: bool,
    /// The controller's word for it in the message that no Ingress uses it.
    pub unused: Option<&'static str>,
}

/// The objects that Ingresses refer to.
struct Referred<'s> {
    /// Secrets, by namespace and name.
    secrets: HashSet<Name>,
    /// Names of Services in any namespace.
    services: HashSet<Str>,
    /// The referenced Services by the first label of their selector; Services without a selector match every pod.
    by_label: HashMap<&'s (Str, Str), Vec<&'s Service>>,
    takes_every_pod: bool,
}

/// Returns how far each object gets.
pub fn passages(source: &Source<'_>) -> Vec<ObjectProgress> {
    let referred = Referred::of(source);
    let watched = kinds::ALL.iter().filter_map(|(kind, _)| Some((*kind, is_watched(source, *kind)?)));
    let of_kind = |(kind, is_watched)| source.cluster.all(kind).map(move |held| (kind, is_watched, held));
    watched.flat_map(of_kind).map(|(kind, is_watched, held)| passage(source, (kind, is_watched), held, &referred)).collect()
}

impl<'s> Referred<'s> {
    fn of(source: &'s Source<'_>) -> Self {
        let heard = source.all_ingresses.iter().filter(|ingress| source.is_ours(ingress) && is_heard(source, &ingress.namespace));
        let secrets = heard.flat_map(|ingress| ingress.tls.iter().map(|tls| (ingress.namespace.clone(), tls.secret.value.clone()))).collect();
        let counted = source.all_ingresses.iter().filter(|ingress| source.is_effective(ingress));
        let paths = counted.flat_map(|ingress| &ingress.rules).flat_map(|rule| rule.paths());
        let services: HashSet<Str> = paths.filter_map(|path| Some(path.backend.service.as_ref()?.name.value.clone())).collect();
        let (mut by_label, mut takes_every_pod) = (HashMap::<_, Vec<&Service>>::new(), false);
        for (_, service) in source.services.iter().filter(|(name, _)| services.contains(&name.1) && source.is_listed(name)) {
            match service.selector.first() {
                Some(label) => by_label.entry(label).or_default().push(service),
                None => takes_every_pod = true,
            }
        }
        Self { secrets, services, by_label, takes_every_pod }
    }

    /// Whether a referenced Service in any namespace selects a pod.
    fn takes(&self, pod: &Pod) -> bool {
        let services = pod.labels.iter().filter_map(|label| self.by_label.get(label)).flatten();
        self.takes_every_pod || services.into_iter().any(|service| pod.has(&service.selector))
    }
}

fn is_heard(source: &Source<'_>, namespace: &str) -> bool {
    !DEAF.contains(&namespace) && source.environment.watches(namespace)
}

fn passage(source: &Source<'_>, (kind, is_watched): (Kind, bool), held: &AdmittedObject<'_>, referred: &Referred<'_>) -> ObjectProgress {
    let enqueued = is_watched && is_heard(source, held.namespace()) && is_taken(source, kind, held, referred);
    let (processed, unused) = if enqueued { is_processed(source, kind, held, referred) } else { (false, None) };
    ObjectProgress { object: held.object.id, enqueued, processed, unused }
}

/// Whether a watched Ingress is queued.
pub fn is_enqueued_ingress(source: &Source<'_>, held: &AdmittedObject<'_>) -> bool {
    is_heard(source, held.namespace()) && (source.environment.multi_cluster || source.is_our_ingress(held.object.id))
}

/// Whether an informer of the kind runs; `None` for kinds without an informer.
fn is_watched(source: &Source<'_>, kind: Kind) -> Option<bool> {
    let environment = source.environment;
    match kind {
        Kind::Node | Kind::IstioGateway | Kind::IstioVirtualService => None,
        Kind::MultiClusterIngress | Kind::MultiClusterService => Some(environment.multi_cluster),
        _ if environment.multi_cluster => Some(false),
        Kind::Ingress | Kind::IngressClass => Some(!source.old_ingress_api),
        Kind::OldIngress => Some(source.old_ingress_api),
        Kind::ProhibitedTarget => Some(environment.shared),
        _ => Some(true),
    }
}

/// Whether the kind's handler queues the object.
fn is_taken(source: &Source<'_>, kind: Kind, held: &AdmittedObject<'_>, referred: &Referred<'_>) -> bool {
    match kind {
        Kind::Ingress | Kind::OldIngress => source.is_our_ingress(held.object.id),
        Kind::Secret => referred.secrets.contains(&held.full_name()) && source.has_certificate(held.namespace(), held.name()),
        _ => true,
    }
}

/// Whether the worker processes the object.
fn is_processed(source: &Source<'_>, kind: Kind, held: &AdmittedObject<'_>, referred: &Referred<'_>) -> (bool, Option<&'static str>) {
    let (namespace, name) = (held.namespace(), held.name());
    let (used, called) = match kind {
        Kind::Pod => (referred.takes(&Pod::read(held)), "pod"),
        Kind::Endpoints if namespace == "default" && name == "aad-pod-identity-mic" => return (false, None),
        Kind::Endpoints => (source.services.contains_key(&NameKey(namespace, name)) && referred.services.contains(name), "endpoint"),
        _ => return (true, None),
    };
    (used, (!used).then_some(called))
}

/// The result as a document, in the order of the input.
pub fn document(passages: &[ObjectProgress], objects: &Objects) -> Node {
    let flag = |value: bool| Node::synthesised(Value::Bool(value));
    let by_object: HashMap<ObjectId, &ObjectProgress> = passages.iter().map(|passage| (passage.object, passage)).collect();
    let passage = |of: &Object| {
        let passage = by_object.get(&of.id)?;
        let (namespace, name) = (of.key.namespace.clone().unwrap_or_default(), &of.key.name);
        let mut fields = Vec::from([
            ("enqueued", flag(passage.enqueued)),
            ("kind", text(&of.key.kind)),
            ("name", text(name)),
            ("namespace", text(&namespace)),
            ("processed", flag(passage.processed)),
        ]);
        fields.extend(passage.unused.map(|called| ("reason", text(&format!("{called} {namespace}/{name} is not used by any Ingress")))));
        if passage.enqueued {
            fields.push(("type", text("Create")));
        }
        Some(object(fields))
    };
    list(objects.iter().filter_map(passage).collect())
}
