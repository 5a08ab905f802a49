//! Decides which proxies are served, and when central configuration is merged into their registrations. There are two sources.
//!
//! A client agent merges when a service is registered with it, and again when the defaults change: its registrations are merged ([`Local`]). A
//! server reads the catalog, with unmerged registrations, and merges when it updates a proxy ([`FromCatalog`]); the client agent handles the
//! server's own proxies. The merge itself is in `service`.

use super::data_source::DataSource;
use super::manager::Manager;
use super::same;
use super::topic::Topic;
use crate::entry::{Entries, Kind};
use crate::instance::Instance;
use crate::service;
use crate::state::State;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use chancery_text::Str;

/// A source that registers proxies with the manager, and releases them.
pub trait ConfigSource {
    /// Releases its proxies that are no longer served, or served by another source.
    fn let_go(&mut self, served: &[(Str, Arc<Instance>)], manager: &mut Manager, data: &mut dyn DataSource);
    /// Registers its new and changed proxies; `changed` has the topics that changed since the last call.
    fn sync(&mut self, served: &[(Str, Arc<Instance>)], state: &State, changed: &BTreeSet<Topic>, manager: &mut Manager);
}

/// The services that are registered with an agent, merged at registration.
#[derive(Debug, Default)]
pub struct Local {
    registered: BTreeMap<Str, Registration>,
}

/// An agent's registration of a proxy.
#[derive(Debug)]
struct Registration {
    written: Arc<Instance>,
    merged: Arc<Instance>,
    /// The defaults that were merged.
    defaults: BTreeSet<Topic>,
}

/// The proxies of the catalog that are not the agent's own.
#[derive(Debug, Default)]
pub struct FromCatalog {
    /// Unmerged registrations, with the defaults that they were merged with.
    watched: BTreeMap<Str, (Arc<Instance>, BTreeSet<Topic>)>,
}

/// The entries that are merged with a registration.
fn defaults(instance: &Instance, entries: &Entries) -> BTreeSet<Topic> {
    let service = instance.destination();
    let own = entries.get(&(Kind::ServiceDefaults, service.clone()));
    let overrides = own.into_iter().flat_map(|entry| entry.tree.at(&["UpstreamConfig", "Overrides"]).items());
    let overrides = overrides.map(|each| each.get("Name").str());
    let upstreams = instance.proxy.get("Upstreams").items().iter().map(|upstream| upstream.get("DestinationName").str());
    let names = upstreams.chain(overrides).chain([service]);
    let global = Topic::Entry(Kind::ProxyDefaults, Str::new_static("global"));
    names.map(|name| Topic::Entry(Kind::ServiceDefaults, name)).chain([global]).collect()
}

/// Whether two registrations are equal.
fn is_same(known: &Arc<Instance>, now: &Arc<Instance>) -> bool {
    same::instance(known, now)
}

/// Releases the proxies that are no longer its own.
fn take_gone<T>(known: &mut BTreeMap<Str, T>, own: impl Iterator<Item = Str>, manager: &mut Manager, data: &mut dyn DataSource) {
    let own: BTreeSet<Str> = own.collect();
    known.retain(|id, _| {
        let stays = own.contains(id);
        if !stays {
            manager.deregister(id, data);
        }
        stays
    });
}

impl ConfigSource for Local {
    fn let_go(&mut self, served: &[(Str, Arc<Instance>)], manager: &mut Manager, data: &mut dyn DataSource) {
        let own = served.iter().filter(|(_, instance)| instance.local).map(|(id, _)| id.clone());
        take_gone(&mut self.registered, own, manager, data);
    }

    fn sync(&mut self, served: &[(Str, Arc<Instance>)], state: &State, changed: &BTreeSet<Topic>, manager: &mut Manager) {
        for (id, instance) in served.iter().filter(|(_, instance)| instance.local) {
            // The merged registration is what the proxy gets.
            let known = self.registered.get(id);
            if known.is_some_and(|known| is_same(&known.written, instance) && known.defaults.is_disjoint(changed)) {
                continue;
            }
            let merged = Arc::new(service::merged(instance, &state.entries));
            let is_other = known.is_none_or(|known| !same::instance(&known.merged, &merged));
            let registration = Registration { written: instance.clone(), merged, defaults: defaults(instance, &state.entries) };
            if is_other {
                manager.register(id, registration.merged.clone());
            }
            self.registered.insert(id.clone(), registration);
        }
    }
}

impl ConfigSource for FromCatalog {
    fn let_go(&mut self, served: &[(Str, Arc<Instance>)], manager: &mut Manager, data: &mut dyn DataSource) {
        let others = served.iter().filter(|(_, instance)| !instance.local).map(|(id, _)| id.clone());
        take_gone(&mut self.watched, others, manager, data);
    }

    fn sync(&mut self, served: &[(Str, Arc<Instance>)], state: &State, changed: &BTreeSet<Topic>, manager: &mut Manager) {
        for (id, instance) in served.iter().filter(|(_, instance)| !instance.local) {
            let is_known = self.watched.get(id).is_some_and(|(known, topics)| is_same(known, instance) && topics.is_disjoint(changed));
            if !is_known {
                // The watched registration stays unmerged: it is merged on the way to the manager.
                self.watched.insert(id.clone(), (instance.clone(), defaults(instance, &state.entries)));
                manager.register(id, Arc::new(service::merged(instance, &state.entries)));
            }
        }
    }
}
