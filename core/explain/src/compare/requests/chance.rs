//! Compares requests that are routed at random: routes that match a share of the requests, and leave the rest to later routes.
//!
//! Envoy draws one number per request, and every such route uses it. The results of all draws are compared together, so that several routes with
//! shares equal one route with weights.
//!
//! Does not handle shares that one route gives to several clusters; every simulation reports those.

use super::behaviour;
use super::both::Both;
use super::difference::{FieldDifference, Scene, pointer};
use super::place;
use super::reach;
use super::work::Work;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{Credential, Outcome, Simulation, fraction, percent};
use pb::route::Route;

/// Draws with the same result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Draw {
    /// One of the draws; `None` if no route depends on chance.
    seed: Option<u64>,
    /// Their fraction of all draws.
    weight: f64,
}

impl Draw {
    /// Returns a request with this draw.
    pub(super) fn of(self, both: &Both) -> Both {
        let mut both = both.clone();
        both.request.seed = self.seed;
        both
    }
}

/// Returns the draws that some routes of either side distinguish.
pub(super) fn draws(routes: [&[Route]; 2], candidates: &[Vec<usize>; 2], work: &mut Work<'_, '_>) -> Vec<Draw> {
    let mut edges = BTreeSet::from([0]);
    let mut whole = None;
    for ((routes, candidates), side) in routes.iter().zip(candidates).zip(work.sides) {
        let matchers = candidates.iter().filter_map(|at| routes.get(*at)?.r#match.as_ref()?.runtime_fraction.as_ref());
        for (numerator, denominator) in
            matchers.map(|of| fraction(of, &side.config.runtime)).filter(|(numerator, denominator)| numerator < denominator)
        {
            if *whole.get_or_insert(denominator) != denominator {
                work.budget
                    .cut("If some routes match shares in percent and others in other fractions, both were compared as if one random number decided.");
            }
            edges.insert(numerator);
        }
    }
    let Some(whole) = whole else { return Vec::from([Draw { seed: None, weight: 1.0 }]) };
    let starts: Vec<u64> = edges.into_iter().filter(|edge| *edge < whole).collect();
    let ends = starts.iter().skip(1).copied().chain([whole]);
    starts.iter().zip(ends).map(|(start, end)| Draw { seed: Some(*start), weight: (end - start) as f64 / whole as f64 }).collect()
}

/// Compares the results of a request on both sides over all draws, and adds the differences. Returns the credential that a filter of either side
/// requires, if it rejects the request without one.
pub(super) fn compare_draws<'a>(work: &mut Work<'_, 'a>, scene: &Scene<'a>, domains: &[String], both: &Both, draws: &[Draw]) -> Option<Credential> {
    let all: Vec<(Both, [Simulation; 2])> = draws
        .iter()
        .map(|draw| {
            let both = draw.of(both);
            let simulations = work.simulate(&both);
            (both, simulations)
        })
        .collect();
    if all.len() > 1 && all.iter().flat_map(|(_, simulations)| simulations).all(|of| of.outcome == Outcome::Forward) {
        compare_together(work, scene, domains, &all, draws);
        return None;
    }
    for ((both, simulations), draw) in all.iter().zip(draws) {
        let met = behaviour::compare(work, scene, simulations);
        if !met.is_empty() {
            let mut place = place::of_request(scene, simulations, domains, both);
            if draws.len() > 1 {
                place.conditions.insert(0, format!("{}% of them", percent(draw.weight * 100.0)));
            }
            work.add(met, place, both, simulations);
        }
    }
    all.into_iter().flat_map(|(_, simulations)| simulations).find_map(|simulation| simulation.lacks)
}

/// Compares the results of all draws together.
fn compare_together<'a>(work: &mut Work<'_, 'a>, scene: &Scene<'a>, domains: &[String], all: &[(Both, [Simulation; 2])], draws: &[Draw]) {
    let Some((first, simulations)) = all.first() else { return };
    let [before, after] = [0, 1].map(|side| {
        let each = all.iter().zip(draws).filter_map(|((_, simulations), draw)| Some((simulations.get(side)?, draw.weight)));
        let shares = each.flat_map(|(of, weight)| of.clusters.iter().map(move |share| (share.name.clone(), share.percent * weight)));
        let shares: Vec<(String, f64)> = shares.collect();
        reach::shares(shares.into_iter().map(|(name, percent)| (work.reach(side, &name), percent)))
    });
    if before != after {
        let pointers = [&simulations[0], &simulations[1]].map(pointer);
        let met = FieldDifference { what: "clusters".to_owned(), before: Some(before), after: Some(after), alike: None, pointers };
        work.add(Vec::from([met]), place::of_request(scene, simulations, domains, first), first, simulations);
    }
    // For results that both sides reach: compares how they are reached.
    let mut done = BTreeSet::new();
    for (both, [old, _]) in all {
        let reached = work.reached_by(0, old);
        let other = all.iter().map(|(_, [_, new])| new).find(|new| work.reached_by(1, new) == reached);
        if let (Some(new), true) = (other.cloned(), done.insert(reached)) {
            let simulations = [old.clone(), new];
            let met = behaviour::compare(work, scene, &simulations);
            if !met.is_empty() {
                work.add(met, place::of_request(scene, &simulations, domains, both), both, &simulations);
            }
        }
    }
}
