//! Runs a real Envoy at free ports, with echo servers as upstreams.
//!
//! Does not contain expectations.

use super::{http2, services};
use chancery_core::backend::envoy::v3::pb;
use chancery_core::simulate::{Protocol, Request};
use chancery_envoy_api::json::{self, Style};
use pb::hcm::http_connection_manager::{CodecType, RouteSpecifier};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// A running Envoy. Dropping it stops the process.
pub struct Envoy {
    child: Child,
}

/// The answer to a request.
pub struct Answer {
    /// `None` if the connection was closed without a response.
    pub status: Option<u32>,
    pub headers: Vec<(String, String)>,
    /// The request as an upstream received it.
    pub echo: Option<Echo>,
}

/// A request as an upstream received it.
pub struct Echo {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
}

fn first<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        first(&self.headers, name)
    }
}

impl Echo {
    /// Reads the upstream's request from a response body.
    pub fn read(body: &str) -> Option<Self> {
        let (line, headers) = lines(body.split_once("ECHO ")?.1);
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap_or_default().to_string();
        Some(Self { method: word(), path: word(), headers })
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        first(&self.headers, name)
    }
}

pub fn local(port: u16) -> pb::base::Address {
    use pb::base::socket_address::PortSpecifier;
    pb::base::Address {
        address: Some(pb::base::address::Address::SocketAddress(pb::base::SocketAddress {
            address: "127.0.0.1".into(),
            port_specifier: Some(PortSpecifier::PortValue(port.into())),
            ..Default::default()
        })),
    }
}

fn report(name: &str, value: &str) -> pb::base::HeaderValueOption {
    pb::base::HeaderValueOption {
        header: Some(pb::base::HeaderValue { key: name.into(), value: value.into(), ..Default::default() }),
        append_action: pb::base::header_value_option::HeaderAppendAction::OverwriteIfExistsOrAdd as i32,
        ..Default::default()
    }
}

/// Prepares a configuration for tests: local listeners, one for each filter chain that speaks HTTP; route names that contain their place; echo
/// servers as clusters; and the [`services`] of the rig as the filters' services. A chain with a script that reads the handshake appears twice,
/// with the script and without it. Returns `None` if no chain speaks HTTP.
pub fn rig(bootstrap: pb::bootstrap::Bootstrap) -> Option<pb::bootstrap::Bootstrap> {
    let resources = bootstrap.static_resources?;
    let mut listeners = Vec::new();
    for listener in &resources.listeners {
        for chain in &listener.filter_chains {
            let Some(manager) = chain.filters.iter().find_map(|filter| match &filter.config_type {
                Some(pb::listener::filter::ConfigType::TypedConfig(config)) => config.downcast_ref::<pb::hcm::HttpConnectionManager>(),
                _ => None,
            }) else {
                continue;
            };
            let whole = rigged(manager.clone());
            let mut without = whole.clone();
            without.http_filters.retain(|filter| !filter.name.ends_with("lua"));
            let is_scripted = without.http_filters.len() < whole.http_filters.len() && chain.transport_socket.is_some();
            for manager in std::iter::once(whole).chain(is_scripted.then_some(without)) {
                let filter = pb::listener::Filter {
                    name: "hcm".into(),
                    config_type: Some(pb::listener::filter::ConfigType::TypedConfig(pb::Any::pack(manager))),
                };
                listeners.push(pb::listener::Listener {
                    name: format!("{}-{}", listener.name, listeners.len()),
                    address: Some(local(chancery_tests::port::free())),
                    filter_chains: vec![pb::listener::FilterChain { filters: vec![filter], ..Default::default() }],
                    ..Default::default()
                });
            }
        }
    }
    if listeners.is_empty() {
        return None;
    }
    let clusters = resources.clusters.into_iter().map(|cluster| at(cluster.name, echo(), false));
    let services = [at(services::HTTP.into(), services::by_http(), false), at(services::GRPC.into(), services::by_grpc(), true)];
    Some(pb::bootstrap::Bootstrap {
        node: Some(pb::base::Node { id: "test".into(), cluster: "test".into(), ..Default::default() }),
        layered_runtime: bootstrap.layered_runtime,
        static_resources: Some(pb::bootstrap::bootstrap::StaticResources {
            listeners,
            clusters: clusters.chain(services).collect(),
            secrets: Vec::new(),
        }),
        ..Default::default()
    })
}

