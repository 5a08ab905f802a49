//! Makes the shares of Ingresses. A share is made again only if its Ingress, or a Service or Secret that it refers to, changes.
//!
//! Does not merge Ingresses, and does not use the parts of the current gateway; see the modules of the steps.

use super::draft::RequestedListener;
use super::memory::{Memory, address};
use super::share::{CachedShares, GatewayTraits, References, Share, ShareInput};
use super::{backends, certificates, listeners, path_maps, pools, priorities, probes, settings};
use crate::model::Ingress;
use crate::names::Names;
use crate::source::Source;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::Properties;
use hashbrown::HashMap;

/// Returns the shares of Ingresses, in order. A known share is reused if the Ingress and its references are unchanged.
pub fn make_shares(memory: &mut Memory, source: &Source<'_>, names: &Names, gateway: &Properties, ingresses: &[Arc<Ingress>]) -> Vec<Arc<Share>> {
    let cached = &mut memory.shares;
    let world = GatewayTraits::of(source, gateway);
    if cached.world != world {
        *cached = CachedShares { world, ..CachedShares::default() };
    }
    let given = ShareInput { source, names, world: &cached.world };
    let tables = source.tables();
    let finds_same = cached.tables.are_same_tables(&tables);
    let mut by_address: Option<HashMap<usize, &Arc<Share>>> = None;
    let mut out = Vec::with_capacity(ingresses.len());
    for (at, ingress) in ingresses.iter().enumerate() {
        // Most Ingresses keep their position, including the edited one.
        let there = cached.shares.get(at).filter(|known| known.ingress.object == ingress.object);
        let known = there.or_else(|| {
            let all = by_address.get_or_insert_with(|| cached.shares.iter().map(|share| (address(&share.ingress), share)).collect());
            all.get(&address(ingress)).copied()
        });
        let known = known.filter(|known| Arc::ptr_eq(&known.ingress, ingress));
        let known = known.filter(|known| finds_same || known.found.is_still(source, ingress));
        out.push(known.cloned().unwrap_or_else(|| Arc::new(make_share(&given, ingress.clone()))));
    }
    drop(by_address);
    cached.tables = tables;
    cached.shares.clone_from(&out);
    out
}

fn make_share(input: &ShareInput<'_, '_>, ingress: Arc<Ingress>) -> Share {
    let (uses, crash) = match backends::uses(input, &ingress) {
        Ok(uses) => (uses, None),
        Err(crash) => (Vec::new(), Some(crash)),
    };
    let mut next = usize::from(ingress.default_backend.is_some());
    let starts = ingress.rules.iter().map(|rule| {
        let start = next;
        next += rule.paths().len();
        start
    });
    let mut share = Share {
        found: References::of(input.source, &ingress),
        crash,
        uses,
        starts: starts.collect(),
        probes: Vec::new(),
        settings: Vec::new(),
        pools: Vec::new(),
        certificates: Vec::new(),
        listeners: Vec::new(),
        priority: priorities::of(&ingress),
        paths: Vec::new(),
        notes: Default::default(),
        ingress,
    };
    if share.crash.is_none() {
        probes::add(input, &mut share);
        settings::add(input, &mut share);
        pools::add(input, &mut share);
        certificates::add(input, &mut share);
        let wanted = listeners::of_ingress(input.source, input.names, &share.ingress);
        share.listeners = wanted.into_iter().map(|(id, config)| Arc::new(RequestedListener { id: Arc::new(id), config })).collect();
        path_maps::add(input, &mut share);
    }
    share
}
