//! Measures `chancery serve` under many streams: `bench_live CHANCERY OUT.md OUT.json [SCENARIO...]`.
//!
//! Runs the released program on a folder that this benchmark writes. This process contains the clients. Each client has its own connection and
//! aggregated delta stream, subscribes to all resources of its types, and acknowledges every response. An edit replaces a file. It has arrived at a
//! client when the client has read the response with the edit; the result of an edit is the time of its slowest clients. Server and clients share
//! the cores. `cargo xtask bench live` builds and runs it. Does not contain the server.

use envoy_types::pb::envoy::config::core::v3::Node;
use envoy_types::pb::envoy::service::discovery::v3::DeltaDiscoveryRequest;
use prost::Message;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::{Channel, Endpoint};

/// How long all clients may take to get everything, or an edit.
const LONGEST: Duration = Duration::from_secs(180);
/// Services with their own endpoints.
const SERVICES: usize = 10;
/// How often each edit is made.
const EDITS: usize = 7;

/// What is measured.
struct Scenario {
    name: &'static str,
    mappings: usize,
    streams: usize,
    types: &'static [&'static str],
    edits: &'static [Edit],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    Cluster,
    Endpoints,
    Route,
}

impl Edit {
    fn name(self) -> &'static str {
        match self {
            Edit::Cluster => "a cluster",
            Edit::Endpoints => "endpoints",
            Edit::Route => "a route",
        }
    }

    /// The type whose response carries it.
    fn carried_by(self) -> &'static str {
        match self {
            Edit::Cluster => CDS,
            Edit::Endpoints => EDS,
            Edit::Route => RDS,
        }
    }
}

const CDS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const EDS: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const LDS: &str = "type.googleapis.com/envoy.config.listener.v3.Listener";
const RDS: &str = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";

const SMALL: &[&str] = &[CDS, EDS];
const ALL: &[&str] = &[CDS, EDS, LDS, RDS];
const BOTH: &[Edit] = &[Edit::Cluster, Edit::Endpoints];

const SCENARIOS: &[Scenario] = &[
    Scenario { name: "100 streams", mappings: 10_000, streams: 100, types: SMALL, edits: BOTH },
    Scenario { name: "300 streams", mappings: 10_000, streams: 300, types: SMALL, edits: BOTH },
    Scenario { name: "1,000 streams", mappings: 10_000, streams: 1_000, types: SMALL, edits: BOTH },
    Scenario { name: "1,000 routes", mappings: 1_000, streams: 100, types: SMALL, edits: BOTH },
    Scenario { name: "50,000 routes", mappings: 50_000, streams: 100, types: SMALL, edits: BOTH },
    Scenario { name: "tables, 10 streams", mappings: 10_000, streams: 10, types: ALL, edits: &[Edit::Route] },
    Scenario { name: "tables, 1,000 streams", mappings: 100, streams: 1_000, types: ALL, edits: &[Edit::Route] },
];

fn main() {
    let mut args = std::env::args().skip(1);
    let (Some(program), Some(table), Some(figures)) = (args.next(), args.next(), args.next()) else {
        eprintln!("usage: bench_live CHANCERY OUT.md OUT.json [SCENARIO...]");
        std::process::exit(2);
    };
    let only: Vec<String> = args.collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let mut out = String::from(
        "| Mappings | streams | what each has | all join at once | edit of | at every client, median | p99 | edits a second | memory of the server | of that, by streams |\n|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|\n",
    );
    let mut all = Vec::new();
    for scenario in SCENARIOS.iter().filter(|scenario| only.is_empty() || only.iter().any(|name| name == scenario.name)) {
        eprintln!("{}", scenario.name);
        for figure in runtime.block_on(measure(Path::new(&program), scenario)) {
            let text = |key: &str| figure[key].as_f64().unwrap_or_default();
            let _ = writeln!(
                out,
                "| {} | {} | {:.1} MB | {:.1} s | {} | {:.0} ms | {:.0} ms | {:.1} | {:.0} MiB | {:.0} MiB |",
                scenario.mappings,
                scenario.streams,
                text("bytes") / 1e6,
                text("all_in_s"),
                figure["edit"].as_str().unwrap_or_default(),
                text("median_ms"),
                text("p99_ms"),
                text("edits_a_second"),
                text("peak_mib"),
                text("peak_mib") - text("alone_mib"),
            );
            all.push(figure);
        }
    }
    println!("{out}");
    std::fs::write(&table, out).expect("the table");
    std::fs::write(&figures, serde_json::to_string_pretty(&all).expect("JSON") + "\n").expect("the figures");
}

