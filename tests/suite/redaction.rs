//! Key material is in no output, however broken the object is that holds it.

use chancery_core::backend::envoy::Document;
use chancery_core::check::check;
use chancery_core::compile::Options;
use chancery_core::diagnostic::Policy;
use chancery_core::dialect::Dialect;
use chancery_core::explain::{
    Positions, Snapshot, View, Viewed, completions, dump_config, dump_with_origins, explain_line, findings, graph, hover, ledger, picture, routes, share,
    with_stand_ins,
};
use chancery_core::redact::Veil;
use chancery_core::resource::SourceId;
use chancery_core::text::{LineIndex, TextRange, to_json};
use chancery_tests::leaks::{self, Leak};
use chancery_tests::work::{Work, inputs, options};

/// Not a key, and easily found.
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
        let positions = Positions::new(&compilation.inputs, &compilation.objects);
        outputs.push(("findings", format!("{:?}", work.findings())));
        outputs.push(("findings as JSON", serde_json::to_string(&work.findings()).expect("JSON")));
        outputs.push(("ledger", serde_json::to_string(&work.ledger()).expect("JSON")));
        outputs.push(("ir", to_json(&dump_with_origins(compilation, &positions), false)));
        outputs.push(("ir in Rust", format!("{:?}", compilation.ir)));
        outputs.push(("objects in Rust", format!("{:?}", compilation.objects)));
        outputs.push(("config in Rust", format!("{:?}", compilation.config)));
        outputs.push(("config", to_json(&dump_config(compilation).0, false)));
        outputs.push(("graph", serde_json::to_string(&graph(compilation, &positions)).expect("JSON")));
        let snapshot = Snapshot::new(compilation, &options(line).expect("options"), &[], false);
        let replayed = Work::new(&snapshot.inputs(), &snapshot.options);
        assert_eq!(serde_json::to_string_pretty(&replayed.ledger()).expect("JSON"), serde_json::to_string_pretty(&work.ledger()).expect("JSON"), "stand-ins have the form of what they stand for");
        outputs.push(("snapshot", snapshot.write()));
        let viewed = Viewed::new(compilation, View::Envoy, &mut work.compiler.emitted);
        for line in 1..=u32::try_from(text.lines().count()).expect("a few lines") {
            let report = explain_line(compilation, &positions, &viewed, SourceId(0), line, None);
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

/// All that the page and the command line are told of an input, each by its name.
fn outputs(text: &str, dialect: Dialect) -> Vec<(&'static str, String)> {
    let options = Options { dialect: Some(dialect), ..Options::default() };
    let mut work = Work::new(&inputs([("input.yaml", text)]), &options);
    check(&mut work.compilation, &Policy::default(), &mut work.compiler.emitted);
    let mut outputs = vec![("bootstrap", work.text(Document::Bootstrap)), ("resources", work.text(Document::Resources))];
    let viewed = Viewed::new(&work.compilation, View::Envoy, &mut work.compiler.emitted);
    let compilation = &work.compilation;
    let positions = Positions::new(&compilation.inputs, &compilation.objects);
    let found = findings(compilation, &positions);
    outputs.push(("findings", json!(&found)));
    for finding in &found {
        let spans = finding.span.iter().chain(finding.related.iter().filter_map(|related| related.span.as_ref()));
        let excerpts = spans.filter_map(|span| positions.excerpt(span.source, span.range(), 1)).map(|excerpt| excerpt.text);
        outputs.push(("excerpts", excerpts.collect::<Vec<_>>().join("\n")));
    }
    outputs.push(("the whole text", positions.masked(SourceId(0), TextRange::new(0, text.len() as u32))));
    outputs.push(("ledger", json!(&ledger(compilation, &positions))));
    outputs.push(("ir", to_json(&dump_with_origins(compilation, &positions), false)));
    outputs.push(("config", to_json(&dump_config(compilation).0, false)));
    outputs.push(("routes", json!(&routes(compilation))));
    let graph = graph(compilation, &positions);
    outputs.push(("graph", json!(&graph)));
    outputs.push(("picture", picture::svg(&picture::picture(&graph, &picture::PictureOptions::default()))));
    outputs.push(("objects in Rust", format!("{:?}", compilation.objects)));
    let snapshot = Snapshot::new(compilation, &options, &[], false);
    outputs.push(("snapshot", snapshot.write()));
    let link = share::link("https://page.example/", &snapshot);
    outputs.push(("link", share::open(&link).expect("a snapshot").expect("it can be read").write()));
    outputs.push(("what a page keeps", with_stand_ins(&compilation.inputs).inputs[0].text.to_string()));
    let lines = LineIndex::new(text);
    for line in 1..=lines.line_count() {
        outputs.push(("explain", json!(&explain_line(compilation, &positions, &viewed, SourceId(0), line, None))));
        let range = lines.line_range(line - 1).unwrap_or_default();
        for offset in [range.start, (range.start + range.end) / 2] {
            outputs.push(("hover", json!(&hover(compilation, &positions, SourceId(0), offset))));
            outputs.push(("completions", json!(&completions(dialect, text, text.floor_char_boundary(offset as usize) as u32))));
        }
    }
    // What the gateway needs is in what it gets: hosts leave it out of what they say.
    let held_back = compilation.held_back();
    outputs.into_iter().map(|(what, output)| (what, held_back.scrub(&output).into_owned())).collect()
}

fn keeps(leak: &Leak) -> Vec<String> {
    let mut found = Vec::new();
    for dialect in [Dialect::Ambassador, Dialect::Contour] {
        let outputs = outputs(&leak.text, dialect);
        let leaks = outputs.iter().filter_map(|(what, output)| Some(format!("{}: {what} of {}: {}", leak.name, dialect.name(), leak.found_in(output)?)));
        found.extend(leaks.take(1));
    }
    found
}

#[test]
fn what_a_secret_holds_is_in_no_output_however_broken_it_is() {
    let found: Vec<String> = leaks::all().iter().flat_map(keeps).collect();
    assert!(found.is_empty(), "{} leaks:\n{}", found.len(), found.join("\n"));
}

#[test]
fn what_a_mistyped_secret_holds_is_in_no_output() {
    let rounds = std::env::var("CHANCERY_LEAK_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(120);
    let found: Vec<String> = leaks::mistyped(1, rounds).iter().flat_map(keeps).collect();
    assert!(found.is_empty(), "{} leaks:\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_snapshot_without_secrets_is_as_long_and_as_broken_as_its_input() {
    for leak in leaks::all() {
        let stand_in = Veil::new(&leak.text).with_stand_ins(&leak.text);
        assert_eq!(stand_in.len(), leak.text.len(), "{}", leak.name);
        let told = |text: &str| {
            let work = Work::of(text);
            let mut told: Vec<(&str, u32)> = work.findings().iter().map(|finding| (finding.code, finding.span.as_ref().map_or(0, |span| span.line))).collect();
            told.sort_unstable();
            told
        };
        // Broken texts may break otherwise; those that can be read are told the same of.
        if !leak.name.starts_with("broken") {
            assert_eq!(told(&stand_in), told(&leak.text), "{}:\n{}\n{stand_in}", leak.name, leak.text);
        }
    }
}
