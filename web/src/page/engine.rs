//! Compiling: the current progress and the last result. Does not react to results; other modules watch `generation`.

use crate::bridge;
use crate::link::{self, Silence, ask};
use crate::screen::Screen;
use crate::workspace::Workspace;
use chancery_web::protocol::{Compiled, Edit, Finding, Fix, Group, Question, Work};
use futures::channel::oneshot;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// A compile that takes longer than this is ended. All times are in milliseconds.
const LIMIT: u32 = 10_000;

/// A pause starts after the duration of the last compile, multiplied by this, without a compile. Work in a pause delays the next compile, and it takes
/// longer for larger inputs.
const PAUSE_FACTOR: f64 = 6.0;
const SHORTEST_PAUSE: f64 = 200.0;
const LONGEST_PAUSE: f64 = 1_000.0;

/// A compile that takes longer than this is reported.
const SLOW: u32 = 300;

/// The state of the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Idle,
    /// The worker is loading. The page shows an answer that the build prepared.
    First,
    /// A compile takes longer than usual.
    Slow,
    /// A compile took too long and was ended, or the worker stopped because of a bug.
    Ended,
    /// The worker could not be loaded.
    Lost,
}

/// The compiler. Copies share it.
#[derive(Clone, Copy)]
pub struct Engine {
    /// The last result.
    pub compiled: RwSignal<Compiled>,
    /// The number of compiles.
    pub generation: RwSignal<u32>,
    pub progress: RwSignal<Progress>,
    workspace: Workspace,
    screen: Screen,
    /// The duration of the last compile in milliseconds.
    duration: StoredValue<f64>,
    /// Whether a compile is running, and whether another one must follow.
    compiling: StoredValue<(bool, bool)>,
    /// Findings of the host that the compiler does not know: what Envoys reject now. They follow the compiler's.
    host_findings: StoredValue<Vec<Finding>>,
    /// Callers that wait for the next compile.
    waiting: StoredValue<Vec<oneshot::Sender<()>>>,
}

/// Whether the input is read as ingress-nginx's, so that a move to another controller can be shown.
pub fn reads_ingress_nginx(compiled: &Compiled) -> bool {
    compiled.read_as.iter().any(|of| of == "ingress-nginx")
}

impl Engine {
    pub fn new(workspace: Workspace, screen: Screen) -> Self {
        let progress = RwSignal::new(Progress::Idle);
        link::on_failure(move || progress.set(Progress::Lost));
        Self {
            compiled: RwSignal::new(Compiled::default()),
            generation: RwSignal::new(0),
            progress,
            workspace,
            screen,
            duration: StoredValue::new(0.0),
            compiling: StoredValue::new((false, false)),
            host_findings: StoredValue::new(Vec::new()),
            waiting: StoredValue::new(Vec::new()),
        }
    }

    /// Compiles the current work. If a compile is running, one more follows it, however often this is called.
    pub fn compile(self) {
        let (busy, _) = self.compiling.get_value();
        self.compiling.set_value((true, busy));
        if busy {
            return;
        }
        spawn_local(async move {
            loop {
                self.compiling.set_value((true, false));
                self.once().await;
                if !self.compiling.get_value().1 {
                    break;
                }
            }
            self.compiling.set_value((false, false));
        });
    }

    /// Compiles the current work, and runs a function after the result is shown.
    pub fn compile_then(self, act: impl FnOnce() + 'static) {
        let (send, receive) = oneshot::channel();
        self.waiting.update_value(|waiting| waiting.push(send));
        self.compile();
        spawn_local(async move {
            if receive.await.is_ok() {
                act();
            }
        });
    }

    async fn once(self) {
        let started = self.generation.get_untracked();
        let waiting = move || self.generation.get_untracked() == started && self.compiling.get_value().0;
        let slow = move || {
            if waiting() {
                self.progress.set(Progress::Slow);
            }
        };
        Timeout::new(SLOW, slow).forget();
        let work = self.workspace.work();
        if started == 0 {
            link::take_first().await;
            if let Some(first) = link::ask_first(&Question::Compile(work.clone())) {
                self.done(first);
                self.progress.set(Progress::First);
            }
        }
        match self.answer(work).await {
            Ok(compiled) => self.done(compiled),
            Err(Silence::Ended) if link::has_failed() => {}
            Err(Silence::Ended) => self.progress.set(Progress::Ended),
            Err(Silence::Refused(why)) => self.screen.say(why),
        }
    }

