//! Compares the simulation of requests with a real Envoy.
//!
//! Envoy runs the compiled configuration of an input: each filter chain listens at a separate port, upstreams echo their requests, and the
//! services that filters query allow or refuse as the test requires. Requests come from the configuration's own matchers and their boundaries.
//! If the service refuses, a result that is simulated as conditional on it must change, and nothing else may.
//!
//! `CHANCERY_ENVOY` names the program; without it the test sends nothing. `CHANCERY_CORPUS` with `CHANCERY_DIFFERENTIAL=N` sends N requests to
//! every input of the corpus (`CHANCERY_ENVOY_ONE_IN=N` picks one input in N). Otherwise the test sends some requests to every example.
//!
//! The choice of a filter chain by TLS, server name and protocols has a separate test; see `connections`.
//!
//! Does not compare results that depend on chance, or which of several clusters Envoy chooses.

mod connections;
pub mod envoy;
mod filters;
mod http2;
mod requests;
mod services;

use crate::envoy::cases;
use crate::examples;
use chancery_core::backend::envoy::v3::pb;
use chancery_core::envoy_config::EnvoyConfig;
use chancery_core::simulate::{Gateway, Outcome, Protocol, Request, Simulation};
use chancery_tests::chance::Chance;
use chancery_tests::work::Work;
use connections::Connections;
use envoy::{Answer, Envoy, rig};
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr};

/// The result of comparing.
#[derive(Default)]
struct Tally {
    inputs: usize,
    asked: usize,
    by_http2: usize,
    outcomes: BTreeMap<&'static str, usize>,
    /// Counts Envoy's responses by status; 0 means a closed connection.
    statuses: BTreeMap<u32, usize>,
    /// Requests that services refused.
    refusals: usize,
    by_chance: usize,
    refused: usize,
    differences: Vec<String>,
}

/// Compares one input.
fn compare(program: &OsString, name: &str, bootstrap: pb::bootstrap::Bootstrap, most: usize, tally: &mut Tally) {
    let Some(rigged) = rig(bootstrap) else { return };
    let config = EnvoyConfig::of_bootstrap(rigged.clone());
    let gateway = Gateway::new(&config);
    let mut chance = Chance::new(name.bytes().map(u64::from).sum());
    let mut requests = requests::requests(&config, &mut chance);
    chance.shuffle(&mut requests);
    requests.truncate(most);
    if requests.is_empty() {
        return;
    }
    let Some(envoy) = Envoy::start(program, name, &rigged) else {
        tally.refused += 1;
        return;
    };
    tally.inputs += 1;
    let _alone = services::alone();
    for request in requests {
        let simulation = gateway.simulate(&request);
        let is_chance = |odds: Option<f64>| odds.is_some();
        let by_chance = simulation.tried.iter().any(|tried| {
            is_chance(tried.odds)
                || tried.failed.as_ref().is_some_and(|failed| failed.matcher == "runtime_fraction" && failed.expected != "0% of requests")
        });
        if by_chance {
            tally.by_chance += 1;
            continue;
        }
        let Some(answer) = envoy.ask(&request) else { continue };
        tally.asked += 1;
        tally.by_http2 += usize::from(request.protocol == Protocol::Http2);
        *tally.outcomes.entry(simulation.outcome.name()).or_default() += 1;
        *tally.statuses.entry(answer.status.unwrap_or_default()).or_default() += 1;
        let found = difference(&simulation, &answer).filter(|_| !is_too_many(&simulation, &answer));
        let found = found.or_else(|| refused(&simulation, &request, &envoy, &answer, tally));
        if let Some(difference) = found {
            let headers: Vec<String> = request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            tally.differences.push(format!(
                "{name}: {:?} {} {}{} port {:?} [{}]: {difference}",
                request.protocol,
                request.method,
                request.authority,
                request.path,
                request.port,
                headers.join("; ")
            ));
        }
    }
}

/// Whether a rate limit refused the request, which the simulation reports as a condition.
fn is_too_many(said: &Simulation, got: &Answer) -> bool {
    said.conditions.iter().any(|of| of.cluster.is_none() && of.otherwise.is_some() && of.otherwise == got.status)
}

/// Returns the difference when services refuse the request, if any. Results that do not depend on a service must stay the same.
fn refused(said: &Simulation, request: &Request, envoy: &Envoy, before: &Answer, tally: &mut Tally) -> Option<String> {
    let asked = said.conditions.iter().find(|of| of.filter.contains("ext_authz") || of.filter.contains("ratelimit") && of.cluster.is_some());
    let has_filters = said.filters.iter().any(|of| of.name.contains("ext_authz") || of.name.ends_with(".ratelimit"));
    if !has_filters || is_too_many(said, before) {
        return None;
    }
    services::refuse(true);
    let got = envoy.ask(request);
    services::refuse(false);
    let got = got?;
    tally.refusals += usize::from(asked.is_some());
    let wanted = match asked {
        // A refused gRPC client gets status 200.
        Some(_) if got.header("grpc-status").is_some_and(|status| status != "0") => Some(200),
        Some(condition) => Some(condition.otherwise.unwrap_or(403)),
        None => before.status,
    };
    (wanted != got.status && !is_too_many(said, &got))
        .then(|| format!("where services refuse it, we say {wanted:?} for {asked:?}, Envoy {:?}", got.status))
}

