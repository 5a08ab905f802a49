//! Bounds the size of an expression's program from below, in RE2 instructions.
//!
//! RE2 emits one instruction for each matched byte, copies repeated parts, and shares common prefixes of branches. So the bytes on the longest path
//! through an expression, with each copy counted, are a bound that is never too high.

use super::engine;
use alloc::vec::Vec;
use regex_syntax::hir::{Hir, HirKind};

/// A lower bound of the number of instructions; `None` if RE2 rejects the expression.
#[must_use]
pub fn at_least(regex: &str) -> Option<u64> {
    let hir = engine::parse(regex).ok()?;
    // One for a match, one for none.
    Some(bytes(&hir).saturating_add(2))
}

/// Avoids recursion, since an expression may be deep.
fn bytes(hir: &Hir) -> u64 {
    enum Task<'h> {
        Visit(&'h Hir),
        Sum(usize),
        Most(usize),
        Times(u64),
    }
    let mut tasks = Vec::from([Task::Visit(hir)]);
    let mut values: Vec<u64> = Vec::new();
    while let Some(task) = tasks.pop() {
        match task {
            Task::Visit(hir) => match hir.kind() {
                HirKind::Empty | HirKind::Look(_) => values.push(0),
                HirKind::Literal(literal) => values.push(literal.0.len() as u64),
                HirKind::Class(_) => values.push(1),
                HirKind::Capture(capture) => tasks.push(Task::Visit(&capture.sub)),
                HirKind::Repetition(repetition) => {
                    let copies = repetition.max.unwrap_or(repetition.min.max(1));
                    tasks.push(Task::Times(u64::from(copies)));
                    tasks.push(Task::Visit(&repetition.sub));
                }
                HirKind::Concat(parts) => {
                    tasks.push(Task::Sum(parts.len()));
                    tasks.extend(parts.iter().map(Task::Visit));
                }
                HirKind::Alternation(parts) => {
                    tasks.push(Task::Most(parts.len()));
                    tasks.extend(parts.iter().map(Task::Visit));
                }
            },
            Task::Sum(count) => {
                let parts = values.split_off(values.len().saturating_sub(count));
                values.push(parts.into_iter().fold(0, u64::saturating_add));
            }
            Task::Most(count) => {
                let parts = values.split_off(values.len().saturating_sub(count));
                values.push(parts.into_iter().max().unwrap_or_default());
            }
            Task::Times(copies) => {
                let one = values.pop().unwrap_or_default();
                values.push(one.saturating_mul(copies));
            }
        }
    }
    values.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::at_least;

    #[test]
    fn size_counts_bytes_and_copies() {
        assert_eq!(at_least("/abc"), Some(6));
        assert_eq!(at_least("[a-z]{200}"), Some(202));
        assert_eq!(at_least("(ab){3,5}"), Some(12));
        assert_eq!(at_least("x*"), Some(3));
        assert_eq!(at_least("a|bcd"), Some(5));
        assert_eq!(at_least("("), None);
    }
}
