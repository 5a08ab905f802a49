//! What asks a `chancery serve` that runs.
//!
//! What must not be here: Envoys; those are the suites' of the crate that serves.

use crate::Folder;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

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

/// Serves a folder; gives the address of its diagnostics once there is a build.
fn serve(folder: &Folder, name: &str) -> (Served, String) {
    let off = ["--snapshots", "off", "--public-snapshots", "off", "--ready", "off", "--format", "json"];
    let child = Command::new(env!("CARGO_BIN_EXE_chancery"))
        .args(["serve", name, "--xds", "127.0.0.1:0", "--diagnostics", "127.0.0.1:0"])
        .args(off)
        .current_dir(folder.0.path())
        .stdout(Stdio::piped())
        .spawn();
    let mut served = Served(child.expect("the program starts"));
    let mut address = String::new();
    for line in BufReader::new(served.0.stdout.take().expect("a pipe")).lines() {
        let event: serde_json::Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        if event["server"] == "diagnostics" {
            address = format!("http://{}", event["address"].as_str().expect("an address"));
        }
        if event["event"] == "build" {
            break;
        }
    }
    (served, address)
}

#[test]
fn drift_tells_what_a_server_sends_that_the_source_does_not_say() {
    let folder = Folder::with(&[("gateway/a.yaml", GATEWAY), ("edited/a.yaml", &GATEWAY.replace("timeout_ms: 1000", "timeout_ms: 2000"))]);
    let (_served, server) = serve(&folder, "gateway");
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
    let nobody = folder.run(&["drift", "gateway", "--live", "--server", &server, "--node", "nobody"]);
    assert!(nobody.code == 2 && nobody.err.contains("no Envoy with the id `nobody` is connected"), "{}", nobody.err);
}
