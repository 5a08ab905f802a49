//! Limits the work of a comparison, and notes what it left out.

use alloc::collections::BTreeSet;
use alloc::string::String;

/// At most this many requests are simulated on both sides.
const MOST_REQUESTS: usize = 100_000;
/// At most this many states of regular expressions are visited.
const MOST_STATES: usize = 1_000_000;

pub(super) struct Budget {
    /// How many more states of expressions may be visited.
    pub(super) states: usize,
    /// How many requests were compared.
    pub(super) compared: usize,
    /// Undecided parts, in sentences.
    pub(super) limits: BTreeSet<String>,
    pub(super) complete: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self { states: MOST_STATES, compared: 0, limits: BTreeSet::new(), complete: true }
    }
}

impl Budget {
    /// Records that the comparison is incomplete.
    pub(super) fn cut(&mut self, sentence: impl Into<String>) {
        self.complete = false;
        self.limits.insert(sentence.into());
    }

    /// Uses one request of the budget; `false` if it is exhausted.
    pub(super) fn take_request(&mut self) -> bool {
        if self.compared >= MOST_REQUESTS {
            self.cut(alloc::format!("Only {MOST_REQUESTS} requests were compared: some parts of the configuration that differ were not explored."));
            return false;
        }
        self.compared += 1;
        true
    }
}
