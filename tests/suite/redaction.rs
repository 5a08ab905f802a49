//! Checks that no output contains key material, however broken the object that holds it.

use chancery_core::backend::envoy::Document;
use chancery_core::backend::envoy::v3::Emitted;
use chancery_core::check::check;
use chancery_core::compilation::{Dialect, Options};
use chancery_core::diagnostic::Policy;
use chancery_core::dialect;
use chancery_core::executor::Sequential;
use chancery_core::explain::{
    Snapshot, View, Viewed, completions, dump_config, dump_with_origins, explain_line, findings, graph, hover, ledger, picture, routes, share,
    with_stand_ins,
};
use chancery_core::redact::RedactionMap;
use chancery_core::resource::SourceId;
use chancery_core::text::{LineIndex, TextRange, to_json};
use chancery_tests::leaks::{self, Leak};
use chancery_tests::work::{Work, inputs, options};

/// Not a key, and easy to search for.
const MARK: &str = "TUFSS0VEIEtFWSBNQVRFUklBTA";
const PLAIN: &str = "MARKED KEY MATERIAL";

fn input() -> String {
    format!(
        "---
apiVersion: v1
kind: Secret
metadata: {{name: shop, namespace: default}}
type: kubernetes.io/tls
data:
  tls.crt: {MARK}==
  tls.key: {MARK}==
---
apiVersion: v1
kind: Secret
metadata: {{name: shop-text, namespace: default}}
stringData:
  tls.crt: {PLAIN}
  tls.key: {PLAIN}
---
apiVersion: v1
kind: Secret
metadata: {{name: 'broken
data:
  tls.key: {MARK}==
---
apiVersion: v1
kind: Secret
metadata: {{name: folded, namespace: default}}
data:
  tls.crt: !!binary |
    {MARK}==
  tls.key: 17
---
apiVersion: v1
kind: Secret
metadata:
  name: annotated
  namespace: default
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{{\"data\": {{\"tls.key\": \"{MARK}==\"}}}}'
data:
  tls.key: {MARK}==
---
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {{name: https, namespace: default}}
spec: {{port: 8443, protocol: HTTPS, securityModel: XFP, hostBinding: {{namespace: {{from: ALL}}}}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {{name: shop, namespace: default}}
spec:
  hostname: shop.example.com
  tlsSecret: {{name: shop}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {{name: text, namespace: default}}
spec:
  hostname: text.example.com
  tlsSecret: {{name: shop-text}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {{name: shop, namespace: default}}
spec: {{hostname: shop.example.com, prefix: /, service: shop}}
"
    )
}

#[test]
fn key_material_is_in_no_output() {
    for line in ["", "missing-secrets=assume", "env.AMBASSADOR_FORCE_SECRET_VALIDATION=true"] {
        let text = input();
        let mut work = Work::new(&inputs([("input.yaml", text.as_str())]), &options(line).expect("options"));
        let mut outputs = vec![("bootstrap", work.text(Document::Bootstrap)), ("resources", work.text(Document::Resources))];
        let compilation = &work.compilation;
        let (positions, gateway) = (compilation.positions(), work.gateway());
        outputs.push(("findings", format!("{:?}", work.findings())));
        outputs.push(("findings as JSON", serde_json::to_string(&work.findings()).expect("JSON")));
        outputs.push(("ledger", serde_json::to_string(&work.ledger()).expect("JSON")));
        outputs.push(("ir", to_json(&dump_with_origins(gateway, &positions), false)));
        outputs.push(("ir in Rust", format!("{:?}", gateway.ir)));
        outputs.push((PRINTED, format!("{:?}", compilation.objects)));
        outputs.push(("stages in Rust", format!("{:?}", gateway.side.stages)));
        outputs.push(("config", to_json(&dump_config(gateway.of()).0, false)));
        outputs.push(("graph", serde_json::to_string(&graph(compilation, &positions)).expect("JSON")));
        let snapshot = Snapshot::new(compilation, &options(line).expect("options"), &[], false);
        let replayed = Work::new(&snapshot.inputs(), &snapshot.options);
        assert_eq!(
            serde_json::to_string_pretty(&replayed.ledger()).expect("JSON"),
            serde_json::to_string_pretty(&work.ledger()).expect("JSON"),
            "stand-ins have the form of the original, with `{line}`"
        );
        outputs.push(("snapshot", snapshot.write()));
        let viewed = Viewed::new(gateway.ir, View::Envoy, &mut chancery_core::backend::envoy::v3::Emitted::new());
        let documents = [(gateway.named(), viewed)];
        for line in 1..=u32::try_from(text.lines().count()).expect("a few lines") {
            let report = explain_line(compilation, &positions, &documents, SourceId(0), line, None);
            outputs.push(("explain", serde_json::to_string(&report).expect("JSON")));
        }
        for (what, output) in outputs {
            for mark in [MARK, PLAIN] {
                let around = output.find(mark).map(|at| output.chars().skip(at.saturating_sub(300)).take(400).collect::<String>());
                assert_eq!(around, None, "{what} with `{line}` shows key material");
            }
        }
    }
}

macro_rules! json {
    ($value:expr) => {
        serde_json::to_string($value).expect("JSON")
    };
}

/// Returns every output of an input that the page and the command line show, by name.
fn outputs(text: &str, dialect: &'static Dialect) -> Vec<(&'static str, String)> {
    let options = Options::default().in_dialect(dialect.name);
    let mut work = Work::new(&inputs([("input.yaml", text)]), &options);
    check(&mut work.compilation, &Policy::default(), &mut work.compiler.emitted, &Sequential);
    let mut outputs = Vec::new();
    if work.compilation.gateways().next().is_some() {
        outputs = vec![("bootstrap", work.text(Document::Bootstrap)), ("resources", work.text(Document::Resources))];
    }
    let compilation = &work.compilation;
    let positions = compilation.positions();
    let found = findings(compilation, &positions);
    outputs.push(("findings", json!(&found)));
    for finding in &found {
        let spans = finding.span.iter().chain(finding.related.iter().filter_map(|related| related.span.as_ref()));
        let excerpts = spans.filter_map(|span| positions.excerpt(span.source, span.range(), 1)).map(|excerpt| excerpt.text);
        outputs.push(("excerpts", excerpts.collect::<Vec<_>>().join("\n")));
    }
    outputs.push(("the whole text", positions.masked(SourceId(0), TextRange::new(0, text.len() as u32))));
    outputs.push(("ledger", json!(&ledger(compilation, &positions))));
    let graph = graph(compilation, &positions);
    outputs.push(("graph", json!(&graph)));
    outputs.push(("picture", picture::svg(&picture::picture(&graph, &picture::PictureOptions::default()))));
    outputs.push((PRINTED, format!("{:?}", compilation.objects)));
    let snapshot = Snapshot::new(compilation, &options, &[], false);
    outputs.push(("snapshot", snapshot.write()));
    let link = share::link("https://page.example/", &snapshot);
    outputs.push(("link", share::open(&link).expect("a snapshot").expect("it can be read").write()));
    outputs.push(("what a page keeps", with_stand_ins(&compilation.inputs).inputs[0].text.to_string()));
    for side in compilation.sides() {
        outputs.push(("config", to_json(&dump_config(side).0, false)));
        for output in side.dialect().outputs {
            if let Some(document) = (output.document)(side) {
                outputs.push((output.name, to_json(&document, false)));
            }
        }
    }
    let mut documents = Vec::new();
    for gateway in compilation.gateways() {
        outputs.push(("ir", to_json(&dump_with_origins(gateway, &positions), false)));
        outputs.push(("routes", json!(&routes(gateway).collect::<Vec<_>>())));
        documents.push((gateway.named(), Viewed::new(gateway.ir, View::Envoy, &mut Emitted::new())));
    }
    let lines = LineIndex::new(text);
    for line in 1..=lines.line_count() {
        outputs.push(("explain", json!(&explain_line(compilation, &positions, &documents, SourceId(0), line, None))));
    }
    lookups(text, &work, &mut outputs);
    // The gateway needs its secrets in its own document; hosts remove them from their output.
    let redactor = compilation.redactor();
    outputs.into_iter().map(|(what, output)| (what, redactor.scrub(&output).into_owned())).collect()
}

/// Adds the look-ups that an editor makes at every line.
fn lookups(text: &str, work: &Work, outputs: &mut Vec<(&'static str, String)>) {
    let (lines, positions) = (LineIndex::new(text), work.compilation.positions());
    for range in (0..lines.line_count()).filter_map(|line| lines.line_range(line)) {
        for offset in [range.start, (range.start + range.end) / 2] {
            outputs.push(("hover", json!(&hover(&work.compilation, &positions, SourceId(0), offset))));
            let at = u32::try_from(text.floor_char_boundary(offset as usize)).unwrap_or_default();
            outputs.push(("completions", json!(&completions(chancery_core::dialect::ALL, text, at))));
        }
    }
}

/// The debug output of a tree; no host shows it.
const PRINTED: &str = "objects in Rust";

fn keeps(leak: &Leak, with_printed: bool) -> Vec<String> {
    let mut found = Vec::new();
    for dialect in dialect::ALL {
        let mut outputs = outputs(&leak.text, dialect);
        outputs.retain(|(what, _)| with_printed || *what != PRINTED);
        let leaks =
            outputs.iter().filter_map(|(what, output)| Some(format!("{}: {what} of {}: {}", leak.name, dialect.name, leak.found_in(output)?)));
        found.extend(leaks.take(1));
    }
    found
}

#[test]
fn broken_secret_values_appear_in_no_output() {
    let found: Vec<String> = leaks::all().iter().flat_map(|leak| keeps(leak, true)).collect();
    assert!(found.is_empty(), "{} leaks:\n{}", found.len(), found.join("\n"));
}

#[test]
fn moved_secret_values_appear_in_no_output() {
    let found: Vec<String> = leaks::slips().iter().flat_map(|leak| keeps(leak, false)).collect();
    assert!(found.is_empty(), "{} leaks:\n{}", found.len(), found.join("\n"));
}

/// A tree may still hold a value that a typing error moved to an unchecked field, but no visible output may.
///
/// `CHANCERY_LEAK_ROUNDS` sets the number of rounds, `CHANCERY_LEAK_SEED` the seed, and `CHANCERY_LEAK_ROUND` runs a single round and prints it.
#[test]
fn misspelt_secret_values_appear_in_no_output() {
    let set = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let (seed, rounds) = (set("CHANCERY_LEAK_SEED").unwrap_or(1), set("CHANCERY_LEAK_ROUNDS").unwrap_or(120));
    let only = set("CHANCERY_LEAK_ROUND");
    let mut leaks = leaks::mistyped(seed, only.map_or(rounds, |only| rounds.max(only + 1)) as usize);
    if let Some(only) = only {
        leaks = leaks.into_iter().skip(only as usize).take(1).collect();
        leaks.iter().for_each(|leak| eprintln!("{}\n{}", leak.name, leak.text));
    }
    let found: Vec<String> = leaks.iter().flat_map(|leak| keeps(leak, false)).collect();
    assert!(found.is_empty(), "{} leaks:\n{}", found.len(), found.join("\n"));
}

#[test]
fn redacted_snapshot_keeps_length_and_findings() {
    for leak in leaks::all() {
        let stand_in = RedactionMap::new(&leak.text).with_stand_ins(&leak.text);
        assert_eq!(stand_in.len(), leak.text.len(), "{}", leak.name);
        let told = |text: &str| {
            let work = Work::of(text);
            let mut told: Vec<(&str, u32)> =
                work.findings().iter().map(|finding| (finding.code, finding.span.as_ref().map_or(0, |span| span.line))).collect();
            told.sort_unstable();
            told
        };
        // A redacted broken text may break differently; readable inputs must give the same findings.
        if !leak.name.starts_with("broken") {
            assert_eq!(told(&stand_in), told(&leak.text), "{}:\n{}\n{stand_in}", leak.name, leak.text);
        }
    }
}
