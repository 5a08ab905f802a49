//! What the page knows, and what can be done with it.
//!
//! What must not be here: how anything looks.

use crate::address::{self, Address};
use crate::compare::Compare;
use crate::editor;
use crate::examples::{self, Example};
use crate::link::{self, Silence, ask};
use crate::requests::Requests;
use crate::storage::{self, Session};
use chancery_web::protocol::{Compiled, Doc, Finding, Fix, Kept, Opened, Question, SavedRequest, SourceFile, Span, Target, Thread, Work};
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::time::Duration;

/// A compile that takes longer than this is ended.
const LIMIT: Duration = Duration::from_secs(10);

/// So long nothing must have been compiled for a pause.
const PAUSE: Duration = Duration::from_millis(200);

/// A compile that takes longer than this is told of.
const SLOW: Duration = Duration::from_millis(300);

/// The views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// What refers to what.
    Graph,
    /// What Envoy does with requests, in order.
    Routes,
    /// The bootstrap.
    Envoy,
    /// The stages before it.
    Ir,
    /// What is wrong, and what had no effect.
    Findings,
    /// What becomes of a request.
    Try,
    /// What differs from another state.
    Compare,
}

impl View {
    /// All of them, in the order of their tabs.
    pub const ALL: [View; 7] = [View::Graph, View::Routes, View::Envoy, View::Ir, View::Findings, View::Try, View::Compare];

    /// What the tab says.
    pub fn label(self) -> &'static str {
        match self {
            View::Graph => "Graph",
            View::Routes => "Routes",
            View::Envoy => "Envoy",
            View::Ir => "IR",
            View::Findings => "Findings",
            View::Try => "Try",
            View::Compare => "Compare",
        }
    }

    /// The word in addresses.
    pub fn name(self) -> &'static str {
        match self {
            View::Graph => "graph",
            View::Routes => "routes",
            View::Envoy => "envoy",
            View::Ir => "ir",
            View::Findings => "findings",
            View::Try => "try",
            View::Compare => "compare",
        }
    }
}

/// What lies over the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Overlay {
    /// The examples.
    Gallery,
    /// The keys.
    Help,
    /// Work that was put aside.
    Sessions,
    /// The work as a link or a file.
    Share,
    /// Search for anything, and commands.
    Palette,
    /// The page of a code.
    Page {
        /// The code.
        code: String,
        /// Markdown.
        text: String,
    },
}

/// How the worker fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing to do.
    Idle,
    /// It works, and it takes a while.
    Slow,
    /// It took too long and was ended.
    Ended,
}

/// Everything that the page knows. Copies are the same page.
#[derive(Clone, Copy)]
pub struct App {
    /// The files.
    pub files: RwSignal<Vec<SourceFile>>,
    /// Which of them is shown.
    pub active: RwSignal<usize>,
    /// The dialect, if the person chose one.
    pub dialect: RwSignal<Option<String>>,
    /// The gateway, if the person chose one of several.
    pub gateway: RwSignal<Option<String>>,
    /// Options besides, as a snapshot or an example brought them.
    pub options: RwSignal<Option<serde_json::Value>>,
    /// The work as it was opened.
    pub opened: RwSignal<Work>,
    /// Requests that are tried.
    pub requests: Requests,
    /// What is compared with.
    pub compare: Compare,
    /// The last compile.
    pub compiled: RwSignal<Compiled>,
    /// Grows with each compile.
    pub generation: RwSignal<u32>,
    /// Which view is shown.
    pub view: RwSignal<View>,
    /// What is selected.
    pub target: RwSignal<Option<Target>>,
    /// And all that belongs to it.
    pub thread: RwSignal<Option<Thread>>,
    /// What lies over the page.
    pub overlay: RwSignal<Option<Overlay>>,
    /// How the worker fares.
    pub work: RwSignal<Progress>,
    /// `light`, `dark`, or nothing for the system's.
    pub theme: RwSignal<Option<String>>,
    /// The width of the editor, in per cent.
    pub split: RwSignal<f64>,
    /// Whether the page stands in another one, and whether the editor is left out.
    pub embedded: Option<bool>,
    /// On a narrow page: whether the editor is shown rather than a view.
    pub writing: RwSignal<bool>,
    /// A word that is shown for a moment.
    pub toast: RwSignal<Option<String>>,
    /// What was there before everything was cleared.
    pub cleared: RwSignal<Option<Session>>,
    /// Whether the text cannot be changed.
    pub read_only: bool,
    /// What the address brought, until it is opened.
    shared: StoredValue<Option<String>>,
    /// Whether there is work that is not kept yet.
    unkept: StoredValue<bool>,
    /// Whether a compile is under way, and whether another is due.
    compiling: StoredValue<(bool, bool)>,
    /// Selections before and after the present one.
    past: StoredValue<(Vec<Target>, Vec<Target>)>,
}

