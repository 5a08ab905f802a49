//! Turns changes of inputs into builds.
//!
//! | module | what it holds |
//! |---|---|
//! | [`intake`] | holds the inputs of sources, and drops noise before it wakes the worker |
//! | [`build`] | compiles all inputs, and makes the snapshot of each gateway |
//! | [`bounds`] | bounds the findings of each file |
//! | `defaults` | compiles with a controller's defaults after its configuration was deleted |
//! | [`metrics`] | counts changes and builds |
//!
//! [`run`] waits for a change, and until the spacing since the last build is over. Then one build contains all changes
//! that came meanwhile. It has its own thread, because compiling never waits.

pub mod bounds;
pub mod build;
mod defaults;
pub mod intake;
pub mod metrics;

use build::{Build, Builder};
use intake::Intake;
use metrics::Metrics;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The pauses after a build that could not be published: the first, and the longest.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(30));

/// Builds until the intake is closed. `publish` publishes a build. If that fails, the build is published again later,
/// unless a newer one replaces it.
pub fn run(intake: &Intake, builder: &mut Builder, spacing: Duration, metrics: &Metrics, mut publish: impl FnMut(&Arc<Build>) -> Result<(), String>) {
    let mut last: Option<Instant> = None;
    let mut pause = Duration::ZERO;
    let mut unpublished: Option<Arc<Build>> = None;
    while intake.wait(if unpublished.is_some() { Some(pause) } else { None }) {
        if let Some(last) = last {
            let rest = spacing.saturating_sub(last.elapsed()).max(pause.saturating_sub(last.elapsed()));
            if !rest.is_zero() && !intake.sleep(rest) {
                return;
            }
        }
        last = Some(Instant::now());
        let build = match intake.drain() {
            Some(drained) => {
                let build = Arc::new(builder.build(drained));
                metrics.built(&build.size());
                build
            }
            None => match unpublished.take() {
                Some(build) => build,
                None => continue,
            },
        };
        match publish(&build) {
            Ok(()) => {
                pause = Duration::ZERO;
                // After publishing, because it takes a while with many inputs.
                intake.set_idle(build.idle());
            }
            Err(why) => {
                metrics.failed();
                pause = (pause * 2).clamp(BACK_OFF.0, BACK_OFF.1);
                tracing::warn!(retry_ms = pause.as_millis() as u64, "a build could not be published: {why}");
                unpublished = Some(build);
            }
        }
    }
}

#[cfg(test)]
mod tests;
