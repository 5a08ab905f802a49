//! Answers `/readyz`: whether the server can serve Envoys, and which problems need attention meanwhile.
//!
//! | answer | meaning |
//! |---|---|
//! | 503 | nothing is served: a source has not been read yet, or a controller does not start |
//! | 200 with `degraded:` lines | the last good configuration is served, and something is wrong |
//! | 200 | the present configuration is served |
//!
//! If replicas share the gateways, the header of the answer has the id of this replica, and its lines name the replicas
//! and the gateways of this one.

use super::Shared;
use crate::event::SourceState;
use crate::proxies::Proxies;
use crate::replicas::{HEADER, Replicas};
use crate::sources::Status;
use crate::worker::build::Build;
use crate::xds::clients::Clients;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

/// The most lines of one kind.
const MOST: usize = 10;

pub async fn ready(State(shared): State<Shared>) -> Response {
    let (status, lines) = readiness(&shared);
    let text: String = lines.into_iter().map(|line| line + "\n").collect();
    let mut response = (status, shared.events.scrubbed(&text)).into_response();
    if shared.replicas.is_shared()
        && let Ok(id) = HeaderValue::from_str(shared.replicas.id())
    {
        response.headers_mut().insert(HEADER, id);
    }
    response
}

fn readiness(shared: &Shared) -> (StatusCode, Vec<String>) {
    match shared.build() {
        Some(build) if build.stopped.is_empty() => {
            let mut lines = vec!["ready".to_owned()];
            lines.extend(degraded(&build, &shared.states.all(), &shared.clients));
            lines.extend(held(&shared.proxies));
            lines.extend(shares(&build, &shared.replicas));
            (StatusCode::OK, lines)
        }
        Some(build) => (StatusCode::SERVICE_UNAVAILABLE, build.stopped.iter().map(|(id, why)| format!("{id} does not start: {why}")).collect()),
        None if shared.intake.is_synced() => (StatusCode::SERVICE_UNAVAILABLE, vec!["the first build is not done".into()]),
        None => (StatusCode::SERVICE_UNAVAILABLE, unsynced(&shared.intake.unsynced_sources(), &shared.states.all())),
    }
}

/// Names the replicas that share the gateways, and the gateways of this one.
fn shares(build: &Build, replicas: &Replicas) -> Vec<String> {
    if !replicas.is_shared() {
        return Vec::new();
    }
    let view = replicas.view();
    let own = view.own().map_or_else(|| "unknown".into(), ToString::to_string);
    let (built, all) = (build.gateways.len(), build.gateways.len() + build.elsewhere.len());
    let names: Vec<&str> = build.gateways.iter().map(|gateway| &*gateway.id).take(MOST).collect();
    let more = if built > MOST { ", ..." } else { "" };
    vec![
        format!("replicas: {}; this one is {own}", view.members().join(", ")),
        format!("gateways of this replica: {built} of {all}: {}{more}", names.join(", ")),
    ]
}

/// Names the sources that have not been read, each with its trouble.
fn unsynced(names: &[String], states: &[Status]) -> Vec<String> {
    let mut lines = Vec::new();
    for name in names {
        // A missing kind in a cluster is not a reason to wait.
        let is_reason = |status: &&Status| match status.state {
            SourceState::Error => true,
            SourceState::Missing | SourceState::Empty => status.kind == status.source,
            SourceState::Forbidden | SourceState::Synced => false,
        };
        let reasons: Vec<&Status> = states.iter().filter(|status| status.source == *name).filter(is_reason).collect();
        if reasons.is_empty() {
            lines.push(format!("{name} is not synced: it is being read"));
        }
        for of in reasons.iter().take(MOST) {
            let kind = if of.kind == *name { String::new() } else { format!("{}: ", of.kind) };
            lines.push(format!("{name} is not synced: {kind}{}", of.detail.as_deref().unwrap_or(of.state.name())));
        }
    }
    lines
}

/// Names the gateways whose Envoys keep earlier versions of resources, because one of them rejected the newest.
fn held(proxies: &Proxies) -> Vec<String> {
    let latest = proxies.subscribe().borrow().clone();
    let held = latest.iter().flat_map(|all| all.iter()).filter(|(_, rollout)| rollout.is_held());
    held.take(MOST).map(|(gateway, _)| format!("degraded: {gateway}: Envoys keep the last accepted version of rejected resources")).collect()
}

fn degraded(build: &Build, states: &[Status], clients: &Clients) -> Vec<String> {
    let is_trouble = |status: &&Status| match status.state {
        SourceState::Error => true,
        SourceState::Missing | SourceState::Empty => status.kind == status.source,
        SourceState::Forbidden | SourceState::Synced => false,
    };
    let sources = states.iter().filter(is_trouble).map(|of| format!("{}: {}", of.kind, of.detail.as_deref().unwrap_or(of.state.name())));
    let rejected = clients.rejections(MOST);
    let withheld = build.gateways.iter().flat_map(|gateway| gateway.withheld.iter().map(move |of| (gateway, of)));
    let withheld = withheld.map(|(gateway, of)| {
        let url = of.service.type_url();
        let kind = url.rsplit('.').next().unwrap_or(&url);
        format!("{}: {kind} {} is not sent, because {}", gateway.id, of.name, of.reason())
    });
    let defaults = build.on_defaults.iter().map(|dialect| format!("{dialect}: the controller's configuration was deleted; its defaults take effect"));
    sources.chain(defaults).chain(rejected).chain(withheld.take(MOST)).map(|line| format!("degraded: {line}")).collect()
}
