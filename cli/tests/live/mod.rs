//! Tests the commands that query a running `chancery serve`.
//!
//! Does not test Envoys; see the suites of `live`.

use crate::Folder;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const GATEWAY: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http, namespace: default}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: h, namespace: default}
spec: {hostname: \"*\", requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: m, namespace: default}
spec: {hostname: \"*\", prefix: /m/, service: \"127.0.0.1:9\", timeout_ms: 1000}
";

/// A server that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves a folder and returns its events as they arrive.
fn start(folder: &Folder, name: &str) -> (Served, Events) {
    start_with(folder, name, &[])
}

fn start_with(folder: &Folder, name: &str, more: &[&str]) -> (Served, Events) {
    let off = ["--snapshots", "off", "--public-snapshots", "off", "--ready", "off", "--format", "json"];
    let child = Command::new(env!("CARGO_BIN_EXE_chancery"))
        .args(["serve", name, "--spacing", "0s", "--xds", "127.0.0.1:0", "--diagnostics", "127.0.0.1:0"])
        .args(off)
        .args(more)
        .env("XDG_STATE_HOME", folder.0.path().join("state"))
        .current_dir(folder.0.path())
        .stdout(Stdio::piped())
        .spawn();
    let mut served = Served(child.expect("the program starts"));
    let lines = BufReader::new(served.0.stdout.take().expect("a pipe")).lines();
    let (out, events) = channel();
    std::thread::spawn(move || {
        lines.map_while(Result::ok).for_each(|line| _ = out.send(serde_json::from_str(&line).expect("JSON")));
    });
    (served, Events { from: events, waiting: Vec::new() })
}

/// A server's events. They come from several threads, so their order may vary.
struct Events {
    from: Receiver<Value>,
    /// Received events that no call of `next` has returned yet.
    waiting: Vec<Value>,
}

impl Events {
    /// Returns the first event that matches and was not yet returned.
    fn next(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(at) = self.waiting.iter().position(&holds) {
                return self.waiting.remove(at);
            }
            let event = self.from.recv_timeout(Duration::from_secs(60));
            self.waiting.push(event.unwrap_or_else(|_| panic!("there is no event: {what}; {:?}", self.waiting)));
        }
    }
}

/// Returns the address of the diagnostics, after the first build.
fn address(events: &mut Events) -> String {
    let listening = events.next("it listens", |event| event["server"] == "diagnostics");
    events.next("the first build", |event| event["event"] == "build");
    listening["address"].as_str().expect("an address").to_owned()
}

/// Returns a server's response, with its head.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn serve_broken_file_keeps_configuration_and_reports() {
    let folder = Folder::with(&[("gateway/a.yaml", GATEWAY)]);
    let file = folder.0.path().join("gateway/a.yaml");
    let (_served, mut events) = start(&folder, "gateway");
    let server = address(&mut events);
    events.next("all is well", |event| event["event"] == "source" && event["state"] == "synced");
    assert!(get(&server, "/readyz").ends_with("\r\n\r\nready\n"));
    std::fs::write(&file, GATEWAY.replace("kind: Mapping", "\tkind: Mapping")).expect("a file");
    let told = events.next("the file is broken", |event| event["event"] == "source" && event["state"] == "error");
    let detail = told["detail"].as_str().expect("a detail");
    assert!(detail.starts_with("gateway/a.yaml cannot be read: its document is broken at line 12; its last readable version, read at "), "{detail}");
    let build = events.next("its build", |event| event["event"] == "build");
    let lines: Vec<_> = build["found"].as_array().expect("findings").iter().map(|of| (&of["severity"], &of["line"])).collect();
    assert_eq!(lines, [(&"error".into(), &12.into()), (&"error".into(), &1.into())], "{build}");
    assert_eq!((&build["inputs"], &build["errors"], &build["changed"]), (&1.into(), &2.into(), &serde_json::json!({})));
    assert_eq!(build["edited"], serde_json::json!(["gateway/a.yaml"]));
    let told = folder.run(&["events", "--server", &format!("http://{server}")]).out;
    assert!(told.contains("gateway error: gateway/a.yaml cannot be read") && told.contains("\n    changed: gateway/a.yaml\n"), "{told}");
    assert!(!told.contains('{'), "events are readable text: {told}");
    let ready = get(&server, "/readyz");
    assert!(ready.starts_with("HTTP/1.1 200") && ready.contains("ready\ndegraded: gateway: gateway/a.yaml cannot be read: "), "{ready}");
    let findings = get(&server, "/api/v1/findings");
    assert!(findings.contains("YAML does not allow tabs") && findings.contains("is used"), "{findings}");
    std::fs::write(&file, GATEWAY).expect("a file");
    let build = events.next("the file is fixed", |event| event["event"] == "build");
    assert_eq!((&build["errors"], build["fixed"].as_array().map(Vec::len)), (&0.into(), Some(2)), "{build}");
    events.next("all is well", |event| event["event"] == "source" && event["state"] == "synced");
    assert!(get(&server, "/readyz").ends_with("\r\n\r\nready\n"));
    // An empty folder may be a mistake.
    std::fs::remove_file(&file).expect("a file");
    let empty = events.next("the folder is empty", |event| event["event"] == "source" && event["state"] == "error");
    let detail = empty["detail"].as_str().expect("a detail");
    assert!(detail.starts_with("it has no files any more; its last content is served until "), "{detail}");
    assert!(get(&server, "/api/v1/resources").contains("gateway/a.yaml"), "it is still served");
}

