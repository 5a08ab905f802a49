//! Runs the server without threads: in a browser, where the editor sends messages and its files, and reads the messages of the server.

use crate::compiling::{Clock, Memories};
use crate::server::{Server, Work};
use crossbeam_channel::{Receiver, Sender, unbounded};
use lsp_server::{ErrorCode, Message, Request, Response};
use serde_json::{Value, json};

/// The editor hands files over in this notification: `{files: [{uri, text}]}`. A file without `text` is gone.
pub const FILES: &str = "chancery/didChangeFiles";

/// A server for one client.
pub struct Session {
    sender: Sender<Message>,
    sent: Receiver<Message>,
    /// The server, after `initialize`.
    started: Option<(Server, Work)>,
    /// The parameters of `initialize`, until the client is ready.
    params: Value,
    memories: Memories,
}

impl Session {
    /// Creates a server that waits for `initialize`.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        let (sender, sent) = unbounded();
        Self { sender, sent, started: None, params: Value::Null, memories: Memories::new(clock) }
    }

    /// Handles messages that arrived together, and returns the messages for the client. Ignores other JSON.
    pub fn handle(&mut self, messages: Vec<Value>) -> Vec<Value> {
        for message in messages {
            if let Ok(message) = serde_json::from_value(message) {
                self.message(message);
            }
        }
        self.work();
        self.sent.try_iter().map(written).collect()
    }

    fn message(&mut self, message: Message) {
        let Some((server, _)) = &mut self.started else { return self.first(message) };
        match message {
            Message::Notification(one) if one.method == "initialized" => server.start(&self.params),
            Message::Notification(one) if one.method == FILES => files_changed(server, &one.params),
            // The editor ends this session, so the exit code has no use.
            message => drop(server.message(message)),
        }
    }

    /// Handles a message before the server runs.
    fn first(&mut self, message: Message) {
        let Message::Request(Request { id, method, mut params }) = message else { return };
        if method != "initialize" {
            let why = "The first request must be `initialize`";
            drop(self.sender.send(Response::new_err(id, ErrorCode::ServerNotInitialized as i32, why.into()).into()));
            return;
        }
        // The editor sends contents. The server cannot read a file that it only knows by name.
        if let Some(watched) = params.pointer_mut("/capabilities/workspace/didChangeWatchedFiles") {
            *watched = Value::Null;
        }
        let (server, work) = Server::new(&params, self.sender.clone());
        drop(self.sender.send(Response::new_ok(id, server.about()).into()));
        self.started = Some((server, work));
        self.params = params;
    }

    /// Compiles and answers until nothing is left.
    fn work(&mut self) {
        let Some((server, work)) = &mut self.started else { return };
        server.compile();
        server.start_requests();
        loop {
            if let Ok(job) = work.jobs.try_recv() {
                server.compiled(self.memories.compile(job));
            } else if let Ok(task) = work.tasks.try_recv() {
                let (id, response) = task();
                server.answered(&id, response);
            } else {
                return;
            }
        }
    }
}

/// Writes a message as the protocol requires.
fn written(message: Message) -> Value {
    let mut value = json!(message);
    value["jsonrpc"] = "2.0".into();
    value
}

#[cfg(target_family = "wasm")]
fn files_changed(server: &mut Server, params: &Value) {
    use crate::uri::path_of;
    use chancery_workspace::disk;
    let files: Vec<_> = params["files"].as_array().into_iter().flatten().filter_map(|file| Some((path_of(file["uri"].as_str()?)?, file))).collect();
    for (path, file) in &files {
        disk::change(path, file["text"].as_str().map(|text| text.as_bytes().to_vec()));
    }
    match files.as_slice() {
        [(path, _)] => server.file_changed(path),
        _ => server.files_changed(),
    }
}

/// A machine has a disk.
#[cfg(not(target_family = "wasm"))]
fn files_changed(_: &mut Server, _: &Value) {}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPPING: &str = "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: a, namespace: default}\nspec: {hostname: '*', prefix: /a/, service: a, timout_ms: 1}\n";

    fn request(id: i32, method: &str, params: Value) -> Value {
        json!({ "id": id, "method": method, "params": params })
    }

    #[test]
    fn session_reports_findings_and_answers_requests() {
        let mut session = Session::new(|| None);
        let early = session.handle(vec![request(1, "textDocument/hover", json!({}))]);
        assert_eq!(early[0]["error"]["code"], -32002);
        let capabilities = json!({ "textDocument": { "publishDiagnostics": {} } });
        let started = session.handle(vec![request(2, "initialize", json!({ "capabilities": capabilities }))]);
        assert_eq!((&started[0]["id"], &started[0]["jsonrpc"]), (&json!(2), &json!("2.0")));
        let uri = "file:///nowhere/a.yaml";
        let opened = json!({ "textDocument": { "uri": uri, "languageId": "yaml", "version": 1, "text": MAPPING } });
        let hover = json!({ "textDocument": { "uri": uri }, "position": { "line": 3, "character": 24 } });
        let answers = session.handle(vec![
            json!({ "method": "initialized", "params": {} }),
            json!({ "method": "textDocument/didOpen", "params": opened }),
            request(3, "textDocument/hover", hover),
        ]);
        let found = answers.iter().find(|one| one["method"] == "textDocument/publishDiagnostics").expect("diagnostics");
        assert!(
            found["params"]["diagnostics"]
                .as_array()
                .expect("a list")
                .iter()
                .any(|one| one["message"].as_str().is_some_and(|text| text.contains("timout_ms"))),
            "{found}"
        );
        let hover = answers.iter().find(|one| one["id"] == 3).expect("an answer");
        assert!(hover["result"]["contents"]["value"].as_str().is_some_and(|text| text.contains("prefix")), "{hover}");
    }
}
