//! What is known while requests are compared: both gateways, what was found, and how much may still be done.
//!
//! What must not be here: choosing requests.

use super::difference::{self, FieldDifference, Relevance};
use super::frames::chains;
use super::report::{Answer, Difference, FoundChange, Groups, RequestChange, RequestPlace, Requests, Weight, Witness, told};
use super::{RequestOptions, Side, reach};
use crate::OriginView;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::simulate::{Credential, Gateway, Outcome, Request, Simulation, is_tls};
use hashbrown::HashMap;

/// At most this many requests are simulated on both sides.
const MOST_REQUESTS: usize = 100_000;
/// At most this many states of regular expressions are visited.
const MOST_STATES: usize = 1_000_000;

pub(super) struct Work<'w, 'a> {
    pub(super) sides: [Side<'a>; 2],
    pub(super) gateways: &'w [Gateway<'a>; 2],
    pub(super) options: RequestOptions<'w>,
    /// Names under which the sides have other clusters.
    pub(super) changed: BTreeSet<&'a str>,
    /// How many states of expressions may still be gone through.
    pub(super) states: usize,
    pub(super) limits: BTreeSet<String>,
    pub(super) complete: bool,
    /// Whether some listener of either side speaks TLS.
    pub(super) has_tls: bool,
    groups: Groups,
    compared: usize,
    reached: [HashMap<String, String>; 2],
}

/// A request as it comes to both sides.
#[derive(Clone)]
pub(super) struct Both {
    pub(super) request: Request,
    pub(super) ports: [Option<u32>; 2],
    /// What it shows to be let in.
    pub(super) credential: Option<Credential>,
}

impl Both {
    /// The same with what its client shows to be let in.
    pub(super) fn showing(&self, credential: Credential) -> Self {
        let mut shown = self.clone();
        credential.add_to(&mut shown.request);
        shown.credential = Some(credential);
        shown
    }

    pub(super) fn on(&self, side: usize) -> Request {
        // A port without a listener is tried for a listener that is not there.
        Request { port: Some(self.ports.get(side).copied().flatten().unwrap_or(0)), ..self.request.clone() }
    }
}

