//! The data of a proxy: the replies to its watches.

use super::watch::{Health, Reply, Watch, own_health};
use super::watch_set::WatchSet;
use crate::chain::{Chain, Request, Target};
use crate::entry::{Entry, Kind};
use crate::instance::Instance;
use crate::names::UpstreamId;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use chancery_base::ir::Tree;
use chancery_text::Str;

/// The replies that a proxy has so far.
#[derive(Clone, Debug, Default)]
pub struct Mailbox {
    replies: BTreeMap<Watch, Arc<Reply>>,
    /// The current watches.
    watch_set: WatchSet,
}

/// A state machine: it returns the watches that follow from the replies so far.
pub trait Machine {
    /// Returns the watches.
    fn watch_set(&self, mail: &Mailbox) -> WatchSet;
}

impl Mailbox {
    /// Stores replies, and returns the new watches; replies to other watches are removed, and then those that depended on them.
    pub fn deliver(&mut self, machine: &dyn Machine, events: impl IntoIterator<Item = (Watch, Arc<Reply>)>) -> &WatchSet {
        self.replies.extend(events);
        loop {
            self.watch_set = machine.watch_set(self);
            let (watch_set, before) = (&self.watch_set, self.replies.len());
            self.replies.retain(|watch, _| watch_set.contains(watch));
            if self.replies.len() == before {
                return &self.watch_set;
            }
        }
    }

    /// The watches without a reply.
    pub fn open(&self) -> impl Iterator<Item = &Watch> {
        self.watch_set.watches().filter(|watch| !self.knows(watch))
    }

    /// Whether every watch has its reply.
    pub fn is_complete(&self) -> bool {
        self.open().next().is_none()
    }

    /// Each watch with its reply, in order.
    pub(super) fn replies(&self) -> impl Iterator<Item = (&Watch, &Reply)> {
        self.replies.iter().map(|(watch, reply)| (watch, &**reply))
    }

    /// The watch whose reply led to this one.
    pub(super) fn because(&self, watch: &Watch) -> Option<&Watch> {
        self.watch_set.because(watch)
    }

    /// Whether both have the same shared replies.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.watch_set == other.watch_set
            && self.replies.len() == other.replies.len()
            && self.replies.iter().zip(&other.replies).all(|((a, one), (b, two))| a == b && Arc::ptr_eq(one, two))
    }

    fn reply(&self, watch: &Watch) -> Option<&Reply> {
        self.replies.get(watch).map(|reply| &**reply)
    }

    /// Whether a watch has its reply.
    pub fn knows(&self, watch: &Watch) -> bool {
        self.replies.contains_key(watch)
    }

    pub fn instances(&self, watch: &Watch) -> &[Arc<Instance>] {
        if let Some(Reply::Instances(instances)) = self.reply(watch) { instances } else { &[] }
    }

    /// Whether the datacenter of a target is reachable.
    pub fn reaches(&self, target: &Target, datacenter: &Str) -> bool {
        !matches!(self.reply(&Watch::Health(Health::of(target, datacenter))), Some(Reply::NoDatacenter))
    }

    /// The instances of a target.
    pub fn of_target(&self, target: &Target, datacenter: &Str) -> &[Arc<Instance>] {
        self.instances(&Watch::Health(Health::of(target, datacenter)))
    }

    /// The fields of an entry, or null.
    pub fn entry(&self, kind: Kind, name: &Str) -> &Tree {
        const NOTHING: &Tree = &Tree::NULL;
        match self.reply(&Watch::Entry(kind, name.clone())) {
            Some(Reply::Entry(Some(entry))) => &entry.tree,
            _ => NOTHING,
        }
    }

    /// A whole entry.
    pub fn whole_entry(&self, kind: Kind, name: &Str) -> Option<&Arc<Entry>> {
        if let Some(Reply::Entry(entry)) = self.reply(&Watch::Entry(kind, name.clone())) { entry.as_ref() } else { None }
    }

    pub fn entries(&self, kind: Kind) -> &[Arc<Entry>] {
        if let Some(Reply::Entries(entries)) = self.reply(&Watch::Entries(kind)) { entries } else { &[] }
    }

    /// The known chains, by upstream.
    pub fn chains(&self) -> impl Iterator<Item = (&UpstreamId, &Chain)> {
        self.replies().filter_map(|(watch, reply)| match (watch, reply) {
            (Watch::Chain(id, _), Reply::Chain(Some(chain))) => Some((id, &**chain)),
            _ => None,
        })
    }

    /// The known chains, each with its watch.
    pub(super) fn chain_watches(&self) -> impl Iterator<Item = (&Watch, &Chain)> {
        self.replies().filter_map(|(watch, reply)| if let Reply::Chain(Some(chain)) = reply { Some((watch, &**chain)) } else { None })
    }

    pub fn chain(&self, id: &UpstreamId) -> Option<&Chain> {
        let least = Watch::Chain(id.clone(), Request::default());
        let of_it = self.replies.range(least..).take_while(|(watch, _)| matches!(watch, Watch::Chain(other, _) if other == id));
        of_it.filter_map(|(_, reply)| if let Reply::Chain(Some(chain)) = &**reply { Some(&**chain) } else { None }).next()
    }

    pub fn names(&self, watch: &Watch) -> BTreeSet<Str> {
        if let Some(Reply::Names(names)) = self.reply(watch) { names.clone() } else { BTreeSet::new() }
    }

    pub fn upstreams(&self, watch: &Watch) -> BTreeSet<UpstreamId> {
        if let Some(Reply::Upstreams(upstreams)) = self.reply(watch) { upstreams.clone() } else { BTreeSet::new() }
    }

    /// The exported services, each with its peers.
    pub fn exports(&self) -> BTreeMap<Str, BTreeSet<Str>> {
        if let Some(Reply::Exports(exports)) = self.reply(&Watch::Exports) { exports.clone() } else { BTreeMap::new() }
    }

    pub fn trees(&self, watch: &Watch) -> &[Tree] {
        if let Some(Reply::Trees(trees)) = self.reply(watch) { trees } else { &[] }
    }
}

/// Adds the watches for the known chains: instances of targets, and their mesh gateways.
pub(super) fn for_chains(mail: &Mailbox, datacenter: &Str, transparent: bool, watch_set: &mut WatchSet) {
    for (watch, chain) in mail.chain_watches() {
        for target in chain.targets.values() {
            watch_set.chained(watch, Watch::Health(Health::of(target, datacenter)));
            let gateways = match target.mesh_gateway.as_str() {
                "remote" => &target.datacenter,
                "local" => datacenter,
                _ => continue,
            };
            if target.datacenter != *datacenter && (!gateways.is_empty()) {
                watch_set.chained(watch, Watch::MeshGateways(gateways.clone()));
            }
        }
        if transparent && !chain.targets.contains_key(&chain.id()) {
            watch_set.chained(watch, Watch::Health(own_health(chain)));
        }
    }
}
