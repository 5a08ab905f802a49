//! What earlier emissions made, so that the next need not.
//!
//! A thing is known by being the same shared value: who lowers again and keeps the `Arc` of what did not change has it emitted
//! only once. What is found here is what would be made anew, so that the bytes do not depend on it.

use super::Context;
use crate::backend::envoy::Layout;
use crate::backend::output_map::Fragment;
use crate::ir::{Cluster, Ir, Route, Spelling};
use crate::text::Str;
use alloc::sync::Arc;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// Pieces of earlier documents. An empty one is right too.
#[derive(Debug, Default)]
pub struct Emitted {
    pub(super) routes: Memo<Route>,
    /// Of bootstraps, and of resources: they ask for certificates in other ways.
    clusters: [Memo<Cluster>; 2],
    spelling: Spelling,
    server: Option<Str>,
    round: u32,
}

impl Emitted {
    /// How many emissions a piece is kept that none of them uses: the views of a user interface take turns.
    const KEPT: u32 = 8;

    /// An empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins an emission.
    pub(super) fn begin(&mut self, ir: &Ir) {
        let server = ir.bootstrap.xds_cluster.as_ref().map(|server| &server.name);
        if ir.spelling != self.spelling || server != self.server.as_ref() {
            *self = Self { spelling: ir.spelling, server: server.cloned(), ..Self::default() };
        }
        self.round = self.round.wrapping_add(1);
        let round = self.round;
        if round.is_multiple_of(Self::KEPT) {
            self.routes.forget(round);
            self.clusters.iter_mut().for_each(|memo| memo.forget(round));
        }
        self.routes.round = round;
        self.clusters.iter_mut().for_each(|memo| memo.round = round);
    }

    /// What was made of clusters for documents of this kind.
    pub(super) fn clusters(&mut self, cx: &Context<'_>) -> &mut Memo<Cluster> {
        let [of_bootstraps, of_resources] = &mut self.clusters;
        if cx.server.is_some() { of_bootstraps } else { of_resources }
    }
}

/// What was made of shared values of one type.
#[derive(Debug)]
pub(super) struct Memo<T> {
    /// By address, which is no other value's as long as the entry holds this one.
    entries: HashMap<usize, Entry<T>>,
    round: u32,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self { entries: HashMap::default(), round: 0 }
    }
}

/// What was made of one value.
#[derive(Debug)]
pub(super) struct Entry<T> {
    _value: Arc<T>,
    used: u32,
    compact: Option<Arc<str>>,
    /// By level of indentation.
    pretty: Vec<(usize, Arc<str>)>,
    pub(super) fragment: Option<Arc<Fragment>>,
    /// The round in which its field rules were checked.
    checked: Option<u32>,
}

impl<T> Memo<T> {
    pub(super) fn entry(&mut self, value: &Arc<T>) -> &mut Entry<T> {
        let entry = self.entries.entry(Arc::as_ptr(value).addr()).or_insert_with(|| Entry {
            _value: value.clone(),
            used: 0,
            compact: None,
            pretty: Vec::new(),
            fragment: None,
            checked: None,
        });
        entry.used = self.round;
        entry
    }

    fn forget(&mut self, round: u32) {
        self.entries.retain(|_, entry| round.wrapping_sub(entry.used) <= Emitted::KEPT);
    }
}

impl<T> Entry<T> {
    /// The text at this level of indentation.
    pub(super) fn text(&mut self, layout: Layout, level: usize, make: impl FnOnce() -> Arc<str>) -> Arc<str> {
        match layout {
            Layout::Compact => self.compact.get_or_insert_with(make).clone(),
            Layout::Pretty => match self.pretty.iter().find(|(at, _)| *at == level) {
                Some((_, text)) => text.clone(),
                None => {
                    let text = make();
                    self.pretty.push((level, text.clone()));
                    text
                }
            },
        }
    }

    /// Whether it is the first time in this emission.
    pub(super) fn first_check(&mut self) -> bool {
        self.checked.replace(self.used) != Some(self.used)
    }
}
