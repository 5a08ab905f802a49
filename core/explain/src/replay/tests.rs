//! Tests replays of small logs.

use super::*;
use crate::coverage::Coverage;
use crate::{PreparedGateways, Tester};
use alloc::format;
use chancery_base::compilation::Options;
use chancery_base::resource::Inputs;
use chancery_compile::Compiler;

const BEFORE: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: all}
spec: {hostname: shop.example.com, requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: cart}
spec: {hostname: shop.example.com, prefix: /cart/, service: cart}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: help}
spec: {hostname: shop.example.com, prefix: /help/, service: help}
";

fn line(path: &str, status: u16, upstream: &str) -> String {
    format!("[2026-11-28T10:00:00.000Z] \"GET {path} HTTP/1.1\" {status} - 0 0 0 - \"10.0.0.1\" \"curl\" \"id\" \"shop.example.com\" \"{upstream}\"")
}

/// Replays lines of Envoy's default format.
fn run(before: Option<&str>, after: &str, lines: &[String]) -> ReplayReport {
    let compile = |text: &str| {
        let mut compiler = Compiler::new(crate::testing::ALL);
        let compilation = compiler.compile(&Inputs::one("in.yaml", text), &Options::default());
        (compiler, compilation)
    };
    let (mut compiler, old) = compile(before.unwrap_or(after));
    let positions = old.positions();
    let prepared = PreparedGateways::of(&old, &positions, &mut compiler);
    let old = Tester::new(&prepared, &mut Coverage::default());
    let (mut compiler, new) = compile(after);
    let positions = new.positions();
    let prepared = PreparedGateways::of(&new, &positions, &mut compiler);
    let mut coverage = Coverage::default();
    let new = Tester::new(&prepared, &mut coverage);
    let gateways = ReplayGateways::new(before.map(|_| &old), &new).expect("one gateway each");
    let mut replay = Replay::new(&gateways, ReplayOptions::default());
    let format = LogFormat::parse("envoy").expect("a format");
    lines.iter().for_each(|line| replay.line(&format, line));
    replay.finish(coverage)
}

#[test]
fn replay_counts_changed_requests_by_cause() {
    let after = BEFORE.replace("service: cart}", "service: cart, timeout_ms: 9000}").replace("prefix: /help/", "prefix: /support/");
    let lines = [line("/cart/1?token=abc", 200, "10.0.0.1:80"), line("/cart/2", 200, "10.0.0.1:80"), line("/help/a", 200, "10.0.0.2:80"), "x".into()];
    let report = run(Some(BEFORE), &after, &lines);
    assert_eq!((report.requests, report.changed, report.unreadable, &report.unreadable_lines[..]), (3, 3, 1, &[4][..]));
    let changes: Vec<(u64, &str, &str)> =
        report.changes.iter().map(|of| (of.requests, of.example.as_str(), of.differences[0].what.as_str())).collect();
    assert_eq!(changes, [(2, "GET http://shop.example.com/cart/1?token=…", "timeout"), (1, "GET http://shop.example.com/help/a", "outcome")]);
    assert_eq!(report.changes[0].first.as_deref(), Some("2026-11-28T10:00:00.000Z"));
}

#[test]
fn replay_of_equal_configurations_changes_nothing() {
    let lines: Vec<String> = (0..50).map(|at| line(&format!("/cart/{}", at % 5), 200, "10.0.0.1:80")).collect();
    let report = run(Some(BEFORE), BEFORE, &lines);
    assert_eq!((report.requests, report.changed, report.simulated), (50, 0, 5));
}

#[test]
fn replay_names_unexplained_answers_and_unused_routes() {
    let lines = [line("/cart/1", 404, "-"), line("/cart/1", 200, "10.0.0.1:80"), line("/other", 404, "-"), line("/other", 200, "10.0.0.1:80")];
    let report = run(None, BEFORE, &lines);
    let found: Vec<(u64, &str)> = report.disagreements.iter().map(|of| (of.requests, of.logged.as_str())).collect();
    assert_eq!(found, [(1, "404 from the gateway"), (1, "200 from the upstream")]);
    let unused: Vec<&str> = report.unused.iter().filter_map(|part| part.resource.as_ref()).map(|resource| resource.name.as_str()).collect();
    assert_eq!(unused, ["help"]);
}

#[test]
fn replay_reports_headers_that_log_lacks() {
    let beta = "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: beta}\nspec: {hostname: shop.example.com, prefix: /cart/, \
        service: beta, headers: {x-beta: '1'}}\n";
    let report = run(None, &format!("{BEFORE}{beta}"), &[line("/cart/1", 200, "10.0.0.1:80")]);
    assert_eq!(report.undecided.get("x-beta"), Some(&1));
}
