//! Decides whether to change an Application Gateway in Azure, and when to retry a failed change. [`Applier`] decides
//! without a clock; [`run`] carries the decision out.
//!
//! [`run`] reads the gateway before each change. If the gateway differs from the one that the build was merged with, the
//! next build merges with it. The change itself names the version that it is made for (`If-Match`). If that version is
//! gone (412), [`run`] reads the gateway again. Does not compute the change; see `plan`.

use super::Pace;
use super::plan::{Fingerprint, Plan, fingerprint_of};
use super::source::Reader;
use super::trouble::{Kind, Trouble};
use crate::Failure;
use crate::controllers::lease::Leading;
use crate::controllers::run::changed;
use crate::event::{Event, Events};
use crate::worker::build::Build;
use crate::worker::intake::Intake;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The changes that the user allows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed {
    /// A change may remove more than half of the listeners.
    pub removals: bool,
    /// The gateway may belong to another cluster.
    pub take_over: bool,
}

/// The decision about a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The gateway matches the plan.
    Nothing,
    /// The plan is not sent, for this reason.
    Held(String),
    /// The plan is sent.
    Send,
}

/// Decides about plans.
#[derive(Debug, Default)]
pub struct Applier {
    allowed: Allowed,
    /// The last sent configuration, and the gateway after it: Azure adds fields to the sent document.
    settled: Option<(Fingerprint, Fingerprint)>,
    /// The listeners of the last sent plan.
    own: BTreeSet<String>,
    failures: u32,
}

/// The longest pause between two attempts.
const LONGEST: Duration = Duration::from_secs(60);

impl Applier {
    /// Creates an applier with the user's permissions.
    #[must_use]
    pub fn new(allowed: Allowed) -> Self {
        Self { allowed, ..Self::default() }
    }

    /// Decides about a plan.
    #[must_use]
    pub fn decide(&self, plan: &Plan) -> Decision {
        if !plan.is_compared || plan.parts.is_empty() || self.settled == Some((plan.wanted, plan.present)) {
            return Decision::Nothing;
        }
        if let Some(cluster) = plan.other_cluster.as_ref().filter(|_| !self.allowed.take_over) {
            return Decision::Held(format!("the gateway belongs to the cluster {cluster}, by its tags; --take-over changes it anyway"));
        }
        let (gone, all) = (self.lost(plan), plan.listeners);
        if !self.allowed.removals && gone * 2 > all {
            return Decision::Held(format!(
                "{gone} of {all} listeners of the gateway would go ({}); if that is meant, say --confirm-removals",
                some(&plan.gone)
            ));
        }
        Decision::Send
    }

    /// Returns how many listeners the plan would remove. Azure names a listener after its hosts, so a replaced listener
    /// of the last sent plan is not lost.
    fn lost(&self, plan: &Plan) -> usize {
        let own = plan.gone.iter().filter(|name| self.own.contains(*name)).count();
        plan.gone.len() - own.min(plan.new_listeners)
    }

    /// Notes that the plan was sent, and the state of the gateway now.
    pub fn applied(&mut self, plan: &Plan, present: Fingerprint) {
        self.settled = Some((plan.wanted, present));
        self.own = plan.wanted_listeners.clone();
        self.failures = 0;
    }

