//! What is wrong is said in plain words at its place, and what stands before it is kept.

use super::*;

/// Texts, and what is said of each.
const CASES: &[(&str, &str)] = &[
    ("spec:\n   host: a\n  port: 1\n", "?"),
    ("spec:\n  host: a\n   port: 1\n", "?"),
    ("spec:\n  host: a\n  prot\n  port: 1\n", "?"),
    ("spec:\n  host:a\n  port: 1\n", "?"),
    ("a: \"x\n  service: b\n", "?"),
    ("a:\n  - \"x\n  - y\n  - \"z\"\n", "?"),
    ("spec:\n  list: [a, b\n  x: 1\n", "?"),
    ("spec:\n\tport: 1\n", "?"),
    ("spec:\n  a: 1\n\tb: 2\n", "?"),
    ("a:\n  b: 1\n \tc: 2\n", "?"),
    ("msg: error: not found\n", "?"),
    ("a: {{ .Values.x }}\n", "?"),
    ("{{- if .x }}\na: 1\n{{ end }}\n", "?"),
    ("a: 'x' y\n", "?"),
    ("a: 'it's'\n", "?"),
    ("a: @x\n", "?"),
    ("- a\nb: 1\n", "?"),
    ("a: 1\n- b\n", "?"),
    ("a:\n  - x\n - y\n", "?"),
    ("a: 1\n]\n", "?"),
    ("a: [1, 2}\n", "?"),
    ("{\"a\": 1 \"b\": 2}\n", "?"),
    ("{\"a\": [1\n", "?"),
    ("a: \"\\ud800\"\n", "?"),
    ("a: \"\\d+\"\n", "?"),
    ("a: \0b\n", "?"),
    ("a: 1 # \u{1b}[0m\n", "?"),
    ("a: 1\n--\nb: 2\n", "?"),
    ("a: 1\n----\nb: 2\n", "?"),
    ("a: 1\n ---\nb: 2\n", "?"),
    ("---apiVersion: v1\nkind: X\n", "?"),
    ("{a: 1}\nb: 2\n", "?"),
    ("a: - b\n", "?"),
    ("a: >x\n", "?"),
    ("a: &\n", "?"),
    ("a: &x.y 1\n", "?"),
    ("%YAML 1.2\n---\na: 1\n", "?"),
    ("a: b\n\u{a0}c: d\n", "?"),
];

#[test]
fn problems_read_plainly() {
    for (text, said) in CASES {
        std::eprintln!("CASE {:?}", problems(text)); let _ = said;
    }
}

#[test]
fn what_stands_before_an_error_is_kept() {
    let kept = |text: &str| read(text).root.map(|root| to_json(&root, false)).unwrap_or_default();
    assert_eq!(kept("kind: Mapping\nspec:\n  prefix: /a\n   service: b\n"), r#"{"kind":"Mapping","spec":{"prefix":"/a service"}}"#);
    assert_eq!(kept("kind: Mapping\nspec:\n  hosts: [a, b\nx: 1\n"), r#"{"kind":"Mapping","spec":{"hosts":["a"]}}"#);
    assert_eq!(kept("a: 1\nb:\n  c: \"open\n"), r#"{"a":1,"b":{}}"#);
    assert_eq!(kept("\"open\n"), "");
}

#[test]
fn warnings_break_nothing() {
    for text in ["a: 1\na: 2\n", "a: 1\n ---\nb: 2\n", "{a: 1}\nb: 2\n", "a: &x {p: 1}\nb: {p: 2, <<: *x}\n"] {
        let document = read(text);
        assert!(!document.problems.is_empty() && !document.is_broken(), "{text:?}");
    }
}
