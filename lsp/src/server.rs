//! Handles the client's messages in order, keeps documents and folders, and hands out compiles and requests.
//!
//! A request waits until its folder is compiled as the client sees it. It is cancelled when the client asks, and refused when its document changes
//! before the answer. Does not answer requests itself; see `requests`. Does not compile or answer what it hands out; see `serve` and `session`.

use crate::analysis::Analysis;
use crate::client::{Client, ClientSettings};
use crate::compiling::{Done, Job};
use crate::context::Context;
use crate::diagnostics::Published;
use crate::documents::Documents;
use crate::folder::Folder;
use crate::requests;
use crate::uri::path_of;
use chancery_workspace::Settings;
use crossbeam_channel::{Receiver, Sender, unbounded};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::TextDocumentContentChangeEvent;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The id of the server's request for settings.
const SETTINGS: &str = "chancery/settings";

/// An answer from a thread.
pub type Answered = (RequestId, Response);
/// A request with everything that it reads.
pub type Task = Box<dyn FnOnce() -> Answered + Send>;

/// A request that is not answered yet.
struct Pending {
    request: Request,
    uri: Option<String>,
    /// The folder that must be compiled first.
    folder: Option<usize>,
    /// Whether a thread has it.
    is_started: bool,
}

pub struct Server {
    client: Arc<Client>,
    sender: Sender<Message>,
    documents: Arc<Documents>,
    folders: Vec<Option<Folder>>,
    /// The last compile of each folder, and the version that was handed to the compiler.
    analyses: Vec<(Option<Arc<Analysis>>, u64)>,
    pending: Vec<Pending>,
    published: Published,
    jobs: Sender<Job>,
    tasks: Sender<Task>,
    pub is_shut_down: bool,
    /// Numbers the server's own requests.
    asked: i32,
}

/// The work that a server hands out: compiles, and requests.
pub struct Work {
    pub jobs: Receiver<Job>,
    pub tasks: Receiver<Task>,
}

impl Server {
    /// Creates a server for a client that sent these parameters of `initialize`, and the work that it will hand out.
    #[must_use]
    pub fn new(params: &Value, sender: Sender<Message>) -> (Self, Work) {
        let (jobs, jobs_of_compiler) = unbounded();
        let (tasks, tasks_of_threads) = unbounded();
        let server = Self {
            client: Arc::new(Client::new(params)),
            sender,
            documents: Arc::default(),
            folders: Vec::new(),
            analyses: Vec::new(),
            pending: Vec::new(),
            published: Published::default(),
            jobs,
            tasks,
            is_shut_down: false,
            asked: 0,
        };
        (server, Work { jobs: jobs_of_compiler, tasks: tasks_of_threads })
    }

    /// The answer to `initialize`.
    #[must_use]
    pub fn about(&self) -> Value {
        json!({
            "capabilities": requests::capabilities(&self.client),
            "serverInfo": { "name": "chancery", "version": env!("CARGO_PKG_VERSION") },
        })
    }

    /// Reads the client's folders and settings.
    pub fn start(&mut self, params: &Value) {
        let folders = params["workspaceFolders"].as_array().cloned().unwrap_or_default();
        let mut roots: Vec<PathBuf> = folders.iter().filter_map(|folder| path_of(folder["uri"].as_str()?)).collect();
        if roots.is_empty() {
            roots.extend(params["rootUri"].as_str().and_then(path_of));
        }
        roots.into_iter().for_each(|root| self.add_folder(root));
        if self.client.watches_files {
            let watchers = ["**/*.{yaml,yml,json,hcl}", "**/chancery.toml", "**/.gitignore"].map(|glob| json!({ "globPattern": glob }));
            let options = json!({ "watchers": watchers });
            let registration = json!({ "id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": options });
            self.ask("client/registerCapability", json!({ "registrations": [registration] }), None);
        }
        self.ask_for_settings();
        self.compile();
    }

    fn add_folder(&mut self, root: PathBuf) {
        if self.folders.iter().flatten().any(|folder| folder.root == root && !folder.is_file(&root)) {
            return;
        }
        self.push(Folder::read(root, &self.client.settings));
    }

    fn push(&mut self, folder: Folder) {
        if let Some(problem) = &folder.problem {
            self.show(problem);
        }
        self.folders.push(Some(folder));
        self.analyses.push((None, 0));
    }

    fn remove_folder(&mut self, at: usize) {
        if let Some(folder) = self.folders.get_mut(at) {
            *folder = None;
        }
        if let Some(analysis) = self.analyses.get_mut(at) {
            *analysis = (None, 0);
        }
        for message in self.published.forget(at) {
            self.send(message);
        }
    }

