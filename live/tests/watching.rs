//! Tests an API server whose events come in any order and any number, and fail: the build must match the server.

#[path = "support/api.rs"]
mod api;
#[path = "support/config.rs"]
mod config;
#[path = "support/doubling.rs"]
mod doubling;
#[path = "support/follower.rs"]
mod follower;

use api::ApiServer;
use chancery_live::event::SourceState;
use chancery_live::sources::kube::{Settings as Which, connect};
use follower::{Follower, MAPPING, fresh, known, mapping, object};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// Starts a server with a Host, a Listener, and this many Mappings.
async fn server(mappings: usize) -> ApiServer {
    let out = ApiServer::start().await;
    out.put(&object("Host", "h", json!({"hostname": "*", "requestPolicy": {"insecure": {"action": "Route"}}})));
    let binding = json!({"namespace": {"from": "ALL"}});
    out.put(&object("Listener", "http", json!({"port": 8080, "protocol": "HTTP", "securityModel": "XFP", "hostBinding": binding})));
    (0..mappings).for_each(|at| out.put(&mapping(&format!("m{at}"), 1000)));
    out
}

fn which(kubeconfig: PathBuf) -> Which {
    Which { kubeconfig: Some(kubeconfig), ..Which::default() }
}

/// Waits until the build matches the server, and matches a fresh compile.
async fn settled(follower: &Follower, server: &ApiServer, what: &str) {
    let begin = Instant::now();
    loop {
        let (wanted, build) = (server.mappings(), follower.builds.borrow().clone());
        if let Some(build) = build.filter(|build| known(build) == wanted) {
            assert_eq!(build.version, fresh(&build), "{what}: the same as from scratch");
            return;
        }
        let found = follower.builds.borrow().as_ref().map(|build| known(build));
        assert!(begin.elapsed() < Duration::from_secs(40), "{what}: {found:#?} is not {wanted:#?}; {:#?}", follower.engine.states.all());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Generates sequences: objects are created, changed and deleted, watches end, history is forgotten (410), requests
/// fail; and a proxy doubles, repeats and reorders the events.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn event_sequences_end_like_fresh_compile() {
    for seed in 1..=6u64 {
        let mut state = seed;
        let mut chance = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (server, folder) = (server(5).await, tempfile::tempdir().expect("a folder"));
        let direct = config::kubeconfig(folder.path(), "direct", &format!("http://{}", server.address));
        let (client, _) = connect(&which(direct)).await.expect("a client");
        let follower = Follower::start(which(doubling::start(client, folder.path()).await));
        settled(&follower, &server, "the first list, in pages").await;
        for step in 0..60 {
            let one = mapping(&format!("m{}", chance(7)), 1000 + u32::try_from(chance(5)).expect("a small number"));
            match chance(12) {
                0..=6 => server.put(&one),
                7 | 8 => server.delete(&one),
                9 => server.close_watches(),
                10 => {
                    server.forget();
                    server.close_watches();
                    // Changes while the source does not watch.
                    server.delete(&one);
                }
                _ => server.fail(2, [500, 429, 503][chance(3) as usize]),
            }
            if chance(3) == 0 {
                tokio::time::sleep(Duration::from_millis(chance(30))).await;
            }
            if step % 20 == 19 {
                settled(&follower, &server, &format!("seed {seed}, step {step}")).await;
            }
        }
        // A late repetition changes nothing.
        tokio::time::sleep(Duration::from_millis(200)).await;
        settled(&follower, &server, &format!("seed {seed}, at rest")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forbidden_kind_keeps_objects_and_is_reported() {
    let (server, folder) = (server(3).await, tempfile::tempdir().expect("a folder"));
    let mut follower = Follower::start(which(config::kubeconfig(folder.path(), "direct", &format!("http://{}", server.address))));
    let all = ["default/m0", "default/m1", "default/m2"];
    follower.until("the first list", MAPPING, &all).await;
    server.fail(u32::MAX, 403);
    server.close_watches();
    let detail = follower.state(MAPPING, SourceState::Forbidden).await;
    assert!(detail.ends_with("the last read state is used"), "{detail}");
    follower.until("nothing is lost", MAPPING, &all).await;
    server.fail(0, 200);
    server.put(&mapping("m3", 1000));
    follower.until("it continues", MAPPING, &["default/m0", "default/m1", "default/m2", "default/m3"]).await;
    follower.state(MAPPING, SourceState::Synced).await;
}

/// Nothing changes after the failure, so no event says that the watch succeeds again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quiet_kind_is_synced_after_failure() {
    let (server, folder) = (server(1).await, tempfile::tempdir().expect("a folder"));
    let mut follower = Follower::start(which(config::kubeconfig(folder.path(), "direct", &format!("http://{}", server.address))));
    follower.until("the first list", MAPPING, &["default/m0"]).await;
    server.fail(u32::MAX, 500);
    server.close_watches();
    let detail = follower.state(MAPPING, SourceState::Error).await;
    assert!(detail.ends_with("the last read state is used"), "{detail}");
    server.fail(0, 200);
    follower.state(MAPPING, SourceState::Synced).await;
    follower.until("nothing is lost", MAPPING, &["default/m0"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_of_thousand_namespaces_are_requested_once() {
    let (server, folder) = (server(0).await, tempfile::tempdir().expect("a folder"));
    server.only_in(3000, "n1234");
    let mut own = mapping("own", 1000);
    own["metadata"]["namespace"] = "n1234".into();
    server.put(&own);
    let mut follower = Follower::start(which(config::kubeconfig(folder.path(), "direct", &format!("http://{}", server.address))));
    follower.until("the one namespace", MAPPING, &["n1234/own"]).await;
    let detail = follower.state(MAPPING, SourceState::Forbidden).await;
    assert!(detail.starts_with("partial: read in n1234 only"), "{detail}");
    let asked = server.reviews();
    assert!(asked < 3100, "it asks {asked} times");
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert!(server.reviews() < asked + 50, "it does not ask about all of them again soon: {}", server.reviews());
}

/// Starts a proxy for CONNECT requests, and reports their targets.
async fn proxy() -> (u16, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let (out, asked) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let out = out.clone();
            tokio::spawn(async move {
                let mut near = BufReader::new(near);
                let (mut first, mut line) = (String::new(), String::new());
                near.read_line(&mut first).await.expect("a request");
                while near.read_line(&mut line).await.is_ok_and(|read| read > 2) {
                    line.clear();
                }
                let _ = out.send(first.trim().to_owned());
                let to = first.split(' ').nth(1).unwrap_or_default().to_owned();
                let mut far = tokio::net::TcpStream::connect(to).await.expect("a server");
                near.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.expect("an answer");
                let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    (port, asked)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_is_reached_through_kubeconfig_proxy() {
    let (server, folder) = (server(1).await, tempfile::tempdir().expect("a folder"));
    let (port, mut asked) = proxy().await;
    let path = config::kubeconfig(folder.path(), "proxied", &format!("http://{}", server.address));
    let mut config: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("a file")).expect("JSON");
    config["clusters"][0]["cluster"]["proxy-url"] = format!("http://127.0.0.1:{port}").into();
    std::fs::write(&path, config.to_string()).expect("a file");
    let mut follower = Follower::start(which(path));
    follower.until("the first list", MAPPING, &["default/m0"]).await;
    assert_eq!(asked.recv().await, Some(format!("CONNECT {} HTTP/1.1", server.address)));
}
