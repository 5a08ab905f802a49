//! Lends the core the threads of a host. The core has no threads, and its results do not depend on their number.
//!
//! Stages with independent work split it into jobs ([`map`]). The results keep the order of the items, whatever order the jobs run in.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// A piece of work that may run on any thread.
pub type Job<'t> = Box<dyn FnOnce() + Send + 't>;

/// Runs jobs, at the same time if it can.
///
/// ```
/// use chancery_base::executor::{Executor, Job, map};
///
/// struct Threads;
///
/// impl Executor for Threads {
///     fn threads(&self) -> usize {
///         4
///     }
///
///     fn run(&self, jobs: Vec<Job<'_>>) {
///         std::thread::scope(|scope| jobs.into_iter().for_each(|job| drop(scope.spawn(job))));
///     }
/// }
///
/// let numbers: Vec<u64> = (0..10_000).collect();
/// assert_eq!(map(&Threads, &numbers, |number| number * 2)[9_999], 19_998);
/// ```
pub trait Executor: Send + Sync {
    /// The number of jobs that run at the same time; 1 if jobs run one after another.
    fn threads(&self) -> usize;

    /// The minimum number of items for a separate job.
    fn least(&self) -> usize {
        64
    }

    /// Runs all jobs and returns after the last one.
    fn run(&self, jobs: Vec<Job<'_>>);
}

pub type Work<'t, R> = Box<dyn FnOnce() -> R + Send + 't>;

/// Runs jobs one after another on the caller's thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Executor for Sequential {
    fn threads(&self) -> usize {
        1
    }

    fn run(&self, jobs: Vec<Job<'_>>) {
        jobs.into_iter().for_each(|job| job());
    }
}

/// The number of jobs per thread; several, so that one long job does not block the others.
const JOBS_PER_THREAD: usize = 8;

/// Runs each piece of work as its own job and returns the results in order.
pub fn all<R: Send>(executor: &dyn Executor, work: Vec<Work<'_, R>>) -> Vec<R> {
    let mut results: Vec<Option<R>> = work.iter().map(|_| None).collect();
    let jobs = work.into_iter().zip(&mut results).map(|(work, result)| -> Job<'_> { Box::new(move || *result = Some(work())) });
    executor.run(jobs.collect());
    results.into_iter().flatten().collect()
}

/// Applies `of` to each item and returns the results in order.
pub fn map<T: Sync, R: Send>(executor: &dyn Executor, things: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_with(executor, things, || (), |(), thing| of(thing))
}

/// Like [`map`], with a value that each job creates once and uses for all its items, for instance a cache.
pub fn map_with<T: Sync, R: Send, C>(
    executor: &dyn Executor,
    things: &[T],
    cache: impl Fn() -> C + Sync,
    of: impl Fn(&mut C, &T) -> R + Sync,
) -> Vec<R> {
    let made = |things: &[T]| -> Vec<R> {
        let mut cache = cache();
        things.iter().map(|thing| of(&mut cache, thing)).collect()
    };
    let (threads, least) = (executor.threads(), executor.least().max(1));
    if threads < 2 || things.len() < 2 * least {
        return made(things);
    }
    let share = things.len().div_ceil(threads * JOBS_PER_THREAD).max(least);
    let shares: Vec<&[T]> = things.chunks(share).collect();
    let mut results: Vec<Vec<R>> = shares.iter().map(|_| Vec::new()).collect();
    let made = &made;
    let jobs = shares.into_iter().zip(&mut results).map(|(share, result)| -> Job<'_> { Box::new(move || *result = made(share)) });
    executor.run(jobs.collect());
    let mut all = Vec::with_capacity(things.len());
    all.extend(results.into_iter().flatten());
    all
}
