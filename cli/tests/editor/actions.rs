//! Tests code actions: an applied action must have the promised effect.

use crate::client::{Client, apply, find};
use crate::inputs::{AMBASSADOR, ENVOY_GATEWAY};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn start(file: &str, text: &str) -> (tempfile::TempDir, Client) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(file), text).expect("a file");
    let mut client = Client::new(folder.path());
    client.open(file, text);
    client.diagnostics(file);
    (folder, client)
}

fn named<'a>(actions: &'a [Value], title: &str) -> &'a Value {
    let titles: Vec<&str> = actions.iter().filter_map(|action| action["title"].as_str()).collect();
    actions.iter().find(|action| action["title"].as_str().is_some_and(|own| own.starts_with(title))).unwrap_or_else(|| panic!("{title}: {titles:?}"))
}

/// Applies an action to a document, and returns its new text.
fn applied(client: &mut Client, file: &str, text: &str, action: &Value) -> String {
    let mut texts: BTreeMap<String, String> = [(file.to_string(), text.to_string())].into();
    apply(&action["edit"], &client.root, &mut texts);
    let text = texts.remove(file).expect("the document");
    client.replace(file, 2, &text);
    text
}

#[test]
fn fix_removes_its_finding() {
    let (_folder, mut client) = start("a.yaml", AMBASSADOR);
    assert!(client.codes("a.yaml").contains(&"unknown-field".to_string()));
    let actions = client.actions("a.yaml", find(AMBASSADOR, "timout_ms"));
    let fix = named(&actions, "Rename to").clone();
    let text = applied(&mut client, "a.yaml", AMBASSADOR, &fix);
    assert!(!text.contains("timout_ms"), "{text}");
    assert!(!client.codes("a.yaml").contains(&"unknown-field".to_string()));
}

#[test]
fn all_of_a_code_are_fixed_across_files() {
    let (folder, mut client) = start("a.yaml", AMBASSADOR);
    let other = "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: other}\nspec: {hostname: \"*\", prefix: /o/, service: o, timout_ms: 1}\n";
    std::fs::write(folder.path().join("b.yaml"), other).expect("a file");
    let uri = client.uri("b.yaml");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 1 }] }));
    client.diagnostics("a.yaml");
    let actions = client.actions("a.yaml", find(AMBASSADOR, "timout_ms"));
    let all = named(&actions, "Fix all 2 of `unknown-field`");
    let mut texts: BTreeMap<String, String> = [("a.yaml".to_string(), AMBASSADOR.to_string()), ("b.yaml".to_string(), other.to_string())].into();
    apply(&all["edit"], &client.root, &mut texts);
    assert!(texts.values().all(|text| !text.contains("timout_ms")), "{texts:?}");
}

#[test]
fn suppression_hides_its_finding_in_every_style() {
    let flow =
        "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: o}\nspec: {hostname: \"*\", prefix: /o/, service: o, timout_ms: 1}\n";
    let block = "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata:\n  name: o\nspec: {hostname: \"*\", prefix: /o/, service: o, timout_ms: 1}\n";
    let annotated = block.replace("  name: o\n", "  name: o\n  annotations:\n    a: b\n");
    let suppressed = block.replace("  name: o\n", "  name: o\n  annotations:\n    chancery.dev/ignore: \"no-listener: elsewhere\"\n");
    let crlf = block.replace('\n', "\r\n");
    let json = "{\"apiVersion\": \"getambassador.io/v3alpha1\", \"kind\": \"Mapping\", \"metadata\": {\"name\": \"o\"},\n \"spec\": {\"hostname\": \"*\", \"prefix\": \"/o/\", \"service\": \"o\", \"timout_ms\": 1}}\n";
    for text in [flow, block, &annotated, &suppressed, &crlf, json] {
        let file = if text.starts_with('{') { "a.json" } else { "a.yaml" };
        let (_folder, mut client) = start(file, text);
        assert!(client.codes(file).contains(&"unknown-field".to_string()), "{text}");
        let actions = client.actions(file, find(text, "timout_ms"));
        let action = named(&actions, "Suppress `unknown-field`").clone();
        let text = applied(&mut client, file, text, &action);
        let codes = client.codes(file);
        assert!(!codes.contains(&"unknown-field".to_string()) && !codes.contains(&"syntax".to_string()), "{codes:?}\n{text}");
    }
}

