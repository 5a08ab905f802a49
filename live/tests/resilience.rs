//! Tests accidents with a real Envoy: broken and emptied folders, missing folders, restarts. The last good configuration
//! keeps serving traffic, and the accident is visible. Does not test single edits; see `envoy`.

#[path = "support/process.rs"]
mod process;

use chancery_core::compilation::{OptionValue, Options};
use chancery_core::dialect::{ambassador, contour};
use chancery_live::address::Address;
use chancery_live::engine::Settings;
use chancery_live::event::{Event, Events, Place, Server};
use chancery_live::serve::{Servers, serve};
use chancery_live::sources::folder::{EmptyFolder, Folder, Reading};
use chancery_tests::port::free;
use process::{Load, echo, envoy, get, start_envoy};
use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const HOST: &str = "apiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {name: h, namespace: default}\n\
                    spec: {hostname: '*', requestPolicy: {insecure: {action: Route}}}\n";

fn listener(port: u16) -> String {
    format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata:\n  name: http\n  namespace: default\nspec:\n  port: {port}\n  \
         protocol: HTTP\n  securityModel: XFP\n  hostBinding: {{namespace: {{from: ALL}}}}\n"
    )
}

fn mapping(upstream: u16) -> String {
    format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: stay, namespace: default}}\n\
         spec: {{hostname: '*', prefix: /stay/, rewrite: /stay/, service: 'http://127.0.0.1:{upstream}'}}\n"
    )
}

/// An Envoy that ends with the test.
struct RunningEnvoy(Child);

