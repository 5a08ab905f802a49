//! Tests a real API server as the source: the build follows the cluster through missing CRDs, missing permissions,
//! crashes and forgotten history. Also tests writes into the cluster.

#[path = "support/azure.rs"]
mod azure;
#[path = "support/chart.rs"]
mod chart;
#[path = "support/config.rs"]
mod config;
#[path = "support/crds.rs"]
mod crds;
#[path = "support/doubling.rs"]
mod doubling;
#[path = "support/envoys.rs"]
mod envoys;
#[path = "support/follower.rs"]
mod follower;
#[path = "support/process.rs"]
mod process;
#[path = "support/cluster.rs"]
mod support;
#[path = "support/webhook.rs"]
mod webhook;

use chancery_core::backend::envoy::v3::Service;
use chancery_core::compilation::{OptionValue, Options};
use chancery_core::dialect::{ambassador, contour};
use chancery_core::resource::Input;
use chancery_live::Failure;
use chancery_live::address::Address;
use chancery_live::controllers::lease::{Holder, LASTS, keep};
use chancery_live::controllers::run::Writes;
use chancery_live::controllers::writer::Writer;
use chancery_live::engine::Settings;
use chancery_live::event::{Event, Events, SourceState};
use chancery_live::install::{Install, LEASE};
use chancery_live::runtime::Id;
use chancery_live::serve::{Servers, Writing, serve};
use chancery_live::sources::kube::{Kube, Settings as Which, connect};
use chancery_live::worker::build::Builder;
use chancery_live::worker::intake::Drained;
use chancery_live::xds::clients::Rejected;
use chancery_tests::port::free;
use follower::{Follower, GROUP, MAPPING, fresh, known, mapping, names, object};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Cluster, Relay, crd};
use tokio::sync::watch;

/// Returns the CRD of an HTTPProxy with the cluster's own schema. It has a default and a field that our schema lacks,
/// and accepts a value that our schema refuses.
fn own_crd() -> Value {
    let mut crd = crd("projectcontour.io", "v1", "HTTPProxy", "httpproxies");
    let open = |properties: Value| json!({"type": "object", "properties": properties, "x-kubernetes-preserve-unknown-fields": true});
    let host = open(json!({"fqdn": {"type": "string", "default": "of-the-cluster.example.com"}}));
    let spec = open(json!({"virtualhost": host, "ownField": {"type": "string"}}));
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = open(json!({"spec": spec}));
    crd
}

const STATUSES: Writes = Writes { statuses: true, objects: false };

async fn base(cluster: &Cluster) {
    for (kind, plural) in [("Mapping", "mappings"), ("Host", "hosts"), ("Listener", "listeners")] {
        cluster.apply_value(&crd(GROUP, "v3alpha1", kind, plural)).await;
    }
    cluster.apply_value(&object("Host", "h", json!({"hostname": "*", "requestPolicy": {"insecure": {"action": "Route"}}}))).await;
    let binding = json!({"namespace": {"from": "ALL"}});
    let listener = json!({"port": 8080, "protocol": "HTTP", "securityModel": "XFP", "hostBinding": binding});
    cluster.apply_value(&object("Listener", "http", listener)).await;
    cluster.apply_value(&mapping("one", 1000)).await;
}

/// Gives a user the permissions of a Role.
async fn allow(cluster: &Cluster, user: &str, namespace: Option<&str>, resources: &[&str]) {
    let (role, binding) = if namespace.is_some() { ("Role", "RoleBinding") } else { ("ClusterRole", "ClusterRoleBinding") };
    let rules = json!([{"apiGroups": ["*"], "resources": resources, "verbs": ["get", "list", "watch"]}]);
    let metadata = json!({"name": format!("{user}-reads"), "namespace": namespace});
    let version = "rbac.authorization.k8s.io/v1";
    cluster.apply_value(&json!({"apiVersion": version, "kind": role, "metadata": metadata, "rules": rules})).await;
    let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": format!("{user}-reads")});
    let subjects = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]);
    cluster.apply_value(&json!({"apiVersion": version, "kind": binding, "metadata": metadata, "roleRef": reference, "subjects": subjects})).await;
}

