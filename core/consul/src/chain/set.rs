//! The config entries that a chain is compiled from, with lookups.

use crate::entry::{Entries, Entry, Kind};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use chancery_base::ir::Tree;
use chancery_text::Str;
use core::cell::RefCell;

/// The config entries that a chain is compiled from: the stored ones, with replacements.
#[derive(Clone, Debug)]
pub struct Set<'a> {
    /// The stored entries.
    pub entries: &'a Entries,
    /// Entries that replace or extend the stored ones; `None` hides a stored entry.
    pub replacements: BTreeMap<(Kind, Str), Option<Arc<Entry>>>,
    /// Whether the stored entries are ignored.
    pub ignores_stored: bool,
    /// Records the lookups, if set.
    pub lookups: Option<&'a Lookups>,
}

/// The config entries that were looked up, existing or not.
#[derive(Debug, Default)]
pub struct Lookups(RefCell<BTreeSet<(Kind, Str)>>);

impl Lookups {
    pub(crate) fn into_keys(self) -> BTreeSet<(Kind, Str)> {
        self.0.into_inner()
    }
}

impl<'a> Set<'a> {
    /// The stored entries.
    pub fn of(entries: &'a Entries) -> Self {
        Self { entries, replacements: BTreeMap::new(), ignores_stored: false, lookups: None }
    }

    /// The stored entries, with recorded lookups.
    pub fn noting(entries: &'a Entries, lookups: &'a Lookups) -> Self {
        Self { lookups: Some(lookups), ..Self::of(entries) }
    }

    pub(crate) fn get(&self, kind: Kind, name: &str) -> Option<&Arc<Entry>> {
        let key = (kind, Str::new(name));
        if let Some(lookups) = self.lookups {
            lookups.0.borrow_mut().insert(key.clone());
        }
        match self.replacements.get(&key) {
            Some(entry) => entry.as_ref(),
            None if self.ignores_stored => None,
            None => self.entries.get(&key),
        }
    }

    /// The fields of an entry, or null.
    pub(crate) fn tree(&self, kind: Kind, name: &str) -> &Tree {
        const NOTHING: &Tree = &Tree::NULL;
        self.get(kind, name).map_or(NOTHING, |entry| &entry.tree)
    }

    /// The settings of all proxies.
    pub(crate) fn global(&self) -> &Tree {
        self.tree(Kind::ProxyDefaults, "global")
    }
}
