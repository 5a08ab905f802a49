//! Tests every feature on every dialect.

use crate::client::{Client, find};
use crate::inputs::{ALL, CONTOUR, ENVOY_GATEWAY, Sample};
use serde_json::{Value, json};

fn start(sample: &Sample) -> (tempfile::TempDir, Client) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(sample.file), sample.text).expect("a file");
    let mut client = Client::new(folder.path());
    client.open(sample.file, sample.text);
    (folder, client)
}

/// The text that a range of an answer covers.
fn covered<'t>(text: &'t str, range: &Value) -> &'t str {
    &text[crate::client::offset(text, &range["start"])..crate::client::offset(text, &range["end"])]
}

#[test]
fn diagnostics_are_pushed_for_every_dialect() {
    for sample in ALL {
        let (_folder, mut client) = start(sample);
        let all = client.diagnostics(sample.file);
        assert!(!all.is_empty(), "{}: no finding", sample.dialect);
        for one in &all {
            assert!(one["code"].is_string() && one["source"] == "chancery" && one["message"].is_string(), "{one}");
            let page = one["codeDescription"]["href"].as_str().expect("a link");
            let local = page.split("/main/").nth(1).expect("a path");
            assert!(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(local).is_file(), "{page}");
        }
    }
}

#[test]
fn hover_describes_fields_and_names() {
    for sample in ALL {
        let (_folder, mut client) = start(sample);
        // Consul's entries have no schema with documentation.
        if sample.dialect != "consul" {
            let field = client.at("textDocument/hover", sample.file, find(sample.text, sample.field));
            assert!(field["contents"]["value"].as_str().is_some_and(|text| text.contains(sample.field)), "{}: {field}", sample.dialect);
            assert!(covered(sample.text, &field["range"]).contains(sample.field), "{}: {field}", sample.dialect);
        }
        let name = client.at("textDocument/hover", sample.file, find(sample.text, sample.reference.0));
        let text = name["contents"]["value"].as_str().unwrap_or_default();
        assert!(text.contains("Defined at"), "{}: {name}", sample.dialect);
    }
}

#[test]
fn definition_references_and_rename_agree() {
    for sample in ALL {
        let (_folder, mut client) = start(sample);
        let at = find(sample.text, sample.reference.0);
        let definition = client.at("textDocument/definition", sample.file, at);
        let lines: Vec<u64> = definition.as_array().expect("definitions").iter().filter_map(|one| one["range"]["start"]["line"].as_u64()).collect();
        let wanted = find(sample.text, sample.reference.1).0 as u64;
        assert!(lines.contains(&wanted), "{}: {lines:?}, not {wanted}", sample.dialect);
        let references = client.at("textDocument/references", sample.file, at);
        let references = references.as_array().expect("references");
        assert!(references.len() >= 2, "{}: {references:?}", sample.dialect);
        for one in references {
            assert_eq!(covered(sample.text, &one["range"]), if sample.reference.0.starts_with("web") { "web" } else { "cart" });
        }
        let uri = client.uri(sample.file);
        let params = json!({ "textDocument": { "uri": uri }, "position": { "line": at.0, "character": at.1 }, "newName": "basket" });
        let edit = client.ask("textDocument/rename", params);
        let edits = edit["documentChanges"][0]["edits"].as_array().expect("edits");
        assert_eq!(edits.len(), references.len(), "{}", sample.dialect);
        let highlights = client.at("textDocument/documentHighlight", sample.file, at);
        assert_eq!(highlights.as_array().map(Vec::len), Some(references.len()));
    }
}

#[test]
fn rename_keeps_findings() {
    for sample in ALL {
        let (_folder, mut client) = start(sample);
        let before = client.codes(sample.file);
        let at = find(sample.text, sample.reference.0);
        let uri = client.uri(sample.file);
        let params = json!({ "textDocument": { "uri": uri }, "position": { "line": at.0, "character": at.1 }, "newName": "basket" });
        let edit = client.ask("textDocument/rename", params);
        let mut texts = [(sample.file.to_string(), sample.text.to_string())].into();
        crate::client::apply(&edit, &client.root, &mut texts);
        client.replace(sample.file, 2, &texts[sample.file]);
        assert_eq!(client.codes(sample.file), before, "{}\n{}", sample.dialect, texts[sample.file]);
    }
}