async fn source_follows_cluster_objects(cluster: &Cluster) {
    let mut follower = Follower::start(Which { kubeconfig: Some(cluster.kubeconfig("admin")), ..Which::default() });
    let build = follower.until("the first sync", MAPPING, &["default/one"]).await;
    assert_eq!(build.errors, 0, "{:?}", build.findings());
    follower.state(MAPPING, SourceState::Synced).await;
    cluster.apply_value(&mapping("two", 1000)).await;
    let build = follower.until("a Mapping comes", MAPPING, &["default/one", "default/two"]).await;
    let before = build.version.clone();
    cluster.apply_value(&mapping("two", 2000)).await;
    let begin = Instant::now();
    while follower.builds.borrow().as_ref().is_some_and(|build| build.version == before) {
        assert!(begin.elapsed() < Duration::from_secs(20), "an edit arrives");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    cluster.delete(&mapping("two", 0)).await;
    let build = follower.until("a Mapping goes", MAPPING, &["default/one"]).await;
    assert_eq!(build.version, fresh(&build));
}

async fn later_crd_is_followed(cluster: &Cluster) {
    let mut follower = Follower::start(Which { kubeconfig: Some(cluster.kubeconfig("admin")), ..Which::default() });
    follower.until("the first sync", MAPPING, &["default/one"]).await;
    let detail = follower.state("TCPMapping.getambassador.io", SourceState::Missing).await;
    assert!(detail.contains("CRD is not installed"), "{detail}");
    cluster.apply_value(&crd(GROUP, "v3alpha1", "TCPMapping", "tcpmappings")).await;
    cluster.apply_value(&object("TCPMapping", "t", json!({"port": 6000, "service": "quote"}))).await;
    follower.until("the new kind", "TCPMapping.getambassador.io", &["default/t"]).await;
    // A removed CRD removes its objects from the cluster. Its last objects stay, and the state reports that.
    cluster.delete(&crd(GROUP, "v3alpha1", "TCPMapping", "tcpmappings")).await;
    follower.state("TCPMapping.getambassador.io", SourceState::Missing).await;
}

async fn a_crash_loses_nothing(cluster: &mut Cluster) {
    cluster.apply_value(&mapping("doomed", 1000)).await;
    let mut follower = Follower::start(Which { kubeconfig: Some(cluster.kubeconfig("admin")), ..Which::default() });
    follower.until("the first sync", MAPPING, &["default/doomed", "default/one"]).await;
    cluster.kill();
    follower.state("kubernetes", SourceState::Error).await;
    let held = follower.builds.borrow().as_ref().map(|build| names(build, MAPPING)).unwrap_or_default();
    assert_eq!(held, ["default/doomed", "default/one"], "a lost server deletes no objects");
    // No event reports the changes during the outage. The source lists again, because the server forgets its history at
    // its start.
    cluster.begin();
    cluster.ready().await;
    cluster.apply_value(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "unrelated", "namespace": "default"}})).await;
    cluster.delete(&mapping("doomed", 0)).await;
    cluster.apply_value(&mapping("after", 1000)).await;
    cluster.kill();
    cluster.begin();
    cluster.ready().await;
    let build = follower.until("after the crash", MAPPING, &["default/after", "default/one"]).await;
    assert_eq!(build.version, fresh(&build), "the same as from scratch");
    cluster.delete(&mapping("after", 0)).await;
    follower.until("it is still followed", MAPPING, &["default/one"]).await;
}

async fn partial_permissions_give_partial_objects(cluster: &Cluster) {
    let kubeconfig = cluster.user("reader");
    cluster.apply_value(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})).await;
    let mut elsewhere = mapping("elsewhere", 1000);
    elsewhere["metadata"]["namespace"] = "other".into();
    cluster.apply_value(&elsewhere).await;
    allow(cluster, "reader", Some("default"), &["mappings", "hosts", "listeners"]).await;
    let mut follower = Follower::start(Which { kubeconfig: Some(kubeconfig.clone()), ..Which::default() });
    follower.until("its own namespace", MAPPING, &["default/one"]).await;
    let detail = follower.state(MAPPING, SourceState::Forbidden).await;
    assert!(detail.starts_with("partial: read in default only"), "{detail}");
    let detail = follower.state("Secret", SourceState::Forbidden).await;
    assert!(detail.contains("resources: [\"secrets\"], verbs: [get, list, watch]"), "{detail}");
    drop(follower);
    // With the permission, it reads the rest.
    allow(cluster, "reader", None, &["mappings", "hosts", "listeners", "namespaces"]).await;
    let mut follower = Follower::start(Which { kubeconfig: Some(kubeconfig), ..Which::default() });
    follower.until("everything", MAPPING, &["default/one", "other/elsewhere"]).await;
    cluster.delete(&elsewhere).await;
}

