//! Tests what the server reads: files, open buffers, settings, several folders, broken files, templates, secrets.

use crate::client::{Client, find, uri};
use crate::inputs::{AMBASSADOR, CONTOUR};
use serde_json::json;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, text).expect("a file");
    }
    folder
}

fn has(client: &mut Client, file: &str, code: &str) -> bool {
    client.codes(file).contains(&code.to_string())
}

#[test]
fn buffers_override_files() {
    let folder = folder(&[("a.yaml", AMBASSADOR), ("notes.yaml", "a: b\n")]);
    let mut client = Client::new(folder.path());
    assert!(has(&mut client, "a.yaml", "unknown-field"), "files are read without being open");
    let fixed = AMBASSADOR.replace("  timout_ms: 5000\n", "");
    client.open("a.yaml", &fixed);
    assert!(!has(&mut client, "a.yaml", "unknown-field"));
    let address = client.uri("a.yaml");
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": address } }));
    assert!(has(&mut client, "a.yaml", "unknown-field"), "the file counts again");
    std::fs::write(folder.path().join("a.yaml"), &fixed).expect("a file");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": address, "type": 2 }] }));
    assert!(!has(&mut client, "a.yaml", "unknown-field"));
    std::fs::remove_file(folder.path().join("a.yaml")).expect("it is removed");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": address, "type": 3 }] }));
    assert!(client.codes("a.yaml").is_empty());
}

#[test]
fn broken_file_costs_only_its_objects() {
    let other = "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: other}\nspec: {hostname: \"*\", prefix: /o/, service: o, timout_ms: 1}\n";
    let folder = folder(&[("a.yaml", AMBASSADOR), ("b.yaml", other)]);
    let mut client = Client::new(folder.path());
    client.open("b.yaml", other);
    client.replace("b.yaml", 2, "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: [\n");
    assert!(has(&mut client, "b.yaml", "syntax"));
    assert!(has(&mut client, "a.yaml", "unknown-field"));
    assert_eq!(client.about("textDocument/documentSymbol", "a.yaml").as_array().map(Vec::len), Some(4));
}

#[test]
fn settings_of_file_and_client_apply() {
    let folder = folder(&[
        ("a.yaml", AMBASSADOR),
        ("old/b.yaml", AMBASSADOR),
        ("chancery.toml", "exclude = [\"old/\"]\n[severities]\nunknown-field = \"error\"\n"),
    ]);
    let mut client = Client::new(folder.path());
    let severity =
        |client: &mut Client| client.diagnostics("a.yaml").iter().find(|one| one["code"] == "unknown-field").map(|one| one["severity"].clone());
    assert_eq!(severity(&mut client), Some(json!(1)));
    assert!(client.codes("old/b.yaml").is_empty());
    let settings = json!({ "chancery": { "severities": { "unknown-field": "off" }, "codeLens": { "enabled": false } } });
    client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    assert_eq!(severity(&mut client), None);
    assert!(client.about("textDocument/codeLens", "a.yaml").is_null());
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "chancery": {} } }));
    std::fs::write(folder.path().join("chancery.toml"), "exclude = [\"a.yaml\"]\n").expect("a file");
    let address = client.uri("chancery.toml");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": address, "type": 2 }] }));
    assert!(client.codes("a.yaml").is_empty());
    assert!(!client.codes("old/b.yaml").is_empty());
}

#[test]
fn folders_are_separate_inputs() {
    let first = folder(&[("a.yaml", AMBASSADOR)]);
    let second = folder(&[("b.yaml", CONTOUR)]);
    let mut client = Client::new(first.path());
    let root = second.path().canonicalize().expect("a folder");
    let event = json!({ "added": [{ "uri": uri(&root), "name": "second" }], "removed": [] });
    client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    let symbols = client.ask("workspace/symbol", json!({ "query": "cart" }));
    let kinds: Vec<&str> = symbols.as_array().expect("symbols").iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(kinds.contains(&"Mapping cart") && kinds.contains(&"HTTPProxy cart"), "{kinds:?}");
    let file = uri(&root.join("b.yaml"));
    let compiled = client.ask("chancery/files", json!({ "uri": file }));
    assert_eq!(compiled["dialects"], json!(["contour"]));
    let event = json!({ "added": [], "removed": [{ "uri": uri(&root), "name": "second" }] });
    client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    let symbols = client.ask("workspace/symbol", json!({ "query": "httpproxy" }));
    assert_eq!(symbols.as_array().map(Vec::len), Some(0));
}

#[test]
fn file_outside_of_folders_is_its_own_input() {
    let first = folder(&[("a.yaml", AMBASSADOR)]);
    let other = folder(&[("b.yaml", CONTOUR), ("c.yaml", AMBASSADOR)]);
    let mut client = Client::new(first.path());
    let path = other.path().canonicalize().expect("a folder").join("b.yaml");
    client.notify("textDocument/didOpen", json!({ "textDocument": { "uri": uri(&path), "languageId": "yaml", "version": 1, "text": CONTOUR } }));
    let files = client.ask("chancery/files", json!({ "uri": uri(&path) }));
    assert_eq!(files["files"].as_array().map(Vec::len), Some(1), "{files}");
}

