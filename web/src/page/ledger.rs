//! What became of the inputs: the rows of the ledger, asked for in the pauses between compiles.
//!
//! What must not be here: how they look.

use crate::engine::Engine;
use crate::link::ask;
use chancery_web::protocol::{LedgerRow, Question, Span};
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::collections::HashSet;

/// The rows. Copies are the same.
#[derive(Clone, Copy)]
pub struct Ledger {
    rows: RwSignal<Vec<LedgerRow>>,
    engine: Engine,
}

/// Inputs that had no effect.
pub struct Idle {
    /// A row for each controller that has no use for one of them.
    pub rows: Vec<LedgerRow>,
    /// How many inputs they are.
    pub count: usize,
    /// Of how many.
    pub total: usize,
}

/// What tells an input from another one.
fn input(row: &LedgerRow) -> (String, Option<Span>) {
    (row.resource.to_string(), row.span.clone())
}

impl Ledger {
    /// Before the first compile.
    pub fn new(engine: Engine) -> Self {
        Self { rows: RwSignal::new(Vec::new()), engine }
    }

    /// Follows compiles.
    pub fn follow(self) {
        Effect::new(move |_| {
            if self.engine.generation.get() == 0 {
                return;
            }
            self.engine.in_a_pause(move || {
                spawn_local(async move {
                    if let Ok(rows) = ask::<Vec<LedgerRow>>(Question::Ledger).await {
                        self.rows.set(rows);
                    }
                });
            });
        });
    }

    /// What had no effect. Of several controllers, it is enough that one has a use for an input.
    pub fn idle(self) -> Idle {
        let is_idle = |row: &&LedgerRow| matches!(row.state.as_str(), "ignored" | "shadowed" | "invalid");
        self.rows.with(|rows| {
            let all: HashSet<_> = rows.iter().map(input).collect();
            let used: HashSet<_> = rows.iter().filter(|row| !is_idle(row)).map(input).collect();
            let idle = rows.iter().filter(is_idle).filter(|row| !used.contains(&input(row))).cloned().collect();
            Idle { rows: idle, count: all.len() - used.len(), total: all.len() }
        })
    }
}