async fn objects_accepted_by_cluster_are_valid(cluster: &Cluster) {
    cluster.apply_value(&own_crd()).await;
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "app", "namespace": "default"},
        "spec": {"clusterIP": "None", "ports": [{"port": 80}]}});
    cluster.apply_value(&service).await;
    let proxy = json!({"apiVersion": "projectcontour.io/v1", "kind": "HTTPProxy", "metadata": {"name": "own", "namespace": "default"},
        "spec": {"virtualhost": {}, "ownField": "x", "routes": [{"services": [{"name": "app", "port": 80}], "ownField": {"y": 1}}]}});
    cluster.apply_value(&proxy).await;
    let which = Which { kubeconfig: Some(cluster.kubeconfig("admin")), ..Which::default() };
    let mut follower = Follower::of(&contour::DIALECT, which);
    let kind = "HTTPProxy.projectcontour.io";
    let build = follower.until("the HTTPProxy", kind, &["default/own"]).await;
    let texts: Vec<String> = build.findings().into_iter().map(|finding| format!("{}: {}", finding.code, finding.message)).collect();
    assert_eq!(build.errors, 0, "a field of the cluster's own is no reason to refuse what it stored: {texts:#?}");
    let tables = build.gateways[0].snapshot.get(&Service::Routes.type_url()).expect("tables");
    let has = |text: &str| tables.by_name.values().any(|table| table.value.windows(text.len()).any(|window| window == text.as_bytes()));
    assert!(has("of-the-cluster.example.com"), "the default is the cluster's");
    // Our own schema judges the same text from a file.
    let inputs: Vec<Input> = build.compilation.inputs.inputs.clone();
    let not_utf8 = vec![Vec::new(); inputs.len()];
    let from_files = Builder::new(Options::of(&contour::DIALECT)).build(Drained { inputs: inputs.into(), not_utf8, ..Drained::default() });
    assert!(from_files.errors > 0, "from a file it would be refused");
    cluster.delete(&proxy).await;
    follower.until("it goes", kind, &[]).await;
}

async fn wrong_kubeconfig_is_reported_in_one_sentence(cluster: &Cluster) {
    let right = cluster.kubeconfig("admin");
    let wrong = right.with_file_name("wrong.kubeconfig");
    let told = async |which: Which| connect(&which).await.err().map(|failure| failure.0).unwrap_or_default();
    let missing = told(Which { kubeconfig: Some(wrong.with_file_name("nowhere")), ..Which::default() }).await;
    assert!(missing.starts_with("cannot read the kubeconfig ") && missing.contains("nowhere"), "{missing}");
    std::fs::write(&wrong, "{").expect("a file");
    let garbage = told(Which { kubeconfig: Some(wrong.clone()), ..Which::default() }).await;
    assert!(garbage.contains("wrong.kubeconfig is no kubeconfig"), "{garbage}");
    let context = told(Which { kubeconfig: Some(right.clone()), context: Some("missing".into()), ..Which::default() }).await;
    assert!(context.contains("there is no context `missing` in") && context.contains("it has admin"), "{context}");
    let text = std::fs::read_to_string(&right).expect("a file").replace("\"current-context\":\"admin\"", "\"current-context\":\"\"");
    std::fs::write(&wrong, text).expect("a file");
    let current = told(Which { kubeconfig: Some(wrong), ..Which::default() }).await;
    assert!(current.contains("has no current context: choose one by --context"), "{current}");
}

