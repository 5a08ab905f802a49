//! Replays the access log of a real Envoy, and checks the report with a second real Envoy.
//!
//! One configuration runs in an Envoy that logs the requests. `replay` names the logged requests that another configuration would answer
//! differently; the same requests then go to an Envoy with that configuration. `CHANCERY_ENVOY` names the program. Without it the suite sends
//! nothing.
//!
//! Does not send requests whose answer depends on chance.

use crate::differential::envoy::{Answer, Envoy, port, rig};
use chancery_core::backend::envoy::v3::pb;
use chancery_core::compilation::Options;
use chancery_core::compile::Compiler;
use chancery_core::dialect;
use chancery_core::explain::coverage::Coverage;
use chancery_core::explain::replay::{LogFormat, Replay, ReplayGateways, ReplayOptions, ReplayReport};
use chancery_core::explain::{PreparedGateways, Tester};
use chancery_core::resource::Inputs;
use chancery_core::simulate::Request;
use chancery_tests::work::Work;
use pb::listener::filter::ConfigType;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

const HEAD: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shop}
spec: {hostname: shop.example.com, requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: api}
spec: {hostname: api.example.com, requestPolicy: {insecure: {action: Route}}}
";

/// The name, host and further fields of each Mapping before and after the change; `None` if it does not exist.
const MAPPINGS: [(&str, &str, Option<&str>, Option<&str>); 9] = [
    ("cart", "shop", Some("prefix: /cart/, service: cart"), Some("prefix: /cart/, service: cart")),
    ("basket", "shop", None, Some("prefix: /cart/old/, service: basket")),
    ("help", "shop", Some("prefix: /help/, service: help"), Some("prefix: /support/, service: help")),
    ("rewrite", "shop", Some("prefix: /v1/, rewrite: /, service: cart"), Some("prefix: /v1/, rewrite: /api/, service: cart")),
    (
        "regex",
        "shop",
        Some("prefix: '/item/[0-9]+', prefix_regex: true, service: item"),
        Some("prefix: '/item/[0-9]{2}', prefix_regex: true, service: item"),
    ),
    ("all", "api", Some("prefix: /, service: api"), Some("prefix: /, service: api")),
    ("post", "api", Some("prefix: /write/, method: POST, service: writer"), Some("prefix: /write/, method: PUT, service: writer")),
    (
        "away",
        "api",
        Some("prefix: /away/, service: a.example.org, host_redirect: true"),
        Some("prefix: /away/, service: b.example.org, host_redirect: true"),
    ),
    ("gone", "api", Some("prefix: /gone/, service: gone"), None),
];

const PATHS: [(&str, &[&str]); 2] = [
    ("shop.example.com", &["/cart/1", "/cart/old/2", "/cart", "/help/", "/support/x", "/v1/orders?page=2", "/item/7", "/item/42", "/item/420", "/"]),
    ("api.example.com", &["/", "/write/a", "/away/x?y=1", "/gone/1", "/gone", "/other"]),
];

fn configuration(is_after: bool) -> String {
    let one = |(name, host, before, after): &(&str, &str, Option<&str>, Option<&str>)| {
        let fields = if is_after { after } else { before };
        fields.map(|fields| {
            format!("---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}}}\nspec: {{hostname: {host}.example.com, {fields}}}\n")
        })
    };
    format!("{HEAD}{}", MAPPINGS.iter().filter_map(one).collect::<String>())
}

/// Prepares a configuration for an Envoy that writes its requests to a file, in Envoy's own format.
fn logging(text: &str, log: &Path) -> pb::bootstrap::Bootstrap {
    let work = Work::of(text);
    let ir = work.compilation.gateways().next().expect("a gateway").ir;
    let mut rigged =
        rig(chancery_core::backend::envoy::v3::bootstrap(ir, &chancery_core::backend::envoy::Options::default())).expect("it speaks HTTP");
    let listeners = rigged.static_resources.iter_mut().flat_map(|of| &mut of.listeners);
    for filter in listeners.flat_map(|of| &mut of.filter_chains).flat_map(|chain| &mut chain.filters) {
        let Some(ConfigType::TypedConfig(config)) = &filter.config_type else { continue };
        let Some(mut manager) = config.downcast_ref::<pb::hcm::HttpConnectionManager>().cloned() else { continue };
        let file = pb::file_log::FileAccessLog { path: log.display().to_string(), ..Default::default() };
        manager.access_log = vec![pb::access_log::AccessLog {
            name: "file".into(),
            config_type: Some(pb::access_log::access_log::ConfigType::TypedConfig(pb::Any::pack(file))),
            ..Default::default()
        }];
        filter.config_type = Some(ConfigType::TypedConfig(pb::Any::pack(manager)));
    }
    rigged
}

