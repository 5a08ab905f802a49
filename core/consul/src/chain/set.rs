//! The config entries that a chain may be made of, and what they say where they are asked.

use crate::entry::{Entries, Entry, Kind};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use chancery_base::ir::Tree;
use chancery_text::Str;
use core::cell::RefCell;

/// The config entries that a chain may be made of: those that are stored, with others in their place.
#[derive(Clone, Debug)]
pub struct Set<'a> {
    /// What is stored.
    pub entries: &'a Entries,
    /// What stands instead, or besides; `None` where nothing does.
    pub instead: BTreeMap<(Kind, Str), Option<Arc<Entry>>>,
    /// Nothing that is stored counts.
    pub alone: bool,
    /// Where it is written down which were asked for.
    pub lookups: Option<&'a Lookups>,
}

/// The config entries that were asked for, whether they are there or not.
#[derive(Debug, Default)]
pub struct Lookups(RefCell<BTreeSet<(Kind, Str)>>);

impl Lookups {
    /// Their kinds and names.
    pub(crate) fn into_keys(self) -> BTreeSet<(Kind, Str)> {
        self.0.into_inner()
    }
}

impl<'a> Set<'a> {
    /// What is stored.
    pub fn of(entries: &'a Entries) -> Self {
        Self { entries, instead: BTreeMap::new(), alone: false, lookups: None }
    }

    /// The same, with a list of what is asked for.
    pub fn noting(entries: &'a Entries, lookups: &'a Lookups) -> Self {
        Self { lookups: Some(lookups), ..Self::of(entries) }
    }

    /// An entry.
    pub(crate) fn get(&self, kind: Kind, name: &str) -> Option<&Arc<Entry>> {
        let key = (kind, Str::new(name));
        if let Some(lookups) = self.lookups {
            lookups.0.borrow_mut().insert(key.clone());
        }
        match self.instead.get(&key) {
            Some(entry) => entry.as_ref(),
            None if self.alone => None,
            None => self.entries.get(&key),
        }
    }

    /// The fields of an entry, or nothing.
    pub(crate) fn tree(&self, kind: Kind, name: &str) -> &Tree {
        const NOTHING: &Tree = &Tree::NULL;
        self.get(kind, name).map_or(NOTHING, |entry| &entry.tree)
    }

    /// The settings of all proxies.
    pub(crate) fn global(&self) -> &Tree {
        self.tree(Kind::ProxyDefaults, "global")
    }
}
