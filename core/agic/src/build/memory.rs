//! Caches the results of earlier compiles: shares of Ingresses, and the parts made from them, each by the addresses of its inputs.
//!
//! Does not make parts; see `make_shares` and the modules of the steps.

use super::draft::{Paths, RequestedListener};
use super::order::KnownOrder;
use super::share::CachedShares;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Certificate, Listener, Part, PathMap, Pool, Probe, Redirect, Rule, Settings};
use chancery_base::resource::Sourced;
use chancery_text::Str;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

/// The results of earlier compiles.
#[derive(Default)]
pub struct Memory {
    pub(super) shares: CachedShares,
    /// By the address of the listener's configuration.
    pub(super) listeners: ByAddress<KnownListener>,
    /// By the address of the listener's configuration.
    pub(super) redirects: ByAddress<KnownRedirect>,
    /// By the address of the first paths.
    pub(super) path_maps: ByAddress<KnownPathMap>,
    /// By the address of the path map.
    pub(super) rules: ByAddress<KnownRule>,
    /// Rules with their free number, by the address of the rule without one.
    pub(super) numbered: ByAddress<NumberedRule>,
    pub(super) orders: CachedOrders,
}

/// A rule without a priority, and the same rule with a free number.
pub(super) type NumberedRule = (Arc<Part<Rule>>, Arc<Part<Rule>>);

/// A listener, and the values that it was made from.
pub(super) struct KnownListener {
    pub(super) listener: Arc<Part<Listener>>,
    pub(super) frontend: Str,
    pub(super) port: Str,
    #[expect(dead_code, reason = "keeps the address of the cache key valid")]
    pub(super) wanted: Arc<RequestedListener>,
}

/// A redirect, and the values that it was made from.
pub(super) struct KnownRedirect {
    #[expect(dead_code, reason = "keeps the address of the cache key valid")]
    pub(super) wanted: Arc<RequestedListener>,
    pub(super) target: Str,
    pub(super) redirect: Arc<Part<Redirect>>,
}

/// A path map, and the values that it was made from.
pub(super) struct KnownPathMap {
    pub(super) paths: Vec<Arc<Paths>>,
    pub(super) redirected: Vec<bool>,
    pub(super) map: Arc<Part<PathMap>>,
}

/// A rule, and the values that it was made from.
pub(super) struct KnownRule {
    pub(super) map: Arc<Part<PathMap>>,
    pub(super) listener: Arc<Part<Listener>>,
    pub(super) priority: Option<Sourced<i64>>,
    pub(super) rule: Arc<Part<Rule>>,
}

/// The sort orders of lists.
#[derive(Default)]
pub(super) struct CachedOrders {
    pub(super) probes: KnownOrder<Part<Probe>>,
    pub(super) settings: KnownOrder<Part<Settings>>,
    pub(super) pools: KnownOrder<Part<Pool>>,
    pub(super) certificates: KnownOrder<Part<Certificate>>,
    pub(super) configs: KnownOrder<RequestedListener>,
    pub(super) listeners: KnownOrder<Part<Listener>>,
    pub(super) groups: KnownOrder<Paths>,
    pub(super) path_maps: KnownOrder<Part<PathMap>>,
    pub(super) rules: KnownOrder<Part<Rule>>,
}

/// Values by an address; each value keeps its address valid.
pub(super) struct ByAddress<T> {
    known: HashMap<usize, Known<T>>,
    /// How many values the current compile uses.
    count: usize,
    /// The number of the current compile.
    round: u32,
}

/// A value, and the last compile that used it.
struct Known<T> {
    value: T,
    round: u32,
}

impl<T> Default for ByAddress<T> {
    fn default() -> Self {
        Self { known: HashMap::new(), count: 0, round: 0 }
    }
}

impl<T> ByAddress<T> {
    /// Begins a compile: removes the values that the previous one did not use, if there are many.
    pub(super) fn begin(&mut self) {
        let Some(next) = self.round.checked_add(1) else { return *self = Self::default() };
        if self.known.len() > self.count + self.count / 4 + 64 {
            let round = self.round;
            self.known.retain(|_, known| known.round == round);
        }
        (self.count, self.round) = (0, next);
    }

    /// Returns the known value if it is still valid, or a new one.
    pub(super) fn or_make(&mut self, address: usize, is: impl FnOnce(&T) -> bool, make: impl FnOnce() -> T) -> &T {
        let round = self.round;
        self.count += 1;
        let known = match self.known.entry(address) {
            Entry::Occupied(known) => {
                let known = known.into_mut();
                if !is(&known.value) {
                    known.value = make();
                }
                known.round = round;
                known
            }
            Entry::Vacant(place) => place.insert(Known { value: make(), round }),
        };
        &known.value
    }
}

impl Memory {
    /// Begins a build.
    pub(super) fn begin(&mut self) {
        self.listeners.begin();
        self.redirects.begin();
        self.path_maps.begin();
        self.rules.begin();
        self.numbered.begin();
    }
}

/// The address of a shared value.
pub(super) fn address<T>(of: &Arc<T>) -> usize {
    Arc::as_ptr(of).addr()
}
