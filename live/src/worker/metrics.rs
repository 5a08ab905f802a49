//! Counts changes and builds, for `/metrics`. Does not write them; see `http::metrics`.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The reason why a change needs no build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoBuildReason {
    /// The content is unchanged.
    Unchanged,
    /// Nothing refers to it.
    Unreferenced,
    /// It is in a namespace that is not watched.
    Unwatched,
}

/// The measurements of one build.
#[derive(Clone, Copy, Debug)]
pub struct BuildSize {
    /// The number of inputs.
    pub inputs: usize,
    /// The number of input changes that it contains.
    pub changes: u64,
    /// The number of errors.
    pub errors: usize,
    /// The duration.
    pub took: Duration,
    /// The time that the first change waited.
    pub waited: Duration,
}

/// Upper bounds of a histogram's buckets, in seconds.
const BUCKETS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// Counts durations.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: [u64; BUCKETS.len()],
    count: u64,
    sum: f64,
}

impl Histogram {
    pub fn observe(&mut self, time: Duration) {
        let seconds = time.as_secs_f64();
        for (bound, count) in BUCKETS.iter().zip(&mut self.counts) {
            *count += u64::from(seconds <= *bound);
        }
        self.count += 1;
        self.sum += seconds;
    }

    /// Returns each upper bound with the number of times up to it.
    pub fn buckets(&self) -> impl Iterator<Item = (String, u64)> {
        let bounds = BUCKETS.iter().map(|bound| format!("{bound:?}")).zip(self.counts);
        bounds.chain([("+Inf".to_owned(), self.count)])
    }

    #[must_use]
    pub fn sum(&self) -> f64 {
        self.sum
    }

    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[derive(Debug, Default)]
struct Counts {
    build_times: Mutex<Histogram>,
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
    others: Others,
}

/// A number with its name, kind and description.
pub type Number = (&'static str, &'static str, &'static str, f64);

/// Creates a number that only increases.
#[must_use]
pub fn counter(name: &'static str, help: &'static str, value: f64) -> Number {
    (name, "counter", help, value)
}

/// Creates a number that increases and decreases.
#[must_use]
pub fn gauge(name: &'static str, help: &'static str, value: f64) -> Number {
    (name, "gauge", help, value)
}

/// Reads numbers that another part of the program counts.
type Reader = Box<dyn Fn() -> Vec<Number> + Send>;

/// Numbers that other parts of the program count.
#[derive(Default)]
struct Others(Mutex<Vec<Reader>>);

impl fmt::Debug for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Others").field(&crate::lock(&self.0).len()).finish()
    }
}

/// Counters. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Counts>);

impl Metrics {
    /// Counts a change from a source.
    pub fn received(&self) {
        self.0.received.fetch_add(1, Relaxed);
    }

    /// Counts a change that needs no build.
    pub fn dropped(&self, why: NoBuildReason) {
        let counter = match why {
            NoBuildReason::Unchanged => &self.0.unchanged,
            NoBuildReason::Unreferenced => &self.0.unreferenced,
            NoBuildReason::Unwatched => &self.0.unwatched,
        };
        counter.fetch_add(1, Relaxed);
    }

    /// Counts a build.
    pub fn built(&self, build: &BuildSize) {
        self.0.builds.fetch_add(1, Relaxed);
        crate::lock(&self.0.build_times).observe(build.took);
        self.0.drained.fetch_add(build.changes, Relaxed);
        self.0.micros.fetch_add(build.took.as_micros() as u64, Relaxed);
        self.0.waited_micros.fetch_add(build.waited.as_micros() as u64, Relaxed);
        self.0.errors.store(build.errors as u64, Relaxed);
        self.0.inputs.store(build.inputs as u64, Relaxed);
    }

    /// Counts a build that could not be published.
    pub fn failed(&self) {
        self.0.failures.fetch_add(1, Relaxed);
    }

    /// Returns the number of builds.
    #[must_use]
    pub fn builds(&self) -> u64 {
        self.0.builds.load(Relaxed)
    }

    /// Returns how long builds took.
    #[must_use]
    pub fn build_times(&self) -> Histogram {
        crate::lock(&self.0.build_times).clone()
    }

    /// Adds numbers that a source counts.
    pub fn add(&self, numbers: impl Fn() -> Vec<Number> + Send + 'static) {
        crate::lock(&self.0.others.0).push(Box::new(numbers));
    }

    /// Returns each number with its name, kind and description.
    #[must_use]
    pub fn all(&self) -> Vec<Number> {
        let count = |of: &AtomicU64| of.load(Relaxed) as f64;
        let seconds = |of: &AtomicU64| of.load(Relaxed) as f64 / 1e6;
        let of = &*self.0;
        let mut all = vec![
            counter("chancery_changes", "Changes of inputs that sources reported.", count(&of.received)),
            counter("chancery_changes_unchanged", "Changes that were dropped, as the content is the same.", count(&of.unchanged)),
            counter("chancery_changes_unreferenced", "Changes that were dropped, as nothing refers to the content.", count(&of.unreferenced)),
            counter("chancery_changes_unwatched", "Changes that were dropped, as their namespace is not watched.", count(&of.unwatched)),
            counter("chancery_changes_built", "Changes that went into builds.", count(&of.drained)),
            counter("chancery_builds", "Builds.", count(&of.builds)),
            counter("chancery_build_failures", "Builds that could not be published.", count(&of.failures)),
            counter("chancery_build_seconds", "Time that builds took.", seconds(&of.micros)),
            counter("chancery_build_wait_seconds", "Time from the first change to the begin of its build.", seconds(&of.waited_micros)),
            gauge("chancery_errors", "Errors that the last build found.", count(&of.errors)),
            gauge("chancery_inputs", "Inputs of the last build.", count(&of.inputs)),
        ];
        all.extend(crate::lock(&of.others.0).iter().flat_map(|numbers| numbers()));
        all
    }
}
