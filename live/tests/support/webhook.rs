//! Tests the validating webhook behind a real API server: an apply shows our findings as warnings, and no apply is lost while our server is gone.

use super::follower::object;
use super::support::Cluster;
use base64ct::{Base64, Encoding};
use chancery_core::compilation::Options;
use chancery_core::dialect::ambassador;
use chancery_live::address::Address;
use chancery_live::admission::Admission;
use chancery_live::engine::Settings;
use chancery_live::event::Events;
use chancery_live::serve::{Servers, serve};
use chancery_live::sources::kube::{Kube, Settings as Which};
use chancery_live::xds::tls::Files;
use chancery_tests::port::free;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

const MAPPINGS: &str = "/apis/getambassador.io/v3alpha1/namespaces/default/mappings";
/// The number of applies, unless `CHANCERY_APPLIES` has another.
const APPLIES: usize = 150;
/// The applies that run at the same time.
const AT_ONCE: usize = 3;

/// Starts a server with the webhook, and with the certificate of the API server, which is for the same address. Its runtime is its own, so that a
/// shutdown ends its connections too, as the end of a process would.
fn start(cluster: &Cluster, port: u16) -> Runtime {
    let off = || Address::Off;
    let file = |name: &str| cluster.folder().join(name);
    let tls = Files { certificate: file("server.crt"), key: file("server.key"), client_ca: None };
    let servers = Servers {
        xds: off(),
        diagnostics: off(),
        snapshots: off(),
        public_snapshots: off(),
        ready: off(),
        tls: None,
        token: None,
        with_secrets: false,
        proxies: None,
        canary: true,
        ttl: None,
        replicas: Vec::new(),
        page: None,
        admission: Some(Admission { address: Address::At(format!("127.0.0.1:{port}")), tls, deny: Vec::new() }),
    };
    let which = Which { dialect: Some("ambassador".into()), kubeconfig: Some(cluster.kubeconfig("admin")), ..Which::default() };
    let settings =
        Settings { options: Options::of(&ambassador::DIALECT), spacing: Duration::from_millis(20), recorder: None, events: Events::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.spawn(async move { serve(settings, vec![Box::new(Kube::new(which))], &servers, None, None, std::future::pending()).await });
    runtime
}

/// The configuration of the webhook, as `manifests --admission` writes it, but with the address of this machine. It waits long enough for a busy
/// machine: a review that takes too long shows no warning.
fn configuration(cluster: &Cluster, port: u16) -> Value {
    let authority = std::fs::read(cluster.folder().join("ca.crt")).expect("the CA");
    let client = json!({"url": format!("https://127.0.0.1:{port}/admission"), "caBundle": Base64::encode_string(&authority)});
    let rules = json!([{"apiGroups": ["getambassador.io"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": ["mappings"]}]);
    let webhook = json!({"name": "check.chancery.dev", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
                         "timeoutSeconds": 30, "clientConfig": client, "rules": rules});
    let version = "admissionregistration.k8s.io/v1";
    json!({"apiVersion": version, "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "chancery"}, "webhooks": [webhook]})
}

/// Applies a Mapping with an unknown field. Returns the warnings.
async fn apply(client: &Client, name: &str) -> Vec<String> {
    let spec = json!({"hostname": "*", "prefix": format!("/{name}/"), "service": "quote", "timout_ms": 5000});
    let mut mapping = object("Mapping", name, spec);
    mapping["metadata"]["labels"] = json!({"test": "webhook"});
    let path = format!("{MAPPINGS}/{name}?fieldManager=test&force=true");
    let request = http::Request::patch(path).header("content-type", "application/apply-patch+yaml");
    let request = request.body(Body::from(mapping.to_string().into_bytes())).expect("a request");
    let answer = client.send(request).await.expect("an answer");
    assert!(answer.status().is_success(), "{name}: {}", answer.status());
    let warnings = answer.headers().get_all("warning").into_iter();
    warnings.map(|warning| String::from_utf8_lossy(warning.as_bytes()).into_owned()).collect()
}

/// Applies Mappings, several at once. Returns how many applies showed the finding.
async fn apply_all(client: &Client, numbers: std::ops::Range<usize>) -> usize {
    let numbers: Vec<usize> = numbers.collect();
    let chunks = numbers.chunks(numbers.len().div_ceil(AT_ONCE).max(1)).map(<[usize]>::to_vec);
    let tasks: Vec<JoinHandle<usize>> = chunks
        .map(|chunk| {
            let client = client.clone();
            tokio::spawn(async move {
                let mut warned = 0;
                for number in chunk {
                    warned += usize::from(is_warned(&apply(&client, &format!("applied-{number}")).await));
                }
                warned
            })
        })
        .collect();
    let mut warned = 0;
    for task in tasks {
        warned += task.await.expect("the applies");
    }
    warned
}

fn is_warned(warnings: &[String]) -> bool {
    warnings.iter().any(|warning| warning.contains("timout_ms") && warning.contains("unknown-field"))
}

/// Waits until an apply shows the finding.
async fn warns(client: &Client, name: &str) {
    let begin = Instant::now();
    loop {
        let warnings = apply(client, name).await;
        if is_warned(&warnings) {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "an apply shows {warnings:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

pub async fn applies_get_warnings_and_none_is_lost(cluster: &Cluster) {
    let count = std::env::var("CHANCERY_APPLIES").ok().and_then(|count| count.parse().ok()).unwrap_or(APPLIES);
    let (client, port) = (cluster.admin().await, free());
    let server = start(cluster, port);
    let configuration = configuration(cluster, port);
    cluster.apply_value(&configuration).await;
    warns(&client, "applied-0").await;
    let third = count / 3;
    let warned = apply_all(&client, 0..third).await;
    assert_eq!(warned, third, "a server that runs reviews every apply");
    server.shutdown_background();
    assert_eq!(apply_all(&client, third..2 * third).await, 0, "the server is gone");
    let server = start(cluster, port);
    warns(&client, "applied-0").await;
    assert_eq!(apply_all(&client, 2 * third..count).await, count - 2 * third, "a server that runs again reviews every apply");
    let stored = cluster.list(&object("Mapping", "applied-0", json!({}))).await;
    let stored = stored.iter().filter(|mapping| mapping["metadata"]["name"].as_str().is_some_and(|name| name.starts_with("applied-"))).count();
    assert_eq!(stored, count, "no apply is lost");
    server.shutdown_background();
    cluster.delete(&configuration).await;
    let all = http::Request::delete(format!("{MAPPINGS}?labelSelector=test%3Dwebhook")).body(Body::empty()).expect("a request");
    assert!(client.send(all).await.expect("an answer").status().is_success());
}
