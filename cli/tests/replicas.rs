//! Tests three processes of `chancery serve --replicas` with real Envoys: each builds its own gateways, and another one
//! takes over when one is killed. Does not test how members are chosen; see `replicas` in `live`.

// Other systems have one loopback address.
#![cfg(target_os = "linux")]

use chancery_tests::port::free;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The addresses of the replicas.
const HOSTS: [&str; 3] = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];
const GATEWAYS: usize = 6;
/// The time limit for a takeover.
const LIMIT: Duration = Duration::from_secs(5);
/// The time limit for a takeover from a replica that hangs. Its Envoys notice after 3 s.
const HANGING: Duration = Duration::from_secs(10);

const CLASS: &str = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: eg}\n\
                     spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}\n";

fn gateway(number: usize, port: u16) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: g{number}, namespace: default}}\n\
         spec: {{gatewayClassName: eg, listeners: [{{name: http, port: {port}, protocol: HTTP}}]}}\n"
    )
}

/// A route that rewrites each path to `/VERSION/...`.
fn route(number: usize, version: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: r{number}, namespace: default}}\n\
         spec:\n  parentRefs: [{{name: g{number}}}]\n  rules:\n  - matches: [{{path: {{type: PathPrefix, value: /}}}}]\n    \
         filters: [{{type: URLRewrite, urlRewrite: {{path: {{type: ReplacePrefixMatch, replacePrefixMatch: /{version}}}}}}}]\n    \
         backendRefs: [{{name: echo, port: 80}}]\n"
    )
}

fn backend(port: u16) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: echo, namespace: default}}\n\
         spec: {{ports: [{{name: http, port: 80, targetPort: {port}}}], clusterIP: 10.0.0.1}}\n---\n\
         apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n\
         metadata: {{name: echo-1, namespace: default, labels: {{kubernetes.io/service-name: echo}}}}\n\
         addressType: IPv4\nports: [{{name: http, port: {port}, protocol: TCP}}]\n\
         endpoints: [{{addresses: [127.0.0.1], conditions: {{ready: true}}}}]\n"
    )
}

/// Returns the path of Envoy, or `None` if it is missing. CI must have it.
fn envoy() -> Option<String> {
    let name = std::env::var("CHANCERY_ENVOY").unwrap_or_else(|_| "envoy".into());
    if Command::new(&name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return Some(name);
    }
    assert!(std::env::var_os("CI").is_none(), "there is no Envoy, and this is CI");
    eprintln!("\n*** SKIPPED: the tests with a real Envoy, as there is none ***\n");
    None
}

/// A process that ends with the test.
struct Running(Child);

impl Running {
    /// Kills the process with SIGKILL.
    fn kill(&mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it ends");
    }

    /// Sends a signal to the process.
    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.0.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "kill {signal}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The ports of every replica, each at its own address.
#[derive(Clone, Copy)]
struct Fleet {
    xds: u16,
    ready: u16,
    diagnostics: u16,
}

impl Fleet {
    fn addresses(self) -> String {
        HOSTS.map(|host| format!("{host}:{}", self.xds)).join(",")
    }

    fn start(self, replica: usize, folder: &Path) -> Running {
        let host = HOSTS[replica];
        let log = fs::File::create(folder.join(format!("replica-{replica}.log"))).expect("a file");
        let child = Command::new(env!("CARGO_BIN_EXE_chancery"))
            .arg("serve")
            .arg(folder.join("gateway"))
            .args(["--replicas", &self.addresses(), "--spacing", "0s", "--state-dir", "off"])
            .args(["--snapshots", "off", "--public-snapshots", "off"])
            .args(["--xds", &format!("{host}:{}", self.xds), "--ready", &format!("{host}:{}", self.ready)])
            .args(["--diagnostics", &format!("{host}:{}", self.diagnostics)])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        Running(child.expect("the program starts"))
    }

    /// Returns the answer of a replica's diagnostics server.
    fn ask(self, replica: usize, path: &str) -> Option<String> {
        request((HOSTS[replica], self.diagnostics), path).ok()
    }

    /// Returns the gateways that a replica builds.
    fn built(self, replica: usize) -> Option<Vec<String>> {
        let answer: Value = serde_json::from_str(&self.ask(replica, "/api/v1/replicas")?).ok()?;
        Some(answer["built"].as_array()?.iter().filter_map(|name| name.as_str()).map(str::to_owned).collect())
    }

