//! Queues objects for reconciliation: each object once, and after failures at growing intervals. The caller passes the time in.

use super::object::Id;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// The first pause after a failure, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(300));

/// Objects that wait for reconciliation.
#[derive(Debug, Default)]
pub struct Queue {
    ready: VecDeque<Id>,
    /// The objects in `ready`.
    waiting: BTreeSet<Id>,
    /// The objects that are being reconciled. A request for one of them queues it again.
    running: BTreeSet<Id>,
    again: BTreeSet<Id>,
    later: BTreeMap<Id, Instant>,
    failures: BTreeMap<Id, u32>,
}

impl Queue {
    /// Queues an object. An object that waits after a failure becomes ready at once, because something has changed.
    pub fn add(&mut self, id: Id) {
        self.later.remove(&id);
        if self.running.contains(&id) {
            self.again.insert(id);
        } else if self.waiting.insert(id.clone()) {
            self.ready.push_back(id);
        }
    }

    /// Returns the next object. It is running until [`Queue::done`] or [`Queue::failed`].
    pub fn take(&mut self, now: Instant) -> Option<Id> {
        let due: Vec<Id> = self.later.iter().filter(|(_, at)| **at <= now).map(|(id, _)| id.clone()).collect();
        due.into_iter().for_each(|id| self.add(id));
        let id = self.ready.pop_front()?;
        self.waiting.remove(&id);
        self.running.insert(id.clone());
        Some(id)
    }

    /// Notes that an object was reconciled.
    pub fn done(&mut self, id: &Id) {
        self.failures.remove(id);
        self.finish(id);
    }

    /// Notes a failure, and queues the object after a pause that doubles each time. Returns the pause.
    pub fn failed(&mut self, id: &Id, now: Instant) -> Duration {
        let failures = self.failures.entry(id.clone()).or_default();
        let pause = PAUSES.0.saturating_mul(1 << (*failures).min(20)).min(PAUSES.1);
        *failures += 1;
        if !self.again.contains(id) {
            self.later.insert(id.clone(), now + pause);
        }
        self.finish(id);
        pause
    }

    fn finish(&mut self, id: &Id) {
        self.running.remove(id);
        if self.again.remove(id) {
            self.add(id.clone());
        }
    }

    /// Returns when the next object after a failure becomes ready.
    #[must_use]
    pub fn next_due(&self) -> Option<Instant> {
        self.later.values().min().copied()
    }

    /// Returns the number of ready objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ready.len() + self.later.len()
    }

    /// Whether no object is ready.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
