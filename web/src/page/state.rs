//! The page's whole state, and actions that concern several parts of it.
//!
//! Each part has its own module: `screen`, `workspace`, `engine`, `selection`, `requests`, `compare` and `browser_storage`. None of them knows this module.

use crate::address::{self, Address};
use crate::bridge;
use crate::browser_storage::{Arrival, BrowserStorage};
use crate::compare::Compare;
use crate::engine::Engine;
use crate::examples::{self, Example};
use crate::host::live::Live;
use crate::ledger::Ledger;
use crate::link::{Silence, ask};
use crate::play::Play;
use crate::requests::Requests;
use crate::screen::Screen;
use crate::selection::Selection;
use crate::storage::{self, Session};
use crate::view::{Overlay, View};
use crate::workspace::Workspace;
use chancery_web::protocol::{Doc, Opened, Question, SavedRequest, SourceFile, Which, Work};
use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// The page's state. Copies share it.
#[derive(Clone, Copy)]
pub struct App {
    pub screen: Screen,
    pub workspace: Workspace,
    pub engine: Engine,
    pub selection: Selection,
    pub requests: Requests,
    pub play: Play,
    pub ledger: Ledger,
    pub compare: Compare,
    pub browser_storage: BrowserStorage,
    pub live: Live,
    /// The exported work in the address, until it is opened.
    shared: StoredValue<Option<String>>,
}

impl App {
    /// The page with its first files.
    pub fn new(address: &Address) -> Self {
        let asked = address.example.as_deref().and_then(examples::named);
        let kept = storage::work().filter(|kept| asked.is_none() && address.embed.is_none() && !kept.work.files.is_empty());
        let usual = || examples::named(examples::FIRST).or(examples::ALL.first());
        let first = asked.or_else(|| usual().filter(|_| !address.awaits_files));
        let session = kept.unwrap_or_else(|| Session::now(first.map(Example::work).unwrap_or_default(), Vec::new()));
        let screen = Screen::new(address);
        let workspace = Workspace::new(session.work);
        let engine = Engine::new(workspace, screen);
        let requests = Requests::new(session.requests, engine, screen);
        let compare = Compare::new(workspace, engine);
        Self {
            screen,
            workspace,
            engine,
            selection: Selection::new(workspace, engine, screen),
            requests,
            play: Play::new(requests, workspace),
            ledger: Ledger::new(engine),
            compare,
            browser_storage: BrowserStorage::new(workspace, requests, compare, screen),
            live: Live::new(workspace, engine, screen, compare, requests),
            shared: StoredValue::new(address.shared.clone()),
        }
    }

    /// Opens the work in the address, or compiles the first files.
    pub fn begin(self) {
        match self.shared.get_value() {
            Some(link) => self.open(link),
            // The surrounding page will send files.
            None if self.workspace.files.with_untracked(Vec::is_empty) => {}
            None => self.show_and_compile(),
        }
        self.live.begin();
        // Stores changes in a pause.
        Effect::new(move |_| {
            self.requests.saved.track();
            if self.engine.generation.get() == 0 {
                return;
            }
            if self.engine.generation.get_untracked() == 1 && self.workspace.is_untouched() {
                self.show_mistake();
            }
            // Followed files are stored elsewhere.
            if !self.live.is_on_untracked() {
                self.browser_storage.changed();
                // When the user leaves the page, the worker has no time left to remove secrets.
                if let Some(files) = self.engine.compiled.with_untracked(|compiled| compiled.kept.clone()) {
                    self.browser_storage.keep_files(files);
                }
            }
            self.engine.in_a_pause(move || {
                self.browser_storage.leave();
                self.selection.refresh();
            });
        });
    }

    /// Scrolls to the mistake of an example.
    fn show_mistake(self) {
        let span = self.engine.compiled.with_untracked(|compiled| compiled.findings.iter().find_map(|finding| finding.span.clone()));
        if let Some(span) = span.filter(|_| self.screen.embedded.is_none()) {
            bridge::go(span.line, span.column, false);
        }
    }

    fn show_and_compile(self) {
        self.workspace.show_active();
        self.engine.compile();
    }

    /// Imports a link, its fragment or an exported file.
    pub fn open(self, text: String) {
        spawn_local(async move {
            match ask::<Opened>(Question::Open(text)).await {
                Ok(opened) => {
                    self.browser_storage.put_aside();
                    let address = address::read();
                    let work = Work { dialect: opened.work.dialect.or(address.dialect), ..opened.work };
                    self.load(work, opened.requests);
                    self.screen.overlay.set(None);
                    if let Some(view) = address.view {
                        self.screen.show(view);
                    }
                    return;
                }
                Err(Silence::Refused(why)) => self.screen.say(why),
                Err(Silence::Ended) => {}
            }
            if self.engine.generation.get_untracked() == 0 {
                self.show_and_compile();
            }
        });
    }

    /// Updates the text of a file.
    pub fn edited(self, name: &str, text: String) {
        self.live.edited(name, &text);
        self.workspace.edited(name, text);
        self.browser_storage.arrival.set(None);
        address::forget_shared();
        self.engine.compile();
    }

