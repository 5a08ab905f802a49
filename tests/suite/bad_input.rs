//! Checks bad input: it gets an error at its place, the rest compiles, and compiling stays fast.

use chancery_core::backend::envoy::Document;
use chancery_tests::fixture::GATEWAY;
use chancery_tests::work::{Work, inputs};
use std::time::{Duration, Instant};

const GOOD: &str = "---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: good, namespace: default}
spec: {hostname: '*', prefix: /good/, service: good}
";

/// Compiles bad text before and after a good document, and as a separate file next to it. Returns the errors of the separate file.
#[track_caller]
fn errors_of(bad: &str) -> Vec<String> {
    let start = Instant::now();
    let mut alone =
        Work::new(&inputs([("bad.yaml", bad), ("good.yaml", GOOD), ("gateway.yaml", GATEWAY)]), &chancery_core::compilation::Options::default());
    assert!(alone.text(Document::Bootstrap).contains("cluster_good_default"), "the file beside it compiles");
    let errors = alone.errors();
    let end = if bad.ends_with('\n') { "" } else { "\n" };
    let around = format!("{GOOD}---\n{bad}{end}{}{GATEWAY}", GOOD.replace("good", "after"));
    let mut around = Work::new(&inputs([("input.yaml", around.as_str())]), &chancery_core::compilation::Options::default());
    let envoy = around.text(Document::Bootstrap);
    assert!(envoy.contains("cluster_good_default"), "the part before it compiles");
    assert!(envoy.contains("cluster_after_default"), "the part after it compiles");
    let took = start.elapsed();
    assert!(took < HANGS, "it takes {took:?}");
    errors
}

/// Longer runs are treated as hangs, however busy the machine is.
const HANGS: Duration = Duration::from_secs(60);

/// Returns a Mapping with these lines in its `spec`.
fn mapping(lines: &str) -> String {
    format!("---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata:\n  name: bad\n  namespace: default\nspec:\n{lines}")
}

#[test]
fn empty_input_has_no_errors() {
    for empty in ["", "\n\n", "---\n---\n", "# a comment\n", "null\n"] {
        assert_eq!(errors_of(empty), [""; 0], "{empty:?}");
    }
}

#[test]
fn invalid_yaml_has_errors() {
    assert_eq!(errors_of("kind: Mapping\nspec:\n\tprefix: /\n"), ["3 syntax"]);
    assert_eq!(errors_of("a: [1, 2\n").len(), 1);
    assert_eq!(errors_of("a: 'b\n").len(), 1);
    assert_eq!(errors_of("a: b: c\n"), ["1 syntax"]);
    assert_eq!(errors_of("a: *absent\n"), ["1 bad-anchor"]);
    assert_eq!(errors_of("{{ if .Values.on }}\nkind: Mapping\n"), ["1 template"]);
    assert!(!errors_of("\u{0}\u{1}\u{2}\u{7f}ELF\u{fffd}\u{fffd}\n").is_empty());
    assert!(!errors_of("just a sentence\n").is_empty());
    assert!(!errors_of("- a\n- b\n").is_empty());
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", "")] {
        let text = format!("a:\n  {}1{}\n", open.repeat(10_000), close.repeat(10_000));
        let errors = errors_of(&text);
        assert!(!errors.is_empty() && errors.len() < 5, "{open}: {errors:?}");
    }
    // JSON has no complex keys. Each level reports one, up to the deepest level that is read.
    let keys = errors_of(&format!("a:\n  {}1\n", "? ".repeat(10_000)));
    assert!(!keys.is_empty() && keys.len() <= 300, "{} errors", keys.len());
    let mut stairs = String::new();
    (0..2_000).for_each(|depth| stairs.push_str(&format!("{}a:\n", " ".repeat(depth))));
    assert!(!errors_of(&stairs).is_empty());
    let in_spec = mapping(&format!("  prefix: {}{}\n", "[".repeat(10_000), "]".repeat(10_000)));
    assert!(!errors_of(&in_spec).is_empty());
}

#[test]
fn alias_bombs_are_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_string();
    for level in 1..30 {
        let before = level - 1;
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", vec![format!("*a{before}"); 9].join(", ")));
    }
    assert!(errors_of(&bomb).iter().any(|error| error.contains("alias-bomb")));
    let mut merged = "a0: &a0 {x: y}\n".to_string();
    for level in 1..30 {
        let before = level - 1;
        merged.push_str(&format!("a{level}: &a{level}\n  <<: [*a{before}, *a{before}]\n  k{level}: [*a{before}, *a{before}]\n"));
    }
    assert!(!errors_of(&merged).is_empty());
}

