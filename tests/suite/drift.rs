//! Checks that a real Envoy with a compiled configuration shows no drift, however it got the configuration; and that after a change to one
//! field, drift reports only that field.
//!
//! Each input goes to an Envoy twice: as one bootstrap, and as files that Envoy reads like the resources of a management server (listeners and
//! clusters, with tables, endpoints and certificates by name).
//!
//! `CHANCERY_ENVOY` names the program; without it the test runs nothing. The test covers every example. With `CHANCERY_DRIFT=N` and
//! `CHANCERY_CORPUS`, it also covers N inputs of each dialect in the corpus (`cargo xtask test drift`).
//!
//! Does not send requests to Envoy; see `differential`.

use crate::{envoy as corpus, examples};
use chancery_core::backend::envoy::v3::pb;
use chancery_core::backend::envoy::{self as backend, Document};
use chancery_core::compare::{ChangeKind, Side, SideSource, compare};
use chancery_core::envoy_config::{EnvoyConfig, Running};
use chancery_core::ir::SecretReference;
use chancery_tests::chance::Chance;
use chancery_tests::port;
use chancery_tests::work::Work;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// A running Envoy. Dropping it stops the process.
struct Envoy(Child);

impl Drop for Envoy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The result of comparing.
#[derive(Default)]
struct Tally {
    asked: usize,
    edits: usize,
    not_started: Vec<String>,
    failures: Vec<String>,
}

/// Returns the body of a response of the admin interface.
fn admin(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: admin\r\nconnection: close\r\n\r\n").ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = (String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase(), &bytes[end + 4..]);
    let body = if head.contains("transfer-encoding: chunked") { whole(body)? } else { body.to_vec() };
    head.contains(" 200 ").then(|| String::from_utf8(body).ok()).flatten()
}

/// Joins the chunks of a body.
fn whole(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    loop {
        let line = rest.windows(2).position(|two| two == b"\r\n")?;
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..line]).ok()?.trim(), 16).ok()?;
        if length == 0 {
            return Some(out);
        }
        out.extend_from_slice(rest.get(line + 2..line + 2 + length)?);
        rest = rest.get(line + 4 + length..)?;
    }
}

