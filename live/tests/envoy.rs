//! Tests a real Envoy as the client. It follows edits without losing a request. Its rejections are reported with the
//! lines that made the resource, while everything else keeps working.

#[path = "support/authority.rs"]
mod authority;
#[path = "support/process.rs"]
mod process;

use authority::Authority;
use axum::Router;
use chancery_core::compilation::Options;
use chancery_core::dialect::ambassador;
use chancery_live::address::Address;
use chancery_live::engine::Settings;
use chancery_live::event::{EnvoyState, Event, Events};
use chancery_live::serve::{Servers, serve};
use chancery_live::sources::folder::{Folder, Reading};
use chancery_live::sources::stream::Stream;
use chancery_live::xds::tls::Files;
use chancery_tests::port::free;
use process::{Load, Shown, echo, envoy, get, start_envoy};
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

fn put(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(format!(".{name}")), text).expect("a file");
    fs::rename(folder.join(format!(".{name}")), folder.join(name)).expect("a rename");
}

fn listener(name: &str, port: u16) -> String {
    format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {{name: {name}, namespace: default}}\n\
         spec: {{port: {port}, protocol: HTTP, securityModel: XFP, hostBinding: {{namespace: {{from: ALL}}}}}}\n"
    )
}

const HOST: &str = "apiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {name: h, namespace: default}\n\
                    spec: {hostname: '*', requestPolicy: {insecure: {action: Route}}}\n";

fn mapping(name: &str, rewrite: &str, upstream: u16) -> String {
    format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}, namespace: default}}\n\
         spec: {{hostname: '*', prefix: /{name}/, rewrite: {rewrite}, service: 'http://127.0.0.1:{upstream}'}}\n"
    )
}

/// The settings of a server and its Envoy.
#[derive(Clone, Default)]
struct Setup {
    /// Whether Envoy uses the delta protocol.
    delta: bool,
    /// The files for TLS, if the server uses it: `server.crt`, `server.key` and `clients.crt` of the server, and the
    /// Envoy's files.
    tls: Option<(PathBuf, Shown)>,
}

impl Setup {
    fn files(&self) -> Option<&Path> {
        self.tls.as_ref().map(|(files, _)| files.as_path())
    }
}

struct Scenario {
    folder: tempfile::TempDir,
    events: Events,
    setup: Setup,
    xds: u16,
    port: u16,
    upstream: u16,
    envoy: Child,
    end: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Drop for Scenario {
    fn drop(&mut self) {
        let _ = self.envoy.kill();
        let _ = self.envoy.wait();
        self.end.take();
    }
}

/// Starts a server on a folder.
fn start_server(folder: &Path, xds: u16, tls: Option<&Path>, events: &Events) -> (oneshot::Sender<()>, JoinHandle<()>) {
    let files =
        |folder: &Path| Files { certificate: folder.join("server.crt"), key: folder.join("server.key"), client_ca: Some(folder.join("clients.crt")) };
    let servers = Servers {
        xds: Address::At(format!("127.0.0.1:{xds}")),
        diagnostics: Address::Off,
        snapshots: Address::Off,
        public_snapshots: Address::Off,
        ready: Address::Off,
        tls: tls.map(files),
        with_secrets: false,
        token: None,
        ttl: None,
        replicas: Vec::new(),
        proxies: None,
        canary: true,
        page: None,
        admission: None,
    };
    let settings = Settings { options: Options::of(&ambassador::DIALECT), spacing: Duration::ZERO, recorder: None, events: events.clone() };
    let source = Box::new(Folder::new(folder.to_owned(), Reading::default()));
    let (end, ended) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let ended = async { drop(ended.await) };
        serve(settings, vec![source], &servers, None, None, ended).await.expect("it serves");
    });
    (end, task)
}