#[test]
fn long_input_ends_in_time() {
    let long = "x".repeat(2_000_000);
    errors_of(&mapping(&format!("  prefix: /{long}/\n  service: a\n")));
    errors_of(&mapping(&format!("  prefix: /{}\n  prefix_regex: true\n  service: a\n", "(".repeat(50_000))));
    errors_of(&mapping(&format!("  prefix: \"/{}\"\n  prefix_regex: true\n  service: a\n", "a{1000}{1000}".repeat(20))));
    let many: String = (0..20_000).map(|number| format!("  field{number}: 1\n")).collect();
    assert!(errors_of(&mapping(&many)).len() < 50_000);
    let lines = "-".repeat(5).replace('-', "---\n").repeat(10_000);
    errors_of(&lines);
}

#[test]
fn invalid_objects_have_errors() {
    assert_eq!(
        errors_of("apiVersion: getambassador.io/v9\nkind: Mapping\nmetadata: {name: bad}\nspec: {prefix: /, service: a}\n"),
        ["1 unsupported-version"]
    );
    assert!(!errors_of("kind: Mapping\nmetadata: {name: bad}\n").is_empty(), "no apiVersion");
    assert!(!errors_of("apiVersion: getambassador.io/v3alpha1\nmetadata: {name: bad}\n").is_empty(), "no kind");
    assert!(!errors_of("apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nspec: {prefix: /, service: a}\n").is_empty(), "no name");
    let unknown = Work::of("apiVersion: getambassador.io/v3alpha1\nkind: Maping\nmetadata: {name: bad}\n").findings();
    assert_eq!(unknown.first().map(|finding| (finding.code, finding.span.as_ref().map_or(0, |span| span.line))), Some(("unknown-kind", 2)));
    assert!(!errors_of("apiVersion: getambassador.io/v3alpha1\nkind: [Mapping]\nmetadata: {name: bad}\n").is_empty(), "a kind that is a list");
    assert!(!errors_of("apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: 17}\nspec: {prefix: /, service: a}\n").is_empty());
    assert!(!errors_of("apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: bad\nspec: {prefix: /, service: a}\n").is_empty());
    assert!(!errors_of("apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: bad}\nspec: no\n").is_empty());
    assert!(!errors_of("apiVersion: v1\nkind: List\nitems: no\n").is_empty());
    assert!(!errors_of("apiVersion: v1\nkind: List\nitems: [1, null, {}]\n").is_empty());
}

#[test]
fn invalid_mappings_have_errors() {
    assert!(!errors_of(&mapping("  prefix: /a/\n")).is_empty(), "no service");
    assert!(!errors_of(&mapping("  service: a\n")).is_empty(), "no prefix");
    assert!(!errors_of(&mapping("  prefix: /a/\n  service: ''\n")).is_empty(), "an empty service");
    assert_eq!(errors_of(&mapping("  prefix: '/a('\n  prefix_regex: true\n  service: a\n")), ["8 invalid-regex"]);
    assert_eq!(errors_of(&mapping("  prefix: '/(?=a)'\n  prefix_regex: true\n  service: a\n")), ["8 invalid-regex"]);
    assert!(!errors_of(&mapping("  prefix: /a/\n  service: a:notaport\n")).is_empty());
    assert!(!errors_of(&mapping("  prefix: /a/\n  service: 'http://[::1'\n")).is_empty());
}

#[test]
fn invalid_annotations_have_errors() {
    let service = |config: &str| {
        format!(
            "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: bad\n  namespace: default\n  annotations:\n    getambassador.io/config: |\n{config}spec:\n  ports: [{{port: 80}}]\n"
        )
    };
    assert!(!errors_of(&service("      a: [\n")).is_empty());
    assert!(!errors_of(&service("      ---\n      kind: Nothing\n      name: x\n")).is_empty());
    assert!(!errors_of(&service(&format!("      a: {}\n", "[".repeat(10_000)))).is_empty());
}

#[test]
fn problems_of_one_input_are_in_order() {
    let text = format!(
        "{}---\n: : :\n---\nkind: Mapping\n---\n{}---\napiVersion: v1\nkind: Secret\nmetadata: {{name: bad}}\ndata: {{tls.crt: '%%%'}}\n",
        mapping("  prefix: 7\n"),
        mapping("  prefx: /\n  weight: lots\n").replace("name: bad", "name: worse")
    );
    let lines: Vec<u32> = Work::of(&text).findings().iter().filter_map(|finding| Some(finding.span.as_ref()?.line)).collect();
    assert!(lines.is_sorted() && lines.len() >= 5, "{lines:?}");
}
