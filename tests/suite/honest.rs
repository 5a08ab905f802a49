//! Checks that `diff` misses no change: if `route` answers a request differently after an edit, `diff` must report that requests change.
//!
//! An edit removes an object from an input, or changes a scalar in it. Then the test simulates a request for each route of both sides on both
//! sides. If any answer differs, the comparison must report a change, or report that it did not check everything.
//!
//! The test always edits the examples. With `CHANCERY_DIFF=N` and `CHANCERY_CORPUS`, it also edits N inputs of each dialect in the corpus
//! (`cargo xtask test diff`).
//!
//! Does not check how the comparison describes a change; see `reported`.

use crate::{envoy as corpus, examples};
use chancery_core::backend::envoy::v3::pb;
use chancery_core::compare::{RequestOptions, Requests, Side, requests};
use chancery_core::compilation::Options;
use chancery_core::envoy_config::EnvoyConfig;
use chancery_core::resource::Inputs;
use chancery_core::simulate::{Gateway, Outcome, Request, Simulation};
use chancery_tests::chance::Chance;
use chancery_tests::work::{Work, inputs};
use pb::matcher::string_matcher::MatchPattern;
use pb::route::route_match::PathSpecifier;
use std::collections::BTreeMap;
use std::env;

/// The result of comparing.
#[derive(Default)]
struct Tally {
    edits: usize,
    changing: usize,
    asked: usize,
    undecided: usize,
    denied: Vec<String>,
}

/// Edits the text of an input. Returns the new text and a description of the edit.
fn edited(text: &str, chance: &mut Chance) -> Option<(String, String)> {
    let documents: Vec<&str> = text.split("\n---").collect();
    if chance.percent(50) && documents.len() > 2 {
        let gone = chance.below(documents.len());
        let kind = documents[gone].lines().find(|line| line.starts_with("kind:")).unwrap_or("kind: ?").to_string();
        let kept: Vec<&str> = documents.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, text)| *text).collect();
        return (!documents[gone].trim().is_empty()).then(|| (kept.join("\n---"), format!("document {gone} ({kind}) is taken away")));
    }
    let lines: Vec<&str> = text.lines().collect();
    let is_scalar =
        |line: &&str| line.split_once(": ").is_some_and(|(key, value)| !key.trim_start().starts_with('#') && !value.contains(['{', '[', '|', '>']));
    let scalars: Vec<usize> = (0..lines.len()).filter(|at| is_scalar(&lines[*at]) && !lines[*at].contains("apiVersion")).collect();
    let at = *scalars.get(chance.below(scalars.len()))?;
    let (key, value) = lines[at].split_once(": ")?;
    let value = value.trim();
    let other = match value {
        "true" => "false".to_string(),
        "false" => "true".to_string(),
        _ => match value.parse::<i64>() {
            Ok(number) => (number + 1).to_string(),
            Err(_) if value.starts_with('"') && value.len() > 2 => format!("\"x{}", &value[1..]),
            Err(_) if value.starts_with('/') => format!("{}x", value.trim_end_matches('/')),
            Err(_) => format!("x{value}"),
        },
    };
    let line = format!("{key}: {other}");
    let mut all: Vec<&str> = lines.clone();
    all[at] = &line;
    Some((format!("{}\n", all.join("\n")), format!("line {}: {value} is {other}", at + 1)))
}

/// Builds a request for each chain, virtual host and route of a side.
fn of_side(config: &EnvoyConfig, out: &mut Vec<Request>, most: usize) {
    for listener in &config.listeners {
        let Some(port) = port(&listener.message) else { continue };
        for chain in listener.message.filter_chains.iter().chain(&listener.message.default_filter_chain) {
            let tls = chain.transport_socket.is_some();
            let names = chain.filter_chain_match.iter().flat_map(|of| &of.server_names).map(|name| name.replace('*', "sub"));
            let sni = names.into_iter().next();
            for (host, of) in routes_of(chain) {
                let host = if host.starts_with('*') {
                    host.replacen('*', if host.len() == 1 { "any.example.org" } else { "sub" }, 1)
                } else {
                    host.replace('*', "x")
                };
                let (path, headers) = of;
                let scheme = if tls { "https" } else { "http" };
                let Ok(mut request) = Request::new("GET", &format!("{scheme}://{}{path}", host.split(':').next().unwrap_or("x"))) else { continue };
                request.port = Some(port);
                request.sni = if tls { sni.clone().or(request.sni.clone()) } else { None };
                headers.iter().for_each(|(name, value)| request.add_header(name, value));
                out.push(request);
                if out.len() >= most {
                    return;
                }
            }
        }
    }
}