impl Scenario {
    async fn start(envoy: &str, setup: Setup) -> Self {
        let out = Self::begin(envoy, setup).await;
        let begin = Instant::now();
        while get(out.port, "/stay/x").await.is_none() {
            let log = || fs::read_to_string(out.folder.path().join(".envoy.log")).unwrap_or_default();
            assert!(begin.elapsed() < Duration::from_secs(60), "no traffic: {}", log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        out
    }

    /// Starts both, and does not wait for traffic.
    async fn begin(envoy: &str, setup: Setup) -> Self {
        let upstream = echo().await;
        let folder = tempfile::tempdir().expect("a folder");
        let (xds, port, events) = (free(), free(), Events::default());
        put(folder.path(), "listener.yaml", &listener("http", port));
        put(folder.path(), "host.yaml", HOST);
        put(folder.path(), "stay.yaml", &mapping("stay", "/stay/", upstream));
        put(folder.path(), "move.yaml", &mapping("move", "/v0/", upstream));
        let end = Some(start_server(folder.path(), xds, setup.files(), &events));
        until("it listens", || events.timeline().iter().any(|dated| matches!(dated.event, Event::Listening { .. })).then_some(())).await;
        let shown = setup.tls.as_ref().map(|(_, shown)| shown);
        let envoy = start_envoy(envoy, folder.path(), format!("127.0.0.1:{xds}"), setup.delta, shown);
        Self { folder, events, setup, xds, port, upstream, envoy, end }
    }

    /// Ends the server, and starts another server after a while.
    async fn restart(&mut self, after: Duration) {
        if let Some((end, task)) = self.end.take() {
            let _ = end.send(());
            task.await.expect("it ends");
        }
        tokio::time::sleep(after).await;
        self.end = Some(start_server(self.folder.path(), self.xds, self.setup.files(), &self.events));
    }

    /// Returns how often an Envoy left.
    fn left(&self) -> usize {
        self.events.timeline().iter().filter(|dated| matches!(dated.event, Event::Envoy { state: EnvoyState::Gone, .. })).count()
    }

    async fn moved_to(&self, target: &str) -> Duration {
        put(self.folder.path(), "move.yaml", &mapping("move", target, self.upstream));
        let begin = Instant::now();
        while !get(self.port, "/move/x").await.is_some_and(|path| path.starts_with(target)) {
            assert!(begin.elapsed() < Duration::from_secs(15), "the edit to {target} does not arrive");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        begin.elapsed()
    }
}

async fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < Duration::from_secs(30), "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn edits_arrive_and_no_request_is_lost(envoy: &str, delta: bool, edits: usize) {
    let scenario = Scenario::start(envoy, Setup { delta, ..Setup::default() }).await;
    let load = Load::start(scenario.port, "/stay/x");
    let mut took = Vec::new();
    for edit in 1..=edits {
        took.push(scenario.moved_to(&format!("/v{edit}/")).await);
    }
    // Clusters come and go: a Mapping changes its service, and changes it back.
    for round in 0..5 {
        put(scenario.folder.path(), "other.yaml", &mapping("other", &format!("/o{round}/"), scenario.upstream).replace("127.0.0.1", "localhost"));
        let begin = Instant::now();
        while get(scenario.port, "/other/x").await.is_none() {
            assert!(begin.elapsed() < Duration::from_secs(15), "a new cluster does not arrive");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        fs::remove_file(scenario.folder.path().join("other.yaml")).expect("a file");
        scenario.moved_to(&format!("/r{round}/")).await;
    }
    let asked = load.none_lost().await;
    took.sort();
    let variant = if delta { "delta" } else { "sotw" };
    eprintln!("{variant}: {edits} edits, median {:?}, longest {:?}; {asked} requests", took[edits / 2], took[edits - 1]);
}

async fn restarted_server_loses_no_request(envoy: &str) {
    for delta in [true, false] {
        let mut scenario = Scenario::start(envoy, Setup { delta, ..Setup::default() }).await;
        let load = Load::start(scenario.port, "/stay/x");
        scenario.restart(Duration::ZERO).await;
        scenario.moved_to("/again/").await;
        // Changes during the outage arrive after the restart.
        let (folder, upstream) = (scenario.folder.path().to_owned(), scenario.upstream);
        let edit = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            put(&folder, "move.yaml", &mapping("move", "/meanwhile/", upstream));
        });
        scenario.restart(Duration::from_millis(800)).await;
        edit.await.expect("an edit");
        scenario.moved_to("/meanwhile/").await;
        load.none_lost().await;
    }
}

async fn certificates_rotate_under_stream(envoy: &str) {
    let files = tempfile::tempdir().expect("a folder");
    let (ours, theirs) = (Authority::new(), Authority::new());
    authority::write(files.path(), &ours, &ours);
    let identity = |name: &str, of: &Authority| {
        let (certificate, key) = of.sign("edge");
        let (to, key_to) = (files.path().join(format!("{name}.crt")), files.path().join(format!("{name}.key")));
        fs::write(&to, certificate).expect("a file");
        fs::write(&key_to, key).expect("a file");
        Shown { authority: files.path().join("clients.crt"), certificate: to, key: key_to }
    };
    let setup = |shown| Setup { delta: true, tls: Some((files.path().to_owned(), shown)) };
    let scenario = Scenario::start(envoy, setup(identity("right", &ours))).await;
    let load = Load::start(scenario.port, "/stay/x");
    // The same CA signs new certificates, twice. The stream continues.
    for round in 0..2 {
        authority::write(files.path(), &ours, &ours);
        tokio::time::sleep(Duration::from_millis(1500)).await;
        scenario.moved_to(&format!("/c{round}/")).await;
    }
    assert_eq!(scenario.left(), 0, "the connection lasts");
    load.none_lost().await;
    let refused = Scenario::begin(envoy, setup(identity("wrong", &theirs))).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(get(refused.port, "/stay/x").await.is_none(), "it gets nothing");
    let events = refused.events.timeline();
    assert!(!events.iter().any(|dated| matches!(dated.event, Event::Envoy { .. })), "it is not let in: {events:?}");
}

/// Restarts a hundred pods behind a Service, ten at a time, with a spacing that never ends. Endpoints do not wait for
/// the spacing, and only endpoints are sent.
async fn rolling_restart_of_pods_loses_no_request(envoy: &str) {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let (folder, events) = (tempfile::tempdir().expect("a folder"), Events::default());
    let (xds, port, pods) = (free(), free(), free());
    let serving = start_pods(reader, xds, &events);
    let meta = |name: &str| serde_json::json!({"name": name, "namespace": "default"});
    let ambassador = |kind: &str, name: &str, spec: serde_json::Value| serde_json::json!({"apiVersion": "getambassador.io/v3alpha1", "kind": kind, "metadata": meta(name), "spec": spec});
    let binding = serde_json::json!({"namespace": {"from": "ALL"}});
    let mut tell = |object: serde_json::Value| {
        let event = serde_json::json!({"type": "MODIFIED", "object": object});
        writeln!(writer, "{event}").expect("it is read");
    };
    tell(ambassador("Listener", "http", serde_json::json!({"port": port, "protocol": "HTTP", "securityModel": "XFP", "hostBinding": binding})));
    tell(ambassador("Host", "h", serde_json::json!({"hostname": "*", "requestPolicy": {"insecure": {"action": "Route"}}})));
    tell(ambassador("KubernetesEndpointResolver", "endpoints", serde_json::json!({})));
    tell(ambassador("Mapping", "pods", serde_json::json!({"hostname": "*", "prefix": "/pods/", "service": "pods", "resolver": "endpoints"})));
    let ports = serde_json::json!([{"name": "http", "port": 80, "targetPort": pods}]);
    tell(
        serde_json::json!({"apiVersion": "v1", "kind": "Service", "metadata": meta("pods"), "spec": {"clusterIP": "10.0.0.1", "selector": {"app": "pods"}, "ports": ports}}),
    );
    let slice = |addresses: &[String]| {
        let endpoints: Vec<_> = addresses.iter().map(|address| serde_json::json!({"addresses": [address], "conditions": {"ready": true}})).collect();
        let metadata = serde_json::json!({"name": "pods-1", "namespace": "default", "labels": {"kubernetes.io/service-name": "pods"}});
        let ports = serde_json::json!([{"name": "http", "port": pods, "protocol": "TCP"}]);
        serde_json::json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "metadata": metadata, "endpoints": endpoints, "ports": ports})
    };
    let address = |generation: usize, pod: usize| format!("127.0.{generation}.{}", pod + 1);
    let mut running: Vec<(String, JoinHandle<()>)> = Vec::new();
    for pod in 0..100 {
        running.push((address(1, pod), pod_at(&address(1, pod), pods).await));
    }
    let ready = |running: &[(String, JoinHandle<()>)]| running.iter().map(|(address, _)| address.clone()).collect::<Vec<_>>();
    tell(slice(&ready(&running)));
    until("it listens", || events.timeline().iter().any(|dated| matches!(dated.event, Event::Listening { .. })).then_some(())).await;
    let mut process = start_envoy(envoy, folder.path(), format!("127.0.0.1:{xds}"), true, None);
    let begin = Instant::now();
    while get(port, "/pods/x").await.is_none() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no traffic: {:?}", events.timeline());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let accepted = |wanted: &str| {
        let is_wanted = |event: &Event| matches!(event, Event::Accepted { r#type, .. } if r#type.ends_with(wanted));
        events.timeline().iter().filter(|dated| is_wanted(&dated.event)).count()
    };
    let others = || ["Cluster", "Listener", "RouteConfiguration"].map(&accepted);
    let (before, load) = (others(), Load::start(port, "/pods/x"));
    for round in 0..10 {
        let known = accepted("ClusterLoadAssignment");
        for pod in 0..10 {
            running.push((address(2, round * 10 + pod), pod_at(&address(2, round * 10 + pod), pods).await));
        }
        let old: Vec<(String, JoinHandle<()>)> = running.drain(..10).collect();
        tell(slice(&ready(&running)));
        until("the endpoints arrive", || (accepted("ClusterLoadAssignment") > known).then_some(())).await;
        // A pod ends after its last answers.
        tokio::time::sleep(Duration::from_millis(100)).await;
        old.into_iter().for_each(|(_, pod)| pod.abort());
    }
    load.none_lost().await;
    assert_eq!(others(), before, "only endpoints are sent");
    let _ = process.kill();
    let _ = process.wait();
    drop(serving);
}

