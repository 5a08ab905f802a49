//! Checks that the comparison of two controllers is true: Ingresses of ingress-nginx are converted, a real Envoy runs the result, and the
//! requests that a real nginx answered are sent to it. The comparison must report each difference between the recorded answers and Envoy's.
//!
//! `CHANCERY_ENVOY` names the program; `CHANCERY_CORPUS` a folder with the cases of ingress-nginx; `CHANCERY_MIGRATE=N` tries N of them
//! (`cargo xtask test migrate`). Without these the test runs nothing.
//!
//! Clients have the address of this machine, so requests that depend on addresses are left out, as are requests that need PROXY headers, client
//! certificates, HTTP/1.0 or several attempts. TLS ends before the test: each filter chain listens at its own port.

use crate::differential::envoy::{Answer, Envoy, port, rig};
use chancery_core::backend::envoy::v3::pb;
use chancery_core::compilation::{OptionValue, Options};
use chancery_core::convert::{Target, ingress_nginx_to_gateway};
use chancery_core::explain::answers::{AnswerEnding, Aspect, GatewayAnswer, Respondents};
use chancery_core::resource::{Input, Inputs};
use chancery_core::simulate::Request;
use chancery_tests::work::{Work, inputs, options};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The address of clients in recordings that name none.
const CLIENT: &str = "198.51.100.7";

#[derive(Default)]
struct Tally {
    cases: usize,
    not_started: Vec<String>,
    asked: usize,
    left_out: usize,
    same: usize,
    /// Differences that occur and are reported.
    reported: usize,
    /// Differences that occur and are not reported.
    denied: Vec<String>,
    /// Differences that are reported and do not occur.
    unfounded: Vec<String>,
}

/// A filter chain that listens at its own port.
struct Chain {
    is_tls: bool,
    names: Vec<String>,
    port: u32,
}

/// What happened to a request.
#[derive(Debug, PartialEq)]
enum Happened {
    Nothing,
    Answered(u32),
    Redirected(u32, String),
    Forwarded { path: String, host: String },
}

/// Without default ports and without the scheme, as TLS ends before the test.
fn location(text: &str) -> String {
    let rest = text.trim_start_matches("https://").trim_start_matches("http://");
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    format!("{}{path}", authority.trim_end_matches(":443").trim_end_matches(":80"))
}

impl Happened {
    fn recorded(response: &Value) -> Self {
        let status = response["status"].as_u64().and_then(|status| u32::try_from(status).ok()).unwrap_or(0);
        let text = |of: &Value| of.as_str().unwrap_or_default().to_string();
        match (status, response.get("seen"), response["location"].as_str()) {
            (0, ..) => Happened::Nothing,
            (_, Some(seen), _) if !seen.is_null() => Happened::Forwarded { path: text(&seen["path"]), host: text(&seen["host"]) },
            (300..=399, _, Some(to)) => Happened::Redirected(status, location(to)),
            _ => Happened::Answered(status),
        }
    }

    fn by_envoy(answer: &Answer) -> Self {
        match (answer.status, &answer.echo, answer.header("location")) {
            (None, ..) => Happened::Nothing,
            (_, Some(echo), _) => Happened::Forwarded { path: echo.path.clone(), host: echo.header("host").unwrap_or_default().to_string() },
            (Some(status @ 300..=399), _, Some(to)) => Happened::Redirected(status, location(to)),
            (Some(status), ..) => Happened::Answered(status),
        }
    }
}

/// Whether both answers say the same about everything that the test sees.
fn agree(before: &GatewayAnswer, after: &GatewayAnswer) -> bool {
    let fact = |of: &GatewayAnswer, aspect: Aspect| of.facts.get(&aspect).map(|fact| fact.value.clone());
    let is_same = |aspect: Aspect| fact(before, aspect.clone()) == fact(after, aspect);
    if before.ending != after.ending {
        return false;
    }
    match before.ending {
        AnswerEnding::Forwarded => is_same(Aspect::UpstreamPath) && is_same(Aspect::UpstreamHost) && before.has_same_targets(after),
        AnswerEnding::Redirected => {
            let to = |of: &GatewayAnswer| location(of.location.as_deref().unwrap_or_default());
            before.status == after.status && to(before) == to(after)
        }
        AnswerEnding::Answered => before.status == after.status,
        AnswerEnding::NotAnswered => true,
    }
}

