//! Lends the threads of this machine to the core.

#[cfg(target_family = "wasm")]
pub use chancery_core::executor::Sequential as Threads;
#[cfg(not(target_family = "wasm"))]
pub use machine::Threads;

#[cfg(not(target_family = "wasm"))]
mod machine {
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
}
