//! Tests the messages of problems, and that the text before them is kept.

use super::*;

/// Broken documents with the expected messages.
const CASES: &[(&str, &str)] = &[
    (
        "spec:\n   host: a\n  port: 1\n",
        r#"3:3 "port: 1" Syntax: this line is indented by 2 spaces, its siblings by 3 and their parent by 0 (2:4 "host: a": a sibling)"#,
    ),
    ("spec:\n  host: a\n   port: 1\n", r#"3:4 "port: 1" Syntax: this line is indented by 3 spaces, its siblings by 2 (2:3 "host: a": a sibling)"#),
    (
        "spec:\n  host: a\n<<<<<<< HEAD\n  port: 1\n",
        "3:1 \"<<<<<<< HEAD\" Syntax: a conflict of Git was not resolved: take its marker away, and the lines that are not wanted",
    ),
    ("spec:\n  host: a\n  prot\n  port: 1\n", "3:3 \"prot\" Syntax: missing `:` after `prot`"),
    ("spec:\n  host:a\n  port: 1\n", "2:3 \"host:a\" Syntax: missing space after `:` in `host:a`"),
    (
        "spec:\n  host:\u{a0}a\n  port: 1\n",
        "2:3 \"host:\\u{a0}a\" Syntax: the space after `:` is a no-break space, which YAML does not treat as a space; replace it by an ordinary one",
    ),
    ("a: 1\n```\n", "2:1 \"```\" Syntax: this line is a fence of Markdown and no part of the YAML; delete it"),
    ("```yaml\na: 1\n", "1:1 \"```yaml\" Syntax: this line is a fence of Markdown and no part of the YAML; delete it"),
    ("a: \"x\n  service: b\n", r#"1:4 "\"" Syntax: the quote that begins here (line 1) is never closed"#),
    (
        "a:\n  - \"x\n  - y\n  - \"z\"\n",
        r#"2:5 "\"" Syntax: the quote that begins here (line 2) is closed too late, in line 4 (3:3 "- y": the quoted text cannot continue here)"#,
    ),
    (
        "spec:\n  list: [a, b\n  x: 1\n",
        r#"3:4 ":" Syntax: expected `,` or `]` before this: the `[` in line 2 is not closed yet (2:9 "[": opened here)"#,
    ),
    ("spec:\n\tport: 1\n", "2:1 \"\\t\" Tab: YAML does not allow tabs for indentation; replace this by spaces"),
    ("spec:\n  a: 1\n\tb: 2\n", "3:1 \"\\t\" Tab: YAML does not allow tabs for indentation; replace this by spaces"),
    ("a: {b: 1}\n\tc:\n  d: 2\n", "2:1 \"\\t\" Tab: YAML does not allow tabs for indentation; replace this by spaces"),
    ("a:\n  b: 1\n \tc: 2\n", "3:2 \"\\t\" Tab: YAML does not allow tabs for indentation; replace this by spaces"),
    ("msg: error: not found\n", "1:11 \":\" Syntax: a value with `: ` in it must be quoted; a key of an inner object must be on the next line"),
    ("a: {{ .Values.x }}\n", "1:4 \"{{\" Template: `{{` looks like a template's placeholder; render the template first, or quote the value"),
    ("{{- if .x }}\na: 1\n{{ end }}\n", "1:1 \"{{\" Template: `{{` looks like a template's placeholder; render the template first"),
    (
        "a: 'x' y\n",
        r#"1:8 "y" Syntax: the quoted text ends before this; quote the whole value, or write the quote inside it twice (`''`) or as `\"`"#,
    ),
    (
        "a: 'it's'\n",
        r#"1:8 "s'" Syntax: the quoted text ends before this; quote the whole value, or write the quote inside it twice (`''`) or as `\"`"#,
    ),
    ("a: @x\n", "1:4 \"@\" Syntax: a value cannot begin with `@`; put it in quotes"),
    ("- a\nb: 1\n", r#"2:1 "b: 1" Syntax: expected a `- ` like the other lines of this list (1:1 "- a": the list begins here)"#),
    (
        "a: 1\n- b\n",
        r#"2:1 "- b" Syntax: a list item cannot be among keys; indent it below the key it belongs to, or delete the value of that key (1:1 "a: 1": the line above)"#,
    ),
    ("a:\n  - x\n - y\n", r#"3:2 "- y" Syntax: this line is indented by 1 space, its siblings by 2 and their parent by 0 (2:3 "- x": a sibling)"#),
    ("a: 1\n]\n", "2:1 \"]\" Syntax: `]` closes nothing"),
    ("a: [1, 2}\n", r#"1:9 "}" Syntax: `}` cannot close `[` (1:4 "[": opened here)"#),
    ("{\"a\": 1 \"b\": 2}\n", r#"1:12 ":" Syntax: expected `,` or `}` before this: the `{` in line 1 is not closed yet (1:1 "{": opened here)"#),
    ("{\"a\": [1\n", "1:7 \"[\" Syntax: this `[` is never closed"),
    (
        "a: \"\\ud800\"\n",
        "1:4 \"\\\"\\\\ud800\\\"\" Syntax: half of a surrogate pair (`\\uD800` to `\\uDFFF`) is alone in this text; it is not a character",
    ),
    ("a: \"\\d+\"\n", "1:5 \"\\\\d\" Syntax: `\\d` is not an escape in YAML; write `\\\\` for a backslash, or use single quotes"),
    ("a: \0b\n", "1:4 \"\\0\" ControlCharacter: a NUL character is not allowed in configuration; delete it"),
    (
        "a: 1 # \u{1b}[0m\n",
        "1:8 \"\\u{1b}\" ControlCharacter: an escape character (terminals use it for colours) is not allowed in configuration; delete it",
    ),
    ("a: 1\n--\nb: 2\n", "2:1 \"--\" Syntax: this is not a separator: documents are separated by exactly `---`, not by 2 dashes"),
    ("a: 1\n----\nb: 2\n", "2:1 \"----\" Syntax: this is not a separator: documents are separated by exactly `---`, not by 4 dashes"),
    (
        "a: 1\n ---\nb: 2\n",
        "2:2 \"---\" Separator: this is read as part of the value above; a `---` that begins a document must be at the start of its line",
    ),
    (
        "---apiVersion: v1\nkind: X\n",
        "1:1 \"---apiVersion\" Separator: this is read as a key; the `---` that begins a document must be alone on its line",
    ),
    (
        "{a: 1}\nb: 2\n",
        "2:1 \"b: 2\" Ignored: the document's value is complete before this, so Kubernetes ignores everything after it; indent it like the lines above, or begin another document with a `---` line",
    ),
    ("a: - b\n", "1:4 \"- b\" Syntax: a list cannot begin in the line of its key; put it on the next line"),
    (
        "a: >x\n",
        "1:4 \">x\" Syntax: only `+`, `-` or a digit may follow a `|` or `>` that begins a block of text; put a value that begins with it in quotes",
    ),
    ("a: &\n", "1:4 \"&\" Syntax: a name must follow `&`; put a value that begins with `&` in quotes"),
    (
        "a: &x.y 1\n",
        "1:4 \"&x.y\" Syntax: an anchor's name may only have letters, digits, `-` and `_`; a value that begins with `&` or `*` must be quoted",
    ),
    ("%YAML 1.2\n---\na: 1\n", "1:1 \"%YAML 1.2\" Syntax: Kubernetes reads YAML 1.1 and refuses `%YAML 1.2`; delete this line"),
    (
        "a: b\n\u{a0}c: d\n",
        "2:1 \"\\u{a0}c\" NoBreakSpace: a no-break space is no space to YAML but part of this text; replace it by an ordinary space",
    ),
];

#[test]
fn problems_read_plainly() {
    for (text, said) in CASES {
        assert_eq!(problems(text), *said, "{text:?}");
    }
}

#[test]
fn the_text_before_an_error_is_kept() {
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

#[test]
fn json_comments_are_read_and_reported() {
    let text =
        "// mine\n{\n  /* two\n  lines */ \"kind\": \"Mapping\", // \"quoted\"\n  \"url\": \"http://x/*\",\n  \"n\": [1, -2.5e3, true, null],\n}\n";
    let document = parse(text, &Limits::default());
    let root = document.root.as_ref().expect("a value");
    assert_eq!(root.get("kind").and_then(Node::as_str), Some("Mapping"));
    assert_eq!(root.get("url").and_then(Node::as_str), Some("http://x/*"));
    let kind = root.get("kind").expect("the field").id;
    assert_eq!(document.spans.get(kind).expect("a place").value.slice(text), "\"Mapping\"");
    let comments: Vec<_> = document.comments.iter().map(|comment| (comment.range.slice(text), comment.own_line)).collect();
    assert_eq!(comments, [("// mine", true), ("/* two\n  lines */", true), ("// \"quoted\"", false)]);
    let [problem] = &document.problems[..] else { panic!("one problem: {:?}", document.problems) };
    assert_eq!((problem.kind, problem.range.slice(text)), (ProblemKind::Syntax, "// mine"));
}

#[test]
fn comments_on_long_lines_are_fast() {
    let text = format!("{{{}\"a\": 1}}", "/**/".repeat(200_000));
    let document = parse(&text, &Limits::default());
    assert_eq!((document.comments.len(), document.problems.len()), (200_000, 1));
}

#[test]
fn a_flow_of_yaml_keeps_its_slashes() {
    for text in ["{url: //x}", "{\"url\": http://x, \"n\": 1}", "{\"a\": 1} # // no comment", "[/a, /*b]"] {
        let document = parse(text, &Limits::default());
        assert!(!document.is_broken() && document.root.is_some(), "{text}: {:?}", document.problems);
    }
}
