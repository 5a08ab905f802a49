//! Starts real Consul servers, built from Go modules on first use, and an xDS client that requests resources from Consul
//! and from us.
//!
//! The binary is kept below the target folder, under a hash of its sources. Does not contain tests; see `consul_agent`.

use chancery_envoy_api::json::{Style, to_string_with};
use chancery_envoy_api::registry;
use chancery_tests::port::free;
use envoy_types::pb::envoy::config::core::v3::Node;
use envoy_types::pb::envoy::service::discovery::v3::aggregated_discovery_service_client::AggregatedDiscoveryServiceClient;
use envoy_types::pb::envoy::service::discovery::v3::{DeltaDiscoveryRequest, DeltaDiscoveryResponse};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::Endpoint;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/consul");

/// Returns the binary, or `None` without Go.
fn binary() -> Option<PathBuf> {
    // Concurrent tests wait for the test that builds it.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let go = Command::new("go").arg("version").output().ok().filter(|output| output.status.success());
    let Some(go) = go else {
        assert!(std::env::var_os("CI").is_none(), "there is no Go, and this is CI: the tests on a real Consul agent must run");
        eprintln!("\n*** SKIPPED: the tests on a real Consul agent, as there is no Go to build it with ***\n");
        return None;
    };
    let mut what = go.stdout;
    for name in ["go.mod", "go.sum", "build"] {
        what.extend(fs::read(Path::new(SOURCE).join(name)).expect("the sources of the agent"));
    }
    let key = chancery_core::backend::envoy::v3::Fingerprint::of(&[&what]);
    let target = std::env::var_os("CHANCERY_CONSUL").map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).to_path_buf(), PathBuf::from);
    let binary = target.join(format!("consul-{key}"));
    if !binary.is_file() {
        eprintln!("building a Consul agent of Go modules: minutes, the first time");
        let part = target.join(format!("consul-{key}.{}", std::process::id()));
        let status = Command::new(Path::new(SOURCE).join("build")).arg(&part).status().expect("a shell");
        assert!(status.success(), "the Consul agent could not be built");
        fs::rename(&part, &binary).expect("a rename");
    }
    Some(binary)
}

/// A server's ports and process.
struct Server {
    http: u16,
    https: u16,
    grpc: u16,
    grpc_tls: u16,
    rpc: u16,
    gossip: u16,
    /// The port for gossip with other datacenters.
    wide: u16,
    process: Option<Child>,
}

/// The servers of one datacenter.
pub struct Servers {
    binary: PathBuf,
    folder: tempfile::TempDir,
    datacenter: &'static str,
    all: Vec<Server>,
    /// The gossip ports of the other datacenter's servers. Without another datacenter, the list is empty.
    others: Vec<u16>,
    /// Additional configuration in HCL.
    more: String,
    /// The token for writes.
    token: &'static str,
}

impl Drop for Servers {
    fn drop(&mut self) {
        (0..self.all.len()).for_each(|number| self.kill(number));
    }
}

impl Servers {
    /// Starts three servers. Returns `None` without Go.
    pub async fn start() -> Option<Self> {
        Self::start_with(String::new(), "").await
    }

    /// Starts three servers with additional configuration, in which `HTTPS` is replaced by a port of each server. Writes
    /// use this token.
    pub async fn start_with(more: String, token: &'static str) -> Option<Self> {
        let mut out = Self::of("east", 3, more, token)?;
        out.begin_all().await;
        Some(out)
    }

    /// Starts one server.
    pub async fn alone() -> Option<Self> {
        let mut out = Self::of("east", 1, String::new(), "")?;
        out.begin_all().await;
        Some(out)
    }

    /// Starts one server in each of two datacenters that know each other. The first datacenter is the primary.
    pub async fn federated() -> Option<[Self; 2]> {
        let primary = "primary_datacenter = \"east\"".to_owned();
        let mut both = [Self::of("east", 1, primary.clone(), "")?, Self::of("west", 1, primary, "")?];
        let wide = both.each_ref().map(|of| of.all.iter().map(|server| server.wide).collect::<Vec<_>>());
        for (of, others) in both.iter_mut().zip(wide.into_iter().rev()) {
            of.others = others;
            of.begin_all().await;
        }
        Some(both)
    }

