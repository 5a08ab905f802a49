//! The Common Expression Language, as far as the rules of schemas need it (`x-kubernetes-validations`).
//!
//! Follows `google/cel-go` as Kubernetes sets it up: strings, numbers, lists, maps, spans of time, the macros `has`, `all`, `exists`,
//! `exists_one`, `filter` and `map`, and the functions of strings that rules use. A rule is parsed once and run on many values.
//!
//! What must not be here: which rules there are, and what is said where one is not true.

mod eval;
mod parse;

pub(super) use eval::Failure;

use super::patterns::Patterns;
use chancery_text::Node;
use parse::Expression;

/// A parsed rule.
#[derive(Debug)]
pub(super) struct Program {
    root: Expression,
}

impl Program {
    /// Parses; `None` for what is no expression, or uses what is not known here.
    pub(super) fn new(text: &'static str) -> Option<Self> {
        parse::parse(text).map(|root| Self { root })
    }

    /// Whether it is true of `self`.
    pub(super) fn is_true(&self, node: &Node, patterns: &Patterns) -> Result<bool, Failure> {
        eval::is_true(&self.root, node, patterns)
    }
}

#[cfg(test)]
mod tests;
