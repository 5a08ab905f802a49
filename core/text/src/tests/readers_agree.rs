//! Tests that the fast reader and the full parser return the same document, including all ranges.

use super::*;
use proptest::prelude::*;

/// Whether both readers return the same document, including node numbers.
#[track_caller]
fn agree(text: &str) -> bool {
    let limits = Limits::default();
    let Some(quick) = super::super::fast::parse(text, &limits) else { return false };
    assert_eq!(format!("{quick:?}"), format!("{:?}", parse_fully(text, &limits)), "{text}");
    true
}

#[test]
fn usual_yaml_uses_fast_reader() {
    let usual = [
        "apiVersion: v1\nkind: Mapping\nmetadata: {name: a, labels: {x: 'y', z: \"w\\n\"}}\nspec:\n  port: 80 # c\n  hosts: [a, b.c, \"*\"]\n",
        "---\n# c\na:\n- b: 1\n  c:\n  - d\n  -\n\n  - e:\nf:\ng: |\n  x\n    y\n\n  # z\n\n# after\nh: |-\n    q\n",
        "{\"a\": {\"b\": [1,\n  true,\n {}\n]},\n\"c\":null\n}\n",
        "- a\n- - b\n  - c: d\n    e: f\n-   g: h\n    i: j\n- 'k'\n",
        "a: http://b:80/c#d\ne: -1\nf: x  \n  \n\"g h\": i:j\n<<: {k: l}\n",
        "a: \u{e9}\n\u{e9}: \"\u{2014}\"\n",
        "a: |+\n  x\n\n\nb:\n    - |\n      y\n",
        "a: 1\na: 2\n",
    ];
    for text in usual {
        assert!(agree(text), "given up: {text}");
    }
}

#[test]
fn unusual_yaml_uses_full_parser() {
    let unusual = [
        "a: b\n  c\n",
        "a: 'b\n  c'\n",
        "a: &x 1\n",
        "a: !!str 1\n",
        "? a\n: b\n",
        "a: >\n  b\n",
        "a:\tb\n",
        "a: b: c\n",
        "a\n",
        "- a\nb: c\n",
        "a: [b\n",
        "a: {b}\n",
        "a: [b: c]\n",
        "a: 1\n...\n",
        "a: |2\n   b\n",
        "a: |\n  b",
        "a: 1\r\n",
        "a:\n  b: 1\n c: 2\n",
        "--- a\n",
        "a: b\n ---\n",
        "-- a: b\n",
    ];
    for text in unusual {
        // A single word is read by the fast reader too; it is the only exception.
        assert!(!agree(text) || text == "a\n", "{text}");
    }
}

/// Usual YAML with comments, blank lines, and odd indentation.
fn any_yaml() -> impl Strategy<Value = String> {
    let scalar = prop::sample::select(alloc::vec![
        "a",
        "1",
        "true",
        "''",
        "'b c'",
        "\"d\\\"e\"",
        "f g",
        "http://h:1/#i",
        "-2",
        "[]",
        "{}",
        "[j, 'k', 1]",
        "{l: m, \"n\":o, p: [q]}",
        "[r,\n   s]",
        "",
        "~",
        "x #y",
        "z # c",
    ]);
    let key = prop::sample::select(alloc::vec!["a", "b", "c.d/e", "'f'", "\"g\"", "on", "1", "h i", "<"]);
    let noise = prop::sample::select(alloc::vec!["", "", "", "", "# c\n", "\n", "   # d\n", "  \n"]);
    let line = (0_usize..5, prop::sample::select(alloc::vec!["", "- ", "- - ", "-   "]), key, 0_usize..4, scalar, noise);
    let line = line.prop_map(|(indent, dash, key, kind, scalar, noise)| {
        let indent = "  ".repeat(indent);
        match kind {
            0 => format!("{noise}{indent}{dash}{key}:\n"),
            1 => format!("{noise}{indent}{dash}{scalar}\n"),
            2 => format!("{noise}{indent}{dash}{key}: |\n{indent}    {scalar}\n\n{indent}    x\n"),
            _ => format!("{noise}{indent}{dash}{key}: {scalar}\n"),
        }
    });
    prop::collection::vec(line, 0..10).prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn on_yaml_of_the_usual_kind(text in any_yaml()) {
        agree(&text);
    }

    #[test]
    fn on_trees_written_down(tree in super::written::any_tree()) {
        agree(&to_yaml(&tree));
        agree(&to_json(&tree, true));
    }
}
