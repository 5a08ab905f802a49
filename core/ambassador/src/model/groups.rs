//! Stores Mappings and their groups by number: a group keeps its number between compiles, and stays the same shared value while its members are
//! unchanged. A compile rebuilds only groups whose members changed or that had findings. For groups and Mappings themselves see `group` and
//! `mapping`.

use super::cluster::Ask;
use super::environment::Environment;
use super::group::{Group, GroupKind};
use super::key::{GroupKey, RouteWeight};
use super::notices::Notices;
use super::numbered::put_in_order;
use super::{HttpMapping, Map};
use crate::config::Resource;
use alloc::sync::Arc;
use alloc::vec::Vec;
use hashbrown::HashMap;

#[derive(Default)]
pub struct Groups {
    environment: Option<Environment>,
    /// Mappings in the order in which they are loaded.
    pub(super) loaded: Vec<Loaded>,
    numbers: HashMap<GroupKey, u32>,
    pub(super) slots: Vec<Slot>,
    /// The current groups in order of appearance.
    pub(super) first: Vec<u32>,
    /// How many of them came up before the groups of TCPMappings.
    pub(super) before_tcp: usize,
    /// The current groups in route order.
    order: Vec<u32>,
    /// The controller's own Mappings, if they have no findings.
    pub(super) probes: Option<Vec<Arc<HttpMapping>>>,
    /// Groups of TCPMappings, which are few.
    pub(super) tcp: Map<GroupKey, Group>,
    round: u32,
}

/// A Mapping's resource, and the Mapping.
pub(super) struct Loaded {
    pub(super) resource: Arc<Resource>,
    /// `None` if it was dropped.
    pub(super) mapping: Option<Arc<HttpMapping>>,
    /// The group's number.
    pub(super) group: u32,
    /// Nothing was reported, so that it need not be made again.
    pub(super) quiet: bool,
}

/// A group with its cached values.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) group: Option<Arc<Group>>,
    /// Its previous value, if it is rebuilt.
    before: Option<Arc<Group>>,
    pub(super) asks: Vec<Ask>,
    /// The compile in which it last had members.
    round: u32,
    /// Its position among the current groups.
    place: u32,
    /// Whether it must be rebuilt.
    pub(super) redo: bool,
    /// Whether a finding was reported while members were added, or a member is generated.
    pub(super) noisy: bool,
    /// Several Mappings share its requests.
    is_shared: bool,
}

impl Slot {
    /// Adds a Mapping to the group, or creates the group.
    pub(super) fn add(&mut self, mapping: Arc<HttpMapping>, notices: &mut Notices) {
        let before = notices.reports();
        match &mut self.group {
            None => self.group = Some(Arc::new(Group::of(mapping, notices))),
            Some(group) => Arc::make_mut(group).add(mapping, notices),
        }
        self.noisy |= notices.reports() > before;
    }
}

impl Groups {
    /// Starts a compile. A changed environment drops all results.
    pub(super) fn begin(&mut self, environment: Environment) {
        let stale = self.slots.len() > 2 * self.first.len() + 64 || self.round == u32::MAX;
        if stale || self.environment.as_ref() != Some(&environment) {
            *self = Self { environment: Some(environment), ..Self::default() };
        }
        self.round += 1;
        self.first.clear();
        self.tcp.clear();
    }

    /// Replaces the resources by this compile's. Results of unchanged ones stay.
    pub(super) fn load(&mut self, resources: &[&Arc<Resource>]) {
        let mut loaded = core::mem::take(&mut self.loaded);
        let same = |(known, now): &(&Loaded, &&Arc<Resource>)| Arc::ptr_eq(&known.resource, now);
        let head = loaded.iter().zip(resources).take_while(same).count();
        let tail = loaded[head..].iter().rev().zip(resources[head..].iter().rev()).take_while(same).count();
        let rest = loaded.split_off(loaded.len() - tail);
        let middle = loaded.split_off(head);
        let mut known: HashMap<usize, (usize, Loaded)> =
            middle.into_iter().enumerate().map(|(at, entry)| (Arc::as_ptr(&entry.resource).addr(), (at, entry))).collect();
        let mut last = None;
        let mut in_order = true;
        for resource in &resources[head..resources.len() - tail] {
            let entry = known.remove(&Arc::as_ptr(resource).addr()).map(|(at, entry)| {
                in_order &= last.replace(at).is_none_or(|last| last < at);
                entry
            });
            loaded.push(entry.unwrap_or_else(|| Loaded { resource: (*resource).clone(), mapping: None, group: u32::MAX, quiet: false }));
        }
        for (_, gone) in known.into_values() {
            self.touch(gone.group);
        }
        loaded.extend(rest);
        if !in_order {
            // Groups follow the order of their members, and only unchanged order is known to be correct.
            *self = Self { environment: self.environment.take(), round: self.round, ..Self::default() };
            loaded.iter_mut().for_each(|entry| (entry.quiet, entry.group) = (false, u32::MAX));
        }
        self.loaded = loaded;
    }

