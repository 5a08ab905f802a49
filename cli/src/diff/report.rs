//! Differences for pull requests and programs: Markdown, SARIF, GitHub's commands.
//!
//! What must not be here: what differs.

use super::human::{summary, was_word};
use chancery_core::explain::Running;
use chancery_core::explain::compare::{Change, Comparison};
use serde_json::{Value, json};
use std::fmt::Write;

/// So many things are listed in a pull request.
const MOST: usize = 100;

pub fn markdown(comparison: &Comparison, running: Option<&Running>) -> String {
    let mut out = String::new();
    for (title, changes) in [("Resources", &comparison.resources), ("What Envoy gets", &comparison.envoy)] {
        if changes.is_empty() {
            continue;
        }
        let _ = writeln!(out, "### {title}: {}\n\n| | what | before | after |\n|---|---|---|---|", summary(changes));
        for change in changes.iter().take(MOST) {
            let was = change.was.as_ref().map(|was| format!(" ({} {})", was_word(change.change), cell(was))).unwrap_or_default();
            let _ = writeln!(out, "| {} | {} **{}**{was}{} | | |", change.change.name(), change.kind, cell(&change.name), at(change));
            for field in &change.fields {
                let value = |value: &Option<String>| value.as_ref().map(|value| format!("`{}`", cell(value))).unwrap_or_default();
                let _ = writeln!(out, "| | `{}` | {} | {} |", cell(&field.path), value(&field.before), value(&field.after));
            }
        }
        if changes.len() > MOST {
            let _ = writeln!(out, "\n... and {} more.", changes.len() - MOST);
        }
        out.push('\n');
    }
    for refused in running.iter().flat_map(|running| &running.refused) {
        let _ = writeln!(out, "Envoy refused {} **{}**: {}\n", refused.kind, cell(&refused.name), cell(&refused.details));
    }
    if comparison.is_empty() {
        out.push_str("Nothing differs.\n");
    }
    out
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('`', "'").replace('<', "&lt;").replace('\n', " ")
}

fn at(change: &Change) -> String {
    let span = change.after.iter().chain(&change.before).find_map(|origin| origin.span.as_ref());
    span.map(|span| format!(" at {}:{}", cell(&span.file), span.line)).unwrap_or_default()
}

fn sentence(change: &Change) -> String {
    let was = change.was.as_ref().map(|was| format!(" ({} {was})", was_word(change.change))).unwrap_or_default();
    let fields = change.fields.iter().take(3).map(|field| {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".into());
        format!("{} from {} to {}", field.path, value(&field.before), value(&field.after))
    });
    let fields = fields.collect::<Vec<_>>().join("; ");
    let fields = if fields.is_empty() { fields } else { format!(": {fields}") };
    format!("{} {} {}{was}{fields}", change.kind, change.name, change.change.name())
}

pub fn sarif(comparison: &Comparison) -> Value {
    let results =
        comparison.resources.iter().map(|change| ("resource-changed", change)).chain(comparison.envoy.iter().map(|change| ("envoy-changed", change)));
    let results: Vec<Value> = results
        .map(|(rule, change)| {
            let span = change.after.iter().find_map(|origin| origin.span.as_ref());
            let locations: Vec<Value> = span
                .map(|span| {
                    json!({ "physicalLocation": {
                        "artifactLocation": { "uri": span.file },
                        "region": { "startLine": span.line, "startColumn": span.column, "endLine": span.end_line, "endColumn": span.end_column },
                    } })
                })
                .into_iter()
                .collect();
            json!({ "ruleId": rule, "level": "note", "message": { "text": sentence(change) }, "locations": locations })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "chancery",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": [
                    { "id": "resource-changed", "shortDescription": { "text": "a resource differs" } },
                    { "id": "envoy-changed", "shortDescription": { "text": "what Envoy gets differs" } },
                ],
            } },
            "results": results,
        }],
    })
}

pub fn github(comparison: &Comparison) -> String {
    let mut out = String::new();
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    for change in comparison.envoy.iter().chain(&comparison.resources) {
        let span = change.after.iter().find_map(|origin| origin.span.as_ref());
        let place = span.map(|span| format!(" file={},line={},endLine={}", property(&span.file), span.line, span.end_line)).unwrap_or_default();
        let _ = writeln!(out, "::notice{place}::{}", data(&sentence(change)));
    }
    out
}
