//! Tests the ranges of keys, values and comments.

use super::*;

const MAPPING: &str = "\
# A mapping.
---
kind: Mapping   # of one route
metadata:
  name: quote
  annotations:
    a.b/c: \"x y\"
spec:
  hosts: [a, 'b', {c: d}]
  script: |
    one

    two

  empty:
  list:
  - x
  -
  - y: 1
    z: 2
";

#[track_caller]
fn node<'a>(document: &'a Document, path: &[&str]) -> &'a Node {
    path.iter().fold(document.root.as_ref().unwrap(), |node, step| match step.parse::<usize>() {
        Ok(at) => &node.as_array().unwrap()[at],
        Err(_) => node.get(step).unwrap(),
    })
}

/// The written key and value at a path.
#[track_caller]
fn written(path: &[&str]) -> (&'static str, &'static str) {
    let document = read(MAPPING);
    let span = *document.spans.get(node(&document, path).id).unwrap();
    (span.key.slice(MAPPING), span.value.slice(MAPPING))
}

#[test]
fn scalars_have_their_key_and_their_text() {
    assert_eq!(written(&["kind"]), ("kind", "Mapping"));
    assert_eq!(written(&["metadata", "annotations", "a.b/c"]), ("a.b/c", "\"x y\""));
    assert_eq!(written(&["spec", "hosts", "1"]), ("", "'b'"));
    assert_eq!(written(&["spec", "hosts", "2", "c"]), ("c", "d"));
}

#[test]
fn block_scalars_include_header_and_content() {
    assert_eq!(written(&["spec", "script"]), ("script", "|\n    one\n\n    two"));
}

#[test]
fn collections_include_first_and_last_character() {
    assert_eq!(written(&["spec", "hosts"]), ("hosts", "[a, 'b', {c: d}]"));
    assert_eq!(written(&["metadata"]), ("metadata", "name: quote\n  annotations:\n    a.b/c: \"x y\""));
    assert_eq!(written(&["spec", "list"]), ("list", "- x\n  -\n  - y: 1\n    z: 2"));
    assert_eq!(written(&["spec", "list", "2"]), ("", "y: 1\n    z: 2"));
}

#[test]
fn missing_values_follow_colon_or_dash() {
    let document = read(MAPPING);
    let before = |path: &[&str]| {
        let range = document.spans.get(node(&document, path).id).unwrap().value;
        assert!(range.is_empty());
        &MAPPING[..range.start as usize]
    };
    assert!(before(&["spec", "empty"]).ends_with("empty:"));
    assert!(before(&["spec", "list", "1"]).ends_with("- x\n  -"));
}

#[test]
fn comments_are_kept() {
    let document = read(MAPPING);
    let comments: Vec<_> = document.comments.iter().map(|comment| (comment.range.slice(MAPPING), comment.own_line)).collect();
    assert_eq!(comments, [("# A mapping.", true), ("# of one route", false)]);
}

#[test]
fn paths_have_usual_notation() {
    let document = read(MAPPING);
    let root = document.root.as_ref().unwrap();
    let path = |steps: &[&str]| format!("{}", document.spans.path(root, node(&document, steps).id));
    assert_eq!(path(&["spec", "hosts", "2", "c"]), "spec.hosts[2].c");
    assert_eq!(path(&["metadata", "annotations", "a.b/c"]), "metadata.annotations[\"a.b/c\"]");
    assert_eq!(path(&[]), "");
}

#[test]
fn the_innermost_node_at_an_offset() {
    let document = read(MAPPING);
    let root = document.root.as_ref().unwrap();
    let at = |needle: &str| {
        let offset = MAPPING.find(needle).unwrap() as u32;
        document.spans.deepest_at(offset).map(|id| format!("{}", document.spans.path(root, id)))
    };
    assert_eq!(at("quote").as_deref(), Some("metadata.name"));
    assert_eq!(at("name:").as_deref(), Some("metadata.name"));
    assert_eq!(at("z:").as_deref(), Some("spec.list[2].z"));
    assert_eq!(at("two").as_deref(), Some("spec.script"));
    assert_eq!(at(", 'b'").as_deref(), Some("spec.hosts"));
    assert_eq!(at("# of one").as_deref(), Some(""));
    assert_eq!(at("# A"), None);
}

#[test]
fn alias_value_has_place_of_anchor() {
    let text = "a: &x\n  b: 1\nc: *x\n";
    let document = read(text);
    let root = document.root.as_ref().unwrap();
    let alias = root.get("c").unwrap();
    assert_eq!(document.spans.get(alias.id).unwrap().value.slice(text), "*x");
    let inner = alias.get("b").unwrap();
    assert_eq!(document.spans.get(inner.id).unwrap().value.slice(text), "1");
    assert_eq!(format!("{}", document.spans.path(root, inner.id)), "a.b");
}

#[test]
fn nodes_are_numbered_as_they_are_written() {
    let document = read(MAPPING);
    assert_eq!(document.root.as_ref().unwrap().id, NodeId(0));
    let starts: Vec<_> = (0..document.spans.len()).map(|id| document.spans.get(NodeId(id as u32)).unwrap().whole().start).collect();
    assert!(starts.is_sorted());
    assert_eq!(document.spans.get(NodeId::NONE), None);
}

#[test]
fn columns_in_long_lines_are_correct() {
    let text = format!("a: 1\n{}\nb: 1\n", "é😀x".repeat(3000));
    let lines = LineIndex::new(&text);
    for (offset, _) in text.char_indices().step_by(7) {
        let line = text[..offset].matches('\n').count();
        let before = text[..offset].rsplit('\n').next().unwrap();
        let (column, column_chars, column_utf16) = (before.len() as u32, before.chars().count() as u32, before.encode_utf16().count() as u32);
        assert_eq!(lines.position(&text, offset as u32), Position { line: line as u32, column, column_chars, column_utf16 });
    }
}

#[test]
fn columns_are_counted_in_bytes_and_utf16() {
    let text = "a: é😀x\r\nb: 1\n";
    let lines = LineIndex::new(text);
    let x = text.find('x').unwrap() as u32;
    assert_eq!(lines.position(text, x), Position { line: 0, column: 9, column_chars: 5, column_utf16: 6 });
    assert_eq!(lines.offset(text, 0, 9), Some(x));
    assert_eq!(lines.offset_utf16(text, 0, 6), Some(x));
    assert_eq!(lines.offset(text, 1, 3), Some(text.find('1').unwrap() as u32));
    assert_eq!(lines.offset(text, 0, 99), Some(x + 1));
    assert_eq!(lines.offset(text, 9, 0), None);
    assert_eq!(lines.line_count(), 3);
    assert_eq!(lines.line_range(1).unwrap().slice(text), "b: 1\n");
    assert_eq!(lines.position(text, 5), lines.position(text, 5));
    assert_eq!(lines.position("", 7), Position::default());
}
