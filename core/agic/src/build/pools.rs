//! Makes backend pools: the addresses behind each port of a Service.
//!
//! AGIC `pkg/appgw/backendaddresspools.go`.

use super::builder::{Builder, kept};
use super::draft::Use;
use super::share::{Notes, Share, ShareInput};
use crate::brownfield::by_name;
use crate::crash::ControllerCrash;
use crate::events::Reason;
use crate::fault;
use crate::model::Subset;
use crate::names::PartKind;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Address, Part, Pool};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// Makes all pools, and an empty one for ports without endpoints.
pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    builder.shares.iter().for_each(|share| share.notes[1].record(&share.ingress, builder.recorder));
    let name = builder.names.default_pool();
    let id = builder.names.id(PartKind::Pool, &name);
    let empty = Pool { addresses: Some(Vec::new()), ..Pool::default() };
    let default = Arc::new(Part::new(name, id, empty, Origin::built_in()));
    let all = core::iter::once(default).chain(builder.shares.iter().flat_map(|share| &share.pools).cloned());
    let made = builder.memory.orders.pools.winners(all.map(|pool| (pool, false)).collect(), Part::name);
    let existing = builder.existing()?;
    let properties = builder.properties();
    let theirs = existing.map(|existing| kept(&properties.pools, |name| existing.pools.contains(name))).unwrap_or_default();
    properties.pools = Some(by_name(theirs, made));
    Ok(())
}

/// Adds the pools of an Ingress.
pub(super) fn add(given: &ShareInput<'_, '_>, share: &mut Share) {
    let mut notes = Notes::default();
    for used in &mut share.uses {
        let pool = pool(given, used, &mut notes);
        used.pool = pool.as_ref().map_or_else(|| given.names.default_pool(), |pool| pool.name.clone());
        share.pools.extend(pool.map(Arc::new));
    }
    share.notes[1] = notes;
}

/// Returns the pool of a use.
fn pool(given: &ShareInput<'_, '_>, used: &Use, notes: &mut Notes) -> Option<Part<Pool>> {
    let source = given.source;
    let Some(subsets) = source.subsets(&used.service) else {
        let fault = match source.environment.multi_cluster {
            true => fault::multi_cluster_service_not_found(&used.key()),
            false => fault::endpoints_not_found(&used.key()),
        };
        notes.add(Reason::EndpointsEmpty, fault.text(), used.origin);
        return None;
    };
    for subset in subsets {
        if subset.ports.iter().any(|port| port.is_tcp && port.port == used.resolved) {
            let name = given.names.pool(&used.full_name(), &used.port, used.resolved);
            let id = given.names.id(PartKind::Pool, &name);
            let pool = Pool { addresses: Some(addresses(subset)), ..Pool::default() };
            return Some(Part::new(name, id, pool, used.origin).with(&used.ports));
        }
        let message = format!("Backend target port {} does not have matching endpoint port", used.resolved);
        notes.add(Reason::BackendPortTargetMatch, message, used.port_origin);
    }
    None
}

/// Returns each address once, sorted as strings; names are sorted among IP addresses.
fn addresses(subset: &Subset) -> Vec<Address> {
    let mut all: BTreeMap<Str, Address> = BTreeMap::new();
    for address in &subset.addresses {
        let (key, address) = match (&address.ip, &address.hostname) {
            (Some(ip), _) => (format!("-{}", ip.value), Address { ip: Some(ip.clone()), ..Address::default() }),
            (None, Some(name)) => (format!("{}-", name.value), Address { fqdn: Some(name.clone()), ..Address::default() }),
            (None, None) => continue,
        };
        all.entry(key.into()).or_insert(address);
    }
    all.into_values().collect()
}

/// Returns the name of a use's pool, whether or not it exists.
pub(super) fn name_of(given: &ShareInput<'_, '_>, used: &Use) -> Sourced<Str> {
    Sourced::new(given.names.pool(&used.full_name(), &used.port, used.resolved), used.origin)
}