    /// Handles a message. Returns the exit code if the client exits.
    pub fn message(&mut self, message: Message) -> Option<u8> {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(notification) if notification.method == "exit" => return Some(u8::from(!self.is_shut_down)),
            Message::Notification(notification) => self.notification(notification),
            Message::Response(response) => self.response(&response),
        }
        None
    }

    fn request(&mut self, request: Request) {
        if self.is_shut_down {
            return self.refuse(request.id, ErrorCode::InvalidRequest, "The server is shut down");
        }
        if request.method == "shutdown" {
            self.is_shut_down = true;
            return self.send(Response::new_ok(request.id, Value::Null).into());
        }
        if !requests::is_known(&request.method) {
            let why = format!("There is no request `{}`", request.method);
            return self.refuse(request.id, ErrorCode::MethodNotFound, &why);
        }
        let uri = requests::uri_of(&request.params);
        let folder = match uri.as_deref().and_then(path_of) {
            Some(path) => self.folder_of(&path),
            None => None,
        };
        self.pending.push(Pending { request, uri, folder, is_started: false });
    }

    fn notification(&mut self, notification: Notification) {
        let params = notification.params;
        let document = &params["textDocument"];
        let uri = document["uri"].as_str().unwrap_or_default().to_string();
        match notification.method.as_str() {
            "$/cancelRequest" => self.cancel(&params["id"]),
            "textDocument/didOpen" => {
                let version = document["version"].as_i64().unwrap_or_default();
                Arc::make_mut(&mut self.documents).open(&uri, version, document["text"].as_str().unwrap_or_default());
                self.opened(&uri);
            }
            "textDocument/didChange" => {
                let version = document["version"].as_i64().unwrap_or_default();
                let changes: Vec<TextDocumentContentChangeEvent> = serde_json::from_value(params["contentChanges"].clone()).unwrap_or_default();
                let client = self.client.clone();
                if Arc::make_mut(&mut self.documents).change(&uri, version, changes, &client) {
                    self.changed(&uri);
                }
            }
            "textDocument/didClose" => self.closed(&uri),
            "textDocument/didSave" => {
                if let Some(path) = path_of(&uri) {
                    self.file_changed(&path);
                }
            }
            "workspace/didChangeWatchedFiles" => {
                let files: Vec<PathBuf> =
                    params["changes"].as_array().into_iter().flatten().filter_map(|change| path_of(change["uri"].as_str()?)).collect();
                files.iter().for_each(|path| self.file_changed(path));
            }
            "workspace/didChangeWorkspaceFolders" => self.folders_changed(&params["event"]),
            "workspace/didChangeConfiguration" => {
                let given = &params["settings"]["chancery"];
                if self.client.configuration { self.ask_for_settings() } else { self.settings_changed(given) }
            }
            _ => {}
        }
    }

    fn response(&mut self, response: &Response) {
        if response.id == RequestId::from(SETTINGS.to_string()) {
            let settings = response.response_result.as_ref().map(|result| result[0].clone()).unwrap_or_default();
            self.settings_changed(&settings);
        }
    }

    fn ask_for_settings(&mut self) {
        if self.client.configuration {
            self.ask("workspace/configuration", json!({ "items": [{ "section": "chancery" }] }), Some(SETTINGS));
        }
    }

    fn settings_changed(&mut self, settings: &Value) {
        let Some(settings) = ClientSettings::read(settings).filter(|settings| *settings != self.client.settings) else { return };
        Arc::make_mut(&mut self.client).settings = settings;
        let client = self.client.clone();
        let mut problems = Vec::new();
        for folder in self.folders.iter_mut().flatten() {
            folder.read_settings(&client.settings);
            folder.read_files();
            problems.extend(folder.problem.clone());
        }
        problems.iter().for_each(|problem| self.show(problem));
        self.published.force();
    }

    fn folders_changed(&mut self, event: &Value) {
        let roots = |list: &str| -> Vec<PathBuf> {
            event[list].as_array().into_iter().flatten().filter_map(|folder| path_of(folder["uri"].as_str()?)).collect()
        };
        for root in roots("removed") {
            let at = self.folders.iter().position(|folder| folder.as_ref().is_some_and(|folder| folder.root == root));
            at.into_iter().for_each(|at| self.remove_folder(at));
        }
        roots("added").into_iter().for_each(|root| self.add_folder(root));
    }

    /// The innermost folder that contains a file.
    fn folder_of(&self, path: &Path) -> Option<usize> {
        let all = self.folders.iter().enumerate().filter_map(|(at, folder)| Some((at, folder.as_ref()?)));
        let here = all.filter(|(_, folder)| folder.contains(path));
        here.max_by_key(|(_, folder)| folder.root.components().count()).map(|(at, _)| at)
    }

    fn opened(&mut self, uri: &str) {
        let Some(path) = path_of(uri) else { return };
        if self.folder_of(&path).is_none() {
            let folder = Folder::of_file(&path, &self.client.settings);
            self.push(folder);
        }
        let is_template = self.is_template(&path);
        let hint = self.published.hint_of_template(&path, is_template);
        hint.into_iter().for_each(|message| self.send(message));
        self.changed(uri);
    }

    fn is_template(&self, path: &Path) -> bool {
        self.folder_of(path).and_then(|at| self.folders.get(at)?.as_ref()).is_some_and(|folder| folder.is_template(path))
    }

    /// Notes that a document changed. Requests about its earlier text have no use.
    fn changed(&mut self, uri: &str) {
        if let Some(folder) = path_of(uri).and_then(|path| self.folder_of(&path)).and_then(|at| self.folders.get_mut(at)?.as_mut()) {
            folder.version += 1;
        }
        let is_outdated = |pending: &Pending| pending.uri.as_deref() == Some(uri) && requests::is_about_text(&pending.request.method);
        let (outdated, pending) = std::mem::take(&mut self.pending).into_iter().partition(is_outdated);
        self.pending = pending;
        let outdated: Vec<Pending> = outdated;
        for pending in outdated {
            self.refuse(pending.request.id, ErrorCode::ContentModified, "The document changed");
        }
    }

    fn closed(&mut self, uri: &str) {
        Arc::make_mut(&mut self.documents).close(uri);
        let Some(path) = path_of(uri) else { return };
        let Some(at) = self.folder_of(&path) else { return };
        let is_single = self.folders.get(at).and_then(Option::as_ref).is_some_and(|folder| folder.is_file(&path));
        if is_single {
            self.remove_folder(at);
        } else if let Some(folder) = self.folders.get_mut(at).and_then(Option::as_mut) {
            folder.close(&path);
        }
    }

    /// Reads all folders again.
    #[cfg(target_family = "wasm")]
    pub fn files_changed(&mut self) {
        let client = self.client.clone();
        for folder in self.folders.iter_mut().flatten() {
            folder.read_settings(&client.settings);
            folder.read_files();
        }
    }

    /// Reads a file again.
    pub fn file_changed(&mut self, path: &Path) {
        let is_settings = path.file_name().is_some_and(|name| name == chancery_workspace::settings::FILE);
        let is_list = path.file_name().is_some_and(|name| name == ".gitignore");
        let client = self.client.clone();
        let mut problems = Vec::new();
        for folder in self.folders.iter_mut().flatten() {
            if is_settings && (path.starts_with(&folder.root) || folder.root.starts_with(path.parent().unwrap_or(path))) {
                folder.read_settings(&client.settings);
                folder.read_files();
                problems.extend(folder.problem.clone());
            } else if is_list && path.starts_with(&folder.root) {
                folder.read_files();
            } else if folder.contains(path) {
                folder.read_file(path);
            }
        }
        problems.iter().for_each(|problem| self.show(problem));
    }

    fn cancel(&mut self, id: &Value) {
        let is_meant = |request: &RequestId| match id {
            Value::Number(number) => number.as_i64().and_then(|id| i32::try_from(id).ok()).is_some_and(|id| *request == RequestId::from(id)),
            Value::String(text) => *request == RequestId::from(text.clone()),
            _ => false,
        };
        if let Some(at) = self.pending.iter().position(|pending| is_meant(&pending.request.id)) {
            let pending = self.pending.remove(at);
            self.refuse(pending.request.id, ErrorCode::RequestCanceled, "The client cancelled the request");
        }
    }

    /// Hands changed folders to the compiler.
    pub fn compile(&mut self) {
        for (at, folder) in self.folders.iter_mut().enumerate() {
            let (Some(folder), Some((_, handed))) = (folder.as_mut(), self.analyses.get_mut(at)) else { continue };
            if *handed == folder.version {
                continue;
            }
            *handed = folder.version;
            let read = folder.collect(&self.documents);
            let (root, version, options) = (folder.root.clone(), folder.version, folder.options.clone());
            drop(self.jobs.send(Job { folder: at, root, version, inputs: read.inputs, paths: read.paths, options }));
        }
    }

    pub fn compiled(&mut self, done: Done) {
        let is_removed = self.folders.get(done.folder).is_none_or(Option::is_none);
        let Some((analysis, _)) = self.analyses.get_mut(done.folder).filter(|_| !is_removed) else { return };
        *analysis = Some(done.analysis.clone());
        if !self.client.pulls {
            let messages = self.published.publish(done.folder, &done.analysis, &self.client, &self.documents);
            messages.into_iter().for_each(|message| self.send(message));
        }
        self.start_requests();
        // Answers that depend on other files changed too.
        for (is_wanted, method) in [
            (self.client.refreshes_hints, "workspace/inlayHint/refresh"),
            (self.client.refreshes_lenses, "workspace/codeLens/refresh"),
            (self.client.refreshes_diagnostics && self.client.pulls, "workspace/diagnostic/refresh"),
        ] {
            if is_wanted && self.is_current(Some(done.folder)) {
                self.ask(method, Value::Null, None);
            }
        }
    }

    /// Whether the last compile is of the newest input.
    fn is_current(&self, folder: Option<usize>) -> bool {
        let is_current = |at: usize| match (self.folders.get(at).and_then(Option::as_ref), self.analyses.get(at)) {
            (Some(folder), Some((Some(analysis), _))) => analysis.version == folder.version,
            (Some(_), _) => false,
            (None, _) => true,
        };
        match folder {
            Some(at) => is_current(at),
            None => (0..self.folders.len()).all(is_current),
        }
    }

    /// Hands requests to threads once their folders are compiled.
    pub fn start_requests(&mut self) {
        for at in 0..self.pending.len() {
            let Some(pending) = self.pending.get(at).filter(|pending| !pending.is_started) else { continue };
            // Completion reads the text itself, and only names of the last compile.
            let may_be_old = requests::may_be_old(&pending.request.method) && self.has_analysis(pending.folder);
            if !may_be_old && !self.is_current(pending.folder) {
                continue;
            }
            let (id, method, params) = (pending.request.id.clone(), pending.request.method.clone(), pending.request.params.clone());
            let context = self.context(pending.folder, pending.uri.as_deref());
            let task: Task = Box::new(move || {
                let response = match requests::answer(&context, &method, params) {
                    Ok(value) => Response::new_ok(id.clone(), value),
                    Err(why) => Response::new_err(id.clone(), ErrorCode::RequestFailed as i32, why.0),
                };
                (id, response)
            });
            if self.tasks.send(task).is_ok()
                && let Some(pending) = self.pending.get_mut(at)
            {
                pending.is_started = true;
            }
        }
    }

    fn has_analysis(&self, folder: Option<usize>) -> bool {
        folder.and_then(|at| self.analyses.get(at)).is_some_and(|(analysis, _)| analysis.is_some())
    }

    fn context(&self, folder: Option<usize>, uri: Option<&str>) -> Context {
        let all: Vec<Arc<Analysis>> = self.analyses.iter().filter_map(|(analysis, _)| analysis.clone()).collect();
        let analysis = match folder {
            Some(at) => self.analyses.get(at).and_then(|(analysis, _)| analysis.clone()),
            None => all.first().cloned(),
        };
        let settings = match folder.or_else(|| self.folders.iter().position(Option::is_some)) {
            Some(at) => self.folders.get(at).and_then(Option::as_ref).map(|folder| folder.settings.clone()).unwrap_or_default(),
            None => Settings::default(),
        };
        let is_template = uri.and_then(path_of).is_some_and(|path| self.is_template(&path));
        Context { client: self.client.clone(), analysis, all, documents: self.documents.clone(), settings: Arc::new(settings), is_template }
    }

    /// Sends an answer, unless the request was cancelled or its document changed.
    pub fn answered(&mut self, id: &RequestId, response: Response) {
        if let Some(at) = self.pending.iter().position(|pending| pending.request.id == *id) {
            self.pending.remove(at);
            self.send(response.into());
        }
    }

    fn refuse(&self, id: RequestId, code: ErrorCode, why: &str) {
        self.send(Response::new_err(id, code as i32, why.into()).into());
    }

    fn show(&self, problem: &str) {
        self.send(Notification::new("window/showMessage".into(), json!({ "type": 2, "message": format!("Chancery: {problem}") })).into());
    }

    fn ask(&mut self, method: &str, params: Value, id: Option<&str>) {
        self.asked += 1;
        let id = id.map_or_else(|| RequestId::from(self.asked), |id| RequestId::from(id.to_string()));
        self.send(Request::new(id, method.into(), params).into());
    }

    fn send(&self, message: Message) {
        // A client that is gone needs no message.
        drop(self.sender.send(message));
    }
}
