//! Tests `chancery mcp` with the client of the official SDK.

use crate::inputs::{ALL, AMBASSADOR};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams};
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;

type Service = RunningService<RoleClient, ()>;

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(test)
}

async fn start(folder: &Path) -> Service {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_chancery"));
    command.arg("mcp").arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().expect("the program starts");
    let streams = child.stdout.take().zip(child.stdin.take()).expect("its streams");
    let client = ().serve(streams).await.expect("it speaks the protocol");
    // The program ends with its input.
    tokio::spawn(async move { child.wait().await });
    client
}

/// Calls a tool. Returns its text, and whether it failed.
async fn call(client: &Service, tool: &'static str, arguments: Value) -> (String, bool) {
    let mut params = CallToolRequestParams::new(tool);
    params.arguments = arguments.as_object().cloned();
    let answer = client.call_tool(params).await.expect("an answer");
    let answer = serde_json::to_value(answer).expect("JSON");
    (answer["content"][0]["text"].as_str().unwrap_or_default().to_string(), answer["isError"] == true)
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

#[test]
fn tools_have_schemas_and_only_read() {
    run(async {
        let folder = folder(&[("a.yaml", AMBASSADOR)]);
        let client = start(folder.path()).await;
        let tools = client.list_all_tools().await.expect("tools");
        let mut names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        names.sort_unstable();
        assert_eq!(names, ["check", "code", "diff", "explain", "graph", "ledger", "route"]);
        for tool in &tools {
            let tool = serde_json::to_value(tool).expect("JSON");
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert!(tool["description"].is_string() && tool["annotations"]["readOnlyHint"] == true, "{tool}");
        }
        client.cancel().await.expect("it ends");
    });
}

#[test]
fn tools_answer_with_file_and_line() {
    run(async {
        let folder = folder(&[("a.yaml", AMBASSADOR)]);
        let client = start(folder.path()).await;
        let (check, _) = call(&client, "check", json!({})).await;
        assert!(check.contains("a.yaml:26: warning[unknown-field]") && check.contains("help: did you mean `timeout_ms`?"), "{check}");
        let (one, _) = call(&client, "check", json!({ "path": "a.yaml", "code": "no-such-code" })).await;
        assert!(one.starts_with("0 errors"), "{one}");
        let (route, _) = call(&client, "route", json!({ "url": "http://shop.example.com/cart/1" })).await;
        assert!(route.contains("goes to") && route.contains("a.yaml:"), "{route}");
        let (line, _) = call(&client, "explain", json!({ "target": "a.yaml:25" })).await;
        assert!(line.contains("timeout"), "{line}");
        let (value, _) = call(&client, "explain", json!({ "target": "route:/cart//route/timeout" })).await;
        assert!(value.contains("a.yaml:25"), "{value}");
        let (ledger, _) = call(&client, "ledger", json!({ "kind": "Mapping" })).await;
        assert!(ledger.starts_with("a.yaml:") && ledger.contains("Mapping cart.shop: emitted"), "{ledger}");
        let (graph, _) = call(&client, "graph", json!({ "from": "Mapping/cart" })).await;
        assert!(graph.contains("Mapping cart.shop refers to Service cart.shop"), "{graph}");
        let (code, _) = call(&client, "code", json!({ "code": "unknown-field" })).await;
        assert!(code.contains("## How to fix it"), "{code}");
        client.cancel().await.expect("it ends");
    });
}

#[test]
fn every_dialect_is_answered() {
    run(async {
        for sample in ALL {
            let folder = folder(&[(sample.file, sample.text)]);
            let client = start(folder.path()).await;
            let (check, failed) = call(&client, "check", json!({ "severity": "notice" })).await;
            assert!(!failed && check.contains(sample.file), "{}: {check}", sample.dialect);
            let (ledger, failed) = call(&client, "ledger", json!({})).await;
            assert!(!failed && ledger.contains(sample.file), "{}: {ledger}", sample.dialect);
            client.cancel().await.expect("it ends");
        }
    });
}

#[test]
fn wrong_calls_are_explained() {
    run(async {
        let folder = folder(&[("a.yaml", AMBASSADOR), ("notes.yaml", "a: b\n")]);
        let client = start(folder.path()).await;
        for (tool, arguments, why) in [
            ("route", json!({ "url": "" }), ""),
            ("explain", json!({ "target": "a.yaml:9999" }), "has no line"),
            ("explain", json!({ "target": "nothing/here" }), "is called"),
            ("code", json!({ "code": "unknown-feild" }), "did you mean `unknown-field`?"),
            ("graph", json!({ "from": "missing" }), "there is no `missing`"),
            ("check", json!({ "path": "nowhere.yaml" }), "there is no `nowhere.yaml`"),
            ("check", json!({ "path": "notes.yaml" }), "is read by a supported controller"),
            ("diff", json!({ "revision": "--output=x" }), "is not a revision"),
        ] {
            let (text, failed) = call(&client, tool, arguments.clone()).await;
            assert!(failed && text.contains(why), "{tool} {arguments}: {text}");
        }
        client.cancel().await.expect("it ends");
    });
}

#[cfg(unix)]
#[test]
fn nothing_outside_of_the_folders_is_read() {
    run(async {
        let outside = folder(&[("secret.yaml", &AMBASSADOR.replace("name: cart", "name: outside"))]);
        let inside = folder(&[("a.yaml", AMBASSADOR)]);
        let link = |name: &str, target: &Path| std::os::unix::fs::symlink(target, inside.path().join(name)).expect("a link");
        link("link.yaml", &outside.path().join("secret.yaml"));
        link("folder", outside.path());
        let client = start(inside.path()).await;
        let absolute = outside.path().join("secret.yaml").display().to_string();
        for path in ["../", "/etc", &absolute, "link.yaml", "folder", "folder/secret.yaml"] {
            let (text, failed) = call(&client, "check", json!({ "path": path })).await;
            assert!(failed && !text.contains("outside."), "{path}: {text}");
        }
        let (ledger, _) = call(&client, "ledger", json!({})).await;
        assert!(!ledger.contains("outside"), "{ledger}");
        client.cancel().await.expect("it ends");
    });
}

#[test]
fn answers_are_bounded_and_without_secrets() {
    const KEY: &str = "c2VjcmV0LWtleS1vZi10aGUtdGVzdA==";
    let many: String = (0..2_000)
        .map(|number| format!("---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m{number}}}\nspec: {{hostname: \"*\", prefix: /{number}/, service: s, timout_ms: 1}}\n"))
        .collect();
    let secret =
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: tls}}\ntype: kubernetes.io/tls\ndata: {{tls.crt: {KEY}, tls.key: {KEY}}}\n");
    run(async {
        let folder = folder(&[("a.yaml", &many), ("secret.yaml", &secret)]);
        let client = start(folder.path()).await;
        for (tool, arguments) in
            [("check", json!({})), ("ledger", json!({})), ("graph", json!({})), ("explain", json!({ "target": "secret.yaml:5" }))]
        {
            let (text, _) = call(&client, tool, arguments).await;
            assert!(text.len() < 13_000 && !text.contains(KEY), "{tool}: {} bytes", text.len());
        }
        let (text, _) = call(&client, "check", json!({})).await;
        assert!(text.contains("more lines. Ask for"), "{}", &text[text.len() - 200..]);
        client.cancel().await.expect("it ends");
    });
}