fn port(of: &pb::listener::Listener) -> Option<u32> {
    match of.address.as_ref()?.address.as_ref()? {
        pb::base::address::Address::SocketAddress(address) => match address.port_specifier {
            Some(pb::base::socket_address::PortSpecifier::PortValue(port)) => Some(port),
            _ => None,
        },
        _ => None,
    }
}

type Wanted = (String, Vec<(String, String)>);

/// Returns the hosts, paths and headers that the routes of a chain match.
fn routes_of(chain: &pb::listener::FilterChain) -> Vec<(String, Wanted)> {
    let mut out = Vec::new();
    for filter in &chain.filters {
        let Some(pb::listener::filter::ConfigType::TypedConfig(any)) = &filter.config_type else { continue };
        let Some(manager) = any.downcast_ref::<pb::hcm::HttpConnectionManager>() else {
            out.push(("any.example.org".into(), ("/".into(), Vec::new())));
            continue;
        };
        let Some(pb::hcm::http_connection_manager::RouteSpecifier::RouteConfig(table)) = &manager.route_specifier else { continue };
        for host in &table.virtual_hosts {
            for of in host.routes.iter().filter_map(|route| route.r#match.as_ref()) {
                for domain in host.domains.iter().take(2) {
                    out.push((domain.clone(), wanted(of)));
                }
            }
        }
    }
    out
}

fn wanted(of: &pb::route::RouteMatch) -> Wanted {
    let path = match &of.path_specifier {
        Some(PathSpecifier::Prefix(path) | PathSpecifier::Path(path) | PathSpecifier::PathSeparatedPrefix(path)) => path.clone(),
        _ => "/".to_string(),
    };
    let mut headers = Vec::new();
    for header in of.headers.iter().filter(|header| !header.invert_match) {
        if let Some(pb::route::header_matcher::HeaderMatchSpecifier::StringMatch(matcher)) = &header.header_match_specifier
            && let Some(MatchPattern::Exact(value) | MatchPattern::Prefix(value)) = &matcher.match_pattern
        {
            headers.push((header.name.clone(), value.clone()));
        }
    }
    (if path.starts_with('/') { path } else { format!("/{path}") }, headers)
}

/// Returns the parts of a result that a client or an upstream notices: the endpoints and weights of clusters, but not their names.
fn answer(of: &Simulation, config: &EnvoyConfig) -> String {
    let upstream = of.upstream.as_ref().map(|of| (&of.path, &of.authority));
    let mut shares: BTreeMap<String, f64> = BTreeMap::new();
    for share in of.clusters.iter().filter(|share| share.percent > 0.0 || of.clusters.len() == 1) {
        *shares.entry(reached(config, &share.name)).or_default() += share.percent;
    }
    let shares: Vec<String> = shares.into_iter().map(|(name, percent)| format!("{percent:.1}% {name}")).collect();
    let is_answer = matches!(of.outcome, Outcome::DirectResponse | Outcome::NoRoute | Outcome::NoVirtualHost);
    let outcome = if is_answer { "answers" } else { of.outcome.name() };
    let conditions: Vec<_> = of.conditions.iter().map(|of| (&of.filter, of.otherwise)).collect();
    format!("{outcome} {:?} {:?} {shares:?} {upstream:?} {:?} {conditions:?}", of.status, of.location, of.timeout)
}

