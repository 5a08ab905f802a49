//! Tests that written text is readable and reads back unchanged.

use super::*;
use proptest::prelude::*;

#[test]
fn yaml_reads_like_kubectl_wrote_it() {
    let text = "\
kind: Mapping
metadata:
  annotations:
    a.b/c: \"true\"
    empty: \"\"
spec:
  hosts:
  - a.example.com
  - \"*\"
  items:
  - name: x
    ports:
    - 80
    - 0.5
  - - nested
    - []
  - {}
  script: |
    one

      two
  time: \"12:30\"
  void: null
";
    assert_eq!(to_yaml(&read(text).root.unwrap()), text);
}

#[test]
fn json_is_one_line_or_pretty() {
    let root = read("a: [1, {b: 'c\"'}]\nd: {}\n").root.unwrap();
    assert_eq!(to_json(&root, false), r#"{"a":[1,{"b":"c\""}],"d":{}}"#);
    assert_eq!(to_json(&root, true), "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"c\\\"\"\n    }\n  ],\n  \"d\": {}\n}");
}

#[test]
fn ambiguous_strings_are_quoted() {
    let doubtful = [
        "",
        "y",
        "NO",
        "on",
        "~",
        "null",
        "1",
        "1.0",
        "1e3",
        "0x1",
        "0o7",
        "1_000",
        "1:20",
        "2024-01-01",
        "-",
        "- a",
        "-1",
        ".5",
        ".inf",
        "<<",
        "=",
        "a: b",
        "a:",
        "a #b",
        "#a",
        " a",
        "a ",
        "*a",
        "&a",
        "!a",
        "%a",
        "@a",
        "`a",
        "{a",
        "[a",
        "'a",
        "\"a",
        "|",
        ">",
        "?",
        "? a",
        ":a",
        ",a",
        "---",
        "...",
        "a\tb",
        "é",
        "\u{feff}",
        "\u{85}",
        "a\rb",
        "\n",
        " \n",
        "a\n b \n",
        "\u{a0}",
    ];
    for text in doubtful {
        let node = Node::synthesised(Value::String(Str::new(text)));
        let yaml = to_yaml(&node);
        assert!(yaml.starts_with(['"', '|']), "{text:?} is written as {yaml:?}");
        assert_eq!(read(&yaml).root.as_ref(), Some(&node), "{text:?}");
    }
    for text in ["a", "/path?x=1", "a.b.c", "svc:8080", "a,b", "^/x.*$", "x-tenant", "http://a:80/b", "a b"] {
        assert_eq!(to_yaml(&Node::synthesised(Value::String(Str::new(text)))), format!("{text}\n"));
    }
}

/// Any tree, with strings that are likely to fail.
pub(super) fn any_tree() -> impl Strategy<Value = Node> {
    let text = prop_oneof!["[a-z]{0,8}", "[ -~]{0,12}", "[-:#,\\[\\]{}&*!|>'\"%@` \n\ta1é.?~]{0,8}", "\\PC{0,6}", "(\n| |a|\t|#|:){0,8}"];
    let text = text.prop_map(|text| Str::new(&text)).boxed();
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        prop::num::f64::NORMAL.prop_map(Value::Float),
        (-100_i32..100).prop_map(|n| Value::Float(f64::from(n) / 4.0)),
        text.clone().prop_map(Value::String),
    ];
    let tree = leaf.prop_recursive(4, 40, 6, move |inner| {
        let node = inner.prop_map(Node::synthesised);
        prop_oneof![
            prop::collection::vec(node.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((text.clone(), node), 0..6).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    });
    tree.prop_map(Node::synthesised)
}

#[test]
fn hcl_like_text_reads_back() {
    for text in ["a{", "a{}", "a=b", "a = b", "a \"b\" {"] {
        let node = Node::synthesised(Value::String(text.into()));
        let document = read(&to_yaml(&node));
        assert_eq!((document.problems.len(), document.root), (0, Some(node)), "{text}");
    }
}

#[test]
fn hcl_like_key_reads_back() {
    for key in ["A=\"", "a=b", "a{", "a \"b\" {"] {
        let mut object = Object::new();
        object.insert(key, Node::synthesised(Value::String("\"".into())));
        let node = Node::synthesised(Value::Object(object));
        let document = read(&to_yaml(&node));
        assert_eq!((document.problems.len(), document.root), (0, Some(node)), "{key}");
    }
}

proptest! {
    #[test]
    fn every_tree_reads_back(tree in any_tree()) {
        for text in [to_yaml(&tree), to_json(&tree, false), to_json(&tree, true)] {
            let document = read(&text);
            prop_assert_eq!(&document.problems, &[]);
            prop_assert_eq!(document.root.as_ref(), Some(&tree), "{}", text);
        }
    }
}