impl Drop for RunningEnvoy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct RunningServer {
    events: Events,
    end: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl RunningServer {
    fn start(folder: &Path, state: Option<&Path>, xds: u16, options: Options) -> Self {
        let events = Events::default();
        let loopback = |port: u16| Address::At(format!("127.0.0.1:{port}"));
        let servers = Servers {
            xds: loopback(xds),
            diagnostics: loopback(0),
            snapshots: Address::Off,
            public_snapshots: Address::Off,
            ready: Address::Off,
            tls: None,
            with_secrets: false,
            token: None,
            ttl: None,
            proxies: None,
            canary: true,
            page: None,
            admission: None,
        };
        let settings = Settings { options, spacing: Duration::ZERO, recorder: None, events: events.clone() };
        let empty = EmptyFolder::Accident(Duration::from_secs(600));
        let reading = Reading { empty, state: state.map(Path::to_owned), ..Reading::default() };
        let source = Box::new(Folder::new(folder.to_owned(), reading));
        let (end, ended) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let ended = async { drop(ended.await) };
            serve(settings, vec![source], &servers, None, None, ended).await.expect("it serves");
        });
        Self { events, end, task }
    }

    async fn stop(self) {
        let _ = self.end.send(());
        self.task.await.expect("it ends");
    }

    /// Returns the answer of the diagnostics server, including its head.
    async fn ask(&self, path: &str) -> String {
        let find = || {
            self.events.timeline().into_iter().find_map(|dated| match dated.event {
                Event::Listening { server: Server::Diagnostics, address } => Some(address),
                _ => None,
            })
        };
        let address = until("it listens", async || find()).await;
        let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        let mut stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        answer
    }

    /// Waits until no problem is reported.
    async fn is_well(&self) {
        until("nothing is wrong", async || self.ask("/readyz").await.ends_with("\r\n\r\nready\n").then_some(())).await;
    }

    /// Waits until `/readyz` has this status and contains this string.
    async fn reports(&self, status: u16, text: &str) {
        let wanted = format!("HTTP/1.1 {status}");
        let begin = Instant::now();
        loop {
            let answer = self.ask("/readyz").await;
            if answer.starts_with(&wanted) && answer.contains(text) {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{text}: {answer}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn has_traffic(port: u16) {
    until("there is traffic", async || get(port, "/stay/x").await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accidents_keep_traffic() {
    let Some(envoy) = envoy() else { return };
    let (root, state) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (xds, port, upstream) = (free(), free(), echo().await);
    let folder = root.path().join("gateway");
    fs::create_dir(&folder).expect("a folder");
    let files = [("host.yaml", HOST.to_owned()), ("listener.yaml", listener(port)), ("mapping.yaml", mapping(upstream))];
    let write_all = || files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).expect("a file"));
    write_all();
    let start = || RunningServer::start(&folder, Some(state.path()), xds, Options::of(&ambassador::DIALECT));
    let mut server = start();
    let running = RunningEnvoy(start_envoy(&envoy, root.path(), format!("127.0.0.1:{xds}"), true, None));
    has_traffic(port).await;
    let load = Load::start(port, "/stay/x");
    // The folder is emptied.
    files.iter().for_each(|(name, _)| fs::remove_file(folder.join(name)).expect("a file"));
    server.reports(200, "it has no files any more; its last content is served until").await;
    write_all();
    server.is_well().await;
    // The volume is gone, while the server runs and when it starts again.
    fs::rename(&folder, root.path().join("elsewhere")).expect("a rename");
    server.reports(200, "no such file or directory; its content of ").await;
    server.stop().await;
    server = start();
    server.reports(200, "no such file or directory; its content of ").await;
    fs::rename(root.path().join("elsewhere"), &folder).expect("a rename");
    server.is_well().await;
    // A file is emptied, and then broken.
    fs::write(folder.join("mapping.yaml"), "").expect("a file");
    // It is broken for three seconds only, which a busy machine may miss in `/readyz`.
    let is_emptied = |event: &Event| matches!(event, Event::Source { detail: Some(detail), .. } if detail.contains("cannot be read: it was emptied"));
    until("the file is emptied", async || server.events.timeline().iter().any(|dated| is_emptied(&dated.event)).then_some(())).await;
    fs::write(folder.join("mapping.yaml"), mapping(upstream).replace("spec:", "\tspec:")).expect("a file");
    server.reports(200, "its document is broken at line 4; its last readable version").await;
    // A new server, and an Envoy without earlier state.
    server.stop().await;
    load.none_lost().await;
    drop(running);
    let server = start();
    let again = tempfile::tempdir().expect("a folder");
    let _running = RunningEnvoy(start_envoy(&envoy, again.path(), format!("127.0.0.1:{xds}"), false, None));
    has_traffic(port).await;
    server.reports(200, "its document is broken at line 4; its last readable version").await;
    let findings = server.ask("/api/v1/findings").await;
    assert!(findings.contains("mapping.yaml cannot be read"), "{findings}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folder_never_read_takes_nothing_from_envoy() {
    let Some(envoy) = envoy() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (xds, port, upstream) = (free(), free(), echo().await);
    for (name, text) in [("host.yaml", HOST.to_owned()), ("listener.yaml", listener(port)), ("mapping.yaml", mapping(upstream))] {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let server = RunningServer::start(folder.path(), None, xds, Options::of(&ambassador::DIALECT));
    let logs = tempfile::tempdir().expect("a folder");
    let _envoy = RunningEnvoy(start_envoy(&envoy, logs.path(), format!("127.0.0.1:{xds}"), true, None));
    has_traffic(port).await;
    server.stop().await;
    let load = Load::start(port, "/stay/x");
    let empty = tempfile::tempdir().expect("a folder");
    let typo = folder.path().join("gwTYPO");
    for (path, why) in [(typo.as_path(), "no such file or directory"), (empty.path(), "it has no YAML, JSON or HCL files")] {
        let server = RunningServer::start(path, None, xds, Options::of(&ambassador::DIALECT));
        server.reports(503, &format!("{} is not synced: {why}; nothing is served until", path.display())).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        server.stop().await;
    }
    load.none_lost().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejection_is_visible_to_operators() {
    let Some(envoy) = envoy() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let taken = std::net::TcpListener::bind("0.0.0.0:0").expect("a port");
    let (xds, port) = (free(), taken.local_addr().expect("an address").port());
    fs::write(folder.path().join("host.yaml"), HOST).expect("a file");
    fs::write(folder.path().join("listener.yaml"), listener(port)).expect("a file");
    let server = RunningServer::start(folder.path(), None, xds, Options::of(&ambassador::DIALECT));
    let logs = tempfile::tempdir().expect("a folder");
    let _envoy = RunningEnvoy(start_envoy(&envoy, logs.path(), format!("127.0.0.1:{xds}"), true, None));
    server.reports(200, "degraded: the Envoy edge rejects Listener ").await;
    let places: Vec<Place> = until("it is reported", async || {
        server.events.timeline().into_iter().find_map(|dated| match dated.event {
            Event::Rejected { places, .. } => Some(places),
            _ => None,
        })
    })
    .await;
    let [place] = &places[..] else { panic!("{places:?}") };
    assert_eq!((place.line, place.field.as_str()), (7, "spec.port"), "{place:?}");
    let metrics = server.ask("/metrics").await;
    let counter = "chancery_envoy_rejections_total{type=\"type.googleapis.com/envoy.config.listener.v3.Listener\"} ";
    let count = metrics.split_once(counter).and_then(|(_, rest)| rest.lines().next()?.parse::<u64>().ok());
    assert!(count.is_some_and(|count| count > 0), "{metrics}");
    for name in ["chancery_build_duration_seconds_bucket", "chancery_propagation_seconds_count", "process_resident_memory_bytes", "process_open_fds"]
    {
        assert!(metrics.contains(name), "{name}: {metrics}");
    }
    let envoys = server.ask("/api/v1/envoys").await;
    assert!(envoys.contains("\"state\": \"rejected\"") && envoys.contains("\"age_s\": "), "{envoys}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn envoy_accepts_contours_own_listeners() {
    let Some(envoy) = envoy() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let ports = [(); 5].map(|()| free());
    let [xds, http, https, statistics, admin] = ports;
    let proxy = "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: p, namespace: default}\n\
                 spec: {virtualhost: {fqdn: a.example.com}, routes: [{directResponsePolicy: {statusCode: 200}}]}\n";
    let settings = format!(
        "apiVersion: projectcontour.io/v1alpha1\nkind: ContourConfiguration\nmetadata: {{name: c, namespace: projectcontour}}\n\
                            spec: {{envoy: {{network: {{adminPort: {admin}}}, metrics: {{address: 127.0.0.1, port: {statistics}}}, \
                            health: {{address: 127.0.0.1, port: {statistics}}}, http: {{address: 127.0.0.1, port: {http}}}, \
                            https: {{address: 127.0.0.1, port: {https}}}}}}}\n"
    );
    fs::write(folder.path().join("proxy.yaml"), proxy).expect("a file");
    fs::write(folder.path().join("settings.yaml"), settings).expect("a file");
    let flags = OptionValue::List(vec!["--contour-config-name=c".into()]);
    let server = RunningServer::start(folder.path(), None, xds, Options::of(&contour::DIALECT).with("controller-arg", flags));
    let logs = tempfile::tempdir().expect("a folder");
    let _envoy = RunningEnvoy(start_envoy(&envoy, logs.path(), format!("127.0.0.1:{xds}"), true, None));
    let accepted = |event: &Event| matches!(event, Event::Accepted { r#type, .. } if r#type.ends_with("Listener"));
    until("listeners are accepted", async || {
        let timeline = server.events.timeline();
        let rejected = timeline.iter().find(|dated| matches!(dated.event, Event::Rejected { .. }));
        assert!(rejected.is_none(), "{rejected:?}");
        timeline.iter().any(|dated| accepted(&dated.event)).then_some(())
    })
    .await;
    for port in [admin, statistics] {
        until("Envoy listens", async || tokio::net::TcpStream::connect(("127.0.0.1", port)).await.ok()).await;
    }
    server.is_well().await;
    server.stop().await;
}