/// Returns the first difference, if any.
fn difference(said: &Simulation, got: &Answer) -> Option<String> {
    let status = match said.outcome {
        Outcome::Forward => Some(200),
        Outcome::Redirect | Outcome::DirectResponse | Outcome::NoVirtualHost | Outcome::NoRoute => said.status,
        Outcome::Reset | Outcome::NoFilterChain | Outcome::NoListener => None,
    };
    if status != got.status {
        return Some(format!("we say {} {status:?} ({:?}), Envoy {:?} {:?}", said.outcome.name(), said.why, got.status, got.header("x-rig-route")));
    }
    // A request that the connection manager refuses also has a route, which changes the response headers.
    let is_routed = said.route.is_some() || matches!(said.outcome, Outcome::NoRoute | Outcome::NoVirtualHost);
    if let Some(route) = got.header("x-rig-route").filter(|_| is_routed) {
        let ours = said.route.as_ref().map(|route| route.name.as_str());
        if ours != Some(route) {
            return Some(format!("we say route {ours:?}, Envoy {route}"));
        }
    }
    if said.outcome == Outcome::Redirect && said.location.as_deref() != got.header("location") {
        return Some(format!("we say location {:?}, Envoy {:?}", said.location, got.header("location")));
    }
    let (Outcome::Forward, Some(echo), Some(upstream)) = (said.outcome, &got.echo, &said.upstream) else { return None };
    if let Some(cluster) = got.header("x-rig-cluster")
        && !said.clusters.iter().any(|share| share.name == cluster)
    {
        return Some(format!("we say clusters {:?}, Envoy {cluster}", said.clusters));
    }
    let sent = (echo.method.as_str(), echo.path.as_str(), echo.header("host").unwrap_or_default());
    let ours = (upstream.method.as_str(), upstream.path.as_str(), upstream.authority.as_str());
    if sent != ours {
        return Some(format!("we say upstream {ours:?}, Envoy sent {sent:?}"));
    }
    // If the route has several clusters, each may add different headers.
    let certain = |level: &str| said.clusters.len() == 1 || level != "cluster";
    let mut told = Vec::new();
    for change in upstream.headers_added.iter().chain(&upstream.headers_by_envoy).filter(|change| certain(change.level)) {
        let Some(value) = change.value.as_deref().filter(|value| !value.contains(['<', '%'])) else { continue };
        let values: Vec<&str> = echo.headers.iter().filter(|(name, _)| *name == change.name).map(|(_, value)| value.as_str()).collect();
        if !values.iter().any(|got| *got == value || got.split(',').any(|part| part.trim() == value)) {
            told.push(format!("we say header {}: {value} ({}), Envoy sent {values:?}", change.name, change.level));
        }
    }
    let again = |name: &str| upstream.headers_added.iter().any(|change| change.name == name);
    let kept = upstream.headers_removed.iter().filter(|name| !again(name) && echo.header(name).is_some());
    told.extend(kept.map(|name| format!("we say {name} is removed, Envoy sent it")));
    (!told.is_empty()).then(|| told.join("; "))
}

/// Prints the result, and fails if there was any difference.
fn settle(what: &str, tally: Tally) {
    println!(
        "{what}: {} requests ({} by HTTP/2) over {} inputs, {} differences; {:?}; {:?}; refused by services {}; left to chance {}; inputs that Envoy did not start with {}",
        tally.asked,
        tally.by_http2,
        tally.inputs,
        tally.differences.len(),
        tally.outcomes,
        tally.statuses,
        tally.refusals,
        tally.by_chance,
        tally.refused
    );
    for difference in tally.differences.iter().take(200) {
        println!("  {difference}");
    }
    assert!(tally.differences.is_empty(), "{} of {} requests differ", tally.differences.len(), tally.asked);
    assert_eq!(tally.refused, 0, "Envoy starts with every input");
}

fn program() -> Option<OsString> {
    let program = env::var_os("CHANCERY_ENVOY");
    if program.is_none() {
        println!("skipped: CHANCERY_ENVOY names no program");
    }
    program
}

fn bootstrap(work: &Work) -> pb::bootstrap::Bootstrap {
    chancery_core::backend::envoy::v3::bootstrap(work.gateway().ir, &chancery_core::backend::envoy::Options::default())
}

/// Returns the address that requests come from.
fn here() -> IpAddr {
    IpAddr::V4(Ipv4Addr::LOCALHOST)
}

fn request(method: &str, authority: &str, path: &str, port: u32) -> Option<Request> {
    let mut request = Request::new(method, "http://x/").ok()?;
    request.authority = authority.to_string();
    request.path = path.to_string();
    request.port = Some(port);
    request.source = Some(here());
    request.destination = Some(here());
    Some(request)
}

#[test]
fn envoy_handles_examples_as_simulated() {
    let Some(program) = program() else { return };
    let (mut tally, mut connections) = (Tally::default(), Connections::default());
    for example in examples::examples() {
        let work = Work::new(&example.inputs, &example.options);
        // An Application Gateway has no Envoy.
        if work.compilation.gateways().next().is_none() {
            continue;
        }
        let name = example.name.replace('/', "-");
        connections::compare(&program, &name, &bootstrap(&work), &mut connections);
        compare(&program, &name, bootstrap(&work), 80, &mut tally);
    }
    connections.settle("examples");
    settle("examples", tally);
}

#[test]
fn envoy_handles_corpus_as_simulated() {
    let most = env::var("CHANCERY_DIFFERENTIAL").ok().and_then(|text| text.parse().ok());
    let (Some(program), Some(most)) = (program(), most) else { return };
    let (mut tally, mut connections) = (Tally::default(), Connections::default());
    for (name, inputs, options) in cases() {
        let work = Work::new(&inputs, &options);
        connections::compare(&program, &name, &bootstrap(&work), &mut connections);
        compare(&program, &name, bootstrap(&work), most, &mut tally);
    }
    connections.settle("corpus");
    settle("corpus", tally);
}