#[test]
fn several_dialects_are_compiled_together() {
    let folder = folder(&[("a.yaml", AMBASSADOR), ("b.yaml", CONTOUR)]);
    let mut client = Client::new(folder.path());
    assert!(has(&mut client, "a.yaml", "unknown-field") && !client.codes("b.yaml").is_empty());
    let address = client.uri("a.yaml");
    assert_eq!(client.ask("chancery/files", json!({ "uri": address }))["dialects"], json!(["ambassador", "contour"]));
    // Both dialects refer to the same Service.
    let at = find(AMBASSADOR, "cart, namespace");
    let references = client.at("textDocument/references", "a.yaml", at);
    assert!(references.as_array().is_some_and(|all| !all.is_empty()), "{references}");
}

#[test]
fn template_of_a_chart_gets_one_hint() {
    let template = "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: {{ .Values.name }}}\n";
    let folder = folder(&[("chart/Chart.yaml", "name: c\nversion: 1\n"), ("chart/templates/a.yaml", template), ("b.yaml", AMBASSADOR)]);
    let mut client = Client::new(folder.path());
    client.open("chart/templates/a.yaml", template);
    let found = client.diagnostics("chart/templates/a.yaml");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0]["message"].as_str().is_some_and(|message| message.contains("helm template")) && found[0]["severity"] == 4);
    assert!(client.at("textDocument/completion", "chart/templates/a.yaml", (1, 6)).is_null());
    assert!(client.at("textDocument/hover", "chart/templates/a.yaml", (1, 2)).is_null());
    assert!(has(&mut client, "b.yaml", "unknown-field"));
}

#[test]
fn yaml_errors_can_be_left_to_others() {
    let folder = folder(&[("a.yaml", "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: [\n")]);
    let mut client = Client::start(folder.path(), &["utf-16"], &json!({ "settings": { "yamlErrors": false } }));
    assert!(!has(&mut client, "a.yaml", "syntax"));
    let mut client = Client::new(folder.path());
    assert!(has(&mut client, "a.yaml", "syntax"));
}

#[test]
fn diagnostics_are_pulled_on_request() {
    let folder = folder(&[("a.yaml", AMBASSADOR)]);
    let mut client = Client::new(folder.path());
    let address = client.uri("a.yaml");
    let report = client.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": address } }));
    let codes: Vec<&str> = report["items"].as_array().expect("items").iter().filter_map(|one| one["code"].as_str()).collect();
    assert!(codes.contains(&"unknown-field"), "{codes:?}");
    let again = client.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": address }, "previousResultId": report["resultId"] }));
    assert_eq!(again["kind"], "unchanged");
    let all = client.ask("workspace/diagnostic", json!({ "previousResultIds": [] }));
    assert_eq!(all["items"].as_array().map(Vec::len), Some(1));
}

#[test]
fn no_answer_contains_a_secret() {
    const KEY: &str = "c2VjcmV0LWtleS1vZi10aGUtdGVzdA==";
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: tls, namespace: shop}}\ntype: kubernetes.io/tls\ndata:\n  tls.crt: {KEY}\n  tls.key: {KEY}\n"
    );
    let host = AMBASSADOR.replace("requestPolicy:", "tlsSecret: {name: tls}, requestPolicy:");
    let folder = folder(&[("a.yaml", &host), ("secret.yaml", &secret)]);
    let mut client = Client::new(folder.path());
    let address = client.uri("secret.yaml");
    let mut seen = String::new();
    for (method, params) in [
        ("chancery/compile", json!({ "uri": address })),
        ("chancery/files", json!({ "uri": address })),
        ("chancery/graph", json!({ "uri": address })),
        ("chancery/explain", json!({ "uri": address, "line": 5 })),
        ("textDocument/documentSymbol", json!({ "textDocument": { "uri": address } })),
    ] {
        seen.push_str(&client.ask(method, params).to_string());
    }
    seen.push_str(&client.at("textDocument/hover", "secret.yaml", (5, 4)).to_string());
    seen.push_str(&json!(client.diagnostics("secret.yaml")).to_string());
    assert!(!seen.contains(KEY) && !seen.contains("secret-key-of-the-test"), "{seen}");
}

#[test]
fn diff_compares_with_a_revision() {
    let folder = folder(&[("a.yaml", AMBASSADOR)]);
    let git = |arguments: &[&str]| {
        let run =
            std::process::Command::new("git").args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(arguments).current_dir(folder.path()).output();
        assert!(run.expect("git").status.success());
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "one"]);
    let mut client = Client::new(folder.path());
    let address = client.uri("a.yaml");
    let same = client.ask("chancery/diff", json!({ "uri": address }));
    assert_eq!(same["changes"]["gateways"], json!([]), "{same}");
    client.open("a.yaml", &AMBASSADOR.replace("prefix: /cart/", "prefix: /basket/"));
    let changed = client.ask("chancery/diff", json!({ "uri": address }));
    assert!(changed["changes"]["gateways"][0]["requests"].as_array().is_some_and(|all| !all.is_empty()), "{changed}");
    assert!(client.refused("chancery/diff", json!({ "uri": address, "revision": "--help" })).contains("not a revision"));
    assert!(client.refused("chancery/diff", json!({ "uri": address, "revision": "nowhere" })).contains("git cannot read"));
}
