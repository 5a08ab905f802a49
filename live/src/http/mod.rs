//! What people and programs ask over HTTP: whether we are ready, what was built, who is connected, what happened.
//!
//! | module | what it holds |
//! |---|---|
//! | [`connections`] | how many may ask at a time, and for how long |
//! | [`guard`] | who may ask: pages of others and other machines may not |
//! | [`views`] | what is answered, as JSON |
//! | [`installation`] | the installation id |
//! | [`openapi`] | the same, described |
//! | [`metrics`] | numbers, for OpenMetrics |
//! | [`page`] | a page for people, without scripts |
//! | [`playground`] | the playground, which shows what is served |
//!
//! Everything is a look at the last build; nothing can be changed here. What must not be here: key material.

mod connections;
mod guard;
mod installation;
mod metrics;
mod openapi;
mod page;
pub mod playground;
mod views;

use crate::Failure;
use crate::event::{Events, Server, SourceState};
use crate::feed::Feed;
use crate::ports::Port;
use crate::proxies::Proxies;
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

/// What is asked at which port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// All of it.
    Diagnostics,
    /// Snapshots.
    Snapshots,
    /// Snapshots, for tools that may not see everything.
    PublicSnapshots,
    /// Whether we are ready.
    Ready,
}

impl Door {
    /// The server.
    #[must_use]
    pub fn server(self) -> Server {
        match self {
            Door::Diagnostics => Server::Diagnostics,
            Door::Snapshots => Server::Snapshots,
            Door::PublicSnapshots => Server::PublicSnapshots,
            Door::Ready => Server::Ready,
        }
    }
}

/// What answers are made of.
#[derive(Clone)]
pub struct Shared {
    /// How inputs are compiled.
    pub options: Options,
    /// The last build.
    pub builds: watch::Receiver<Option<Arc<Build>>>,
    /// Who is connected.
    pub clients: Clients,
    /// Who gets what.
    pub proxies: Proxies,
    /// What happened.
    pub events: Events,
    /// How sources are.
    pub states: States,
    /// What is counted.
    pub metrics: Metrics,
    /// Whether all sources have told all.
    pub intake: Intake,
    /// Snapshots have key material; public ones never do.
    pub with_secrets: bool,
    /// What whoever asks from another machine must bring.
    pub token: Option<String>,
    /// The playground, where this program holds it.
    pub page: Option<playground::Files>,
    /// True from when the server is to end.
    pub stop: watch::Receiver<bool>,
}

impl Shared {
    fn build(&self) -> Option<Arc<Build>> {
        self.builds.borrow().clone()
    }
}

/// Serves, until told to stop.
///
/// # Errors
///
/// The listener fails.
pub async fn serve(port: Port, door: Door, shared: Shared) -> Result<(), Failure> {
    let is_local = port.is_local();
    let health = Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/ambassador/v0/check_alive", get(async || "ok\n"))
        .route("/ambassador/v0/check_ready", get(ready));
    let guarded = match door {
        Door::Ready => Router::new(),
        Door::Snapshots => Router::new().route("/snapshot", get(views::snapshot)),
        Door::PublicSnapshots => Router::new().route("/snapshot-external", get(views::public_snapshot)),
        Door::Diagnostics => openapi::PATHS
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

async fn ready(State(shared): State<Shared>) -> Response {
    match shared.build() {
        Some(build) if build.stopped.is_empty() => {
            // What is served is the last that could be read: a reason to look after it, and none to take the server away.
            let troubled = shared.states.all().into_iter().filter(|status| status.state == SourceState::Error);
            let why = troubled.map(|status| format!("degraded: {}: {}\n", status.kind, status.detail.unwrap_or_default()));
            shared.events.scrubbed(&format!("ready\n{}", why.collect::<String>())).into_response()
        }
        Some(build) => {
            let why: Vec<String> = build.stopped.iter().map(|(id, why)| format!("{id} does not start: {why}\n")).collect();
            (StatusCode::SERVICE_UNAVAILABLE, why.concat()).into_response()
        }
        None if shared.intake.is_synced() => (StatusCode::SERVICE_UNAVAILABLE, "the first build is not done\n").into_response(),
        None => (StatusCode::SERVICE_UNAVAILABLE, "not all sources are synchronised yet\n").into_response(),
    }
}

/// What was asked besides the path.
type Asked = Vec<(String, String)>;

async fn view(State(shared): State<Shared>, uri: axum::http::Uri, Query(asked): Query<Asked>) -> Response {
    let Some(view) = openapi::PATHS.iter().find(|path| path.path == uri.path()).and_then(|path| path.view) else {
        return (StatusCode::NOT_FOUND, "there is nothing here\n").into_response();
    };
    // Views of large configurations take as long as a compile.
    let build = shared.build();
    match tokio::task::spawn_blocking(move || view(&shared, &asked).map(|value| shown(&value, build.as_deref()))).await {
        Ok(Ok(text)) => answer(StatusCode::OK, text),
        Ok(Err((status, why))) => json(status, &serde_json::json!({ "error": why })),
        Err(_) => json(StatusCode::INTERNAL_SERVER_ERROR, &serde_json::json!({ "error": "the view could not be made" })),
    }
}

/// As text, without the credentials that are in the configuration.
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

/// What a page needs to show the inputs as they are now.
async fn live(State(shared): State<Shared>) -> Response {
    let feed = Feed::new(shared.builds.clone(), &shared.events, shared.states.clone(), shared.clients.clone(), Some(shared.options.clone()));
    let messages = futures_util::stream::unfold(feed, async |mut feed| feed.next().await.map(|message| (message, feed)));
    server_sent(messages, shared.stop)
}

/// Texts as events that a server sends, until it is to end.
fn server_sent(texts: impl futures_util::Stream<Item = String> + Send + 'static, mut stop: watch::Receiver<bool>) -> Response {
    let end = Box::pin(async move {
        // An error means that the sender is gone: stop as well.
        let _ = stop.wait_for(|stop| *stop).await;
    });
    let events = texts.take_until(end).map(|text| Ok::<_, Infallible>(axum::response::sse::Event::default().data(text)));
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

/// All events: those of the timeline first, then what happens.
async fn stream(State(shared): State<Shared>) -> Response {
    let (past, live) = shared.events.follow();
    let live = BroadcastStream::new(live).filter_map(async |dated| dated.ok());
    let events = futures_util::stream::iter(past).chain(live);
    server_sent(events.map(|dated| serde_json::to_string(&dated).unwrap_or_default()), shared.stop)
}