    /// Compiles once. The time limit does not include loading the worker.
    async fn answer(self, work: Work) -> Result<Compiled, Silence> {
        link::loaded().await;
        if self.progress.get_untracked() == Progress::First {
            self.progress.set(Progress::Slow);
        }
        // The timeout is cancelled when it is dropped.
        let _limit = Timeout::new(LIMIT, link::end);
        let started = js_sys::Date::now();
        let compiled = ask::<Compiled>(Question::Compile(work)).await;
        self.duration.set_value(js_sys::Date::now() - started);
        compiled
    }

    /// Replaces the findings of the host.
    pub fn set_host_findings(self, findings: Vec<Finding>) {
        if self.host_findings.with_value(|known| *known == findings) {
            return;
        }
        let known = self.host_findings.with_value(Vec::len);
        self.host_findings.set_value(findings);
        self.compiled.update(|compiled| {
            let own = compiled.findings.len().saturating_sub(known);
            compiled.findings.truncate(own);
            compiled.groups.retain(|group| group.first < own);
            self.add_host_findings(compiled);
            underline(compiled);
        });
    }

    /// Adds the findings of the host, each as a group.
    fn add_host_findings(self, compiled: &mut Compiled) {
        self.host_findings.with_value(|all| {
            for finding in all {
                compiled.groups.push(Group { first: compiled.findings.len(), ..Group::default() });
                compiled.findings.push(finding.clone());
            }
        });
    }

    fn done(self, mut compiled: Compiled) {
        self.progress.set(Progress::Idle);
        self.add_host_findings(&mut compiled);
        underline(&compiled);
        self.compiled.set(compiled);
        self.generation.update(|generation| *generation += 1);
        if !self.compiling.get_value().1 {
            self.waiting.update_value(|waiting| {
                waiting.drain(..).for_each(|waiting| {
                    // The caller may be gone.
                    let _ = waiting.send(());
                });
            });
        }
    }

    /// The number of findings with this severity.
    pub fn count(self, severity: &str) -> usize {
        self.compiled.with(|compiled| compiled.findings.iter().filter(|finding| finding.severity == severity).count())
    }

    /// Runs a function that may wait while the user types: immediately after the first compile, otherwise after a moment without a compile.
    pub fn in_a_pause(self, act: impl FnOnce() + 'static) {
        let generation = self.generation.get_untracked();
        let act = move || {
            let busy = self.compiling.try_get_value().is_none_or(|(busy, _)| busy);
            if self.generation.try_get_untracked() == Some(generation) && !busy {
                act();
            }
        };
        let pause = (self.duration.get_value() * PAUSE_FACTOR).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        Timeout::new(if generation <= 1 { 0 } else { pause as u32 }, act).forget();
    }

    /// Applies the fix of a finding. If a compile is running, the findings may be outdated: waits for the result and applies the fix only if it still
    /// exists.
    pub fn fix(self, fix: &Fix) {
        if self.screen.read_only {
            return self.screen.say("This view is read-only");
        }
        if !self.compiling.get_value().0 {
            return self.apply(fix);
        }
        let fix = fix.clone();
        self.compile_then(move || {
            let is_found = |finding: &Finding| finding.fix.as_ref() == Some(&fix);
            if self.compiled.with_untracked(|compiled| compiled.findings.iter().any(is_found)) {
                self.apply(&fix);
            }
        });
    }

    /// Applies fixes of the current findings, file by file.
    pub fn fix_all(self, fixes: Vec<Fix>) {
        if self.screen.read_only {
            return self.screen.say("This view is read-only");
        }
        let mut files: Vec<String> = Vec::new();
        for fix in &fixes {
            if !files.contains(&fix.span.file) {
                files.push(fix.span.file.clone());
            }
        }
        for file in files {
            let mut edits: Vec<Edit> = Vec::new();
            for fix in fixes.iter().filter(|fix| fix.span.file == file) {
                let first = Edit { replacement: fix.replacement.clone(), span: fix.span.clone() };
                edits.extend(std::iter::once(first).chain(fix.more.iter().cloned()).filter(|edit| !edits.contains(edit)).collect::<Vec<_>>());
            }
            edits.sort_by_key(|edit| (edit.span.line, edit.span.column));
            let mut edits = edits.into_iter();
            let Some(first) = edits.next() else { continue };
            let message = String::new();
            self.apply(&Fix { message, replacement: first.replacement, span: first.span, more: edits.collect() });
        }
    }

    fn apply(self, fix: &Fix) {
        self.workspace.open_file(&fix.span.file);
        bridge::fix(&serde_json::to_string(fix).unwrap_or_default());
    }
}

/// Underlines the findings in the editor.
fn underline(compiled: &Compiled) {
    let shown: Vec<&Finding> = compiled.findings.iter().filter(|finding| finding.span.is_some()).collect();
    bridge::set_findings(&serde_json::to_string(&shown).unwrap_or_default());
}
