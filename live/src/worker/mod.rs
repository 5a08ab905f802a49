//! Turns changes of inputs into builds.
//!
//! | module | what it holds |
//! |---|---|
//! | [`intake`] | the inputs as sources tell them; what is noise is dropped here, before it wakes anybody |
//! | [`build`] | one compile of all inputs, and what it gives each gateway |
//! | `defaults` | a controller's defaults after its configuration was deleted |
//! | [`metrics`] | what is counted on the way |
//!
//! [`run`] waits for a change, and until the last build is long enough ago; then one build takes all changes that came meanwhile. It has its own
//! thread, because compiling never waits.

pub mod build;
mod defaults;
pub mod intake;
pub mod metrics;

use build::{Build, Builder};
use intake::Intake;
use metrics::Metrics;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long to wait after a build that could not be handed on, at first and at most.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(30));

/// Builds, until the intake is closed. `publish` hands a build on; where it cannot, the build is handed on again later, or a newer one.
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
                // After the build is out: it takes a while where there are many.
                intake.set_idle(build.idle());
            }
            Err(why) => {
                metrics.failed();
                pause = (pause * 2).clamp(BACK_OFF.0, BACK_OFF.1);
                tracing::warn!(retry_ms = pause.as_millis() as u64, "a build could not be handed on: {why}");
                unpublished = Some(build);
            }
        }
    }
}

#[cfg(test)]
mod tests;