#[test]
fn guides_are_resources() {
    run(async {
        let folder = folder(&[("a.yaml", AMBASSADOR)]);
        let client = start(folder.path()).await;
        let resources = client.list_all_resources().await.expect("resources");
        assert!(resources.iter().any(|resource| resource.uri == "chancery://guides/404"));
        let read = client.read_resource(ReadResourceRequestParams::new("chancery://guides/404")).await.expect("a guide");
        let text = serde_json::to_value(read).expect("JSON")["contents"][0]["text"].as_str().unwrap_or_default().to_string();
        assert!(text.starts_with("# "), "{text}");
        assert!(client.read_resource(ReadResourceRequestParams::new("chancery://guides/../../x")).await.is_err());
        client.cancel().await.expect("it ends");
    });
}

#[test]
fn diff_compares_with_a_revision() {
    run(async {
        let folder = folder(&[("a.yaml", AMBASSADOR)]);
        for arguments in [&["init", "-q"][..], &["add", "."], &["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "one"]] {
            let run = std::process::Command::new("git").args(arguments).current_dir(folder.path()).output().expect("git");
            assert!(run.status.success());
        }
        let client = start(folder.path()).await;
        let (same, _) = call(&client, "diff", json!({})).await;
        assert!(same.contains("Nothing differs from HEAD"), "{same}");
        std::fs::write(folder.path().join("a.yaml"), AMBASSADOR.replace("prefix: /cart/", "prefix: /basket/")).expect("a file");
        let (changed, _) = call(&client, "diff", json!({ "path": "a.yaml" })).await;
        assert!(changed.contains("requests") && changed.contains("/basket/"), "{changed}");
        client.cancel().await.expect("it ends");
    });
}
