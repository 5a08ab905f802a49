//! Numbers, in the format of OpenMetrics.
//!
//! What must not be here: counting.

use super::Shared;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use std::fmt::Write;

const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A name with its meaning.
fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# TYPE {name} {kind}\n# HELP {name} {help}");
}

/// A value of a label.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// All numbers.
pub async fn metrics(State(shared): State<Shared>) -> Response {
    let mut out = String::new();
    for (name, kind, help, value) in shared.metrics.all() {
        head(&mut out, name, kind, help);
        let _ = writeln!(out, "{name}{} {value}", if kind == "counter" { "_total" } else { "" });
    }
    head(&mut out, "chancery_source_synced", "gauge", "Whether all objects of a source are known, by kind.");
    for status in shared.states.all() {
        let synced = u8::from(status.state == crate::event::SourceState::Synced);
        let _ = writeln!(out, "chancery_source_synced{{source=\"{}\",kind=\"{}\"}} {synced}", escaped(&status.source), escaped(&status.kind));
    }
    let clients = shared.clients.all();
    head(&mut out, "chancery_envoys", "gauge", "Envoys that are connected.");
    let _ = writeln!(out, "chancery_envoys {}", clients.len());
    head(&mut out, "chancery_envoy_streams", "gauge", "Streams that Envoys have open.");
    let _ = writeln!(out, "chancery_envoy_streams {}", clients.iter().map(|client| client.streams).sum::<usize>());
    head(&mut out, "chancery_envoy_rejects", "gauge", "Envoys that reject what they were sent last, by type.");
    let mut rejects: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for (kind, of) in clients.iter().flat_map(|client| &client.types) {
        *rejects.entry(kind).or_default() += usize::from(of.rejected.is_some());
    }
    for (kind, number) in rejects {
        let _ = writeln!(out, "chancery_envoy_rejects{{type=\"{}\"}} {number}", escaped(kind));
    }
    out.push_str("# EOF\n");
    ([(header::CONTENT_TYPE, TYPE)], out).into_response()
}
