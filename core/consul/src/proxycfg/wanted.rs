//! The watches that a machine wants, each with the watch whose answer it follows from.
//!
//! What must not be here: which those are; the machine of each kind says so.

use super::watch::Watch;
use alloc::collections::BTreeMap;

/// The watches that a machine wants. Some are there from the beginning; a chained one follows from the answer to another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted(BTreeMap<Watch, Option<Watch>>);

impl Wanted {
    /// Those that are there from the beginning.
    pub(crate) fn initial(all: impl IntoIterator<Item = Watch>) -> Self {
        Self(all.into_iter().map(|watch| (watch, None)).collect())
    }

    /// One that is there from the beginning.
    pub(super) fn first(&mut self, watch: Watch) {
        self.0.insert(watch, None);
    }

    /// One that follows from the answer to another, unless it is wanted already.
    pub(super) fn chained(&mut self, from: &Watch, watch: Watch) {
        self.0.entry(watch).or_insert_with(|| Some(from.clone()));
    }

    /// Whether a watch is wanted.
    pub fn contains(&self, watch: &Watch) -> bool {
        self.0.contains_key(watch)
    }

    /// The watch from whose answer this one follows.
    pub fn because(&self, watch: &Watch) -> Option<&Watch> {
        self.0.get(watch)?.as_ref()
    }

    /// All watches, in order.
    pub fn watches(&self) -> impl Iterator<Item = &Watch> {
        self.0.keys()
    }
}
