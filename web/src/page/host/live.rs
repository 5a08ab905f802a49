//! The live inputs: the host's files, the user's changes to them, and events.
//!
//! Applies the host's changes at once, unless the user froze the page or changed the same file. Then the page keeps both versions until the user
//! decides. Does not compile; see `engine`.

use super::history::{History, Undo};
use super::message::{About, Change, Context, Envoy, Happened, Message, Saved, Source, Text};
use super::running::Running;
use super::{Host, call, listen};
use crate::compare::Compare;
use crate::engine::Engine;
use crate::requests::Requests;
use crate::screen::Screen;
use crate::view::Overlay;
use crate::workspace::Workspace;
use chancery_web::protocol::{Call, EnvoyAt, SourceFile, Work, WrittenRequest};
use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The largest number of events in the timeline.
const MOST_HAPPENED: usize = 300;
/// The previous inputs are cleared if no new inputs arrive within this many milliseconds.
const SOON: u32 = 500;
/// A draft is sent after this many milliseconds without typing.
const PAUSE: u32 = 250;

/// A file as the host knows it.
#[derive(Clone, Default)]
struct Base {
    text: Arc<str>,
    hidden: bool,
}

/// How the page's file differs from the host's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalChange {
    /// The user changed it.
    Changed,
    /// The user changed it, and so did another program.
    Conflict,
}

/// An entry of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub number: u32,
    pub happened: Happened,
    /// The number of the change to the inputs that belongs to it.
    pub change: Option<u32>,
}

/// The live inputs. Copies share them.
#[derive(Clone, Copy)]
pub struct Live {
    pub host: Host,
    /// The followed inputs.
    pub about: RwSignal<About>,
    /// Why the connection to the host is interrupted; empty while it works.
    pub silence: RwSignal<String>,
    /// The state of each source.
    pub sources: RwSignal<Vec<Source>>,
    /// Running Envoys, including those that other programs configure.
    pub running: Running,
    /// The connected Envoys.
    pub envoys: RwSignal<Vec<Envoy>>,
    /// The events, newest first.
    pub timeline: RwSignal<Vec<Line>>,
    /// Files that differ from the host's files.
    pub changed: RwSignal<BTreeMap<String, LocalChange>>,
    /// While the page is frozen: the inputs that changed since.
    pub frozen: RwSignal<Option<BTreeSet<String>>>,
    /// The contexts of the kubeconfig, or why they are unknown.
    pub contexts: RwSignal<Option<Result<Vec<Context>, String>>>,
    /// Whether the user waits for a call.
    pub busy: RwSignal<bool>,
    workspace: Workspace,
    engine: Engine,
    screen: Screen,
    compare: Compare,
    requests: Requests,
    bases: StoredValue<BTreeMap<String, Base>>,
    /// The received parts of an incomplete change.
    parts: StoredValue<Option<Change>>,
    /// Changes that wait until the page is no longer frozen.
    waiting: StoredValue<Vec<Change>>,
    history: StoredValue<History>,
    /// The number of the last change, until an event refers to it.
    last_change: StoredValue<Option<u32>>,
    lines: StoredValue<u32>,
    /// How often a draft of each file was scheduled.
    drafts: StoredValue<BTreeMap<String, u32>>,
}

impl Live {
    pub fn new(workspace: Workspace, engine: Engine, screen: Screen, compare: Compare, requests: Requests) -> Self {
        let host = if screen.embedded.is_some() { Host::None } else { Host::find() };
        Self {
            host,
            about: RwSignal::default(),
            silence: RwSignal::new("connecting".into()),
            sources: RwSignal::default(),
            running: Running::new(),
            envoys: RwSignal::default(),
            timeline: RwSignal::default(),
            changed: RwSignal::default(),
            frozen: RwSignal::new(None),
            contexts: RwSignal::new(None),
            busy: RwSignal::new(false),
            workspace,
            engine,
            screen,
            compare,
            requests,
            bases: StoredValue::default(),
            parts: StoredValue::new(None),
            waiting: StoredValue::default(),
            history: StoredValue::default(),
            last_change: StoredValue::new(None),
            lines: StoredValue::new(0),
            drafts: StoredValue::default(),
        }
    }

