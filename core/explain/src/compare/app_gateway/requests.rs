//! Finds requests that two Application Gateways treat differently.
//!
//! It divides requests by everything that listeners and path maps of either side distinguish: address and port, host, path. It sends a witness of
//! each class through both sides and compares the results.
//!
//! Does not route requests; see `chancery_app_gateway`.

use super::AppGatewaySide;
use super::behaviour::{Behaviour, Fact, Facts};
use super::classes::{PathClass, hosts, paths};
use crate::app_gateway::{app_gateway_ending, describe_app_gateway_ending};
use crate::compare::requests::{Answer, Difference, RequestChange, RequestPlace, Requests, Witness, gravity, merge, without, words};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_app_gateway::route::{Journey, Request as Asked, Router};
use chancery_base::ir::appgw::FrontendType;
use chancery_envoy::simulate::Request;
use chancery_text::Str;

/// At most this many places are listed for one change.
const MOST_PLACES: usize = 100;

/// Compares what happens to requests.
#[must_use]
pub fn app_gateway_requests(before: &AppGatewaySide<'_>, after: &AppGatewaySide<'_>) -> Requests {
    let sides = [before, after].map(|side| Way { side, router: Router::new(side.parts), facts: Facts::of(side) });
    let mut doors: BTreeMap<(FrontendType, i64), Place> = BTreeMap::new();
    for (at, side) in sides.iter().enumerate() {
        for door in side.router.served_listeners() {
            let place = doors.entry((door.frontend, door.port)).or_default();
            place.is_https[at] |= door.is_https;
            place.is_open[at] = true;
            place.hosts.extend(door.hosts);
        }
    }
    let has_https = doors.values().any(|place| place.is_https.contains(&true));
    let mut work = Work { sides, groups: BTreeMap::new(), compared: 0, has_https };
    let mut limits = Vec::from([
        "This follows Azure's documentation; no Application Gateway was queried. Certificates were compared by their names, rewrites by what they say."
            .to_string(),
    ]);
    for ((frontend, port), place) in &doors {
        let hosts = hosts(&place.hosts);
        for (host, named) in &hosts.witnesses {
            work.host(HostClass { frontend: *frontend, port: *port, place, host, named: named.as_deref() });
        }
        if hosts.is_partial {
            limits.push(format!("Hosts at port {port} that match three or more patterns were not tried."));
        }
    }
    let compared = work.compared;
    let complete = limits.len() == 1;
    Requests { changes: work.finish(), compared, complete, limits }
}

/// An address and port, with the listeners of both sides.
#[derive(Default)]
struct Place {
    is_open: [bool; 2],
    is_https: [bool; 2],
    hosts: BTreeSet<String>,
}

struct Way<'s, 'a> {
    side: &'s AppGatewaySide<'a>,
    router: Router<'s>,
    facts: Facts<'s>,
}

/// A class of hosts at a port.
#[derive(Clone, Copy)]
struct HostClass<'w> {
    frontend: FrontendType,
    port: i64,
    place: &'w Place,
    host: &'w str,
    named: Option<&'w str>,
}

struct Work<'s, 'a> {
    sides: [Way<'s, 'a>; 2],
    groups: BTreeMap<(u8, String), (RequestChange, BTreeSet<RequestPlace>)>,
    compared: usize,
    /// Whether any port of either side uses HTTPS.
    has_https: bool,
}

impl Work<'_, '_> {
    fn host(&mut self, spot: HostClass<'_>) {
        let asked = Asked { frontend: spot.frontend, port: spot.port, host: spot.host, path: "/", query: None };
        let patterns: Vec<Str> = self.sides.iter().flat_map(|side| side.router.paths(&asked)).collect();
        for class in paths(patterns.iter()) {
            self.path(spot, &class);
        }
    }

