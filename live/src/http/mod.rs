//! Answers people and programs over HTTP: readiness, builds, Envoys, events. Does not change anything; see `worker` for
//! builds.
//!
//! | module | what it holds |
//! |---|---|
//! | [`connections`] | limits on connections, and on their time |
//! | [`guard`] | access control: refuses foreign pages, and other machines without the token |
//! | [`readiness`] | whether the server can serve Envoys |
//! | [`views`] | the answers, as JSON |
//! | [`installation`] | the installation id |
//! | [`openapi`] | the table of all paths, as an OpenAPI description |
//! | [`metrics`] | the counters, in the OpenMetrics format |
//! | [`page`] | a plain HTML page, without scripts |
//! | [`playground`] | the playground, which shows the served configuration |
//!
//! All answers come from the last build. No answer has key material.

mod connections;
mod guard;
mod installation;
mod metrics;
mod openapi;
mod page;
pub mod playground;
mod readiness;
mod views;

use crate::Failure;
use crate::event::{Events, Server};
use crate::feed::Feed;
use crate::port::Port;
use crate::proxies::Proxies;
use crate::replicas::Replicas;
use crate::sources::States;
use crate::worker::build::Build;
use crate::worker::intake::Intake;
use crate::worker::metrics::Metrics;
use crate::xds::clients::Clients;
use axum::Router;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chancery_core::compilation::Options;
use futures_util::StreamExt;
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::watch;
use tokio_stream::wrappers::BroadcastStream;

/// A server, which answers some of the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpServer {
    /// All paths.
    Diagnostics,
    /// Snapshots of the inputs.
    Snapshots,
    /// Snapshots without key material.
    PublicSnapshots,
    /// Readiness checks.
    Ready,
}

impl HttpServer {
    #[must_use]
    pub fn server(self) -> Server {
        match self {
            HttpServer::Diagnostics => Server::Diagnostics,
            HttpServer::Snapshots => Server::Snapshots,
            HttpServer::PublicSnapshots => Server::PublicSnapshots,
            HttpServer::Ready => Server::Ready,
        }
    }
}

/// The state that answers are made from.
#[derive(Clone)]
pub struct Shared {
    /// How inputs are compiled.
    pub options: Options,
    /// The last build.
    pub builds: watch::Receiver<Option<Arc<Build>>>,
    /// The connected Envoys.
    pub clients: Clients,
    /// The snapshots of Envoys.
    pub proxies: Proxies,
    /// The replicas that share the gateways.
    pub replicas: Replicas,
    /// The timeline.
    pub events: Events,
    /// The states of sources.
    pub states: States,
    /// The counters.
    pub metrics: Metrics,
    /// Knows which sources are synced.
    pub intake: Intake,
    /// Whether snapshots have key material. Public ones never do.
    pub with_secrets: bool,
    /// The token that requests from other machines need.
    pub token: Option<String>,
    /// The playground, if this program has it.
    pub page: Option<playground::Files>,
    /// Becomes true when the server must end.
    pub stop: watch::Receiver<bool>,
}

impl Shared {
    fn build(&self) -> Option<Arc<Build>> {
        self.builds.borrow().clone()
    }
}

/// Serves until the process stops.
///
/// # Errors
///
/// The listener fails.
pub async fn serve(port: Port, server: HttpServer, shared: Shared) -> Result<(), Failure> {
    let is_local = port.is_local();
    let health = Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(readiness::ready))
        .route("/ambassador/v0/check_alive", get(async || "ok\n"))
        .route("/ambassador/v0/check_ready", get(readiness::ready));
    let guarded = match server {
        HttpServer::Ready => Router::new(),
        HttpServer::Snapshots => Router::new().route("/snapshot", get(views::snapshot)),
        HttpServer::PublicSnapshots => Router::new().route("/snapshot-external", get(views::public_snapshot)),
        HttpServer::Diagnostics => openapi::PATHS
            .iter()
            .filter(|path| path.view.is_some())
            .fold(Router::new(), |router, path| router.route(path.path, get(view)))
            .route("/", if shared.page.is_some() { get(playground::file) } else { get(page::page) })
            .route("/ambassador/v0/diag/", get(page::page))
            .route("/openapi.json", get(openapi::document))
            .route("/metrics", get(metrics::metrics))
            .route("/api/v1/stream", get(stream))
            .route("/api/v1/live", get(live))
            .fallback(get(playground::file)),
    };
    let guard = guard::Guard { is_local, token: if is_local { None } else { shared.token.clone() } };
    let guarded = guarded.layer(axum::middleware::from_fn_with_state(guard, guard::check));
    let stop = shared.stop.clone();
    connections::serve(port, health.merge(guarded).with_state(shared), stop).await
}

/// The parameters of a query.
type Asked = Vec<(String, String)>;

async fn view(State(shared): State<Shared>, uri: axum::http::Uri, Query(asked): Query<Asked>) -> Response {
    let Some(view) = openapi::PATHS.iter().find(|path| path.path == uri.path()).and_then(|path| path.view) else {
        return (StatusCode::NOT_FOUND, "no such path; /openapi.json lists all paths\n").into_response();
    };
    // A view of a large configuration takes as long as a compile.
    let build = shared.build();
    match tokio::task::spawn_blocking(move || view(&shared, &asked).map(|value| shown(&value, build.as_deref()))).await {
        Ok(Ok(text)) => answer(StatusCode::OK, text),
        Ok(Err((status, why))) => json(status, &serde_json::json!({ "error": why })),
        Err(_) => json(StatusCode::INTERNAL_SERVER_ERROR, &serde_json::json!({ "error": "the view could not be made" })),
    }
}

/// Writes an answer without the credentials of the configuration.
fn shown(value: &Value, build: Option<&Build>) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default() + "\n";
    build.map_or(text.clone(), |build| build.compilation.redactor().scrub(&text).into_owned())
}

fn json(status: StatusCode, value: &Value) -> Response {
    answer(status, serde_json::to_string_pretty(value).unwrap_or_default() + "\n")
}

fn answer(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], text).into_response()
}

/// Streams to a page what it needs to show the present inputs.
async fn live(State(shared): State<Shared>) -> Response {
    let feed = Feed::new(shared.builds.clone(), &shared.events, shared.states.clone(), shared.clients.clone(), Some(shared.options.clone()));
    let messages = futures_util::stream::unfold(feed, async |mut feed| feed.next().await.map(|message| (message, feed)));
    server_sent(messages, shared.stop)
}

/// Sends strings as server-sent events, until the server ends.
fn server_sent(texts: impl futures_util::Stream<Item = String> + Send + 'static, mut stop: watch::Receiver<bool>) -> Response {
    let end = Box::pin(async move {
        // An error means that the sender is gone: stop as well.
        let _ = stop.wait_for(|stop| *stop).await;
    });
    let events = texts.take_until(end).map(|text| Ok::<_, Infallible>(axum::response::sse::Event::default().data(text)));
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

/// Streams all events: first the timeline, then later ones.
async fn stream(State(shared): State<Shared>) -> Response {
    let (past, live) = shared.events.follow();
    let live = BroadcastStream::new(live).filter_map(async |dated| dated.ok());
    let events = futures_util::stream::iter(past).chain(live);
    server_sent(events.map(|dated| serde_json::to_string(&dated).unwrap_or_default()), shared.stop)
}
