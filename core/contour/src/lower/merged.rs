//! Merges the clusters of all hosts into one list by name; the first of several with one name wins. An edit changes one host's list, and the
//! others' clusters keep their places.

use crate::model::Cluster;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir;
use chancery_text::Str;
use core::cmp::Ordering;
use hashbrown::HashSet;

/// A cluster with its name.
pub(super) type Named = (Str, Arc<Cluster>);

/// The merged lists of all hosts.
#[derive(Default)]
pub(super) struct Merged {
    lists: Vec<Arc<Vec<Named>>>,
    /// Sorted by name; entries of one name keep the order of their lists.
    entries: Vec<Entry>,
}

/// A cluster of a list.
pub(super) struct Entry {
    pub(super) name: Str,
    pub(super) of: Arc<Cluster>,
    /// Whether Envoy shows it a certificate.
    pub(super) shows_certificate: bool,
    /// The lowered cluster, if it had no finding.
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

/// Up to this many clusters are added and removed one by one; otherwise all lists are merged again.
const FEW: usize = 64;

/// The difference between a list and its predecessor.
struct Difference<'a> {
    list: usize,
    went: Vec<&'a Named>,
    came: Vec<&'a Named>,
}

impl<'a> Difference<'a> {
    fn of(list: usize, before: &'a [Named], now: &'a [Named]) -> Self {
        let (mut went, mut came) = (Vec::new(), Vec::new());
        let (mut before, mut now) = (before.iter().peekable(), now.iter().peekable());
        loop {
            let order = match (before.peek(), now.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((before, _)), Some((now, _))) => before.cmp(now),
            };
            let old = before.next_if(|_| order.is_le());
            let new = now.next_if(|_| order.is_ge());
            if !matches!((old, new), (Some((_, old)), Some((_, new))) if Arc::ptr_eq(old, new)) {
                went.extend(old);
                came.extend(new);
            }
        }
        Self { list, went, came }
    }

    fn len(&self) -> usize {
        self.went.len() + self.came.len()
    }
}

impl Merged {
    /// Merges lists that are sorted by name. Returns the clusters that changed lists no longer contain.
    pub(super) fn update(&mut self, lists: Vec<Arc<Vec<Named>>>) -> Vec<Arc<Cluster>> {
        let before = core::mem::take(&mut self.lists);
        let pairs = before.iter().zip(&lists).enumerate().filter(|(_, (before, now))| !Arc::ptr_eq(before, now));
        let differences: Vec<Difference<'_>> = match before.len() == lists.len() {
            true => pairs.map(|(at, (before, now))| Difference::of(at, before, now)).collect(),
            false => Vec::new(),
        };
        let is_little = before.len() == lists.len() && differences.iter().map(Difference::len).sum::<usize>() <= FEW;
        let gone = match is_little {
            true => differences.iter().flat_map(|difference| self.exchange(difference)).collect(),
            false => self.fill(&lists),
        };
        self.lists = lists;
        gone
    }

    /// Puts all lists together anew.
    fn fill(&mut self, lists: &[Arc<Vec<Named>>]) -> Vec<Arc<Cluster>> {
        let before = core::mem::take(&mut self.entries);
        self.entries = lists.iter().enumerate().flat_map(|(at, list)| list.iter().map(move |named| Entry::new(named, at))).collect();
        self.entries.sort_by(|a, b| a.key().cmp(&b.key()));
        (0..self.entries.len()).for_each(|at| self.look_before(at));
        let address = |of: &Arc<Cluster>| Arc::as_ptr(of).addr();
        let there: HashSet<usize> = self.entries.iter().map(|entry| address(&entry.of)).collect();
        before.into_iter().map(|entry| entry.of).filter(|of| !there.contains(&address(of))).collect()
    }

    /// Removes clusters that are no longer in a list, and adds its new ones.
    fn exchange(&mut self, difference: &Difference<'_>) -> Vec<Arc<Cluster>> {
        let Difference { list, went, came } = difference;
        for (name, _) in went {
            let at = self.place(name, *list);
            if self.entries.get(at).is_some_and(|entry| entry.key() == (name, *list)) {
                self.entries.remove(at);
                self.look_before(at);
            }
        }
        for named in came {
            let at = self.place(&named.0, *list);
            self.entries.insert(at, Entry::new(named, *list));
            self.look_before(at);
            self.look_before(at + 1);
        }
        let is_there = |of: &Arc<Cluster>| came.iter().any(|(_, now)| Arc::ptr_eq(now, of));
        went.iter().map(|(_, of)| of.clone()).filter(|of| !is_there(of)).collect()
    }

    /// The position of a list's cluster, or its insertion point.
    fn place(&self, name: &Str, list: usize) -> usize {
        self.entries.partition_point(|known| known.key() < (name, list))
    }

    /// Checks whether the entry at this index is the first of its name.
    fn look_before(&mut self, at: usize) {
        let before = at.checked_sub(1).and_then(|before| self.entries.get(before)).map(|entry| entry.name.clone());
        if let Some(entry) = self.entries.get_mut(at) {
            entry.is_first = before.is_none_or(|before| before != entry.name);
        }
    }

    /// The first of each name.
    pub(super) fn firsts(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.iter_mut().filter(|entry| entry.is_first)
    }
}

#[cfg(test)]
mod tests {
    use super::{Merged, Named};
    use crate::model::{CircuitBreakers, Cluster, Port, Service};
    use alloc::format;
    use alloc::sync::Arc;
    use alloc::vec::Vec;
    use chancery_base::resource::{Origin, Sourced};
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
        list.sort_by(|a, b| a.0.cmp(&b.0));
        list.dedup_by(|later, first| later.0 == first.0);
        Arc::new(list)
    }

    proptest! {
        /// Incremental updates equal sorting all lists.
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
                sorted.sort_by(|a, b| a.0.cmp(&b.0));
                sorted.dedup_by(|later, first| later.0 == first.0);
                let sorted: Vec<_> = sorted.iter().map(|(name, of)| (name.clone(), Arc::as_ptr(of))).collect();
                let found: Vec<_> = merged.firsts().map(|entry| (entry.name.clone(), Arc::as_ptr(&entry.of))).collect();
                prop_assert_eq!(found, sorted);
            }
        }
    }
}
