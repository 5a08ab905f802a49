//! Caches the compiled expressions of schemas.

use super::cel::{Failure, Program};
use super::patterns::Patterns;
use crate::re2::engine::Finder;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use chancery_text::Node;
use core::cell::RefCell;

/// Compiled expressions by their source.
#[derive(Debug, Default)]
pub struct Memo {
    patterns: Patterns,
    rules: RefCell<BTreeMap<&'static str, Option<Arc<Program>>>>,
}

impl Memo {
    /// Whether a string matches a pattern; `None` if the pattern is invalid.
    pub(super) fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        self.patterns.matches(pattern, text)
    }

    /// Whether a rule holds for a value; `None` if the rule cannot be parsed.
    pub(super) fn is_true(&self, rule: &'static str, node: &Node) -> Option<Result<bool, Failure>> {
        let program = self.rules.borrow_mut().entry(rule).or_insert_with(|| Program::new(rule).map(Arc::new)).clone();
        program.map(|program| program.is_true(node, &self.patterns))
    }
}

/// Whether a pattern of a schema is valid. An invalid pattern would match everything.
pub fn is_pattern(pattern: &str) -> bool {
    Finder::new(pattern).is_ok()
}

/// Whether a rule of a schema can be parsed. An invalid rule would always hold.
pub fn is_rule(rule: &'static str) -> bool {
    Program::new(rule).is_some()
}
