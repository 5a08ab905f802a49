//! Counts the streams that a replica refuses, and adopts gateways whose Envoys come back repeatedly. Does not refuse;
//! see `xds::server`.
//!
//! Such an Envoy cannot reach the owner: its bootstrap names one replica only, or a network between them is cut. Serving
//! it costs one more build of its gateway; refusing it would leave it without changes.

use crate::log_limit::LogLimit;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A stream that comes so often, while no replica comes or leaves, is served.
const MOST: u32 = 4;
/// Refusals within this time belong together.
const TOGETHER: Duration = Duration::from_secs(60);
/// How long a gateway stays adopted.
const ADOPTED: Duration = Duration::from_secs(600);
/// The most streams that are counted.
const MOST_STREAMS: usize = 20_000;
/// Limits the lines about adopted gateways.
static LOGGED: LogLimit = LogLimit::new();

/// The refused streams of the last minute, and the adopted gateways.
#[derive(Debug, Default)]
pub struct Refusals {
    /// By node and service: how often, and when last.
    streams: BTreeMap<(String, &'static str), (u32, Instant)>,
    /// Until when each gateway is adopted.
    adopted: BTreeMap<Arc<str>, Instant>,
    total: u64,
}

impl Refusals {
    /// Counts a refusal. Returns whether the gateway is adopted instead.
    pub fn refuse(&mut self, gateway: &Arc<str>, (node, service): (&str, &'static str), now: Instant) -> bool {
        self.total += 1;
        if self.streams.len() >= MOST_STREAMS {
            self.streams.retain(|_, (_, last)| now.saturating_duration_since(*last) < TOGETHER);
        }
        let key = (node.to_owned(), service);
        if self.streams.len() >= MOST_STREAMS && !self.streams.contains_key(&key) {
            return false;
        }
        let (count, last) = self.streams.entry(key.clone()).or_insert((0, now));
        *count = if now.saturating_duration_since(*last) < TOGETHER { *count + 1 } else { 1 };
        *last = now;
        if *count < MOST {
            return false;
        }
        self.streams.remove(&key);
        self.adopted.insert(gateway.clone(), now + ADOPTED);
        if let Some(suppressed) = LOGGED.allow() {
            let minutes = ADOPTED.as_secs() / 60;
            tracing::warn!(
                gateway = &**gateway,
                node,
                suppressed,
                "an Envoy does not reach the replica that owns its gateway, so this replica serves the gateway for {minutes} minutes; \
                 a bootstrap must name all replicas, or their headless Service"
            );
        }
        true
    }

    /// Forgets refused streams, because the owners changed: Envoys search again.
    pub fn forget_streams(&mut self) {
        self.streams.clear();
    }

    /// Returns the gateways that are adopted now.
    pub fn adopted(&mut self, now: Instant) -> BTreeSet<Arc<str>> {
        self.adopted.retain(|_, until| *until > now);
        self.adopted.keys().cloned().collect()
    }

    /// Returns the number of refusals since the start.
    pub fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envoy_that_returns_is_adopted_for_minutes() {
        let (mut refusals, gateway, begin) = (Refusals::default(), Arc::from("web"), Instant::now());
        let mut at = |node: &str, service, second| refusals.refuse(&gateway, (node, service), begin + Duration::from_secs(second));
        assert!(!at("a", "all", 0) && !at("a", "all", 1) && !at("a", "all", 2));
        assert!(!at("b", "all", 2) && !at("a", "clusters", 2), "each stream is counted for itself");
        assert!(at("a", "all", 3), "the fourth time within a minute");
        assert!((70..73).all(|second| !at("b", "all", second)), "refusals that are long ago do not matter");
        assert_eq!(refusals.adopted(begin + Duration::from_secs(602)).len(), 1);
        assert!(refusals.adopted(begin + Duration::from_secs(603)).is_empty());
        assert_eq!(refusals.total(), 9);
    }

    #[test]
    fn envoy_that_follows_owners_is_not_adopted() {
        let (mut refusals, gateway, now) = (Refusals::default(), Arc::from("web"), Instant::now());
        for _ in 0..20 {
            (1..MOST).for_each(|_| assert!(!refusals.refuse(&gateway, ("edge", "all"), now)));
            refusals.forget_streams();
        }
    }

    #[test]
    fn counted_streams_are_bounded() {
        let (mut refusals, gateway, now) = (Refusals::default(), Arc::from("web"), Instant::now());
        (0..MOST_STREAMS + 10).for_each(|number| assert!(!refusals.refuse(&gateway, (&number.to_string(), "all"), now)));
        assert_eq!(refusals.streams.len(), MOST_STREAMS);
        assert!(!refusals.refuse(&gateway, ("later", "all"), now + TOGETHER));
        assert_eq!(refusals.streams.len(), 1, "old ones make room");
    }
}