#[test]
fn missing_grant_is_added() {
    let text = ENVOY_GATEWAY
        .replace("metadata: {name: cart, namespace: shop}", "metadata: {name: cart, namespace: store}")
        .replace("    - name: cart\n      port: 81", "    - name: cart\n      namespace: store\n      port: 80");
    let (_folder, mut client) = start("a.yaml", &text);
    let before = client.codes("a.yaml");
    let at = find(&text, "cart\n      namespace");
    let actions = client.actions("a.yaml", at);
    let action = named(&actions, "Add the missing ReferenceGrant").clone();
    let text = applied(&mut client, "a.yaml", &text, &action);
    assert!(text.contains("kind: ReferenceGrant"), "{text}");
    let after = client.codes("a.yaml");
    assert!(after.len() < before.len(), "{before:?} {after:?}");
    let titles = client.actions("a.yaml", at);
    assert!(!titles.iter().any(|action| action["title"].as_str().is_some_and(|title| title.contains("ReferenceGrant"))));
}

#[test]
fn request_test_is_added_and_passes() {
    let (folder, mut client) = start("a.yaml", AMBASSADOR);
    let actions = client.actions("a.yaml", find(AMBASSADOR, "/cart/"));
    let action = named(&actions, "Add a request test").clone();
    let resolved = client.ask("codeAction/resolve", action);
    let mut texts = BTreeMap::new();
    apply(&resolved["edit"], &client.root, &mut texts);
    let test = &texts["a.test.yaml"];
    assert!(test.starts_with("tests:\n") && test.contains("outcome: forward"), "{test}");
    std::fs::write(folder.path().join("a.test.yaml"), test).expect("a file");
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_chancery")).args(["test", "a.test.yaml", "a.yaml"]).current_dir(folder.path()).output();
    let run = run.expect("the program");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    // A second test is added to the same file.
    let again = client.actions("a.yaml", find(AMBASSADOR, "/cart/"));
    let resolved = client.ask("codeAction/resolve", named(&again, "Add a request test").clone());
    let mut texts: BTreeMap<String, String> = [("a.test.yaml".to_string(), test.clone())].into();
    apply(&resolved["edit"], &client.root, &mut texts);
    assert_eq!(texts["a.test.yaml"].matches("\n  request:").count(), 2, "{}", texts["a.test.yaml"]);
}

#[test]
fn conversion_opens_new_objects() {
    let (_folder, mut client) = start("a.yaml", AMBASSADOR);
    let actions = client.actions("a.yaml", find(AMBASSADOR, "/cart/"));
    let command = &named(&actions, "Convert to an HTTPProxy")["command"];
    let document = client.ask("chancery/content", json!({ "uri": command["arguments"][0] }));
    assert!(document["text"].as_str().is_some_and(|text| text.contains("kind: HTTPProxy")), "{document}");
}

#[test]
fn lenses_count_parts_and_tests() {
    let (folder, mut client) = start("a.yaml", AMBASSADOR);
    let test = "tests:\n- request: http://shop.example.com/cart/1\n  expect: {outcome: forward}\n- request: http://shop.example.com/cart/2\n  expect: {outcome: redirect}\n";
    std::fs::write(folder.path().join("shop.test.yaml"), test).expect("a file");
    std::fs::write(folder.path().join("chancery.toml"), "tests = [\"shop.test.yaml\"]\n").expect("a file");
    let uri = client.uri("chancery.toml");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 1 }] }));
    let lenses = client.about("textDocument/codeLens", "a.yaml");
    let titles: Vec<&str> = lenses.as_array().expect("lenses").iter().filter_map(|lens| lens["command"]["title"].as_str()).collect();
    assert!(titles.iter().any(|title| title.contains("route") && title.contains("cluster")), "{titles:?}");
    assert!(titles.contains(&"Try a request") && titles.contains(&"1 test passes, 1 fails"), "{titles:?}");
    let lens = lenses.as_array().into_iter().flatten().rfind(|lens| lens["command"]["title"] == "Try a request").expect("a lens").clone();
    let place = &lens["command"]["arguments"][0];
    let routed = client.ask("chancery/route", json!({ "uri": place["uri"], "object": place["object"] }));
    assert_eq!(routed["trials"][0]["good"], true, "{routed}");
}
