//! Accepts HTTP connections within bounds, and gives each client a limited time to send a request. Does not answer
//! requests; see the other modules of `http`.

use crate::Failure;
use crate::connection_table::{ConnectionTable, Limits};
use crate::log_limit::LogLimit;
use crate::port::Port;
use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::time::Duration;
use tokio::sync::watch;

const LIMITS: Limits = Limits { total: 512, per_address: 384, half_open: 512 };
/// How long a client may take to send the head of a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause after the system refuses a connection, because too many files are open.
const PAUSE: Duration = Duration::from_millis(50);
/// The most bytes of a request's head.
const LARGEST_HEAD: usize = 64 << 10;
/// The most headers of a request.
const MOST_HEADERS: usize = 100;

/// Limits the log lines about requests that cannot be read.
static UNREADABLE: LogLimit = LogLimit::new();
/// Limits the log lines about requests with a head that is too large.
static TOO_LARGE: LogLimit = LogLimit::new();

/// Refuses a request whose head is too large. The reader of a connection may take twice its limit before it refuses.
async fn limit_head(request: Request, next: Next) -> Response {
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
    let uri = request.uri().path_and_query().map_or(0, |uri| uri.as_str().len());
    if uri + headers.sum::<usize>() <= LARGEST_HEAD {
        return next.run(request).await;
    }
    if let Some(suppressed) = TOO_LARGE.allow() {
        tracing::warn!(suppressed, "a request is refused: its address and headers have more than 64 KiB");
    }
    (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "the address and the headers have more than 64 KiB\n").into_response()
}

/// Serves until `stop`. Answers that were begun are finished first.
///
/// # Errors
///
/// None: other parts of a server have this type.
pub async fn serve(mut port: Port, router: Router, mut stop: watch::Receiver<bool>) -> Result<(), Failure> {
    let router = router.layer(axum::middleware::from_fn(limit_head));
    let table = ConnectionTable::new(LIMITS);
    let open = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = port.accept() => accepted,
            // An error means that the sender is gone: stop as well.
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Ok(stream) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let Some((place, closed)) = table.open(stream.peer_addr().ok()) else { continue };
        let client = stream.peer_addr().ok().map(|address| address.to_string());
        // A socket works without this option, too.
        let _ = stream.set_nodelay(true);
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(LARGEST_HEAD).max_headers(MOST_HEADERS);
        let answers = TowerToHyperService::new(router.clone());
        let service = hyper::service::service_fn(move |request| {
            place.keep();
            answers.call(request)
        });
        let connection = open.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            tokio::select! {
                // A client that breaks the protocol, or leaves, ends its own connection only.
                ended = connection => if let Err(error) = ended
                    && (error.is_parse() || error.is_parse_too_large())
                    && let Some(suppressed) = UNREADABLE.allow()
                {
                    tracing::warn!(client, suppressed, "an HTTP request cannot be parsed: {error}");
                },
                // An error means that the client has sent a request, so its connection is not closed for others.
                Ok(()) = closed => {}
            }
        });
    }
    open.shutdown().await;
    Ok(())
}