impl<'w, 'a> Work<'w, 'a> {
    pub(super) fn new(sides: [Side<'a>; 2], gateways: &'w [Gateway<'a>; 2], options: &RequestOptions<'w>) -> Self {
        let [before, after] = gateways;
        let changed = reach::changed(before, after, [sides[0].config, sides[1].config]);
        Self {
            sides,
            gateways,
            options: *options,
            changed,
            states: MOST_STATES,
            limits: BTreeSet::new(),
            complete: true,
            has_tls: sides.iter().flat_map(|side| &side.config.listeners).flat_map(|of| chains(&of.message)).any(is_tls),
            groups: Groups::default(),
            compared: 0,
            reached: [HashMap::default(), HashMap::default()],
        }
    }

    /// What a cluster of a side reaches.
    pub(super) fn reach(&mut self, side: usize, name: &str) -> String {
        let (Some(known), Some(gateway)) = (self.reached.get_mut(side), self.gateways.get(side)) else { return String::new() };
        if let Some(known) = known.get(name) {
            return known.clone();
        }
        let told = reach::reach(gateway, name, self.options.reaches.get(side).copied().flatten());
        known.insert(name.into(), told.clone());
        told
    }

    /// The same in the words of a report: with what people call it, where it is known by its addresses. Names by themselves make no difference, so
    /// that nothing is compared by these words.
    fn reach_in_words(&mut self, side: usize, name: &str) -> String {
        let reached = self.reach(side, name);
        let (Some(gateway), Some(of)) = (self.gateways.get(side), self.sides.get(side)) else { return reached };
        if self.options.reaches.get(side).is_some_and(Option::is_some) {
            return reached;
        }
        let called = of.source.as_ref().map(|source| source.gateway.of().dialect().called);
        match reach::label(gateway, name, called) {
            Some(label) if label != reached && label != name => alloc::format!("{label} at {reached}"),
            _ => reached,
        }
    }

    /// Whether two names are of clusters that do the same.
    pub(super) fn same_cluster(&self, before: &str, after: &str) -> bool {
        let [old, new] = self.gateways;
        let reach = |gateway, name| reach::reach(gateway, name, None);
        let are_there = old.cluster(before).is_some() && new.cluster(after).is_some();
        are_there && reach::settings([old, new], [before, after]).is_empty() && reach(old, before) == reach(new, after)
    }

    /// Notes that something was left out.
    pub(super) fn cut(&mut self, sentence: impl Into<String>) {
        self.complete = false;
        self.limits.insert(sentence.into());
    }

    /// Takes one request off what may still be compared; `false` where nothing is left.
    pub(super) fn may_go_on(&mut self) -> bool {
        if self.compared >= MOST_REQUESTS {
            self.cut(alloc::format!("Only {MOST_REQUESTS} requests were compared: some parts of the configuration that differ were not explored."));
            return false;
        }
        self.compared += 1;
        true
    }

    pub(super) fn simulate(&self, both: &Both) -> [Simulation; 2] {
        let [before, after] = self.gateways;
        [before.simulate(&both.on(0)), after.simulate(&both.on(1))]
    }

    pub(super) fn choose(&self, both: &Both) -> [Simulation; 2] {
        let [before, after] = self.gateways;
        [before.choose(&both.on(0)), after.choose(&both.on(1))]
    }

    /// Adds a change that a request shows.
    pub(super) fn add(&mut self, met: Vec<FieldDifference>, place: RequestPlace, both: &Both, simulations: &[Simulation; 2]) {
        if met.is_empty() {
            return;
        }
        let key = difference::key(&met, place.path.is_none());
        let weight =
            Weight { changes: met.iter().map(|of| difference::gravity(&of.what)).min().unwrap_or_default(), relevance: self.relevance(simulations) };
        let (before, after) = (self.reached_in_words(0, &simulations[0]), self.reached_in_words(1, &simulations[1]));
        let [old, new] = self.sides;
        let [first, second] = simulations;
        let is_forwarded = |simulation: &Simulation| simulation.outcome == Outcome::Forward && met.iter().any(|of| of.what == "outcome");
        let reached = [is_forwarded(first).then(|| before.clone()), is_forwarded(second).then(|| after.clone())];
        self.groups.add(FoundChange { key, reached, place, weight }, || RequestChange {
            requests: String::new(),
            differences: met.into_iter().map(|met| difference(met, &old, &new)).collect(),
            witness: Witness::of(&both.request, both.ports),
            before: answer(first, &before, &old),
            after: answer(second, &after, &new),
            places: Vec::new(),
            more_places: 0,
        });
    }

    /// How much a request tells of a change.
    pub(super) fn relevance(&self, simulations: &[Simulation; 2]) -> Relevance {
        Relevance::of(self.written_for(simulations).is_some(), simulations)
    }

    /// The resource that somebody wrote for the route that takes a request: on the second side, or else on the first.
    pub(super) fn written_for(&self, simulations: &[Simulation; 2]) -> Option<String> {
        [1, 0].into_iter().find_map(|side| {
            let simulation = simulations.get(side)?;
            let place = simulation.places.iter().find(|place| place.of == "route")?;
            let owner = self.sides.get(side)?.source.as_ref()?.owner(&place.pointer)?;
            Some(alloc::format!("{owner:?}"))
        })
    }

    /// What a request reaches, with shares.
    pub(super) fn reached_by(&mut self, side: usize, simulation: &Simulation) -> String {
        reach::shares(simulation.clusters.iter().map(|of| (self.reach(side, &of.name), of.percent)))
    }

    /// The same in the words of a report.
    pub(super) fn reached_in_words(&mut self, side: usize, simulation: &Simulation) -> String {
        reach::shares(simulation.clusters.iter().map(|of| (self.reach_in_words(side, &of.name), of.percent)))
    }

    pub(super) fn finish(self) -> Requests {
        let changes = self.groups.finish();
        Requests { changes, compared: self.compared, complete: self.complete, limits: self.limits.into_iter().collect() }
    }
}

fn difference(met: FieldDifference, old: &Side<'_>, new: &Side<'_>) -> Difference {
    let [before, after] = met.pointers;
    let from = |pointer: Option<String>, side: &Side<'_>| origins(side, &pointer?).into_iter().next();
    Difference { what: met.what, before: met.before, after: met.after, before_from: from(before, old), after_from: from(after, new) }
}

fn origins(side: &Side<'_>, pointer: &str) -> Vec<OriginView> {
    side.source.as_ref().map(|source| source.origins(pointer)).unwrap_or_default()
}

fn answer(simulation: &Simulation, reached: &str, side: &Side<'_>) -> Answer {
    let pointer = difference::pointer(simulation);
    let upstream = simulation.upstream.as_ref();
    Answer {
        told: told(simulation, reached),
        outcome: simulation.outcome,
        status: simulation.status,
        location: simulation.location.clone(),
        listener: simulation.listener.clone(),
        virtual_host: simulation.virtual_host.clone(),
        route: simulation.route.clone(),
        clusters: simulation.clusters.clone(),
        upstream_authority: upstream.map(|of| of.authority.clone()),
        upstream_path: upstream.map(|of| of.path.clone()),
        timeout: simulation.timeout.clone(),
        origins: pointer.as_deref().map(|pointer| origins(side, pointer)).unwrap_or_default(),
        pointer,
    }
}
