//! Requests whose way chance decides: routes that take a share of the requests, of which the next takes the rest.
//!
//! Envoy draws one number for a request, and every such route looks at the same one. What is compared is what all draws together reach,
//! so that shares may be written as several routes or as the weights of one.
//!
//! What must not be here: shares that one route gives to several clusters, which every simulation tells.

use super::behaviour;
use super::difference::{FieldDifference, Scene, pointer};
use super::place;
use super::reach;
use super::work::{Both, Work};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{Credential, Outcome, Simulation, fraction, percent};
use pb::route::Route;

/// Draws that all end alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Draw {
    /// One of them; none where chance has no say.
    seed: Option<u64>,
    /// How many they are, of one.
    weight: f64,
}

impl Draw {
    /// A request with this draw.
    pub(super) fn of(self, both: &Both) -> Both {
        let mut both = both.clone();
        both.request.seed = self.seed;
        both
    }
}

/// The draws that some routes of both sides tell apart.
pub(super) fn draws(routes: [&[Route]; 2], candidates: &[Vec<usize>; 2], work: &mut Work<'_, '_>) -> Vec<Draw> {
    let mut edges = BTreeSet::from([0]);
    let mut whole = None;
    for ((routes, candidates), side) in routes.iter().zip(candidates).zip(work.sides) {
        let matchers = candidates.iter().filter_map(|at| routes.get(*at)?.r#match.as_ref()?.runtime_fraction.as_ref());
        for (numerator, denominator) in
            matchers.map(|of| fraction(of, &side.config.runtime)).filter(|(numerator, denominator)| numerator < denominator)
        {
            if *whole.get_or_insert(denominator) != denominator {
                work.cut(
                    "Where some routes match shares in percent and others in other fractions, both were compared as if one random number decided.",
                );
            }
            edges.insert(numerator);
        }
    }
    let Some(whole) = whole else { return Vec::from([Draw { seed: None, weight: 1.0 }]) };
    let starts: Vec<u64> = edges.into_iter().filter(|edge| *edge < whole).collect();
    let ends = starts.iter().skip(1).copied().chain([whole]);
    starts.iter().zip(ends).map(|(start, end)| Draw { seed: Some(*start), weight: (end - start) as f64 / whole as f64 }).collect()
}

/// Holds what becomes of a request on both sides against each other, over all draws, and adds what differs. What a filter of either side wants the
/// client to show, where it answers because the request does not.
pub(super) fn show<'a>(work: &mut Work<'_, 'a>, scene: &Scene<'a>, domains: &[String], both: &Both, draws: &[Draw]) -> Option<Credential> {
    let all: Vec<(Both, [Simulation; 2])> = draws
        .iter()
        .map(|draw| {
            let both = draw.of(both);
            let simulations = work.simulate(&both);
            (both, simulations)
        })
        .collect();
    if all.len() > 1 && all.iter().flat_map(|(_, simulations)| simulations).all(|of| of.outcome == Outcome::Forward) {
        together(work, scene, domains, &all, draws);
        return None;
    }
    for ((both, simulations), draw) in all.iter().zip(draws) {
        let met = behaviour::compare(work, scene, simulations);
        if !met.is_empty() {
            let mut place = place::of_request(scene, simulations, domains, both);
            if draws.len() > 1 {
                place.conditions.insert(0, format!("{} % of them", percent(draw.weight * 100.0)));
            }
            work.add(met, place, both, simulations);
        }
    }
    all.into_iter().flat_map(|(_, simulations)| simulations).find_map(|simulation| simulation.lacks)
}

/// What all draws reach, and how each of that is reached.
fn together<'a>(work: &mut Work<'_, 'a>, scene: &Scene<'a>, domains: &[String], all: &[(Both, [Simulation; 2])], draws: &[Draw]) {
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
    // Of what both sides reach: whether it is reached in the same way.
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
