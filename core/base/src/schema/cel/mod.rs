//! Implements the part of the Common Expression Language that schema rules use (`x-kubernetes-validations`).
//!
//! Follows `google/cel-go` as Kubernetes configures it: strings, numbers, lists, maps, durations, the macros `has`, `all`, `exists`, `exists_one`,
//! `filter` and `map`, and the string functions that rules use. A rule is parsed once and run on many values.

mod eval;
mod parse;

pub(super) use eval::Failure;

use super::patterns::Patterns;
use chancery_text::Node;
use parse::Expression;

#[derive(Debug)]
pub(super) struct Program {
    root: Expression,
}

impl Program {
    /// Parses a rule; `None` if the text is not an expression or uses an unsupported function.
    pub(super) fn new(text: &'static str) -> Option<Self> {
        parse::parse(text).map(|root| Self { root })
    }

    /// Whether the rule holds for `self`.
    pub(super) fn is_true(&self, node: &Node, patterns: &Patterns) -> Result<bool, Failure> {
        eval::is_true(&self.root, node, patterns)
    }
}

#[cfg(test)]
mod tests;
