//! Causes random accidents for a long time, under load: edits, broken and emptied files, missing folders, restarts, a cut
//! network, a killed API server and a killed Envoy. A real Envoy answers every request that the last good configuration
//! answers.
//!
//! `CHANCERY_CHAOS_SECONDS` is the duration of each test, and `CHANCERY_SEED` seeds the random numbers. `CHANCERY_CHAOS_ONLY` is
//! the number of one accident, to isolate a failure. Does not compare builds with the cluster; see `cluster`.

#[path = "support/process.rs"]
mod process;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "each suite uses a part of it")]
mod server;
#[path = "support/cluster.rs"]
#[expect(dead_code, reason = "each suite uses a part of it")]
mod support;

use chancery_core::compilation::Options;
use chancery_core::dialect::ambassador;
use chancery_live::sources::kube::{Kube, Settings as Which};
use chancery_tests::port::free;
use process::{Load, echo, envoy, get, start_envoy};
use serde_json::{Value, json};
use server::{HOST, RunningEnvoy, RunningServer, has_traffic, listener, mapping, until};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::{Cluster, Relay, crd};

/// Deterministic random numbers.
struct Chance(u64);

impl Chance {
    fn new() -> Self {
        Self(number("CHANCERY_SEED", 7))
    }

    /// Returns a number below the limit.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Whether the test must continue. Every accident occurs at least once.
fn continues(begin: Instant, round: u64, accidents: u64) -> bool {
    round < accidents || begin.elapsed() < Duration::from_secs(number("CHANCERY_CHAOS_SECONDS", 60))
}

/// Chooses the accident of a round. Each occurs once before chance decides.
fn accident(chance: &mut Chance, round: u64, accidents: u64) -> u64 {
    let usual = if round < accidents { round } else { chance.below(accidents) };
    number("CHANCERY_CHAOS_ONLY", usual)
}

/// Waits until the Envoy rewrites `/edited/` to this path.
async fn has_edit(port: u16, rewrite: &str) {
    until(&format!("the edit {rewrite} arrives"), async || get(port, "/edited/x").await.filter(|path| path.starts_with(rewrite)).map(drop)).await;
}

fn edited(rewrite: &str, upstream: u16) -> String {
    format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: edited, namespace: default}}\n\
         spec: {{hostname: '*', prefix: /edited/, rewrite: {rewrite}, service: 'http://127.0.0.1:{upstream}'}}\n"
    )
}

/// An Envoy with its folder, its load and the number of requests so far.
struct Edge {
    envoy: String,
    folder: PathBuf,
    xds: u16,
    port: u16,
    running: Option<RunningEnvoy>,
    load: Option<Load>,
    requests: usize,
}

impl Edge {
    fn new(envoy: String, folder: &Path, xds: u16, port: u16) -> Self {
        Self { envoy, folder: folder.to_owned(), xds, port, running: None, load: None, requests: 0 }
    }

    /// Starts an Envoy without earlier state, waits until it serves, and starts the load.
    async fn start(&mut self) {
        self.running = Some(RunningEnvoy(start_envoy(&self.envoy, &self.folder, format!("127.0.0.1:{}", self.xds), true, None)));
        has_traffic(self.port).await;
        self.load = Some(Load::start(self.port, "/stay/x"));
    }

