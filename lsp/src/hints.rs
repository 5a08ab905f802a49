//! Answers `textDocument/inlayHint`: where routes lead, their timeouts, what shadows them, and how many objects refer to an object.
//!
//! Does not compute routes; see `chancery_core::explain::routes`.

use crate::analysis::Analysis;
use crate::context::{Answer, Context, DocumentId, parameters};
use chancery_core::explain::{Named, RouteRow};
use chancery_core::resource::Object;
use lsp_types::Range;
use serde::Deserialize;
use serde_json::{Value, json};

/// Kinds that others are attached to.
const HOLDERS: [&str; 6] = ["Gateway", "Listener", "Host", "TLSContext", "GatewayClass", "BackendTrafficPolicy"];
/// At most this many targets are named.
const MOST_TARGETS: usize = 2;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    text_document: DocumentId,
    range: Range,
}

/// # Errors
///
/// The parameters are invalid.
pub fn hints(context: &Context, params: Value) -> Answer {
    let asked: Asked = parameters(params)?;
    let Some((analysis, source)) = context.source(&asked.text_document.uri) else { return Ok(Value::Null) };
    let settings = &context.client.settings.inlay_hints;
    let positions = analysis.positions();
    let mut out = Vec::new();
    for object in analysis.objects_of(source).filter(|object| !object.broken) {
        let Some(span) = positions.object(object.id) else { continue };
        let start = context.range(analysis, &span).start;
        if start.line < asked.range.start.line || asked.range.end.line < start.line {
            continue;
        }
        let mut words: Vec<String> = Vec::new();
        let rows: Vec<&RouteRow> = analysis.rows().of(object).collect();
        if settings.upstreams {
            words.extend(targets(&rows));
        }
        if settings.timeouts {
            words.extend(timeout(&rows));
        }
        if settings.shadowed {
            words.extend(shadow(analysis, object, &rows));
        }
        if settings.attached && HOLDERS.contains(&&*object.key.kind) {
            let count = attached(analysis, object);
            if count > 0 {
                words.push(format!("{count} attached"));
            }
        }
        if words.is_empty() {
            continue;
        }
        let Some(line) = analysis.lines(source).and_then(|lines| lines.line(analysis.text(source), start.line)) else { continue };
        let at = analysis.range_of(source, line.end..line.end, context.client.encoding).start;
        let label = analysis.redacted(&words.join(", "));
        out.push(json!({ "position": at, "label": label, "paddingLeft": true, "tooltip": analysis.redacted(&tooltip(&rows)) }));
    }
    Ok(out.into())
}

/// Where the routes of an object lead, each target once.
fn targets(rows: &[&RouteRow]) -> Option<String> {
    let mut targets: Vec<&str> = Vec::new();
    for row in rows {
        let summary = row.summary.strip_prefix("to ").unwrap_or(&row.summary);
        if !summary.is_empty() && !targets.contains(&summary) {
            targets.push(summary);
        }
    }
    let more = targets.len().saturating_sub(MOST_TARGETS);
    targets.truncate(MOST_TARGETS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!targets.is_empty()).then(|| format!("→ {}{more}", targets.join("; ")))
}

/// The timeout, if all routes have the same.
fn timeout(rows: &[&RouteRow]) -> Option<String> {
    let of = |row: &&RouteRow| row.policies.iter().find(|policy| policy.contains("timeout")).cloned();
    let first = rows.first().and_then(of)?;
    rows.iter().all(|row| of(row).as_ref() == Some(&first)).then_some(first)
}

/// The object whose route matches the requests of a route instead.
fn shadow(analysis: &Analysis, object: &Object, rows: &[&RouteRow]) -> Option<String> {
    if let Some(by) = analysis.ledger().get(&object.id).filter(|row| row.state == "shadowed").and_then(|row| row.by.as_ref()) {
        return Some(format!("shadowed by {}", by.name));
    }
    let shadowed = rows.iter().filter(|row| row.shadowed_by.is_some()).count();
    let row = rows.iter().find(|row| row.shadowed_by.is_some())?;
    let is_winner = |other: &&RouteRow| {
        Some(other.order) == row.shadowed_by && other.address == row.address && other.chain == row.chain && other.domains == row.domains
    };
    let winner = analysis.rows().rows.iter().find(is_winner)?.made_by.first()?;
    if winner.name == object.key.name && winner.kind == object.key.kind {
        return None;
    }
    let part = if shadowed < rows.len() { "partly " } else { "" };
    Some(format!("{part}shadowed by {}", winner.name))
}

fn attached(analysis: &Analysis, object: &Object) -> usize {
    let named = Named::Object(object.id);
    let mut holders: Vec<_> = analysis.names().places(&named).filter(|place| !place.is_definition).map(|place| place.holder).collect();
    holders.extend(analysis.names().referring(object.id));
    holders.sort_unstable();
    holders.dedup();
    holders.len()
}

fn tooltip(rows: &[&RouteRow]) -> String {
    let line = |row: &&RouteRow| {
        let policies = if row.policies.is_empty() { String::new() } else { format!("; {}", row.policies.join(", ")) };
        format!("{} {}: {}{policies}", row.domains.join(", "), row.path, row.summary)
    };
    let mut lines: Vec<String> = rows.iter().take(8).map(line).collect();
    if rows.len() > 8 {
        lines.push(format!("and {} more", rows.len() - 8));
    }
    lines.join("\n")
}
