//! Differences for pull requests, CI and people without the command line: Markdown, SARIF, GitHub workflow commands, HTML, JUnit.
//!
//! Does not compare; see `compared`.

use super::compared::{Differences, GatewayDifference, GatewayState, Make};
use super::human::{kinds, settings, summary, tried, unchanged, was};
use crate::check::github::{data, property};
use crate::check::sarif;
use crate::html::{Report, Tone};
use crate::output::scrub;
use crate::style::plain;
use chancery_core::compare::{Change, RequestChange, Requests, SettingView, lost_protection};
use chancery_core::envoy_config::Running;
use chancery_core::explain::Span;
use chancery_core::text::markup::escaped;
use serde_json::{Value, json};
use std::fmt::Write;

/// At most this many changes are listed in a pull request.
const MOST: usize = 100;

pub fn markdown(differences: &Differences, running: Option<&Running>) -> String {
    let mut out = String::new();
    lost(&mut out, differences);
    if let Some(only) = differences.only() {
        only.requests.iter().filter(|_| !differences.is_empty()).for_each(|requests| out.push_str(&of_requests(requests)));
        changes(&mut out, "Resources", &differences.resources);
        folded(&mut out, only.make.title(), &only.envoy);
    } else {
        differences.gateways.iter().filter(|of| !of.is_empty()).for_each(|of| gateway(&mut out, of));
        changes(&mut out, "Resources", &differences.resources);
    }
    of_settings(&mut out, &differences.settings);
    for refused in running.iter().flat_map(|running| &running.refused) {
        let _ = writeln!(out, "Envoy refused {} **{}**: {}\n", refused.kind, cell(&refused.name), cell(&refused.details));
    }
    if differences.is_empty() {
        let _ = writeln!(out, "{}", differences.nothing("Nothing differs."));
    }
    differences.limits().into_iter().for_each(|limit| _ = writeln!(out, "\n{limit}"));
    out
}

/// Requests that lose protection, which reviewers need before everything else.
fn lost(out: &mut String, differences: &Differences) {
    let changes = differences.gateways.iter().filter_map(|of| of.requests.as_ref()).flat_map(|requests| &requests.changes);
    let lost: Vec<(&RequestChange, Vec<String>)> =
        changes.map(|change| (change, lost_protection(change))).filter(|(_, lost)| !lost.is_empty()).collect();
    if lost.is_empty() {
        return;
    }
    out.push_str("### :warning: Requests that lose protection\n\n");
    for (change, lost) in lost.iter().take(MOST) {
        let _ = writeln!(out, "- `{}` no longer {}{}", code(&change.requests), lost.join(", and no longer "), at_span(span_of(change)));
    }
    if lost.len() > MOST {
        let _ = writeln!(out, "- ... and {} more.", lost.len() - MOST);
    }
    out.push('\n');
}

/// One of several gateways.
fn gateway(out: &mut String, of: &GatewayDifference) {
    let name = cell(of.gateway.as_deref().unwrap_or_default());
    match of.state {
        GatewayState::Added | GatewayState::Removed => drop(writeln!(out, "## Gateway {name}: {}\n", of.state.name())),
        GatewayState::Compared => {
            let _ = writeln!(out, "## Gateway {name}\n");
            of.requests.iter().for_each(|requests| out.push_str(&of_requests(requests)));
            folded(out, of.make.title(), &of.envoy);
        }
    }
}

fn changes(out: &mut String, title: &str, changes: &[Change]) {
    if changes.is_empty() {
        return;
    }
    let _ = writeln!(out, "### {title}: {}\n", summary(changes));
    table(out, changes);
}

/// Details that a reviewer opens if needed.
fn folded(out: &mut String, title: &str, changes: &[Change]) {
    if changes.is_empty() {
        return;
    }
    let _ = writeln!(out, "<details><summary>{title}: {}</summary>\n", summary(changes));
    table(out, changes);
    out.push_str("</details>\n\n");
}

