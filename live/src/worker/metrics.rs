//! What is counted between a change and a build, for `/metrics`.
//!
//! What must not be here: how it is shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Why a change was not worth a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// The content is what it was.
    Unchanged,
    /// Nothing refers to it.
    Unreferenced,
    /// It lies in a namespace that is not watched.
    Unwatched,
}

/// What one build took and found.
#[derive(Clone, Copy, Debug)]
pub struct BuildSize {
    /// How many inputs there are.
    pub inputs: usize,
    /// How many changes of inputs went into it.
    pub changes: u64,
    /// How many errors were found.
    pub errors: usize,
    /// How long it took.
    pub took: Duration,
    /// How long the first change waited for it.
    pub waited: Duration,
}

#[derive(Debug, Default)]
struct Counts {
    received: AtomicU64,
    unchanged: AtomicU64,
    unreferenced: AtomicU64,
    unwatched: AtomicU64,
    builds: AtomicU64,
    drained: AtomicU64,
    failures: AtomicU64,
    micros: AtomicU64,
    waited_micros: AtomicU64,
    errors: AtomicU64,
    inputs: AtomicU64,
}

/// Counters. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Counts>);

impl Metrics {
    /// A source told a change.
    pub fn received(&self) {
        self.0.received.fetch_add(1, Relaxed);
    }

    /// It was not worth a build.
    pub fn dropped(&self, why: Noise) {
        let counter = match why {
            Noise::Unchanged => &self.0.unchanged,
            Noise::Unreferenced => &self.0.unreferenced,
            Noise::Unwatched => &self.0.unwatched,
        };
        counter.fetch_add(1, Relaxed);
    }

    /// There is a build.
    pub fn built(&self, build: &BuildSize) {
        self.0.builds.fetch_add(1, Relaxed);
        self.0.drained.fetch_add(build.changes, Relaxed);
        self.0.micros.fetch_add(build.took.as_micros() as u64, Relaxed);
        self.0.waited_micros.fetch_add(build.waited.as_micros() as u64, Relaxed);
        self.0.errors.store(build.errors as u64, Relaxed);
        self.0.inputs.store(build.inputs as u64, Relaxed);
    }

    /// A build could not be handed on.
    pub fn failed(&self) {
        self.0.failures.fetch_add(1, Relaxed);
    }

    /// How many builds there were.
    #[must_use]
    pub fn builds(&self) -> u64 {
        self.0.builds.load(Relaxed)
    }

    /// Each with its name, its kind and what it counts.
    #[must_use]
    pub fn all(&self) -> Vec<(&'static str, &'static str, &'static str, f64)> {
        let count = |of: &AtomicU64| of.load(Relaxed) as f64;
        let seconds = |of: &AtomicU64| of.load(Relaxed) as f64 / 1e6;
        let of = &*self.0;
        vec![
            ("chancery_changes", "counter", "Changes of inputs that sources reported.", count(&of.received)),
            ("chancery_changes_unchanged", "counter", "Changes that were dropped, as the content is the same.", count(&of.unchanged)),
            ("chancery_changes_unreferenced", "counter", "Changes that were dropped, as nothing refers to the content.", count(&of.unreferenced)),
            ("chancery_changes_unwatched", "counter", "Changes that were dropped, as their namespace is not watched.", count(&of.unwatched)),
            ("chancery_changes_built", "counter", "Changes that went into builds.", count(&of.drained)),
            ("chancery_builds", "counter", "Builds.", count(&of.builds)),
            ("chancery_build_failures", "counter", "Builds that could not be handed on.", count(&of.failures)),
            ("chancery_build_seconds", "counter", "Time that builds took.", seconds(&of.micros)),
            ("chancery_build_wait_seconds", "counter", "Time from the first change to the begin of its build.", seconds(&of.waited_micros)),
            ("chancery_errors", "gauge", "Errors that the last build found.", count(&of.errors)),
            ("chancery_inputs", "gauge", "Inputs of the last build.", count(&of.inputs)),
        ]
    }
}