    /// Listens to the host, if any.
    pub fn begin(self) {
        if self.host != Host::None {
            listen(move |text| self.hear(&text), move |why| self.silence.set(why));
        }
        if self.host == Host::Window {
            Effect::new(move |before: Option<u32>| {
                let is_folder = self.about.with(|about| about.kind == "folder");
                let files = if is_folder { self.changed.with(|changed| changed.len() as u32) } else { 0 };
                if before.unwrap_or_default() != files {
                    spawn_local(async move { drop(call::<serde_json::Value>(&Call::Unsaved { files }).await) });
                }
                files
            });
        }
    }

    /// Handles an item of the window's menu.
    fn chosen(self, item: &str) {
        match item {
            "connect" => self.choose_context(),
            "save" => self.save_shown(),
            "keys" => self.screen.lay_over(Overlay::Help),
            _ => {}
        }
    }

    /// Shows the contexts to choose from.
    pub fn choose_context(self) {
        self.find_contexts();
        self.screen.lay_over(Overlay::Connect);
    }

    pub fn is_on(self) -> bool {
        self.about.with(|about| !about.kind.is_empty())
    }

    /// The same, without tracking the signal.
    pub fn is_on_untracked(self) -> bool {
        self.about.with_untracked(|about| !about.kind.is_empty())
    }

    fn hear(self, text: &str) {
        match serde_json::from_str::<Message>(text) {
            Ok(Message::Session(about)) => self.switch_to(about),
            Ok(Message::Options { options }) => self.compile_with(options),
            Ok(Message::Inputs(change)) => self.collect_parts(change),
            Ok(Message::Event(happened)) => self.note(happened),
            Ok(Message::Sources { sources }) => self.sources.set(sources),
            Ok(Message::Envoys { envoys, findings }) => {
                self.engine.set_host_findings(findings);
                self.envoys.set(envoys);
            }
            Ok(Message::Menu { item }) => self.chosen(&item),
            Ok(Message::Link { url }) => self.screen.lay_over(Overlay::Link(url)),
            Ok(Message::Notice { text }) => self.screen.say(text),
            Err(error) => self.silence.set(format!("the host sent an unknown message: {error}")),
        }
    }

    /// Switches to other inputs.
    fn switch_to(self, about: About) {
        let same = self.about.with_untracked(|known| known.id == about.id && known.kind == about.kind);
        if !same {
            self.bases.set_value(BTreeMap::new());
            self.parts.set_value(None);
            self.waiting.set_value(Vec::new());
            self.history.update_value(History::forget);
            self.changed.set(BTreeMap::new());
            self.frozen.set(None);
            self.engine.set_host_findings(Vec::new());
            self.envoys.set(Vec::new());
            self.sources.set(Vec::new());
            self.running.forget();
            // A request for the previous inputs does not fit.
            self.requests.fill(WrittenRequest::default());
            self.clear_soon(about.id);
        }
        // The host sends earlier events again.
        self.timeline.set(Vec::new());
        self.about.set(about);
        if same && self.is_on_untracked() {
            self.workspace.options.set(self.options());
            self.engine.compile();
        }
    }

    /// Compiles the same inputs with other options.
    fn compile_with(self, options: serde_json::Value) {
        self.about.update(|about| about.options = options);
        if self.is_on_untracked() {
            self.workspace.options.set(self.options());
            self.engine.compile();
        }
    }

    /// Clears the previous inputs unless new inputs arrive soon: a cluster may not answer.
    fn clear_soon(self, id: u64) {
        let clear = move || {
            let is_this = self.about.with_untracked(|about| about.id == id && !about.kind.is_empty());
            if is_this && self.bases.with_value(BTreeMap::is_empty) {
                self.workspace.load(Work { options: self.options(), ..Work::default() });
                self.engine.compile();
            }
        };
        Timeout::new(SOON, clear).forget();
    }

