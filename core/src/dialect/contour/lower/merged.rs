//! The clusters of all hosts in one list, by name; of several of one name the first counts. An edit changes the list of one host, and what comes from
//! the others stays in its place.
//!
//! What must not be here: what a cluster is called, and how it is lowered.

use crate::dialect::contour::model::Cluster;
use crate::ir;
use crate::order::Order as _;
use crate::text::Str;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashSet;

/// A cluster with its name.
pub(super) type Named = (Str, Arc<Cluster>);

/// The lists of hosts, put together.
#[derive(Default)]
pub(super) struct Merged {
    lists: Vec<Arc<Vec<Named>>>,
    /// By name, and those of one name in the order of their lists.
    entries: Vec<Entry>,
}

/// A cluster of a list.
pub(super) struct Entry {
    pub(super) name: Str,
    pub(super) of: Arc<Cluster>,
    /// Whether Envoy shows it a certificate.
    pub(super) shows_certificate: bool,
    /// What was made of it without a finding.
    pub(super) lowered: Option<Arc<ir::Cluster>>,
    list: usize,
    is_first: bool,
}

impl Entry {
    fn new((name, of): &Named, list: usize) -> Self {
        Self { name: name.clone(), of: of.clone(), shows_certificate: of.client_certificate.is_some(), lowered: None, list, is_first: true }
    }

    fn key(&self) -> (&Str, usize) {
        (&self.name, self.list)
    }
}

impl Merged {
    /// Puts lists together, each of which is in the order of names. Gives the clusters that are no longer in the lists that changed.
    pub(super) fn update(&mut self, lists: Vec<Arc<Vec<Named>>>) -> Vec<Arc<Cluster>> {
        let before = core::mem::replace(&mut self.lists, lists);
        let has_changed: Vec<bool> = match before.len() == self.lists.len() {
            true => before.iter().zip(&self.lists).map(|(before, now)| !Arc::ptr_eq(before, now)).collect(),
            false => vec![true; before.len().max(self.lists.len())],
        };
        let is_fresh = |at: usize| has_changed.get(at).copied().unwrap_or(true);
        let lists = self.lists.iter().enumerate().filter(|(at, _)| is_fresh(*at));
        let mut fresh: Vec<Entry> = lists.flat_map(|(at, list)| list.iter().map(move |named| Entry::new(named, at))).collect();
        fresh.order_by(|a, b| a.key().cmp(&b.key()));
        let address = |of: &Arc<Cluster>| Arc::as_ptr(of).addr();
        let still_there: HashSet<usize> = fresh.iter().map(|entry| address(&entry.of)).collect();
        let old = core::mem::take(&mut self.entries);
        let places: Vec<usize> = fresh.iter().map(|entry| old.partition_point(|known| known.key() < entry.key())).collect();
        let mut all = Vec::with_capacity(old.len() + fresh.len());
        let mut gone = Vec::new();
        let mut old = old.into_iter();
        // Whether the entry before the next of the old ones is another than it was.
        let mut has_new_neighbour = false;
        let mut keep = |all: &mut Vec<Entry>, entry: Entry, has_new_neighbour: &mut bool| {
            if is_fresh(entry.list) {
                gone.extend(Some(entry.of).filter(|of| !still_there.contains(&address(of))));
                *has_new_neighbour = true;
            } else {
                push(all, entry, core::mem::take(has_new_neighbour));
            }
        };
        let mut taken = 0;
        for (entry, place) in fresh.into_iter().zip(places) {
            old.by_ref().take(place - taken).for_each(|entry| keep(&mut all, entry, &mut has_new_neighbour));
            taken = place;
            push(&mut all, entry, true);
            has_new_neighbour = true;
        }
        old.for_each(|entry| keep(&mut all, entry, &mut has_new_neighbour));
        self.entries = all;
        gone
    }

    /// The first of each name.
    pub(super) fn firsts(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.iter_mut().filter(|entry| entry.is_first)
    }
}

/// Adds an entry; looks at the one before it where that is not known to be what it was.
fn push(all: &mut Vec<Entry>, mut entry: Entry, has_new_neighbour: bool) {
    if has_new_neighbour {
        entry.is_first = all.last().is_none_or(|last| last.name != entry.name);
    }
    all.push(entry);
}

#[cfg(test)]
mod tests {
    use super::{Merged, Named};
    use crate::dialect::contour::model::{CircuitBreakers, Cluster, Port, Service};
    use crate::order::Order as _;
    use crate::resource::{Origin, Sourced};
    use alloc::format;
    use alloc::sync::Arc;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn named(name: u8) -> Named {
        let port = Port::default();
        let service = Service {
            namespace: "default".into(),
            name: "web".into(),
            port: port.clone(),
            health_port: port,
            protocol: Sourced::default(),
            circuit_breakers: CircuitBreakers::default(),
            external_name: Sourced::default(),
            weight: Sourced::default(),
            ports: Origin::built_in(),
        };
        (format!("{name}").into(), Arc::new(Cluster::new(service, Sourced::default(), Origin::built_in())))
    }

    fn list(names: &[u8]) -> Arc<Vec<Named>> {
        let mut list: Vec<Named> = names.iter().map(|name| named(*name)).collect();
        list.order_by(|a, b| a.0.cmp(&b.0));
        list.dedup_by(|later, first| later.0 == first.0);
        Arc::new(list)
    }

    proptest! {
        /// However lists change, the result is what sorting all of them gives.
        #[test]
        fn lists_that_change_give_what_sorting_gives(
            mut lists in prop::collection::vec(prop::collection::vec(0_u8..12, 0..6), 1..5),
            edits in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(0_u8..12, 0..6), 0_u8..8), 1..8),
        ) {
            let mut known: Vec<_> = lists.iter().map(|names| list(names)).collect();
            let mut merged = Merged::default();
            merged.update(known.clone());
            for (at, names, kind) in edits {
                match kind {
                    0 => {
                        lists.push(names.clone());
                        known.push(list(&names));
                    }
                    _ => {
                        let at = at.index(known.len());
                        known[at] = list(&names);
                    }
                }
                merged.update(known.clone());
                let mut sorted: Vec<Named> = known.iter().flat_map(|list| list.iter().cloned()).collect();
                sorted.order_by(|a, b| a.0.cmp(&b.0));
                sorted.dedup_by(|later, first| later.0 == first.0);
                let sorted: Vec<_> = sorted.iter().map(|(name, of)| (name.clone(), Arc::as_ptr(of))).collect();
                let found: Vec<_> = merged.firsts().map(|entry| (entry.name.clone(), Arc::as_ptr(&entry.of))).collect();
                prop_assert_eq!(found, sorted);
            }
        }
    }
}
