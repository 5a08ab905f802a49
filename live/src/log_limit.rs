//! Limits how often a client's fault is logged: a client that repeats it must not fill the log.

use crate::lock;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The shortest time between two lines.
const INTERVAL: Duration = Duration::from_secs(5);

/// When the last line was logged, and how many were suppressed since.
#[derive(Debug, Default)]
pub struct LogLimit(Mutex<(Option<Instant>, u64)>);

impl LogLimit {
    pub const fn new() -> Self {
        Self(Mutex::new((None, 0)))
    }

    /// Returns how many lines were suppressed since the last one, if a line may be logged now.
    pub fn allow(&self) -> Option<u64> {
        let mut state = lock(&self.0);
        if state.0.is_some_and(|last| last.elapsed() < INTERVAL) {
            state.1 += 1;
            return None;
        }
        state.0 = Some(Instant::now());
        Some(std::mem::take(&mut state.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_lines_are_counted_not_logged() {
        let limit = LogLimit::new();
        assert_eq!((limit.allow(), limit.allow(), limit.allow()), (Some(0), None, None));
        *lock(&limit.0) = (Instant::now().checked_sub(INTERVAL), 2);
        assert_eq!(limit.allow(), Some(2));
    }
}
