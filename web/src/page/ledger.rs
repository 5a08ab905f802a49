//! The rows of the ledger: the result for each input. Reads them in the pauses between compiles.

use crate::engine::Engine;
use crate::link::ask;
use chancery_web::protocol::{LedgerRow, Question, Span};
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::collections::HashSet;

/// The rows. Copies share them.
#[derive(Clone, Copy)]
pub struct Ledger {
    rows: RwSignal<Vec<LedgerRow>>,
    engine: Engine,
}

pub struct Idle {
    /// A row for each controller that does not use an input.
    pub rows: Vec<LedgerRow>,
    /// How many inputs.
    pub count: usize,
    /// How many inputs there are in total.
    pub total: usize,
}

/// Identifies an input.
fn input(row: &LedgerRow) -> (String, Option<Span>) {
    (row.resource.to_string(), row.span.clone())
}

impl Ledger {
    pub fn new(engine: Engine) -> Self {
        Self { rows: RwSignal::new(Vec::new()), engine }
    }

    /// Reads the ledger after each compile.
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

    /// The inputs without an effect. If there are several controllers, an input has an effect if one of them uses it.
    pub fn idle(self) -> Idle {
        let is_idle = |row: &&LedgerRow| matches!(row.state.as_str(), "ignored" | "unreached" | "shadowed" | "invalid");
        self.rows.with(|rows| {
            let all: HashSet<_> = rows.iter().map(input).collect();
            let used: HashSet<_> = rows.iter().filter(|row| !is_idle(row)).map(input).collect();
            let idle = rows.iter().filter(is_idle).filter(|row| !used.contains(&input(row))).cloned().collect();
            Idle { rows: idle, count: all.len() - used.len(), total: all.len() }
        })
    }
}
