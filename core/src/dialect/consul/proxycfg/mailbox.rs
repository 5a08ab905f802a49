//! The replies that a proxy has, and the loop that asks until nothing more is wanted.

use super::source::Source;
use super::watch::{Health, Reply, Watch, own_health};
use crate::dialect::consul::chain::{Chain, Target};
use crate::dialect::consul::entry::{Entry, Kind};
use crate::dialect::consul::instance::Instance;
use crate::dialect::consul::names::UpstreamId;
use crate::ir::Tree;
use crate::order::Gather as _;
use crate::text::Str;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;

/// The replies that a proxy has so far.
#[derive(Clone, Debug, Default)]
pub struct Mailbox {
    pub(super) replies: BTreeMap<Watch, Reply>,
    /// The watch whose reply made another one wanted.
    pub(super) because: BTreeMap<Watch, Watch>,
}

/// What all machines are: they say what they want to know, by what they know.
pub trait Machine {
    /// What is wanted.
    fn wanted(&self, mail: &Mailbox) -> BTreeSet<Watch>;
}

impl Mailbox {
    /// Takes an event in, and gives back what is wanted now and not known.
    pub fn deliver(&mut self, machine: &dyn Machine, watch: Watch, reply: Reply) -> BTreeSet<Watch> {
        self.replies.insert(watch, reply);
        let wanted = machine.wanted(self);
        self.replies.retain(|watch, _| wanted.contains(watch));
        wanted.into_iter().filter(|watch| !self.replies.contains_key(watch)).gathered()
    }

    /// Runs a machine until it wants to know nothing more.
    pub(crate) fn settle(machine: &dyn Machine, source: &Source<'_>) -> Self {
        let mut mail = Self::default();
        let mut open = machine.wanted(&mail);
        while let Some(watch) = open.pop_first() {
            let reply = source.answer(&watch);
            let before = core::mem::take(&mut open);
            open = mail.deliver(machine, watch.clone(), reply);
            let new = open.iter().filter(|other| !before.contains(other));
            mail.because.extend(new.map(|other| (other.clone(), watch.clone())));
        }
        mail
    }

    /// Whether a watch has its reply.
    pub fn knows(&self, watch: &Watch) -> bool {
        self.replies.contains_key(watch)
    }

    /// Instances.
    pub fn instances(&self, watch: &Watch) -> &[Arc<Instance>] {
        if let Some(Reply::Instances(instances)) = self.replies.get(watch) { instances } else { &[] }
    }

    /// Whether anything is known of the datacenter of a target.
    pub fn reaches(&self, target: &Target, datacenter: &Str) -> bool {
        !matches!(self.replies.get(&Watch::Health(Health::of(target, datacenter))), Some(Reply::NoDatacenter))
    }

    /// The instances of a target.
    pub fn of_target(&self, target: &Target, datacenter: &Str) -> &[Arc<Instance>] {
        self.instances(&Watch::Health(Health::of(target, datacenter)))
    }

    /// The fields of an entry, or nothing.
    pub fn entry(&self, kind: Kind, name: &Str) -> &Tree {
        const NOTHING: &Tree = &Tree::NULL;
        match self.replies.get(&Watch::Entry(kind, name.clone())) {
            Some(Reply::Entry(Some(entry))) => &entry.tree,
            _ => NOTHING,
        }
    }

    /// An entry, whole.
    pub fn whole_entry(&self, kind: Kind, name: &Str) -> Option<&Arc<Entry>> {
        if let Some(Reply::Entry(entry)) = self.replies.get(&Watch::Entry(kind, name.clone())) { entry.as_ref() } else { None }
    }

    /// Entries.
    pub fn entries(&self, kind: Kind) -> &[Arc<Entry>] {
        if let Some(Reply::Entries(entries)) = self.replies.get(&Watch::Entries(kind)) { entries } else { &[] }
    }

    /// The chains that are known, by upstream.
    pub fn chains(&self) -> impl Iterator<Item = (&UpstreamId, &Chain)> {
        self.replies.iter().filter_map(|(watch, reply)| match (watch, reply) {
            (Watch::Chain(id, _), Reply::Chain(Some(chain))) => Some((id, &**chain)),
            _ => None,
        })
    }

    /// The chain of an upstream.
    pub fn chain(&self, id: &UpstreamId) -> Option<&Chain> {
        self.chains().find(|(other, _)| *other == id).map(|(_, chain)| chain)
    }

    /// Names.
    pub fn names(&self, watch: &Watch) -> BTreeSet<Str> {
        if let Some(Reply::Names(names)) = self.replies.get(watch) { names.clone() } else { BTreeSet::new() }
    }

    /// Upstreams.
    pub fn upstreams(&self, watch: &Watch) -> BTreeSet<UpstreamId> {
        if let Some(Reply::Upstreams(upstreams)) = self.replies.get(watch) { upstreams.clone() } else { BTreeSet::new() }
    }

    /// What is exported, and to whom.
    pub fn exports(&self) -> BTreeMap<Str, BTreeSet<Str>> {
        if let Some(Reply::Exports(exports)) = self.replies.get(&Watch::Exports) { exports.clone() } else { BTreeMap::new() }
    }

    /// Values.
    pub fn trees(&self, watch: &Watch) -> &[Tree] {
        if let Some(Reply::Trees(trees)) = self.replies.get(watch) { trees } else { &[] }
    }
}

/// What is wanted for the chains that are known: instances of targets, and mesh gateways in front of them.
pub(super) fn for_chains(mail: &Mailbox, datacenter: &Str, transparent: bool, wanted: &mut BTreeSet<Watch>) {
    for (_, chain) in mail.chains() {
        for target in chain.targets.values() {
            wanted.insert(Watch::Health(Health::of(target, datacenter)));
            let gateways = match target.mesh_gateway.as_str() {
                "remote" => &target.datacenter,
                "local" => datacenter,
                _ => continue,
            };
            if target.datacenter != *datacenter && (!gateways.is_empty()) {
                wanted.insert(Watch::MeshGateways(gateways.clone()));
            }
        }
        if transparent && !chain.targets.contains_key(&chain.id()) {
            wanted.insert(Watch::Health(own_health(chain)));
        }
    }
}