    pub fn load(self, work: Work, requests: Vec<SavedRequest>) {
        self.selection.forget();
        self.workspace.load(work);
        self.requests.load(requests);
        self.browser_storage.arrival.set(None);
        self.engine.compile();
    }

    /// Opens new files: they replace an unchanged example, even if requests were kept, and otherwise join the open files.
    pub fn bring(self, files: Vec<SourceFile>, unread: Vec<String>) {
        let before = self.browser_storage.session();
        if self.workspace.is_untouched() {
            address::forget_shared();
            self.load(self.workspace.anew(files), Vec::new());
        } else {
            self.detect_anew();
            self.workspace.add(files);
            self.engine.compile();
        }
        self.screen.writing.set(true);
        self.browser_storage.arrival.set(Some(Arrival { before, cleared: false, unread }));
    }

    /// Prepares for replacing the text of the shown file.
    pub fn replaced(self) {
        let before = self.browser_storage.session();
        self.detect_anew();
        self.selection.forget();
        // The editor reports the edit at once. The notice must follow it.
        Timeout::new(0, move || self.browser_storage.arrival.set(Some(Arrival { before, cleared: false, unread: Vec::new() }))).forget();
    }

    /// Lets the next compile detect the dialect, unless the user chose it.
    fn detect_anew(self) {
        self.workspace.dialect.set(self.workspace.chosen_dialect());
        self.workspace.gateway.set(None);
    }

    /// Compiles as a chosen dialect, or detects it again.
    pub fn read_as(self, dialect: Option<String>) {
        self.workspace.chosen.set(dialect.is_some());
        self.workspace.dialect.set(dialect);
        self.engine.compile();
    }

    /// Switches to a gateway and then runs a function. `None` means the shown gateway.
    pub fn in_gateway(self, gateway: Option<Which>, act: impl FnOnce() + 'static) {
        match gateway {
            None => act(),
            Some(Which { dialect, id }) => {
                self.workspace.dialect.set(Some(dialect));
                self.workspace.gateway.set(Some(id));
                self.engine.compile_then(act);
            }
        }
    }

    /// Clears everything. The user can undo it.
    pub fn clear(self) {
        self.browser_storage.put_aside();
        let before = self.browser_storage.session();
        self.load(self.workspace.anew(Vec::new()), Vec::new());
        self.browser_storage.arrival.set(Some(Arrival { before, cleared: true, unread: Vec::new() }));
    }

    /// Restores the work before the last arrival.
    pub fn undo(self) {
        if let Some(Arrival { before, .. }) = self.browser_storage.arrival.get_untracked() {
            self.load(before.work, before.requests);
        }
    }

    /// Opens an example. The user's own work can be restored.
    pub fn load_example(self, example: &Example) {
        let (before, is_own) = (self.browser_storage.session(), !self.workspace.is_untouched());
        self.browser_storage.put_aside();
        self.load(example.work(), Vec::new());
        self.screen.overlay.set(None);
        if is_own {
            self.browser_storage.arrival.set(Some(Arrival { before, cleared: false, unread: Vec::new() }));
        }
    }

    pub fn add_file(self) {
        self.workspace.add(vec![SourceFile { name: "more.yaml".into(), text: "".into() }]);
        self.engine.compile();
    }

    pub fn close(self, at: usize) {
        self.workspace.close(at);
        self.engine.compile();
    }

    /// Compares with a text.
    pub fn compare_with(self, text: String) {
        self.compare.take(text);
        self.screen.show(View::Compare);
    }

    /// Simulates the request of a `curl` command.
    pub fn try_curl(self, command: String) {
        self.requests.take_curl(command);
        self.screen.show(View::Try);
    }

    /// Plays the request on the graph.
    pub fn play(self) {
        if self.play.stops.with_untracked(Vec::is_empty) {
            return self.screen.say("There is no request to play yet");
        }
        self.selection.release();
        self.screen.show(View::Graph);
        self.play.start();
    }

    /// Shows the documentation of a finding code.
    pub fn open_page(self, code: String) {
        spawn_local(async move {
            if let Ok(Some(text)) = ask::<Option<String>>(Question::CodePage(code.clone())).await {
                self.screen.lay_over(Overlay::Page { code, text });
            }
        });
    }

    /// Copies a document.
    pub fn copy_document(self, doc: Doc, yaml: bool) {
        spawn_local(async move {
            if let Ok(text) = ask::<String>(Question::Text { doc, yaml }).await {
                self.screen.copy(&text, "The document");
            }
        });
    }

    /// Saves the bootstrap as a file.
    pub fn save_bootstrap(self) {
        spawn_local(async move {
            match ask::<String>(Question::Text { doc: Doc::Envoy, yaml: true }).await {
                Ok(text) => bridge::save("envoy.yaml", "application/yaml", &text),
                Err(Silence::Refused(why)) => self.screen.say(why),
                Err(Silence::Ended) => {}
            }
        });
    }
}
