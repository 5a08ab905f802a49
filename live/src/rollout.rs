//! Gives a change to one Envoy of a gateway first, and withholds it from the others if that Envoy rejects it.
//!
//! Each gateway has a snapshot that is known to be good, and maybe a newer one that one Envoy is trying. The newer one
//! goes to all Envoys when that Envoy has accepted all of it, leaves, or does not answer for too long. If it rejects any
//! part, the others keep the good one until the next change; so does that Envoy itself after it has reconnected. Later
//! changes contain the good version of a rejected resource until the resource itself changes. Endpoints go to all
//! Envoys at once. The caller passes the time in.

use crate::xds::snapshot::{Resources, Snapshot};
use chancery_core::backend::envoy::v3::{Encoded, Fingerprint, Service};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the Envoy that tries a change may take.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// A snapshot that one Envoy is trying.
#[derive(Clone, Debug)]
struct Trial {
    snapshot: Arc<Snapshot>,
    node: String,
    /// Whether the node has left since. After it has reconnected, it gets the good snapshot.
    left: bool,
    since: Instant,
    /// Streams of the node that have accepted all of it.
    settled: BTreeSet<u64>,
    rejected: bool,
}

/// The snapshots of one gateway.
#[derive(Clone, Debug)]
pub struct Rollout {
    stable: Arc<Snapshot>,
    trial: Option<Trial>,
    /// The newest snapshot as it was built.
    offered: Arc<Snapshot>,
    /// The versions that an Envoy rejected, by the URL of the type and the name.
    rejected: BTreeMap<(Arc<str>, Arc<str>), Fingerprint>,
}

/// The result of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// No change.
    None,
    /// All Envoys get it now.
    Released,
    /// The others keep the good snapshot.
    Held,
}

impl Rollout {
    /// Gives this snapshot to all Envoys.
    #[must_use]
    pub fn new(snapshot: Arc<Snapshot>) -> Self {
        Self { stable: snapshot.clone(), trial: None, offered: snapshot, rejected: BTreeMap::new() }
    }

    /// Offers a new snapshot. `tries` is the node that tries it first. Returns whether any node gets another snapshot.
    pub fn offer(&mut self, snapshot: Arc<Snapshot>, tries: Option<&str>, now: Instant) -> bool {
        let is_left = |trial: &Trial| !trial.rejected && tries != Some(&*trial.node);
        if let Some(trial) = self.trial.as_mut().filter(|trial| tries != Some(&*trial.node)) {
            trial.left = true;
        }
        // No node is left to try it, so all nodes get it.
        let released = self.trial.as_ref().is_some_and(is_left) && self.release() == Change::Released;
        if Arc::ptr_eq(&snapshot, &self.offered) || (self.trial.is_some() && snapshot.changed_from(&self.offered).is_empty()) {
            // The snapshot that is tried or withheld is still the newest.
            return released;
        }
        // A resource that changed is tried again.
        self.rejected.retain(|(url, name), version| snapshot.get(url).and_then(|all| all.version(name)) == Some(*version));
        let sent = self.without_rejected(&snapshot);
        self.offered = snapshot;
        let endpoints = Service::Endpoints.type_url();
        let is_configuration = sent.changed_from(&self.stable).keys().any(|url| **url != *endpoints);
        match tries {
            Some(node) if is_configuration => {
                let node = node.to_owned();
                self.trial = Some(Trial { snapshot: sent, node, left: false, since: now, settled: BTreeSet::new(), rejected: false });
            }
            _ => (self.stable, self.trial) = (sent, None),
        }
        true
    }

    /// Returns a snapshot with the good versions of rejected resources. A resource without a good version is left out.
    fn without_rejected(&self, snapshot: &Arc<Snapshot>) -> Arc<Snapshot> {
        if self.rejected.is_empty() {
            return snapshot.clone();
        }
        let mut out = Snapshot::clone(snapshot);
        for (url, all) in snapshot.types() {
            let good = |name: &Arc<str>| self.stable.get(url).and_then(|of| of.by_name.get(name)).cloned();
            let one = |(name, of): (&Arc<str>, &Arc<Encoded>)| match self.rejected.contains_key(&(url.clone(), name.clone())) {
                true => good(name),
                false => Some(of.clone()),
            };
            if all.by_name.keys().any(|name| self.rejected.contains_key(&(url.clone(), name.clone()))) {
                out.set(url.clone(), Arc::new(Resources::new(all.by_name.iter().filter_map(one))));
            }
        }
        Arc::new(out)
    }

