//! Installs the CRDs of Emissary, Contour and the Gateway API, and tests whether their schemas accept our writes.
//!
//! Like the API server's sources, they are in Go modules. Does not test other objects; see `cluster`.

use super::follower::{Follower, MAPPING, mapping, object};
use super::support::Cluster;
use chancery_core::compilation::{OptionValue, Options};
use chancery_core::dialect::contour;
use chancery_core::text::{Limits, parse, to_json};
use chancery_live::controllers::run::{Writes, run};
use chancery_live::controllers::writer::Writer;
use chancery_live::sources::kube::{Settings as Which, connect};
use chancery_live::xds::clients::Rejected;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The modules, and the files or folders in them.
const MODULES: [(&str, &str); 3] = [
    ("github.com/projectcontour/contour@v1.30.3", "examples/contour/01-crds.yaml"),
    ("github.com/emissary-ingress/emissary/v3@v3.9.1", "pkg/api/getambassador.io/crds.yaml"),
    ("sigs.k8s.io/gateway-api@v1.2.1", "config/crd/standard"),
];
/// The version of Emissary's CRDs that users write. Other versions need its webhook for conversion.
const EMISSARY: &str = "v3alpha1";

/// Returns the folder of a module, after a download if necessary.
fn module(name: &str) -> PathBuf {
    let output = Command::new("go").args(["mod", "download", "-json", name]).current_dir(std::env::temp_dir()).output().expect("go");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    PathBuf::from(answer["Dir"].as_str().unwrap_or_else(|| panic!("{name} cannot be had: {answer} {}", String::from_utf8_lossy(&output.stderr))))
}

fn documents(path: &Path) -> Vec<Value> {
    let mut files = vec![path.to_owned()];
    if path.is_dir() {
        files = std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
        files.retain(|file| file.file_name().is_some_and(|name| name != "kustomization.yaml"));
    }
    let text: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).expect("a file")).collect();
    let documents = text.iter().flat_map(|text| text.split("\n---\n"));
    let read = documents.filter_map(|document| serde_json::from_str(&to_json(&parse(document, &Limits::default()).root?, false)).ok());
    read.filter(|value: &Value| value["kind"] == "CustomResourceDefinition").collect()
}

/// Installs the CRDs.
async fn install(cluster: &Cluster) {
    for (name, path) in MODULES {
        let all = documents(&module(name).join(path));
        assert!(all.len() > 3, "{name} has {} CRDs in {path}", all.len());
        for mut crd in all {
            if let (Some(spec), true) = (crd["spec"].as_object_mut(), name.contains("emissary")) {
                spec.remove("conversion");
                if let Some(versions) = spec.get_mut("versions").and_then(Value::as_array_mut) {
                    versions.retain(|version| version["name"] == EMISSARY);
                    versions.iter_mut().for_each(|version| (version["storage"], version["served"]) = (true.into(), true.into()));
                    if versions.is_empty() {
                        continue;
                    }
                }
            }
            cluster.apply_value(&crd).await;
        }
    }
}

/// Waits until a status contains this.
async fn until(cluster: &Cluster, follower: &Follower, object: &Value, what: &str, holds: impl Fn(&Value) -> bool) {
    let begin = Instant::now();
    loop {
        let status = cluster.get(object).await["status"].clone();
        if holds(&status) {
            return;
        }
        let states = || follower.engine.states.all().into_iter().map(|of| (of.kind, of.state, of.detail)).collect::<Vec<_>>();
        let is_built = follower.builds.borrow().is_some();
        assert!(begin.elapsed() < Duration::from_secs(40), "{what}: {status:#}; built: {is_built}; {:#?}", states());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Returns the status of a condition.
fn condition<'v>(of: &'v Value, name: &str) -> Option<&'v str> {
    of.as_array()?.iter().find(|condition| condition["type"] == name)?["status"].as_str()
}

const OURS: &str = "chancery.dev/Accepted";
const STATUSES: Writes = Writes { statuses: true, objects: false };

/// Checks that these schemas accept the written statuses, including statuses of resources that an Envoy rejects.
pub async fn statuses_are_those_of_the_real_schemas(cluster: &Cluster) {
    install(cluster).await;
    let which = Which { kubeconfig: Some(cluster.kubeconfig("admin")), ..Which::default() };
    let (client, _) = connect(&which).await.expect("a client");
    emissary(cluster, &which, Writer::new(client.clone(), false)).await;
    contour(cluster, &which, Writer::new(client, false)).await;
}