    /// Waits until these replicas share the gateways: each gateway is built once. Returns the replica of each gateway.
    fn shared_by(self, replicas: &[usize]) -> BTreeMap<String, usize> {
        until(&format!("{replicas:?} share the gateways"), Duration::from_secs(30), || {
            let built: Vec<(usize, Vec<String>)> = replicas.iter().map(|of| Some((*of, self.built(*of)?))).collect::<Option<_>>()?;
            let all: usize = built.iter().map(|(_, names)| names.len()).sum();
            let owners: BTreeMap<String, usize> = built.into_iter().flat_map(|(of, names)| names.into_iter().map(move |name| (name, of))).collect();
            (all == GATEWAYS && owners.len() == GATEWAYS).then_some(owners)
        })
    }
}

fn until<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the body of a 200 answer, or a description of any other result.
fn request(to: (&str, u16), path: &str) -> Result<String, String> {
    let ask = || {
        let mut stream = TcpStream::connect(to)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    };
    let answer = ask().map_err(|error: std::io::Error| error.to_string())?;
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.contains(" 200 ") => Ok(body.to_owned()),
        _ => Err(format!("answer {:?}", answer.lines().next().unwrap_or_default())),
    }
}

/// Starts a server that answers with the requested path.
fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let answer = |stream: TcpStream| {
        let mut lines = BufReader::new(stream.try_clone()?).lines().map_while(Result::ok);
        while let Some(first) = lines.next() {
            let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
            lines.find(String::is_empty);
            (&stream).write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{path}", path.len()).as_bytes())?;
        }
        Ok::<(), std::io::Error>(())
    };
    std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| _ = std::thread::spawn(move || answer(stream))));
    port
}

/// Sends requests one after the other until it is stopped.
struct Load {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicUsize>,
    task: JoinHandle<Vec<String>>,
}

impl Load {
    fn start(port: u16) -> Self {
        let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let shared = (stop.clone(), sent.clone());
        let task = std::thread::spawn(move || {
            let (stop, sent) = shared;
            let mut lost = Vec::new();
            while !stop.load(SeqCst) {
                lost.extend(request(("127.0.0.1", port), "/load").err());
                sent.fetch_add(1, SeqCst);
                std::thread::sleep(Duration::from_millis(2));
            }
            lost
        });
        Self { stop, sent, task }
    }

    /// Stops the requests, and checks that none was lost.
    fn none_lost(self) -> usize {
        self.stop.store(true, SeqCst);
        let lost = self.task.join().expect("the load");
        let sent = self.sent.load(SeqCst);
        assert!(lost.is_empty(), "{} of {sent} requests are lost: {:?}", lost.len(), lost.first());
        assert!(sent > 100, "only {sent} requests");
        sent
    }
}

/// Starts an Envoy of a gateway with the bootstrap that the program writes for all replicas.
fn start_envoy(envoy: &str, folder: &Path, gateway: &str, fleet: Fleet, protocol: &str) -> Running {
    let name = gateway.replace('/', "-");
    let written = Command::new(env!("CARGO_BIN_EXE_chancery"))
        .args(["bootstrap", "--xds", &fleet.addresses(), "--node-id", gateway, "--admin", "off", "--protocol", protocol])
        .output()
        .expect("the program runs");
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let path = folder.join(format!("{name}.json"));
    fs::write(&path, written.stdout).expect("a file");
    let log = fs::File::create(folder.join(format!("{name}.log"))).expect("a file");
    let mut command = Command::new(envoy);
    command.arg("-c").arg(&path).args(["--concurrency", "1", "-l", "info", "--use-dynamic-base-id"]);
    Running(command.stdout(Stdio::null()).stderr(log).spawn().expect("Envoy"))
}

