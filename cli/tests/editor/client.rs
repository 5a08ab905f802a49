//! A client of the language server, which starts the real program. Does not check answers.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A server that does not answer in this time has failed.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    next: i64,
    pub capabilities: Value,
    /// The last diagnostics of each document, and how often they came.
    diagnostics: BTreeMap<String, Vec<Value>>,
    /// Answers that came while another was awaited.
    answers: BTreeMap<i64, Value>,
    pub root: PathBuf,
}

/// The address of a file.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Client {
    /// Starts a server in a folder, which offers these encodings.
    pub fn start(root: &Path, encodings: &[&str], options: &Value) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_chancery"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the program starts");
        let stdout = child.stdout.take().expect("its output");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            while let Some(message) = read(&mut reader) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        let root = root.canonicalize().expect("the folder");
        let mut client = Self {
            child,
            stdin,
            messages,
            next: 0,
            capabilities: Value::Null,
            diagnostics: BTreeMap::new(),
            answers: BTreeMap::new(),
            root: root.clone(),
        };
        let edit = json!({ "documentChanges": true, "resourceOperations": ["create"] });
        let capabilities = json!({
            "general": { "positionEncodings": encodings },
            "textDocument": {
                "publishDiagnostics": {},
                "completion": { "completionItem": { "snippetSupport": true } },
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            },
            "workspace": { "workspaceEdit": edit, "configuration": false },
        });
        let folders = json!([{ "uri": uri(&root), "name": "test" }]);
        let params = json!({ "processId": null, "rootUri": uri(&root), "capabilities": capabilities, "workspaceFolders": folders, "initializationOptions": options });
        client.capabilities = client.ask("initialize", params)["capabilities"].clone();
        client.notify("initialized", json!({}));
        client
    }

    pub fn new(root: &Path) -> Self {
        Self::start(root, &["utf-16"], &json!({ "commands": true }))
    }

    pub fn uri(&self, file: &str) -> String {
        uri(&self.root.join(file))
    }

    fn write(&mut self, message: &Value) {
        let text = message.to_string();
        let stdin = self.stdin.as_mut().expect("the server reads");
        stdin.write_all(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes()).expect("it is written");
        stdin.flush().expect("it is written");
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting. Returns its number.
    pub fn send(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        self.next
    }

    /// Waits for the whole answer of a request.
    pub fn answer(&mut self, id: i64) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            let message = self.messages.recv_timeout(PATIENCE).expect("an answer");
            self.receive(message);
        }
    }

    fn receive(&mut self, message: Value) {
        if message["method"] == "textDocument/publishDiagnostics" {
            let uri = message["params"]["uri"].as_str().unwrap_or_default().to_string();
            self.diagnostics.insert(uri, message["params"]["diagnostics"].as_array().cloned().unwrap_or_default());
        } else if message.get("method").is_some() && message.get("id").is_some() {
            let id = message["id"].clone();
            self.write(&json!({ "jsonrpc": "2.0", "id": id, "result": null }));
        } else if let Some(id) = message["id"].as_i64() {
            self.answers.insert(id, message);
        }
    }

    /// Sends a request, and returns its result.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Sends a request that is refused, and returns the reason.
    pub fn refused(&mut self, method: &str, params: Value) -> String {
        let id = self.send(method, params);
        self.answer(id)["error"]["message"].as_str().expect("a refusal").to_string()
    }

    pub fn open(&mut self, file: &str, text: &str) {
        let uri = self.uri(file);
        self.notify("textDocument/didOpen", json!({ "textDocument": { "uri": uri, "languageId": "yaml", "version": 1, "text": text } }));
    }

    /// Replaces the text of an open document.
    pub fn replace(&mut self, file: &str, version: i64, text: &str) {
        let uri = self.uri(file);
        self.change(&uri, version, json!([{ "text": text }]));
    }

    pub fn change(&mut self, uri: &str, version: i64, changes: Value) {
        self.notify("textDocument/didChange", json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": changes }));
    }

    /// The diagnostics of a document as the server has compiled it now.
    pub fn diagnostics(&mut self, file: &str) -> Vec<Value> {
        let uri = self.uri(file);
        // An answer comes after the diagnostics of the same compile.
        self.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
        self.diagnostics.get(&uri).cloned().unwrap_or_default()
    }

    pub fn codes(&mut self, file: &str) -> Vec<String> {
        let mut codes: Vec<String> = self.diagnostics(file).iter().map(|one| one["code"].as_str().unwrap_or_default().to_string()).collect();
        codes.sort();
        codes
    }

    /// Sends a request about a position.
    pub fn at(&mut self, method: &str, file: &str, (line, character): (usize, usize)) -> Value {
        let uri = self.uri(file);
        self.ask(method, json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character }, "context": { "includeDeclaration": true } }))
    }

    pub fn about(&mut self, method: &str, file: &str) -> Value {
        let uri = self.uri(file);
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 10_000, "character": 0 } });
        self.ask(method, json!({ "textDocument": { "uri": uri }, "range": range }))
    }

    /// The actions at a position, with their edits.
    pub fn actions(&mut self, file: &str, (line, character): (usize, usize)) -> Vec<Value> {
        let uri = self.uri(file);
        let at = json!({ "line": line, "character": character });
        let params = json!({ "textDocument": { "uri": uri }, "range": { "start": at, "end": at }, "context": { "diagnostics": [] } });
        self.ask("textDocument/codeAction", params).as_array().cloned().unwrap_or_default()
    }

    /// Closes the server's input. Returns its exit code.
    pub fn leave(mut self) -> i32 {
        self.stdin = None;
        self.child.wait().expect("it ends").code().unwrap_or(-1)
    }

    /// Ends the server as the protocol says. Returns its exit code.
    pub fn end(mut self) -> i32 {
        self.ask("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.child.wait().expect("it ends").code().unwrap_or(-1)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn read(reader: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            line => {
                if let Some(value) = line.strip_prefix("Content-Length: ") {
                    length = value.parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// Where a text occurs: line and column in UTF-16 units, at its beginning.
pub fn find(text: &str, what: &str) -> (usize, usize) {
    let at = text.find(what).unwrap_or_else(|| panic!("no {what:?}"));
    let before = &text[..at];
    let line = before.matches('\n').count();
    (line, before.rsplit('\n').next().unwrap_or_default().encode_utf16().count())
}

/// Applies a workspace edit to the contents of files.
pub fn apply(edit: &Value, root: &Path, texts: &mut BTreeMap<String, String>) {
    let root = format!("{}/", uri(root));
    let mut by_file: Vec<(String, Vec<Value>)> = Vec::new();
    for change in edit["documentChanges"].as_array().into_iter().flatten() {
        if change["kind"] == "create" {
            let file = change["uri"].as_str().unwrap_or_default().trim_start_matches(&root).to_string();
            texts.entry(file).or_default();
            continue;
        }
        let file = change["textDocument"]["uri"].as_str().unwrap_or_default().trim_start_matches(&root).to_string();
        by_file.push((file, change["edits"].as_array().cloned().unwrap_or_default()));
    }
    for (file, mut edits) in by_file {
        let text = texts.get_mut(&file).unwrap_or_else(|| panic!("no {file}"));
        edits.sort_by_key(|edit| std::cmp::Reverse((edit["range"]["start"]["line"].as_u64(), edit["range"]["start"]["character"].as_u64())));
        for edit in edits {
            let start = offset(text, &edit["range"]["start"]);
            let end = offset(text, &edit["range"]["end"]);
            text.replace_range(start..end, edit["newText"].as_str().unwrap_or_default());
        }
    }
}

/// The byte offset of a UTF-16 position.
pub fn offset(text: &str, at: &Value) -> usize {
    let (line, mut left) = (at["line"].as_u64().unwrap_or_default() as usize, at["character"].as_u64().unwrap_or_default() as usize);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    for (at, c) in text[start..].char_indices() {
        if left == 0 || c == '\n' {
            return start + at;
        }
        left = left.saturating_sub(c.len_utf16());
    }
    text.len()
}
