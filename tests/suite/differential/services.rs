//! Runs the services that filters query: authorization and rate limits. The test decides whether they allow requests.
//!
//! Does not contain expectations.

use super::http2::alongside;
use chancery_core::backend::envoy::v3::pb;
use h2::server::SendResponse;
use http::{HeaderMap, HeaderValue, Response};
use pb::hcm::{HttpFilter, http_filter::ConfigType};
use pb::http_filter::{ext_authz::v3 as authz, ratelimit::v3 as limits};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

/// Whether the services refuse requests.
static REFUSES: AtomicBool = AtomicBool::new(false);

/// The cluster that the rig's gRPC filters query.
pub const GRPC: &str = "rig-grpc";
pub const HTTP: &str = "rig-http";

/// Locks the services, which all tests share, for a test that changes their answers.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the services refuse requests, or allow them again.
pub fn refuse(refuses: bool) {
    REFUSES.store(refuses, Ordering::SeqCst);
}

/// Makes a filter query these services instead of the configured ones.
pub fn rigged(mut filter: HttpFilter) -> HttpFilter {
    let Some(ConfigType::TypedConfig(config)) = &mut filter.config_type else { return filter };
    if let Some(mut of) = config.downcast_ref::<authz::ExtAuthz>().cloned() {
        match &mut of.services {
            Some(authz::ext_authz::Services::GrpcService(service)) => point(service),
            Some(authz::ext_authz::Services::HttpService(service)) => {
                if let Some(uri) = &mut service.server_uri {
                    uri.http_upstream_type = Some(pb::base::http_uri::HttpUpstreamType::Cluster(HTTP.into()));
                }
            }
            None => {}
        }
        *config = pb::Any::pack(of);
    } else if let Some(mut of) = config.downcast_ref::<limits::RateLimit>().cloned() {
        if let Some(service) = of.rate_limit_service.as_mut().and_then(|service| service.grpc_service.as_mut()) {
            point(service);
        }
        *config = pb::Any::pack(of);
    }
    filter
}

fn point(service: &mut pb::base::GrpcService) {
    service.timeout = Some(pb::Duration { seconds: 10, nanos: 0 });
    if let Some(pb::base::grpc_service::TargetSpecifier::EnvoyGrpc(of)) = &mut service.target_specifier {
        of.cluster_name = GRPC.into();
    }
}

/// Starts the HTTP/1.1 service, which answers 200 or 403. Returns its port.
pub fn by_http() -> u16 {
    static PORT: OnceLock<u16> = OnceLock::new();
    *PORT.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                thread::spawn(move || {
                    let Ok(clone) = stream.try_clone() else { return };
                    let mut lines = BufReader::new(clone).lines();
                    // Requests have no body; each head ends with an empty line.
                    while lines.by_ref().map_while(Result::ok).any(|line| line.is_empty()) {
                        let status = if REFUSES.load(Ordering::SeqCst) { "403 Forbidden" } else { "200 OK" };
                        if write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").is_err() {
                            return;
                        }
                    }
                });
            }
        });
        port
    })
}

/// Starts the gRPC services. Returns their port.
pub fn by_grpc() -> u16 {
    static PORT: OnceLock<u16> = OnceLock::new();
    *PORT.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
                    runtime.block_on(async {
                        stream.set_nonblocking(true).ok()?;
                        let stream = tokio::net::TcpStream::from_std(stream).ok()?;
                        let mut connection = h2::server::handshake(stream).await.ok()?;
                        while let Some(Ok((request, response))) = connection.accept().await {
                            let limits = request.uri().path().contains("ratelimit");
                            let mut body = request.into_body();
                            alongside(std::future::poll_fn(|context| connection.poll_closed(context)), async {
                                while let Some(Ok(part)) = body.data().await {
                                    let _ = body.flow_control().release_capacity(part.len());
                                }
                            })
                            .await;
                            answer(response, limits);
                        }
                        Some(())
                    });
                });
            }
        });
        port
    })
}

/// Sends `RateLimitResponse { overall_code }` or `CheckResponse { status { code } }`.
fn answer(mut response: SendResponse<bytes::Bytes>, limits: bool) {
    let message: &[u8] = match (limits, REFUSES.load(Ordering::SeqCst)) {
        (true, false) => &[8, 1],
        (true, true) => &[8, 2],
        (false, false) => &[10, 0],
        (false, true) => &[10, 2, 8, 7],
    };
    let head = Response::builder().status(200).header("content-type", "application/grpc").body(()).expect("a head");
    let mut framed = vec![0, 0, 0, 0, u8::try_from(message.len()).expect("a short message")];
    framed.extend_from_slice(message);
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    if let Ok(mut stream) = response.send_response(head, false) {
        let _ = stream.send_data(framed.into(), false);
        let _ = stream.send_trailers(trailers);
    }
}
