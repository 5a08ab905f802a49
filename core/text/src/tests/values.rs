//! Tests that scalars, keys, merges and aliases have Kubernetes' meaning.

use super::*;

/// The value of a plain scalar.
#[track_caller]
fn scalar(text: &str) -> String {
    json(&format!("a: {text}\n")).trim_start_matches("{\"a\":").trim_end_matches('}').into()
}

#[test]
fn booleans_are_those_of_yaml_1_1() {
    for text in ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"] {
        assert_eq!(scalar(text), "true", "{text}");
    }
    for text in ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"] {
        assert_eq!(scalar(text), "false", "{text}");
    }
    for text in ["yEs", "tRUE", "oN", "nO", "yess"] {
        assert_eq!(scalar(text), format!("{text:?}"));
    }
}

#[test]
fn nothing_is_written_in_five_ways() {
    for text in ["", "~", "null", "Null", "NULL"] {
        assert_eq!(scalar(text), "null", "{text}");
    }
    assert_eq!(scalar("nULL"), "\"nULL\"");
}

#[test]
fn whole_numbers_have_four_bases_signs_and_underscores() {
    let cases = [
        ("0", "0"),
        ("12", "12"),
        ("+12", "12"),
        ("-12", "-12"),
        ("0777", "511"),
        ("-017", "-15"),
        ("0o17", "15"),
        ("0x1F", "31"),
        ("-0x1f", "-31"),
        ("0b101", "5"),
        ("-0b101", "-5"),
        ("1_000", "1000"),
        ("1__0_", "10"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
    ];
    for (text, want) in cases {
        assert_eq!(scalar(text), want, "{text}");
    }
}

#[test]
fn other_numbers_are_floats() {
    let cases = [
        ("1.0", "1.0"),
        ("1.", "1.0"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("1e3", "1000.0"),
        ("1.5E-3", "0.0015"),
        ("08", "8.0"),
        ("09.5", "9.5"),
        ("18446744073709551615", "1.8446744073709552e+19"),
        ("1_0.5", "10.5"),
    ];
    for (text, want) in cases {
        assert_eq!(scalar(text), want, "{text}");
    }
}

#[test]
fn strings_that_look_like_numbers_stay_strings() {
    for text in
        ["1:20", "190:20:30", "2024-01-01", "2001-12-14t21:59:43.10-05:00", "0b2", "0x", "_1", "1e", "1e400", "1.2.3", "+", "-x", ".", "1,000"]
    {
        assert_eq!(scalar(text), format!("{text:?}"));
    }
}

#[test]
fn quoted_and_block_scalars_are_strings() {
    assert_eq!(scalar("'1'"), "\"1\"");
    assert_eq!(scalar("\"true\""), "\"true\"");
    assert_eq!(scalar("|\n  1\n"), "\"1\\n\"");
    assert_eq!(scalar("|-\n  null"), "\"null\"");
    assert_eq!(scalar(">-\n  a\n  b\n\n  c\n"), "\"a b\\nc\"");
    assert_eq!(scalar("'it''s'"), "\"it's\"");
    assert_eq!(scalar(r#""\u00e9\ud83d\ude00\/\x41""#), "\"é😀/A\"");
}

#[test]
fn final_line_without_break_is_kept() {
    assert_eq!(json("a: |\n  x"), r#"{"a":"x"}"#);
    assert_eq!(json("a: |\n  x\n"), r#"{"a":"x\n"}"#);
}

#[test]
fn tags_decide() {
    assert_eq!(scalar("!!str 12"), "\"12\"");
    assert_eq!(scalar("!!int '12'"), "12");
    assert_eq!(scalar("!!float 12"), "12.0");
    assert_eq!(scalar("!!binary aGVsbG8="), "\"hello\"");
    assert_eq!(scalar("!mine 12"), "\"12\"");
    assert_eq!(scalar("! 12"), "\"12\"");
    assert_eq!(scalar("!!timestamp 2024-01-01"), "\"2024-01-01\"");
    assert_eq!(problems("a: !!int x\n"), "1:10 \"x\" BadTag: `x` cannot be read as `!!int`: its kind is string");
    assert_eq!(problems("a: !!binary x\n"), "1:13 \"x\" BadTag: this is not valid base64, as `!!binary` asks for");
}

#[test]
fn keys_become_strings() {
    assert_eq!(json("1: a\ntrue: b\n1.5: c\n0x10: d\nyes: e\n1e10: f\n"), r#"{"1":"a","true":"e","1.5":"c","16":"d","1e+10":"f"}"#);
    assert_eq!(problems("~: 1\n"), "1:1 \"~\" NonStringKey: a key must be a string, this is nothing; Kubernetes refuses it");
    assert_eq!(problems("[a]: 1\n"), "1:1 \"[a]\" NonStringKey: a key must be a string, this is an array; Kubernetes refuses it");
}

#[test]
fn last_duplicate_key_wins() {
    let text = "a: 1\nb: 2\na: 3\n";
    assert_eq!(json(text), r#"{"a":3,"b":2}"#);
    let want = "3:1 \"a\" DuplicateKey: `a` was set before in this object; the last value wins (1:1 \"a\": set here first)";
    assert_eq!(problems(text), want);
}

#[test]
fn numbers_that_json_cannot_hold_are_problems() {
    for text in [".nan", ".inf", "-.Inf"] {
        assert_eq!(read(&format!("a: {text}\n")).problems[0].kind, ProblemKind::NotJson);
    }
}

#[test]
fn aliases_stand_for_their_anchors() {
    assert_eq!(json("a: &x {b: [1]}\nc: *x\n"), r#"{"a":{"b":[1]},"c":{"b":[1]}}"#);
    assert_eq!(json("a: &x 1\nb: &x 2\nc: *x\n"), r#"{"a":1,"b":2,"c":2}"#);
    assert_eq!(json("- &k key\n- *k : v\n"), r#"["key",{"key":"v"}]"#);
    let unknown =
        "1:11 \"*.example.com\" UnknownAnchor: there is no anchor `&.example.com` above this alias; a value that begins with `*` must be quoted";
    assert_eq!(problems("hostname: *.example.com\n"), unknown);
    assert_eq!(read("a: &a [*a]\n").problems[0].kind, ProblemKind::UnknownAnchor);
}

#[test]
fn merges_override_earlier_keys_only() {
    let base = "base: &base {p: 1, q: 2}\nother: &other {q: 3, r: 4}\n";
    let merged = |rest: &str| read(&format!("{base}{rest}")).root.and_then(|root| root.get("c").map(|c| to_json(c, false)));
    assert_eq!(merged("c:\n  <<: *base\n  p: 9\n").as_deref(), Some(r#"{"p":9,"q":2}"#));
    assert_eq!(merged("c:\n  <<: [*base, *other]\n").as_deref(), Some(r#"{"q":2,"r":4,"p":1}"#));
    assert_eq!(merged("c:\n  p: 9\n  <<: *base\n").as_deref(), Some(r#"{"p":1,"q":2}"#));
    assert_eq!(merged("c: {'<<': 1}\n").as_deref(), Some(r#"{"<<":1}"#));
    assert!(problems(&format!("{base}c:\n  <<: *base\n  p: 9\n")).is_empty());
    let replaced =
        "4:3 \"<<\" MergeReplaces: `<<` replaces `p`, which is written above it; Kubernetes lets only the keys below `<<` win (3:3 \"p\": set here)";
    assert_eq!(problems("a: &a {p: 1}\nc:\n  p: 9\n  <<: *a\n"), replaced);
    assert_eq!(problems("<<: 1\n"), "1:1 \"<<\" MergeKey: `<<` takes an object or a list of objects, this is an integer");
}

#[test]
fn json_is_yaml() {
    assert_eq!(json("{\n\t\"a\": [1, 2.5, null, true, \"x\\n\"],\n\t\"b\": {}\n}\n"), r#"{"a":[1,2.5,null,true,"x\n"],"b":{}}"#);
    assert_eq!(json(r#"{"a":{"b":[{"c":1},{"d":[]}]}}"#), r#"{"a":{"b":[{"c":1},{"d":[]}]}}"#);
}

#[test]
fn crlf_and_bom_make_no_difference() {
    assert_eq!(json("a: 1\r\nb: |\r\n  x\r\n  y\r\nc: [1,\r\n  2]\r\n"), r#"{"a":1,"b":"x\ny\n","c":[1,2]}"#);
    assert_eq!(json("\u{feff}a: 1\n"), r#"{"a":1}"#);
}

#[test]
fn kubernetes_yaml_1_1_forms_are_read() {
    assert_eq!(json("a:\n  b: \"x\ny\"\nc: 1\n"), r#"{"a":{"b":"x y"},"c":1}"#);
    assert_eq!(json("a: 'x'# comment\nb: 1\n"), r#"{"a":"x","b":1}"#);
    let document = read("a:\n  b: \"x\ny\"\nc: 1\n");
    let c = document.root.as_ref().and_then(|root| root.get("c")).unwrap();
    assert_eq!(document.spans.get(c.id).unwrap().key, TextRange::new(14, 15));
}

#[test]
fn objects_keep_their_order_and_stay_quick() {
    let text: String = (0..100_000).map(|n| format!("k{n}: {n}\n")).collect();
    let root = read(&text).root.unwrap();
    let mut object = root.as_object().unwrap().clone();
    assert_eq!(object.len(), 100_000);
    assert_eq!(object.get("k77777").and_then(Node::as_i64), Some(77_777));
    assert_eq!(object.remove("k0").and_then(|node| node.as_i64()), Some(0));
    assert_eq!(object.position("k1"), Some(0));
    object.insert("k1", Node::synthesised(Value::Null));
    assert!(object.get("k1").unwrap().is_null());
    object.retain(|entry| entry.key.ends_with('7'));
    assert_eq!(object.len(), 10_000);
    assert_eq!(object.position("k17"), Some(1));
}
