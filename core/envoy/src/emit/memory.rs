//! What earlier emissions made, so that the next need not.
//!
//! A thing is known by being the same shared value: who lowers again and keeps the `Arc` of what did not change has it emitted
//! only once. What is found here is what would be made again, so that the bytes do not depend on it.

use super::Context;
use super::runs::{RunMade, Runs};
use crate::Layout;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::{Cluster, ConfigSource, Ir, Route, Spelling};
use chancery_base::output_map::Fragment;
use chancery_envoy_api::rules::Violation;
use chancery_text::Str;
use hashbrown::HashMap;

/// Pieces of earlier documents. An empty one is right too.
#[derive(Debug, Default)]
pub struct Emitted {
    pub(super) routes: Memo<Route>,
    /// Of bootstraps, and of resources: they ask for certificates in other ways.
    clusters: [Memo<Cluster>; 2],
    /// Whole resources as they were encoded last.
    #[cfg(feature = "wire")]
    pub(super) latest: super::encoded::Latest,
    /// All that was encoded last.
    #[cfg(feature = "wire")]
    pub(super) whole: Option<super::encode::Whole>,
    spelling: Spelling,
    server: Option<Str>,
    source: ConfigSource,
    round: u32,
}

impl Emitted {
    /// An empty memory.
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
    }

    /// What was made of clusters for documents of this kind.
    pub(super) fn clusters(&mut self, cx: &Context<'_>) -> &mut Memo<Cluster> {
        let [of_bootstraps, of_resources] = &mut self.clusters;
        if cx.in_bootstrap { of_bootstraps } else { of_resources }
    }
}

/// What was made of shared values of one type.
#[derive(Debug)]
pub(super) struct Memo<T> {
    /// By address, which is no other value's as long as the entry holds this one.
    entries: HashMap<usize, Entry<T>>,
    /// How many there were after the last time of forgetting.
    kept: usize,
    /// What was made of several in a row.
    runs: Runs<T>,
    round: u32,
    /// What was made of all values at once.
    prepared: RequestedForms,
}

/// What is made of values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestedForms {
    /// The text without blanks.
    pub(super) text: bool,
    pub(super) fragment: bool,
    /// Which rules are broken.
    pub(super) rules: bool,
}

/// What was made of one value beside others.
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

/// What was made of one value.
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
    /// The field rules that it breaks, with pointers from itself on.
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

    /// What of this has not been made of all values at once before. Afterwards it is taken for made: what changes later is little.
    pub(super) fn lacking(&mut self, wanted: RequestedForms) -> RequestedForms {
        let before = self.prepared;
        let now =
            RequestedForms { text: wanted.text || before.text, fragment: wanted.fragment || before.fragment, rules: wanted.rules || before.rules };
        self.prepared = now;
        RequestedForms { text: now.text && !before.text, fragment: now.fragment && !before.fragment, rules: now.rules && !before.rules }
    }

    /// Keeps what was made of a value, as far as it is not there.
    pub(super) fn keep(&mut self, value: &Arc<T>, made: EncodedForms) {
        let entry = self.entry(value);
        entry.compact = entry.compact.take().or(made.text);
        entry.fragment = entry.fragment.take().or(made.fragment);
        entry.broken = entry.broken.take().or(made.broken);
    }

    /// What was made of a run, as far as it is known.
    pub(super) fn run(&mut self, run: &[Arc<T>], layout: Layout, level: usize) -> RunMade {
        self.runs.take(run, layout, level)
    }

    /// Keeps what was made of a run.
    pub(super) fn keep_run(&mut self, run: &[Arc<T>], layout: Layout, level: usize, made: RunMade) {
        self.runs.keep(run, layout, level, made);
    }

    /// Forgets values that only this memory holds: they cannot be asked for again. Done when there is a quarter more than there was.
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