/// Returns a cluster with one local endpoint.
fn at(name: String, port: u16, http2: bool) -> pb::cluster::Cluster {
    use pb::upstream_http::http_protocol_options::{ExplicitHttpConfig, UpstreamProtocolOptions, explicit_http_config::ProtocolConfig};
    let explicit = ExplicitHttpConfig { protocol_config: Some(ProtocolConfig::Http2ProtocolOptions(Default::default())) };
    let options = pb::upstream_http::HttpProtocolOptions {
        upstream_protocol_options: Some(UpstreamProtocolOptions::ExplicitHttpConfig(explicit)),
        ..Default::default()
    };
    let options = http2.then(|| ("envoy.extensions.upstreams.http.v3.HttpProtocolOptions".to_string(), pb::Any::pack(options)));
    pb::cluster::Cluster {
        load_assignment: Some(pb::endpoint::ClusterLoadAssignment {
            cluster_name: name.clone(),
            endpoints: vec![pb::endpoint::LocalityLbEndpoints {
                lb_endpoints: vec![pb::endpoint::LbEndpoint {
                    host_identifier: Some(pb::endpoint::lb_endpoint::HostIdentifier::Endpoint(pb::endpoint::Endpoint {
                        address: Some(local(port)),
                        ..Default::default()
                    })),
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        }),
        connect_timeout: Some(pb::Duration { seconds: 5, nanos: 0 }),
        typed_extension_protocol_options: options.into_iter().collect(),
        name,
        ..Default::default()
    }
}

/// Removes everything that writes files from the connection manager.
fn rigged(mut manager: pb::hcm::HttpConnectionManager) -> pb::hcm::HttpConnectionManager {
    manager.access_log.clear();
    manager.tracing = None;
    // Otherwise Envoy keeps the connection open for a second after its own responses.
    manager.delayed_close_timeout = Some(pb::Duration { seconds: 0, nanos: 5_000_000 });
    if manager.codec_type() == CodecType::Http3 {
        manager.set_codec_type(CodecType::Auto);
    }
    manager.http3_protocol_options = None;
    manager.http_filters = manager.http_filters.into_iter().map(services::rigged).collect();
    if let Some(RouteSpecifier::RouteConfig(table)) = &mut manager.route_specifier {
        table.response_headers_to_add.extend([report("x-rig-route", "%ROUTE_NAME%"), report("x-rig-cluster", "%UPSTREAM_CLUSTER%")]);
        for (at, host) in table.virtual_hosts.iter_mut().enumerate() {
            for (index, route) in host.routes.iter_mut().enumerate() {
                route.name = format!("{at}/{index}");
            }
        }
    }
    manager
}

impl Envoy {
    /// Starts Envoy and waits until it listens.
    pub fn start(program: &OsString, name: &str, bootstrap: &pb::bootstrap::Bootstrap) -> Option<Self> {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("differential");
        fs::create_dir_all(&folder).expect("a folder");
        let (config, log) = (folder.join(format!("{name}.json")), folder.join(format!("{name}.log")));
        let mut text = Vec::new();
        json::write(&mut text, bootstrap, &Style::PRETTY);
        fs::write(&config, text).expect("a file");
        let mut command = Command::new(program);
        command.args(["--concurrency", "1", "--disable-hot-restart", "--log-level", "error", "-c"]).arg(&config);
        command.stdout(Stdio::null()).stderr(fs::File::create(&log).expect("a file"));
        let mut child = command.spawn().expect("Envoy starts");
        let ports: Vec<u32> = bootstrap.static_resources.iter().flat_map(|of| &of.listeners).filter_map(port).collect();
        let start = Instant::now();
        for port in ports {
            while TcpStream::connect(("127.0.0.1", u16::try_from(port).unwrap_or_default())).is_err() {
                if child.try_wait().is_ok_and(|ended| ended.is_some()) || start.elapsed() > Duration::from_secs(60) {
                    println!("{name}: Envoy does not start: {}", fs::read_to_string(&log).unwrap_or_default().lines().take(3).collect::<String>());
                    let _ = child.kill();
                    let _ = child.wait();
                    return None;
                }
                thread::sleep(Duration::from_millis(20));
            }
        }
        Some(Self { child })
    }

    /// Sends a request with the HTTP version that it names. Returns `None` if the request could not be sent.
    pub fn ask(&self, request: &Request) -> Option<Answer> {
        match request.protocol {
            Protocol::Http1 => Self::ask_by_http1(request, &[]),
            Protocol::Http2 => http2::ask(request),
        }
    }

    /// Sends a request with a body by HTTP/1.1.
    pub fn send(&self, request: &Request, body: &[u8]) -> Option<Answer> {
        Self::ask_by_http1(request, body)
    }

    fn ask_by_http1(request: &Request, body: &[u8]) -> Option<Answer> {
        let mut stream = TcpStream::connect(("127.0.0.1", u16::try_from(request.port?).ok()?)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
        let mut text = format!("{} {} HTTP/1.1\r\nhost: {}\r\n", request.method, request.path, request.authority);
        for (name, value) in request.headers.iter() {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("connection: close\r\n\r\n");
        stream.write_all(text.as_bytes()).ok()?;
        // A refused body may not be read to its end.
        let _ = stream.write_all(body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let (line, headers) = lines(head);
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        Some(Answer { status, headers, echo: Echo::read(body) })
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the port of a listener.
pub fn port(of: &pb::listener::Listener) -> Option<u32> {
    match of.address.as_ref()?.address.as_ref()? {
        pb::base::address::Address::SocketAddress(address) => match address.port_specifier {
            Some(pb::base::socket_address::PortSpecifier::PortValue(port)) => Some(port),
            _ => None,
        },
        _ => None,
    }
}

/// Splits a head into its first line and its headers, with names in lower case.
fn lines(head: &str) -> (&str, Vec<(String, String)>) {
    let mut lines = head.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let headers = lines.take_while(|line| !line.is_empty()).filter_map(|line| line.split_once(':'));
    (first, headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_string())).collect())
}

/// Starts a server that answers every request with the request's own head, until the process ends. Returns its port.
fn echo() -> u16 {
    static PORT: std::sync::OnceLock<u16> = std::sync::OnceLock::new();
    *PORT.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || serve(stream));
            }
        });
        port
    })
}

fn serve(mut stream: TcpStream) {
    let Ok(clone) = stream.try_clone() else { return };
    let mut reader = BufReader::new(clone);
    loop {
        let mut head = String::new();
        loop {
            let before = head.len();
            if reader.read_line(&mut head).map_or(0, |read| read) == 0 {
                return;
            }
            if head.get(before..) == Some("\r\n") {
                break;
            }
        }
        let (line, headers) = lines(&head);
        let length: usize = first(&headers, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length.min(1 << 24)];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let told = format!("ECHO {head}");
        let told = if line.starts_with("HEAD ") { "" } else { &told };
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{told}", told.len());
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}