    /// Returns the newest snapshot as it was built.
    #[must_use]
    pub fn newest(&self) -> &Arc<Snapshot> {
        &self.offered
    }

    /// Returns the snapshot of a node.
    #[must_use]
    pub fn of(&self, node: &str) -> &Arc<Snapshot> {
        self.trial.as_ref().filter(|trial| trial.node == node && !trial.left).map_or(&self.stable, |trial| &trial.snapshot)
    }

    /// Whether Envoys keep earlier versions of resources, because one of them rejected the newest.
    #[must_use]
    pub fn is_held(&self) -> bool {
        !self.rejected.is_empty() || self.trial.as_ref().is_some_and(|trial| trial.rejected)
    }

    /// Returns until when this node must answer, if it tries a snapshot.
    #[must_use]
    pub fn deadline(&self, node: &str) -> Option<Instant> {
        self.trial.as_ref().filter(|trial| trial.node == node && !trial.rejected).map(|trial| trial.since + PATIENCE)
    }

    /// Notes that a stream has accepted everything that it requests from a snapshot. `streams` is the number of streams of the node.
    pub fn settled(&mut self, node: &str, stream: u64, of: &Arc<Snapshot>, streams: usize) -> Change {
        let Some(trial) = self.trial.as_mut().filter(|trial| trial.node == node && Arc::ptr_eq(&trial.snapshot, of)) else { return Change::None };
        trial.settled.insert(stream);
        if trial.rejected || trial.settled.len() < streams { Change::None } else { self.release() }
    }

    /// Notes that a node has rejected resources of a snapshot.
    pub fn rejected(&mut self, node: &str, of: &Arc<Snapshot>, url: &Arc<str>, names: &[Arc<str>]) -> Change {
        let Some(trial) = self.trial.as_mut().filter(|trial| trial.node == node && Arc::ptr_eq(&trial.snapshot, of)) else { return Change::None };
        let is_first = !std::mem::replace(&mut trial.rejected, true);
        for name in names {
            let version = |of: &Snapshot| of.get(url).and_then(|all| all.version(name));
            // Without another version, nothing can be sent instead.
            if let Some(version) = version(of).filter(|rejected| version(&self.stable) != Some(*rejected)) {
                self.rejected.insert((url.clone(), name.clone()), version);
            }
        }
        if is_first { Change::Held } else { Change::None }
    }

    /// Ends the trial of a node, if its time is over.
    pub fn give_up(&mut self, node: &str, now: Instant) -> Change {
        let is_over = |trial: &Trial| trial.node == node && !trial.rejected && now.saturating_duration_since(trial.since) >= PATIENCE;
        if self.trial.as_ref().is_some_and(is_over) { self.release() } else { Change::None }
    }

