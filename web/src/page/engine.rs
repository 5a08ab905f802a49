//! Compiling: what is under way, and what came of the last time.
//!
//! What must not be here: what follows from a compile; who wants to know watches `generation`.

use crate::bridge;
use crate::desk::Desk;
use crate::link::{self, Silence, ask};
use crate::screen::Screen;
use chancery_web::protocol::{Compiled, Finding, Fix, Question, Work};
use futures::channel::oneshot;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// A compile that takes longer than this is ended, in milliseconds, as all times here.
const LIMIT: u32 = 10_000;

/// Nothing must have been compiled for this long for a pause.
const PAUSE: u32 = 200;

/// A compile that takes longer than this is reported.
const SLOW: u32 = 300;

/// What the worker is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing to do.
    Idle,
    /// It is being loaded; what is shown was answered when the page was built.
    First,
    /// It works, and it takes a while.
    Slow,
    /// It took too long and was ended.
    Ended,
    /// It, or a part of it, could not be loaded.
    Lost,
}

/// The compiles. Copies are the same.
#[derive(Clone, Copy)]
pub struct Engine {
    /// The last compile.
    pub compiled: RwSignal<Compiled>,
    /// Grows with each compile.
    pub generation: RwSignal<u32>,
    /// What the worker is doing.
    pub progress: RwSignal<Progress>,
    desk: Desk,
    screen: Screen,
    /// Whether a compile is under way, and whether another is due.
    compiling: StoredValue<(bool, bool)>,
    /// Who waits for the next compile.
    waiting: StoredValue<Vec<oneshot::Sender<()>>>,
}

impl Engine {
    /// Before the first compile.
    pub fn new(desk: Desk, screen: Screen) -> Self {
        let progress = RwSignal::new(Progress::Idle);
        link::on_failure(move || progress.set(Progress::Lost));
        Self {
            compiled: RwSignal::new(Compiled::default()),
            generation: RwSignal::new(0),
            progress,
            desk,
            screen,
            compiling: StoredValue::new((false, false)),
            waiting: StoredValue::new(Vec::new()),
        }
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
                self.once().await;
                if !self.compiling.get_value().1 {
                    break;
                }
            }
            self.compiling.set_value((false, false));
        });
    }

    /// Compiles what there is now, and does something once that is shown.
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
        let work = self.desk.work();
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

    /// Compiles once. Loading a worker takes as long as it takes; a compile does not.
    async fn answer(self, work: Work) -> Result<Compiled, Silence> {
        link::loaded().await;
        if self.progress.get_untracked() == Progress::First {
            self.progress.set(Progress::Slow);
        }
        // It is called off when it goes out of scope.
        let _limit = Timeout::new(LIMIT, link::end);
        ask::<Compiled>(Question::Compile(work)).await
    }

    fn done(self, compiled: Compiled) {
        self.progress.set(Progress::Idle);
        let shown: Vec<&Finding> = compiled.findings.iter().filter(|finding| finding.span.is_some()).collect();
        bridge::set_findings(&serde_json::to_string(&shown).unwrap_or_default());
        self.compiled.set(compiled);
        self.generation.update(|generation| *generation += 1);
        if !self.compiling.get_value().1 {
            self.waiting.update_value(|waiting| {
                waiting.drain(..).for_each(|waiting| {
                    // Who went away need not know.
                    let _ = waiting.send(());
                });
            });
        }
    }

    /// How many findings of this severity there are.
    pub fn count(self, severity: &str) -> usize {
        self.compiled.with(|compiled| compiled.findings.iter().filter(|finding| finding.severity == severity).count())
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
        Timeout::new(if generation <= 1 { 0 } else { PAUSE }, act).forget();
    }

    /// Applies the fix of a finding. While a compile is under way, what is shown may be about an earlier text: then it waits, and applies what is
    /// still found.
    pub fn fix(self, fix: &Fix) {
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

    fn apply(self, fix: &Fix) {
        self.desk.open_file(&fix.span.file);
        bridge::fix(&serde_json::to_string(fix).unwrap_or_default());
    }
}
