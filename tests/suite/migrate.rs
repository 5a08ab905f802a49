//! Replays requests that a real nginx answered, and checks the comparison of a migration with a real Envoy.
//!
//! Each case of the corpus `nginx` is converted for Envoy Gateway. The result runs in an Envoy whose services are echo servers, and gets the
//! recorded requests of the case. A request that Envoy answers unlike nginx must be a difference that `diff` reports, and most differences that
//! `diff` reports must occur.
//!
//! `CHANCERY_ENVOY` names the program and `CHANCERY_CORPUS` the corpora; `CHANCERY_MIGRATE=N` tries N cases (`cargo xtask test migrate`). Without
//! them the suite sends nothing. `CHANCERY_MIGRATE_RESULTS` may name a folder with the results of another conversion, one `CASE.yaml` for each case;
//! other cases are left out.
//!
//! Does not send requests whose answer depends on more than one request, on the authentication service, or on services that fail.

use crate::differential::envoy::{Answer, Envoy, port, rig};
use crate::envoy::flags_of;
use chancery_core::backend::envoy::v3::pb;
use chancery_core::compilation::Compilation;
use chancery_core::convert::{Target, ingress_nginx_to_gateway};
use chancery_core::envoy_config::EnvoyConfig;
use chancery_core::explain::answers::{AnswerEnding, Aspect, GatewayAnswer, Respondents, Services};
use chancery_core::resource::{Input, Inputs};
use chancery_core::simulate::{Gateway, Request, endpoint_address};
use chancery_tests::chance::Chance;
use chancery_tests::work::{Work, options};
use pb::hcm::HttpConnectionManager;
use pb::listener::filter::ConfigType;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ending {
    /// A service got it: its possible names, the path and the host that it received.
    Service(BTreeSet<String>, String, String),
    Redirect(u32, String),
    Answer(u32),
    Closed,
}

impl Ending {
    /// Whether both ended alike. One of several services may get a request by chance.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Service(own, path, host), Self::Service(others, other_path, other_host)) => {
                !own.is_disjoint(others) && path == other_path && host == other_host
            }
            (own, other) => own == other,
        }
    }
}

/// The result of comparing.
#[derive(Default)]
struct Tally {
    cases: usize,
    /// Cases without anything to convert, or whose result has no Envoy.
    left_out: usize,
    asked: usize,
    skipped: usize,
    same: usize,
    /// Differences that `diff` reports and that occur.
    reported: usize,
    /// Differences that occur and that `diff` does not report.
    denied: Vec<String>,
    /// Differences that `diff` reports and that do not occur.
    absent: Vec<String>,
    /// Causes of reported differences.
    causes: BTreeMap<String, usize>,
}

/// A request of the corpus, with nginx's answer.
struct Recorded {
    request: Request,
    body: Vec<u8>,
    ending: Ending,
}

fn text<'v>(of: &'v Value, key: &str) -> Option<&'v str> {
    of.get(key).and_then(Value::as_str)
}

/// The names of upstreams with a port's name, each with the name that has the port's number.
fn numbered_upstreams(compilation: &Compilation) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for object in compilation.objects.iter().filter(|object| *object.key.kind == *"Service") {
        let service = format!("{}-{}", object.key.namespace.as_deref().unwrap_or("default"), object.key.name);
        let ports = object.root.at(&["spec", "ports"]).and_then(|ports| ports.as_array());
        for port in ports.into_iter().flatten() {
            let (name, number) = (port.at(&["name"]).and_then(|name| name.as_str()), port.at(&["port"]).and_then(|port| port.as_i64()));
            if let (Some(name), Some(number)) = (name, number) {
                out.insert(format!("{service}-{name}"), format!("{service}-{number}"));
            }
        }
        // The Service that an annotation names has no port in the upstream's name; nginx uses its first port.
        let first = ports.and_then(|ports| ports.first()?.at(&["port"])?.as_i64());
        out.extend(first.map(|number| (format!("custom-default-backend-{service}"), format!("{service}-{number}"))));
    }
    out
}