#[test]
fn rename_refuses_invalid_names() {
    let sample = &ALL[0];
    let (_folder, mut client) = start(sample);
    let at = find(sample.text, sample.reference.0);
    let uri = client.uri(sample.file);
    for (name, why) in [("a b", "is not a name"), ("", "is not a name"), ("123", "does not read"), ("-a", "is not a name")] {
        let params = json!({ "textDocument": { "uri": uri }, "position": { "line": at.0, "character": at.1 }, "newName": name });
        let refusal = client.refused("textDocument/rename", params);
        assert!(refusal.contains(why), "{name}: {refusal}");
    }
    let nothing = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 2 }, "newName": "a" });
    assert!(client.refused("textDocument/rename", nothing).contains("no name here"));
}

#[test]
fn parts_of_objects_are_names() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("route.yaml"), ENVOY_GATEWAY).expect("a file");
    let mut client = Client::new(folder.path());
    client.open("route.yaml", ENVOY_GATEWAY);
    let (line, column) = find(ENVOY_GATEWAY, "sectionName: http");
    let definition = client.at("textDocument/definition", "route.yaml", (line, column + "sectionName: ".len()));
    assert_eq!(definition[0]["range"]["start"]["line"], find(ENVOY_GATEWAY, "- name: http").0);
}

#[test]
fn completion_offers_existing_names() {
    // Consul's dialect lists no fields, so its names are not completed.
    for sample in ALL.iter().filter(|sample| sample.dialect != "consul") {
        let (_folder, mut client) = start(sample);
        client.diagnostics(sample.file);
        let (begin, wanted) = sample.completes;
        let (line, column) = find(sample.text, begin);
        let at = (line, column + begin.len());
        let uri = client.uri(sample.file);
        // The value is not typed yet.
        let typed = sample.text.lines().nth(line).expect("a line");
        let range = json!({ "start": { "line": line, "character": at.1 }, "end": { "line": line, "character": typed.encode_utf16().count() } });
        client.change(&uri, 2, json!([{ "range": range, "text": "" }]));
        let items = client.at("textDocument/completion", sample.file, at);
        let labels: Vec<&str> = items["items"].as_array().expect("items").iter().filter_map(|item| item["label"].as_str()).collect();
        assert!(labels.contains(&wanted), "{}: {labels:?}", sample.dialect);
    }
}

#[test]
fn completion_offers_resources_of_patch_type() {
    let of_type = |message: &str| {
        let patch = "\
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyPatchPolicy
metadata: {name: edge, namespace: shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: web}
  type: JSONPatch
  jsonPatches:
  - operation: {op: add, path: /name, value: a}
    type: type.googleapis.com/envoy.config.MESSAGE
    name: ";
        let text = [ENVOY_GATEWAY, &patch.replace("MESSAGE", message)].concat();
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("patch.yaml"), &text).expect("a file");
        let mut client = Client::new(folder.path());
        client.open("patch.yaml", &text);
        client.diagnostics("patch.yaml");
        let items = client.at("textDocument/completion", "patch.yaml", (text.lines().count() - 1, "    name: ".len()));
        let labels = items["items"].as_array().expect("items").iter().filter_map(|item| item["label"].as_str().map(String::from));
        labels.collect::<Vec<_>>()
    };
    let listeners = of_type("listener.v3.Listener");
    assert!(listeners.contains(&"shop/web/http".to_string()), "{listeners:?}");
    assert!(of_type("route.v3.RouteConfiguration").contains(&"shop/web/http".to_string()));
    let clusters = of_type("cluster.v3.Cluster");
    assert!(!clusters.contains(&"shop/web/http".to_string()), "{clusters:?}");
}

#[test]
fn completion_offers_kinds_fields_and_objects() {
    for sample in ALL.iter().filter(|sample| sample.dialect != "consul") {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(sample.file), sample.text).expect("a file");
        let mut client = Client::new(folder.path());
        let text = format!("{}---\napiVersion: ", sample.text);
        client.open(sample.file, &text);
        let lines = text.lines().count();
        let items = client.at("textDocument/completion", sample.file, (lines - 1, "apiVersion: ".len()));
        assert!(!items["items"].as_array().expect("items").is_empty(), "{}: no version", sample.dialect);
        client.replace(sample.file, 2, &format!("{}---\n", sample.text));
        let items = client.at("textDocument/completion", sample.file, (lines - 1, 0));
        let snippets = items["items"].as_array().expect("items").iter().filter(|item| item["insertTextFormat"] == 2).count();
        assert!(snippets > 0, "{}: no objects", sample.dialect);
    }
}

