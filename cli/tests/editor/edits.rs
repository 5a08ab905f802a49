//! Tests positions and incremental edits: every encoding, emoji, CRLF, and random edits against the full text.

use crate::client::Client;
use crate::inputs::{AMBASSADOR, ENVOY_GATEWAY};
use serde_json::json;

/// Numbers that look random and are always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

fn column(text: &str, encoding: &str) -> usize {
    match encoding {
        "utf-8" => text.len(),
        "utf-16" => text.encode_utf16().count(),
        _ => text.chars().count(),
    }
}

/// The position of an offset, counted independently of the server.
fn position(text: &str, offset: usize, encoding: &str) -> (usize, usize) {
    let before = &text[..offset];
    let mut line = 0;
    let mut start = 0;
    let bytes = before.as_bytes();
    for at in 0..bytes.len() {
        if bytes[at] == b'\n' || bytes[at] == b'\r' && text.as_bytes().get(at + 1) != Some(&b'\n') {
            (line, start) = (line + 1, at + 1);
        }
    }
    (line, column(&before[start..], encoding))
}

#[test]
fn ranges_count_in_the_agreed_encoding() {
    let text = AMBASSADOR.replace("  timout_ms: 5000", "  \"\u{1f600}\u{e9}\": {timout_ms: 5000}").replace('\n', "\r\n");
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.yaml"), &text).expect("a file");
        let mut client = Client::start(folder.path(), &[encoding], &json!({}));
        assert_eq!(client.capabilities["positionEncoding"], encoding);
        client.open("a.yaml", &text);
        let found = client.diagnostics("a.yaml");
        let one = found.iter().find(|one| one["code"] == "unknown-field").expect("the finding");
        let begin = text.find("\"\u{1f600}").expect("the key");
        let end = begin + "\"\u{1f600}\u{e9}\"".len();
        let (line, start) = position(&text, begin, encoding);
        let (_, end) = position(&text, end, encoding);
        assert_eq!(one["range"], json!({ "start": { "line": line, "character": start }, "end": { "line": line, "character": end } }), "{encoding}");
        let field = position(&text, text.find("timout_ms").expect("a field"), encoding);
        client.at("textDocument/hover", "a.yaml", field);
    }
}

#[test]
fn default_encoding_is_utf16() {
    let folder = tempfile::tempdir().expect("a folder");
    let client = Client::start(folder.path(), &[], &json!({}));
    assert_eq!(client.capabilities["positionEncoding"], "utf-16");
}

#[test]
fn random_edits_equal_full_text() {
    const PIECES: [&str; 12] =
        ["a", "\n", "\r\n", "  ", "\u{1f600}", "\u{e9}", ": ", "- x\n", "{", "}", "---\n", "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\n"];
    for (encoding, seed) in [("utf-8", 1), ("utf-16", 2), ("utf-32", 3)] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.yaml"), AMBASSADOR).expect("a file");
        std::fs::write(folder.path().join("b.yaml"), ENVOY_GATEWAY).expect("a file");
        let mut client = Client::start(folder.path(), &[encoding], &json!({}));
        let mut text = AMBASSADOR.to_string();
        client.open("a.yaml", &text);
        let uri = client.uri("a.yaml");
        let mut numbers = Numbers(seed);
        for round in 0..40 {
            let mut changes = Vec::new();
            for _ in 0..=numbers.below(3) {
                let at = |numbers: &mut Numbers| {
                    let mut offset = numbers.below(text.len() + 1);
                    // A place within `\r\n` or a character is none that a client sends.
                    while !text.is_char_boundary(offset) || offset > 0 && text[..offset].ends_with('\r') && text[offset..].starts_with('\n') {
                        offset -= 1;
                    }
                    offset
                };
                let (one, two) = (at(&mut numbers), at(&mut numbers));
                let (start, end) = (one.min(two), one.max(two).min(one.min(two) + 30));
                let end = (start..=end)
                    .rev()
                    .find(|end| text.is_char_boundary(*end) && !(text[..*end].ends_with('\r') && text[*end..].starts_with('\n')))
                    .unwrap_or(start);
                let new = PIECES[numbers.below(PIECES.len())];
                let ((line, column), (end_line, end_column)) = (position(&text, start, encoding), position(&text, end, encoding));
                let range = json!({ "start": { "line": line, "character": column }, "end": { "line": end_line, "character": end_column } });
                changes.push(json!({ "range": range, "text": new }));
                text.replace_range(start..end, new);
            }
            client.change(&uri, round + 2, json!(changes));
        }
        let incremental = client.diagnostics("a.yaml");
        // The same text in a server that has seen nothing else.
        let mut fresh = Client::start(folder.path(), &[encoding], &json!({}));
        fresh.open("a.yaml", &text);
        let full = fresh.diagnostics("a.yaml");
        assert_eq!(incremental, full, "{encoding}: {text:?}");
        // The server's text is the client's: what it shows of every line is the same.
        let symbols = [&mut client, &mut fresh].map(|client| client.about("textDocument/foldingRange", "a.yaml"));
        assert_eq!(symbols[0], symbols[1]);
    }
}

#[test]
fn positions_outside_of_the_text_are_harmless() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.yaml"), AMBASSADOR).expect("a file");
    let mut client = Client::new(folder.path());
    client.open("a.yaml", AMBASSADOR);
    let methods = ["hover", "definition", "references", "typeDefinition", "documentHighlight", "completion", "prepareCallHierarchy"];
    for at in [(0, 100_000), (100_000, 0), (3, 100_000)] {
        for method in methods {
            client.at(&format!("textDocument/{method}"), "a.yaml", at);
        }
        client.actions("a.yaml", at);
    }
    client.change(
        &client.uri("a.yaml"),
        2,
        json!([{ "range": { "start": { "line": 9, "character": 9 }, "end": { "line": 1, "character": 1 } }, "text": "x" }]),
    );
    client.diagnostics("a.yaml");
}
