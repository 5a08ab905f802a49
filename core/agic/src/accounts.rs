//! Writes the ledger: what happened to each object. Makes no decisions; see `controller`.

use super::cluster::AdmittedObject;
use super::controller::Processed;
use super::kinds::{self, Kind};
use super::pipeline;
use super::source::Source;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::ir::appgw::Gateway;
use chancery_base::resource::ObjectId;
use chancery_text::Str;
use hashbrown::HashSet;

/// The names of the parts made from each object in the previous compile.
#[derive(Default)]
pub struct Memory {
    /// Keeps the addresses of the names valid.
    #[expect(dead_code, reason = "holds the addresses of names")]
    gateway: Option<Arc<Gateway>>,
    made: Vec<Made>,
}

/// The parts made from an object: the addresses of their names, and each name once, in order.
#[derive(Default)]
struct Made {
    addresses: Vec<usize>,
    names: Arc<Vec<Str>>,
}

impl Made {
    /// Returns the names; an unchanged list is reused.
    fn of(found: &[&Str], before: Option<&mut Made>) -> Self {
        let addresses = || found.iter().map(|name| core::ptr::from_ref::<Str>(name).addr());
        if let Some(before) = before.filter(|before| before.addresses.iter().copied().eq(addresses())) {
            return core::mem::take(before);
        }
        let mut names: Vec<Str> = found.iter().copied().cloned().collect();
        names.sort();
        names.dedup();
        Self { addresses: addresses().collect(), names: Arc::new(names) }
    }
}

/// Records what happened to each object that the API server accepted.
pub fn write(source: &Source<'_>, processed: &Processed, memory: &mut Memory, ledger: &mut Ledger) {
    let Memory { made: mut before, .. } = core::mem::take(memory);
    let found = made(processed, ledger.slots());
    let made: Vec<Made> = found.iter().enumerate().map(|(slot, found)| Made::of(found, before.get_mut(slot))).collect();
    let used = used(source, processed);
    let counted: HashSet<ObjectId> = processed.ingresses.iter().map(|ingress| ingress.object).collect();
    for (kind, _) in kinds::ALL {
        for held in source.cluster.all(*kind) {
            let id = held.object.id;
            let names = id.index().and_then(|slot| made.get(slot)).map(|made| &made.names).filter(|names| !names.is_empty());
            match (names, used.contains(&id)) {
                (Some(names), _) => ledger.set(id, State::Emitted(names.clone())),
                (None, true) => ledger.emitted(id, Str::default()),
                (None, false) => {
                    let (why, words) = idle(source, *kind, held, counted.contains(&id));
                    ledger.set(id, State::Ignored(why, words));
                }
            }
        }
    }
    *memory = Memory { gateway: processed.gateway.clone(), made };
}

/// Returns the names of parts, by the slot of the object that each part comes from.
fn made(processed: &Processed, slots: usize) -> Vec<Vec<&Str>> {
    let mut made = alloc::vec![Vec::new(); slots];
    let properties = processed.gateway.as_ref().and_then(|gateway| gateway.properties.as_ref());
    let rules = properties.and_then(|properties| properties.rules.as_ref()).into_iter().flatten().map(|rule| (rule.origin, &rule.name));
    let maps = properties.and_then(|properties| properties.path_maps.as_ref()).into_iter().flatten();
    let paths = maps.flat_map(|map| map.properties.rules.iter().flatten()).map(|rule| (rule.origin, &rule.name));
    let settings = properties.and_then(|properties| properties.settings.as_ref()).into_iter().flatten().map(|part| (part.origin, &part.name));
    let sets = properties.and_then(|properties| properties.rewrites.as_ref()).into_iter().flatten().map(|part| (part.origin, &part.name));
    for (origin, name) in rules.chain(paths).chain(settings).chain(sets) {
        let slot = origin.and_then(|origin| origin.object().index());
        if let Some(made) = slot.and_then(|slot| made.get_mut(slot)) {
            made.push(name);
        }
    }
    made
}

/// Returns the objects that Ingresses use.
fn used(source: &Source<'_>, processed: &Processed) -> HashSet<ObjectId> {
    let cluster = source.cluster;
    let mut used = HashSet::new();
    if processed.gateway.is_none() {
        return used;
    }
    let id = |kind: Kind, namespace: &str, name: &str| cluster.get(kind, namespace, name).map(|held| held.object.id);
    for share in &processed.shares {
        let ingress = &share.ingress;
        used.extend(share.found());
        let secrets = ingress.tls.iter().filter(|tls| source.has_certificate(&ingress.namespace, &tls.secret));
        used.extend(secrets.filter_map(|tls| id(Kind::Secret, &ingress.namespace, &tls.secret)));
        used.extend(ingress.class.as_ref().and_then(|class| id(Kind::IngressClass, "", class)));
    }
    if source.environment.shared {
        used.extend(cluster.all(Kind::ProhibitedTarget).filter(|held| source.environment.watches(held.namespace())).map(|held| held.object.id));
    }
    used.extend(cluster.all(Kind::Node).next().map(|held| held.object.id));
    used
}

fn idle(source: &Source<'_>, kind: Kind, held: &AdmittedObject<'_>, counted: bool) -> (Why, Str) {
    let (environment, namespace) = (source.environment, held.namespace());
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
        true if !counted && !pipeline::is_enqueued_ingress(source, held) => {
            (Why::OtherController, Str::new_static("it does not have the class of this controller"))
        }
        true => (Why::NothingInIt, Str::new_static("no part of the gateway was made from it")),
        false => (Why::NeverReferenced, Str::new_static("no effective Ingress uses it")),
    }
}
