//! Finds the gateway of each proxy, and the snapshot of each gateway: the controllers `proxies` and `xds`.
//!
//! Both manage kinds that no cluster has. A `Proxy` exists while a source of proxies registers it; its reconciler finds
//! its gateway. A `Snapshot` exists while a build has its gateway; its reconciler chooses the proxy that tries a change
//! first. Events without an object (a registration, an Envoy that connects or leaves, a build) are custom watches. Does
//! not send anything; see [`crate::proxies`].

use crate::lock;
use crate::runtime::{Action, Controller, Id, Index, Object, Reading, mapper};
use crate::xds::snapshot::Snapshot;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// The kind of a registered proxy.
pub const PROXY: &str = "Proxy";
/// The kind of the configuration that a gateway's proxies should have.
pub const SNAPSHOT: &str = "Snapshot";
/// The custom watch for proxies that a source registers, registers again or deregisters.
pub const REGISTERED: &str = "registered";
/// The custom watch for snapshots of a build.
pub const SERVED: &str = "served";
/// The custom watch for builds that add or remove gateways.
pub const GATEWAYS: &str = "gateways";
/// The index of connected proxies by their gateway.
const BY_GATEWAY: &str = "gateway";

/// A source's registration of a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// The proxy's `node.cluster`.
    pub cluster: String,
    /// The gateway that the proxy belongs to. With `None`, the proxy's names decide.
    pub gateway: Option<Arc<str>>,
    /// Whether an Envoy of this name is connected.
    pub connected: bool,
}

/// Proxies by the number of the source that registered them, and snapshots by gateway.
#[derive(Debug, Default)]
struct State {
    proxies: BTreeMap<String, BTreeMap<usize, Registration>>,
    gateways: BTreeMap<Arc<str>, (u64, Arc<Snapshot>)>,
    /// Gateways that other replicas serve.
    elsewhere: BTreeSet<Arc<str>>,
    builds: u64,
}

impl State {
    /// Returns a gateway of this or another replica.
    fn known(&self, name: &str) -> Option<&Arc<str>> {
        self.gateways.get_key_value(name).map(|(name, _)| name).or_else(|| self.elsewhere.get(name))
    }
}

/// The registrations of sources and the snapshots of builds, for reconcilers. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct DeliveryState(Arc<Mutex<State>>);

impl DeliveryState {
    /// Registers a proxy, or changes its registration.
    pub fn register(&self, source: usize, node: &str, registration: Registration) {
        lock(&self.0).proxies.entry(node.to_owned()).or_default().insert(source, registration);
    }

    /// Deregisters a proxy. Another source may still register it.
    pub fn deregister(&self, source: usize, node: &str) {
        let mut state = lock(&self.0);
        if let Some(of) = state.proxies.get_mut(node) {
            of.remove(&source);
            if of.is_empty() {
                state.proxies.remove(node);
            }
        }
    }

    /// Returns the proxies that a source has registered.
    #[must_use]
    pub fn of_source(&self, source: usize) -> BTreeMap<String, Registration> {
        let state = lock(&self.0);
        state.proxies.iter().filter_map(|(node, of)| Some((node.clone(), of.get(&source)?.clone()))).collect()
    }

    /// Sets the snapshots of a build. With `whole`, other gateways are removed. Returns the changed gateways, and
    /// whether a gateway was added or removed.
    pub fn serve(&self, snapshots: BTreeMap<Arc<str>, Arc<Snapshot>>, whole: bool) -> (Vec<Arc<str>>, bool) {
        let mut state = lock(&self.0);
        state.builds += 1;
        let build = state.builds;
        let gone: Vec<Arc<str>> = state.gateways.keys().filter(|name| whole && !snapshots.contains_key(*name)).cloned().collect();
        let mut others = !gone.is_empty();
        gone.iter().for_each(|name| _ = state.gateways.remove(name));
        let mut changed = gone;
        for (name, snapshot) in snapshots {
            // The same shared value is unchanged.
            if !state.gateways.get(&name).is_some_and(|(_, known)| Arc::ptr_eq(known, &snapshot)) {
                changed.push(name.clone());
                others |= state.gateways.insert(name, (build, snapshot)).is_none();
            }
        }
        (changed, others)
    }

    /// Sets the gateways that other replicas serve. Returns whether they changed.
    pub fn set_elsewhere(&self, elsewhere: &BTreeSet<Arc<str>>) -> bool {
        let mut state = lock(&self.0);
        let is_changed = state.elsewhere != *elsewhere;
        state.elsewhere.clone_from(elsewhere);
        is_changed
    }

