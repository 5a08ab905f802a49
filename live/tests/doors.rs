//! Tests the ports of `serve`: they move away from served listeners, protect key material, and stay available despite
//! faulty clients.

use chancery_core::compilation::Options;
use chancery_core::dialect::{ambassador, contour};
use chancery_live::Failure;
use chancery_live::address::Address;
use chancery_live::engine::Settings;
use chancery_live::event::{Event, Events, Server};
use chancery_live::serve::{Servers, serve};
use chancery_live::sources::folder::{Folder, Reading};
use chancery_tests::port::free;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

const KEY: &str = "a2V5LW1hdGVyaWFs";

/// A running server.
struct Running {
    folder: tempfile::TempDir,
    events: Events,
    end: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<Result<(), Failure>>,
}

fn at(port: u16) -> Address {
    Address::At(format!("127.0.0.1:{port}"))
}

fn servers() -> Servers {
    Servers {
        xds: at(0),
        diagnostics: at(0),
        snapshots: at(0),
        public_snapshots: at(0),
        ready: at(0),
        tls: None,
        with_secrets: false,
        token: None,
        ttl: None,
        replicas: Vec::new(),
        proxies: None,
        canary: true,
        page: None,
        admission: None,
    }
}

impl Running {
    fn start(options: Options, files: &[(&str, &str)], servers: Servers) -> Self {
        let (folder, events) = (tempfile::tempdir().expect("a folder"), Events::default());
        files.iter().for_each(|(name, text)| put(folder.path(), name, text));
        let settings = Settings { options, spacing: Duration::ZERO, recorder: None, events: events.clone() };
        let source = Box::new(Folder::new(folder.path().to_owned(), Reading::default()));
        let (end, ended) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let ended = async { drop(ended.await) };
            serve(settings, vec![source], &servers, None, None, ended).await
        });
        Self { folder, events, end, task }
    }

    /// Returns a server's address after this many moves.
    async fn address(&self, wanted: Server, moves: usize) -> String {
        until("it listens", || {
            let all = self.events.timeline().into_iter().filter_map(|dated| match dated.event {
                Event::Listening { server, address } if server == wanted => Some(address),
                _ => None,
            });
            all.skip(moves).last()
        })
        .await
    }

    async fn built(&self, builds: usize) {
        let count = || self.events.timeline().iter().filter(|dated| matches!(dated.event, Event::Build { .. })).count();
        until("it builds", || (count() >= builds).then_some(())).await;
    }

    async fn end(self) {
        let begin = Instant::now();
        let _ = self.end.send(());
        assert_eq!(self.task.await.expect("it ends"), Ok(()));
        assert!(begin.elapsed() < Duration::from_secs(4), "no part holds it up: {:?}", begin.elapsed());
    }
}

fn put(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(format!(".{name}")), text).expect("a file");
    std::fs::rename(folder.join(format!(".{name}")), folder.join(name)).expect("a rename");
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

/// Returns the whole answer of a server to these bytes.
async fn exchange(address: &str, text: &[u8]) -> String {
    let ask = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(text).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.map(|_| String::from_utf8_lossy(&answer).into_owned())
    };
    tokio::time::timeout(Duration::from_secs(20), ask).await.expect("an answer in time").unwrap_or_default()
}

async fn get(address: &str, path: &str) -> String {
    exchange(address, format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").as_bytes()).await
}

fn listener(name: &str, port: u16) -> String {
    format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {{name: {name}, namespace: default}}\n\
         spec: {{port: {port}, protocol: HTTP, securityModel: XFP, hostBinding: {{namespace: {{from: ALL}}}}}}\n"
    )
}

const HOST: &str = "apiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {name: h, namespace: default}\n\
                    spec: {hostname: '*', requestPolicy: {insecure: {action: Route}}}\n";
