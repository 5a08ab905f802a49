//! Tests the life of a server: cancelled and outdated requests, wrong messages, and clients that leave.

use crate::client::Client;
use crate::inputs::AMBASSADOR;
use serde_json::{Value, json};

const CANCELLED: i64 = -32_800;
const MODIFIED: i64 = -32_801;

fn start(text: &str) -> (tempfile::TempDir, Client) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.yaml"), text).expect("a file");
    let mut client = Client::new(folder.path());
    client.open("a.yaml", text);
    (folder, client)
}

/// An input that takes some time.
fn large() -> String {
    (0..600)
        .map(|number| AMBASSADOR.replace("name: cart", &format!("name: cart-{number}")).replace("/cart/", &format!("/cart-{number}/")) + "---\n")
        .collect()
}

#[test]
fn cancelled_request_is_refused_and_others_continue() {
    let text = large();
    let (_folder, mut client) = start(&text);
    let uri = client.uri("a.yaml");
    let params = json!({ "textDocument": { "uri": uri }, "position": { "line": 20, "character": 4 } });
    let cancelled = client.send("textDocument/hover", params.clone());
    client.notify("$/cancelRequest", json!({ "id": cancelled }));
    let kept = client.send("textDocument/hover", params);
    assert_eq!(client.answer(cancelled)["error"]["code"], CANCELLED);
    assert!(client.answer(kept).get("error").is_none());
    // An unknown number is ignored.
    client.notify("$/cancelRequest", json!({ "id": 99_999 }));
    client.notify("$/cancelRequest", json!({ "id": null }));
    assert_eq!(client.end(), 0);
}

#[test]
fn request_about_an_earlier_text_is_refused() {
    let text = large();
    let (_folder, mut client) = start(&text);
    let uri = client.uri("a.yaml");
    let outdated = client.send("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    client.replace("a.yaml", 2, AMBASSADOR);
    assert_eq!(client.answer(outdated)["error"]["code"], MODIFIED);
    assert_eq!(client.about("textDocument/documentSymbol", "a.yaml").as_array().map(Vec::len), Some(4));
}

#[test]
fn client_that_leaves_ends_the_server() {
    let (_folder, client) = start(AMBASSADOR);
    assert_eq!(client.leave(), 1, "without `shutdown`");
    let (_folder, client) = start(&large());
    assert_eq!(client.leave(), 1, "while it compiles");
    let (_folder, client) = start(AMBASSADOR);
    assert_eq!(client.end(), 0);
}

#[test]
fn wrong_messages_are_answered() {
    let (_folder, mut client) = start(AMBASSADOR);
    let id = client.send("textDocument/unknown", json!({}));
    assert_eq!(client.answer(id)["error"]["code"], -32_601);
    for method in ["textDocument/hover", "textDocument/rename", "chancery/route", "chancery/explain", "callHierarchy/incomingCalls"] {
        let id = client.send(method, json!({ "textDocument": 3, "position": [], "request": 1 }));
        client.answer(id);
    }
    client.notify("unknown/notification", Value::Null);
    client.notify("textDocument/didChange", json!({ "textDocument": { "uri": "file:///nowhere" }, "contentChanges": 7 }));
    client.notify("textDocument/didOpen", json!({ "textDocument": { "uri": "untitled:1", "text": "kind: Mapping" } }));
    assert!(client.about("textDocument/documentSymbol", "a.yaml").is_array());
    assert!(client.refused("chancery/content", json!({ "uri": "chancery:/x" })).contains("There is no document"));
}

#[test]
fn server_that_is_shut_down_refuses_requests() {
    let (_folder, mut client) = start(AMBASSADOR);
    client.ask("shutdown", Value::Null);
    let id = client.send("workspace/symbol", json!({ "query": "" }));
    assert_eq!(client.answer(id)["error"]["code"], -32_600);
}
