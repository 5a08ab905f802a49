//! A real API server as the source: what it holds is what is compiled, through missing CRDs, missing permissions, crashes and forgotten history;
//! and what is written into it.

#[path = "support/cluster.rs"]
mod support;

use chancery_core::compilation::Options;
use chancery_core::dialect::ambassador;
use chancery_core::resource::{Input, Inputs};
use chancery_live::controllers::lease::Holder;
use chancery_live::controllers::writer::Writer;
use chancery_live::engine::{Engine, Settings};
use chancery_live::event::{Event, Events, SourceState};
use chancery_live::sources::kube::{Kube, Settings as Which, connect};
use chancery_live::worker::build::{Build, Builder};
use chancery_live::worker::intake::Drained;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::{Cluster, crd};
use tokio::sync::watch;

/// What follows a cluster.
struct Follower {
    engine: Engine,
    builds: watch::Receiver<Option<Arc<Build>>>,
    all: Arc<Mutex<usize>>,
}

impl Follower {
    fn start(which: Which) -> Self {
        let (out, builds) = watch::channel(None);
        let all: Arc<Mutex<usize>> = Arc::default();
        let counted = all.clone();
        let settings =
            Settings { options: Options::of(&ambassador::DIALECT), spacing: Duration::from_millis(20), recorder: None, events: Events::default() };
        let publish = move |build: &Arc<Build>| {
            *counted.lock().expect("a lock") += 1;
            out.send_replace(Some(build.clone()));
            Ok(())
        };
        let which = Which { dialect: Some(ambassador::DIALECT.name.into()), ..which };
        let engine = Engine::start(settings, vec![Box::new(Kube::new(which))], publish).expect("an engine");
        Self { engine, builds, all }
    }