    /// Returns the snapshot of a gateway.
    #[must_use]
    pub fn snapshot(&self, gateway: &str) -> Option<Arc<Snapshot>> {
        lock(&self.0).gateways.get(gateway).map(|(_, snapshot)| snapshot.clone())
    }

    /// Returns the spec of a proxy. The first source that names a gateway wins. Without such a source, a single gateway
    /// gets every proxy. With several gateways, the gateway with the proxy's name wins, then the gateway with the name
    /// of its cluster.
    fn proxy(&self, node: &str) -> Option<Value> {
        let state = lock(&self.0);
        let of = state.proxies.get(node)?;
        let known = |name: &str| state.known(name);
        let named = of.values().find_map(|registration| registration.gateway.as_deref());
        let cluster = of.values().map(|registration| registration.cluster.as_str()).find(|cluster| !cluster.is_empty()).unwrap_or_default();
        let gateway = match (named, state.gateways.len() + state.elsewhere.len()) {
            (Some(gateway), _) => known(gateway),
            (None, 1) => state.gateways.keys().chain(&state.elsewhere).next(),
            (None, _) => known(node).or_else(|| known(cluster)),
        };
        let connected = of.values().any(|registration| registration.connected);
        Some(json!({"gateway": gateway.map(|gateway| &**gateway), "connected": connected}))
    }
}

/// Returns the id of a proxy.
#[must_use]
pub fn proxy(node: &str) -> Id {
    Id::new(PROXY, "", node)
}

/// Returns the id of a gateway's snapshot.
#[must_use]
pub fn snapshot(gateway: &str) -> Id {
    Id::new(SNAPSHOT, "", gateway)
}

fn gateway_of(proxy: &Object) -> Option<&str> {
    proxy.spec["gateway"].as_str()
}

/// Returns the node that tries a change of a snapshot first.
#[must_use]
pub fn tries(snapshot: &Object) -> Option<&str> {
    snapshot.spec["tries"].as_str()
}

/// Returns the gateway of a proxy.
#[must_use]
pub fn gateway(proxy: &Object) -> Option<Arc<str>> {
    gateway_of(proxy).map(Arc::from)
}