fn table(out: &mut String, changes: &[Change]) {
    out.push_str("| | what | before | after |\n|---|---|---|---|\n");
    for change in changes.iter().take(MOST) {
        let was = was(change).map(|was| format!(" ({})", cell(&was))).unwrap_or_default();
        let _ = writeln!(out, "| {} | {} `{}`{was}{} | | |", change.change.name(), change.kind, code_cell(&change.name), at(change));
        for field in &change.fields {
            let _ = writeln!(out, "| | `{}` | {} | {} |", code_cell(&field.path), value(field.before.as_ref()), value(field.after.as_ref()));
        }
    }
    if changes.len() > MOST {
        let _ = writeln!(out, "\n... and {} more.", changes.len() - MOST);
    }
    out.push('\n');
}

fn of_settings(out: &mut String, all: &[SettingView]) {
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "### The controller's own configuration: {}\n\n| setting | | before | after |\n|---|---|---|---|", settings(all));
    for setting in all.iter().take(MOST) {
        let (before, after) = (value(setting.before.as_ref()), value(setting.after.as_ref()));
        let _ = writeln!(out, "| `{}` | {} | {before} | {after} |", code_cell(&setting.path), setting.restart.words());
    }
    out.push('\n');
}

/// A value in a cell of a table.
fn value(of: Option<&String>) -> String {
    of.map(|value| format!("`{}`", code_cell(value))).unwrap_or_default()
}

