//! The config entries that a chain may be made of, and what they say where they are asked.

use crate::dialect::consul::entry::{Entries, Entry, Kind};
use crate::ir::Tree;
use crate::text::Str;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;

/// The config entries that a chain may be made of: those that are stored, with others in their place.
#[derive(Clone, Debug)]
pub struct Set<'a> {
    /// What is stored.
    pub entries: &'a Entries,
    /// What stands instead, or besides; `None` where nothing does.
    pub instead: BTreeMap<(Kind, Str), Option<Arc<Entry>>>,
    /// Nothing that is stored counts.
    pub alone: bool,
}

impl<'a> Set<'a> {
    /// What is stored.
    pub fn of(entries: &'a Entries) -> Self {
        Self { entries, instead: BTreeMap::new(), alone: false }
    }

    /// An entry.
    pub(crate) fn get(&self, kind: Kind, name: &str) -> Option<&Arc<Entry>> {
        let key = (kind, Str::new(name));
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