/// Reads a recorded request; `None` if its answer depends on something that this suite does not have.
fn recorded(of: &Value) -> Option<Recorded> {
    let (asked, answered) = (&of["request"], &of["response"]);
    let is_special = ["proto", "proxy_protocol", "client_cert", "repeat", "sni"].iter().any(|key| asked.get(*key).is_some());
    let method = text(asked, "method").unwrap_or("GET");
    if is_special || method == "HEAD" || method == "CONNECT" {
        return None;
    }
    let headers: Vec<(&str, &str)> =
        asked["headers"].as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default())).collect();
    let controls_services = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.starts_with("x-echo-") || name.starts_with("x-want-") || name == "x-sent-from"
    };
    if headers.iter().any(|(name, _)| controls_services(name)) {
        return None;
    }
    let others = answered["other_upstream_requests"].as_array().into_iter().flatten();
    let fails =
        |seen: &Value| text(seen, "endpoint").is_some_and(|at| ["10.66.", "10.67.", "10.68.", "10.69."].iter().any(|net| at.starts_with(net)));
    // A service that refuses connections gives 502.
    if others.chain([&answered["seen"]]).any(fails) || answered["status"] == 502 {
        return None;
    }
    let (scheme, host) = (text(asked, "scheme").unwrap_or("http"), text(asked, "host").unwrap_or_default());
    let mut request = Request::new(method, &format!("{scheme}://x/")).ok()?;
    request.authority = host.to_string();
    request.path = text(asked, "path").unwrap_or("/").to_string();
    request.sni = Some(host.split(':').next().unwrap_or_default().to_ascii_lowercase()).filter(|name| scheme == "https" && !name.is_empty());
    request.source = Some(text(asked, "client").unwrap_or("198.51.100.7").parse().ok()?);
    headers.iter().for_each(|(name, value)| request.add_header(name, value));
    let length = asked.get("body_len").and_then(Value::as_u64).and_then(|length| usize::try_from(length).ok());
    let body = length.map(|length| vec![b'x'; length]).or_else(|| text(asked, "body").map(|body| body.as_bytes().to_vec())).unwrap_or_default();
    if !body.is_empty() {
        request.add_header("content-length", &body.len().to_string());
    }
    let status = answered["status"].as_u64().and_then(|status| u32::try_from(status).ok()).unwrap_or_default();
    let ending = match (status, answered.get("seen"), text(answered, "location")) {
        (0, ..) => Ending::Closed,
        (_, Some(seen), _) => {
            let service = BTreeSet::from([text(answered, "upstream").unwrap_or_default().to_string()]);
            Ending::Service(service, text(seen, "path").unwrap_or_default().into(), text(seen, "host").unwrap_or_default().into())
        }
        (300..=399, None, Some(location)) => Ending::Redirect(status, normalized(location)),
        _ => Ending::Answer(status),
    };
    Some(Recorded { request, body, ending })
}

/// Returns the same URL without the default port, and with a path.
fn normalized(location: &str) -> String {
    let Some((scheme, rest)) = location.split_once("://") else { return location.into() };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let port = if scheme == "https" { ":443" } else { ":80" };
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("{scheme}://{}{slash}{path}", authority.strip_suffix(port).unwrap_or(authority))
}

/// Both sides of a migration.
struct Sides {
    before: Work,
    after: Work,
}

impl Sides {
    /// Compiles a case and its conversion with the objects of the cluster. Converts the case itself if `converted` is not given.
    fn of(input: &str, flags: &str, converted: Option<String>) -> Option<Self> {
        let given = |name: &str, text: &str| Input { name: name.into(), text: text.into() };
        let before =
            Work::new(&Inputs::from(vec![given("input.yaml", input)]), &options(&format!("dialect=ingress-nginx missing=error {flags}")).ok()?);
        before.compilation.nginxes().next()?;
        let converted = converted.unwrap_or_else(|| ingress_nginx_to_gateway(&before.compilation, Target::EnvoyGateway).yaml());
        if converted.is_empty() {
            return None;
        }
        let inputs = Inputs::from(vec![given("input.yaml", input), given("converted.yaml", &converted)]);
        let after = Work::new(&inputs, &options("dialect=envoy-gateway missing=error").ok()?);
        after.compilation.gateways().next()?;
        Some(Self { before, after })
    }
}

/// An Envoy for tests: its bootstrap, and the port for each filter chain by pointer. It speaks cleartext only.
struct Rigged {
    bootstrap: pb::bootstrap::Bootstrap,
    ports: BTreeMap<String, u32>,
    /// The chains that speak TLS in the real configuration.
    tls: BTreeSet<String>,
}