    /// The options for live inputs.
    fn options(self) -> Option<serde_json::Value> {
        self.about.with_untracked(|about| Some(about.options.clone()).filter(|options| !options.is_null() && *options != ""))
    }

    fn note(self, happened: Happened) {
        self.lines.update_value(|number| *number += 1);
        let mut line = Line { number: self.lines.get_value(), happened, change: None };
        if line.happened.event == "build" {
            line.change = self.last_change.get_value();
            self.last_change.set_value(None);
        }
        self.timeline.update(|lines| {
            lines.insert(0, line);
            lines.truncate(MOST_HAPPENED);
        });
    }

    /// Collects the parts of a change.
    fn collect_parts(self, change: Change) {
        let mut whole = self.parts.try_update_value(Option::take).flatten().unwrap_or_default();
        if change.begins {
            whole = Change { begins: true, ..Change::default() };
        }
        whole.put.extend(change.put);
        whole.gone.extend(change.gone);
        if !change.ends {
            return self.parts.set_value(Some(whole));
        }
        if self.frozen.with_untracked(Option::is_none) {
            return self.apply(vec![whole]);
        }
        self.frozen.update(|names| {
            if let Some(names) = names {
                names.extend(whole.put.iter().map(|text| text.name.clone()).chain(whole.gone.iter().cloned()));
            }
        });
        self.waiting.update_value(|waiting| waiting.push(whole));
    }

    /// Applies changes and compiles.
    fn apply(self, changes: Vec<Change>) {
        let mut known = self.bases.try_update_value(std::mem::take).unwrap_or_default();
        let first = known.is_empty();
        let shown = self.workspace.shown();
        let mut now = if first { BTreeMap::new() } else { self.workspace.take() };
        // For a folder without files, the page shows an empty file.
        now.retain(|name, text| known.contains_key(name) || !text.is_empty());
        let mut undo = Undo::new();
        for mut change in changes {
            if change.begins {
                let put: BTreeSet<&String> = change.put.iter().map(|text| &text.name).collect();
                change.gone = known.keys().filter(|name| !put.contains(name)).cloned().collect();
            }
            for name in change.gone {
                self.gone(&name, &mut known, &mut now, &mut undo);
            }
            for text in change.put {
                self.put(text, &mut known, &mut now, &mut undo);
            }
        }
        self.bases.set_value(known);
        if first {
            let files: Vec<SourceFile> = now.into_iter().map(|(name, text)| SourceFile { name, text }).collect();
            let first = index_to_show(&files);
            self.workspace.load(Work { files, options: self.options(), ..Work::default() });
            if first > 0 {
                self.workspace.activate(first);
            }
            return self.engine.compile();
        }
        let names: BTreeSet<String> = undo.keys().cloned().collect();
        self.workspace.put_back(now, shown, &names);
        if !names.is_empty() {
            self.last_change.set_value(self.history.try_update_value(|history| history.keep(undo)));
            self.engine.compile();
        }
    }

    fn put(self, text: Text, known: &mut BTreeMap<String, Base>, now: &mut BTreeMap<String, Arc<str>>, undo: &mut Undo) {
        let Text { name, text, hidden } = text;
        let text: Arc<str> = text.into();
        let base = known.insert(name.clone(), Base { text: text.clone(), hidden });
        let shown = now.get(&name);
        // If the shown file was missing, its text is the user's draft: a program that writes in place leaves the file empty for a moment.
        let is_draft = shown.is_some_and(|shown| base.as_ref().is_none_or(|base| *shown != base.text));
        if is_draft && shown != Some(&text) {
            if base.is_none_or(|base| base.text != text) {
                self.mark(&name, Some(LocalChange::Conflict));
            }
            return;
        }
        self.mark(&name, None);
        if shown != Some(&text) {
            undo.entry(name.clone()).or_insert_with(|| shown.cloned());
            now.insert(name, text);
        }
    }

    fn gone(self, name: &str, known: &mut BTreeMap<String, Base>, now: &mut BTreeMap<String, Arc<str>>, undo: &mut Undo) {
        let Some(base) = known.remove(name) else { return };
        let Some(shown) = now.get(name) else { return };
        if *shown != base.text {
            // The user's text stays.
            self.mark(name, Some(LocalChange::Conflict));
            return;
        }
        undo.entry(name.into()).or_insert_with(|| Some(shown.clone()));
        now.remove(name);
    }