impl App {
    /// A page with its first files.
    pub fn new(address: &Address) -> Self {
        let (settings, asked) = (storage::settings(), address.example.as_deref().and_then(examples::named));
        let kept = storage::work().filter(|_| asked.is_none() && address.embed.is_none());
        let first = asked.or(examples::named(examples::FIRST)).or(examples::ALL.first());
        let kept = kept.filter(|kept| !kept.work.files.is_empty());
        let Session { work, requests, .. } = kept.unwrap_or_else(|| Session::now(first.map(Example::work).unwrap_or_default(), Vec::new()));
        Self {
            files: RwSignal::new(work.files.clone()),
            active: RwSignal::new(0),
            dialect: RwSignal::new(work.dialect.clone()),
            gateway: RwSignal::new(work.gateway.clone()),
            options: RwSignal::new(work.options.clone()),
            opened: RwSignal::new(work),
            requests: Requests::new(requests),
            compare: Compare::new(),
            compiled: RwSignal::new(Compiled::default()),
            generation: RwSignal::new(0),
            view: RwSignal::new(address.view.unwrap_or(View::Graph)),
            target: RwSignal::new(None),
            thread: RwSignal::new(None),
            overlay: RwSignal::new(None),
            work: RwSignal::new(Progress::Idle),
            theme: RwSignal::new(address.theme.clone().or(settings.theme)),
            split: RwSignal::new(settings.split),
            embedded: address.embed.as_ref().map(|view| view != "all"),
            writing: RwSignal::new(address.embed.is_none()),
            toast: RwSignal::new(None),
            cleared: RwSignal::new(None),
            read_only: address.read_only,
            shared: StoredValue::new(address.shared.clone()),
            unkept: StoredValue::new(false),
            compiling: StoredValue::new((false, false)),
            past: StoredValue::new((Vec::new(), Vec::new())),
        }
    }

    /// Begins: with what the address brought, or with what is there.
    pub fn begin(self) {
        match self.shared.get_value() {
            Some(link) => self.open(link),
            None => {
                self.show_active();
                self.compile();
            }
        }
    }

    /// Opens a link, its fragment or the text of a snapshot.
    pub fn open(self, text: String) {
        spawn_local(async move {
            match ask::<Opened>(Question::Open(text)).await {
                Ok(opened) => {
                    self.put_aside();
                    self.load(opened.work, opened.requests);
                    self.overlay.set(None);
                    if let Some(view) = address::read().view {
                        self.show(view);
                    }
                    return;
                }
                Err(Silence::Refused(why)) => self.say(why),
                Err(Silence::Ended) => {}
            }
            if self.generation.get_untracked() == 0 {
                self.show_active();
                self.compile();
            }
        });
    }

    /// Shows a view.
    pub fn show(self, view: View) {
        self.view.set(view);
        self.writing.set(false);
    }

    /// The work as it stands.
    pub fn work(self) -> Work {
        Work {
            files: self.files.get_untracked(),
            dialect: self.dialect.get_untracked(),
            options: self.options.get_untracked(),
            gateway: self.gateway.get_untracked(),
        }
    }

    /// The same with the requests that were kept.
    pub fn session(self) -> Session {
        Session::now(self.work(), self.requests.saved.get_untracked())
    }

