//! Caches the results of earlier compiles: shares of Ingresses, and the parts made from them, each by the addresses of its inputs.

use super::draft::{Paths, RequestedListener};
use super::listeners::KnownListener;
use super::order::KnownOrder;
use super::path_maps::KnownPathMap;
use super::redirects::KnownRedirect;
use super::rules::KnownRule;
use super::share;
use super::share::Share;
use crate::model::Ingress;
use crate::names::Names;
use crate::source::Source;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Certificate, Listener, Part, PathMap, Pool, Probe, Properties, Rule, Settings};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

/// The results of earlier compiles.
#[derive(Default)]
pub struct Memory {
    pub(super) shares: share::Memory,
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

    /// Returns the shares of these Ingresses.
    pub fn shares(&mut self, source: &Source<'_>, names: &Names, gateway: &Properties, ingresses: &[Arc<Ingress>]) -> Vec<Arc<Share>> {
        self.shares.shares(source, names, gateway, ingresses)
    }
}

/// The address of a shared value.
pub(super) fn address<T>(of: &Arc<T>) -> usize {
    Arc::as_ptr(of).addr()
}