    fn path(&mut self, spot: HostClass<'_>, class: &PathClass) {
        let path = class.witness.as_str();
        let asked = Asked { frontend: spot.frontend, port: spot.port, host: spot.host, path, query: Some("q=1") };
        let journeys = [0, 1].map(|at| self.sides[at].router.take(&asked));
        let behaviours = [0, 1].map(|at| self.sides[at].facts.behaviour(&journeys[at], spot.place.is_https[at]));
        self.compared += 1;
        let mut differences = self.differences(&behaviours);
        if spot.place.is_open == [true, true] && spot.place.is_https[0] != spot.place.is_https[1] {
            let word = |is_https: bool| Some(if is_https { "HTTPS" } else { "HTTP" }.to_string());
            let [before, after] = spot.place.is_https.map(word);
            differences.insert(0, Difference { what: "protocol".into(), before, after, before_from: None, after_from: None });
        }
        let Some(gravest) = differences.iter().map(|of| gravity(&of.what)).min() else { return };
        let places = [0, 1].map(|at| self.sides[at].facts.place(&journeys[at]));
        let ports = [0, 1].map(|at| spot.place.is_open[at].then(|| u32::try_from(spot.port).unwrap_or_default()));
        let private = (spot.frontend == FrontendType::Private).then(|| "to the private address".to_string());
        let place = RequestPlace {
            scheme: self.has_https.then(|| if spot.place.is_https.contains(&true) { "https" } else { "http" }.to_string()),
            hosts: spot.named.map(ToString::to_string).into_iter().collect(),
            path: Some(class.written.clone()),
            conditions: private.into_iter().chain(without(&class.others)).collect(),
            port_before: ports[0],
            port_after: ports[1],
            before: places[0].clone(),
            after: places[1].clone(),
        };
        // The upstream path depends on the requested path, so it is not part of the key.
        let key: String = differences
            .iter()
            .map(|of| match of.what.as_str() {
                "upstream path" | "location" => format!("{}\u{2}", of.what),
                _ => format!("{}\u{1}{:?}\u{1}{:?}\u{2}", of.what, of.before, of.after),
            })
            .collect();
        if let Some((change, seen)) = self.groups.get_mut(&(gravest, key.clone())) {
            if seen.insert(place.clone()) {
                if change.places.len() < MOST_PLACES { change.places.push(place) } else { change.more_places += 1 }
            }
            return;
        }
        let Some(witness) = witness(spot, path, ports) else { return };
        let [before, after] = [0, 1].map(|at| self.answer(at, &journeys[at], places[at].clone()));
        let change =
            RequestChange { requests: String::new(), differences, witness, before, after, places: Vec::from([place.clone()]), more_places: 0 };
        self.groups.insert((gravest, key), (change, BTreeSet::from([place])));
    }

    fn differences(&self, behaviours: &[Behaviour; 2]) -> Vec<Difference> {
        let [old, new] = behaviours;
        let outcome = |of: &Behaviour| of.get("outcome").map(|fact| fact.value.clone());
        let is_other = outcome(old) != outcome(new);
        let from = |at: usize, what: &str| {
            let pointer = behaviours[at].get(what)?.pointer.as_ref()?;
            self.sides[at].side.origins(pointer).into_iter().next()
        };
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let mut out: Vec<Difference> = names
            .into_iter()
            // If the outcome differs, the other differences follow from it.
            .filter(|what| !is_other || what.as_str() == "outcome")
            .filter_map(|what| {
                let [before, after] = [old, new].map(|of| of.get(what));
                let differ = before.map(|fact| &fact.value) != after.map(|fact| &fact.value);
                let [before, after] = [before, after].map(|of| of.map(Fact::words));
                differ.then(|| Difference { what: what.clone(), before, after, before_from: from(0, what), after_from: from(1, what) })
            })
            .collect();
        out.sort_by_key(|of| gravity(&of.what));
        out
    }

    fn answer(&self, at: usize, journey: &Journey, pointer: Option<String>) -> Answer {
        let ending = app_gateway_ending(journey);
        let origins = pointer.as_ref().map(|pointer| self.sides[at].side.origins(pointer)).unwrap_or_default();
        Answer {
            summary: describe_app_gateway_ending(journey),
            outcome: ending.outcome,
            status: ending.status,
            location: ending.location,
            listener: journey.taken.as_ref().map(|taken| taken.listener.to_string()),
            virtual_host: None,
            route: None,
            clusters: ending.clusters,
            upstream_authority: ending.authority,
            upstream_path: ending.path,
            timeout: None,
            pointer,
            origins,
        }
    }

    fn finish(self) -> Vec<RequestChange> {
        self.groups
            .into_values()
            .map(|(mut change, _)| {
                merge(&mut change.places);
                change.requests = words(&change.places, change.more_places);
                change
            })
            .collect()
    }
}

/// Builds a request that a client can send.
fn witness(spot: HostClass<'_>, path: &str, ports: [Option<u32>; 2]) -> Option<Witness> {
    let is_https = spot.place.is_https.iter().any(|is_https| *is_https);
    let (scheme, usual) = if is_https { ("https", 443) } else { ("http", 80) };
    let port = if spot.port == usual { String::new() } else { format!(":{}", spot.port) };
    let request = Request::new("GET", &format!("{scheme}://{}{port}{path}?q=1", spot.host)).ok()?;
    Some(Witness::of(&request, ports))
}