/// Prepares the configuration of the only gateway. Requests name their client and scheme in forwarded headers, which Envoy trusts here.
fn rigged(compilation: &Compilation) -> Option<(EnvoyConfig, Rigged)> {
    let mut gateways = compilation.gateways();
    let (ir, None) = (gateways.next()?.ir, gateways.next()) else { return None };
    let whole = chancery_core::backend::envoy::v3::bootstrap(ir, &chancery_core::backend::envoy::Options::default());
    let config = EnvoyConfig::of_bootstrap(whole.clone());
    let mut prepared = whole;
    let resources = prepared.static_resources.as_mut()?;
    let (mut pointers, mut tls) = (Vec::new(), BTreeSet::new());
    for (at, listener) in resources.listeners.iter_mut().enumerate() {
        let base = format!("/static_resources/listeners/{at}");
        let mut named: Vec<String> = (0..listener.filter_chains.len()).map(|number| format!("{base}/filter_chains/{number}")).collect();
        named.extend(listener.default_filter_chain.as_ref().map(|_| format!("{base}/default_filter_chain")));
        listener.filter_chains.extend(listener.default_filter_chain.take());
        let speaks_http = |chain: &pb::listener::FilterChain| chain.filters.iter().any(|filter| manager(filter).is_some());
        tls.extend(
            named.iter().zip(&listener.filter_chains).filter(|(_, chain)| chain.transport_socket.is_some()).map(|(pointer, _)| pointer.clone()),
        );
        pointers.extend(named.into_iter().zip(&listener.filter_chains).filter(|(_, chain)| speaks_http(chain)).map(|(pointer, _)| pointer));
    }
    let empty: BTreeSet<String> = resources.clusters.iter().filter(|cluster| is_empty(cluster)).map(|cluster| cluster.name.clone()).collect();
    let mut bootstrap = rig(prepared)?;
    let resources = bootstrap.static_resources.as_mut()?;
    for cluster in resources.clusters.iter_mut().filter(|cluster| empty.contains(&cluster.name)) {
        cluster.load_assignment.iter_mut().for_each(|assignment| assignment.endpoints.clear());
    }
    for listener in &mut resources.listeners {
        for filter in listener.filter_chains.iter_mut().flat_map(|chain| &mut chain.filters) {
            let Some(mut manager) = manager(filter).cloned() else { continue };
            // The addresses that a client may forward are a matter of this part, which the suite needs for the client's own address.
            if !manager.original_ip_detection_extensions.is_empty() || manager.xff_num_trusted_hops > 0 {
                return None;
            }
            manager.use_remote_address = Some(false);
            // They remove the headers that name the client here.
            manager.early_header_mutation_extensions.clear();
            filter.config_type = Some(ConfigType::TypedConfig(pb::Any::pack(manager)));
        }
    }
    let ports: Vec<u32> = resources.listeners.iter().filter_map(port).collect();
    // A chain with a script would appear twice.
    (ports.len() == pointers.len()).then(|| (config, Rigged { ports: pointers.into_iter().zip(ports).collect(), bootstrap, tls }))
}

fn manager(filter: &pb::listener::Filter) -> Option<&HttpConnectionManager> {
    match &filter.config_type {
        Some(ConfigType::TypedConfig(config)) => config.downcast_ref::<HttpConnectionManager>(),
        _ => None,
    }
}

fn is_empty(cluster: &pb::cluster::Cluster) -> bool {
    cluster.load_assignment.as_ref().is_some_and(|assignment| assignment.endpoints.iter().all(|locality| locality.lb_endpoints.is_empty()))
}

/// Names Services as nginx names upstreams: `NAMESPACE-SERVICE-PORT`.
fn upstream_names(services: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    services.into_iter().map(|name| name.replace(['/', ':'], "-")).collect()
}