    fn of(datacenter: &'static str, count: usize, more: String, token: &'static str) -> Option<Self> {
        let binary = binary()?;
        let server =
            |_| Server { http: free(), https: free(), grpc: free(), grpc_tls: free(), rpc: free(), gossip: free(), wide: free(), process: None };
        let folder = tempfile::tempdir().expect("a folder");
        Some(Self { binary, folder, datacenter, all: (0..count).map(server).collect(), others: Vec::new(), more, token })
    }

    async fn begin_all(&mut self) {
        (0..self.all.len()).for_each(|number| self.begin(number));
        self.ready().await;
    }

    /// Starts one of the servers, with its earlier data.
    pub fn begin(&mut self, number: usize) {
        let ours = &self.all[number];
        let log = fs::File::options().create(true).append(true).open(self.folder.path().join(format!("{number}.log"))).expect("a file");
        let mut command = Command::new(&self.binary);
        command.args(["agent", "-server", "-datacenter", self.datacenter, "-node", &format!("{}-{number}", self.datacenter)]);
        command.args(["-bootstrap-expect", &self.all.len().to_string()]);
        command.args(["-bind", "127.0.0.1", "-client", "127.0.0.1", "-dns-port", "-1"]);
        command.args(["-serf-wan-port", &if self.others.is_empty() { "-1".to_owned() } else { ours.wide.to_string() }]);
        for (flag, port) in [
            ("-http-port", ours.http),
            ("-grpc-port", ours.grpc),
            ("-grpc-tls-port", ours.grpc_tls),
            ("-server-port", ours.rpc),
            ("-serf-lan-port", ours.gossip),
        ] {
            command.args([flag, &port.to_string()]);
        }
        command.arg("-data-dir").arg(self.folder.path().join(format!("data-{number}")));
        command.args(["-hcl", "connect { enabled = true }  performance { raft_multiplier = 1 }  leave_on_terminate = false"]);
        if !self.more.is_empty() {
            command.args(["-hcl", &self.more.replace("HTTPS", &ours.https.to_string())]);
        }
        for other in self.all.iter().map(|server| server.gossip).filter(|gossip| *gossip != ours.gossip) {
            command.args(["-retry-join", &format!("127.0.0.1:{other}"), "-retry-interval", "1s"]);
        }
        for other in &self.others {
            command.args(["-retry-join-wan", &format!("127.0.0.1:{other}"), "-retry-interval-wan", "1s"]);
        }
        let process = command.stdout(log).stderr(Stdio::null()).spawn().expect("consul");
        self.all[number].process = Some(process);
    }

