//! Compares single requests that a caller brings, as logs do. Does not find requests; see `listeners`.

use super::difference::{self, FieldDifference, Scene, key};
use super::report::{Answer, Difference, describe_result};
use super::work::{self, Work};
use super::{RequestOptions, Side, behaviour};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::simulate::{Gateway, Request, Simulation};

/// Compares requests one by one in two Envoys.
pub struct RequestComparer<'w, 'a> {
    work: Work<'w, 'a>,
}

/// A request that is treated differently.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedRequest {
    /// Equal for requests with the same change.
    pub key: String,
    pub differences: Vec<Difference>,
    pub before: Answer,
    pub after: Answer,
}

impl<'w, 'a> RequestComparer<'w, 'a> {
    #[must_use]
    pub fn new(sides: [Side<'a>; 2], gateways: &'w [Gateway<'a>; 2]) -> Self {
        Self { work: Work::new(sides, gateways, &RequestOptions::default()) }
    }

    /// Simulates a request on both sides.
    #[must_use]
    pub fn simulate(&self, request: &Request) -> [Simulation; 2] {
        let [before, after] = self.work.gateways;
        [before.simulate(request), after.simulate(request)]
    }

    /// Compares what happens to a request; `None` if it is the same.
    pub fn compare(&mut self, simulations: &[Simulation; 2]) -> Option<ChangedRequest> {
        let scene = Scene {
            hosts: [self.host(0, &simulations[0]), self.host(1, &simulations[1])],
            sources: [self.work.sides[0].source, self.work.sides[1].source],
            ..Scene::default()
        };
        let mut met = behaviour::compare(&mut self.work, &scene, simulations);
        met.extend(conditions(simulations));
        if met.is_empty() {
            return None;
        }
        let (before, after) = (self.work.reached_in_words(0, &simulations[0]), self.work.reached_in_words(1, &simulations[1]));
        let [old, new] = self.work.sides;
        Some(ChangedRequest {
            key: key(&met, false),
            differences: met.into_iter().map(|met| work::difference(met, &old, &new)).collect(),
            before: work::answer(&simulations[0], &before, &old),
            after: work::answer(&simulations[1], &after, &new),
        })
    }

    /// Describes what happens to a request on a side.
    pub fn describe(&mut self, side: usize, simulation: &Simulation) -> String {
        let reached = self.work.reached_in_words(side, simulation);
        describe_result(simulation, &reached)
    }

    fn host(&self, side: usize, simulation: &Simulation) -> Option<(&'a chancery_envoy::emit::pb::route::VirtualHost, String)> {
        let pointer = &simulation.places.iter().find(|place| place.of == "virtual_host")?.pointer;
        let (table, host) = pointer.split_once("/virtual_hosts/")?;
        let tables = self.work.sides.get(side)?.config.route_tables();
        let (_, found) = tables.into_iter().find(|(known, _)| known == table)?;
        Some((found.virtual_hosts.get(host.parse::<usize>().ok()?)?, pointer.clone()))
    }
}

/// Compares the decisions of others that a request needs: authentication, authorization, limits.
fn conditions(simulations: &[Simulation; 2]) -> Option<FieldDifference> {
    let words = |of: &Simulation| {
        let all: Vec<&str> = of.conditions.iter().map(|condition| condition.wants.as_str()).collect();
        (!all.is_empty()).then(|| all.join("; "))
    };
    let [before, after] = [words(&simulations[0]), words(&simulations[1])];
    let pointers = [difference::pointer(&simulations[0]), difference::pointer(&simulations[1])];
    (before != after).then(|| FieldDifference { what: "conditions".into(), before, after, alike: None, pointers })
}
