//! Elects the one of several replicas that writes: the holder of a Lease.
//!
//! A holder renews the Lease. If the Lease is not renewed for its whole duration, another replica takes it. A replica
//! measures that duration by its own clock, starting at the last change that it saw. So clocks that differ or jump do
//! not matter.

use crate::Failure;
use crate::sources::kube::unreachable;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long a Lease lasts without renewal.
pub const LASTS: Duration = Duration::from_secs(15);
/// How often it is renewed or checked.
pub const EVERY: Duration = Duration::from_secs(3);

/// Whether this replica writes. Clones share the state.
#[derive(Clone, Debug)]
pub struct Leading(watch::Receiver<Option<Instant>>);

impl Leading {
    /// Whether this replica holds the Lease.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.0.borrow().is_some_and(|until| Instant::now() < until)
    }

    /// Waits until the Lease is acquired, renewed or lost. Never returns after the task has ended.
    pub async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending().await
        }
    }
}

/// Renews the Lease, or tries to acquire it, as long as a [`Leading`] exists. Then it releases the Lease, so that another replica need not
/// wait until it expires.
pub fn keep(mut holder: Holder) -> (Leading, impl Future<Output = ()> + Send) {
    let (leading_until, leading) = watch::channel(None);
    let kept = async move {
        let mut attempt = tokio::time::interval(EVERY);
        loop {
            tokio::select! {
                () = leading_until.closed() => break,
                _ = attempt.tick() => {}
            }
            lead(&mut holder).await;
            leading_until.send_replace(holder.until);
        }
        if let Err(why) = holder.release().await {
            tracing::warn!("the lease cannot be given back, and runs out by itself: {why}");
        }
    };
    (Leading(leading), kept)
}

/// Renews the Lease, or tries to acquire it.
async fn lead(holder: &mut Holder) {
    let held = holder.holds();
    match holder.attempt().await {
        Ok(true) if !held => tracing::info!(lease = holder.name, "this server holds the lease, and writes"),
        Ok(false) if held => tracing::info!(lease = holder.name, "another server holds the lease, and this one stops writing"),
        Ok(_) => {}
        Err(why) => tracing::warn!("the lease cannot be renewed: {why}"),
    }
}

/// A candidate for the Lease.
pub struct Holder {
    api: Api<Lease>,
    name: String,
    me: String,
    /// The last version that was seen, and since when.
    seen: Option<(String, Instant)>,
    /// Until when this replica holds it, by its own clock.
    until: Option<Instant>,
}

impl Holder {
    /// Creates a candidate for the Lease of this name.
    #[must_use]
    pub fn new(client: Client, namespace: &str, name: &str, me: &str) -> Self {
        Self { api: Api::namespaced(client, namespace), name: name.into(), me: me.into(), seen: None, until: None }
    }

    /// Whether this replica holds it now.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() < until)
    }

    /// Renews it, or tries to acquire it.
    ///
    /// # Errors
    ///
    /// The API server cannot be reached, or refuses the request.
    pub async fn attempt(&mut self) -> Result<bool, Failure> {
        let begin = Instant::now();
        let found = self.api.get_opt(&self.name).await.map_err(|error| Failure(unreachable(&error)))?;
        let Some(mut lease) = found else {
            let metadata = ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() };
            let lease = Lease { metadata, spec: Some(self.spec(None)) };
            return self.settle(self.api.create(&PostParams::default(), &lease).await, begin);
        };
        let version = lease.metadata.resource_version.clone().unwrap_or_default();
        let spec = lease.spec.clone().unwrap_or_default();
        let is_ours = spec.holder_identity.as_deref() == Some(&self.me);
        if self.seen.as_ref().is_none_or(|(known, _)| *known != version) {
            self.seen = Some((version, begin));
        }
        let lasts = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok()).map_or(LASTS, Duration::from_secs);
        let is_free = spec.holder_identity.as_deref().is_none_or(str::is_empty);
        let is_over = self.seen.as_ref().is_some_and(|(_, since)| since.elapsed() > lasts);
        if !is_ours && !is_free && !is_over {
            self.until = None;
            return Ok(false);
        }
        lease.spec = Some(self.spec(Some(&spec)));
        // The request names the version that was read: if another replica took the Lease meanwhile, that one wins.
        self.settle(self.api.replace(&self.name, &PostParams::default(), &lease).await, begin)
    }

    /// Releases it, so that another replica need not wait until it expires. If that fails, it expires by itself.
    ///
    /// # Errors
    ///
    /// The API server cannot be reached, or refuses the request.
    pub async fn release(&mut self) -> Result<(), Failure> {
        if self.until.take().is_none() {
            return Ok(());
        }
        let Some(mut lease) = self.api.get_opt(&self.name).await.map_err(|error| Failure(unreachable(&error)))? else { return Ok(()) };
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_deref() != Some(&self.me) {
            return Ok(());
        }
        spec.holder_identity = None;
        match self.api.replace(&self.name, &PostParams::default(), &lease).await {
            // Another replica took it meanwhile.
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
            Err(error) => Err(unreachable(&error).into()),
        }
    }

    fn settle(&mut self, written: Result<Lease, kube::Error>, begin: Instant) -> Result<bool, Failure> {
        match written {
            Ok(_) => {
                self.until = Some(begin + LASTS - EVERY);
                Ok(true)
            }
            Err(kube::Error::Api(status)) if status.code == 409 => {
                self.until = None;
                Ok(false)
            }
            Err(error) => Err(unreachable(&error).into()),
        }
    }

    fn spec(&self, before: Option<&LeaseSpec>) -> LeaseSpec {
        let is_ours = before.is_some_and(|before| before.holder_identity.as_deref() == Some(&self.me));
        let now = MicroTime(k8s_openapi::jiff::Timestamp::now());
        let moves = before.and_then(|before| before.lease_transitions).unwrap_or_default();
        LeaseSpec {
            holder_identity: Some(self.me.clone()),
            lease_duration_seconds: i32::try_from(LASTS.as_secs()).ok(),
            renew_time: Some(now.clone()),
            acquire_time: before.filter(|_| is_ours).and_then(|before| before.acquire_time.clone()).or(Some(now)),
            lease_transitions: Some(if is_ours { moves } else { moves.saturating_add(1) }),
            ..LeaseSpec::default()
        }
    }
}
