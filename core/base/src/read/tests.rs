//! Tests reading: objects, findings for unreadable text, and stable numbers across edits.

extern crate std;

use super::{DocumentCache, ReadOptions, Shape, read, unreadable_line};
use crate::diagnostic::{Diagnostic, Findings};
use crate::resource::{Inputs, Object, ObjectId, Objects, Origin, REDACTED};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use chancery_text::{Limits, Node, NodeId, Spans, TextRange, Value, parse};

fn options() -> ReadOptions {
    ReadOptions { embedded: Vec::from(["getambassador.io/config"]), ..ReadOptions::default() }
}

fn inputs(text: &str) -> Inputs {
    Inputs::one("a.yaml", text)
}

fn once(text: &str) -> (Objects, Findings) {
    read(&inputs(text), &options(), &mut DocumentCache::new())
}

fn codes(findings: &[Diagnostic]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.code.name).collect()
}

fn names(objects: &Objects) -> Vec<String> {
    objects.iter().map(|object| object.key.to_string()).collect()
}

fn mapping(name: &str) -> String {
    format!("---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}}}\nspec: {{prefix: /{name}/}}\n")
}

#[test]
fn documents_lists_and_concatenated_json_become_objects() {
    let list = "---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: a}}\n- apiVersion: v1\n  kind: MappingList\n  items:\n  - {metadata: {name: b, namespace: x}}\n";
    let json = r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"c"}}{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"d"}}"#;
    let (objects, findings) = once(list);
    assert_eq!((codes(&findings), names(&objects)), (vec![], vec!["Service `a` (default)".into(), "Mapping `b` (x)".into()]));
    let (objects, findings) = once(json);
    assert_eq!((codes(&findings), names(&objects)), (vec![], vec!["Service `c` (default)".into(), "Namespace `d`".into()]));
}

#[test]
fn broken_document_does_not_stop_reading() {
    let (objects, findings) = once(&format!("{}---\nkind: [\n{}", mapping("a"), mapping("b")));
    assert_eq!(codes(&findings), ["syntax"]);
    assert_eq!(objects.iter().filter(|object| object.broken).count(), 1);
    assert_eq!(objects.iter().filter(|object| object.key.kind == "Mapping").count(), 2);
}

#[test]
fn object_without_identity_is_broken() {
    for (text, code) in [
        ("kind: Mapping\nmetadata: {name: a}\n", "incomplete-object"),
        ("apiVersion: v1\nmetadata: {name: a}\n", "incomplete-object"),
        ("apiVersion: v1\nkind: Service\n", "incomplete-object"),
        ("- a\n", "incomplete-object"),
        ("just text\n", "incomplete-object"),
        ("apiVersion: v1\nkind: Service\nmetadata: {name: n}\n", "name-not-a-string"),
        ("apiVersion: v1\nkind: Service\nmetadata: {name: 5}\n", "name-not-a-string"),
    ] {
        let (objects, findings) = once(text);
        assert_eq!(codes(&findings), [code], "{text}");
        assert!(objects.iter().all(|object| object.broken), "{text}");
    }
    let (objects, findings) = once("# only a comment\n---\n\n---\nnull\n");
    assert!(objects.is_empty() && findings.is_empty());
}

#[test]
fn boolean_like_name_gets_quote_fix() {
    let (_, findings) = once("apiVersion: v1\nkind: Service\nmetadata:\n  name: on\n");
    assert_eq!(findings[0].fix.as_ref().map(|fix| fix.edits[0].replacement.as_str()), Some("\"on\""));
}

#[test]
fn annotation_objects_have_correct_places() {
    let text = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: x\n  annotations:\n    getambassador.io/config: |\n      ---\n      kind: Mapping\n      name: m\n      prefix: /m/\n";
    let (objects, _) = once(text);
    let all: Vec<&Object> = objects.iter().collect();
    assert_eq!(names(&objects), ["Service `web` (x)", "Mapping `m` (x)"]);
    assert_eq!(all[1].parent.map(|(holder, _)| holder), Some(all[0].id));
    let prefix = all[1].root.get("prefix").map(|node| node.id).expect("prefix");
    assert_eq!(all[1].value_range(prefix).map(|range| range.slice(text)), Some("/m/"));
    assert_eq!(all[1].path(prefix).to_string(), "prefix");
}

#[test]
fn list_item_paths_start_at_item() {
    let (objects, _) =
        once("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}\n");
    let object = objects.iter().next().expect("an object");
    let port = object.root.at(&["spec", "ports"]).and_then(Node::as_array).and_then(|ports| ports[0].get("port")).expect("a port");
    assert_eq!(object.path(port.id).to_string(), "spec.ports[0].port");
}