    /// Kills a server, like a crash.
    pub fn kill(&mut self, number: usize) {
        if let Some(mut process) = self.all[number].process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Waits until every server knows the leader.
    pub async fn ready(&self) {
        let begin = Instant::now();
        for number in 0..self.all.len() {
            while !self.request(number, "GET", "/v1/status/leader", "").await.is_some_and(|answer| answer.contains("127.0.0.1")) {
                let log = fs::read_to_string(self.folder.path().join(format!("{number}.log"))).unwrap_or_default();
                assert!(begin.elapsed() < Duration::from_secs(60), "there is no leader:\n{log}");
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    }

    /// Returns the HTTP address of a server.
    pub fn http(&self, number: usize) -> String {
        format!("127.0.0.1:{}", self.all[number].http)
    }

    /// Returns the HTTPS address of a server.
    pub fn https(&self, number: usize) -> String {
        format!("https://127.0.0.1:{}", self.all[number].https)
    }

    /// Returns the xDS address of a server.
    pub fn grpc(&self, number: usize) -> String {
        format!("127.0.0.1:{}", self.all[number].grpc)
    }

    /// Writes a value, and repeats the request until a server accepts it.
    pub async fn put(&self, number: usize, path: &str, body: &Value) {
        self.write(number, "PUT", path, body).await;
    }

    /// Sends a creating request, and repeats it until it succeeds.
    pub async fn post(&self, number: usize, path: &str, body: &Value) {
        self.write(number, "POST", path, body).await;
    }

    async fn write(&self, number: usize, method: &str, path: &str, body: &Value) {
        let begin = Instant::now();
        loop {
            let answer = self.request(number, method, path, &body.to_string()).await;
            if answer.as_ref().is_some_and(|answer| answer.starts_with("HTTP/1.0 200")) {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "{path} is not taken: {answer:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Returns why the server refuses a config entry, or `None` if it accepts the entry.
    pub async fn refusal(&self, entry: &str) -> Option<String> {
        let answer = self.request(0, "PUT", "/v1/config", entry).await.expect("a server");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        (!head.starts_with("HTTP/1.0 200")).then(|| body.trim_end().to_owned())
    }

    /// Returns the body of a server's answer. It is empty if the server does not run.
    pub async fn get(&self, number: usize, path: &str) -> Value {
        let answer = self.request(number, "GET", path, "").await.unwrap_or_default();
        answer.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok()).unwrap_or_default()
    }

    /// Returns a whole answer, or `None` if the server does not run.
    async fn request(&self, number: usize, method: &str, path: &str, body: &str) -> Option<String> {
        let mut stream = tokio::net::TcpStream::connect(self.http(number)).await.ok()?;
        let token = if self.token.is_empty() { String::new() } else { format!("X-Consul-Token: {}\r\n", self.token) };
        // HTTP/1.0 has no chunks.
        let head = format!("{method} {path} HTTP/1.0\r\nHost: consul\r\n{token}Content-Length: {}\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        Some(answer)
    }
}

const CLUSTER: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const LISTENER: &str = "type.googleapis.com/envoy.config.listener.v3.Listener";
const ENDPOINTS: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const ROUTES: &str = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
const SECRET: &str = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
/// After this long without a response, none will come.
const QUIET: Duration = Duration::from_millis(700);

/// A client of delta xDS, on one aggregated stream.
pub struct Ads {
    send: mpsc::Sender<DeltaDiscoveryRequest>,
    stream: Streaming<DeltaDiscoveryResponse>,
    /// Resources by type and name, as JSON.
    known: BTreeMap<String, BTreeMap<String, Value>>,
}

impl Ads {
    async fn open(address: &str, proxy: &str) -> Option<Self> {
        let channel = Endpoint::from_shared(format!("http://{address}")).ok()?.connect().await.ok()?;
        let (send, requests) = mpsc::channel(64);
        let mut client = AggregatedDiscoveryServiceClient::new(channel);
        let stream = client.delta_aggregated_resources(ReceiverStream::new(requests));
        // A server answers only after a request.
        let node = Node { id: proxy.into(), user_agent_name: "envoy".into(), ..Default::default() };
        let first = DeltaDiscoveryRequest { node: Some(node), type_url: CLUSTER.into(), ..Default::default() };
        send.send(first).await.ok()?;
        let stream = stream.await.ok()?.into_inner();
        Some(Self { send, stream, known: BTreeMap::new() })
    }

    /// Returns all resources of a proxy without certificates, or `None` if the proxy gets none.
    pub async fn ask(address: &str, proxy: &str) -> Option<Value> {
        let mut ads = Self::open(address, proxy).await?;
        ads.subscribe(LISTENER, &[]).await?;
        ads.settle().await;
        let found = |ads: &Self, key: &str| {
            let mut names = BTreeSet::new();
            ads.known.values().flat_map(BTreeMap::values).for_each(|of| collect(of, key, &mut names));
            names
        };
        let clusters = ads.known.get(CLUSTER).into_iter().flatten();
        let by_eds = clusters
            .filter(|(_, of)| of["type"] == "EDS")
            .map(|(name, of)| of["eds_cluster_config"]["service_name"].as_str().unwrap_or(name).to_owned());
        let (endpoints, routes) = (by_eds.collect::<BTreeSet<String>>(), found(&ads, "route_config_name"));
        for (url, names) in [(ENDPOINTS, endpoints), (ROUTES, routes)] {
            if !names.is_empty() {
                ads.subscribe(url, &names.iter().map(String::as_str).collect::<Vec<_>>()).await?;
            }
        }
        ads.settle().await;
        ads.known.remove(SECRET);
        let mut out: Map<String, Value> = Map::new();
        for (url, resources) in ads.known {
            let resources = resources.into_iter().map(|(name, mut of)| {
                without_certificates(&mut of);
                (name, of)
            });
            out.insert(url, Value::Object(resources.collect()));
        }
        Some(Value::Object(out))
    }

    /// Returns secrets by name, as JSON with their content.
    pub async fn secrets(address: &str, proxy: &str, names: &[&str]) -> BTreeMap<String, String> {
        let Some(mut ads) = Self::open(address, proxy).await else { return BTreeMap::new() };
        if ads.subscribe(SECRET, names).await.is_none() {
            return BTreeMap::new();
        }
        ads.settle().await;
        ads.known.remove(SECRET).into_iter().flatten().map(|(name, of)| (name, of.to_string())).collect()
    }

    async fn subscribe(&mut self, type_url: &str, names: &[&str]) -> Option<()> {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let request = DeltaDiscoveryRequest { type_url: type_url.into(), resource_names_subscribe: names, ..Default::default() };
        self.send.send(request).await.ok()
    }

    /// Acknowledges responses until no more arrive.
    async fn settle(&mut self) {
        while let Ok(Ok(Some(got))) = tokio::time::timeout(QUIET, self.stream.message()).await {
            let known = self.known.entry(got.type_url.clone()).or_default();
            for name in &got.removed_resources {
                known.remove(name);
            }
            for resource in got.resources {
                let Some(any) = resource.resource else { continue };
                known.insert(resource.name, json(&any.type_url, &any.value));
            }
            let ack = DeltaDiscoveryRequest { type_url: got.type_url, response_nonce: got.nonce, ..Default::default() };
            if self.send.send(ack).await.is_err() {
                return;
            }
        }
        self.known.retain(|_, resources| !resources.is_empty());
    }
}

fn json(type_url: &str, value: &[u8]) -> Value {
    let name = type_url.rsplit('/').next().unwrap_or(type_url);
    let message = registry::decode(name, value).unwrap_or_else(|| panic!("{type_url} is not known"));
    let text = to_string_with(&message, &Style::COMPACT.resolver(registry::decode));
    serde_json::from_str(&text).expect("JSON")
}

fn collect(of: &Value, key: &str, names: &mut BTreeSet<String>) {
    match of {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| match value.as_str().filter(|_| name == key) {
            Some(text) => drop(names.insert(text.to_owned())),
            None => collect(value, key, names),
        }),
        Value::Array(items) => items.iter().for_each(|item| collect(item, key, names)),
        _ => {}
    }
}

/// Removes certificates, because the agent inlines them and we name them. Everything else must be equal. The order of
/// filters matters; the agent shuffles header modifiers.
fn without_certificates(of: &mut Value) {
    match of {
        Value::Object(fields) => {
            for field in ["tls_certificates", "tls_certificate_sds_secret_configs", "validation_context_sds_secret_config", "trusted_ca"] {
                fields.remove(field);
            }
            if let Some(Value::Object(both)) = fields.remove("combined_validation_context") {
                fields.insert(
                    "validation_context".into(),
                    both.get("default_validation_context").cloned().unwrap_or_else(|| Value::Object(Map::new())),
                );
            }
            fields.values_mut().for_each(without_certificates);
            if fields.get("validation_context").and_then(Value::as_object).is_some_and(Map::is_empty) {
                fields.remove("validation_context");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_certificates),
        _ => {}
    }
}
