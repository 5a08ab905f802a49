//! The ledger: what became of each object.
//!
//! What must not be here: deciding it.

use super::controller::Processed;
use super::kinds::{self, Kind};
use super::pipeline::Passage;
use super::source::Source;
use crate::compilation::{Ledger, State, Why};
use crate::order::Gather as _;
use crate::resource::ObjectId;
use crate::text::Str;
use alloc::collections::{BTreeMap, BTreeSet};

/// Writes down what became of each object that the API server took.
pub fn write(source: &Source<'_>, processed: &Processed<'_>, passages: &[Passage], ledger: &mut Ledger) {
    let made = made(processed);
    let used = used(source, processed);
    let counted: BTreeSet<ObjectId> = processed.ingresses.iter().map(|ingress| ingress.object).gathered();
    let heard: BTreeMap<ObjectId, &Passage> = passages.iter().map(|passage| (passage.object, passage)).gathered();
    for (kind, _) in kinds::ALL {
        for held in source.cluster.all(*kind) {
            let id = held.object.id;
            match (made.get(&id), used.contains(&id)) {
                (Some(names), _) => names.iter().for_each(|name| ledger.emitted(id, name.clone())),
                (None, true) => ledger.emitted(id, Str::default()),
                (None, false) => {
                    let (why, words) = idle(source, *kind, held.namespace(), counted.contains(&id), heard.get(&id).copied());
                    ledger.set(id, State::Ignored(why, words));
                }
            }
        }
    }
}

/// Names of what was made, by the object that each part comes from.
fn made(processed: &Processed<'_>) -> BTreeMap<ObjectId, BTreeSet<Str>> {
    let mut made: BTreeMap<ObjectId, BTreeSet<Str>> = BTreeMap::new();
    let properties = processed.gateway.as_ref().and_then(|gateway| gateway.properties.as_ref());
    let rules = properties.and_then(|properties| properties.rules.as_ref()).into_iter().flatten().map(|rule| (rule.origin, &rule.name));
    let maps = properties.and_then(|properties| properties.path_maps.as_ref()).into_iter().flatten();
    let paths = maps.flat_map(|map| map.properties.rules.iter().flatten()).map(|rule| (rule.origin, &rule.name));
    let settings = properties.and_then(|properties| properties.settings.as_ref()).into_iter().flatten().map(|part| (part.origin, &part.name));
    let sets = properties.and_then(|properties| properties.rewrites.as_ref()).into_iter().flatten().map(|part| (part.origin, &part.name));
    for (origin, name) in rules.chain(paths).chain(settings).chain(sets) {
        if let Some(origin) = origin.filter(|origin| origin.object() != ObjectId::BUILT_IN) {
            made.entry(origin.object()).or_default().insert(name.clone());
        }
    }
    made
}

/// Objects that Ingresses use.
fn used(source: &Source<'_>, processed: &Processed<'_>) -> BTreeSet<ObjectId> {
    let cluster = source.cluster;
    let mut used = BTreeSet::new();
    if processed.gateway.is_none() {
        return used;
    }
    let id = |kind: Kind, namespace: &str, name: &str| cluster.get(kind, namespace, name).map(|held| held.object.id);
    for ingress in &processed.ingresses {
        let paths = ingress.rules.iter().flat_map(|rule| rule.paths()).map(|path| &path.backend);
        for service in ingress.default_backend.iter().chain(paths).filter_map(|backend| backend.service.as_ref()) {
            let name = (ingress.namespace.clone(), service.name.value.clone());
            let kinds = [Kind::Service, Kind::Endpoints, Kind::MultiClusterService];
            used.extend(kinds.into_iter().filter_map(|kind| id(kind, &name.0, &name.1)));
            let first = source.service(&name).and_then(|service| source.pods_of(&name.0, service).next());
            used.extend(first.map(|pod| pod.object));
        }
        let secrets = ingress.tls.iter().filter(|tls| source.has_certificate(&(ingress.namespace.clone(), tls.secret.value.clone())));
        used.extend(secrets.filter_map(|tls| id(Kind::Secret, &ingress.namespace, &tls.secret)));
        used.extend(ingress.class.as_ref().and_then(|class| id(Kind::IngressClass, "", class)));
    }
    if source.environment.shared {
        used.extend(cluster.all(Kind::ProhibitedTarget).filter(|held| source.environment.watches(held.namespace())).map(|held| held.object.id));
    }
    used.extend(cluster.all(Kind::Node).next().map(|held| held.object.id));
    used
}

fn idle(source: &Source<'_>, kind: Kind, namespace: &str, counted: bool, passage: Option<&Passage>) -> (Why, Str) {
    let environment = source.environment;
    if !namespace.is_empty() && !environment.watches(namespace) {
        return (Why::NotWatched, Str::new_static("KUBERNETES_WATCHNAMESPACE does not have its namespace"));
    }
    let is_read = match kind {
        Kind::MultiClusterIngress | Kind::MultiClusterService => environment.multi_cluster,
        Kind::Ingress | Kind::Service | Kind::Endpoints | Kind::Pod if environment.multi_cluster => false,
        Kind::Ingress => !source.old_ingress_api,
        Kind::OldIngress => source.old_ingress_api,
        Kind::ProhibitedTarget => environment.shared,
        Kind::IstioGateway | Kind::IstioVirtualService => environment.istio,
        _ => true,
    };
    if !is_read {
        return (Why::NotWatched, Str::new_static("a variable or option of the controller turns its kind off"));
    }
    let is_ingress = kind == source.ingress_kind();
    match is_ingress {
        true if passage.is_some_and(|passage| !passage.enqueued) && !counted => {
            (Why::OtherController, Str::new_static("it does not have the class of this controller"))
        }
        true => (Why::NothingInIt, Str::new_static("it was left out, or nothing was made of it")),
        false => (Why::NeverReferenced, Str::new_static("no Ingress that counts uses it")),
    }
}