    /// Sets how a file differs from the host's file.
    fn mark(self, name: &str, standing: Option<LocalChange>) {
        self.changed.update(|changed| match standing {
            Some(standing) => _ = changed.insert(name.into(), standing),
            None => _ = changed.remove(name),
        });
    }

    /// The user changed a file.
    pub fn edited(self, name: &str, text: &str) {
        if !self.is_on_untracked() {
            return;
        }
        let is_base = self.bases.with_value(|bases| bases.get(name).is_some_and(|base| *base.text == *text));
        let standing = self.changed.with_untracked(|changed| changed.get(name).copied());
        match (is_base, standing) {
            (true, Some(_)) => self.mark(name, None),
            (false, None) => self.mark(name, Some(LocalChange::Changed)),
            _ => {}
        }
        self.schedule_draft(name);
    }

    /// Sends a draft to Envoys after a pause, or withdraws it if the file contains the same text.
    fn schedule_draft(self, name: &str) {
        if self.about.with_untracked(|about| about.xds.is_none()) {
            return;
        }
        let name = name.to_owned();
        let count = move |drafts: &BTreeMap<String, u32>, name: &str| drafts.get(name).copied().unwrap_or_default();
        self.drafts.update_value(|drafts| *drafts.entry(name.clone()).or_default() += 1);
        let due = self.drafts.with_value(|drafts| count(drafts, &name));
        let send = move || {
            if self.drafts.with_value(|drafts| count(drafts, &name)) != due {
                return;
            }
            let shown = self.workspace.text(&name);
            let text = self.bases.with_value(|bases| shown.filter(|text| bases.get(&name).is_none_or(|base| *base.text != **text)));
            if self.is_hidden(&name) && text.is_some() {
                return self.screen.say("This page hides secrets of the file, so Envoys keep the file's text");
            }
            self.ask(Call::Draft { name, text });
        };
        Timeout::new(PAUSE, send).forget();
    }

    /// The display name of a file: for a folder, without the folder.
    pub fn short_name(self, name: &str) -> String {
        let title = self.about.with_untracked(|about| about.title.clone());
        let below = name.strip_prefix(&title).and_then(|rest| rest.strip_prefix('/')).filter(|_| !title.is_empty());
        below.or_else(|| name.rsplit('/').next().filter(|_| name == title)).unwrap_or(name).to_owned()
    }

    /// Whether a secret in the file is replaced.
    pub fn is_hidden(self, name: &str) -> bool {
        self.bases.with_value(|bases| bases.get(name).is_some_and(|base| base.hidden))
    }

    /// Makes a call whose result appears by itself.
    pub fn ask(self, what: Call) {
        self.busy.set(true);
        spawn_local(async move {
            if let Err(why) = call::<serde_json::Value>(&what).await {
                self.screen.say(why);
            }
            self.busy.set(false);
        });
    }

    /// Writes a file back.
    pub fn save(self, name: String) {
        let text = self.workspace.text(&name);
        let was = self.bases.with_value(|bases| bases.get(&name).cloned()).unwrap_or_default();
        let Some(text) = text else { return };
        if was.hidden {
            return self.screen.say("This page hides secrets of the file, so it cannot save the file. Edit it in another program");
        }
        spawn_local(async move {
            let what = Call::Save { name: name.clone(), text: text.clone(), was: was.text.to_string() };
            match call::<Saved>(&what).await {
                Ok(Saved { conflict: true }) => {
                    self.mark(&name, Some(LocalChange::Conflict));
                    self.screen
                        .say(format!("Another program changed {}, so it was not saved. Keep your text or take theirs", self.short_name(&name)));
                }
                Ok(Saved { conflict: false }) => {
                    self.bases.update_value(|bases| drop(bases.insert(name.clone(), Base { text: text.into(), hidden: false })));
                    self.mark(&name, None);
                    // Withdraws a scheduled draft.
                    self.schedule_draft(&name);
                    self.screen.say(format!("Saved {}", self.short_name(&name)));
                }
                Err(why) => self.screen.say(why),
            }
        });
    }

