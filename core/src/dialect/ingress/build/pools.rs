//! Backend pools: the addresses behind each port of a Service.
//!
//! AGIC `pkg/appgw/backendaddresspools.go`.

use super::builder::{Builder, kept};
use super::draft::Use;
use crate::dialect::ingress::brownfield::by_name;
use crate::dialect::ingress::death::Died;
use crate::dialect::ingress::events::Reason;
use crate::dialect::ingress::fault;
use crate::dialect::ingress::model::{Ingress, Subset};
use crate::dialect::ingress::names::PartKind;
use crate::ir::appgw::{Address, Part, Pool};
use crate::resource::{Origin, Sourced};
use crate::text::Str;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

/// Makes all pools, and an empty one for what no endpoint has.
pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), Died> {
    let name = builder.names.default_pool();
    let id = builder.names.id(PartKind::Pool, &name);
    let empty = Pool { addresses: Some(Vec::new()), ..Pool::default() };
    builder.pools.insert(name.clone(), Part::new(name.clone(), id, empty, Origin::built_in()));
    let mut uses = core::mem::take(&mut builder.backends.uses);
    for used in &mut uses {
        let Some(ingress) = builder.ingresses.get(used.ingress) else { continue };
        used.pool = pool(builder, used, ingress).unwrap_or_else(|| name.clone());
    }
    builder.backends.uses = uses;
    let existing = builder.existing()?;
    let made: Vec<Part<Pool>> = builder.pools.values().cloned().collect();
    let properties = builder.properties();
    let theirs = existing.map(|existing| kept(&properties.pools, |name| existing.pools.contains(name))).unwrap_or_default();
    properties.pools = Some(by_name(theirs, made));
    Ok(())
}

/// The name of the pool of a use, which is there afterwards.
fn pool(builder: &mut Builder<'_, '_>, used: &Use, ingress: &Ingress<'_>) -> Option<Str> {
    let source = builder.source;
    let Some(subsets) = source.subsets(&used.service) else {
        let fault = match source.environment.multi_cluster {
            true => fault::multi_cluster_service_not_found(&used.key()),
            false => fault::endpoints_not_found(&used.key()),
        };
        builder.recorder.ingress(ingress, Reason::EndpointsEmpty, fault.text(), used.origin);
        return None;
    };
    for subset in subsets {
        if subset.ports.iter().any(|port| port.is_tcp && port.port == used.resolved) {
            let name = builder.names.pool(&used.full_name(), &used.port, used.resolved);
            if !builder.pools.contains_key(&name) {
                let id = builder.names.id(PartKind::Pool, &name);
                let pool = Pool { addresses: Some(addresses(subset)), ..Pool::default() };
                builder.pools.insert(name.clone(), Part::new(name.clone(), id, pool, used.origin).with(&used.ports));
            }
            return Some(name);
        }
        let message = format!("Backend target port {} does not have matching endpoint port", used.resolved);
        builder.recorder.ingress(ingress, Reason::BackendPortTargetMatch, message, used.port_origin);
    }
    None
}

/// Each address once, in the order of texts; names before addresses of IP have their own place among them.
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

/// The pool that a use would have, whether it is there or not.
pub(super) fn name_of(builder: &Builder<'_, '_>, used: &Use) -> Sourced<Str> {
    Sourced::new(builder.names.pool(&used.full_name(), &used.port, used.resolved), used.origin)
}
