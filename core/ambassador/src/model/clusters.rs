//! Stores the clusters of a model by number: a name keeps its number between compiles, and an entry stays the same shared value while its
//! definition and its requesters are unchanged. For clusters themselves see `cluster`.

use super::cluster::{Cluster, ClusterEntry};
use super::numbered::put_in_order;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::resource::Origin;
use chancery_text::Str;
use hashbrown::HashMap;
use sha1::{Digest, Sha1};

/// Longer names are shortened: Envoy accepts 60 characters.
const LONGEST_NAME: usize = 60;

#[derive(Debug, Default)]
pub struct Clusters {
    numbers: HashMap<Str, u32>,
    slots: Vec<Slot>,
    /// The current clusters, sorted by their Envoy names.
    order: Vec<u32>,
    /// Long names with ambiguous short forms.
    ambiguous: Vec<u32>,
    by_short: HashMap<Str, u32>,
    round: u32,
}

#[derive(Debug)]
struct Slot {
    name: Str,
    envoy_name: Str,
    entry: Option<Arc<ClusterEntry>>,
    /// The last compile that requested it.
    round: u32,
    /// The number of requesters in this compile.
    asked: u32,
    ordered: bool,
}

impl Clusters {
    /// Starts a compile without requests. Returns whether numbers are still valid.
    pub(super) fn begin(&mut self) -> bool {
        // Old names are dropped when they outnumber the current ones.
        let stale = self.slots.len() > 2 * self.order.len() + 64 || self.round == u32::MAX;
        if stale {
            *self = Self::default();
        }
        self.round += 1;
        !stale
    }

    /// The number of a name.
    pub(super) fn number(&mut self, name: &Str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.slots.len() as u32;
        let mut envoy_name = name.clone();
        if name.len() > LONGEST_NAME {
            let short = shortened(name);
            envoy_name = format!("{short}-0").into();
            if let Some(other) = self.by_short.insert(short, number) {
                self.ambiguous.extend([other, number]);
            }
        }
        self.slots.push(Slot { name: name.clone(), envoy_name, entry: None, round: 0, asked: 0, ordered: false });
        self.numbers.insert(name.clone(), number);
        number
    }

    /// Whether the cluster is defined in this compile.
    pub(super) fn is_there(&self, number: u32) -> bool {
        self.slots.get(number as usize).is_some_and(|slot| slot.round == self.round)
    }

    /// Defines a cluster that is not defined in this compile.
    pub(super) fn define(&mut self, number: u32, cluster: &Arc<Cluster>) {
        let Some(slot) = self.slots.get_mut(number as usize) else { return };
        (slot.round, slot.asked) = (self.round, 0);
        let same = |entry: &Arc<ClusterEntry>| Arc::ptr_eq(&entry.cluster, cluster) && entry.more.is_empty() && entry.envoy_name == slot.envoy_name;
        if !slot.entry.as_ref().is_some_and(same) {
            let entry = ClusterEntry { cluster: cluster.clone(), envoy_name: slot.envoy_name.clone(), more: Vec::new(), origins: Vec::new() };
            slot.entry = Some(Arc::new(entry));
        }
    }

    /// Records a requester of an existing cluster.
    pub(super) fn ask(&mut self, number: u32, origin: Option<Origin>) {
        let Some(slot) = self.slots.get_mut(number as usize) else { return };
        let (Some(entry), Some(origin)) = (&mut slot.entry, origin) else { return };
        let asked = slot.asked as usize;
        slot.asked += 1;
        if entry.origins.get(asked) != Some(&origin) {
            let entry = Arc::make_mut(entry);
            entry.origins.truncate(asked);
            entry.origins.push(origin);
        }
    }

    /// An existing cluster, mutable.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut ClusterEntry> {
        let round = self.round;
        let slot = self.slots.get_mut(*self.numbers.get(name)? as usize).filter(|slot| slot.round == round)?;
        slot.entry.as_mut().map(Arc::make_mut)
    }

    /// Records a requester that shares another one's cluster.
    pub(super) fn share(&mut self, name: &str, origin: Option<Origin>) {
        if let Some(number) = self.numbers.get(name) {
            self.ask(*number, origin);
        }
    }

    /// Ends a compile: drops old requesters, and sorts the clusters.
    pub(super) fn finalize(&mut self) {
        let mut fresh = Vec::new();
        let mut gone = false;
        for (number, slot) in self.slots.iter_mut().enumerate() {
            if slot.round != self.round {
                slot.entry = None;
                gone |= core::mem::take(&mut slot.ordered);
                continue;
            }
            if let Some(entry) = &mut slot.entry
                && entry.origins.len() > slot.asked as usize
            {
                Arc::make_mut(entry).origins.truncate(slot.asked as usize);
            }
            if !core::mem::replace(&mut slot.ordered, true) {
                fresh.push(number as u32);
            }
        }
        let Self { order, slots, .. } = self;
        if gone {
            order.retain(|number| slots.get(*number as usize).is_some_and(|slot| slot.ordered));
        }
        let name = |number: &u32| slots.get(*number as usize).map(|slot| &slot.envoy_name);
        put_in_order(order, fresh, |a, b| name(a).cmp(&name(b)));
        if !self.ambiguous.is_empty() {
            self.make_names_unique();
        }
    }

    /// Long names that are shortened to the same are counted, in order.
    fn make_names_unique(&mut self) {
        let mut long: Vec<u32> = self.order.iter().copied().filter(|number| self.ambiguous.contains(number)).collect();
        long.sort_by(|a, b| self.slots.get(*a as usize).map(|slot| &slot.name).cmp(&self.slots.get(*b as usize).map(|slot| &slot.name)));
        let mut taken: HashMap<Str, u32> = HashMap::new();
        for number in long {
            let Some(slot) = self.slots.get_mut(number as usize) else { continue };
            let short = shortened(&slot.name);
            let count = taken.entry(short.clone()).or_default();
            slot.envoy_name = format!("{short}-{count}").into();
            *count += 1;
            if let Some(entry) = slot.entry.as_mut().filter(|entry| entry.envoy_name != slot.envoy_name) {
                Arc::make_mut(entry).envoy_name.clone_from(&slot.envoy_name);
            }
        }
        let Self { order, slots, .. } = self;
        order.sort_by(|a, b| slots.get(*a as usize).map(|slot| &slot.envoy_name).cmp(&slots.get(*b as usize).map(|slot| &slot.envoy_name)));
    }

    /// Whether names depend on the other clusters.
    pub(crate) fn is_ambiguous(&self) -> bool {
        !self.ambiguous.is_empty()
    }

    /// A cluster by its long name.
    pub fn get(&self, name: &str) -> Option<&ClusterEntry> {
        let slot = self.slots.get(*self.numbers.get(name)? as usize).filter(|slot| slot.round == self.round)?;
        slot.entry.as_deref()
    }

    /// All of them with their numbers, in the order of their names in Envoy.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Arc<ClusterEntry>)> {
        self.order.iter().filter_map(|number| Some((*number, self.slots.get(*number as usize)?.entry.as_ref()?)))
    }

    /// One more than the largest number.
    pub fn numbers(&self) -> usize {
        self.slots.len()
    }
}

/// The start of a long name, with a distinguishing hash.
fn shortened(name: &str) -> Str {
    let digest: String = Sha1::digest(name.as_bytes()).iter().take(8).map(|byte| format!("{byte:02X}")).collect();
    // Only ASCII is left in the names of clusters.
    format!("{}-{digest}", name.get(..40).unwrap_or(name)).into()
}
