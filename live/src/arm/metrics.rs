//! Counts requests to Azure and changes there, for `/metrics`.

use super::answer::Answer;
use super::trouble::Trouble;
use crate::worker::metrics::{Number, counter, gauge};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Debug, Default)]
struct Counts {
    requests: AtomicU64,
    throttled: AtomicU64,
    conflicts: AtomicU64,
    errors: AtomicU64,
    changes: AtomicU64,
    failures: AtomicU64,
    micros: AtomicU64,
    held: AtomicBool,
    /// When the gateway was last read, in seconds since 1970.
    read: AtomicU64,
}

/// Counters. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Counts>);

impl Metrics {
    /// Counts a request by its outcome.
    pub fn asked(&self, outcome: &Result<Answer, Trouble>) {
        self.0.requests.fetch_add(1, Relaxed);
        let counter = match outcome {
            Ok(answer) if answer.status == 429 => &self.0.throttled,
            Ok(answer) if answer.status == 412 => &self.0.conflicts,
            // An expired token is renewed, so it is not an error.
            Ok(answer) if answer.status < 400 || answer.status == 401 => return,
            Ok(_) | Err(_) => &self.0.errors,
        };
        counter.fetch_add(1, Relaxed);
    }

    /// Notes that the gateway was read.
    pub fn read(&self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.0.read.store(now.as_secs(), Relaxed);
    }

    /// Counts a change, with its duration.
    pub fn changed(&self, took: Duration) {
        self.0.changes.fetch_add(1, Relaxed);
        self.0.micros.fetch_add(took.as_micros() as u64, Relaxed);
    }

    /// Counts a failed change.
    pub fn failed(&self) {
        self.0.failures.fetch_add(1, Relaxed);
    }

    /// Sets whether a change waits for the user.
    pub fn held(&self, held: bool) {
        self.0.held.store(held, Relaxed);
    }

    /// Returns each number with its name, kind and description.
    #[must_use]
    pub fn all(&self) -> Vec<Number> {
        let count = |of: &AtomicU64| of.load(Relaxed) as f64;
        let of = &*self.0;
        vec![
            counter("chancery_arm_requests", "Requests to Azure Resource Manager.", count(&of.requests)),
            counter("chancery_arm_throttled", "Requests that Azure throttled (429).", count(&of.throttled)),
            counter(
                "chancery_arm_conflicts",
                "Changes that were refused because another client changed the gateway first (412).",
                count(&of.conflicts),
            ),
            counter("chancery_arm_errors", "Requests that Azure did not answer, or answered with another error.", count(&of.errors)),
            counter("chancery_arm_changes", "Changes of the Application Gateway that were carried out.", count(&of.changes)),
            counter("chancery_arm_change_failures", "Changes of the Application Gateway that were not carried out.", count(&of.failures)),
            counter("chancery_arm_change_seconds", "Time that changes of the Application Gateway took.", count(&of.micros) / 1e6),
            gauge("chancery_arm_held", "Whether a change waits until a person allows it.", f64::from(u8::from(of.held.load(Relaxed)))),
            gauge("chancery_arm_read_timestamp_seconds", "When the Application Gateway was read last.", count(&of.read)),
        ]
    }
}
