//! Lends the threads of a native program to the core.

use chancery_core::executor::{Executor, Job};

/// One thread for each core, or as many as the environment variable `RAYON_NUM_THREADS` says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Threads;

impl Executor for Threads {
    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }

    fn run(&self, jobs: Vec<Job<'_>>) {
        rayon::scope(|scope| jobs.into_iter().for_each(|job| scope.spawn(|_| job())));
    }
}
