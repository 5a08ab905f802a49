//! Differences for pull requests and programs: Markdown, SARIF, GitHub's commands.
//!
//! What must not be here: what differs.

use super::human::{kinds, settings, summary, tried, unchanged, was};
use crate::check::sarif;
use chancery_core::compare::{Change, Comparison, RequestChange, Requests};
use chancery_core::envoy_config::Running;
use chancery_core::explain::Span;
use serde_json::{Value, json};
use std::fmt::Write;

/// So many things are listed in a pull request.
const MOST: usize = 100;

pub fn markdown(comparison: &Comparison, requests: Option<&Requests>, running: Option<&Running>) -> String {
    let mut out = requests.filter(|_| !comparison.is_empty()).map(of_requests).unwrap_or_default();
    for (title, changes) in [("Resources", &comparison.resources), ("What Envoy gets", &comparison.envoy)] {
        if changes.is_empty() {
            continue;
        }
        let _ = writeln!(out, "### {title}: {}\n\n| | what | before | after |\n|---|---|---|---|", summary(changes));
        for change in changes.iter().take(MOST) {
            let was = was(change).map(|was| format!(" ({})", cell(&was))).unwrap_or_default();
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
    if !comparison.settings.is_empty() {
        let _ = writeln!(
            out,
            "### The controller's own configuration: {}\n\n| setting | | before | after |\n|---|---|---|---|",
            settings(&comparison.settings)
        );
        for setting in comparison.settings.iter().take(MOST) {
            let value = |value: &Option<String>| value.as_ref().map(|value| format!("`{}`", cell(value))).unwrap_or_default();
            let _ =
                writeln!(out, "| `{}` | {} | {} | {} |", cell(&setting.path), setting.takes.words(), value(&setting.before), value(&setting.after));
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

/// Requests that are treated differently: what a reviewer asks first.
pub fn of_requests(requests: &Requests) -> String {
    let mut out = String::new();
    if requests.is_empty() {
        let _ = writeln!(out, "### {} ({})\n", unchanged(requests).trim_end_matches('.'), tried(requests));
    } else {
        let _ = writeln!(out, "### Requests that change: {}\n\n| requests | what | before | after |\n|---|---|---|---|", kinds(requests));
        for change in requests.changes.iter().take(MOST) {
            let mut named = Some(format!("**{}**{}", cell(&change.requests), at_span(span_of(change))));
            for difference in &change.differences {
                let value = |value: &Option<String>| value.as_ref().map(|value| format!("`{}`", cell(value))).unwrap_or_default();
                let (before, after) = (value(&difference.before), value(&difference.after));
                let _ = writeln!(out, "| {} | {} | {before} | {after} |", named.take().unwrap_or_default(), cell(&difference.what));
            }
            let _ = writeln!(out, "| | e.g. | `{}` | |", cell(&change.witness.curl));
        }
        if requests.changes.len() > MOST {
            let _ = writeln!(out, "\n... and {} more.", requests.changes.len() - MOST);
        }
        out.push('\n');
    }
    for limit in &requests.limits {
        let _ = writeln!(out, "{}\n", cell(limit));
    }
    out
}

/// The line that a change comes from: what it says now, or what was there.
fn span_of(change: &RequestChange) -> Option<&Span> {
    let differences = || change.differences.iter();
    let after = differences().filter_map(|of| of.after_from.as_ref()).chain(&change.after.origins);
    let before = differences().filter_map(|of| of.before_from.as_ref()).chain(&change.before.origins);
    after.chain(before).find_map(|origin| origin.span.as_ref())
}

fn sentence_of(change: &RequestChange) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".into());
    let all = change.differences.iter().take(3).map(|of| format!("{} from {} to {}", of.what, value(&of.before), value(&of.after)));
    format!("{}: {}; e.g. {}", change.requests, all.collect::<Vec<_>>().join("; "), change.witness.curl)
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('`', "'").replace('<', "&lt;").replace('\n', " ")
}

fn at(change: &Change) -> String {
    at_span(change.after.iter().chain(&change.before).find_map(|origin| origin.span.as_ref()))
}

fn at_span(span: Option<&Span>) -> String {
    span.map(|span| format!(" at {}:{}", cell(&span.file), span.line)).unwrap_or_default()
}

fn sentence(change: &Change) -> String {
    let was = was(change).map(|was| format!(" ({was})")).unwrap_or_default();
    let fields = change.fields.iter().take(3).map(|field| {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".into());
        format!("{} from {} to {}", field.path, value(&field.before), value(&field.after))
    });
    let fields = fields.collect::<Vec<_>>().join("; ");
    let fields = if fields.is_empty() { fields } else { format!(": {fields}") };
    format!("{} {} {}{was}{fields}", change.kind, change.name, change.change.name())
}

pub fn sarif(comparison: &Comparison, requests: Option<&Requests>) -> Value {
    let result = |rule: &str, level: &str, text: String, span: Option<&Span>| {
        let locations: Vec<Value> = span.map(sarif::physical).into_iter().collect();
        json!({ "ruleId": rule, "level": level, "message": { "text": text }, "locations": locations })
    };
    let all =
        comparison.resources.iter().map(|change| ("resource-changed", change)).chain(comparison.envoy.iter().map(|change| ("envoy-changed", change)));
    let of_requests = requests.iter().flat_map(|requests| &requests.changes);
    let of_requests = of_requests.map(|change| result("request-changed", "warning", sentence_of(change), span_of(change)));
    let others = all.map(|(rule, change)| result(rule, "note", sentence(change), change.after.iter().find_map(|origin| origin.span.as_ref())));
    let results: Vec<Value> = of_requests.chain(others).collect();
    let rule = |id: &str, text: &str| json!({ "id": id, "shortDescription": { "text": text } });
    let rules = [
        rule("request-changed", "a request is treated differently"),
        rule("resource-changed", "a resource differs"),
        rule("envoy-changed", "what Envoy gets differs"),
    ];
    sarif::log(&rules, &results)
}

pub fn github(comparison: &Comparison, requests: Option<&Requests>) -> String {
    let mut out = String::new();
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut line = |command: &str, text: String, span: Option<&Span>| {
        let place = span.map(|span| format!(" file={},line={},endLine={}", property(&span.file), span.line, span.end_line)).unwrap_or_default();
        let _ = writeln!(out, "::{command}{place}::{}", data(&text));
    };
    for change in requests.iter().flat_map(|requests| &requests.changes) {
        line("warning", sentence_of(change), span_of(change));
    }
    for change in comparison.envoy.iter().chain(&comparison.resources) {
        line("notice", sentence(change), change.after.iter().find_map(|origin| origin.span.as_ref()));
    }
    out
}