    /// Keeps the work where a reload finds it.
    pub fn keep(self) {
        self.unkept.set_value(false);
        if self.embedded.is_none() {
            self.kept_as(self.session(), |session| storage::keep_work(&session));
        }
    }

    /// Hands a session on as the browser may keep it: without what may be secret.
    fn kept_as(self, session: Session, keep: impl FnOnce(Session) + 'static) {
        let Session { when, work, requests } = session;
        spawn_local(async move {
            if let Ok(Kept { work, requests }) = ask::<Kept>(Question::Keep(Kept { work, requests })).await {
                keep(Session { when, work, requests });
            }
        });
    }

    /// Keeps what is not kept yet: the page may be left while one writes.
    pub fn leave(self) {
        if self.unkept.get_value() {
            self.keep();
        }
    }

    /// Pins the state, to compare with.
    pub fn pin(self) {
        self.compare.pin(self.work());
        self.kept_as(self.session(), |session| storage::keep_pinned(&session.work));
        self.say("This state is pinned: Compare tells what changes from here");
    }

    /// Shows the file of the active tab in the editor.
    pub fn show_active(self) {
        let file = self.files.with_untracked(|files| files.get(self.active.get_untracked()).cloned()).unwrap_or_default();
        editor::show(&file.name, &file.text);
        self.thread.with_untracked(|thread| {
            if let Some(thread) = thread {
                editor::set_thread(&thread.spans, false);
            }
        });
    }

    /// The text of a file changed.
    pub fn edited(self, name: &str, text: String) {
        self.files.update(|files| {
            if let Some(file) = files.iter_mut().find(|file| file.name == name) {
                file.text = text;
            }
        });
        address::forget_shared();
        self.compile();
    }

    /// Compiles what there is now. Of those asked for while one is under way, only the last is done.
    pub fn compile(self) {
        let (busy, _) = self.compiling.get_value();
        self.compiling.set_value((true, busy));
        if busy {
            return;
        }
        spawn_local(async move {
            loop {
                self.compiling.set_value((true, false));
                let started = self.generation.get_untracked();
                let waiting = move || self.generation.get_untracked() == started && self.compiling.get_value().0;
                set_timeout(
                    move || {
                        if waiting() {
                            self.work.set(Progress::Slow)
                        }
                    },
                    SLOW,
                );
                let limit = set_timeout_with_handle(
                    move || {
                        if waiting() {
                            link::end()
                        }
                    },
                    LIMIT,
                )
                .ok();
                let answer = ask::<Compiled>(Question::Compile(self.work())).await;
                if let Some(limit) = limit {
                    limit.clear();
                }
                match answer {
                    Ok(compiled) => self.compiled_anew(compiled),
                    Err(Silence::Ended) => self.work.set(Progress::Ended),
                    Err(Silence::Refused(why)) => self.say(why),
                }
                if !self.compiling.get_value().1 {
                    break;
                }
            }
            self.compiling.set_value((false, false));
        });
    }

    fn compiled_anew(self, compiled: Compiled) {
        self.work.set(Progress::Idle);
        let shown: Vec<&Finding> = compiled.findings.iter().filter(|finding| finding.span.is_some()).collect();
        editor::set_findings(&serde_json::to_string(&shown).unwrap_or_default());
        self.compiled.set(compiled);
        self.generation.update(|generation| *generation += 1);
        self.unkept.set_value(true);
        self.in_a_pause(move || {
            self.keep();
            if let Some(target) = self.target.get_untracked() {
                self.follow(target, false);
            }
        });
    }

    /// Asks for what who is still writing need not have at every keystroke, and what would keep them waiting: at once after the first compile,
    /// else when nothing was compiled for a moment, and nothing is being compiled.
    pub fn in_a_pause(self, act: impl FnOnce() + 'static) {
        let generation = self.generation.get_untracked();
        let act = move || {
            let busy = self.compiling.try_get_value().is_none_or(|(busy, _)| busy);
            if self.generation.try_get_untracked() == Some(generation) && !busy {
                act();
            }
        };
        set_timeout(act, if generation <= 1 { Duration::ZERO } else { PAUSE });
    }

