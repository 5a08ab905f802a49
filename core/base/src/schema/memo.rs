//! Expressions of schemas as they were compiled, so that each is compiled once for many objects.
//!
//! What must not be here: anything about objects.

use super::cel::{Failure, Program};
use super::patterns::Patterns;
use crate::re2::engine::Finder;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use chancery_text::Node;
use core::cell::RefCell;

/// Compiled expressions by their text.
#[derive(Debug, Default)]
pub struct Memo {
    patterns: Patterns,
    rules: RefCell<BTreeMap<&'static str, Option<Arc<Program>>>>,
}

impl Memo {
    /// Whether a text matches a pattern; `None` where the pattern cannot be compiled.
    pub(super) fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        self.patterns.matches(pattern, text)
    }

    /// Whether a rule is true of a value; `None` where the rule cannot be read.
    pub(super) fn is_true(&self, rule: &'static str, node: &Node) -> Option<Result<bool, Failure>> {
        let program = self.rules.borrow_mut().entry(rule).or_insert_with(|| Program::new(rule).map(Arc::new)).clone();
        program.map(|program| program.is_true(node, &self.patterns))
    }
}

/// Whether a pattern of a schema can be compiled. One that cannot would match everything.
pub fn is_pattern(pattern: &str) -> bool {
    Finder::new(pattern).is_ok()
}

/// Whether a rule of a schema can be read. One that cannot would always hold.
pub fn is_rule(rule: &'static str) -> bool {
    Program::new(rule).is_some()
}
