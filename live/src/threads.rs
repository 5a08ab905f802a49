//! Lends the threads of a native program to the core. Does not start other tasks; see `engine`.

use chancery_core::executor::{Executor, Job};

/// One thread per core, or the number in `RAYON_NUM_THREADS`.
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
