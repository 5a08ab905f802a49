//! Tests the operations on a small schema that has every shape.

use super::*;
use crate::object;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use chancery_text::{Limits, Node, parse, to_json};

static TOY: Schema = object![
    field("name", STRING, "What it is called").required().dropped(),
    field("kind", one_of(&["round", "square"]), "Its shape"),
    field("size", INTEGER.between(1, 9), "How large it is"),
    field("code", int_of(&[301, 302]), "Its number"),
    field("lit", BOOLEAN.default(Literal::Bool(true)), "Whether it is on"),
    field("tags", array(&STRING).at_least(1).at_most(2), "Its tags").dropped(),
    field("port", INT_OR_STRING, "Its port"),
    field("ids", either(&[STRING, STRINGS]), "Its ids"),
    field("extra", OPEN_OBJECT, "Anything"),
    field("labels", map(&STRING), "Its labels").dropped(),
    field("scheme", like("^https?$"), "Its scheme"),
    field("wait", GO_DURATION, "How long"),
    field("nothing", STRING.or_null(), "May be null"),
    field("inner", object![field("a", INTEGER, "A").always(), field("b", STRING, "B").dropped()], "Inside").always(),
];

fn read(yaml: &str) -> Node {
    parse(yaml, &Limits::default()).root.expect("a document")
}

fn check(yaml: &str) -> Vec<String> {
    let violations = Check::controller(&Memo::default()).run(&read(yaml), &TOY, &Path::root("spec"));
    violations.into_iter().flat_map(|violation| violation.reference).collect()
}

#[test]
fn violations_have_place_and_reference_message() {
    let cases: &[(&str, &[&str])] = &[
        ("{name: a}", &[]),
        ("{}", &["spec.name in body is required"]),
        ("{name: 1}", &["spec.name in body must be of type string: \"number\""]),
        ("{name: a, kind: oval}", &["spec.kind in body should be one of [round square]"]),
        ("{name: a, kind: 1}", &["spec.kind in body must be of type string: \"number\"", "spec.kind in body should be one of [round square]"]),
        ("{name: a, size: 10}", &["spec.size in body should be less than or equal to 9"]),
        ("{name: a, size: 0}", &["spec.size in body should be greater than or equal to 1"]),
        ("{name: a, size: 1.5}", &["spec.size in body must be of type integer: \"number\""]),
        ("{name: a, size: 2.0}", &[]),
        ("{name: a, code: 300}", &["spec.code in body should be one of [301 302]"]),
        ("{name: a, lit: maybe}", &["spec.lit in body must be of type boolean: \"string\""]),
        ("{name: a, tags: []}", &["spec.tags in body should have at least 1 items"]),
        ("{name: a, tags: [a, b, c]}", &["spec.tags in body should have at most 2 items"]),
        ("{name: a, tags: [1]}", &["spec.tags[0] in body must be of type string: \"number\""]),
        ("{name: a, port: 80}", &[]),
        ("{name: a, port: http}", &[]),
        ("{name: a, ids: a}", &[]),
        ("{name: a, ids: [a]}", &[]),
        (
            "{name: a, ids: 1}",
            &["\"spec.ids\" must validate one and only one schema (oneOf). Found none valid", "spec.ids in body must be of type string: \"number\""],
        ),
        ("{name: a, labels: {x: 1}}", &["spec.labels.x in body must be of type string: \"number\""]),
        ("{name: a, scheme: ftp}", &["spec.scheme in body should match '^https?$'"]),
        ("{name: a, wait: 5}", &["spec.wait in body must be of type string: \"number\""]),
        ("{name: a, wait: '5'}", &["time: missing unit in duration \"5\""]),
        ("{name: a, nothing: null}", &[]),
        ("{name: null}", &["spec.name in body must be of type string: \"null\""]),
        ("[]", &["spec in body must be of type object: \"array\""]),
    ];
    for (yaml, want) in cases {
        assert_eq!(check(yaml), *want, "{yaml}");
    }
}

