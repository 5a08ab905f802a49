//! Decides whether an Application Gateway is changed in Azure, and when a failed change is tried again. [`Applier`] decides without a clock;
//! [`run`] carries it out.
//!
//! The gateway is read before each change. If it differs from the gateway that the build was made with, the next build merges with it. The change
//! itself names the version that it is made for (`If-Match`); if that version is gone (412), the gateway is read again. Does not compute the
//! change; see `plan`.

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

/// What a person allows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed {
    /// More than half of the listeners may go.
    pub removals: bool,
    /// The gateway may be one of another cluster.
    pub take_over: bool,
}

/// What is to be done with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The gateway is as it is wanted.
    Nothing,
    /// It is not sent, because of this.
    Held(String),
    /// It is sent.
    Send,
}

/// Decides.
#[derive(Debug, Default)]
pub struct Applier {
    allowed: Allowed,
    /// What was sent last, and what the gateway was then: Azure writes more than it is sent.
    settled: Option<(Fingerprint, Fingerprint)>,
    /// The listeners that were sent last.
    own: BTreeSet<String>,
    failures: u32,
}

/// The longest time between two attempts.
const LONGEST: Duration = Duration::from_secs(60);

impl Applier {
    /// With what a person allows.
    #[must_use]
    pub fn new(allowed: Allowed) -> Self {
        Self { allowed, ..Self::default() }
    }

    /// What is to be done.
    #[must_use]
    pub fn decide(&self, plan: &Plan) -> Decision {
        if !plan.is_compared || plan.parts.is_empty() || self.settled == Some((plan.wanted, plan.present)) {
            return Decision::Nothing;
        }
        if let Some(cluster) = plan.other_cluster.as_ref().filter(|_| !self.allowed.take_over) {
            return Decision::Held(format!("the gateway belongs to the cluster {cluster}, by its tags; --take-over changes it all the same"));
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

    /// How many listeners would be lost. The name of a listener follows from its hosts: of those that this sent, one that is replaced is not lost.
    fn lost(&self, plan: &Plan) -> usize {
        let own = plan.gone.iter().filter(|name| self.own.contains(*name)).count();
        plan.gone.len() - own.min(plan.new_listeners)
    }

    /// It was sent, and the gateway is like this now.
    pub fn applied(&mut self, plan: &Plan, present: Fingerprint) {
        self.settled = Some((plan.wanted, present));
        self.own = plan.wanted_listeners.clone();
        self.failures = 0;
    }

    /// It was not sent, or Azure did not take it. Gives how long to wait.
    pub fn failed(&mut self, trouble: &Trouble, pace: &Pace) -> Duration {
        self.settled = None;
        if trouble.kind == Kind::Changed && self.failures == 0 {
            // Somebody came first: there is nothing to wait for.
            self.failures = 1;
            return pace.spacing;
        }
        let pause = pace.after_failure.saturating_mul(2_u32.saturating_pow(self.failures)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        trouble.retry_after.unwrap_or(pause).max(pause)
    }
}

/// Some names of many.
fn some(names: &[String]) -> String {
    const MOST: usize = 3;
    let more = names.len().saturating_sub(MOST);
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// Sends what builds want, for as long as the process lives. Of several replicas the one sends that holds the lease.
///
/// # Errors
///
/// Never by itself: what fails is tried again.
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
        // Without the lease it watches, so that it can go on at once when it gets it.
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
            sender.tell_failed(&plan, &trouble, pause).await;
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
    /// Why the last plan is not sent: it is reported once.
    held: Option<String>,
}

impl Sender {
    fn wants(&mut self, plan: &Plan) -> bool {
        let decision = self.applier.decide(plan);
        let held = if let Decision::Held(why) = &decision { Some(why.clone()) } else { None };
        self.reader.client.metrics().held(held.is_some());
        if held != self.held {
            if let Some(message) = held.clone() {
                self.events.tell(Event::ApplyHeld { gateway: plan.gateway.clone(), message });
            }
            self.held = held;
        }
        decision == Decision::Send
    }

    /// Reads the gateway, and sends the plan if the gateway is still the one that it was made with.
    async fn send(&mut self, build: &Arc<Build>, plan: &Arc<Plan>) -> Result<(), Trouble> {
        let now = self.reader.read().await?;
        if now.etag() != plan.etag.as_deref() {
            // The next build merges what others changed.
            now.tell(&self.intake);
            return Ok(());
        }
        let begin = Instant::now();
        let (of, planned) = (build.clone(), plan.clone());
        let at = k8s_openapi::jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        // Certificates are encrypted, which takes a while.
        let body = tokio::task::spawn_blocking(move || planned.body(&of.compilation, &at)).await;
        let refused = |why: String| Trouble::new(Kind::Refused, why);
        let body = body.map_err(|error| refused(error.to_string()))?.map_err(refused)?;
        let changed = self.reader.client.change(&self.reader.id, &body, plan.etag.as_deref()).await?;
        self.applier.applied(plan, fingerprint_of(&changed));
        self.reader.client.metrics().changed(begin.elapsed());
        self.events.tell(Event::Applied {
            gateway: plan.gateway.clone(),
            version: plan.version(),
            took_ms: begin.elapsed().as_millis() as u64,
            parts: plan.parts.len(),
        });
        self.reader.with_addresses(changed).await.tell(&self.intake);
        Ok(())
    }

    /// Reports what failed; the gateway is read again, as it may be another now.
    async fn tell_failed(&self, plan: &Plan, trouble: &Trouble, pause: Duration) {
        self.reader.client.metrics().failed();
        let retry_ms = pause.as_millis() as u64;
        self.events.tell(Event::ApplyFailed { gateway: plan.gateway.clone(), message: trouble.message.clone(), retry_ms });
        if let Ok(now) = self.reader.read().await {
            now.tell(&self.intake);
        }
    }
}

#[cfg(test)]
mod tests;