/// Builds the request of a recording, if the test can send it.
fn request_of(written: &Value) -> Option<Request> {
    let has = |name: &str| !written[name].is_null();
    if ["proxy_protocol", "client_cert", "repeat", "body", "body_len"].iter().any(|name| has(name)) || written["proto"] == "http/1.0" {
        return None;
    }
    if written["client"].as_str().is_some_and(|client| client != CLIENT) {
        return None;
    }
    let (host, path) = (written["host"].as_str().unwrap_or_default(), written["path"].as_str().unwrap_or("/"));
    if host.is_empty() || !path.starts_with('/') || path.contains([' ', '#']) {
        return None;
    }
    let is_tls = written["scheme"] == "https";
    let mut request = Request::new(written["method"].as_str().unwrap_or("GET"), if is_tls { "https://x/" } else { "http://x/" }).ok()?;
    request.authority = host.to_string();
    request.path = path.to_string();
    request.source = CLIENT.parse().ok();
    let sni = written["sni"].as_str().unwrap_or_else(|| host.split(':').next().unwrap_or_default());
    request.sni = (is_tls && sni != "-").then(|| sni.to_ascii_lowercase());
    for (name, value) in written["headers"].as_object().into_iter().flatten() {
        let lower = name.to_ascii_lowercase();
        if lower.starts_with("x-echo-") || lower.starts_with("x-want-") || lower == "upgrade" || lower == "expect" {
            return None;
        }
        request.headers.add(name, value.as_str()?);
    }
    Some(request)
}

/// Returns the filter chains of a configuration, in the order of the rig.
fn chains(bootstrap: &pb::bootstrap::Bootstrap, rigged: &pb::bootstrap::Bootstrap) -> Vec<Chain> {
    let ports = rigged.static_resources.iter().flat_map(|of| &of.listeners).map(|listener| port(listener).unwrap_or_default());
    let listeners = bootstrap.static_resources.iter().flat_map(|of| &of.listeners);
    let chains = listeners.flat_map(|listener| &listener.filter_chains).filter(|chain| {
        chain.filters.iter().any(|filter| match &filter.config_type {
            Some(pb::listener::filter::ConfigType::TypedConfig(config)) => config.downcast_ref::<pb::hcm::HttpConnectionManager>().is_some(),
            _ => false,
        })
    });
    let chain = |(chain, port): (&pb::listener::FilterChain, u32)| Chain {
        is_tls: chain.transport_socket.is_some(),
        names: chain.filter_chain_match.iter().flat_map(|of| of.server_names.clone()).collect(),
        port,
    };
    chains.zip(ports).map(chain).collect()
}

/// Returns the chain that a connection reaches.
fn chain_of<'c>(chains: &'c [Chain], request: &Request) -> Option<&'c Chain> {
    let sni = request.sni.as_deref().unwrap_or_default();
    let fits = |name: &str| name == sni || name.strip_prefix('*').is_some_and(|rest| sni.len() > rest.len() && sni.ends_with(rest));
    let rank = |chain: &&Chain| {
        let best = chain.names.iter().filter(|name| fits(name)).map(|name| if name.starts_with('*') { name.len() } else { usize::MAX }).max();
        if chain.names.is_empty() { Some(0) } else { best }
    };
    let of_kind = chains.iter().filter(|chain| chain.is_tls == request.tls);
    of_kind.filter_map(|chain| Some((rank(&chain)?, chain))).max_by_key(|(rank, _)| *rank).map(|(_, chain)| chain)
}

/// The addresses of each cluster.
fn addresses(bootstrap: &pb::bootstrap::Bootstrap) -> BTreeMap<String, BTreeSet<String>> {
    let clusters = bootstrap.static_resources.iter().flat_map(|of| &of.clusters);
    let of = |cluster: &pb::cluster::Cluster| {
        let hosts = cluster.load_assignment.iter().flat_map(|of| &of.endpoints).flat_map(|of| &of.lb_endpoints);
        (cluster.name.clone(), hosts.filter_map(chancery_core::simulate::endpoint_address).collect())
    };
    clusters.map(of).collect()
}

