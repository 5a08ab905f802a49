//! Tests accidents with a real Envoy: broken and emptied folders, missing folders, restarts. The last good configuration
//! keeps serving traffic, and the accident is visible. Does not test single edits; see `envoy`.

#[path = "support/process.rs"]
mod process;
#[path = "support/server.rs"]
mod server;

use chancery_core::compilation::Options;
use chancery_core::dialect::{ambassador, consul, contour};
use chancery_live::event::{Basis, Event, Place};
use chancery_tests::port::free;
use process::{Load, echo, envoy, get, start_envoy, start_envoy_as};
use server::{HOST, RunningEnvoy, RunningServer, has_traffic, listener, mapping, until};
use std::fs;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

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

/// Returns the rejections so far, each as its basis and its places.
fn rejections(server: &RunningServer) -> Vec<(Basis, Vec<Place>)> {
    let of = |event: Event| match event {
        Event::Rejected { basis, places, .. } => Some((basis, places)),
        _ => None,
    };
    server.events.timeline().into_iter().filter_map(|dated| of(dated.event)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejection_points_to_the_script_that_caused_it() {
    let Some(envoy) = envoy() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (xds, port, upstream) = (free(), free(), echo().await);
    let module = |script: &str| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Module\nmetadata: {{name: ambassador, namespace: default}}\nspec:\n  config:\n    \
             diagnostics: {{enabled: false}}\n    lua_scripts: |\n      function envoy_on_request(handle)\n        {script}\n      end\n"
        )
    };
    for (name, text) in [("host.yaml", HOST), ("listener.yaml", &listener(port)), ("mapping.yaml", &mapping(upstream)), ("module.yaml", &module(""))]
    {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let server = RunningServer::start(folder.path(), None, xds, Options::of(&ambassador::DIALECT));
    let logs = tempfile::tempdir().expect("a folder");
    let running = RunningEnvoy(start_envoy(&envoy, logs.path(), format!("127.0.0.1:{xds}"), true, None));
    has_traffic(port).await;
    fs::write(folder.path().join("module.yaml"), module("this is not Lua")).expect("a file");
    // Line 2 of the script.
    let is_script = |place: &Place| place.file.ends_with("module.yaml") && place.field == "spec.config.lua_scripts" && place.line == 9;
    let (basis, places) = until("it is rejected", async || rejections(&server).pop()).await;
    assert!(basis == Basis::Changed && places.iter().all(is_script) && !places.is_empty(), "{basis:?} {places:?}");
    let findings = server.ask("/api/v1/findings").await;
    assert!(findings.contains("the Envoy edge rejects Listener ") && findings.contains("changed since the last accepted version"), "{findings}");
    // For a new server and a new Envoy, nothing was accepted before, so Envoy's message decides.
    drop(running);
    server.stop().await;
    let server = RunningServer::start(folder.path(), None, xds, Options::of(&ambassador::DIALECT));
    let _running = RunningEnvoy(start_envoy(&envoy, logs.path(), format!("127.0.0.1:{xds}"), true, None));
    let (basis, places) = until("it is rejected again", async || rejections(&server).pop()).await;
    assert!(basis == Basis::Named && places.iter().all(is_script) && !places.is_empty(), "{basis:?} {places:?}");
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
        "apiVersion: projectcontour.io/v1alpha1\nkind: ContourConfiguration\nmetadata: {{name: contour, namespace: projectcontour}}\n\
                            spec: {{envoy: {{network: {{adminPort: {admin}}}, metrics: {{address: 127.0.0.1, port: {statistics}}}, \
                            health: {{address: 127.0.0.1, port: {statistics}}}, http: {{address: 127.0.0.1, port: {http}}}, \
                            https: {{address: 127.0.0.1, port: {https}}}}}}}\n"
    );
    fs::write(folder.path().join("proxy.yaml"), proxy).expect("a file");
    fs::write(folder.path().join("settings.yaml"), settings).expect("a file");
    // A configuration of the usual name needs no flag.
    let server = RunningServer::start(folder.path(), None, xds, Options::of(&contour::DIALECT));
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn envoy_that_restarts_gets_what_it_accepted_last() {
    let Some(envoy) = envoy() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (xds, port, upstream) = (free(), free(), echo().await);
    let taken = std::net::TcpListener::bind("0.0.0.0:0").expect("a port");
    for (name, text) in [("host.yaml", HOST), ("listener.yaml", &listener(port)), ("mapping.yaml", &mapping(upstream))] {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let server = RunningServer::start(folder.path(), None, xds, Options::of(&ambassador::DIALECT));
    let logs = tempfile::tempdir().expect("a folder");
    let running = RunningEnvoy(start_envoy(&envoy, logs.path(), format!("127.0.0.1:{xds}"), true, None));
    has_traffic(port).await;
    server.is_well().await;
    // A port that is taken: Envoy rejects the listener.
    let rejected = listener(taken.local_addr().expect("an address").port()).replace("name: http", "name: taken");
    fs::write(folder.path().join("taken.yaml"), rejected).expect("a file");
    const HELD: &str = "default/default: Envoys keep the last accepted version of rejected resources";
    server.reports(200, HELD).await;
    // A later edit is sent, without the rejected resource.
    fs::write(folder.path().join("later.yaml"), mapping(upstream).replace("stay", "later")).expect("a file");
    until("the later edit is served", async || get(port, "/later/x").await).await;
    server.reports(200, "degraded: the Envoy edge rejected Listener taken").await;
    drop(running);
    until("it is gone", async || (!server.ask("/api/v1/envoys").await.contains("edge")).then_some(())).await;
    let _running = RunningEnvoy(start_envoy(&envoy, logs.path(), format!("127.0.0.1:{xds}"), true, None));
    has_traffic(port).await;
    until("the later edit is served", async || get(port, "/later/x").await).await;
    server.reports(200, HELD).await;
    let findings = server.ask("/api/v1/findings").await;
    assert!(findings.contains("the Envoy edge rejected Listener taken"), "{findings}");
    let envoys = server.ask("/api/v1/envoys").await;
    assert!(envoys.contains("\"held\"") && envoys.contains("taken"), "{envoys}");
    assert!(server.ask("/metrics").await.contains("chancery_gateway_held_back{gateway=\"default/default\"} 1"));
    fs::remove_file(folder.path().join("taken.yaml")).expect("a file");
    server.is_well().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn envoy_accepts_routes_of_withheld_clusters() {
    let Some(envoy) = envoy() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (xds, port) = (free(), free());
    // No source provides the certificates of the mesh. A router makes Envoy request the routes, and Consul lets it check their clusters.
    let services = format!(
        "service: {{name: web, port: 8080, connect: {{sidecar_service: {{proxy: {{config: {{protocol: http}}, upstreams: \
         [{{destination_name: api, local_bind_port: {port}}}]}}}}}}}}\n---\n\
         service: {{name: api, port: 9090, address: 127.0.0.1, connect: {{sidecar_service: {{}}}}}}\n"
    );
    let entries = "{kind: proxy-defaults, name: global, config: {protocol: http}}\n---\n\
                   {kind: service-router, name: api, routes: [{match: {http: {path_prefix: /v1}}, destination: {request_timeout: 1s}}]}\n";
    fs::write(folder.path().join("services.yaml"), services).expect("a file");
    fs::write(folder.path().join("entries.yaml"), entries).expect("a file");
    let server = RunningServer::start(folder.path(), None, xds, Options::of(&consul::DIALECT));
    let logs = tempfile::tempdir().expect("a folder");
    let _envoy = RunningEnvoy(start_envoy_as("web-sidecar-proxy", &envoy, logs.path(), format!("127.0.0.1:{xds}"), true, None));
    server.reports(200, "is not sent, because Envoy would reject it: no source provides the certificate `leaf:web:cert`").await;
    // Without its cluster, a route answers 503; the listener and the route table are there.
    until("Envoy answers", async || answers(port, "/v1/a").await.is_some_and(|answer| answer.starts_with("HTTP/1.1 503")).then_some(())).await;
    let rejected = server.events.timeline().into_iter().find(|dated| matches!(dated.event, Event::Rejected { .. }));
    assert!(rejected.is_none(), "{rejected:?}");
    let findings = server.ask("/api/v1/findings").await;
    assert!(findings.contains("is not sent, because Envoy would reject it: no source provides the certificate `leaf:web:cert`"), "{findings}");
    let envoys = server.ask("/api/v1/envoys").await;
    assert!(envoys.contains("\"withheld\""), "{envoys}");
    assert!(server.ask("/metrics").await.contains("chancery_resources_withheld{gateway=\"web-sidecar-proxy\""));
    server.stop().await;
}

/// Returns the answer to a request, with its head.
async fn answers(port: u16, path: &str) -> Option<String> {
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    Some(answer)
}