/// Starts a server that follows watch events, with a spacing that never ends.
fn start_pods(reader: std::io::PipeReader, xds: u16, events: &Events) -> oneshot::Sender<()> {
    let off = || Address::Off;
    let servers = Servers {
        xds: Address::At(format!("127.0.0.1:{xds}")),
        diagnostics: off(),
        snapshots: off(),
        public_snapshots: off(),
        ready: off(),
        tls: None,
        with_secrets: false,
        token: None,
        ttl: None,
        replicas: Vec::new(),
        proxies: None,
        canary: true,
        page: None,
        admission: None,
    };
    let settings =
        Settings { options: Options::of(&ambassador::DIALECT), spacing: Duration::from_secs(3600), recorder: None, events: events.clone() };
    let (end, ended) = oneshot::channel::<()>();
    tokio::spawn(async move {
        let ended = async { drop(ended.await) };
        serve(settings, vec![Box::new(Stream::new(reader))], &servers, None, None, ended).await.expect("it serves");
    });
    end
}

/// Starts a pod: a server that answers at an address until it is aborted.
async fn pod_at(address: &str, port: u16) -> JoinHandle<()> {
    let listener = tokio::net::TcpListener::bind((address, port)).await.expect("an address of this machine");
    let echo = Router::new().fallback(async |uri: axum::http::Uri| uri.path().to_owned());
    tokio::spawn(async move { drop(axum::serve(listener, echo).await) })
}

