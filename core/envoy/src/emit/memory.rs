//! Caches pieces of earlier emissions, so that unchanged values are not emitted again.
//!
//! A value is identified by its `Arc`: a lowering that keeps the `Arc` of unchanged values has them emitted only once. A cached piece equals a new
//! one, so the bytes do not depend on the cache.

use super::Context;
use super::runs::{RunMade, Runs};
use super::verbatim_memory::VerbatimMemory;
use crate::Layout;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::{Cluster, ConfigSource, Ir, Route, Spelling};
use chancery_base::output_map::Fragment;
use chancery_envoy_api::rules::Violation;
use chancery_text::Str;
use hashbrown::HashMap;

/// Pieces of earlier documents. An empty cache is valid too.
#[derive(Debug, Default)]
pub struct Emitted {
    pub(super) routes: Memo<Route>,
    /// For bootstraps and for resources, which request certificates in different ways.
    clusters: [Memo<Cluster>; 2],
    pub(super) verbatim: VerbatimMemory,
    /// The last encoding of each resource.
    #[cfg(feature = "wire")]
    pub(super) latest: super::encoded::Latest,
    /// The last complete encoding.
    #[cfg(feature = "wire")]
    pub(super) whole: Option<super::encode::Whole>,
    spelling: Spelling,
    server: Option<Str>,
    source: ConfigSource,
    round: u32,
}

impl Emitted {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins an emission.
    pub(super) fn begin(&mut self, ir: &Ir) {
        let server = ir.delivery.bootstrap.xds_cluster.as_ref().map(|server| &server.name);
        if ir.delivery.spelling != self.spelling || server != self.server.as_ref() || ir.delivery.config_source != self.source {
            *self = Self { spelling: ir.delivery.spelling, server: server.cloned(), source: ir.delivery.config_source.clone(), ..Self::default() };
        }
        self.round = self.round.wrapping_add(1);
        self.routes.begin(self.round);
        self.clusters.iter_mut().for_each(|memo| memo.begin(self.round));
        self.verbatim.begin();
    }

    /// Returns the cached clusters of this kind of document.
    pub(super) fn clusters(&mut self, cx: &Context<'_>) -> &mut Memo<Cluster> {
        let [of_bootstraps, of_resources] = &mut self.clusters;
        if cx.in_bootstrap { of_bootstraps } else { of_resources }
    }
}

/// The cached pieces of shared values of one type.
#[derive(Debug)]
pub(super) struct Memo<T> {
    /// By address. The entry holds the value, so the address cannot be reused.
    entries: HashMap<usize, Entry<T>>,
    /// The number of entries after the last cleanup.
    kept: usize,
    /// The cached pieces of several values in a row.
    runs: Runs<T>,
    round: u32,
    /// The forms that were made of all values.
    prepared: RequestedForms,
}

/// Forms in which values can be made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestedForms {
    /// Compact JSON.
    pub(super) text: bool,
    pub(super) fragment: bool,
    /// The broken rules.
    pub(super) rules: bool,
}

/// The forms of one value.
pub(super) struct EncodedForms {
    pub(super) text: Option<Arc<str>>,
    pub(super) fragment: Option<Arc<Fragment>>,
    pub(super) broken: Option<Vec<Violation>>,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self { entries: HashMap::default(), kept: 0, runs: Runs::default(), round: 0, prepared: RequestedForms::default() }
    }
}

/// The cached forms of one value.
#[derive(Debug)]
pub(super) struct Entry<T> {
    value: Arc<T>,
    round: u32,
    compact: Option<Arc<str>>,
    /// By level of indentation.
    pretty: Vec<(usize, Arc<str>)>,
    pub(super) fragment: Option<Arc<Fragment>>,
    /// The bytes on the wire.
    #[cfg(feature = "wire")]
    pub(super) wire: Option<super::encoded::Piece>,
    /// The field rules that it breaks, with pointers relative to the value.
    broken: Option<Vec<Violation>>,
    /// The round in which they were reported.
    reported: Option<u32>,
}

impl<T> Memo<T> {
    pub(super) fn entry(&mut self, value: &Arc<T>) -> &mut Entry<T> {
        let entry = self.entries.entry(Arc::as_ptr(value).addr()).or_insert_with(|| Entry {
            value: value.clone(),
            round: 0,
            compact: None,
            pretty: Vec::new(),
            fragment: None,
            #[cfg(feature = "wire")]
            wire: None,
            broken: None,
            reported: None,
        });
        entry.round = self.round;
        entry
    }

    /// Returns the forms that were not yet made of all values, and then treats them as made: only a few values change later.
    pub(super) fn take_missing(&mut self, wanted: RequestedForms) -> RequestedForms {
        let before = self.prepared;
        let now =
            RequestedForms { text: wanted.text || before.text, fragment: wanted.fragment || before.fragment, rules: wanted.rules || before.rules };
        self.prepared = now;
        RequestedForms { text: now.text && !before.text, fragment: now.fragment && !before.fragment, rules: now.rules && !before.rules }
    }

    /// Stores new forms of a value.
    pub(super) fn keep(&mut self, value: &Arc<T>, made: EncodedForms) {
        let entry = self.entry(value);
        entry.compact = entry.compact.take().or(made.text);
        entry.fragment = entry.fragment.take().or(made.fragment);
        entry.broken = entry.broken.take().or(made.broken);
    }

    /// Returns the known forms of a run.
    pub(super) fn run(&mut self, run: &[Arc<T>], layout: Layout, level: usize) -> RunMade {
        self.runs.take(run, layout, level)
    }

    /// Stores the forms of a run.
    pub(super) fn keep_run(&mut self, run: &[Arc<T>], layout: Layout, level: usize, made: RunMade) {
        self.runs.keep(run, layout, level, made);
    }

    /// Removes values that only this cache holds, since nothing can request them again. Runs when the cache has grown by a quarter.
    fn begin(&mut self, round: u32) {
        self.round = round;
        self.runs.begin(round);
        if self.entries.len() > self.kept + self.kept / 4 + 64 {
            self.entries.retain(|_, entry| Arc::strong_count(&entry.value) > 1);
            self.kept = self.entries.len();
        }
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

    /// The field rules that it breaks.
    pub(super) fn broken(&mut self, check: impl FnOnce() -> Vec<Violation>) -> &[Violation] {
        self.broken.get_or_insert_with(check)
    }

    /// Whether this is the first report of them in this emission.
    pub(super) fn is_first_report(&mut self) -> bool {
        self.reported.replace(self.round) != Some(self.round)
    }
}
