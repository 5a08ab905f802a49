//! A page in plain HTML without scripts: the state of sources, builds and Envoys, and links to the API. It shows nothing that the API lacks.

use super::Shared;
use super::openapi::PATHS;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use chancery_core::text::markup::escaped;
use std::fmt::Write;

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color-scheme:light dark}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.2rem .6rem .2rem 0;vertical-align:top}h2{margin-top:2rem}";

fn table(out: &mut String, title: &str, head: &[&str], rows: &[Vec<String>]) {
    let _ = write!(out, "<h2>{title}</h2>");
    if rows.is_empty() {
        out.push_str("<p>None.</p>");
        return;
    }
    out.push_str("<table><tr>");
    head.iter().for_each(|cell| _ = write!(out, "<th>{cell}</th>"));
    for row in rows {
        out.push_str("</tr><tr>");
        row.iter().for_each(|cell| _ = write!(out, "<td>{}</td>", escaped(cell)));
    }
    out.push_str("</tr></table>");
}

/// Answers with the page.
pub async fn page(State(shared): State<Shared>) -> Response {
    let mut out = format!("<!doctype html><html lang=en><meta charset=utf-8><title>Chancery</title><style>{STYLE}</style><h1>Chancery</h1>");
    match shared.build() {
        None => out.push_str("<p>The first build is not done.</p>"),
        Some(build) => {
            let (version, inputs, errors, number) = (&build.version, build.inputs, build.errors, build.number);
            let _ = write!(out, "<p>Version {version}: build {number}, {inputs} inputs, {errors} errors.</p>");
        }
    }
    let sources: Vec<Vec<String>> = shared
        .states
        .all()
        .into_iter()
        .map(|of| vec![of.source, of.kind, of.state.name().into(), format!("{} s", of.age_s), of.detail.unwrap_or_default()])
        .collect();
    table(&mut out, "Sources", &["Source", "Kind", "State", "For", ""], &sources);
    if shared.replicas.is_shared() {
        let row = |of: crate::replicas::members::MemberStatus| {
            let who = if of.is_own { "this one" } else { "" };
            vec![of.address, of.state.name().into(), who.into(), of.detail.unwrap_or_default()]
        };
        let rows: Vec<Vec<String>> = shared.replicas.statuses().into_iter().map(row).collect();
        table(&mut out, "Replicas", &["Address", "State", "", ""], &rows);
        let (built, elsewhere) = shared.build().map_or((0, 0), |build| (build.gateways.len(), build.elsewhere.len()));
        let _ = write!(out, "<p>Gateways of this replica: {built} of {}.</p>", built + elsewhere);
    }
    let envoys: Vec<Vec<String>> = shared
        .clients
        .all()
        .into_iter()
        .map(|of| {
            let rejected: Vec<&str> = of.types.values().filter_map(|of| of.rejected.as_ref()).map(|of| of.message.as_str()).collect();
            vec![of.node.id, of.gateway.unwrap_or_else(|| "none".into()), of.node.agent, of.streams.to_string(), rejected.join("; ")]
        })
        .collect();
    table(&mut out, "Envoys", &["Node", "Gateway", "Version", "Streams", "Rejected"], &envoys);
    out.push_str("<h2>More</h2><table>");
    for path in PATHS.iter().filter(|path| path.parameters.is_empty()) {
        let _ = write!(out, "<tr><td><a href=\"{0}\">{0}</a></td><td>{1}</td></tr>", path.path, path.summary);
    }
    out.push_str("</table></html>");
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, POLICY)], out).into_response()
}