#[test]
fn messages_name_expected_and_found_value() {
    let cases = [
        ("{name: a, size: soon}", "`spec.size` must be a whole number, not the string \"soon\""),
        ("{name: a, kind: rond}", "`spec.kind` must be `round` or `square`, not `rond`"),
        ("{name: a, tags: a}", "`spec.tags` must be a list of strings, not the string \"a\""),
        ("{nam: a}", "`spec.name` is required"),
    ];
    for (yaml, want) in cases {
        let violations = Check::controller(&Memo::default()).run(&read(yaml), &TOY, &Path::root("spec"));
        assert_eq!(violations.iter().map(|violation| violation.message.as_str()).collect::<Vec<_>>(), [want], "{yaml}");
    }
    let near = &Check::controller(&Memo::default()).run(&read("{name: a, kind: rond}"), &TOY, &Path::root("spec"))[0];
    assert_eq!((near.help.as_deref(), near.replacement.as_deref()), (Some("did you mean `round`?"), Some("round")));
    let part = &Check::controller(&Memo::default()).run(&read("{name: a, kind: qua}"), &TOY, &Path::root("spec"))[0];
    assert_eq!((part.help.as_deref(), part.replacement.as_deref()), (Some("did you mean `square`?"), None));
    let list = &Check::controller(&Memo::default()).run(&read("{name: a, tags: 'a, b'}"), &TOY, &Path::root("spec"))[0];
    assert_eq!(list.replacement.as_deref(), Some("[\"a\", \"b\"]"));
}

