//! The selection, everything that belongs to it, and its history. Does not compute it; see `worker`.

use crate::bridge;
use crate::engine::Engine;
use crate::link::ask;
use crate::screen::Screen;
use crate::workspace::Workspace;
use chancery_web::protocol::{Question, SelectionDetails, Span, Target};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// The selection. Copies share it.
#[derive(Clone, Copy)]
pub struct Selection {
    pub target: RwSignal<Option<Target>>,
    /// Everything that belongs to the selection.
    pub details: RwSignal<Option<SelectionDetails>>,
    /// Whether views scroll to the details: not if only the work changed, because the user may have scrolled elsewhere.
    pub scrolls: StoredValue<bool>,
    workspace: Workspace,
    engine: Engine,
    screen: Screen,
    /// Earlier and later selections.
    past: StoredValue<(Vec<Target>, Vec<Target>)>,
}

impl Selection {
    pub fn new(workspace: Workspace, engine: Engine, screen: Screen) -> Self {
        Self {
            target: RwSignal::new(None),
            details: RwSignal::new(None),
            scrolls: StoredValue::new(true),
            workspace,
            engine,
            screen,
            past: StoredValue::new((Vec::new(), Vec::new())),
        }
    }

    /// Selects the cursor's line.
    pub fn cursor(self, file: String, line: u32) {
        let target = Target::Line { file, line };
        self.remember(target.clone());
        self.follow(target, false);
    }

    /// Selects something, and shows the line that produced it.
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
        self.show(target, jump, true);
    }

    fn show(self, target: Target, jump: bool, scrolls: bool) {
        spawn_local(async move {
            let Ok(details) = ask::<SelectionDetails>(Question::Select(target.clone())).await else { return };
            // Ignores the answer if the selection changed.
            if self.target.get_untracked().as_ref() != Some(&target) {
                return;
            }
            if jump && let Some(span) = details.spans.first() {
                self.workspace.open_file(&span.file);
            }
            bridge::highlight(&details.spans, jump);
            self.scrolls.set_value(scrolls);
            self.details.set(Some(details));
        });
    }

    /// Updates the details of the selection after the work changed.
    pub fn refresh(self) {
        if let Some(target) = self.target.get_untracked() {
            self.show(target, false, false);
        }
    }

    /// Clears the selection for new work.
    pub fn forget(self) {
        self.target.set(None);
        self.details.set(None);
        self.past.set_value((Vec::new(), Vec::new()));
        bridge::highlight(&[], false);
        spawn_local(async move {
            let _ = ask::<SelectionDetails>(Question::Release).await;
        });
    }

    /// Clears the selection.
    pub fn release(self) {
        self.target.set(None);
        self.details.set(None);
        bridge::highlight(&[], false);
        spawn_local(async move {
            let _ = ask::<SelectionDetails>(Question::Release).await;
            self.engine.generation.update(|generation| *generation += 1);
        });
    }

    /// Goes back or forward in the history.
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

    /// Moves the cursor to a place, and selects its line.
    pub fn go(self, span: &Span) {
        self.reveal(span, true);
    }

    fn reveal(self, span: &Span, focus: bool) {
        self.workspace.open_file(&span.file);
        self.screen.writing.set(true);
        bridge::go(span.line, span.column, focus);
        self.cursor(span.file.clone(), span.line);
    }

    /// Whether a bootstrap pointer of the selection fits.
    pub fn has_place(self, fits: impl Fn(&str) -> bool) -> bool {
        self.details.with(|details| details.as_ref().is_some_and(|details| details.envoy.iter().any(|place| fits(place))))
    }

    /// Goes to the next or previous finding.
    pub fn step(self, forward: bool) {
        let spans: Vec<Span> =
            self.engine.compiled.with_untracked(|compiled| compiled.findings.iter().filter_map(|finding| finding.span.clone()).collect());
        let at = match self.target.get_untracked() {
            Some(Target::Line { file, line }) => spans.iter().position(|span| span.file == file && span.line == line),
            _ => None,
        };
        let next = match (at, forward) {
            (Some(at), true) => (at + 1) % spans.len().max(1),
            (Some(at), false) => (at + spans.len() - 1) % spans.len().max(1),
            (None, _) => 0,
        };
        // The keyboard focus stays, so that the next key goes to the next finding.
        if let Some(span) = spans.get(next) {
            self.reveal(span, false);
        }
    }
}
