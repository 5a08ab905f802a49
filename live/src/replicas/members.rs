//! Keeps the addresses of replicas, and decides from the answers of checks which replicas serve. Does no IO; see
//! `membership`.

use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

/// A replica that does not answer so often in a row has crashed.
const MOST_SILENT: u32 = 2;

/// The answer of the replica at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A replica with this id.
    Replica {
        id: String,
        /// Whether it has a configuration to serve.
        is_ready: bool,
    },
    /// No replica is there, for this reason: nothing listens, or another program answers.
    Absent(String),
    /// No answer in time, which may pass.
    Silent,
}

/// The state of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemberState {
    /// Its replica serves.
    Serves,
    /// Its replica has no configuration yet.
    NotReady,
    /// No replica answers.
    Absent,
}

impl MemberState {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MemberState::Serves => "serves",
            MemberState::NotReady => "not ready",
            MemberState::Absent => "absent",
        }
    }
}

/// A known address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberStatus {
    pub address: String,
    pub state: MemberState,
    /// Whether it is this replica.
    pub is_own: bool,
    /// Why no replica answers.
    pub detail: Option<String>,
}

/// The known facts about an address.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The id of its replica, if one answers.
    id: Option<String>,
    is_ready: bool,
    /// The checks in a row without an answer.
    silent: u32,
    why: Option<String>,
}

/// The addresses of all replicas.
#[derive(Debug)]
pub struct Members {
    own_id: String,
    known: BTreeMap<SocketAddr, Known>,
}

impl Members {
    #[must_use]
    pub fn new(own_id: &str) -> Self {
        Self { own_id: own_id.to_owned(), known: BTreeMap::new() }
    }

    /// Sets the addresses. Known facts about an address stay.
    pub fn set_addresses(&mut self, addresses: &[SocketAddr]) {
        self.known.retain(|address, _| addresses.contains(address));
        addresses.iter().for_each(|address| _ = self.known.entry(*address).or_default());
    }

    /// Returns all addresses.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.known.keys().copied().collect()
    }

    /// Notes the answer at an address.
    pub fn note(&mut self, address: SocketAddr, answer: Answer) {
        let Some(known) = self.known.get_mut(&address) else { return };
        match answer {
            Answer::Replica { id, is_ready } => *known = Known { id: Some(id), is_ready, ..Known::default() },
            Answer::Absent(why) => *known = Known { why: Some(why), ..Known::default() },
            Answer::Silent => {
                known.silent = known.silent.saturating_add(1);
                if known.silent >= MOST_SILENT {
                    *known = Known { silent: known.silent, why: Some("it does not answer".into()), ..Known::default() };
                }
            }
        }
    }

    /// Returns the addresses of the replicas that serve, and the address of this replica, if it is known. A replica with several addresses, such
    /// as IPv4 and IPv6, has the first of them.
    #[must_use]
    pub fn serving(&self) -> (Vec<Arc<str>>, Option<Arc<str>>) {
        let mut by_id: BTreeMap<&str, Arc<str>> = BTreeMap::new();
        for (address, known) in &self.known {
            // This replica counts even before it is ready, so that it builds its own gateways first.
            let Some(id) = known.id.as_deref().filter(|id| known.is_ready || **id == self.own_id) else { continue };
            by_id.entry(id).or_insert_with(|| address.to_string().into());
        }
        let own = by_id.get(&*self.own_id).cloned();
        let mut members: Vec<Arc<str>> = by_id.into_values().collect();
        members.sort();
        (members, own)
    }

    /// Whether a replica that serves did not answer the last check.
    #[must_use]
    pub fn has_doubt(&self) -> bool {
        self.known.values().any(|known| known.is_ready && known.silent > 0)
    }

    /// Returns the state of each address.
    #[must_use]
    pub fn statuses(&self) -> Vec<MemberStatus> {
        let one = |(address, known): (&SocketAddr, &Known)| MemberStatus {
            address: address.to_string(),
            state: match (&known.id, known.is_ready) {
                (None, _) => MemberState::Absent,
                (Some(_), false) => MemberState::NotReady,
                (Some(_), true) => MemberState::Serves,
            },
            is_own: known.id.as_deref() == Some(&self.own_id),
            detail: known.why.clone(),
        };
        self.known.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    fn ready(id: &str) -> Answer {
        Answer::Replica { id: id.into(), is_ready: true }
    }

    fn serving(members: &Members) -> (Vec<String>, Option<String>) {
        let (all, own) = members.serving();
        (all.iter().map(ToString::to_string).collect(), own.map(|own| own.to_string()))
    }

    fn of_three() -> Members {
        let mut members = Members::new("a");
        members.set_addresses(&[at("10.0.0.1:1"), at("10.0.0.2:1"), at("10.0.0.3:1")]);
        members.note(at("10.0.0.1:1"), Answer::Replica { id: "a".into(), is_ready: false });
        members.note(at("10.0.0.2:1"), ready("b"));
        members.note(at("10.0.0.3:1"), ready("c"));
        members
    }

    #[test]
    fn replica_that_crashed_leaves_at_once() {
        let mut members = of_three();
        assert_eq!(serving(&members), (vec!["10.0.0.1:1".into(), "10.0.0.2:1".into(), "10.0.0.3:1".into()], Some("10.0.0.1:1".into())));
        members.note(at("10.0.0.2:1"), Answer::Absent("connection refused".into()));
        assert_eq!(serving(&members).0, ["10.0.0.1:1", "10.0.0.3:1"]);
        members.note(at("10.0.0.3:1"), Answer::Silent);
        assert_eq!(serving(&members).0, ["10.0.0.1:1", "10.0.0.3:1"], "one late answer moves no gateway");
        assert!(members.has_doubt(), "the next check is soon");
        members.note(at("10.0.0.3:1"), Answer::Silent);
        assert_eq!(serving(&members), (vec!["10.0.0.1:1".into()], Some("10.0.0.1:1".into())));
        assert!(!members.has_doubt());
        members.note(at("10.0.0.3:1"), ready("c"));
        assert_eq!(serving(&members).0, ["10.0.0.1:1", "10.0.0.3:1"]);
    }

    #[test]
    fn other_replica_counts_when_it_is_ready() {
        let mut members = of_three();
        members.note(at("10.0.0.2:1"), Answer::Replica { id: "b".into(), is_ready: false });
        assert_eq!(serving(&members).0, ["10.0.0.1:1", "10.0.0.3:1"]);
        let states: Vec<MemberState> = members.statuses().iter().map(|of| of.state).collect();
        assert_eq!(states, [MemberState::NotReady, MemberState::NotReady, MemberState::Serves]);
    }

    #[test]
    fn replica_with_two_addresses_counts_once() {
        let mut members = Members::new("a");
        members.set_addresses(&[at("10.0.0.1:1"), at("10.0.0.2:1"), at("[fd00::1]:1"), at("[fd00::2]:1")]);
        for (address, id) in [("10.0.0.1:1", "a"), ("10.0.0.2:1", "b"), ("[fd00::1]:1", "a"), ("[fd00::2]:1", "b")] {
            members.note(at(address), ready(id));
        }
        assert_eq!(serving(&members), (vec!["10.0.0.1:1".into(), "10.0.0.2:1".into()], Some("10.0.0.1:1".into())));
        members.set_addresses(&[at("10.0.0.2:1")]);
        assert_eq!(serving(&members), (vec!["10.0.0.2:1".into()], None), "this replica is not among the addresses any more");
    }
}