async fn measure(program: &Path, scenario: &Scenario) -> Vec<Value> {
    let folder = std::env::temp_dir().join(format!("chancery-bench-live-{}", std::process::id()));
    write_all(&folder, scenario.mappings);
    let (server, port) = Server::start(program, &folder);
    let (alone, started) = (server.memory("VmRSS"), server.cpu());
    let begin = Instant::now();
    let (told, mut heard) = mpsc::unbounded_channel();
    let bytes = Arc::new(AtomicUsize::new(0));
    for number in 0..scenario.streams {
        let channel = connect(port).await;
        tokio::spawn(client(channel, number, scenario.types, told.clone(), bytes.clone()));
    }
    // Everyone has everything when each has an answer of each type.
    let mut first: BTreeMap<(usize, &str), Instant> = BTreeMap::new();
    while first.len() < scenario.streams * scenario.types.len() {
        let heard = tokio::time::timeout(LONGEST, heard.recv()).await.expect("all clients are answered").expect("clients");
        first.insert((heard.client, heard.of), heard.at);
    }
    let (all_in, joined) = (begin.elapsed(), server.cpu());
    let each = bytes.load(SeqCst) as f64 / scenario.streams as f64;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut out = Vec::new();
    for edit in scenario.edits {
        let mut slowest = Vec::new();
        let mut took = Vec::new();
        server.builds();
        let before = server.cpu();
        for round in 0..EDITS {
            while heard.try_recv().is_ok() {}
            let begin = Instant::now();
            write_edit(&folder, *edit, round);
            let mut arrived: BTreeMap<usize, Duration> = BTreeMap::new();
            while arrived.len() < scenario.streams {
                let heard = tokio::time::timeout(LONGEST, heard.recv()).await.expect("the edit arrives").expect("clients");
                if heard.of == edit.carried_by() {
                    arrived.entry(heard.client).or_insert(heard.at.saturating_duration_since(begin));
                }
            }
            took.push(begin.elapsed());
            // The first round warms what is remembered.
            if round > 0 {
                slowest.extend(arrived.into_values());
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        let deliveries = (scenario.streams * EDITS) as f64;
        let cpu = server.cpu() - before;
        let builds = server.builds();
        let build_ms = builds.iter().sum::<f64>() / builds.len().max(1) as f64;
        slowest.sort();
        took.sort();
        let at = |share: f64| slowest[((slowest.len() - 1) as f64 * share).round() as usize].as_secs_f64() * 1000.0;
        out.push(json!({
            "scenario": scenario.name, "mappings": scenario.mappings, "streams": scenario.streams, "edit": edit.name(), "bytes": each,
            "all_in_s": all_in.as_secs_f64(), "median_ms": at(0.5), "p99_ms": at(0.99), "edits_a_second": 1.0 / took[took.len() / 2].as_secs_f64(),
            "alone_mib": alone, "peak_mib": server.memory("VmHWM"), "now_mib": server.memory("VmRSS"),
            "build_ms": build_ms, "cpu_ms_an_edit": cpu * 1000.0 / EDITS as f64,
            "cpu_ms_a_delivery": (cpu * 1000.0 - builds.iter().sum::<f64>()).max(0.0) / deliveries,
            "cpu_ms_a_join": (joined - started) * 1000.0 / scenario.streams as f64,
        }));
        eprintln!("  {}", out[out.len() - 1]);
    }
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
    out
}

/// What a client heard.
struct Heard {
    client: usize,
    of: &'static str,
    at: Instant,
}

/// A response; the contents of its resources are not read.
#[derive(Clone, PartialEq, Message)]
struct Light {
    #[prost(string, tag = "4")]
    type_url: String,
    #[prost(string, tag = "5")]
    nonce: String,
}

/// Writes requests, and reads responses with their sizes.
struct Sizes;

impl Codec for Sizes {
    type Encode = DeltaDiscoveryRequest;
    type Decode = (Light, usize);
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Sizes {
    type Item = DeltaDiscoveryRequest;
    type Error = Status;

    fn encode(&mut self, item: Self::Item, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(to).map_err(|error| Status::internal(error.to_string()))
    }
}

impl Decoder for Sizes {
    type Item = (Light, usize);
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Self::Item>, Status> {
        let size = prost::bytes::Buf::remaining(from);
        Light::decode(from).map(|light| Some((light, size))).map_err(|error| Status::internal(error.to_string()))
    }
}

async fn connect(port: u16) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://127.0.0.1:{port}")).expect("an address");
    endpoint.initial_connection_window_size(1 << 20).initial_stream_window_size(1 << 20).connect().await.expect("the server")
}

async fn client(channel: Channel, number: usize, types: &'static [&'static str], told: mpsc::UnboundedSender<Heard>, bytes: Arc<AtomicUsize>) {
    let (send, requests) = mpsc::channel(16);
    let ask = |node: Option<Node>, type_url: &str| DeltaDiscoveryRequest {
        node,
        type_url: type_url.into(),
        resource_names_subscribe: vec!["*".into()],
        ..Default::default()
    };
    for (at, url) in types.iter().enumerate() {
        let node = (at == 0).then(|| Node { id: format!("envoy-{number:05}"), ..Default::default() });
        send.send(ask(node, url)).await.expect("an open stream");
    }
    let mut grpc = tonic::client::Grpc::new(channel).max_decoding_message_size(1 << 30);
    grpc.ready().await.expect("a connection");
    let path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources".parse().expect("a path");
    let answer = grpc.streaming(tonic::Request::new(ReceiverStream::new(requests)), path, Sizes).await.expect("a stream");
    let mut answer = answer.into_inner();
    while let Ok(Some((response, size))) = answer.message().await {
        let at = Instant::now();
        bytes.fetch_add(size, SeqCst);
        let Some(of) = types.iter().find(|url| **url == response.type_url) else { continue };
        let _ = told.send(Heard { client: number, of, at });
        let accept = DeltaDiscoveryRequest { type_url: response.type_url, response_nonce: response.nonce, ..Default::default() };
        if send.send(accept).await.is_err() {
            return;
        }
    }
}

/// The server, in a separate process.
struct Server {
    process: Child,
    /// How long builds took, in milliseconds.
    builds: Arc<Mutex<Vec<f64>>>,
}

impl Server {
    fn start(program: &Path, folder: &Path) -> (Self, u16) {
        let mut command = Command::new(program);
        command.arg("serve").arg(folder).args(["--dialect", "ambassador", "--spacing", "0", "--format", "json", "--xds", "127.0.0.1:0"]);
        command.args(["--diagnostics", "off", "--snapshots", "off", "--public-snapshots", "off", "--ready", "off", "--log-level", "warn"]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let mut port = 0;
        let mut event = || serde_json::from_str::<Value>(&lines.next().expect("an event").expect("text")).expect("JSON");
        loop {
            let event = event();
            if event["event"] == "listening" {
                port = event["address"].as_str().and_then(|address| address.rsplit(':').next()?.parse().ok()).expect("a port");
            }
            if event["event"] == "build" {
                assert_eq!(event["errors"], 0, "{event}");
                break;
            }
        }
        // What it says is read, so that it never waits.
        let builds: Arc<Mutex<Vec<f64>>> = Arc::default();
        let noted = builds.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok).filter(|line| line.contains("\"build\"")) {
                let took = serde_json::from_str::<Value>(&line).ok().and_then(|event| event["took_ms"].as_f64());
                noted.lock().expect("a lock").extend(took);
            }
        });
        (Self { process: child, builds }, port)
    }

    /// How long the builds took since it was asked last.
    fn builds(&self) -> Vec<f64> {
        std::mem::take(&mut *self.builds.lock().expect("a lock"))
    }

    /// A figure of `/proc/PID/status`, in MiB.
    fn memory(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or_default() / 1024.0
    }

    /// How long it has computed, in seconds.
    fn cpu(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
        (ticks(11) + ticks(12)) / 100.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const KIND: &str = "apiVersion: getambassador.io/v3alpha1\nkind:";

fn write_all(folder: &Path, mappings: usize) {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).expect("a folder");
    let mut base = String::new();
    for (name, port) in [("http", 8080), ("more", 8081), ("most", 8082)] {
        let _ = writeln!(
            base,
            "---\n{KIND} Listener\nmetadata: {{name: {name}}}\nspec: {{port: {port}, protocol: HTTP, securityModel: XFP, hostBinding: {{namespace: {{from: ALL}}}}}}"
        );
    }
    let _ = writeln!(base, "---\n{KIND} Host\nmetadata: {{name: h}}\nspec: {{hostname: '*', requestPolicy: {{insecure: {{action: Route}}}}}}");
    let _ = writeln!(base, "---\n{KIND} KubernetesEndpointResolver\nmetadata: {{name: endpoint}}\nspec: {{}}");
    for service in 0..SERVICES {
        let _ = writeln!(
            base,
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: pods-{service}}}\nspec: {{ports: [{{port: 80, targetPort: 8080}}]}}"
        );
        let _ = writeln!(
            base,
            "---\n{KIND} Mapping\nmetadata: {{name: pods-{service}}}\nspec: {{hostname: '*', prefix: /pods-{service}/, service: pods-{service}, resolver: endpoint, load_balancer: {{policy: round_robin}}}}"
        );
    }
    put(folder, "base.yaml", &base);
    write_edit(folder, Edit::Endpoints, EDITS);
    write_edit(folder, Edit::Cluster, EDITS);
    write_edit(folder, Edit::Route, EDITS);
    let mut text = String::new();
    for number in 0..mappings {
        let _ =
            writeln!(text, "---\n{KIND} Mapping\nmetadata: {{name: m-{number}}}\nspec: {{hostname: '*', prefix: /m-{number}/, service: s-{number}}}");
        if number % 500 == 499 || number + 1 == mappings {
            put(folder, &format!("m-{number}.yaml"), &text);
            text.clear();
        }
    }
}