/// Returns the endpoints of a cluster, or the name of the endpoints that it requests.
fn reached(config: &EnvoyConfig, name: &str) -> String {
    let Some(cluster) = config.cluster(name).map(|placed| &placed.message) else { return format!("{name}, which is not there") };
    let given = cluster.load_assignment.as_ref().map(|of| &of.endpoints).filter(|all| !all.is_empty());
    let asked = cluster.eds_cluster_config.as_ref().map(|of| of.service_name.clone()).filter(|name| !name.is_empty());
    given.map_or_else(|| asked.unwrap_or_else(|| name.to_string()), |all| format!("{all:?}"))
}

fn compared(before: &EnvoyConfig, after: &EnvoyConfig) -> Requests {
    requests(&Side { config: before, source: None }, &Side { config: after, source: None }, &RequestOptions::default())
}

fn config(text: &str, options: &Options) -> Option<EnvoyConfig> {
    let work = Work::new(&inputs([("input.yaml", text)]), options);
    let gateway = work.compilation.gateways().next()?;
    Some(EnvoyConfig::of(gateway.ir))
}

fn try_one(name: &str, text: &str, options: &Options, times: usize, tally: &mut Tally) {
    let mut chance = Chance::new(name.bytes().map(u64::from).sum());
    let Some(before) = config(text, options) else { return };
    for _ in 0..times {
        let Some((other, what)) = edited(text, &mut chance) else { continue };
        let Some(after) = config(&other, options) else { continue };
        tally.edits += 1;
        let both = if chance.percent(50) { [&before, &after] } else { [&after, &before] };
        let gateways = both.map(Gateway::new);
        let mut asked = Vec::new();
        of_side(both[0], &mut asked, 300);
        of_side(both[1], &mut asked, 600);
        tally.asked += asked.len();
        let differing = asked.iter().find(|request| {
            let [old, new] = [0, 1].map(|side| answer(&gateways[side].simulate(request), both[side]));
            old != new
        });
        let Some(request) = differing else { continue };
        tally.changing += 1;
        let found = compared(both[0], both[1]);
        tally.undecided += usize::from(found.is_empty() && !found.complete);
        if found.is_empty() && found.complete {
            let [old, new] = [0, 1].map(|side| answer(&gateways[side].simulate(request), both[side]));
            tally.denied.push(format!(
                "{name}: {what}: {} port {:?} tls {} sni {:?} {}{}: {old} -> {new}",
                request.method, request.port, request.tls, request.sni, request.authority, request.path
            ));
        }
    }
}

fn settle(what: &str, tally: &Tally) {
    let Tally { edits, changing, asked, undecided, denied } = tally;
    println!("{what}: {edits} edits, {changing} change requests ({asked} asked), {} denied, {undecided} not decided", denied.len());
    denied.iter().take(30).for_each(|line| println!("  {}", line.chars().take(900).collect::<String>()));
    assert!(denied.is_empty(), "{} of {changing} edits that change requests are denied", denied.len());
    assert!(undecided * 20 <= *changing, "most is decided");
}

fn text_of(inputs: &Inputs) -> String {
    inputs.inputs.iter().map(|input| input.text.as_ref().to_string()).collect::<Vec<_>>().join("\n---\n")
}

#[test]
fn diff_edited_examples_misses_no_change() {
    let mut tally = Tally::default();
    for example in examples::examples() {
        try_one(&example.name, &text_of(&example.inputs), &example.options, 12, &mut tally);
    }
    assert!(tally.changing > 40, "the test tests something: {} of {} edits change requests", tally.changing, tally.edits);
    settle("examples", &tally);
}

#[test]
fn diff_edited_corpus_misses_no_change() {
    let Some(most) = env::var("CHANCERY_DIFF").ok().and_then(|text| text.parse::<usize>().ok()) else { return };
    for (dialect, mut cases) in corpus::all_cases() {
        Chance::new(15).shuffle(&mut cases);
        let mut tally = Tally::default();
        for (name, inputs, options) in cases {
            if tally.edits >= most {
                break;
            }
            try_one(&name, &text_of(&inputs), &options, 2, &mut tally);
        }
        settle(&dialect, &tally);
    }
}