async fn envoy_rejection_is_reported_with_lines(envoy: &str) {
    let scenario = Scenario::start(envoy, Setup { delta: true, ..Setup::default() }).await;
    let taken = TcpListener::bind("0.0.0.0:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    put(scenario.folder.path(), "taken.yaml", &format!("# another program uses this port\n{}", listener("taken", port)));
    let (message, places) = until("the rejection is reported", || {
        scenario.events.timeline().into_iter().find_map(|dated| match dated.event {
            Event::Rejected { message, places, .. } => Some((message, places)),
            _ => None,
        })
    })
    .await;
    assert!(message.contains(&port.to_string()), "{message}");
    let place = places.first().unwrap_or_else(|| panic!("no place: {message}"));
    assert!(place.file.ends_with("taken.yaml") && place.line > 1, "{places:?}");
    assert!(place.object.starts_with("Listener taken"), "{places:?}");
    scenario.moved_to("/while-rejected/").await;
    assert!(get(scenario.port, "/stay/x").await.is_some(), "the rest still works");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_envoy() {
    let Some(envoy) = envoy() else { return };
    edits_arrive_and_no_request_is_lost(&envoy, true, 200).await;
    edits_arrive_and_no_request_is_lost(&envoy, false, 60).await;
    restarted_server_loses_no_request(&envoy).await;
    certificates_rotate_under_stream(&envoy).await;
    rolling_restart_of_pods_loses_no_request(&envoy).await;
    envoy_rejection_is_reported_with_lines(&envoy).await;
}
