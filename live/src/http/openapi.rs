//! The table of all paths. The router, the OpenAPI description and the page are made from it.

use super::json as answer;
use super::views::{self, View};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

/// A path of the API.
pub struct Path {
    pub path: &'static str,
    /// The summary in the description.
    pub summary: &'static str,
    /// Each parameter's name, whether it is required, and its description.
    pub parameters: &'static [(&'static str, bool, &'static str)],
    /// The function that answers with JSON, if any.
    pub view: Option<View>,
}

const fn path(path: &'static str, summary: &'static str, view: View) -> Path {
    Path { path, summary, parameters: &[], view: Some(view) }
}

const fn other(path: &'static str, summary: &'static str) -> Path {
    Path { path, summary, parameters: &[], view: None }
}

const REQUEST: &[(&str, bool, &str)] = &[
    ("url", true, "The URL of the request"),
    ("method", false, "The method [default: GET]"),
    ("header", false, "A header, `NAME: VALUE`; repeatable"),
];

const SERVED: &[(&str, bool, &str)] = &[("node", false, "The id of a connected Envoy"), ("gateway", false, "A gateway, if there are several")];

/// All paths.
pub const PATHS: &[Path] = &[
    path("/api/v1/sources", "The state of each source and of each kind of resources in it", views::sources),
    path("/api/v1/resources", "The inputs by name, without their content", views::resources),
    path("/api/v1/findings", "The findings, as `chancery check --format json` writes them", views::findings),
    path("/api/v1/ledger", "The result of every resource, as `chancery ledger --format json` writes it", views::ledger),
    path("/api/v1/routes", "All routes", views::routes),
    path("/api/v1/graph", "The references between resources, as `chancery graph --format json` writes them", views::graph),
    path("/api/v1/config", "The configuration as loaded, as `chancery compile --output config` writes it", views::config),
    path("/api/v1/ir", "The gateway's behaviour, as `chancery compile --output ir` writes it", views::ir),
    path("/api/v1/app_gateway", "The requested Application Gateway as ARM JSON, and the parts that differ in Azure", views::app_gateway),
    path("/api/v1/envoys", "The connected Envoys, with the resources that each accepted and rejected", views::envoys),
    path("/api/v1/replicas", "The replicas that share the gateways, and the owner of each gateway", views::replicas),
    path("/api/v1/events", "The events", views::events),
    path("/api/v1/config_dump", "The configuration for Envoys, as `chancery compile --output xds` writes it", views::config_dump),
    Path {
        path: "/api/v1/served",
        summary: "The configuration of one Envoy, in the form of Envoy's /config_dump, without key material",
        parameters: SERVED,
        view: Some(views::served),
    },
    Path { path: "/api/v1/route", summary: "What happens to a request", parameters: REQUEST, view: Some(views::route) },
    other("/api/v1/stream", "Events as they happen (server-sent events)"),
    other("/api/v1/live", "The inputs and their changes, without secrets, for the page (server-sent events)"),
    other("/metrics", "Metrics (OpenMetrics)"),
    other("/healthz", "Whether the process lives"),
    other("/readyz", "Whether there is an answer for Envoys"),
    other("/ambassador/v0/check_alive", "As /healthz"),
    other("/ambassador/v0/check_ready", "As /readyz"),
    other("/ambassador/v0/diag/", "The page"),
];

/// Answers with the OpenAPI description.
pub async fn document() -> Response {
    let paths: serde_json::Map<String, Value> = PATHS
        .iter()
        .map(|path| {
            let parameters: Vec<Value> = path
                .parameters
                .iter()
                .map(|(name, required, what)| json!({"name": name, "in": "query", "required": required, "description": what, "schema": {"type": "string"}}))
                .collect();
            let content = if path.view.is_some() { json!({"application/json": {"schema": {"type": "object"}}}) } else { json!({}) };
            let get = json!({"summary": path.summary, "parameters": parameters, "responses": {"200": {"description": path.summary, "content": content}}});
            (path.path.to_owned(), json!({ "get": get }))
        })
        .collect();
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Chancery", "version": env!("CARGO_PKG_VERSION"), "license": {"name": "Apache-2.0"}},
        "paths": paths,
    });
    answer(StatusCode::OK, &document)
}