fn try_case(program: &OsString, folder: &Path, tally: &mut Tally) -> Option<()> {
    let name = folder.file_name()?.to_string_lossy().into_owned();
    let input = fs::read_to_string(folder.join("input.yaml")).ok()?;
    let recorded: Vec<Value> = serde_json::from_str(&fs::read_to_string(folder.join("want/requests.json")).ok()?).ok()?;
    let flags: Value = serde_json::from_str(&fs::read_to_string(folder.join("options.json")).unwrap_or_default()).unwrap_or_default();
    let flags = flags["controller_arg"].as_array().cloned().unwrap_or_default();
    let flags: Vec<_> = flags.iter().filter_map(|flag| Some(flag.as_str()?.into())).collect();
    let given = options("dialect=ingress-nginx").ok()?.with("controller-arg", OptionValue::List(flags));
    let before = Work::new(&inputs([("input.yaml", input.as_str())]), &given);
    let converted = ingress_nginx_to_gateway(&before.compilation, Target::EnvoyGateway);
    if converted.objects.is_empty() || converted.yaml().contains("clientCIDRs") {
        return None;
    }
    let all = Inputs::from(vec![Input { name: "input.yaml".into(), text: input.into() }, Input { name: "converted.yaml".into(), text: converted.yaml().into() }]);
    let after = Work::new(&all, &Options::default().in_dialect("envoy-gateway"));
    let gateway = after.compilation.gateways().next()?;
    let bootstrap = chancery_core::backend::envoy::v3::bootstrap(gateway.ir, &chancery_core::backend::envoy::Options::default());
    let rigged = rig(bootstrap.clone())?;
    let (chains, addresses) = (chains(&bootstrap, &rigged), addresses(&bootstrap));
    let Some(envoy) = Envoy::start(program, &format!("migrate-{name}"), &rigged) else {
        tally.not_started.push(name);
        return None;
    };
    tally.cases += 1;
    let (old, new) = (Respondents::of(&before.compilation), Respondents::of(&after.compilation));
    let (old, new) = (old.open(), new.open());
    for one in &recorded {
        let Some(request) = request_of(&one["request"]) else {
            tally.left_out += 1;
            continue;
        };
        let (was, will) = (old.answer(&request), new.answer(&request));
        let mut sent = request.clone();
        let answer = match chain_of(&chains, &request) {
            Some(chain) => {
                sent.port = Some(chain.port);
                envoy.ask(&sent)?
            }
            None => Answer { status: None, headers: Vec::new(), echo: None },
        };
        let (wanted, got) = (Happened::recorded(&one["response"]), Happened::by_envoy(&answer));
        let endpoint = one["response"]["seen"]["endpoint"].as_str();
        let cluster = answer.header("x-rig-cluster").and_then(|cluster| addresses.get(cluster));
        // Names stand for Services that Envoy looks up.
        let reaches = |addresses: &BTreeSet<String>, endpoint: &str| addresses.contains(endpoint) || addresses.iter().any(|of| of.starts_with(|c: char| c.is_ascii_alphabetic()));
        let is_by_chance = was.targets.len() > 1 || will.targets.len() > 1;
        let is_other = !is_by_chance && endpoint.zip(cluster).is_some_and(|(endpoint, cluster)| !cluster.is_empty() && !reaches(cluster, endpoint));
        let differs = wanted != got || is_other;
        tally.asked += 1;
        let words = || format!("{name}: {}: nginx {wanted:?}, Envoy {got:?}; we say {}, then {}", one["request"], was.words(), will.words());
        match (differs, agree(&was, &will)) {
            (false, true) => tally.same += 1,
            (true, false) => tally.reported += 1,
            (true, true) => tally.denied.push(words()),
            (false, false) => tally.unfounded.push(words()),
        }
    }
    Some(())
}

#[test]
fn diff_of_converted_corpus_predicts_envoy() {
    let most: Option<usize> = env::var("CHANCERY_MIGRATE").ok().and_then(|text| text.parse().ok());
    let (Some(program), Some(corpus), Some(most)) = (env::var_os("CHANCERY_ENVOY"), env::var_os("CHANCERY_CORPUS"), most) else {
        println!("skipped: CHANCERY_ENVOY, CHANCERY_CORPUS and CHANCERY_MIGRATE must be set");
        return;
    };
    let corpus = PathBuf::from(corpus);
    let folder = [corpus.join("nginx"), corpus].into_iter().find(|folder| folder.ends_with("nginx")).expect("a folder");
    let mut folders: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let step = (folders.len() / most.max(1)).max(1);
    let mut tally = Tally::default();
    for folder in folders.iter().step_by(step) {
        let _ = try_case(&program, folder, &mut tally);
    }
    let Tally { cases, not_started, asked, left_out, same, reported, denied, unfounded } = tally;
    println!("{cases} cases, {asked} requests ({left_out} left out): {same} as before, {reported} reported, {} denied, {} unfounded; {} cases did not start", denied.len(), unfounded.len(), not_started.len());
    denied.iter().map(|line| ("denied", line)).chain(unfounded.iter().map(|line| ("unfounded", line))).take(300).for_each(|(kind, line)| println!("  {kind} {line}"));
    assert!(not_started.is_empty(), "Envoy starts with every conversion: {not_started:?}");
    assert!(denied.is_empty(), "{} differences were denied", denied.len());
    assert!(unfounded.len() * 100 <= 3 * (reported + unfounded.len()).max(1), "{} reported differences did not occur", unfounded.len());
}