#[test]
fn allowed_empty_folder_takes_effect() {
    let folder = Folder::with(&[("gateway/a.yaml", GATEWAY)]);
    let (_served, mut events) = start_with(&folder, "gateway", &["--allow-empty", "--state-dir", "off"]);
    address(&mut events);
    std::fs::remove_file(folder.0.path().join("gateway/a.yaml")).expect("a file");
    let emptied = events.next("Envoys lose all", |event| event["event"] == "emptied");
    assert_eq!((&emptied["gateway"], &emptied["listeners"]), (&"default/default".into(), &1.into()));
    assert!(!folder.0.path().join("state").exists(), "no state is kept");
}

#[test]
fn missing_folder_is_not_ready() {
    let folder = Folder::with(&[("gateway/a.yaml", GATEWAY)]);
    let (_served, mut events) = start(&folder, "gwTYPO");
    let listening = events.next("it listens", |event| event["server"] == "diagnostics");
    events.next("it is missing", |event| event["event"] == "source" && event["state"] == "missing");
    let ready = get(listening["address"].as_str().expect("an address"), "/readyz");
    let why = "gwTYPO is not synced: no such file or directory; nothing is served until it can be read\n";
    assert!(ready.starts_with("HTTP/1.1 503") && ready.ends_with(why), "{ready}");
}

#[test]
fn restart_with_broken_file_serves_last_good_version() {
    let folder = Folder::with(&[("gateway/a.yaml", GATEWAY)]);
    let file = folder.0.path().join("gateway/a.yaml");
    let (served, mut events) = start(&folder, "gateway");
    address(&mut events);
    events.next("all is well", |event| event["event"] == "source" && event["state"] == "synced");
    drop(served);
    std::fs::write(&file, GATEWAY.replace("kind: Mapping", "\tkind: Mapping")).expect("a file");
    let (_served, mut events) = start(&folder, "gateway");
    let server = address(&mut events);
    let ready = get(&server, "/readyz");
    assert!(ready.starts_with("HTTP/1.1 200") && ready.contains("ready\ndegraded: gateway: gateway/a.yaml cannot be read: "), "{ready}");
    assert!(ready.contains("its last readable version, read at "), "{ready}");
    let route = get(&server, "/api/v1/routes");
    assert!(route.contains("/m/"), "its routes are served: {route}");
}

#[test]
fn drift_reports_resources_missing_from_source() {
    let folder = Folder::with(&[("gateway/a.yaml", GATEWAY), ("edited/a.yaml", &GATEWAY.replace("timeout_ms: 1000", "timeout_ms: 2000"))]);
    let (_served, mut events) = start(&folder, "gateway");
    let server = format!("http://{}", address(&mut events));
    let same = folder.run(&["drift", "gateway", "--live", "--server", &server, "--exit-code"]);
    assert!(same.code == 0 && same.out.contains("Nothing differs."), "{} {}", same.out, same.err);
    assert!(same.out.contains("no Envoy is connected: nothing was compared"), "no claim about Envoys without one: {}", same.out);
    let data = folder.run(&["drift", "gateway", "--live", "--server", &server, "--format", "json"]);
    let data: serde_json::Value = serde_json::from_str(&data.out).expect("JSON");
    assert_eq!((data["connected"].as_u64(), data["behind"].as_array().map(Vec::len)), (Some(0), Some(0)));
    let edited = folder.run(&["drift", "edited", "--live", "--server", &server, "--exit-code", "--format", "json"]);
    let data: serde_json::Value = serde_json::from_str(&edited.out).expect("JSON");
    let changes = data["sent"]["envoy"].as_array().expect("a list");
    assert_eq!((edited.code, changes.len()), (1, 1), "{}", edited.out);
    assert_eq!(changes[0]["fields"][0]["path"], "route.timeout");
    assert_eq!(changes[0]["fields"][0]["before_from"]["file"], "edited/a.yaml");
    let unknown = folder.run(&["drift", "gateway", "--live", "--server", &server, "--node", "other"]);
    assert!(unknown.code == 2 && unknown.err.contains("no Envoy with the id `other` is connected"), "{}", unknown.err);
}

#[test]
fn serve_refuses_invalid_arguments_with_sentence() {
    let folder = Folder::with(&[("gateway/a.yaml", GATEWAY)]);
    let refused = folder.run(&["serve", "gateway", "--with-secrets", "--snapshots", "off"]);
    assert!(refused.code == 2 && refused.err.contains("--with-secrets is about the snapshots of --snapshots, which is off"), "{}", refused.err);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = listener.local_addr().expect("an address").to_string();
    let free = "127.0.0.1:0";
    for flag in ["--xds", "--diagnostics", "--snapshots", "--public-snapshots", "--ready"] {
        let mut typed = vec!["serve", "gateway"];
        for other in ["--xds", "--diagnostics", "--snapshots", "--public-snapshots", "--ready"] {
            typed.extend([other, if other == flag { &taken } else { free }]);
        }
        let refused = folder.run(&typed);
        let wanted = format!("{taken} is in use by another program: choose another port by {flag}, or {flag} off");
        assert!(refused.code == 2 && refused.err.contains(&wanted), "{}", refused.err);
    }
}