    /// Marks a group to be made again.
    pub(super) fn touch(&mut self, group: u32) {
        if let Some(slot) = self.slots.get_mut(group as usize) {
            slot.redo = true;
        }
    }

    /// The number of a group, which must be rebuilt.
    pub(super) fn enter(&mut self, key: &GroupKey) -> u32 {
        let number = match self.numbers.get(key) {
            Some(number) => *number,
            None => {
                let number = self.slots.len() as u32;
                self.slots.push(Slot::default());
                self.numbers.insert(key.clone(), number);
                number
            }
        };
        self.touch(number);
        number
    }

    /// Whether a group is made again.
    pub(super) fn is_made_again(&self, number: u32) -> bool {
        self.slots.get(number as usize).is_some_and(|slot| slot.redo)
    }

    /// Records a member of a group. Returns the group's values if it is rebuilt.
    pub(super) fn meet(&mut self, number: u32) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(number as usize)?;
        if slot.round != self.round {
            (slot.round, slot.place) = (self.round, self.first.len() as u32);
            self.first.push(number);
            if slot.redo {
                slot.before = slot.group.take();
                slot.noisy = false;
            }
        }
        slot.redo.then_some(slot)
    }

    /// Finishes a rebuilt group. `steady`: it has no findings and depends on nothing else.
    pub(super) fn made(&mut self, number: u32, group: Arc<Group>, asks: Vec<Ask>, steady: bool) {
        let Some(slot) = self.slots.get_mut(number as usize) else { return };
        // Later stages recognise it by being the same value.
        let before = slot.before.take().filter(|before| before.is_made_of_the_same(&group));
        let group = slot.group.insert(before.unwrap_or(group));
        slot.is_shared = matches!(&group.kind, GroupKind::Http(group) if group.mappings.len() > 1);
        slot.asks = asks;
        slot.redo = slot.noisy || !steady;
    }

    /// Sorts groups in route order: the heaviest first; of equals, the latest first.
    pub(super) fn put_in_order(&mut self, again: Vec<u32>) {
        let Self { order, slots, round, .. } = self;
        for slot in slots.iter_mut().filter(|slot| slot.round != *round) {
            (slot.group, slot.redo) = (None, true);
            slot.asks.clear();
        }
        let mut moving = Vec::new();
        moving.resize(slots.len(), false);
        again.iter().for_each(|number| moving[*number as usize] = true);
        order.retain(|number| !moving[*number as usize] && slots[*number as usize].round == *round);
        let weight = |number: &u32| -> (Option<&RouteWeight>, u32) {
            let slot = &slots[*number as usize];
            (slot.group.as_ref().and_then(|group| group.heaviest.as_ref()).map(|mapping| &mapping.weight), slot.place)
        };
        put_in_order(order, again, |a, b| weight(b).cmp(&weight(a)));
    }

    /// Groups of Mappings with their numbers, in the order of their routes.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Arc<Group>)> {
        self.order.iter().filter_map(|number| Some((*number, self.slots.get(*number as usize)?.group.as_ref()?)))
    }

    /// Groups whose requests several Mappings share, in the order in which they came up.
    pub fn shared(&self) -> Vec<Arc<Group>> {
        let slots = self.first.iter().filter_map(|number| self.slots.get(*number as usize));
        slots.filter(|slot| slot.is_shared).filter_map(|slot| slot.group.clone()).collect()
    }

    /// Like [`Groups::iter`], but removes the groups: dropping a group drops its Mappings.
    pub fn take(&mut self) -> Vec<(u32, Arc<Group>)> {
        let groups = self.iter().map(|(number, group)| (number, group.clone())).collect();
        self.loaded = Vec::new();
        self.slots.iter_mut().for_each(|slot| *slot = Slot::default());
        groups
    }

    /// One more than the largest number.
    pub fn numbers(&self) -> usize {
        self.slots.len()
    }
}