#[test]
fn views_of_a_document_are_complete() {
    for sample in ALL {
        let (_folder, mut client) = start(sample);
        let objects = sample.text.matches("\nkind: ").count();
        let symbols = client.about("textDocument/documentSymbol", sample.file);
        assert_eq!(symbols.as_array().map(Vec::len), Some(objects), "{}", sample.dialect);
        for method in ["textDocument/foldingRange", "textDocument/codeLens", "textDocument/documentLink"] {
            let found = client.about(method, sample.file);
            assert!(found.as_array().is_some_and(|all| !all.is_empty()), "{} {method}: {found}", sample.dialect);
        }
        let found = client.ask("workspace/symbol", json!({ "query": "cart" }));
        assert!(found.as_array().is_some_and(|all| !all.is_empty()), "{}", sample.dialect);
        let uri = client.uri(sample.file);
        let at = find(sample.text, sample.reference.0);
        let selection =
            client.ask("textDocument/selectionRange", json!({ "textDocument": { "uri": uri }, "positions": [{ "line": at.0, "character": at.1 }] }));
        let mut depth = 0;
        let mut range = &selection[0];
        while range.is_object() {
            (depth, range) = (depth + 1, &range["parent"]);
        }
        assert!(depth >= 3, "{}: {selection}", sample.dialect);
    }
}

#[test]
fn hints_name_targets_of_routes() {
    for sample in ALL.iter().filter(|sample| !matches!(sample.dialect, "consul")) {
        let (_folder, mut client) = start(sample);
        let hints = client.about("textDocument/inlayHint", sample.file);
        let labels: Vec<&str> = hints.as_array().expect("hints").iter().filter_map(|hint| hint["label"].as_str()).collect();
        assert!(labels.iter().any(|label| label.contains('→')), "{}: {labels:?}", sample.dialect);
    }
}

#[test]
fn call_hierarchy_follows_inclusion() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("proxy.yaml"), CONTOUR).expect("a file");
    let mut client = Client::new(folder.path());
    client.open("proxy.yaml", CONTOUR);
    let items = client.at("textDocument/prepareCallHierarchy", "proxy.yaml", find(CONTOUR, "virtualhost"));
    assert_eq!(items[0]["name"], "shop");
    let outgoing = client.ask("callHierarchy/outgoingCalls", json!({ "item": items[0] }));
    let names: Vec<&str> = outgoing.as_array().expect("calls").iter().filter_map(|call| call["to"]["detail"].as_str()).collect();
    assert_eq!(names, ["Service shop", "HTTPProxy shop"]);
    let item = outgoing[1]["to"].clone();
    let incoming = client.ask("callHierarchy/incomingCalls", json!({ "item": item }));
    assert_eq!(incoming[0]["from"]["name"], "shop");
}

#[test]
fn type_definition_opens_produced_part() {
    for sample in ALL.iter().filter(|sample| !matches!(sample.dialect, "consul")) {
        let (_folder, mut client) = start(sample);
        let places = client.at("textDocument/typeDefinition", sample.file, find(sample.text, sample.reference.0));
        let Some(first) = places.as_array().and_then(|all| all.first()) else { panic!("{}: {places}", sample.dialect) };
        let document = client.ask("chancery/content", json!({ "uri": first["uri"] }));
        let text = document["text"].as_str().expect("a document");
        let line = first["range"]["start"]["line"].as_u64().expect("a line") as usize;
        assert!(text.lines().nth(line).is_some(), "{}: line {line} of\n{text}", sample.dialect);
    }
}

#[test]
fn own_requests_answer_for_every_dialect() {
    for sample in ALL {
        let (_folder, mut client) = start(sample);
        let uri = client.uri(sample.file);
        let graph = client.ask("chancery/graph", json!({ "uri": uri }));
        assert!(graph["nodes"].as_array().is_some_and(|nodes| !nodes.is_empty()), "{}", sample.dialect);
        let line = find(sample.text, sample.reference.0).0;
        let explained = client.ask("chancery/explain", json!({ "uri": uri, "line": line }));
        assert_eq!(explained["line"], line + 1);
        let compiled = client.ask("chancery/compile", json!({ "uri": uri }));
        assert!(compiled["gateways"].is_array());
        let files = client.ask("chancery/files", json!({ "uri": uri }));
        assert_eq!(files["dialects"], json!([sample.dialect]), "{files}");
        if sample.dialect == "consul" {
            continue;
        }
        let request = json!({ "url": "http://shop.example.com/cart/1" });
        let routed = client.ask("chancery/route", json!({ "uri": uri, "request": request }));
        assert!(routed["trials"].as_array().is_some_and(|trials| !trials.is_empty()), "{}: {routed}", sample.dialect);
    }
}