const SECRET: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: default}\ndata: {token: a2V5LW1hdGVyaWFs}\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_moves_before_envoy_gets_listener() {
    let (port, next) = (free(), free());
    let running = Running::start(
        Options::of(&ambassador::DIALECT),
        &[("host.yaml", HOST), ("listener.yaml", &listener("http", port))],
        Servers { snapshots: at(port), ready: at(next), ..servers() },
    );
    assert_eq!(running.address(Server::Snapshots, 0).await.rsplit_once(':').map(|(host, _)| host), Some("127.0.0.1"));
    let moved = running.address(Server::Snapshots, 1).await;
    running.built(1).await;
    assert!(std::net::TcpListener::bind(("0.0.0.0", port)).is_ok(), "an Envoy can listen there now");
    assert!(get(&moved, "/snapshot").await.starts_with("HTTP/1.1 200"), "it answers at {moved}");
    // The server also moves for a later listener, and only for that listener.
    put(running.folder.path(), "second.yaml", &listener("second", next));
    let ready = running.address(Server::Ready, 1).await;
    assert!(get(&ready, "/readyz").await.starts_with("HTTP/1.1 200"), "it answers at {ready}");
    assert!(std::net::TcpListener::bind(("0.0.0.0", next)).is_ok());
    let told = running.events.timeline().iter().filter(|dated| matches!(dated.event, Event::Listening { .. })).count();
    assert_eq!(told, 7, "five servers, two moves");
    running.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contours_own_listener_takes_its_port() {
    let port = free();
    let mut options = Options::of(&contour::DIALECT);
    let argument = chancery_core::compilation::OptionValue::List(vec![format!("--stats-port={port}").into()]);
    options.insert("controller-arg", argument);
    let proxy = "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: p, namespace: default}\n\
                 spec: {virtualhost: {fqdn: a.example.com}, routes: [{directResponsePolicy: {statusCode: 200}}]}\n";
    let running = Running::start(options, &[("p.yaml", proxy)], Servers { public_snapshots: at(port), ..servers() });
    let moved = running.address(Server::PublicSnapshots, 1).await;
    assert_ne!(moved, format!("127.0.0.1:{port}"));
    assert!(get(&moved, "/snapshot-external").await.starts_with("HTTP/1.1 200"));
    running.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn snapshots_contain_key_material_only_if_requested() {
    for with_secrets in [false, true] {
        let files = [("host.yaml", HOST), ("secret.yaml", SECRET)];
        let running = Running::start(Options::of(&ambassador::DIALECT), &files, Servers { with_secrets, ..servers() });
        running.built(1).await;
        let private = get(&running.address(Server::Snapshots, 0).await, "/snapshot").await;
        let public = get(&running.address(Server::PublicSnapshots, 0).await, "/snapshot-external").await;
        assert!(private.starts_with("HTTP/1.1 200") && public.starts_with("HTTP/1.1 200"));
        assert_eq!(private.contains(KEY), with_secrets);
        assert!(!public.contains(KEY));
        let diagnostics = running.address(Server::Diagnostics, 0).await;
        for path in ["/api/v1/resources", "/api/v1/findings", "/api/v1/config", "/api/v1/ir", "/api/v1/events", "/metrics"] {
            assert!(!get(&diagnostics, path).await.contains(KEY), "{path}");
        }
        running.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faulty_or_silent_clients_disturb_no_others() {
    let running = Running::start(Options::of(&ambassador::DIALECT), &[("host.yaml", HOST)], servers());
    running.built(1).await;
    let mut open = Vec::new();
    for server in [Server::Xds, Server::Diagnostics, Server::Snapshots, Server::PublicSnapshots, Server::Ready] {
        let address = running.address(server, 0).await;
        for said in ["", "GET / HT", "PRI * HTTP/2.0\r\n\r\n", "\u{16}\u{3}\u{1}"] {
            for _ in 0..10 {
                let mut stream = TcpStream::connect(&address).await.expect("a connection");
                stream.write_all(said.as_bytes()).await.expect("it is sent");
                open.push(stream);
            }
        }
        let nonsense: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        exchange(&address, &nonsense).await;
        let begin = Instant::now();
        if server == Server::Xds {
            let answer = get(&address, "/").await;
            assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("This port is for Envoys"), "{answer}");
            let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{address}")).expect("an address");
            endpoint.connect().await.expect("an Envoy connects");
        } else {
            assert!(get(&address, "/healthz").await.starts_with("HTTP/1.1 200"), "{server:?}");
        }
        assert!(begin.elapsed() < Duration::from_secs(5), "{server:?}: others wait");
    }
    // The server closes each of them after a while.
    for stream in &mut open {
        let mut rest = Vec::new();
        let closed = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut rest)).await;
        assert!(closed.is_ok(), "it is left open");
    }
    running.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn findings_include_certificates_expired_while_served() {
    let mut params = rcgen::CertificateParams::new(vec!["a.example.com".into()]).expect("a name");
    params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let key = rcgen::KeyPair::generate().expect("a key");
    let data = serde_json::json!({"tls.crt": params.self_signed(&key).expect("a certificate").pem(), "tls.key": key.serialize_pem()});
    let secret = serde_json::json!({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
        "metadata": {"name": "tls", "namespace": "default"}, "stringData": data});
    let host = "apiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {name: h, namespace: default}\n\
                spec: {hostname: a.example.com, tlsSecret: {name: tls}}\n";
    let files = [
        ("host.yaml", host),
        ("listener.yaml", &listener("https", 8443).replace("protocol: HTTP", "protocol: HTTPS")),
        ("secret.json", &secret.to_string()),
    ];
    let running = Running::start(Options::of(&ambassador::DIALECT), &files, servers());
    running.built(1).await;
    let diagnostics = running.address(Server::Diagnostics, 0).await;
    let found = get(&diagnostics, "/api/v1/findings").await;
    assert!(found.contains("\"certificate-expired\""), "{found}");
    running.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sources_and_envoys_match_events() {
    let running = Running::start(Options::of(&ambassador::DIALECT), &[("host.yaml", HOST)], servers());
    running.built(1).await;
    let diagnostics = running.address(Server::Diagnostics, 0).await;
    let answer = get(&diagnostics, "/api/v1/sources").await;
    let body: Value = answer.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok()).unwrap_or_default();
    let source = &body["sources"][0];
    assert_eq!((source["event"].as_str(), source["state"].as_str()), (Some("source"), Some("synced")), "{body}");
    assert!(source["gateway"].is_string() && source["installation_id"].as_str().is_some_and(|id| id.len() == 36), "{body}");
    running.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_open_connections_do_not_delay_readiness() {
    let running = Running::start(Options::of(&ambassador::DIALECT), &[("host.yaml", HOST)], servers());
    running.built(1).await;
    let address = running.address(Server::Diagnostics, 0).await;
    let mut open = Vec::new();
    for _ in 0..600 {
        let mut stream = TcpStream::connect(&address).await.expect("a connection");
        stream.write_all(b"GET /re").await.expect("it is sent");
        open.push(stream);
    }
    let begin = Instant::now();
    assert!(get(&address, "/readyz").await.starts_with("HTTP/1.1 200"));
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    let body = exchange(&address, b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody").await;
    assert!(body.starts_with("HTTP/1.1 200"), "health checks may have a small body: {body}");
    let large = exchange(&address, b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000000\r\n\r\n").await;
    assert!(large.starts_with("HTTP/1.1 413"), "{large}");
    drop(open);
    for server in [Server::Diagnostics, Server::Snapshots, Server::Ready] {
        let address = running.address(server, 0).await;
        let head = format!("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: {}\r\nConnection: close\r\n\r\n", "a".repeat(100_000));
        let answer = exchange(&address, head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 431"), "{server:?}: {answer}");
    }
    running.end().await;
}
