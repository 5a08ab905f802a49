//! The inputs of a reply, and which of them changed, so that a change wakes only the affected watches.
//!
//! A topic may be wider than the data that was read, but not narrower: a watch that is woken needlessly computes the same reply again, which is
//! dropped.

use super::same;
use crate::chain::Lookups;
use crate::entry::Kind;
use crate::instance::Instance;
use crate::state::State;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use chancery_text::Str;
use core::cell::RefCell;

/// A part of the catalog or of the config entries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// A config entry, existing or not.
    Entry(Kind, Str),
    /// All config entries of a kind.
    Entries(Kind),
    /// The instances of a service, and those that represent it in the mesh.
    Instances(Str),
    /// The instances of a kind.
    OfKind(Str),
    /// An instance of the agent, by its id.
    Local(Str),
    /// The set of all instances.
    Catalog,
    /// The virtual IP of a service.
    VirtualIp(Str),
    /// A certificate, by its name in references.
    Certificate(Str),
}

/// The topics that were read.
#[derive(Debug, Default)]
pub struct Reads(RefCell<BTreeSet<Topic>>);

impl Reads {
    pub(crate) fn note(&self, topic: Topic) {
        self.0.borrow_mut().insert(topic);
    }

    pub(crate) fn entry(&self, kind: Kind, name: &str) {
        self.note(Topic::Entry(kind, Str::new(name)));
    }

    /// The inputs of a chain.
    pub(crate) fn lookups(&self, of: Lookups) {
        self.0.borrow_mut().extend(of.into_keys().into_iter().map(|(kind, name)| Topic::Entry(kind, name)));
    }

    pub(crate) fn into_topics(self) -> BTreeSet<Topic> {
        self.0.into_inner()
    }
}

/// Returns the topics that changed.
pub(crate) fn changed(before: &State, after: &State) -> BTreeSet<Topic> {
    let mut changed = BTreeSet::new();
    entries(before, after, &mut changed);
    instances(before, after, &mut changed);
    if before.virtual_ips != after.virtual_ips {
        changed.insert(Topic::Catalog);
        let names = before.virtual_ips.keys().chain(after.virtual_ips.keys());
        let is_other = |name: &&Str| before.virtual_ips.get(*name) != after.virtual_ips.get(*name);
        changed.extend(names.filter(is_other).cloned().map(Topic::VirtualIp));
    }
    let names = before.certificates.keys().chain(after.certificates.keys());
    let is_other = |name: &&Str| before.certificates.contains_key(*name) != after.certificates.contains_key(*name);
    changed.extend(names.filter(is_other).cloned().map(Topic::Certificate));
    if before.wildcards != after.wildcards {
        changed.insert(Topic::Entries(Kind::TerminatingGateway));
    }
    changed
}

fn entries(before: &State, after: &State, changed: &mut BTreeSet<Topic>) {
    let mut note = |(kind, name): &(Kind, Str)| {
        changed.insert(Topic::Entry(*kind, name.clone()));
        changed.insert(Topic::Entries(*kind));
    };
    for (key, entry) in &after.entries {
        if !before.entries.get(key).is_some_and(|known| same::entry(known, entry)) {
            note(key);
        }
    }
    before.entries.keys().filter(|key| !after.entries.contains_key(*key)).for_each(note);
}

fn instances(before: &State, after: &State, changed: &mut BTreeSet<Topic>) {
    type Key<'a> = (&'a Str, &'a Str, &'a Str);
    fn key(of: &Arc<Instance>) -> Key<'_> {
        (&of.node.datacenter, &of.node.name, &of.id)
    }
    let mut note = |of: &Arc<Instance>| {
        changed.extend([Topic::Instances(of.service.clone()), Topic::Instances(of.destination()), Topic::OfKind(of.kind.clone())]);
        if of.local {
            changed.insert(Topic::Local(of.id.clone()));
        }
    };
    let mut is_other_catalog = false;
    let mut both = |one: &Arc<Instance>, two: &Arc<Instance>| {
        if !same::instance(one, two) {
            note(one);
            note(two);
            is_other_catalog |=
                one.service != two.service || one.kind != two.kind || one.native != two.native || one.destination() != two.destination();
        }
    };
    let is_in_place = before.instances.len() == after.instances.len()
        && before.instances.iter().zip(after.instances.iter()).all(|(one, two)| Arc::ptr_eq(one, two) || key(one) == key(two));
    if is_in_place {
        before.instances.iter().zip(after.instances.iter()).for_each(|(one, two)| both(one, two));
    } else {
        let mut gone: BTreeMap<Key<'_>, &Arc<Instance>> = before.instances.iter().map(|of| (key(of), of)).collect();
        let mut new = alloc::vec::Vec::new();
        for of in &after.instances {
            match gone.remove(&key(of)) {
                Some(known) => both(known, of),
                None => new.push(of),
            }
        }
        is_other_catalog |= !gone.is_empty() || !new.is_empty();
        gone.into_values().chain(new).for_each(note);
    }
    if is_other_catalog {
        changed.insert(Topic::Catalog);
    }
}