fn requests(port: u32) -> Vec<Request> {
    let mut out = Vec::new();
    for (host, paths) in PATHS {
        for path in paths {
            for method in ["GET", "POST", "PUT"] {
                let mut request = Request::new(method, &format!("http://{host}{path}")).expect("a URL");
                request.port = Some(port);
                out.push(request);
            }
        }
    }
    out
}

/// Starts an Envoy, and returns its answers.
fn answers(name: &str, bootstrap: &pb::bootstrap::Bootstrap, log: &Path) -> Vec<Answer> {
    let program = env::var_os("CHANCERY_ENVOY").expect("a program");
    let envoy = Envoy::start(&program, name, bootstrap).expect("Envoy starts");
    let port = bootstrap.static_resources.iter().flat_map(|of| &of.listeners).find_map(port).expect("a port");
    let asked = requests(port);
    let answers: Vec<Answer> = asked.iter().map(|request| envoy.ask(request).expect("an answer")).collect();
    // Envoy writes its log every ten seconds.
    let start = Instant::now();
    while fs::read_to_string(log).unwrap_or_default().lines().count() < asked.len() {
        assert!(start.elapsed() < Duration::from_secs(60), "Envoy logs its requests");
        thread::sleep(Duration::from_millis(200));
    }
    answers
}

/// Replays one line of a log.
fn replayed(line: &str, before: &str, after: &str) -> ReplayReport {
    let compile = |text: &str| {
        let mut compiler = Compiler::new(dialect::ALL);
        let compilation = compiler.compile(&Inputs::one("in.yaml", text), &Options::default());
        (compiler, compilation)
    };
    let ((mut old_compiler, old), (mut new_compiler, new)) = (compile(before), compile(after));
    let (old_positions, new_positions) = (old.positions(), new.positions());
    let prepared = (PreparedGateways::of(&old, &old_positions, &mut old_compiler), PreparedGateways::of(&new, &new_positions, &mut new_compiler));
    let (old, mut coverage) = (Tester::new(&prepared.0, &mut Coverage::default()), Coverage::default());
    let new = Tester::new(&prepared.1, &mut coverage);
    let gateways = ReplayGateways::new(Some(&old), &new).expect("one gateway each");
    let mut replay = Replay::new(&gateways, ReplayOptions::default());
    replay.line(&LogFormat::parse("envoy").expect("a format"), line);
    replay.finish(coverage)
}

/// The visible part of an answer: the status, the redirect, the cluster, and the path for the service.
fn seen(answer: &Answer) -> (Option<u32>, Option<&str>, Option<&str>, Option<&str>) {
    let header = |name: &str| answer.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    (answer.status, header("location"), header("x-rig-cluster"), answer.echo.as_ref().map(|echo| echo.path.as_str()))
}

#[test]
fn replayed_log_changes_as_in_a_real_envoy() {
    if env::var_os("CHANCERY_ENVOY").is_none() {
        println!("skipped: CHANCERY_ENVOY names no program");
        return;
    }
    let (before, after) = (configuration(false), configuration(true));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let log = |name: &str| {
        let path = folder.join(format!("{name}.access.log"));
        let _ = fs::remove_file(&path);
        path
    };
    let (old_log, new_log) = (log("before"), log("after"));
    let (old, new) = (logging(&before, &old_log), logging(&after, &new_log));
    let (was, will) = thread::scope(|scope| {
        let second = scope.spawn(|| answers("replay-after", &new, &new_log));
        (answers("replay-before", &old, &old_log), second.join().expect("answers"))
    });
    let text = fs::read_to_string(&old_log).expect("a log");
    let mut counts = [0, 0];
    for ((line, was), will) in text.lines().zip(&was).zip(&will) {
        let report = replayed(line, &before, &after);
        assert_eq!((report.requests, report.unreadable), (1, 0), "{line}");
        let is_changed = seen(was) != seen(will);
        assert_eq!(report.changed, u64::from(is_changed), "{line}: was {:?}, is {:?}; {:#?}", seen(was), seen(will), report.changes);
        counts[usize::from(is_changed)] += 1;
    }
    println!("replay: {} requests alike, {} changed", counts[0], counts[1]);
    assert!(counts[0] > 10 && counts[1] > 10, "{counts:?}");
}
