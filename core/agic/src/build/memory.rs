//! What earlier compiles built: shares of Ingresses, and the parts that follow from them, each known by the addresses of what it was made from.
//!
//! What must not be here: what is made.

use super::draft::{Paths, Wanted};
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

/// What earlier compiles built.
#[derive(Default)]
pub struct Memory {
    pub(super) shares: share::Memory,
    /// By the address of what the listener is to do.
    pub(super) listeners: ByAddress<KnownListener>,
    /// By the address of what the listener is to do.
    pub(super) redirects: ByAddress<KnownRedirect>,
    /// By the address of the first of the paths.
    pub(super) path_maps: ByAddress<KnownPathMap>,
    /// By the address of the path map.
    pub(super) rules: ByAddress<KnownRule>,
    /// Rules with the free number that they got, by the address of the rule without one.
    pub(super) numbered: ByAddress<NumberedRule>,
    pub(super) orders: Orders,
}

/// A rule without a priority, and the same with a free number.
pub(super) type NumberedRule = (Arc<Part<Rule>>, Arc<Part<Rule>>);

/// The orders of lists.
#[derive(Default)]
pub(super) struct Orders {
    pub(super) probes: KnownOrder<Part<Probe>>,
    pub(super) settings: KnownOrder<Part<Settings>>,
    pub(super) pools: KnownOrder<Part<Pool>>,
    pub(super) certificates: KnownOrder<Part<Certificate>>,
    pub(super) configs: KnownOrder<Wanted>,
    pub(super) listeners: KnownOrder<Part<Listener>>,
    pub(super) groups: KnownOrder<Paths>,
    pub(super) path_maps: KnownOrder<Part<PathMap>>,
    pub(super) rules: KnownOrder<Part<Rule>>,
}

/// Values by an address, which each value holds.
pub(super) struct ByAddress<T> {
    known: HashMap<usize, Known<T>>,
    /// How many are of this compile.
    count: usize,
    /// The compile.
    round: u32,
}

/// A value, and the compile that it was asked for in last.
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
    /// Begins a compile: forgets what the one before did not ask for, where that is much.
    pub(super) fn begin(&mut self) {
        let Some(next) = self.round.checked_add(1) else { return *self = Self::default() };
        if self.known.len() > self.count + self.count / 4 + 64 {
            let round = self.round;
            self.known.retain(|_, known| known.round == round);
        }
        (self.count, self.round) = (0, next);
    }

    /// The value that is known, if it still is what it should be, or a new one.
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

    /// What each of these Ingresses asks for.
    pub fn shares(&mut self, source: &Source<'_>, names: &Names, gateway: &Properties, ingresses: &[Arc<Ingress>]) -> Vec<Arc<Share>> {
        self.shares.shares(source, names, gateway, ingresses)
    }
}

/// Where a shared value is.
pub(super) fn address<T>(of: &Arc<T>) -> usize {
    Arc::as_ptr(of).addr()
}
