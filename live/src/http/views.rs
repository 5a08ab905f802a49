//! What is answered, as JSON: the views that the command line has, of the last build.
//!
//! What must not be here: new computation, and key material.

use super::{Asked, Shared};
use crate::worker::build::Build;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use chancery_core::backend::envoy::v3::{Emitted, emit};
use chancery_core::backend::envoy::{self, Document};
use chancery_core::explain::simulate::Request;
use chancery_core::explain::{Positions, Snapshot, dump_config, dump_tree, findings_of_all, graph_of_all, ledger_of_all};
use chancery_core::text::{Node, to_json};
use serde_json::{Value, json};
use std::sync::Arc;

/// An answer, or why there is none.
pub type Answer = Result<Value, (StatusCode, String)>;
/// Who answers.
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

/// One side's answer, or an object of each dialect's.
fn of_each(build: &Build, answer: impl Fn(&chancery_core::compile::Compilation) -> Answer) -> Answer {
    match &build.sides[..] {
        [only] => answer(only),
        all => {
            let each: Result<serde_json::Map<String, Value>, _> =
                all.iter().map(|side| Ok((side.dialect.name().to_owned(), answer(side)?))).collect();
            each.map(Value::Object)
        }
    }
}

pub fn sources(shared: &Shared, _: &Asked) -> Answer {
    Ok(json!({ "sources": shared.states.all() }))
}

pub fn resources(shared: &Shared, _: &Asked) -> Answer {
    let build = build(shared)?;
    let inputs = build.sides.first().map(|side| &side.inputs.inputs[..]).unwrap_or_default();
    let rows: Vec<Value> = inputs.iter().map(|input| json!({"name": input.name, "bytes": input.text.len()})).collect();
    Ok(json!({ "resources": rows, "version": build.version }))
}

pub fn findings(shared: &Shared, _: &Asked) -> Answer {
    Ok(json!({ "diagnostics": value(&findings_of_all(&build(shared)?.sides))? }))
}

pub fn ledger(shared: &Shared, _: &Asked) -> Answer {
    Ok(json!({ "ledger": value(&ledger_of_all(&build(shared)?.sides))? }))
}

pub fn routes(shared: &Shared, _: &Asked) -> Answer {
    of_each(&*build(shared)?, |side| Ok(json!({ "routes": value(&chancery_core::explain::routes(side))? })))
}

pub fn graph(shared: &Shared, _: &Asked) -> Answer {
    value(&graph_of_all(&build(shared)?.sides))
}

pub fn config(shared: &Shared, _: &Asked) -> Answer {
    of_each(&*build(shared)?, |side| node(&dump_config(side).0))
}

pub fn ir(shared: &Shared, _: &Asked) -> Answer {
    of_each(&*build(shared)?, |side| node(&dump_tree(&side.ir)))
}

pub fn envoys(shared: &Shared, _: &Asked) -> Answer {
    Ok(json!({ "envoys": shared.clients.all() }))
}

pub fn events(shared: &Shared, _: &Asked) -> Answer {
    Ok(json!({ "events": shared.events.timeline() }))
}

pub fn config_dump(shared: &Shared, _: &Asked) -> Answer {
    let options = envoy::Options { document: Document::Resources, ..Default::default() };
    of_each(&*build(shared)?, |side| text(&emit(&side.ir, &options, &mut Emitted::new()).text()))
}

pub fn route(shared: &Shared, asked: &Asked) -> Answer {
    let one = |name: &str| asked.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let url = one("url").ok_or((StatusCode::BAD_REQUEST, "say which URL: ?url=https://HOST/PATH".to_owned()))?;
    let mut request = Request::new(one("method").unwrap_or("GET"), url).map_err(|why| (StatusCode::BAD_REQUEST, why))?;
    for (_, header) in asked.iter().filter(|(name, _)| name == "header") {
        let (name, value) = header.split_once(':').ok_or((StatusCode::BAD_REQUEST, format!("`{header}` is no header: say NAME: VALUE")))?;
        request.add_header(name.trim(), value.trim());
    }
    of_each(&*build(shared)?, |side| {
        let positions = Positions::new(&side.inputs, &side.objects);
        value(&chancery_core::explain::route(side, &positions, &request, &mut Emitted::new()))
    })
}

/// All inputs and options, key material replaced by stand-ins.
pub async fn snapshot(State(shared): State<Shared>) -> Response {
    let made = tokio::task::spawn_blocking(move || {
        let build = build(&shared)?;
        let side = build.sides.first().ok_or((StatusCode::SERVICE_UNAVAILABLE, "nothing was compiled".to_owned()))?;
        Ok(Snapshot::new(side, &shared.options, &[], false).write())
    });
    match made.await {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Ok(Err((status, why))) => (status, why).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
