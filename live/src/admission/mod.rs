//! A validating webhook: the API server sends each object before it stores it, and shows our findings as warnings to the person who applies it.
//!
//! The webhook allows every object, unless a finding has one of the codes that the user lists. If this server does not answer, the API server must
//! allow the object (`failurePolicy: Ignore`). Does not find anything itself; see [`review`].

mod review;

pub use review::Reviewer;

use crate::Failure;
use crate::address::Address;
use crate::connection_table::{ConnectionTable, Limits};
use crate::xds::tls::{Files, Tls};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// The settings of the webhook.
#[derive(Clone, Debug)]
pub struct Admission {
    pub address: Address,
    /// Its certificate, which the API server checks.
    pub tls: Files,
    /// Objects with findings of these codes are denied.
    pub deny: Vec<String>,
}

const LIMITS: Limits = Limits { total: 256, per_address: 256, half_open: 256 };
/// How long a client may take for the handshake, and for the head of a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause after the system refuses a connection.
const PAUSE: Duration = Duration::from_millis(50);
/// The most bytes of a review: etcd stores at most 1.5 MiB per object, and a review has two.
const LARGEST_REVIEW: usize = 8 << 20;

/// Answers reviews until `stop`.
///
/// # Errors
///
/// None: other parts of a server have this type.
pub async fn serve(listener: TcpListener, tls: Arc<Tls>, reviewer: Arc<Reviewer>, mut stop: watch::Receiver<bool>) -> Result<(), Failure> {
    let router = Router::new().route("/healthz", get(async || "ok\n")).route("/admission", post(answer)).with_state(reviewer);
    let table = ConnectionTable::new(LIMITS);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // An error means that the sender is gone: stop as well.
            _ = stop.wait_for(|stop| *stop) => return Ok(()),
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let Some((place, closed)) = table.open(Some(peer)) else { continue };
        let (acceptor, router) = (TlsAcceptor::from(tls.current_http1()), router.clone());
        tokio::spawn(async move {
            let Ok(Ok(stream)) = tokio::time::timeout(PATIENCE, acceptor.accept(stream)).await else { return };
            let answers = TowerToHyperService::new(router);
            let service = hyper::service::service_fn(move |request| {
                place.keep();
                hyper::service::Service::call(&answers, request)
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
            tokio::select! {
                // A client that breaks the protocol, or leaves, ends its own connection only.
                _ = http.serve_connection(TokioIo::new(stream), service) => {}
                Ok(()) = closed => {}
            }
        });
    }
}

async fn answer(State(reviewer): State<Arc<Reviewer>>, request: Request<Body>) -> Response {
    let Ok(body) = to_bytes(request.into_body(), LARGEST_REVIEW).await else {
        return (StatusCode::PAYLOAD_TOO_LARGE, "the review is too large\n").into_response();
    };
    // A review takes as long as a compile.
    match tokio::task::spawn_blocking(move || reviewer.review(&body)).await {
        Ok(Ok(answer)) => ([(header::CONTENT_TYPE, "application/json")], answer).into_response(),
        Ok(Err(why)) => (StatusCode::BAD_REQUEST, format!("{why}\n")).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