/// The upstream names of Services by the cluster that serves them.
fn services_by_cluster(config: &EnvoyConfig, compilation: &Compilation) -> BTreeMap<String, BTreeSet<String>> {
    let (gateway, services) = (Gateway::new(config), Services::of(&compilation.objects));
    let of = |cluster: &pb::cluster::Cluster| {
        let localities = gateway.locality_shares(&config.clusters.iter().find(|placed| placed.message.name == cluster.name)?.message);
        let names = localities.iter().flat_map(|locality| {
            let addresses: Vec<String> = locality.hosts.iter().filter_map(|host| endpoint_address(host)).collect();
            services.behind(addresses.iter().map(String::as_str))
        });
        Some(upstream_names(names))
    };
    config.clusters.iter().filter_map(|placed| Some((placed.message.name.clone(), of(&placed.message)?))).collect()
}

/// Sends a request to the port of the chain that gets it.
fn answered(envoy: &Envoy, rigged: &Rigged, gateway: &Gateway<'_>, of: &Recorded, clusters: &BTreeMap<String, BTreeSet<String>>) -> Option<Ending> {
    let simulation = gateway.simulate(&of.request);
    let Some(place) = simulation.places.iter().find(|place| place.of == "filter_chain") else { return Some(Ending::Closed) };
    // A chain answers only clients that speak TLS as it does.
    if of.request.tls != rigged.tls.contains(&place.pointer) {
        return Some(Ending::Closed);
    }
    let mut request = Request::new(&of.request.method, "http://x/").ok()?;
    request.authority.clone_from(&of.request.authority);
    request.path.clone_from(&of.request.path);
    request.port = Some(*rigged.ports.get(&place.pointer)?);
    let is_own = |name: &str| matches!(name, "x-forwarded-for" | "x-forwarded-proto");
    of.request.headers.iter().filter(|(name, _)| !is_own(name)).for_each(|(name, value)| request.add_header(name, value));
    request.add_header("x-forwarded-proto", if of.request.tls { "https" } else { "http" });
    request.add_header("x-forwarded-for", &of.request.source?.to_string());
    let answer: Answer = envoy.send(&request, &of.body)?;
    Some(match (answer.status, &answer.echo, answer.header("location")) {
        (None, ..) => Ending::Closed,
        (Some(_), Some(echo), _) => {
            let cluster = answer.header("x-rig-cluster").unwrap_or_default();
            let names = clusters.get(cluster).cloned().unwrap_or_else(|| BTreeSet::from([cluster.to_string()]));
            Ending::Service(names, echo.path.clone(), echo.header("host").unwrap_or_default().into())
        }
        (Some(status @ 300..=399), None, Some(location)) => Ending::Redirect(status, normalized(location)),
        (Some(status), ..) => Ending::Answer(status),
    })
}

/// Whether the comparison reports a difference in how the request ends or in what the service gets.
fn is_reported(before: &GatewayAnswer, after: &GatewayAnswer) -> bool {
    let fact = |of: &GatewayAnswer, aspect: &Aspect| of.facts.get(aspect).map(|fact| fact.value.clone());
    let is_same = before.ending == after.ending
        && match before.ending {
            AnswerEnding::Forwarded => {
                before.has_same_targets(after) && [Aspect::UpstreamPath, Aspect::UpstreamHost].iter().all(|of| fact(before, of) == fact(after, of))
            }
            AnswerEnding::Redirected => before.status == after.status && before.location == after.location,
            AnswerEnding::Answered => before.status == after.status,
            AnswerEnding::NotAnswered => true,
        };
    !is_same
}

