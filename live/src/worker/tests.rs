//! Tests that changes become few builds, and that the last build equals a compile from scratch.

use super::build::{Build, Builder};
use super::intake::{Drained, Intake};
use super::metrics::Metrics;
use crate::lock;
use crate::replicas::{Replicas, share};
use chancery_core::compilation::{Compilation, Options};
use chancery_core::resource::{Input, Inputs};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn mapping(number: usize, timeout: usize) -> Vec<u8> {
    format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m{number}, namespace: default}}\n\
         spec: {{hostname: '*', prefix: /m{number}/, service: quote, timeout_ms: {timeout}}}\n"
    )
    .into_bytes()
}

const BASE: &str = "apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http, namespace: default}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: h, namespace: default}
spec: {hostname: '*', requestPolicy: {insecure: {action: Route}}}
";

const CONTOUR: &str = "apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: p, namespace: default}
spec: {virtualhost: {fqdn: a.example.com}, routes: [{services: [{name: s, port: 80}]}]}
";

/// A worker with its own thread, whose builds are kept.
struct Running {
    intake: Intake,
    metrics: Metrics,
    builds: Arc<Mutex<Vec<Arc<Build>>>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Running {
    fn start(spacing: Duration, failing: usize) -> Self {
        let metrics = Metrics::default();
        let intake = Intake::new(1, metrics.clone());
        let builds: Arc<Mutex<Vec<Arc<Build>>>> = Arc::default();
        let (work, counted, kept) = (intake.clone(), metrics.clone(), builds.clone());
        let mut left = failing;
        let thread = std::thread::spawn(move || {
            super::run(&work, &mut Builder::new(Options::default()), spacing, &counted, |build| {
                if left > 0 {
                    left -= 1;
                    return Err("not now".into());
                }
                lock(&kept).push(build.clone());
                Ok(())
            });
        });
        Self { intake, metrics, builds, thread: Some(thread) }
    }

    fn until(&self, what: impl Fn(&[Arc<Build>]) -> bool) -> Vec<Arc<Build>> {
        let begin = Instant::now();
        loop {
            let builds = lock(&self.builds).clone();
            if what(&builds) {
                return builds;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{} builds", builds.len());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.intake.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn fresh(intake: &Intake) -> String {
    // After an unrelated change, `drain` returns all inputs once more.
    intake.put(0, "zz-touch.yaml", b"# touched\n".to_vec());
    let drained = intake.drain().expect("something to build");
    Builder::new(Options::default()).build(drained).version
}

#[test]
fn burst_of_events_gives_few_builds() {
    let running = Running::start(Duration::from_millis(200), 0);
    running.intake.put(0, "base.yaml", BASE.into());
    running.intake.synced(0);
    running.until(|builds| builds.len() == 1);
    for event in 0..10_000 {
        // Changes each of 100 Mappings 100 times. In the end all have the same timeout.
        running.intake.put(0, &format!("m{}.yaml", event % 100), mapping(event % 100, 1000 + event / 100));
    }
    let builds = running.until(|builds| builds.iter().map(|build| build.changes).sum::<u64>() == 10_001);
    assert!(builds.len() <= 12, "{} builds", builds.len());
    let last = builds.last().expect("a build");
    assert_eq!((last.inputs, last.errors), (101, 0));
    drop(builds);
    running.intake.close();
    let built = lock(&running.builds).last().expect("a build").version.clone();
    assert_eq!(built, fresh(&running.intake), "the same as from scratch");
}

#[test]
fn worker_waits_until_all_sources_are_synced() {
    let running = Running::start(Duration::ZERO, 0);
    running.intake.put(0, "base.yaml", BASE.into());
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(running.metrics.builds(), 0);
    running.intake.synced(0);
    running.until(|builds| builds.len() == 1);
}

#[test]
fn unchanged_input_starts_no_build() {
    let running = Running::start(Duration::ZERO, 0);
    running.intake.put(0, "base.yaml", BASE.into());
    running.intake.synced(0);
    running.until(|builds| builds.len() == 1);
    for _ in 0..100 {
        running.intake.put(0, "base.yaml", BASE.into());
        running.intake.remove(0, "was-never-there.yaml");
    }
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(running.metrics.builds(), 1);
    let dropped = running.metrics.all().into_iter().find(|(name, ..)| *name == "chancery_changes_unchanged");
    assert_eq!(dropped.map(|(.., value)| value), Some(200.0));
}

#[test]
fn removed_large_input_is_forgotten() {
    let inputs = |more: Option<&str>| {
        let texts = [Some(("base.yaml", BASE)), more.map(|text| ("large.yaml", text))];
        let inputs: Vec<Input> = texts.into_iter().flatten().map(|(name, text)| Input { name: name.into(), text: text.into() }).collect();
        let not_utf8 = vec![Vec::new(); inputs.len()];
        Drained { inputs: Inputs::from(inputs), not_utf8, ..Drained::default() }
    };
    let large = format!("# {}\n{}", "x".repeat(2 << 20), String::from_utf8_lossy(&mapping(1, 1000)));
    let held = |compilation: &Arc<Compilation>| {
        compilation.inputs.inputs.iter().find(|input| input.name.as_str() == "large.yaml").map(|input| Arc::downgrade(&input.text))
    };
    let mut builder = Builder::new(Options::default());
    let first = builder.build(inputs(None)).version;
    let text = held(&builder.build(inputs(Some(&large))).compilation).expect("the large input");
    assert!(text.upgrade().is_some(), "the memory keeps it for the next build");
    assert_eq!(builder.build(inputs(None)).version, first);
    assert!(text.upgrade().is_none(), "nothing keeps it");
}

#[test]
fn builds_keep_their_distance() {
    let running = Running::start(Duration::from_millis(150), 0);
    // The distance is between the beginnings of builds, whatever their durations.
    let begin = Instant::now();
    running.intake.put(0, "base.yaml", BASE.into());
    running.intake.synced(0);
    running.until(|builds| builds.len() == 1);
    running.intake.put(0, "m.yaml", mapping(1, 1000));
    running.until(|builds| builds.len() == 2);
    running.intake.put(0, "m.yaml", mapping(1, 2000));
    running.until(|builds| builds.len() == 3);
    assert!(begin.elapsed() >= Duration::from_millis(300), "{:?}", begin.elapsed());
}

#[test]
fn unpublished_build_is_published_later() {
    let running = Running::start(Duration::ZERO, 2);
    running.intake.put(0, "base.yaml", BASE.into());
    let begin = Instant::now();
    running.intake.synced(0);
    let builds = running.until(|builds| builds.len() == 1);
    assert!(begin.elapsed() >= Duration::from_millis(500), "200 ms, then 400: {:?}", begin.elapsed());
    assert_eq!((builds.len(), running.metrics.builds()), (1, 1), "it was built once");
}

#[test]
fn edit_changes_only_its_resources() {
    let running = Running::start(Duration::ZERO, 0);
    running.intake.put(0, "base.yaml", BASE.into());
    running.intake.put(0, "m1.yaml", mapping(1, 1000));
    running.intake.put(0, "m2.yaml", mapping(2, 1000));
    running.intake.synced(0);
    running.until(|builds| builds.len() == 1);
    running.intake.put(0, "m1.yaml", mapping(1, 2000));
    let builds = running.until(|builds| builds.len() == 2);
    let changed = builds[1].changed();
    assert_eq!(changed.keys().collect::<Vec<_>>(), ["routes"], "{changed:?}");
    let place = builds[1].gateways[0].snapshot.blame.as_ref().map(|blame| {
        let url = chancery_core::backend::envoy::v3::Service::Clusters.type_url();
        blame.places(&url, "cluster_quote_default", None)
    });
    let files: Vec<String> = place.unwrap_or_default().into_iter().map(|place| format!("{}:{}", place.file, place.line)).collect();
    assert!(files.iter().any(|file| file.starts_with("m1.yaml:")), "{files:?}");
}

#[test]
fn changed_names_include_gateway_of_several() {
    let running = Running::start(Duration::ZERO, 0);
    for name in ["api", "web"] {
        let service = format!("service: {{name: {name}, port: 8080, connect: {{sidecar_service: {{}}}}}}");
        running.intake.put(0, &format!("{name}.yaml"), service.into_bytes());
    }
    running.intake.synced(0);
    let builds = running.until(|builds| builds.len() == 1);
    assert_eq!(builds[0].changed()["clusters"], ["local_app of api-sidecar-proxy", "local_app of web-sidecar-proxy"]);
}

fn secret(text: &str, label: &str) -> Vec<u8> {
    let value = serde_json::json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default", "labels": {"l": label}},
        "stringData": {"text": text},
    });
    value.to_string().into_bytes()
}

#[test]
fn unreferenced_input_starts_no_build() {
    let running = Running::start(Duration::ZERO, 0);
    running.intake.put(0, "base.yaml", BASE.into());
    running.intake.put(0, "Secret/default/s", secret("1", "a"));
    running.intake.synced(0);
    running.until(|builds| builds.len() == 1);
    std::thread::sleep(Duration::from_millis(50));
    for number in 2..50 {
        running.intake.put(0, "Secret/default/s", secret(&number.to_string(), "a"));
    }
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(running.metrics.builds(), 1);
    // Labels are not content, but selectors may match them now.
    running.intake.put(0, "Secret/default/s", secret("50", "b"));
    running.until(|builds| builds.len() == 2);
    // The dropped text is available anyway.
    running.intake.put(0, "Secret/default/s", secret("51", "b"));
    running.intake.put(0, "m.yaml", mapping(1, 1000));
    let builds = running.until(|builds| builds.len() == 3);
    let inputs = &builds[2].compilation.inputs.inputs;
    assert!(inputs.iter().any(|input| input.text.contains("\"text\":\"51\"")));
}

#[test]
fn endpoints_do_not_wait() {
    let running = Running::start(Duration::from_secs(30), 0);
    running.intake.put(0, "base.yaml", BASE.into());
    running.intake.synced(0);
    running.until(|builds| builds.len() == 1);
    let begin = Instant::now();
    running.intake.put(0, "m.yaml", mapping(1, 1000));
    running.intake.put(0, "EndpointSlice.discovery.k8s.io/default/e", b"{}".to_vec());
    running.until(|builds| builds.len() == 2);
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn change_sequences_end_like_fresh_compile() {
    let mut state = 7u64;
    let mut chance = |below: u64| {
        // A simple generator, so that every run is the same.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let intake = Intake::new(1, Metrics::default());
    intake.put(0, "base.yaml", BASE.into());
    intake.synced(0);
    let mut builder = Builder::new(Options::default());
    for round in 0..60 {
        for _ in 0..=chance(6) {
            let number = chance(8) as usize;
            let name = format!("m{number}.yaml");
            match chance(5) {
                0 => intake.remove(0, &name),
                1 => intake.put(0, &name, b"kind: [broken".to_vec()),
                2 => intake.put(0, &name, mapping(number, 1000).into_iter().chain(*b"---\n").chain(mapping(number + 100, 2000)).collect()),
                _ => intake.put(0, &name, mapping(number, 1000 + chance(4) as usize)),
            }
        }
        let Some(drained) = intake.drain() else { continue };
        let build = builder.build(drained.clone());
        let fresh = Builder::new(Options::default()).build(drained);
        assert_eq!(build.version, fresh.version, "round {round}");
        assert_eq!(build.findings(), fresh.findings(), "round {round}");
    }
}

#[test]
fn replica_builds_its_own_gateways_only() {
    let texts = [("ambassador.yaml", BASE.to_owned()), ("contour.yaml", CONTOUR.to_owned())];
    let inputs: Vec<Input> = texts.iter().map(|(name, text)| Input { name: (*name).into(), text: text.as_str().into() }).collect();
    let drained = || Drained { inputs: Inputs::from(inputs.clone()), not_utf8: vec![Vec::new(); inputs.len()], ..Drained::default() };
    let whole = Builder::new(Options::default()).build(drained());
    let of = |build: &Build| build.gateways.iter().map(|gateway| gateway.id.to_string()).collect::<Vec<_>>();
    assert_eq!(of(&whole), ["default/default", "projectcontour/contour"]);
    // Each replica owns one gateway.
    let owner = |members: &[Arc<str>; 2], at: usize| share::owner(members, &whole.gateways[at].id).cloned();
    let pairs = (1..100).map(|number| ["10.0.0.1:8003".to_owned(), format!("10.0.0.{number}:8003")].map(Arc::from));
    let members: [Arc<str>; 2] = pairs.into_iter().find(|members| owner(members, 0) != owner(members, 1)).expect("a pair");
    let mut built = Vec::new();
    for own in &members {
        let replicas = Replicas::shared();
        let mut builder = Builder::new(Options::default()).with_replicas(replicas.clone());
        assert_eq!(of(&builder.build(drained())), of(&whole), "alone, it builds everything");
        replicas.note(Instant::now(), members.to_vec(), Some(own.clone()), Vec::new());
        let build = builder.build(drained());
        assert_eq!((build.gateways.len(), build.elsewhere.len()), (1, 1));
        assert!(build.elsewhere.values().all(|owner| owner != own), "{:?}", build.elsewhere);
        assert_eq!(build.findings(), whole.findings(), "findings cover all gateways");
        assert_eq!(build.compilation.gateways().count(), 2);
        for gateway in &build.gateways {
            let same = whole.gateways.iter().find(|of| of.id == gateway.id).expect("a gateway");
            assert_eq!(gateway.snapshot.version(), same.snapshot.version());
        }
        built.extend(of(&build));
        replicas.note(Instant::now(), vec![own.clone()], Some(own.clone()), Vec::new());
        assert_eq!(builder.build(drained()).version, whole.version, "after a takeover, it serves the same");
    }
    built.sort();
    assert_eq!(built, of(&whole), "each gateway is built once");
}
