//! Holds the state of a comparison of requests: both gateways, the changes found, and the remaining budget. Does not choose requests; see
//! `listeners`.

use super::both::Both;
use super::budget::Budget;
use super::chains::chains;
use super::difference::{self, FieldDifference, Relevance};
use super::report::{Answer, Difference, FoundChange, Groups, RequestChange, RequestPlace, Requests, Weight, Witness, describe_result};
use super::{RequestOptions, Side, reach};
use crate::OriginView;
use crate::answers::Services;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::simulate::{Gateway, Outcome, Simulation, is_tls};
use core::net::SocketAddr;
use hashbrown::HashMap;

pub(super) struct Work<'w, 'a> {
    pub(super) sides: [Side<'a>; 2],
    pub(super) gateways: &'w [Gateway<'a>; 2],
    pub(super) options: RequestOptions<'w>,
    /// Cluster names that mean different clusters on the two sides.
    pub(super) changed: BTreeSet<&'a str>,
    pub(super) budget: Budget,
    /// Whether any listener of either side uses TLS.
    pub(super) has_tls: bool,
    groups: Groups,
    reached: [HashMap<String, String>; 2],
    /// The Services of each side, for names in reports.
    services: [Option<Services>; 2],
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
            budget: Budget::default(),
            has_tls: sides.iter().flat_map(|side| &side.config.listeners).flat_map(|of| chains(&of.message)).any(is_tls),
            groups: Groups::default(),
            reached: [HashMap::default(), HashMap::default()],
            services: [None, None],
        }
    }

    /// Returns what a cluster of a side reaches.
    pub(super) fn reach(&mut self, side: usize, name: &str) -> String {
        let (Some(known), Some(gateway)) = (self.reached.get_mut(side), self.gateways.get(side)) else { return String::new() };
        if let Some(known) = known.get(name) {
            return known.clone();
        }
        let target = reach::reach(gateway, name, self.options.reaches.get(side).copied().flatten());
        known.insert(name.into(), target.clone());
        target
    }

    /// Returns the readable form of what a cluster reaches, for reports only: names make no difference in comparisons.
    fn reach_in_words(&mut self, side: usize, name: &str) -> String {
        let reached = self.reach(side, name);
        let (Some(gateway), Some(of)) = (self.gateways.get(side), self.sides.get(side)) else { return reached };
        if self.options.reaches.get(side).is_some_and(Option::is_some) {
            return reached;
        }
        let cluster_label = of.source.as_ref().map(|source| source.gateway.of().dialect().cluster_label);
        match reach::label(gateway, name, cluster_label).filter(|label| *label != reached && label != name).or_else(|| self.service(side, &reached)) {
            Some(label) => alloc::format!("{label} at {reached}"),
            _ => reached,
        }
    }

    /// Returns the Service whose endpoints these are.
    fn service(&mut self, side: usize, reached: &str) -> Option<String> {
        let addresses = || reached.split(", ").map(|address| address.trim_end_matches(" (unhealthy)"));
        if !addresses().all(|address| address.parse::<SocketAddr>().is_ok()) {
            return None;
        }
        let objects = self.sides.get(side)?.source.as_ref()?.gateway.of().objects();
        let mut services = self.services.get_mut(side)?.get_or_insert_with(|| Services::of(objects)).behind(addresses()).into_iter();
        services.next().filter(|_| services.next().is_none())
    }

    /// Whether two cluster names mean equal clusters.
    pub(super) fn same_cluster(&self, before: &str, after: &str) -> bool {
        let [old, new] = self.gateways;
        let reach = |gateway, name| reach::reach(gateway, name, None);
        let are_there = old.cluster(before).is_some() && new.cluster(after).is_some();
        are_there && reach::settings([old, new], [before, after]).is_empty() && reach(old, before) == reach(new, after)
    }

    pub(super) fn simulate(&self, both: &Both) -> [Simulation; 2] {
        let [before, after] = self.gateways;
        [before.simulate(&both.on(0)), after.simulate(&both.on(1))]
    }

    pub(super) fn choose(&self, both: &Both) -> [Simulation; 2] {
        let [before, after] = self.gateways;
        [before.choose(&both.on(0)), after.choose(&both.on(1))]
    }

    /// Adds the change that a request shows.
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

    /// Rates how well a request illustrates a change.
    pub(super) fn relevance(&self, simulations: &[Simulation; 2]) -> Relevance {
        Relevance::of(self.written_for(simulations).is_some(), simulations)
    }

    /// Returns the resource of the route that matches a request: on the second side, or else on the first.
    pub(super) fn written_for(&self, simulations: &[Simulation; 2]) -> Option<String> {
        [1, 0].into_iter().find_map(|side| {
            let simulation = simulations.get(side)?;
            let place = simulation.places.iter().find(|place| place.of == "route")?;
            let owner = self.sides.get(side)?.source.as_ref()?.owner(&place.pointer)?;
            Some(alloc::format!("{owner:?}"))
        })
    }

    /// Returns the targets of a request, with shares.
    pub(super) fn reached_by(&mut self, side: usize, simulation: &Simulation) -> String {
        reach::shares(simulation.clusters.iter().map(|of| (self.reach(side, &of.name), of.percent)))
    }

    /// Returns the readable form of the targets.
    pub(super) fn reached_in_words(&mut self, side: usize, simulation: &Simulation) -> String {
        reach::shares(simulation.clusters.iter().map(|of| (self.reach_in_words(side, &of.name), of.percent)))
    }

    pub(super) fn finish(self) -> Requests {
        let changes = self.groups.finish();
        Requests { changes, compared: self.budget.compared, complete: self.budget.complete, limits: self.budget.limits.into_iter().collect() }
    }
}

pub(super) fn difference(met: FieldDifference, old: &Side<'_>, new: &Side<'_>) -> Difference {
    let [before, after] = met.pointers;
    let from = |pointer: Option<String>, side: &Side<'_>| origins(side, &pointer?).into_iter().next();
    Difference { what: met.what, before: met.before, after: met.after, before_from: from(before, old), after_from: from(after, new) }
}

fn origins(side: &Side<'_>, pointer: &str) -> Vec<OriginView> {
    side.source.as_ref().map(|source| source.origins(pointer)).unwrap_or_default()
}

pub(super) fn answer(simulation: &Simulation, reached: &str, side: &Side<'_>) -> Answer {
    let pointer = difference::pointer(simulation);
    let upstream = simulation.upstream.as_ref();
    Answer {
        summary: describe_result(simulation, reached),
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