    /// Waits until the names of the inputs of a kind are these.
    async fn until(&mut self, what: &str, kind: &str, wanted: &[&str]) -> Arc<Build> {
        let begin = Instant::now();
        loop {
            let build = self.builds.borrow().clone();
            let names: Vec<String> = build.iter().flat_map(|build| names(build, kind)).collect();
            if let Some(build) = build.filter(|_| names == wanted) {
                return build;
            }
            let states = || self.engine.states.all();
            assert!(begin.elapsed() < Duration::from_secs(45), "{what}: {names:?} is not {wanted:?}; {:#?}", states());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until a kind is in this state.
    async fn state(&self, kind: &str, wanted: SourceState) -> String {
        let begin = Instant::now();
        loop {
            let all = self.engine.states.all();
            if let Some(status) = all.iter().find(|status| status.kind == kind && status.state == wanted) {
                return status.detail.clone().unwrap_or_default();
            }
            assert!(begin.elapsed() < Duration::from_secs(45), "{kind} is not {wanted:?}: {all:#?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.engine.stop();
    }
}

fn names(build: &Build, kind: &str) -> Vec<String> {
    let prefix = format!("{kind}/");
    build.compilation.inputs.inputs.iter().filter_map(|input| input.name.strip_prefix(&prefix).map(str::to_owned)).collect()
}

/// The same inputs, compiled anew.
fn fresh(build: &Build) -> String {
    let inputs: Vec<Input> = build.compilation.inputs.inputs.iter().map(|of| Input { name: of.name.clone(), text: of.text.clone() }).collect();
    let options = Options::of(&ambassador::DIALECT);
    let not_utf8 = vec![Vec::new(); inputs.len()];
    Builder::new(options).build(Drained { inputs: Inputs { inputs }, not_utf8, ..Drained::default() }).version
}

const GROUP: &str = "getambassador.io";
const MAPPING: &str = "Mapping.getambassador.io";

fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": format!("{GROUP}/v3alpha1"), "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec})
}

fn mapping(name: &str, timeout: u32) -> Value {
    object("Mapping", name, json!({"hostname": "*", "prefix": format!("/{name}/"), "service": "quote", "timeout_ms": timeout}))
}

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

/// What a Role would allow, for a user.
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

async fn what_it_holds_is_followed(cluster: &Cluster) {
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

async fn a_crd_that_comes_later_is_picked_up(cluster: &Cluster) {
    let mut follower = Follower::start(Which { kubeconfig: Some(cluster.kubeconfig("admin")), ..Which::default() });
    follower.until("the first sync", MAPPING, &["default/one"]).await;
    let detail = follower.state("TCPMapping.getambassador.io", SourceState::Missing).await;
    assert!(detail.contains("CRD is not installed"), "{detail}");
    cluster.apply_value(&crd(GROUP, "v3alpha1", "TCPMapping", "tcpmappings")).await;
    cluster.apply_value(&object("TCPMapping", "t", json!({"port": 6000, "service": "quote"}))).await;
    follower.until("the new kind", "TCPMapping.getambassador.io", &["default/t"]).await;
    // A CRD that is removed takes its objects out of the cluster; what was read of them stays, and that is said.
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
    assert_eq!(held, ["default/doomed", "default/one"], "a lost server is no mass deletion");
    // What happens while it is away is told by nobody: it is listed anew, as the server forgets its history when it starts.
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

async fn who_may_see_a_part_sees_that(cluster: &Cluster) {
    let kubeconfig = cluster.user("somebody");
    cluster.apply_value(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})).await;
    let mut elsewhere = mapping("elsewhere", 1000);
    elsewhere["metadata"]["namespace"] = "other".into();
    cluster.apply_value(&elsewhere).await;
    allow(cluster, "somebody", Some("default"), &["mappings", "hosts", "listeners"]).await;
    let mut follower = Follower::start(Which { kubeconfig: Some(kubeconfig.clone()), ..Which::default() });
    follower.until("its own namespace", MAPPING, &["default/one"]).await;
    let detail = follower.state(MAPPING, SourceState::Forbidden).await;
    assert!(detail.starts_with("partial: read in default only"), "{detail}");
    let detail = follower.state("Secret", SourceState::Forbidden).await;
    assert!(detail.contains("resources: [\"secrets\"], verbs: [get, list, watch]"), "{detail}");
    drop(follower);
    // Once it may, it reads the rest.
    allow(cluster, "somebody", None, &["mappings", "hosts", "listeners", "namespaces"]).await;
    let mut follower = Follower::start(Which { kubeconfig: Some(kubeconfig), ..Which::default() });
    follower.until("everything", MAPPING, &["default/one", "other/elsewhere"]).await;
    cluster.delete(&elsewhere).await;
}

async fn a_wrong_kubeconfig_is_told_in_a_sentence(cluster: &Cluster) {
    let right = cluster.kubeconfig("admin");
    let wrong = right.with_file_name("wrong.kubeconfig");
    let told = async |which: Which| connect(&which).await.err().map(|failure| failure.0).unwrap_or_default();
    let missing = told(Which { kubeconfig: Some(wrong.with_file_name("nowhere")), ..Which::default() }).await;
    assert!(missing.starts_with("cannot read the kubeconfig ") && missing.contains("nowhere"), "{missing}");
    std::fs::write(&wrong, "{").expect("a file");
    let garbage = told(Which { kubeconfig: Some(wrong.clone()), ..Which::default() }).await;
    assert!(garbage.contains("wrong.kubeconfig is no kubeconfig"), "{garbage}");
    let context = told(Which { kubeconfig: Some(right.clone()), context: Some("nobody".into()), ..Which::default() }).await;
    assert!(context.contains("there is no context `nobody` in") && context.contains("it has admin"), "{context}");
    let text = std::fs::read_to_string(&right).expect("a file").replace("\"current-context\":\"admin\"", "\"current-context\":\"\"");
    std::fs::write(&wrong, text).expect("a file");
    let current = told(Which { kubeconfig: Some(wrong), ..Which::default() }).await;
    assert!(current.contains("has no current context: choose one by --context"), "{current}");
}

async fn statuses_are_written_where_asked(cluster: &Cluster) {
    let which = Which { kubeconfig: Some(cluster.kubeconfig("admin")), ..Which::default() };
    let broken = object("Mapping", "broken", json!({"hostname": "*", "prefix": "/bad[", "prefix_regex": true, "service": "quote"}));
    cluster.apply_value(&broken).await;
    let mut follower = Follower::start(which.clone());
    follower.until("the first sync", MAPPING, &["default/broken", "default/one"]).await;
    assert!(cluster.get(&mapping("one", 0)).await["status"].is_null(), "nothing is written unasked");
    let (client, namespace) = connect(&which).await.expect("a client");
    // Two replicas and one lease: one writes.
    let mut first = Holder::new(client.clone(), &namespace, "writes", "first");
    let mut second = Holder::new(client.clone(), &namespace, "writes", "second");
    assert_eq!(first.attempt().await, Ok(true));
    assert_eq!(second.attempt().await, Ok(false));
    assert!(first.holds() && !second.holds());
    let task = tokio::spawn(chancery_live::controllers::run::run(follower.builds.clone(), Writer::new(client, false), Some(first)));
    let status = async |object: &Value, wanted: &str| {
        let begin = Instant::now();
        loop {
            let status = cluster.get(object).await["status"].clone();
            if status["state"] == wanted {
                return status;
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "{status} is not {wanted}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    status(&mapping("one", 0), "Running").await;
    let of_broken = status(&broken, "Inactive").await;
    assert!(of_broken["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{of_broken}");
    cluster.apply_value(&mapping("broken", 1000)).await;
    let mended = object("Mapping", "broken", json!({"hostname": "*", "prefix": "/good/", "prefix_regex": false, "service": "quote"}));
    cluster.apply_value(&mended).await;
    assert_eq!(status(&mended, "Running").await["reason"], "", "what was bad is cleared");
    // Our own writes come back as events; they lead to nothing more.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let builds = *follower.all.lock().expect("a lock");
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(*follower.all.lock().expect("a lock"), builds, "it comes to rest");
    task.abort();
    cluster.delete(&mended).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_api_server() {
    let Some(mut cluster) = Cluster::start().await else { return };
    base(&cluster).await;
    what_it_holds_is_followed(&cluster).await;
    a_crd_that_comes_later_is_picked_up(&cluster).await;
    who_may_see_a_part_sees_that(&cluster).await;
    a_wrong_kubeconfig_is_told_in_a_sentence(&cluster).await;
    statuses_are_written_where_asked(&cluster).await;
    a_crash_loses_nothing(&mut cluster).await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_and_waited_for() {
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
    assert_eq!(told, 1, "it is said once");
}
