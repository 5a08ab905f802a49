//! A real Envoy as the client: it follows edits without losing a request, and what only it can know to be wrong is told with the lines that
//! made it, while the rest goes on.

use axum::Router;
use chancery_core::compilation::Options;
use chancery_core::dialect::ambassador;
use chancery_live::address::Address;
use chancery_live::bootstrap::Bootstrap;
use chancery_live::engine::Settings;
use chancery_live::event::{Event, Events, Server};
use chancery_live::serve::{Servers, serve};
use chancery_live::sources::folder::{Folder, Reading};
use chancery_tests::port::free;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;

/// The Envoy to ask; `None` where there is none. In CI there must be.
fn envoy() -> Option<String> {
    let named = std::env::var("CHANCERY_ENVOY").ok();
    let name = named.unwrap_or_else(|| "envoy".into());
    if Command::new(&name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return Some(name);
    }
    assert!(std::env::var_os("CI").is_none(), "there is no Envoy, and this is CI");
    eprintln!("\n*** SKIPPED: the tests with a real Envoy, as there is none ***\n");
    None
}

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

/// The body of an answer of 200; `None` for any other, and for none.
async fn get(port: u16, path: &str) -> Option<String> {
    let ask = async {
        let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.map(|_| answer)
    };
    let answer = tokio::time::timeout(Duration::from_secs(5), ask).await.ok()?.ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    // Chunks, or the whole.
    head.starts_with("HTTP/1.1 200").then(|| body.lines().find(|line| line.starts_with('/')).unwrap_or_default().to_owned())
}

struct House {
    folder: tempfile::TempDir,
    events: Events,
    port: u16,
    upstream: u16,
    envoy: Child,
    end: Option<oneshot::Sender<()>>,
}

impl Drop for House {
    fn drop(&mut self) {
        let _ = self.envoy.kill();
        let _ = self.envoy.wait();
        self.end.take();
    }
}

impl House {
    async fn start(envoy: &str, delta: bool) -> Self {
        let upstream = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let upstream_port = upstream.local_addr().expect("an address").port();
        let echo = Router::new().fallback(async |uri: axum::http::Uri| uri.path().to_owned());
        tokio::spawn(async move { axum::serve(upstream, echo).await });
        let folder = tempfile::tempdir().expect("a folder");
        let (port, events) = (free(), Events::default());
        put(folder.path(), "listener.yaml", &listener("http", port));
        put(folder.path(), "host.yaml", HOST);
        put(folder.path(), "stay.yaml", &mapping("stay", "/stay/", upstream_port));
        put(folder.path(), "move.yaml", &mapping("move", "/v0/", upstream_port));
        let servers = Servers {
            xds: Address::At("127.0.0.1:0".into()),
            diagnostics: Address::Off,
            snapshots: Address::Off,
            public_snapshots: Address::Off,
            ready: Address::Off,
            tls: None,
            token: None,
            ttl: None,
            proxies: None,
            canary: true,
            page: None,
        };
        let settings = Settings { options: Options::of(&ambassador::DIALECT), spacing: Duration::ZERO, recorder: None, events: events.clone() };
        let source = Box::new(Folder::new(folder.path().to_owned(), Reading::default()));
        let (end, ended) = oneshot::channel::<()>();
        tokio::spawn(async move {
            let ended = async { drop(ended.await) };
            serve(settings, vec![source], &servers, None, None, ended).await.expect("it serves");
        });
        let xds = until("it listens", || {
            events.timeline().into_iter().find_map(|dated| match dated.event {
                Event::Listening { server: Server::Xds, address } => Some(address),
                _ => None,
            })
        })
        .await;
        let bootstrap = Bootstrap {
            xds,
            node_id: "edge".into(),
            node_cluster: "c".into(),
            admin: "off".into(),
            delta,
            tls_ca: None,
            tls_cert: None,
            tls_key: None,
        };
        let path = folder.path().join(".bootstrap.json");
        fs::write(&path, bootstrap.json().expect("a bootstrap").to_string()).expect("a file");
        let log = fs::File::create(folder.path().join(".envoy.log")).expect("a file");
        let envoy = Command::new(envoy)
            .arg("-c")
            .arg(&path)
            .args(["--concurrency", "1", "-l", "warning", "--use-dynamic-base-id"])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("Envoy");
        let out = Self { folder, events, port, upstream: upstream_port, envoy, end: Some(end) };
        let begin = Instant::now();
        while get(port, "/stay/x").await.is_none() {
            let log = || fs::read_to_string(out.folder.path().join(".envoy.log")).unwrap_or_default();
            assert!(begin.elapsed() < Duration::from_secs(60), "no traffic: {}", log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        out
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

async fn edits_arrive_and_no_request_is_lost(envoy: &str, delta: bool) {
    let house = House::start(envoy, delta).await;
    let (stop, lost, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let load = {
        let (stop, lost, asked, port) = (stop.clone(), lost.clone(), asked.clone(), house.port);
        tokio::spawn(async move {
            while !stop.load(SeqCst) {
                lost.fetch_add(usize::from(get(port, "/stay/x").await.is_none()), SeqCst);
                asked.fetch_add(1, SeqCst);
            }
        })
    };
    let mut took = Vec::new();
    for edit in 1..=40 {
        took.push(house.moved_to(&format!("/v{edit}/")).await);
    }
    // Clusters come and go: a Mapping to another service, and back to none.
    for round in 0..5 {
        put(house.folder.path(), "other.yaml", &mapping("other", &format!("/o{round}/"), house.upstream).replace("127.0.0.1", "localhost"));
        let begin = Instant::now();
        while get(house.port, "/other/x").await.is_none() {
            assert!(begin.elapsed() < Duration::from_secs(15), "a new cluster does not arrive");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        fs::remove_file(house.folder.path().join("other.yaml")).expect("a file");
        house.moved_to(&format!("/r{round}/")).await;
    }
    stop.store(true, SeqCst);
    load.await.expect("the load");
    took.sort();
    eprintln!("{}: 40 edits, median {:?}, longest {:?}; {} requests", if delta { "delta" } else { "sotw" }, took[20], took[39], asked.load(SeqCst));
    assert_eq!(lost.load(SeqCst), 0, "of {} requests", asked.load(SeqCst));
    assert!(asked.load(SeqCst) > 100);
}

async fn what_only_envoy_knows_is_told_with_its_lines(envoy: &str) {
    let house = House::start(envoy, true).await;
    let taken = TcpListener::bind("0.0.0.0:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    put(house.folder.path(), "taken.yaml", &format!("# somebody else has this port\n{}", listener("taken", port)));
    let (message, places) = until("the rejection is told", || {
        house.events.timeline().into_iter().find_map(|dated| match dated.event {
            Event::Rejected { message, places, .. } => Some((message, places)),
            _ => None,
        })
    })
    .await;
    assert!(message.contains(&port.to_string()), "{message}");
    let place = places.first().unwrap_or_else(|| panic!("no place: {message}"));
    assert!(place.file.ends_with("taken.yaml") && place.line > 1, "{places:?}");
    assert!(place.object.starts_with("Listener taken"), "{places:?}");
    house.moved_to("/while-rejected/").await;
    assert!(get(house.port, "/stay/x").await.is_some(), "the rest goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_envoy() {
    let Some(envoy) = envoy() else { return };
    edits_arrive_and_no_request_is_lost(&envoy, true).await;
    edits_arrive_and_no_request_is_lost(&envoy, false).await;
    what_only_envoy_knows_is_told_with_its_lines(&envoy).await;
}
