//! Tests that YAML in a YAML string has ranges in the outer text.

use super::*;

/// Reads the YAML in the string at `config`, and returns the outer text of its keys and values.
#[track_caller]
fn embedded(outer: &str) -> Vec<(&str, &str)> {
    let document = read(outer);
    let node = document.root.as_ref().unwrap().get("config").unwrap();
    let range = document.spans.get(node.id).unwrap().value;
    let inner = parse_embedded(outer, range, node.as_str().unwrap(), &Limits::default());
    let mut found = Vec::new();
    for document in &inner {
        assert!(!document.is_broken(), "{:?}", document.problems);
        for entry in document.root.as_ref().unwrap().as_object().unwrap() {
            let span = document.spans.get(entry.value.id).unwrap();
            found.push((span.key.slice(outer), span.value.slice(outer)));
        }
    }
    found
}

#[test]
fn in_a_literal_block_scalar() {
    let outer = "config: |\n  ---\n  kind: Mapping\n\n  text: |\n    x\n    y\n  --- # second\n  kind: 'Host'\nz: 1\n";
    assert_eq!(embedded(outer), [("kind", "Mapping"), ("text", "|\n    x\n    y"), ("kind", "'Host'")]);
}

#[test]
fn block_scalars_that_keep_or_strip_their_end() {
    assert_eq!(embedded("config: |-\n    a: b\n    c: d  \n\n"), [("a", "b"), ("c", "d")]);
    assert_eq!(embedded("config: |+ # c\n\n    a: b\n    c: d\n\n\n"), [("a", "b"), ("c", "d")]);
    assert_eq!(embedded("config: |\r\n  a: b\r\n  c: d\r\n"), [("a", "b"), ("c", "d")]);
}

#[test]
fn in_one_line() {
    assert_eq!(embedded("config: '{a: ''b'', c: d}'\n"), [("a", "''b''"), ("c", "d")]);
    assert_eq!(embedded("config: a=b\nx: \n".replace("a=b", "\"a: b\"").as_str()), [("a", "b")]);
}

#[test]
fn in_json() {
    let outer = r#"{"config": "---\nkind: \"Mapping\"\nname: \u00e9\ud83d\ude00x\nlast: 1\n"}"#;
    assert_eq!(embedded(outer), [("kind", r#"\"Mapping\""#), ("name", r"\u00e9\ud83d\ude00x"), ("last", "1")]);
}

#[test]
fn in_quotes_over_several_lines() {
    let outer = "config: 'a: b\n\n    c:\n\n    - d\n\n    - ''e\n      f''\n\n    '\nz: 1\n";
    assert_eq!(embedded(outer), [("a", "b"), ("c", "- d\n\n    - ''e\n      f''")]);
    let outer = "config: \"a: b\\n\\\n  \\  \\nc: d\\n\\\n  e: \\\"f\\\"\"\n";
    assert_eq!(embedded(outer), [("a", "b"), ("c", "d"), ("e", "\\\"f\\\"")]);
}

#[test]
fn folded_text_has_the_whole_range() {
    let outer = "config: >\n  {a: b,\n  c: d}\n";
    let whole = ">\n  {a: b,\n  c: d}";
    assert_eq!(embedded(outer), [(whole, whole), (whole, whole)]);
}

#[test]
fn problems_and_comments_have_places() {
    let outer = "config: |\n  a: 1 # c\n  a: 2\n";
    let document = read(outer);
    let node = document.root.as_ref().unwrap().get("config").unwrap();
    let range = document.spans.get(node.id).unwrap().value;
    let inner = parse_embedded(outer, range, node.as_str().unwrap(), &Limits::default()).remove(0);
    assert_eq!(inner.comments[0].range.slice(outer), "# c");
    assert_eq!(inner.problems[0].range, TextRange::new(23, 24));
    assert_eq!(inner.problems[0].related.as_ref().unwrap().0, TextRange::new(12, 13));
}