    /// The cursor went to a line.
    pub fn cursor(self, file: String, line: u32) {
        self.remember(Target::Line { file: file.clone(), line });
        self.follow(Target::Line { file, line }, false);
    }

    /// Selects something, and shows the line that made it.
    pub fn select(self, target: Target) {
        self.remember(target.clone());
        self.follow(target, true);
    }

    fn remember(self, target: Target) {
        if let Some(before) = self.target.get_untracked().filter(|before| *before != target) {
            self.past.update_value(|(past, future)| {
                past.push(before);
                future.clear();
            });
        }
        self.target.set(Some(target));
    }

    fn follow(self, target: Target, jump: bool) {
        spawn_local(async move {
            let Ok(thread) = ask::<Thread>(Question::Select(target.clone())).await else { return };
            // Something else was selected meanwhile.
            if self.target.get_untracked().as_ref() != Some(&target) {
                return;
            }
            if jump && let Some(span) = thread.spans.first() {
                self.open_file(&span.file);
            }
            editor::set_thread(&thread.spans, jump);
            self.thread.set(Some(thread));
        });
    }

    /// Lets the selection go.
    pub fn release(self) {
        self.target.set(None);
        self.thread.set(None);
        editor::set_thread(&[], false);
        spawn_local(async move {
            let _ = ask::<Thread>(Question::Release).await;
            self.generation.update(|generation| *generation += 1);
        });
    }

    /// Walks the selections.
    pub fn walk(self, back: bool) {
        let Some(now) = self.target.get_untracked() else { return };
        let mut next = None;
        self.past.update_value(|(past, future)| {
            let (from, to) = if back { (past, future) } else { (future, past) };
            next = from.pop();
            if next.is_some() {
                to.push(now);
            }
        });
        if let Some(target) = next {
            self.target.set(Some(target.clone()));
            self.follow(target, true);
        }
    }

    /// Shows a file's tab.
    pub fn open_file(self, name: &str) {
        let at = self.files.with_untracked(|files| files.iter().position(|file| file.name == name));
        if let Some(at) = at.filter(|at| *at != self.active.get_untracked()) {
            self.active.set(at);
            self.show_active();
        }
    }

    /// Goes to a place in the text, and selects its line.
    pub fn go(self, span: &Span) {
        self.open_file(&span.file);
        self.writing.set(true);
        editor::go(span.line, span.column);
        self.cursor(span.file.clone(), span.line);
    }

    /// Applies the fix of a finding.
    pub fn fix(self, fix: &Fix) {
        self.open_file(&fix.span.file);
        editor::fix(&serde_json::to_string(fix).unwrap_or_default());
    }

    /// Replaces the work.
    pub fn load(self, work: Work, requests: Vec<SavedRequest>) {
        self.files.with_untracked(|before| before.iter().for_each(|file| editor::forget(&file.name)));
        self.opened.set(work.clone());
        self.dialect.set(work.dialect);
        self.gateway.set(work.gateway);
        self.options.set(work.options);
        self.files.set(if work.files.is_empty() { vec![SourceFile { name: "gateway.yaml".into(), text: String::new() }] } else { work.files });
        self.requests.load(requests);
        self.active.set(0);
        self.target.set(None);
        self.thread.set(None);
        self.show_active();
        self.compile();
    }

    /// Puts the work aside, unless it is an example as it came.
    pub fn put_aside(self) {
        let session = self.session();
        if !examples::ALL.iter().any(|example| example.work().files == session.work.files) || !session.requests.is_empty() {
            self.kept_as(session, storage::put_aside);
        }
    }

    /// Starts anew with nothing; what was there can be brought back.
    pub fn clear(self) {
        self.put_aside();
        self.cleared.set(Some(self.session()));
        self.load(Work { dialect: self.dialect.get_untracked(), ..Work::default() }, Vec::new());
        address::forget_shared();
        self.say("Everything is cleared");
    }