    fn release(&mut self) -> Change {
        match self.trial.take() {
            Some(trial) => {
                self.stable = trial.snapshot;
                Change::Released
            }
            None => Change::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xds::snapshot::Resources;
    use chancery_core::backend::envoy::v3::{Encoded, Fingerprint};

    fn snapshot(service: Service, content: &str) -> Arc<Snapshot> {
        let mut out = Snapshot::new("g");
        let value = content.as_bytes().to_vec();
        let resource = Encoded { name: "a".into(), version: Fingerprint::of(&[&value]), value };
        out.set(service.type_url(), Arc::new(Resources::new([Arc::new(resource)])));
        Arc::new(out)
    }

    fn reject(rollout: &mut Rollout, node: &str, of: &Arc<Snapshot>) -> Change {
        rollout.rejected(node, of, &Service::Clusters.type_url().into(), &["a".into()])
    }

    #[test]
    fn rollout_releases_change_after_trial() {
        let now = Instant::now();
        let (one, two) = (snapshot(Service::Clusters, "1"), snapshot(Service::Clusters, "2"));
        let mut rollout = Rollout::new(one.clone());
        rollout.offer(two.clone(), Some("a"), now);
        assert!(Arc::ptr_eq(rollout.of("a"), &two) && Arc::ptr_eq(rollout.of("b"), &one));
        assert_eq!(rollout.settled("b", 1, &one, 1), Change::None, "it is not the one that tries");
        assert_eq!(rollout.settled("a", 1, &two, 2), Change::None, "its other stream has not all of it");
        assert_eq!(rollout.settled("a", 2, &two, 2), Change::Released);
        assert!(Arc::ptr_eq(rollout.of("b"), &two));
    }

    #[test]
    fn rollout_holds_rejected_snapshot_until_next_change() {
        let now = Instant::now();
        let (good, bad, fixed) = (snapshot(Service::Clusters, "1"), snapshot(Service::Clusters, "2"), snapshot(Service::Clusters, "3"));
        let mut rollout = Rollout::new(good.clone());
        rollout.offer(bad.clone(), Some("a"), now);
        assert_eq!(reject(&mut rollout, "a", &bad), Change::Held);
        assert_eq!(rollout.settled("a", 1, &bad, 1), Change::None);
        assert_eq!(rollout.give_up("a", now + PATIENCE * 2), Change::None, "time does not release it");
        assert!(Arc::ptr_eq(rollout.of("b"), &good) && rollout.deadline("a").is_none());
        assert!(Arc::ptr_eq(rollout.of("a"), &bad) && rollout.is_held());
        rollout.offer(fixed.clone(), Some("a"), now);
        assert_eq!((rollout.settled("a", 1, &fixed, 1), rollout.is_held()), (Change::Released, false));
    }

    #[test]
    fn envoy_that_restarts_gets_last_good_snapshot() {
        let now = Instant::now();
        let (good, bad) = (snapshot(Service::Clusters, "1"), snapshot(Service::Clusters, "2"));
        let mut rollout = Rollout::new(good.clone());
        rollout.offer(bad.clone(), Some("a"), now);
        reject(&mut rollout, "a", &bad);
        rollout.offer(bad.clone(), None, now);
        rollout.offer(bad, Some("a"), now);
        assert!(Arc::ptr_eq(rollout.of("a"), &good), "it would start without a configuration");
        assert!(rollout.is_held());
    }

    #[test]
    fn later_changes_keep_good_version_of_rejected_resource() {
        let now = Instant::now();
        let with_endpoints = |content: &str, endpoints: &str| {
            let mut out = Snapshot::clone(&snapshot(Service::Clusters, content));
            out.set(
                Service::Endpoints.type_url(),
                snapshot(Service::Endpoints, endpoints).get(&Service::Endpoints.type_url()).expect("a type").clone(),
            );
            Arc::new(out)
        };
        let content = |of: &Snapshot, service: Service| {
            let all = of.get(&service.type_url()).expect("a type");
            all.by_name.get("a").map(|of| String::from_utf8_lossy(&of.value).into_owned())
        };
        let mut rollout = Rollout::new(with_endpoints("good", "1"));
        let bad = with_endpoints("bad", "1");
        rollout.offer(bad.clone(), Some("a"), now);
        reject(&mut rollout, "a", &bad);
        rollout.offer(with_endpoints("bad", "2"), Some("a"), now);
        for node in ["a", "b"] {
            let of = rollout.of(node);
            assert_eq!((content(of, Service::Clusters).as_deref(), content(of, Service::Endpoints).as_deref()), (Some("good"), Some("2")), "{node}");
        }
        assert!(rollout.is_held());
        rollout.offer(with_endpoints("fixed", "2"), Some("a"), now);
        assert_eq!(content(rollout.of("a"), Service::Clusters).as_deref(), Some("fixed"));
        assert!(!rollout.is_held());
    }

    #[test]
    fn rollout_skips_silent_or_only_envoy() {
        let now = Instant::now();
        let (one, two) = (snapshot(Service::Clusters, "1"), snapshot(Service::Clusters, "2"));
        let mut rollout = Rollout::new(one.clone());
        rollout.offer(two.clone(), None, now);
        assert!(Arc::ptr_eq(rollout.of("later"), &two));
        let mut rollout = Rollout::new(one.clone());
        rollout.offer(two.clone(), Some("a"), now);
        assert_eq!(rollout.give_up("a", now + PATIENCE / 2), Change::None);
        assert_eq!(rollout.give_up("a", now + PATIENCE), Change::Released);
        let mut rollout = Rollout::new(one.clone());
        rollout.offer(two.clone(), Some("a"), now);
        assert!(rollout.offer(two.clone(), Some("b"), now), "the one that tried is gone");
        assert!(Arc::ptr_eq(rollout.of("b"), &two) && Arc::ptr_eq(rollout.of("a"), &two));
        assert!(!rollout.offer(two, Some("b"), now), "the same again changes nothing");
        let (few, more) = (snapshot(Service::Endpoints, "1"), snapshot(Service::Endpoints, "2"));
        let mut rollout = Rollout::new(few);
        rollout.offer(more.clone(), Some("a"), now);
        assert!(Arc::ptr_eq(rollout.of("b"), &more), "endpoints do not wait");
    }
}
