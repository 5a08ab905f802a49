//! Answers the API's requests with views of the last build, which the command line shows, too. Does not compute anything
//! else, and has no key material.

use super::{Asked, Shared, installation};
use crate::connected::connected;
use crate::envoys::drift::text_of;
use crate::findings::served_findings;
use crate::worker::build::Build;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use chancery_core::backend::envoy::v3::{Emitted, emit};
use chancery_core::backend::envoy::{self, Document};
use chancery_core::compilation::GatewayRef;
use chancery_core::explain::{self, Finding, Snapshot, dump_config, dump_tree};
use chancery_core::simulate::Request;
use chancery_core::text::{Node, to_json};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// An answer, or the status and message of a refusal.
pub type Answer = Result<Value, (StatusCode, String)>;
/// A function that answers a request.
pub type View = fn(&Shared, &Asked) -> Answer;

fn build(shared: &Shared) -> Result<Arc<Build>, (StatusCode, String)> {
    shared.build().ok_or_else(|| (StatusCode::SERVICE_UNAVAILABLE, "the first build is not done".into()))
}

fn value(of: &impl serde::Serialize) -> Answer {
    serde_json::to_value(of).map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

fn node(of: &Node) -> Answer {
    text(&to_json(of, false))
}

fn text(of: &str) -> Answer {
    serde_json::from_str(of).map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

/// Returns the answer of the only gateway, or an object with the answer of each gateway by name.
fn of_each(build: &Build, answer: impl Fn(GatewayRef<'_>) -> Answer) -> Answer {
    let mut all: Vec<(Arc<str>, GatewayRef<'_>)> = build.running().collect();
    if let [_] = all[..]
        && let Some((_, only)) = all.pop()
    {
        return answer(only);
    }
    let each: Result<serde_json::Map<String, Value>, _> = all.into_iter().map(|(id, gateway)| Ok((id.to_string(), answer(gateway)?))).collect();
    each.map(Value::Object)
}

/// Returns the gateway, if there is only one.
fn only_gateway(shared: &Shared) -> Option<String> {
    let build = shared.build()?;
    let mut all = build.gateways.iter().map(|gateway| gateway.id.to_string());
    all.next().filter(|_| all.next().is_none())
}

/// Adds fields to an object.
fn with(mut object: Value, fields: [(&str, Value); 3]) -> Answer {
    for (name, value) in fields {
        object[name] = value;
    }
    Ok(object)
}

pub fn sources(shared: &Shared, _: &Asked) -> Answer {
    let gateway = only_gateway(shared);
    let row = |status: crate::sources::Status| {
        let id = installation::id(&shared.options, shared.states.cluster(&status.source).as_deref());
        with(value(&status)?, [("event", json!("source")), ("gateway", json!(gateway)), ("installation_id", json!(id))])
    };
    let rows: Result<Vec<Value>, _> = shared.states.all().into_iter().map(row).collect();
    Ok(json!({ "sources": rows? }))
}

pub fn resources(shared: &Shared, _: &Asked) -> Answer {
    let build = build(shared)?;
    let inputs = &build.compilation.inputs.inputs;
    let rows: Vec<Value> = inputs.iter().map(|input| json!({"name": input.name, "bytes": input.text.len()})).collect();
    Ok(json!({ "resources": rows, "version": build.version }))
}

pub fn findings(shared: &Shared, _: &Asked) -> Answer {
    let build = build(shared)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().cast_signed());
    let all: Vec<Finding> = served_findings(&build, &shared.clients).into_iter().chain(build.checked(now)).collect();
    Ok(json!({ "diagnostics": value(&all)? }))
}

pub fn ledger(shared: &Shared, _: &Asked) -> Answer {
    let build = build(shared)?;
    Ok(json!({ "ledger": value(&explain::ledger(&build.compilation, &build.compilation.positions()))? }))
}

pub fn routes(shared: &Shared, _: &Asked) -> Answer {
    of_each(&*build(shared)?, |gateway| Ok(json!({ "routes": value(&explain::routes(gateway).collect::<Vec<_>>())? })))
}

pub fn graph(shared: &Shared, _: &Asked) -> Answer {
    let build = build(shared)?;
    value(&explain::graph(&build.compilation, &build.compilation.positions()))
}

pub fn config(shared: &Shared, _: &Asked) -> Answer {
    let build = build(shared)?;
    let mut all = build.compilation.sides();
    match (all.len(), all.next()) {
        (1, Some(only)) => node(&dump_config(only).0),
        _ => {
            let each: Result<serde_json::Map<String, Value>, _> =
                build.compilation.sides().map(|side| Ok((side.dialect().name.to_owned(), node(&dump_config(side).0)?))).collect();
            each.map(Value::Object)
        }
    }
}

pub fn ir(shared: &Shared, _: &Asked) -> Answer {
    of_each(&*build(shared)?, |gateway| node(&dump_tree(gateway.ir)))
}

pub fn envoys(shared: &Shared, _: &Asked) -> Answer {
    let build = shared.build();
    let row = |client: crate::xds::clients::Client| {
        with(value(&client)?, [("event", json!("envoy")), ("state", json!("connected")), ("gateway", json!(client.gateway))])
    };
    let rows: Result<Vec<Value>, _> = connected(build.as_deref(), &shared.clients).into_iter().map(row).collect();
    Ok(json!({ "envoys": rows? }))
}

/// Returns the replicas, and the owner of each gateway. `built` has the gateways that this replica builds.
pub fn replicas(shared: &Shared, _: &Asked) -> Answer {
    let (build, view) = (build(shared)?, shared.replicas.view());
    let built: Vec<&str> = build.gateways.iter().map(|gateway| &*gateway.id).collect();
    Ok(json!({
        "shared": shared.replicas.is_shared(), "own": view.own(), "serving": view.members(), "members": value(&shared.replicas.statuses())?,
        "built": built, "elsewhere": build.elsewhere,
    }))
}

pub fn events(shared: &Shared, _: &Asked) -> Answer {
    Ok(json!({ "events": shared.events.timeline() }))
}

pub fn config_dump(shared: &Shared, _: &Asked) -> Answer {
    let options = envoy::Options { document: Document::Resources, ..Default::default() };
    of_each(&*build(shared)?, |gateway| text(&emit(gateway.ir, &options, &mut Emitted::new()).text()))
}

/// Returns the resources of one Envoy, or of a gateway, in the form of an Envoy's own dump.
pub fn served(shared: &Shared, asked: &Asked) -> Answer {
    let one = |name: &str| asked.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let latest = shared.proxies.subscribe().borrow().clone();
    let all = latest.as_ref().ok_or((StatusCode::SERVICE_UNAVAILABLE, "the first build is not done".to_owned()))?;
    let wrong = |why: String| (StatusCode::NOT_FOUND, why);
    let names = || all.names().collect::<Vec<_>>().join(", ");
    let snapshot = match (one("node"), one("gateway")) {
        (Some(node), _) => {
            let client = shared.clients.all().into_iter().find(|client| client.node.id == node);
            let client = client.ok_or_else(|| wrong(format!("no Envoy with the id `{node}` is connected")))?;
            let assigned = shared.proxies.assign(&client.node, &latest);
            assigned.snapshot().cloned().ok_or_else(|| wrong(format!("the Envoy `{node}` belongs to no gateway: there are {}", names())))?
        }
        (None, Some(gateway)) => {
            let missing = || match shared.replicas.view().owner(gateway).filter(|_| all.names().any(|name| name == gateway)) {
                Some(owner) => wrong(format!("the replica {owner} serves the gateway `{gateway}`: ask its diagnostics server")),
                None => wrong(format!("there is no gateway `{gateway}`: there are {}", names())),
            };
            let found = all.get(gateway).ok_or_else(missing)?;
            found.newest().clone()
        }
        (None, None) => match all.len() {
            1 => all.values().next().map(|rollout| rollout.newest().clone()).unwrap_or_default(),
            0 if all.names().next().is_none() => return Err(wrong("there is no gateway in the configuration".into())),
            _ => return Err((StatusCode::BAD_REQUEST, format!("there are several gateways: say ?gateway= and one of {}", names()))),
        },
    };
    text(&text_of(&snapshot))
}

pub fn route(shared: &Shared, asked: &Asked) -> Answer {
    let one = |name: &str| asked.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let url = one("url").ok_or((StatusCode::BAD_REQUEST, "add the URL: ?url=https://HOST/PATH".to_owned()))?;
    let mut request = Request::new(one("method").unwrap_or("GET"), url).map_err(|why| (StatusCode::BAD_REQUEST, why))?;
    for (_, header) in asked.iter().filter(|(name, _)| name == "header") {
        let (name, value) = header.split_once(':').ok_or((StatusCode::BAD_REQUEST, format!("`{header}` is no header: say NAME: VALUE")))?;
        request.add_header(name.trim(), value.trim());
    }
    let build = build(shared)?;
    let positions = build.compilation.positions();
    of_each(&build, |gateway| value(&explain::route(gateway, &positions, &request, &mut Emitted::new())))
}

/// Returns the document for Azure, and its differences from the gateway.
pub fn app_gateway(shared: &Shared, _: &Asked) -> Answer {
    let build = build(shared)?;
    let plan = build.plan.as_ref().ok_or((StatusCode::NOT_FOUND, "there is no Application Gateway in the configuration".to_owned()))?;
    Ok(json!({
        "gateway": plan.gateway, "version": plan.version(), "compared": plan.is_compared,
        "parts": value(&plan.parts)?, "kept": plan.kept, "document": plan.shown(),
    }))
}

/// Returns all inputs and options. Stand-ins replace key material, unless the server was started with secrets.
pub async fn snapshot(State(shared): State<Shared>) -> Response {
    let with_secrets = shared.with_secrets;
    snapshot_of(shared, with_secrets).await
}

/// Returns all inputs and options, always with stand-ins.
pub async fn public_snapshot(State(shared): State<Shared>) -> Response {
    snapshot_of(shared, false).await
}

async fn snapshot_of(shared: Shared, with_secrets: bool) -> Response {
    let made = tokio::task::spawn_blocking(move || -> Result<String, (StatusCode, String)> {
        let build = build(&shared)?;
        Ok(Snapshot::new(&build.compilation, &shared.options, &[], with_secrets).write())
    });
    match made.await {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], text).into_response(),
        Ok(Err((status, why))) => (status, why).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