fn write_edit(folder: &Path, edit: Edit, round: usize) {
    match edit {
        Edit::Cluster => {
            let spec = format!("{{hostname: '*', prefix: /edited/, service: edited, connect_timeout_ms: {}}}", 1000 + round);
            put(folder, "cluster.yaml", &format!("{KIND} Mapping\nmetadata: {{name: edited}}\nspec: {spec}\n"));
        }
        Edit::Route => {
            let spec = format!("{{hostname: '*', prefix: /timed/, service: timed, timeout_ms: {}}}", 1000 + round);
            put(folder, "route.yaml", &format!("{KIND} Mapping\nmetadata: {{name: timed}}\nspec: {spec}\n"));
        }
        Edit::Endpoints => {
            let mut text = String::new();
            for service in 0..SERVICES {
                let last = if service == 0 { round + 10 } else { 1 };
                let _ = writeln!(
                    text,
                    "---\napiVersion: v1\nkind: Endpoints\nmetadata: {{name: pods-{service}}}\nsubsets: [{{addresses: [{{ip: 10.0.{service}.2}}, {{ip: 10.0.{service}.{last}}}], ports: [{{port: 8080}}]}}]"
                );
            }
            put(folder, "endpoints.yaml", &text);
        }
    }
}

fn put(folder: &Path, name: &str, text: &str) {
    let part: PathBuf = folder.join(format!(".{name}"));
    std::fs::write(&part, text).expect("a file");
    std::fs::rename(part, folder.join(name)).expect("a rename");
}
