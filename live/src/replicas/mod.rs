//! Shares the gateways between replicas of `chancery serve`: each replica builds and serves its own gateways only.
//!
//! | module | what it holds |
//! |---|---|
//! | [`share`] | the owner of a gateway among replicas, by rendezvous hashing |
//! | [`members`] | the addresses of replicas, and which of them serve |
//! | [`membership`] | resolves the addresses, and checks the replica at each of them |
//! | [`refusals`] | counts refused streams, and adopts gateways whose Envoys do not reach their owner |
//!
//! A replica always counts itself as a member, and refuses a stream only if it has just seen the owner serve. So the
//! living replica with the highest hash of a gateway serves the gateway, even if replicas see different members. Two
//! replicas that serve the same gateway send the same resources.
//!
//! Does not build or send resources; see `worker` and `xds`.

pub mod members;
pub mod membership;
mod refusals;
pub mod share;

use crate::lock;
use members::MemberStatus;
use refusals::Refusals;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};

/// The header of a readiness answer with the id of the replica.
pub const HEADER: &str = "chancery-replica";
/// How long a stream waits until the owner of its gateway has been checked.
const CHECK: Duration = Duration::from_millis(2500);

/// Who serves which gateway, as one replica sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The addresses of the replicas that serve, sorted.
    members: Vec<Arc<str>>,
    /// The address of this replica. While it is unknown, this replica owns every gateway.
    own: Option<Arc<str>>,
    /// Gateways of other replicas that this replica serves, because their Envoys do not reach the owner.
    adopted: BTreeSet<Arc<str>>,
}

impl View {
    /// Returns the other replica that owns a gateway, or `None` if this replica owns it.
    #[must_use]
    pub fn owner(&self, gateway: &str) -> Option<&Arc<str>> {
        let own = self.own.as_ref()?;
        let owner = share::owner(&self.members, gateway)?;
        (owner != own && !self.adopted.contains(gateway)).then_some(owner)
    }

    /// Returns the addresses of the replicas that serve.
    #[must_use]
    pub fn members(&self) -> &[Arc<str>] {
        &self.members
    }

    /// Returns the address of this replica, if it is known.
    #[must_use]
    pub fn own(&self) -> Option<&Arc<str>> {
        self.own.as_ref()
    }

    /// Whether another replica serves.
    #[must_use]
    pub fn has_others(&self) -> bool {
        self.own.is_some() && self.members.len() > 1
    }
}

#[derive(Debug)]
struct State {
    /// Identifies this process in readiness answers.
    id: String,
    /// Whether other replicas may exist.
    is_shared: bool,
    view: watch::Sender<Arc<View>>,
    /// When the last finished check of all members began.
    checked: watch::Sender<Instant>,
    /// Requests a check of all members.
    requested: Notify,
    refusals: Mutex<Refusals>,
    statuses: Mutex<Vec<MemberStatus>>,
}

/// What a replica knows about all replicas. Clones share one state. The default is a single replica, which owns every gateway.
#[derive(Clone, Debug)]
pub struct Replicas(Arc<State>);

impl Default for Replicas {
    fn default() -> Self {
        Self::new(false)
    }
}

impl Replicas {
    /// Creates the state of a replica that shares the gateways with others. It owns every gateway until [`membership`] finds others.
    #[must_use]
    pub fn shared() -> Self {
        Self::new(true)
    }

    fn new(is_shared: bool) -> Self {
        let random = || std::hash::RandomState::new().build_hasher().finish();
        Self(Arc::new(State {
            id: format!("{:016x}{:016x}", random(), random()),
            is_shared,
            view: watch::channel(Arc::default()).0,
            checked: watch::channel(Instant::now()).0,
            requested: Notify::new(),
            refusals: Mutex::default(),
            statuses: Mutex::default(),
        }))
    }