#[test]
fn killed_replica_loses_no_request_or_edit() {
    let Some(envoy) = envoy() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let fleet = Fleet { xds: free(), ready: free(), diagnostics: free() };
    let (upstream, ports) = (echo(), [(); GATEWAYS].map(|()| free()));
    fs::create_dir(folder.path().join("gateway")).expect("a folder");
    let write = |name: &str, text: String| fs::write(folder.path().join("gateway").join(name), text).expect("a file");
    write("class.yaml", CLASS.into());
    write("echo.yaml", backend(upstream));
    for (number, port) in ports.into_iter().enumerate() {
        write(&format!("g{number}.yaml"), gateway(number, port));
        write(&format!("r{number}.yaml"), route(number, "v0"));
    }
    let mut replicas: Vec<Option<Running>> = (0..HOSTS.len()).map(|replica| Some(fleet.start(replica, folder.path()))).collect();
    let owners = fleet.shared_by(&[0, 1, 2]);
    // Two gateways of different replicas.
    let victim = owners["default/g0"];
    let other = (1..GATEWAYS).find(|number| owners[&format!("default/g{number}")] != victim).expect("a gateway of another replica");
    let _envoys =
        [(0, "delta"), (other, "sotw")].map(|(number, protocol)| start_envoy(&envoy, folder.path(), &format!("default/g{number}"), fleet, protocol));
    let has = |number: usize, version: &str, limit: Duration| {
        let begin = Instant::now();
        let starts = || request(("127.0.0.1", ports[number]), "/x").ok().filter(|path| path.starts_with(&format!("/{version}"))).map(drop);
        until(&format!("g{number} has {version}"), limit, starts);
        begin.elapsed()
    };
    for number in [0, other] {
        has(number, "v0", Duration::from_secs(30));
    }
    let loads = [Load::start(ports[0]), Load::start(ports[other])];
    // A running server has each Envoy of the gateways that it owns, and no other.
    for (number, own) in [(0, victim), (other, owners[&format!("default/g{other}")])] {
        for replica in 0..HOSTS.len() {
            let envoys = fleet.ask(replica, "/api/v1/envoys").expect("an answer");
            assert_eq!(envoys.contains(&format!("default/g{number}")), replica == own, "replica {replica}: {envoys}");
        }
    }

    let survivors: Vec<usize> = (0..HOSTS.len()).filter(|replica| *replica != victim).collect();
    for round in 1..=2 {
        let version = format!("v{round}");
        replicas[victim].as_mut().expect("it runs").kill();
        replicas[victim] = None;
        write("r0.yaml", route(0, &version));
        write(&format!("r{other}.yaml"), route(other, &version));
        let taken = [has(0, &version, LIMIT), has(other, &version, LIMIT)];
        println!("round {round}: the edits arrive after {taken:?}");
        let moved = fleet.shared_by(&survivors);
        for (name, owner) in &owners {
            assert!(*owner == victim || moved[name] == *owner, "{name} moved although its replica lives");
        }
        // The replica comes back, and gets its gateways back. The Envoy follows.
        replicas[victim] = Some(fleet.start(victim, folder.path()));
        assert_eq!(fleet.shared_by(&[0, 1, 2]), owners);
        let back = format!("back{round}");
        write("r0.yaml", route(0, &back));
        println!("round {round}: the edit after the return arrives after {:?}", has(0, &back, LIMIT));
        let envoys = fleet.ask(victim, "/api/v1/envoys").expect("an answer");
        assert!(envoys.contains("default/g0"), "{envoys}");
    }
    // A replica that hangs keeps its connections. It continues when another replica already serves its gateways.
    replicas[victim].as_ref().expect("it runs").signal("-STOP");
    write("r0.yaml", route(0, "hung"));
    println!("the edit arrives {:?} after the replica hangs", has(0, "hung", HANGING));
    fleet.shared_by(&survivors);
    replicas[victim].as_ref().expect("it runs").signal("-CONT");
    assert_eq!(fleet.shared_by(&[0, 1, 2]), owners);
    write("r0.yaml", route(0, "end"));
    has(0, "end", LIMIT);
    let readiness = fleet.ask(victim, "/readyz").expect("an answer");
    let share = owners.values().filter(|owner| **owner == victim).count();
    assert!(readiness.contains(&format!("gateways of this replica: {share} of {GATEWAYS}: ")), "{readiness}");
    let metrics = fleet.ask(victim, "/metrics").expect("an answer");
    assert!(metrics.contains(&format!("\nchancery_gateways{{replica=\"own\"}} {share}\n")), "{metrics}");
    assert!(metrics.contains("\nchancery_replicas 3\n"), "{metrics}");
    println!("{:?} requests, none lost", loads.map(Load::none_lost));
}
