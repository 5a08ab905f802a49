//! Plays a request: shows its steps one by one, each with the lines that decide it. Does not draw the steps; see `views::graph`.

use crate::bridge;
use crate::requests::Requests;
use crate::workspace::Workspace;
use chancery_web::protocol::{Span, Step, Way};
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

/// How long each step is shown, in milliseconds.
const STEP: u32 = 1_800;

/// A step of the request, and the gateway if it is not the first.
#[derive(Clone, PartialEq)]
pub struct Stop {
    pub gateway: Option<String>,
    pub step: Step,
}

impl Stop {
    /// What happens at this step, as one sentence.
    pub fn sentence(&self) -> String {
        let step = &self.step;
        let Some(taken) = step.tried.iter().find(|tried| tried.taken) else {
            let sent = step.sent.first().map(|sent| format!("the service gets `{}`", sent.line));
            return step.facts.first().cloned().or(sent).unwrap_or_default();
        };
        match step.tried.iter().filter(|tried| !tried.taken).count() {
            0 => format!("`{}` matches", taken.name),
            1 => format!("`{}` matches; one route before it does not", taken.name),
            others => format!("`{}` matches; {others} routes before it do not", taken.name),
        }
    }

    /// The lines that decide this step: its own lines, or the line of the candidate that matches.
    fn lines(&self) -> Vec<Span> {
        let taken = self.step.tried.iter().filter(|tried| tried.taken).filter_map(|tried| tried.span.clone());
        if self.step.spans.is_empty() { taken.collect() } else { self.step.spans.clone() }
    }
}

fn stops_of(way: &Way) -> Vec<Stop> {
    let first = way.steps.iter().map(|step| Stop { gateway: None, step: step.clone() });
    let others = way.then.iter().flat_map(|hop| hop.steps.iter().map(|step| Stop { gateway: Some(hop.gateway.clone()), step: step.clone() }));
    first.chain(others).collect()
}

/// The player. Copies share it.
#[derive(Clone, Copy)]
pub struct Play {
    /// The shown step. Missing if the player is closed.
    pub at: RwSignal<Option<usize>>,
    /// Whether it continues by itself.
    pub runs: RwSignal<bool>,
    pub stops: Memo<Vec<Stop>>,
    workspace: Workspace,
}

impl Play {
    pub fn new(requests: Requests, workspace: Workspace) -> Self {
        let stops = Memo::new(move |_| requests.way.with(|way| way.as_ref().and_then(|way| way.as_ref().ok()).map(stops_of).unwrap_or_default()));
        Self { at: RwSignal::new(None), runs: RwSignal::new(false), stops, workspace }
    }

    /// Whether the player is open.
    pub fn is_open(self) -> bool {
        self.at.with(Option::is_some)
    }

    /// The shown step.
    pub fn stop(self) -> Option<Stop> {
        let at = self.at.get()?;
        self.stops.with(|stops| stops.get(at).cloned())
    }

    /// Shows the first step. Continues by itself unless the user prefers no motion.
    pub fn start(self) {
        if self.stops.with_untracked(Vec::is_empty) {
            return;
        }
        let is_calm = window().match_media("(prefers-reduced-motion: reduce)").ok().flatten().is_some_and(|query| query.matches());
        self.runs.set(!is_calm);
        self.at.set(Some(0));
    }

    /// Closes the player.
    pub fn close(self) {
        self.runs.set(false);
        self.at.set(None);
    }

    /// Pauses, or continues. Continues from the start after the last step.
    pub fn toggle(self) {
        if !self.runs.get_untracked() && self.is_last() {
            self.at.set(Some(0));
        }
        self.runs.update(|runs| *runs = !*runs);
    }

    fn is_last(self) -> bool {
        self.at.get_untracked().is_some_and(|at| at + 1 >= self.stops.with_untracked(Vec::len))
    }

    /// Shows the next or the previous step, and pauses.
    pub fn step(self, forward: bool) {
        self.runs.set(false);
        self.advance(forward);
    }

    fn advance(self, forward: bool) {
        let last = self.stops.with_untracked(Vec::len).saturating_sub(1);
        self.at.update(|at| *at = at.map(|at| if forward { (at + 1).min(last) } else { at.saturating_sub(1) }));
    }

    /// Highlights the lines of each step, and continues after a while.
    pub fn follow(self) {
        // Another request or another result starts anew.
        Effect::new(move |before: Option<Vec<Stop>>| {
            let stops = self.stops.get();
            if before.is_some_and(|before| before != stops) && self.at.with_untracked(Option::is_some) {
                self.close();
            }
            stops
        });
        Effect::new(move |was_open: Option<bool>| {
            let stop = self.stop();
            match &stop {
                Some(stop) => {
                    let lines = stop.lines();
                    if let Some(span) = lines.first() {
                        self.workspace.open_file(&span.file);
                    }
                    bridge::highlight(&lines, true);
                }
                None if was_open == Some(true) => bridge::highlight(&[], false),
                None => {}
            }
            stop.is_some()
        });
        Effect::new(move |_| {
            let (at, runs) = (self.at.get(), self.runs.get());
            if !runs || at.is_none() {
                return;
            }
            let next = move || {
                if self.at.get_untracked() != at || !self.runs.get_untracked() {
                    return;
                }
                match self.is_last() {
                    true => self.runs.set(false),
                    false => self.advance(true),
                }
            };
            Timeout::new(STEP, next).forget();
        });
    }
}