/// Returns both controllers. With `canary`, one proxy per gateway receives each change first.
#[must_use]
pub fn controllers(wanted: &DeliveryState, canary: bool) -> Vec<Controller> {
    let (registered, served) = (wanted.clone(), wanted.clone());
    let connected =
        |object: &Object| if object.spec["connected"] == true { gateway_of(object).map(str::to_owned).into_iter().collect() } else { Vec::new() };
    let proxies = Controller::new("proxies", PROXY, move |id: &Id, reading: &Reading<'_>| Ok(assign(id, reading, &registered)))
        .custom_watch(REGISTERED, mapper::same_name(PROXY))
        // A proxy may belong to an added or removed gateway.
        .custom_watch(GATEWAYS, mapper::all(PROXY))
        .writes(PROXY);
    let xds = Controller::new("xds", SNAPSHOT, move |id: &Id, reading: &Reading<'_>| Ok(offer(id, reading, &served, canary)))
        .index(PROXY, Index::new(BY_GATEWAY, connected))
        .watch(PROXY, mapper::referred(|object| gateway_of(object).map(snapshot).into_iter().collect()))
        .custom_watch(SERVED, mapper::same_name(SNAPSHOT))
        .writes(SNAPSHOT);
    vec![proxies, xds]
}

fn assign(id: &Id, reading: &Reading<'_>, wanted: &DeliveryState) -> Vec<Action> {
    let now = reading.get(id);
    match wanted.proxy(&id.name) {
        Some(spec) if now.as_ref().is_some_and(|known| known.spec == spec) => Vec::new(),
        Some(spec) => vec![Action::Apply(Object::new(id.clone(), spec))],
        None if now.is_some() => vec![Action::Delete(id.clone())],
        None => Vec::new(),
    }
}

fn offer(id: &Id, reading: &Reading<'_>, wanted: &DeliveryState, canary: bool) -> Vec<Action> {
    let now = reading.get(id);
    let build = lock(&wanted.0).gateways.get(&id.name).map(|(build, _)| *build);
    let Some(build) = build else { return if now.is_some() { vec![Action::Delete(id.clone())] } else { Vec::new() } };
    // The proxy that tried the change before tries the next change, too, because it has the newest snapshot.
    let before = now.as_ref().and_then(|known| tries(known)).map(proxy);
    let is_still_there = |proxy: &Object| proxy.spec["connected"] == true && gateway_of(proxy) == Some(&*id.name);
    let before = before.filter(|before| reading.get(before).is_some_and(|proxy| is_still_there(&proxy)));
    let first = before.or_else(|| reading.first(PROXY, BY_GATEWAY, &id.name, 1).first().map(|proxy| proxy.id.clone())).filter(|_| canary);
    let spec = json!({"build": build, "tries": first.map(|proxy| proxy.name.to_string())});
    if now.is_some_and(|known| known.spec == spec) { Vec::new() } else { vec![Action::Apply(Object::new(id.clone(), spec))] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Change;
    use crate::runtime::testing::TestController;

    struct Test {
        wanted: DeliveryState,
        runtime: TestController,
    }

    impl Test {
        fn new() -> Self {
            let wanted = DeliveryState::default();
            let runtime = TestController::new(controllers(&wanted, true), []).expect("controllers");
            Self { wanted, runtime }
        }

        fn connect(&mut self, node: &str, gateway: Option<&str>) {
            let registration = Registration { gateway: gateway.map(Arc::from), connected: true, ..Registration::default() };
            self.wanted.register(1, node, registration);
            self.runtime.event(Change::Custom(REGISTERED, Object::new(proxy(node), Value::Null)));
        }

        fn serve(&mut self, gateways: &[&str]) {
            let snapshots = gateways.iter().map(|name| (Arc::from(*name), Arc::new(Snapshot::new(*name)))).collect();
            let (changed, others) = self.wanted.serve(snapshots, true);
            for gateway in changed {
                self.runtime.event(Change::Custom(SERVED, Object::new(snapshot(&gateway), Value::Null)));
            }
            if others {
                self.runtime.event(Change::Custom(GATEWAYS, Object::default()));
            }
        }

        fn tries(&self, gateway: &str) -> Option<String> {
            tries(&*self.runtime.get(&snapshot(gateway))?).map(str::to_owned)
        }

        fn gateway(&self, node: &str) -> Option<String> {
            gateway_of(&*self.runtime.get(&proxy(node))?).map(str::to_owned)
        }
    }

    #[test]
    fn proxy_with_new_registration_leaves_old_gateway() {
        let mut test = Test::new();
        test.serve(&["one", "two"]);
        for node in ["a", "b", "c"] {
            test.connect(node, Some("one"));
        }
        assert_eq!((test.tries("one").as_deref(), test.tries("two")), (Some("a"), None));
        test.connect("a", Some("two"));
        // The old gateway is reconciled although nothing refers to it any more.
        assert_eq!((test.gateway("a").as_deref(), test.tries("one").as_deref()), (Some("two"), Some("b")));
        test.wanted.deregister(1, "c");
        test.runtime.event(Change::Custom(REGISTERED, Object::new(proxy("c"), Value::Null)));
        assert_eq!((test.gateway("c"), test.tries("one")), (None, Some("b".to_owned())), "an Envoy that is alone tries, too: it may restart");
    }

    #[test]
    fn added_and_removed_gateways_move_proxies() {
        let mut test = Test::new();
        test.connect("two", None);
        assert_eq!(test.gateway("two"), None);
        test.serve(&["one"]);
        assert_eq!(test.gateway("two").as_deref(), Some("one"), "the only gateway is everyone's");
        test.serve(&["one", "two"]);
        assert_eq!(test.gateway("two").as_deref(), Some("two"));
        test.serve(&["one", "three"]);
        assert_eq!(test.gateway("two"), None);
        assert!(test.runtime.get(&snapshot("two")).is_none(), "a gateway that is gone has no snapshot");
    }

    #[test]
    fn first_source_with_gateway_wins() {
        let mut test = Test::new();
        test.serve(&["one", "two"]);
        test.connect("a", Some("two"));
        test.wanted.register(0, "a", Registration { gateway: Some("one".into()), ..Registration::default() });
        test.runtime.event(Change::Custom(REGISTERED, Object::new(proxy("a"), Value::Null)));
        assert_eq!(test.gateway("a").as_deref(), Some("one"));
        test.wanted.deregister(0, "a");
        test.runtime.event(Change::Custom(REGISTERED, Object::new(proxy("a"), Value::Null)));
        assert_eq!(test.gateway("a").as_deref(), Some("two"));
    }
}
