//! Reports the progress of a build: which steps are done, how long they took, and which remain.

use crate::shell::{show, timed};
use std::sync::{Mutex, PoisonError};

/// The steps of a build. They may run at the same time.
pub struct Steps {
    remaining: Mutex<Vec<&'static str>>,
    total: usize,
}

impl Steps {
    /// Announces all steps.
    pub fn new(names: &[&'static str]) -> Self {
        println!("{} steps: {}.", names.len(), names.join(", "));
        Self { remaining: Mutex::new(names.to_vec()), total: names.len() }
    }

    /// Runs one step and reports when it ends.
    ///
    /// # Errors
    ///
    /// The step failed.
    pub fn run<T>(&self, name: &str, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        let (result, time) = timed(work);
        let mut remaining = self.remaining.lock().unwrap_or_else(PoisonError::into_inner);
        remaining.retain(|other| *other != name);
        let count = self.total - remaining.len();
        let ended = if result.is_ok() { "done" } else { "failed" };
        let rest = if remaining.is_empty() { String::new() } else { format!("; remaining: {}", remaining.join(", ")) };
        println!("[{count}/{}] {name}: {ended} in {}{rest}", self.total, show(time));
        result
    }
}