#[test]
fn key_material_never_leaves_reader() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  annotations: {kubectl.kubernetes.io/last-applied-configuration: hush}\ndata: {tls.key: aHVzaA==}\nstringData: {tls.crt: hush}\n";
    let (objects, _) = once(text);
    let object = objects.iter().next().expect("a Secret");
    let printed = format!("{object:?} {}", chancery_text::to_json(&object.root, false));
    assert!(!printed.contains("hush") && !printed.contains("aHVzaA"), "{printed}");
    assert!(printed.contains(REDACTED));
    let key = object.root.at(&["data", "tls.key"]).expect("a key");
    assert_eq!(object.secret(key.id).map(|secret| secret.expose().as_str()), Some("aHVzaA=="));
}

#[test]
fn plain_objects_need_no_kind() {
    let options = ReadOptions { shape: Shape::Plain, ..ReadOptions::default() };
    let (objects, findings) = read(&inputs("Kind: service-defaults\nName: web\n"), &options, &mut DocumentCache::new());
    assert!(findings.is_empty() && objects.len() == 1 && !objects.iter().any(|object| object.broken));
}

/// Reads texts one after another with one cache and returns names and numbers.
fn sequence(texts: &[String]) -> Vec<Vec<(String, ObjectId)>> {
    let mut cache = DocumentCache::new();
    let row = |objects: Objects| objects.iter().map(|object| (object.key.name.to_string(), object.id)).collect();
    texts.iter().map(|text| row(read(&inputs(text), &options(), &mut cache).0)).collect()
}

#[test]
fn objects_keep_numbers_across_edits() {
    let text = |names: &[&str]| names.iter().map(|name| mapping(name)).collect::<String>();
    let rounds = sequence(&[
        text(&["a", "b", "c", "d"]),
        text(&["a", "x", "c", "d"]),        // edited
        text(&["a", "x", "new", "c", "d"]), // inserted
        text(&["a", "new", "c", "d"]),      // removed
        text(&["d", "c", "a", "new"]),      // moved
        format!("# comment\n{}", text(&["d", "c", "a", "new"])),
    ]);
    let id = |round: usize, name: &str| rounds[round].iter().find(|(known, _)| known == name).map(|(_, id)| *id).expect("it is there");
    for round in 1..rounds.len() {
        for name in ["a", "c", "d"] {
            assert_eq!(id(round, name), id(0, name), "{name} in round {round}");
        }
    }
    assert_eq!(id(1, "x"), id(0, "b"), "a replacement keeps the object's number");
    assert_eq!(id(5, "new"), id(2, "new"));
}

#[test]
fn cached_reading_equals_fresh_reading() {
    let texts = ["", "a", "b", "a b", "a a b", "b a a", "a b c d e f", "a c e f", "f e d c b a", "a a a", ""];
    let mut cache = DocumentCache::new();
    for names in texts {
        let text: String = names.split_whitespace().map(mapping).collect::<String>() + "---\nkind: [\n";
        let (remembered, findings) = read(&inputs(&text), &options(), &mut cache);
        let (fresh, from_scratch) = once(&text);
        let row = |objects: &Objects| -> Vec<_> {
            let place = |object: &Object| (object.key.to_string(), object.source, object.value_range(object.root.id), object.broken);
            objects.iter().map(place).collect()
        };
        assert_eq!(row(&remembered), row(&fresh), "{names}");
        assert_eq!(codes(&findings), codes(&from_scratch), "{names}");
        let places = |findings: &[Diagnostic]| findings.iter().map(|finding| finding.place.clone()).collect::<Vec<_>>();
        assert_eq!(places(&findings), places(&from_scratch), "{names}");
    }
}

#[test]
fn an_origin_survives_a_comment() {
    let mut cache = DocumentCache::new();
    let mut origin = |text: &str| {
        let (objects, _) = read(&inputs(text), &options(), &mut cache);
        let object = objects.iter().next().expect("an object");
        let prefix = object.root.at(&["spec", "prefix"]).expect("a prefix");
        (Origin::field(object.id, prefix.id), object.value_range(prefix.id).map(|range| range.slice(text).to_string()))
    };
    let (before, _) = origin(&mapping("a"));
    let (after, text) = origin(&mapping("a").replace("spec:", "# why\nspec:"));
    assert_eq!(before, after);
    assert_eq!(text.as_deref(), Some("/a/"));
}

/// Pieces that are combined at random: whole documents, markers, directives, partial objects.
const PIECES: &[&str] = &[
    "---\napiVersion: v1\nkind: Service\nmetadata: {name: a}\n",
    "---\napiVersion: v1\nkind: Service\nmetadata: {name: b}\n",
    "apiVersion: v1\nkind: Service\nmetadata: {name: c}\n",
    "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"d\"}}",
    "---\n",
    "...\n",
    "--- # comment\n",
    "# comment\n",
    "%YAML 1.1\n",
    "\n",
    "x: |\n  --- text\n",
    " ---\n",
    "{",
    "}",
    "- ",
    "-",
    "a: b",
    "\u{feff}",
];