async fn statuses_are_written_if_requested(cluster: &Cluster) {
    let which = Which { kubeconfig: Some(cluster.kubeconfig("admin")), ..Which::default() };
    let broken = object("Mapping", "broken", json!({"hostname": "*", "prefix": "/bad[", "prefix_regex": true, "service": "quote"}));
    cluster.apply_value(&broken).await;
    let mut follower = Follower::start(which.clone());
    follower.until("the first sync", MAPPING, &["default/broken", "default/one"]).await;
    assert!(cluster.get(&mapping("one", 0)).await["status"].is_null(), "nothing is written unasked");
    let (client, namespace) = connect(&which).await.expect("a client");
    // Two replicas share one Lease: one of them writes.
    let mut first = Holder::new(client.clone(), &namespace, "writes", "first");
    let mut second = Holder::new(client.clone(), &namespace, "writes", "second");
    assert_eq!(first.attempt().await, Ok(true));
    assert_eq!(second.attempt().await, Ok(false));
    assert!(first.holds() && !second.holds());
    let (rejects, rejected) = watch::channel(Rejected::default());
    let writer = Writer::new(client, false);
    let (leading, kept) = keep(first);
    tokio::spawn(kept);
    let task = tokio::spawn(chancery_live::controllers::run::run(follower.builds.clone(), rejected, writer, Some(leading), STATUSES));
    let status = async |object: &Value, wanted: &str| until_state(cluster, object, wanted).await;
    status(&mapping("one", 0), "Running").await;
    let of_broken = status(&broken, "Inactive").await;
    assert!(of_broken["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{of_broken}");
    cluster.apply_value(&mapping("broken", 1000)).await;
    let fixed = object("Mapping", "broken", json!({"hostname": "*", "prefix": "/good/", "prefix_regex": false, "service": "quote"}));
    cluster.apply_value(&fixed).await;
    assert_eq!(status(&fixed, "Running").await["reason"], "", "what was bad is cleared");
    // A rejection by an Envoy appears on the object that made the resource, until an Envoy accepts it.
    rejects.send_replace(Arc::new(BTreeMap::from([(format!("{MAPPING}/default/one"), "the Envoy e rejects c: no".to_owned())])));
    assert_eq!(status(&mapping("one", 0), "Inactive").await["reason"], "the Envoy e rejects c: no");
    rejects.send_replace(Rejected::default());
    status(&mapping("one", 0), "Running").await;
    // Our own writes return as events, and lead to no further writes.
    comes_to_rest("no more builds", || follower.engine.metrics.builds()).await;
    task.abort();
    cluster.delete(&fixed).await;
}

async fn foreign_statuses_stay_unless_taken_over(cluster: &Cluster) {
    let (client, _) = connect(&Which { kubeconfig: Some(cluster.kubeconfig("admin")), ..Which::default() }).await.expect("a client");
    cluster.apply_value(&mapping("theirs", 1000)).await;
    let id = Id::new(MAPPING, "default", "theirs");
    cluster.apply_status(&mapping("theirs", 1000), json!({"state": "Theirs"})).await;
    let refused = Writer::new(client.clone(), false).status(&id, &json!({"state": "Running"})).await.expect_err("another controller's status");
    assert!(refused.contains("is written by another controller") && refused.contains("--take-over"), "{refused}");
    assert_eq!(cluster.get(&mapping("theirs", 0)).await["status"]["state"], "Theirs");
    assert_eq!(Writer::new(client, true).status(&id, &json!({"state": "Running"})).await, Ok(()));
    assert_eq!(cluster.get(&mapping("theirs", 0)).await["status"]["state"], "Running");
    cluster.delete(&mapping("theirs", 0)).await;
}

async fn deleted_object_is_not_created_by_its_finalizers(cluster: &Cluster) {
    let (client, _) = connect(&Which { kubeconfig: Some(cluster.kubeconfig("admin")), ..Which::default() }).await.expect("a client");
    let mut writer = Writer::new(client, false);
    let id = Id::new(MAPPING, "default", "released");
    let uid = async || cluster.get(&mapping("released", 0)).await["metadata"]["uid"].as_str().expect("a uid").to_owned();
    cluster.apply_value(&mapping("released", 1000)).await;
    let first = uid().await;
    assert_eq!(writer.finalizers(&id, &first, &["example.com/used".into()]).await, Ok(()));
    assert_eq!(cluster.get(&mapping("released", 0)).await["metadata"]["finalizers"][0], "example.com/used");
    cluster.delete(&mapping("released", 0)).await;
    // The second write comes from a process that has not seen the end of the object.
    for _ in 0..2 {
        assert_eq!(writer.finalizers(&id, &first, &[]).await, Ok(()));
        assert!(cluster.get(&mapping("released", 0)).await.is_null(), "it is gone");
    }
    // The user creates it again.
    cluster.apply_value(&mapping("released", 2000)).await;
    assert_ne!(uid().await, first);
    assert_eq!(writer.finalizers(&id, &first, &["example.com/used".into()]).await, Ok(()));
    assert!(cluster.get(&mapping("released", 0)).await["metadata"]["finalizers"].is_null(), "another object stays unchanged");
    cluster.delete(&mapping("released", 0)).await;
}

/// Tests a folder's edits in a cluster: each reaches a real Envoy, and no request is lost.
async fn edits_arrive_at_a_real_envoy(cluster: &Cluster) {
    let Some(envoy) = process::envoy() else { return };
    let (port, upstream, folder) = (free(), process::echo().await, tempfile::tempdir().expect("a folder"));
    let routed = |name: &str, rewrite: &str| {
        let service = format!("http://127.0.0.1:{upstream}");
        object("Mapping", name, json!({"hostname": "*", "prefix": format!("/{name}/"), "rewrite": rewrite, "service": service}))
    };
    let binding = json!({"namespace": {"from": "ALL"}});
    let listener = object("Listener", "edits", json!({"port": port, "protocol": "HTTP", "securityModel": "XFP", "hostBinding": binding}));
    for object in [&listener, &routed("stay", "/stay/"), &routed("move", "/v0/")] {
        cluster.apply_value(object).await;
    }
    let replica = Replica::start(&Which { kubeconfig: Some(cluster.kubeconfig("admin")), ..Which::default() }, "edits");
    replica.version().await;
    let xds = replica.events.timeline().into_iter().find_map(|dated| match dated.event {
        Event::Listening { address, .. } => Some(address),
        _ => None,
    });
    let mut child = process::start_envoy(&envoy, folder.path(), xds.expect("it listens"), true, None);
    let begin = Instant::now();
    while process::get(port, "/stay/x").await.is_none() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no traffic: {:#?}", replica.events.timeline());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let load = process::Load::start(port, "/stay/x");
    let mut took = Vec::new();
    for edit in 1..=60 {
        let target = format!("/v{edit}/");
        cluster.apply_value(&routed("move", &target)).await;
        let begin = Instant::now();
        while !process::get(port, "/move/x").await.is_some_and(|path| path.starts_with(&target)) {
            assert!(begin.elapsed() < Duration::from_secs(15), "the edit to {target} does not arrive");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        took.push(begin.elapsed());
    }
    let asked = load.none_lost().await;
    took.sort();
    eprintln!("a cluster: 60 edits, median {:?}, longest {:?} after the API server took them; {asked} requests", took[30], took[59]);
    let _ = child.kill();
    let _ = child.wait();
    let _ = replica.end.send(());
    assert_eq!(replica.task.await.expect("it ends"), Ok(()));
    for object in [listener, routed("stay", ""), routed("move", "")] {
        cluster.delete(&object).await;
    }
}

/// One of several replicas, with the settings of the manifests.
struct Replica {
    events: Events,
    end: tokio::sync::oneshot::Sender<()>,
    task: tokio::task::JoinHandle<Result<(), Failure>>,
}

impl Replica {
    fn start(cluster: &Which, name: &str) -> Self {
        Self::of(cluster, name, Options::of(&ambassador::DIALECT), STATUSES)
    }

    /// Starts a replica with these options and writes.
    fn of(cluster: &Which, name: &str, options: Options, writes: Writes) -> Self {
        let events = Events::default();
        let dialect = options.dialect.as_ref().map(ToString::to_string);
        let settings = Settings { options, spacing: Duration::from_millis(20), recorder: None, events: events.clone() };
        let which = Which { dialect, ..cluster.clone() };
        let writing = Writing { cluster: cluster.clone(), take_over: false, lease: Some(LEASE.into()), replica: name.into(), writes };
        let off = || Address::Off;
        let servers = Servers {
            xds: Address::At("127.0.0.1:0".into()),
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
            admission: None,
        };
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let ended = async { drop(ended.await) };
            serve(settings, vec![Box::new(Kube::new(which))], &servers, Some(&writing), None, ended).await
        });
        Self { events, end, task }
    }

    async fn version(&self) -> String {
        let begin = Instant::now();
        loop {
            let built = self.events.timeline().into_iter().rev().find_map(|dated| match dated.event {
                Event::Build { version, .. } => Some(version),
                _ => None,
            });
            if let Some(version) = built {
                return version;
            }
            assert!(begin.elapsed() < Duration::from_secs(45) && !self.task.is_finished(), "no build: {:#?}", self.events.timeline());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Applies documents in YAML.
async fn apply(cluster: &Cluster, documents: &str) {
    for document in documents.split("---\n") {
        let read = chancery_core::text::parse(document, &chancery_core::text::Limits::default());
        let json = chancery_core::text::to_json(&read.root.expect("a manifest"), false);
        cluster.apply_value(&serde_json::from_str(&json).expect("an object")).await;
    }
}

/// Waits until `is` holds of an object. A missing object is null.
async fn until(cluster: &Cluster, what: &str, object: &Value, holds: impl Fn(&Value) -> bool) {
    let begin = Instant::now();
    loop {
        let now = cluster.get(object).await;
        if holds(&now) {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(40), "{what}: {now:#}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until a value has not changed for a while. A late change delays the end, and endless changes fail.
async fn comes_to_rest<T: PartialEq + std::fmt::Debug>(what: &str, now: impl Fn() -> T) -> T {
    let begin = Instant::now();
    loop {
        let before = now();
        tokio::time::sleep(Duration::from_secs(1)).await;
        if now() == before {
            return before;
        }
        assert!(begin.elapsed() < Duration::from_secs(40), "{what}: {:?}", now());
    }
}

/// Returns an object of Contour or of the Gateway API. Without a namespace, the object is cluster-scoped.
fn named(version: &str, kind: &str, namespace: Option<&str>, name: &str, spec: Value) -> Value {
    let metadata = namespace.map_or_else(|| json!({"name": name}), |namespace| json!({"name": name, "namespace": namespace}));
    json!({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})
}

const BOTH: Writes = Writes { statuses: true, objects: true };

async fn provisioner_runs_with_manifest_permissions(cluster: &Cluster) {
    let (api, group) = ("gateway.networking.k8s.io/v1", "gateway.networking.k8s.io");
    let mut class = crd(group, "v1", "GatewayClass", "gatewayclasses");
    class["spec"]["scope"] = "Cluster".into();
    // The API server requires an approval annotation for CRDs of this group.
    let approved = json!({"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api/pull/2997"});
    for mut crd in [class, crd(group, "v1", "Gateway", "gateways")] {
        crd["metadata"]["annotations"] = approved.clone();
        cluster.apply_value(&crd).await;
    }
    cluster.apply_value(&crd("projectcontour.io", "v1alpha1", "ContourConfiguration", "contourconfigurations")).await;
    apply(cluster, &Install { dialect: Some("contour".into()), write_status: true, write_objects: true, ..Install::default() }.manifests()).await;
    let which = Which { kubeconfig: Some(cluster.account("chancery", "chancery")), ..Which::default() };
    cluster.apply_value(&named(api, "GatewayClass", None, "c", json!({"controllerName": "projectcontour.io/gateway-controller"}))).await;
    let listeners = json!([{"name": "http", "port": 80, "protocol": "HTTP"}]);
    let web = named(api, "Gateway", Some("default"), "web", json!({"gatewayClassName": "c", "listeners": listeners}));
    cluster.apply_value(&web).await;
    let mut options = Options::of(&contour::DIALECT);
    options.insert("controller", OptionValue::Text("gateway-provisioner".into()));
    let replica = Replica::of(&which, "provisioner", options.clone(), BOTH);
    let made = [
        named("apps/v1", "Deployment", Some("default"), "contour-web", Value::Null),
        named("apps/v1", "DaemonSet", Some("default"), "envoy-web", Value::Null),
        named("v1", "Secret", Some("default"), "contourcert-web", Value::Null),
        named("v1", "Secret", Some("default"), "envoycert-web", Value::Null),
        named("rbac.authorization.k8s.io/v1", "Role", Some("default"), "contour-web", Value::Null),
        named("rbac.authorization.k8s.io/v1", "ClusterRole", None, "contour-default-web", Value::Null),
    ];
    for object in &made {
        until(cluster, "it is created", object, |now| !now.is_null()).await;
    }
    // The process ends, and the Gateway is deleted while no process runs.
    let _ = replica.end.send(());
    assert_eq!(replica.task.await.expect("it ends"), Ok(()));
    cluster.delete(&web).await;
    let replica = Replica::of(&which, "provisioner", options, BOTH);
    for object in &made {
        until(cluster, "it goes with its Gateway", object, |now| now.is_null() || now["metadata"]["deletionTimestamp"].is_string()).await;
    }
    let _ = replica.end.send(());
    assert_eq!(replica.task.await.expect("it ends"), Ok(()));
}

async fn used_contour_configuration_has_finalizer(cluster: &Cluster) {
    let which = Which { kubeconfig: Some(cluster.account("chancery", "chancery")), ..Which::default() };
    let mut options = Options::of(&contour::DIALECT);
    options.insert("controller-arg", OptionValue::List(vec!["--contour-config-name=c".into()]));
    let configuration = named("projectcontour.io/v1alpha1", "ContourConfiguration", Some("projectcontour"), "c", json!({}));
    cluster.apply_value(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "projectcontour"}})).await;
    cluster.apply_value(&configuration).await;
    let replica = Replica::of(&which, "contour", options, STATUSES);
    until(cluster, "its condition is written", &configuration, |now| {
        now["status"]["conditions"][0]["type"] == "Valid" && now["status"]["conditions"][0]["status"] == "True"
    })
    .await;
    until(cluster, "it is held", &configuration, |now| now["metadata"]["finalizers"].as_array().is_some_and(|all| all.len() == 1)).await;
    cluster.delete(&configuration).await;
    until(cluster, "it is let go", &configuration, Value::is_null).await;
    let _ = replica.end.send(());
    assert_eq!(replica.task.await.expect("it ends"), Ok(()));
}

/// A route gets another parent, and the process crashes before it reconciles. The next process corrects the old and the
/// new parent.
async fn crash_before_status_is_repaired_after_restart(cluster: &Cluster) {
    let which = Which { kubeconfig: Some(cluster.account("chancery", "chancery")), ..Which::default() };
    let proxy = |name: &str, spec: Value| named("projectcontour.io/v1", "HTTPProxy", Some("default"), name, spec);
    let service = json!({"services": [{"name": "app", "port": 80}]});
    let child = |name: &str| proxy(name, json!({"routes": [service]}));
    let root =
        |of: &str| proxy("root", json!({"virtualhost": {"fqdn": "root.example.com"}, "includes": [{"name": of, "conditions": [{"prefix": "/a"}]}]}));
    for object in [root("one"), child("one"), child("two")] {
        cluster.apply_value(&object).await;
    }
    let status = async |name: &str, wanted: &str| until(cluster, name, &child(name), |now| now["status"]["currentStatus"] == wanted).await;
    let first = Replica::of(&which, "crashes", Options::of(&contour::DIALECT), STATUSES);
    status("one", "valid").await;
    status("two", "orphaned").await;
    first.task.abort();
    cluster.apply_value(&root("two")).await;
    let next = Replica::of(&which, "next", Options::of(&contour::DIALECT), STATUSES);
    status("one", "orphaned").await;
    status("two", "valid").await;
    let _ = next.end.send(());
    assert_eq!(next.task.await.expect("it ends"), Ok(()));
    for object in [root("two"), child("one"), child("two")] {
        cluster.delete(&object).await;
    }
}

async fn clock_jump_keeps_lease(cluster: &Cluster) {
    let which = Which { kubeconfig: Some(cluster.kubeconfig("admin")), ..Which::default() };
    let (client, namespace) = connect(&which).await.expect("a client");
    let mut first = Holder::new(client.clone(), &namespace, "clocks", "first");
    let mut second = Holder::new(client, &namespace, "clocks", "second");
    assert_eq!(first.attempt().await, Ok(true));
    for time in ["1970-01-01T00:00:00.000000Z", "2999-01-01T00:00:00.000000Z"] {
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "clocks", "namespace": namespace}, "spec": {
            "holderIdentity": "first", "leaseDurationSeconds": 15, "renewTime": time, "acquireTime": time}});
        cluster.apply_value(&lease).await;
        assert_eq!(second.attempt().await, Ok(false), "the holder's clock says {time}");
        assert_eq!(first.attempt().await, Ok(true), "it continues");
    }
    assert!(first.holds() && !second.holds());
}

async fn two_replicas_run_with_manifest_permissions(cluster: &Cluster) {
    apply(cluster, &Install { dialect: Some("ambassador".into()), write_status: true, replicas: 2, ..Install::default() }.manifests()).await;
    // The account that the manifests bind, with a certificate of its name.
    let account = cluster.account("chancery", "chancery");
    let which = Which { kubeconfig: Some(account), ..Which::default() };
    let (first, second) = (Replica::start(&which, "first"), Replica::start(&which, "second"));
    assert_eq!(first.version().await, second.version().await, "both serve the same");
    for replica in [&first, &second] {
        let trouble = |event: &Event| matches!(event, Event::Source { state: SourceState::Forbidden | SourceState::Error, .. });
        let lacks: Vec<Event> = replica.events.timeline().into_iter().map(|dated| dated.event).filter(trouble).collect();
        assert!(lacks.is_empty(), "the permissions are enough: {lacks:#?}");
    }
    until_state(cluster, &mapping("one", 0), "Running").await;
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": LEASE, "namespace": "chancery"}});
    let holder = async || cluster.get(&lease).await["spec"]["holderIdentity"].clone();
    let before = holder().await;
    let (writes, waits, next) = if before == "first" { (first, second, "second") } else { (second, first, "first") };
    let _ = writes.end.send(());
    assert_eq!(writes.task.await.expect("it ends"), Ok(()));
    assert_ne!(holder().await, before, "who ends gives the lease back");
    let given_back = Instant::now();
    cluster.apply_value(&mapping("late", 1000)).await;
    until_state(cluster, &mapping("late", 0), "Running").await;
    assert_eq!(holder().await, next, "it was {before}");
    assert!(given_back.elapsed() < LASTS, "the next one need not wait until the lease has run out");
    cluster.delete(&mapping("late", 0)).await;
    let _ = waits.end.send(());
    assert_eq!(waits.task.await.expect("it ends"), Ok(()));
}

/// Waits until the status of an object contains this.
async fn until_state(cluster: &Cluster, object: &Value, wanted: &str) -> Value {
    let begin = Instant::now();
    loop {
        let status = cluster.get(object).await["status"].clone();
        if status["state"] == wanted {
            return status;
        }
        assert!(begin.elapsed() < Duration::from_secs(40), "{status} is not {wanted}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_api_server() {
    let Some(mut cluster) = Cluster::start().await else { return };
    // The log helps to read a failure.
    let _ = chancery_live::log::start(chancery_live::log::Format::Text, &"info".parse().expect("a level"), &Events::default());
    base(&cluster).await;
    source_follows_cluster_objects(&cluster).await;
    later_crd_is_followed(&cluster).await;
    partial_permissions_give_partial_objects(&cluster).await;
    objects_accepted_by_cluster_are_valid(&cluster).await;
    wrong_kubeconfig_is_reported_in_one_sentence(&cluster).await;
    envoys::envoys_in_pods_are_found_and_asked(&cluster).await;
    statuses_are_written_if_requested(&cluster).await;
    foreign_statuses_stay_unless_taken_over(&cluster).await;
    deleted_object_is_not_created_by_its_finalizers(&cluster).await;
    edits_arrive_at_a_real_envoy(&cluster).await;
    two_replicas_run_with_manifest_permissions(&cluster).await;
    chart::three_replicas_of_chart_survive_killed_leader(&cluster).await;
    webhook::applies_get_warnings_and_none_is_lost(&cluster).await;
    clock_jump_keeps_lease(&cluster).await;
    azure::an_application_gateway_follows_the_cluster(&cluster).await;
    provisioner_runs_with_manifest_permissions(&cluster).await;
    used_contour_configuration_has_finalizer(&cluster).await;
    crash_before_status_is_repaired_after_restart(&cluster).await;
    a_crash_loses_nothing(&mut cluster).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn written_objects_pass_real_schemas() {
    let Some(cluster) = Cluster::start().await else { return };
    let _ = chancery_live::log::start(chancery_live::log::Format::Text, &"info".parse().expect("a level"), &Events::default());
    crds::statuses_are_those_of_the_real_schemas(&cluster).await;
}

#[tokio::test]
async fn missing_server_is_reported_and_awaited() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("config");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "c", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    });
    std::fs::write(&path, config.to_string()).expect("a file");
    let follower = Follower::start(Which { kubeconfig: Some(path), ..Which::default() });
    let detail = follower.state("kubernetes", SourceState::Error).await;
    assert!(detail.starts_with("the API server cannot be reached"), "{detail}");
    assert!(follower.builds.borrow().is_none(), "nothing is served before all is known");
    let told = follower.engine.events.timeline().into_iter().filter(|dated| matches!(dated.event, Event::Source { .. })).count();
    assert_eq!(told, 1, "it is reported once");
}

/// Returns the API server's Mappings by their input names, with their specs.
async fn held(cluster: &Cluster) -> BTreeMap<String, Value> {
    let all = cluster.list(&mapping("any", 0)).await;
    all.into_iter().map(|object| (format!("default/{}", object["metadata"]["name"].as_str().unwrap_or_default()), object["spec"].clone())).collect()
}

/// Kills the server, cuts the network, forgets history, and changes objects meanwhile, while a proxy doubles and
/// reorders all events. Each time the build must match the cluster. `CHANCERY_CHAOS` is the number of rounds, and
/// `CHANCERY_SEED` seeds the random numbers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chaos_leaves_state_equal_to_cluster() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (rounds, mut seed) = (number("CHANCERY_CHAOS", 3), number("CHANCERY_SEED", 7));
    let mut chance = move |of: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % of
    };
    let Some(mut cluster) = Cluster::start().await else { return };
    base(&cluster).await;
    let relay = Relay::start(cluster.address()).await;
    let relayed = cluster.kubeconfig_by("relayed", relay.port);
    // Events come twice, late and in another order, too.
    let (client, _) = connect(&Which { kubeconfig: Some(relayed), ..Which::default() }).await.expect("a client");
    let kubeconfig = doubling::start(client, cluster.folder()).await;
    let follower = Follower::start(Which { kubeconfig: Some(kubeconfig), ..Which::default() });
    for round in 0..rounds {
        let fault = if round < 3 { round } else { chance(3) };
        match fault {
            0 => relay.cut(true),
            1 => cluster.kill(),
            _ => {}
        }
        if fault == 1 {
            tokio::time::sleep(Duration::from_millis(500)).await;
            cluster.begin();
            cluster.ready().await;
        }
        for _ in 0..chance(8) + 4 {
            let object = mapping(&format!("m{}", chance(6)), 1000 + u32::try_from(chance(5)).expect("a small number"));
            let is_there = !cluster.get(&object).await.is_null();
            if is_there && chance(3) == 0 { cluster.delete(&object).await } else { cluster.apply_value(&object).await }
        }
        if fault == 2 {
            // The server's history begins after the last known version.
            cluster.kill();
            cluster.begin();
            cluster.ready().await;
        }
        relay.cut(false);
        let begin = Instant::now();
        loop {
            let wanted = held(&cluster).await;
            let build = follower.builds.borrow().clone();
            if let Some(build) = build.filter(|build| known(build) == wanted) {
                assert_eq!(build.version, fresh(&build), "round {round}: the same as from scratch");
                break;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "round {round}, fault {fault}: {:#?}", follower.engine.states.all());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        println!("round {round}: fault {fault}, right after {} ms", begin.elapsed().as_millis());
    }
}