    /// Ends the load, which must have lost nothing, and kills the Envoy.
    async fn kill(&mut self) {
        if let Some(load) = self.load.take() {
            self.requests += load.none_lost().await;
        }
        self.running = None;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folder_accidents_lose_no_request() {
    const ACCIDENTS: u64 = 8;
    let Some(envoy) = envoy() else { return };
    let mut chance = Chance::new();
    let (root, state) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (xds, port, upstream) = (free(), free(), echo().await);
    let (folder, elsewhere) = (root.path().join("gateway"), root.path().join("elsewhere"));
    fs::create_dir(&folder).expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a file");
    let write_all = |rewrite: &str| {
        write("host.yaml", HOST);
        write("listener.yaml", &listener(port));
        write("stay.yaml", &mapping(upstream));
        write("edited.yaml", &edited(rewrite, upstream));
    };
    write_all("/r0/");
    let start = || RunningServer::start(&folder, Some(state.path()), xds, Options::of(&ambassador::DIALECT));
    let mut server = start();
    let mut edge = Edge::new(envoy, root.path(), xds, port);
    edge.start().await;
    let (begin, mut round) = (Instant::now(), 0);
    while continues(begin, round, ACCIDENTS) {
        let accident = accident(&mut chance, round, ACCIDENTS);
        let file = ["host.yaml", "listener.yaml", "stay.yaml", "edited.yaml"][usize::try_from(chance.below(4)).expect("a small number")];
        let pause = Duration::from_millis(chance.below(2_500));
        println!("round {round}: accident {accident} with {file}");
        match accident {
            0 => {}
            1 => {
                let text = fs::read_to_string(folder.join(file)).expect("a file");
                write(file, &text.replace("spec:", "\tspec:"));
            }
            2 => write(file, ""),
            3 => {
                // A cut inside braces is broken YAML. The listener has no braces around its fields: half of it would be a valid edit.
                let file = if file == "listener.yaml" { "stay.yaml" } else { file };
                let text = fs::read_to_string(folder.join(file)).expect("a file");
                write(file, &text[..text.len() - 5]);
            }
            4 => fs::read_dir(&folder).expect("a folder").flatten().for_each(|entry| fs::remove_file(entry.path()).expect("a file")),
            5 => fs::rename(&folder, &elsewhere).expect("a rename"),
            6 => {
                // A restart with a broken file.
                write(file, ":\n\t- broken");
                server.stop().await;
                server = start();
            }
            _ => {
                edge.kill().await;
                edge.start().await;
            }
        }
        tokio::time::sleep(pause).await;
        if accident == 5 {
            if chance.below(2) == 0 {
                server.stop().await;
                server = start();
            }
            tokio::time::sleep(pause).await;
            fs::rename(&elsewhere, &folder).expect("a rename");
        }
        round += 1;
        let rewrite = format!("/r{round}/");
        write_all(&rewrite);
        has_edit(port, &rewrite).await;
        server.is_well().await;
    }
    edge.kill().await;
    println!("{round} accidents, {} requests, none lost", edge.requests);
    server.stop().await;
}

const GROUP: &str = "getambassador.io";

fn object(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("{GROUP}/v3alpha1"), "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_accidents_lose_no_request() {
    const ACCIDENTS: u64 = 6;
    let Some(envoy) = envoy() else { return };
    let Some(mut cluster) = Cluster::start().await else { return };
    let mut chance = Chance::new();
    let (xds, port, upstream) = (free(), free(), echo().await);
    for (kind, plural) in [("Mapping", "mappings"), ("Host", "hosts"), ("Listener", "listeners")] {
        cluster.apply_value(&crd(GROUP, "v3alpha1", kind, plural)).await;
    }
    let service = format!("http://127.0.0.1:{upstream}");
    let route = |name: &str, rewrite: &str| {
        object("Mapping", name, &json!({"hostname": "*", "prefix": format!("/{name}/"), "rewrite": rewrite, "service": service}))
    };
    cluster.apply_value(&object("Host", "h", &json!({"hostname": "*", "requestPolicy": {"insecure": {"action": "Route"}}}))).await;
    let binding = json!({"namespace": {"from": "ALL"}});
    cluster
        .apply_value(&object("Listener", "http", &json!({"port": port, "protocol": "HTTP", "securityModel": "XFP", "hostBinding": binding})))
        .await;
    cluster.apply_value(&route("stay", "/stay/")).await;
    cluster.apply_value(&route("edited", "/r0/")).await;
    let relay = Relay::start(cluster.address()).await;
    let kubeconfig = cluster.kubeconfig_by("relayed", relay.port);
    let start = || {
        let which = Which { kubeconfig: Some(kubeconfig.clone()), dialect: Some("ambassador".into()), ..Which::default() };
        RunningServer::with_source(Box::new(Kube::new(which)), xds, Options::of(&ambassador::DIALECT))
    };
    let mut server = start();
    let logs = tempfile::tempdir().expect("a folder");
    let mut edge = Edge::new(envoy, logs.path(), xds, port);
    edge.start().await;
    let (begin, mut round) = (Instant::now(), 0);
    while continues(begin, round, ACCIDENTS) {
        let accident = accident(&mut chance, round, ACCIDENTS);
        let pause = Duration::from_millis(chance.below(6_000));
        println!("round {round}: accident {accident}");
        match accident {
            0 => {}
            1 => relay.cut(true),
            2 => cluster.kill(),
            3 => {
                // The API server is down while our server restarts.
                cluster.kill();
                server.stop().await;
                server = start();
            }
            4 => {
                // A new Envoy gets the last configuration without the API server.
                relay.cut(true);
                edge.kill().await;
                edge.start().await;
            }
            _ => {
                server.stop().await;
                server = start();
            }
        }
        tokio::time::sleep(pause).await;
        relay.cut(false);
        if accident == 2 || accident == 3 {
            cluster.begin();
            cluster.ready().await;
        }
        round += 1;
        let rewrite = format!("/r{round}/");
        cluster.apply_value(&route("edited", &rewrite)).await;
        has_edit(port, &rewrite).await;
        server.is_well().await;
    }
    edge.kill().await;
    println!("{round} accidents, {} requests, none lost", edge.requests);
    server.stop().await;
}