#[test]
fn the_api_server_prunes_and_sets_defaults() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("{name: a, lit: false}", "unchanged", &[]),
        ("{name: a}", r#"{"name":"a","lit":true}"#, &[]),
        ("{name: a, lit: null}", r#"{"name":"a","lit":true}"#, &["null lit"]),
        ("{name: a, lit: true, nam: b}", r#"{"name":"a","lit":true}"#, &["unknown nam"]),
        ("{lit: true, inner: {c: 1, a: 2}}", r#"{"lit":true,"inner":{"a":2}}"#, &["unknown c"]),
        ("{lit: true, extra: {c: null}}", "unchanged", &[]),
        ("{lit: true, labels: {c: null, d: e}}", r#"{"lit":true,"labels":{"d":"e"}}"#, &["null c"]),
        ("{lit: true, nothing: null}", "unchanged", &[]),
        ("{lit: true, tags: [null]}", "unchanged", &[]),
    ];
    for (yaml, want, reported) in cases {
        let mut changes = Vec::new();
        let rules = Tidy { unknown: true, nulls: true, defaults: true };
        let tidied = tidy(&read(yaml), &TOY, rules, &Path::root("spec"), &mut |_, change| {
            changes.push(match change {
                Change::Unknown(entry, _) => format!("unknown {}", entry.key),
                Change::Null(entry, _) => format!("null {}", entry.key),
            });
        });
        assert_eq!(tidied.map_or("unchanged".to_string(), |node| to_json(&node, false)), *want, "{yaml}");
        assert_eq!(changes, *reported, "{yaml}");
    }
    // One rule at a time.
    let node = read("{name: a, nam: b, size: null}");
    let path = Path::root("spec");
    let json = |node: Option<Node>| node.map(|node| to_json(&node, false)).unwrap_or_default();
    assert_eq!(json(prune(&node, &TOY, &path, &mut |_, _| ())), r#"{"name":"a","size":null}"#);
    assert_eq!(json(drop_nulls(&node, &TOY, &path, &mut |_, _| ())), r#"{"name":"a","nam":"b"}"#);
    assert_eq!(json(default(&node, &TOY)), r#"{"name":"a","nam":"b","size":null,"lit":true}"#);
}

#[test]
fn go_struct_orders_fields_drops_empty_values() {
    let cases = [
        // The order of the struct, and the alphabet for maps.
        ("{size: 3, labels: {b: x, a: w}, name: m}", r#"{"name":"m","size":3,"labels":{"a":"w","b":"x"},"inner":{"a":0}}"#),
        // Empty values are omitted, pointers are not.
        ("{name: '', lit: false, tags: [], labels: {}, kind: ''}", r#"{"kind":"","lit":false,"inner":{"a":0}}"#),
        ("{name: m, size: 3.0, nothing: null}", r#"{"name":"m","size":3,"inner":{"a":0}}"#),
        ("{name: m, wait: 90s, inner: {b: x}}", r#"{"name":"m","wait":"1m30s","inner":{"a":0,"b":"x"}}"#),
        ("{name: m, unknown: 1, extra: {b: 2.0, a: [1.5]}}", r#"{"name":"m","extra":{"a":[1.5],"b":2},"inner":{"a":0}}"#),
    ];
    for (yaml, want) in cases {
        assert_eq!(to_json(&round_trip(&read(yaml), &TOY), false), want, "{yaml}");
    }
}

#[test]
fn fast_round_trip_equals_slow_one() {
    for (yaml, is_in_order) in [
        ("{name: m, lit: true, size: 3, labels: {b: x, a: w}, ids: a, extra: {a: 1}, wait: 60s}", true),
        ("{name: m, lit: true, tags: [a]}", true),
        ("{name: m, lit: true, nothing: null}", true),
        ("{name: m}", false),
        ("{lit: true}", false),
        ("{name: m, lit: true, tags: []}", false),
        ("{name: m, lit: true, size: 10}", false),
        ("{name: m, lit: true, size: null}", false),
        ("{name: m, lit: true, nam: b}", false),
        ("{name: m, lit: true, ids: 1}", false),
        ("{name: m, lit: true, wait: soon}", false),
        ("{name: m, lit: true, labels: {a: 1}}", false),
        ("[]", false),
    ] {
        let node = read(yaml);
        let quick = round_trip_if_valid(&node, &TOY, Check::server(&Memo::default()));
        assert_eq!(quick.is_some(), is_in_order, "{yaml}");
        if let Some(quick) = quick {
            assert_eq!(quick, round_trip(&node, &TOY), "{yaml}");
        }
    }
}

#[test]
fn nodes_keep_their_numbers() {
    let node = read("{size: 3, name: m}");
    let written = round_trip(&node, &TOY);
    for key in ["size", "name"] {
        assert_eq!(written.get(key).map(|node| node.id), node.get(key).map(|node| node.id), "{key}");
    }
    assert!(!written.get("inner").expect("inner").id.is_some());
}

#[test]
fn fields_are_described_by_path() {
    assert_eq!(TOY.describe(&["inner", "a"]).map(|field| field.doc), Some("A"));
    assert_eq!(TOY.describe(&["kind"]).map(|field| allowed_values(&field.schema)), Some(vec!["round".into(), "square".into()]));
    assert_eq!(TOY.describe(&["size"]).map(|field| allowed_values(&field.schema)), Some(vec!["1 to 9".into()]));
    assert!(TOY.describe(&["nope"]).is_none());
    assert!(TOY.describe(&[]).is_none());
}

#[test]
fn durations_round_trip_like_go() {
    for (text, want) in [
        ("5s", "5s"),
        ("90s", "1m30s"),
        ("1h", "1h0m0s"),
        ("0.5s", "500ms"),
        ("1500ms", "1.5s"),
        ("1.5h", "1h30m0s"),
        ("10us", "10µs"),
        ("0", "0s"),
        ("0s", "0s"),
        ("-3s", "-3s"),
        ("+3s", "3s"),
        (".5s", "500ms"),
        ("1m2.5s", "1m2.5s"),
        ("100ns", "100ns"),
    ] {
        assert_eq!(duration::parse(text).map(duration::format).as_deref(), Some(want), "{text}");
    }
    for (text, want) in [
        ("", "time: invalid duration \"\""),
        ("soon", "time: invalid duration \"soon\""),
        ("5", "time: missing unit in duration \"5\""),
        ("5 s", "time: unknown unit \" s\" in duration \"5 s\""),
        ("3d", "time: unknown unit \"d\" in duration \"3d\""),
    ] {
        assert_eq!(duration::read(text).map_err(|error| error.to_string()), Err(want.into()), "{text}");
    }
    assert_eq!(duration::parse("99999999999999999999h"), None);
}

#[test]
fn names_and_labels_follow_kubernetes() {
    for (name, is_allowed) in [("a", true), ("a-b.c", true), ("0", true), ("A", false), ("a_b", false), ("-a", false), ("a.", false), ("", false)] {
        assert_eq!(names::subdomain(name).is_empty(), is_allowed, "{name}");
    }
    assert_eq!(names::subdomain(&"a".repeat(254)), ["must be no more than 253 characters"]);
    for (name, is_allowed) in [("a-1", true), ("1-a", false), ("a.b", false)] {
        assert_eq!(names::label_1035(name).is_empty(), is_allowed, "{name}");
    }
    for (name, is_allowed) in [("a-1", true), ("1-a", true), ("a.b", false)] {
        assert_eq!(names::label(name).is_empty(), is_allowed, "{name}");
    }
    for (value, is_allowed) in [("", true), ("A_b.c", true), ("-a", false), ("a b", false), ("{{x}}", false)] {
        assert_eq!(names::label_value(value).is_empty(), is_allowed, "{value}");
    }
    for (key, is_allowed) in [("app", true), ("example.com/app", true), ("/app", false), ("a/b/c", false), ("Ex.com/a", false), ("", false)] {
        assert_eq!(names::qualified_name(key).is_empty(), is_allowed, "{key}");
    }
}