    /// Brings back what was cleared.
    pub fn bring_back(self) {
        if let Some(session) = self.cleared.get_untracked() {
            self.cleared.set(None);
            self.toast.set(None);
            self.load(session.work, session.requests);
        }
    }

    /// Shows an example.
    pub fn load_example(self, example: &Example) {
        self.put_aside();
        address::forget_shared();
        self.load(example.work(), Vec::new());
        self.overlay.set(None);
    }

    /// Adds files, under names of their own.
    pub fn add(self, more: Vec<SourceFile>) {
        let Some(last) = more.len().checked_sub(1) else { return };
        let mut at = 0;
        self.files.update(|files| {
            for mut file in more {
                let (stem, ending) =
                    file.name.rsplit_once('.').map_or((file.name.clone(), String::new()), |(stem, ending)| (stem.into(), format!(".{ending}")));
                let mut number = 2;
                while files.iter().any(|known| known.name == file.name) {
                    file.name = format!("{stem}-{number}{ending}");
                    number += 1;
                }
                files.push(file);
            }
            at = files.len() - 1 - last;
        });
        self.active.set(at);
        self.show_active();
        self.compile();
    }

    /// Closes a file; the last one becomes empty.
    pub fn close(self, at: usize) {
        self.files.update(|files| {
            if at < files.len() {
                editor::forget(&files.remove(at).name);
            }
            if files.is_empty() {
                files.push(SourceFile { name: "gateway.yaml".into(), text: String::new() });
            }
        });
        let count = self.files.with_untracked(Vec::len);
        self.active.update(|active| *active = if *active > at { *active - 1 } else { (*active).min(count - 1) });
        self.show_active();
        self.compile();
    }

    /// Shows the page of a code.
    pub fn open_page(self, code: String) {
        spawn_local(async move {
            if let Ok(text) = ask::<String>(Question::Page { code: code.clone() }).await {
                self.overlay.set(Some(Overlay::Page { code, text }));
            }
        });
    }

    /// Shows a word for a moment.
    pub fn say(self, word: impl Into<String>) {
        let word = word.into();
        self.toast.set(Some(word.clone()));
        set_timeout(
            move || {
                if self.toast.get_untracked().as_ref() == Some(&word) {
                    self.toast.set(None);
                }
            },
            Duration::from_secs(6),
        );
    }

    /// Puts text where it can be pasted from.
    pub fn copy(self, text: &str, what: &'static str) {
        let promise = window().navigator().clipboard().write_text(text);
        spawn_local(async move {
            match wasm_bindgen_futures::JsFuture::from(promise).await {
                Ok(_) => self.say(format!("{what} is copied")),
                Err(_) => self.say("The browser did not let this page copy"),
            }
        });
    }

    /// Copies a document as text.
    pub fn copy_document(self, doc: Doc, yaml: bool) {
        spawn_local(async move {
            if let Ok(text) = ask::<String>(Question::Text { doc, yaml }).await {
                self.copy(&text, "The document");
            }
        });
    }

    /// Hands the bootstrap to the person as a file.
    pub fn save_bootstrap(self) {
        spawn_local(async move {
            match ask::<String>(Question::Text { doc: Doc::Envoy, yaml: true }).await {
                Ok(text) => crate::files::save("envoy.yaml", "application/yaml", &text),
                Err(Silence::Refused(why)) => self.say(why),
                Err(Silence::Ended) => {}
            }
        });
    }

    /// Steps through findings.
    pub fn step(self, forward: bool) {
        let spans: Vec<Span> = self.compiled.with_untracked(|compiled| compiled.findings.iter().filter_map(|finding| finding.span.clone()).collect());
        let Some(Target::Line { file, line }) = self.target.get_untracked() else {
            if let Some(span) = spans.first() {
                self.go(span);
            }
            return;
        };
        let at = spans.iter().position(|span| span.file == file && span.line == line);
        let next = match (at, forward) {
            (Some(at), true) => (at + 1) % spans.len().max(1),
            (Some(at), false) => (at + spans.len() - 1) % spans.len().max(1),
            (None, _) => 0,
        };
        if let Some(span) = spans.get(next) {
            self.go(span);
        }
    }
}
