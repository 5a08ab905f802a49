//! An executor that shows whether anything depends on the order in which jobs run, or on the thread.
//!
//! What must not be here: speed.

use chancery_core::executor::{Executor, Job};

/// A thread for each job, the last job first, however little there is to do.
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