    /// Whether this server shares the gateways with other replicas.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.0.is_shared
    }

    /// Returns the id that this process shows in its readiness answers.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns the present view.
    #[must_use]
    pub fn view(&self) -> Arc<View> {
        self.0.view.borrow().clone()
    }

    /// Returns the view, now and after each change.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<Arc<View>> {
        self.0.view.subscribe()
    }

    /// Returns the state of each known address.
    #[must_use]
    pub fn statuses(&self) -> Vec<MemberStatus> {
        lock(&self.0.statuses).clone()
    }

    /// Returns the number of streams that were refused since the start.
    #[must_use]
    pub fn refused(&self) -> u64 {
        lock(&self.0.refusals).total()
    }

    /// Waits until all members have been checked since `begin`, for a limited time. An Envoy notices first that a replica crashed, so a
    /// replica must check the owner before it sends the Envoy there.
    pub async fn checked_since(&self, begin: Instant) {
        let mut checked = self.0.checked.subscribe();
        if *checked.borrow_and_update() >= begin {
            return;
        }
        self.0.requested.notify_one();
        // After the time limit, the last check decides.
        let _ = tokio::time::timeout(CHECK, checked.wait_for(|at| *at >= begin)).await;
    }

    /// Counts a stream of an Envoy whose gateway another replica owns. Returns whether this replica adopts the gateway instead of refusing
    /// the stream, because the Envoy comes back repeatedly.
    #[must_use]
    pub fn refuse(&self, gateway: &Arc<str>, stream: (&str, &'static str)) -> bool {
        let is_adopted = lock(&self.0.refusals).refuse(gateway, stream, Instant::now());
        if is_adopted {
            self.update(|view| _ = view.adopted.insert(gateway.clone()));
            self.0.requested.notify_one();
        }
        is_adopted
    }

    /// Changes the view. Streams and the builder see it only if it differs.
    fn update(&self, change: impl FnOnce(&mut View)) -> bool {
        self.0.view.send_if_modified(|view| {
            let mut next = View::clone(view);
            change(&mut next);
            let is_changed = next != **view;
            if is_changed {
                *view = Arc::new(next);
            }
            is_changed
        })
    }

    /// Sets what a check of all members found that began at `begin`: the replicas that serve, and the address of this one.
    pub fn note(&self, begin: Instant, members: Vec<Arc<str>>, own: Option<Arc<str>>, statuses: Vec<MemberStatus>) {
        let adopted = {
            let mut refusals = lock(&self.0.refusals);
            if *self.view().members != members {
                refusals.forget_streams();
            }
            refusals.adopted(Instant::now())
        };
        self.update(|view| *view = View { members, own, adopted });
        *lock(&self.0.statuses) = statuses;
        self.0.checked.send_replace(begin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(own: Option<&str>, members: &[&str]) -> View {
        View { members: members.iter().map(|of| Arc::from(*of)).collect(), own: own.map(Arc::from), adopted: BTreeSet::new() }
    }

    #[test]
    fn replica_without_known_address_owns_everything() {
        let all: Vec<String> = (0..50).map(|number| format!("team/{number}")).collect();
        assert!(all.iter().all(|gateway| view(None, &["a", "b"]).owner(gateway).is_none()));
        assert!(all.iter().all(|gateway| view(Some("a"), &["a"]).owner(gateway).is_none()));
        assert!(all.iter().any(|gateway| view(Some("a"), &["a", "b"]).owner(gateway).is_some()));
    }

    #[test]
    fn every_gateway_has_one_owner() {
        for gateway in (0..200).map(|number| format!("team/{number}")) {
            let owners = ["a", "b", "c"].iter().filter(|own| view(Some(own), &["a", "b", "c"]).owner(&gateway).is_none());
            assert_eq!(owners.count(), 1, "{gateway}");
        }
    }

    /// The replica with the highest hash owns a gateway in its own view, whatever the others see.
    #[test]
    fn different_views_leave_no_gateway_alone() {
        let all = ["a", "b", "c", "d"];
        // Bit `own * 3 + number` says whether a replica sees another one.
        let number = |own: usize, other: usize| own * 3 + if other < own { other } else { other - 1 };
        for gateway in (0..10).map(|number| format!("team/{number}")) {
            for seen in 0..4096_usize {
                let sees = |own: usize, other: usize| own == other || seen >> number(own, other) & 1 == 1;
                let serves = |own: usize| {
                    let members: Vec<&str> = (0..4).filter(|other| sees(own, *other)).map(|other| all[other]).collect();
                    view(Some(all[own]), &members).owner(&gateway).is_none()
                };
                assert!((0..4).any(serves), "{gateway}: {seen:b}");
            }
        }
    }

    #[test]
    fn adopted_gateway_is_owned() {
        let replicas = Replicas::shared();
        let members: Vec<Arc<str>> = ["a", "b"].map(Arc::from).into();
        replicas.note(Instant::now(), members, Some("a".into()), Vec::new());
        let gateway = (0..).map(|number| Arc::from(format!("team/{number}"))).find(|of: &Arc<str>| replicas.view().owner(of).is_some());
        let gateway = gateway.expect("a gateway of b");
        let mut views = replicas.subscribe();
        views.mark_unchanged();
        let refuse = || replicas.refuse(&gateway, ("edge", "all"));
        assert!((0..3).all(|_| !refuse()));
        assert!(!views.has_changed().expect("it is there") && replicas.view().owner(&gateway).is_some());
        assert!(refuse());
        assert!(views.has_changed().expect("it is there") && replicas.view().owner(&gateway).is_none());
    }
}