    /// Writes the shown file back, if the user changed it.
    pub fn save_shown(self) {
        let name = self.workspace.files.with_untracked(|files| files.get(self.workspace.active.get_untracked()).map(|file| file.name.clone()));
        let is_folder = self.about.with_untracked(|about| about.kind == "folder");
        match name.filter(|name| self.changed.with_untracked(|changed| changed.contains_key(name))) {
            Some(name) if is_folder && self.host == Host::Window => self.save(name),
            Some(_) => self.screen.say("This page is read-only: your changes stay in this page"),
            None => {}
        }
    }

    /// Drops the user's changes to a file.
    pub fn take_theirs(self, name: &str) {
        let base = self.bases.with_value(|bases| bases.get(name).cloned());
        let shown = self.workspace.shown();
        let mut files = self.workspace.take();
        match base {
            Some(base) => _ = files.insert(name.into(), base.text),
            None => _ = files.remove(name),
        }
        self.mark(name, None);
        self.workspace.put_back(files, shown, &BTreeSet::from([name.to_owned()]));
        self.schedule_draft(name);
        self.engine.compile();
    }

    /// Keeps the user's text. Saving will replace the other program's text.
    pub fn keep_mine(self, name: &str) {
        self.mark(name, Some(LocalChange::Changed));
    }

    /// Stops applying changes, or continues and applies the changes since.
    pub fn freeze(self) {
        match self.frozen.get_untracked() {
            None => self.frozen.set(Some(BTreeSet::new())),
            Some(names) => {
                let before = self.workspace.work();
                self.frozen.set(None);
                self.apply(self.waiting.try_update_value(std::mem::take).unwrap_or_default());
                if !names.is_empty() {
                    self.compare.pin(before);
                    self.screen.show(crate::view::View::Compare);
                }
            }
        }
    }

    /// Compares with the inputs before a change.
    pub fn compare_before(self, change: u32) {
        let before = self.workspace.files.with_untracked(|files| self.history.with_value(|history| history.before(change, files)));
        match before {
            Some(files) => {
                self.compare.pin(Work { files, ..self.workspace.work() });
                self.screen.show(crate::view::View::Compare);
            }
            None => self.screen.say("That change is too old: only the last changes are kept"),
        }
    }

    /// Reads the contexts of the kubeconfig.
    pub fn find_contexts(self) {
        self.contexts.set(None);
        spawn_local(async move { self.contexts.set(Some(call(&Call::Contexts).await)) });
    }

    /// Compares with an Envoy's configuration.
    pub fn compare_envoy(self, envoy: EnvoyAt) {
        self.busy.set(true);
        spawn_local(async move {
            match call::<String>(&Call::Dump { envoy }).await {
                Ok(text) => {
                    self.compare.take(text);
                    self.screen.show(crate::view::View::Compare);
                }
                Err(why) => self.screen.say(why),
            }
            self.busy.set(false);
        });
    }

    /// Copies a bootstrap for Envoys that connect to this window.
    pub fn copy_bootstrap(self) {
        spawn_local(async move {
            match call::<String>(&Call::Bootstrap).await {
                Ok(text) => self.screen.copy(&text, "The bootstrap"),
                Err(why) => self.screen.say(why),
            }
        });
    }
}

/// The index of the file to show first: in a cluster, a controller's kinds come before the kinds of Kubernetes.
fn index_to_show(files: &[SourceFile]) -> usize {
    let rank = |file: &SourceFile| match file.name.split_once('/').and_then(|(kind, _)| kind.split_once('.')) {
        Some((_, group)) if !group.ends_with("k8s.io") => 0,
        Some((_, "gateway.networking.k8s.io" | "networking.k8s.io")) => 1,
        _ => 2,
    };
    (0..files.len()).min_by_key(|at| (rank(&files[*at]), *at)).unwrap_or_default()
}
