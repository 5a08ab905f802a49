//! Answers `textDocument/codeLens`: above each object what it produces, a request to try, and the results of its request tests.
//!
//! Does not run the commands of lenses; the client does.

use crate::analysis::Analysis;
use crate::context::{Answer, Context};
use chancery_core::explain::RequestTests;
use chancery_core::explain::try_request;
use chancery_core::resource::Object;
use chancery_workspace::disk;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// At most this many tests are run for lenses.
const MOST_TESTS: usize = 200;

/// # Errors
///
/// Never.
pub fn lenses(context: &Context, params: Value) -> Answer {
    let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
    let Some((analysis, source)) = context.source(uri).filter(|_| context.client.settings.code_lens.enabled) else { return Ok(Value::Null) };
    let tests = if analysis.is_large() { BTreeMap::new() } else { tests(context, analysis) };
    let mut out = Vec::new();
    for object in analysis.objects_of(source).filter(|object| !object.broken && object.parent.is_none()) {
        let Some(whole) = object.value_range(object.root.id) else { continue };
        let start = analysis.range_of(source, whole.start as usize..whole.start as usize, context.client.encoding).start;
        let range = json!({ "start": start, "end": start });
        let place = json!({ "uri": uri, "line": start.line, "object": object.id.index() });
        let mut add = |title: String, command: &str| {
            // Without the client's commands a lens only informs.
            let command = if context.client.commands { command } else { "" };
            out.push(json!({ "range": range, "command": { "title": title, "command": command, "arguments": [place] } }));
        };
        if let Some(title) = summary(analysis, object) {
            add(analysis.redacted(&title), "chancery.showProduced");
        }
        if analysis.rows().of(object).next().is_some() && context.client.commands {
            add("Try a request".into(), "chancery.tryRequest");
        }
        if let Some((passed, failed)) = tests.get(&(object.key.kind.to_string(), object.key.name.to_string())) {
            add(counted(*passed, *failed), "chancery.showProduced");
        }
    }
    Ok(out.into())
}

/// What an object produces, or what happened to it instead.
fn summary(analysis: &Analysis, object: &Object) -> Option<String> {
    let row = analysis.ledger().get(&object.id)?;
    let counted = row.counted_parts();
    match row.state {
        "emitted" | "merged" if !counted.is_empty() => Some(counted),
        state => Some(format!("{state}{}", row.outcome())),
    }
}

fn counted(passed: usize, failed: usize) -> String {
    let tests = |count: usize| if count == 1 { "1 test".to_string() } else { format!("{count} tests") };
    match (passed, failed) {
        (passed, 0) => format!("{} {}", tests(passed), if passed == 1 { "passes" } else { "pass" }),
        (0, failed) => format!("{} {}", tests(failed), if failed == 1 { "fails" } else { "fail" }),
        (passed, failed) => {
            format!("{} {}, {failed} {}", tests(passed), if passed == 1 { "passes" } else { "pass" }, if failed == 1 { "fails" } else { "fail" })
        }
    }
}

/// The results of the settings' request tests, by the object that decides the request.
fn tests(context: &Context, analysis: &Analysis) -> BTreeMap<(String, String), (usize, usize)> {
    let mut out: BTreeMap<(String, String), (usize, usize)> = BTreeMap::new();
    let positions = analysis.positions();
    let mut left = MOST_TESTS;
    let files = context.settings.tests.iter().filter(|pattern| !pattern.contains(['*', '?', '['])).map(|name| context.settings.folder().join(name));
    for text in files.filter_map(|file| disk::read_to_string(&file).ok()) {
        let Ok(tests) = RequestTests::read(&text) else { continue };
        for test in tests.tests {
            let Some(more) = left.checked_sub(1) else { return out };
            left = more;
            let Ok(trials) = try_request(&analysis.compilation, &positions, &test.request, &mut analysis.emitted()) else { continue };
            let is_meant = |gateway: Option<&str>| test.gateway.as_deref().is_none_or(|asked| gateway.is_none_or(|gateway| gateway.ends_with(asked)));
            let Some(trial) = trials.into_iter().find(|trial| is_meant(trial.gateway.as_deref())) else { continue };
            let Some(report) = report(analysis, &test, trial.gateway.as_deref()) else { continue };
            let holds = test.mismatches(&report).is_empty();
            let route = trial.lines.iter().rev().find(|line| line.of == "route" || line.of == "rule");
            let Some(object) = route.and_then(|line| object_at(analysis, line.span.source, line.span.offset)) else { continue };
            let count = out.entry((object.key.kind.to_string(), object.key.name.to_string())).or_default();
            if holds { count.0 += 1 } else { count.1 += 1 }
        }
    }
    out
}

/// The report that a test's expectation is compared with.
fn report(analysis: &Analysis, test: &chancery_core::explain::RequestTest, gateway: Option<&str>) -> Option<Value> {
    let request = test.request.read().ok()?;
    let positions = analysis.positions();
    let is_it = |label: Option<String>| gateway.is_none() || label.as_deref() == gateway;
    if let Some(gateway) = analysis.compilation.gateways().find(|of| is_it(of.label())) {
        let mut emitted = analysis.emitted();
        return serde_json::to_value(chancery_core::explain::route(gateway, &positions, &request, emitted.of(gateway))).ok();
    }
    let gateway = analysis.compilation.app_gateways().find(|of| is_it(of.named.label()))?;
    serde_json::to_value(chancery_core::explain::route_app_gateway(gateway, &positions, &request)).ok()
}

fn object_at(analysis: &Analysis, source: chancery_core::resource::SourceId, offset: u32) -> Option<&Object> {
    let here = |object: &&Object| object.value_range(object.root.id).is_some_and(|range| range.start <= offset && offset <= range.end);
    analysis.objects_of(source).filter(here).last()
}