proptest::proptest! {
    #[test]
    fn random_edits_read_like_fresh_text(
        start in proptest::collection::vec(0..PIECES.len(), 0..12),
        edits in proptest::collection::vec((0..64_usize, 0..3_usize, 0..PIECES.len()), 1..6),
    ) {
        let mut pieces: Vec<usize> = start;
        let mut cache = DocumentCache::new();
        let mut check = |pieces: &[usize]| {
            let text: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
            let (remembered, findings) = read(&inputs(&text), &options(), &mut cache);
            let (fresh, from_scratch) = once(&text);
            let row = |object: &Object| (object.key.to_string(), object.source, object.broken, object.value_range(object.root.id));
            assert_eq!(remembered.iter().map(row).collect::<Vec<_>>(), fresh.iter().map(row).collect::<Vec<_>>(), "{text:?}");
            assert_eq!(codes(&findings), codes(&from_scratch), "{text:?}");
        };
        check(&pieces);
        for (place, what, piece) in edits {
            let at = place % (pieces.len() + 1);
            match what {
                0 => pieces.insert(at, piece),
                1 if at < pieces.len() => drop(pieces.remove(at)),
                _ if at < pieces.len() => pieces[at] = piece,
                _ => pieces.push(piece),
            }
            check(&pieces);
        }
    }
}

#[test]
fn unreadable_document_is_reported_by_line() {
    let good = mapping("a");
    assert_eq!(unreadable_line(&good, ""), None);
    for fine in ["", "# a comment\n", "null\n", "[]\n", "a: 1\na: 2\n", "{\"a\": 1}{\"b\": 2}"] {
        assert_eq!(unreadable_line(fine, ""), None, "{fine}");
    }
    let broken = format!("{good}---\nspec:\n\tprefix: /b/\n");
    assert_eq!(unreadable_line(&broken, &good), Some(8));
    assert_eq!(unreadable_line(&broken, &broken), None, "what was broken before is no news");
    for (text, line) in [("garbage", 1), ("\n\u{1}", 2), ("{\"a\": ", 1), ("a: 1\n---\n12\n", 3)] {
        assert_eq!(unreadable_line(text, ""), Some(line), "{text:?}");
    }
}

#[test]
fn moved_alias_makes_neighbour_value_credential() {
    let list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata: {name: c, labels: {a: &key UXowMDFodXNoaHVzaHBhZGRpbmc=}}\n\
                - apiVersion: v1\n  kind: Secret\n  metadata: {name: shop}\n";
    let held = |text: &str| {
        let (objects, _) = once(text);
        objects.iter().filter(|object| object.key.kind == "Service").flat_map(|object| object.credentials.clone()).count()
    };
    assert_eq!(held(&format!("{list}! data:\n    tls.key: *key\n")), 1, "a slip made the section a field of the List");
    assert_eq!(held(&list.replace("&key ", "")), 0, "without an anchor");
}

#[test]
fn assumed_nodes_are_numbered_like_text() {
    fn ids(node: &Node, found: &mut Vec<NodeId>) {
        found.push(node.id);
        match &node.value {
            Value::Array(items) => items.iter().for_each(|item| ids(item, found)),
            Value::Object(object) => object.iter().for_each(|entry| ids(&entry.value, found)),
            _ => {}
        }
    }
    fn forget(node: &mut Node) {
        node.id = NodeId::NONE;
        match &mut node.value {
            Value::Array(items) => items.iter_mut().for_each(forget),
            Value::Object(object) => object.iter_mut().for_each(|(_, value)| forget(value)),
            _ => {}
        }
    }
    let text = r#"{"kind":"Service","metadata":{"name":"a"},"spec":{"ports":[{"port":80},{"port":81,"name":"b"}],"none":[],"last":true}}"#;
    let read = parse(text, &Limits::default());
    let written = read.root.clone().expect("an object");
    let mut root = written.clone();
    forget(&mut root);
    let at = TextRange::new(7, 9);
    let spans = Spans::numbering(&mut root, at);
    let (mut now, mut then) = (Vec::new(), Vec::new());
    ids(&root, &mut now);
    ids(&written, &mut then);
    assert_eq!((now.len(), spans.len()), (13, read.spans.len()));
    assert_eq!(now, then);
    for id in now {
        let (made, read) = (spans.get(id).expect("a place"), read.spans.get(id).expect("a place"));
        assert_eq!((made.parent, made.value), (read.parent, at), "{id:?}");
    }
}