async fn emissary(cluster: &Cluster, which: &Which, writer: Writer) {
    let host = object("Host", "h", json!({"hostname": "*", "requestPolicy": {"insecure": {"action": "Route"}}}));
    let binding = json!({"namespace": {"from": "ALL"}});
    let listener = object("Listener", "http", json!({"port": 8080, "protocol": "HTTP", "securityModel": "XFP", "hostBinding": binding}));
    let bad = object("Mapping", "bad", json!({"hostname": "*", "prefix": "/bad[", "prefix_regex": true, "service": "quote"}));
    for object in [&host, &listener, &mapping("one", 1000), &bad] {
        cluster.apply_value(object).await;
    }
    let follower = Follower::start(which.clone());
    let (rejects, rejected) = watch::channel(Rejected::default());
    let task = tokio::spawn(run(follower.builds.clone(), rejected, writer, None, STATUSES));
    until(cluster, &follower, &host, "the Host", |status| status["state"] == "Ready").await;
    until(cluster, &follower, &mapping("one", 0), "the Mapping", |status| status["state"] == "Running").await;
    until(cluster, &follower, &bad, "the bad Mapping", |status| {
        status["state"] == "Inactive" && status["reason"].as_str().is_some_and(|why| !why.is_empty())
    })
    .await;
    rejects.send_replace(Arc::new(BTreeMap::from([(format!("{MAPPING}/default/one"), "the Envoy e rejects c: no".to_owned())])));
    until(cluster, &follower, &mapping("one", 0), "the rejected Mapping", |status| status["state"] == "Inactive").await;
    task.abort();
}

async fn contour(cluster: &Cluster, which: &Which, writer: Writer) {
    let of = |version: &str, kind: &str, name: &str, spec: Value| json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec});
    let (own, alpha, gateway) = ("projectcontour.io/v1", "projectcontour.io/v1alpha1", "gateway.networking.k8s.io/v1");
    let service = of("v1", "Service", "app", json!({"clusterIP": "None", "ports": [{"port": 80}]}));
    let proxy = |name: &str, to: &str| {
        let routes = json!([{"services": [{"name": to, "port": 80}]}]);
        of(own, "HTTPProxy", name, json!({"virtualhost": {"fqdn": format!("{name}.example.com")}, "routes": routes}))
    };
    let extension = of(alpha, "ExtensionService", "auth", json!({"services": [{"name": "app", "port": 80}]}));
    let mut configuration = of(alpha, "ContourConfiguration", "c", json!({"gateway": {"gatewayRef": {"namespace": "default", "name": "web"}}}));
    configuration["metadata"]["namespace"] = "projectcontour".into();
    let mut class = of(gateway, "GatewayClass", "c", json!({"controllerName": "projectcontour.io/gateway-controller"}));
    class["metadata"].as_object_mut().expect("an object").remove("namespace");
    let web = of(gateway, "Gateway", "web", json!({"gatewayClassName": "c", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}));
    let rules = json!([{"backendRefs": [{"name": "app", "port": 80}]}]);
    let route = of(gateway, "HTTPRoute", "r", json!({"parentRefs": [{"name": "web"}], "rules": rules}));
    cluster.apply_value(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "projectcontour"}})).await;
    for object in [&service, &proxy("good", "app"), &proxy("bad", "nothing"), &extension, &configuration, &class, &web, &route] {
        cluster.apply_value(object).await;
    }
    let mut options = Options::of(&contour::DIALECT);
    options.insert("contour-config-name", OptionValue::Text("c".into()));
    let follower = Follower::with(options, which.clone());
    let (rejects, rejected) = watch::channel(Rejected::default());
    let task = tokio::spawn(run(follower.builds.clone(), rejected, writer, None, STATUSES));
    until(cluster, &follower, &proxy("good", ""), "the HTTPProxy", |status| status["currentStatus"] == "valid").await;
    until(cluster, &follower, &proxy("bad", ""), "the bad HTTPProxy", |status| condition(&status["conditions"], "Valid") == Some("False")).await;
    until(cluster, &follower, &extension, "the ExtensionService", |status| condition(&status["conditions"], "Valid") == Some("True")).await;
    until(cluster, &follower, &configuration, "the ContourConfiguration", |status| condition(&status["conditions"], "Valid") == Some("True")).await;
    until(cluster, &follower, &web, "the Gateway", |status| condition(&status["conditions"], "Programmed").is_some()).await;
    until(cluster, &follower, &route, "the HTTPRoute", |status| condition(&status["parents"][0]["conditions"], "Accepted") == Some("True")).await;
    let rejected = ["HTTPProxy.projectcontour.io/default/good", "HTTPRoute.gateway.networking.k8s.io/default/r"];
    let rejected = rejected.map(|name| (name.to_owned(), "the Envoy e rejects c: no".to_owned()));
    rejects.send_replace(Arc::new(BTreeMap::from(rejected)));
    for wanted in ["False", "True"] {
        until(cluster, &follower, &proxy("good", ""), "our condition", |status| condition(&status["conditions"], OURS) == Some(wanted)).await;
        until(cluster, &follower, &route, "our condition", |status| condition(&status["parents"][0]["conditions"], OURS) == Some(wanted)).await;
        rejects.send_replace(Rejected::default());
    }
    task.abort();
}