fn try_one(program: &OsString, name: &str, case: &Path, tally: &mut Tally) {
    let read = |file: &str| fs::read_to_string(case.join(file)).ok();
    let (Some(input), Some(flags), Some(requests)) = (read("input.yaml"), read("options.json"), read("want/requests.json")) else { return };
    let results = env::var_os("CHANCERY_MIGRATE_RESULTS").map(|folder| Path::new(&folder).join(format!("{name}.yaml")));
    let converted = results.as_ref().map(fs::read_to_string);
    if let Some(Err(_)) = converted {
        tally.left_out += 1;
        return;
    }
    let Some(sides) = Sides::of(&input, &flags_of(&flags), converted.and_then(Result::ok)) else {
        tally.left_out += 1;
        return;
    };
    let (before, after) = (&sides.before.compilation, &sides.after.compilation);
    let Some((config, rigged)) = rigged(after) else {
        tally.left_out += 1;
        return;
    };
    let Some(envoy) = Envoy::start(program, &format!("migrate-{name}"), &rigged.bootstrap) else {
        tally.denied.push(format!("{name}: Envoy does not start"));
        return;
    };
    tally.cases += 1;
    let (old, new) = (before.positions(), after.positions());
    let (old, new) = (Respondents::of(before, &old), Respondents::of(after, &new));
    let (old, new) = (old.open(), new.open());
    let (gateway, clusters) = (Gateway::new(&config), services_by_cluster(&config, after));
    let numbered = numbered_upstreams(before);
    let all: Vec<Value> = serde_json::from_str(&requests).expect("requests.json");
    for of in &all {
        let Some(mut recorded) = recorded(of) else {
            tally.skipped += 1;
            continue;
        };
        if let Ending::Service(names, ..) = &mut recorded.ending {
            *names = names.iter().map(|name| numbered.get(name).unwrap_or(name).clone()).collect();
        }
        let Some(got) = answered(&envoy, &rigged, &gateway, &recorded, &clusters) else {
            tally.skipped += 1;
            continue;
        };
        tally.asked += 1;
        let (was, will) = (old.answer(&recorded.request), new.answer(&recorded.request));
        let (occurs, reported) = (!recorded.ending.is_like(&got), is_reported(&was, &will));
        let line = || {
            format!(
                "{name}: {} {}{} {}: nginx {:?}, Envoy {got:?}; said: {} ({:?}), {} ({:?})",
                recorded.request.method,
                recorded.request.authority,
                recorded.request.path,
                if recorded.request.tls { "https" } else { "http" },
                recorded.ending,
                was.words(),
                was.facts.get(&Aspect::UpstreamPath).map(|fact| &fact.value),
                will.words(),
                will.facts.get(&Aspect::UpstreamPath).map(|fact| &fact.value),
            )
        };
        match (occurs, reported) {
            (false, false) => tally.same += 1,
            (true, true) => {
                tally.reported += 1;
                *tally.causes.entry(format!("{} instead of {}", will.words(), was.words())).or_default() += 1;
            }
            (true, false) => tally.denied.push(line()),
            (false, true) => tally.absent.push(line()),
        }
    }
}

/// Returns the folder of the cases, if there is one.
fn corpus() -> Option<PathBuf> {
    let given = PathBuf::from(env::var_os("CHANCERY_CORPUS")?);
    [given.join("nginx"), given.with_file_name("nginx"), given].into_iter().find(|folder| folder.ends_with("nginx") && folder.is_dir())
}

#[test]
fn migrate_recorded_requests_differ_only_as_reported() {
    let most: Option<usize> = env::var("CHANCERY_MIGRATE").ok().and_then(|text| text.parse().ok());
    let (Some(program), Some(corpus), Some(most)) = (env::var_os("CHANCERY_ENVOY"), corpus(), most) else {
        println!("skipped: CHANCERY_ENVOY, CHANCERY_CORPUS and CHANCERY_MIGRATE name no program, corpus and number of cases");
        return;
    };
    let mut cases: Vec<PathBuf> = fs::read_dir(corpus).expect("the corpus").flatten().map(|entry| entry.path()).collect();
    cases.sort();
    Chance::new(5).shuffle(&mut cases);
    let mut tally = Tally::default();
    for case in cases {
        if tally.cases >= most {
            break;
        }
        let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
        try_one(&program, &name, &case, &mut tally);
    }
    let Tally { cases, left_out, asked, skipped, same, reported, denied, absent, causes } = tally;
    println!(
        "{cases} cases, {left_out} left out; {asked} requests, {skipped} skipped: {same} alike, {reported} reported differences, {} denied, {} absent",
        denied.len(),
        absent.len()
    );
    let mut causes: Vec<(String, usize)> = causes.into_iter().collect();
    causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    causes.iter().take(40).for_each(|(what, count)| println!("  {count} {what}"));
    denied.iter().take(100).for_each(|line| println!("  denied: {line}"));
    absent.iter().take(100).for_each(|line| println!("  absent: {line}"));
    assert!(asked > 100, "the suite tests something");
    assert!(denied.is_empty(), "{} differences are not reported", denied.len());
    assert!(absent.len() * 100 <= 3 * (reported + absent.len()), "{} of {} reported differences do not occur", absent.len(), reported + absent.len());
}
