//! The way of each object into the gateway: whether its handler puts it into the queue, and whether the worker processes it.
//!
//! AGIC `pkg/k8scontext/*handlers.go` and `pkg/controller/should_process.go`. The handlers drop what is in `kube-system` and `kube-public`, and
//! what is in namespaces that are not watched; the caches have it all the same. Handlers of Ingresses are heard first here, as a Secret counts
//! only when an Ingress names it.
//!
//! What must not be here: time. How events are drained and spaced is the business of whoever runs the worker.

use super::certificate;
use super::cluster::{AdmittedObject, Name};
use super::kinds::{self, Kind};
use super::model::{Ingress, Pod, Service};
use super::source::Source;
use crate::dialect::kubernetes::status::{list, object, text};
use crate::order::Gather as _;
use crate::resource::{ObjectId, Objects};
use crate::text::{Node, Str, Value};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Namespaces whose objects no handler hears of.
const DEAF: [&str; 2] = ["kube-system", "kube-public"];

/// How far an object gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The object.
    pub object: ObjectId,
    /// Its kind.
    pub kind: Str,
    /// Its namespace; empty for what stands in none.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Whether it is put into the queue.
    pub enqueued: bool,
    /// Whether it is processed.
    pub processed: bool,
    /// Why it is not processed, where the controller says so.
    pub reason: Option<String>,
}

/// What Ingresses refer to.
struct Referred<'s> {
    /// Secrets, by namespace and name.
    secrets: BTreeSet<Name>,
    /// Names of Services, whatever the namespace.
    services: BTreeSet<Str>,
    /// Services that are referred to, by the first of the labels that their pods have; those without labels take every pod.
    by_label: BTreeMap<&'s (Str, Str), Vec<&'s Service>>,
    takes_every_pod: bool,
}

/// How far each object gets, in the order of the input.
pub fn passages(source: &Source<'_>, objects: &Objects) -> Vec<Passage> {
    let referred = Referred::of(source);
    let passage = |object: &crate::resource::Object| {
        let kind = kinds::find(&object.key.group, &object.key.kind)?;
        let held = source.cluster.get(kind, object.key.namespace.as_deref().unwrap_or_default(), &object.key.name)?;
        // Of two documents of one name the later is the object.
        (held.object.id == object.id).then(|| passage(source, kind, held, &referred)).flatten()
    };
    objects.iter().filter_map(passage).collect()
}

impl<'s> Referred<'s> {
    fn of(source: &'s Source<'_>) -> Self {
        let kind = source.ingress_kind();
        let all: Vec<Ingress<'_>> =
            source.cluster.all(kind).map(|held| Ingress::read(held, kind)).filter(|ingress| source.is_ours(ingress)).collect();
        let heard = all.iter().filter(|ingress| is_heard(source, &ingress.namespace));
        let secrets = heard.flat_map(|ingress| ingress.tls.iter().map(|tls| (ingress.namespace.clone(), tls.secret.value.clone()))).collect();
        let counted = source.ingresses();
        let paths = counted.iter().flat_map(|ingress| &ingress.rules).flat_map(|rule| rule.paths());
        let services: BTreeSet<Str> = paths.filter_map(|path| Some(path.backend.service.as_ref()?.name.value.clone())).gathered();
        let (mut by_label, mut takes_every_pod) = (BTreeMap::<_, Vec<&Service>>::new(), false);
        for (_, service) in source.services.iter().filter(|(name, _)| services.contains(&name.1) && source.is_listed(name)) {
            match service.selector.first() {
                Some(label) => by_label.entry(label).or_default().push(service),
                None => takes_every_pod = true,
            }
        }
        Self { secrets, services, by_label, takes_every_pod }
    }

    /// Whether a Service that is referred to takes a pod, whatever the namespace.
    fn takes(&self, pod: &Pod) -> bool {
        let services = pod.labels.iter().filter_map(|label| self.by_label.get(label)).flatten();
        self.takes_every_pod || services.into_iter().any(|service| pod.has(&service.selector))
    }
}

fn is_heard(source: &Source<'_>, namespace: &str) -> bool {
    !DEAF.contains(&namespace) && source.environment.watches(namespace)
}

fn passage(source: &Source<'_>, kind: Kind, held: &AdmittedObject<'_>, referred: &Referred<'_>) -> Option<Passage> {
    let enqueued = is_watched(source, kind)? && is_heard(source, held.namespace()) && is_taken(source, kind, held, referred);
    let (processed, reason) = if enqueued { is_processed(source, kind, held, referred) } else { (false, None) };
    let (namespace, name) = held.full_name();
    Some(Passage { object: held.object.id, kind: held.object.key.kind.clone(), namespace, name, enqueued, processed, reason })
}

/// Whether an informer of the kind runs; `None` for kinds that there is no informer for.
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

/// Whether the kind's own handler takes it.
fn is_taken(source: &Source<'_>, kind: Kind, held: &AdmittedObject<'_>, referred: &Referred<'_>) -> bool {
    match kind {
        Kind::Ingress | Kind::OldIngress => source.is_ours(&Ingress::read(held, kind)),
        Kind::Secret => referred.secrets.contains(&held.full_name()) && certificate::converts(held.object).is_ok(),
        _ => true,
    }
}

/// What the worker says of it.
fn is_processed(source: &Source<'_>, kind: Kind, held: &AdmittedObject<'_>, referred: &Referred<'_>) -> (bool, Option<String>) {
    let (namespace, name) = held.full_name();
    let uses = |name: &Str| referred.services.contains(name);
    match kind {
        Kind::Pod => {
            let used = referred.takes(&Pod::read(held));
            (used, (!used).then(|| format!("pod {namespace}/{name} is not used by any Ingress")))
        }
        Kind::Endpoints if namespace == "default" && name == "aad-pod-identity-mic" => (false, None),
        Kind::Endpoints => {
            let used = source.services.contains_key(&(namespace.clone(), name.clone())) && uses(&name);
            (used, (!used).then(|| format!("endpoint {namespace}/{name} is not used by any Ingress")))
        }
        _ => (true, None),
    }
}

/// As a document.
pub fn document(passages: &[Passage]) -> Node {
    let flag = |value: bool| Node::synthesised(Value::Bool(value));
    let passage = |passage: &Passage| {
        let mut fields = Vec::from([
            ("enqueued", flag(passage.enqueued)),
            ("kind", text(&passage.kind)),
            ("name", text(&passage.name)),
            ("namespace", text(&passage.namespace)),
            ("processed", flag(passage.processed)),
        ]);
        fields.extend(passage.reason.as_deref().map(|reason| ("reason", text(reason))));
        if passage.enqueued {
            fields.push(("type", text("Create")));
        }
        object(fields)
    };
    list(passages.iter().map(passage).collect())
}
