//! The set of watches of a machine, each with the watch whose reply led to it.

use super::watch::Watch;
use alloc::collections::BTreeMap;

/// The watches of a machine. Initial ones are always there; a chained one follows from the reply to another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchSet(BTreeMap<Watch, Option<Watch>>);

impl WatchSet {
    /// The initial watches.
    pub(crate) fn initial(all: impl IntoIterator<Item = Watch>) -> Self {
        Self(all.into_iter().map(|watch| (watch, None)).collect())
    }

    /// Adds an initial watch.
    pub(super) fn first(&mut self, watch: Watch) {
        self.0.insert(watch, None);
    }

    /// Adds a watch that follows from the reply to another, unless it is already there.
    pub(super) fn chained(&mut self, from: &Watch, watch: Watch) {
        self.0.entry(watch).or_insert_with(|| Some(from.clone()));
    }

    pub fn contains(&self, watch: &Watch) -> bool {
        self.0.contains_key(watch)
    }

    /// The watch whose reply led to this one.
    pub fn because(&self, watch: &Watch) -> Option<&Watch> {
        self.0.get(watch)?.as_ref()
    }

    /// All watches, in order.
    pub fn watches(&self) -> impl Iterator<Item = &Watch> {
        self.0.keys()
    }
}