    /// Notes that the plan was not sent, or that Azure refused it. Returns how long to wait.
    pub fn failed(&mut self, trouble: &Trouble, pace: &Pace) -> Duration {
        self.settled = None;
        if trouble.kind == Kind::Changed && self.failures == 0 {
            // Another writer changed the gateway first: there is no reason to wait.
            self.failures = 1;
            return pace.spacing;
        }
        let pause = pace.after_failure.saturating_mul(2_u32.saturating_pow(self.failures)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        trouble.retry_after.unwrap_or(pause).max(pause)
    }
}

/// Joins the first few of many names.
fn some(names: &[String]) -> String {
    const MOST: usize = 3;
    let more = names.len().saturating_sub(MOST);
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// Sends the plans of builds as long as the process runs. With several replicas, only the holder of the Lease sends.
///
/// # Errors
///
/// Never by itself: a failed change is retried.
pub async fn run(
    mut builds: watch::Receiver<Option<Arc<Build>>>,
    reader: Arc<Reader>,
    intake: Intake,
    events: Events,
    allowed: Allowed,
    mut leading: Option<Leading>,
) -> Result<(), Failure> {
    let mut sender = Sender { reader, intake, events, applier: Applier::new(allowed), held: None };
    let (mut retry, mut last): (Option<Instant>, Option<Instant>) = (None, None);
    loop {
        let due = retry.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
        tokio::select! {
            changed = builds.changed() => if changed.is_err() { return Ok(()) },
            () = changed(leading.as_mut()) => {}
            () = tokio::time::sleep_until(due.into()) => {}
        }
        // Without the Lease it only watches, so that it can continue at once with it.
        if leading.as_ref().is_some_and(|leading| !leading.holds()) {
            continue;
        }
        if retry.is_some_and(|retry| retry > Instant::now()) {
            continue;
        }
        retry = None;
        let pace = *sender.reader.client.pace();
        if let Some(last) = last {
            tokio::time::sleep(pace.spacing.saturating_sub(last.elapsed())).await;
        }
        let build = builds.borrow_and_update().clone();
        let Some((build, plan)) = build.and_then(|build| Some((build.clone(), build.plan.clone()?))) else { continue };
        if !sender.wants(&plan) {
            continue;
        }
        if let Err(trouble) = sender.send(&build, &plan).await {
            let pause = sender.applier.failed(&trouble, &pace);
            sender.report_failure(&plan, &trouble, pause).await;
            retry = Some(Instant::now() + pause);
        }
        last = Some(Instant::now());
    }
}

struct Sender {
    reader: Arc<Reader>,
    intake: Intake,
    events: Events,
    applier: Applier,
    /// The reason why the last plan is not sent, which is reported once.
    held: Option<String>,
}

impl Sender {
    fn wants(&mut self, plan: &Plan) -> bool {
        let decision = self.applier.decide(plan);
        let held = if let Decision::Held(why) = &decision { Some(why.clone()) } else { None };
        self.reader.client.metrics().held(held.is_some());
        if held != self.held {
            if let Some(message) = held.clone() {
                self.events.publish(Event::ApplyHeld { gateway: plan.gateway.clone(), message });
            }
            self.held = held;
        }
        decision == Decision::Send
    }

    /// Reads the gateway. Sends the plan if it was made for this version of the gateway.
    async fn send(&mut self, build: &Arc<Build>, plan: &Arc<Plan>) -> Result<(), Trouble> {
        let now = self.reader.read().await?;
        if now.etag() != plan.etag.as_deref() {
            // The next build merges the changes of others.
            now.apply_to(&self.intake);
            return Ok(());
        }
        let begin = Instant::now();
        let (of, planned) = (build.clone(), plan.clone());
        let at = k8s_openapi::jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        // Encrypting certificates takes a while.
        let body = tokio::task::spawn_blocking(move || planned.body(&of.compilation, &at)).await;
        let refused = |why: String| Trouble::new(Kind::Refused, why);
        let body = body.map_err(|error| refused(error.to_string()))?.map_err(refused)?;
        let changed = self.reader.client.change(&self.reader.id, &body, plan.etag.as_deref()).await?;
        self.applier.applied(plan, fingerprint_of(&changed));
        self.reader.client.metrics().changed(begin.elapsed());
        self.events.publish(Event::Applied {
            gateway: plan.gateway.clone(),
            version: plan.version(),
            took_ms: begin.elapsed().as_millis() as u64,
            parts: plan.parts.len(),
        });
        self.reader.with_addresses(changed).await.apply_to(&self.intake);
        Ok(())
    }

    /// Reports a failure, and reads the gateway again, because it may have changed.
    async fn report_failure(&self, plan: &Plan, trouble: &Trouble, pause: Duration) {
        self.reader.client.metrics().failed();
        let retry_ms = pause.as_millis() as u64;
        self.events.publish(Event::ApplyFailed { gateway: plan.gateway.clone(), message: trouble.message.clone(), retry_ms });
        if let Ok(now) = self.reader.read().await {
            now.apply_to(&self.intake);
        }
    }
}

#[cfg(test)]
mod tests;
