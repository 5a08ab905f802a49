//! Tests Envoys in pods, reached through a port-forward: through a real API server, and a stand-in for a kubelet with
//! the kubelet's own streams.
//!
//! Does not run Envoy: the answers are fixed.

use super::support::Cluster;
use chancery_live::envoys::{Reach, Search, find, overview, stats};
use chancery_live::sources::kube::{Settings, connect};
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};
use std::path::PathBuf;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Creates a running pod on the node of the stand-in.
async fn pod(cluster: &Cluster, name: &str, image: &str, port: u16) {
    let container = json!({"name": "c", "image": image, "ports": [{"containerPort": port, "name": "admin"}]});
    let metadata = json!({"name": name, "namespace": "default", "labels": {"app": name}});
    let spec = json!({"nodeName": "here", "containers": [container]});
    cluster.apply_value(&json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})).await;
    let state = json!({"name": "c", "ready": true, "image": image, "imageID": "", "restartCount": 0, "state": {"running": {}}});
    let status = json!({"status": {"phase": "Running", "containerStatuses": [state]}});
    let pods: Api<Pod> = Api::namespaced(cluster.admin().await, "default");
    pods.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.expect("a status");
}

/// Creates a user with these permissions.
async fn allow(cluster: &Cluster, user: &str, rules: &[(&str, &[&str])]) {
    let rules: Vec<Value> = rules.iter().map(|(resource, verbs)| json!({"apiGroups": [""], "resources": [resource], "verbs": verbs})).collect();
    let version = "rbac.authorization.k8s.io/v1";
    let metadata = json!({"name": user});
    cluster.apply_value(&json!({"apiVersion": version, "kind": "ClusterRole", "metadata": metadata, "rules": rules})).await;
    let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user});
    let subjects = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]);
    cluster
        .apply_value(&json!({"apiVersion": version, "kind": "ClusterRoleBinding", "metadata": metadata, "roleRef": reference, "subjects": subjects}))
        .await;
}

/// Starts a server that answers like an Envoy's admin interface, with long statistics.
async fn admin() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let many: Vec<Value> = (0..20_000).map(|at| json!({"name": format!("cluster.c{at}.upstream_rq_total"), "value": at})).collect();
    let answers = [
        ("/server_info", json!({"version": "x/1.36.2/Clean", "state": "LIVE", "uptime_current_epoch": "5s"})),
        ("/stats", json!({ "stats": many })),
        ("/clusters", json!({"cluster_statuses": [{"name": "quote"}]})),
        ("/certs", json!({"certificates": []})),
    ];
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = [0; 512];
            let length = stream.read(&mut asked).await.unwrap_or_default();
            let asked = String::from_utf8_lossy(&asked[..length]).into_owned();
            let body =
                answers.iter().find(|(path, _)| asked.starts_with(&format!("GET {path}"))).map(|(_, body)| body.to_string()).unwrap_or_default();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            drop(stream.write_all(format!("{head}{body}").as_bytes()).await);
        }
    });
    port
}

async fn client(kubeconfig: PathBuf) -> Client {
    connect(&Settings { kubeconfig: Some(kubeconfig), ..Settings::default() }).await.expect("a client").0
}

fn reach(client: &Client, pod: &str, port: u16) -> Reach {
    Reach::Pod { client: client.clone(), namespace: "default".into(), pod: pod.into(), port }
}

pub async fn envoys_in_pods_are_found_and_asked(cluster: &Cluster) {
    let _kubelet = cluster.kubelet("here").await;
    let port = admin().await;
    pod(cluster, "edge", "docker.io/envoyproxy/envoy:v1.36.2", port).await;
    pod(cluster, "web", "docker.io/library/nginx", 80).await;
    let admin = client(cluster.kubeconfig("admin")).await;
    let found = find(&admin, &Search::default()).await.expect("pods");
    assert!(!found.is_cut);
    assert_eq!(found.envoys.iter().map(|of| (of.pod.as_str(), of.port, of.ready)).collect::<Vec<_>>(), [("edge", port, true)]);
    let by_labels = find(&admin, &Search { selector: Some("app=web".into()), ..Search::default() }).await.expect("pods");
    assert_eq!(by_labels.envoys.iter().map(|of| of.pod.as_str()).collect::<Vec<_>>(), ["web"]);
    let how = overview(&reach(&admin, "edge", port)).await.expect("an answer");
    assert_eq!((how.version.as_str(), how.clusters[0].name.as_str()), ("1.36.2", "quote"));
    let (_, count) = stats(&reach(&admin, "edge", port), "upstream_rq_total").await.expect("a long answer");
    assert_eq!(count, 19_999, "a megabyte comes whole");
    let refused = overview(&reach(&admin, "edge", 1)).await.expect_err("nothing listens there");
    assert!(refused.contains("default/edge") && refused.contains("port 1"), "{refused}");
    let gone = overview(&reach(&admin, "gone", port)).await.expect_err("there is no such pod");
    assert!(gone.contains("no pod default/gone"), "{gone}");
    let new_user = client(cluster.user("new-user")).await;
    let why = find(&new_user, &Search::default()).await.expect_err("it may list nothing").0;
    assert!(why.contains("resources: [\"pods\"], verbs: [list]"), "{why}");
    allow(cluster, "new-user", &[("pods", &["get", "list"])]).await;
    let why = overview(&reach(&new_user, "edge", port)).await.expect_err("it may forward nothing");
    assert!(why.contains("resources: [\"pods/portforward\"], verbs: [get, create]"), "{why}");
    allow(cluster, "new-user", &[("pods", &["get", "list"]), ("pods/portforward", &["get", "create"])]).await;
    overview(&reach(&new_user, "edge", port)).await.expect("these rules are enough");
}