/// Requests that are treated differently, which reviewers need first.
pub fn of_requests(requests: &Requests) -> String {
    let mut out = String::new();
    if requests.is_empty() {
        let tried = tried(requests).map(|tried| format!(" ({tried})")).unwrap_or_default();
        let _ = writeln!(out, "### {}{tried}\n", unchanged(requests).trim_end_matches('.'));
    } else {
        let _ = writeln!(out, "### Requests that change: {}\n\n| requests | what | before | after |\n|---|---|---|---|", kinds(requests));
        for change in requests.changes.iter().take(MOST) {
            let mut named = Some(format!("`{}`{}", code_cell(&change.requests), at_span(span_of(change))));
            for difference in &change.differences {
                let (before, after) = (value(difference.before.as_ref()), value(difference.after.as_ref()));
                let _ = writeln!(out, "| {} | {} | {before} | {after} |", named.take().unwrap_or_default(), cell(&difference.what));
            }
            let _ = writeln!(out, "| | e.g. | `{}` | |", code_cell(&change.witness.curl));
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

/// Returns the line that a change comes from: the current content, or the old content.
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

/// Returns a table cell. Redacts before it escapes Markdown.
fn cell(text: &str) -> String {
    plain(&scrub(text)).replace('\\', "\\\\").replace('|', "\\|").replace('`', "'").replace('<', "&lt;").replace('\n', " ")
}

/// Returns text for a code span, in which Markdown only reads backticks.
fn code(text: &str) -> String {
    plain(&scrub(text)).replace('`', "'").replace('\n', " ")
}

/// Returns text for a code span in a table, which also reads bars.
fn code_cell(text: &str) -> String {
    code(text).replace('|', "\\|")
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

/// One finding for a program that shows findings at lines.
struct Line<'a> {
    rule: &'static str,
    text: String,
    span: Option<&'a Span>,
}

/// Returns all differences, requests first, with the gateway if there are several.
fn lines(differences: &Differences) -> Vec<Line<'_>> {
    let mut out = Vec::new();
    let prefix = |of: &GatewayDifference| of.gateway.as_ref().map(|name| format!("gateway {name}: ")).unwrap_or_default();
    for of in &differences.gateways {
        if of.state != GatewayState::Compared {
            out.push(Line { rule: "gateway-changed", text: format!("{}{}", prefix(of), of.state.name()), span: None });
        }
        for change in of.requests.iter().flat_map(|requests| &requests.changes) {
            out.push(Line { rule: "request-changed", text: format!("{}{}", prefix(of), sentence_of(change)), span: span_of(change) });
        }
    }
    for change in &differences.resources {
        out.push(Line { rule: "resource-changed", text: sentence(change), span: after(change) });
    }
    for of in &differences.gateways {
        let rule = if of.make == Make::Envoy { "envoy-changed" } else { "part-changed" };
        for change in &of.envoy {
            out.push(Line { rule, text: format!("{}{}", prefix(of), sentence(change)), span: after(change) });
        }
    }
    out
}

fn after(change: &Change) -> Option<&Span> {
    change.after.iter().find_map(|origin| origin.span.as_ref())
}

fn is_for_users(rule: &str) -> bool {
    matches!(rule, "request-changed" | "gateway-changed")
}

pub fn sarif(differences: &Differences) -> Value {
    let result = |line: Line<'_>| {
        let locations: Vec<Value> = line.span.map(sarif::physical).into_iter().collect();
        let level = if is_for_users(line.rule) { "warning" } else { "note" };
        json!({ "ruleId": line.rule, "level": level, "message": { "text": line.text }, "locations": locations })
    };
    let results: Vec<Value> = lines(differences).into_iter().map(result).collect();
    let rule = |id: &str, text: &str| json!({ "id": id, "shortDescription": { "text": text } });
    let rules = [
        rule("request-changed", "a request is treated differently"),
        rule("gateway-changed", "a gateway is added or removed"),
        rule("resource-changed", "a resource differs"),
        rule("envoy-changed", "what Envoy gets differs"),
        rule("part-changed", "a part of a gateway differs"),
    ];
    sarif::log(&rules, &results)
}

pub fn github(differences: &Differences) -> String {
    let mut out = String::new();
    for line in lines(differences) {
        let place = line.span.map(|span| format!(" file={},line={},endLine={}", property(&span.file), span.line, span.end_line));
        let command = if is_for_users(line.rule) { "warning" } else { "notice" };
        let _ = writeln!(out, "::{command}{}::{}", place.unwrap_or_default(), data(&line.text));
    }
    out
}

/// All differences as one HTML file.
pub fn html(differences: &Differences, running: Option<&Running>) -> String {
    let all = lines(differences);
    let (title, lead) = match running {
        Some(_) => ("Drift", "The differences between the source and the running Envoy."),
        None => ("Differences", "The differences between the two sides."),
    };
    let mut report = Report::new(title, if differences.is_empty() { differences.nothing("Nothing differs.") } else { lead });
    let refused: Vec<_> = running.iter().flat_map(|running| &running.refused).collect();
    if !refused.is_empty() {
        report.group("Resources that Envoy refused", &refused.len().to_string(), Tone::Bad, true, |report| {
            let rows = refused.iter().map(|of| vec![(format!("{} {}", of.kind, of.name), Vec::new()), (of.details.clone(), Vec::new())]);
            report.table(&["resource", "why"], rows);
        });
    }
    for (rule, title, tone) in [
        ("request-changed", "Requests that change", Tone::Bad),
        ("gateway-changed", "Gateways", Tone::Bad),
        ("resource-changed", "Resources", Tone::Neutral),
        ("envoy-changed", "What Envoy gets", Tone::Neutral),
        ("part-changed", "Parts of the gateway", Tone::Neutral),
    ] {
        let own: Vec<&Line<'_>> = all.iter().filter(|line| line.rule == rule).collect();
        if own.is_empty() {
            continue;
        }
        let place = |line: &Line<'_>| line.span.map(|span| format!("{}:{}", span.file, span.line)).into_iter().collect();
        report.group(title, &own.len().to_string(), tone, is_for_users(rule), |report| {
            report.table(&["difference"], own.iter().map(|line| vec![(line.text.clone(), place(line))]));
        });
    }
    let limits = differences.limits();
    if !limits.is_empty() {
        report.heading("Not compared");
        report.list(&limits);
    }
    report.finish()
}

/// All differences as JUnit's XML: each request that changes is a failure, and the others are skipped.
pub fn junit(differences: &Differences) -> String {
    let all = lines(differences);
    let failures = all.iter().filter(|line| is_for_users(line.rule)).count();
    let text = |text: &str| escaped(&plain(&scrub(text)));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"chancery\" tests=\"{}\" failures=\"{failures}\" errors=\"0\">", all.len());
    let _ = writeln!(
        out,
        "  <testsuite name=\"diff\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{}\">",
        all.len(),
        all.len() - failures
    );
    for line in &all {
        let message = text(&line.text);
        let place = line.span.map(|span| format!(" file=\"{}\" line=\"{}\"", text(&span.file), span.line)).unwrap_or_default();
        let _ = writeln!(out, "    <testcase classname=\"{}\" name=\"{message}\"{place}>", line.rule);
        let _ = match is_for_users(line.rule) {
            true => writeln!(out, "      <failure type=\"{}\" message=\"{message}\"/>", line.rule),
            false => writeln!(out, "      <skipped/>"),
        };
        out.push_str("    </testcase>\n");
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}
