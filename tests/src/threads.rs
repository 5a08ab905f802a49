//! Runs jobs in an order that reveals dependencies on the order of jobs or on the thread.
//!
//! Does not try to be fast.

use chancery_core::executor::{Executor, Job};

/// Runs each job in a separate thread, the last job first, even for few jobs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Threads;

impl Executor for Threads {
    fn threads(&self) -> usize {
        2
    }

    fn least(&self) -> usize {
        1
    }

    fn run(&self, jobs: Vec<Job<'_>>) {
        std::thread::scope(|scope| {
            for job in jobs.into_iter().rev() {
                scope.spawn(job);
            }
        });
    }
}