/// Returns the config dump of an Envoy with this bootstrap, or the reason why Envoy does not start.
fn dump(program: &OsString, folder: &Path, mut bootstrap: Value) -> Result<String, String> {
    let port = port::free();
    bootstrap["admin"] = json!({ "address": { "socket_address": { "address": "127.0.0.1", "port_value": port } } });
    let (config, log) = (folder.join("envoy.json"), folder.join("log"));
    fs::write(&config, bootstrap.to_string()).expect("a file");
    let mut command = Command::new(program);
    command.args(["--concurrency", "1", "--use-dynamic-base-id", "--log-level", "error", "-c"]).arg(&config);
    let child = command.stdout(Stdio::null()).stderr(fs::File::create(&log).expect("a file")).spawn().expect("Envoy starts");
    let mut running = Envoy(child);
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(30) {
        if running.0.try_wait().is_ok_and(|ended| ended.is_some()) {
            break;
        }
        if admin(port, "/ready").is_some() {
            return admin(port, "/config_dump?include_eds").ok_or_else(|| "it has no dump".into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    Err(fs::read_to_string(&log).unwrap_or_default().lines().take(3).collect())
}

/// Writes a resource to a separate file, and returns a reference to it.
fn file(folder: &Path, kind: &str, type_url: &str, resources: &[Value]) -> Value {
    let number = fs::read_dir(folder).map_or(0, Iterator::count);
    let typed = resources.iter().map(|resource| {
        let mut resource = resource.clone();
        resource["@type"] = json!(type_url);
        resource
    });
    let path = folder.join(format!("{kind}-{number}.json"));
    fs::write(&path, json!({ "version_info": "1", "resources": typed.collect::<Vec<_>>() }).to_string()).expect("a file");
    json!({ "path_config_source": { "path": path }, "resource_api_version": "V3" })
}

const TYPES: &str = "type.googleapis.com/envoy.";

/// Moves the configuration to files: listeners and clusters, and tables, endpoints and certificates by name.
fn by_files(folder: &Path, mut bootstrap: Value) -> Value {
    let mut resources = bootstrap["static_resources"].take();
    let mut list = |name: &str| resources[name].take().as_array().cloned().unwrap_or_default();
    let (mut listeners, mut clusters) = (list("listeners"), list("clusters"));
    listeners.iter_mut().for_each(|listener| named(folder, listener));
    for cluster in &mut clusters {
        named(folder, cluster);
        if cluster["type"] == "STATIC" && cluster["load_assignment"].is_object() {
            let mut assignment = cluster["load_assignment"].take();
            assignment["cluster_name"] = json!(format!("endpoints of {}", cluster["name"].as_str().unwrap_or_default()));
            cluster["type"] = json!("EDS");
            cluster["eds_cluster_config"] = json!({
                "service_name": assignment["cluster_name"],
                "eds_config": file(folder, "endpoints", &format!("{TYPES}config.endpoint.v3.ClusterLoadAssignment"), &[assignment])
            });
            cluster.as_object_mut().expect("an object").remove("load_assignment");
        }
    }
    bootstrap.as_object_mut().expect("an object").remove("static_resources");
    bootstrap["node"] = json!({ "id": "test", "cluster": "test" });
    bootstrap["dynamic_resources"] = json!({
        "lds_config": file(folder, "listeners", &format!("{TYPES}config.listener.v3.Listener"), &listeners),
        "cds_config": file(folder, "clusters", &format!("{TYPES}config.cluster.v3.Cluster"), &clusters)
    });
    bootstrap
}

/// Moves tables and certificates to files, and refers to them by name.
fn named(folder: &Path, of: &mut Value) {
    match of {
        Value::Object(members) => {
            if let Some(mut table) = members.remove("route_config") {
                let name = format!("table {}", fs::read_dir(folder).map_or(0, Iterator::count));
                table["name"] = json!(name);
                named(folder, &mut table);
                let source = file(folder, "routes", &format!("{TYPES}config.route.v3.RouteConfiguration"), &[table]);
                members.insert("rds".into(), json!({ "route_config_name": name, "config_source": source }));
            }
            if let Some(certificates) = members.remove("tls_certificates") {
                let by_name = certificates.as_array().into_iter().flatten().enumerate().map(|(at, certificate)| {
                    let name = format!("certificate {at} {}", fs::read_dir(folder).map_or(0, Iterator::count));
                    let secret = json!({ "name": name, "tls_certificate": certificate });
                    json!({ "name": name, "sds_config": file(folder, "secrets", &format!("{TYPES}extensions.transport_sockets.tls.v3.Secret"), &[secret]) })
                });
                members.insert("tls_certificate_sds_secret_configs".into(), by_name.collect());
            }
            members.values_mut().for_each(|value| named(folder, value));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| named(folder, value)),
        _ => {}
    }
}

/// Tries one input both ways.
fn try_one(program: &OsString, name: &str, mut work: Work, tally: &mut Tally) {
    let Work { compilation, compiler } = &mut work;
    let Some(gateway) = compilation.gateways().next() else { return };
    let lookup = |reference: &SecretReference| gateway.of().key_material(reference);
    let options = backend::Options { document: Document::Bootstrap, secrets: Some(&lookup), ..backend::Options::default() };
    let text = backend::v3::emit(gateway.ir, &options, compiler.emitted.of(gateway)).text();
    let bootstrap: Value = serde_json::from_str(&text).expect("the bootstrap is JSON");
    // An Envoy that uses a management server would wait for it.
    let asks = bootstrap.get("dynamic_resources").is_some() || text.contains("\"api_config_source\"");
    if asks || bootstrap["static_resources"]["listeners"].as_array().is_none_or(Vec::is_empty) {
        return;
    }
    let source = EnvoyConfig::standing_alone(gateway.ir, &options);
    for way in ["bootstrap", "files"] {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("drift").join(format!("{name}-{way}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        let config = if way == "files" { by_files(&folder, bootstrap.clone()) } else { bootstrap.clone() };
        let text = match dump(program, &folder, config) {
            Ok(text) => text,
            // A configuration that Envoy rejects as a bootstrap is also invalid as files.
            Err(why) => {
                tally.not_started.push(format!("{name} by {way}: {why}"));
                return;
            }
        };
        let running = Running::read(&text).expect("what Envoy tells is read");
        tally.asked += 1;
        for change in differences(&source, &running.config) {
            tally.failures.push(format!("{name} by {way}: {change}"));
        }
        let mut chance = Chance::new(name.bytes().map(u64::from).sum());
        for (what, edited) in edits(&source, &mut chance) {
            tally.edits += 1;
            let told = differences(&edited, &running.config);
            if told.len() != 1 || !told[0].starts_with(&what) {
                tally.failures.push(format!("{name} by {way}: after an edit of {what}: {told:?}"));
            }
        }
        let _ = fs::remove_dir_all(&folder);
    }
}

/// Returns the differences as `KIND of NAME: FIELD`.
fn differences(source: &EnvoyConfig, running: &EnvoyConfig) -> Vec<String> {
    let comparison = compare(&Side { config: source, source: None }, &Side { config: running, source: None });
    let told = comparison.envoy.into_iter().map(|change| {
        assert!(change.change != ChangeKind::Changed || !change.fields.is_empty(), "a change says in what");
        let fields: Vec<_> = change.fields.iter().map(|field| field.path.as_str()).collect();
        format!("{}: {} {}: {}", change.kind, change.change.name(), change.name, fields.join(" and "))
    });
    told.collect()
}

/// Returns copies with one changed field, each with the expected start of the reported drift.
fn edits(source: &EnvoyConfig, chance: &mut Chance) -> Vec<(String, EnvoyConfig)> {
    let mut out = Vec::new();
    let mut edit = |what: &str, one: &mut dyn FnMut(&mut EnvoyConfig) -> Option<()>| {
        let mut edited = source.clone();
        out.extend(one(&mut edited).map(|()| (what.to_string(), edited)));
    };
    let timeout = Some(pb::Duration { seconds: 4321, nanos: 0 });
    let (listener, cluster) = (chance.below(source.listeners.len()), chance.below(source.clusters.len()));
    edit("cluster: changed", &mut |of| {
        of.clusters.all_mut().get_mut(cluster)?.message.connect_timeout = timeout;
        Some(())
    });
    edit("cluster: changed", &mut |of| {
        let endpoints =
            of.clusters.all_mut().iter_mut().rev().find_map(|of| of.message.load_assignment.as_mut().filter(|of| !of.endpoints.is_empty()))?;
        let endpoint = endpoints.endpoints.first_mut()?.lb_endpoints.first_mut()?;
        match endpoint.host_identifier.as_mut()? {
            pb::endpoint::lb_endpoint::HostIdentifier::Endpoint(of) => of.hostname = "edited.example.org".into(),
            pb::endpoint::lb_endpoint::HostIdentifier::EndpointName(_) => return None,
        }
        Some(())
    });
    edit("listener: changed", &mut |of| {
        of.listeners.get_mut(listener)?.message.tcp_backlog_size = Some(77);
        Some(())
    });
    edit("filter chain: changed", &mut |of| manager(of, listener, &mut |manager| manager.max_request_headers_kb = Some(11)));
    edit("virtual host: changed", &mut |of| {
        let mut done = None;
        manager(of, listener, &mut |manager| {
            table(manager, &mut |host| {
                host.include_request_attempt_count = !host.include_request_attempt_count;
                done = Some(());
            });
        })?;
        done
    });
    edit("route: changed", &mut |of| {
        let mut done = None;
        manager(of, listener, &mut |manager| {
            table(manager, &mut |host| {
                done = host.routes.first_mut().map(|route| route.stat_prefix = "edited".into());
            });
        })?;
        done
    });
    out
}

/// Edits the connection manager of the first chain of a listener.
fn manager(of: &mut EnvoyConfig, listener: usize, edit: &mut dyn FnMut(&mut pb::hcm::HttpConnectionManager)) -> Option<()> {
    let chain = of.listeners.get_mut(listener)?.message.filter_chains.first_mut()?;
    chain.filters.iter_mut().find_map(|filter| {
        let Some(pb::listener::filter::ConfigType::TypedConfig(config)) = &mut filter.config_type else { return None };
        let mut manager = config.downcast_ref::<pb::hcm::HttpConnectionManager>()?.clone();
        edit(&mut manager);
        *config = pb::Any::pack(manager);
        Some(())
    })
}

/// Edits the first virtual host of a connection manager's table.
fn table(of: &mut pb::hcm::HttpConnectionManager, edit: &mut dyn FnMut(&mut pb::route::VirtualHost)) {
    if let Some(pb::hcm::http_connection_manager::RouteSpecifier::RouteConfig(table)) = &mut of.route_specifier {
        table.virtual_hosts.first_mut().into_iter().for_each(edit);
    }
}

fn settle(what: &str, tally: Tally) {
    let Tally { asked, edits, not_started, failures } = tally;
    println!("{what}: {asked} Envoys, {edits} edits, {} drifts; {} did not start", failures.len(), not_started.len());
    not_started.iter().chain(&failures).take(40).for_each(|line| println!("  {line}"));
    assert!(failures.is_empty(), "{} drifts of {asked} Envoys and {edits} edits", failures.len());
    assert!(not_started.len() * 10 <= asked, "Envoy starts");
}

fn program() -> Option<OsString> {
    let program = env::var_os("CHANCERY_ENVOY");
    if program.is_none() {
        println!("skipped: CHANCERY_ENVOY names no program");
    }
    program
}

#[test]
fn drift_running_examples_finds_nothing() {
    let Some(program) = program() else { return };
    let mut tally = Tally::default();
    for example in examples::examples() {
        try_one(&program, &example.name.replace('/', "-"), Work::new(&example.inputs, &example.options), &mut tally);
    }
    assert!(tally.asked > 20 && tally.edits > 60, "the test tests something");
    settle("examples", tally);
}

#[test]
fn drift_running_corpus_finds_nothing() {
    let most: Option<usize> = env::var("CHANCERY_DRIFT").ok().and_then(|text| text.parse().ok());
    let (Some(program), Some(most)) = (program(), most) else { return };
    for (dialect, mut cases) in corpus::all_cases() {
        Chance::new(9).shuffle(&mut cases);
        let mut tally = Tally::default();
        for (name, inputs, options) in cases.into_iter() {
            if tally.asked >= most * 2 {
                break;
            }
            try_one(&program, &name, Work::new(&inputs, &options), &mut tally);
        }
        settle(&dialect, tally);
    }
}

/// Returns the config dump of an Envoy whose bootstrap only has these listeners and its own cluster, and that got everything else from a server.
fn as_served(bootstrap: &Value, own: &[&str]) -> Value {
    let typed = |of: &Value, kind: &str| {
        let mut of = of.clone();
        of["@type"] = format!("type.googleapis.com/envoy.config.{kind}").into();
        of
    };
    let all = |kind: &str| bootstrap["static_resources"][kind].as_array().cloned().unwrap_or_default();
    let sent = all("listeners").into_iter().filter(|listener| !own.contains(&listener["name"].as_str().unwrap_or_default()));
    let listeners = sent.map(|of| json!({"name": of["name"], "active_state": {"listener": typed(&of, "listener.v3.Listener")}}));
    let clusters = all("clusters").into_iter().map(|of| json!({"cluster": typed(&of, "cluster.v3.Cluster")}));
    let server = json!({"name": "xds", "type": "STATIC", "connect_timeout": "5s"});
    let admin = "type.googleapis.com/envoy.admin.v3";
    json!({"configs": [
        {
            "@type": format!("{admin}.ClustersConfigDump"),
            "static_clusters": [{"cluster": typed(&server, "cluster.v3.Cluster")}],
            "dynamic_active_clusters": clusters.collect::<Vec<_>>()
        },
        {"@type": format!("{admin}.ListenersConfigDump"), "dynamic_listeners": listeners.collect::<Vec<_>>()}
    ]})
}

#[test]
fn drift_ignores_bootstrap_resources_of_served_envoy() {
    let mut work = Work::of(include_str!("../../assets/examples/ambassador/hello.yaml"));
    let bootstrap = work.envoy();
    let gateway = work.compilation.gateways().next().expect("a gateway");
    let options = backend::Options { document: Document::Bootstrap, ..backend::Options::default() };
    let config = EnvoyConfig::standing_alone(gateway.ir, &options);
    let positions = work.compilation.positions();
    let map = backend::v3::output_map(gateway.ir, &options, work.compiler.emitted.of(gateway));
    let source = Side { config: &config, source: Some(SideSource { gateway, positions: &positions, map: &map }) };
    let differs = |own: &[&str]| {
        let running = Running::read(&as_served(&bootstrap, own).to_string()).expect("a dump");
        let found = compare(&source, &Side { config: &running.config, source: None }).envoy;
        found.into_iter().map(|change| format!("{} {}", change.change.name(), change.name)).collect::<Vec<_>>()
    };
    let ready = "ambassador-listener-ready-127.0.0.1-8006";
    assert_eq!(differs(&[ready]), Vec::<String>::new());
    let listeners = bootstrap["static_resources"]["listeners"].as_array().expect("listeners");
    let other = listeners.iter().filter_map(|listener| listener["name"].as_str()).find(|name| *name != ready).expect("another listener");
    let lost = differs(&[ready, other]);
    assert!(lost.contains(&format!("removed {other}")), "{lost:?}");
}
